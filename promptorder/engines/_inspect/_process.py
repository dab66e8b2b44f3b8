"""The processes of an Ollama server on this machine, read from /proc where the system lets us."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from promptorder.doctor._variables import EFFECTS
from promptorder.model.doctor import Runner

_PROC = Path("/proc")
_LISTENING = "0A"


class Found(NamedTuple):
    """The process that listens on a port; ``pid`` is None where there is none to be seen, and ``why`` says so."""

    pid: int | None
    why: str


def changing(variables: Mapping[str, str]) -> dict[str, str]:
    """Those variables that change a cache; all others may be secret or private."""
    return {key: value for key, value in sorted(variables.items()) if key in EFFECTS}


def listener(port: int) -> Found:
    """The Ollama process that listens on ``port`` of this machine."""
    if not (_PROC / "net" / "tcp").exists():
        return Found(None, "this system has no /proc to read them from")
    sockets = {f"socket:[{inode}]" for inode in _inodes(port)}
    for pid in _pids():
        if _holds(pid, sockets):
            name = Path((_words(pid) or ["another process"])[0]).name
            if "ollama" in name:
                return Found(pid, "")
            return Found(None, f"what listens on port {port} is {name}, which passes calls on")
    return Found(None, "its process belongs to another user or runs in a container")


def environment(pid: int) -> dict[str, str] | None:
    """The variables that a process was started with, None where they must not be read."""
    try:
        data = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return None
    pairs = (item.partition("=") for item in data.decode(errors="replace").split("\0") if "=" in item)
    return changing({key: value for key, _, value in pairs})


def runner(server: int, blob: str | None) -> Runner | None:
    """How the child process that runs the weights of ``blob`` was started."""
    if blob is None:
        return None
    for pid in _pids():
        if _parent(pid) == server and any(blob in word for word in _words(pid)):
            return read_command(_words(pid), _memory(pid))
    return None


def read_command(words: Sequence[str], memory_bytes: int | None = None) -> Runner:
    """What a runner's command line tells: llama-server's, and that of Ollama's own runners."""

    def after(*names: str) -> str | None:
        return next((value for name, value in pairwise(words) if name in names), None)

    slots = after("-np", "--parallel")
    bare = "--flash-attn" in words and (after("--flash-attn") or "-").startswith("-")
    return Runner(
        slots=int(slots) if slots and slots.isdigit() else None,
        cache_type=after("--cache-type-k", "-ctk", "--kv-cache-type"),
        flash_attention="on" if bare else after("--flash-attn", "-fa"),
        memory_bytes=memory_bytes,
    )


def _inodes(port: int) -> Iterator[str]:
    for name in ("tcp", "tcp6"):
        with suppress(OSError):
            for line in (_PROC / "net" / name).read_text().splitlines()[1:]:
                columns = line.split()
                if columns[3] == _LISTENING and int(columns[1].rpartition(":")[2], 16) == port:
                    yield columns[9]


def _pids() -> list[int]:
    return sorted(int(path.name) for path in _PROC.iterdir() if path.name.isdigit())


def _holds(pid: int, sockets: set[str]) -> bool:
    with suppress(OSError):
        for entry in (_PROC / str(pid) / "fd").iterdir():
            with suppress(OSError):
                if os.readlink(entry) in sockets:  # noqa: PTH115 - a socket's link is no path
                    return True
    return False


def _words(pid: int) -> list[str]:
    with suppress(OSError):
        return (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
    return []


def _status(pid: int, key: str) -> int | None:
    with suppress(OSError):
        match = re.search(rf"^{key}:\s+(\d+)", (_PROC / str(pid) / "status").read_text(), re.MULTILINE)
        return int(match[1]) if match else None
    return None


def _parent(pid: int) -> int | None:
    return _status(pid, "PPid")


def _memory(pid: int) -> int | None:
    kibibytes = _status(pid, "VmRSS")
    return kibibytes * 1024 if kibibytes else None
