"""A variable that your settings name stands in front of static text.

What it does: reports the placeholders and variables listed under ``variables`` in ``[tool.promptorder.lint]`` with how often
each changes.

Why it costs: everything behind it is read again each time it changes.

Example::

    [tool.promptorder.lint.variables]
    fleet_status = "request"

Use instead: move the placeholder behind the static part.

When it is fine to ignore: change the setting to ``never``.
"""

from __future__ import annotations

CODE = "PO190"
CHANGES = "unknown"
SEVERITY = "warning"
WORTH = 40
TIP = "Put it after the static part."
KINDS = ("own-variable",)
