"""Run files that are finished."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from pathlib import Path

from promptorder.contracts import run as run_contract
from promptorder.contracts.run import PARTIAL_SCHEMA
from promptorder.errors import InputError
from promptorder.model.run import Run
from promptorder.store.run_file import is_half_header


def load_run(path: Path) -> Run:
    """Read a finished run; raises InputError for what is none, with what to do about it."""
    try:
        data = json.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        partial = path.with_name(f"{path.name}.partial")
        if partial.is_file():
            raise _unfinished(partial) from None
        raise InputError(
            f"no such run file: {path}", hint="measure one: promptorder compare ... --out RUN.json"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}", hint="name a run file") from error
    except (ValueError, RecursionError) as error:
        if _is_partial(path):
            raise _unfinished(path) from None
        raise InputError(
            f"{path} is not a run file: it is not JSON", hint="name what `promptorder compare --out` wrote"
        ) from error
    if isinstance(data, dict) and data.get("schema") == PARTIAL_SCHEMA:
        raise _unfinished(path)  # nothing but its header
    try:
        run = run_contract.from_json(data if isinstance(data, dict) else {})
    except InputError as error:
        raise InputError(f"cannot read {path}: {error}", hint=error.hint) from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path} is damaged: {error}", hint="take another copy of it, or measure again"
        ) from error
    return dataclasses.replace(run, path=str(path))


def _is_partial(path: Path) -> bool:
    with contextlib.suppress(OSError), path.open(encoding="utf-8", errors="replace") as file:
        start = file.readline(1000)
        return bool(start.strip()) and is_half_header([start[:40]])
    return False


def _unfinished(path: Path) -> InputError:
    finished = str(path).removesuffix(".partial")
    return InputError(
        f"{path} is a run that is not finished",
        hint=f"finish it: repeat its command with --out {finished} --resume, then report {finished}",
    )
