"""The real servers and their models, as fixtures; a server starts once a session, when a test asks for it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import pytest
import servers
import tiny_gguf as tiny
from hypothesis import settings
from servers import OllamaServer, ServersUnavailableError

# Machines are shared and noisy: how long one example takes says nothing. On a CI its own profile is what this adds to.
settings.register_profile("shared-machine", deadline=None)
settings.load_profile("shared-machine")


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the file of a model that answers at once, in plain words that mean nothing."""
    return tiny.make_tiny_gguf(tmp_path_factory.mktemp("models") / "tiny.gguf")


@pytest.fixture(scope="session")
def smollm2_gguf() -> Path:
    """Give the file of a small model that answers in English."""
    try:
        return servers.ensure_smollm2()
    except ServersUnavailableError as error:
        _cannot(str(error))


@pytest.fixture(scope="session")
def ollama_server(
    tmp_path_factory: pytest.TempPathFactory, tiny_gguf: Path, smollm2_gguf: Path
) -> Iterator[Callable[[str], OllamaServer]]:
    """Give a function from a version to its running server, which has the models `tiny` and `smollm2`.

    It is shared: a test that kills or reconfigures a server starts one of its own.
    """
    running: dict[str, OllamaServer] = {}
    logs = tmp_path_factory.mktemp("ollama-logs")
    with contextlib.ExitStack() as stack:

        def get(version: str) -> OllamaServer:
            if version not in running:
                try:
                    server = OllamaServer(version, log_path=logs / f"{version}.log")
                except ServersUnavailableError as error:
                    _cannot(str(error))
                stack.enter_context(server)
                server.create_model("tiny", tiny_gguf, tiny.TEMPLATE, tiny.PARAMETERS)
                server.create_model("smollm2", smollm2_gguf)
                running[version] = server
            return running[version]

        yield get


@pytest.fixture(params=[pytest.param(version, marks=pytest.mark.server) for version in servers.VERSIONS])
def any_server(request: pytest.FixtureRequest, ollama_server: Callable[[str], OllamaServer]) -> OllamaServer:
    """Run the test against each version in turn."""
    return ollama_server(request.param)


def _cannot(reason: str) -> NoReturn:
    """Skip where the servers cannot be had, but let nobody's CI pass without them."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
