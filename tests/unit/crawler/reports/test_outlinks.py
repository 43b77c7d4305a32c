from __future__ import annotations

from datetime import UTC, datetime

from crawler.data import LangPair, Page
from crawler.reports.outlinks import outlinks

LANGS = LangPair("en", "is")


def page(url: str, *links: str) -> Page:
    body = "<!doctype html><p>" + "".join(f'<a href="{link}">x</a>' for link in links)
    kind = (("Content-Type", "text/html"),)
    return Page(url, 200, kind, body.encode(), datetime(2026, 1, 1, tzinfo=UTC))


def test_sites_in_both_languages_come_first_then_those_that_many_sites_name():
    pages = [
        page("https://a.is/", "https://b.is/", "https://c.is/en/", "https://c.is/is/"),
        page("https://d.is/", "https://b.is/x", "https://www.facebook.com/a", "/own"),
        page("https://a.is/2", "https://e.is/en/"),
    ]
    found = outlinks(pages, LANGS, known={"d.is"})
    assert [one.site for one in found] == ["c.is", "e.is", "b.is"]
    assert found[0].langs == {"en", "is"}
    assert found[0].entrances() == ["https://c.is/en/", "https://c.is/is/"]
    assert (found[2].pages, found[2].sites) == (2, {"a.is", "d.is"})
