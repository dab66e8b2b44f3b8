"""How two texts that should be the same differ: what kind of change stands at their first difference."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import NamedTuple

from promptorder.prefix import common_start

_MONTH_OR_DAY = re.compile(
    r"\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)\b|[年月日년월일]",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\d{1,2}[:h]\d{2}|T\d{2}:?\d{2}|^\D{0,3}1[5-9]\d{8}(?:\d{3}|\.\d+)?\D{0,3}$|\d[時时点분시]|\b\d{1,2} ?[ap]\.?m\b"
)
_NEAR_TIME = re.compile(r"\d{1,2}:\d{2}|\b(?:clock|time|now|uhr|hora|heure)\b", re.IGNORECASE)
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}")
_NUMBER = re.compile(r"^[\W_]*\d[\d.,_/]*[\W_]*$")
_ID = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-|^(?=\S*\d)(?=\S*[A-Za-z])\S{4,}$|^[0-9a-fA-F]{6,}$", re.IGNORECASE
)
_ID_CUE = re.compile(
    r"\b(?:id|nonce|hash|session|request|trace|run|tag|key|sha|uuid|token|build)\b[^\n]{0,16}$", re.IGNORECASE
)
_PATH = re.compile(r"(?:^|[\s\"'`(=:])(?:[~.]?/|[A-Za-z]:\\)[\w.-]+[/\\]?|\w+/\w+")
_PLACE_CUE = re.compile(
    r"\b(?:folder|directory|cwd|pwd|branch|host(?:name)?|git|workspace|files?|cursor|platform)\b[^\n]{0,24}$",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"^[#*>\s]*(?:user(?:'s)? |customer(?:'s)? )?(?:question|query|ticket|request|message|inquiry|input|task|e-?mail|text|"
    r"frage|pregunta|domanda|pergunta|質問|问题|질문|вопрос)\b[^\n:：]{0,24}[:：][^\n]*$",
    re.IGNORECASE,
)
_MEMORY = re.compile(
    r"\b(?:known?|memor(?:y|ies)|notes?|facts?|context|retrieved|passages?|snippets?|results?|state|remember\w*)\b",
    re.IGNORECASE,
)
_SHOT = re.compile(
    r"^[#*\s]*(?:q|a|question|answer|input|output|user|assistant|human|ai|bot|example|text|label|sentence)\s*\d*[*\s]*[:：]",
    re.IGNORECASE | re.MULTILINE,
)
_PIECE = re.compile(r"\n+|(?<=[.;!?。]) +")
_TAGS = re.compile(r"</?[\w-]+>")
_WORD = re.compile(r"\w+")
_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>\s*", re.DOTALL | re.IGNORECASE)
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_LOOKS = str.maketrans("‘’‚“”„–—−…\u00a0\u2028\u2029", "'''\"\"\"---.   ", "\u200b\u200c\u200d\ufeff\u00ad")
TIMESTAMP, DATE, ID, COUNTER, PLACE, QUESTION, MEMORY, TEXT = (
    "timestamp", "date", "id", "counter", "environment", "question", "memory", "text",
)  # fmt: skip
VOLATILE = frozenset((TIMESTAMP, DATE, ID, COUNTER, PLACE))
WHITESPACE, ENCODING, JSON_ORDER, FEWSHOT, LINES = (
    "whitespace-drift", "encoding-drift", "json-order", "fewshot-order", "lines-reordered",
)  # fmt: skip


class Drift(NamedTuple):
    """The first difference of two texts: ``start`` to ``end`` is the changed word in the later one.

    ``kind`` is one of this module's names; ``kept`` are the characters behind it that both hold.
    """

    kind: str
    start: int
    end: int
    was: str
    now: str
    kept: int


def drift(was: str, now: str) -> Drift:
    """What happened between two texts that differ."""
    n = common_start(was, now)
    kind = _same_but_for(was, now, n)
    kept = len(now) - n if kind else kept_behind(was, now, n)
    if not kind:
        kind = kind_of_change(was, now, n)
        several = len(_SHOT.findall(now, max(0, n - 80), n + 600)) >= 3
        if kind == TEXT and several and _shots_differ(was, now, n):
            kind = FEWSHOT
    start, end = word_at(now, n)
    before, after = was[slice(*word_at(was, n))], now[start:end]
    if before == after:  # something was added to the end of a text, or taken from it
        before, after = was[n : n + 40].strip(), now[n : n + 40].strip()
    return Drift(kind, start, end, before, after, kept)


def kind_of_change(was: str, now: str, n: int) -> str:
    """What the words at the first difference are: a time, a date, an id, ..., or just text."""
    a, b = (_TAGS.sub("", text[slice(*word_at(text, n))]) for text in (was, now))
    line = now[now.rfind("\n", 0, n) + 1 : n]
    near = now[max(0, n - 24) : n + 24]
    words = (a, b)
    if all(_TIME.search(word) for word in words) and not all(
        _ID.match(w) and "-" in w and ":" not in w for w in words
    ):
        return TIMESTAMP
    if _QUESTION.match(line) and not all(_NUMBER.match(word) for word in words):
        return QUESTION
    if all(_DATE.search(word) for word in words):
        return DATE
    if all(any(c.isdigit() for c in word) for word in words) or any(
        _MONTH_OR_DAY.fullmatch(w.strip(".,;:()")) for w in words
    ):
        if _NEAR_TIME.search(near) and any(":" in w or _NUMBER.match(w) for w in words) and ":" in near:
            return TIMESTAMP
        if _MONTH_OR_DAY.search(near) and not any(_ID.match(word) and len(word) > 8 for word in words):
            return DATE
    if any(_NUMBER.match(word) for word in words) and all(
        any(c.isdigit() for c in w) or not w for w in words
    ):
        return ID if _ID_CUE.search(line) and min(map(len, words)) >= 5 else COUNTER
    if _PLACE_CUE.search(line) or any(_PATH.search(word) for word in words):
        return PLACE
    if any(_ID.search(word) and any(c.isdigit() for c in word) for word in words) and len(a) < 80:
        return ID
    if _ID_CUE.search(line) and all(w and " " not in w and len(w) >= 4 and not w.isalpha() for w in words):
        return ID
    return MEMORY if _MEMORY.search(line) else TEXT


def only_thoughts(was: str, now: str) -> bool:
    """Whether the texts differ in their thoughts alone."""
    if not (_THOUGHT.search(was) or _THOUGHT.search(now)):
        return False
    return _THOUGHT.sub("", was).strip() == _THOUGHT.sub("", now).strip()


def common_end(a: str, b: str, n: int) -> int:
    """How many characters two texts share at their end, their first ``n`` left out."""
    return common_start(a[n:][::-1], b[n:][::-1])


def kept_behind(was: str, now: str, n: int) -> int:
    """How many characters behind the first difference stand in both texts, however many places differ."""
    end = common_end(was, now, n)
    if 2 * end >= min(len(was), len(now)) - n:
        return end
    known = set(_PIECE.split(was[n:]))
    return max(end, sum(len(piece) for piece in _PIECE.split(now[n:]) if len(piece) > 7 and piece in known))


def _same_but_for(was: str, now: str, n: int) -> str:
    """The kind of a change of form alone: white space, encoding, or order."""
    if _squeezed(was) == _squeezed(now):
        return WHITESPACE
    if plain(was) == plain(now):
        return ENCODING
    end = common_end(was, now, n)
    start = n - len(now[:n].rpartition("\n")[2].split(" ")[-1])
    a, b = was[start : len(was) - end or None], now[start : len(now) - end or None]
    end_word = re.match(r"\w*", now[len(now) - end :])
    rest = end_word[0] if end_word else ""
    words, others = _WORD.findall(a + rest), _WORD.findall(b + rest)
    if len(words) < 2 or words == others or not any(word[0].isalpha() for word in words):
        return ""
    if sorted(words) != sorted(others):
        return ""
    before = now[max(0, start - 2000) : n + 1]
    if before.count("{") > before.count("}") and ":" in a:
        return JSON_ORDER
    if len(_SHOT.findall(was, start, len(was) - end)) >= 2:
        return FEWSHOT
    return LINES


def _shots_differ(was: str, now: str, n: int) -> bool:
    """Whether the texts show other examples: at least one line behind the difference is in both, in another place."""
    lines, others = (set(text[n : n + 4000].split("\n")) for text in (was, now))
    return any(len(line) > 3 and _SHOT.match(line) for line in lines & others)


def word_at(text: str, n: int) -> tuple[int, int]:
    """Start and end of what stands around ``n`` without white space, at most 80 characters to each side."""
    start, end = n, n
    while start > 0 and n - start < 80 and not text[start - 1].isspace():
        start -= 1
    while end < len(text) and end - n < 80 and not text[end].isspace():
        end += 1
    return start, end


def _squeezed(text: str) -> str:
    return "".join(text.split())


def plain(text: str) -> str:
    """A text without what encodings and editors do to characters."""
    from html import unescape
    from unicodedata import normalize

    text = _ESCAPED.sub(lambda match: chr(int(match[1], 16)), unescape(text))
    if "Ã" in text or "â€" in text or "Â" in text:
        with suppress(UnicodeError):
            text = text.encode("cp1252").decode("utf-8")
    return _squeezed(normalize("NFKC", text.translate(_LOOKS)))
