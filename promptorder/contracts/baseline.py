"""``promptorder.baseline/1``: the findings that a repository had when lint came."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from promptorder._version import __version__
from promptorder.errors import InputError, UsageError

SCHEMA = "promptorder.baseline/1"


def to_text(known: dict[str, dict[str, int]]) -> str:
    """The file's text, always in one order, so that a change of it is easy to read."""
    files = {path: dict(sorted(counts.items())) for path, counts in sorted(known.items()) if counts}
    return (
        json.dumps(
            {"schema": SCHEMA, "tool_version": __version__, "files": files}, ensure_ascii=False, indent=1
        )
        + "\n"
    )


def read(path: str) -> dict[str, dict[str, int]]:
    """The findings that a baseline file knows: for each path how often each fingerprint stands there.

    Raises InputError where the file is not there, UsageError where it is something else.
    """
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(
            f"no such baseline: {path}", hint="write it with --write-baseline, from all your files"
        ) from None
    except OSError as error:
        raise InputError(f"cannot read the baseline {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _wrong(path) from error
    files = data.get("files") if isinstance(data, dict) and data.get("schema") == SCHEMA else None
    if not isinstance(files, dict) or not all(_is_counts(counts) for counts in files.values()):
        raise _wrong(path)
    return files


def _is_counts(value: Any) -> bool:
    return isinstance(value, dict) and all(type(count) is int for count in value.values())


def _wrong(path: str) -> UsageError:
    return UsageError(
        f"{path} is not a baseline that this version can read",
        hint="move it away, and write a new one with --write-baseline",
    )
