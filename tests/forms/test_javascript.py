"""JavaScript and TypeScript: what changes, where it goes into a prompt, and what is no prompt.

In the cases ``RULES`` is a constant of seven lines, and ``@rule@`` marks the line on which a finding of that rule is expected.
"""

from __future__ import annotations

import re

import pytest
from linted import RULES, found, prompts
from hypothesis import given, settings
from hypothesis import strategies as st

from promptorder.forms import FormError

HEAD = f"const RULES = `{RULES}`;\n"
MARK = re.compile(r"@([a-z-]+)@")


def expected(code: str) -> tuple[str, list[tuple[int, str]]]:
    """The code without its marks, and what they say."""
    lines = [(number, name) for number, line in enumerate(code.split("\n"), 1) for name in MARK.findall(line)]
    return MARK.sub("", code), lines


CHANGING = {
    "date in a template": "export const prompt = () => `Now @clock-call@${new Date()}\\n${RULES}`;",
    "iso string": "function systemPrompt() {\n  return `Now @clock-call@${new Date().toISOString()}. ${RULES}`;\n}",
    "plus": "const systemPrompt = () => 'It is ' + @clock-call@new Date().toLocaleString() + '. ' + RULES;",
    "epoch": "const buildPrompt = () => `[@clock-call@${Date.now()}] ${RULES}`;",
    "epoch in seconds": "const buildPrompt = () => `[@clock-call@${Math.floor(Date.now() / 1000)}] ${RULES}`;",
    "day": "const systemPrompt = () => `Today is @clock-call@${new Date().toDateString()}.\\n${RULES}`;",
    "day by slicing": "const systemPrompt = () => `Today: @clock-call@${new Date().toISOString().slice(0, 10)}\\n` + RULES;",
    "day by splitting": "const systemPrompt = () => `Today: @clock-call@${new Date().toISOString().split('T')[0]}\\n` + RULES;",
    "through a variable": (
        "export function makeInstructions() {\n  const at = new Date().toISOString();\n  const head = `At ${at}`;\n"
        "  return `@clock-call@${head}\\n${RULES}`;\n}"
    )
    .replace("@clock-call@${head}", "${head}")
    .replace("`At ${at}`", "`At @clock-call@${at}`"),
    "through a helper": (
        "const stamp = () => new Date().toLocaleTimeString();\n"
        "export const systemPrompt = () => `Clock @clock-call@${stamp()}\\n${RULES}`;"
    ),
    "through a helper with a body": (
        "function stamp(zone) {\n  const d = new Date();\n  return d.toLocaleString('en', { timeZone: zone });\n}\n"
        "export async function getSystemPrompt() {\n  return ['Clock', @clock-call@stamp('UTC'), RULES].join('\\n');\n}"
    ),
    "through a method": (
        "class Desk {\n  clock() { return Date.now(); }\n  systemPrompt() {\n"
        "    return `At @clock-call@${this.clock()}\\n${RULES}`;\n  }\n}"
    ),
    "through a field": (
        "class Desk {\n  private started = new Date();\n  get systemPrompt(): string {\n"
        "    return `Open since @clock-call@${this.started}\\n${RULES}`;\n  }\n}"
    ),
    "module level": "const today = new Date().toLocaleDateString();\nexport const SYSTEM_PROMPT = `Date: @clock-call@${today}\\n${RULES}`;",
    "dayjs": "import dayjs from 'dayjs';\nconst prompt = () => `@clock-call@${dayjs().format('HH:mm')} ${RULES}`;",
    "moment": "const moment = require('moment');\nconst prompt = () => `@clock-call@${moment().format('LLL')} ${RULES}`;",
    "date-fns": "import { format } from 'date-fns';\nconst prompt = () => `@clock-call@${format(new Date(), 'PPpp')} ${RULES}`;",
    "luxon": "import { DateTime } from 'luxon';\nconst prompt = () => `@clock-call@${DateTime.now().toISO()} ${RULES}`;",
    "intl": "const f = new Intl.DateTimeFormat('de', { timeStyle: 'short' });\nconst prompt = () => `@clock-call@${f.format(new Date())} ${RULES}`;",
    "formatter of another file": (
        "import { pretty } from './dates';\nconst prompt = () => `At @clock-call@${pretty(new Date())}: ${RULES}`;"
    ),
    "request with system and prompt": (
        "export const ask = (question) => generateText({\n  model,\n  prompt: question,\n"
        "  system: `Time: @clock-call@${new Date().toTimeString()}\\n${RULES}`,\n});"
    ),
    "openai": (
        "async function ask(client: OpenAI, question: string) {\n  return client.chat.completions.create({\n    model: 'm',\n"
        "    messages: [\n      { role: 'system', content: `Now @clock-call@${new Date()}. ${RULES}` },\n"
        "      { role: 'user', content: question },\n    ],\n  });\n}"
    ),
    "anthropic blocks": (
        "const ask = (q) => anthropic.messages.create({ model: 'm', max_tokens: 9,\n"
        "  system: [{ type: 'text', text: `Run @random-call@${crypto.randomUUID()}` }, { type: 'text', text: RULES }],\n"
        "  messages: [{ role: 'user', content: q }] });"
    ),
    "gemini": (
        "const model = genAI.getGenerativeModel({ model: 'm',\n"
        "  systemInstruction: { parts: [{ text: `Session @clock-call@${Date.now()}\\n${RULES}` }] } });"
    ).replace("@clock-call@", "@clock-call@"),
    "clock before the history": (
        "function turn(history, question) {\n  return ollama.chat({ model: 'm', messages: [\n"
        "    { role: 'system', content: `You help. Now: @clock-call@${new Date()}` },\n    ...history,\n"
        "    { role: 'user', content: question }] });\n}"
    ),
    "pushed step by step": (
        "function turn(earlier, question) {\n  const messages = [];\n"
        "  messages.push({ role: 'system', content: `At @clock-call@${Date.now()}. ${RULES}` });\n"
        "  for (const m of earlier) messages.push({ role: m.role, content: m.content });\n"
        "  messages.push({ role: 'user', content: question });\n  return messages;\n}"
    ),
    "notes before the history": (
        "async function step(store, history, question) {\n  const notes = await store.search(question);\n"
        "  const system = RULES + '\\nNotes:\\n' + @retrieved-context@notes;\n"
        "  return client.chat({ model: 'small', messages: [{ role: 'system', content: system }, ...history,\n"
        "    { role: 'user', content: question }] });\n}"
    ),
    "question first": "const prompt = (question: string) => `Question: @question-first@${question}\\n${RULES}${RULES}`;",
    "user and place": (
        "export const systemPrompt = ({ userName, location }) => `Guest: @user-data@${userName}\n"
        "Place: @user-data@${location}\n${RULES}`;"
    ),
    "passed as an argument": (
        "const build = (at) => `At @clock-call@${at}\\n${RULES}`;\nexport const ask = (q) => generateText({ model, system: build(new Date()), prompt: q });"
    ),
    "replaced": (
        "const SYSTEM_TEMPLATE = `Now: @clock-call@{{now}}\\n${RULES}`;\n"
        "export const systemPrompt = () => SYSTEM_TEMPLATE.replace('{{now}}', new Date().toISOString());"
    ),
    "replaced by a pattern": (
        "const SYSTEM_TEMPLATE = `Now: @clock-call@{{ now }}\\n${RULES}`;\n"
        "export const systemPrompt = () => SYSTEM_TEMPLATE.replace(/\\{\\{\\s*now\\s*\\}\\}/g, new Date().toISOString());"
    ),
    "placeholder that another file fills in": "export const SYSTEM_PROMPT = `At @clock-variable@{{current_time}}\\n${RULES}`;",
    "langchain": (
        "export const PROMPT = ChatPromptTemplate.fromMessages([\n  ['system', 'Visit: @date-variable@{today}. ' + RULES],\n"
        "  new MessagesPlaceholder('history'),\n  ['human', '{question}'],\n]);"
    ),
    "langchain message classes": (
        "const ask = (q) => model.invoke([\n  new SystemMessage(`Now @clock-call@${new Date()}\\n${RULES}`),\n  new HumanMessage(q),\n]);"
    ),
    "prompt template": (
        "export const p = new PromptTemplate({ inputVariables: ['question'],\n"
        "  template: 'Question: @question-first@{question}\\n' + RULES + RULES });"
    ),
    "template of a chain": "export const p = PromptTemplate.fromTemplate(`At @clock-variable@{current_time}\\n${RULES}`);",
    "uuid": "import { v4 as uuidv4 } from 'uuid';\nconst prompt = () => `[@random-call@${uuidv4()}] ${RULES}`;",
    "nanoid in a variable": "import { nanoid } from 'nanoid';\nfunction buildPrompt() {\n  const tag = nanoid();\n  return `@random-call@${tag} ${RULES}`;\n}",
    "random number": "const prompt = () => `Salt @random-call@${Math.random()}. ${RULES}`;",
    "shuffled by sorting": (
        "const SHOTS = ['Q: green?\\nA: sencha.', 'Q: black?\\nA: assam.'];\n"
        "const prompt = () => @random-call@SHOTS.sort(() => Math.random() - 0.5).join('\\n') + RULES;"
    ),
    "shuffled by a package": (
        "import _ from 'lodash';\nconst SHOTS = ['a', 'b'];\nconst prompt = () => `@random-call@${_.shuffle(SHOTS).join('\\n')}\\n${RULES}`;"
    ),
    "shuffled by a helper": (
        "function shuffle(xs) {\n  for (let i = xs.length - 1; i > 0; i--) {\n    const j = Math.floor(Math.random() * (i + 1));\n"
        "    [xs[i], xs[j]] = [xs[j], xs[i]];\n  }\n  return xs;\n}\nconst SHOTS = ['a', 'b'];\n"
        "const prompt = () => `@random-call@${shuffle(SHOTS).join('\\n')}\\n${RULES}`;"
    ),
    "drawn from a list": (
        "const MOODS = ['calm', 'brisk'];\n"
        "const prompt = () => `Mood: @random-call@${MOODS[Math.floor(Math.random() * MOODS.length)]}\\n${RULES}`;"
    ),
    "working folder": "const systemPrompt = () => `Folder: @environment@${process.cwd()}\\n${RULES}`;",
    "platform beside a folder": (
        "const systemPrompt = () => `Folder: @environment@${process.cwd()}\nPlatform: @environment@${process.platform}\n${RULES}`;"
    ),
    "host": "import os from 'node:os';\nconst systemPrompt = () => `Host: @environment@${os.hostname()}\\n${RULES}`;",
    "git": (
        "import { execSync } from 'child_process';\n"
        "const systemPrompt = () => `Git:\\n@environment@${execSync('git status --short').toString()}\\n${RULES}`;"
    ),
    "folder listing": (
        "import fs from 'fs';\nconst systemPrompt = (dir) => `Files:\\n@unordered@${fs.readdirSync(dir).join('\\n')}\\n${RULES}`;"
    ),
    "step by step": (
        "export function buildPrompt(items) {\n  let prompt = 'Tea desk\\n';\n  prompt += `At @clock-call@${new Date()}\\n`;\n"
        "  if (items.length) {\n    prompt += 'There are blends.\\n';\n  }\n  prompt += RULES;\n  return prompt;\n}"
    ),
    "parts of a list": (
        "export function buildPrompt() {\n  const parts: string[] = [];\n  parts.push(`At @clock-call@${new Date()}`);\n"
        "  parts.push(RULES);\n  return parts.join('\\n');\n}"
    ),
    "concat": "const prompt = () => 'At '.concat(@clock-call@new Date().toISOString(), RULES);",
    "default of a parameter": "export const systemPrompt = (now = new Date()) => `At @clock-call@${now}\\n${RULES}`;",
    "one of two": "const systemPrompt = (at) => `At @clock-call@${at ? 'noon' : new Date()}\\n${RULES}`;",
    "fallback": "const systemPrompt = (opts) => `At @clock-call@${opts.when ?? new Date()}\\n${RULES}`;",
    "named otherwise": (
        "const BASE = `You are the tea counter of a garden. ${RULES}`;\n"
        "export function compose() {\n  return `@clock-call@${new Date().toISOString()} ${BASE}`;\n}"
    ),
    "shared constants of another file": (
        "import { RULES as SHARED, STYLE } from './rules';\nexport const systemPrompt = () => `Now @clock-call@${new Date()}\\n${SHARED}\\n${STYLE}`;"
    ),
    "tagged template": "const systemPrompt = () => dedent`\n  Now @clock-call@${new Date()}\n  ${RULES}\n`;",
    "tools in another order": (
        "const ask = (q, tools) => generateText({ model, tools: @random-call@_.shuffle(tools), system: RULES, prompt: q });"
    ),
    "agent": "export const agent = new Agent({ name: 'tea', instructions: `Now @clock-call@${new Date()}. ${RULES}`, model });",
    "instructions as a function": (
        "export const agent = new Agent({\n  name: 'tea',\n  instructions: () => `Now @clock-call@${new Date()}. ${RULES}`,\n  model,\n});"
    ),
}

