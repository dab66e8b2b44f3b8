"""The context that the model was made for, and that it has."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.doctor import Facts, Line, Status

TITLE = "context"
ORDER = 30
SMALL_TOKENS = 2048


def judge(facts: Facts) -> Iterator[Line]:
    """A context that is too small cuts prompts, and a cut prompt shares nothing with the last."""
    server, model = facts.before, facts.model
    if server is None or model is None:
        return
    most = model.max_context_tokens
    made = f"made for {most:,} tokens" if most else "the engine does not tell what it was made for"
    environment = server.environment.server or {}
    variable = environment.get("OLLAMA_CONTEXT_LENGTH", "")
    loaded = server.ours.context_tokens if server.ours is not None else None
    if loaded is not None:
        tokens, where = loaded, "loaded with"
    elif model.default_context_tokens is not None:
        tokens, where = model.default_context_tokens, "its Modelfile asks for"
    elif variable.isdigit() and int(variable) > 0:
        tokens, where = int(variable), "OLLAMA_CONTEXT_LENGTH asks for"
    else:
        yield Line(Status.OK if most else Status.UNKNOWN, made)
        return
    text = f"{where} {tokens:,} tokens, {made}"
    if tokens < SMALL_TOKENS and (most is None or most > tokens):
        yield Line(
            Status.PROBLEM,
            f"{text}: a longer prompt is cut, and a cut prompt is read anew",
            "send options.num_ctx in your calls, or OLLAMA_CONTEXT_LENGTH=8192 ollama serve "
            "(promptorder compare asks for what its prompts need)",
        )
    else:
        yield Line(Status.OK, text)
