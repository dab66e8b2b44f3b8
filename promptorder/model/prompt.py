"""Prompts: what is sent to an engine."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a chat."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """The messages of one request, and where the document stands in them.

    ``document_start`` is (index of the message, offset in its text); ``document_characters`` its length.
    """

    messages: tuple[Message, ...]
    document_start: tuple[int, int]
    document_characters: int

    @property
    def text(self) -> str:
        """The messages one after the other: close to what the model sees, without its chat template."""
        return "\n".join(message.text for message in self.messages)

    def chat(self) -> list[dict[str, str]]:
        """The messages as the chat calls of the servers take them; the list is the caller's own."""
        return [{"role": message.role, "content": message.text} for message in self.messages]

    @property
    def sha256(self) -> str:
        """A fingerprint of the messages, so that a run file need not hold the document."""
        data = json.dumps([[m.role, m.text] for m in self.messages], ensure_ascii=False)
        return hashlib.sha256(data.encode("utf-8", "surrogatepass")).hexdigest()
