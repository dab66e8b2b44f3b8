"""Run files: every sample is on disk as soon as it exists, and a run that broke off can go on.

While a run is going, ``RUN.json.partial`` holds JSON lines: a header that says what is measured, then one
line a sample. At the end they become ``RUN.json`` in one step and the partial file goes.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from promptorder.contracts.run import PARTIAL_SCHEMA, sample_from_json, sample_to_json
from promptorder.errors import InputError, OutputError, UsageError
from promptorder.model.sample import Phase, Sample
from promptorder.store import cannot_write, write_atomically

_LAST_RUN = "last-run.json"


class RunFile:
    """One run's file, open for appending and locked against a second process.

    ``path`` is where the finished run goes, or None: then the samples live in a file of the user's
    state folder until the run is finished, so that one that breaks off can still be resumed.
    """

    def __init__(self, path: Path | None, *, resume: bool) -> None:
        if path is not None and path.is_dir():
            raise OutputError(f"{path} is a folder", hint="name a file with --out")
        self.path = path
        self.partial = _unnamed(resume=resume) if path is None else path.with_name(f"{path.name}.partial")
        self.abandoned: list[Sample] = []
        self.kept: list[Sample] = []
        self.saved = 0
        try:
            if path is None:  # our own folder; one that the user names must be there
                self.partial.parent.mkdir(parents=True, exist_ok=True)
            # Appending keeps what another run has written until the lock says that it is ours. A foreign
            # file may hold any bytes; ours are ASCII.
            self._file: IO[str] = self.partial.open("a+", encoding="utf-8", errors="replace", newline="\n")
        except OSError as error:
            raise cannot_write(self.partial, error) from error
        self._lock()
        self._lines = self._read()
        if resume and not self._lines:
            self.close()
            self.partial.unlink(missing_ok=True)
            raise InputError(
                f"there is nothing to resume in {self.partial}",
                hint="leave --resume out to start anew",
            )
        if not resume and any("sample" in line for line in self._lines):
            self.close()
            raise UsageError(
                f"{self.partial} holds an unfinished run",
                hint=f"go on with it by --resume, or delete {self.partial} to start anew",
            )
        if not resume:
            self._lines = []  # a header alone binds nobody

    def begin(
        self, header: Mapping[str, Any], questions: int, checks: Callable[[int], bool] = lambda repeat: False
    ) -> list[Sample]:
        """Write the header, or compare it with the one that is there; returns samples of whole blocks.

        ``checks`` says of a repeat whether its blocks hold a follow-up that was asked again. Raises UsageError where a
        resumed run measured something else.
        """
        header = {"schema": PARTIAL_SCHEMA, **header}
        if not self._lines:
            self._truncate()
            self._write(header)
            return []
        old = self._lines[0]
        differing = sorted(
            key
            for key in header
            if key != "started_at" and old.get(key) != json.loads(json.dumps(header[key]))
        )
        if differing:
            raise UsageError(
                f"{self.partial} was measured with another {', '.join(differing)}",
                hint="repeat the command as it was, or delete that file to start anew",
            )
        self._sort_out(questions, checks)
        return self.kept

    @property
    def started_at(self) -> str | None:
        """When the run that is resumed began."""
        return self._lines[0].get("started_at") if self._lines else None

    def append(self, sample: Sample) -> None:
        """Put one sample on the disk; raises OutputError, with the earlier ones safe."""
        self._write({"sample": sample_to_json(sample)})
        self.saved += 1

    def finish(self, run: Mapping[str, Any]) -> None:
        """Write the run file in one step, and remove the partial one.

        A run without a name is kept as ``last-run.json`` in the state folder, until the next one is finished: what took
        minutes to measure must not hang on whether its report could be printed.
        """
        path = self.path if self.path is not None else self.partial.with_name(_LAST_RUN)
        write_atomically(path, json.dumps(run, ensure_ascii=False, indent=1) + "\n")
        self.close()
        self.partial.unlink(missing_ok=True)

    def discard_if_empty(self) -> None:
        """Remove a partial file that holds no sample."""
        if not self.saved and not any("sample" in line for line in self._lines):
            self.partial.unlink(missing_ok=True)

    def close(self) -> None:
        """Close and unlock; safe to call twice."""
        # What a full disk has refused is tried again here; the error that tells so has been raised already.
        with contextlib.suppress(OSError):
            self._file.close()

    def _sort_out(self, questions: int, checks: Callable[[int], bool]) -> None:
        """Keep the blocks that are whole; what a broken one gave is kept apart."""
        blocks: dict[tuple[str, int], list[Sample]] = {}
        for line in self._lines[1:]:
            if "abandoned" in line:
                self.abandoned += blocks.pop(tuple(line["abandoned"]), [])
            elif "sample" in line:
                try:
                    sample = sample_from_json(line["sample"])
                except (KeyError, TypeError, ValueError):
                    continue
                blocks.setdefault(sample.block, []).append(sample)
        for key, samples in blocks.items():
            if _is_whole(samples, questions, checked=checks(key[1])):
                self.kept += samples
            else:
                self.abandoned += samples
                self._write({"abandoned": list(key)})

    def _read(self) -> list[dict[str, Any]]:
        self._file.seek(0)
        raw = self._file.readlines()
        lines = []
        for line in raw:
            with contextlib.suppress(ValueError, RecursionError):
                value = json.loads(line)
                if isinstance(value, dict):
                    lines.append(value)
        # A killed process may leave half a line at the end, even of the header.
        ours = lines[0].get("schema") == PARTIAL_SCHEMA if lines else is_half_header(raw)
        if not ours:
            self.close()
            raise UsageError(
                f"{self.partial} is not an unfinished run of promptorder",
                hint="move it away, or choose another --out",
            )
        if raw and not raw[-1].endswith("\n"):
            self._file.write("\n")  # what follows must start a new line
        return lines

    def _write(self, value: Mapping[str, Any]) -> None:
        try:
            # ASCII alone: half a character could not be read again, and an answer may hold half a surrogate pair.
            self._file.write(json.dumps(value) + "\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise cannot_write(self.partial, error) from error

    def _truncate(self) -> None:
        self._file.seek(0)
        self._file.truncate()

    def _lock(self) -> None:
        try:
            import fcntl
        except ImportError:  # Windows: no lock, the last writer wins
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            self._file.close()
            raise UsageError(
                f"another promptorder writes {self.partial} just now",
                hint="wait for it, or choose another --out",
            ) from error


def is_half_header(lines: Sequence[str]) -> bool:
    """Whether this, without one whole line, can be a run file whose writer was killed at the first one."""
    start = json.dumps({"schema": PARTIAL_SCHEMA}).removesuffix("}")
    text = "".join(lines).strip()
    return text.startswith(start) or start.startswith(text)


def _is_whole(samples: Sequence[Sample], questions: int, *, checked: bool) -> bool:
    # What ended the run may have broken the reply before it: a resumed run asks again.
    if any(sample.failure is not None for sample in samples):
        return False
    if any(sample.control is not None for sample in samples):
        return any(sample.control is not None and sample.control.kind == "repeat" for sample in samples)
    asked = {sample.question for sample in samples if sample.question}
    if asked != set(range(1, questions + 1)):
        return False
    if checked and not any(sample.phase is Phase.CHECK for sample in samples):
        return False
    counted = any(s.reply and (s.reply.cached_tokens is not None or s.reply.read_tokens) for s in samples)
    return counted or any(sample.phase is Phase.WARM_REPEAT for sample in samples)


def _unnamed(*, resume: bool) -> Path:
    """Where a run without ``--out`` keeps its samples: a new file, or the newest that broke off."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    folder = Path(base) / "promptorder"
    if resume:
        left = sorted(folder.glob("*.json.partial"), key=lambda path: path.stat().st_mtime)
        if not left:
            raise InputError("there is no unfinished run to resume", hint="leave --resume out to start anew")
        return left[-1]
    return folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.json.partial"
