"""What stands behind the first difference in both prompts, block by block: it had been read, and is read again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from promptorder.difference.changes import short
from promptorder.difference.form import line_key
from promptorder.difference.rendering import written
from promptorder.difference.tokens import count
from promptorder.forms._json import Path, line_of
from promptorder.forms._requests import Part
from promptorder.model.diff import LostBlock
from promptorder.prefix import common_start
from promptorder.tokenizers import Tokenizer

_LEAST = 8
"""Characters: fewer are alike by chance."""
_MOST_BLOCKS = 6


class _Piece(NamedTuple):
    """Common text; ``line`` and ``end_line`` are in the value of the later prompt."""

    what: str
    path: str | None
    line: int
    end_line: int
    text: str


def of_texts(a: str, b: str, n: int, kind: str, tokenizer: Tokenizer) -> tuple[tuple[LostBlock, ...], int]:
    """The blocks behind the shared start of ``n`` characters, and their tokens; ``kind`` is that of the difference."""
    return _counted(_in_text(a, b, n, kind, "", None), tokenizer)


def of_parts(
    was: Sequence[Part], now: Sequence[Part], place: tuple[int, int, str], inside: int, tokenizer: Tokenizer
) -> tuple[tuple[LostBlock, ...], int]:
    """The same for requests; ``place`` is a part, an offset in it and a kind. Paths lose their first ``inside`` steps."""
    k, n, change = place
    pieces: list[_Piece] = []
    earlier = {part[:3] for part in was[k:]}
    behind = k
    if k < min(len(was), len(now)) and was[k][:2] == now[k][:2]:
        new, behind = now[k], k + 1
        if new[:3] in earlier:  # it stood further back
            whole = _whole(new, inside)
            pieces.append(whole._replace(text=new.text[n:]))
        else:
            pieces += _of_part(was[k], new, n, change, inside)
    by_path = {part.path: part for part in was[behind:]}
    for part in now[behind:]:
        other = by_path.get(part.path)
        if part[:3] in earlier:
            pieces.append(_whole(part, inside))
        elif other is not None and part.kind == other.kind == "text":
            shared = common_start(other.text, part.text)
            if shared >= _LEAST:
                start = part.text[:shared]
                what = f"the start of {named(part)}"
                pieces.append(_Piece(what, written(part.path[inside:]), 1, line_of(start), start))
            pieces += _of_part(other, part, shared, change, inside)
    return _counted(_gathered(pieces), tokenizer)


def _whole(part: Part, inside: int) -> _Piece:
    return _Piece(named(part), written(part.path[inside:]), 1, line_of(part.text), part.text)


def _of_part(old: Part, new: Part, n: int, change: str, inside: int) -> Iterator[_Piece]:
    if new.kind != "image":
        yield from _in_text(old.text, new.text, n, change, f" of {named(new)}", written(new.path[inside:]))


def _in_text(a: str, b: str, n: int, change: str, of: str, path: str | None) -> Iterator[_Piece]:
    """The rest of the line that differs, as far as both have it, and runs of lines that both have."""
    line = line_of(b[:n])
    (first, *others), (now, *lines) = a[n:].split("\n"), b[n:].split("\n")
    known = {line_key(each, change) for each in others if each.strip()}
    at_start = n == 0 or b[n - 1] in "\r\n"
    if at_start:
        known.add(line_key(first, change))
    end = common_start(first[::-1], now[::-1])
    if at_start and now.strip() and line_key(now, change) in known:
        lines, line = [now, *lines], line - 1
    elif end >= _LEAST:
        yield _Piece(f"the rest of line {line}{of}", path, line, line, now[len(now) - end :])
    numbered = enumerate(lines, line + 1)
    for common, run in groupby(
        numbered, lambda each: not each[1].strip() or line_key(each[1], change) in known
    ):
        kept = list(run)
        while kept and not kept[0][1].strip():
            del kept[0]
        while kept and not kept[-1][1].strip():
            del kept[-1]
        if not common or sum(len(text) for _, text in kept) < _LEAST:
            continue
        start, stop = kept[0][0], kept[-1][0]
        where = f"lines {start:,} to {stop:,}" if stop > start else f"line {start:,}"
        yield _Piece(where + of, path, start, stop, "\n".join(text for _, text in kept))


def _gathered(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    """Neighbours of a kind as one: tools, and whole messages."""
    for kind, run in groupby(pieces, lambda piece: piece.what.split(" ")[0]):
        same = list(run)
        if kind not in ("message", "tool") or len(same) == 1:
            yield from same
            continue
        first, last = same[0], same[-1]
        numbers = [piece.what.split(" ")[1] for piece in (first, last)]
        what = f"{len(same)} tools" if kind == "tool" else f"messages {numbers[0]} to {numbers[1]}"
        if kind == "message" and numbers[0] == numbers[1]:
            what = first.what
        yield first._replace(what=what, end_line=last.end_line, text="\n".join(piece.text for piece in same))


def _counted(pieces: Iterator[_Piece], tokenizer: Tokenizer) -> tuple[tuple[LostBlock, ...], int]:
    blocks = [
        LostBlock(p.what, p.path, p.line, p.end_line, count(tokenizer, p.text), short(p.text[:200]))
        for p in pieces
    ]
    largest = sorted(blocks, key=lambda block: -block.tokens)[:_MOST_BLOCKS]
    kept = tuple(block for block in blocks if block in largest)
    return kept, sum(block.tokens for block in blocks)


def named(part: Part) -> str:
    """What a part is called: message numbers count from 1."""
    if part.role == "tools":
        return f"tool {_number(part.path)}"
    if part.role == "schema":
        return "the schema of the answer"
    if part.path[:1] in (("messages",), ("input",)) and len(part.path) > 1:
        role = "system text" if part.role == "system" else part.role
        kind = {"thinking": "thoughts", "image": "picture", "call": "call", "id": "id"}.get(part.kind, "")
        return f"message {_number(part.path)} ({f'{role}, {kind}' if kind else role})"
    return {"system": "the system text", "prompt": "the prompt"}.get(part.role, f"the {part.role} text")


def _number(path: Path) -> int:
    return int(path[1]) + 1 if len(path) > 1 and isinstance(path[1], int) else 1
