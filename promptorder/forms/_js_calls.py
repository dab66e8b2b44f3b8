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


def _each(names: str, judged: Judged) -> dict[str, Judged]:
    return dict.fromkeys(names.split(), judged)


_FULL: dict[str, Judged] = {
    **_each(
        "Date Date.now performance.now process.hrtime process.hrtime.bigint process.uptime DateTime.now "
        "DateTime.local DateTime.utc dayjs moment dayjs.utc moment.utc dayjs.tz Temporal.Now.instant "
        "Temporal.Now.zonedDateTimeISO Temporal.Now.plainTimeISO Temporal.Now.plainDateTimeISO",
        _NOW,
    ),
    "Temporal.Now.plainDateISO": (CLOCK, "day"),
    **_each(
        "Math.random crypto.randomUUID uuid uuidv4 uuidv1 uuidv7 uuid.v4 uuid.v1 uuid.v7 v4 v7 cuid createId ulid "
        "nanoid generateId randomUUID randomBytes randomInt crypto.getRandomValues shortid shortid.generate "
        "Bun.randomUUIDv7",
        _DRAWN,
    ),
    **_each("process.cwd Deno.cwd cwd", _FOLDER),
    **_each(
        "os.hostname os.userInfo os.homedir os.networkInterfaces hostname homedir userInfo Deno.hostname os.tmpdir",
        _MACHINE,
    ),
    **_each("os.loadavg os.freemem os.uptime process.memoryUsage", (ENVIRONMENT, "request")),
}
_LAST: dict[str, Judged] = {
    **_each(
        "randomUUID randomBytes randomInt shuffle sampleSize sample shuffled arrayShuffle shuffleArray "
        "knuthShuffle nanoid uuidv4",
        _DRAWN,
    ),
    **_each("readdirSync readdir readDirSync globSync globby globbySync", (UNORDERED, "checkout")),
}
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
    "similaritySearch similaritySearchWithScore maxMarginalRelevanceSearch getRelevantDocuments retrieve "
    "retrieveContext hybridSearch vectorSearch semanticSearch searchMemories searchMemory getMemories recall "
    "recallMemories nearText".split()
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

_DAILY = frozenset(
    "toDateString toLocaleDateString getDate getDay getUTCDate getUTCDay toISODate toPlainDate date day "
    "plainDateISO isoWeekday dayOfYear weekday".split()
)
_SELDOM = frozenset(
    "getFullYear getUTCFullYear getMonth getUTCMonth getTimezoneOffset year month week quarter getYear "
    "timeZone timeZoneId timezone".split()
)


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
