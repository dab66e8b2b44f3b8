"""For people: each finding with its line, the text that loses its reuse, and one tip."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.lint.formats import Style
from promptorder.lint.formats._words import conclusion, printable
from promptorder.model.lint import Finding
from promptorder.model.lint_result import LintResult

SUMMARY = "For people."
_BOLD, _DIM, _END = "\x1b[1m", "\x1b[2m", "\x1b[0m"
_COLORS = {"error": "\x1b[31m", "warning": "\x1b[33m", "info": "\x1b[36m"}
_INDENT = "    "
_AROUND = 400
"""Characters of a line to look at on either side of a place: a log has lines of a megabyte."""


def render(result: LintResult, style: Style) -> str:
    """All findings, files that could not be read, counts by rule where they are asked for, and a last line."""
    blocks = ["\n".join(_finding(finding, style)) for finding in result.findings]
    if result.errors:
        blocks.append(
            "\n".join(
                "\n".join(
                    _wrapped(
                        f"{printable(problem.path)}{f':{problem.line}' if problem.line else ''}",
                        printable(problem.message),
                        style,
                    )
                )
                for problem in result.errors
            )
        )
    if style.statistics and result.findings:
        blocks.append("\n".join(_statistics(result)))
    blocks.append(
        "\n".join(_folded(conclusion(result)[0].upper() + conclusion(result)[1:] + ".", style.width, ""))
    )
    return "\n\n".join(blocks) + "\n"


def _finding(finding: Finding, style: Style) -> Iterator[str]:
    color = _COLORS[finding.severity]
    place = f"{printable(finding.path)}:{finding.line}:{finding.column}"
    head = f"{place} {finding.code} {finding.severity}"
    shown = f"{_BOLD}{place}{_END} {color}{finding.code} {finding.severity}{_END}" if style.color else head
    often = f" ({finding.occurrences} times)" if finding.occurrences > 1 else ""
    first, *rest = _wrapped(head, printable(finding.message) + often, style)
    yield shown + first[len(head) :]
    yield from rest
    blocks = [
        (
            _lines(related.line, related.end_line),
            _other(related.path, finding.path) + printable(related.message),
        )
        for related in finding.related
    ]
    gutter = max(len(label) for label in (str(finding.line), "tip", *(label for label, _ in blocks))) + 2
    if finding.line_text.strip():
        text, marks = _window(finding, style.width - gutter - 3)
        yield f"{finding.line:>{gutter}} | {text}"
        yield f"{'':>{gutter}} | {color + marks.rstrip() + _END if style.color else marks}"
    for label, text in (*blocks, ("tip", finding.tip)):
        first, *rest = _folded(text, style.width - gutter - 3, "")
        yield f"{label:>{gutter}} | {first}"
        yield from (f"{'':>{gutter}} | {line}" for line in rest)


def _lines(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"


def _other(path: str, own: str) -> str:
    return "" if path == own else f"{printable(path)}: "


def _wrapped(head: str, message: str, style: Style) -> list[str]:
    """``head message``, folded with an indent."""
    return _folded(f"{head} {message}", style.width, _INDENT, keep=len(head))


def _folded(text: str, width: int, indent: str, keep: int = 0) -> list[str]:
    """Lines of at most ``width`` columns, cut between words; the first ``keep`` characters stay together."""
    lines, line = [], text[:keep]
    for word in text[keep:].split():
        if line and columns(line) + 1 + columns(word) > width:
            lines.append(line)
            line = indent + word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def _window(finding: Finding, width: int) -> tuple[str, str]:
    """The part of the line around the place that fits, and carets below the value."""
    line, start = finding.line_text, finding.column - 1
    end = finding.end_column - 1 if finding.end_line == finding.line else len(line)
    end = max(start + 1, min(end, len(line)))
    # From here on a part of the line, in which every character is shown as one.
    cut = max(0, start - _AROUND)
    text = printable(line[cut : start + 2 * _AROUND])
    start, end = start - cut, min(end - cut, len(text))
    first = 0 if cut == 0 and columns(text[:end]) <= width else _back(text, start, max(8, width // 3))
    lead = "…" if first or cut else ""
    last, room = first, width - columns(lead)
    while last < len(text) and room >= columns(text[last]):
        room -= columns(text[last])
        last += 1
    trail = ""
    if last < len(text) or cut + last < len(line):
        trail = "…"
        while last > start + 1 and columns(lead + text[first:last]) >= width:
            last -= 1
    shown = lead + text[first:last] + trail
    marks = " " * columns(lead + text[first:start]) + "^" * max(1, columns(text[start : min(end, last)]))
    return shown.rstrip(), marks


def _back(text: str, start: int, room: int) -> int:
    """The first character to show so that at most ``room`` columns stand before the place."""
    while start > 0 and room >= columns(text[start - 1]):
        room -= columns(text[start - 1])
        start -= 1
    return start


def columns(text: str) -> int:
    """How wide a terminal shows ``text``: East Asian characters take two columns, marks on a letter none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def _statistics(result: LintResult) -> Iterator[str]:
    rows = []
    for code in {finding.code for finding in result.findings}:
        of_rule = [finding for finding in result.findings if finding.code == code]
        tokens = sum(finding.stranded_tokens or 0 for finding in of_rule)
        rows.append((len(of_rule), code, of_rule[0].name, tokens))
    width = max(len(name) for _, _, name, _ in rows)
    for number, code, name, tokens in sorted(rows, key=lambda row: (-row[0], row[1])):
        yield f"{number:>5}  {code}  {name:<{width}}  {f'{tokens:,} tokens' if tokens else '':>16}".rstrip()
