from __future__ import annotations

import pytest

from crawler.corpus.rights import Removals, licence_of, marks_of
from crawler.data import Page
from crawler.errors import ProfileError
from crawler.extract.document import read_page
from tests.worlds import FETCHED_AT


def page(*headers: tuple[str, str], body: str = "") -> Page:
    html = ("Content-Type", "text/html")
    return Page("https://a.is/", 200, (html, *headers), body.encode(), FETCHED_AT)


def marks(*headers: tuple[str, str], body: str = "") -> set[str]:
    found = page(*headers, body=f"<p>Some text.{body}")
    return set(marks_of(found, read_page(found).robots))


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (("X-Robots-Tag", "noindex, nofollow"), {"noindex", "nofollow"}),
        (("x-robots-tag", "NONE"), {"noindex", "nofollow"}),
        (("X-Robots-Tag", "googlebot: noindex"), set()),
        (("X-Robots-Tag", "bifocal: noindex"), {"noindex"}),
        (("X-Robots-Tag", "max-snippet:5, noai"), {"noai"}),
        (("tdm-reservation", "1"), {"tdm-reservation"}),
        (("TDM-Reservation", " 0 "), set()),
    ],
)
def test_headers_of_a_page_have_the_marks_of_its_owner(header, expected):
    assert marks(header) == expected


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<meta name="robots" content="noindex,follow">', {"noindex"}),
        ('<meta name="tdm-reservation" content="1">', {"tdm-reservation"}),
        ("<META content=1 NAME=tdm-reservation>", {"tdm-reservation"}),
        ('<meta name="tdm-reservation" content="0">', set()),
        ('<meta name="description" content="noindex">', set()),
    ],
)
def test_meta_elements_of_a_page_have_the_marks_of_its_owner(html, expected):
    found = page(body=f"<html><head>{html}</head><body><p>Text</body>")
    assert marks_of(found, read_page(found).robots) == expected


def test_a_licence_is_a_link_to_a_well_known_one():
    cc = "https://creativecommons.org/licenses/by-sa/4.0/"
    found = read_page(
        page(body=f'<p>Text <a href="/x">x</a> <a href="{cc}">licence</a>')
    )
    assert found.document is not None
    assert licence_of(found.document) == cc
    none = read_page(page(body="<p>Text <a href=/licence>licence</a>")).document
    assert none is not None
    assert licence_of(none) is None


def test_a_removal_list_takes_sites_hosts_and_addresses():
    removals = Removals.of(
        ["#site\tpages", "example.org\t12", "www.hi.is", "https://a.is/x/ # asked", ""]
    )
    assert removals.match("https://www.example.org/a", "example.org")
    assert removals.match("https://www.hi.is/a", "hi.is")
    assert not removals.match("https://english.hi.is/a", "hi.is")
    assert removals.match("https://a.is/x/y", "a.is")
    assert not removals.match("https://a.is/y", "a.is")


def test_a_missing_list_is_one_clear_error(tmp_path):
    with pytest.raises(ProfileError, match="not a removal list"):
        Removals.read(tmp_path / "none")
