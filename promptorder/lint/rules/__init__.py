"""Rules, one file each; the file name is the rule's name.

A module defines ``CODE`` (never used for another rule), ``CHANGES`` (how often the value changes), ``SEVERITY``, ``TIP`` (one
sentence), ``WORTH`` (how many static tokens must be lost behind it to be worth a word; a chat history always is), and
its docstring, which is its page. What it looks for it says in one or more of these:

- ``TRIGGERS``: regular expressions (of the RE2 kind); only a text in which one of them matches is given to
- ``literals(segment, around, context) -> Iterator[Found]``: values in static text that change;
- ``KINDS``: the kinds of variables and computed segments that it reports (see ``lint._names``, and the readers);
- ``check(prompt, source) -> Iterator[Hit]``: for what is not one place in a text but the prompt as a whole;
- ``compare(before, now, log) -> ...``: for logs, see ``lint.logs``.
"""
