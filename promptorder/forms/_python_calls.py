"""What calls of the standard library and of well-known packages return: a clock, chance, no order, the surroundings."""

from __future__ import annotations

import re

CLOCK, RANDOM, UNORDERED = "clock-call", "random-call", "unordered"
ENVIRONMENT, RETRIEVED, QUESTION = "environment", "retrieved-context", "question-first"

_DAY = (CLOCK, "day")
_NOW = (CLOCK, "request")
_DRAWN = (RANDOM, "request")
_LISTED = (UNORDERED, "rendering")
_MACHINE = (ENVIRONMENT, "machine")
_FOLDER = (ENVIRONMENT, "checkout")

_CALLS: dict[str, tuple[str, str]] = {
    "datetime.date.today": _DAY,
    "date.today": _DAY,
    "pendulum.today": _DAY,
    "input": (QUESTION, "request"),
    "os.urandom": _DRAWN,
    "tempfile.mkdtemp": _DRAWN,
    "tempfile.mkstemp": _DRAWN,
    "ulid.new": _DRAWN,
    "ulid.ULID": _DRAWN,
    "ULID": _DRAWN,
    "nanoid.generate": _DRAWN,
    "shortuuid.uuid": _DRAWN,
    "hash": (RANDOM, "process"),
    "id": (RANDOM, "process"),
    "os.listdir": _LISTED,
    "os.scandir": _LISTED,
    "os.walk": _LISTED,
    "glob.glob": _LISTED,
    "glob.iglob": _LISTED,
    "asyncio.as_completed": _LISTED,
    "concurrent.futures.as_completed": _LISTED,
    "os.getcwd": _FOLDER,
    "os.path.abspath": ("", ""),
    "pathlib.Path.cwd": _FOLDER,
    "Path.cwd": _FOLDER,
    "pathlib.Path.home": _MACHINE,
    "Path.home": _MACHINE,
    "os.getlogin": _MACHINE,
    "os.uname": _MACHINE,
    "getpass.getuser": _MACHINE,
    "socket.gethostname": _MACHINE,
    "socket.getfqdn": _MACHINE,
}
_CALLS.update(
    dict.fromkeys(
        (f"time.{name}" for name in (
            "time", "time_ns", "strftime", "ctime", "asctime", "localtime", "gmtime", "monotonic", "perf_counter",
        )),
        _NOW,
    ),
    **dict.fromkeys((f"uuid.{name}" for name in ("uuid1", "uuid4", "uuid6", "uuid7")), _DRAWN),
)  # fmt: skip
_UUIDS = frozenset(("uuid1", "uuid4", "uuid6", "uuid7"))
_CLOCK_METHOD = re.compile(
    r"(?:^|\.)(?:datetime|dt|date|dt_util|timezone|tz|arrow|pendulum|Timestamp|DateTime|Instant|clock|\w*[cC]lock)"
    r"\.(?P<method>now|utcnow|today|local_now|utc_now|localtime)$"
)
_DRAWS = frozenset(
    "random randint randrange choice choices sample shuffle uniform gauss getrandbits randbytes permutation rand randn "
    "integers token_hex token_urlsafe token_bytes randbelow normalvariate permuted".split()
)
_CHANCE = ("random.", "secrets.", "numpy.random.", "np.random.")
_GENERATORS = frozenset(
    (
        "random.Random",
        "numpy.random.default_rng",
        "np.random.default_rng",
        "numpy.random.RandomState",
        "Random",
    )
)
SEEDS = frozenset(("random.seed", "numpy.random.seed", "np.random.seed", "torch.manual_seed"))
_SUBPROCESS = frozenset(
    (
        "subprocess.run", "subprocess.check_output", "subprocess.getoutput", "subprocess.Popen", "os.popen",
        "asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell",
    )
)  # fmt: skip
_ATTRIBUTES = {
    "sys.platform": _MACHINE,
    "sys.version": _MACHINE,
    "sys.executable": _MACHINE,
    "os.name": _MACHINE,
}
_VARIABLES = re.compile(
    r"^(?:USER|USERNAME|LOGNAME|HOME|PWD|OLDPWD|HOSTNAME|HOST|COMPUTERNAME|SHELL|PATH|TERM|LANG|TZ|DISPLAY|CWD)$|"
    r"(?:_|^)(?:SHA|COMMIT|BRANCH|HOSTNAME|CWD|WORKDIR)$"
)

_SEARCHES = frozenset(
    "similarity_search similarity_search_with_score max_marginal_relevance_search get_relevant_documents "
    "aget_relevant_documents retrieve aretrieve asimilarity_search hybrid_search vector_search semantic_search "
    "search_memories search_memory recall get_memories".split()
)
_MAY_SEARCH = frozenset("search query lookup find invoke ainvoke asearch aquery get".split())
_STORES = re.compile(
    r"store|index|database|collection|retriev|knowledge|vector|memor|rag\b|\bkb\b|\bdb\b|archive|catalog|wiki|mem0|"
    r"qdrant|chroma|pinecone|weaviate|faiss|milvus|notes|docs|corpus|library|search",
    re.IGNORECASE,
)
_NO_STORE = re.compile(r"^re$|regex|pattern|_re$|parser|matcher", re.IGNORECASE)
_CLOCKED = re.compile(r"%[-#]?[HIMSfsTXcRrpN]")
_DAILY = re.compile(r"%[-#]?[djaAwDxFeu]")


def of_call(name: str) -> tuple[str, str] | None:
    """The kind and the rate of change of what a call of ``name`` (imports resolved) returns; None if unknown."""
    if name in _CALLS:
        return _CALLS[name]
    last = name.rpartition(".")[2]
    if last in _UUIDS:
        return _DRAWN
    if last in _DRAWS and name.startswith(_CHANCE):
        return _DRAWN
    if name.startswith("platform.") and last != "python_implementation":
        return _MACHINE
    clock = _CLOCK_METHOD.search(name)
    if clock is not None:
        return _DAY if clock["method"] == "today" and "datetime" not in name.split(".")[-2] else _NOW
    return None


def of_attribute(name: str) -> tuple[str, str] | None:
    """The same of an attribute that is no call, such as ``sys.platform``."""
    return _ATTRIBUTES.get(name)


def is_generator(name: str) -> bool:
    """Whether a call makes a generator of random numbers, which draws the same ones if it is seeded."""
    return name in _GENERATORS


def is_draw(method: str) -> bool:
    """Whether a method of such a generator draws."""
    return method in _DRAWS


def is_subprocess(name: str) -> bool:
    """Whether a call runs another program."""
    return name in _SUBPROCESS


def of_environment_variable(name: str) -> tuple[str, str] | None:
    """Variables that describe the surroundings; the others are settings, as fixed as a constant."""
    return _MACHINE if _VARIABLES.search(name) else None


def is_search(receiver: str, method: str) -> bool:
    """Whether a method looks something up for the question at hand."""
    if method in _SEARCHES:
        return True
    if method not in _MAY_SEARCH or _NO_STORE.search(receiver.rpartition(".")[2]):
        return False
    last = receiver.rpartition(".")[2]
    if method in ("invoke", "ainvoke", "get", "find", "lookup"):
        return "retriev" in last.lower() or (method != "get" and "vector" in last.lower())
    return bool(_STORES.search(last)) or (last in ("client", "engine") and method in ("search", "query"))


def resolution(pattern: str) -> str:
    """How often a time changes that is written with a ``strftime`` pattern, ``fixed`` for months and years."""
    if _CLOCKED.search(pattern):
        return "request"
    if _DAILY.search(pattern):
        return "day"
    return "fixed" if "%" in pattern else "request"
