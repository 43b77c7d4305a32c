"""How fast are WARC files written, read and replayed, next to warcio and bare FastWARC?

    python benchmarks/warc.py                  # 2 minutes
    python benchmarks/warc.py --pages 20000    # more pages of both sizes

Results go to benchmarks/results/warc.json. Every figure is CPU time of one process, the
best of three interleaved rounds; MB are of HTML, uncompressed.

* write: for each page a request, a response with both digests and a metadata record,
  one gzip member each. `bifocal` also makes the CDXJ index. warcio packs at level 9,
  its default, `bifocal` at 6; `warcio response only` leaves the other two records out.
* read: every page's status, headers and decoded body. `bifocal` also checks where each
  record ends and canonicalizes its URL; `fastwarc` takes the raw blocks only. The
  `written` file is what `bifocal` wrote, with three records a page; `packed` and
  `plain` have responses only.
* world: opening a replay world, by scanning and by its CDXJ, and answering for every
  page in random order.

`small` pages have 1.5 KB of HTML, `docs` pages 26 KB, as documentation sites have. They
are made of few phrases and pack twice as well as real ones: read ratios, not MB/s.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import platform
import random
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import process_time
from typing import Any

from fastwarc.warc import ArchiveIterator
from warcio.archiveiterator import ArchiveIterator as WarcioIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from crawler.data import Page
from crawler.replay.world import ReplayWorld
from crawler.warc.exchange import Exchange
from crawler.warc.reader import iter_pages
from crawler.warc.writer import WarcWriter
from tests.worlds import build_site, write_warc

RESULTS = Path(__file__).parent / "results" / "warc.json"
ROUNDS = 3
SIZES = {"small": 20, "docs": 3300}  # words of running text
HEADERS = [("Content-Type", "text/html; charset=utf-8"), ("Server", "nginx")]
METADATA = [("languages", "is 0.98"), ("via", "https://town.example/")]


def write_ours(folder: Path, pages: list[Page]) -> None:
    raw = tuple((k.encode(), v.encode()) for k, v in HEADERS)
    with WarcWriter(folder) as warc:
        for page in pages:
            location = warc.write_exchange(
                Exchange(page.url, 200, raw, page.body, page.fetched_at, reason="OK")
            )
            warc.write_metadata(page.url, location.record_id, METADATA)


def write_warcio(folder: Path, pages: list[Page], *, all_records: bool) -> None:
    folder.mkdir()
    with (folder / "a.warc.gz").open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for page in pages:
            http = StatusAndHeaders("200 OK", HEADERS, protocol="HTTP/1.1")
            response = writer.create_warc_record(
                page.url, "response", io.BytesIO(page.body), http_headers=http
            )
            writer.write_record(response)
            if all_records:
                http = StatusAndHeaders("GET / HTTP/1.1", [], is_http_request=True)
                writer.write_record(
                    writer.create_warc_record(page.url, "request", http_headers=http)
                )
                fields = "".join(f"{k}: {v}\r\n" for k, v in METADATA).encode()
                writer.write_record(
                    writer.create_warc_record(
                        page.url, "metadata", io.BytesIO(fields), len(fields)
                    )
                )


def read_ours(path: Path) -> int:
    return sum(len(page.body) for page in iter_pages(path))


def read_warcio(path: Path) -> int:
    with path.open("rb") as file:
        return sum(
            len(record.content_stream().read())
            for record in WarcioIterator(file)
            if record.rec_type == "response"
        )


def read_fastwarc(path: Path) -> int:
    with path.open("rb") as file:
        return sum(
            len(record.reader.read())
            for record in ArchiveIterator(file, parse_http=False)
        )


def answer_all(world: ReplayWorld) -> None:
    urls = list(world.urls())
    random.Random(1).shuffle(urls)
    for url in urls:
        assert world.answer(url).status == 200


def best(tasks: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Seconds of each task: the best of interleaved rounds."""
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(ROUNDS):
        for name, task in tasks.items():
            start = process_time()
            task()
            seconds[name].append(process_time() - start)
    return {name: min(times) for name, times in seconds.items()}


def measure(size: str, count: int, folder: Path) -> dict[str, Any]:
    site = build_site(concepts=count // 2, words=SIZES[size])
    pages = list(site.pages())
    html = sum(len(page.body) for page in pages)
    numbers = iter(range(10_000))

    def fresh() -> Path:
        return folder / f"{size}{next(numbers)}"

    seconds = best(
        {
            "write bifocal": lambda: write_ours(fresh(), pages),
            "write warcio": lambda: write_warcio(fresh(), pages, all_records=True),
            "write warcio response only": lambda: write_warcio(
                fresh(), pages, all_records=False
            ),
        }
    )
    write_ours(folder / size, pages)
    (written,) = (folder / size).glob("*.warc.gz")
    (cdxj,) = (folder / size).glob("*.cdxj")
    packed = write_warc(folder / f"{size}.warc.gz", pages)
    plain = write_warc(folder / f"{size}.warc", pages)
    readers = {"bifocal": read_ours, "warcio": read_warcio, "fastwarc": read_fastwarc}
    seconds |= best(
        {
            f"read {name} {path_name}": (lambda read=read, path=path: read(path))
            for path_name, path in (
                ("written", written),
                ("packed", packed),
                ("plain", plain),
            )
            for name, read in readers.items()
        }
    )
    world = ReplayWorld.open(written)
    seconds |= best(
        {
            "world open by cdxj": lambda: ReplayWorld.open(written),
            "world open by scan": lambda: ReplayWorld.open(packed),
            "world answer": lambda: answer_all(world),
        }
    )
    return {
        "size": size,
        "pages": len(pages),
        "html_kb_per_page": round(html / len(pages) / 1000, 1),
        "file_mb": {
            "bifocal": round(written.stat().st_size / 1e6, 2),
            "bifocal cdxj": round(cdxj.stat().st_size / 1e6, 2),
        },
        "load": os.getloadavg()[0],
        "figures": {
            name: {
                "pages_per_s": round(len(pages) / time),
                "mb_per_s": round(html / time / 1e6, 1),
            }
            for name, time in seconds.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=4000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    report: dict[str, Any] = {
        "command": f"python benchmarks/warc.py --pages {args.pages}",
        "machine": {
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "cpu": platform.processor() or platform.machine(),
        }
        | {name: version(name) for name in ("fastwarc", "warcio")},
        "rows": [],
    }
    for size in SIZES:
        with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
            row = measure(size, args.pages, Path(folder))
        report["rows"].append(row)
        print(json.dumps(row, indent=1))
    args.out.parent.mkdir(exist_ok=True)
    args.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
