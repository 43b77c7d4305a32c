"""How well, and how fast, does `bifocal prospect` rank sites by their URLs alone?

    python -m benchmarks.prospect WORLDS… --urls LISTS… --out FILE.json

WORLDS: folders with truth/SITE.pages.tsv.gz (column url) and truth/SITE.truth.tsv.gz
(site, url_a, lang_a, url_b, lang_b). LISTS: TSV files of other URLs, which make the
ranking harder; a site of theirs counts as one without pairs. For the pairs of
languages that most sites have: precision at the number of bilingual sites, Spearman's
correlation of expected and true pairs over the worlds' sites, and the share of the
bilingual sites whose estimate is within a factor of two.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import platform
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import mean

from scipy.stats import spearmanr

from crawler.atomic import atomic_text
from crawler.data import LangPair
from crawler.languages import known_code
from crawler.prospect.estimate import Prospect, estimate
from crawler.prospect.rows import Row, read_rows
from crawler.prospect.sample import Prospector
from crawler.urls import canonicalize, site_of
from models.rules import UrlLanguageRules, UrlPairRules
from models.url_language import HashedUrlLanguageModel
from models.url_pair import HashedUrlPairModel

_MODELS = {
    "rules": (UrlLanguageRules(), UrlPairRules()),
    "models": (HashedUrlLanguageModel(), HashedUrlPairModel()),
}

Truth = Counter[tuple[tuple[str, str], str]]  # (languages, site) → true pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="+", type=Path)
    parser.add_argument("--urls", nargs="*", type=Path, default=[])
    parser.add_argument("--pairs", type=int, default=10, help="of languages")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    csv.field_size_limit(2**20)
    urls, truth = read_worlds(args.worlds)
    worlds = {site_of(url) for url in urls}
    for path in args.urls:
        found = (canonicalize(row["url"]) for row in table(path))
        urls += [url for url in found if url and site_of(url) not in worlds]
    sites: Counter[tuple[str, str]] = Counter(langs for langs, _ in truth)
    chosen = [langs for langs, _ in sites.most_common(args.pairs)]
    results = {
        "command": "python -m benchmarks.prospect WORLDS… --urls LISTS… --out FILE",
        "machine": f"{platform.machine()}, Python {platform.python_version()}, 1 core",
        "rows": len(urls),
        "sites": len(set(map(site_of, urls))),
        "quality": {
            name: quality(urls, worlds, truth, chosen, name) for name in _MODELS
        },
        "rows_per_cpu_second": {name: speed(urls, name) for name in _MODELS},
    }
    with atomic_text(args.out) as file:
        json.dump(results, file, indent=1)
    json.dump(results, sys.stdout, indent=1)


def table(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_worlds(folders: list[Path]) -> tuple[list[str], Truth]:
    urls: list[str] = []
    truth: Truth = Counter()
    for folder in folders:
        for path in sorted(folder.glob("truth/*.pages.tsv.gz")):
            urls += filter(None, (canonicalize(row["url"]) for row in table(path)))
        for path in sorted(folder.glob("truth/*.truth.tsv.gz")):
            for row in table(path):
                one, two = known_code(row["lang_a"]), known_code(row["lang_b"])
                url = canonicalize(row["url_a"])
                if one and two and url and one != two:
                    truth[(min(one, two), max(one, two)), site_of(url)] += 1
    return urls, truth


def prospects(urls: list[str], langs: LangPair, models: str) -> list[Prospect]:
    prospector = Prospector(langs)
    prospector.add(map(Row, urls), Counter())
    samples = prospector.samples().items()
    return [estimate(sites, s, langs, *_MODELS[models]) for sites, s in samples]


def quality(
    urls: list[str],
    worlds: set[str],
    truth: Truth,
    chosen: list[tuple[str, str]],
    models: str,
) -> dict[str, object]:
    rows = []
    for pair in chosen:
        true = {site: n for (langs, site), n in truth.items() if langs == pair}
        found = prospects(urls, LangPair(*pair), models)
        found.sort(key=lambda p: (-p.score, -p.high, p.sites))
        best = [p.sites[0] for p in found[: len(true)]]
        said = {p.sites[0]: p.pairs for p in found if p.sites[0] in worlds}
        order = sorted(said)
        near = [0.5 <= said.get(site, 0) / n <= 2 for site, n in true.items()]
        rows.append(
            {
                "langs": "-".join(pair),
                "bilingual_sites": len(true),
                "precision": round(mean(site in true for site in best), 3),
                "spearman": round(
                    spearmanr(
                        [said[site] for site in order],
                        [true.get(site, 0) for site in order],
                    ).statistic,
                    3,
                ),
                "within_factor_2": round(mean(near), 3),
            }
        )
        print(models, rows[-1], file=sys.stderr)
    figures = ("precision", "spearman", "within_factor_2")
    means = {name: round(mean(row[name] for row in rows), 3) for name in figures}
    return {"mean": means, "pairs": rows}


def speed(urls: list[str], models: str) -> int:
    """Rows a second of one core, from a list on disk to estimates."""
    langs = LangPair("en", "fr")
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.writelines(f"{url}\n" for url in urls)
        file.flush()
        start, counts = time.process_time(), Counter[str]()
        prospector = Prospector(langs)
        prospector.add(read_rows(file.name, counts), counts)
        for sites, sample in prospector.samples().items():
            estimate(sites, sample, langs, *_MODELS[models])
        return round(counts["prospect/rows"] / (time.process_time() - start))


if __name__ == "__main__":
    main()
