"""What every trace format must define; a new one is tested as soon as its file is there."""

from __future__ import annotations

import inspect
import typing

import pytest

from promptorder.model.trace_input import Holds
from promptorder.traces import REGISTRY, Sample


@pytest.mark.parametrize("name", REGISTRY.names())
def test_what_a_format_defines(name: str) -> None:
    module = REGISTRY.load(name)
    assert module.__doc__
    assert module.SUMMARY
    assert module.HOLDS in typing.get_args(Holds)
    assert isinstance(module.OWN_CLOCK, bool)
    assert list(inspect.signature(module.recognise).parameters) == ["sample"]
    if module.HOLDS in ("tokens", "blocks", "text"):
        assert list(inspect.signature(module.read).parameters) == ["values", "reading"]
    else:
        assert not hasattr(module, "read")


@pytest.mark.parametrize("name", REGISTRY.names())
def test_a_format_knows_nothing_of_nothing(name: str) -> None:
    assert REGISTRY.load(name).recognise(Sample([b""], [])) == 0.0
    assert REGISTRY.load(name).recognise(Sample([b"{}"], [{}])) == 0.0
