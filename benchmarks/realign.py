"""How fast is an archive turned into pairs, and does it stay so as it grows?

    python -m benchmarks.realign BUILT [--pages 10000 50000 200000] [--langs en,fr]

BUILT is a folder of recorded sites (`*.warc.gz`), built from packages. They are
repeated under many host names until there are enough pages: each host has a tenth of a
site, all versions of a page together. What is measured is `bifocal align` with a stored
lexicon, as a process of its own: pages a second by the wall and by processor time, each
stage, the memory of all processes together, bytes on the disk between the stages. Then
two jobs against one, and Spark local[2] against two jobs. Writes results/realign.json.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import xxhash

from benchmarks.machine import machine
from crawler.aligner.profile import AlignProfile
from crawler.data import Page
from crawler.handles import handle_of
from crawler.realign.local import align_collection
from crawler.realign.progress import Progress
from crawler.realign.request import Request
from crawler.urls import site_of
from crawler.warc.reader import iter_pages
from tests.worlds import write_warc

RESULT = Path(__file__).parent / "results" / "realign.json"
# Sites whose pages are of the usual size. The manuals of lilypond have 90 KB a page.
SITES = (
    "docs.gimp.org",
    "help.libreoffice.org",
    "debian-handbook.info",
    "www.debian.org",
    "httpd.apache.org",
    "aptitude.alioth.debian.org",
    "live-team.pages.debian.net",
    "packaging.ubuntu.com",
)
PARTS = 10  # of a site, each under a host name of its own
FILE_PAGES = 5000
PSS = re.compile(r"^Pss:\s+(\d+)", re.MULTILINE)
STAGE = re.compile(r"^(\w+).* in ([\d.]+) s", re.MULTILINE)


def copies(built: Path, names: tuple[str, ...], pages: int) -> Iterator[Page]:
    """So many pages: the sites, part by part, under ever new names."""
    done = 0
    for number in range(10**6):
        part, cycle = number % PARTS, number // PARTS
        for name in names:
            site = site_of(f"https://{name}/")
            stem, _, suffix = site.partition(".")
            renamed = f"{stem}-{cycle:03}{part}.{suffix}"
            for page in iter_pages(built / f"{name}.warc.gz"):
                family = handle_of(page.url).text.encode()
                if xxhash.xxh32_intdigest(family) % PARTS != part:
                    continue
                yield replace(
                    page,
                    url=page.url.replace(site, renamed),
                    body=page.body.replace(site.encode(), renamed.encode()),
                )
                done += 1
                if done >= pages:
                    return


def make_collection(built: Path, pages: int, folder: Path) -> list[Path]:
    """WARC files of 5,000 pages each, in the order of their names."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{n:05}.warc.gz" for n in range(-(-pages // FILE_PAGES))]
    if not files[-1].exists():
        stream = copies(built, SITES, pages)
        for path in files:
            write_warc(path, islice(stream, FILE_PAGES))
    return files


def align(files: list[Path], out: Path, *words: str) -> dict[str, Any]:
    """Run `bifocal align`, watched."""
    shutil.rmtree(out, ignore_errors=True)
    command = [Path(sys.executable).with_name("bifocal"), "align", *files]
    started = time.monotonic()
    cpu: dict[int, float] = {}  # of each process, as last seen
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(
            [*command, "--out", out, *words], stdout=log, stderr=log
        )
        peak = work = 0
        while process.poll() is None:
            family = family_of(process.pid)
            cpu |= {pid: cpu_of(pid) or cpu.get(pid, 0) for pid in family}
            peak = max(peak, sum(map(memory_of, family)))
            work = max(work, size_of(out / "work"))
            time.sleep(0.2)
        wall = time.monotonic() - started
        log.seek(0)
        said = log.read()
    if process.returncode:
        raise SystemExit(said)
    seconds = sum(cpu.values())
    stats = json.loads((out / "stats.json").read_text())
    pages = stats["warc/pages"]
    return {
        "pages": pages,
        "pages of the two languages": stats["align/pages"],
        "pairs": stats["pairs"],
        "wall s": round(wall, 1),
        "cpu s": round(seconds, 1),
        "pages/s": round(pages / wall, 1),
        "pages/cpu s": round(pages / seconds, 1),
        "stages, s": {
            name: float(seconds)
            for name, seconds in re.findall(
                r"^(\w+).* in ([\d.]+) s", said, re.MULTILINE
            )
        },
        "peak MB": round(peak / 2**20),
        "between the stages, MB": round(work / 2**20),
    }


class Stages(Progress):
    """Processor time of each stage, and what it leaves on the disk."""

    def __init__(self, work: Path) -> None:
        super().__init__(io.StringIO())
        self.work = work
        self.table: dict[str, dict[str, float]] = {}

    def begin(self, stage: str, total: float, *, unit: str = "pages") -> None:
        """Note the processor time."""
        super().begin(stage, total, unit=unit)
        self.cpu = time.process_time()

    def end(self) -> None:
        """Add a row to the table."""
        super().end()
        self.table[self._stage] = {
            "cpu s": round(time.process_time() - self.cpu, 1),
            "pages": self._items,
            "MB on the disk": round(size_of(self.work) / 1e6, 1),
        }


def stages(files: list[Path], out: Path, langs: str, lexicon: Path) -> dict[str, Any]:
    """The stages of one process, which is this one."""
    shutil.rmtree(out, ignore_errors=True)
    progress = Stages(out / "work")
    profile = AlignProfile()
    paths = tuple(map(str, files))
    request = Request(paths, tuple(langs.split(",")), out, profile, lexicon)
    align_collection(request, progress=progress)
    return progress.table


def memory_of(pid: int) -> int:
    """Bytes that a process has for itself now."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0
    found = PSS.search(text)
    return int(found[1]) * 1024 if found else 0


def cpu_of(pid: int) -> float:
    """Seconds of processor time that a process has used; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def family_of(pid: int) -> list[int]:
    """A process and all that descend from it."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    return [pid, *(d for child in children for d in family_of(int(child)))]


def size_of(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("built", type=Path)
    parser.add_argument(
        "--pages", type=int, nargs="+", default=[10_000, 50_000, 200_000]
    )
    parser.add_argument("--langs", default="en,fr")
    parser.add_argument(
        "--compared", type=int, default=50_000, help="pages of the rest"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "realign"
    )
    parser.add_argument(
        "--only", nargs="+", default=["stages", "growth", "jobs", "spark"]
    )
    args = parser.parse_args()
    collection, out = args.folder / "warcs", args.folder / "out"
    files = make_collection(args.built, max(args.pages), collection)
    lexicon = args.folder / "lexicon.npz"
    if not lexicon.exists():
        align(files[:2], out, "--langs", args.langs)
        shutil.copy(out / "lexicon.npz", lexicon)
    words = ("--langs", args.langs, "--lexicon", str(lexicon), "--memory", "4G")
    result = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    result |= {"machine": machine("numpy", "scipy", "selectolax", "fastwarc")}
    result |= {"langs": args.langs, "sites": list(SITES)}
    if "stages" in args.only:
        result["stages of 10,000 pages"] = stages(files[:2], out, args.langs, lexicon)
    if "growth" in args.only:
        table = result.setdefault("one job", {})
        for pages in args.pages:
            table[str(pages)] = align(files[: pages // FILE_PAGES], out, *words)
            print(pages, json.dumps(table[str(pages)]), flush=True)
            RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    chosen = files[: min(args.pages[-1], args.compared) // FILE_PAGES]
    if "jobs" in args.only:
        one, two = (align(chosen, out, *words, "--jobs", n) for n in "12")
        result["jobs"] = {
            "1": one,
            "2": two,
            "times": round(one["wall s"] / two["wall s"], 2),
        }
    if "spark" in args.only:
        two = align(chosen, out, *words, "--jobs", "2")
        expected = (out / "pairs.tsv.gz").read_bytes()
        spark = align(chosen, out, *words, "--spark", "local[2]")
        result["spark"] = {
            "local[2]": spark,
            "two jobs": two,
            "same output": (out / "pairs.tsv.gz").read_bytes() == expected,
        }
    RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
