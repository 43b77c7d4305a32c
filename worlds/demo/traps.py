"""What makes crawling hard in the demo world: every trap, and what the server does.

A trap that is a page has a text under content/other/ or is made from one of the true
pages; a trap that is an answer (redirect, miss, robots.txt) is written here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from html import escape

from worlds.demo.listings import CALENDAR_MONTHS, CALENDAR_START, listings, plain
from worlds.demo.markup import Text
from worlds.demo.pages import FALSE_ALTERNATES, PRINTED, Site, local
from worlds.demo.sections import HTML, IS, WWW, Answer, answer, ok

FORBIDDEN = (f"{WWW}/internal/", f"{WWW}/search")

_ROBOTS = f"""User-agent: *
Disallow: /internal/
Disallow: /search
Crawl-delay: 1

Sitemap: {WWW}/sitemap_index.xml
"""

REDIRECTS = {
    f"{WWW}/": (302, f"{WWW}/en/"),
    "https://skarfey.example/": (301, f"{WWW}/"),
    f"{IS}/": (302, f"{IS}/guide/"),
    f"{WWW}/en/about": (301, f"{WWW}/en/about/"),
    f"{WWW}/walk": (301, f"{WWW}/visit/lighthouse-walk.html"),
    # a chain
    f"{WWW}/history.htm": (301, f"{WWW}/about/history.html"),
    f"{WWW}/about/history.html": (302, f"{WWW}/en/about/history"),
    f"{WWW}/en/about/history": (301, f"{WWW}/en/about/history/"),
    # a loop
    f"{WWW}/loop/one": (302, f"{WWW}/loop/two"),
    f"{WWW}/loop/two": (302, f"{WWW}/loop/one"),
}
# Linked, or declared as translations, and not there.
MISSES = {
    f"{WWW}/en/research/tephra-lab": 404,
    f"{WWW}/fiskveidar/sildarleit": 404,
    f"{WWW}/da/about/contact/": 404,
    f"{WWW}/en/welcome.html": 404,
    f"{WWW}/en/jobs/": 410,
    f"{WWW}/calendar.php?year={CALENDAR_START - 1}&month=12": 404,
    f"{WWW}/calendar.php?year={CALENDAR_START + CALENDAR_MONTHS // 12}&month=1": 404,
}
# The same page under a second address: session ids as some links carry them, and an
# address that was kept when the page moved.
_SECOND_ADDRESSES = {
    f"{WWW}/visit/opening-hours.html?sid=9f86d081884c7d65": (
        "visit/opening-hours",
        "en",
    ),
    f"{WWW}/visit/getting-here_is.html;jsessionid=5E1F7A0C4B2D": (
        "visit/getting-here",
        "is",
    ),
    f"{WWW}/fisheries/2023/capelin-survey": ("fisheries/capelin", "en"),
}
# An English page under /is/ that says of itself that it is Icelandic.
_COPY = FALSE_ALTERNATES["institute/data-policy"]["is"]


def twins(site: Site) -> dict[str, tuple[str, str]]:
    """Second addresses that answer alike: address → concept and language."""
    found = dict(_SECOND_ADDRESSES)
    for concept, texts in site.concepts.items():
        if "en" in texts and texts["en"].section == "museum":
            url = site.url(concept, "en")
            found[url + ("&" if "?" in url else "?") + "lang=en"] = (concept, "en")
    return found


def copies(site: Site) -> dict[str, tuple[str, str]]:
    """Other pages with the same text: for the printer, and left untranslated."""
    prints = {
        site.url(concept, lang) + "?print=1": (concept, lang)
        for concept, langs in PRINTED.items()
        for lang in langs
    }
    return prints | {_COPY: ("institute/data-policy", "en")}


def answers(site: Site) -> Iterator[Answer]:
    """Everything that the server answers besides the pages of the texts."""
    for host in (WWW, IS, "https://skarfey.example"):
        yield answer(f"{host}/robots.txt", 200, _ROBOTS, "text/plain")
    yield from _sitemaps(site)
    for url, (status, target) in REDIRECTS.items():
        note = f'<p>Moved to <a href="{escape(target)}">{escape(target)}</a></p>'
        yield answer(url, status, note, HTML, ("Location", target))
    for url, status in MISSES.items():
        yield answer(url, status, plain(site, "Not found", "<h1>Not found</h1>"))
    by_url = {page.url: page for page in site.answers()}
    for url, (concept, lang) in twins(site).items():
        yield replace(by_url[site.url(concept, lang)], url=url)
    for url, (concept, lang) in copies(site).items():
        copy = _untranslated if url == _COPY else _print_version
        yield copy(site, url, site.concepts[concept][lang])
    yield _meta_refresh(site)
    yield ok(
        f"{WWW}/search?q=cod",
        plain(site, "cod", '<p><a href="/search?q=cod&amp;page=2">2</a></p>'),
    )
    yield from listings(site)


def _print_version(site: Site, url: str, text: Text) -> Answer:
    # one section says where the page itself is, the other does not
    home = site.url(text.concept, text.lang)
    head = f'<link rel="canonical" href="{home}">' if text.section == "research" else ""
    body = f"{site.body(text)}\n<p>{home}</p>"
    return ok(url, plain(site, escape(text.title), body, head, text.lang))


def _untranslated(site: Site, url: str, text: Text) -> Answer:
    html = site.html(text).replace('<html lang="en">', '<html lang="is">')
    return ok(url, local(html, url))


def _meta_refresh(site: Site) -> Answer:
    target = site.url("museum/index", "en").removeprefix(WWW)
    head = f'<meta http-equiv="refresh" content="0; url={target}">'
    return ok(f"{WWW}/museum/", plain(site, "Museum", "", head))


def _sitemaps(site: Site) -> Iterator[Answer]:
    """An index of two sitemaps; together they cover a part of the site."""
    guide = [c for c in site.concepts if c.startswith("guide/")]
    institute = [c for c in site.concepts if c.startswith("institute/")]
    parts = {"sitemap-guide.xml": guide, "sitemap-institute.xml": institute}
    entries = "".join(f"<sitemap><loc>{WWW}/{n}</loc></sitemap>\n" for n in parts)
    yield _xml("sitemap_index.xml", "sitemapindex", entries)
    for name, concepts in parts.items():
        entries = "".join(
            f"<url>\n<loc>{url}</loc>\n{_alternate_links(site, concept)}</url>\n"
            for concept in concepts
            for url in site.alternates(concept).values()
        )
        yield _xml(name, "urlset", entries)


def _alternate_links(site: Site, concept: str) -> str:
    return "".join(
        f'<xhtml:link rel="alternate" hreflang="{lang}" href="{url}"/>\n'
        for lang, url in site.alternates(concept).items()
    )


def _xml(name: str, root: str, entries: str) -> Answer:
    text = (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
        ' xmlns:xhtml="http://www.w3.org/1999/xhtml">\n'
        f"{entries}</{root}>\n"
    )
    return answer(f"{WWW}/{name}", 200, text, "application/xml")
