"""Values in static text: which look filled in, and which are examples, documentation or history.

Each text stands in front of rules that are worth to be reused, so all that decides is the value and what is around it.
"""

from __future__ import annotations

import pytest
from linted import RULES, found

FILLED_IN = {
    # clocks
    "Current time: 2031-05-06T07:08:09Z": {"timestamp"},
    "Current time: 2031-05-06T07:08:09.123456+02:00": {"timestamp"},
    "It is now 07:08:09.": {"timestamp"},
    "The time is 7:08 PM.": {"timestamp"},
    "Time: 07:08": {"timestamp"},
    "Now: 2031/05/06 07:08": {"timestamp"},
    "now = 1936681689": {"timestamp"},
    "Unix time: 1936681689123": {"timestamp"},
    "System clock reads 2031-05-06 07:08:09.": {"timestamp"},
    "[2031-05-06 07:08:09] tea counter online": {"timestamp"},
    "Tuesday, May 6, 2031 at 7:08 AM": {"timestamp"},
    "Today is Tuesday, May 6th, 2031, 07:08.": {"timestamp"},
    "Tue May  6 07:08:09 UTC 2031": {"timestamp"},
    "Tue, 06 May 2031 07:08:09 GMT": {"timestamp"},
    "20310506T070809Z session start": {"timestamp"},
    "Es ist jetzt 07:08 Uhr.": {"timestamp"},
    "Aktuelle Uhrzeit: 06.05.2031 07:08": {"timestamp"},
    "Il est maintenant 07:08.": {"timestamp"},
    "Hora actual: 07:08:09": {"timestamp"},
    "Hora atual: 07:08:09": {"timestamp"},
    "Ora attuale: 07:08:09": {"timestamp"},
    "Сейчас 07:08:09.": {"timestamp"},
    "现在时间：2031年5月6日 7时8分": {"timestamp", "date"},
    "当前时间：2031-05-06 07:08:09": {"timestamp"},
    "現在時刻は7時8分です。": {"timestamp"},
    "현재 시각: 오전 7시 8분": {"timestamp"},
    "Last refreshed: 2031-05-06T07:08:09Z": {"timestamp"},
    "This prompt was rendered at 07:08:09 on the kitchen host.": {"timestamp"},
    "<current_time>2031-05-06T07:08:09Z</current_time>": {"timestamp"},
    "<time>07:08:09</time>": {"timestamp"},
    '{"now": "2031-05-06T07:08:09Z"}': {"timestamp"},
    "Current date and time: May 6, 2031 07:08": {"timestamp"},
    # dates
    "Today is 2031-05-06.": {"date"},
    "Today's date: 6 May 2031": {"date"},
    "Today's date is Tuesday, 6 May 2031.": {"date"},
    "Current date: 05/06/2031": {"date"},
    "Date: 2031-05-06": {"date"},
    "You are speaking with Ada on 2031-05-06.": {"date"},
    "Heute ist der 6. Mai 2031.": {"date"},
    "Heute ist Dienstag, der 6. Mai 2031.": {"date"},
    "Datum: 06.05.2031": {"date"},
    "Nous sommes le 6 mai 2031.": {"date"},
    "Aujourd'hui : 6 mai 2031": {"date"},
    "Hoy es 6 de mayo de 2031.": {"date"},
    "Hoje é 6 de maio de 2031.": {"date"},
    "Oggi è il 6 maggio 2031.": {"date"},
    "Сегодня 6 мая 2031 года.": {"date"},
    "今日は2031年5月6日です。": {"date"},
    "今天是2031年5月6日。": {"date"},
    "오늘은 2031년 5월 6일입니다.": {"date"},
    "As of 2031-05-06 the counter has twelve blends.": {"date"},
    "Vandaag is het 6 mei 2031.": {"date"},
    # ids
    "request_id: 5f0c2a9e-71b4-4c1e-9d55-0b8a3f6d2e10": {"request-id"},
    "[request 5f0c2a9e-71b4-4c1e-9d55-0b8a3f6d2e10]": {"request-id"},
    "Session: sess_9f2Kd81mZq": {"request-id"},
    "X-Request-Id: req_8Kd02mZq1vB7": {"request-id"},
    "trace-id 4bf92f3577b34da6a3ce929d0e0e4736": {"request-id"},
    "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01": {"request-id"},
    "nonce=9f86d081884c7d65": {"request-id"},
    "cache-bust 9f86d081": {"request-id"},
    "x-anthropic-billing-header: cc_version=2.1; cch=a1b2c3d4e5;": {"request-id"},
    "CONVERSATION_ID: 5f0c2a9e-71b4-4c1e-9d55-0b8a3f6d2e10": {"request-id"},
    "Message id: 01JPA3M8W2Q6T0X9R4Y7KZB5CD": {"request-id"},
    "Scratch folder: /tmp/kit-5f0c2a9e-71b4-4c1e-9d55-0b8a3f6d2e10/": {"request-id", "environment"},
    "Build hash: 9f86d081884c7d659a2feaa0c55ad015": {"request-id"},
    # surroundings
    "Working directory: /home/ada/tea": {"environment"},
    "cwd: C:\\Users\\ada\\tea": {"environment"},
    "Current branch: feature/oolong": {"environment"},
    "git status: 3 files changed, 1 untracked": {"environment"},
    "<cwd>/home/ada/tea</cwd>": {"environment"},
    "Primary working directory: /Users/ada/tea-worktrees/oolong": {"environment"},
    # counters
    "48123 tokens left.": {"counter"},
    "Turn 7 of 20": {"counter"},
    "This is request #12 of the day.": {"counter"},
    "Token usage: 12000/200000; 188000 remaining": {"counter"},
    "Step 3/10": {"counter"},
    # questions
    "Question: is the oolong from this spring?": {"question-first"},
    "User query: which tea is mild?": {"question-first"},
    "## Ticket: the pot leaks": {"question-first"},
    "Frage: Welcher Tee ist mild?": {"question-first"},
    "问题：今天有绿茶吗？": {"question-first"},
}

