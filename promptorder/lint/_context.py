"""Whether a date or an id in fixed text is a value that was filled in, or an example that stays.

The same characters mean both: a clock on top of a prompt changes with every request, a date in a changelog never. What
tells them apart is the wording around them, their precision, their place, and whether more of the same kind stand nearby.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from promptorder.lint._patterns import lazily

_CUE = lazily(
    r"\b(?:now|today|currently|current (?:time|date|day|datetime|timestamp|moment)|current_?(?:time|date)|time|date|clock|"
    r"timestamp|datetime|as of|rendered|generated|asked|opened|started|requested|received|logged|snapshot|moment|day of|"
    r"wall clock|it is|built at|sent|issued at|fetched|utc|weekday|shift|session|"
    r"heute|jetzt|uhrzeit|datum|aktuell\w*|stand|aujourd'hui|heure|maintenant|nous sommes|hoy|ahora|fecha|hora|"
    r"it['’]s|hoje|agora|data|oggi|adesso|ora|vandaag|nu|nå|idag|i dag|dzi[sś](?:iaj)?|teraz|dnes|tänään|σήμερα|hari ini|hôm nay|"
    r"сегодня|сейчас|сьогодні|зараз|время|дата|bugün|şimdi)\b"
    r"|今日|本日|現在|今天|现在|目前|時刻|时间|日付|日期|오늘|현재|지금|اليوم|الآن|आज|अभी",
    re.IGNORECASE,
)
_STRONG_CUE = lazily(
    r"\b(?:now|today|current\w*|it is|clock|timestamp|rendered|generated|heute|jetzt|uhrzeit|aktuell\w*|aujourd'hui|"
    r"maintenant|hoy|ahora|hoje|agora|oggi|adesso|vandaag|idag|i dag|dzi[sś](?:iaj)?|dnes|tänään|σήμερα|hari ini|hôm nay|"
    r"сегодня|сейчас|сьогодні|зараз|bugün)\b|今日|本日|現在|今天|现在|오늘|현재|지금|اليوم|الآن|आज",
    re.IGNORECASE,
)
_EXAMPLE = lazily(
    r"\b(?:e\.g\.|for example|for instance|examples?|sample|such as|like this|released?|changelog|version|v\d+\.\d+|"
    r"published|effective|since|until|before|after|valid|deadline|born|founded|established|copyright|updated|modified|"
    r"revised|revision|amended|expires?|due|between|from .{0,40} to|cutoff|cut-off|knowledge|schema|format|iso ?8601|"
    r"yyyy|rfc ?\d+|created_at|was|were|wrote|said|signed|enacted|adopted|died|in effect|beispiel|exemple|ejemplo|例|示例)\b"
    r"|©|->|=>|→",
    re.IGNORECASE,
)
_EXAMPLE_HEADING = lazily(
    r"change ?log|release|history|example|sample|few.?shot|version|reference|appendix|schedule|calendar|holidays|timeline|"
    r"news|documentation|api|faq",
    re.IGNORECASE,
)
_FENCE = lazily(r"^[ \t]*(?:```|~~~)", re.MULTILINE)
_SHAPE = lazily(r"\d")
_YEAR = lazily(r"(?<!\d)(?:1\d|20)\d\d(?!\d)")
FIRST_YEAR = 2020
"""Nobody filled in a date before it: there was no prompt to fill it into."""
_NEAR = 800
_MOST_VALUES = 400
_LITERAL = lazily(r"::[ \t]*\r?\n[ \t]*\r?\n[ \t]")
MOST_LINES = 100
"""Lines are counted up to here."""
HEAD_LINES = 5
"""A value in the first lines of a prompt is where programs put a clock or an id."""


_CLOCK_KEY = lazily(
    r"[\"'](?:now|today|current_?(?:date|time)\w*|server_?time)[\"']\s*:\s*[\"']$", re.IGNORECASE
)
_SHOWN = lazily(r"->|=>|→")
_SHOWS = lazily(
    r"\b(?:e\.g\.|for (?:example|instance)|such as|z\. ?B\.|par exemple|por ejemplo)", re.IGNORECASE
)
_IN_CODE = lazily(
    r"(?:^|\s)--?[a-z][\w-]*[ =][\"']?$|(?:https?://|\barn:)\S*$|[\"'][\w.-]+[\"']\s*:\s*$|\$(?:Date|Id|Revision): ?$",
    re.IGNORECASE,
)
"""In front of a value: an option of a command, an address, the key of a number in JSON, a keyword of version control."""
_TURN = lazily(r"[\s*#>-]*(?:user|human|customer|q|question|input|guest|client)[\s*]*[:>]", re.IGNORECASE)
_ANSWER = lazily(
    r"^[ \t*#>-]*(?:assistant|ai|bot|agent|model|a|answer|output|response|label)[ \t*]*[:>]",
    re.IGNORECASE | re.MULTILINE,
)


def first_values(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """The values of a kind in a text, for as long as they may be clocks and not the entries of a table."""
    return islice(pattern.finditer(text), _MOST_VALUES)


def _ends_of_lines_with_text(text: str) -> Iterator[int]:
    start = 0
    while (end := text.find("\n", start)) >= 0:
        if text[start:end].strip():
            yield end + 1
        start = end + 1


def literal_blocks(text: str) -> list[tuple[int, int]]:
    """Where code stands indented below a line that ends with ``::``, as in reStructuredText."""
    found: list[tuple[int, int]] = []
    if _LITERAL.search(text) is None:
        return found
    begin, outer, at = -1, 0, 0
    for line in text.splitlines(keepends=True):
        at += len(line)
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        if begin >= 0 and indent <= outer:
            found.append((begin, at - len(line)))
            begin = -1
        if begin < 0 and line.rstrip().endswith("::"):
            begin, outer = at, indent
    return [*found, (begin, at)] if begin >= 0 else found


class Around:
    """One static text, asked about the places in it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._fences: list[int] | None = None
        self._literal: list[tuple[int, int]] | None = None
        self._head: list[int] | None = None

    def line(self, offset: int) -> str:
        """The line that holds an offset."""
        start, end = self._line_bounds(offset)
        return self.text[start:end]

    def line_number(self, offset: int) -> int:
        """Lines with text before the one of ``offset``, so 0 is the first."""
        # Whether the line is among the first ones is all that anybody asks for.
        if self._head is None:
            self._head = list(islice(_ends_of_lines_with_text(self.text), MOST_LINES))
        return bisect_right(self._head, offset)

    def is_example(self, start: int, end: int) -> bool:
        """In code, in quotes, under a heading for examples, beside words that introduce one, or one of a series."""
        line_start, line_end = self._line_bounds(start)
        line = self.text[line_start:line_end]
        before, after = self.text[line_start:start], self.text[end:line_end]
        if before.count("`") % 2 or (
            before.count('"') % 2 and '"' in after and not _CLOCK_KEY.search(before)
        ):
            return True
        if self._fences is None:
            self._fences = [match.start() for match in _FENCE.finditer(self.text)]
        if bisect_left(self._fences, start) % 2:
            return True
        if _SHOWN.search(after) or _SHOWS.search(before) or self._is_answered(line, line_start, line_end):
            return True
        if (_IN_CODE.search(before) and not _CLOCK_KEY.search(before + '"')) or self._is_literal(start):
            return True
        outside = before + " " + after
        if _EXAMPLE.search(outside) and not _STRONG_CUE.search(before):
            return True
        if _EXAMPLE_HEADING.search(self._heading(line_start)) and not _STRONG_CUE.search(before):
            return True
        return self._is_one_of_a_series(line, line_start)

    def _is_answered(self, line: str, line_start: int, line_end: int) -> bool:
        """A turn of a conversation that is shown as an example, with its answer below; or that answer."""
        if _TURN.match(line):
            return _ANSWER.search(self.text[line_end : line_end + 400]) is not None
        return _ANSWER.match(line) is not None and any(
            _TURN.match(above) for above in self.text[max(0, line_start - 400) : line_start].split("\n")
        )

    def _is_literal(self, offset: int) -> bool:
        if self._literal is None:
            self._literal = literal_blocks(self.text)
        at = bisect_right(self._literal, (offset, len(self.text) + 1)) - 1
        return at >= 0 and offset < self._literal[at][1]

    def is_long_ago(self, value: str) -> bool:
        """Whether a date is older than the models that read prompts."""
        year = _YEAR.search(value)
        return year is not None and int(year[0]) < FIRST_YEAR

    def score(self, start: int, end: int, *, precise: bool) -> int:
        """How much speaks for a value that was filled in; 2 and more is a finding."""
        line_start, line_end = self._line_bounds(start)
        before = self.text[line_start:start]
        rest = self.text[end:line_end]
        number = self.line_number(start)
        points = 0
        if _STRONG_CUE.search(before) or _STRONG_CUE.search(rest[:40]):
            points += 3
        elif _CUE.search(before) or _CUE.search(rest[:20]):
            points += 2
        if number < HEAD_LINES:
            points += 1
        if number == 0:
            points += 1
        if precise:
            points += 1
        return points

    def _line_bounds(self, offset: int) -> tuple[int, int]:
        """The line of an offset, or of a line without end what stands near."""
        first, last = max(0, offset - _NEAR), min(len(self.text), offset + _NEAR)
        start = self.text.rfind("\n", first, offset)
        end = self.text.find("\n", offset, last)
        return first if start < 0 else start + 1, last if end < 0 else end

    def _heading(self, offset: int) -> str:
        """The nearest line above that looks like a heading: ``# ...``, ``...:`` or ``=== ... ===``, within 30 lines."""
        lines = self.text[max(0, offset - 3000) : offset].split("\n")[:-1]
        for line in reversed(lines[-30:]):
            stripped = line.strip()
            if stripped.startswith(("#", "==", "--- ")) or (stripped.endswith(":") and len(stripped) < 60):
                return stripped
        return ""

    def _is_one_of_a_series(self, line: str, line_start: int) -> bool:
        """Two other lines of the same shape stand near: a list, a table, few-shot examples."""
        shape = _shape(line)
        if not shape:
            return False
        near = self.text[max(0, line_start - 1500) : line_start + len(line) + 1500].split("\n")
        return sum(1 for other in near if _shape(other) == shape) >= 3


@lru_cache(maxsize=1024)
def _shape(line: str) -> str:
    """A line's start without its words and digits: alike for the entries of one list."""
    if not _SHAPE.search(line):
        return ""
    head = re.sub(r"\d+", "0", line.strip()[:32])
    return re.sub(r"[^\W\d_]+", "a", head)[:14]