CLEAN = {
    "clock last": "const systemPrompt = () => `${RULES}\\nNow: ${new Date()}`;",
    "not called": "const clock = () => new Date();\nexport const systemPrompt = `Clock: ${clock}\\n${RULES}`;",
    "a fixed date": "export const systemPrompt = () => `Price list of ${new Date(2024, 1, 1).toDateString()}.\\n${RULES}`;",
    "a literal date": "export const systemPrompt = `Today is 2026-03-14T09:26:53Z.\\n${RULES}`;",
    "the year": "export const systemPrompt = () => `Season ${new Date().getFullYear()}.\\n${RULES}`;",
    "setting of the process": "export const systemPrompt = () => `Shop ${process.env.SHOP_NAME ?? 'Tea'}.\\n${RULES}`;",
    "platform alone": "export const systemPrompt = () => `Runs on ${process.platform}.\\n${RULES}`;",
    "clock in the newest message": (
        "const ask = (q) => generateText({ model, system: RULES, prompt: `At ${new Date()}: ${q}` });"
    ),
    "ids in metadata": (
        "const ask = (q) => client.create({ model: 'm', metadata: { run: crypto.randomUUID() }, user: userId,\n"
        "  messages: [{ role: 'system', content: RULES }, { role: 'user', content: q }] });"
    ),
    "a set keeps its order": "const TOPICS = new Set(['milk', 'sugar']);\nconst systemPrompt = `${[...TOPICS].join(', ')}\\n${RULES}`;",
    "keys keep their order": "const PRICES = { milk: 1, sugar: 2 };\nconst systemPrompt = `${Object.keys(PRICES).join(', ')}\\n${RULES}`;",
    "sorted listing": "const systemPrompt = (dir) => `${fs.readdirSync(dir).sort().join('\\n')}\\n${RULES}`;",
    "seeded shuffle": "const rng = seedrandom('tea');\nconst systemPrompt = () => `${shuffle(SHOTS, rng)}\\n${RULES}`;",
    "constant helper": "const hello = () => 'Welcome to the desk';\nconst systemPrompt = () => `${hello()}\\n${RULES}`;",
    "log line": "console.log(`At ${new Date()}: ${RULES}`);\nexport const systemPrompt = RULES;",
    "error": "export function prompt(id) { throw new Error(`Session ${sessionId} at ${new Date()}: ${RULES}`); }",
    "page": "export const template = () => `<div>${new Date()}</div><p>${RULES}</p>`;",
    "query": "const prompt = (id) => `SELECT * FROM teas WHERE at < ${Date.now()} AND note = '${RULES}'`;",
    "label of a terminal": "const answers = await inquirer.prompt([{ type: 'input', message: `At ${new Date()}?` }]);",
    "escaped": "export const systemPrompt = `Write \\${new Date()} where the time goes. ${RULES}`;",
    "plain string": "export const systemPrompt = 'Now: ${new Date()}. ' + RULES;",
    "comment": "// prompt: `Now ${new Date()}` + RULES\nexport const systemPrompt = RULES;",
    "time in a tool's result": (
        "const tools = { clock: tool({ description: 'Gives the time', execute: async () => new Date().toISOString() }) };\n"
        "const ask = (q) => generateText({ model, tools, system: RULES, prompt: q });"
    ),
    "clock of a timer": (
        "async function ask(q) {\n  const started = Date.now();\n  const out = await generateText({ model, system: RULES, prompt: q });\n"
        "  console.log(`prompt took ${Date.now() - started} ms`);\n  return out;\n}"
    ),
    "overwritten": "function systemPrompt() {\n  let at = new Date().toString();\n  at = 'noon';\n  return `At ${at}\\n${RULES}`;\n}",
    "number of examples": "export const systemPrompt = (docs) => `There are ${docs.length} notes below.\\n${RULES}`;",
    "formatter options alone": "const systemPrompt = () => `Zone ${Intl.DateTimeFormat().resolvedOptions().timeZone}\\n${RULES}`;",
    "constant from another file": "import { PERSONA } from './persona';\nexport const systemPrompt = `${PERSONA}\\n${RULES}`;",
    "document last": "export const prompt = (article: string) => `${RULES}\\n${RULES}\\nArticle: ${article}`;",
    "short": "export const prompt = () => `At ${new Date()} answer the question in one word.`;",
}


