"""Python: what is found in programs, and where; each program in our own words."""

from __future__ import annotations

from functools import cache
from textwrap import dedent

import pytest

from promptorder.forms import python
from promptorder.lint.engine import lint
from promptorder.lint.registry import Rules
from promptorder.model.lint import Finding, Source

RULES = '''RULES = """You look after the guest book of a mountain hut with forty beds.
Answer in the language of the guest and never in more than five sentences.
Beds are given away at six in the evening if nobody has called before.
Dogs sleep in the woodshed, skis in the cellar, and boots on the rack by the stove.
Breakfast is from six to eight; packed lunches have to be ordered the evening before.
Do not promise a bed; say that the warden will confirm it in the morning."""
'''
HEAD = "import uuid, random, time, os, json, socket, platform, subprocess\nfrom datetime import date, datetime, timezone\n"


@cache
def _rules() -> Rules:
    return Rules()


def findings(program: str, *, rules: str = RULES) -> list[Finding]:
    text = HEAD + rules + dedent(program)
    source = Source("program.py", "python", text)
    return [f for f in lint(source, python.prompts(source), _rules()) if f.severity != "info"]


def found(program: str, *, rules: str = RULES) -> list[tuple[str, str]]:
    """Name of the rule and text of the line, without its indentation."""
    return [(f.name, f.line_text.strip()) for f in findings(program, rules=rules)]


