"""The crawls that `benchmarks.throughput` compares, each run in a process of its own.

`bare` is the spider of Scrapy's tutorial with Scrapy's default settings and all of its
default middlewares; `lean` is the same without the middlewares that our profiles do
without, and with one worker for the items of a page in place of 100. Both get a list of
pages, follow nothing and keep nothing. `crawlspider` is what Scrapy's documentation
leads to for keeping a site: CrawlSpider with its link extractor, and warcio.
`trafilatura` is that library's focused crawler, which follows links and keeps nothing;
`trafilatura_keeps` writes each page and its text to a file besides, which its users do
by a second command that fetches everything again. The others are our profiles;
`…_plain` is one that fetches, keeps and tells languages but pairs nothing.
"""

from __future__ import annotations

import json
import os
import socket
from collections import Counter
from io import BytesIO
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter, process_time
from typing import Any, Self
from urllib.parse import urlsplit

from scrapy import Spider, signals
from scrapy.crawler import AsyncCrawlerProcess, Crawler
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor
from scrapy.settings import Settings
from scrapy.spiders import CrawlSpider, Rule

from benchmarks.machine import status_mb
from crawler.components.commands.crawl import quiet_scrapy
from crawler.crawl.child import start_child, wants_process
from crawler.crawl.settings import read_settings

SAMPLE_EVERY = 1000  # pages
PLAIN = "_plain"
# Of Scrapy's default middlewares, what any crawl of ours needs in some form.
NEEDED: dict[str, tuple[str, ...]] = {
    "DOWNLOADER_MIDDLEWARES_BASE": (
        "DownloadTimeoutMiddleware",
        "DefaultHeadersMiddleware",
        "UserAgentMiddleware",
        "HttpProxyMiddleware",
        "DownloaderStats",
    ),
    "SPIDER_MIDDLEWARES_BASE": (),
}
# Counters of a crawl that went wrong: Scrapy's, and ours for no answer.
ERRORS = (
    "spider_exceptions/",
    "log_count/ERROR",
    "downloader/exception_count",
    "fetch/failed/",
    "robots/failed/",
)
TRAFILATURA = ("trafilatura", "trafilatura_keeps")
WITHOUT = ("bare", "lean", "crawlspider", *TRAFILATURA)  # … our spider


class Stopwatch:
    """Scrapy extension: what a crawl took, as JSON on standard output."""

    clock: Any = None  # of a run that asks for stages
    finish = True  # or end with the last page, without the final pairs

    def __init__(self, crawler: Crawler) -> None:
        """Watch this crawler."""
        self._crawler = crawler
        self._statuses: Counter[int] = Counter()
        self._samples: list[dict[str, float]] = []
        self._marks: list[tuple[float, float, float]] = []

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        """Listen for the start, every answer, and the two ends."""
        watch = cls(crawler)
        connect = crawler.signals.connect
        connect(watch.mark, signal=signals.engine_started)
        connect(watch.mark, signal=signals.spider_closed)
        connect(watch.report, signal=signals.engine_stopped)
        connect(watch.count, signal=signals.response_received)
        return watch

    def mark(self) -> None:
        """Note the time."""
        self._marks.append((perf_counter(), process_time(), beside()["beside_s"]))
        if len(self._marks) == 2 and self.clock is not None:
            self._stages = dict(self.clock.seconds)
        if len(self._marks) == 2 and not self.finish:
            print(json.dumps(self._row()), flush=True)
            os._exit(0)  # the page process ends when this one has

    def count(self, response: Any) -> None:
        """Count an answer; now and then look at memory and processor time."""
        self._statuses[response.status] += 1
        answers = self._statuses.total()
        if answers % SAMPLE_EVERY == 0:
            self._samples.append(
                {
                    "answers": answers,
                    "mb": status_mb("VmRSS"),
                    "cpu_s": process_time() - self._spare_s(),
                    **beside(),
                }
            )

    def _spare_s(self) -> float:
        """For sentences that were paired while the crawl waited for others."""
        return float(self._counts().get("sentences/spare_ms", 0) / 1000)

    def _counts(self) -> dict[str, int]:
        """What our crawl counts; Scrapy's spiders have nothing of the kind."""
        crawl = getattr(self._crawler.spider, "crawl", None)
        return dict(crawl.counts) if crawl else {}

    def report(self) -> None:
        """Print what was measured."""
        self.mark()
        (end, *_), (closed, *_) = self._marks[1:]
        print(json.dumps(self._row() | {"finish_s": closed - end}))

    def _row(self) -> dict[str, Any]:
        """What was measured up to the last page."""
        (start, start_cpu, start_beside), (end, end_cpu, end_beside) = self._marks[:2]
        stats = self._crawler.stats.get_stats()
        spare = self._spare_s()
        spare_beside = spare if end_beside else 0.0  # where pages are, sentences are
        row: dict[str, Any] = {
            "statuses": dict(sorted(self._statuses.items())),
            "wall_s": end - start,
            "cpu_s": end_cpu - start_cpu - (spare - spare_beside),
            "beside_s": end_beside - start_beside - spare_beside,
            "spare_s": spare,
            "samples": self._samples,
            "peak_mb": status_mb("VmHWM") + (children_mb() if end_beside else 0.0),
            "errors": sum(
                count
                for name, count in (self._counts() | stats).items()
                if name.startswith(ERRORS)
            ),
        }
        if self.clock is not None:
            rest = row["cpu_s"] - sum(self._stages.values())
            row["stages_s"] = {"download": rest} | self._stages
        return row


