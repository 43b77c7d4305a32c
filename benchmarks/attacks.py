"""Hostile servers, one crawl each: what came of it, how long it took, what it held.

    python -m benchmarks.attacks [--only NAME ...] [--out FILE]
    python -m benchmarks.attacks --table      # what was measured, for docs/safety.md

The attacks are those of tests/hostile/attacks.py, which CI runs in one crawl together.
Time is of the whole crawl and memory of the larger of its two processes, so the row
`none`, a site that does nothing bad, is what to compare with.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.machine import machine
from tests.commands import ROOT, Run, crawl_command, environment, pair_urls
from tests.hostile.attacks import ATTACKS, LIMITS, Attack, site
from tests.webserver import Server

RESULTS = Path(__file__).parent / "results" / "attacks.json"
# A process in between: what the kernel says of a child's peak begins with the parent's,
# and the parent holds the attacks.
_LAUNCH = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=-3, stderr=-3)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""
NONE = Attack({}, links=())


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


def main() -> None:
    """Run the attacks one after the other and write the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print(table(json.loads(options.out.read_text("utf-8"))["attacks"]))
        return
    attacks = {"none": NONE, **ATTACKS}
    rows = {}
    for name in options.only or attacks:
        with tempfile.TemporaryDirectory() as folder:
            rows[name] = measure(attacks[name], Path(folder) / "run")
        print(f"{name:28}", *(f"{k}={v}" for k, v in rows[name].items()), flush=True)
    found = {"machine": machine("scrapy", "twisted"), "limits": LIMITS, "attacks": rows}
    options.out.write_text(json.dumps(found, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
