"""Calls that make a message or a template, and calls that send a prompt."""

from __future__ import annotations

import ast
from typing import NamedTuple

from promptorder.forms import _python_methods as methods
from promptorder.forms._python_eval import Compound
from promptorder.forms._python_sinks import (
    CACHE_KEYWORDS,
    PROMPT_KEYWORDS,
    SYSTEM_KEYWORDS,
    is_chat,
    is_request,
    is_scratchpad,
    looks_like_prompt,
    message_class,
    messages,
    names_a_prompt,
    request,
    settled,
)
from promptorder.forms._python_templates import has_placeholders
from promptorder.forms._python_values import (
    Items,
    Scope,
    Star,
    Table,
    Template,
    Text,
    Value,
    fixed,
)
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import STATIC, Segment

_ASKS_A_PERSON = frozenset(
    "input getpass prompt confirm ask Prompt select text password Confirm secho echo".split()
)

_ALONE = frozenset(
    (
        "backstory",
        "prompt",
        "messages",
        "system",
        "system_prompt",
        "system_message",
        "system_instruction",
        "instructions",
    )
)
"""Keywords that say by themselves that a call takes a prompt; ``input=`` and its like do so beside these or ``model=``."""

_SENDS = frozenset(
    "invoke ainvoke predict apredict generate_content generate_content_async complete acomplete completion acompletion "
    "send_message generate agenerate run_sync stream astream".split()
)

_MAY_SEND = frozenset(
    "run arun chat achat ask llm model client call query_llm call_llm ask_llm kickoff prompt".split()
)

_NOTES = frozenset(
    "print len append extend insert debug info warning error exception log dumps dump pprint deepcopy copy isinstance "
    "list tuple count_tokens num_tokens_from_messages token_counter format format_messages extend_messages write".split()
)

_TEMPLATES = frozenset(
    "PromptTemplate ChatPromptTemplate RichPromptTemplate SystemMessagePromptTemplate HumanMessagePromptTemplate "
    "AIMessagePromptTemplate Prompt BasicPromptTemplate".split()
)

_TEXT_CLASSES = frozenset("Part TextPart TextContent TextBlock from_text TextBlockParam InputText".split())

_FROM_ROLE = {"from_system": "system", "from_user": "user", "from_assistant": "assistant"}

_TAKEN = frozenset((*SYSTEM_KEYWORDS, *PROMPT_KEYWORDS, *CACHE_KEYWORDS, "tools", "functions"))


class Called(NamedTuple):
    """A call: its full name (imports resolved; ``""`` of a value of the file), its last part, and what it is given."""

    node: ast.Call
    name: str
    last: str
    arguments: list[Value]
    keywords: dict[str, Value]
    scope: Scope


