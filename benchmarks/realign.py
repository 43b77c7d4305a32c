"""How fast is an archive turned into pairs, and does it stay so as it grows?

    python -m benchmarks.realign BUILT [--only growth] [--pages 10000 50000 200000]

BUILT is a folder of recorded sites (`*.warc.gz`), built from packages. They are
repeated under many host names until there are enough pages: each host has a tenth of a
site, all versions of a page together. What is measured is `bifocal align` with a stored
lexicon, as a process of its own: pages a second by the wall and by processor time, each
stage, the memory of all processes together, bytes on the disk between the stages.

    growth     one job on ever more pages; a size may be named again, since busy
               neighbours lengthen processor time too
    sentences  `bifocal corpus` after it
    jobs       two jobs against one, and against two runs side by side, which is all
               that the machine has
    spark      local[2] against two jobs
    giant      a site of 50,000 pages among others, two jobs, 4 GB
    index      what the one step that sees all records takes, up to a million pages
    ngrams     across sites: how many of the pairs that sites have among 5,000 pages
               would matching n-grams alone bring together?

Writes results/realign.json, whose other parts stay.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict, deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import xxhash

from benchmarks.machine import machine
from crawler.aligner.profile import AlignProfile
from crawler.aligner.seed_groups import seed_groups
from crawler.config import Plugin
from crawler.data import LangPair, Page
from crawler.handles import handle_of
from crawler.realign.matching_ngrams import MatchingNgrams
from crawler.realign.records import PageRecord
from crawler.realign.request import load_lexicon
from crawler.realign.shuffle import Shuffle, write_records
from crawler.realign.steps import Extraction, Extractor, align_group, extract
from crawler.urls import hash64, site_of
from crawler.warc.inputs import Piece
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
STAGE = re.compile(r"^(\w+).* in ([\d.]+) s$", re.MULTILINE)
SESSION = re.compile(r"^Spark .* in ([\d.]+) s$", re.MULTILINE)


def copies(built: Path, names: tuple[str, ...], domain: str = "") -> Iterator[Page]:
    """Pages without end: the sites, part by part, under ever new names.

    With a domain all are one site of that name. 1 GB of pages is held in memory.
    """
    parts: defaultdict[tuple[int, str], list[Page]] = defaultdict(list)
    for name in names:
        for page in iter_pages(built / f"{name}.warc.gz"):
            family = handle_of(page.url).text.encode()
            parts[xxhash.xxh32_intdigest(family) % PARTS, name].append(page)
    for number in count():
        cycle, part = divmod(number, PARTS)
        for name in names:
            site = site_of(f"https://{name}/")
            stem, _, suffix = site.partition(".")
            renamed = f"{stem}-{cycle:03}{part}.{domain or suffix}"
            for page in parts[part, name]:
                yield replace(
                    page,
                    url=page.url.replace(site, renamed),
                    body=page.body.replace(site.encode(), renamed.encode()),
                )


def make_collection(
    built: Path, pages: int, folder: Path, domain: str = ""
) -> list[Path]:
    """WARC files of 5,000 pages each, in the order of their names."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [folder / f"{n:05}.warc.gz" for n in range(-(-pages // FILE_PAGES))]
    if not files[-1].exists():
        stream = copies(built, SITES, domain)
        for path in files:
            chunk = islice(stream, FILE_PAGES)
            if path.exists():
                deque(chunk, maxlen=0)  # made before, the same
            else:
                write_warc(path.with_suffix(".partial.gz"), chunk).replace(path)
    return files


def bifocal(*words: object) -> list[str]:
    return [str(Path(sys.executable).with_name("bifocal")), *map(str, words)]


def watch(command: list[str], work: Path) -> tuple[dict[str, Any], str]:
    """Run a command to its end; what it took, by stage, and what it said."""
    started = time.monotonic()
    cpu: dict[int, float] = {}  # of each process, as last seen
    stages: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
        peak = disk = 0
        while process.poll() is None:
            family = family_of(process.pid)
            cpu |= {pid: cpu_of(pid) or cpu.get(pid, 0) for pid in family}
            peak = max(peak, sum(map(memory_of, family)))
            disk = max(disk, size_of(work))
            for stage, wall in STAGE.findall(said(log)):
                before = sum(row["cpu s"] for row in stages.values())
                spent = round(sum(cpu.values()) - before, 1)
                stages.setdefault(stage, {"wall s": float(wall), "cpu s": spent})
            time.sleep(0.2)
        wall = time.monotonic() - started
        text = said(log)
    if process.returncode:
        raise SystemExit(text)
    return {
        "wall s": round(wall, 1),
        "cpu s": round(sum(cpu.values()), 1),
        "stages": stages,
        "peak MB": round(peak / 2**20),
        "between the stages, MB": round(disk / 2**20),
    }, text


