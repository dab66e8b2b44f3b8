"""Variables that change the cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from promptorder.doctor._variables import EFFECTS, is_off
from promptorder.model.doctor import Facts, Line, Status

TITLE = "variables"
ORDER = 50

_TOLD_ELSEWHERE = {"OLLAMA_KEEP_ALIVE"}


def judge(facts: Facts) -> Iterator[Line]:
    """Those of the server where they can be seen, and those of this process that may never reach it."""
    server = facts.before
    if server is None or not server.address:
        return
    environment = server.environment
    if environment.server is None:
        yield Line(Status.UNKNOWN, f"the server's cannot be seen: {environment.unseen}")
    else:
        yield from _of_server(environment.server)
    seen = environment.server or {}
    strays = {
        key: value for key, value in environment.own.items() if key in EFFECTS and seen.get(key) != value
    }
    if strays:
        yield Line(
            Status.NOTE,
            f"{_shown(strays)} set here, which changes nothing for a server that runs already"
            + ("" if environment.server is None else " and has other values"),
            "set them where `ollama serve` is started, and start it again",
        )


def _shown(variables: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in variables.items())


def _of_server(variables: Mapping[str, str]) -> Iterator[Line]:
    known = {key: value for key, value in variables.items() if key in EFFECTS}
    faults = 0
    for key, message, remedy in _faults(known):
        faults += 1
        yield Line(Status.PROBLEM, f"{key}={known[key]}: {message}", remedy)
    rest = {k: v for k, v in known.items() if k not in _TOLD_ELSEWHERE and not any(_faults({k: v}))}
    for key, value in rest.items():
        yield Line(Status.NOTE, f"{key}={value}: {EFFECTS[key]}", "compare only runs with the same value")
    if not known:
        yield Line(Status.OK, "the server has none that changes the cache")
    elif not faults and not rest:
        yield Line(Status.OK, "the server has no further one that changes the cache")


def _faults(variables: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    def off(key: str) -> bool:
        return key in variables and is_off(variables[key])

    if off("LLAMA_ARG_CACHE_PROMPT"):
        yield (
            "LLAMA_ARG_CACHE_PROMPT",
            "nothing is kept of a prompt",
            "unset LLAMA_ARG_CACHE_PROMPT; ollama serve",
        )
    if off("LLAMA_ARG_CACHE_RAM"):
        yield (
            "LLAMA_ARG_CACHE_RAM",
            "earlier prompts are not kept: two documents in turn are read anew each time",
            "unset LLAMA_ARG_CACHE_RAM; ollama serve",
        )
    if off("LLAMA_ARG_CTX_CHECKPOINTS"):
        yield (
            "LLAMA_ARG_CTX_CHECKPOINTS",
            "a sliding-window or recurrent model cannot go back to an earlier point",
            "unset LLAMA_ARG_CTX_CHECKPOINTS; ollama serve",
        )
