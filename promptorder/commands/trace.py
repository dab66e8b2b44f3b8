"""``promptorder trace``: a log of requests against cache policies, or what a server's own log says."""

from __future__ import annotations

import math
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from promptorder.commands._format import out_options
from promptorder.commands._settings import show_settings_if_asked
from promptorder.commands._signals import answering
from promptorder.errors import UsageError
from promptorder.plugins import Registry
from promptorder.settings import Key

if TYPE_CHECKING:
    from promptorder.console import Color
    from promptorder.model.trace_result import TraceResult
    from promptorder.trace_api import Tracing
    from promptorder.trace_settings import TraceSettings

TABLES = {"prices": Key("prices", "a table of texts")}
"""Settings that are tables, and so have no option."""
_SHOWN_AFTER_S = 1.0


@click.command(name="trace", short_help="Replay a log of requests against cache policies.")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    metavar="NAME[,KEY=VALUE...]",
    help="A cache to replay against; repeatable. Default: the bound, and what fits the log.",
)
@click.option("--list-policies", is_flag=True, help="Print all policies with their options.")
@out_options(Registry("promptorder.reports._trace", "format").names(), default="table")
@click.option(
    "--per-request",
    type=click.Path(path_type=Path),
    metavar="OUT.jsonl",
    help="Write a line for each request and policy.",
)
@click.option(
    "--fail-under",
    multiple=True,
    metavar="[NAME=]SHARE",
    help="Exit with 1 when less than this share of tokens is reused: 0.8, or vllm=0.8. Repeatable.",
)
@click.option("--curve", is_flag=True, help="Replay at other sizes of each cache too.")
@click.option("--sizes", metavar="TOKENS,...", help="The sizes of the curve, such as 1e5,1e6.")
@click.option(
    "--what-if/--no-what-if",
    default=None,
    help="Replay other settings of a policy that loses much, and say what would help. Default: where it takes seconds; not for json.",
)
@click.option(
    "--input-format",
    type=click.Choice(Registry("promptorder.traces", "trace format").names()),
    help="What the files hold. Default: what stands in them tells.",
)
@click.option(
    "--shared-ids",
    is_flag=True,
    help="Small block ids mean the same in all files: they are parts of one trace.",
)
@click.option("--subagents", is_flag=True, help="Count the requests of agents that an agent called too.")
@click.option(
    "--tokenizer",
    metavar="SPEC",
    help="A .gguf or .tiktoken file, or such as o200k_base. Default: an estimate.",
)
@click.option(
    "--prefill-tokens-per-s",
    type=float,
    metavar="N",
    help="Say what time is saved, at this speed of prefill.",
)
@click.option(
    "--price",
    metavar="PRICE",
    help="Say what the prompts cost: '3.00 USD per million tokens, 0.30 cached, 3.75 written'.",
)
@click.option("--strict", is_flag=True, help="Stop at the first line that cannot be used.")
@click.option("--quiet", is_flag=True, help="No progress; the result alone.")
@click.pass_context
def command(ctx: click.Context, /, files: tuple[str, ...], **options: Any) -> int:
    """Tell what servers would reuse of the requests in a log, and why not more.

    FILE is a log of requests (JSON lines of Ollama, OpenAI, Anthropic or llama-server, token ids, Mooncake hash
    ids), or a server's own log, which tells what was really reused; - is standard input. Requests are replayed in the
    order of their times, one after another.

    \b
    Examples:
      promptorder trace requests.jsonl
      promptorder trace requests.jsonl --policy ollama,parallel=4 --fail-under 0.8
      promptorder trace trace.jsonl --policy vllm --curve --out trace.html
      promptorder trace server.log
    """
    if show_settings_if_asked(ctx):
        return 0
    if options["list_policies"]:
        return _list_policies()
    from promptorder.console import print_note, wants_color
    from promptorder.reports._trace import REGISTRY, format_of
    from promptorder.store import check_writable
    from promptorder.trace_api import Tracing

    color: Color = ctx.find_root().meta.get("promptorder.color", "auto")
    if not files:
        raise UsageError(
            "there is no trace: FILE is missing", hint="name a log of requests, or - for standard input"
        )
    out: Path | None = options["out"]
    format_ = options["format_"] or (format_of(str(out)) if out is not None else None) or "table"
    if format_ == "html" and out is None and sys.stdout.isatty():
        raise UsageError("a page is not for the terminal", hint="add --out trace.html, or --format table")
    module = REGISTRY.load(format_)
    if hasattr(module, "check"):
        module.check()
    for path in (out, options["per_request"]):
        if path is not None:
            check_writable(path)
    gates = [_gate(text) for text in options["fail_under"]]
    replayed = {text.partition(",")[0].strip() for text in options["policies"]}
    for name, _ in gates:
        if replayed and name and name.partition(",")[0] not in {*replayed, "observed"}:
            raise _not_replayed(name)
    with ExitStack() as stack:
        tracing = Tracing(
            _settings(options, (ctx.default_map or {}).get("prices") or {}, json=format_ == "json"),
            None if options["quiet"] else _shown(stack, color),
        )
        stack.enter_context(_stopping(tracing))
        result = tracing.run(files, sys.stdin.buffer)
    _write(module, result, out, color=out is None and wants_color(color, sys.stdout))
    for text in [f"the report is in {out}"] if out is not None else []:
        print_note("note", text, color=color)
    if not result.complete:
        _tell_stopped(result, options["per_request"], color)
        return 130
    return _passed(result, gates, color)


