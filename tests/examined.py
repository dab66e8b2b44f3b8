"""Run `promptorder doctor` in this process."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jsonschema
import pytest

from promptorder.cli import run
from promptorder.contracts import schema


@dataclass(frozen=True)
class Examined:
    """What one command line came to."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        value = json.loads(self.out)
        jsonschema.Draft202012Validator(schema("doctor-1")).validate(value)
        return value

    def found(self, code: str) -> list[tuple[str, str]]:
        """(status, message) of one check."""
        return [(each["status"], each["message"]) for each in self.json["checks"] if each["code"] == code]

    def status(self, code: str) -> str:
        [(status, _)] = self.found(code)
        return status

    def problems(self) -> dict[str, str]:
        return {each["code"]: each["message"] for each in self.json["checks"] if each["status"] == "problem"}


def doctor(*arguments: str, json_format: bool = True, env: Mapping[str, str] | None = None) -> Examined:
    """Run it, in the JSON format unless asked otherwise, out of reach of this shell's own settings."""
    out, err = io.StringIO(), io.StringIO()
    form = ("--format", "json") if json_format else ()
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.delenv("OLLAMA_HOST", raising=False)
        for key, value in (env or {}).items():
            patch.setenv(key, value)
        stack.enter_context(contextlib.redirect_stdout(out))
        stack.enter_context(contextlib.redirect_stderr(err))
        code = run(["doctor", *form, *arguments])
    return Examined(code, out.getvalue(), err.getvalue())
