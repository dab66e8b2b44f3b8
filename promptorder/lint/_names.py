"""What a placeholder's or variable's name says about its value.

A name is taken apart into words (``currentDateTime``, ``CURRENT_DATE_TIME`` and ``current-date-time`` are the same
three), and the words decide. Names that say nothing are left alone: a rule that guesses is switched off.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from promptorder.lint._patterns import lazily

_WORD = lazily(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")

_CLOCK = frozenset("now timestamp datetime clock utcnow epoch moment iso8601 isotime nowish".split())
_DATE = frozenset("today date day weekday dayofweek yesterday tomorrow".split())
_FIXED_DATE = frozenset(
    "birth born due start end begin effective release published publish publication expiry expiration "
    "expires created updated modified founded cutoff knowledge version valid since until deadline hire "
    "joined order invoice format zone range".split()
)
_TIME_NOT_CLOCK = frozenset(
    "limit zone out zones table slot slots budget frame horizon per to of run life real".split()
)
_AS_TEXT = frozenset("string str text iso utc formatted value".split())
"""Behind a clock or a date they tell only how it is written."""
_ID = frozenset("id uuid guid ulid nonce requestid sessionid traceid correlationid runid".split())
_ID_ALONE = frozenset(
    "uuid guid ulid nonce requestid sessionid traceid correlationid runid spanid cachebuster".split()
)
_ID_OF_REQUEST = frozenset(
    "request req session trace run span correlation conversation thread chat call invocation job task "
    "message msg unique random transaction ticket case order".split()
)
_COUNTER = frozenset("counter turn step iteration attempt countdown retries".split())
_COUNTED = frozenset(
    "turn turns step steps message messages request requests retry retries token tokens attempts calls "
    "budget".split()
)
_COUNTER_ENDS = frozenset("number count no index".split())
_LIMITS = frozenset("max min maximum minimum limit total per".split())
_USER = frozenset(
    "user uid username customer client member visitor caller patient student employee email phone location "
    "city latitude longitude coordinates locale userinfo nickname firstname lastname fullname account".split()
)
_USER_WITH = frozenset(
    "name profile info details data bio id language preferences about context first last full number".split()
)
_USER_PAIRS = frozenset(
    {("first", "name"), ("last", "name"), ("full", "name"), ("display", "name"), ("family", "name")}
)
_NOT_USER = frozenset(
    "message input query question prompt request msg text content request instructions".split()
)
_ENVIRONMENT = frozenset(
    "cwd pwd workdir hostname gitstatus workingdirectory workingdir branch uname".split()
)
_ENVIRONMENT_PAIRS = frozenset(
    {
        ("working", "dir"), ("working", "directory"), ("working", "folder"), ("current", "dir"), ("current", "directory"),
        ("current", "folder"), ("git", "status"), ("git", "branch"), ("git", "state"), ("git", "diff"), ("git", "log"),
        ("host", "name"), ("os", "version"), ("os", "info"), ("env", "info"), ("system", "info"), ("project", "path"),
        ("workspace", "path"), ("workspace", "root"), ("current", "file"), ("open", "files"), ("file", "tree"),
        ("cursor", "position"), ("directory", "tree"), ("open", "tabs"), ("open", "tab"), ("recent", "files"),
        ("environment", "details"), ("environment", "info"), ("home", "dir"), ("repo", "path"), ("directory", "listing"),
    }
)  # fmt: skip
_CONTEXT = frozenset(
    "context memory memories notes snippets chunks passages retrieved retrieval results facts entities "
    "state states observations rag sources evidence summary recall knowledge docs documents excerpts "
    "events".split()
)
_CONTENT = frozenset(
    "question query ticket input prompt request task issue complaint inquiry instruction utterance".split()
)
_CONTENT_PAIRS = frozenset(
    {
        ("user", "message"), ("user", "input"), ("user", "query"), ("user", "question"), ("user", "prompt"),
        ("user", "request"), ("customer", "message"), ("customer", "question"), ("user", "text"), ("email", "body"),
        ("email", "text"),
        ("last", "message"), ("human", "input"), ("latest", "message"), ("ticket", "text"), ("ticket", "body"),
        ("user", "msg"), ("search", "query"), ("user", "content"), ("current", "message"), ("new", "message"),
    }
)  # fmt: skip
_DOCUMENT = frozenset(
    "document article transcript email paper letter essay report contract file doc page".split()
)
_HISTORY = frozenset("history messages conversation dialog dialogue turns scratchpad chat".split())
_HISTORY_PAIRS = frozenset(
    {("chat", "log"), ("conversation", "log"), ("message", "log"), ("chat", "transcript")}
)
_STATIC_PART = frozenset(
    "instructions rules guidelines tools functions persona policy policies handbook schema schemas "
    "examples shots".split()
)
_STATIC_PAIRS = frozenset(
    {
        ("system", "prompt"), ("system", "message"), ("base", "prompt"), ("tool", "descriptions"), ("tool", "definitions"),
        ("tool", "list"), ("function", "definitions"), ("output", "format"), ("response", "schema"), ("agent", "prompt"),
    }
)  # fmt: skip
_NOT_HISTORY = frozenset("example examples few shot shots fewshot demo demos system max num".split())
_ABOUT = frozenset(
    "length window size max min num number count limit top dir path folder type key url prefix suffix "
    "header label title heading budget base cutoff root".split()
)
"""Words that make a name one of a setting: ``max_facts``, ``memory_dir``, ``summary_prefix``."""
_FIXED = frozenset(
    "assistant bot agent company product tool tools template schema format rules instructions persona "
    "role system model language brand site style tone guidelines policy examples few shot shots example "
    "version app service".split()
)


def words(name: str) -> tuple[str, ...]:
    """A name's words in lower case: of a dotted or subscripted one, those of its last part first asked."""
    return tuple(word.lower() for word in _WORD.findall(name))


