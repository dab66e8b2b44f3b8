"""Mustache and Handlebars, and the variables of the programs that borrow their braces."""

from __future__ import annotations

from contextlib import suppress

import pytest
from linted import RULES, found, prompts, static_text

from promptorder.forms import FormError

PATH = "prompts/tea.hbs"
CLOCK = "template-clock"

CHANGING = {
    "names": ("Hello {{userName}} ({{ticketId}}).\n" + RULES, [(1, "user-data"), (1, "request-id")]),
    "triple braces": ("Hello {{{user_name}}}.\n" + RULES, [(1, "user-data")]),
    "ampersand": ("Hello {{& user_name}}.\n" + RULES, [(1, "user-data")]),
    "white space control": ("Asked at {{~ current_time ~}}\n" + RULES, [(1, "clock-variable")]),
    "a helper": ("It is {{now}}.\n" + RULES, [(1, CLOCK)]),
    "a helper with a format": ("It is {{date 'HH:mm'}}.\n" + RULES, [(1, CLOCK)]),
    "a chat front end": ("Local: {{CURRENT_DATETIME}}\n" + RULES, [(1, "clock-variable")]),
    "a chat front end's user": ("Guest: {{USER_NAME}}\n" + RULES, [(1, "user-data")]),
    "a flow's clock": ("It is {{ $now }}.\n" + RULES, [(1, CLOCK)]),
    "a flow's clock with a format": ("It is {{ $now.toFormat('HH:mm') }}.\n" + RULES, [(1, CLOCK)]),
    "a flow's input": ("{{ $json.chatInput }}\n" + RULES * 2, [(1, "question-first")]),
    "an app's question": ("{{#sys.query#}}\n" + RULES * 2, [(1, "question-first")]),
    "an app's context": ("{{#context#}}\n" + RULES, [(1, "retrieved-context")]),
    "in a section": ("{{#clock}}\nIt is {{current_time}}.\n{{/clock}}\n" + RULES, [(2, "clock-variable")]),
    "in a branch": ("{{#if a}}x{{else}}\nIt is {{current_time}}\n{{/if}}\n" + RULES, [(2, "clock-variable")]),
    "memories": ("{{#each memories}}\n- {{this}}\n{{/each}}\n" + RULES, [(1, "retrieved-context")]),
    "memories with a name": (
        "{{#each memories as |m|}}\n- {{m.text}}\n{{/each}}\n" + RULES,
        [(1, "retrieved-context")],
    ),
    "memories in a section": (
        "{{#memories}}\n- {{text}}\n{{/memories}}\n" + RULES,
        [(1, "retrieved-context")],
    ),
    "before the history": ("{{now}}\n{{#each messages}}{{role}}: {{content}}\n{{/each}}", [(1, CLOCK)]),
    "each message stamped": ("{{#messages}}\n[{{now}}] {{role}}: {{content}}\n{{/messages}}", [(2, CLOCK)]),
    "before a partial": ("{{now}}\n{{> rules}}\n", [(1, CLOCK)]),
    "other delimiters": ("{{=<% %>=}}\nIt is <% current_time %> {{x}}.\n" + RULES, [(2, "clock-variable")]),
    "a literal clock": ("Current time: 2031-05-06 07:08:09\n" + RULES, [(1, "timestamp")]),
    "history before rules": ("{{chat_history}}\n" + RULES * 2, [(1, "history-first")]),
}
STEADY = {
    "names at the end": RULES + "Guest {{user_name}} asks: {{question}}",
    "a clock at the end": RULES + "{{now}}",
    "comment": "{{! current_time: {now} }}\n" + RULES,
    "long comment": "{{!-- {{current_time}} --}}\n" + RULES,
    "escaped": "Write \\{{current_time}} for the time.\n" + RULES,
    "raw": "{{{{raw}}}}Write {{current_time}}.{{{{/raw}}}}\n" + RULES,
    "sections of a list": RULES + "{{#teas}}\n- {{name}}\n{{/teas}}",
    "tools": "{{#each tools}}- {{name}}: {{description}}\n{{/each}}\n" + RULES + "{{question}}",
    "asked whether it is there": "{{#if user_name}}Be personal.{{/if}}\n" + RULES,
    "branches with a question each": (
        "{{#if short}}" + RULES * 2 + "{{question}}{{else}}" + RULES * 2 + "{{question}}{{/if}}"
    ),
    "inverted branch": "{{#a}}" + RULES * 2 + "{{question}}{{/a}}{{^a}}" + RULES * 2 + "{{question}}{{/a}}",
    "constants": "{{app_name}} {{model_id}} {{output_language}}\n" + RULES,
    "role markers": '{{role "system"}}\n' + RULES + '{{role "user"}}\n{{question}}',
    "a partial": "{{> rules}}\n{{now}}",
}


@pytest.mark.parametrize("name", CHANGING)
def test_what_changes_is_found(name: str) -> None:
    text, expected = CHANGING[name]
    assert found(text, "mustache", PATH) == expected


@pytest.mark.parametrize("name", STEADY)
def test_what_stays_is_not(name: str) -> None:
    assert found(STEADY[name], "mustache", PATH) == []


def test_a_page_is_no_prompt() -> None:
    assert prompts("<!DOCTYPE html><p>{{now}}</p>" + RULES, "mustache", "views/bill.hbs") == []


def test_what_is_static() -> None:
    assert (
        static_text("a{{! b }}c{{x}}d\\{{e}}f{{{{raw}}}}g{{h}}{{{{/raw}}}}i", "mustache")
        == "acd{{e}}fg{{h}}i"
    )


BROKEN = {
    "a\n{{x": 2,
    "\n{{#x}}y": 2,
    "{{#x}}\n{{/y}}": 2,
    "\n\n{{/y}}": 3,
    "{{!-- x": 1,
    "{{{{raw}}}} x": 1,
    "{{{x}}": 1,
    "{{#x}}" * 100: 1,
    "{{#}}": 1,
}


@pytest.mark.parametrize("text", BROKEN)
def test_a_template_that_is_broken_names_its_line(text: str) -> None:
    with pytest.raises(FormError) as error:
        prompts(text, "mustache", PATH)
    assert error.value.line == BROKEN[text]


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        "{{#a}}b{{else}}c{{/a}}" * 5000,
        "{{" * 50000,
        "{{=a b=}}" + "a x b" * 9000,
        "\\{{" * 20000,
        "{{x}} " * 20000,
    ],
)
def test_large_and_strange_templates_come_to_an_end(text: str) -> None:
    with suppress(FormError):
        found(text, "mustache", PATH)
