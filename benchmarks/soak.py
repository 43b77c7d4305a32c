"""Two hours at full speed against 500 misbehaving hosts: does anything grow?

    python -m benchmarks.soak --minutes 120 [--folder FOLDER] [-s NAME=VALUE]

A farm of 500 hosts on loopback (127.1.0.1 …) has pages without end. Three in five hosts
are good bilingual sites; the others have a vice each (`VICES`), which every third of
their pages shows: slow, silent, reset, cut short, redirected in circles, session ids,
calendars, facets, errors, 429, wrong lengths, bombs, endless bodies and headers, floods
of links. The crawl is `adaptive` with everything on and no politeness delay, in a
process of its own and the one that it has for pages; both are looked at from outside
every five seconds (memory, open files, threads, size on the disk; they are added up),
and the scheduler says how long a pop takes, how long the event loop was away, and how
many URLs are pending and known.

At the end the crawl is killed (-9) and started again, and the seconds until its first
page are the time that resuming takes. The figures go to benchmarks/results/soak.json,
drawn in soak.svg, and are written every ten minutes on the way.

What the crawl has put on the disk and nobody reads any more is taken away while it runs
(complete WARC files but the last two), so the folder needs some 10 GB.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scrapy import Request, Spider, signals
from scrapy.http import Response
from scrapy.utils.asyncio import create_looping_call

from benchmarks.drawing import pyplot, save
from benchmarks.machine import machine
from crawler.components.scheduler import CrawlScheduler
from crawler.crawl.log import Visit
from tests.commands import crawl_command, environment
from tests.webserver import answer, moved, page, text
from tests.worlds import build_site

RESULTS = Path(__file__).parent / "results" / "soak.json"
HOSTS = 500
GOOD = 0.6  # of the hosts
LANGS = ("en", "is")
WORDS = 150  # on a page: many pages, not long ones, are what makes a crawl grow
SAMPLE_EVERY = 5.0  # seconds
WRITE_EVERY = 600.0
WARM_UP = 1 / 3  # of the time; caches fill, models load, all hosts are met
KEPT_WARCS = 2
RESUME_MOST = 1800.0  # seconds to wait for the first page after the kill
SETTINGS = {
    "DOWNLOAD_DELAY": 0,
    "DOWNLOAD_TIMEOUT": 10,
    "DOWNLOAD_MAXSIZE": 2_000_000,
    "CONCURRENT_REQUESTS": 64,
    "RETRY_WAIT": 2,
    "WARC_MAX_BYTES": 100_000_000,
    "SCHEDULER": "benchmarks.soak.TimedScheduler",
}


# ------------------------------------------------------------------ the farm

Writer = asyncio.StreamWriter
Talk = Callable[[Writer], Awaitable[None]]
Made = bytes | Talk
TEXTS = build_site("farm.example", concepts=10, words=WORDS, hreflang=False)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


def good_page(number: int, lang: str, *more: str) -> bytes:
    """A page of an endless bilingual site: its text, its other half, two children."""
    other = LANGS[lang == LANGS[0]]
    near = [f"/{lang}/{n}.html" for n in (number * 2 + 1, number * 2 + 2, number // 2)]
    links = "\n".join(f'<a href="{url}">{url}</a>' for url in (*near, *more))
    return page(
        f'<link rel="alternate" hreflang="{other}" href="/{other}/{number}.html">',
        f"<h1>{TEXTS.title(number, lang)}</h1>",
        f"<p>{' '.join(TEXTS.sentences(number, lang))}</p>",
        links,
        title=TEXTS.title(number, lang),
    )


def anchors(*urls: str) -> str:
    return "\n".join(f'<a href="{url}">more</a>' for url in urls)


def drip(pieces: Iterable[bytes], pause: float) -> Talk:
    async def talk(writer: Writer) -> None:
        for piece in pieces:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return talk


def ends(data: bytes, *, reset: bool = False) -> Talk:
    """These bytes, then the end of the connection."""

    async def talk(writer: Writer) -> None:
        writer.write(data)
        if reset:
            writer.transport.abort()

    return talk


def once_more(data: bytes, piece: bytes) -> Talk:
    async def talk(writer: Writer) -> None:
        writer.write(data)
        while True:
            writer.write(piece)
            await writer.drain()

    return talk


def _english(number: int) -> str:
    return f"<p>{' '.join(TEXTS.sentences(number, 'en'))}"


BOMB = answer(gzip.compress(b"<p>" + b"a" * 20_000_000), content_encoding="gzip")
# What a host does with every third of its pages, by the number of the page.
VICES: dict[str, Callable[[int], Made]] = {
    "slow": lambda n: drip([OK + b"\r\n", *[b"<p>word "] * 8], 0.5),
    "silent": lambda n: drip([b""] * 30, 1.0),
    "reset": lambda n: ends(b"", reset=True),
    "cut_short": lambda n: ends(answer("<p>half", content_length="5000")),
    "closed_in_headers": lambda n: ends(OK),
    "redirects": lambda n: moved(f"/en/{n + 3}.html"),
    "redirect_loop": lambda n: moved(f"/en/{n}.html"),
    "session_ids": lambda n: page(
        _english(n % 50),
        anchors(*(f"/en/{n % 900}.html?sid={random.getrandbits(64):x}" for _ in "ab")),
    ),
    "calendar": lambda n: page(
        "<h1>Calendar</h1>" + _english(1), anchors(f"/en/{n + 3}.html?month={n}")
    ),
    "facets": lambda n: page(
        _english(2), anchors(*(f"/en/2.html?f{k}={n % 97}&g={n}" for k in range(20)))
    ),
    "errors": lambda n: answer("<p>Sorry", "500 Internal Server Error"),
    "too_many": lambda n: answer("", "429 Too Many Requests", retry_after="5"),
    "length_too_small": lambda n: ends(answer(_english(n), content_length="10")),
    "length_negative": lambda n: ends(OK + b"Content-Length: -5\r\n\r\n<p>"),
    "endless_body": lambda n: once_more(OK + b"\r\n", b"and so on, " * 5000),
    "endless_headers": lambda n: once_more(OK, b"X-Much: more\r\n" * 900),
    "bomb": lambda n: BOMB,
    "nested": lambda n: page("<div>" * 5000 + _english(n)),
    "flood": lambda n: page(
        _english(n), anchors(*(f"/flood/{n}/{k}/x.html" for k in range(500)))
    ),
    "soft_404": lambda n: page("<h1>Sorry</h1><p>We could not find this page."),
    "binary": lambda n: answer(random.randbytes(20_000)),
    "wrong_charset": lambda n: answer(
        " ".join(TEXTS.sentences(n, "is")).encode("latin-1", "replace")
    ),
    "cookies": lambda n: ends(OK + b"Set-Cookie: a=b\r\n" * 400 + b"\r\n<p>x"),
    "empty": lambda n: answer(""),
    "chunked_garbage": lambda n: ends(
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n<p>\r\n"
    ),
}


def address(host: int) -> str:
    """The first is 127.1.0.1, the second 127.1.0.2."""
    return f"127.1.{host // 250}.{host % 250 + 1}"


def vice_of(host: int) -> str | None:
    """What is wrong with a host; None: it is a good one."""
    bad = int(HOSTS * (1 - GOOD))
    return list(VICES)[host % len(VICES)] if host < bad else None


def make(host: int, path: str) -> Made:
    """The answer of a host."""
    if path == "/robots.txt":
        return text("User-agent: *", "Disallow: /private/")
    number = int((re.findall(r"\d+", path) or ["0"])[0])
    vice = vice_of(host)
    if vice and path != "/" and number % 3 == 2:
        return VICES[vice](number)
    lang = LANGS[path.startswith(f"/{LANGS[1]}/")]
    return good_page(number, lang, f"/{LANGS[0]}/0.html", f"/{LANGS[1]}/0.html")


async def farm() -> None:
    """Serve all hosts on one port, which is printed, until killed."""
    hosts = {address(host): host for host in range(HOSTS)}

    async def serve(reader: asyncio.StreamReader, writer: Writer) -> None:
        host = hosts[writer.get_extra_info("sockname")[0]]
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                made = make(host, head.split(b" ", 2)[1].decode("latin-1"))
                if not isinstance(made, bytes):
                    await made(writer)
                    break
                writer.write(made)
                await writer.drain()
        writer.close()

    first = await asyncio.start_server(serve, address(0), 0, backlog=64)
    port = first.sockets[0].getsockname()[1]
    others = [address(host) for host in range(1, HOSTS)]
    rest = await asyncio.start_server(serve, others, port, backlog=64)
    print(port, flush=True)
    async with first, rest:
        await rest.serve_forever()


# ------------------------------------------------------- in the crawl's process


class TimedScheduler(CrawlScheduler):
    """The scheduler, which tells every few seconds how it is (to SOAK_LOG)."""

    _EVERY, _TICK = SAMPLE_EVERY, 0.1

    def open(self, spider: Spider) -> None:
        """Begin to look."""
        super().open(spider)
        self._log = Path(self._crawler.settings["SOAK_LOG"])
        self._began = self._ticked = self._told = time.monotonic()
        self._pops: list[float] = []
        self._answers: list[float] = []
        self._away = 0.0
        self._pages = self._pairs = 0
        connect = self._crawler.signals.connect
        connect(self._answered, signal=signals.response_received)
        self._crawl.observe(self)
        self._clock = create_looping_call(self._tick)
        self._clock.start(self._TICK, now=False)

    def next_request(self) -> Request | None:
        """Measure a pop; one that finds no URL is none."""
        started = time.perf_counter()
        found = super().next_request()
        if found is not None:
            self._pops.append(time.perf_counter() - started)
        return found

    def visited(self, visit: Visit) -> None:
        """Count pairs."""
        self._pairs += visit.pairs

    def close(self, reason: str = "") -> None:
        """End, of the spider or of the crawl."""
        if self._clock.running:
            self._clock.stop()

    def _answered(self, response: Response) -> None:
        self._pages += 1
        self._answers.append(response.meta.get("download_latency", 0.0))

    def _tick(self) -> None:
        now = time.monotonic()
        self._away = max(self._away, now - self._ticked - self._TICK)
        self._ticked = now
        if now - self._told < self._EVERY:
            return
        counts = self._crawl.frontier.store.counts()
        row = {
            "at": time.time(),
            "pages": self._pages,
            "pending": counts["pending"] + counts["leased"],
            "known": sum(counts.values()),
            "pairs": self._pairs,
            "pop_ms": _times(self._pops),
            "answer_ms": _times(self._answers),
            "away_ms": round(self._away * 1e3),
        }
        with self._log.open("a") as log:
            log.write(json.dumps(row) + "\n")
        self._told, self._away = now, 0.0
        self._pops.clear()
        self._answers.clear()


def _times(seconds: list[float]) -> dict[str, float]:
    """Milliseconds: the median, the 99th percentile, the longest."""
    ordered = sorted(seconds) or [0.0]
    return {
        name: round(ordered[int((len(ordered) - 1) * share)] * 1e3, 3)
        for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }


# ------------------------------------------------------------ around the crawl


def look(process: int, run: Path) -> dict[str, float]:
    """What the kernel says of the crawl, and what its run directory holds."""
    seen: Counter[str] = Counter()
    for proc in family(Path(f"/proc/{process}")):
        status = (proc / "status").read_text()
        fields = dict(line.split(":", 1) for line in status.splitlines())
        stat = (proc / "stat").read_text().rpartition(")")[2].split()
        seen["rss_kb"] += int(fields["VmRSS"].split()[0])
        seen["threads"] += int(fields["Threads"])
        seen["files"] += sum(1 for _ in (proc / "fd").iterdir())
        seen["ticks"] += int(stat[11]) + int(stat[12])
    files = [path.stat() for path in run.rglob("*") if path.is_file()]
    return {
        "rss_mb": seen["rss_kb"] / 1024,
        "threads": seen["threads"],
        "files": seen["files"],
        "cpu_s": seen["ticks"] / os.sysconf("SC_CLK_TCK"),
        "disk_mb": sum(file.st_size for file in files) / 1e6,
    }


def family(proc: Path) -> Iterator[Path]:
    """A process, and those that it has started (the one for pages)."""
    yield proc
    for task in (proc / "task").iterdir():
        for child in (task / "children").read_text().split():
            yield from family(proc.parent / child)


def tidy(run: Path) -> None:
    """Take away what nobody reads while the crawl runs: complete WARC files."""
    complete = sorted((run / "warc").glob("*.warc.gz"), key=os.path.getmtime)
    for path in complete[:-KEPT_WARCS]:
        path.unlink()


def rows_of(log: Path) -> list[dict[str, Any]]:
    """What the scheduler has told; the last line may be half written."""
    lines = log.read_text().split("\n")[:-1] if log.exists() else []
    return [json.loads(line) for line in lines]


def until(
    done: Callable[[], bool], process: subprocess.Popen[bytes], most: float
) -> float:
    """Seconds until something is so."""
    started = time.monotonic()
    while not done():
        if process.poll() is not None or time.monotonic() - started > most:
            sys.exit(f"the crawl ended, or did nothing for {most} s: see its log")
        time.sleep(0.05)
    return time.monotonic() - started


# ------------------------------------------------------------------ what it says

# figure → how to read it from a sample or a row, and its unit
SERIES: dict[str, tuple[Callable[[dict[str, Any]], float], str]] = {
    "memory": (lambda s: s["rss_mb"], "MB"),
    "open files": (lambda s: s["files"], ""),
    "threads": (lambda s: s["threads"], ""),
    "pages a second": (lambda s: s["rate"], ""),
    "pages a CPU second": (lambda s: s["cpu_rate"], ""),
    "URLs known": (lambda s: s["known"] / 1e6, "million"),
    "URLs pending": (lambda s: s["pending"] / 1e6, "million"),
    "pop, median": (lambda s: s["pop_ms"]["p50"], "ms"),
    "pop, p99": (lambda s: s["pop_ms"]["p99"], "ms"),
    "answer, median": (lambda s: s["answer_ms"]["p50"], "ms"),
    "event loop away": (lambda s: s["away_ms"], "ms"),
    "on the disk": (lambda s: s["disk_mb"], "MB"),
}


def joined(
    samples: Sequence[dict[str, float]], rows: Sequence[dict[str, Any]], started: float
) -> list[dict[str, Any]]:
    """One table: each sample with the row of the scheduler that came last."""
    table: list[dict[str, Any]] = []
    place = 0
    for sample in samples:
        while place + 1 < len(rows) and rows[place + 1]["at"] <= sample["at"]:
            place += 1
        row = {**rows[place], **sample}
        row["minutes"] = (sample["at"] - started) / 60
        before = table[max(0, len(table) - 12)] if table else row  # a minute ago
        passed = row["at"] - before["at"]
        pages, used = row["pages"] - before["pages"], row["cpu_s"] - before["cpu_s"]
        row["rate"] = pages / passed if passed else 0.0
        row["cpu_rate"] = pages / used if used else 0.0
        table.append(row)
    return table


def fit(xs: Sequence[float], ys: Sequence[float]) -> dict[str, float]:
    """The line through the points: its slope, and how much of them it explains."""
    if len(xs) < 3 or min(xs) == max(xs):
        return {"slope": 0.0, "r2": 0.0}
    slope, _ = statistics.linear_regression(xs, ys)
    r2 = statistics.correlation(xs, ys) ** 2 if min(ys) < max(ys) else 0.0
    return {"slope": round(slope, 4), "r2": round(r2, 3)}


def judge(table: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What every figure was after the warm-up, and how it changes with time."""
    warm = [row for row in table if row["minutes"] >= WARM_UP * table[-1]["minutes"]]
    found: dict[str, Any] = {}
    for name, (read, unit) in SERIES.items():
        values = [read(row) for row in warm]
        line = fit([row["minutes"] / 60 for row in warm], values)
        found[name] = {
            "unit": unit,
            "first": round(values[0], 3),
            "median": round(statistics.median(values), 3),
            "last": round(values[-1], 3),
            "max": round(max(values), 3),
            "an_hour": line["slope"],
            "r2": line["r2"],
        }
    memory = [row["rss_mb"] for row in warm]
    found["memory"]["mb_a_million_urls_known"] = fit(
        [row["known"] / 1e6 for row in warm], memory
    )
    found["memory"]["mb_a_million_pages"] = fit(
        [row["pages"] / 1e6 for row in warm], memory
    )
    return found


