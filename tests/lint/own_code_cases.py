"""Cases of programs that build a prompt."""

from __future__ import annotations

from own_cases import FORGE, OwnCase

RULES = 'RULES = """' + FORGE + '"""\n'
ASK = "import openai\n\n" + RULES + "client = openai.OpenAI()\n\n\ndef ask(question):\n"
SEND = """    return client.chat.completions.create(
        model="local",
        messages=[{"role": "system", "content": system}, {"role": "user", "content": question}],
    )
"""
TS_RULES = "const RULES = `" + FORGE + "`;\n"
TS_ASK = (
    'import OpenAI from "openai";\n' + TS_RULES + "const client = new OpenAI();\n"
    "\n"
    "export async function ask(question: string) {\n"
)
TS_SEND = """  return client.chat.completions.create({
    model: "m",
    messages: [
      { role: "system", content: system },
      { role: "user", content: question },
    ],
  });
}
"""

CASES = [
    OwnCase(
        "py-fclock",
        "agent.py",
        "from datetime import datetime\n"
        + ASK
        + '    system = f"It is {datetime.now().isoformat()}\\n" + RULES§\n'
        + SEND,
    ),
    OwnCase(
        "py-clock-end",
        "agent.py",
        "from datetime import datetime\n" + ASK + "    system = RULES\n"
        '    question = f"{question} (asked {datetime.now()})"\n' + SEND,
    ),
    OwnCase(
        "py-strftime",
        "agent.py",
        "import time\n" + ASK + '    stamp = time.strftime("%ASK:%M:%S")¤\n'
        '    system = "Clock {}\\n{}".format(stamp, RULES)§\n' + SEND,
    ),
    OwnCase(
        "py-helper",
        "agent.py",
        "from datetime import datetime, timezone\n" + "import openai\n" + RULES + "\n"
        "\n"
        "def clock():\n"
        "    return datetime.now(timezone.utc).isoformat()¤\n"
        "\n"
        "\n"
        "def build():\n"
        '    return f"Time: {clock()}\\n{RULES}"§\n'
        "\n"
        "\n"
        "def ask(question):\n"
        '    return openai.OpenAI().chat.completions.create(model="m", messages=[{"role": "system", '
        '"content": build()}, {"role": "user", "content": question}])\n',
    ),
    OwnCase(
        "py-import-time",
        "agent.py",
        "from datetime import date\n" + '\nSYSTEM = f"""Today is {date.today()}.§\n' + FORGE + "\n"
        '"""\n'
        "\n"
        "\n"
        "def ask(client, q):\n"
        '    return client.messages.create(model="m", system=SYSTEM, messages=[{"role": "user", "content": q}])\n',
    ),
    OwnCase(
        "py-forgotten-f",
        "agent.py",
        'SYSTEM = """Today is {datetime.now()}.\n' + FORGE + "\n"
        '"""\n'
        "\n"
        "\n"
        "def ask(client, q):\n"
        '    return client.messages.create(model="m", system=SYSTEM, messages=[{"role": "user", "content": q}])\n',
    ),
    OwnCase(
        "py-uuid-metadata",
        "agent.py",
        "import uuid\n"
        + ASK
        + "    system = RULES\n    print(uuid.uuid4())\n"
        + SEND.replace(
            'model="local",',
            'model="local",\n'
            '        metadata={"run": str(uuid.uuid4())},\n'
            '        extra_headers={"x-request-id": uuid.uuid4().hex},',
        ),
    ),
    OwnCase(
        "py-nonce-block",
        "agent.py",
        "import hashlib\nimport time\nimport anthropic\n" + RULES + "\n"
        "\n"
        "def ask(q):\n"
        "    tag = hashlib.sha256(str(time.time()).encode()).hexdigest()[:5]¤\n"
        "    return anthropic.Anthropic().messages.create(\n"
        '        model="claude-sonnet-4-5",\n'
        "        max_tokens=10,\n"
        "        system=[\n"
        '            {"type": "text", "text": f"x-usage-header: h={tag}"},§\n'
        '            {"type": "text", "text": RULES, "cache_control": {"type": "ephemeral"}},\n'
        "        ],\n"
        '        messages=[{"role": "user", "content": q}],\n'
        "    )\n",
    ),
    OwnCase(
        "py-tempdir",
        "agent.py",
        "import tempfile\n" + ASK + "    folder = tempfile.mkdtemp()¤\n"
        '    system = f"Write only below {folder}.\\n{RULES}"§\n' + SEND,
    ),
    OwnCase(
        "py-git",
        "agent.py",
        "import subprocess\n"
        + ASK
        + '    state = subprocess.run(["git", "status", "--short"], capture_output=True, text=True).stdout¤\n'
        '    system = "State:\\n" + state + RULES§\n' + SEND,
    ),
    OwnCase(
        "py-listdir",
        "agent.py",
        "import os\n" + ASK + '    files = "\\n".join(os.listdir("."))¤\n'
        '    system = f"Files:\\n{files}\\n{RULES}"§\n' + SEND,
    ),
    OwnCase(
        "py-set-join",
        "agent.py",
        ASK + '    words = {"hinge", "latch", "gate"}¤\n    system = ", ".join(words) + RULES§\n' + SEND,
    ),
    OwnCase(
        "py-set-sorted",
        "agent.py",
        ASK + '    words = {"hinge", "latch", "gate"}\n'
        '    system = ", ".join(sorted(words)) + RULES\n' + SEND,
    ),
    OwnCase(
        "py-tools-set",
        "agent.py",
        ASK
        + "    system = RULES\n    tools = list(set(ALL_TOOLS))§\n"
        + SEND.replace('model="local",', 'model="local",\n        tools=tools,¤'),
    ),
    OwnCase(
        "py-shuffle",
        "agent.py",
        "import random\n" + ASK + "    shots = list(SHOTS)\n"
        "    random.shuffle(shots)§\n"
        '    system = "\\n".join(shots) + RULES¤\n' + SEND,
    ),
    OwnCase(
        "py-seeded",
        "agent.py",
        "import random\n\nrandom.seed(11)\n" + ASK + "    shots = random.Random(4).sample(SHOTS, 3)\n"
        '    system = "\\n".join(shots) + RULES\n' + SEND,
    ),
    OwnCase(
        "py-rag",
        "agent.py",
        ASK + "    docs = retriever.invoke(question)\n"
        '    context = "\\n".join(d.page_content for d in docs)¤\n'
        '    system = f"Context:\\n{context}\\n{RULES}"§\n' + SEND,
    ),
    OwnCase(
        "py-memory-history",
        "agent.py",
        RULES + "\n"
        "\n"
        "def turn(client, memory, history, text):\n"
        '    system = RULES + "\\nMemories:\\n" + memory.recall(text)§\n'
        '    messages = [{"role": "system", "content": system}]\n'
        "    messages.extend(history)\n"
        '    messages.append({"role": "user", "content": text})\n'
        '    return client.chat(model="m", messages=messages)\n',
    ),
    OwnCase(
        "py-memory-last",
        "agent.py",
        RULES + "\n"
        "\n"
        "def turn(client, memory, history, text):\n"
        '    messages = [{"role": "system", "content": RULES}]\n'
        "    messages.extend(history)\n"
        '    messages.append({"role": "user", "content": memory.recall(text) + text})\n'
        '    return client.chat(model="m", messages=messages)\n',
    ),
    OwnCase(
        "py-langchain-partial",
        "agent.py",
        "from datetime import datetime\n"
        "from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder\n"
        "\n"
        "PROMPT = ChatPromptTemplate.from_messages([\n"
        '    ("system", """Time {time}§\n' + FORGE + '"""),\n'
        '    MessagesPlaceholder("chat_history"),\n'
        '    ("human", "{input}"),\n'
        "]).partial(time=lambda: datetime.now().isoformat())¤\n",
    ),
    OwnCase(
        "py-cache-key",
        "agent.py",
        "import uuid\n"
        + ASK
        + "    system = RULES\n"
        + SEND.replace('model="local",', 'model="local",\n        prompt_cache_key=str(uuid.uuid4()),§'),
    ),
    OwnCase(
        "py-cache-key-clean",
        "agent.py",
        ASK
        + "    system = RULES\n"
        + SEND.replace('model="local",', 'model="local",\n        prompt_cache_key="forge-v1",'),
    ),
    OwnCase(
        "py-logger-clean",
        "agent.py",
        "import logging\n"
        "from datetime import datetime\n"
        "log = logging.getLogger()\n"
        + ASK
        + '    log.info(f"{datetime.now()} asking {question} with {RULES}")\n'
        '    print(f"Now {datetime.now()}: {RULES}")\n'
        "    system = RULES\n" + SEND,
    ),
    OwnCase(
        "py-join-list",
        "agent.py",
        "from datetime import datetime\n" + RULES + "\n"
        "\n"
        "def build():\n"
        "    parts = []\n"
        '    parts.append(f"Time: {datetime.now()}")§\n'
        "    parts.append(RULES)\n"
        '    return "\\n".join(parts)\n'
        "\n"
        "\n"
        "def ask(client, q):\n"
        '    return client.chat(model="m", messages=[{"role": "system", "content": build()}, {"role": "user", "content": q}])\n',
    ),
    OwnCase(
        "py-join-list-clean",
        "agent.py",
        "from datetime import datetime\n" + RULES + "\n"
        "\n"
        "def build():\n"
        "    parts = []\n"
        "    parts.append(RULES)\n"
        '    parts.append(f"Time: {datetime.now()}")\n'
        '    return "\\n".join(parts)\n'
        "\n"
        "\n"
        "def ask(client, q):\n"
        '    return client.chat(model="m", messages=[{"role": "system", "content": build()}, {"role": "user", "content": q}])\n',
    ),
    OwnCase(
        "py-replace",
        "agent.py",
        "from datetime import datetime\n" + 'SYSTEM = """Clock: <<NOW>>¤\n' + FORGE + '"""\n'
        "\n"
        "\n"
        "def ask(client, q):\n"
        '    system = SYSTEM.replace("<<NOW>>", str(datetime.now()))§\n'
        '    return client.chat(model="m", messages=[{"role": "system", "content": system}, {"role": "user", "content": q}])\n',
    ),
    OwnCase(
        "py-insert0",
        "agent.py",
        "from datetime import datetime\n" + RULES + "\n"
        "\n"
        "def ask(client, q):\n"
        '    messages = [{"role": "system", "content": RULES}, {"role": "user", "content": q}]\n'
        '    messages.insert(0, {"role": "system", "content": f"Now {datetime.now()}"})§\n'
        '    return client.chat.completions.create(model="m", messages=messages)\n',
    ),
    OwnCase(
        "py-as-completed",
        "agent.py",
        "import asyncio\n" + RULES + "\n"
        "\n"
        "async def tools_of(servers):\n"
        "    tools = []\n"
        "    for done in asyncio.as_completed([s.list_tools() for s in servers]):§\n"
        "        tools += await done\n"
        "    return tools\n"
        "\n"
        "\n"
        "async def ask(client, servers, q):\n"
        '    return await client.chat.completions.create(model="m", tools=await tools_of(servers), '
        'messages=[{"role": "system", "content": RULES}, {"role": "user", "content": q}])¤\n',
    ),
    OwnCase(
        "py-sql-clean",
        "agent.py",
        "from datetime import datetime\n"
        "\n"
        "\n"
        "def query(db, user_id):\n"
        "    return db.execute(f'''SELECT * FROM orders WHERE at < '{datetime.now()}' AND user = {user_id} "
        "AND kind IN ('hinge','latch','gate','bolt','ring','hook','chain','plate') AND state NOT IN "
        "('lost','void','sent') ORDER BY at, kind, state, user, weight, finish, length LIMIT 100''')\n",
    ),
    OwnCase(
        "ts-today",
        "agent.ts",
        TS_ASK + "  const system = `Today is ${new Date().toLocaleDateString()}.\\n${RULES}`;§\n" + TS_SEND,
    ),
    OwnCase(
        "ts-end",
        "agent.ts",
        TS_ASK + "  const system = RULES;\n"
        "  question = `${new Date().toISOString()} ${question}`;\n" + TS_SEND,
    ),
    OwnCase(
        "ts-module-date",
        "agent.ts",
        "const today = new Date().toISOString().split('T')[0];¤\n"
        "export const SYSTEM = `Current date: ${today}§\n" + FORGE + "`;\n",
    ),
    OwnCase(
        "ts-not-called",
        "agent.ts",
        "const stamp = () => new Date().toISOString();\n"
        "export const SYSTEM = `Now ${stamp}\n" + FORGE + "`;\n",
    ),
    OwnCase(
        "ts-called",
        "agent.ts",
        "const stamp = () => new Date().toISOString();¤\n"
        "export const buildPrompt = () => `Now ${stamp()}§\n" + FORGE + "`;\n",
    ),
    OwnCase(
        "ts-uuid",
        "agent.ts",
        "import { v4 as uuid } from 'uuid';\n"
        + TS_ASK
        + "  const id = uuid();¤\n  const system = `run ${id}\\n` + RULES;§\n"
        + TS_SEND,
    ),
    OwnCase(
        "ts-cwd", "agent.ts", TS_ASK + "  const system = `Folder: ${process.cwd()}\\n${RULES}`;§\n" + TS_SEND
    ),
    OwnCase(
        "ts-git",
        "agent.ts",
        "import { execSync } from 'node:child_process';\n"
        + TS_ASK
        + "  const branch = execSync('git branch --show-current').toString();¤\n"
        "  const system = `Branch: ${branch}${RULES}`;§\n" + TS_SEND,
    ),
    OwnCase(
        "ts-header",
        "agent.ts",
        TS_ASK + "  const system = RULES;\n"
        "  client.headers = { 'x-request-id': crypto.randomUUID() };\n" + TS_SEND,
    ),
    OwnCase(
        "ts-cache-key",
        "agent.ts",
        TS_ASK
        + "  const system = RULES;\n"
        + TS_SEND.replace('model: "m",', 'model: "m",\n    prompt_cache_key: crypto.randomUUID(),§'),
    ),
    OwnCase(
        "ts-ai-sdk",
        "agent.ts",
        "import { generateText } from 'ai';\n"
        + TS_RULES
        + "export const ask = (prompt: string) => generateText({ model, system: `It is ${new Date()}.\\n` + RULES, prompt });§\n",
    ),
    OwnCase(
        "ts-ai-clean",
        "agent.ts",
        "import { generateText } from 'ai';\n"
        + TS_RULES
        + "export const ask = (prompt: string) => generateText({ model, system: RULES, prompt: `${prompt} (${new Date()})` });\n",
    ),
    OwnCase(
        "ts-memory",
        "agent.ts",
        TS_ASK.replace("question: string", "question: string, history: any[], memory: any")
        + "  const notes = await memory.search(question);\n"
        "  const system = `${RULES}\\nNotes: ${notes}`;§\n"
        + TS_SEND.replace('      { role: "user"', '      ...history,\n      { role: "user"'),
    ),
    OwnCase(
        "ts-error-clean",
        "agent.ts",
        TS_ASK + "  const system = RULES;\n"
        "  if (!question) throw new Error(`session ID: ${crypto.randomUUID()} You must ask. Never send "
        "nothing. Keep to one sentence and name the piece and the finish that you want, or the clerk will "
        "not answer your order today.`);\n" + TS_SEND,
    ),
    OwnCase(
        "ts-langchain",
        "agent.ts",
        "import { PromptTemplate } from '@langchain/core/prompts';\n"
        "export const P = PromptTemplate.fromTemplate(`Now: {current_time}§\n" + FORGE + "\n{question}`);\n",
    ),
    OwnCase(
        "ts-tools-shuffle",
        "agent.ts",
        TS_ASK + "  const system = RULES;\n"
        "  const tools = ALL.sort(() => Math.random() - 0.5);§\n"
        + TS_SEND.replace('model: "m",', 'model: "m",\n    tools,¤'),
    ),
    OwnCase(
        "ts-tools-sorted",
        "agent.ts",
        TS_ASK + "  const system = RULES;\n"
        "  const tools = ALL.sort((a, b) => a.name.localeCompare(b.name));\n"
        + TS_SEND.replace('model: "m",', 'model: "m",\n    tools,'),
    ),
    OwnCase(
        "ts-readdir",
        "agent.ts",
        "import fs from 'node:fs';\n" + TS_ASK + "  const files = fs.readdirSync('.').join('\\n');¤\n"
        "  const system = `Files:\\n${files}\\n${RULES}`;§\n" + TS_SEND,
    ),
]
