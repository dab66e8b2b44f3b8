"""Jinja templates: prompts and chat templates, followed in the order in which they are rendered.

Comments are not sent, ``raw`` is text, and a value that is ``set`` is followed to where it is put out. Of an ``if`` with an
``else`` each branch is a prompt of its own; in a loop all of them are rendered sooner or later. A loop over messages stands
for the chat history. Strings inside of tags are constants of the template.
"""

from __future__ import annotations

from collections.abc import Iterator

from promptorder.forms import FormError
from promptorder.forms._chat_template import is_about_last, prints, rewrites
from promptorder.forms._jinja_syntax import Block, Branch, Node, Output, Statement, Text, parse
from promptorder.forms._jinja_values import (
    Piece,
    Token,
    Values,
    dotted_name,
    split_arguments,
    tokens,
    value,
)
from promptorder.forms._pages import is_page
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import COMPUTED, STATIC, VARIABLE, Prompt, Segment, Source

SUFFIXES = (".j2", ".jinja", ".jinja2")
NAMES = ()
PLAIN = True

_MAX_PATHS = 6
_MAX_STEPS = 200_000
_THINGS = frozenset("entities entity devices device sensors lights states areas rooms appliances".split())
_STATE_ATTRIBUTES = (
    "state", "states", "value", "status", "attributes", "last_changed", "last_updated", "reading", "brightness",
)  # fmt: skip


def prompts(source: Source) -> Iterator[Prompt]:
    """One prompt for each way through the template's branches; none if it makes a page."""
    if not is_page(source.path, source.text):
        yield from rendered(source.text)


def rendered(text: str, start: int = 0) -> Iterator[Prompt]:
    """The prompts of a template that begins at ``start``."""
    nodes = parse(text, start)
    seen = set[tuple[Segment, ...]]()
    path = most = 0
    while path <= min(most, _MAX_PATHS):
        walk = _Walk(text, path)
        try:
            walk.nodes(nodes)
        except RecursionError:
            raise FormError("the template is nested too deeply") from None
        most = walk.most
        found = tuple(walk.segments)
        if found not in seen:
            seen.add(found)
            yield Prompt(found)
        path += 1


