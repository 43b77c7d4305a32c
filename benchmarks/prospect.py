"""How well, and how fast, does `bifocal prospect` rank sites by their URLs alone?

    python -m benchmarks.prospect WORLDS… --data FOLDER --out FILE.json

WORLDS: folders with truth/SITE.pages.tsv.gz (column url) and truth/SITE.truth.tsv.gz
(site, url_a, lang_a, url_b, lang_b), whose lists of pairs are complete. FOLDER: URL
data, with url_lang.tsv.gz (url, lang) and url_pairs.tsv.gz (url_a, lang_a, url_b,
lang_b), whose pairs are a part of those of its sites; versions of one page are pairs
all among each other. The index is the URLs of both. For the pairs of languages that
most worlds have:

- precision at the number of bilingual sites, those with a known pair; and the share of
  the same sites of which pages in both languages are known (`both_languages`);
- Spearman's correlation of expected and true pairs, and the share of the bilingual
  sites whose estimate is within a factor of two, over the worlds' sites and over all
  bilingual sites.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from itertools import combinations
from pathlib import Path
from statistics import mean

from scipy.stats import spearmanr

from crawler.atomic import atomic_text
from crawler.data import LangPair
from crawler.languages import known_code
from crawler.prospect.estimate import estimate, ranked
from crawler.prospect.rows import Row, read_rows
from crawler.prospect.sample import Prospector, SiteSample
from crawler.unionfind import UnionFind
from crawler.urls import canonicalize, site_of
from models.rules import UrlLanguageRules, UrlPairRules
from models.url_language import HashedUrlLanguageModel
from models.url_pair import HashedUrlPairModel

_MODELS = {
    "rules": (UrlLanguageRules(), UrlPairRules()),
    # whose languages the model tells, and whose versions differ in markers alone
    "patterns": (HashedUrlLanguageModel(), UrlPairRules()),
    "models": (HashedUrlLanguageModel(), HashedUrlPairModel()),
}
_MEMORY_SITES = 2000

Truth = Counter[tuple[tuple[str, str], str]]  # (languages, site) → true pairs
Languages = defaultdict[str, set[str]]  # of a site's pages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="*", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--pairs", type=int, default=10, help="of languages")
    parser.add_argument("--rows", nargs="*", type=int, default=[], help="for memory")
    parser.add_argument("--fill", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    if args.fill:
        print(json.dumps(memory(args.fill)))
        return
    csv.field_size_limit(2**20)
    urls, truth, langs = read_worlds(args.worlds)
    worlds = {site_of(url) for url in urls}
    sites: Counter[tuple[str, str]] = Counter(pair for pair, _ in truth)
    chosen = [pair for pair, _ in sites.most_common(args.pairs)]
    urls += read_data(args.data, worlds, truth, langs)
    results = {
        "command": "python -m benchmarks.prospect WORLDS… --data FOLDER --rows 1000000"
        " 10000000 50000000 --out FILE",
        "machine": f"{platform.machine()}, Python {platform.python_version()}, 1 core",
        "rows": len(urls),
        "sites": len(set(map(site_of, urls))),
        "quality": quality(urls, worlds, truth, langs, chosen),
        "rows_per_cpu_second": {name: speed(urls, name) for name in _MODELS},
        "memory": [json.loads(filled(rows)) for rows in args.rows],
    }
    with atomic_text(args.out) as file:
        json.dump(results, file, indent=1)
    json.dump(results, sys.stdout, indent=1)


def table(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def read_worlds(folders: list[Path]) -> tuple[list[str], Truth, Languages]:
    urls: list[str] = []
    truth: Truth = Counter()
    langs: Languages = defaultdict(set)
    for folder in folders:
        for path in sorted(folder.glob("truth/*.pages.tsv.gz")):
            urls += filter(None, (canonicalize(row["url"]) for row in table(path)))
        for path in sorted(folder.glob("truth/*.truth.tsv.gz")):
            for one, two, url, _ in pairs_of(path):
                truth[(min(one, two), max(one, two)), site_of(url)] += 1
                langs[site_of(url)] |= {one, two}
    return urls, truth, langs


def pairs_of(path: Path) -> Iterator[tuple[str, str, str, str]]:
    for row in table(path):
        one, two = known_code(row["lang_a"]), known_code(row["lang_b"])
        a, b = canonicalize(row["url_a"]), canonicalize(row["url_b"])
        if one and two and a and b and one != two:
            yield one, two, a, b


def read_data(
    folder: Path, worlds: Collection[str], truth: Truth, langs: Languages
) -> list[str]:
    """URLs of sites that are no worlds; their pairs and languages are added."""
    urls = set()
    for row in table(folder / "url_lang.tsv.gz"):
        url, lang = canonicalize(row["url"]), known_code(row["lang"])
        if url and site_of(url) not in worlds:
            urls.add(url)
            langs[site_of(url)] |= {lang} if lang else set()
    versions, said = UnionFind[str](), {}
    for one, two, a, b in pairs_of(folder / "url_pairs.tsv.gz"):
        if a in urls and b in urls and site_of(a) == site_of(b):
            versions.join(a, b)
            said |= {a: one, b: two}
    for group in versions.sets():
        of_page = {said[url] for url in group}
        for pair in combinations(sorted(of_page), 2):
            truth[pair, site_of(next(iter(group)))] += 1
    return sorted(urls)


def sampled(urls: list[str], langs: LangPair) -> dict[tuple[str, ...], SiteSample]:
    prospector = Prospector(langs)
    prospector.add(map(Row, urls), Counter())
    return prospector.samples()


def quality(
    urls: list[str],
    worlds: Collection[str],
    truth: Truth,
    langs: Languages,
    chosen: list[tuple[str, str]],
) -> dict[str, object]:
    rows = defaultdict(list)
    for pair in chosen:
        true = {site: n for (pair_of, site), n in truth.items() if pair_of == pair}
        asked = LangPair(*pair)
        samples = sampled(urls, asked).items()
        for name, models in _MODELS.items():
            found = ranked(estimate(s, p, asked, *models) for s, p in samples)
            best = [p.sites[0] for p in found[: len(true)]]
            said = {p.sites[0]: p.pairs for p in found}
            row: dict[str, object] = {
                "langs": "-".join(pair),
                "bilingual_sites": len(true),
                "precision": mean(site in true for site in best),
                "both_languages": mean(langs[site] >= {*pair} for site in best),
            }
            for part, some in (("worlds", worlds), ("all", worlds | true.keys())):
                order = sorted(some & said.keys())
                rank = spearmanr(*zip(*((said[s], true.get(s, 0)) for s in order)))
                near = [0.5 <= said[s] / true[s] <= 2 for s in order if s in true]
                row[f"spearman_{part}"] = float(rank.statistic)
                row[f"within_factor_2_{part}"] = mean(near)
            rows[name].append(
                {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}
            )
            print(name, rows[name][-1], file=sys.stderr)
    return {
        name: {
            "mean": {
                figure: round(mean(row[figure] for row in of_pairs), 3)
                for figure in list(of_pairs[0])[2:]
            },
            "pairs": of_pairs,
        }
        for name, of_pairs in rows.items()
    }


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


def filled(rows: int) -> bytes:
    words = [sys.executable, "-m", "benchmarks.prospect", "--fill", str(rows)]
    return subprocess.check_output(words)


def memory(rows: int) -> dict[str, int]:
    """The memory at its highest after made-up rows of so many sites, by rules."""
    start = time.process_time()
    prospector = Prospector(LangPair("en", "fr"))
    prospector.add(made_up(rows), Counter())
    return {
        "rows": rows,
        "sites": len(prospector.samples()),
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1000,
        "rows_per_cpu_second": round(rows / (time.process_time() - start)),
    }


def made_up(rows: int) -> Iterator[Row]:
    for number in range(rows):
        page, site = divmod(number, _MEMORY_SITES)
        lang = ("en", "fr", "de")[page % 3]
        yield Row(f"https://site{site}.example/{lang}/news/{page // 3}-article")


if __name__ == "__main__":
    main()
