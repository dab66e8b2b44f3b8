"""Jinja templates: what changes, where it is put out, and what is no prompt."""

from __future__ import annotations

import pytest
from linted import RULES, found, prompts, static_text

from promptorder.forms import FormError

CLOCK, RANDOM, HISTORY = "template-clock", "random-call", "template-history"

CHANGING = {
    "call": ("It is {{ now() }}.\n" + RULES, [(1, CLOCK)]),
    "call with white space control": ("It is {{- now() -}}\n" + RULES, [(1, CLOCK)]),
    "call of a method": ("It is {{ datetime.now().strftime('%H:%M') }}.\n" + RULES, [(1, CLOCK)]),
    "filter on a clock": ("{{ utcnow | strftime('%d.%m. %H:%M') }}\n" + RULES, [(1, CLOCK)]),
    "filter of a home": ("{{ as_timestamp(now()) | timestamp_custom('%H:%M') }}\n" + RULES, [(1, CLOCK)]),
    "in the middle": ("Be kind.\n\nIt is {{ now() }}.\n" + RULES, [(3, CLOCK)]),
    "day of a model's template": ("{{ 'Today: ' + strftime_now('%d %b %Y') }}\n" + RULES, [(1, CLOCK)]),
    "set and put out": ("{% set at = now() %}\nOpened {{ at }}\n" + RULES, [(1, CLOCK), (2, CLOCK)]),
    "set with more around it": (
        "{% set head = 'Log of ' ~ utcnow | strftime('%H:%M') %}\n\n{{ head }}\n" + RULES,
        [(1, CLOCK), (3, CLOCK)],
    ),
    "set as a block": (
        "{% set head %}Log {{ now() }}{% endset %}\n{{ head }}\n" + RULES,
        [(1, CLOCK), (2, CLOCK)],
    ),
    "set in a namespace": (
        "{% set ns = namespace(at=now()) %}\n{{ ns.at }}\n" + RULES,
        [(1, CLOCK), (2, CLOCK)],
    ),
    "with": ("{% with at = now() %}\n{{ at }}\n{% endwith %}\n" + RULES, [(1, CLOCK), (2, CLOCK)]),
    "macro": ("{% macro head() %}At {{ now() }}{% endmacro %}\n{{ head() }}\n" + RULES, [(1, CLOCK)]),
    "default that is a clock": (
        "{% if not date_string is defined %}\n{% set date_string = strftime_now('%d %b %Y') %}\n{% endif %}\n"
        "{{ 'Today Date: ' + date_string }}\n" + RULES,
        [(2, CLOCK), (4, CLOCK)],
    ),
    "one of two branches": (
        "{% if clock %}\n{{ now() }}\n{% else %}\nno clock\n{% endif %}\n" + RULES,
        [(2, CLOCK)],
    ),
    "condition on the hour": (
        "{% if now().hour < 12 %}\nMorning shift.\n{% else %}\nLate shift.\n{% endif %}\n" + RULES,
        [(1, CLOCK)],
    ),
    "names": (
        "{{ user_name }} asks on {{ current_date }}.\n" + RULES,
        [(1, "user-data"), (1, "date-variable")],
    ),
    "name by subscript": ("Guest: {{ user['name'] }}\n" + RULES, [(1, "user-data")]),
    "memory before rules": (
        "{% for m in memories %}\n- {{ m.text }}\n{% endfor %}\n" + RULES,
        [(1, "retrieved-context")],
    ),
    "states of a home": ("Kettle: {{ states('switch.kettle') }}\n" + RULES, [(1, "retrieved-context")]),
    "sun of a home": ("{{ state_attr('sun.sun', 'next_rising') }}\n" + RULES, [(1, "retrieved-context")]),
    "state of each device": (
        "It is {{ now() }}\n{% for e in exposed_entities -%}\n{{ e.name }},{{ e.state }}\n{% endfor %}\n"
        + RULES,
        [(1, CLOCK), (3, "retrieved-context")],
    ),
    "shuffled tools": ("{% for t in tools | shuffle %}\n- {{ t }}\n{% endfor %}\n" + RULES, [(1, RANDOM)]),
    "one at random": ("Mood: {{ ['dry', 'warm'] | random }}\n" + RULES, [(1, RANDOM)]),
    "request id": ("[{{ request_id }}]\n" + RULES, [(1, "request-id")]),
    "question first": ("Question: {{ question }}\n" + RULES + RULES, [(1, "question-first")]),
    "newest message first": ("{{ messages[-1].content }}\n" + RULES + RULES, [(1, "question-first")]),
    "clock before an included file": ("{{ now() }}\n{% include 'rules.j2' %}\n", [(1, CLOCK)]),
    "clock before a system prompt": ("{{ now() }}\n{{ system_prompt }}\n", [(1, CLOCK)]),
    "clock before the history": (
        "{{ now() }}\n{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
        [(1, CLOCK)],
    ),
    "each old message stamped": (
        "{% for m in messages %}\n[{{ now() }}] {{ m.role }}: {{ m.content }}\n{% endfor %}",
        [(2, CLOCK)],
    ),
    "length of the history": ("Turn {{ messages | length }}.\n" + RULES, [(1, "counter")]),
    "a literal clock in the text": ("Current time: 2031-05-06 07:08:09\n" + RULES, [(1, "timestamp")]),
    "history before rules": (
        "{% for m in history %}{{ m }}\n{% endfor %}\n" + RULES + RULES,
        [(1, "history-first")],
    ),
}

