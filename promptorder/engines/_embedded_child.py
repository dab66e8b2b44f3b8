"""The process in which the embedded engine's llama.cpp server runs; started by path, imports no promptorder.

It reads one line of JSON, ``{"model": path, "context_tokens": n}``, from standard input, and writes one,
``{"url": ..., "load_ns": ..., "threads": ...}``, when the model is loaded. It ends when its standard input
does, so it never outlives the process that started it, however that ends.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time


def main() -> None:
    """Load the model, serve it on a free port of 127.0.0.1, and wait for the end of standard input."""
    # Ctrl-C reaches every process of the terminal; whether this one ends is for its parent to say.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    wanted = json.loads(sys.stdin.readline())

    # Threads that wait by spinning take each other's cores on a busy machine. Measured with SmolLM2 on two
    # cores beside other work, 4 trials: reading 10 tokens took 115-843 ms by default and 75-106 ms this way,
    # 567 tokens 2.7-7.8 s and 2.5-3.5 s. Where nothing else runs, spinning may answer a little faster.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    import xllamacpp

    params = xllamacpp.CommonParams()  # held until the end: where it was let go, the server crashed
    params.model.path = wanted["model"]
    params.n_ctx = wanted["context_tokens"]
    params.n_parallel = 1
    params.n_gpu_layers = 0
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.ui = False
    params.sse_ping_interval = -1  # a ping would look like a piece of the reply and defeat the time limit
    params.verbosity = 1  # errors only, on standard error
    started = time.perf_counter_ns()
    try:
        server = xllamacpp.Server(params)
    except Exception as error:
        print(error, file=sys.stderr, flush=True)  # noqa: T201
        os._exit(1)
    load_ns = time.perf_counter_ns() - started
    ready = {"url": server.listening_address, "load_ns": load_ns, "threads": params.cpuparams.n_threads}
    print(json.dumps(ready), flush=True)  # noqa: T201
    sys.stdin.read()
    os._exit(0)  # the server's destructor waits for the batch it is reading (measured: 4.4 s), and can hang


if __name__ == "__main__":
    main()
