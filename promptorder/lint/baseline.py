"""Findings that are known: what a repository had when lint came is not reported until it changes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from promptorder.model.lint import Finding

Known = dict[str, dict[str, int]]
"""For each path, from the baseline's folder and with forward slashes, how often each fingerprint stands there."""


def split(
    findings: Iterable[Finding], known: Mapping[str, Mapping[str, int]], names: Mapping[str, str]
) -> tuple[list[Finding], int]:
    """The findings that are new, and how many are known. ``names`` has the baseline's path of each path.

    Of two findings that look the same, a baseline that knows one silences one.
    """
    left = {path: Counter(counts) for path, counts in known.items()}
    new, old = [], 0
    for finding in findings:
        counts = left.get(names[finding.path])
        if counts and counts[finding.fingerprint] > 0:
            counts[finding.fingerprint] -= 1
            old += 1
        else:
            new.append(finding)
    return new, old


def merged(
    findings: Iterable[Finding],
    looked_at: Iterable[str],
    known: Mapping[str, Mapping[str, int]],
    names: Mapping[str, str],
) -> Known:
    """The baseline after a run: files that were looked at as they are now, the others as they were known.

    So may each of several processes, such as those of a hook, look at a part of the files.
    """
    looked = set(looked_at)
    result: Known = {path: dict(counts) for path, counts in known.items() if path not in looked}
    for finding in findings:
        counts = result.setdefault(names[finding.path], {})
        counts[finding.fingerprint] = counts.get(finding.fingerprint, 0) + 1
    return result
