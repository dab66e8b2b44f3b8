"""``promptorder diff``: where two prompts part, what is lost behind it, and which order would have kept it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from promptorder.commands._engine import engine_options, parse_headers, stopping_politely
from promptorder.commands._format import format_option
from promptorder.commands._settings import show_settings_if_asked

if TYPE_CHECKING:
    from promptorder.console import Color


@click.command(name="diff", short_help="Show where prompts part, and what is read again for it.")
@click.argument("prompts", nargs=-1, metavar="PROMPT PROMPT...", required=True)
@click.option(
    "--tokenizer",
    metavar="FILE|NAME",
    help="Count with a .gguf or .tiktoken file, or o200k_base and the like out of tiktoken's cache.",
)
@engine_options
@click.option("--allow-remote", is_flag=True, help="Let requests go to a cloud model to be rendered.")
@format_option(["text", "json"])
@click.pass_context
def command(ctx: click.Context, /, prompts: tuple[str, ...], **options: Any) -> int:
    """Show where prompts part, what stands behind it and is read again, and which order would have kept it.

    A PROMPT is a text, the body of a request as JSON, one or more lines of a log (log.jsonl:12,
    log.jsonl:12-14), or a whole log; - is standard input. Of more than two, each is compared with the one
    before it.

    Without --model, requests are compared as their parts in the order of servers, and tokens are
    estimated. With it (or --host, --engine) the model's server renders them, and its own tokenizer counts.

    Exit code 0 whatever differs.

    \b
    Examples:
      promptorder diff monday.txt tuesday.txt
      promptorder diff log.jsonl:12 log.jsonl:13 --model qwen3:8b
      promptorder diff log.jsonl --tokenizer model.gguf --format json
    """
    if show_settings_if_asked(ctx):
        return 0
    from promptorder.console import print_note, print_text, width_of
    from promptorder.diff_api import Diffing, DiffSettings
    from promptorder.model.diff import Diff

    color: Color = ctx.find_root().meta.get("promptorder.color", "auto")
    diffing = Diffing(
        DiffSettings(
            tokenizer=options["tokenizer"],
            engine=options["engine"],
            model=options["model"],
            host=options["host"],
            headers=parse_headers(options["headers"]),
            allow_remote=options["allow_remote"],
        )
    )
    with stopping_politely():
        result = Diff(tuple(diffing.pairs(prompts)))
    if options["format_"] == "json":
        import json

        from promptorder.contracts.diff import to_json

        # ASCII alone: half a surrogate pair in a prompt does no harm then.
        print_text(json.dumps(to_json(result), indent=1) + "\n")
    else:
        from promptorder.difference import shown

        width = width_of(sys.stdout)
        if len(result.pairs) > shown.IN_FULL:
            print_text(shown.table(result.pairs, width))
        else:
            rule = f"\n{'-' * width}\n\n"
            print_text(rule.join(shown.full(pair, width) for pair in result.pairs))
    if diffing.skipped:
        names = ", ".join(diffing.skipped[:3])
        more = f" and {len(diffing.skipped) - 3} more" if len(diffing.skipped) > 3 else ""
        print_note("note", f"not JSON, and left out: {names}{more}", color=color)
    return 0
