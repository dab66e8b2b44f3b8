"""Cases of texts: clocks, dates, ids, counters, surroundings, placeholders, and what looks like them and stays."""

from __future__ import annotations

from own_cases import FORGE, GARDEN, OwnCase

CASES = [
    OwnCase(
        "ha-clock", "system.txt", "Current time is 21:04:55. Today's date is 2026-05-11.§\n" + GARDEN + "\n"
    ),
    OwnCase(
        "ha-clock-mid",
        "system.txt",
        GARDEN.replace("\nSeeds are", "\nThe clock on the gate shows 08:41:09 now.§\nSeeds are") + "\n",
    ),
    OwnCase("datetime-last", "system.txt", GARDEN + "\nNow it is 2026-05-11 08:41:09.\n"),
    OwnCase("rfc2822", "system.txt", "Date: Mon, 11 May 2026 08:41:09 +0200§\n" + FORGE + "\n"),
    OwnCase("epoch-ms", "system.txt", "unix_ms=1778481669123§\n" + FORGE + "\n"),
    OwnCase("epoch-s", "system.txt", "Generated at 1778481669§\n" + FORGE + "\n"),
    OwnCase("german", "system.txt", "Heute ist Montag, der 11. Mai 2026, 08:41 Uhr.§\n" + FORGE + "\n"),
    OwnCase("french", "system.txt", "Nous sommes le lundi 11 mai 2026, il est 8h41.§\n" + FORGE + "\n"),
    OwnCase("chinese", "system.txt", "当前时间:2026年5月11日 08:41§\n" + FORGE + "\n"),
    OwnCase("korean", "system.txt", "현재 시각: 2026년 5월 11일 오전 8시 41분§\n" + FORGE + "\n"),
    OwnCase("polish", "system.txt", "Dzisiaj jest 11 maja 2026.§\n" + FORGE + "\n"),
    OwnCase(
        "md-memory-meta",
        "system.txt",
        "<memory_metadata>\n"
        "- last recalled: 2026-05-11T08:41:09.512Z§\n"
        "- blocks: 3\n"
        "</memory_metadata>\n" + FORGE + "\n",
    ),
    OwnCase(
        "hours-clean2",
        "system.txt",
        GARDEN.replace(
            "House three", "Opening hours: 9:00 - 17:30 in summer, 10:00 - 16:00 in winter.\nHouse three"
        )
        + "\n",
    ),
    OwnCase(
        "founded-clean",
        "system.txt",
        "You answer for the garden founded on 12 March 1887 and reopened on 4 May 2019.\n" + GARDEN + "\n",
    ),
    OwnCase(
        "cutoff-and-date",
        "system.txt",
        "Knowledge cutoff: 2024-06\nCurrent date: 2026-05-11§\n" + FORGE + "\n",
    ),
    OwnCase(
        "fewshot-clean",
        "system.txt",
        "Turn a sentence into a row.\n"
        "Input: paid on 2024-03-02\n"
        "Output: 2024-03-02 | paid\n"
        "Input: sent 14:20 yesterday\n"
        "Output: 14:20 | sent\n" + FORGE + "\n",
    ),
    OwnCase("version-clean", "system.txt", "Prompt v2.3 (2025-11-02)\n" + FORGE + "\n"),
    OwnCase("short-behind", "system.txt", "Now: 2026-05-11 08:41:09\nName the next bus in one word.\n"),
    OwnCase(
        "scratchpad",
        "system.txt",
        "Your scratchpad is at /tmp/kiln-1000/3b241101-e2bb-4255-8caf-4136c566a962/scratchpad§\n"
        + FORGE
        + "\n",
    ),
    OwnCase(
        "message-id",
        "system.txt",
        'Inbound message. message_id: "3b241101-e2bb-4255-8caf-4136c566a962"§\n' + FORGE + "\n",
    ),
    OwnCase(
        "conv-id",
        "system.txt",
        "CONVERSATION_ID=3b241101-e2bb-4255-8caf-4136c566a962§\n"
        "Last recompiled: 2026-05-11 08:41:09§\n" + FORGE + "\n",
    ),
    OwnCase(
        "copilot-dir",
        "system.txt",
        "Write files only under /tmp/copilot-3b241101e2bb42558caf4136c566a962/.§\n" + FORGE + "\n",
    ),
    OwnCase(
        "billing",
        "system.txt",
        "x-forge-billing-header: cc_version=2.1.63.a43; cc_entrypoint=cli; cch=5f2e1;§\n" + FORGE + "\n",
    ),
    OwnCase("nanoid", "system.txt", "session V1StGXR8_Z5jdHi6B-myT opened§\n" + FORGE + "\n"),
    OwnCase(
        "tokens-left",
        "system.txt",
        "<budget>Token usage: 41877/200000; 158123 remaining</budget>§\n" + FORGE + "\n",
    ),
    OwnCase("turn-of", "system.txt", "This is turn 7 of at most 20.§\n" + FORGE + "\n"),
    OwnCase(
        "steps-clean",
        "system.txt",
        "Step 1 of 3: read the order.\nStep 2 of 3: read the drawing.\nStep 3 of 3: answer.\n" + FORGE + "\n",
    ),
    OwnCase(
        "env-block",
        "system.txt",
        "<env>\n"
        "Working directory: /home/kim/src/forge§\n"
        "Is directory a git repo: Yes\n"
        "Platform: linux‡\n"
        "OS Version: Linux 6.8.0‡\n"
        "Today's date: 2026-05-11§\n"
        "</env>\n" + FORGE + "\n",
    ),
    OwnCase(
        "env-last",
        "system.txt",
        FORGE + "\nWorking directory: /home/kim/src/forge\nCurrent branch: feat/latch-7\n",
    ),
    OwnCase(
        "webui-date",
        "system.txt",
        "Today: {{CURRENT_DATE}}, {{CURRENT_WEEKDAY}}§\n"
        "Asked by {{USER_NAME}} from {{USER_LOCATION}}§\n" + GARDEN + "\n",
    ),
    OwnCase("percent", "system.txt", "Clock: %(now)s§\n" + GARDEN + "\n"),
    OwnCase("erb", "system.txt", "Clock: <%= Time.now %>§\n" + GARDEN + "\n"),
    OwnCase(
        "llama-header",
        "system.txt",
        "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n"
        "Cutting Knowledge Date: December 2023\n"
        "Today Date: {datetime}§\n" + GARDEN + "<|eot_id|>\n",
    ),
    OwnCase(
        "question-first",
        "system.txt",
        "{question}§\n\nAnswer from the rules below.\n" + GARDEN + "\n" + FORGE + "\n",
    ),
    OwnCase("question-last", "system.txt", GARDEN + "\n" + FORGE + "\n{question}\n"),
    OwnCase(
        "memories-first",
        "system.txt",
        "What you remember about this person:\n{memories}§\n" + GARDEN + "\n" + FORGE + "\n",
    ),
    OwnCase("profile-mid", "system.txt", GARDEN + "\nVisitor profile: {{visitor_profile}}§\n" + FORGE + "\n"),
    OwnCase(
        "date-words-clean",
        "system.txt",
        "Extract every date and time that is named in the text, as ISO 8601.\n"
        + FORGE
        + "\nText: {document}\n",
    ),
    OwnCase(
        "md-heading", "system.md", "# Forge clerk\n\n> Session started: 2026-05-11 08:41§\n\n" + FORGE + "\n"
    ),
    OwnCase(
        "md-front-date",
        "prompt.md",
        "---\ntitle: Forge\ndate: 2026-05-11\nid: 3b241101-e2bb-4255-8caf-4136c566a962\n---\n" + FORGE + "\n",
    ),
    OwnCase(
        "md-table-clean",
        "rules.md",
        "# Shifts\n"
        "\n"
        "| day | from | to |\n"
        "|---|---|---|\n"
        "| Mon | 04:30 | 11:00 |\n"
        "| Tue | 04:00 | 10:30 |\n"
        "\n" + FORGE + "\n",
    ),
    OwnCase(
        "md-news-clean",
        "kb.md",
        "# News of the forge\n"
        "\n"
        "11 May 2026: the canal road is open again.\n"
        "\n"
        "3 April 2026: new coal.\n"
        "\n" + FORGE + "\n",
    ),
    OwnCase(
        "md-cursor",
        "system.md",
        "The cursor is in {{cursor_position}} of {{current_file}}.§\n" + FORGE + "\n",
    ),
    OwnCase(
        "prompt-ticks-clean",
        "guide.md",
        "Use `{{ now() }}` for the clock and `{{ user }}` for the name.\n" + FORGE + "\n",
    ),
    OwnCase(
        "sysinst", "system.txt", "[System Instructions] Current datetime: 2026-06-03 19:05§\n" + GARDEN + "\n"
    ),
    OwnCase(
        "season-clean",
        "system.txt",
        "The hut is open from December 12 to April 6, daily from 8:30 to 16:45.\n" + GARDEN + "\n",
    ),
    OwnCase(
        "api-doc-clean",
        "system.txt",
        "GET /loans?since=2026-06-03T19:05:31Z returns loans since then; request ids look like req_7fK2m9QzL1.\n"
        + FORGE
        + "\n",
    ),
    OwnCase("commit-clean", "system.txt", "The rules were last changed in commit 4f2a9c1.\n" + FORGE + "\n"),
    OwnCase("reqid-bracket", "system.txt", "[rid=7f3a9c2e]§\n" + FORGE + "\n"),
    OwnCase("countdown", "system.txt", "Context left: 38,211 tokens§\n" + FORGE + "\n"),
    OwnCase(
        "tree",
        "system.txt",
        "Files in the project:\n./README.md§\n./src/a.py\n./src/b.py\n"
        + "\n".join(f"./src/part{i}.py" for i in range(12))
        + "\n"
        + FORGE
        + "\n",
    ),
    OwnCase(
        "diff-first",
        "system.txt",
        "git diff --stat:\n"
        " src/a.py | 4 ++--§\n"
        " 1 file changed, 2 insertions(+), 2 deletions(-)¤\n" + FORGE + "\n",
    ),
    OwnCase("ph-scratch-last-clean", "system.txt", FORGE + "\n{input}\n{agent_scratchpad}\n"),
    OwnCase(
        "ph-history-before-rules", "system.txt", "{chat_history}§\n" + FORGE + "\n" + GARDEN + "\n{input}\n"
    ),
    OwnCase(
        "ph-double-escaped-clean",
        "system.txt",
        'Write JSON such as {{"date": "..."}}.\n' + FORGE + "\n{input}\n",
    ),
]