def children_mb() -> float:
    """The most memory that a process had that was started by this one."""
    return getrusage(RUSAGE_CHILDREN).ru_maxrss / 1024


def beside() -> dict[str, float]:
    """Processor time so far and memory of a process beside this one, if there is one.

    Of all its threads; `getrusage` would tell when it has ended.
    """
    pid = os.getpid()
    seconds = mb = 0.0
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        for thread in Path(f"/proc/{child}/task").glob("*/schedstat"):
            seconds += int(thread.read_text().split()[0]) / 1e9
        mb += status_mb("VmRSS", child)
    return {"beside_s": seconds, "beside_mb": mb}


class BareSpider(Spider):
    """Fetches a list of URLs."""

    name = "bare"

    def __init__(self, urls: str) -> None:
        """Take the name of a file of URLs."""
        super().__init__()
        self.start_urls = Path(urls).read_text().split()

    def parse(self, response: Any) -> None:
        """Do nothing."""


class KeepingSpider(CrawlSpider):
    """Follows the links of some hosts and keeps what it gets as WARC, by warcio."""

    name = "crawlspider"

    def __init__(self, seeds: str, run_dir: str) -> None:
        """Start at a comma list of URLs; write into a folder."""
        from warcio.warcwriter import WARCWriter

        self.start_urls = seeds.split(",")
        self.allowed_domains = [urlsplit(url).hostname for url in self.start_urls]
        self.rules = (Rule(LinkExtractor(), callback="keep", follow=True),)
        super().__init__()
        Path(run_dir).mkdir(parents=True)
        self._file = Path(run_dir, "pages.warc.gz").open("wb")  # noqa: SIM115 - see closed
        self._writer = WARCWriter(self._file, gzip=True)

    def parse_start_url(self, response: Response, **kwargs: Any) -> list[Any]:
        """Keep the first pages too."""
        self.keep(response)
        return []

    def keep(self, response: Response) -> None:
        """Write the answer, as Scrapy gives it, and its request."""
        from warcio.statusandheaders import StatusAndHeaders

        headers = StatusAndHeaders(
            f"{response.status} OK",
            [
                (name.decode(), value.decode("latin-1"))
                for name in response.headers
                if name != b"Content-Encoding"  # Scrapy has undone it
                for value in response.headers.getlist(name)
            ],
            protocol="HTTP/1.1",
        )
        answer = self._writer.create_warc_record(
            response.url,
            "response",
            payload=BytesIO(response.body),
            http_headers=headers,
        )
        target = urlsplit(response.url)._replace(scheme="", netloc="").geturl() or "/"
        asked = StatusAndHeaders(
            f"GET {target} HTTP/1.1",
            [
                (name.decode(), value.decode())
                for name in response.request.headers
                for value in response.request.headers.getlist(name)
            ],
            is_http_request=True,
        )
        request = self._writer.create_warc_record(
            response.url, "request", http_headers=asked
        )
        self._writer.write_request_response_pair(request, answer)

    def closed(self, reason: str) -> None:
        """Close the file."""
        self._file.close()


def default_settings(concurrency: int) -> Settings:
    """Scrapy's own, as a user starts it, but for what a page does not feel."""
    return Settings(
        {
            "CONCURRENT_REQUESTS": concurrency,
            "CONCURRENT_REQUESTS_PER_DOMAIN": concurrency,
            "LOG_LEVEL": "INFO",  # as ours; the default prints a line for each page
            "TELNETCONSOLE_ENABLED": False,  # servers of its own
            "REMOTE_CONTROL_ENABLED": False,
        }
    )


