"""Calls of a program: those that send a prompt, that make a template or a message, that read a clock, and helpers."""

from __future__ import annotations

import ast

from promptorder.forms import _python_calls as calls
from promptorder.forms import _python_methods as methods
from promptorder.forms._python_builtins import BUILTINS
from promptorder.forms._python_eval import Expressions
from promptorder.forms._python_sinks import (
    PROMPT_KEYWORDS,
    SYSTEM_KEYWORDS,
    is_chat,
    is_message,
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
    Bag,
    Function,
    Instance,
    Items,
    Scope,
    Star,
    Table,
    Template,
    Text,
    Value,
    choose,
    fixed,
    pieces_of,
    volatile_in,
)
from promptorder.lint._names import kind_of_name
from promptorder.model.lint import STATIC, Segment

_ASKS_A_PERSON = frozenset(
    "input getpass prompt confirm ask Prompt select text password Confirm secho echo".split()
)
_ALONE = frozenset(
    ("prompt", "messages", "system", "system_prompt", "system_message", "system_instruction", "instructions")
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
_TRANSFORMS = (
    "format",
    "render",
    "to_",
    "truncate",
    "escape",
    "quote",
    "dumps",
    "clean",
    "strip",
    "summar",
    "humanize",
)
_FRAMES = ("df", "data", "frame", "examples", "train", "pool", "shots", "pairs", "samples")


class Known(Expressions):
    """Evaluates calls."""

    seeded = False

    def send(self, name: str, segments: tuple[Segment, ...]) -> None:
        """A prompt that is sent as it stands."""
        raise NotImplementedError

    def sent_variable(self, node: ast.expr) -> None:
        """A variable whose value was sent."""
        raise NotImplementedError

    def call(self, node: ast.Call, scope: Scope) -> Value:
        """A call: its arguments are evaluated once, whoever asks for them."""
        arguments = [self.value(argument, scope) for argument in node.args]
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Table):
                keywords.update(value.pairs)
        nodes = [*node.args, *(keyword.value for keyword in node.keywords)]
        values = [
            *arguments,
            *(self.value(k.value, scope) if k.arg is None else keywords[k.arg] for k in node.keywords),
        ]
        self.ready.update(zip(map(id, nodes), values, strict=True))
        try:
            return self._called(node, arguments, keywords, scope)
        finally:
            for each in nodes:
                self.ready.pop(id(each), None)

    def _called(
        self, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
    ) -> Value:
        function = node.func
        last = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        name = self.dotted(function, scope)
        made = self._made(node, name, last, arguments, keywords, scope)
        if made is not None:
            return made
        sent = self._sends(node, last, arguments, keywords)
        if isinstance(function, ast.Name) and function.id in scope:
            return self._own(scope.get(function.id), node, arguments, keywords, scope)
        if name:
            value = self._by_name(node, name, last, arguments, keywords, scope)
            if value is not None:
                return value
        if isinstance(function, ast.Attribute):
            return self._method(node, function, arguments, keywords, scope, sent=sent)
        if isinstance(function, ast.Lambda | ast.Call | ast.Subscript):
            value = self.value(function, scope)
            if isinstance(value, Function):
                return self.inline(value, arguments, keywords, node, None)
        return self.unknown(node, last) if sent else self._passed_through(node, last, arguments)

    # --- functions of the file, and methods ----------------------------------------------------------------------

    def _own(
        self, value: Value, node: ast.Call, arguments: list[Value], keywords: dict[str, Value], scope: Scope
    ) -> Value:
        if isinstance(value, Function):
            result = self.inline(value, arguments, keywords, node, None)
            self._write_back(value, node, arguments, scope)
            return result
        if isinstance(value, Instance):
            attributes = Scope(value.attributes)
            attributes.names.update(keywords)
            return Instance(attributes)
        last = getattr(node.func, "id", "")
        return self._passed_through(node, last, arguments)

    def _write_back(self, function: Function, node: ast.Call, arguments: list[Value], scope: Scope) -> None:
        """A list that the helper has appended to."""
        for parameter, argument, before in zip(function.node.args.args, node.args, arguments, strict=False):
            after = self.left.names.get(parameter.arg)
            if not isinstance(argument, ast.Name) or not isinstance(after, Items) or not is_chat(after):
                continue
            if isinstance(before, Items) and len(after.items) > len(before.items):
                scope.names[argument.id] = after

    def _method(
        self,
        node: ast.Call,
        function: ast.Attribute,
        arguments: list[Value],
        keywords: dict[str, Value],
        scope: Scope,
        *,
        sent: bool,
    ) -> Value:
        method = function.attr
        receiver = self.value(function.value, scope)
        if isinstance(receiver, Instance):
            own = receiver.attributes.get(method)
            if isinstance(own, Function):
                return self.inline(own, arguments, keywords, node, receiver)
            return self._passed_through(node, method, arguments)
        if isinstance(receiver, Template):
            return methods.of_template(self, receiver, method, node, scope)
        if method in methods.CHANGES_LIST:
            changed = self._changed(receiver, method, node, keywords, scope)
            if changed is not None:
                self.bind(function.value, changed, node, scope)
                return None
        if isinstance(receiver, Text):
            return methods.of_text(self, receiver, method, node, scope)
        if isinstance(receiver, Items):
            if method == "getvalue":
                return Text(pieces_of(receiver, self.place(node)))
            if method == "copy":
                return receiver
            return volatile_in(receiver) or self.unknown(node, method)
        if isinstance(receiver, Table):
            return self._of_table(receiver, method, node, arguments)
        if isinstance(receiver, Bag):
            return receiver
        if isinstance(receiver, Segment):
            return self._of_segment(receiver, method, node, function, arguments, keywords, scope, sent=sent)
        return self._passed_through(node, method, arguments)

    def _changed(
        self, receiver: Value, method: str, node: ast.Call, keywords: dict[str, Value], scope: Scope
    ) -> Value:
        """A list, a buffer or a dict behind a method that changes it; None where it is none of them."""
        if isinstance(receiver, Items):
            return methods.of_list(self, receiver, method, node, scope)
        if isinstance(receiver, Table) and method == "update":
            given = self.value(node.args[0], scope) if node.args else None
            for key, value in (*(given.pairs if isinstance(given, Table) else ()), *keywords.items()):
                receiver = receiver.put(key, value)
            return receiver
        if isinstance(receiver, Segment) and node.args and not receiver.kind:
            value = self.value(node.args[-1], scope)
            if is_message(value) or is_chat(value):
                return methods.of_list(self, Items((Star(receiver),)), method, node, scope)
        return None

    def _of_table(self, table: Table, method: str, node: ast.Call, arguments: list[Value]) -> Value:
        if method in ("get", "pop") and node.args and isinstance(node.args[0], ast.Constant):
            key = str(node.args[0].value)
            return choose(table.get(key), arguments[1] if len(arguments) > 1 else None) or self.unknown(
                node, key
            )
        if method in ("values", "items", "keys", "copy"):
            return Items(tuple(value for _, value in table.pairs)) if method == "values" else table
        return volatile_in(table) or self.unknown(node, method)

    def _of_segment(
        self,
        receiver: Segment,
        method: str,
        node: ast.Call,
        function: ast.Attribute,
        arguments: list[Value],
        keywords: dict[str, Value],
        scope: Scope,
        *,
        sent: bool,
    ) -> Value:
        if receiver.name == "@generator":
            if receiver.kind == "fixed" or not calls.is_draw(method):
                return self._drawn(fixed(self.unknown(node, "")), method, node, scope)
            return self._drawn(self.made(node, calls.RANDOM, "request"), method, node, scope)
        if calls.is_search(_last(function.value) or receiver.name, method):
            return self.made(node, calls.RETRIEVED, "request", method)
        if method == "sample" and any(word in receiver.name.lower() for word in _FRAMES):
            return self.made(
                node, "fixed" if keywords.keys() & {"random_state", "seed"} else calls.RANDOM, "request"
            )
        if sent:
            return self.unknown(node, method)
        if receiver.kind == "" and isinstance(function.value, ast.Name) and function.value.id in self.imports:
            return self._passed_through(node, method, arguments)
        return methods.of_segment(self, receiver, method, node, scope)

    def _drawn(self, result: Segment, method: str, node: ast.Call, scope: Scope) -> Value:
        """What was drawn; ``shuffle`` changes its argument."""
        if method != "shuffle" or not node.args:
            return result
        if result.kind == calls.RANDOM:
            self.bind(node.args[0], result, node, scope)
        return None

    # --- calls by their names ----------------------------------------------------------------------------------

    def _by_name(
        self,
        node: ast.Call,
        name: str,
        last: str,
        arguments: list[Value],
        keywords: dict[str, Value],
        scope: Scope,
    ) -> Value:
        if name in BUILTINS:
            return BUILTINS[name](self, node, arguments, keywords, scope)
        if name in ("os.getenv", "os.environ.get"):
            return self.environment_variable(node, node.args[0] if node.args else None)
        if name in calls.SEEDS:
            self.seeded = self.seeded or (bool(arguments) and all(volatile_in(a) is None for a in arguments))
            return None
        if calls.is_generator(name):
            given = [*arguments, *keywords.values()]
            seeded = bool(node.args or node.keywords) and all(volatile_in(a) is None for a in given)
            segment = self.made(node, calls.RANDOM, "request", "@generator")
            return fixed(segment) if seeded else segment
        if calls.is_subprocess(name):
            return self.made(node, calls.ENVIRONMENT, "checkout", last)
        known = calls.of_call(name)
        if known is None or not known[0]:
            return None
        made = self.made(node, *known, last)
        if known[0] == calls.UNORDERED:
            return Bag(self.place(node), self.place(node) if known[1] != "process" else None, known[1])
        if known[0] == calls.RANDOM and self.seeded and not name.startswith(("uuid", "secrets", "os.")):
            made = fixed(made)
        if known[0] == calls.CLOCK and last == "strftime" and arguments:
            pattern = node.args[0].value if isinstance(node.args[0], ast.Constant) else ""
            return methods.by_pattern(made, pattern if isinstance(pattern, str) else "")
        if last == "strftime" or (
            known[0] == calls.CLOCK and last in ("localtime", "gmtime", "ctime") and arguments
        ):
            return volatile_in(arguments[0]) or (made if last == "strftime" else self.unknown(node, ""))
        return self._drawn(made, last, node, scope)

    def _passed_through(self, node: ast.Call, last: str, arguments: list[Value]) -> Value:
        """What a function that nobody knows makes of its arguments."""
        transforms = last.startswith(_TRANSFORMS)
        for argument in arguments:
            if isinstance(argument, Segment | Bag | Text) and not kind_of_name(last):
                found = volatile_in(argument)
                if found is not None and (transforms or (found is argument and found.kind == calls.CLOCK)):
                    return found
                if transforms and isinstance(argument, Segment) and not argument.kind:
                    return argument
        return self.unknown(node, last)

    # --- messages and templates -----------------------------------------------------------------------------------

    def _made(
        self,
        node: ast.Call,
        name: str,
        last: str,
        arguments: list[Value],
        keywords: dict[str, Value],
        scope: Scope,
    ) -> Value:
        """A message, a template or a dict that a call makes; None where it makes none."""
        if last == "dict" and keywords and not arguments:
            return Table(tuple(keywords.items()))
        if last == "MessagesPlaceholder":
            return Star(self._placeholder(node, arguments, keywords))
        owner = name.rpartition(".")[0].rpartition(".")[2] if "." in name else ""
        if last in _TEMPLATES or owner in _TEMPLATES or last in ("Template", "from_string"):
            return self._template(node, name, last, owner, arguments, keywords)
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

    def _template(
        self,
        node: ast.Call,
        name: str,
        last: str,
        owner: str,
        arguments: list[Value],
        keywords: dict[str, Value],
    ) -> Value:
        """``ChatPromptTemplate.from_messages([...])``, ``PromptTemplate(template=...)``, ``Template(...)``."""
        value = keywords.get("template") or keywords.get("messages") or (arguments[0] if arguments else None)
        if not isinstance(value, Text | Items | Template | Table):
            return None
        syntax = _syntax(name, last, value, keywords.get("template_format"))
        partial = keywords.get("partial_variables")
        if isinstance(partial, Table):
            value = self.partly(value, syntax, partial, node)
        template = Template(value, syntax)
        role = message_class(owner) or message_class(last)
        if role:
            return Table((("role", _role(role)), ("content", template)))
        if last != "Template" or syntax != "dollar":
            open_ = methods.placeholders(self, value, syntax)
            place = self.place(node)
            self.send(last if last in _TEMPLATES else owner, settled(list(messages(open_, place))))
        return template

    def partly(self, value: Value, syntax: str, partial: Table, node: ast.expr) -> Value:
        """A template some of whose variables are filled in; a function among them is called each time."""

        def fill(name: str, place: tuple[int, int]) -> tuple[Segment, ...] | None:
            given = partial.get(name)
            if isinstance(given, Function):
                moment, self.moment = self.moment, ""
                given = self.inline(given, [], {}, node, None)
                self.moment = moment
            return None if given is None else self.fill_in(given, place)

        from promptorder.forms._python_templates import fill as fill_pieces

        return methods.each_text(value, lambda pieces: fill_pieces(pieces, syntax, fill))

    # --- calls that take a prompt -------------------------------------------------------------------------------

    def _sends(self, node: ast.Call, last: str, arguments: list[Value], keywords: dict[str, Value]) -> bool:
        """Whether a call takes a prompt, which is collected."""
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


_TAKEN = frozenset((*SYSTEM_KEYWORDS, *PROMPT_KEYWORDS, "tools", "functions"))


def _role(role: str) -> Text:
    return Text((Segment(role, 0, 0, "prompt", STATIC),))


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


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
