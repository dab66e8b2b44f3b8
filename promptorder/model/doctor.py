"""What ``promptorder doctor`` finds out (facts), and what it makes of it (lines)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from promptorder.model.sample import ControlKind

Counts = Literal["cached", "read", "nothing"]
"""What an engine tells of a prompt: the tokens that it reused, only those that it read, or neither."""


class Status(StrEnum):
    """How one line came out."""

    OK = "ok"
    NOTE = "note"
    """Nothing is wrong, and it is worth knowing."""
    PROBLEM = "problem"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Line:
    """One thing that was looked at. ``remedy`` is what to type or do next, empty where nothing need be done."""

    status: Status
    message: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """A line under the code and title of the check that wrote it."""

    code: str
    title: str
    line: Line


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine of promptorder: ``refusal`` is why it cannot be used, None where it can."""

    name: str
    summary: str
    refusal: str | None
    hint: str


@dataclass(frozen=True, slots=True)
class Extra:
    """An optional part of the installation, and which of its packages are missing."""

    name: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """A model as its engine describes it. ``sliding_window_tokens`` is None where it has none, or none is told.

    ``default_context_tokens`` is what the model's own settings ask for; ``remote_host`` is where a cloud
    model runs.
    """

    name: str
    digest: str | None = None
    family: str | None = None
    quantization: str | None = None
    parameters: str | None = None
    file_bytes: int | None = None
    max_context_tokens: int | None = None
    default_context_tokens: int | None = None
    capabilities: tuple[str, ...] = ()
    remote_host: str | None = None
    sliding_window_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """A model in memory. ``seconds_left`` is None where it is not told, infinite where it is kept for ever."""

    name: str
    ours: bool
    memory_bytes: int | None = None
    gpu_bytes: int | None = None
    context_tokens: int | None = None
    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class Runner:
    """How the process that runs our model was started, as far as its command line tells."""

    slots: int | None = None
    cache_type: str | None = None
    flash_attention: str | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """Variables that change a cache: this process's, and the server's where they can be seen.

    ``server`` is None where they cannot, and ``unseen`` says why.
    """

    own: Mapping[str, str] = field(default_factory=dict)
    server: Mapping[str, str] | None = None
    unseen: str = ""


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """A server at one moment. ``elsewhere`` names the other machine that it runs on, or is None.

    ``version`` is None where the server does not tell, ``address`` is empty for a process of promptorder's own.
    """

    address: str = ""
    version: str | None = None
    version_numbers: tuple[int, int, int] | None = None
    elsewhere: str | None = None
    models: tuple[str, ...] = ()
    loaded: tuple[LoadedModel, ...] = ()
    runner: Runner | None = None
    environment: Environment = field(default_factory=Environment)

    @property
    def ours(self) -> LoadedModel | None:
        """The entry of the examined model among those that are loaded."""
        return next((each for each in self.loaded if each.ours), None)


CallKind = ControlKind


@dataclass(frozen=True, slots=True)
class Call:
    """One control call. ``shared_characters`` is how much of its start stood at the start of an earlier one."""

    kind: CallKind
    characters: int
    shared_characters: int
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    read_tokens: int | None = None
    prefill_ns: int | None = None
    load_ns: int | None = None
    waited_ns: int | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no model could be examined."""

    kind: Literal["unreachable", "no-model", "unsuitable", "choose", "error"]
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Facts:
    """All that was found out. ``before`` is the server as it was found, ``during`` with the model loaded by us.

    ``calls`` is None where none were made, and ``why_no_calls`` says why. ``default_keep_alive_s`` is how
    long the server keeps a model when nobody says: tried out, None where it was not.
    """

    engines: tuple[EngineChoice, ...] = ()
    extras: tuple[Extra, ...] = ()
    engine: str | None = None
    chosen_by_user: bool = False
    refusal: Refusal | None = None
    before: ServerFacts | None = None
    during: ServerFacts | None = None
    model: ModelFacts | None = None
    calls: tuple[Call, ...] | None = None
    why_no_calls: str = ""
    default_keep_alive_s: float | None = None
    load_average: float | None = None
    processors: int | None = None

    @property
    def now(self) -> ServerFacts | None:
        """The latest view of the server."""
        return self.during or self.before


@dataclass(frozen=True, slots=True)
class Examination:
    """The facts, and a line or more for each check, in order."""

    started_at: str
    facts: Facts
    checks: tuple[Checked, ...]

    def count(self, status: Status) -> int:
        """How many lines came out so."""
        return sum(each.line.status is status for each in self.checks)
