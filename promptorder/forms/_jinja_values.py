"""Jinja's expressions, judged: which parts of an output are constant, which change, and how often.

No value is computed. An expression is taken apart at ``~``, ``+`` and ``if ... else``; what remains is a string, a name with
its filters, or a call, and the names and calls in it decide.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from promptorder.lint._names import kind_of_name

MAX_PIECES = 64
"""Of one value: ``x = x ~ x`` in a loop must not grow without end."""


class Piece(NamedTuple):
    """A part of a value. ``text`` is set for a constant; ``root`` is where the value was made, if not here."""

    start: int
    end: int
    text: str | None = None
    name: str = ""
    kind: str = ""
    changes: str = ""
    marks: tuple[tuple[int, int], ...] = ()
    root: tuple[int, int] | None = None


Values = dict[str, list[Piece]]


class Token(NamedTuple):
    """A token of an expression and its place in the file."""

    text: str
    start: int
    kind: str


_TOKEN = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?P<name>[$A-Za-z_]\w*)|(?P<number>\d[\w.]*)|(?P<op>//|\*\*|[=!<>]=|\S)""",
    re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:(\r?\n)|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "'": "'", '"': '"', "0": "\0"}

_CLOCKS = frozenset(
    "now utcnow today strftime_now today_at getdate get_date get_time now_utc utc_now current_time "
    "current_date current_datetime get_current_time get_current_date get_current_datetime get_now "
    "timestamp currentdate currenttime localtime gmtime".split()
)
_CLOCK_METHODS = frozenset(
    "datetime.now datetime.utcnow datetime.today date.today time.time dt.now dt_util.now time.strftime".split()
)
_FORMATS = frozenset(
    "strftime date time datetime date_format format_date format_datetime format_time timestamp_custom "
    "timestamp_local timestamp_utc isoformat as_timestamp as_datetime timestamp as_local dateformat".split()
)
_RANDOM = frozenset(
    "random shuffle uuid uuid4 uuid1 randint rand randrange choice choices token_hex nanoid guid "
    "random_string password".split()
)
_STATES = frozenset(
    "states state_attr is_state is_state_attr has_value expand state_translated area_entities closest "
    "distance".split()
)
_SIZES = frozenset("length count".split())
_METHODS = frozenset(
    "strip rstrip lstrip lower upper title capitalize replace format join isoformat strftime get split "
    "items keys values trim startswith endswith date time timestamp".split()
)
_NOT_VALUES = frozenset(
    "and or not is in if else true false none True False None defined undefined string mapping".split()
)
_TIME_OF_DAY = re.compile(r"%-?[HIMSfXcTRrpsl]|\bHH?\b|\bhh?\b|\bmm\b|\bss\b|[iI][sS][oO]|[tT]ime")
_DAY = re.compile(r"%-?[dejuwaAxDFU]|\b[dD]{1,2}\b|\bEEEE?\b|[dD]ate|[dD]ay")
_PERCENT = re.compile(r"%-?[A-Za-z]")


def tokens(source: str, start: int) -> list[Token]:
    """The tokens of an expression that begins at ``start`` in the file."""
    return [Token(m[0], start + m.start(), m.lastgroup or "op") for m in _TOKEN.finditer(source)]


def value(expression: list[Token], known: Values, depth: int = 0) -> list[Piece]:
    """What an expression puts out, in order."""
    if not expression or depth > 40:
        return []
    for then, otherwise in _ternary(expression):
        first, second = value(then, known, depth + 1), value(otherwise, known, depth + 1)
        return first if _changing(first) or not _changing(second) else second
    parts = _split(expression, ("~", "+"))
    if len(parts) > 1:
        return [piece for part in parts for piece in value(part, known, depth + 1)][:MAX_PIECES]
    if all(token.kind == "string" for token in expression):
        return [constant(token) for token in expression]
    inner = _unwrapped(expression)
    if inner is not None:
        return value(inner, known, depth + 1)
    return _operand(expression, known)


def constant(token: Token) -> Piece:
    """A string literal, unescaped, with marks where escapes shift its places."""
    raw, start = token.text[1:-1], token.start + 1
    end = start + len(raw)
    if "\\" not in raw:
        return Piece(start, end, raw)
    out, marks, length, at = list[str](), [(0, start)], 0, 0
    for match in _ESCAPE.finditer(raw):
        out.append(raw[at : match.start()])
        code = match[2] or match[3]
        char = "" if match[1] else chr(int(code, 16)) if code else _ESCAPES.get(match[4], match[0])
        length += match.start() - at + len(char)
        out.append(char)
        at = match.end()
        marks.append((length, start + at))
    out.append(raw[at:])
    return Piece(start, end, "".join(out), marks=tuple(marks))


