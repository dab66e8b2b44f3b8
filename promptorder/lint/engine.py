"""From prompts to findings: what changes, and what stands behind it and loses its reuse. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType, ModuleType
from typing import NamedTuple

from promptorder.lint._context import Around
from promptorder.lint._names import kind_of_name
from promptorder.lint._stranded import Behind, Stranded
from promptorder.lint.registry import Rules
from promptorder.model.lint import COMPUTED, STATIC, Finding, Hit, Prompt, Related, Segment, Source

_HITS_PER_RULE = 50
"""More values of one kind in one text are a table, not clocks."""
_NEAR = 500
_MESSAGES = {
    "request": "changes with every request",
    "turn": "changes with every turn of the chat",
    "session": "changes with every session",
    "process": "changes each time the program starts",
    "day": "changes every day",
    "checkout": "changes with every checkout or edit",
    "machine": "differs between machines",
    "user": "differs between users",
    "rendering": "can change each time it is rendered",
    "never-cached": "is never cached",
    "unknown": "changes between requests",
}


class Found(NamedTuple):
    """What a rule's ``literals`` yields: offsets in the static text."""

    start: int
    end: int
    changes: str = ""
    confidence: str = "high"


class Options(NamedTuple):
    """What settings can change: names of own variables with how often each changes, thresholds, and severities by code."""

    variables: Mapping[str, str] = MappingProxyType({})
    min_tokens: int | None = None
    severities: Mapping[str, str] = MappingProxyType({})


DEFAULTS = Options()


def lint(
    source: Source, prompts: Iterable[Prompt], rules: Rules, options: Options = DEFAULTS
) -> Iterator[Finding]:
    """All findings of a file's prompts, in their order."""
    lines = Lines(source.text)
    seen = set[tuple[str, int, int, int]]()
    for prompt in prompts:
        found = list(_hits(source, prompt, rules, options))
        covered = _Covered(prompt, found)
        for rule, hit in sorted(found, key=lambda pair: (pair[1].start, pair[0].CODE)):
            finding = _finding(source, prompt, rule, hit, covered, lines, options)
            if finding is None:
                continue
            # Prompts of one file share parts, such as the branches of a template: one place is one finding.
            place = (finding.code, finding.line, finding.column, finding.end_column)
            if place not in seen:
                seen.add(place)
                yield finding


def _hits(source: Source, prompt: Prompt, rules: Rules, options: Options) -> Iterator[tuple[ModuleType, Hit]]:
    has_turns = any(segment.role in ("assistant", "history") for segment in prompt.segments)
    for index, segment in enumerate(prompt.segments):
        if segment.origin == STATIC:
            if _may_change(segment, has_turns=has_turns):
                yield from _literal_hits(segment, index, rules)
        else:
            yield from _variable_hit(segment, index, rules, options)
    for rule in rules.checks:
        for hit in rule.check(prompt, source):
            yield rule, hit


def _may_change(segment: Segment, *, has_turns: bool) -> bool:
    """A value in a turn that was sent before is part of the history, and a constant of a program is baked in."""
    if segment.kind == "fixed":
        return False
    return segment.role in ("tools", "system", "prompt") or (segment.role == "user" and not has_turns)


def _literal_hits(segment: Segment, index: int, rules: Rules) -> Iterator[tuple[ModuleType, Hit]]:
    triggered = rules.triggered(segment.text)
    if not triggered:
        return
    around = Around(segment.text)
    for rule in triggered:
        for number, found in enumerate(rule.literals(segment.text, around)):
            if number >= _HITS_PER_RULE:
                break
            start, end = segment.place(found.start), segment.place(found.end - 1) + 1
            yield rule, Hit(start, end, index, found.end, found.changes, found.confidence)


def _variable_hit(
    segment: Segment, index: int, rules: Rules, options: Options
) -> Iterator[tuple[ModuleType, Hit]]:
    changes = options.variables.get(segment.name, "")
    if changes == "never":
        return
    kind = segment.kind or kind_of_name(segment.name)
    if kind == "fixed":
        return
    rule = rules.by_kind.get(kind)
    if rule is None and changes:
        rule = rules.by_kind.get("own-variable")
    if rule is None:
        return
    confidence = "high" if segment.origin == COMPUTED else "medium"
    yield (
        rule,
        Hit(segment.start, segment.end, index, len(segment.text), changes or segment.changes, confidence),
    )


class _Covered:
    """Characters of static segments that change themselves and so are no loss."""

    def __init__(self, prompt: Prompt, found: Sequence[tuple[ModuleType, Hit]]) -> None:
        sizes: dict[int, int] = {}
        for _, hit in found:
            if prompt.segments and prompt.segments[hit.segment].origin == STATIC:
                sizes[hit.segment] = sizes.get(hit.segment, 0) + hit.end - hit.start
        self._indexes = sorted(sizes)
        self._up_to = [0, *accumulate(sizes[index] for index in self._indexes)]

    def behind(self, segment: int) -> int:
        """How many in all later segments."""
        return self._up_to[-1] - self._up_to[bisect_right(self._indexes, segment)]


