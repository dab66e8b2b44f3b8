"""The work behind ``promptorder doctor``, as a library: asking here, judging in promptorder.doctor."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import metadata
from typing import Any

from promptorder.doctor import judge
from promptorder.engines import REGISTRY as ENGINES
from promptorder.engines import open_engine
from promptorder.engines._inspect import REGISTRY as INSPECTORS
from promptorder.errors import (
    EngineError,
    EngineUnreachableError,
    ModelNotFoundError,
    ModelUnsuitableError,
    PromptTooLongError,
    UsageError,
)
from promptorder.measure.control_texts import Text, fitting, tail_words, texts
from promptorder.measure.controls import call_of, shown
from promptorder.model.doctor import (
    Call,
    EngineChoice,
    Examination,
    Extra,
    Facts,
    ModelFacts,
    Refusal,
    ServerFacts,
)
from promptorder.model.engine import Engine, EngineOptions
from promptorder.model.prompt import Message, Prompt
from promptorder.model.sample import Control

NUMBER_OF_CALLS = 6
_CONTEXT_TOKENS = 4096
_LEAST_SCALE = 0.1
"""Below it the texts are too short to show anything."""
_NOT_FOR_USERS = {"test", "docs", "dev"}

OnCall = Callable[[int, str], None]


@dataclass(frozen=True, slots=True)
class DoctorSettings:
    """What is examined; the defaults are those of the command line."""

    engine: str = "auto"
    model: str | None = None
    host: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    allow_remote: bool = False
    calls: bool = True


def examine(settings: DoctorSettings | None = None, on_call: OnCall | None = None) -> Examination:
    """Find out and judge; the model is left as it was found.

    ``on_call`` hears the number and the kind of each control call before it is made. An engine that cannot be
    reached is a finding, not an error. Raises UsageError for a host that cannot be read and an engine that
    there is not.
    """
    settings = settings or DoctorSettings()
    started_at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    facts = _find_out(settings, on_call or (lambda number, kind: None))
    return Examination(started_at, facts, judge(facts))


def _find_out(settings: DoctorSettings, on_call: OnCall) -> Facts:
    options = EngineOptions(
        model=settings.model,
        host=settings.host,
        headers=settings.headers,
        allow_remote=settings.allow_remote,
        num_predict=1,
        cold="nonce",  # what others have in the cache stays there
    )
    choices = _engines(options, settings.engine)
    name = settings.engine if settings.engine != "auto" else _first(choices)
    facts = Facts(
        engines=choices,
        extras=_extras(),
        engine=name,
        chosen_by_user=settings.engine != "auto",
        load_average=_load_average(),
        processors=os.cpu_count(),
    )
    reachable = name is not None and any(c.name == name and c.refusal is None for c in choices)
    if reachable and name in INSPECTORS.names():
        facts = replace(facts, before=INSPECTORS.load(str(name)).inspect(options, None)[0])
    try:
        engine, _ = open_engine(settings.engine if name is None else name, options)
    except (EngineError, UsageError) as error:
        return replace(facts, refusal=_refusal(error))
    try:
        with _Patient(engine, options, str(name), facts) as patient:
            return patient.examined(on_call if settings.calls else None)
    except EngineError as error:
        return replace(facts, refusal=_refusal(error))


class _Patient:
    """One engine with its model, opened; left as it was found."""

    def __init__(self, engine: Engine, options: EngineOptions, name: str, facts: Facts) -> None:
        self._engine = engine
        self._options = options
        self._inspector: Any = INSPECTORS.load(name) if name in INSPECTORS.names() else None
        self._facts = facts

    def __enter__(self) -> _Patient:
        return self

    def __exit__(self, *_: object) -> None:
        # A server that is gone cannot be put back; the control calls have told so.
        with suppress(EngineError):
            self._engine.restore()
        self._engine.close()

    def examined(self, on_call: OnCall | None) -> Facts:
        """All facts; no call where nobody listens."""
        before, model = self._inspect()
        facts = replace(self._facts, before=before, model=model)
        if on_call is None:
            return replace(facts, why_no_calls="--no-calls")
        kept = before.ours.context_tokens if before.ours is not None else None
        context = kept or min(_CONTEXT_TOKENS, model.max_context_tokens or _CONTEXT_TOKENS)
        tail = tail_words(model.sliding_window_tokens)
        scale = fitting(context, tail)
        if scale < _LEAST_SCALE:
            return replace(facts, why_no_calls=f"a context of {context:,} tokens is too small")
        self._engine.use_context(context)
        on_call(0, "loading")
        facts = replace(facts, default_keep_alive_s=self._keep_alive(before, model))
        calls = self._calls(scale, tail, on_call)
        facts = replace(facts, calls=tuple(calls))
        return facts if any(call.failure for call in calls) else replace(facts, during=self._inspect()[0])

    def _inspect(self) -> tuple[ServerFacts, ModelFacts]:
        info = self._engine.info
        if self._inspector is not None:
            server, model = self._inspector.inspect(self._options, info.model)
            if model is not None:
                return server, model
        server = ServerFacts(version=info.version)
        known = ModelFacts(info.model, digest=info.model_digest, max_context_tokens=info.max_context_tokens)
        return server, known

    def _calls(self, scale: float, tail: int, on_call: OnCall) -> list[Call]:
        try:
            self._engine.start_block()
        except EngineError as error:
            return [Call("long", 0, 0, failure=str(error))]
        while scale >= _LEAST_SCALE:
            try:
                return self._ask_all(scale, tail, on_call)
            except PromptTooLongError:
                scale /= 2
        return [Call("long", 0, 0, failure="the context has no room for a text that would show anything")]

    def _ask_all(self, scale: float, tail: int, on_call: OnCall) -> list[Call]:
        calls: list[Call] = []
        for number, text in enumerate(texts(scale, tail), 1):
            if text.kind == "between" and not _is_reused(calls):
                break  # what is not reused at all needs no further trial
            on_call(number, text.kind)
            call = self._ask(text)
            calls.append(call)
            if call.failure is not None:
                break
        return calls

    def _ask(self, text: Text) -> Call:
        length = len(text.text)
        control = Control(text.kind, length, text.shared_characters)
        try:
            reply = self._engine.ask(
                Prompt((Message("user", text.text),), document_start=(0, 0), document_characters=length)
            )
        except EngineError as error:
            return call_of(control, None, str(error))
        return call_of(control, reply)

    def _keep_alive(self, before: ServerFacts, model: ModelFacts) -> float | None:
        """Tried only where it cannot be read, and where the model is not loaded yet."""
        readable = before.environment.server is not None
        if self._inspector is None or readable or before.ours is not None or model.remote_host:
            return None
        with suppress(EngineError):
            context = self._engine.info.context_tokens
            seconds: float | None = self._inspector.default_keep_alive_s(self._options, model.name, context)
            return seconds
        return None


def _is_reused(calls: list[Call]) -> bool:
    return any(shown(calls, kind) != "not-reused" for kind in ("short", "other-tail"))


def _refusal(error: EngineError | UsageError) -> Refusal:
    match error:
        case EngineUnreachableError():
            return Refusal("unreachable", str(error), error.hint)
        case ModelNotFoundError():
            return Refusal("no-model", str(error), error.hint)
        case ModelUnsuitableError():
            return Refusal("unsuitable", str(error), error.hint)
        case UsageError() if " has no models " in str(error):
            return Refusal("no-model", str(error), error.hint)
        case UsageError():
            return Refusal("choose", str(error), error.hint)
        case _:
            return Refusal("error", str(error), error.hint)


def _engines(options: EngineOptions, wanted: str) -> tuple[EngineChoice, ...]:
    if wanted != "auto":
        ENGINES.load(wanted)  # tells the nearest names where there is none
    modules = sorted(ENGINES.load_all().items(), key=lambda item: item[1].AUTO_RANK)
    found: list[EngineChoice] = []
    for name, module in modules:
        # --model is for the engine that is examined; that others do not have it is no news.
        open_choice = wanted == "auto" and _first(tuple(found)) is None
        asked = options if open_choice or name == wanted else replace(options, model=None)
        found.append(EngineChoice(name, module.SUMMARY, module.available(asked), module.INSTALL_HINT))
    return tuple(found)


def _first(choices: tuple[EngineChoice, ...]) -> str | None:
    return next((choice.name for choice in choices if choice.refusal is None), None)


def _extras() -> tuple[Extra, ...]:
    try:
        about = metadata.metadata("promptorder")
    except metadata.PackageNotFoundError:
        return ()
    names = [name for name in about.get_all("Provides-Extra") or () if name not in _NOT_FOR_USERS]
    wanted = about.get_all("Requires-Dist") or ()
    return tuple(
        Extra(name, tuple(package for package in _packages(wanted, name) if not _installed(package)))
        for name in names
    )


def _packages(requirements: list[str] | tuple[str, ...], extra: str) -> list[str]:
    quoted = re.compile(rf"extra\s*==\s*['\"]{re.escape(extra)}['\"]")
    matches = (re.match(r"[\w.-]+", text) for text in requirements if quoted.search(text))
    return [match[0] for match in matches if match is not None]


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def _load_average() -> float | None:
    try:
        return os.getloadavg()[0]
    except (OSError, AttributeError):
        return None
