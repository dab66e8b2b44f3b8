"""A chat template renders past turns in another way than they were cached.

What it does: finds loops over messages that treat a turn differently once a newer one has come: reasoning that is kept
only behind the last user message or cut out at ``</think>``, tools or dates that are written with the last message, a
window of the newest messages.

Why it costs: a server reuses the longest start that a prompt shares with what it has in its cache. There the earlier turns
stand as they were first read and written; if they are rendered in another way now, all from the first such turn on is
read again.

Example::

    {%- if message.role == 'assistant' and loop.index0 > last_user.index %}
    <think>{{ message.reasoning }}</think>{{ message.content }}
    {%- else %}
    {{ message.content }}
    {%- endif %}

Use instead: render each turn alike for as long as it is in the history (some templates have a switch such as
``preserve_thinking``), and drop old reasoning in large steps, when the history is compacted anyway.

When it is fine to ignore: the model was trained without earlier reasoning and answers worse with it, or chats have one turn.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.lint import Hit, Prompt, Source

CODE = "PO160"
CHANGES = "turn"
SEVERITY = "warning"
WORTH = 40
TIP = "Render a turn in the same way for as long as it is in the history."


def check(prompt: Prompt, source: Source) -> Iterator[Hit]:
    """The places that the reader of chat templates has found."""
    del source
    for index, segment in enumerate(prompt.segments):
        if segment.kind == "template-history":
            message = f"{segment.name}: the turns behind it are read again"
            yield Hit(segment.start, segment.end, index, len(segment.text), message=message)
