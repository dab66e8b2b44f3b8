"""What a placeholder's or variable's name says about its value.

A name is taken apart into words (``currentDateTime``, ``CURRENT_DATE_TIME`` and ``current-date-time`` are the same
three), and the words decide. Names that say nothing are left alone: a rule that guesses is switched off.
"""

from __future__ import annotations

import re
from functools import lru_cache

from promptorder.lint._patterns import lazily

_WORD = lazily(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")

_CLOCK = frozenset("now timestamp datetime clock utcnow epoch moment iso8601 nowish".split())
_DATE = frozenset("today date day weekday dayofweek yesterday tomorrow".split())
_FIXED_DATE = frozenset(
    "birth born due start end begin effective release published publication expiry expiration expires created updated "
    "modified founded cutoff knowledge version valid since until deadline hire joined order invoice format zone range".split()
)
_TIME_NOT_CLOCK = frozenset(
    "limit zone out zones table slot slots budget frame horizon per to of run life real".split()
)
_ID = frozenset("id uuid guid ulid nonce requestid sessionid traceid correlationid runid".split())
_ID_ALONE = frozenset(
    "uuid guid ulid nonce requestid sessionid traceid correlationid runid spanid cachebuster".split()
)
_ID_OF_REQUEST = frozenset(
    "request req session trace run span correlation conversation thread chat call invocation job task message msg unique "
    "random transaction ticket case order".split()
)
_COUNTER = frozenset("counter turn step iteration attempt turns remaining countdown retries".split())
_USER = frozenset(
    "user username customer client member visitor caller patient student employee email phone location city "
    "latitude longitude coordinates locale userinfo nickname firstname lastname fullname".split()
)
_USER_WITH = frozenset(
    "name profile info details data bio id language preferences about context first last full".split()
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
        ("environment", "details"), ("environment", "info"), ("home", "dir"), ("repo", "path"), ("directory", "listing"),
    }
)  # fmt: skip
_CONTEXT = frozenset(
    "context memory memories notes snippets chunks passages retrieved retrieval results facts entities state "
    "observations rag sources evidence scratchpad summary recall knowledge docs documents excerpts".split()
)
_CONTENT = frozenset(
    "question query ticket input prompt request task issue complaint inquiry instruction utterance".split()
)
_CONTENT_PAIRS = frozenset(
    {
        ("user", "message"), ("user", "input"), ("user", "query"), ("user", "question"), ("user", "prompt"), ("user", "request"),
        ("customer", "message"), ("customer", "question"), ("user", "text"), ("email", "body"), ("email", "text"),
        ("last", "message"), ("human", "input"), ("latest", "message"), ("ticket", "text"), ("ticket", "body"),
        ("user", "msg"), ("search", "query"), ("user", "content"), ("current", "message"),
    }
)  # fmt: skip
_DOCUMENT = frozenset(
    "document article transcript email paper letter essay report contract file doc page".split()
)
_HISTORY = frozenset("history messages conversation dialog dialogue transcript turns scratchpad chat".split())
_FIXED = frozenset(
    "assistant bot agent company product tool tools template schema format rules instructions persona role system model "
    "language brand site style tone guidelines policy examples few shot shots example version app service".split()
)


def words(name: str) -> tuple[str, ...]:
    """A name's words in lower case: of a dotted or subscripted one, those of its last part first asked."""
    return tuple(word.lower() for word in _WORD.findall(name))


@lru_cache(maxsize=4096)
def kind_of_name(name: str) -> str:
    """The rule that a name speaks for, ``history`` for the earlier turns, or ``""``.

    One of ``clock-variable``, ``date-variable``, ``request-id``, ``counter``, ``user-data``, ``environment``,
    ``retrieved-context``, ``question-first``, ``document-first``, ``history``.
    """
    parts = [part for part in re.split(r"[.\[\]'\"()|]+", name) if part]
    for part in (*parts[-1:], *parts[-2:-1]):
        found = _kind(words(part))
        if found:
            return found
    return ""


def _kind(w: tuple[str, ...]) -> str:
    if not w:
        return ""
    every, last = frozenset(w), w[-1]
    pairs = frozenset(zip(w, w[1:], strict=False))
    if every & _CLOCK and not every & _FIXED_DATE:
        return "clock-variable"
    if last == "time" and not (every & (_FIXED_DATE | _TIME_NOT_CLOCK)) or ("date", "time") in pairs:
        return "clock-variable"
    if (
        every & _DATE
        and not every & _FIXED_DATE
        and (last in _DATE or w[0] in ("today", "current") or "str" in every)
    ):
        return "date-variable"
    if "".join(w) in _ID_ALONE or every & _ID_ALONE or (last in _ID and every & _ID_OF_REQUEST):
        return "request-id"
    if pairs & _ENVIRONMENT_PAIRS or every & _ENVIRONMENT:
        return "environment"
    if pairs & _CONTENT_PAIRS or (last in _CONTENT and not every & _FIXED):
        return "question-first"
    if (
        every & _COUNTER
        and not every & {"instructions", "rules"}
        and last in (*_COUNTER, "number", "count", "no", "index")
    ):
        return "counter"
    if last in _HISTORY and last != "transcript":
        return "history"
    if every & _CONTEXT and not every & (_FIXED | {"length", "window", "size"}):
        return "retrieved-context"
    if every & _USER and not every & (_NOT_USER | _FIXED) and (last in _USER or last in _USER_WITH):
        return "user-data"
    if last in _DOCUMENT and not every & _FIXED:
        return "document-first"
    return ""
