from __future__ import annotations

import random
from collections import Counter, defaultdict

import pytest

from crawler.aligner.aligner import Aligner, take_in
from crawler.aligner.profile import AlignProfile
from crawler.data import LangPair, Page, PairScore
from crawler.extract.document import read_page
from crawler.realign.records import PageRecord, decode, encode
from crawler.realign.steps import Extraction, Extractor, align_group, extract
from crawler.wanted import WantedPairs
from crawler.warc.inputs import Piece
from crawler.warc.text_columns import PlainText
from tests.worlds import build_site, write_warc

LANGS = LangPair("en", "is")
SITEMAP = """<?xml version="1.0"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:xhtml="http://www.w3.org/1999/xhtml">
<url><loc>{src}</loc>
<xhtml:link rel="alternate" hreflang="is" href="{trg}"/></url>
</urlset>"""


def records_of(pages: list[Page], langs=("en", "is")) -> list[PageRecord]:
    extractor = Extractor(langs)
    return [r for page in pages for r in extractor.records(page, Counter())]


def paired(records: list[PageRecord], langs: LangPair = LANGS) -> list[PairScore]:
    sites: defaultdict[str, list[bytes]] = defaultdict(list)
    for record in records:
        if not record.lang or record.lang in langs:
            sites[record.group].append(record.data)
    profile = AlignProfile()
    return [
        pair
        for site in sorted(sites)
        for pair in align_group(sites[site], langs, profile).pairs
    ]


def added(pages: list[Page], langs: LangPair = LANGS) -> list[PairScore]:
    """The pairs of an aligner that had the pages one by one, as in a crawl."""
    with Aligner(langs) as aligner:
        for page in pages:
            take_in(aligner, [read_page(page, langs=tuple(langs))])
        return aligner.finish()


def sitemap(site) -> Page:
    src, trg = sorted(site.gold("en", "is"))[3]
    text = SITEMAP.format(src=src, trg=trg)
    url = f"https://{site.host}/sitemap.xml"
    return Page(url, 200, (), text.encode(), next(site.pages()).fetched_at)


@pytest.mark.parametrize("style", ["dir", "slug", "subdomain"])
def test_records_of_a_site_give_the_pairs_of_a_crawl(style):
    site = build_site(
        style=style, concepts=30, others=("es",), untranslated=0.3, near_duplicates=0.2
    )
    pages = [*site.pages(), sitemap(site)]
    assert paired(records_of(pages)) == added(pages)


def test_declarations_of_a_page_in_a_third_language_count():
    site = build_site(
        style="slug", concepts=8, others=("fr",), others_share=1.0, words=24
    )
    records = records_of(list(site.pages()))
    assert {record.lang for record in records} == {None, "en", "is"}
    assert paired(records) == added(list(site.pages()))


def test_a_list_of_documents_in_both_languages_says_which_are_pairs():
    # pages of a few words, no language in a URL, no menu: of one only the list tells
    site = build_site(
        style="slug", concepts=8, switcher="none", words=6, untranslated=0.0
    )
    gold = sorted(site.gold("en", "is"))
    rows = [
        f"<li>{n} <a href='{src}'>English</a> <a href='{trg}'>Íslenska</a></li>"
        for n, (src, trg) in enumerate(gold)
    ]
    text = f"<p>All reports of the town, in both languages.</p><ul>{''.join(rows)}</ul>"
    pages = list(site.pages())
    html = (("content-type", "text/html; charset=utf-8"),)
    url = f"https://{site.host}/reports/"
    pages.append(Page(url, 200, html, text.encode(), pages[0].fetched_at))
    pairs = paired(records_of(pages))
    assert pairs == added(pages)
    assert {(p.src_url, p.trg_url) for p in pairs} == site.gold("en", "is")
    assert len(paired(records_of(pages[:-1]))) < len(gold)


def test_the_order_of_records_does_not_matter():
    site = build_site(style="slug", concepts=20, near_duplicates=0.3)
    records = records_of([*site.pages(), *site.pages()])
    mixed = records.copy()
    random.Random(1).shuffle(mixed)
    assert paired(mixed) == paired(records) != []


def test_all_languages_at_once_give_the_pairs_of_each_two():
    site = build_site(langs=("en", "is", "es", "fr"), concepts=15, hreflang=True)
    pages = list(site.pages())
    together = records_of(pages, ("en", "is", "es", "fr"))
    for langs in WantedPairs.parse("en,is,es,fr").pairs:
        alone = paired(records_of(pages, tuple(langs)), langs)
        assert paired(together, langs) == alone
        assert {(p.src_url, p.trg_url) for p in alone} == site.gold(*langs)


def test_a_record_comes_back_as_it_was():
    site = build_site(concepts=3, hreflang=True)
    for record in records_of(list(site.pages())):
        features, versions = decode(record.data, LANGS)
        assert features is not None
        assert (features.site, features.lang) == ("town.example", record.lang)
        (found,) = versions.urls.values()
        assert len(found) == 1
        assert encode(features, versions) == record.data


def test_a_text_without_markup_is_paired_by_its_content():
    site = build_site(style="slug", concepts=40, switcher="none")
    extractor = Extractor(("en", "is"))
    records = []
    for concept in range(40):
        for lang in ("en", "is"):
            text = "\n".join(site.sentences(concept, lang))
            page = PlainText(site.url(concept, lang), text)
            records += extractor.records(page, Counter())
    found = {(pair.src_url, pair.trg_url) for pair in paired(records)}
    gold = site.gold("en", "is")
    assert len(found & gold) >= 0.8 * len(gold)
    assert len(found - gold) <= 0.1 * len(found)


def test_pages_without_records_are_counted_by_reason(tmp_path):
    site = build_site(concepts=2, others=("fr",), others_share=1.0)
    pages = [*site.pages(), Page("https://a.example/x", 404, (), b"", site_date(site))]
    path = write_warc(tmp_path / "a.warc.gz", pages)
    extraction = Extraction()
    list(extract(Piece(str(path)), Extractor(("en", "is")), extraction))
    assert extraction.counts["align/dropped/status/404"] == 1
    assert extraction.counts["align/dropped/language"] == 2
    assert extraction.counts["pages"] == 6


def site_date(site):
    return next(site.pages()).fetched_at