def split_arguments(expression: list[Token]) -> list[list[Token]]:
    """An argument list cut at its commas."""
    return [part for part in _split(expression, (",",)) if part]


def _operand(expression: list[Token], known: Values) -> list[Piece]:
    """A name, a call or something more involved, with its filters."""
    start, end = expression[0].start, expression[-1].start + len(expression[-1].text)
    head, filters = _filters(expression)
    name = dotted_name(head)
    kind, changes = _computed(expression, name, filters, known)
    if kind:
        return [Piece(start, end, None, name, kind, changes, root=_root(expression, known))]
    bound = known.get(name)
    if bound is None and "." in name:
        bound = known.get(name.split(".", 1)[0])
    if bound is not None:
        return bound if not filters or _harmless(filters) else [p for p in bound if p.text is None]
    if any(f in _SIZES for f, _ in filters):
        counted = kind_of_name(name) == "history"
        return [Piece(start, end, None, name, "counter" if counted else "fixed", "turn" if counted else "")]
    if _default(filters) and kind_of_name(name) in ("clock-variable", "date-variable"):
        return [Piece(start, end, None, name, "fixed")]
    if not name or name.split(".")[0] == "loop":
        return [Piece(start, end, None, name, "fixed")]
    return [Piece(start, end, None, name, _kind_of_subscript(head, name))]


def _computed(
    expression: list[Token], name: str, filters: list[tuple[str, list[Token]]], known: Values
) -> tuple[str, str]:
    """The kind of an operand in which a clock, a draw or a state is read, directly or through a known name."""
    for index, token in enumerate(expression):
        if token.kind != "name" or token.text in _NOT_VALUES:
            continue
        before = expression[index - 1].text if index else ""
        after = expression[index + 1].text if index + 1 < len(expression) else ""
        lowered = token.text.lower()
        called = after == "("
        if before == "|":
            if lowered in _RANDOM and not _seeded(expression[index:]):
                return "random-call", "request"
            continue
        if before == ".":
            pair = f"{expression[index - 2].text.lower()}.{lowered}" if index > 1 else ""
            if called and pair in _CLOCK_METHODS:
                return "template-clock", _granularity(expression)
            continue
        if (called and lowered in _CLOCKS) or (lowered in ("$now", "$today", "utcnow")):
            return _clock(expression)
        if called and lowered in _RANDOM and not _seeded(expression[index:]):
            return "random-call", "request"
        if lowered in _STATES and (called or after in (".", "[")):
            return "retrieved-context", "request"
        found = _known(expression, index, known)
        if found is not None and after != "=":
            volatile = _changing(found)
            if volatile is not None and volatile.kind not in ("fixed", "") and filters_keep(filters):
                return volatile.kind, volatile.changes
    if any(f in _FORMATS for f, _ in filters) and kind_of_name(name) == "clock-variable":
        return _clock(expression)
    return "", ""


def filters_keep(filters: list[tuple[str, list[Token]]]) -> bool:
    """Whether what comes out of the filters still changes with what goes in."""
    return not any(f in _SIZES for f, _ in filters)


def _clock(expression: list[Token]) -> tuple[str, str]:
    changes = _granularity(expression)
    return ("template-clock", changes) if changes else ("fixed", "")


def _granularity(expression: list[Token]) -> str:
    """How often a formatted clock changes; a year or a month alone is as good as constant."""
    formats = [
        t.text for t in expression if t.kind == "string" and (_PERCENT.search(t.text) or len(t.text) > 4)
    ]
    methods = {t.text for t in expression if t.kind == "name"}
    for text in formats:
        if _TIME_OF_DAY.search(text):
            return "request"
        if _DAY.search(text):
            return "day"
        if _PERCENT.search(text):
            return ""
    if methods & {"today", "date", "getdate", "get_date", "day", "weekday", "current_date", "$today"}:
        return "day"
    return "" if methods & {"year"} and not methods & {"hour", "minute", "second"} else "request"