def lean_settings(concurrency: int) -> Settings:
    settings = default_settings(concurrency)
    for kind, needed in NEEDED.items():
        base = settings.getdict(kind)
        settings.set(kind, {k: v for k, v in base.items() if k.endswith(needed)})
    settings.set("COOKIES_ENABLED", False)
    settings.set("CONCURRENT_ITEMS", 1)
    return settings


def profile_settings(profile: str, concurrency: int, run_dir: str) -> Settings:
    settings = Settings()
    settings.setmodule(f"settings.{profile.removesuffix(PLAIN)}", priority="project")
    changed = {
        "DOWNLOAD_DELAY": 0,
        "CONCURRENT_REQUESTS": concurrency,
        "RUN_DIR": run_dir,
        # Scrapy counts what is logged as an error only with this one
        "EXTENSIONS_BASE": {
            **settings["EXTENSIONS_BASE"],
            "scrapy.extensions.logcount.LogCount": 0,
        },
    }
    if profile.endswith(PLAIN):
        changed |= {"PAIRS": False, "SENTENCES": False}
    settings.update(changed, priority="cmdline")
    return settings


def crawl(name: str, options: dict[str, Any]) -> None:
    """One crawl, in this process; what it took goes to standard output."""
    if name in TRAFILATURA:
        crawl_with_trafilatura(options, keep=name != "trafilatura")
        return
    concurrency = options["concurrency"]
    arguments = {"urls": options.get("urls")}
    if name == "bare":
        spider: Any = BareSpider
        settings = default_settings(concurrency)
    elif name == "lean":
        spider = BareSpider
        settings = lean_settings(concurrency)
    elif name == "crawlspider":
        spider = KeepingSpider
        settings = default_settings(concurrency)
        arguments = {"seeds": options["seeds"], "run_dir": options["run_dir"]}
    else:
        spider = "bilingual"
        settings = profile_settings(name, concurrency, options["run_dir"])
        arguments = {"seeds": options["seeds"], "langs": options["langs"]}
        if options.get("stages"):
            settings.set("PAGE_PROCESS", False, "cmdline")  # the clock is here
            from benchmarks.stages import StageClock  # imports what ours does

            Stopwatch.clock = StageClock()
        read = read_settings(settings.copy_to_dict())
        if wants_process(read):
            arguments["child"] = start_child(read)
    Stopwatch.finish = options["finish"]
    # Before the crawl's own: the last page is marked, then the final pairs are made.
    settings.set("EXTENSIONS", {**settings["EXTENSIONS"], Stopwatch: -1}, "cmdline")
    process = AsyncCrawlerProcess(settings)
    quiet_scrapy()
    process.crawl(process.create_crawler(spider), **arguments)
    process.start()


def crawl_with_trafilatura(options: dict[str, Any], *, keep: bool) -> None:
    """Its focused crawler on one site after the other, without its pauses.

    It takes no HTTP proxy, so every name is given the server's address.
    """
    from trafilatura import extract, spider
    from trafilatura.settings import use_config
    from trafilatura.utils import decode_file

    server = urlsplit(options["proxy"])
    look_up = socket.getaddrinfo

    def at_server(host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        return look_up(server.hostname, server.port, *args, **kwargs)

    socket.getaddrinfo = at_server
    config = use_config()
    config.set("DEFAULT", "SLEEP_TIME", "0")
    config.set("DEFAULT", "SSRF_PROTECTION", "false")  # the server is on loopback
    statuses: Counter[int] = Counter()
    fetch = spider.fetch_response

    folder = Path(options["run_dir"])
    if keep:
        folder.mkdir(parents=True)

    def counted(url: str, **kwargs: Any) -> Any:
        response = fetch(url, **kwargs)
        statuses[response.status if response else 0] += 1
        if keep and response and response.data:
            page = decode_file(response.data)
            file = folder / str(statuses.total())
            file.with_suffix(".html").write_text(page)
            file.with_suffix(".txt").write_text(extract(page, url=url) or "")
        return response

    spider.fetch_response = counted
    start, start_cpu = perf_counter(), process_time()
    for seed in options["seeds"].split(","):
        spider.focused_crawler(seed, options["most"], config=config)
    row = {
        "statuses": dict(sorted(statuses.items())),
        "wall_s": perf_counter() - start,
        "cpu_s": process_time() - start_cpu,
        "beside_s": 0.0,
        "finish_s": 0.0,
        "samples": [],
        "peak_mb": status_mb("VmHWM"),
        "errors": 0,
    }
    print(json.dumps(row))
