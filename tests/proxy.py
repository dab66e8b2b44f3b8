"""A proxy before a real server that changes what is sent, as gateways do."""

from __future__ import annotations

import http.client
import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from threaded_server import ThreadedServer

Change = Callable[[str, dict[str, Any]], dict[str, Any]]
"""From a path and the body that came in to the body that is sent on."""


class Proxy(ThreadedServer):
    """Hands every request on to ``host`` (name and port)."""

    def __init__(self, host: str, change: Change) -> None:
        server = _Server(("127.0.0.1", 0), _Handler)
        server.target, server.change = host, change
        super().__init__(server)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    target: str
    change: Change


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        self._hand_on(None)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
        self._hand_on(json.dumps(self.server.change(self.path, body)).encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: pytest's output is for the tests."""

    def _hand_on(self, body: bytes | None) -> None:
        connection = http.client.HTTPConnection(self.server.target, timeout=300)
        connection.request(self.command, self.path, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while piece := answer.read1(65536):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
        connection.close()
