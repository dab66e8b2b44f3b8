"""Lint as a library: from paths to typed findings; nothing is printed."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from promptorder.errors import UsageError
from promptorder.forms import REGISTRY as FORMS
from promptorder.forms import FormError
from promptorder.inputs import _prompt_forms
from promptorder.inputs._prompt_files import (
    STANDARD_INPUT,
    Candidate,
    Finder,
    NotTextError,
    decode_text,
    from_root,
    is_large,
    open_lines,
    read_file,
    repository_of,
    why_unreadable,
)
from promptorder.lint import engine
from promptorder.lint.registry import Rules
from promptorder.model.lint import Finding, Problem, Prompt, Source
from promptorder.model.lint_result import FileRead, LintResult

if TYPE_CHECKING:
    from pathlib import Path

_MARK = "promptorder:"
_TEMPLATES = ("jinja", "mustache", "prompty")


class LintSettings(NamedTuple):
    """What a run of lint can be told; see the command's options, which have the same names.

    ``root`` is the folder from which patterns with a slash are read: that of the settings file, or else the
    repository's top, or the working folder. Where a value is wrong, ``settings_name`` is the file to name, except for those
    that were ``given`` on the command line.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    force_exclude: bool = False
    form: str | None = None
    min_tokens: int | None = None
    stdin_filename: str | None = None
    per_file_ignores: Mapping[str, Sequence[str]] = {}
    variables: Mapping[str, str] = {}
    severity: Mapping[str, str] = {}
    baseline: str | None = None
    write_baseline: bool = False
    root: str | None = None
    settings_name: str = ""
    given: frozenset[str] = frozenset()