@dataclass
class Soak:
    """One run: what it was on, and what was seen of it."""

    out: Path
    log: Path  # of the scheduler
    facts: dict[str, Any]
    settings: dict[str, Any]
    started: float
    samples: list[dict[str, float]] = field(default_factory=list)

    def write(self, ended_by: str, resume_s: float | None = None) -> None:
        """The figures, a sample a minute, and the picture."""
        table = joined(self.samples, rows_of(self.log), self.started)
        last = table[-1]
        report = {
            "machine": self.facts,
            "load_at_end": round(os.getloadavg()[0], 2),
            "hosts": HOSTS,
            "settings": self.settings,
            "ended_by": ended_by,
            "minutes": round(last["minutes"], 1),
            "pages": last["pages"],
            "pairs": last["pairs"],
            "cpu_s": round(last["cpu_s"]),
            "resume_s": resume_s,
            "figures": judge(table),
            "samples": [
                {
                    "minutes": round(row["minutes"], 2),
                    "pages": row["pages"],
                    **{name: round(read(row), 3) for name, (read, _) in SERIES.items()},
                }
                for row in table[::12]
            ],
        }
        self.out.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
        draw(table, self.out.with_suffix(".svg"))


def draw(table: Sequence[dict[str, Any]], path: Path) -> None:
    """A panel for each figure."""
    figure, axes = pyplot().subplots(
        3, 4, figsize=(14, 8), sharex=True, layout="constrained"
    )
    minutes = [row["minutes"] for row in table[::6]]
    for axis, (name, (read, unit)) in zip(axes.flat, SERIES.items(), strict=False):
        axis.plot(minutes, [read(row) for row in table[::6]], linewidth=1)
        axis.set_title(f"{name}, {unit}" if unit else name, fontsize=10)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    for axis in axes.flat[len(SERIES) :]:
        axis.axis("off")
    figure.supxlabel("minutes")
    save(figure, path)


