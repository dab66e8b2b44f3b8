"""What commands that talk to an engine have in common: their options, headers, and how they are stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import click

from promptorder.commands._signals import answering
from promptorder.errors import UsageError
from promptorder.plugins import Registry


def plugin_names(package: str, noun: str) -> list[str]:
    """The keys of a package of plug-ins, for a help text; imports none of them."""
    return Registry(f"promptorder.{package}", noun).names()


def engine_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--engine``, ``--model``, ``--host`` and ``--header`` to a command."""
    options = (
        click.option(
            "--engine",
            metavar="NAME",
            default="auto",
            show_default=True,
            help=f"auto, {', '.join(plugin_names('engines', 'engine'))}. auto takes the first that answers.",
        ),
        click.option("--model", metavar="NAME", help="The model; for the embedded engine a GGUF file."),
        click.option("--host", metavar="URL", help="Where Ollama answers, as in OLLAMA_HOST."),
        click.option(
            "--header",
            "headers",
            multiple=True,
            metavar="'NAME: VALUE'",
            help="Sent with each request; repeatable.",
        ),
    )
    for option in reversed(options):  # a decorator that is applied last stands first
        function = option(function)
    return function


def parse_headers(texts: Sequence[str]) -> dict[str, str]:
    """The values of ``--header``; raises UsageError for one that is not of the form ``NAME: VALUE``."""
    return dict(_header(text) for text in texts)


@contextmanager
def stopping_politely() -> Iterator[None]:
    """A termination ends a command as Ctrl-C does: samples saved, the model put back."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with answering(stop, "SIGTERM", "SIGHUP"):
        yield


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip() or any(c in text for c in "\r\n"):
        raise UsageError(
            "a --header is not of the form 'NAME: VALUE'", hint="--header 'Authorization: Bearer ...'"
        )
    return name.strip(), value.strip()
