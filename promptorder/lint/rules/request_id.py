"""An id that is new in each request or session stands in front of static text.

What it does: finds UUIDs, ULIDs, nonces, hashes and ids such as ``req_8Kd02mZq1vB7`` in prompt text, and placeholders
whose name says that they hold one.

Why it costs: no two requests share an id, so nothing behind it can be reused.

Example::

    [request 5f0c2a9e-71b4-4c1e-9d55-0b8a3f6d2e10]
    You are the help desk of a ferry line. (400 tokens of rules)

Use instead: send the id as metadata or as a header, which are no part of the prompt; or write it at the end.

When it is fine to ignore: the id is on purpose, as in a load generator that must not hit the cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.lint._context import Around, first_values
from promptorder.lint._patterns import lazily
from promptorder.lint.engine import Found

CODE = "PO111"
CHANGES = "request"
SEVERITY = "error"
WORTH = 40
TIP = "Keep ids out of the prompt (metadata, headers), or put them last."
KINDS = ("request-id",)

_UUID = r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"
_ULID = r"\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b"
_PREFIXED = (
    r"\b(?:req|request|sess|session|run|trace|span|msg|conv|thread|chat|call|txn|evt|job|corr|inv)"
    r"[_-][A-Za-z0-9]*\d[A-Za-z0-9]{5,}\b"
)
_NAMED = (
    r"\b(?:nonce|cache[- ]?bust(?:er|ing)?|salt|request|session|trace|span|run|correlation|conversation|build)"
    r"(?:[ _-]?(?:id|key|hash|nonce|no\.?|number))?\s{0,2}[:=#]?\s{0,2}[\"'`(\[]?[0-9a-f]{8,64}\b"
    r"|\b(?:checksum|hash|digest|etag|commit|sha|rid|reqid|sid|tid)(?:[ _-]?(?:id|no\.?))?\s{0,2}[:=]\s{0,2}[\"'`(\[]?[0-9a-f]{8,64}\b"
    r"|\btraceparent\s{0,2}[:=]\s{0,2}00-[0-9a-f]{32}-[0-9a-f]{16}"
    r"|^[ \t]*(?:x-[a-z-]*(?:header|nonce|trace|request|session|tag)|[a-z]+(?:-[a-z]+)*-(?:header|nonce|tag))[a-z-]*:"
    r"[^\n]{0,120}?\b[a-z]{1,12}=[0-9a-f]{5,64}\b"
)
_OPAQUE = r"\b(?:request|session|trace|run|conversation|chat|nonce)(?:[ _-]?id)?[ \t]{0,2}[:=#]?[ \t]{0,2}[\"'`(\[]?[A-Za-z0-9_-]{16,40}\b"
_SCRATCH = (
    r"(?:/tmp|/var/tmp|/var/folders|/run|\\Temp)[/\\](?:[\w.+-]{1,40}[/\\]){0,4}"
    r"(?:tmp[a-z0-9_]{8}\b|[\w.+-]{0,40}?\b[0-9a-f]{12,64}\b)"
)
TRIGGERS = (_UUID, _ULID, _PREFIXED, f"(?m){_NAMED}", _OPAQUE, _SCRATCH)
_ANY = lazily(
    f"(?P<uuid>(?i:{_UUID}))|(?P<ulid>{_ULID})|(?P<prefixed>(?i:{_PREFIXED}))|(?P<named>(?im:{_NAMED}))"
    f"|(?P<scratch>(?i:{_SCRATCH}))|(?P<token>(?i:{_OPAQUE}))"
)
_LAST_OPAQUE = lazily(r"[A-Za-z0-9_-]{8,64}$")
_ID_KEY = lazily(
    r"^[^{`]*\b(?:message|request|session|trace|run|conversation|chat|thread)[ _-]?id[\"']?\s*[:=]\s*[\"']$",
    re.IGNORECASE,
)
_CUE = lazily(
    r"(?:request|req|session|trace|span|run|nonce|conversation|thread|correlation|invocation|\bid|x-[a-z-]+|tag|ref)\b[^\n]{0,24}$",
    re.IGNORECASE,
)
_OF_A_VERSION = lazily(r"checksum|hash|digest|etag|commit|sha", re.IGNORECASE)
"""Cues of what is as fixed as a file; only at the top of a prompt is it more likely that of a build."""
_HEX = lazily(r"[0-9a-f]{5,64}$", re.IGNORECASE)
_SESSION = lazily(r"session|sess|conversation|thread|chat|folder|dir|path|/", re.IGNORECASE)


def literals(text: str, around: Around) -> Iterator[Found]:
    """Ids in static text."""
    for match in first_values(_ANY, text):
        start, end = match.span()
        if match.lastgroup == "named":
            value = _HEX.search(match[0])
            if value is None or not any(c.isdigit() for c in value[0]):
                continue
            start += value.start()
        if match.lastgroup == "ulid" and not any(c.isdigit() for c in match[0][1:]):
            continue
        if match.lastgroup in ("token", "scratch"):
            value = _LAST_OPAQUE.search(match[0])
            if value is None or not _is_drawn(value[0], mixed=match.lastgroup == "token"):
                continue
            start += value.start()
        before = text[max(0, start - 48) : start].rsplit("\n", 1)[-1]
        if around.is_example(start, end) and not _ID_KEY.search(before):
            continue
        points = around.score(start, end, precise=True)
        if match.lastgroup not in ("uuid", "ulid") or _CUE.search(before):
            points += 2
        if points >= (4 if _OF_A_VERSION.match(match[0]) else 2):
            yield Found(start, end, "session" if _SESSION.search(before) else "")


def _is_drawn(value: str, *, mixed: bool) -> bool:
    """Whether characters look drawn at random: digits among letters, and of both cases where words could stand."""
    digits = sum(character.isdigit() for character in value)
    if not mixed:
        return digits > 0
    return digits > 1 and any(c.islower() for c in value) and any(c.isupper() for c in value)