_TELLS_NOTHING = frozenset("id name number text content body value".split())
"""As the last part of a dotted name: the part before it decides together with it."""


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> str:
    """The rule that a name speaks for, ``history`` for the earlier turns, or ``""``.

    One of ``clock-variable``, ``date-variable``, ``request-id``, ``counter``, ``user-data``, ``environment``,
    ``retrieved-context``, ``question-first``, ``document-first``, ``history``, or ``static-part`` for what is the same in
    every request.
    """
    parts = [part for part in re.split(r"[.\[\]'\"()|]+", name) if part]
    if len(parts) > 1 and parts[-1].lower() in _TELLS_NOTHING:
        return _kind(words("_".join(parts[-2:]))) or _kind(words(parts[-2]))
    for part in (*parts[-1:], *parts[-2:-1]):
        found = _kind(words(part))
        if found:
            return found
    return ""


def _kind(w: tuple[str, ...]) -> str:
    if not w:
        return ""
    every, last = frozenset(w), w[-1]
    pairs = frozenset(pairwise(w))
    for kind, speaks in _QUESTIONS:
        if speaks(w, every, last, pairs):
            return kind
    return ""


_Words = tuple[str, ...]
_Pairs = frozenset[tuple[str, str]]


def _is_clock(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    if (every & _CLOCK or last == "ts" or w == ("current", "dt")) and not every & _FIXED_DATE:
        return True
    while len(w) > 1 and w[-1] in _AS_TEXT:
        w = w[:-1]
    is_time = w[-1] == "time" and not every & (_FIXED_DATE | _TIME_NOT_CLOCK)
    return is_time or ("date", "time") in pairs


def _is_date(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    if not every & _DATE or every & _FIXED_DATE:
        return False
    while len(w) > 1 and w[-1] in _AS_TEXT:
        w = w[:-1]
    return w[-1] in _DATE or w[0] in ("today", "todays", "current") or ("day", "of") in pairs


def _is_id(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    if "".join(w) in _ID_ALONE or every & _ID_ALONE:
        return True
    if last in _ID or last == "hash":
        return bool(every & _ID_OF_REQUEST)
    return pairs & {("ticket", "number"), ("order", "number"), ("case", "number")} != frozenset()


def _is_environment(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    return bool(pairs & _ENVIRONMENT_PAIRS or every & _ENVIRONMENT)


def _is_static_part(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    return (last in _STATIC_PART or bool(pairs & _STATIC_PAIRS)) and not every & (
        _USER | {"relevant", "retrieved"}
    )


def _is_question(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    if every & {"generation", "to"}:
        return False
    return bool(pairs & _CONTENT_PAIRS) or (last in _CONTENT and not every & _FIXED)


def _is_counter(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    if every & (_LIMITS | {"instructions", "rules"}):
        return False
    if every & {"remaining", "left"}:
        return bool(every & _COUNTED)
    if last in _COUNTER_ENDS:
        return bool(every & (_COUNTER | _COUNTED))
    return last in _COUNTER


def _is_history(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    return (last in _HISTORY and not every & _NOT_HISTORY) or bool(pairs & _HISTORY_PAIRS)


def _is_context(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    if every & _ABOUT:
        return False
    return bool(every & _CONTEXT and not every & _FIXED) or ("tool", "results") in pairs


def _is_user(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    if pairs & _USER_PAIRS and not every & (_FIXED - {"name"}):
        return True
    return bool(every & _USER and not every & (_NOT_USER | (_FIXED - {"language"}))) and last in (
        _USER | _USER_WITH
    )


def _is_document(w: _Words, every: frozenset[str], last: str, pairs: _Pairs) -> bool:
    if len(w) > 1 and last in ("text", "content", "body", "contents"):
        last = w[-2]
    return last in _DOCUMENT and not every & _FIXED


_QUESTIONS = (
    ("clock-variable", _is_clock),
    ("date-variable", _is_date),
    ("request-id", _is_id),
    ("environment", _is_environment),
    ("static-part", _is_static_part),
    ("question-first", _is_question),
    ("counter", _is_counter),
    ("history", _is_history),
    ("retrieved-context", _is_context),
    ("user-data", _is_user),
    ("document-first", _is_document),
)
"""In this order: the first that speaks decides."""
