"""What pages have in common: one style, one policy that lets nothing else in, and text that is shown as text."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from promptorder._version import __version__
from promptorder.console import printable
from promptorder.errors import UsageError

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

MOST_CHARACTERS = 400
_OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z-]{0,40})")
_JOINERS = "\u200c\u200d"  # they shape words and emoji, and hide nothing


class Part(NamedTuple):
    """A piece of a bar, in percent of its width."""

    kind: str
    x: str
    width: str


def check() -> None:
    """Raise UsageError where the package that makes pages is missing."""
    try:
        import jinja2
    except ImportError as error:
        raise UsageError(
            "a page needs the package jinja2, which is not installed",
            hint="pip install 'promptorder[report]'; or choose another format, such as markdown",
        ) from error
    assert jinja2.__version__


def render_page(template: str, page: dict[str, Any]) -> str:
    """The page from a template of ours; it is given ``page``, and in it the style and the policy."""
    from markupsafe import Markup

    check()
    style = _resource("style.css")
    digest = base64.b64encode(hashlib.sha256(style.encode("utf-8")).digest()).decode("ascii")
    frame = {
        # Nothing from anywhere, no script at all, and of styles only this one.
        "policy": f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'",
        # Our own file; the digest is of just these bytes.
        "style": Markup(style),  # noqa: S704
        "version": __version__,
    }
    return _environment().get_template(template).render(page=frame | page)


def clean(text: str) -> str:
    """``text`` without what would steer the page's reader: no control characters, no reversed writing."""
    if text.isprintable():
        return text
    return "".join(c if c in _JOINERS else printable(c) for c in text)


def short(text: str, most: int = MOST_CHARACTERS * 2) -> str:
    """The start of a long text, and how long it is."""
    if len(text) <= most:
        return text
    return f"{text[:most]}… ({len(text):,} characters in all)"


def percent_of_width(share: float) -> str:
    """A share from 0 to 1 as SVG takes it, without its sign."""
    return f"{100 * min(1.0, max(0.0, share)):.2f}"


def line(label: str, value: str, split: Iterable[tuple[str, float | None]], longest: float) -> dict[str, Any]:
    """A line of a chart: its label, its figure, and a bar of parts, each a kind and how long it is."""
    parts, x = [], 0.0
    for kind, part in split:
        if part and longest:
            parts.append(Part(kind, percent_of_width(x / longest), percent_of_width(part / longest)))
            x += part
    return {"label": short(label, 120), "value": value, "parts": parts}


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    def finalized(value: object) -> object:
        return clean(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    environment = Environment(
        loader=FunctionLoader(_resource),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=finalized,
    )
    environment.filters["prose"] = _prose
    return environment


def _prose(text: str) -> Markup:
    """Text whose options are not broken at their dashes."""
    from markupsafe import Markup

    parts = _OPTION.split(clean(text))
    marked = (Markup('<span class="option">{}</span>').format(p) if i % 2 else p for i, p in enumerate(parts))
    return Markup("").join(marked)


@cache
def _resource(name: str) -> str:
    return (files(__package__) / "_html" / name).read_text(encoding="utf-8")
