"""Names of a JavaScript program: which steps give each its value, in which function."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from promptorder.forms._js_source import Code, ancestors, unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from promptorder.forms._js_values import JsValue

FUNCTIONS = frozenset(
    (
        "function_declaration", "function_expression", "arrow_function", "method_definition",
        "generator_function_declaration", "generator_function", "program",
    )
)  # fmt: skip
CLASSES = frozenset(("class_declaration", "class", "abstract_class_declaration"))
_DEFINITIONS = frozenset((
    "function_declaration", "generator_function_declaration", "class_declaration", "abstract_class_declaration",
))  # fmt: skip
_BRANCHES = frozenset(
    ("if_statement", "switch_statement", "catch_clause", "else_clause", "switch_case", "switch_default")
)
_INTO = frozenset(
    (
        "statement_block", "for_statement", "while_statement", "do_statement", "try_statement", "finally_clause",
        "labeled_statement", "switch_body", "program", "export_statement", "internal_module", "module", *_BRANCHES,
    )
)  # fmt: skip
RETURNED = "return"
"""The key in a table under which the values stand that a function returns."""


class Step(NamedTuple):
    """How a name gets or changes its value: ``=``, ``+=``, ``push``, ``of`` (a key of a value), ``each`` ...

    ``byte`` is where the step is done: what stands before it does not see it.
    """

    op: str
    node: Node | None
    byte: int
    key: str = ""
    branch: bool = False


Table = dict[str, list[Step]]


class Env:
    """A function that is looked at, with what is known of its arguments."""

    __slots__ = ("arguments", "function", "owner", "parent", "table")

    def __init__(self, function: Node, table: Table, parent: Env | None, owner: Node | None) -> None:
        self.function = function
        self.table = table
        self.parent = parent
        self.owner = owner
        self.arguments: dict[str, JsValue] = {}

    @property
    def moment(self) -> str:
        """How often its code runs, where that is less than once a request."""
        if self.parent is None:
            return "process"
        name = self.function.child_by_field_name("name")
        return "session" if name is not None and name.text == b"constructor" else ""


class Scopes:
    """The tables of a program's functions and classes, made when they are asked for."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._tables: dict[int, Table] = {}
        self._environments: dict[int, Env] = {}

    def environment(self, node: Node) -> Env:
        """The function in which a node stands, its arguments unknown."""
        around = next((a for a in (node, *ancestors(node)) if a.type in FUNCTIONS), self.code.root)
        known = self._environments.get(around.id)
        if known is None:
            parent = None if around.parent is None else self.environment(around.parent)
            known = self._environments[around.id] = self.new(around, parent)
        return known

    def new(self, function: Node, parent: Env | None) -> Env:
        """One run of a function."""
        owner = next((a for a in ancestors(function) if a.type in CLASSES or a.type in FUNCTIONS), None)
        if owner is not None and owner.type not in CLASSES:
            owner = parent.owner if parent is not None else None
        return Env(function, self.table(function), parent, owner)

    def table(self, function: Node) -> Table:
        """The steps in a function, without those in the functions that it holds."""
        found = self._tables.get(function.id)
        if found is None:
            found = self._tables[function.id] = {}
            whole = function.parent is None
            body = function if whole else function.child_by_field_name("body")
            if body is not None and (whole or body.type == "statement_block"):
                _Collector(self.code, found).statements(body)
            elif body is not None:
                found[RETURNED] = [Step("=", body, body.end_byte)]
        return found

    def of_class(self, owner: Node) -> Table:
        """The fields and methods of a class, with what its methods assign to ``this``."""
        found = self._tables.get(owner.id)
        if found is None:
            found = self._tables[owner.id] = {}
            body = owner.child_by_field_name("body")
            for member in body.named_children if body is not None else ():
                name = member.child_by_field_name("name") or member.child_by_field_name("property")
                if name is None:
                    continue
                if member.type == "method_definition":
                    found.setdefault(self.code.source(name), []).append(Step("def", member, 0))
                elif value := member.child_by_field_name("value"):
                    found.setdefault(self.code.source(name), []).append(Step("=", value, 0))
            for member in body.named_children if body is not None else ():
                if member.type == "method_definition":
                    for key, steps in self.table(member).items():
                        if key.startswith("this."):
                            found.setdefault(key[5:], []).extend(steps)
        return found


