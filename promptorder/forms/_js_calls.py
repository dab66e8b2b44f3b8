"""What calls of JavaScript's runtimes and of well-known packages return: a clock, chance, the surroundings, a search."""

from __future__ import annotations

import re

CLOCK, RANDOM, UNORDERED = "clock-call", "random-call", "unordered"
ENVIRONMENT, RETRIEVED = "environment", "retrieved-context"
Judged = tuple[str, str]

_NOW: Judged = (CLOCK, "request")
_DRAWN: Judged = (RANDOM, "request")
_FOLDER: Judged = (ENVIRONMENT, "checkout")
_MACHINE: Judged = (ENVIRONMENT, "machine")
_FIXED: Judged = ("fixed", "")

_FULL: dict[str, Judged] = {
    "Date": _NOW, "Date.now": _NOW, "performance.now": _NOW, "process.hrtime": _NOW, "process.hrtime.bigint": _NOW,
    "process.uptime": _NOW, "DateTime.now": _NOW, "DateTime.local": _NOW, "DateTime.utc": _NOW, "dayjs": _NOW, "moment": _NOW,
    "dayjs.utc": _NOW, "moment.utc": _NOW, "dayjs.tz": _NOW, "Temporal.Now.instant": _NOW, "Temporal.Now.zonedDateTimeISO": _NOW,
    "Temporal.Now.plainDateTimeISO": _NOW, "Temporal.Now.plainTimeISO": _NOW, "Temporal.Now.plainDateISO": (CLOCK, "day"),
    "DateTime.now.toISODate": (CLOCK, "day"), "Clock.now": _NOW,
    "Math.random": _DRAWN, "crypto.randomUUID": _DRAWN, "uuid": _DRAWN, "uuidv4": _DRAWN, "uuidv1": _DRAWN, "uuidv7": _DRAWN,
    "uuid.v4": _DRAWN, "uuid.v1": _DRAWN, "uuid.v7": _DRAWN, "v4": _DRAWN, "v7": _DRAWN, "cuid": _DRAWN, "createId": _DRAWN,
    "ulid": _DRAWN, "nanoid": _DRAWN, "generateId": _DRAWN, "randomUUID": _DRAWN, "randomBytes": _DRAWN, "randomInt": _DRAWN,
    "crypto.getRandomValues": _DRAWN, "shortid": _DRAWN, "shortid.generate": _DRAWN, "Bun.randomUUIDv7": _DRAWN,
    "process.cwd": _FOLDER, "Deno.cwd": _FOLDER, "cwd": _FOLDER,
    "os.hostname": _MACHINE, "os.userInfo": _MACHINE, "os.homedir": _MACHINE, "os.networkInterfaces": _MACHINE,
    "hostname": _MACHINE, "homedir": _MACHINE, "userInfo": _MACHINE, "Deno.hostname": _MACHINE, "os.tmpdir": _MACHINE,
    "os.loadavg": (ENVIRONMENT, "request"), "os.freemem": (ENVIRONMENT, "request"), "os.uptime": (ENVIRONMENT, "request"),
    "process.memoryUsage": (ENVIRONMENT, "request"),
}  # fmt: skip
_LAST: dict[str, Judged] = {
    "randomUUID": _DRAWN, "randomBytes": _DRAWN, "randomInt": _DRAWN, "shuffle": _DRAWN, "sampleSize": _DRAWN, "sample": _DRAWN,
    "shuffled": _DRAWN, "arrayShuffle": _DRAWN, "shuffleArray": _DRAWN, "knuthShuffle": _DRAWN, "nanoid": _DRAWN, "uuidv4": _DRAWN,
    "readdirSync": (UNORDERED, "checkout"), "readdir": (UNORDERED, "checkout"), "readDirSync": (UNORDERED, "checkout"),
    "globSync": (UNORDERED, "checkout"), "globby": (UNORDERED, "checkout"), "globbySync": (UNORDERED, "checkout"),
}  # fmt: skip
_ATTRIBUTES: dict[str, Judged] = {
    "process.platform": ("machine-part", "machine"), "process.arch": ("machine-part", "machine"),
    "process.version": ("machine-part", "machine"), "process.pid": (ENVIRONMENT, "process"), "os.EOL": _FIXED,
    "process.argv": _FIXED, "window.location.href": ("user-data", "user"), "navigator.userAgent": ("user-data", "user"),
    "performance.timeOrigin": _NOW,
}  # fmt: skip
_PARTS = frozenset(
    (
        "os.platform", "os.type", "os.release", "os.arch", "os.version", "os.machine", "platform", "release", "arch",
    )
)  # fmt: skip
_SHELL = frozenset(
    "execSync exec execFileSync execFile spawnSync execa execaSync execaCommand execaCommandSync".split()
)
_GIT = re.compile(r"git|pwd|\bls\b|\bdir\b|hostname|uname|whoami|tree|find ", re.IGNORECASE)
_DATE_COMMAND = re.compile(r"^['\"`]date\b")
_SEARCHES = frozenset(
    "similaritySearch similaritySearchWithScore maxMarginalRelevanceSearch getRelevantDocuments retrieve retrieveContext "
    "hybridSearch vectorSearch semanticSearch searchMemories searchMemory getMemories recall recallMemories nearText".split()
)
_MAY_SEARCH = frozenset("search query lookup find invoke get match similar".split())
_STORES = re.compile(
    r"store|index|database|collection|retriev|knowledge|vector|memor|rag\b|\bkb\b|archive|mem0|qdrant|chroma|pinecone|weaviate|"
    r"milvus|notes|docs|corpus|library|search|embed",
    re.IGNORECASE,
)
_TIME_OPTION = re.compile(
    r"\b(?:hour|minute|second|timeStyle|fractionalSecondDigits|dayPeriod)\b|TIME_|DATETIME_"
)
_DAY_OPTION = re.compile(r"\b(?:day|weekday|dateStyle)\b|DATE_")
_MONTH_OPTION = re.compile(r"\b(?:month|year|era)\b")
_QUOTED = re.compile(r"\[[^\]]*\]|'[^']*'")
_TIME_TOKEN = re.compile(r"[HhmsSkKTtpfFxX]|LT|LLL")
_DAY_TOKEN = re.compile(r"[dDEecoiP]|L")
_LITERAL = re.compile(r"""^\s*(["'`])(.*?)\1""", re.DOTALL)

