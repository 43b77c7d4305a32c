from __future__ import annotations

from collections import Counter

from crawler.extract.sitemap import read_sitemap
from training.data.sitemaps import read_sitemaps

XML = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:xhtml="http://www.w3.org/1999/xhtml">
<url><loc>https://a.org/en/wine</loc>
  <xhtml:link rel="alternate" hreflang="en" href="https://a.org/en/wine"/>
  <xhtml:link rel="alternate" hreflang="fr" href="https://a.org/fr/vin"/>
  <xhtml:link rel="alternate" hreflang="is" href="https://a.org/is/vin"/></url>
<url><loc>https://a.org/lonely</loc></url>
</urlset>"""


def test_all_versions_of_a_page_are_pairs_of_each_other():
    counts = Counter()
    sitemap = read_sitemap("https://a.org/sitemap.xml", XML.encode())
    rows, pairs, _, _ = read_sitemaps([sitemap], counts)
    assert {r.url: r.lang for r in rows} == {
        "https://a.org/en/wine": "en",
        "https://a.org/fr/vin": "fr",
        "https://a.org/is/vin": "is",
    }
    assert {(p.lang_a, p.lang_b) for p in pairs} == {
        ("en", "fr"),
        ("en", "is"),
        ("fr", "is"),
    }
    assert counts["dropped/no language"] == 1


def test_damage_keeps_what_came_before():
    sitemap = read_sitemap(
        "https://a.org/sitemap.xml", XML[: XML.index("/lonely")].encode()
    )
    rows, *_ = read_sitemaps([sitemap], Counter())
    assert {row.lang for row in rows} == {"en", "fr", "is"}