class _Collector:
    def __init__(self, code: Code, table: Table) -> None:
        self.code = code
        self.table = table

    def add(self, name: str, step: Step) -> None:
        self.table.setdefault(name, []).append(step)

    def statements(self, body: Node) -> None:
        waiting = [(child, False) for child in reversed(body.named_children)]
        while waiting:
            node, branch = waiting.pop()
            kind = node.type
            if kind in ("lexical_declaration", "variable_declaration"):
                for declarator in node.named_children:
                    if declarator.type == "variable_declarator":
                        self._declare(declarator, branch=branch)
            elif kind in _DEFINITIONS:
                name = node.child_by_field_name("name")
                if name is not None:
                    self.add(self.code.source(name), Step("def", node, 0))
            elif kind == "expression_statement":
                waiting.extend((child, branch) for child in self._expression(node, branch=branch))
            elif kind == "return_statement":
                for value in node.named_children[:1]:
                    self.add(RETURNED, Step("=", value, node.end_byte, branch=branch))
            elif kind == "import_statement":
                self._import(node)
            elif kind == "for_in_statement":
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                if left is not None and right is not None:
                    self.bind(left, Step("each", right, left.end_byte))
                waiting.extend((child, branch) for child in _body(node))
            elif kind in _INTO:
                inside = branch or kind in _BRANCHES
                waiting.extend((child, inside) for child in reversed(node.named_children))

    def bind(self, pattern: Node, step: Step) -> None:
        """Give the names of a pattern their parts of a value."""
        if pattern.type in ("identifier", "shorthand_property_identifier_pattern"):
            key = self.code.source(pattern) if pattern.type != "identifier" else step.key
            op = "of" if pattern.type != "identifier" and step.op == "=" else step.op
            self.add(self.code.source(pattern), step._replace(op=op, key=key))
        elif pattern.type in ("object_pattern", "array_pattern"):
            for number, part in enumerate(pattern.named_children):
                if part.type == "pair_pattern":
                    name, inner = part.child_by_field_name("key"), part.child_by_field_name("value")
                    if name is not None and inner is not None:
                        op = "of" if step.op == "=" else step.op
                        self.bind(inner, step._replace(op=op, key=self.code.source(name)))
                elif part.type in ("object_assignment_pattern", "assignment_pattern"):
                    left = part.child_by_field_name("left")
                    if left is not None:
                        self.bind(left, step)
                elif pattern.type == "array_pattern":
                    op = "at" if step.op == "=" else step.op
                    self.bind(part, step._replace(op=op, key=str(number)))
                else:
                    self.bind(part, step)

    def _declare(self, declarator: Node, *, branch: bool) -> None:
        name, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
        if name is not None and value is not None:
            self.bind(name, Step("=", value, declarator.end_byte, branch=branch))

    def _expression(self, statement: Node, *, branch: bool) -> list[Node]:
        """Note what a statement does; gives the bodies that it runs (``forEach``)."""
        if not statement.named_children:
            return []
        node = unwrapped(statement.named_children[0])
        left = node.child_by_field_name("left")
        right = node.child_by_field_name("right")
        if node.type == "assignment_expression" and left is not None and right is not None:
            if left.type in ("object_pattern", "array_pattern"):
                self.bind(left, Step("=", right, node.end_byte, branch=branch))
            elif left.type in ("identifier", "member_expression"):
                self.add(self.code.source(left), Step("=", right, node.end_byte, branch=branch))
        elif node.type == "augmented_assignment_expression" and left is not None and right is not None:
            op = self.code.source(node.children[1])
            self.add(
                self.code.source(left), Step("+=" if op == "+=" else "=", right, node.end_byte, branch=True)
            )
        elif node.type == "call_expression":
            return self._call(node, branch=branch)
        return []

    def _call(self, node: Node, *, branch: bool) -> list[Node]:
        called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if called is None or called.type != "member_expression" or arguments is None:
            return []
        target, method = called.child_by_field_name("object"), called.child_by_field_name("property")
        if target is None or method is None:
            return []
        name = self.code.source(method)
        if name in ("push", "unshift"):
            for argument in arguments.named_children:
                self.add(self.code.source(target), Step(name, argument, node.end_byte, branch=branch))
        elif name == "forEach" and arguments.named_children:
            callback = arguments.named_children[0]
            body = callback.child_by_field_name("body")
            parameters = parameters_of(callback)
            if body is not None and parameters:
                self.bind(parameters[0], Step("each", target, callback.start_byte))
                return [body]
        return []

    def _import(self, node: Node) -> None:
        module = node.child_by_field_name("source")
        path = self.code.source(module).strip("\"'") if module is not None else ""
        waiting = list(node.named_children)
        while waiting:
            each = waiting.pop()
            if each.type == "import_specifier":
                name = each.child_by_field_name("name")
                alias = each.child_by_field_name("alias") or name
                if name is not None and alias is not None:
                    self.add(
                        self.code.source(alias), Step("import", None, 0, f"{path}:{self.code.source(name)}")
                    )
            elif each.type == "identifier":
                self.add(self.code.source(each), Step("import", None, 0, f"{path}:default"))
            else:
                waiting.extend(each.named_children)


def _body(node: Node) -> Iterator[Node]:
    body = node.child_by_field_name("body")
    if body is not None:
        yield body


def parameters_of(function: Node) -> list[Node]:
    """The patterns of a function's parameters, defaults included."""
    single = function.child_by_field_name("parameter")
    if single is not None:
        return [single]
    listed = function.child_by_field_name("parameters")
    found = []
    for child in listed.named_children if listed is not None else ():
        if child.type in ("required_parameter", "optional_parameter"):
            pattern = child.child_by_field_name("pattern")
            if pattern is not None and pattern.type != "this":
                found.append(child if child.child_by_field_name("value") is not None else pattern)
        elif child.type != "comment":
            found.append(child)
    return found
