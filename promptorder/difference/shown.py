"""Pairs of prompts for people: where they part, the words there, what is lost, and what to do. Lines of text, no colour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from promptorder.difference import kinds
from promptorder.difference.drift import ENCODING, WHITESPACE
from promptorder.lint.formats._words import printable
from promptorder.lint.formats.text import columns
from promptorder.model.diff import FirstDifference, Pair

IN_FULL = 3
"""So many pairs are shown in full; more of them as a table."""
_ROWS = 30
_UNSEEN = frozenset((WHITESPACE, ENCODING, kinds.LINE_ENDS, kinds.BOM, kinds.UNICODE_FORM))
_BAR = 48
_RELATIONS = {
    "same": "They are read as the same.",
    "appended": "b goes on where a ends: nothing is lost.",
    "shortened": "b ends earlier than a, and is the same up to there: nothing is lost.",
}
_SHORT = {"same": "the same", "appended": "goes on", "shortened": "ends earlier"}
_MARGIN = "  "


def full(pair: Pair, width: int) -> str:
    """One pair, on some twenty lines."""
    return "\n".join(line.rstrip() for line in _full(pair, width)) + "\n"


def table(pairs: Sequence[Pair], width: int) -> str:
    """A line a pair, and where to look."""
    return "\n".join(line.rstrip() for line in _table(pairs, width)) + "\n"


def _full(pair: Pair, width: int) -> Iterator[str]:
    numbers = [f"{tokens:,} tokens" for tokens in (pair.a_tokens, pair.b_tokens)]
    room = max(map(len, numbers))
    for label, name, number in zip("ab", (pair.a, pair.b), numbers, strict=True):
        shown = _shortened(name, width - room - 5)
        yield f"{label}  {shown}{' ' * (width - 3 - room - columns(shown))}{number:>{room}}"
    yield ""
    about = "" if pair.method == "counted" else "About "
    unused = pair.shared_tokens - pair.reusable_tokens
    lost = min(pair.lost_tokens + unused, pair.b_tokens - pair.reusable_tokens)
    new = pair.b_tokens - pair.reusable_tokens - lost
    none = ", none of which can be reused" if unused else ""
    yield f"{about}{pair.shared_tokens:,} tokens shared from the start ({_percent(pair)}){none}"
    yield _bar(pair, lost, min(_BAR, width))
    yield f"# shared {pair.reusable_tokens:,}   - read again for nothing {lost:,}   . new {new:,}"
    yield from _folded(_counted(pair), width)
    yield ""
    if pair.other_cache is not None:
        yield from _of_cache(pair, pair.other_cache, width)
    if pair.first_difference is None:
        yield _RELATIONS[pair.relation]
    else:
        yield from _parting(pair.first_difference, width)
        yield ""
        yield from _losses(pair, width)
        yield from _remedy(pair, width)
    for note in pair.notes:
        yield from _folded(f"note: {note}", width)


def _of_cache(pair: Pair, other: FirstDifference, width: int) -> Iterator[str]:
    yield from _folded(
        f"{printable(other.path or '')} is {printable(other.a) or 'not there'} in a and {printable(other.b) or 'not there'} in "
        f"b: {other.what}. Nothing of a is reused for b, whatever their texts share.",
        width,
    )
    yield ""


def _parting(first: FirstDifference, width: int) -> Iterator[str]:
    where = f"line {first.line:,}, column {first.column:,}"
    path = f" of {printable(first.path)}" if first.path else ""
    yield from _folded(f"They part at {where}{path}: {printable(first.what)}", width)
    yield ""
    yield from _excerpts(first, width)


def _excerpts(first: FirstDifference, width: int) -> Iterator[str]:
    """Both lines, one above the other, and a caret below the first character that differs."""
    room = width - len(_MARGIN) - 4
    before = _end_of(printable(first.a_line[: first.offset]), room // 2)
    room -= columns(before)
    for label, line in (("a", first.a_line), ("b", first.b_line)):
        rest = line[first.offset :]
        shown = _visible(rest[:room]) if first.kind in _UNSEEN else printable(rest[:room].rstrip("\r\n"))
        if not rest:
            shown = "(nothing more)"
        yield f"{_MARGIN}{label} | {before}{_start_of(shown, room)}"
    yield f"{_MARGIN}  | {' ' * columns(before)}^"


def _losses(pair: Pair, width: int) -> Iterator[str]:
    if not pair.lost_tokens:
        yield "Nothing that both hold stands behind it: nothing is lost."
        return
    yield "Behind it both hold, and it is read again:"
    number = max((len(f"{block.tokens:,}") for block in pair.lost), default=1)
    label = min(max((columns(block.what) for block in pair.lost), default=1), width - 40)
    for block in pair.lost:
        name = _shortened(block.what, label)
        gap = " " * (label - columns(name))
        rest = width - len(_MARGIN) - number - label - 11
        begins = _start_of(printable(block.begins), rest) if rest > 8 else ""
        yield f"{_MARGIN}{block.tokens:>{number},} tokens  {name}{gap}  {begins}"
    left = pair.lost_tokens - sum(block.tokens for block in pair.lost)
    if left > 0:
        yield f"{_MARGIN}{left:>{number},} tokens  in smaller pieces"
    yield ""


def _remedy(pair: Pair, width: int) -> Iterator[str]:
    if pair.suggestion is not None:
        share = 100 * pair.suggestion.shared_tokens / pair.b_tokens if pair.b_tokens else 100.0
        yield from _folded(f"Instead: {printable(pair.suggestion.text)}.", width)
        yield from _folded(
            f"Tried on both: they share {pair.suggestion.shared_tokens:,} tokens then ({min(share, 100.0):.0f} %).",
            width,
        )
    elif pair.advice:
        yield from _folded(f"Instead: {pair.advice}", width)


def _table(pairs: Sequence[Pair], width: int) -> Iterator[str]:
    rows = []
    shown = _worst(pairs)
    for pair in shown:
        first = pair.first_difference
        place = (
            _SHORT[pair.relation]
            if first is None
            else f"{first.kind} {first.path or ''} {first.line}:{first.column}"
        )
        if pair.other_cache is not None:
            place = f"another {pair.other_cache.kind}; {place}"
        shared = f"{pair.shared_tokens:,} of {pair.b_tokens:,}"
        again = f"{pair.lost_tokens:,}" if pair.lost_tokens else "-"
        rows.append((pair.b, shared, _percent(pair), again, " ".join(printable(place).split())))
    titles = ("against the one before", "shared", "", "lost", "first difference")
    widths = [max(columns(row[i]) for row in (titles, *rows)) for i in range(4)]
    widths[0] = min(widths[0], max(len(titles[0]), width // 3))
    for cells in (titles, *rows):
        name = _shortened(cells[0], widths[0])
        numbers = "  ".join(f"{cell:>{room}}" for cell, room in zip(cells[1:4], widths[1:], strict=True))
        line = f"{name}{' ' * (widths[0] - columns(name))}  {numbers}  "
        yield line + _start_of(cells[4], max(12, width - columns(line)))
    if len(shown) < len(pairs):
        yield f"and {len(pairs) - len(shown):,} more pairs, which lose less or nothing; --format json has them all"
    yield ""
    total, shared_total = sum(pair.b_tokens for pair in pairs), sum(pair.shared_tokens for pair in pairs)
    lost = sum(pair.lost_tokens for pair in pairs)
    share = f"{100 * shared_total / total:.0f} %" if total else "-"
    yield from _folded(
        f"{len(pairs):,} pairs share {shared_total:,} of {total:,} tokens ({share}); {lost:,} are read again for nothing. "
        f"{_counted(pairs[0])}",
        width,
    )
    worst = max(pairs, key=lambda pair: pair.lost_tokens)
    if worst.lost_tokens:
        yield f"Most is lost from {printable(worst.a)} to {printable(worst.b)}:"
        yield f"  promptorder diff {printable(worst.a)} {printable(worst.b)}"


def _worst(pairs: Sequence[Pair]) -> Sequence[Pair]:
    """All pairs where they are few, else those that lose most, in their order."""
    if len(pairs) <= _ROWS:
        return pairs
    losing = sorted(pairs, key=lambda pair: (pair.other_cache is not None, pair.lost_tokens), reverse=True)[
        :_ROWS
    ]
    kept = {id(pair) for pair in losing if pair.lost_tokens or pair.other_cache is not None}
    return [pair for pair in pairs if id(pair) in kept]


def _bar(pair: Pair, lost: int, length: int) -> str:
    total = max(1, pair.b_tokens)
    shared = _cells(pair.reusable_tokens, total, length)
    again = min(_cells(lost, total, length), length - shared)
    return f"[{'#' * shared}{'-' * again}{'.' * (length - 2 - shared - again)}]"


def _cells(tokens: int, total: int, length: int) -> int:
    """Cells of a bar: what there is must not vanish by rounding."""
    return max(1, (length - 2) * tokens // total) if tokens else 0


def _percent(pair: Pair) -> str:
    """Whole percent; 100 only where it is all."""
    percent = pair.percent
    return "100 %" if pair.shared_tokens == pair.b_tokens else f"{min(99, int(percent))} %"


def _counted(pair: Pair) -> str:
    rendered = f"requests rendered {pair.rendering}" if pair.rendering.startswith("by ") else pair.rendering
    return f"Tokens: {'counted with ' if pair.method == 'counted' else ''}{pair.tokenizer}; {rendered}."


def _visible(text: str) -> str:
    """Characters that cannot be told apart by looking, as escapes."""
    return "".join(
        "·" if c == " " else c if c.isascii() and c.isprintable() else ascii(c)[1:-1] for c in text
    )


def _shortened(text: str, width: int) -> str:
    text = printable(text)
    if columns(text) <= width:
        return text
    return f"{_start_of(text, width // 2)[:-1]}…{_end_of(text, width - width // 2 - 1).removeprefix('…')}"


def _start_of(text: str, width: int) -> str:
    """As much of a text as fits."""
    if columns(text) <= width:
        return text
    shown, left = "", width - 1
    for character in text:
        left -= columns(character)
        if left < 0:
            break
        shown += character
    return f"{shown}…"


def _end_of(text: str, width: int) -> str:
    if columns(text) <= width:
        return text
    shown, left = "", width - 1
    for character in reversed(text):
        left -= columns(character)
        if left < 0:
            break
        shown = character + shown
    return f"…{shown}"


def _folded(text: str, width: int) -> list[str]:
    """Lines of at most ``width`` columns, cut between words where they are no longer than a line."""
    lines, line = [], ""
    for word in text.split():
        rest = word
        while rest:
            joined = f"{line} {rest}" if line.strip() else f"{line}{rest}"
            if columns(joined) <= width:
                line, rest = joined, ""
            elif line.strip():
                lines.append(line)
                line = _MARGIN
            else:
                head = _start_of(rest, width - columns(line) + 1)[:-1] or rest[:1]
                lines.append(line + head)
                line, rest = _MARGIN, rest[len(head) :]
    return [*lines, line]
