"""What lint reads and what it says: prompts as the model will see them, and findings with two places."""

from typing import NamedTuple

# Named tuples and not dataclasses: lint starts in every commit, and each dataclass costs half a millisecond. For the same
# reason annotations are evaluated here: typing compiles each one that is a text.

STATIC = "static"
"""Text that is the same in every request."""
VARIABLE = "variable"
"""A placeholder: something that the program fills in."""
COMPUTED = "computed"
"""An expression in code, or a call in a template, whose value a reader has judged."""

ROLES = ("tools", "schema", "system", "user", "assistant", "history", "prompt")
"""``prompt`` is text that is not divided into messages; ``history`` stands for the earlier turns of a chat; ``schema`` is the
part of a tool that describes its parameters, in which no value is looked for."""


class Segment(NamedTuple):
    """A piece of a prompt, in the order in which the model reads it.

    ``start`` and ``end`` are offsets into the file's text, in code points. ``text`` is what the model
    sees (static) or the source of the placeholder or expression (else). Where static text has escapes,
    ``marks`` are (offset in ``text``, offset in the file) pairs, ascending, from which places are found; an
    empty one says that the text stands in the file as it is.

    ``name`` is a variable's name, or the dotted name of a call. ``kind`` and ``changes`` are set where a
    reader knows more than the name tells: the name of a rule (``clock-call``, ``random-call``, ...) and how
    often the value changes; the kind ``fixed`` says that it never does.
    """

    text: str
    start: int
    end: int
    role: str = "prompt"
    origin: str = STATIC
    name: str = ""
    kind: str = ""
    changes: str = ""
    marks: tuple[tuple[int, int], ...] = ()

    def place(self, offset: int) -> int:
        """The offset in the file of an offset in ``text``."""
        if not self.marks:
            return self.start + offset
        from bisect import bisect_right

        at, in_file = self.marks[max(0, bisect_right(self.marks, (offset, 1 << 60)) - 1)]
        return in_file + offset - at


class Prompt(NamedTuple):
    """One prompt of a file: its segments, and what is known of it as a whole.

    ``name`` says where in the file it stands (such as ``prompts.greeting`` or ``build()``), empty for the whole
    file. ``literal`` is true where the text is what was really sent, as in a log or a request: then
    placeholders in it are text. ``request`` holds the parsed body where the form has one.
    """

    segments: tuple[Segment, ...]
    name: str = ""
    literal: bool = False
    request: object = None


class Source(NamedTuple):
    """A file as lint reads it: ``text`` has its line ends as they are, without a BOM."""

    path: str
    form: str
    text: str
    bom: bool = False


class Hit(NamedTuple):
    """Something that changes: offsets in the file, and which rule says so.

    ``segment`` is the index of its segment and ``after`` the offset in that segment's text where what
    follows it begins. ``worth`` overrides how many static tokens must follow (0: none need to).
    ``message``, ``related`` and ``stranded_tokens`` override what the engine would say of what is stranded.
    """

    start: int
    end: int
    segment: int
    after: int
    changes: str = ""
    confidence: str = "high"
    message: str = ""
    severity: str = ""
    worth: int | None = None
    occurrences: int = 1
    related: tuple[tuple[int, int, str], ...] = ()
    stranded_tokens: int | None = None


class Related(NamedTuple):
    """A second place: lines count from 1."""

    path: str
    line: int
    end_line: int
    message: str


class Finding(NamedTuple):
    """One finding; lines and columns count from 1, in code points, ``end_column`` is exclusive."""

    path: str
    form: str
    line: int
    column: int
    end_line: int
    end_column: int
    code: str
    name: str
    message: str
    severity: str
    confidence: str
    changes: str
    occurrences: int
    stranded_tokens: int | None
    related: tuple[Related, ...]
    tip: str
    fingerprint: str
    line_text: str = ""


class Problem(NamedTuple):
    """A file, or a part of it, that could not be read as what it is."""

    path: str
    line: int | None
    message: str
