"""Templates that make a page or a configuration and no prompt: template languages were made for those."""

from __future__ import annotations

import re

_NOT_PROMPTS = frozenset(
    "html htm xhtml conf cfg ini service timer socket sh bash zsh ps1 py js jsx ts tsx css scss less sql "
    "tf hcl c h cc cpp hpp go rs java kt php rb env properties nginx svg rst tex csv lock dockerfile repo "
    "rules network j2html".split()
)
_MAYBE_PROMPTS = frozenset("yaml yml json xml toml".split())
_PROMPT = re.compile(r"prompt|instruction|persona|agent|assistant|chat_?template|system", re.IGNORECASE)
_PAGE_START = re.compile(r"<(?:!doctype|html|head|body|table|svg)\b", re.IGNORECASE)
_UNSEEN = (("{#", "#}"), ("{%", "%}"), ("{{!", "}}"), ("<!--", "-->"), ("<?", "?>"))
"""What may stand in front of a page's first tag."""
_PAGE_BASE = re.compile(
    r"\{%-?\s*extends\s+['\"][^'\"]+\.html?(?:\.\w+)?['\"]|\{\{\s*ansible_|\{%\s*load static"
)
_TAG = re.compile(
    r"</?(?:html|head|body|div|table|thead|tbody|tr|td|th|span|script|style|link|meta|form|input|button|img|a|p|br|ul|ol|li|h[1-6]|"
    r"section|header|footer|nav|main|label)\b[^<>\n]{0,300}>",
    re.IGNORECASE,
)
_MIN_TAGS = 5
_TAG_SHARE = 0.12
_LOOKED_AT = 20_000


def is_page(path: str, text: str) -> bool:
    """Whether a template makes a page, a program or a configuration, told by its name and by its tags."""
    parts = path.replace("\\", "/").rsplit("/", 1)[-1].lower().split(".")
    inner = parts[-2] if len(parts) > 2 else ""
    if inner in _NOT_PROMPTS or (inner in _MAYBE_PROMPTS and not _PROMPT.search(path)):
        return True
    head = text[:_LOOKED_AT]
    if _PAGE_START.match(head, _first_seen(head)) or _PAGE_BASE.search(head):
        return True
    tags = _TAG.findall(head)
    size = sum(len(match[0]) for match in _TAG.finditer(head))
    return len(tags) >= _MIN_TAGS and size > _TAG_SHARE * len(head)


def _first_seen(text: str) -> int:
    """Where the first thing stands that is put out: behind white space, comments and statements."""
    at = 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        close = next((end for begin, end in _UNSEEN if text.startswith(begin, at)), "")
        found = text.find(close, at) if close else -1
        if found < 0:
            return at
        at = found + len(close)
