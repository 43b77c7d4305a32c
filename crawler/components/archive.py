"""What came over the wire goes to disk first: responses to WARC records and pages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.http import Headers, Response

from crawler.components.assembly import run_dir
from crawler.data import Page
from crawler.warc.exchange import Exchange
from crawler.warc.http import HttpResponse, decode_body
from crawler.warc.recovery import recover
from crawler.warc.writer import HTML, WarcConfig, WarcWriter

CONVERTED = "converted"  # the key of a request's meta: the HTML that an answer became


class Archive:
    """Keeps every answer as it came, and gives it back as a page to read."""

    def __init__(self, writer: WarcWriter, counts: Counter[str]) -> None:
        """Write with this writer; `counts` takes what had to be repaired."""
        self._writer = writer
        self._counts = counts

    @classmethod
    def from_crawler(cls, crawler: Crawler, counts: Counter[str]) -> Self:
        """Write into the run directory; mend what a killed run left there."""
        settings = crawler.settings
        spider: Any = crawler.spider
        folder = run_dir(crawler).warc
        for mended in recover(folder):
            counts["warc/recovered"] += 1
            counts["warc/recovered_bytes_cut"] += mended.cut
        config = WarcConfig(
            prefix=settings["WARC_PREFIX"],
            worker=re.sub(r"[^\w.-]", "_", spider.frontier.store.worker),
            max_bytes=settings.getint("WARC_MAX_BYTES"),
            level=settings.getint("WARC_GZIP_LEVEL"),
            fsync=settings.getbool("WARC_FSYNC"),
            info={
                "http-header-user-agent": settings["USER_AGENT"],
                "robots": "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore",
            },
        )
        return cls(WarcWriter(folder, config), counts)

    def keep(self, response: Response, url: str) -> Page:
        """Write request and response; raises WarcError when that cannot be done.

        `url` is the canonical URL that was asked for: Scrapy may spell it differently.
        If the answer was converted to HTML on its way (crawler.components.conversion),
        that is written too, and is the page.
        """
        request = response.request
        converted = request.meta.get(CONVERTED) if request else None
        page = page_of(response, url, self._counts)
        exchange = Exchange(
            url=url,
            status=response.status,
            response_headers=tuple(_raw(response.headers)),
            body=response.body,
            fetched_at=page.fetched_at,
            method=request.method if request else "GET",
            request_headers=tuple(_raw(request.headers)) if request else (),
            reason=_reason(response.status),
            http_version=response.protocol or "HTTP/1.1",
            ip=str(response.ip_address) if response.ip_address else None,
        )
        location = self._writer.write_exchange(exchange, converted)
        if converted is not None:
            page = replace(page, headers=(("Content-Type", HTML),), body=converted)
        return replace(page, record_id=location.record_id)

    def note(self, page: Page, fields: Iterable[tuple[str, str]]) -> None:
        """Write what was found out about a page as its metadata record."""
        self._writer.write_metadata(page.url, page.record_id, fields)

    def flush(self) -> None:
        """Everything so far is with the operating system, or on disk if asked."""
        self._writer.flush()

    def close(self) -> None:
        """Complete the last file; a folder without one would only be in the way."""
        self._writer.close()
        with suppress(OSError):  # there are files
            self._writer.folder.rmdir()


def page_of(response: Response, url: str, counts: Counter[str]) -> Page:
    """An answer as a page, its content coding undone; `counts` takes what was wrong."""
    headers = tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, value in _raw(response.headers)
    )
    body = response.body
    if any(name.lower() == "content-encoding" for name, _ in headers):
        body = decode_body(HttpResponse(response.status, headers, body), counts)
    return Page(url, response.status, headers, body, datetime.now(UTC))


def _raw(headers: Headers) -> Iterable[tuple[bytes, bytes]]:
    for name in headers:
        for value in headers.getlist(name):
            yield name, value


def _reason(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
