"""The key of the cache looks as if it were drawn anew for each request.

What it does: finds a ``prompt_cache_key`` (OpenAI), ``cache_salt`` (vLLM) or ``extra_key`` (SGLang) that holds a time
or the id of a request, and in code one that is drawn in the call that sends the request. A bare random id in a logged
request is a note only, since it may be a session's.

Why it costs: the key decides which machine, or which part of the cache, a request is sent to. With a new one nothing
is found there.

Example::

    {"model": "gpt-5-mini", "prompt_cache_key": "req-2026-03-14T09:26:53", ...}

Use instead: the name and version of the prompt, or the session's id.

When it is fine to ignore: the key stays for the whole session.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO154"
CHANGES = "request"
SEVERITY = "warning"
WORTH = 0
TIP = "Use one key for all requests that share their start."
KINDS = ("cache-key-random",)
_KEYS = ("prompt_cache_key", "cache_salt", "extra_key")
_PER_REQUEST = (
    r"\b(?:req|request|msg|message|call|run|nonce|rand|tmp)[_:/-]?(?:id[_:/-])?[0-9a-z-]*\d[0-9a-z-]{3,}"
    r"|\d{4}-\d\d-\d\dT?[ _]?\d\d|\b1[5-9]\d{8}(?:\d{3})?\b"
)
_RANDOM = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-|^[0-9a-f]{16,}$"


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """The keys of a request."""
    request = prompt.request
    body = getattr(request, "body", None)
    if not isinstance(body, dict):
        return
    places = getattr(request, "places", {})
    for key in _KEYS:
        value, place = body.get(key), places.get((key,))
        if not isinstance(value, str) or place is None:
            continue
        per_request = re.search(_PER_REQUEST, value, re.IGNORECASE)
        if not per_request and not re.search(_RANDOM, value, re.IGNORECASE):
            continue
        yield Hit(
            place[0],
            place[1],
            0,
            0,
            confidence="medium" if per_request else "low",
            message=f"{key} looks as if each request had another one: requests with different keys share no cache",
            severity="" if per_request else "info",
            worth=0,
            stranded_tokens=0,
        )