FIXED = [
    "The counter was founded on 6 May 2011.",
    "Open from 09:00 to 17:30, on Sundays 10:00-16:00.",
    "Opening hours: Mon-Fri 9:00 AM - 5:30 PM",
    "Öffnungszeiten: 09:00 bis 17:30 Uhr",
    "The last order is taken at 17:15 every day.",
    "Afternoon tea is served at 4:00 PM.",
    "Boats leave at 07:15, 09:45 and 12:30.",
    "| 07:15 | pier A |\n| 09:45 | pier B |\n| 12:30 | pier C |",
    "- 07:15 first pot\n- 09:45 second pot\n- 12:30 third pot",
    "Version 2.4.0 (2031-05-06)",
    "Released on 2031-05-06.",
    "Last updated: 2031-05-06",
    "Knowledge cutoff: 2031-05",
    "Knowledge cutoff: December 6, 2030",
    "This policy is effective from 2031-05-06 until 2032-05-06.",
    "Under the act of 6 May 1998 the label must name the harvest.",
    "§ 4 in the version of 6 May 1998 applies.",
    "Copyright 2031-05-06 the tea counter",
    "Dates are written as YYYY-MM-DD, for example 2031-05-06.",
    "Use ISO 8601, e.g. 2031-05-06T07:08:09Z.",
    'The field "created_at" looks like "2031-05-06T07:08:09Z".',
    "`2031-05-06T07:08:09Z` is a timestamp.",
    "```\nnow: 2031-05-06T07:08:09Z\n```",
    "User: what is on 2031-05-06?\nAssistant: a tasting.",
    'Input: it is 07:08 -> Output: {"time": "07:08"}',
    'Example: "Today is 2031-05-06" gives Tuesday.',
    "Examples:\nToday is 2031-05-06. -> Tuesday\nToday is 2031-05-07. -> Wednesday",
    'As Okakura wrote on 6 May 1906, "teaism is a cult".',
    "A verse such as John 3:16 is quoted in full.",
    "Mix water and leaves 3:10 by weight.",
    "The score was 2:31 in the first half.",
    "Aspect ratio 16:09 is preferred.",
    "Call 555-2031-05 for the pharmacy.",
    "Ports 8080:80 are mapped.",
    "Price list 2031: oolong 12, sencha 9.",
    "Model card: trained until 2030-12-06, published 2031-05-06.",
    "license: apache-2.0, date: 2031-05-06 (release)",
    "The commit 9f86d081884c7d65 fixed the kettle.",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 is the digest of the model.",
    "Ids look like `req_8Kd02mZq1vB7`.",
    "An id such as 5f0c2a9e-71b4-4c1e-9d55-0b8a3f6d2e10 is a UUID.",
    "Order numbers have the form T-20310506.",
    "Put files under /usr/share/tea and nowhere else.",
    "Never write to /etc or /home.",
    "Run `cd /home/ada/tea` first.",
    "Ask at most 3 questions; stop after 5 steps.",
    "You have 20 turns in all.",
    "Step one is to list the blends.",
    "Q: is it open?\nA: yes.\nQ: is it free?\nA: no.",
    "Question: is it open?\nAnswer: yes.\n\nQuestion: is it free?\nAnswer: no.",
    "Question types: open, closed, rhetorical.",
    "The user's question follows at the end.",
    "Use the branch main for all releases.",
    "In 2031 the garden turns 100.",
    "May 2031 had thirty-one days.",
    "Holidays:\n2031-01-01 New Year\n2031-05-01 May Day\n2031-12-25 Christmas",
    "Changelog\n=========\n2031-05-06: more blends\n2031-04-02: fewer blends",
    "Our founder was born on 6 May 1931.",
    "Bookings after 2031-05-06 need a deposit.",
    "The deadline is 2031-05-06 17:00.",
    "Timeout: 00:30:00",
    "Each slot lasts 00:45:00.",
    "The meeting on 2031-05-06 at 14:00 was about cups.",
    "Cooking time: 01:30",
    "Response time must stay under 0:02.",
    "GET /v1/teas?since=2031-05-06T07:08:09Z",
    "ISBN 978-3-16-148410-0",
    "uuid: string (for instance 5f0c2a9e-71b4-4c1e-9d55-0b8a3f6d2e10)",
    "Time zone: UTC+02:00",
    "Night is from 22:00 until 06:00.",
]


@pytest.mark.parametrize("head", FILLED_IN)
def test_values_that_were_filled_in(head: str) -> None:
    rules = FILLED_IN[head]
    assert {name for _, name in found(f"{head}\n\n{RULES}{RULES}", "text", "tea.txt")} == rules


@pytest.mark.parametrize("head", FILLED_IN)
def test_the_same_values_behind_all_else(head: str) -> None:
    assert found(f"{RULES}{RULES}\n{head}\n", "text", "tea.txt") == []


@pytest.mark.parametrize("head", FIXED)
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_values_that_stay(head: str, form: str) -> None:
    assert found(f"{head}\n\n{RULES}{RULES}", form, "tea.txt") == []


@pytest.mark.parametrize("head", FIXED)
def test_values_that_stay_further_down(head: str) -> None:
    assert found(f"Be kind.\n\n{RULES}\n{head}\n\n{RULES}{RULES}", "text", "tea.txt") == []
