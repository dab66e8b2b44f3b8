"""Plain text: the file is the whole prompt, with whatever placeholders stand in it.

A ``.prompt`` file may have YAML front matter, which is not sent; what is below it is a Handlebars template then.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.forms._placeholders import split
from promptorder.model.lint import Prompt, Source

SUFFIXES = (".txt", ".text", ".prompt")
NAMES = ()
PLAIN = False


def prompts(source: Source) -> Iterator[Prompt]:
    """One prompt, or those of the template below the front matter."""
    start = _below_front_matter(source)
    if not start:
        yield Prompt(tuple(split(source.text)))
        return
    from promptorder.forms import mustache

    yield from mustache.rendered(source.text, start)


def _below_front_matter(source: Source) -> int:
    if not (source.path.lower().endswith(".prompt") and source.text.startswith("---")):
        return 0
    from promptorder.forms.markdown import body_start

    return body_start(source.text)