class Makers(Compound):
    """Evaluates calls that make messages and templates, and collects what is sent."""

    def send(self, name: str, segments: tuple[Segment, ...]) -> None:
        """A prompt that is sent as it stands."""
        raise NotImplementedError

    def sent_variable(self, node: ast.expr) -> None:
        """A variable whose value was sent."""
        raise NotImplementedError

    def made_by(self, call: Called) -> Value:
        """A message, a template or a dict that a call makes; None where it makes none."""
        node, name, last, arguments, keywords, _ = call
        if last == "dict" and keywords and not arguments:
            return Table(tuple(keywords.items()))
        if last == "MessagesPlaceholder":
            return Star(self._placeholder(node, arguments, keywords))
        owner = name.rpartition(".")[0].rpartition(".")[2] if "." in name else ""
        if last in _TEMPLATES or owner in _TEMPLATES or last in ("Template", "from_string"):
            return self._template(call, owner)
        first = arguments[0] if arguments else None
        if last in _FROM_ROLE and first is not None:
            return Table((("role", _role(_FROM_ROLE[last])), ("content", first)))
        role = message_class(last)
        content = keywords.get("content") or first
        if role and content is not None:
            return Table((("role", _role(role)), ("content", content)))
        if "role" in keywords and keywords.keys() & {"content", "parts"}:
            return Table(tuple(keywords.items()))
        if last in _TEXT_CLASSES:
            return keywords.get("text") or first
        return None

    def _placeholder(self, node: ast.Call, arguments: list[Value], keywords: dict[str, Value]) -> Segment:
        """``MessagesPlaceholder("history")``; what stands in for the steps of this turn is no history."""
        name = keywords.get("variable_name") or (arguments[0] if arguments else None)
        text = name.pieces[0].text if isinstance(name, Text) and name.pieces else "history"
        role = "user" if is_scratchpad(text) or kind_of_name(text) != "history" else "history"
        return fixed(self.unknown(node, text if role == "history" else ""))._replace(role=role)

    def _template(self, call: Called, owner: str) -> Value:
        """``ChatPromptTemplate.from_messages([...])``, ``PromptTemplate(template=...)``, ``Template(...)``."""
        node, name, last, arguments, keywords, _ = call
        value = keywords.get("template") or keywords.get("messages") or (arguments[0] if arguments else None)
        if not isinstance(value, Text | Items | Template | Table):
            return None
        syntax = _syntax(name, last, value, keywords.get("template_format"))
        partial = keywords.get("partial_variables")
        if isinstance(partial, Table):
            value = methods.partly(self, value, syntax, dict(partial.pairs), node)
        template = Template(value, syntax)
        role = message_class(owner) or message_class(last)
        if role:
            return Table((("role", _role(role)), ("content", template)))
        if last != "Template" or syntax != "dollar":
            open_ = methods.placeholders(self, value, syntax)
            place = self.place(node)
            self.send(last if last in _TEMPLATES else owner, settled(list(messages(open_, place))))
        return template

    def sends(self, call: Called) -> bool:
        """Whether a call takes a prompt, which is collected."""
        node, _, last, arguments, keywords, _ = call
        if last in _NOTES or last in _ASKS_A_PERSON:
            return False
        for value in (*arguments, *keywords.values()):
            if isinstance(value, Table) and is_request(value):
                self.send(last, request(dict(value.pairs), self.place(node)))
                return True
        body: dict[str, Value] = {
            key: value for key, value in keywords.items() if key in _TAKEN and value is not None
        }
        chats = [value for value in arguments if is_chat(value)]
        if chats and "messages" not in body:
            body["messages"] = chats[0]
        elif not body.keys() & {"prompt", "messages", "input", "contents"}:
            text = self._text_sent(node, last, arguments)
            if text is not None:
                body["prompt"] = text
        if not body.keys() & _ALONE and not ("model" in keywords and body):
            return False
        self.send(last, request(body, self.place(node)))
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.sent_variable(argument)
        return True

    def _text_sent(self, node: ast.Call, last: str, arguments: list[Value]) -> Value:
        """The positional argument of ``llm.invoke(text)`` and its like."""
        for argument, value in zip(node.args, arguments, strict=True):
            if not isinstance(value, Text) or not value.pieces:
                continue
            if last in _SENDS and len(value.pieces) > 1:
                return value
            named = isinstance(argument, ast.Name) and names_a_prompt(argument.id)
            if last in (_MAY_SEND | _SENDS) and (named or looks_like_prompt(value.pieces)):
                return value
        return None


def _role(role: str) -> Text:
    return Text((Segment(role, 0, 0, "prompt", STATIC),))


def _syntax(name: str, last: str, value: Value, chosen: Value) -> str:
    """The syntax of a template's placeholders."""
    given = "".join(piece.text for piece in chosen.pieces) if isinstance(chosen, Text) else ""
    if (
        given in ("jinja2", "mustache")
        or name.startswith("jinja2")
        or last in ("from_string", "RichPromptTemplate")
    ):
        return "double"
    if last == "Template":
        doubled = isinstance(value, Text) and has_placeholders(value.pieces, "double")
        return "double" if doubled and not name.startswith("string") else "dollar"
    return "format"
