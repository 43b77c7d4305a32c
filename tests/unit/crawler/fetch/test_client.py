"""The HTTP client against servers on loopback: right ones, old ones, hostile ones."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from crawler.fetch.client import ClientConfig, HttpClient
from crawler.fetch.errors import Failure, FetchError
from crawler.fetch.guard import AddressRules
from crawler.fetch.proxy import Proxy
from crawler.warc.exchange import Exchange

LOOPBACK = AddressRules.parse(["127.0.0.0/8"])
BODY = b"<p>hello"
LENGTH = b"Content-Length: 8\r\n"
OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


class Served:
    """A server that sends the same bytes to each request; what it was asked."""

    def __init__(self, data: bytes, *, closes: bool = False, pause: float = 0) -> None:
        self.data, self.closes, self.pause = data, closes, pause
        self.asked: list[bytes] = []
        self.connections = 0
        self.talks: set[asyncio.Task[None]] = set()

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task
        self.talks.add(task)
        try:
            while True:
                self.asked.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(self.data)
                await writer.drain()
                await asyncio.sleep(self.pause)
                if self.closes:
                    break
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        writer.transport.abort()

    async def end(self) -> None:
        """End all connections."""
        for task in self.talks:
            task.cancel()
        await asyncio.gather(*self.talks, return_exceptions=True)
        await asyncio.sleep(0.01)  # for the transports


def run(
    served: Served,
    ask: Callable[[HttpClient, str], Awaitable[object]],
    **config: object,
) -> object:
    """Let a client ask a server, and close both."""

    async def talk() -> object:
        server = await asyncio.start_server(served.serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        given = ClientConfig(**{"rules": LOOPBACK, "seconds": 5.0, **config})
        client = HttpClient(given)
        try:
            return await ask(client, f"http://127.0.0.1:{port}/x?y=1")
        finally:
            await client.close()
            server.close()
            await served.end()

    return asyncio.run(talk())


def fetch(data: bytes, *, closes: bool = False, **config: object) -> Exchange:
    found = run(
        Served(data, closes=closes), lambda client, url: client.fetch(url), **config
    )
    assert isinstance(found, Exchange)
    return found


def failure(data: bytes, *, closes: bool = True, **config: object) -> Failure:
    with pytest.raises(FetchError) as caught:
        fetch(data, closes=closes, **config)
    return caught.value.failure


# ------------------------------------------------------------------- answers


def test_an_answer_is_kept_as_it_came():
    head = b"HTTP/1.1 200 Very OK\r\nX-b: 2\r\nx-A:1\r\nX-b: \xe9\r\n"
    found = fetch(head + LENGTH + b"\r\n" + BODY)
    assert (found.status, found.reason, found.body) == (200, "Very OK", BODY)
    assert found.response_headers[:3] == (
        (b"X-b", b"2"),
        (b"x-A", b"1"),
        (b"X-b", b"\xe9"),
    )
    assert (found.http_version, found.ip) == ("HTTP/1.1", "127.0.0.1")


@pytest.mark.parametrize(
    "data",
    [
        OK + b"bad line here\r\n" + LENGTH + b"\r\n" + BODY,
        OK + b"Content-Length : 8\r\n\r\n" + BODY,
        b"HTTP/1.1 200 OK\nContent-Length: 8\n\n" + BODY,
        b"HTTP/1.1 200\r\n" + LENGTH + b"\r\n" + BODY,
        b"http/1.1 200 OK\r\n" + LENGTH + b"\r\n" + BODY,
        b"HTTP/2 200 OK\r\n" + LENGTH + b"\r\n" + BODY,
        b"ICY 200 OK\r\n" + LENGTH + b"\r\n" + BODY,
        b"\r\n\r\n" + OK + LENGTH + b"\r\n" + BODY,
        b"HTTP/1.1 100 Continue\r\n\r\n" + OK + LENGTH + b"\r\n" + BODY,
        OK + LENGTH + LENGTH + b"\r\n" + BODY,
        OK + b"X: a\0b\r\n: odd\r\nX Y: z\r\n" + LENGTH + b"\r\n" + BODY,
        OK + b"X: one\r\n two\r\n" + LENGTH + b"\r\n" + BODY,
        OK + LENGTH + b"\r\n" + BODY + b"more than was announced",
        OK + b"Connection: close\r\n" + LENGTH + b"\r\n" + BODY + b"more",
        OK + b"Set-Cookie: " + b"a" * 20_000 + b"\r\n" + LENGTH + b"\r\n" + BODY,
        CHUNKED + b"8\r\n" + BODY + b"\r\n0\r\n\r\n",
        CHUNKED + b"3;a=b\r\n<p>\r\n5  \r\nhello\r\n0\r\nX: y\r\n\r\n",
        CHUNKED[:-2] + LENGTH + b"\r\n8\r\n" + BODY + b"\r\n0\r\n\r\n",
    ],
)
def test_mistakes_of_servers_cost_nothing(data):
    assert fetch(data).body == BODY


def test_a_body_without_a_length_ends_with_the_connection():
    assert fetch(OK + b"\r\n" + BODY, closes=True).body == BODY
    assert fetch(b"HTTP/1.0 200 OK\r\n\r\n" + BODY, closes=True).body == BODY


@pytest.mark.parametrize("status", [204, 304])
def test_some_answers_have_no_body(status):
    head = b"HTTP/1.1 %d No\r\n" % status
    assert fetch(head + LENGTH + b"\r\n").body == b""


# ---------------------------------------------------------------- no answers


@pytest.mark.parametrize(
    ("data", "failed"),
    [
        (b"", Failure.DISCONNECTED),
        (OK, Failure.DISCONNECTED),
        (b"<html>just a page", Failure.NOT_HTTP),
        (b"\x16\x03\x01 garbage", Failure.NOT_HTTP),
        (b"HTTP/1.1 123456789 OK\r\n\r\n", Failure.NOT_HTTP),
        (OK + b"Content-Length: -5\r\n\r\n" + BODY, Failure.NOT_HTTP),
        (OK + LENGTH + b"Content-Length: 9\r\n\r\n" + BODY, Failure.NOT_HTTP),
        (OK + b"X: y\r\n" * 50_000, Failure.NOT_HTTP),
        (b"HTTP/1.1 103 Early\r\n\r\n" * 20_000, Failure.NOT_HTTP),
        (OK + b"Content-Length: 80\r\n\r\n" + BODY, Failure.INCOMPLETE),
        (CHUNKED + b"8\r\n" + BODY + b"\r\n", Failure.INCOMPLETE),
        (CHUNKED + b"zz\r\n" + BODY, Failure.INCOMPLETE),
        (OK + b"Content-Length: %d\r\n\r\n" % 10**30, Failure.TOO_LARGE),
        (OK + b"\r\n" + b"x" * 2000, Failure.TOO_LARGE),
        (CHUNKED + b"7d0\r\n" + b"x" * 2000 + b"\r\n", Failure.TOO_LARGE),
    ],
)
def test_an_error_of_the_download_names_its_reason(data, failed):
    assert failure(data, max_size=1000) == failed


@pytest.mark.parametrize(
    "piece",
    [b"1\r\nx\r\n", b"1;" + b"a" * 9000 + b"\r\nx\r\n", b"000000001\r\nx\r\n"],
    ids=["small", "with extensions", "with zeros"],
)
def test_chunks_that_take_more_than_they_bring_are_too_large(piece):
    body = piece * (4_000_000 // len(piece))
    size = {"max_size": 1_000_000}
    assert failure(CHUNKED + body, **size) == Failure.TOO_LARGE


def test_trailers_without_end_are_too_large():
    body = b"0\r\n" + b"X: y\r\n" * 400_000
    assert failure(CHUNKED + body, max_size=1_000_000) in (
        Failure.TOO_LARGE,
        Failure.INCOMPLETE,
    )


def test_an_answer_that_does_not_come_takes_as_long_as_it_may():
    silent = Served(b"", pause=30)
    with pytest.raises(FetchError) as caught:
        run(silent, lambda client, url: client.fetch(url), seconds=0.2)
    assert caught.value.failure == Failure.TIMEOUT


def test_where_nobody_listens():
    async def ask(client: HttpClient, url: str) -> object:
        return await client.fetch("http://127.0.0.1:1/")

    with pytest.raises(FetchError) as caught:
        run(Served(b""), ask)
    assert caught.value.failure == Failure.REFUSED


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/",
        "http://localhost:9/",
        "http://[::1]:9/",
        "http://2130706433:9/",  # the resolver knows these forms
        "http://0x7f.1:9/",
        "http://169.254.169.254/latest/",
    ],
)
def test_a_private_address_is_not_connected_to(url):
    with pytest.raises(FetchError) as caught:
        run(Served(b""), lambda client, _: client.fetch(url), rules=AddressRules())
    assert caught.value.failure == Failure.PRIVATE_ADDRESS


def test_the_address_of_a_proxy_is_exempt_for_the_proxy_alone():
    served = Served(OK + LENGTH + b"\r\n" + BODY)

    async def ask(client: HttpClient, url: str) -> object:
        place = url.partition("/x")[0]
        proxy = Proxy.parse(place, b"Basic secret")
        found = await client.fetch("http://far.example/a?b#c", proxy=proxy)
        assert found.request_headers == ((b"Host", b"far.example"),)
        with pytest.raises(FetchError, match="is at 127"):
            await client.fetch(url)
        return found

    found = run(served, ask, rules=AddressRules())
    assert found.body == BODY
    (asked,) = served.asked
    assert asked.splitlines() == [
        b"GET http://far.example/a?b HTTP/1.1",
        b"Host: far.example",
        b"Proxy-Authorization: Basic secret",
        b"",
    ]


def test_nothing_in_a_request_ends_a_line_before_its_time():
    served = Served(OK + LENGTH + b"\r\n" + BODY)
    headers = [(b"X", b"a\r\nEvil: 1")]
    run(served, lambda client, url: client.fetch(url, headers))
    (asked,) = served.asked
    assert asked.startswith(b"GET /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:")
    assert b"X: aEvil: 1\r\n" in asked


# --------------------------------------------------------------- connections


def several(number: int) -> Callable[[HttpClient, str], Awaitable[object]]:
    async def ask(client: HttpClient, url: str) -> object:
        return [(await client.fetch(url)).body for _ in range(number)]

    return ask


def test_a_connection_carries_one_request_after_the_other():
    served = Served(OK + LENGTH + b"\r\n" + BODY)
    assert run(served, several(3)) == [BODY] * 3
    assert (served.connections, len(served.asked)) == (1, 3)


def test_a_connection_that_ended_meanwhile_is_replaced():
    served = Served(OK + LENGTH + b"\r\n" + BODY, closes=True)
    assert run(served, several(3)) == [BODY] * 3
    assert served.connections == 3


@pytest.mark.parametrize(
    "data",
    [
        OK + LENGTH + b"\r\n" + BODY + OK + LENGTH + b"\r\n<p>evil!",
        OK + b"Connection: close\r\n" + LENGTH + b"\r\n" + BODY,
        b"HTTP/1.0 200 OK\r\n" + LENGTH + b"\r\n" + BODY,
    ],
)
def test_a_connection_with_anything_odd_is_not_used_again(data):
    served = Served(data)
    assert run(served, several(3)) == [BODY] * 3
    assert served.connections == 3


def test_no_more_connections_wait_than_may():
    async def talk() -> int:
        served = Served(OK + LENGTH + b"\r\n" + BODY)
        hosts = [f"127.0.1.{n}" for n in range(1, 9)]
        servers = [await asyncio.start_server(served.serve, h, 0) for h in hosts]
        places = [server.sockets[0].getsockname() for server in servers]
        client = HttpClient(ClientConfig(LOOPBACK, max_idle=3))
        for host, port in [*places, *places]:
            await client.fetch(f"http://{host}:{port}/")
        await client.close()
        for server in servers:
            server.close()
        await served.end()
        return served.connections

    assert asyncio.run(talk()) == 16  # each was closed before its turn came again
