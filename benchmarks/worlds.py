"""Recorded sites with their true pairs, as benchmarks use them.

A folder of worlds holds manifest.json (home page, seeds, recording), pairs.json (the
language pairs that count), warcs/, graphs/ and truth/; sites that are built from
packages lie in a folder of their own, with built/, graphs/ and truth/.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crawler.data import LangPair
from crawler.languages import known_code
from crawler.replay.world import address_of
from crawler.reports.quality import read_gold, read_rows

# Reported apart: no language marker and no hreflang, and a handful of pairs among
# thousands of pages.
UNMARKED = ("slug.handbook.test", "fullstackopen.com", "opentermsarchive.org")
LOW_YIELD = ("guardianproject.info", "lls-eustat.github.io")


@dataclass(frozen=True)
class RecordedSite:
    """A recording, its seeds and where its truth lies."""

    name: str
    built: bool  # from packages: these may be fitted on
    home: str
    more_seeds: tuple[str, ...]
    pairs: tuple[str, ...]
    warc: Path
    graph: Path
    truth: Path
    pages: Path

    def seeds(self, langs: LangPair) -> list[str]:
        """The home page, and the first pages of the languages of the pair."""
        if not self.more_seeds:
            return [self.home]
        wanted = []
        declared = {row["url"]: row["declared_lang"] for row in read_rows(self.pages)}
        for seed in self.more_seeds:
            lang = declared.get(seed) or declared.get(f"{seed}index.html")
            if not lang or known_code(lang) in langs:
                wanted.append(seed)
        return list(dict.fromkeys([self.home, *wanted]))

    def true_pairs(self, langs: LangPair) -> set[tuple[str, str]]:
        """Addresses (URLs without scheme) of the true pairs, src first."""
        gold = read_gold(self.truth, langs)
        return {(address_of(src), address_of(trg)) for src, trg in gold.pairs}


def demo_site() -> RecordedSite:
    """The world that is bundled with the project, written by us."""
    folder = Path(__file__).resolve().parents[1] / "worlds" / "demo"
    return RecordedSite(
        name="demo",
        built=False,
        home="https://www.skarfey.example/en/",
        more_seeds=(),
        pairs=("en-is", "en-es", "es-is"),
        warc=folder / "demo.warc.gz",
        graph=folder,
        truth=folder / "gold.tsv",
        pages=folder / "gold.tsv",
    )


def load_sites(
    worlds: Path, built: Path | None = None, names: Sequence[str] = ()
) -> list[RecordedSite]:
    """The sites of a folder of worlds; those from packages if `built` is given."""
    manifest = json.loads((worlds / "manifest.json").read_text())
    over = json.loads((worlds / "pairs.json").read_text())
    sites = []
    for row in manifest:
        name = row["site"]
        from_packages = row["warc"].startswith("built/")
        folder = built if from_packages else worlds
        if folder is None or (names and name not in names):
            continue
        graph = "graph.pkl" if from_packages else "graph.json.gz"
        sites.append(
            RecordedSite(
                name,
                from_packages,
                row["home"],
                tuple(row["seeds"]),
                tuple(over.get(name, row["pairs"])),
                folder / row["warc"],
                folder / "graphs" / f"{name}.{graph}",
                _either(folder / "truth" / f"{name}.truth.tsv"),
                _either(folder / "truth" / f"{name}.pages.tsv"),
            )
        )
    return sites


def _either(path: Path) -> Path:
    return path if path.exists() else path.with_name(path.name + ".gz")
