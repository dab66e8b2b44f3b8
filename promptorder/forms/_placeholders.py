"""Placeholders in text: which parts of it a program fills in.

All the syntaxes at once, because a text file does not say which program reads it: ``{x}``, ``{{x}}``, ``{{{x}}}``, ``${x}``,
``$x``, ``%(x)s``, ``<%= x %>``, ``{{$x}}``, ``{{#x#}}``, ``[[x]]`` is not one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from promptorder.lint._context import literal_blocks
from promptorder.lint._patterns import lazily
from promptorder.model.lint import COMPUTED, STATIC, VARIABLE, Segment

_NAME = r"[A-Za-z_][\w.\-]*(?:\[[^\]\n{}]{1,40}\])*"
_PATTERN = lazily(
    rf"""
    (?P<escaped>\\\{{\{{.{{0,200}}?\}}\}} | \\\$\{{[^}}\n]*\}} | \{{\{{'\{{\{{'\}}\}})
  | \{{\{{\{{?[~&]?\s*(?P<double>[^{{}}\n]{{1,200}}?)\s*~?\}}\}}\}}?
  | \$\{{\s*(?P<dollar>[^{{}}\n]{{1,200}}?)\s*\}}
  | <%[=\-]\s*(?P<erb>[^%\n]{{1,200}}?)\s*-?%>
  | %\((?P<percent>\w+)\)[-\#0\ +]*\d*(?:\.\d+)?[sdrif]
  | (?<![\\{{\w$@])\{{\s*(?P<single>{_NAME})(?:![rsa])?(?::[^{{}}\n]{{0,40}})?\s*\}}(?!\}})
  | (?<![\w$\\])\$(?P<bare>[A-Za-z_]\w*)\b(?!\(|\.\w)
    """,
    re.VERBOSE,
)
_TAG = lazily(r"\{%-?\s*(?:for|if|set|endfor|endif)\b[^%]*%\}")
_BESIDE_TAGS = frozenset(("double", "erb"))
"""What a text with Jinja's tags can fill in; other braces in it belong to the code that it shows."""
_BEGINNING = lazily(r"[{$<%\\]")
_CLOCK_CALL = lazily(
    r"(?<![\w.])(?:\$?now|today|utcnow|strftime_now|(?:get_?)?current_?date(?:_?time)?|(?:get_?)?current_?time(?:stamp)?|timestamp|"
    r"datetime\.(?:now|utcnow|today)|date\.today|time\.time|new Date|Date\.now)\s*\(|"
    r"(?<![\w.])(?:\$now|\$today|utcnow|now|today|currentDate|currentTime)\b|strftime_now|\|\s*now\b"
    r"|^\s*(?:date|time|datetime|isodate|isotime)\s+[\"'][^\"']*[\"']\s*$|^\s*(?:date|time|datetimeformat|time_UTC)::?\S",
    re.IGNORECASE,
)
_KEYWORD = lazily(
    r"(?:else|end|endif|endfor|elif|if|for|each|with|unless|range|template|block|set|include)\b(?!\s*[|.(]|$)|(?:else|end)$"
)
_TIME_OF_DAY = lazily(r"%[HIMSXcTfR]|[tT]ime|now|HH|hh|mm|ss|ISO")
_RANDOM_CALL = lazily(
    r"\b(?:uuid4|uuid|random\w*|shuffle|sample|randint|nanoid|\$randomUUID|guid|\$guid|randomUUID)\s*\(|\{\{\s*\$(?:guid|random\w*)"
    r"|\|\s*(?:shuffle|random)\b",
    re.IGNORECASE,
)
_NEAR = 400
_FORMULA = lazily(r"\\[A-Za-z]+\{[^{}\n]*\}?$")
_ROUTE = lazily(r"\b(?:get|post|put|patch|delete|head)\s+/\S*$|https?://\S*$", re.IGNORECASE)
_TYPE = lazily(r"[a-z]\w*(?:\.\w+)*\.[A-Z]\w+|[A-Z]\w+(?:Request|Response|Context|Error|Options)")
_EXPLAINED = lazily(
    r"[ \t]*(?:[:=–—|-]|->|→)?[ \t]*(?:becomes|stands for|will be|is replaced|is filled|inserts|"
    r"(?:is |are )?the (?:user|name|current|date|day|time|text|question|full|list|value|number|id)\b)",
    re.IGNORECASE,
)
_FENCED = lazily(r"^[ \t]*(```|~~~)[^\n]*\n.*?(?:^[ \t]*\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)


def split(
    text: str,
    start: int = 0,
    *,
    role: str = "prompt",
    code_is_text: bool = True,
    syntaxes: frozenset[str] = frozenset(("double", "dollar", "erb", "percent", "single", "bare")),
) -> Iterator[Segment]:
    """Cut ``text``, which stands in the file at ``start`` as it is, into static text and placeholders.

    With ``code_is_text``, what stands among other code in a fenced block is documentation and not a placeholder.
    """
    if "{%" in text and _TAG.search(text):
        syntaxes &= _BESIDE_TAGS
    matches = list(_matches(text))
    quiet = _code_blocks(text) if matches and code_is_text else []
    last = 0
    for match in matches:
        syntax = match.lastgroup or "escaped"
        if syntax == "escaped" or syntax not in syntaxes:
            continue
        if _is_documentation(text, match, quiet):
            continue
        segment = placeholder(match[0], match[syntax], start + match.start(), role)
        if segment is None:
            continue
        if match.start() > last:
            yield static(text[last : match.start()], start + last, role)
        yield segment
        last = match.end()
    if last < len(text):
        yield static(text[last:], start + last, role)


def _code_blocks(text: str) -> list[tuple[int, int]]:
    return sorted([*(match.span() for match in _FENCED.finditer(text)), *literal_blocks(text)])


def _matches(text: str) -> Iterator[re.Match[str]]:
    """Where the pattern matches; it is tried only at characters that can begin a placeholder, for they are rare."""
    at = 0
    while candidate := _BEGINNING.search(text, at):
        match = _PATTERN.match(text, candidate.start())
        if match is not None:
            yield match
        at = match.end() if match is not None else candidate.start() + 1


def static(text: str, start: int, role: str) -> Segment:
    """Static text that stands in the file as it is."""
    return Segment(text, start, start + len(text), role, STATIC)


def placeholder(source: str, inside: str, start: int, role: str) -> Segment | None:
    """The segment of one placeholder, or None where it is none (a comment, a partial, a closing tag)."""
    end = start + len(source)
    inside = inside.strip()
    if not inside or inside[0] in "!/>^&" or _KEYWORD.match(inside):
        return None
    if inside[0] in "\"'" and ":" in inside:
        return None  # JSON whose braces are doubled for a template of Python
    if inside[0] in "#@" and not inside.endswith("#"):
        return None
    inside = inside.strip("#@ ")
    kind, changes = judge(inside)
    name = re.split(r"[|(\s]", inside, maxsplit=1)[0].lstrip("$=")
    origin = COMPUTED if kind or "(" in inside else VARIABLE
    return Segment(source, start, end, role, origin, name, kind, changes)


def judge(expression: str) -> tuple[str, str]:
    """The kind of a template's expression, where it reads a clock or draws at random."""
    if _CLOCK_CALL.search(expression):
        by_day = re.search(r"today|date|yyyy", expression, re.IGNORECASE) and not _TIME_OF_DAY.search(
            expression
        )
        return "template-clock", "day" if by_day else "request"
    if _RANDOM_CALL.search(expression):
        return "random-call", "request"
    return "", ""


def _is_documentation(text: str, match: re.Match[str], quiet: list[tuple[int, int]]) -> bool:
    """In backticks, in code, in a formula, or first in a line that explains it: a text about placeholders."""
    start, end = match.span()
    before, after = _on_line(text, start, end)
    if before.count("`") % 2 and "`" in after:
        return True
    if _FORMULA.search(before) or _is_code(match, before, after):
        return True
    fence = bisect_right(quiet, (start, len(text))) - 1
    if fence >= 0 and start < quiet[fence][1]:
        # A fence around nothing but the placeholder marks where the text begins that is filled in.
        return bool(before.strip() or after.strip())
    return not before.strip(" \t-*•|>") and _EXPLAINED.match(after) is not None


def _is_code(match: re.Match[str], before: str, after: str) -> bool:
    """A route of an interface, the name of a type, a variable in a quoted command, or a keyword such as ``$Date: ... $``."""
    if match.lastgroup == "single":
        return _ROUTE.search(before) is not None or _TYPE.fullmatch(match["single"]) is not None
    if match.lastgroup == "bare":
        keyword = match["bare"] in ("Date", "Id", "Revision", "Author") and after[:1] == ":" and "$" in after
        return keyword or any(before.count(quote) % 2 and quote in after for quote in "\"'")
    return False


def _on_line(text: str, start: int, end: int) -> tuple[str, str]:
    """What stands on the same line before and behind, not too far away: a file may be one line."""
    line_start = text.rfind("\n", max(0, start - _NEAR), start) + 1 or max(0, start - _NEAR)
    line_end = text.find("\n", end, end + _NEAR)
    return text[line_start:start], text[end : line_end if line_end >= 0 else end + _NEAR]
