"""Do two checkouts crawl alike? Order, WARC records, pairs and sentences.

    git worktree add ../before COMMIT
    python -m benchmarks.same_results ../before . [--worlds WORLDS] [--sites NAME …]

The demo world is replayed in all profiles, then each recorded site in its language
pairs. A difference is listed with its first rows, and with what it does to precision
and recall; the exit status is 1 if there is one. What names the program or the moment
(record ids, dates, scores beyond the fourth digit) is not compared.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from benchmarks.worlds import RecordedSite, demo_site, load_sites
from crawler.data import LangPair
from crawler.reports.quality import Gold, judge_pairs, read_gold
from crawler.sinks.growing import read_lines
from crawler.sinks.pairs import read_pairs

PROFILES = ("adaptive", "focused", "language_only", "breadth_first")


@dataclass(frozen=True)
class Outcome:
    """What a crawl did, without what differs between two runs of one checkout."""

    run: Path  # the run directory

    @property
    def pairs(self) -> Path:
        """The file of document pairs."""
        return self.run / "pairs.tsv.gz"

    def parts(self) -> Iterator[tuple[str, list[str]]]:
        """Rows to compare, by name."""
        log = (self.run / "crawl.jsonl").read_text("utf-8", "surrogatepass")
        visits = map(json.loads, log.splitlines())
        yield "order", [f"{v['url']} {v['status']} {v['lang']}" for v in visits]
        yield "warc", [*self._records()]
        pairs = read_pairs(self.pairs)
        yield "pairs", [f"{p.src_url} {p.trg_url} {p.score:.4f}" for p in pairs]
        sentences = self.run / "sentences.tsv.gz"
        yield "sentences", [*self._sentences(sentences)] if sentences.exists() else []

    @staticmethod
    def _sentences(path: Path) -> Iterator[str]:
        for line in read_lines(path):
            cells = line.split("\t")  # the rest has names of WARC records
            yield "\t".join(cells[:6])

    def _records(self) -> Iterator[str]:
        for path in sorted((self.run / "warc").glob("*.warc.gz")):
            with path.open("rb") as file:
                for record in ArchiveIterator(file):
                    headers = record.rec_headers
                    if url := headers.get_header("WARC-Target-URI"):
                        digest = headers.get_header("WARC-Payload-Digest")
                        yield f"{record.rec_type} {url} {digest}"


def crawl(
    checkout: Path, site: RecordedSite, langs: LangPair, profile: str, out: Path
) -> Outcome:
    """Replay a site by the code of a checkout."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout.resolve()),
        "SCRAPY_PROJECT": profile,
    }
    command = [
        *(sys.executable, "-m", "scrapy", "crawl", "bilingual"),
        *("-a", f"seeds={','.join(site.seeds(langs))}", "-a", f"langs={langs}"),
        *("-s", f"REPLAY_WARCS={site.warc.resolve()}", "-s", f"RUN_DIR={out}"),
        *("-s", "LOG_LEVEL=ERROR"),
    ]
    subprocess.run(
        command, cwd=checkout, env=environment, check=True, stdout=subprocess.DEVNULL
    )
    return Outcome(out)


def differences(before: Outcome, after: Outcome, gold: Gold) -> list[str]:
    """One line for each part that differs; none if the two crawls are alike."""
    found = []
    for (name, old), (_, new) in zip(before.parts(), after.parts(), strict=True):
        if old == new:
            continue
        gone, come = sorted({*old} - {*new}), sorted({*new} - {*old})
        place = next((n for n, (a, b) in enumerate(zip(old, new)) if a != b), None)
        at = f", first at row {place}" if place is not None else ""
        found.append(f"  {name}: {len(old)} rows, now {len(new)}{at}")
        found += [f"    - {row}" for row in gone[:3]] + [f"    + {r}" for r in come[:3]]
    if found:
        for title, outcome in (("before", before), ("after", after)):
            judged = judge_pairs(read_pairs(outcome.pairs), gold)
            quality = f"precision {judged.precision:.4f} recall {judged.recall:.4f}"
            found.append(f"  {title}: {quality}")
    return found


def compare(
    before: Path, after: Path, site: RecordedSite, pair: str, profile: str
) -> bool:
    """Crawl a site by both checkouts and print what differs."""
    langs = LangPair.parse(pair.replace("-", ","))
    with tempfile.TemporaryDirectory() as folder:
        outcomes = [
            crawl(checkout, site, langs, profile, Path(folder, name))
            for name, checkout in (("before", before), ("after", after))
        ]
        found = differences(*outcomes, read_gold(site.truth, langs))
    print(f"{site.name} {pair} {profile}: {'differs' if found else 'the same'}")
    print("\n".join(found), end="\n" if found else "", flush=True)
    return not found


def main(argv: Sequence[str] | None = None) -> int:
    """Compare, site by site."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--worlds", type=Path, action="append", default=[])
    parser.add_argument("--sites", nargs="+", default=())
    parser.add_argument("--pairs", nargs="+", default=(), help="such as en-is")
    parser.add_argument("--profiles", nargs="+", default=["adaptive"], choices=PROFILES)
    args = parser.parse_args(argv)
    same = True
    if not args.sites:
        for profile in PROFILES:
            same &= compare(args.before, args.after, demo_site(), "en-is", profile)
    for worlds in args.worlds:
        for site in load_sites(worlds, names=args.sites):
            for pair in args.pairs or site.pairs:
                for profile in args.profiles:
                    same &= compare(args.before, args.after, site, pair, profile)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
