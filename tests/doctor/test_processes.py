"""What the processes of this machine tell, and what is left untold."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator

import pytest

from promptorder.engines._inspect import _process


@pytest.fixture
def port() -> Iterator[int]:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        yield listening.getsockname()[1]


def test_llama_servers_command_line() -> None:
    line = (
        "/lib/ollama/llama-server --model /blobs/sha256-ab --port 39431 -c 4096 -np 2 --cache-type-k q8_0 "
        "--cache-type-v q8_0 --flash-attn on -b 512"
    )
    found = _process.read_command(line.split(), 7)
    assert (found.slots, found.cache_type, found.flash_attention, found.memory_bytes) == (2, "q8_0", "on", 7)


def test_ollamas_own_runners_command_line() -> None:
    line = (
        "/bin/ollama runner --model /blobs/sha256-ab --ctx-size 4096 --flash-attn --parallel 4 --port 33173"
    )
    found = _process.read_command(line.split())
    assert (found.slots, found.cache_type, found.flash_attention) == (4, None, "on")


def test_secrets_and_private_names_are_left_out() -> None:
    variables = {
        "OLLAMA_KEEP_ALIVE": "0",
        "OLLAMA_API_KEY": "s3cret",
        "OLLAMA_HOST": "http://me:s3cret@127.0.0.1",
        "OLLAMA_MODELS": "/home/me/models",
        "LLAMA_ARG_CACHE_RAM": "0",
        "LLAMA_ARG_MCP_SERVERS_JSON": '{"token": "s3cret"}',
        "LLAMA_API_KEY": "s3cret",
        "HOME": "/home/me",
    }
    assert _process.changing(variables) == {"LLAMA_ARG_CACHE_RAM": "0", "OLLAMA_KEEP_ALIVE": "0"}


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_a_port_that_something_else_holds(port: int) -> None:
    found = _process.listener(port)
    assert found.pid is None
    assert "passes calls on" in found.why


@pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")
def test_a_port_that_nobody_holds(port: int) -> None:
    found = _process.listener(9)
    assert found.pid is None
    assert found.why


def test_a_process_that_is_gone() -> None:
    assert _process.environment(2**22 + 1) is None
    assert _process.runner(os.getpid(), "sha256-of-nothing") is None
    assert _process.runner(os.getpid(), None) is None