STEADY = {
    "clock at the end": RULES + "It is {{ now() }}.\n",
    "set on top, put out at the end": "{% set at = now() %}\n" + RULES + "{{ at }}\n",
    "set and never put out": "{% set at = now() %}\n" + RULES,
    "comment": "{# It is {{ now() }} #}\n" + RULES,
    "raw": "{% raw %}Write {{ now() }} for the time.{% endraw %}\n" + RULES,
    "macro that is not called": "{% macro head() %}{{ now() }}{% endmacro %}\n" + RULES,
    "macro called at the end": "{% macro at() %}{{ now() }}{% endmacro %}\n" + RULES + "{{ at() }}",
    "constant default": (
        "{% if not date_string is defined %}{% set date_string = '26 Jul 2024' %}{% endif %}\n"
        "{{ 'Today Date: ' + date_string + '\\n\\n' }}\n" + RULES
    ),
    "constant default by filter": "Today: {{ date_string | default('26 Jul 2024') }}\n" + RULES,
    "constant of a template": "{{ 'Cutting Knowledge Date: December 2023\\nToday Date: 26 Jul 2024\\n' }}\n"
    + RULES,
    "year alone": "(c) {{ now().strftime('%Y') }} the garden\n" + RULES,
    "sorted tools": "{% for name, t in tools | dictsort %}\n- {{ name }}: {{ t }}\n{% endfor %}\n"
    + RULES
    + "{{ question }}",
    "tools as they come": "{% for t in tools %}\n- {{ t.name }}: {{ t.description }}\n{% endfor %}\n"
    + RULES
    + "{{ question }}",
    "grouped and sorted": "{% for g in tools | groupby('kind') %}{{ g.grouper }}{% endfor %}\n" + RULES,
    "draw with a seed": "{{ range(9) | random(seed='tea') }}\n" + RULES,
    "names of devices": "{% for e in exposed_entities %}{{ e.entity_id }},{{ e.name }}\n{% endfor %}\n"
    + RULES,
    "question at the end": RULES + "Question: {{ question }}\n{% if hint %}Hint: {{ hint }}{% endif %}",
    "alternatives with a question each": (
        "{% if short %}\n"
        + RULES * 2
        + "{{ question }}\n{% else %}\n"
        + RULES * 2
        + "{{ question }}\n{% endif %}"
    ),
    "asked whether it is there": "{% if strftime_now is defined %}{% endif %}\n" + RULES,
    "a date that was made before": "Founded {{ founded_date | strftime('%d %B %Y') }}.\n" + RULES,
    "name of the app": "You are {{ assistant_name }} of {{ company_name }}.\n" + RULES,
    "first message is the system's": "{{ messages[0]['content'] }}\n" + RULES + "{{ now() }}",
    "loop that only looks": (
        "{% for m in messages %}{% if m.role == 'system' %}{% set ns.s = 1 %}{% endif %}{% endfor %}\n"
        + RULES * 2
    ),
    "little behind the clock": "It is {{ now() }}. Be kind.",
}


@pytest.mark.parametrize("name", CHANGING)
def test_what_changes_is_found(name: str) -> None:
    text, expected = CHANGING[name]
    assert found(text, "jinja") == expected


@pytest.mark.parametrize("name", STEADY)
def test_what_stays_is_not(name: str) -> None:
    assert found(STEADY[name], "jinja") == []


