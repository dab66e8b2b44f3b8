"""``promptorder doctor``: what stands in the way of reuse, and what to do about it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from promptorder.commands._engine import engine_options, parse_headers, stopping_politely
from promptorder.commands._format import format_option
from promptorder.commands._settings import show_settings_if_asked

if TYPE_CHECKING:
    from promptorder.console import Color
    from promptorder.model.doctor import Examination

_KINDS = {
    "loading": "loading the model",
    "long": "a start with a long end",
    "short": "the same start, a short end",
    "other-tail": "the same start, another end",
    "repeat": "the same again",
    "between": "another text",
    "back": "the first start once more",
}


@click.command(name="doctor", short_help="Find what stands in the way of reuse on your server.")
@engine_options
@click.option("--allow-remote", is_flag=True, help="Let the generated texts go to a cloud model.")
@click.option("--no-calls", is_flag=True, help="Ask nothing of the model: whether reuse works is not tried.")
@format_option(["text", "json"])
@click.option("--quiet", is_flag=True, help="No progress; the result alone.")
@click.pass_context
def command(ctx: click.Context, /, **options: Any) -> int:
    """Look at the server, the model and their settings, and say what stands in the way of reuse.

    Six short calls with generated text (some 1,300 tokens) try out whether the model reuses what prompts
    have in common; none of your documents is read. The model is left as it was found.

    Exit code 1 means that a problem was found, 4 that there is no engine or no such model.

    \b
    Examples:
      promptorder doctor
      promptorder doctor --model qwen3:8b --host http://192.168.1.5:11434
      promptorder doctor --no-calls --format json
    """
    if show_settings_if_asked(ctx):
        return 0
    from promptorder.console import print_text, progress, render_report, width_of
    from promptorder.doctor_api import NUMBER_OF_CALLS, DoctorSettings, examine

    color: Color = ctx.find_root().meta.get("promptorder.color", "auto")
    settings = DoctorSettings(
        engine=options["engine"],
        model=options["model"],
        host=options["host"],
        headers=parse_headers(options["headers"]),
        allow_remote=options["allow_remote"],
        calls=not options["no_calls"],
    )
    with stopping_politely(), progress(quiet=options["quiet"], color=color) as display:

        def on_call(number: int, kind: str) -> None:
            what = f"control call {number}: {_KINDS[kind]}" if number else _KINDS[kind]
            display.step(what, done=max(0, number - 1), total=NUMBER_OF_CALLS, left_s=None, part=True)

        examination = examine(settings, on_call)
    if options["format_"] == "json":
        import json

        from promptorder.contracts.doctor import to_json

        print_text(json.dumps(to_json(examination), indent=2, ensure_ascii=False) + "\n")
    else:
        from promptorder.doctor._report import report

        print_text(render_report(report(examination), width=width_of(sys.stdout), color=False))
    return _exit_code(examination)


def _exit_code(examination: Examination) -> int:
    from promptorder.model.doctor import Status

    refusal = examination.facts.refusal
    if refusal is not None and refusal.kind in ("unreachable", "no-model", "error"):
        return 4
    return 1 if examination.count(Status.PROBLEM) else 0
