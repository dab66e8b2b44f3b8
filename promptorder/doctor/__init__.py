"""The checks of ``promptorder doctor``, one file each: pure judgement of facts that others found out.

A module defines ``TITLE`` (a word or two), ``ORDER`` (where it stands) and ``judge(facts)``, which yields
Lines: one as a rule, none where there is nothing to judge.
"""

from __future__ import annotations

from promptorder.model.doctor import Checked, Facts
from promptorder.plugins import Registry

REGISTRY = Registry("promptorder.doctor", "check")


def judge(facts: Facts) -> tuple[Checked, ...]:
    """Every check's lines, in order."""
    checks = sorted(REGISTRY.load_all().items(), key=lambda item: item[1].ORDER)
    return tuple(Checked(code, module.TITLE, line) for code, module in checks for line in module.judge(facts))
