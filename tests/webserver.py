"""A web server on loopback that answers exactly what a test tells it, byte by byte.

    with Server({"/": page("<p>…"), "/moved": moved("/")}) as server:
        server.url("/")          # http://127.0.0.1:PORT/
        server.asked             # every request: path, headers, when it came and ended

Servers on 127.0.0.2, 127.0.0.3, … are sites of their own. A route is the bytes of an
answer, a list of them (one for each time it is asked, the last one for ever), or a
function that gets the socket and does what it likes with it.
"""

from __future__ import annotations

import socket
import socketserver
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Self

from tests.worlds import Site

Talk = Callable[[socket.socket], None]
Route = bytes | Talk | Sequence[bytes | Talk]


@dataclass(slots=True)
class Asked:
    """One request; times are of the monotonic clock."""

    path: str
    headers: dict[str, str]
    came: float
    answered: float = 0.0
    gone: float = 0.0  # of a route that talks: when it or the other side had enough


def answer(body: bytes | str = b"", status: str = "200 OK", **headers: str) -> bytes:
    """The bytes of an answer; `content_type` becomes `Content-Type`."""
    if isinstance(body, str):
        body = body.encode()
    fields = {"content_type": "text/html; charset=utf-8", **headers}
    fields.setdefault("content_length", str(len(body)))
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    head = "\r\n".join([f"HTTP/1.1 {status}", *lines, "", ""])
    return head.encode("latin-1") + body


def page(*parts: str, title: str = "A page") -> bytes:
    """An HTML page that holds these parts."""
    body = "\n".join(parts)
    return answer(f"<!doctype html><title>{title}</title>\n<body>\n{body}\n</body>")


def moved(location: str, status: str = "301 Moved Permanently") -> bytes:
    return answer(status=status, location=location)


def text(*lines: str, status: str = "200 OK") -> bytes:
    return answer("\n".join(lines) + "\n", status, content_type="text/plain")


NOT_FOUND = answer("<h1>Not found</h1>", "404 Not Found")


def reset(connection: socket.socket) -> None:
    """Break off: the other side sees a reset, not an end."""
    linger = struct.pack("ii", 1, 0)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
    connection.close()


def half(connection: socket.socket) -> None:
    """Promise more than comes."""
    connection.sendall(answer("<p>half of it", content_length="5000"))
    connection.close()


def silence(connection: socket.socket) -> None:
    """Say nothing until the other side has had enough."""
    connection.settimeout(30)
    connection.recv(1)


def endless(connection: socket.socket) -> None:
    """Begin a page and never end it."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>")
    while True:
        connection.sendall(b"and so on, " * 1000)


class Server:
    """Answers in threads until the `with` block ends."""

    def __init__(
        self,
        routes: Mapping[str, Route] | None = None,
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
        port: int = 0,
    ) -> None:
        self.routes = dict(routes or {})
        self.scheme = "https" if tls else "http"
        self.asked: list[Asked] = []
        self.connections = 0  # open now
        self.most_connections = 0  # ever open at the same time
        self._times: Counter[str] = Counter()
        self._lock = threading.Lock()

        class Handler(socketserver.BaseRequestHandler):
            def handle(handler) -> None:
                plain = handler.request
                with tls.wrap_socket(plain, server_side=True) if tls else plain as ours:
                    self._opened(1)
                    try:
                        self._serve(ours)
                    finally:
                        self._opened(-1)

        class Listener(socketserver.ThreadingTCPServer):
            daemon_threads = True
            block_on_close = False
            request_queue_size = 64

            def handle_error(listener, *_: object) -> None:
                """The client has gone: that is what some tests are about."""

        self._server = Listener((host, port), Handler)
        self.host, self.port = self._server.server_address[:2]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def url(self, path: str = "/") -> str:
        return f"{self.scheme}://{self.host}:{self.port}{path}"

    def add(self, site: Site) -> None:
        """Answer for every page of a synthetic site, at the same paths."""
        theirs = f"https://{site.host}"
        for made in site.pages():
            body = made.body.replace(theirs.encode(), self.url("").encode())
            self.routes[made.url.removeprefix(theirs)] = answer(body)

    def paths(self) -> list[str]:
        """What was asked for, in order."""
        return [asked.path for asked in self.asked]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _opened(self, more: int) -> None:
        with self._lock:
            self.connections += more
            self.most_connections = max(self.most_connections, self.connections)

    def _serve(self, connection: socket.socket) -> None:
        received = b""
        while True:
            while b"\r\n\r\n" not in received:
                piece = connection.recv(65_536)
                if not piece:
                    return
                received += piece
            head, _, received = received.partition(b"\r\n\r\n")
            first, *lines = head.decode("latin-1").split("\r\n")
            fields = dict(line.split(": ", 1) for line in lines)
            path = first.split(" ")[1]
            asked = Asked(
                path, {k.lower(): v for k, v in fields.items()}, time.monotonic()
            )
            with self._lock:
                self.asked.append(asked)
                times = self._times[path]
                self._times[path] += 1
            route = self.routes.get(path, NOT_FOUND)
            if not isinstance(route, bytes) and not callable(route):
                route = route[min(times, len(route) - 1)]
            if callable(route):
                try:
                    route(connection)
                finally:
                    asked.gone = time.monotonic()
                return
            asked.answered = time.monotonic()
            connection.sendall(route)


@contextmanager
def serving(sites: Sequence[Site], network: str) -> Iterator[list[Server]]:
    """A server for each synthetic site, at the first addresses of a network."""
    with ExitStack() as stack:
        servers = []
        for number, site in enumerate(sites, start=1):
            server = stack.enter_context(Server(host=f"{network}.{number}"))
            server.add(site)
            servers.append(server)
        yield servers