THINKS = "<think>{{ m.reasoning_content }}</think>{{ m.content }}"
LOOP = "{%- for m in messages %}\n"
LAST_USER = (
    "{%- set ns = namespace(last_user=-1) %}{%- for m in messages %}{%- if m.role == 'user' %}"
    "{%- set ns.last_user = loop.index0 %}{%- endif %}{%- endfor %}\n"
)
REWRITING = {
    "reasoning behind the last user turn": (
        LAST_USER
        + LOOP
        + "{%- if m.role == 'assistant' and loop.index0 > ns.last_user %}\n"
        + THINKS
        + "{%- else %}{{ m.content }}{%- endif %}\n{%- endfor %}",
        3,
    ),
    "the other way round": (
        LAST_USER
        + LOOP
        + "{%- if ns.last_user < loop.index0 %}"
        + THINKS
        + "{%- else %}{{ m.content }}{%- endif %}{%- endfor %}",
        3,
    ),
    "by a switch that is set first": (
        LAST_USER
        + LOOP
        + "{%- set full = not (cut and loop.index0 < ns.last_user) %}\n{%- if full %}"
        + THINKS
        + "{%- else %}{{ m.content }}{%- endif %}{%- endfor %}",
        3,
    ),
    "nested, the outer one counts": (
        LAST_USER
        + LOOP
        + "{%- if loop.index0 > ns.last_user %}\n{%- if loop.last or m.reasoning_content %}"
        + THINKS
        + "{%- else %}{{ m.content }}{%- endif %}{%- else %}{{ m.content }}{%- endif %}{%- endfor %}",
        3,
    ),
    "cut at the end of the thinking": (
        LOOP + "{%- set c = m.content.split('</think>')[-1] %}\n{{ m.role }}: {{ c }}\n{%- endfor %}",
        2,
    ),
    "cut once": (LOOP + "{{ m.role }}: {{ m.content.split('</thoughts>', 1)[1] }}\n{%- endfor %}", 2),
    "cut by a pattern": (
        LOOP + "{{ m.content | regex_replace('<think>.*?</think>', '') }}\n{%- endfor %}",
        2,
    ),
    "thinking in the last turn alone": (
        LOOP + "\n{%- if loop.last %}" + THINKS + "{%- else %}{{ m.content }}{%- endif %}{%- endfor %}",
        3,
    ),
    "tools with the last message": (
        LOOP
        + "{%- if tools and m.role == 'user' and loop.last %}\n{{ tools | tojson }}{%- endif %}{{ m.content }}{%- endfor %}",
        2,
    ),
    "tools with the last user message": (
        "{%- set user_messages = messages | selectattr('role', 'equalto', 'user') | list %}\n"
        + LOOP
        + "{%- if tools and m == user_messages[-1] %}[TOOLS] {{ tools }}{%- endif %}{{ m.content }}{%- endfor %}",
        3,
    ),
    "a stamp on the last message": (
        LOOP + "{{ m.role }}: {{ m.content }}\n{% if loop.last %} (at {{ now() }}){% endif %}\n{%- endfor %}",
        3,
    ),
    "a window of the newest": (
        "{%- for m in messages[-8:] %}\n{{ m.role }}: {{ m.content }}{%- endfor %}",
        1,
    ),
    "a window of a length": ("Rules.\n{% for m in history[-window:] %}\n{{ m }}{% endfor %}", 2),
    "newest first": ("{%- for m in messages | reverse %}\n{{ m.role }}: {{ m.content }}{%- endfor %}", 1),
    "an empty thought in the reply alone": (
        LOOP + "<|{{ m.role }}|>{{ m.content }}\n{%- endfor %}\n"
        "{%- if add_generation_prompt %}<|assistant|><think>\n\n</think>{%- endif %}",
        4,
    ),
}
KEEPING = {
    "every turn alike": LOOP + "<|{{ m.role }}|>{{ m.content }}<|end|>\n{%- endfor %}",
    "reasoning of all turns": LOOP
    + "{%- if m.reasoning_content %}"
    + THINKS
    + "{%- else %}{{ m.content }}{%- endif %}{%- endfor %}",
    "kept unless told otherwise": (
        LAST_USER
        + LOOP
        + "{%- if preserve_thinking is undefined or preserve_thinking is true or loop.index0 > ns.last_user %}"
        + THINKS
        + "{%- else %}{{ m.content }}{%- endif %}{%- endfor %}"
    ),
    "taken apart and put together": (
        LOOP
        + "{%- set reasoning = m.content.split('</think>')[0] %}{%- set c = m.content.split('</think>')[-1] %}"
        "<think>{{ reasoning }}</think>{{ c }}{%- endfor %}"
    ),
    "begin of the reply": (
        LOOP
        + "<|{{ m.role }}|>{{ m.content }}"
        + "{%- if loop.last and add_generation_prompt %}<|assistant|>{%- endif %}{%- endfor %}"
    ),
    "end of turn but for the last": LOOP
    + "{{ m.content }}{%- if not loop.last %}<|end|>{%- endif %}{%- endfor %}",
    "errors that are raised": (
        LOOP
        + "{%- if loop.index0 > ns.last_query %}{{ raise_exception('too late') }}{%- endif %}{{ m.content }}{%- endfor %}"
    ),
    "tools in the first message": (
        LOOP + "{%- if loop.first and tools %}{{ tools | tojson }}{%- endif %}{{ m.content }}{%- endfor %}"
    ),
    "without the system message": "{% for m in messages[1:] %}{{ m.role }}: {{ m.content }}\n{% endfor %}",
    "last argument of a call": (
        LOOP
        + "{{ m.content }}{% for call in m.tool_calls %}{{ call.name }}"
        + "{% if not loop.last %}, {% endif %}{% endfor %}{%- endfor %}"
    ),
    "searched from the end": (
        "{% for m in messages[::-1] %}{% if m.role == 'user' %}{% set ns.i = loop.index0 %}{% endif %}{% endfor %}"
        + LOOP
        + "{{ m.content }}{%- endfor %}"
    ),
}