BAD = {
    # --- clocks, in each way of writing text ---------------------------------------------------------------------
    "f-string": (
        """
        def system_prompt():
            return f"It is {datetime.now()}.\\n{RULES}"
        """,
        "clock-call",
        'return f"It is {datetime.now()}.\\n{RULES}"',
    ),
    "concatenation": (
        """
        def build_prompt():
            return "Now: " + datetime.utcnow().isoformat() + "\\n" + RULES
        """,
        "clock-call",
        'return "Now: " + datetime.utcnow().isoformat() + "\\n" + RULES',
    ),
    "percent": (
        """
        def instructions():
            return "Time %s\\n%s" % (time.strftime("%H:%M"), RULES)
        """,
        "clock-call",
        'return "Time %s\\n%s" % (time.strftime("%H:%M"), RULES)',
    ),
    "format": (
        """
        TEMPLATE = "Clock: {now}\\n{rules}"
        def ask(client, q):
            return client.chat(messages=[
                {"role": "system", "content": TEMPLATE.format(now=datetime.now(timezone.utc), rules=RULES)},
                {"role": "user", "content": q},
            ])
        """,
        "clock-call",
        '{"role": "system", "content": TEMPLATE.format(now=datetime.now(timezone.utc), rules=RULES)},',
    ),
    "join of a list that grows": (
        """
        def system_text():
            parts = []
            parts.append(f"Server time: {time.ctime()}")
            parts.append(RULES)
            return "\\n".join(parts)
        """,
        "clock-call",
        'parts.append(f"Server time: {time.ctime()}")',
    ),
    "replace": (
        """
        def system_prompt():
            text = "Now <<NOW>>.\\n" + RULES
            return text.replace("<<NOW>>", datetime.now().isoformat())
        """,
        "clock-call",
        'return text.replace("<<NOW>>", datetime.now().isoformat())',
    ),
    "string.Template": (
        """
        from string import Template
        T = Template("Now $now.\\n$rules")
        def ask(llm):
            return llm.invoke(T.substitute(now=datetime.now(), rules=RULES))
        """,
        "clock-call",
        "return llm.invoke(T.substitute(now=datetime.now(), rules=RULES))",
    ),
    "a helper of the same file": (
        """
        def stamp():
            return datetime.now().strftime("%H:%M:%S")
        def prompt(q):
            return f"[{stamp()}] {RULES}\\n{q}"
        """,
        "clock-call",
        'return datetime.now().strftime("%H:%M:%S")',
    ),
    "a method of the same class": (
        """
        class Bot:
            def _now(self):
                return datetime.now().isoformat()
            def system_prompt(self):
                return self._now() + "\\n" + RULES
        """,
        "clock-call",
        "return datetime.now().isoformat()",
    ),
    "a variable": (
        """
        def answer(client, q):
            now = datetime.now()
            header = f"Asked at {now:%d.%m. %H:%M}"
            system = header + "\\n" + RULES
            return client.messages.create(model="m", system=system, messages=[{"role": "user", "content": q}])
        """,
        "clock-call",
        "now = datetime.now()",
    ),
    "a buffer": (
        """
        import io
        def system_prompt():
            out = io.StringIO()
            out.write(f"Now {datetime.now()}\\n")
            out.write(RULES)
            return out.getvalue()
        """,
        "clock-call",
        'out.write(f"Now {datetime.now()}\\n")',
    ),
    "behind the rules, before the history": (
        """
        def turn(client, history, q):
            system = RULES + f"\\nIt is {datetime.now()}."
            messages = [{"role": "system", "content": system}]
            messages.extend(history)
            messages.append({"role": "user", "content": q})
            return client.chat(model="m", messages=messages)
        """,
        "clock-call",
        'system = RULES + f"\\nIt is {datetime.now()}."',
    ),
    "at import": (
        """
        SYSTEM_PROMPT = f"Today is {datetime.now():%A %H:%M}.\\n" + RULES
        """,
        "clock-call",
        'SYSTEM_PROMPT = f"Today is {datetime.now():%A %H:%M}.\\n" + RULES',
    ),
    "prepended to what another module says": (
        """
        from app.texts import BASE_RULES
        def system_prompt():
            return f"{datetime.now()}\\n{BASE_RULES}"
        """,
        "clock-call",
        'return f"{datetime.now()}\\n{BASE_RULES}"',
    ),
    "the right line of a long f-string": (
        '''
        def system_prompt(name):
            return f"""You keep the guest book.
        Clock: {datetime.now().isoformat(timespec="seconds")}
        {RULES}
        """
        ''',
        "clock-call",
        'Clock: {datetime.now().isoformat(timespec="seconds")}',
    ),
    "a JSON body": (
        """
        import requests
        def ask(q):
            body = {"model": "m", "stream": False}
            body["prompt"] = f"{time.time()} {RULES} {q}"
            return requests.post("http://localhost:11434/api/generate", json=body).json()
        """,
        "clock-call",
        'body["prompt"] = f"{time.time()} {RULES} {q}"',
    ),
    "in a branch": (
        """
        def system_prompt(clock):
            text = ""
            if clock:
                text += f"Now: {datetime.now()}\\n"
            text += RULES
            return text
        """,
        "clock-call",
        'text += f"Now: {datetime.now()}\\n"',
    ),
    "in a description of a tool": (
        """
        def ask(client, q):
            tools = [{"name": "book", "description": f"Book a bed. Now: {datetime.now()}"}]
            return client.messages.create(tools=tools, system=RULES, messages=[{"role": "user", "content": q}])
        """,
        "clock-call",
        'tools = [{"name": "book", "description": f"Book a bed. Now: {datetime.now()}"}]',
    ),
    "in a message class": (
        """
        from langchain_core.messages import HumanMessage, SystemMessage
        def ask(llm, q):
            return llm.invoke([SystemMessage(content=f"{datetime.now()} {RULES}"), HumanMessage(content=q)])
        """,
        "clock-call",
        'return llm.invoke([SystemMessage(content=f"{datetime.now()} {RULES}"), HumanMessage(content=q)])',
    ),
    "inserted at the front": (
        """
        def ask(client, messages):
            messages.insert(0, {"role": "system", "content": f"Now {datetime.now()}."})
            return client.chat(messages=messages)
        """,
        "clock-call",
        'messages.insert(0, {"role": "system", "content": f"Now {datetime.now()}."})',
    ),
    "partial variables of a template": (
        """
        from langchain_core.prompts import PromptTemplate
        def _clock():
            return datetime.now().isoformat()
        P = PromptTemplate(template="Now {now}\\n" + RULES + "{question}", input_variables=["question"],
                           partial_variables={"now": _clock})
        """,
        "clock-call",
        "return datetime.now().isoformat()",
    ),
    "dedent": (
        '''
        from textwrap import dedent
        def system_prompt():
            return dedent(f"""
                It is {datetime.now()}.
                {RULES}
            """)
        ''',
        "clock-call",
        "It is {datetime.now()}.",
    ),
    # --- dates -------------------------------------------------------------------------------------------------------
    "the day": (
        """
        def system_prompt():
            return f"Day: {date.today().isoformat()}\\n{RULES}"
        """,
        "clock-call",
        'return f"Day: {date.today().isoformat()}\\n{RULES}"',
    ),
    # --- chance ------------------------------------------------------------------------------------------------------
    "an id": (
        """
        def ask(client, q):
            rid = str(uuid.uuid4())[:8]
            return client.generate(model="m", prompt=f"[{rid}] {RULES} {q}")
        """,
        "random-call",
        "rid = str(uuid.uuid4())[:8]",
    ),
    "shuffled examples": (
        """
        SHOTS = ["red -> warm", "blue -> cold", "green -> calm"]
        def prompt(q):
            shots = list(SHOTS)
            random.shuffle(shots)
            return "\\n".join(shots) + RULES + q
        """,
        "random-call",
        "random.shuffle(shots)",
    ),
    "a greeting drawn at random": (
        """
        def system_prompt():
            return random.choice(["Hello!", "Hi!"]) + RULES
        """,
        "random-call",
        'return random.choice(["Hello!", "Hi!"]) + RULES',
    ),
    "a generator without a seed": (
        """
        rng = random.Random()
        def system_prompt(shots):
            return "\\n".join(rng.sample(shots, 3)) + RULES
        """,
        "random-call",
        'return "\\n".join(rng.sample(shots, 3)) + RULES',
    ),
    # --- order ---------------------------------------------------------------------------------------------------------
    "a set that is joined": (
        """
        def system_prompt(tags):
            return "Tags: " + ", ".join(set(tags)) + RULES
        """,
        "unordered",
        'return "Tags: " + ", ".join(set(tags)) + RULES',
    ),
    "a set that is gone through": (
        """
        TAGS = {"beds", "dogs", "skis"}
        def system_prompt():
            text = "Topics:\\n"
            for tag in TAGS:
                text += f"- {tag}\\n"
            return text + RULES
        """,
        "unordered",
        "for tag in TAGS:",
    ),
    "a folder": (
        """
        def system_prompt():
            files = os.listdir("notes")
            return "Files: " + ", ".join(files) + RULES
        """,
        "unordered",
        'files = os.listdir("notes")',
    ),
    "tools from a set": (
        """
        def ask(client, q, names):
            tools = [{"name": n} for n in set(names)]
            return client.chat(tools=tools, messages=[{"role": "system", "content": RULES}, {"role": "user", "content": q}])
        """,
        "unordered",
        'tools = [{"name": n} for n in set(names)]',
    ),
    # --- surroundings ------------------------------------------------------------------------------------------------
    "the working folder": (
        """
        def system_prompt():
            return f"Folder: {os.getcwd()}\\n{RULES}"
        """,
        "environment",
        'return f"Folder: {os.getcwd()}\\n{RULES}"',
    ),
    "git": (
        """
        def system_prompt():
            state = subprocess.run(["git", "status"], capture_output=True, text=True).stdout
            return f"State: {state}\\n{RULES}"
        """,
        "environment",
        'state = subprocess.run(["git", "status"], capture_output=True, text=True).stdout',
    ),
    # --- names -----------------------------------------------------------------------------------------------------------
    "a question first": (
        """
        def build_prompt(question):
            return f"Question: {question}\\n\\n{RULES}"
        """,
        "question-first",
        'return f"Question: {question}\\n\\n{RULES}"',
    ),
    "a question asked with input()": (
        """
        def main(llm):
            text = input("? ")
            prompt = text + "\\n" + RULES
            print(llm.invoke(prompt))
        """,
        "question-first",
        'text = input("? ")',
    ),
    "a question before rules in the user's message": (
        """
        def ask(client, ticket):
            return client.chat(messages=[
                {"role": "system", "content": "You are the warden."},
                {"role": "user", "content": f"Ticket: {ticket.text}\\n{RULES}"},
            ])
        """,
        "question-first",
        '{"role": "user", "content": f"Ticket: {ticket.text}\\n{RULES}"},',
    ),
    "what a store found": (
        """
        def ask(client, store, question):
            docs = store.similarity_search(question, k=4)
            context = "\\n\\n".join(d.page_content for d in docs)
            system = f"Notes:\\n{context}\\n\\n{RULES}"
            return client.responses.create(model="m", instructions=system, input=question)
        """,
        "retrieved-context",
        'context = "\\n\\n".join(d.page_content for d in docs)',
    ),
    "memories before the history": (
        """
        def turn(client, memory, history, q):
            found = memory.search(q)
            system = RULES + "\\nMemories:\\n" + found
            return client.chat(messages=[{"role": "system", "content": system}] + history + [{"role": "user", "content": q}])
        """,
        "retrieved-context",
        'system = RULES + "\\nMemories:\\n" + found',
    ),
    "the user": (
        """
        def system_prompt(user_name):
            return f"You talk with {user_name}.\\n{RULES}"
        """,
        "user-data",
        'return f"You talk with {user_name}.\\n{RULES}"',
    ),
    "a template that is filled in elsewhere": (
        '''
        GREETING_PROMPT = """
        Time: {current_time}
        You are the warden of a mountain hut and answer the telephone. Speak slowly and clearly, name the day of
        arrival twice, ask for the number of beds, and never promise anything that the guest book does not allow.
        """
        ''',
        "clock-variable",
        "Time: {current_time}",
    ),
    "a chat template with the history behind": (
        """
        from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
        P = ChatPromptTemplate.from_messages([
            ("system", "You keep the guest book. Today: {today}"),
            MessagesPlaceholder(variable_name="chat_history"),
            ("human", "{question}"),
        ])
        """,
        "date-variable",
        '("system", "You keep the guest book. Today: {today}"),',
    ),
    "a jinja template in a program": (
        '''
        from jinja2 import Template
        T = Template("""Now: {{ now() }}
        You are the warden of a mountain hut and answer the telephone. Speak slowly and clearly, name the day of
        arrival twice, ask for the number of beds, and never promise anything that the guest book does not allow.
        {{ question }}""")
        ''',
        "template-clock",
        'T = Template("""Now: {{ now() }}',
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_it_finds(case: str) -> None:
    program, name, line = BAD[case]
    assert found(program) == [(name, line)]


FINE = {
    "the clock last": """
        def system_prompt():
            return f"{RULES}\\nIt is {datetime.now()}."
        """,
    "the clock in the user's turn": """
        def ask(client, q):
            return client.chat(messages=[
                {"role": "system", "content": RULES},
                {"role": "user", "content": f"Now {datetime.now()}. {q}"},
            ])
        """,
    "a constant date": """
        SYSTEM_PROMPT = "Current time: 2026-03-14T09:26:53Z\\n" + RULES
        """,
    "a constant id": """
        SYSTEM = "[request 5f0c2a9e-71b4-4c1e-9d55-0b8a3f6d2e10]\\n" + RULES
        MESSAGES = [{"role": "system", "content": SYSTEM}]
        """,
    "braces in a plain string": """
        SYSTEM = "It is {datetime.now()}.\\n" + RULES
        MESSAGES = [{"role": "system", "content": SYSTEM}]
        """,
    "a name in braces that is sent as it stands": """
        HEADER_PROMPT = "It is {now}. " + RULES
        def ask(client):
            return client.chat(messages=[{"role": "system", "content": HEADER_PROMPT}])
        """,
    "a function that is not called": """
        def now():
            return datetime.now()
        SYSTEM_PROMPT = f"It is {now}. {RULES}"
        """,
    "a seed": """
        rng = random.Random(7)
        SHOTS = ["a -> b", "c -> d"]
        def system_prompt():
            return "\\n".join(rng.sample(SHOTS, 2)) + RULES
        """,
    "a seed for all": """
        random.seed(13)
        SHOTS = ["a -> b", "c -> d"]
        random.shuffle(SHOTS)
        SYSTEM_PROMPT = "\\n".join(SHOTS) + RULES
        """,
    "sorted": """
        def system_prompt(tags):
            return ", ".join(sorted(set(tags))) + "".join(sorted(os.listdir("notes"))) + RULES
        """,
    "sorted keys": """
        def system_prompt(names):
            return json.dumps({n: 1 for n in set(names)}, sort_keys=True) + RULES
        """,
    "how many there are": """
        def system_prompt(names):
            return f"There are {len(set(names))} huts." + RULES
        """,
    "ids outside the prompt": """
        def ask(client, q, user):
            return client.chat(
                model="m", user=user, seed=int(time.time()), metadata={"run": str(uuid.uuid4())},
                extra_headers={"X-Request-Id": str(uuid.uuid4())},
                messages=[{"role": "system", "content": RULES}, {"role": "user", "content": q}],
            )
        """,
    "log lines and errors": """
        def system_prompt(logger):
            logger.info(f"{datetime.now()} building the prompt: {RULES}")
            print(f"{datetime.now()} {RULES}")
            if not RULES:
                raise ValueError(f"{datetime.now()}: You are a program without rules. {RULES}")
            return RULES
        """,
    "a docstring": '''
        def system_prompt():
            """You are told: {now}. Returns f"{datetime.now()} {RULES}"."""
            return RULES
        ''',
    "a report": """
        def readme(version):
            lines = [f"# Report of {datetime.now()}", "You can read this file with any program.", RULES]
            open("README.md", "w").write("\\n".join(lines))
        """,
    "a page": """
        def page_prompt():
            return f"<html><body>{datetime.now()}<p>{RULES}</p></body></html>"
        """,
    "a default that is constant": """
        def system_prompt(today="1 May"):
            return f"Day: {today}\\n{RULES}"
        """,
    "the year": """
        def system_prompt():
            return f"(c) {datetime.now().year} {datetime.now().strftime('%B %Y')}\\n{RULES}"
        """,
    "a setting": """
        def system_prompt():
            return f"You work for {os.environ['COMPANY']} in {os.getenv('TONE', 'plain')} words.\\n{RULES}"
        """,
    "few-shot turns that are constant": """
        def ask(client, q):
            return client.chat(messages=[
                {"role": "system", "content": RULES},
                {"role": "user", "content": "Is there a bed?"}, {"role": "assistant", "content": "Ask the warden."},
                {"role": "user", "content": q},
            ])
        """,
    "a question that was answered": """
        def refine(client, question, draft):
            return client.chat(messages=[
                {"role": "user", "content": question}, {"role": "assistant", "content": draft},
                {"role": "user", "content": RULES},
            ])
        """,
    "a loop of turns": """
        def main(client):
            messages = [{"role": "system", "content": RULES}]
            while True:
                messages.append({"role": "user", "content": input("> ")})
                reply = client.chat(model="m", messages=messages)
                messages.append({"role": "assistant", "content": reply.text})
        """,
    "steps behind the question": """
        from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
        P = ChatPromptTemplate.from_messages([
            ("system", RULES), ("human", "{question}"), MessagesPlaceholder("agent_scratchpad"),
        ])
        """,
    "a wrapper that passes on what it is given": """
        def send(self, prompt, messages, system_prompt=None):
            return self.backend.complete(prompt=prompt, messages=messages, system=system_prompt)
        """,
    "messages that are joined": """
        async def turn(client, system_messages, all_messages):
            return await client.create(messages=system_messages + all_messages)
        """,
    "a number of facts": """
        def system_prompt(max_facts, memory_dir):
            return f"Keep at most {max_facts} facts in {memory_dir}.\\n{RULES}"
        """,
    "a regular expression": """
        import re
        TAG_RE = re.compile("x")
        def system_prompt(text):
            tag = TAG_RE.search(text).group()
            return f"Tag: {tag}\\n{RULES}"
        """,
    "a shell's prompt": """
        def prompt(self):
            return f"{os.getcwd()} {datetime.now():%H:%M} > "
        """,
    "a nonce on purpose": """
        def cold_prompt(words):
            return f"{uuid.uuid4()} Tell a tale of these words: {' '.join(words)}"
        """,
    "a text that is signed": """
        def publish(message, message_id):
            timestamp = datetime.utcnow().isoformat()
            text = f"Message\\n{message}\\nId\\n{message_id}\\nTimestamp\\n{timestamp}\\n" + "Type: notification. " * 20
            return {"role": "publisher", "text": sign(text)}
        """,
    "how alike two sets are": """
        def judge_prompt(a, b):
            alike = len(set(a) & set(b)) / max(1, len(set(a) | set(b)))
            return f"Overlap {alike:.2f}.\\n{RULES}"
        """,
    "examples in a loop": """
        def ask(client, example_messages, q):
            messages = []
            for one in example_messages:
                messages.append({"role": one["role"], "content": one["content"]})
            messages.append({"role": "user", "content": q})
            return client.chat(messages=[{"role": "system", "content": "Be brief."}, *messages])
        """,
    "the prompt of a configuration": """
        def build_prompt(config):
            return f"{config.prompt}\\n{config.system_prompt}\\n{RULES}"
        """,
    "messages that are sorted by role": """
        def split(messages):
            system_message = ""
            for message in messages:
                if message["role"] == "system":
                    system_message += message["content"]
            return {"system": system_message, "messages": messages, "model": "m"}
        """,
    "pictures beside the text": """
        def turn(observations, images):
            return [{"role": "user", "content": [{"type": "image", "image": i} for i in images]},
                    {"role": "user", "content": [{"type": "text", "text": f"Observed: {RULES}"}]}]
        """,
    "a chat format that a server fills in": '''
        QWEN_TEMPLATE = """{% for message in messages %}<|im_start|>{{ message.role }}
        {{ message.content }}<|im_end|>{% endfor %}You are a helpful assistant, and all of this is a long enough text to be
        worth a word if it were a prompt, which it is not: it is the template of a format. {{ now }} and so on, and so on."""
        ''',
}


@pytest.mark.parametrize("case", FINE)
def test_it_leaves_alone(case: str) -> None:
    assert found(FINE[case]) == []


def test_made_at_import_changes_with_the_process_and_in_init_with_the_session() -> None:
    program = """
    def system_prompt(at=datetime.now()):
        return f"{at} {RULES}"
    class Bot:
        def __init__(self):
            self.id = uuid.uuid4()
        def prompt(self):
            return f"{self.id} {RULES}"
    SYSTEM = f"{uuid.uuid4()} {RULES}"
    """
    assert {f.changes for f in findings(program)} == {"process", "session"}
    assert len(findings(program)) == 3


@pytest.mark.parametrize(
    ("expression", "changes"),
    [
        ("datetime.now().date()", "day"),
        ("datetime.now().strftime('%Y-%m-%d')", "day"),
        ("datetime.now():%d %B", "day"),
        ("datetime.now().isoformat()[:10]", "day"),
        ("date.today()", "day"),
        ("int(time.time() // 86400)", "day"),
        ("datetime.now().strftime('%d %H:%M')", "request"),
        ("datetime.now().isoformat()", "request"),
        ("time.time_ns()", "request"),
    ],
)
def test_the_format_tells_how_often_a_time_changes(expression: str, changes: str) -> None:
    (finding,) = findings(f'def system_prompt():\n    return f"{{{expression}}} {{RULES}}"\n')
    assert finding.changes == changes


def test_a_place_is_told_once_where_most_is_lost() -> None:
    program = """
    def stamp():
        return f"[{datetime.now()}]"
    def short_prompt():
        return stamp() + RULES[:10]
    def long_prompt():
        return stamp() + RULES + RULES
    """
    (finding,) = findings(program)
    assert finding.stranded_tokens is not None
    assert finding.stranded_tokens > 150


def test_both_places_are_named() -> None:
    (finding,) = findings('def system_prompt():\n    return f"{datetime.now()} {RULES}"\n')
    assert (finding.line, finding.column, finding.end_column) == (10, 15, 29)
    assert (finding.related[0].line, finding.related[0].end_line) == (3, 8)
