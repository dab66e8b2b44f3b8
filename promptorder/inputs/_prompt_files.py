"""The files that lint reads: which of a folder's may be prompts, and their bytes as text."""

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from promptorder.errors import InputError
from promptorder.inputs._marks import MARKS
from promptorder.lint._globs import Globs

if TYPE_CHECKING:
    from promptorder.inputs._prompt_forms import Declared

STANDARD_INPUT = "-"
PLAINLY = (
    "*.prompt",
    "*.prompty",
    "*.j2",
    "*.jinja",
    "*.jinja2",
    "*.mustache",
    "*.hbs",
    "Modelfile*",
    "**/prompts/**",
)
"""What is plainly a prompt, whatever stands in it."""
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "site-packages"})
_HEAD = 8192
_LARGE = 16 << 20


class Candidate(NamedTuple):
    """A file to look at: ``plainly`` says that it is a prompt whatever stands in it, ``reason`` why it was taken."""

    path: str
    reason: str
    named: bool
    plainly: bool


class NotTextError(Exception):
    """A file holds no text; the message says what it looks like."""


class Finder:
    """Finds the files: ``root`` is the folder from which patterns with a slash are read."""

    def __init__(
        self,
        root: str,
        known: "Declared",
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        force_exclude: bool = False,
    ) -> None:
        self._root = os.path.abspath(root)
        self._known = known
        self._include = (*include, *PLAINLY)
        self._exclude = exclude
        self._force = force_exclude
        self._seen: set[str] = set()

    def files(self, paths: Sequence[str]) -> Iterator[Candidate]:
        """The files that ``paths`` name or hold, each once. Raises InputError for a path that is not there."""
        for path in paths:
            if path != STANDARD_INPUT and not os.path.exists(path):
                raise _missing(path)
        exclude = Globs(self._exclude)
        walker: _Walker | None = None
        for path in paths:
            if path != STANDARD_INPUT and os.path.isdir(path):
                walker = walker or _Walker(self._root, Globs(self._include), exclude, self._known)
                found = walker.walk(path)
            elif self._force and self.is_excluded(path):
                continue
            else:
                found = iter((Candidate(path, "named", named=True, plainly=True),))
            for candidate in found:
                absolute = os.path.abspath(candidate.path)
                if absolute not in self._seen:
                    self._seen.add(absolute)
                    yield candidate

    def is_excluded(self, path: str) -> bool:
        """Whether a file that is named would be left out in a folder."""
        relative = from_root(path, self._root)
        folders = relative.split("/")[:-1]
        if any(_is_skipped(folder) for folder in folders if folder not in (".", "..")):
            return True
        return bool(Globs(self._exclude).match(relative))


class _Walker:
    def __init__(self, root: str, include: Globs, exclude: Globs, known: "Declared") -> None:
        self._root, self._include, self._exclude, self._known = root, include, exclude, known

    def walk(self, top: str) -> Iterator[Candidate]:
        ignores = _Ignores(top)
        # A folder that is itself named prompts holds prompts, whatever the working folder is.
        name = os.path.basename(os.path.abspath(top))
        pending = [top]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(folder) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError:
                continue
            ignores.enter(folder, listed)
            folders = []
            for entry in listed:
                path = entry.path.removeprefix("./") if top == "." else entry.path
                relative = from_root(path, self._root)
                is_folder = entry.is_dir(follow_symlinks=False)
                if (is_folder and _is_skipped(entry.name)) or self._exclude.match(relative):
                    continue
                if ignores.match(entry.path, is_folder=is_folder):
                    continue
                if is_folder:
                    folders.append(entry.path)
                elif entry.is_file():
                    inside = f"{name}/{os.path.relpath(entry.path, top)}".replace(os.sep, "/")
                    candidate = self._judge(path, relative, inside)
                    if candidate is not None:
                        yield candidate
            pending += reversed(folders)

    def _judge(self, path: str, relative: str, inside: str) -> Candidate | None:
        from promptorder.inputs._prompt_forms import ANY_TEXT, by_name

        pattern = self._include.match(relative) or self._include.match(inside)
        if pattern:
            return Candidate(path, f"matches {pattern.removeprefix('**/')}", named=False, plainly=True)
        if os.path.basename(path).startswith("."):
            return None
        form, ending = by_name(path, self._known)
        if form in self._known.plain:
            return Candidate(path, f"matches {ending}", named=False, plainly=True)
        if not form or form in ANY_TEXT:
            return None
        return Candidate(path, f"{ending} that holds a prompt", named=False, plainly=False)