@pytest.mark.parametrize("code", CHANGING.values(), ids=CHANGING)
@pytest.mark.parametrize("suffix", ["ts", "tsx"])
def test_what_changes_is_found(code: str, suffix: str) -> None:
    text, marks = expected(HEAD + code)
    assert found(text, "javascript", f"src/desk.{suffix}") == marks


@pytest.mark.parametrize("code", CLEAN.values(), ids=CLEAN)
def test_what_stays_is_left_alone(code: str) -> None:
    assert found(HEAD + code, "javascript", "src/desk.ts") == []


def test_how_often_it_changes() -> None:
    code = HEAD + (
        "const made = new Date();\nexport const SYSTEM_PROMPT = `At ${made}. ${RULES}`;\n"
        "export const systemPrompt = () => `On ${new Date().toDateString()}. ${RULES}`;\n"
    )
    changing = [
        s.changes for p in prompts(code, "javascript", "a.ts") for s in p.segments if s.kind == "clock-call"
    ]
    assert changing == ["process", "day"]


def test_places_behind_characters_of_several_bytes() -> None:
    code = "// čaj 茶 🍵\n" + HEAD + "export const prompt = () => `茶 \\u8336 \\n${new Date()} ${RULES}`;\n"
    prompt = prompts(code, "javascript", "a.js")[-1]
    clock = next(s for s in prompt.segments if s.kind == "clock-call")
    assert code[clock.start : clock.end] == "new Date()"
    head = prompt.segments[0]
    assert head.text == "茶 茶 \n"
    assert code[head.place(2) :].startswith("\\u8336")
    assert code[head.place(4) :].startswith("\\n$")