@pytest.mark.parametrize("name", REWRITING)
def test_a_history_that_is_rendered_anew(name: str) -> None:
    text, line = REWRITING[name]
    assert found(text, "jinja", "chat_template.jinja") == [(line, HISTORY)]


@pytest.mark.parametrize("name", KEEPING)
def test_a_history_that_stays(name: str) -> None:
    assert found(KEEPING[name], "jinja", "chat_template.jinja") == []


PAGES = {
    "views/bill.html.j2": "<html><body>{{ now() }}</body></html>" + RULES,
    "views/bill.jinja": "{# page #}\n<!DOCTYPE html>\n<p>{{ now() }}</p>" + RULES,
    "bill.j2": "{% extends 'base.html' %}{% block body %}{{ now() }}{% endblock %}" + RULES,
    "list.jinja2": "<div><p>{{ now() }}</p><table><tr><td>{{ x }}</td><td>a</td></tr></table></div>",
    "nginx.conf.j2": "# made {{ now() }}\n" + RULES,
    "unit.service.j2": "# made {{ now() }}\n" + RULES,
    "values.yaml.j2": "# made {{ now() }}\n" + RULES,
    "motd.j2": "{{ ansible_hostname }} {{ now() }}\n" + RULES,
}


@pytest.mark.parametrize("path", PAGES)
def test_pages_and_configurations_are_no_prompts(path: str) -> None:
    assert prompts(PAGES[path], "jinja", path) == []


@pytest.mark.parametrize("path", ["prompts/tea.yaml.j2", "prompts/tea.md.j2", "tea.txt.jinja", "system.j2"])
def test_prompts_with_two_suffixes_are(path: str) -> None:
    assert found("It is {{ now() }}.\n" + RULES, "jinja", path) == [(1, CLOCK)]


def test_tags_of_a_prompt_are_no_page() -> None:
    text = (
        "<rules>\nIt is {{ now() }}.\n<context>\n"
        + RULES
        + "</context>\n<p>Write one paragraph.</p>\n</rules>"
    )
    assert found(text, "jinja") == [(2, CLOCK)]


BROKEN = {
    "{{ now(": 1,
    "a\n{% if x %}\nb": 2,
    "a\n\n{% endif %}": 3,
    "{# a\nb": 1,
    "{{ 'a }}\nb": 1,
    "\n{% for x in y %}{% endif %}": 2,
    "{% raw %}\nx": 1,
    "\n{% set x %}b": 2,
    "\n" + "{% if a %}" * 100: 2,
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_template_that_is_broken_names_its_line(text: str) -> None:
    with pytest.raises(FormError) as error:
        prompts(text, "jinja")
    assert error.value.line == BROKEN[text]


def test_places_of_escapes() -> None:
    text = "x\n{{ 'a\\tb' ~ \"c\\u00e4d\" }}{{ q }}"
    segments = prompts(text, "jinja")[0].segments
    assert [s.text for s in segments] == ["x\n", "a\tb", "cäd", "{{ q }}"]
    assert text[segments[1].place(2)] == "b"
    assert text[segments[2].place(2)] == "d"


def test_what_is_trimmed_is_not_sent() -> None:
    assert static_text("a \n {%- if x -%} \n b {% endif %}", "jinja") == "ab "


@pytest.mark.parametrize(
    "text",
    [
        "{% macro a(x) %}{{ a(x) }}{{ a(x) }}{% endmacro %}{{ a(1) }}" + RULES,
        "{% set x = 'a' %}" + "{% set x = x ~ x %}" * 200 + "{{ x }}",
        "{{ " + "(" * 5000 + ")" * 5000 + " }}",
        "{{ " + "a if b else " * 3000 + "c }}",
        "{{ " + "a ~ " * 20000 + "c }}",
        "{{ '" + "\\'" * 50000 + "' }}",
        "{{" * 20000 + "}}" * 20000,
        "{% if a %}b{% else %}c{% endif %}" * 3000,
        "{% for m in messages %}{% if loop.last %}x{% endif %}{% endfor %}" * 300,
    ],
)
@pytest.mark.timeout(20)
def test_large_and_strange_templates_come_to_an_end(text: str) -> None:
    found(text, "jinja")
