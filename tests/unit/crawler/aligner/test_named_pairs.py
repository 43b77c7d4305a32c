from __future__ import annotations

from dataclasses import replace

from tests.unit.crawler.aligner.sites import LANGS, aligner_of, documents
from tests.worlds import build_site

SHORT = {
    "en": "Office hours: Monday to Thursday from nine until four, in the room behind"
    " the library.",
    "is": "Afgreiðslutími: mánudaga til fimmtudaga frá níu til fjögur, í herberginu bak"
    " við safnið.",
}


def leading(links, elsewhere: dict[str, str]):
    return (replace(link, url=elsewhere.get(link.url, link.url)) for link in links)


def pairs_of(style: str, misled: bool = False) -> list:
    """A site on which pages name each other, and one short page of each language."""
    site = build_site(style=style, concepts=30, switcher="page", untranslated=0.0)
    pages = [d for d in documents(site) if d.lang in LANGS]
    gold = {url: pair for pair in site.gold("en", "is") for url in pair}
    first = next(d for d in pages if d.lang == "en" and d.url in gold)
    ends = gold[first.url]
    short = [
        replace(d, tokens=("<p", "", "</p"), chunks=(SHORT[d.lang],))
        if d.url in ends
        else d
        for d in pages
    ]
    if misled:  # menus lead to the page after the right one, and back
        after = {}
        for one, step in zip(zip(*sorted(site.gold("en", "is"))), (-1, 1)):
            after |= {url: one[(n + step) % len(one)] for n, url in enumerate(one)}
        short = [
            d if d.url in ends else replace(d, links=[*leading(d.links, after)])
            for d in short
        ]
    return [p for p in aligner_of(short).finish() if {p.src_url, p.trg_url} == {*ends}]


def test_a_short_page_pairs_with_its_declared_partner_where_such_links_prove_right():
    [pair] = pairs_of("slug")
    assert pair.score > 0.9
    assert pair.found_by == {"links"}


def test_it_does_not_where_links_of_the_site_lead_to_other_articles():
    assert pairs_of("slug", misled=True) == []