def stranded(prompt: Prompt, segment: int, after: int) -> Stranded:
    """Static text behind ``after`` in a segment and in all later ones; tokens are estimated from bytes."""
    return _behind(prompt).at(segment, after)


def _behind(prompt: Prompt) -> Behind:
    """The sums of a prompt, kept for as long as it is the one that is asked about."""
    global _last_behind  # noqa: PLW0603 - a cache of one, by identity: a prompt is too large to compare
    if _last_behind is None or _last_behind.prompt is not prompt:
        _last_behind = Behind(prompt)
    return _last_behind


_last_behind: Behind | None = None


def _finding(
    source: Source,
    prompt: Prompt,
    rule: ModuleType,
    hit: Hit,
    covered: _Covered,
    lines: Lines,
    options: Options,
) -> Finding | None:
    lost = stranded(prompt, hit.segment, hit.after)
    later = covered.behind(hit.segment)
    tokens = max(0, lost.tokens - later // 4) if hit.stranded_tokens is None else hit.stranded_tokens
    worth = (
        hit.worth
        if hit.worth is not None
        else options.min_tokens
        if options.min_tokens is not None
        else rule.WORTH
    )
    if worth and tokens < worth and not (lost.history and rule.WORTH <= 40):
        return None
    line, column = lines.place(hit.start)
    end_line, end_column = lines.place(hit.end)
    changes = hit.changes or rule.CHANGES
    code: str = rule.CODE
    name = rule.__name__.rsplit(".", 1)[-1].replace("_", "-")
    what = lines.excerpt(hit.start, hit.end)
    message = hit.message or f"{what} {_MESSAGES.get(changes, _MESSAGES['unknown'])}"
    if not hit.message:
        message += _loss(tokens, lost.history)
    related = [
        Related(source.path, lines.place(a)[0], lines.place(max(a, b - 1))[0], text)
        for a, b, text in hit.related
    ]
    if not related and lost.start >= 0:
        first, last = lines.place(lost.start)[0], lines.place(max(lost.start, lost.end - 1))[0]
        related = [
            Related(source.path, first, last, f"about {tokens:,} tokens here are read again each time")
        ]
    return Finding(
        path=source.path,
        form=source.form,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        code=code,
        name=name,
        message=message,
        severity=options.severities.get(code) or hit.severity or _severity(rule, changes),
        confidence=hit.confidence,
        changes=changes,
        occurrences=hit.occurrences,
        stranded_tokens=tokens,
        related=tuple(related),
        tip=rule.TIP,
        fingerprint=fingerprint(code, prompt.name, lines.text_of(line), column),
        line_text=lines.text_of(line),
    )


def _severity(rule: ModuleType, changes: str) -> str:
    """What changes once a day is read again once a day: never an error."""
    severity: str = rule.SEVERITY
    return "warning" if changes == "day" and severity == "error" else severity


def _loss(tokens: int, history: bool) -> str:
    if history and tokens:
        return f", and the chat history and about {tokens:,} static tokens behind it are read again"
    if history:
        return ", and the whole chat history behind it is read again"
    return f", and about {tokens:,} static tokens behind it are read again"


def fingerprint(code: str, prompt: str, line: str, column: int) -> str:
    """Stable when lines move: made of the line's own words and not of its number."""
    try:
        # hashlib would load OpenSSL, which takes a sixth of what a start may cost, for the same digest.
        from _blake2 import blake2b
    except ImportError:
        from hashlib import blake2b

    near = line[
        max(0, column - _NEAR) : column + _NEAR
    ]  # of a file that is one line, not all of it each time
    data = "\0".join((code, prompt, " ".join(near.split()), str(column)))
    return blake2b(data.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Lines:
    r"""Lines of a text, which end at ``\n``, ``\r\n`` or ``\r`` and at nothing else; made when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None
        self._last = (0, "")

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def text_of(self, line: int) -> str:
        """A line without its end."""
        if self._last[0] != line:
            starts = self._line_starts()
            end = starts[line] if line < len(starts) else len(self.text)
            self._last = (line, self.text[starts[line - 1] : end].rstrip("\r\n"))
        return self._last[1]

    def excerpt(self, start: int, end: int) -> str:
        """What stands there, on one line and short."""
        text = " ".join(self.text[start:end].split())
        return text if len(text) <= 60 else text[:59] + "…"

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            import re

            self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", self.text))]
        return self._starts