def _settings(options: dict[str, Any], prices: dict[str, str], *, json: bool) -> TraceSettings:
    from promptorder.trace_settings import TraceSettings

    sizes = _sizes(options["sizes"])
    return TraceSettings(
        policies=tuple(options["policies"]),
        tokenizer=options["tokenizer"],
        strict=options["strict"],
        curve=options["curve"] or bool(sizes),
        sizes_tokens=sizes,
        # A program that asks for JSON gets what it asked for, in the time that takes.
        what_if=False if options["what_if"] is None and json else options["what_if"],
        prefill_tokens_per_s=options["prefill_tokens_per_s"],
        prices=prices if options["price"] is None else {"*": options["price"]},
        per_request=options["per_request"],
        input_format=options["input_format"],
        shared_ids=options["shared_ids"],
        subagents=options["subagents"],
    )


def _sizes(text: str | None) -> tuple[int, ...]:
    try:
        numbers = [float(part.replace("_", "")) for part in text.split(",")] if text is not None else []
    except ValueError:
        numbers = [math.nan]
    if not all(1 <= number < 1e15 for number in numbers):
        raise UsageError(f"cannot read --sizes {text}", hint="write tokens with commas between: 1e5,1e6")
    return tuple(round(number) for number in numbers)


def _gate(text: str) -> tuple[str, float]:
    """The policy, empty for all, and the least share."""
    name, _, number = text.rpartition("=")
    try:
        share = float(number)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise UsageError(
            f"cannot read --fail-under {text}", hint="write a share, or a policy and a share: vllm=0.8"
        )
    return name.strip(), share


def _passed(result: TraceResult, gates: Sequence[tuple[str, float]], color: Color) -> int:
    """0 where all gates hold, 1 where one is missed, 5 where that cannot be told."""
    from promptorder.console import print_note

    codes = {0}
    for name, least in gates:
        judged = list(_judged(result, name))
        if not judged:
            raise _not_replayed(name)
        for label, rate in judged:
            if rate is None:
                print_note(
                    "note", f"whether {label} reuses {least:g} of the tokens cannot be told", color=color
                )
                codes.add(5)
            elif rate < least:
                print_note(
                    "note", f"{label} reuses {rate:.4f} of the tokens, less than {least:g}", color=color
                )
                codes.add(1)
    return 1 if 1 in codes else max(codes)


def _not_replayed(name: str) -> UsageError:
    return UsageError(
        f"--fail-under names {name}, which is not replayed", hint=f"add it with --policy {name}"
    )


def _judged(result: TraceResult, name: str) -> Iterator[tuple[str, float | None]]:
    """What a gate is about: the rows of that name, or all policies, or what the server said where there are none."""
    from promptorder.reports._trace._words import OBSERVED

    if result.observed is not None and (name == OBSERVED or (not name and not result.policies)):
        yield OBSERVED, result.observed.rates.hit_rate_tokens
    for policy in result.policies:
        if name in ("", policy.name, policy.label):
            yield policy.label, policy.rates.hit_rate_tokens


def _write(module: Any, result: TraceResult, out: Path | None, *, color: bool) -> None:
    from promptorder.console import print_text, width_of
    from promptorder.store import write_output

    text = module.render(result, width=width_of(sys.stdout), color=color)
    if out is None:
        print_text(text)
    else:
        write_output(out, text)


def _tell_stopped(result: TraceResult, per_request: Path | None, color: Color) -> None:
    from promptorder.console import print_note

    print_note(
        "error", f"interrupted after {result.requests:,} requests; the figures are theirs", color=color
    )
    if per_request is not None:
        print_note("note", f"{per_request} holds the requests that were done", color=color)


@contextmanager
def _stopping(tracing: Tracing) -> Iterator[None]:
    """The first Ctrl-C or termination ends the run behind a request, a second one at once."""

    def stop(number: int, frame: object) -> None:
        tracing.stop()
        signal.signal(number, signal.default_int_handler)

    with answering(stop, "SIGINT", "SIGTERM", "SIGHUP"):
        yield


def _shown(stack: ExitStack, color: Color) -> Callable[[int, float], None]:
    """Progress on a terminal, from the moment on when a run turns out to take long."""
    display: Any = None

    def tell(done: int, per_s: float) -> None:
        nonlocal display
        if not sys.stderr.isatty() or done < _SHOWN_AFTER_S * per_s:
            return
        if display is None:
            from promptorder.console import progress

            display = stack.enter_context(progress(quiet=False, color=color))
        display.step(f"replaying, {per_s:,.0f} requests/s", done=done, total=None, left_s=None)

    return tell


def _list_policies() -> int:
    from promptorder.commands._policies import policy_lines
    from promptorder.console import print_text, width_of

    print_text("\n".join(policy_lines(width_of(sys.stdout))) + "\n")
    return 0
