"""Python: the ways of well-known client libraries, and further ways of making text; each program in our own words."""

from __future__ import annotations

import pytest
from test_python import found

WAYS: dict[str, tuple[str, list[str]]] = {
    "blocks of a system text": (
        """
        def ask(client, messages):
            return client.messages.create(model="m", messages=messages, system=[
                {"type": "text", "text": f"Now {datetime.now()}"},
                {"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}}])
        """,
        ["clock-call"],
    ),
    "an agent's instructions": (
        """
        from agents import Agent
        agent = Agent(name="Desk", instructions=f"Time {datetime.now()}. {RULES}", model="m")
        """,
        ["clock-call"],
    ),
    "an agent's instructions, made by a function": (
        """
        from agents import Agent
        def dynamic_instructions(ctx, agent):
            return f"User {ctx.context.user_name}. {RULES}"
        agent = Agent(name="Desk", instructions=dynamic_instructions)
        """,
        ["user-data"],
    ),
    "an agent's story": (
        """
        from crewai import Agent
        a = Agent(role="warden", goal="beds", backstory=f"It is {datetime.now()}. {RULES}")
        """,
        ["clock-call"],
    ),
    "a system instruction in a configuration": (
        """
        from google.genai import types
        def ask(client, q):
            config = types.GenerateContentConfig(system_instruction=f"{datetime.now()} {RULES}")
            return client.models.generate_content(model="g", contents=q, config=config)
        """,
        ["clock-call"],
    ),
    "messages by position": (
        """
        import ollama
        def ask(q):
            return ollama.chat("m", [{"role": "system", "content": f"Host {socket.gethostname()}. {RULES}"}])
        """,
        ["environment"],
    ),
    "dict() and +=": (
        """
        from litellm import acompletion
        async def ask(q):
            msgs = [dict(role="system", content=f"Now {datetime.now()}. {RULES}")]
            msgs += [{"role": "user", "content": q}]
            return await acompletion(model="m", messages=msgs)
        """,
        ["clock-call"],
    ),
    "roles of an enumeration": (
        """
        from llama_index.core.llms import ChatMessage, MessageRole
        def ask(llm, q):
            return llm.chat([ChatMessage(role=MessageRole.SYSTEM, content=f"{datetime.now()} {RULES}"),
                             ChatMessage(role="user", content=q)])
        """,
        ["clock-call"],
    ),
    "an object that keeps its messages, made once": (
        """
        class Chat:
            def __init__(self, client):
                self.client = client
                self.messages = [{"role": "system", "content": RULES + f" Started {datetime.now()}"}]
            def turn(self, q):
                self.messages.append({"role": "user", "content": q})
                reply = self.client.chat(model="m", messages=self.messages)
                self.messages.append({"role": "assistant", "content": reply})
                return reply
        """,
        [],
    ),
    "an object that makes them anew in each turn": (
        """
        class Chat:
            def turn(self, q):
                msgs = [{"role": "system", "content": RULES + f" Now {datetime.now()}"}, *self.history]
                return self.client.chat(model="m", messages=[*msgs, {"role": "user", "content": q}])
        """,
        ["clock-call"],
    ),
    "turns in a loop": (
        """
        def turn(client, history, q):
            messages = [{"role": "system", "content": f"{RULES} {datetime.now()}"}]
            for user, bot in history:
                messages.append({"role": "user", "content": user})
                messages.append({"role": "assistant", "content": bot})
            return client.chat(messages=messages)
        """,
        ["clock-call"],
    ),
    "turns in a comprehension": (
        """
        def turn(client, history, q):
            messages = [{"role": "system", "content": f"{RULES} {datetime.now()}"}]
            messages += [{"role": m.role, "content": m.text} for m in history]
            return client.chat(messages=messages)
        """,
        ["clock-call"],
    ),
    "a helper that appends": (
        """
        def add_system(messages):
            messages.append({"role": "system", "content": f"{datetime.now()} {RULES}"})
        def ask(client, q):
            messages = []
            add_system(messages)
            messages.append({"role": "user", "content": q})
            return client.chat(messages=messages)
        """,
        ["clock-call"],
    ),
    "a lambda": (
        """
        make_prompt = lambda q: f"{uuid.uuid4()} {RULES} {q}"
        def ask(llm, q):
            return llm.invoke(make_prompt(q))
        """,
        ["random-call"],
    ),
    "a generator": (
        """
        def parts():
            yield f"Now {datetime.now()}"
            yield RULES
        def system_prompt():
            return " ".join(parts())
        """,
        ["clock-call"],
    ),
    "match": (
        """
        def system_prompt(mode):
            match mode:
                case "clock":
                    head = f"{datetime.now()}"
                case _:
                    head = ""
            return head + RULES
        """,
        ["clock-call"],
    ),
    "a constant of a class": (
        """
        class Prompts:
            SYSTEM = f"Today is {date.today()}. {RULES}"
        """,
        ["clock-call"],
    ),
    "a renamed module": (
        """
        import datetime as clock_module
        def system_prompt():
            return f"Local time: {clock_module.datetime.now(clock_module.timezone.utc)} {RULES}"
        """,
        ["clock-call"],
    ),
    "a chat format written by hand": (
        """
        def build(datetime_str, q):
            return f"<|start_header_id|>system<|end_header_id|> Now: {datetime_str} {RULES}<|eot_id|>{q}"
        """,
        ["clock-variable"],
    ),
    "a folder for scratch files": (
        """
        import tempfile
        def system_prompt():
            return f"Scratch: {tempfile.mkdtemp()} {RULES}"
        """,
        ["random-call"],
    ),
    "tools in the order in which servers answer": (
        """
        import asyncio
        async def ask(client, servers, q):
            tools = []
            for reply in asyncio.as_completed([s.list_tools() for s in servers]):
                tools.extend(await reply)
            return client.chat(tools=tools, messages=[{"role": "system", "content": RULES}])
        """,
        ["unordered"],
    ),
    "the number of turns": (
        """
        def turn(client, history):
            return client.chat(messages=[{"role": "system", "content": f"{RULES} Turn {len(history)}"}, *history])
        """,
        ["counter"],
    ),
    "a retriever": (
        """
        def ask(llm, retriever, question):
            text = " ".join(d.page_content for d in retriever.invoke(question))
            return llm.invoke(f"Use this: {text} {RULES} Question: {question}")
        """,
        ["retrieved-context"],
    ),
    "a retriever, rules first": (
        """
        def ask(llm, retriever, question):
            text = " ".join(d.page_content for d in retriever.invoke(question))
            return llm.invoke(f"{RULES} Use this: {text} Question: {question}")
        """,
        [],
    ),
    "rows of a table": (
        """
        def prompt(df):
            return df.sample(3).to_string() + RULES
        """,
        ["random-call"],
    ),
    "rows of a table, seeded": (
        """
        def prompt(df):
            return df.sample(3, random_state=1).to_string() + RULES
        """,
        [],
    ),
    "numpy, seeded": (
        """
        import numpy as np
        rng = np.random.default_rng(0)
        def prompt(shots):
            return " ".join(rng.choice(shots, 3)) + RULES
        """,
        [],
    ),
    "a hash of what is fixed": (
        """
        import hashlib
        def system_prompt():
            return f"[{hashlib.sha256(RULES.encode()).hexdigest()}] {RULES}"
        """,
        [],
    ),
    "without doubles, in order": (
        """
        def prompt(tags):
            return ", ".join(list(dict.fromkeys(tags))) + RULES
        """,
        [],
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_the_ways_of_libraries(way: str) -> None:
    program, rules = WAYS[way]
    assert [name for name, _ in found(program)] == rules
