"""Sitemaps with alternates → URL rows and pairs.

Data card. Source: sitemap files (XML, gzipped or not) with Google's `xhtml:link
rel=alternate hreflang`, from disk; a file's own address only matters for its errors.
The declared language is taken as it stands: 1 to 4 % of such rows are wrong (by spot
checks), mostly pages that were never translated. One-sided alternates are kept, since
many generators list each group once.

    python -m training.data.sitemaps OUTDIR SITEMAP ...
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from crawler.data import Lang
from crawler.extract.sitemap import Sitemap, read_sitemap
from training.data.evidence import Declared, declared_pairs, write_pairs, write_urls
from training.data.tables import PairRow, UrlRow

SOURCE = "sitemap"


def read_sitemaps(
    sitemaps: Iterable[Sitemap], counts: Counter[str]
) -> tuple[list[UrlRow], list[PairRow]]:
    """Rows and pairs of many sitemaps; all versions of a page pair with each other."""
    languages: dict[str, Lang] = {}
    groups: dict[str, dict[str, Lang]] = defaultdict(dict)
    for sitemap in sitemaps:
        for link in sitemap.links:
            counts["links"] += 1
            if link.hreflang is None:
                counts["dropped/no language"] += 1
            elif languages.setdefault(link.url, link.hreflang) != link.hreflang:
                counts["dropped/two languages for one url"] += 1
            elif link.rel == "alternate" and link.source_url:
                groups[link.source_url][link.url] = link.hreflang
            else:
                groups[link.url][link.url] = link.hreflang
    declarations = (
        Declared(a, b, group[b])
        for group in groups.values()
        for a, b in itertools.permutations(sorted(group), 2)
    )
    pairs = declared_pairs(declarations, languages, counts, source=SOURCE, trusted=True)
    return [UrlRow(url, lang, SOURCE) for url, lang in languages.items()], list(pairs)


def main(out: Path, files: list[Path]) -> None:
    """Write both tables."""
    counts: Counter[str] = Counter()
    sitemaps = (read_sitemap(file.as_uri(), file.read_bytes()) for file in files)
    rows, pairs = read_sitemaps(sitemaps, counts)
    urls = write_urls(out / "url_lang.tsv.gz", rows)
    number = write_pairs(out / "url_pairs.tsv.gz", pairs)
    print(f"{urls} URLs and {number} pairs written to {out}; {dict(counts)}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name).resolve() for name in sys.argv[2:]])