def said(log: TextIO) -> str:
    """What a process has written so far; it goes on writing at the end."""
    return os.pread(log.fileno(), 2**20, 0).decode("utf-8", "replace")


def align(files: list[Path], out: Path, *words: object) -> dict[str, Any]:
    """Run `bifocal align`, watched."""
    shutil.rmtree(out, ignore_errors=True)
    command = bifocal("align", *files, "--out", out, *words)
    took, text = watch(command, out / "work")
    stats = json.loads((out / "stats.json").read_text())
    pages = stats["warc/pages"]
    result = {
        "pages": pages,
        "pages of the two languages": stats["align/pages"],
        "pairs": stats["pairs"],
        "pages/s": round(pages / took["wall s"], 1),
        "pages/cpu s": round(pages / took["cpu s"], 1),
        **took,
    }
    if session := SESSION.search(text):
        result["session s"] = float(session[1])
    return result


def index(pages: int, langs: LangPair, folder: Path) -> dict[str, Any]:
    """Where the records of each group lie: made up, 128 pages a group and piece."""
    folder.mkdir(parents=True)
    files = []
    for number in range(-(-pages // FILE_PAGES)):
        groups = (f"site{number}-{group}.example" for group in count())
        files.append(folder / f"{number:06}.records")
        records = (
            PageRecord(group, lang, hash64(f"{group}{lang}{page}"), b"")
            for group in islice(groups, -(-FILE_PAGES // 128))
            for page in range(64)
            for lang in langs
        )
        write_records(files[-1], records, [*langs])
    started = time.process_time()
    shuffle = Shuffle.read(files, [*langs])
    sizes = shuffle.sizes(langs)
    seed_groups(sizes, AlignProfile())
    found = sum(len(shuffle.places(group, langs).file) for group in sizes)
    spent = time.process_time() - started
    shutil.rmtree(folder)
    return {"pages": found, "groups": len(sizes), "cpu s": round(spent, 2)}


def brought_together(path: Path, langs: LangPair, lexicon: Path) -> dict[str, Any]:
    """Pairs of sites whose pages are in each other's n-best lists by n-grams alone."""
    known = load_lexicon(lexicon, langs)
    groups: defaultdict[str, list[bytes]] = defaultdict(list)
    pages = []
    for record in extract(Piece(str(path)), Extractor([*langs]), Extraction()):
        groups[record.group].append(record.data)
        if record.lang:
            pages.append(record.data)
    pairs = {
        (hash64(pair.src_url), hash64(pair.trg_url))
        for group in groups.values()
        for pair in align_group(group, langs, AlignProfile(), known).pairs
    }
    result: dict[str, Any] = {"pages": len(pages), "pairs": len(pairs)}
    for order in (2, 3, 5):
        search = Plugin("shingles", {"matching_order": order})
        profile = AlignProfile(search=search)
        matching = MatchingNgrams(profile, len(pages), 1)
        started = time.process_time()
        rows = [found for _, found in matching.post(pages, langs, known)]
        for step in MatchingNgrams.STEPS:
            rows = [found for _, found in matching.run(step, rows)]
        found = set(map(tuple, np.concatenate(rows).tolist()))
        result[f"order {order}"] = {
            "candidates": len(found),
            "share of the pairs": round(len(pairs & found) / len(pairs), 3),
            "cpu s": round(time.process_time() - started, 1),
        }
    return result


def side_by_side(files: list[Path], out: Path, *words: object) -> float:
    """Seconds of two runs at once, each with half of the files."""
    outs = [out.with_name(f"{out.name}-{n}") for n in range(2)]
    for path in outs:
        shutil.rmtree(path, ignore_errors=True)
    started = time.monotonic()
    processes = [
        subprocess.Popen(
            bifocal("align", *files[n::2], "--out", path, *words),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        for n, path in enumerate(outs)
    ]
    if any(process.wait() for process in processes):
        raise SystemExit("a run failed")
    return round(time.monotonic() - started, 1)


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
    children: list[str] = []
    for thread in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children += thread.read_text().split()
        except OSError:
            continue
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
        "--compared", type=int, default=20_000, help="pages of jobs and spark"
    )
    parser.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()) / "realign"
    )
    parts = ["growth", "sentences", "jobs", "spark", "giant", "index", "ngrams"]
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    args = parser.parse_args()
    out = args.folder / f"out-{os.getpid()}"
    files = make_collection(args.built, max(args.pages), args.folder / "warcs")
    lexicon = args.folder / "lexicon.npz"
    if not lexicon.exists():
        align(files[:2], out, "--langs", args.langs)
        shutil.copy(out / "lexicon.npz", lexicon)
    words = ("--langs", args.langs, "--lexicon", lexicon, "--memory", "4G")

    def note(part: str, measured: Any) -> None:
        print(part, json.dumps(measured, indent=1), flush=True)
        result = json.loads(RESULT.read_text()) if RESULT.exists() else {}
        about = {
            "machine": machine("numpy", "scipy", "selectolax", "fastwarc"),
            "langs": args.langs,
            "sites": list(SITES),
        }
        result |= about | {part: measured}
        RESULT.write_text(json.dumps(result, indent=1) + "\n", "utf-8")

    if "growth" in args.only:
        growth = []
        for pages in args.pages:
            growth.append(align(files[: pages // FILE_PAGES], out, *words))
            note("growth", growth)
    if "sentences" in args.only:
        pairs = align(files[: args.pages[0] // FILE_PAGES], out, *words)
        corpus = args.folder / "corpus"
        shutil.rmtree(corpus, ignore_errors=True)
        command = bifocal("corpus", out, "--langs", args.langs, "--out", corpus)
        took, _ = watch([*command, "--formats", "tsv"], corpus)
        counts = json.loads((corpus / "corpus.json").read_text())["counts"]
        seconds = pairs["cpu s"] + took["cpu s"]
        measured = {
            "page pairs": counts["corpus/page_pairs"],
            "sentence pairs": counts["corpus/sentence_pairs"],
            "align": pairs,
            "corpus": took,
            "pages/cpu s": round(pairs["pages"] / seconds, 1),
        }
        note("sentences", measured)
    chosen = files[: args.compared // FILE_PAGES]
    if "jobs" in args.only or "spark" in args.only:
        two = align(chosen, out, *words, "--jobs", 2)
        expected = (out / "pairs.tsv.gz").read_bytes()
    if "jobs" in args.only:
        one = align(chosen, out, *words)
        apart = side_by_side(chosen, out, *words)
        measured = {
            "1": one,
            "2": two,
            "times": round(one["wall s"] / two["wall s"], 2),
            "two runs side by side, s": apart,
            "times, side by side": round(one["wall s"] / apart, 2),
            "same output": (out / "pairs.tsv.gz").read_bytes() == expected,
        }
        note("jobs", measured)
    if "spark" in args.only:
        spark = align(chosen, out, *words, "--spark", "local[2]")
        seconds = spark["wall s"] - spark["session s"]
        measured = {
            "local[2]": spark,
            "two jobs": two,
            "times, without the session": round(seconds / two["wall s"], 2),
            "same output": (out / "pairs.tsv.gz").read_bytes() == expected,
        }
        note("spark", measured)
    if "giant" in args.only:
        giant = make_collection(args.built, 50_000, args.folder / "giant", "giant.org")
        note("giant", align([*giant, *files[:2]], out, *words, "--jobs", 2))
    langs = LangPair.parse(args.langs)
    if "index" in args.only:
        sizes = (10_000, 100_000, 1_000_000)
        note("index", [index(pages, langs, out.with_name("index")) for pages in sizes])
    if "ngrams" in args.only:
        note("ngrams", brought_together(files[0], langs, lexicon))
    for path in args.folder.glob(f"{out.name}*"):
        shutil.rmtree(path)


if __name__ == "__main__":
    main()
