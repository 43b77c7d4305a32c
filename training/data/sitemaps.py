"""Sitemaps with alternates → pages and pairs; input: files, or folders of them.

Data card. Source: sitemap files (XML, gzipped or not) with Google's `xhtml:link
rel=alternate hreflang`, from disk (those in WARC files: `hreflang`). The declared
language is taken as it stands: 1 to 4 % of such rows are wrong (by spot checks), mostly
pages that were never translated. One-sided alternates are kept, since many generators
list each group once.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from crawler.data import Lang, LangPair, Rel
from crawler.extract.sitemap import Sitemap, read_sitemap
from training.data.evidence import Declared, declared_pairs
from training.data.tables import Tables, UrlRow

SOURCE = "sitemap"


def read_sitemaps(sitemaps: Iterable[Sitemap], counts: Counter[str]) -> Tables:
    """The rows of many sitemaps; all versions of a page are pairs of each other."""
    languages: dict[str, Lang] = {}
    groups: dict[str, dict[str, Lang]] = defaultdict(dict)
    for sitemap in sitemaps:
        for link in sitemap.links:
            counts["links"] += 1
            if link.hreflang is None:
                counts["dropped/no language"] += 1
            elif languages.setdefault(link.url, link.hreflang) != link.hreflang:
                counts["dropped/two languages for one url"] += 1
            elif link.rel == Rel.ALTERNATE and link.source_url:
                groups[link.source_url][link.url] = link.hreflang
            else:
                groups[link.url][link.url] = link.hreflang
    declarations = (
        Declared(a, b, group[b])
        for group in groups.values()
        for a, b in itertools.permutations(sorted(group), 2)
    )
    pairs = declared_pairs(declarations, languages, counts, source=SOURCE, trusted=True)
    urls = [UrlRow(url, lang, SOURCE) for url, lang in languages.items()]
    return Tables(urls, list(pairs))


def tables(source: str, counts: Counter[str], langs: LangPair | None) -> Tables:
    """The rows of a file, or of all *.xml* of a folder; of all languages."""
    path = Path(source).resolve()
    files = (
        sorted(f for f in path.rglob("*") if f.is_file()) if path.is_dir() else [path]
    )
    found = (read_sitemap(file.as_uri(), file.read_bytes()) for file in files)
    return read_sitemaps(found, counts)
