"""Whether a prompt that starts like an earlier one is spared reading that start."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.measure.controls import figures, find, shown
from promptorder.model.doctor import CallKind, Facts, Line, Status

TITLE = "reuse"
ORDER = 60


def judge(facts: Facts) -> Iterator[Line]:
    """By the control calls: same start, other tails, and an identical repeat."""
    if facts.model is None or facts.refusal is not None:
        return
    calls = facts.calls
    if calls is None:
        yield Line(Status.UNKNOWN, f"not tried: {facts.why_no_calls}", _retry(facts))
        return
    failed = [call for call in calls if call.failure is not None]
    if find(calls, "long") is None or (failed and find(calls, "other-tail") is None):
        why = failed[0].failure if failed else "no reply came"
        yield Line(Status.PROBLEM, f"a control call failed: {why}", "the server's log says more")
        return
    short, other, repeat = (shown(calls, kind) for kind in ("short", "other-tail", "repeat"))
    if "reused" in (short, other):
        kind: CallKind = "other-tail" if other == "reused" else "short"
        yield Line(Status.OK, f"it works: same start, another question ({figures(calls, kind)})")
    elif "partly" in (short, other):
        yield Line(
            Status.NOTE,
            f"a part only: same start, another question ({figures(calls, 'other-tail')})",
            "promptorder compare ... shows what that means for your prompts",
        )
    elif short == other == "not-reused" and repeat == "reused":
        yield Line(
            Status.PROBLEM,
            f"only an identical prompt is reused; another question reads all again ({figures(calls, 'other-tail')})",
            "recurrent and hybrid models are like this: choose another with --model",
        )
    elif short == other == "not-reused":
        yield Line(
            Status.PROBLEM,
            f"nothing is reused, not even of the same start ({figures(calls, 'other-tail')})",
            "look for a cache that is switched off, a proxy in between, or several servers behind one address; "
            "else choose another model",
        )
    else:
        yield Line(
            Status.UNKNOWN,
            f"the times do not tell ({figures(calls, 'other-tail')}): reading is too quick here, or the machine busy",
            "promptorder compare ... with a long document and --repeats 5",
        )


def _retry(facts: Facts) -> str:
    return "promptorder doctor, without --no-calls" if "--no-calls" in facts.why_no_calls else ""
