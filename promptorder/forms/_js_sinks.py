"""Where a JavaScript program has its prompts: by names, by keys of requests, by the shape of message lists, by wording."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from promptorder.forms._js_offers import KEYS, enclosing, is_template
from promptorder.forms._js_requests import THROUGH, Requests
from promptorder.forms._js_scopes import FUNCTIONS
from promptorder.forms._js_source import ancestors, unwrapped
from promptorder.forms._js_values import plain
from promptorder.forms._python_sinks import (
    Candidate,
    names_a_prompt,
)
from promptorder.forms._python_values import Table, Template
from promptorder.model.lint import STATIC

if TYPE_CHECKING:
    from tree_sitter import Node


_MOST = 400
"""Places that are looked at in a file of usual size; one with far more is data."""
_SPOTS = re.compile(
    rb"role[\"']?\s*:|\bYou(?: [a-z]|r (?:task|job|role|goal) is|'re )|Act as |from(?:Template|Messages)"
    rb"|(?:messages|contents)[\"']?\s*[:,}=]"
    rb"|(?:[Pp]rompt|PROMPT|[Ii]nstruction|INSTRUCTION|[Ss]ystem|SYSTEM|[Pp]reamble|PREAMBLE|[Pp]ersona|PERSONA|[Tt]emplate|"
    rb"TEMPLATE)[\w$]*[\"']?[!?]?\s*[:=(,}]"
)
"""Words that prompts are known by, where something is named or called."""
_SAID = re.compile(
    r"\b(?:You (?:are|answer|help|write|run|sort|review|must|will)\b|You're |Your (?:task|job|role|goal) is|Act as an? )"
)
_NOT_SENT = re.compile(
    r"(?:^|\.)(?:console|log|logger|debug|warn|error|info|trace|print|write|describe|it|test|expect|assert|throw|Error|t|i18n|alert|"
    r"query|execute|exec|sql|fail|reject|toast|notify|emit|confirm|querySelector|\w*Error)(?:\.\w+)?$"
)
_TEXT_AROUND = frozenset(
    ("template_substitution", "binary_expression", "array", "ternary_expression", "arguments")
)
_FOLLOWED_NAMES = 40
_OPENS = tuple("{$%<[")


class Finder(Requests):
    """Looks at the places where a prompt may begin, and evaluates those that do."""

    def candidates(self) -> list[Candidate]:
        """The prompts, in the order of the places where they are made."""
        for number, match in enumerate(_SPOTS.finditer(self.code.data)):
            if number >= _MOST + len(self.code.data) // 400 or self.program.fuel < 0:
                break
            node = self.code.root.descendant_for_byte_range(match.start(), match.start() + 1)
            if node is not None:
                self._look(
                    node, self.code.data[match.start() : match.start() + 16].decode("utf-8", "replace")
                )
        for name in self.names[:_FOLLOWED_NAMES]:
            self._uses(name)
        return [self._settled(candidate) for _, candidate in sorted(self.found, key=lambda pair: pair[0])]

    def _settled(self, candidate: Candidate) -> Candidate:
        """A placeholder that is filled in elsewhere in the file is told there."""
        filled = self.program.filled
        return candidate._replace(
            segments=tuple(
                s._replace(kind="fixed")
                if s.start in filled and s.origin != STATIC and s.text[:1] in _OPENS
                else s
                for s in candidate.segments
            )
        )

    def _look(self, node: Node, text: str) -> None:
        """What a word is there: a key, a name, something that is called, or something said."""
        kind = node.type
        parent = node.parent
        quoted = parent.parent if kind == "string_fragment" and parent is not None else None
        if quoted is not None and quoted.type == "pair" and quoted.child_by_field_name("key") == parent:
            assert parent is not None
            kind, node, parent = "property_identifier", parent, quoted
        if kind == "string_fragment":
            if _SAID.match(text):
                self._said(node)
        elif parent is None or kind == "comment":
            return
        elif parent.type == "pair" and parent.child_by_field_name("key") == node:
            name = self.code.source(node).strip("\"'`")
            if name == "role":
                self._role(node)
            elif name in KEYS:
                self._key(node)
            else:
                self._pair(parent, name)
        elif parent.type == "jsx_attribute":
            value = parent.named_children[-1]
            if value.type == "jsx_expression" and value.named_children and self.code.source(node) in KEYS:
                self._expression(value.named_children[0], "", named=True)
        elif kind == "shorthand_property_identifier":
            self._key(node)
        elif parent.type in ("variable_declarator", "required_parameter"):
            self._declared(node)
        elif parent.type == "new_expression" or "from" in text or parent.type == "call_expression":
            self._call(node)
        elif kind in ("identifier", "property_identifier", "private_property_identifier", "type_identifier"):
            self._declared(node)

    def _pair(self, pair: Node, name: str) -> None:
        """A prompt among constants: ``{ titlePrompt: ... }``."""
        value = pair.child_by_field_name("value")
        if value is None or not names_a_prompt(name):
            return
        value = unwrapped(value)
        if value.type in FUNCTIONS:
            self._function(value, name)
        elif value.type in ("string", "template_string", "binary_expression", "call_expression"):
            self._expression(value, name, named=True)

    def _call(self, node: Node) -> None:
        around = enclosing(node, ("call_expression", "new_expression"))
        if around is None:
            return
        value = plain(self.program.value(around, self.program.scopes.environment(around)))
        if isinstance(value, Template) and around.id not in self.seen:
            self.seen.add(around.id)
            self._offer(around, "", value, named=True)
        elif isinstance(value, Table) and around.parent is not None and around.parent.type == "array":
            self._list(around.parent)

    def _declared(self, node: Node) -> None:
        """A variable, field, function or method with a prompt's name."""
        for around in (node, *ancestors(node)):
            name = around.child_by_field_name("name") or around.child_by_field_name("property")
            if around.type == "variable_declarator" and name is not None:
                self._named_variable(around, name)
                return
            if around.type in ("public_field_definition", "field_definition") and name is not None:
                value = around.child_by_field_name("value")
                if value is not None and names_a_prompt(self.code.source(name)):
                    self._expression(value, self.code.source(name), named=True)
                return
            if around.type in FUNCTIONS and around.type != "program":
                if name is not None and name.end_byte >= node.start_byte:
                    self._function(around, self.code.source(name))
                return
            if around.type == "assignment_expression":
                left, right = around.child_by_field_name("left"), around.child_by_field_name("right")
                if left is not None and right is not None and names_a_prompt(self.code.source(left)):
                    self._expression(right, self.code.source(left), named=True)
                return
            if around.type in ("lexical_declaration", "variable_declaration"):
                for declarator in around.named_children:
                    inner = declarator.child_by_field_name("name")
                    if inner is not None:
                        self._named_variable(declarator, inner)
                return
            if around.type in ("statement_block", "program", "class_body"):
                return

    def _named_variable(self, declarator: Node, name: Node) -> None:
        source = self.code.source(name)
        if name.type != "identifier" or not (names_a_prompt(source) or is_template(source)):
            return
        value = declarator.child_by_field_name("value")
        value = unwrapped(value) if value is not None else None
        if value is not None and value.type in FUNCTIONS:
            self._function(value, source)
        else:
            self._variable(source, declarator)

    def _said(self, node: Node) -> None:
        """Text that speaks to a model: the expression that it is part of."""
        text = enclosing(node, ("string", "template_string"), itself=True)
        if text is None or text.id in self.seen:
            return
        self.seen.add(text.id)
        self._climb(text)

    def _climb(self, text: Node) -> None:
        expression, outer = text, text.parent
        while outer is not None:
            if outer.type == "call_expression":
                called = outer.child_by_field_name("function")
                if called is None or _NOT_SENT.search(self.code.source(called)[-60:]):
                    return
                expression = outer
            elif outer.type == "new_expression":
                called = outer.child_by_field_name("constructor")
                if called is not None and "Error" in self.code.source(called):
                    return
                break
            elif outer.type not in THROUGH and outer.type not in ("member_expression", "arguments"):
                break
            else:
                expression = outer if outer.type != "arguments" else expression
            outer = outer.parent
        if outer is None or outer.type == "throw_statement":
            return
        if outer.type in ("variable_declarator", "assignment_expression", "augmented_assignment_expression"):
            name = outer.child_by_field_name("name") or outer.child_by_field_name("left")
            if name is not None:
                source = self.code.source(name)
                self.names.append(source)
                self._variable(source, outer)
        elif outer.type == "return_statement" or outer.type in FUNCTIONS:
            self._function_of(outer)
        elif outer.type == "pair":
            around = enclosing(outer, ("object",))
            if around is None or not self._object(around):
                self._expression(expression, "", named=False)
        elif outer.type != "jsx_expression":
            self._expression(expression, "", named=False)

    def _uses(self, name: str) -> None:
        """Where a constant that speaks to a model goes: the text around it."""
        if not re.fullmatch(r"[\w$]+", name):
            return
        for number, match in enumerate(
            re.finditer(rb"(?<![\w$.])%s(?![\w$])" % re.escape(name.encode()), self.code.data)
        ):
            if number > 20:
                break
            node = self.code.root.descendant_for_byte_range(match.start(), match.end() - 1)
            around = node.parent if node is not None and node.type == "identifier" else None
            if node is not None and around is not None and around.type in _TEXT_AROUND:
                self._climb(node)