class _Walk:
    """One way through a template: ``path`` says which branch of each ``if ... else`` is taken."""

    def __init__(self, text: str, path: int) -> None:
        self.text = text
        self.path = path
        self.most = 0
        self.segments: list[Segment] = []
        self.known: Values = {}
        self.macros: dict[str, Branch] = {}
        self.roots: set[tuple[int, int]] = set()
        self.loops = 0
        self.called: set[int] = set()
        self.steps = 0
        self.in_history = False
        self.late: list[Segment] = []

    def nodes(self, nodes: list[Node]) -> None:
        for node in nodes:
            self.steps += 1
            if self.steps > _MAX_STEPS:
                raise FormError("the template is too large to be followed")
            if isinstance(node, Text):
                self._add(Segment(node.text, node.start, node.start + len(node.text)))
            elif isinstance(node, Output):
                self._output(node)
            elif isinstance(node, Statement):
                self._statement(node)
            else:
                self._block(node)

    def _add(self, segment: Segment) -> None:
        self.segments.append(segment)

    def _output(self, node: Output) -> None:
        expression = tokens(node.inside, node.inside_start)
        if not expression or self._macro(expression) or expression[0].text == "raise_exception":
            return
        pieces = value(expression, self.known)
        for piece in pieces:
            self._piece(piece, node, alone=len(pieces) == 1)

    def _piece(self, piece: Piece, node: Output, *, alone: bool) -> None:
        if piece.text is not None:
            self._add(
                Segment(piece.text, piece.start, piece.end, "prompt", STATIC, "", "fixed", "", piece.marks)
            )
            return
        here = node.start <= piece.start < node.end
        start, end = (piece.start, piece.end) if here and not alone else (node.start, node.end)
        root = piece.root or (None if here or piece.start < 0 else (piece.start, piece.end))
        if root is not None and piece.kind not in ("", "fixed") and root not in self.roots:
            self.roots.add(root)
            self._add(self._dynamic(piece, *root))
        self._add(self._dynamic(piece, start, end))

    def _dynamic(self, piece: Piece, start: int, end: int) -> Segment:
        role = "history" if not piece.kind and kind_of_name(piece.name) == "history" else "prompt"
        origin = COMPUTED if piece.kind else VARIABLE
        return Segment(self.text[start:end], start, end, role, origin, piece.name, piece.kind, piece.changes)

    def _statement(self, node: Statement) -> None:
        if node.word == "set":
            self._assign(tokens(node.rest, node.rest_start))
        elif node.word == "include":
            self._add(
                Segment(
                    self.text[node.start : node.end],
                    node.start,
                    node.end,
                    "prompt",
                    VARIABLE,
                    "",
                    "static-part",
                )
            )

    def _assign(self, expression: list[Token]) -> None:
        at = next((i for i, token in enumerate(expression) if token.text == "="), 0)
        if not at:
            return
        name, given = "".join(token.text for token in expression[:at]), expression[at + 1 :]
        if given and given[0].text == "namespace" and len(given) > 1:
            for argument in split_arguments(given[2:-1]):
                if len(argument) > 2 and argument[1].text == "=":
                    self._bind(f"{name}.{argument[0].text}", value(argument[2:], self.known))
            return
        self._bind(name, value(given, self.known))

    def _bind(self, name: str, pieces: list[Piece]) -> None:
        """In a loop both branches of an ``if`` are seen: a constant then does not undo what changes."""
        old = self.known.get(name)
        if self.loops and old is not None and _changes(old) and not _changes(pieces):
            return
        self.known[name] = pieces

    def _block(self, block: Block) -> None:
        branch = block.branches[0]
        if block.word == "if":
            self._if(block)
        elif block.word == "for":
            self._for(block)
        elif block.word == "macro":
            self.macros[branch.rest.split("(", 1)[0].strip()] = branch
        elif block.word == "set":
            self._capture(branch)
        elif block.word == "with":
            for argument in split_arguments(tokens(branch.rest, branch.rest_start)):
                if len(argument) > 2:
                    self.known[argument[0].text] = value(argument[2:], self.known)
            self.nodes(branch.body)
        elif block.word == "call":
            self._macro(tokens(branch.rest, branch.rest_start))
            self.nodes(branch.body)
        elif block.word != "comment":
            for each in block.branches[:1] if block.word == "trans" else block.branches:
                self.nodes(each.body)

    def _if(self, block: Block) -> None:
        for branch in block.branches:
            if branch.word != "else" and prints(branch.body):
                self._condition(branch)
        whole = self.loops == 0 and block.branches[-1].word == "else"
        if whole:
            self.most = max(self.most, len(block.branches) - 1)
            self.nodes(block.branches[min(self.path, len(block.branches) - 1)].body)
            return
        for branch in block.branches:
            if self.in_history and branch.word != "else" and is_about_last(branch.rest):
                before = len(self.segments)
                self.nodes(branch.body)
                self.late += self.segments[before:]
                del self.segments[before:]
            else:
                self.nodes(branch.body)

    def _condition(self, branch: Branch) -> None:
        """A text that depends on the clock or on a state changes with it."""
        for piece in value(tokens(branch.rest, branch.rest_start), {}):
            if piece.text is None and piece.kind in ("template-clock", "random-call", "retrieved-context"):
                self._add(self._dynamic(piece, branch.start, branch.end))
                return

    def _for(self, block: Block) -> None:
        head = block.branches[0]
        targets, iterable = _loop_head(tokens(head.rest, head.rest_start))
        pieces = [piece for piece in value(iterable, self.known) if piece.text is None]
        piece = pieces[0] if pieces else Piece(head.start, head.end, None, dotted_name(iterable), "fixed")
        name = piece.name or dotted_name(iterable)
        turns = piece.kind != "fixed" and self._turns(name, iterable)
        old = dict(self.known)
        for target in targets:
            self.known[target] = [Piece(head.start, head.end, None, target, "fixed")]
        things = (
            bool(_THINGS & set(name.lower().replace("_", ".").split("."))) and piece.kind != "random-call"
        )
        if things:
            for target in targets[-1:]:
                for attribute in _STATE_ATTRIBUTES:
                    self.known[f"{target}.{attribute}"] = [
                        Piece(-1, -1, None, attribute, "retrieved-context", "request")
                    ]
        elif prints(head.body) and not turns:
            self._add(self._dynamic(piece._replace(name=name), head.start, head.end))
        self.loops += 1
        if turns and prints(head.body) and not self.in_history:
            self._history(block, name)
        else:
            for branch in block.branches:
                self.nodes(branch.body)
        self.loops -= 1
        for target in targets:
            self._forget(target, old)

    def _turns(self, name: str, iterable: list[Token]) -> bool:
        """Whether a loop goes over the messages of a chat, directly or by their numbers."""
        if name != "range":
            return kind_of_name(name) == "history"
        names = [
            self.known.get(t.text, [Piece(0, 0, None, t.text)])[0].name for t in iterable if t.kind == "name"
        ]
        return any(kind_of_name(each) == "history" for each in names)

    def _history(self, block: Block, name: str) -> None:
        head = block.branches[0]
        self.in_history = True
        found = list(rewrites(block, self.text))
        for rewrite in found[:1]:
            at = self.text[rewrite.start : rewrite.end]
            self._add(
                Segment(
                    at,
                    rewrite.start,
                    rewrite.end,
                    "history",
                    COMPUTED,
                    rewrite.how,
                    "template-history",
                    "turn",
                )
            )
        for branch in block.branches:
            self.nodes(branch.body)
        tag = self.text[head.start : head.end]
        self._add(Segment(tag, head.start, head.end, "history", VARIABLE, name))
        self.segments += self.late
        self.late = []
        self.in_history = False

    def _forget(self, target: str, old: Values) -> None:
        for name in [n for n in self.known if n == target or n.startswith(target + ".")]:
            if name in old:
                self.known[name] = old[name]
            else:
                del self.known[name]

    def _capture(self, branch: Branch) -> None:
        before = len(self.segments)
        self.nodes(branch.body)
        made = [
            Piece(s.start, s.end, s.text if s.origin == STATIC else None, s.name, s.kind, s.changes, s.marks)
            for s in self.segments[before:]
        ]
        del self.segments[before:]
        self._bind(branch.rest.split("|", 1)[0].strip(), made)

    def _macro(self, expression: list[Token]) -> bool:
        """Put the body of a macro where it is called."""
        macro = (
            self.macros.get(expression[0].text) if len(expression) > 1 and expression[1].text == "(" else None
        )
        if macro is None or macro.start in self.called:
            return macro is not None  # one that calls itself has been seen
        old = dict(self.known)
        parameters = split_arguments(tokens(macro.rest, macro.rest_start)[2:-1])
        close = next(
            (i for i in range(len(expression) - 1, 1, -1) if expression[i].text == ")"), len(expression)
        )
        arguments = split_arguments(expression[2:close])
        for index, parameter in enumerate(parameters):
            given = arguments[index] if index < len(arguments) else parameter[2:]
            if len(given) > 2 and given[1].text == "=":
                given = given[2:]
            self.known[parameter[0].text] = value(given, old)
        self.called.add(macro.start)
        self.nodes(macro.body)
        self.called.discard(macro.start)
        self.known = old
        return True


def _changes(pieces: list[Piece]) -> bool:
    return any(piece.text is None and piece.kind != "fixed" for piece in pieces)


def _loop_head(expression: list[Token]) -> tuple[list[str], list[Token]]:
    """``a, b in xs if ...``: the names that are bound, and what is gone through."""
    at = next((i for i, token in enumerate(expression) if token.text == "in"), 0)
    targets = [token.text for token in expression[:at] if token.kind == "name"]
    rest = expression[at + 1 :]
    stop = next((i for i, token in enumerate(rest) if token.text in ("if", "recursive")), len(rest))
    return targets, rest[:stop]
