"""The server of `bifocal review` answers its own page and nobody else."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator

import pytest

from crawler.corpus.marks import Marks
from crawler.reports.review import _CONNECTIONS, MAX_BODY, Review, ReviewServer
from crawler.rundir import RunDir

MARK = {"level": "page", "src_url": "https://a.is/en", "trg_url": "https://a.is/is"}
GOOD = {"run": 0, "mark": {**MARK, "verdict": "wrong", "score": 0.5}}
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def server(tmp_path) -> Iterator[ReviewServer]:
    with ReviewServer(Review([RunDir(tmp_path)]), b"the page", 0) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    server: ReviewServer, method: str, path: str, body: object = None, **headers: str
) -> tuple[int, bytes]:
    """Status and body; a `path` without a slash stands behind the token."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    where = path if path[:1] == "/" else f"/{server.token}/{path}"
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    connection.request(method, where, data, (JSON if data else {}) | named)
    answer = connection.getresponse()
    found = answer.status, answer.read()
    connection.close()
    return found


def test_a_mark_goes_into_the_file_at_once_and_comes_back(server, tmp_path):
    status, body = ask(server, "POST", "marks", GOOD)
    assert status == 200
    assert json.loads(body)["judged"]["page"]["marks"] == 1
    (mark,) = Marks.read(tmp_path / "marks.tsv")
    assert (mark.src_url, mark.verdict) == ("https://a.is/en", "wrong")
    (state,) = json.loads(ask(server, "GET", "marks")[1])
    assert [one["verdict"] for one in state["marks"]] == ["wrong"]
    assert ask(server, "GET", "")[1] == b"the page"


def test_what_a_spreadsheet_adds_meanwhile_stays(server, tmp_path):
    assert ask(server, "POST", "marks", GOOD)[0] == 200
    with (tmp_path / "marks.tsv").open("a", encoding="utf-8") as file:
        file.write("sentence\tright\t\t\tone\teinn\t0.5\t1\n")
    other = {"run": 0, "mark": {**MARK, "trg_url": "https://b.is/", "verdict": "right"}}
    assert ask(server, "POST", "marks", other)[0] == 200
    assert len(Marks.read(tmp_path / "marks.tsv")) == 3


@pytest.mark.parametrize(
    ("method", "path", "headers", "status"),
    [
        ("GET", "/", {}, 403),
        ("GET", "/wrong/", {}, 403),
        ("GET", "/%C3%A9%ff/../", {}, 403),
        ("GET", "nothing", {}, 404),
        ("GET", "../../etc/passwd", {}, 404),
        ("GET", "", {"Host": "evil.example"}, 421),  # DNS rebinding
        ("GET", "marks", {"Host": "127.0.0.1"}, 421),
        ("GET", "marks", {"Origin": "https://evil.example"}, 403),
        ("POST", "marks", {"Origin": "null"}, 403),
        ("POST", "marks", {"Content_Type": "text/plain"}, 415),  # a form
        ("POST", "marks", {"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ("POST", "", {}, 404),
        ("PUT", "marks", {}, 501),
        ("POST", "marks", {"Content_Length": "-1"}, 411),
        ("POST", "marks", {"Content_Length": str(MAX_BODY + 1)}, 413),
        ("POST", "marks", {"Content_Length": "9" * 5000}, 413),
        ("POST", "marks", {"Transfer_Encoding": "chunked"}, 411),
    ],
)
def test_strangers_are_refused(server, tmp_path, method, path, headers, status):
    body = GOOD if method == "POST" else None
    assert ask(server, method, path, body, **headers)[0] == status
    assert not (tmp_path / "marks.tsv").exists()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[" * 50_000,
        b'{"run": 0}',
        {"run": 7, "mark": MARK},
        {"run": -1, "mark": MARK},
        {"run": 0, "mark": {**MARK, "verdict": "perhaps"}},
        {"run": 0, "mark": {**MARK, "level": "site"}},
        {"run": 0, "mark": {**MARK, "score": "high"}},
        {"run": 0, "mark": MARK, "path": "/etc/passwd"},
    ],
)
def test_what_is_not_a_mark_is_said_and_changes_nothing(server, tmp_path, body):
    headers = {} if body else {"Content_Type": "application/json"}
    status, said = ask(server, "POST", "marks", body, **headers)
    assert status == 400
    assert json.loads(said)["error"]
    assert not (tmp_path / "marks.tsv").exists()


def test_a_text_cannot_add_rows_or_columns(server, tmp_path):
    evil = {
        **MARK,
        "level": "sentence",
        "src_text": "a\tb\nsentence\tright",
        "trg_text": "\x1b[2J\u2028c",
    }
    assert (
        ask(server, "POST", "marks", {"run": 0, "mark": {**evil, "verdict": "right"}})[
            0
        ]
        == 200
    )
    (mark,) = Marks.read(tmp_path / "marks.tsv")
    assert mark.src_text == "a b sentence right"
    assert (
        ask(server, "POST", "marks", {"run": 0, "mark": {**evil, "verdict": "wrong"}})[
            0
        ]
        == 200
    )
    assert [m.verdict for m in Marks.read(tmp_path / "marks.tsv")] == ["wrong"]


def test_connections_that_say_nothing_leave_room_when_they_go(server):
    address = ("127.0.0.1", server.server_port)
    idle = [socket.create_connection(address) for _ in range(_CONNECTIONS)]
    one_more = socket.create_connection(address, timeout=5)
    assert one_more.recv(1) == b""  # hung up on
    one_more.close()
    for connection in idle:
        connection.close()
    for _ in range(200):
        try:
            assert ask(server, "GET", "")[0] == 200
            return
        except (ConnectionError, http.client.HTTPException):
            threading.Event().wait(0.02)
    pytest.fail("no room")


def test_it_listens_on_loopback_and_its_token_cannot_be_guessed(server):
    assert server.server_address[0] == "127.0.0.1"
    assert len(server.token) >= 32
