"""What lint once said of documentation and programs that nobody wrote for it, and must not say again; in our own words."""

from __future__ import annotations

from own_cases import FORGE, GARDEN, OwnCase, indented

_RST = """List the orders
---------------

Lists the orders of a week. ::

    forge orders list \\
        --start-time 1938481669 \\
        --order-id 3b241101-e2bb-4255-8caf-4136c566a962

Output::

    {
        "CreationTime": 1938481669.123,
        "requestId": "7d0f2f7e-0c55-4b4e-9b4d-5a6b7c8d9e0f",
        "Message": "Dear {username}, you ordered on {current_date}.",
        "matches": "refs/heads/{branch}"
    }

"""

CASES = [
    OwnCase("code below two colons", "orders.rst.txt", _RST + FORGE + "\n"),
    OwnCase(
        "options of a command",
        "use.md",
        "forge get --job-id c557dc4a-0338-4489-95dd-739014860ff9 --since 2031-06-03T08:41:09Z\n"
        + FORGE
        + "\n",
    ),
    OwnCase(
        "a badge",
        "readme.md",
        "[![Build](https://ci.example.org/forge/badge.svg?branch=main)](https://ci.example.org/forge)\n"
        + FORGE
        + "\n",
    ),
    OwnCase(
        "a number under a key",
        "log.md",
        'Lines look so: {"level":30,"time":1938481669107,"host":"anvil"}\n' + FORGE + "\n",
    ),
    OwnCase(
        "as of, far from the top",
        "kb.md",
        GARDEN + "\nThe path has 14 benches as of July 4, 2031.\n" + FORGE + "\n",
    ),
    OwnCase(
        "the types of an interface",
        "api.md",
        "* `request` {http.ClientRequest}\n* Returns: {forge.OrderResponse}\n" + FORGE + "\n" + GARDEN + "\n",
    ),
    OwnCase(
        "routes of an interface", "api.md", "POST /orders/{session_id}/close ends an order.\n" + FORGE + "\n"
    ),
    OwnCase(
        "a shell variable in a quoted command",
        "notes.txt",
        "Bring it back with 'git checkout $branch' and go on.\n" + FORGE + "\n",
    ),
    OwnCase(
        "a place in a history",
        "notes.txt",
        'Use "main@{yesterday}" or main@{now} to see what changed.\n' + FORGE + "\n",
    ),
    OwnCase("an old letter", "mail.txt", "From anvil@example.org Fri Apr 06 16:46:09 2001\n" + FORGE + "\n"),
    OwnCase(
        "a date of version control",
        "copying.txt",
        ":Date: $Date: 2031-06-03 18:54:46 +0200 $\n" + FORGE + "\n",
    ),
    OwnCase(
        "the commit of a fixed file",
        "deprecations.md",
        GARDEN + "\ncommit: af80e7bc6e6f33c582eb1f7d37c7f5bbe9f910f7\n" + FORGE + "\n",
    ),
    OwnCase(
        "where memory is kept",
        "memory.md",
        "Notes lie under {{ memory_root }}/ and below.\n" + FORGE + "\n" + GARDEN + "\n",
    ),
    OwnCase(
        "JSON with doubled braces",
        "p.txt",
        'Reply as {{"date": "...", "order": "..."}}.\n' + FORGE + "\n{input}\n",
    ),
    OwnCase("the steps of the present turn", "p.txt", FORGE + "\n{input}\n{agent_scratchpad}\n"),
    OwnCase(
        "a label and its answer",
        "p.txt",
        "Input: sent 14:20 yesterday\nOutput: 14:20 | sent\n" + FORGE + "\n",
    ),
    OwnCase(
        "a short line of digits for a word",
        "p.txt",
        "The session MaximumLengthOfALine ends at noon.\n" + FORGE + "\n",
    ),
    OwnCase(
        "code in a template among data",
        "agent.yaml",
        'system_prompt: |-\n  Write code such as:\n  print(f"Population {city}: {question}")\n'
        + indented(FORGE, 2)
        + "\n"
        + indented(GARDEN, 2)
        + "\n  {%- for tool in tools.values() %}\n  - {{ tool.name }}\n  {%- endfor %}\n",
    ),
]
