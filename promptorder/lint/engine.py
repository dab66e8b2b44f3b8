"""From prompts to findings: what changes, and what stands behind it and loses its reuse. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from types import ModuleType
from typing import NamedTuple

from promptorder.lint._context import Around
from promptorder.lint._names import kind_of_name
from promptorder.lint.registry import Rules
from promptorder.model.lint import COMPUTED, STATIC, Finding, Hit, Prompt, Related, Segment, Source

DOCUMENT_TOKENS = 200
"""What a document behind a question is taken to have at least: its placeholder does not tell."""
STATIC_PART_TOKENS = 60
"""What an included file, or a placeholder for rules or tools, is taken to have at least."""
_HITS_PER_RULE = 50
"""More values of one kind in one text are a table, not clocks."""
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
    """What settings can change: names of own variables with how often each changes, and thresholds."""

    variables: dict[str, str] = {}
    min_tokens: int | None = None
    severities: dict[str, str] = {}


def lint(
    source: Source, prompts: Iterable[Prompt], rules: Rules, options: Options = Options()
) -> Iterator[Finding]:
    """All findings of a file's prompts, in their order."""
    lines = Lines(source.text)
    seen = set[tuple[str, int, int, int]]()
    for prompt in prompts:
        found = list(_hits(source, prompt, rules, options))
        covered = _covered(found)
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
    for index, segment in enumerate(prompt.segments):
        if segment.origin == STATIC:
            if _may_change(prompt, index):
                yield from _literal_hits(segment, index, rules)
        else:
            yield from _variable_hit(segment, index, rules, options)
    for rule in rules.checks:
        for hit in rule.check(prompt, source):
            yield rule, hit


def _may_change(prompt: Prompt, index: int) -> bool:
    """A value in a turn that was sent before is part of the history, and a constant of a program is baked in."""
    segment = prompt.segments[index]
    if segment.kind == "fixed":
        return False
    if segment.role in ("tools", "system", "prompt"):
        return True
    if segment.role != "user":
        return False
    turns = [s.role for s in prompt.segments if s.role in ("assistant", "history")]
    return not turns


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


def _covered(found: Sequence[tuple[ModuleType, Hit]]) -> dict[int, int]:
    """Characters of each static segment that change themselves and so are no loss."""
    covered: dict[int, int] = {}
    for _, hit in found:
        covered[hit.segment] = covered.get(hit.segment, 0) + hit.end - hit.start
    return covered


class Stranded(NamedTuple):
    """What stands behind a value that changes: its size, whether a chat history is in it, where its text is."""

    tokens: int
    history: bool
    start: int
    end: int


def stranded(prompt: Prompt, segment: int, after: int) -> Stranded:
    """Static text behind ``after`` in a segment and in all later ones; tokens are estimated from bytes."""
    tokens, history, start, end = 0, False, -1, -1
    for index in range(segment, len(prompt.segments)):
        each = prompt.segments[index]
        if index > segment and each.role in ("history", "assistant"):
            history = True
        if each.origin == STATIC:
            begin = after if index == segment else 0
            text = each.text[begin:]
            if not text.strip():
                continue
            # The last message of a chat is the new one: nobody can have read it before.
            if index > segment and _is_new_turn(prompt, index):
                continue
            tokens += estimate_tokens(text)
            lead = begin + len(text) - len(text.lstrip())
            if start < 0:
                start = each.place(lead)
            end = max(end, each.place(len(each.text.rstrip()) - 1) + 1)
        elif index > segment and kind_of_name(each.name) in ("document-first", "history"):
            tokens += DOCUMENT_TOKENS
            history = history or kind_of_name(each.name) == "history"
            if start < 0:
                start = each.start
            end = max(end, each.end)
        elif index > segment and "static-part" in (each.kind, each.kind or kind_of_name(each.name)):
            tokens += STATIC_PART_TOKENS
            if start < 0:
                start = each.start
            end = max(end, each.end)
    return Stranded(tokens, history, start, end)


def _is_new_turn(prompt: Prompt, index: int) -> bool:
    """Whether a segment belongs to the last user message of a prompt that is divided into messages."""
    segment = prompt.segments[index]
    # What a program says as a constant is in each turn again, so it has been read before.
    if segment.role != "user" or segment.kind == "fixed":
        return False
    return all(later.role == "user" for later in prompt.segments[index:]) and any(
        earlier.role in ("system", "assistant", "history") for earlier in prompt.segments[:index]
    )


def estimate_tokens(text: str) -> int:
    """About a token for four bytes of UTF-8: English has 4 to 4.5, Chinese and Japanese 3 to 4."""
    return -(-len(text.encode("utf-8", "replace")) // 4)


def _finding(
    source: Source,
    prompt: Prompt,
    rule: ModuleType,
    hit: Hit,
    covered: dict[int, int],
    lines: Lines,
    options: Options,
) -> Finding | None:
    lost = stranded(prompt, hit.segment, hit.after)
    later = sum(
        size
        for index, size in covered.items()
        if index > hit.segment and prompt.segments[index].origin == STATIC
    )
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
        severity=options.severities.get(code)
        or options.severities.get(name)
        or hit.severity
        or rule.SEVERITY,
        confidence=hit.confidence,
        changes=changes,
        occurrences=hit.occurrences,
        stranded_tokens=tokens,
        related=tuple(related),
        tip=rule.TIP,
        fingerprint=fingerprint(code, prompt.name, lines.text_of(line), column),
        line_text=lines.text_of(line),
    )


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

    data = "\0".join((code, prompt, " ".join(line.split()), str(column)))
    return blake2b(data.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class Lines:
    r"""Lines of a text, which end at ``\n``, ``\r\n`` or ``\r`` and at nothing else; made when first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        starts = self._line_starts()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def text_of(self, line: int) -> str:
        """A line without its end."""
        starts = self._line_starts()
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[starts[line - 1] : end].rstrip("\r\n")

    def excerpt(self, start: int, end: int) -> str:
        """What stands there, on one line and short."""
        text = " ".join(self.text[start:end].split())
        return text if len(text) <= 60 else text[:59] + "…"

    def _line_starts(self) -> list[int]:
        if self._starts is None:
            import re

            self._starts = [0, *(match.end() for match in re.finditer(r"\r\n|\n|\r", self.text))]
        return self._starts
