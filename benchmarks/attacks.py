"""Hostile servers, one crawl each: what came of it, how long it took, what it held.

    python -m benchmarks.attacks [--only NAME ...] [--out FILE]
    python -m benchmarks.attacks --table      # what was measured, for docs/safety.md
    python -m benchmarks.attacks --classes    # by class, with what is promised
    python -m benchmarks.attacks --beside     # good sites beside one attacker

Beside an attacker are three good sites, asked with a pause; the limits are the default
ones but for the seconds of an answer. Their rate is by the servers' own logs, from the
first page to the last.

The attacks are those of tests/hostile/attacks.py, which CI runs in one crawl together.
Time is of the whole crawl and memory of the larger of its two processes, so the row
`none`, a site that does nothing bad, is what to compare with.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.machine import machine
from tests.commands import ROOT, Run, crawl_command, environment, pair_urls
from tests.crash.events import children_of
from tests.hostile.attacks import ATTACKS, LIMITS, Attack, endless_site, site
from tests.hostile.findings import CLASSES, AttackClass
from tests.hostile.shapes import PAGES
from tests.webserver import Server, answer, serving
from tests.worlds import build_site

RESULTS = Path(__file__).parent / "results" / "attacks.json"
LINEAR = RESULTS.with_name("linear.json")
# A process in between: what the kernel says of a child's peak begins with the parent's,
# and the parent holds the attacks.
_LAUNCH = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=-3, stderr=-3)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""
NONE = Attack({}, links=())
BESIDE_RESULTS = RESULTS.with_name("attacks_beside.json")
TOWNS = [
    build_site(f"town{n}.example", concepts=100, words=80, seed=n) for n in range(3)
]
BESIDE = {
    "DOWNLOAD_DELAY": 0.3,
    "DOWNLOAD_TIMEOUT": 10,
    "SITE_MAX_PAGES": 250,
    "RETRY_WAIT": 0.5,
    "PAGE_PROCESS": True,
}


def dear_site(shape: str) -> Attack:
    """A site all of whose pages take as long to read as a page can."""
    body = gzip.compress(PAGES[shape](5_000_000), 1)
    links_on = "".join(f'<a href="/dear/{n}">{n}</a>' for n in range(60)).encode()
    dear = answer(gzip.compress(links_on) + body, content_encoding="gzip")
    return Attack(endless_site("/dear/", lambda _: dear, "/dear/0"))


_QUIET = 25.0  # seconds after the last request to a good site
DEAR = {
    f"every_page_{shape}": dear_site(shape)
    for shape in ("text_ampersands", "components", "links_without_text")
}
# Of the others those that cost most of time or memory.
DEAREST = (
    *("chunks_of_two_bytes", "links_without_end", "bombs_in_codings"),
    *("sitemap_of_alternates_empty", "robots_patterns", "preloads_and_prefetches"),
    *("endless_body", "hreflang_flood", "page_links_hosts_cjk", "gzip_bomb"),
)


def measure(attack: Attack, folder: Path) -> dict[str, Any]:
    """One crawl of one site, in a process of its own."""
    with Server(host="127.0.2.1") as server:
        site(attack, server)
        command = crawl_command(server.url(), "en,is", folder, **LIMITS)
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", _LAUNCH, *command],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            check=True,
        )
        status, cpu_seconds, peak_kb = json.loads(done.stdout)
        seconds = time.monotonic() - started
        good = (server.url("/en/"), server.url("/is/"))
        run = Run(folder)
        visits = run.visits if (folder / "crawl.jsonl").exists() else []
        reasons = {
            visit["url"].removeprefix(server.url("")): visit["reason"] or "kept"
            for visit in visits
        }
        return {
            "exit": status,
            "attack": reasons.get("/attack"),
            "pair_found": bool(visits) and good in pair_urls(run),
            "asked": len(server.asked),
            "seconds": round(seconds, 1),
            "cpu_seconds": round(cpu_seconds, 1),
            "peak_mb": round(peak_kb / 1024),
        }


def crawl_beside(attack: Attack | None, folder: Path) -> dict[str, Any]:
    """A crawl of three good sites and one attacker: rate, losses, memory of each."""
    with serving(TOWNS, "127.0.6") as good, Server(host="127.0.2.1") as server:
        seeds = [town.url("/en/") for town in good]
        if attack is not None:
            site(attack, server)
            seeds.append(server.url())
        command = crawl_command(",".join(seeds), "en,is", folder, **BESIDE)
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        peaks: dict[str, int] = {}
        while process.poll() is None:
            children = children_of(process.pid)
            for name, pid in zip(("crawl", "pages"), (process.pid, *children)):
                peaks[name] = max(peaks.get(name, 0), peak_of(pid))
            latest = max((a.came for town in good for a in town.asked), default=None)
            if latest and time.monotonic() - latest > _QUIET:
                (folder / "stop").touch()  # only the attacker is left
            time.sleep(0.1)
        _, errors = process.communicate()
        logs = [[a for a in town.asked if a.path != "/robots.txt"] for town in good]
        hosts = {town.host for town in good}
        pairs = {p for p in pair_urls(Run(folder)) if urlsplit(p[0]).hostname in hosts}
        first, last = (f(a.came for log in logs for a in log) for f in (min, max))
        pages = sum(len({a.path for a in log}) for log in logs)
        return {
            "exit": process.returncode,
            "tracebacks": errors.count("Traceback"),
            "good_pages": pages,
            "good_pairs": len(pairs),
            "pages_a_second": round(pages / (last - first), 2),
            "attacker_asked": len(server.asked),
            **{f"{name}_peak_mb": peak for name, peak in peaks.items()},
        }


def peak_of(pid: int) -> int:
    """Megabytes that a process has had at most."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmHWM:\s+(\d+)", text)
    return int(found[1]) // 1024 if found else 0