@pytest.mark.parametrize("path", ["a.test.ts", "src/a.spec.js", "src/__tests__/a.ts", "a.d.ts", "a.min.js"])
def test_tests_and_bundles_are_no_prompts(path: str) -> None:
    assert prompts(HEAD + "export const prompt = () => `${new Date()} ${RULES}`;", "javascript", path) == []


def test_a_program_that_breaks_off_names_its_line() -> None:
    with pytest.raises(FormError) as caught:
        prompts("const a = 1;\n" * 20 + "const role: = {{{ prompt ( `${\n", "javascript", "a.js")
    assert caught.value.line == 21


def test_constants_that_double_end() -> None:
    lines = ["const a0 = `You are kind. ${new Date()}`;"]
    lines += [f"const a{n} = a{n - 1} + a{n - 1};" for n in range(1, 60)]
    prompts("\n".join([*lines, "export const systemPrompt = a59;"]), "javascript", "a.js")


@pytest.mark.parametrize(
    ("opening", "closing"), [("(", ")"), ("[", "]"), ("`${", "}`"), ("f(", ")"), ("{a: ", "}")]
)
def test_deep_nesting_is_bounded(opening: str, closing: str) -> None:
    text = HEAD + "const systemPrompt = " + opening * 5000 + "1" + closing * 5000 + ";\n"
    try:
        prompts(text, "javascript", "a.ts")
    except FormError:
        pass


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["const ", "prompt", " = ", "`", "${", "}", "{", "(", ")", "=>", "role:", "'system'", "[", "]", "...", "new Date()", ".push(",
             "\n", "content:", "messages", ",", "+", "return ", "function ", "\\u{110000}", "茶", "\ud800", "class ", "this.", ".join(", "/x/g"]
        ),
        max_size=40,
    )
)  # fmt: skip
def test_no_text_breaks_the_reader(words: list[str]) -> None:
    try:
        prompts("const systemPrompt = `You are kind.`;\n" * 6 + "".join(words), "javascript", "a.ts")
    except FormError:
        pass
