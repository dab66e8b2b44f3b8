"""Every error that promptorder raises on purpose.

Each carries what went wrong, what to do next (``hint``) and the exit code of the command line::

    PromptorderError                      70
    ├── UsageError                         2   an option, a setting or a layout file is wrong
    ├── InputError                         3   an input is missing or holds nothing usable
    │   └── PromptTooLongError             3   the prompt does not fit the model's context
    ├── EngineError                        4   the engine cannot be reached, or broke off
    │   ├── EngineUnreachableError         4
    │   ├── FailedReplyError               4   one reply is broken, the engine may go on
    │   ├── ModelNotFoundError             4
    │   └── ModelUnsuitableError           4   the model cannot complete text, or is remote
    ├── OutputError                       74   a file cannot be written
    └── InterruptedRunError              130   stopped by the user, finished samples saved
"""

from __future__ import annotations

from typing import ClassVar


class PromptorderError(Exception):
    """The root: ``str(error)`` is one sentence, ``hint`` says what to type or do next."""

    exit_code: ClassVar[int] = 70

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class UsageError(PromptorderError):
    """An option, a setting or a layout file is wrong."""

    exit_code = 2


class InputError(PromptorderError):
    """An input is missing or holds nothing usable."""

    exit_code = 3


class PromptTooLongError(InputError):
    """The prompt and its answer do not fit the model's context."""


class EngineError(PromptorderError):
    """The engine answered with an error or broke off."""

    exit_code = 4


class EngineUnreachableError(EngineError):
    """Nothing answers where the engine should be."""


class FailedReplyError(EngineError):
    """One reply came broken or not at all; the next may be whole."""


class ModelNotFoundError(EngineError):
    """The engine does not have the model."""


class ModelUnsuitableError(EngineError):
    """The model cannot complete text, or runs where it must not without a word of consent."""


class OutputError(PromptorderError):
    """A file cannot be written."""

    exit_code = 74


class InterruptedRunError(PromptorderError):
    """Stopped by the user; what was finished is saved."""

    exit_code = 130