class _Ignores:
    """The .gitignore files that hold in a folder, with those above it up to the repository's top."""

    def __init__(self, top: str) -> None:
        self._rules: list[tuple[str, object]] = []
        above, repository = _repository(os.path.abspath(top))
        if repository:
            self._read(os.path.join(repository, ".git", "info", "exclude"), repository)
        for folder in above:
            self._read(os.path.join(folder, ".gitignore"), folder)

    def enter(self, folder: str, listed: "Sequence[os.DirEntry[str]]") -> None:
        """Take the rules of a folder, and drop those of folders that it is not in."""
        absolute = os.path.abspath(folder)
        self._rules = [(base, spec) for base, spec in self._rules if _is_below(absolute, base)]
        if any(entry.name == ".gitignore" for entry in listed):
            self._read(os.path.join(absolute, ".gitignore"), absolute)

    def match(self, path: str, *, is_folder: bool) -> bool:
        """Whether git would ignore it; the nearest file that says something decides."""
        if not self._rules:
            return False
        absolute = os.path.abspath(path)
        for base, spec in reversed(self._rules):
            relative = os.path.relpath(absolute, base).replace(os.sep, "/")
            said = spec.check_file(f"{relative}/" if is_folder else relative).include  # type: ignore[attr-defined]
            if said is not None:
                return bool(said)
        return False

    def _read(self, path: str, base: str) -> None:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = [line.rstrip("\r\n") for line in file if line.strip() and not line.startswith("#")]
        except OSError:
            return
        if lines:
            from pathspec import GitIgnoreSpec

            self._rules.append((base, GitIgnoreSpec.from_lines(lines)))


def read_file(path: str, stdin: BinaryIO | None = None) -> bytes:
    """All bytes of a file, or of ``stdin``. Raises OSError."""
    if path != STANDARD_INPUT:
        with open(path, "rb") as file:
            return file.read()
    if stdin is None:
        import sys

        stdin = sys.stdin.buffer
    return stdin.read()


def is_large(path: str) -> bool:
    """Whether a file is better read in pieces, as standard input is, whose size nobody knows."""
    try:
        return path == STANDARD_INPUT or os.path.getsize(path) >= _LARGE
    except OSError:
        return False


def open_lines(path: str, stdin: BinaryIO | None = None) -> AbstractContextManager[Iterable[bytes]]:
    """The lines of a file as bytes. Raises OSError."""
    if path != STANDARD_INPUT:
        return open(path, "rb")
    if stdin is None:
        import sys

        stdin = sys.stdin.buffer
    return nullcontext(stdin)


def why_unreadable(error: OSError) -> str:
    """What to say of a file that cannot be read."""
    return f"cannot be read: {(error.strerror or str(error)).lower()}"


def decode_text(data: bytes) -> tuple[str, bool, str]:
    """The text of a file with its line ends as they are, whether it had a byte order mark, and its encoding.

    A mark decides, then UTF-8, then cp1252. Raises NotTextError.
    """
    for mark, encoding in MARKS:
        if data.startswith(mark):
            try:
                return data[len(mark) :].decode(encoding), True, encoding
            except UnicodeDecodeError as error:
                raise NotTextError(
                    f"marked as {encoding.upper()}, but byte {error.start + len(mark)} is wrong"
                ) from None
    if data.startswith(b"%PDF-") or b"\0" in data[:_HEAD]:
        raise NotTextError(_looks(data))
    try:
        return data.decode("utf-8"), False, "utf-8"
    except UnicodeDecodeError:
        from promptorder.inputs._decode import is_binary

        text = data.decode("cp1252", "replace")
        if is_binary(text, data):
            raise NotTextError(_looks(data)) from None
        return text, False, "cp1252"


def from_root(path: str, root: str) -> str:
    """A path as patterns see it: from the root, with forward slashes; one outside of the root as it is given."""
    absolute = os.path.abspath(path)
    if _is_below(absolute, root):
        path = absolute[len(root.rstrip(os.sep)) + 1 :]
    return path.replace(os.sep, "/").removeprefix("./")


def repository_of(folder: str) -> str:
    """The top of the git repository that holds a folder; empty where there is none."""
    return _repository(os.path.abspath(folder))[1]


def _looks(data: bytes) -> str:
    from promptorder.inputs._decode import looks_like

    return f"it looks like {looks_like(data)[0]}"


def _is_skipped(folder: str) -> bool:
    return folder.startswith(".") or folder in SKIPPED_FOLDERS


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _repository(folder: str) -> tuple[list[str], str]:
    """The folders above ``folder`` up to the repository's top, from the top down, and the top."""
    above: list[str] = []
    here = folder
    while not os.path.exists(os.path.join(here, ".git")):
        parent = os.path.dirname(here)
        if parent == here:
            return [], ""
        above.insert(0, parent)
        here = parent
    return above, here


def _missing(path: str) -> InputError:
    from pathlib import Path

    from promptorder.inputs._files import neighbours

    return InputError(f"no such file or folder: {path}", hint=neighbours(Path(path)))
