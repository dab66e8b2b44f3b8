"""Code or a template puts something random into a prompt in front of static text.

What it does: follows ``uuid4()``, ``random.sample``, ``shuffle``, ``randomUUID()`` and their like into prompts. What is seeded with a
constant is not reported.

Why it costs: each request draws another value or order, and everything behind it is read again.

Example::

    shots = random.sample(EXAMPLES, 3)
    prompt = "\\n".join(shots) + RULES

Use instead: ``random.Random(7).sample(EXAMPLES, 3)``, drawn once; or the rules first and the examples after them.

When it is fine to ignore: a load generator that must not hit the cache.
"""

from __future__ import annotations

CODE = "PO112"
CHANGES = "request"
SEVERITY = "error"
WORTH = 40
TIP = "Draw nothing at random in front of static text; seed it, or move it behind."
KINDS = ("random-call",)
