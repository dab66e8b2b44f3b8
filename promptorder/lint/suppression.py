"""``promptorder: ignore[PO101] reason`` in a comment, in forms where a comment is not part of the prompt.

In a text or Markdown prompt a comment is sent to the model, so there only ``per-file-ignores`` can silence a rule. A comment
holds on its own line and on the line below; in code and configuration also for a text that begins on one of these or ends on
its line, because inside of a text there is no place for a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from promptorder.lint._patterns import lazily
from promptorder.lint.engine import Lines, Options, fingerprint
from promptorder.lint.registry import Rules
from promptorder.model.lint import STATIC, Finding, Prompt, Segment, Source

MARK = "promptorder:"
NAME = "unused-suppression"
_HASH, _SLASHES, _JINJA, _MUSTACHE = r"#", r"(?://|/\*)", r"\{#", r"\{\{~?!(?:--)?"
_OPENERS = {
    "python": _HASH,
    "yaml": _HASH,
    "toml": _HASH,
    "modelfile": _HASH,
    "javascript": _SLASHES,
    "typescript": _SLASHES,
    "jinja": _JINJA,
    "prompty": _JINJA,
    "mustache": _MUSTACHE,
    "handlebars": _MUSTACHE,
}
_TEMPLATES = (_JINJA, _MUSTACHE)
_DIRECTIVE = r"[^\r\n]{0,120}?promptorder:[ \t]*ignore\b(?:[ \t]*\[([^\]\r\n]{0,200})\])?"
_OPENS = lazily(r"(?:[|>][-+\d]{0,2}|\"\"\"\\?|\'\'\'\\?|`)\s*(?:#.*)?$")
_COMMENTS = {opener: lazily(opener + _DIRECTIVE) for opener in set(_OPENERS.values())}


class Suppression(NamedTuple):
    """One comment: the lines on which it holds, its place, and the words between its brackets."""

    lines: frozenset[int]
    start: int
    end: int
    words: tuple[str, ...]


def find(source: Source, prompts: Sequence[Prompt]) -> list[Suppression]:
    """The comments of a file that silence something."""
    opener = _OPENERS.get(source.form)
    if opener is None or MARK not in source.text:
        return []
    lines = Lines(source.text)
    segments = [segment for prompt in prompts for segment in prompt.segments]
    pieces = [] if opener in _TEMPLATES else list(_pieces(segments, lines))
    found = []
    comments = _python_comments(source.text, lines) if source.form == "python" else None
    for match in _COMMENTS[opener].finditer(source.text):
        mark = source.text.index(MARK, match.start())
        if comments is not None and lines.place(mark)[0] not in comments:
            continue
        if opener not in _TEMPLATES and any(_is_in(segment, mark) for segment in segments):
            continue  # the model reads it
        line = lines.place(mark)[0]
        held = {line, line + 1}
        for first, last in pieces:
            if first in held or last == line:
                held.update(range(first, last + 1))
        words = tuple(word.strip() for word in (match[1] or "").split(",") if word.strip())
        found.append(Suppression(frozenset(held), mark, match.end(), words))
    return found


def apply(
    findings: Iterable[Finding], suppressions: Sequence[Suppression], known: Mapping[str, str]
) -> tuple[list[Finding], list[tuple[Suppression, str]], int]:
    """Findings that are left, words of comments that silenced nothing, and how many findings were silenced.

    ``known`` has the code of every rule by its name.
    """
    left, used, silenced = [], set(), 0
    for finding in findings:
        hits = [
            (number, word)
            for number, suppression in enumerate(suppressions)
            if finding.line in suppression.lines
            for word in suppression.words
            if known.get(word, word.upper()) == finding.code
        ]
        if hits:
            used.update(hits)
            silenced += 1
        else:
            left.append(finding)
    unused = [
        (suppression, word)
        for number, suppression in enumerate(suppressions)
        for word in suppression.words or ("",)
        if (number, word) not in used
    ]
    return left, unused, silenced


def unused_findings(
    source: Source,
    unused: Sequence[tuple[Suppression, str]],
    rules: Rules,
    known: Mapping[str, str],
    options: Options,
) -> Iterator[Finding]:
    """What is to be said of comments that silenced nothing; one for a rule that is off says nothing of the file."""
    rule = rules.by_name.get(NAME)
    if rule is None:
        return
    on = {each.CODE for each in rules.by_name.values()}
    lines = Lines(source.text)
    for suppression, word in unused:
        code = known.get(word, word.upper())
        if code in on:
            message = f"nothing here to ignore for {word}"
        elif code in known.values():
            continue
        else:
            message = (
                f"there is no rule {word!r}" if word else "a comment that ignores rules has to name them"
            )
        line, column = lines.place(suppression.start)
        end_line, end_column = lines.place(suppression.end)
        yield Finding(
            path=source.path,
            form=source.form,
            line=line,
            column=column,
            end_line=end_line,
            end_column=end_column,
            code=rule.CODE,
            name=NAME,
            message=message,
            severity=options.severities.get(rule.CODE) or rule.SEVERITY,
            confidence="high",
            changes=rule.CHANGES,
            occurrences=1,
            stranded_tokens=None,
            related=(),
            tip=rule.TIP,
            fingerprint=fingerprint(rule.CODE, word, lines.text_of(line), column),
            line_text=lines.text_of(line),
        )


def _pieces(segments: Sequence[Segment], lines: Lines) -> Iterator[tuple[int, int]]:
    """First and last lines of texts that stand in the file without a gap, such as one string."""
    start = end = -1
    for segment in sorted(segments, key=lambda each: each.start):
        if start >= 0 and segment.start - end <= 2:
            end = max(end, segment.end)
            continue
        if start >= 0:
            yield _opening(lines, start), lines.place(end)[0]
        start, end = segment.start, segment.end
    if start >= 0:
        yield _opening(lines, start), lines.place(end)[0]


def _opening(lines: Lines, start: int) -> int:
    """The line on which a text is opened, which may be the one above its first."""
    line = lines.place(start)[0]
    return line - 1 if line > 1 and _OPENS.search(lines.text_of(line - 1)) else line


def _is_in(segment: Segment, offset: int) -> bool:
    return segment.origin == STATIC and segment.start <= offset < segment.end and MARK in segment.text


def _python_comments(text: str, lines: Lines) -> frozenset[int] | None:
    """The lines that have a comment of ours; None where the text cannot be cut into tokens."""
    import io
    import tokenize

    # The tokenizer knows one kind of line end, and a file may have others; the number of lines stays the same.
    plain = re.sub(r"\r\n?", "\n", text)
    try:
        return frozenset(
            token.start[0]
            for token in tokenize.generate_tokens(io.StringIO(plain, newline="\n").readline)
            if token.type == tokenize.COMMENT and MARK in token.string
        )
    except (tokenize.TokenError, SyntaxError, RecursionError):
        return None
