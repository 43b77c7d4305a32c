"""A report on loopback whose marks go to marks.tsv at once.

Only who knows the token of this start, which is a part of the address, gets an answer.
Other names for this machine are refused, so that no page elsewhere reaches the server
by a name that it points here (DNS rebinding); requests that a page of another origin
sends are refused, and so is whatever is larger than a mark.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from threading import BoundedSemaphore, Lock
from typing import Any

import msgspec

from crawler.corpus.marks import Mark, Marks, precisions
from crawler.errors import BifocalError, RunDirError
from crawler.lines import printable
from crawler.reports.page import write_page
from crawler.rundir import RunDir
from crawler.sinks.tsv import one_cell

MAX_BODY = 64_000  # bytes: two texts of 1,000 characters, two addresses of 2,000
_CONNECTIONS = 16  # at a time; a browser opens six
_PATIENCE = 10.0  # seconds for each part of a request
_NAMES = ("127.0.0.1", "localhost")
_HEADERS = (
    ("Cache-Control", "no-store"),
    ("Content-Security-Policy", "frame-ancestors 'none'"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("X-Content-Type-Options", "nosniff"),
)


class _Given(msgspec.Struct, forbid_unknown_fields=True):
    """The body of a request: a mark, and the run that it is of, by its number."""

    run: int
    mark: Mark


class Review:
    """The marks of some runs, read and written by several threads."""

    def __init__(self, runs: Sequence[RunDir]) -> None:
        self._runs = runs
        self._lock = Lock()

    def state(self) -> list[dict[str, Any]]:
        """The marks of each run as they are in its file, and the precision by them."""
        with self._lock:
            return [_state(Marks.read(run.marks), marks=True) for run in self._runs]

    def put(self, body: bytes) -> dict[str, Any]:
        """Add a mark to its run's file; the precision with it.

        The file is read anew, so what a spreadsheet or `bifocal sample` has written
        meanwhile stays. ValueError for a body that is not a mark of these runs.
        """
        given = msgspec.json.decode(body, type=_Given)
        if not 0 <= given.run < len(self._runs):
            raise ValueError(f"there is no run {given.run}")
        file, mark = self._runs[given.run].marks, given.mark
        cleaned = replace(
            mark,
            src_url=_cell(mark.src_url),
            trg_url=_cell(mark.trg_url),
            src_text=_cell(mark.src_text),
            trg_text=_cell(mark.trg_text),
            sampled=False,
        )
        with self._lock:
            marks = Marks.read(file)
            marks.put(cleaned)
            marks.write(file)
            return _state(marks, marks=False)


def _cell(text: str) -> str:
    return printable(one_cell(text))


def _state(found: Marks, *, marks: bool) -> dict[str, Any]:
    listed = {"marks": list(found)} if marks else {}
    return {**listed, "judged": precisions(found)}


class ReviewServer(ThreadingHTTPServer):
    """Answers on a free port of 127.0.0.1, or on the one that is given."""

    daemon_threads = True
    request_queue_size = _CONNECTIONS

    def __init__(self, review: Review, page: bytes, port: int) -> None:
        super().__init__(("127.0.0.1", port), _Answers)
        self.review = review
        self.page = page
        self._room = BoundedSemaphore(_CONNECTIONS)

    @cached_property
    def token(self) -> str:
        """What a browser must know to be answered."""
        return secrets.token_urlsafe(24)

    @cached_property
    def hosts(self) -> set[str]:
        """The hosts that a browser may ask for."""
        return {f"{name}:{self.server_port}" for name in _NAMES}

    @property
    def url(self) -> str:
        """The address that a person opens."""
        return f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer in a thread of its own; hang up on what is too much at a time."""
        if self._room.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """As in the base class, and make room."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._room.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks is nobody's error."""


class _Answers(BaseHTTPRequestHandler):
    """The page, the marks, and nothing else."""

    server: ReviewServer
    timeout = _PATIENCE
    server_version = "Bifocal"
    sys_version = ""

    def do_GET(self) -> None:
        """The page, or the marks as JSON."""
        part = self._part()
        if part == "":
            self._answer(200, self.server.page, "text/html; charset=utf-8")
        elif part == "marks":
            self._json(200, self.server.review.state)
        elif part is not None:
            self._refuse(404)

    def do_POST(self) -> None:
        """Take a mark."""
        part = self._part()
        length = self.headers.get("Content-Length", "")
        if part is None:
            return
        if part != "marks":
            self._refuse(404)
        elif self.headers.get_content_type() != "application/json":
            self._refuse(415)  # a form of another page can send no JSON
        elif "Transfer-Encoding" in self.headers or not length.isdecimal():
            self._refuse(411)
        elif len(length) > 9 or int(length) > MAX_BODY:
            self._refuse(413)
        else:
            body = self.rfile.read(int(length))
            self._json(200, lambda: self.server.review.put(body))

    def _part(self) -> str | None:
        """What stands behind the token; None, and refused, if the asker may not."""
        hosts = self.headers.get_all("Host", [])
        origins = {f"http://{host}" for host in self.server.hosts}
        _, token, *rest = (*self.path.partition("?")[0].split("/", 2), "", "")
        if len(hosts) != 1 or hosts[0] not in self.server.hosts:
            self._refuse(421)
        elif not set(self.headers.get_all("Origin", [])) <= origins or not (
            hmac.compare_digest(token.encode(), self.server.token.encode())
        ):
            self._refuse(403)
        else:
            return rest[0]
        return None

    def _json(self, status: int, make: Any) -> None:
        try:
            said = make()
        except (msgspec.DecodeError, ValueError) as error:
            status, said = 400, {"error": printable(str(error))}
        except (BifocalError, OSError) as error:
            status, said = 500, {"error": printable(str(error))}
        self._answer(status, msgspec.json.encode(said), "application/json")

    def _refuse(self, status: int) -> None:
        self._answer(status, b"", "text/plain")

    def _answer(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in (*_HEADERS, ("Content-Type", kind)):
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """The token stays out of logs."""


@contextmanager
def open_review(run: RunDir, *, port: int, most: int) -> Iterator[ReviewServer]:
    """The server of a run, which `serve_forever` starts; closed at the end.

    RunDirError for a folder that is not a run, and for a port that cannot be had.
    """
    runs = run.by_pair()
    page = StringIO()
    write_page(page, runs, most=most, saves=True)
    try:
        server = ReviewServer(Review(runs), page.getvalue().encode(), port)
    except (OSError, OverflowError) as error:
        raise RunDirError(
            f"port {port}: cannot be had: {getattr(error, 'strerror', None) or error}"
            " (leave --port out and any free one is taken)"
        ) from error
    with server:
        yield server