def soak(args: argparse.Namespace, folder: Path) -> None:
    """Farm, crawl, samples, kill, resume."""
    settings = SETTINGS | dict(item.split("=", 1) for item in args.set)
    run, log = folder / "run", folder / "scheduler.jsonl"
    with contextlib.ExitStack() as stack:

        def start(words: list[str], **more: Any) -> subprocess.Popen[bytes]:
            process = subprocess.Popen(words, env=environment(), **more)
            stack.callback(process.wait)
            stack.callback(process.kill)
            return process

        server = start([sys.executable, __file__, "farm"], stdout=subprocess.PIPE)
        assert server.stdout is not None
        port = int(server.stdout.readline())
        seeds = folder / "seeds.txt"
        hosts = [f"http://{address(host)}:{port}/" for host in range(HOSTS)]
        seeds.write_text("\n".join(hosts) + "\n")
        command = crawl_command(seeds, ",".join(LANGS), run, SOAK_LOG=log, **settings)
        errors = stack.enter_context((folder / "crawl.log").open("ab"))
        facts = machine("scrapy", "twisted")
        crawl = start(command, stderr=errors)
        until(lambda: bool(rows_of(log)), crawl, 120)
        found = Soak(args.out, log, facts, settings, written := time.time())
        ended_by = "time"
        while time.time() - found.started < args.minutes * 60:
            time.sleep(SAMPLE_EVERY)
            if crawl.poll() is not None:
                ended_by = f"the crawl ended with status {crawl.returncode}"
                break
            found.samples.append({"at": time.time()} | look(crawl.pid, run))
            tidy(run)
            if found.samples[-1]["rss_mb"] > args.most_mb:
                ended_by = f"more than {args.most_mb:.0f} MB"
                break
            if time.time() - written > WRITE_EVERY:
                written = time.time()
                found.write("still running")
        crawl.kill()
        crawl.wait()
        found.write(ended_by)
        told = len(rows_of(log))
        again = start(command, stderr=errors)
        resumed = until(lambda: len(rows_of(log)) > told, again, RESUME_MOST)
        found.write(ended_by, round(resumed, 1))


def main() -> None:
    """Soak."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--folder", type=Path, help="default: a temporary one")
    parser.add_argument("--most-mb", type=float, default=8000, help="memory to end at")
    parser.add_argument("-s", dest="set", action="append", default=[])
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        soak(args, args.folder or Path(folder))


if __name__ == "__main__":
    if sys.argv[1:2] == ["farm"]:
        asyncio.run(farm())
    else:
        main()