def _known(expression: list[Token], index: int, known: Values) -> list[Piece] | None:
    name = dotted_name(expression[index : index + 16])
    return known.get(name) or known.get(expression[index].text)


def _root(expression: list[Token], known: Values) -> tuple[int, int] | None:
    for index, token in enumerate(expression):
        if token.kind == "name" and not (index and expression[index - 1].text in (".", "|")):
            piece = _changing(_known(expression, index, known) or [])
            if piece is not None and piece.kind not in ("", "fixed"):
                return piece.root or ((piece.start, piece.end) if piece.start >= 0 else None)
    return None


def _changing(pieces: list[Piece]) -> Piece | None:
    for piece in pieces:
        if piece.text is None and piece.kind != "fixed":
            return piece
    return None


def _kind_of_subscript(head: list[Token], name: str) -> str:
    """``messages[0]`` is the system message and ``messages[-1]`` the newest one."""
    base = name.split(".", 1)[0]
    if kind_of_name(base) != "history" or len(head) < 4 or head[1].text != "[":
        return ""
    if head[2].text == "-":
        return "question-first" if len(head) > 4 and head[4].text == "]" else ""
    return "fixed" if head[2].kind == "number" and head[3].text == "]" else ""


def dotted_name(head: list[Token]) -> str:
    """``user.name`` for ``user['name']`` and for ``user.get("name")``; methods of strings and clocks are left out."""
    names = list[str]()
    index = 0
    while index < len(head):
        token = head[index]
        if token.kind == "name" and not names and index == 0:
            names.append(token.text)
        elif token.text == "." and index + 1 < len(head) and names:
            index += 1
            if head[index].text not in _METHODS or index + 1 >= len(head) or head[index + 1].text != "(":
                names.append(head[index].text)
        elif token.text in "([" and names:
            inside = head[index + 1] if index + 1 < len(head) else None
            takes = token.text == "[" or (index >= 1 and head[index - 1].text == "get")
            if inside is not None and inside.kind == "string" and takes:
                names.append(inside.text[1:-1])
            index = _closing(head, index)
        else:
            break
        index += 1
    return ".".join(names)


def _filters(expression: list[Token]) -> tuple[list[Token], list[tuple[str, list[Token]]]]:
    parts = _split(expression, ("|",))
    return parts[0], [(part[0].text.lower(), part[1:]) for part in parts[1:] if part]


def _default(filters: list[tuple[str, list[Token]]]) -> bool:
    return any(f in ("default", "d") and any(t.kind == "string" for t in rest) for f, rest in filters)


def _harmless(filters: list[tuple[str, list[Token]]]) -> bool:
    return all(f in ("trim", "safe", "string", "e", "escape", "indent", "default") for f, _ in filters)


def _seeded(rest: list[Token]) -> bool:
    return any(token.text == "seed" for token in rest)


def _ternary(expression: list[Token]) -> list[tuple[list[Token], list[Token]]]:
    at = _top_level(expression, ("if",))
    if not at or at[0] == 0:
        return []
    otherwise = [i for i in _top_level(expression, ("else",)) if i > at[0]]
    return [(expression[: at[0]], expression[otherwise[0] + 1 :] if otherwise else [])]


def _split(expression: list[Token], separators: tuple[str, ...]) -> list[list[Token]]:
    parts, start = list[list[Token]](), 0
    for index in _top_level(expression, separators):
        parts.append(expression[start:index])
        start = index + 1
    return [*parts, expression[start:]]


def _top_level(expression: list[Token], wanted: tuple[str, ...]) -> list[int]:
    found, depth = list[int](), 0
    for index, token in enumerate(expression):
        if token.kind == "op" and token.text in "([{":
            depth += 1
        elif token.kind == "op" and token.text in ")]}":
            depth -= 1
        elif depth == 0 and token.kind != "string" and token.text in wanted:
            found.append(index)
    return found


def _unwrapped(expression: list[Token]) -> list[Token] | None:
    """What is inside parentheses that span the whole, a harmless filter behind them aside."""
    if expression[0].text != "(":
        return None
    close = _closing(expression, 0)
    if close == len(expression) - 1:
        return expression[1:-1]
    return None


def _closing(expression: list[Token], index: int) -> int:
    depth = 0
    for at in range(index, len(expression)):
        text = expression[at].text
        if expression[at].kind == "op":
            depth += (text in "([{") - (text in ")]}")
        if depth == 0:
            return at
    return len(expression) - 1