_DAILY = frozenset((
    "toDateString", "toLocaleDateString", "getDate", "getDay", "getUTCDate", "getUTCDay", "toISODate", "toPlainDate", "date", "day",
    "plainDateISO", "isoWeekday", "dayOfYear", "weekday",
))  # fmt: skip
_SELDOM = frozenset((
    "getFullYear", "getUTCFullYear", "getMonth", "getUTCMonth", "getTimezoneOffset", "year", "month", "week", "quarter", "getYear",
    "timeZone", "timeZoneId", "timezone",
))  # fmt: skip


def of_call(name: str, module: str = "") -> Judged | None:
    """The kind and the rate of change of what a call of ``name`` returns; None if unknown."""
    if module and name in ("v4", "v1", "v7") and "uuid" not in module:
        return None
    full = _FULL.get(name) or _FULL.get(name.removeprefix("globalThis.").removeprefix("window."))
    if full is not None:
        return full
    if name in _PARTS:
        return ("machine-part", "machine")
    return _LAST.get(name.rpartition(".")[2])


def of_attribute(name: str) -> Judged | None:
    """The same of a property: ``process.platform``; settings from the environment are constants of a process."""
    if name.startswith(("process.env", "import.meta", "Deno.env", "Bun.env")):
        return _FIXED
    return _ATTRIBUTES.get(name)


def of_command(name: str, arguments: str) -> Judged | None:
    """What another program prints: git's state, a listing, the date."""
    if name.rpartition(".")[2] not in _SHELL:
        return None
    command = arguments.lstrip("( ")
    if _DATE_COMMAND.match(command):
        return _NOW
    return _FOLDER if _GIT.search(command) else None


def is_search(receiver: str, method: str) -> bool:
    """Whether a method looks something up for the question at hand."""
    if method in _SEARCHES:
        return True
    if method not in _MAY_SEARCH:
        return False
    last = receiver.rpartition(".")[2]
    if method in ("invoke", "get", "find", "lookup"):
        return "retriev" in last.lower() or (method != "get" and "vector" in last.lower())
    return bool(_STORES.search(last))


def of_moment(method: str, arguments: str, changes: str) -> str:
    """How often the result of a method of a date changes, ``fixed`` for months and years."""
    if method in _SELDOM:
        return "fixed"
    if method in _DAILY:
        return _options(arguments, "day") if "Locale" in method else "day"
    if method in ("toLocaleString", "toLocaleTimeString"):
        return _options(arguments, "request") if method == "toLocaleString" else "request"
    if method in ("format", "toFormat", "formatInTimeZone", "formatDate"):
        return pattern(arguments)
    if method in ("slice", "substring", "substr"):
        end = re.search(r"0\s*,\s*(\d+)", arguments)
        return (
            changes
            if end is None
            else "fixed"
            if int(end[1]) < 8
            else "day"
            if int(end[1]) <= 10
            else changes
        )
    if method in ("startOf", "setHours", "setUTCHours"):
        is_day = method != "startOf" or re.search(r"day|week|month|year", arguments)
        return "day" if is_day else changes
    return changes


def _options(arguments: str, default: str) -> str:
    if _TIME_OPTION.search(arguments):
        return "request"
    if _DAY_OPTION.search(arguments):
        return "day"
    return "fixed" if _MONTH_OPTION.search(arguments) else default


def options(arguments: str) -> str:
    """How often a time changes that ``Intl.DateTimeFormat`` writes."""
    return _options(arguments, "day")


def pattern(arguments: str) -> str:
    """How often a time changes that is written with a pattern such as ``YYYY-MM-DD``."""
    match = _LITERAL.match(arguments.lstrip("("))
    if match is None:
        return "request"
    tokens = _QUOTED.sub("", match[2])
    if _TIME_TOKEN.search(tokens):
        return "request"
    return "day" if _DAY_TOKEN.search(tokens) else "fixed"