def lint(paths: "str | Path | Iterable[str | Path]", **settings: Any) -> LintResult:
    """Lint files and folders and return the findings, typed.

    ``settings`` are the fields of LintSettings. Raises UsageError for a wrong one and InputError for a path that is
    not there.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    try:
        chosen = LintSettings(**settings)
    except TypeError as error:
        raise UsageError(
            str(error).replace("LintSettings.__new__", "lint"), hint="see LintSettings"
        ) from None
    return Linting(chosen).run([os.fspath(path) for path in given])


class Linting:
    """One run. Making it checks the settings, so that a wrong one is told before a file is read."""

    def __init__(self, settings: LintSettings, *, stdin: BinaryIO | None = None) -> None:
        self.settings = settings
        self._stdin = stdin
        self._root = os.path.abspath(settings.root or repository_of(os.curdir) or os.curdir)
        if settings.form is not None:
            FORMS.load(settings.form)  # raises UsageError where there is none
        if settings.write_baseline and settings.baseline is None:
            raise UsageError("--write-baseline does not say where to", hint="name a file: --baseline FILE")
        self._rules = Rules(self._selected())
        self._options, self._per_file = self._tables()
        self._known_forms = _prompt_forms.declared()
        self._findings: list[Finding] = []
        self._errors: list[Problem] = []
        self._files: list[FileRead] = []
        self._skipped: list[FileRead] = []
        self._suppressed = 0

    def run(self, paths: Sequence[str]) -> LintResult:
        """Read the files and give the result. Raises InputError for a path that is not there."""
        known = self._read_baseline()
        for candidate in self.candidates(paths):
            self._lint(candidate)
        findings, baselined = self._findings, 0
        if self.settings.baseline is not None:
            from promptorder.lint import baseline

            names = self._baseline_names()
            if self.settings.write_baseline:
                self._write_baseline(names)
                findings, baselined = [], len(findings)
            else:
                findings, baselined = baseline.split(findings, known, names)
        return LintResult(
            tuple(findings),
            tuple(self._errors),
            tuple(self._files),
            tuple(self._skipped),
            self._suppressed,
            baselined,
        )

    def candidates(self, paths: Sequence[str]) -> Iterator[Candidate]:
        """The files that ``paths`` mean, before they are read."""
        settings = self.settings
        finder = Finder(
            self._root,
            self._known_forms,
            include=settings.include,
            exclude=settings.exclude,
            force_exclude=settings.force_exclude,
        )
        for candidate in finder.files(paths):
            name = settings.stdin_filename
            if (
                candidate.path == STANDARD_INPUT
                and name
                and settings.force_exclude
                and finder.is_excluded(name)
            ):
                continue
            yield candidate

    def _selected(self) -> list[str] | None:
        if not self.settings.select and not self.settings.ignore:
            return None
        from promptorder.lint.selection import chosen

        return chosen(
            self.settings.select, self.settings.ignore, (self._where("select"), self._where("ignore"))
        )

    def _tables(self) -> tuple[engine.Options, Any]:
        settings, per_file = self.settings, None
        if settings.per_file_ignores:
            from promptorder.lint.selection import per_file as read

            per_file = read(settings.per_file_ignores, self._where("per-file-ignores"))
        if not settings.variables and not settings.severity:
            return engine.Options(min_tokens=settings.min_tokens), per_file
        from promptorder.lint.settings import severities, variables

        return (
            engine.Options(
                variables(settings.variables, self._where("variables")),
                settings.min_tokens,
                severities(settings.severity, self._where("severity")),
            ),
            per_file,
        )

    def _where(self, key: str) -> str:
        name = self.settings.settings_name
        if not name or key in self.settings.given:
            return f"--{key}"
        return f"{name}: {key} in [tool.promptorder.lint]"

    def _lint(self, candidate: Candidate) -> None:
        path = candidate.path
        if path == STANDARD_INPUT:
            path = self.settings.stdin_filename or STANDARD_INPUT
        form, reason = self.settings.form or "", "--as"
        if not form:
            form, pattern = _prompt_forms.by_name(path, self._known_forms)
            reason = candidate.reason if not candidate.named else f"named, {pattern}" if pattern else "named"
        if self._stream(candidate, path, form, reason):
            return
        text = self._text(candidate, path)
        if text is None:
            return
        content, bom = text
        if not self.settings.form and form in ("", *_prompt_forms.ANY_TEXT):
            form, why = _prompt_forms.by_content(content, form)
            reason = f"{reason}, {why}" if why else reason
        source = Source(path, form, content, bom)
        errors = len(self._errors)
        findings, held = self._of_source(source)
        is_prompt = held or ((candidate.named or candidate.plainly) and len(self._errors) == errors)
        if is_prompt:
            self._files.append(FileRead(path, form, reason))
        self._findings += findings

    def _stream(self, candidate: Candidate, path: str, form: str, reason: str) -> bool:
        """Lint a file line by line, where its form can and its size asks for it; says whether that was done."""
        if not form or not is_large(candidate.path):
            return False
        stream = getattr(FORMS.load(form), "log_findings", None)
        if stream is None:
            return False
        findings: list[Finding] = []
        try:
            with open_lines(candidate.path, self._stdin) as lines:
                findings.extend(stream(lines, path, self._rules, self._options))
        except FormError as error:
            self._errors.append(Problem(path, error.line, f"not read as {form}: {error}"))
        except OSError as error:
            self._errors.append(Problem(path, None, why_unreadable(error)))
            return True
        self._files.append(FileRead(path, form, reason))
        self._findings += self._without_ignored(path, findings)
        return True

    def _text(self, candidate: Candidate, path: str) -> tuple[str, bool] | None:
        try:
            text, bom, _ = decode_text(read_file(candidate.path, self._stdin))
        except NotTextError as error:
            self._skipped.append(FileRead(path, "", str(error)))
            return None
        except OSError as error:
            self._errors.append(Problem(path, None, why_unreadable(error)))
            return None
        return text, bom

    def _of_source(self, source: Source) -> tuple[list[Finding], bool]:
        """The findings of a file, and whether it holds a prompt."""
        form = FORMS.load(source.form)
        keep = _MARK in source.text
        kept: list[Prompt] = []
        held = False

        def watched() -> Iterator[Prompt]:
            nonlocal held
            for prompt in form.prompts(source):
                held = True
                if keep:
                    kept.append(prompt)
                yield prompt

        findings: list[Finding] = []
        try:
            findings.extend(engine.lint(source, watched(), self._rules, self._options))
        except FormError as error:
            self._errors.append(Problem(source.path, error.line, f"not read as {source.form}: {error}"))
            if not held and source.form in _TEMPLATES:
                # Its syntax may be newer than ours; the text of a template is still there to be searched.
                findings.extend(
                    engine.lint(source, FORMS.load("text").prompts(source), self._rules, self._options)
                )
        except RecursionError:
            self._errors.append(Problem(source.path, None, f"not read as {source.form}: nested too deeply"))
        if keep:
            findings = self._without_suppressed(source, findings, kept)
        return self._without_ignored(source.path, findings), held

    def _without_ignored(self, path: str, findings: list[Finding]) -> list[Finding]:
        if self._per_file is None:
            return findings
        off = self._per_file.ignored(from_root(path, self._root))
        return [finding for finding in findings if finding.code not in off]

    def _without_suppressed(
        self, source: Source, findings: list[Finding], prompts: Sequence[Prompt]
    ) -> list[Finding]:
        from promptorder.lint import suppression
        from promptorder.lint.selection import codes

        comments = suppression.find(source, prompts)
        if not comments:
            return findings
        known = codes()
        left, unused, silenced = suppression.apply(findings, comments, known)
        self._suppressed += silenced
        left += suppression.unused_findings(source, unused, self._rules, known, self._options)
        return sorted(left, key=lambda finding: (finding.line, finding.column))

    def _baseline_names(self) -> dict[str, str]:
        """The path of each file as the baseline has it: from the baseline's folder, with forward slashes."""
        folder = os.path.dirname(os.path.abspath(self.settings.baseline or ""))
        paths = {file.path for file in self._files} | {problem.path for problem in self._errors}
        return {path: os.path.relpath(path, folder).replace(os.sep, "/") for path in paths}

    def _read_baseline(self) -> dict[str, dict[str, int]]:
        path = self.settings.baseline
        if path is None or self.settings.write_baseline:
            return {}
        from promptorder.contracts import baseline

        return baseline.read(path)

    def _write_baseline(self, names: Mapping[str, str]) -> None:
        from promptorder.contracts import baseline as contract
        from promptorder.lint.baseline import merged
        from promptorder.store import locked_folder, write_atomically

        path = os.path.abspath(self.settings.baseline or "")
        folder = os.path.dirname(path)
        from pathlib import Path

        with locked_folder(Path(folder)):
            known = contract.read(path) if os.path.exists(path) else {}
            there = {
                name: counts for name, counts in known.items() if os.path.exists(os.path.join(folder, name))
            }
            result = merged(self._findings, names.values(), there, names)
            write_atomically(Path(path), contract.to_text(result))
