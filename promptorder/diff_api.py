"""The work behind ``promptorder diff``, as a library: prompts are read, rendered, counted and compared in pairs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from promptorder.difference import blocks, first, kinds, reorder
from promptorder.difference.rendering import AS_IS, JOINED, Rendered, as_rendered, without_template
from promptorder.difference.tokens import Counts, counts
from promptorder.forms._requests import parts
from promptorder.inputs._compared import Compared, ComparedFiles
from promptorder.lint.registry import REGISTRY as RULES
from promptorder.model.diff import Diff, FirstDifference, LostBlock, Pair, Relation
from promptorder.tokenizers import Tokenizer
from promptorder.tokenizers.chunked import ChunkedEncoder
from promptorder.tokenizers.estimate import Estimate
from promptorder.vocabularies import open_tokenizer

if TYPE_CHECKING:
    from promptorder.engines._readers import Reader

_MOST_TRIED = 4 << 20
"""Characters up to which another order is tried: each trial counts both prompts anew."""
_MOST_REMEMBERED = 2 << 20
_RELATIONS: dict[str, Relation] = {kinds.APPENDED: "appended", kinds.SHORTENED: "shortened"}
_PICTURES = "pictures are counted as a few tokens: how many a model makes of one is not known"


@dataclass(frozen=True, slots=True)
class DiffSettings:
    """How prompts are rendered and counted; the defaults are those of the command line.

    ``tokenizer`` is what ``promptorder.vocabularies.open_tokenizer`` takes. With ``model``, ``host`` or an ``engine`` other than
    auto, requests are rendered by that model and counted by its own tokenizer.
    """

    tokenizer: str | None = None
    engine: str = "auto"
    model: str | None = None
    host: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    allow_remote: bool = False

    @property
    def asks_an_engine(self) -> bool:
        """Whether anything but the texts themselves is looked at."""
        return self.model is not None or self.host is not None or self.engine != "auto"


def diff(
    *prompts: str | Path,
    tokenizer: str | None = None,
    engine: str = "auto",
    model: str | None = None,
    host: str | None = None,
    headers: Mapping[str, str] | None = None,
    allow_remote: bool = False,
) -> Diff:
    """Compare files, lines of logs (``log.jsonl:12``) or the requests of a log, each with the one before it.

    The keywords are the fields of DiffSettings. Raises UsageError for a single prompt or a tokenizer that nobody knows,
    InputError for what is missing or no prompt, EngineError where a model was named and cannot be asked.
    """
    settings = DiffSettings(tokenizer, engine, model, host, headers or {}, allow_remote)
    return Diff(tuple(Diffing(settings).pairs([os.fspath(prompt) for prompt in prompts])))


class Diffing:
    """One run. ``skipped`` are the lines of logs that were no JSON."""

    def __init__(self, settings: DiffSettings, *, stdin: BinaryIO | None = None) -> None:
        self.settings, self._stdin = settings, stdin
        self.skipped: Sequence[str] = ()

    def pairs(self, specs: Sequence[str]) -> Iterator[Pair]:
        """The pairs, as they are found: a log of any size is held two requests at a time."""
        files = ComparedFiles(specs, stdin=self._stdin)
        settings = self.settings
        tokenizer = (
            open_tokenizer(settings.tokenizer) if settings.tokenizer or not settings.asks_an_engine else None
        )
        with self._reader() as reader:
            if tokenizer is None:
                tokenizer = reader.tokenizer() if reader is not None else Estimate()
            side = _Side(tokenizer, reader)
            for a, b in pairwise(files):
                yield side.pair(a, b)
        self.skipped = files.skipped

    def _reader(self) -> Any:
        settings = self.settings
        if not settings.asks_an_engine:
            return nullcontext()
        from promptorder.engines._readers import open_reader
        from promptorder.model.engine import EngineOptions

        options = EngineOptions(
            model=settings.model,
            host=settings.host,
            headers=settings.headers,
            allow_remote=settings.allow_remote,
            num_predict=1,
        )
        return closing(open_reader(settings.engine, options))


class _Side:
    """Renders and counts all prompts of a run in one way."""

    def __init__(self, tokenizer: Tokenizer, reader: Reader | None) -> None:
        self._tokenizer, self._reader = _Remembering(tokenizer), reader
        self._rendered: tuple[Compared, Rendered] | None = None

    def pair(self, a: Compared, b: Compared) -> Pair:
        """Two prompts side by side."""
        if a.body is not None and b.body is not None:
            return self._of_requests(a, b, a.body, b.body)
        return self._of_texts(a, b)

    def _of_texts(self, a: Compared, b: Compared) -> Pair:
        rendered = self._text(a), self._text(b)
        one, other = (each.text for each in rendered)
        counted = counts(self._tokenizer, one, other)
        found = first.of_texts(one, other)
        pair = self._pair(a, b, counted, rendered)
        if found is None:
            return pair
        kind = found.first.kind
        lost, lost_tokens = blocks.of_texts(one, other, found.offset, kind, self._tokenizer)
        suggestion = None
        if lost and max(len(one), len(other)) <= _MOST_TRIED:
            suggestion = reorder.of_texts(one, other, found, counted.shared, self._shared)
        return replace(
            pair,
            relation=_RELATIONS.get(kind, "differs"),
            suggestion=suggestion,
            **_of_difference(found.first, lost, lost_tokens),
        )

    def _of_requests(self, a: Compared, b: Compared, one: dict[str, Any], other: dict[str, Any]) -> Pair:
        rendered = self._text(a), self._text(b)
        texts = [each.text for each in rendered]
        counted = counts(self._tokenizer, *texts)
        was, now = (as_rendered(parts(body), text) for body, text in zip((one, other), texts, strict=True))
        hidden = max(a.hidden_steps, b.hidden_steps)
        found = first.of_requests(one, other, was, now, ("messages",)[:hidden])
        notes = (_PICTURES,) if any(part.kind == "image" for part in (*was, *now)) else ()
        pair = replace(
            self._pair(a, b, counted, rendered), other_cache=first.other_cache(one, other), notes=notes
        )
        if found is None:
            longer = len(now) - len(was)
            return replace(pair, relation="appended" if longer > 0 else "shortened" if longer < 0 else "same")
        place = (found.part, found.offset, found.first.kind)
        lost, lost_tokens = blocks.of_parts(was, now, place, hidden, self._tokenizer)
        suggestion = None
        if lost and max(map(len, texts)) <= _MOST_TRIED:
            suggestion = reorder.of_requests(
                one, other, was, now, found, counted.shared, self._shared_of_bodies
            )
        return replace(
            pair, relation="differs", suggestion=suggestion, **_of_difference(found.first, lost, lost_tokens)
        )

    def _pair(self, a: Compared, b: Compared, counted: Counts, rendered: tuple[Rendered, Rendered]) -> Pair:
        ways = dict.fromkeys(each.how for each in rendered)
        return Pair(
            a=a.name,
            b=b.name,
            shared_tokens=counted.shared,
            a_tokens=counted.a,
            b_tokens=counted.b,
            tokenizer=self._tokenizer.name,
            method="counted" if self._tokenizer.exact and JOINED not in ways else "estimated",
            rendering="; ".join(ways),
            relation="same",
            first_difference=None,
        )

    def _text(self, prompt: Compared) -> Rendered:
        """A prompt as a text; the later one of a pair is the earlier of the next."""
        if prompt.body is None:
            return Rendered(prompt.text, AS_IS)
        if self._rendered is None or self._rendered[0] is not prompt:
            self._rendered = (prompt, self._of_body(prompt.body))
        return self._rendered[1]

    def _of_body(self, body: dict[str, Any]) -> Rendered:
        return without_template(body) if self._reader is None else self._reader.render(body)

    def _shared(self, a: str, b: str) -> int:
        return counts(self._tokenizer, a, b).shared

    def _shared_of_bodies(self, a: dict[str, Any], b: dict[str, Any]) -> int:
        return self._shared(self._of_body(a).text, self._of_body(b).text)


def _of_difference(place: FirstDifference, lost: tuple[LostBlock, ...], lost_tokens: int) -> dict[str, Any]:
    advice = _advice(place.kind) if lost_tokens else ""
    return {"first_difference": place, "lost": lost, "lost_tokens": lost_tokens, "advice": advice}


class _Remembering:
    """A tokenizer that remembers lines: prompts that are compared repeat most of each other."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.name, self.exact, self.encode = tokenizer.name, tokenizer.exact, tokenizer.encode
        self._whole, self._remembered = tokenizer.packed, ChunkedEncoder(tokenizer).encode

    def packed(self, text: str) -> bytes:
        """See ``Tokenizer.packed``; a text that the memory could not hold is encoded as it comes, many lines at a time."""
        return self._whole(text) if len(text) > _MOST_REMEMBERED else self._remembered(text)


def _advice(kind: str) -> str:
    """The tip of lint's rule for a kind; empty where there is none."""
    name = kinds.rule_of(kind)
    return str(RULES.load(name).TIP) if name in RULES.names() else ""
