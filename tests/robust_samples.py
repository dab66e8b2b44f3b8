"""One or two small files of each form, to be cut, joined and repeated by the tests of robustness and the fuzzer."""

from __future__ import annotations

_RULES = (
    "You look after the boats of a rowing club. Answer in two sentences. Never lend the red boat. "
    "Ask for the name of the crew, and say which oars belong to which boat before anybody carries one out."
)

PATHS = {
    "text": "boats.txt",
    "markdown": "boats.md",
    "jinja": "boats.j2",
    "mustache": "boats.mustache",
    "prompty": "boats.prompty",
    "python": "boats.py",
    "javascript": "boats.ts",
    "yaml": "boats.yaml",
    "toml": "boats.toml",
    "modelfile": "Modelfile",
    "json": "boats.json",
    "jsonl": "boats.jsonl",
}
"""The name of a file of each form."""

SAMPLES = {
    "text": [
        f"It is 14:05:09 on 3 June 2031. {{user}} $crew %(now)s <%= t %>\n{_RULES}\n",
        f"{{{{now}}}}\n{_RULES}",
    ],
    "markdown": [
        f"---\ntitle: boats\n---\n# Boats\n- cwd: /home/kim/boats\n```\n{{x}}\n```\n{{{{ date }}}}\n{_RULES}\n"
    ],
    "jinja": [
        "{% set t = now() %}{% if a %}{{ t }}{% else %}{{ b|default('x') }}{% endif %}\n" + _RULES,
        "{% for m in messages %}{% if loop.last and tools %}{{ tools|tojson }}{% endif %}{{ m.content }}{% endfor %}"
        "{% macro q(a, b=1) %}{{ a ~ b }}{% endmacro %}{{ q(now().strftime('%H:%M')) }}{% raw %}{{ x }}{% endraw %}"
        + _RULES,
    ],
    "mustache": [
        "{{#if a}}{{now}}{{else}}{{b}}{{/if}}{{#each messages as |m|}}{{m.content}}{{/each}}{{! c }}{{{x}}}{{> p}}"
        + _RULES,
        "{{=<% %>=}}<% now %><%={{ }}=%>{{^a}}{{b}}{{/a}}\\{{c}}{{{{raw}}}} {{d}} {{{{/raw}}}}" + _RULES,
    ],
    "prompty": [
        f"---\nname: boats\nmodel:\n  api: chat\n---\nsystem:\n{{{{now}}}} {_RULES}\n\nuser:\n{{{{question}}}}\n"
    ],
    "python": [
        "import random\nfrom datetime import datetime\n\nR = '''"
        + _RULES
        + "'''\n\n\ndef build(q, history=()):\n"
        "    parts = [f'{datetime.now():%H:%M} {q!r}']\n    for word in {'a', 'b'}:\n        parts.append(word + R)\n"
        "    system = '\\n'.join(parts) % () if q else R.format(q=random.random())\n"
        "    return [{'role': 'system', 'content': system}, *history, {'role': 'user', 'content': q}]\n",
    ],
    "javascript": [
        "import { v4 as uuid } from 'uuid';\nconst R = `"
        + _RULES
        + "`;\nexport const build = (q: string, h: any[] = []) => {\n"
        "  const t = new Date().toISOString().slice(0, 10);\n  const system = [`${t} ${uuid()}`, R].join('\\n');\n"
        "  return { messages: [{ role: 'system', content: system + q }, ...h, { role: 'user', content: q ?? `x${t}` }] };\n};\n",
    ],
    "yaml": [
        f"x: &x {{a: 1}}\nprompts:\n  - role: system\n    content: |\n      Now {{{{ now }}}}\n      {_RULES}\n  - <<: *x\n    content: '{{q}}'\n",
        f'system: "Now {{time}}\\n{_RULES}"\nuser: >-\n  {{question}}\n---\n- 1\n',
    ],
    "toml": [
        f"[a]\nprompt = '''\n{{now}}\n{_RULES}'''\nx = [1, {{b = 2}}]\n[[messages]]\nrole = 'system'\ncontent = \"{_RULES}\"\n"
    ],
    "modelfile": [
        'FROM m\nTEMPLATE """{{ if .System }}{{ currentDate }}{{ .System }}{{ end }}{{ range .Messages }}{{ .Content }}{{ end }}"""\n'
        f'SYSTEM """{_RULES}"""\nMESSAGE user Hi\n',
    ],
    "json": [
        '{"model": "qwen3:8b", "messages": [{"role": "system", "content": "It is 14:05:09.\\n'
        + _RULES
        + '"}, '
        '{"role": "user", "content": "Hi \\ud83d\\ude00"}, {"role": "assistant", "content": [{"type": "text", "text": "a"}]}]}\n',
        '{"model": "claude-sonnet-4-5", "system": [{"type": "text", "text": "'
        + _RULES
        + '", "cache_control": {"type": "ephemeral"}}], '
        '"tools": [{"name": "row", "input_schema": {"type": "object"}}], "messages": [{"role": "user", "content": "Hi"}]}',
    ],
    "jsonl": [
        "".join(
            '{"ts": "2031-06-03T14:0N:09Z", "session": "a", "request": {"model": "qwen3:8b", "messages": [{"role": "system", '
            '"content": "It is 14:0N:09. RULES"}, {"role": "user", "content": "Hi"}]}}\n'.replace("N", str(n))
            for n in range(3)
        ).replace("RULES", _RULES),
    ],
}
"""What is cut up; every form has one."""
