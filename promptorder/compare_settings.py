"""What decides a comparison, and the command line that repeats it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from promptorder.model.engine import Cold


@dataclass(frozen=True, slots=True)
class CompareSettings:
    """Everything that decides a comparison; the defaults are those of the command line."""

    document: str
    questions: str
    engine: str = "auto"
    model: str | None = None
    host: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    allow_remote: bool = False
    layouts: tuple[str, ...] = ()
    rules: str | None = None
    pages: str | None = None
    password: str | None = field(default=None, repr=False)
    repeats: int = 1
    num_ctx: int | None = None
    num_predict: int = 80
    seed: int = 7
    clock_gap_s: float = 1.1
    cold: Cold | None = None
    timeout_s: float | None = None
    out: Path | None = None
    resume: bool = False
    check_answers: bool = False
    server_log: Path | None = None
    calibration: Path | None = None
    gates: Mapping[str, float] = field(default_factory=dict)
    """Shares of the prompt that are to be told from the rest, by layout: they decide how much is calibrated."""


def command_words(settings: CompareSettings, engine: str, model: str) -> tuple[str, ...]:
    """The command line of a run, with the engine and model that were found and without what is secret."""
    words = ["promptorder", "compare", settings.document, "--questions", settings.questions]
    words += ["--engine", engine, "--model", settings.model or model]
    default = CompareSettings("", "")
    if settings.host:
        words += ["--host", _without_user(settings.host)]
    if settings.allow_remote:
        words.append("--allow-remote")
    if settings.check_answers:
        words.append("--check-answers")
    for name in settings.layouts:
        words += ["--layout", name]
    for key in (
        "rules",
        "pages",
        "repeats",
        "num_ctx",
        "num_predict",
        "seed",
        "clock_gap_s",
        "cold",
        "timeout_s",
        "server_log",
        "calibration",
    ):
        value = getattr(settings, key)
        if value != getattr(default, key):
            words += [f"--{key.removesuffix('_s').replace('_', '-')}", str(value)]
    return tuple(words)


def _without_user(host: str) -> str:
    """A host without the name and password that its URL may hold."""
    scheme, slashes, rest = host.rpartition("//")
    place, slash, path = rest.partition("/")
    return scheme + slashes + place.rpartition("@")[2] + slash + path