def beside(only: Sequence[str], out: Path) -> None:
    """Measure good sites beside no attacker, and beside one after the other."""
    attacks = {**ATTACKS, **DEAR}
    rows: dict[str, Any] = {}
    for name in ("none", *(only or [*DEAR, *DEAREST]), "none_again"):
        with tempfile.TemporaryDirectory() as folder:
            rows[name] = crawl_beside(attacks.get(name), Path(folder) / "run")
        print(f"{name:28}", *(f"{k}={v}" for k, v in rows[name].items()), flush=True)
    found = {"machine": machine("scrapy", "twisted"), "settings": BESIDE, "rows": rows}
    out.write_text(json.dumps(found, indent=2) + "\n", "utf-8")


def table(rows: dict[str, Any]) -> str:
    """The rows as Markdown."""
    lines = [
        "| attack | outcome | pair found | requests | seconds | peak MB |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in rows.items():
        outcome = row["attack"] or "no page of that name"
        found = "yes" if row["pair_found"] else "no"
        cells = [f"`{name}`", outcome, found, row["asked"], row["seconds"]]
        lines.append(f"| {' | '.join(map(str, cells))} | {row['peak_mb']} |")
    return "\n".join(lines)


def measured(each: AttackClass, rows: dict[str, Any], shapes: dict[str, Any]) -> str:
    """What was measured of the servers and the inputs of a class."""
    parts = []
    servers = [rows[name] for name in each.attacks if name in rows]
    if servers:
        pairs = sum(row["pair_found"] for row in servers)
        peak = max(row["peak_mb"] for row in servers)
        cpu = max(row["cpu_seconds"] for row in servers)
        text = f"{len(servers)} servers: {pairs} pairs found beside them, at most"
        parts.append(f"{text} {peak} MB and {cpu} s of processor time")
    inputs = [
        shapes[reader][name]
        for reader, _, name in (shape.partition(":") for shape in each.shapes)
        if name in shapes.get(reader, {})
    ]
    if inputs:
        seconds = max(row["seconds"] for row in inputs)
        megabytes = max(row["megabytes"] for row in inputs)
        ratio = max((row["time_ratio"] or 0 for row in inputs), default=0)
        text = f"{len(inputs)} inputs: at most {seconds} s and {megabytes} MB"
        twice = f", twice the input {ratio} times the time" if ratio else ""
        parts.append(text + twice)
    if each.tests:
        parts.append(f"{sum(each.tests.values())} in the tests")
    return "; ".join(parts)


def classes_table(rows: dict[str, Any], shapes: dict[str, Any]) -> str:
    """The classes of attacks as Markdown."""
    lines = ["| class | promised | variants | measured |", "|---|---|---|---|"]
    for each in CLASSES:
        cells = (each.name, each.promise, each.variants, measured(each, rows, shapes))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def main() -> None:
    """Run the attacks one after the other and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--classes", action="store_true")
    parser.add_argument("--beside", action="store_true")
    options = parser.parse_args()
    if options.beside:
        beside(options.only, BESIDE_RESULTS)
        return
    if options.classes:
        shapes = json.loads(LINEAR.read_text("utf-8"))["shapes"]
        print(classes_table(json.loads(options.out.read_text())["attacks"], shapes))
        return
    if options.table:
        print(table(json.loads(options.out.read_text("utf-8"))["attacks"]))
        return
    attacks = {"none": NONE, **ATTACKS}
    known = json.loads(options.out.read_text("utf-8")) if options.only else {}
    rows = known.get("attacks", {})
    for name in options.only or attacks:
        with tempfile.TemporaryDirectory() as folder:
            rows[name] = measure(attacks[name], Path(folder) / "run")
        print(f"{name:28}", *(f"{k}={v}" for k, v in rows[name].items()), flush=True)
    rows = {name: rows[name] for name in attacks if name in rows}
    found = {"machine": machine("scrapy", "twisted"), "limits": LIMITS, "attacks": rows}
    options.out.write_text(json.dumps(known | found, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
