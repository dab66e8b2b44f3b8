"""What a reader of the figures must know of how the trace was read."""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.model.trace_input import FileReport, ReadReport

_NEAR = 0.02


def notes(report: ReadReport) -> Iterator[str]:
    """Sentences on what was left out, put right or estimated."""
    for file in report.files:
        yield from _of_file(file)
    if len(report.apis) > 1:
        most = sorted(report.apis.items(), key=lambda each: (-each[1], each[0]))
        counts = ", ".join(f"{api or 'unknown'} {number:,}" for api, number in most)
        yield f"requests of several services stand in it ({counts}), and each policy was given all of them: one log for each tells more"
    if report.late:
        yield f"{_times(report.late, 'request')} came too late to be put in the order of times, and stay where they stood"
    if report.reordered:
        yield f"{_times(report.reordered, 'request')} stood behind later ones, and were put in order"
    if report.undated:
        yield f"{_times(report.undated, 'request')} name no time, and go with the one before"
    if report.tokenizer_exact is False:
        yield (
            "tokens are estimated from the text: shares are near the truth, counts less so; --tokenizer MODEL.gguf counts them"
        )
    if report.said_tokens and report.counted_tokens:
        ratio = report.counted_tokens / report.said_tokens
        if abs(ratio - 1) > _NEAR:
            yield f"where a server said how long a prompt was, its tokens here are {ratio:.2f} times as many"
    if report.pictures:
        yield (
            f"{_times(report.pictures, 'picture')} or other files stand for about {report.estimated_tokens:,} tokens"
        )
    yield from report.remarks


def _of_file(file: FileReport) -> Iterator[str]:
    if file.cut:
        yield f"{file.path} is cut: {file.cut}; what stands before that was used"
    if file.skipped_lines:
        lines = "line was" if file.skipped_lines == 1 else "lines were"
        first = "".join(
            f", the first is line {each.line:,}: {each.reason}" for each in file.first_skipped[:1]
        )
        yield f"{file.path}: {file.skipped_lines:,} {lines} skipped{first}"


def _times(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
