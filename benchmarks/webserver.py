"""A small web in one process, for the crawls of benchmarks: a server and HTTP proxy.

    python benchmarks/webserver.py a.warc.xz,b.warc.xz    # what was recorded
    python benchmarks/webserver.py town:10:2500:150       # sites, concepts, words

It prints its port, and answers `GET http://any.host/path` for everybody whose
`http_proxy` it is, and `GET /path` by the Host header. Recordings are answered as
`crawler.replay` does; `town` makes up bilingual sites (tests/worlds.py) of so many
concepts in two languages, page by page, so that a crawl of any length costs no disk.
HTML goes out as gzip to who can take it, as most servers send it. There is no TLS here:
what a page links to as `https:` it links to as `http:`.
"""

from __future__ import annotations

import asyncio
import gzip
import sys
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus

from crawler.data import Page
from crawler.replay.world import ReplayWorld
from tests.worlds import FETCHED_AT, Site, build_site, many_sites

TOWN = "town:"
KEPT = 10_000  # answers: making one up takes as long as a crawler needs for it
Answer = Callable[[str], Page]


def towns(spec: str) -> list[Site]:
    """The sites that `town:SITES:CONCEPTS:WORDS` stands for."""
    count, concepts, words = map(int, spec.removeprefix(TOWN).split(":"))
    site = build_site(concepts=concepts, words=words, style="default", hreflang=True)
    return list(many_sites(count, site))


def town_answers(spec: str) -> Answer:
    pages = {
        site.url(concept, lang).replace("https:", "http:"): (site, concept, lang)
        for site in towns(spec)
        for concept in range(site.concepts)
        for lang in site.langs_of(concept)
    }

    def answer(url: str) -> Page:
        if url not in pages:
            return Page(url, 404, (), b"", FETCHED_AT)
        site, concept, lang = pages[url]
        return site.page(concept, lang)

    return answer


def message(page: Page, *, packed: bool) -> bytes:
    """An answer as it goes over the wire."""
    kept = ("content-type", "location")
    lines = [f"HTTP/1.1 {page.status} {HTTPStatus(page.status).phrase}"]
    lines += [
        f"{name}: {value}" for name, value in page.headers if name.lower() in kept
    ]
    body = page.body.replace(b"https://", b"http://")
    if packed and body and "html" in (page.header("content-type") or ""):
        body = gzip.compress(body, 6, mtime=0)  # nginx: 1; 6 is what most set
        lines.append("Content-Encoding: gzip")
    lines += [f"Content-Length: {len(body)}", "", ""]
    head = "\r\n".join(lines).encode("latin-1").replace(b"https://", b"http://")
    return head + body


class Server(asyncio.Protocol):
    """One connection: requests in, answers out, in their order."""

    def __init__(self, answer: Callable[[str, bool], bytes]) -> None:
        self._answer = answer
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember where answers go."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        *requests, self._received = (self._received + data).split(b"\r\n\r\n")
        for request in requests:
            first, *others = request.decode("latin-1").split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in others)
            _method, url, _version = first.split(" ")
            if url.startswith("/"):
                url = f"http://{headers['host'].removesuffix(':80')}{url}"
            packed = "gzip" in headers.get("accept-encoding", "")
            self._transport.write(self._answer(url, packed))


async def serve(source: str) -> None:
    if source.startswith(TOWN):
        answer = town_answers(source)
    else:
        answer = ReplayWorld.open(source.split(",")).answer
    answers = lru_cache(KEPT)(lambda url, packed: message(answer(url), packed=packed))
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Server(answers), "127.0.0.1")
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(sys.argv[1]))
