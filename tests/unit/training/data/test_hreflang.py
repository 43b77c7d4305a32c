from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from crawler.data import Page
from training.data.hreflang import read_recordings

ENGLISH = "The harbour is quiet in the winter and the boats stay on the land. " * 8
FRENCH = "Le port est calme en hiver et les bateaux restent longtemps à terre. " * 8


def page(url, text, head="", links=""):
    html = f"<html><head>{head}</head><body><p>{text}</p>{links}</body></html>"
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    return Page(url, 200, headers, html.encode(), datetime(2026, 1, 1, tzinfo=UTC))


def read(*pages):
    counts = Counter()
    rows, pairs, _, _ = read_recordings(pages, counts)
    return (
        {r.url: r.lang for r in rows},
        [(p.url_a, p.lang_a, p.url_b, p.lang_b) for p in pairs],
        counts,
    )


def test_alternates_and_language_menus_give_pairs():
    alternate = '<link rel="alternate" hreflang="fr" href="/fr/port">'
    switcher = '<a href="/en/harbour">English</a>'
    languages, pairs, _ = read(
        page("https://a.org/en/harbour", ENGLISH, alternate),
        page("https://a.org/fr/port", FRENCH, links=switcher),
    )
    assert languages == {
        "https://a.org/en/harbour": "en",
        "https://a.org/fr/port": "fr",
    }
    assert pairs == [("https://a.org/en/harbour", "en", "https://a.org/fr/port", "fr")]


def test_an_untranslated_version_is_dropped_and_counted():
    alternate = '<link rel="alternate" hreflang="fr" href="/fr/harbour">'
    _, pairs, counts = read(
        page("https://a.org/en/harbour", ENGLISH, alternate),
        page("https://a.org/fr/harbour", ENGLISH),
    )
    assert pairs == []
    assert counts["dropped/declared and detected language differ"] == 1


def test_pages_without_a_sure_language_are_counted():
    _, _, counts = read(page("https://a.org/x", "1 2 3"))
    assert counts["dropped/language not sure"] == 1


def test_other_links_of_a_page_are_negatives():
    head = '<link rel="alternate" hreflang="fr" href="/fr/port">'
    links = '<a href="/en/boats">Boats</a><a href="/fr/harbour">?</a><a href="/x">X</a>'
    found = read_recordings(
        [
            page("https://a.org/en/harbour", ENGLISH, head, links),
            page("https://a.org/fr/port", FRENCH),
            page("https://a.org/en/boats", ENGLISH),
            page("https://a.org/fr/harbour", FRENCH),  # of the page's own handle
        ],
        Counter(),
    )
    assert len(found.pairs) == 1
    assert found.negatives == [("https://a.org/en/harbour", "https://a.org/en/boats")]


def test_a_recorded_sitemap_gives_pairs():
    sitemap = b"""<?xml version="1.0"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:xhtml="http://www.w3.org/1999/xhtml"><url><loc>https://a.org/en/wine</loc>
<xhtml:link rel="alternate" hreflang="en" href="https://a.org/en/wine"/>
<xhtml:link rel="alternate" hreflang="fr" href="https://a.org/fr/vin"/></url></urlset>"""
    date = datetime(2026, 1, 1, tzinfo=UTC)
    languages, pairs, counts = read(
        Page("https://a.org/sitemap.xml", 200, (), sitemap, date)
    )
    assert languages == {"https://a.org/en/wine": "en", "https://a.org/fr/vin": "fr"}
    assert pairs == [("https://a.org/en/wine", "en", "https://a.org/fr/vin", "fr")]
    assert counts["sitemaps"] == 1
