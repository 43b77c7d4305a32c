from __future__ import annotations

import pytest

from crawler.data import PageFacts
from crawler.extract.text import prose_digest
from crawler.frontier.scorers.copies import Copies, parts_of, text_key

SITE = "a.example"
PROSE = "The harbour was rebuilt after the storm of that winter, and the town with it. "


def document(*chunks: str, digest: str = "d") -> PageFacts:
    url, prose = f"https://{SITE}/", prose_digest(chunks)
    return PageFacts(
        url=url,
        site=SITE,
        lang="en",
        digest=digest,
        prose=prose,
    )


def expected(copies: Copies, path: str) -> tuple[float, str]:
    return copies.expected(parts_of(f"https://{SITE}{path}"))


def show(copies: Copies, path: str, text: int, *, leads_on: bool = False) -> None:
    copies.add(f"https://{SITE}{path}", text, leads_on=leads_on)


def test_the_same_sentences_are_the_same_text_whatever_menu_and_date():
    text = text_key(
        document("Menu", PROSE * 3, "on 3 May 2026, at noon precisely"), SITE
    )
    same = text_key(document(PROSE * 3, "on 14 May 2031, at noon precisely"), SITE)
    assert text == same
    assert text != text_key(document(PROSE * 4), SITE)
    assert text != text_key(document(PROSE * 3, "Menu"), "b.example")


def test_a_page_of_few_words_is_told_by_everything_that_it_shows():
    one, two = (
        document("Menu", "42", digest="one"),
        document("Menu", "43", digest="two"),
    )
    assert text_key(one, SITE) != text_key(two, SITE)


@pytest.mark.parametrize("kind", ["parameter", "number"])
def test_what_changes_nothing_is_found_out(kind):
    path = "/news?visit={}" if kind == "parameter" else "/calendar/{}/events"
    copies = Copies(2.0, 0.1)
    show(copies, path.format(1), 7)
    assert expected(copies, path.format(2)) == (0.1, kind)
    for n in range(2, 40):
        show(copies, path.format(n), 7)
    p, named = expected(copies, path.format(99))
    assert (p > 0.95, named) == (True, kind)


def test_it_is_known_on_pages_that_were_fetched_without_it():
    copies = Copies(2.0, 0.1)
    for n in range(40):
        show(copies, f"/news?visit={n}", 7)
    assert expected(copies, "/contact?visit=99")[0] == 0.0  # nobody has seen that page
    show(copies, "/contact", 8)
    assert expected(copies, "/contact?visit=99")[0] > 0.9


def test_what_names_a_page_is_left_alone():
    copies = Copies(2.0, 0.1)
    for n in range(50):
        show(copies, f"/news.php?id={n}", n)
    assert expected(copies, "/news.php?id=99")[0] < 0.01


def test_a_language_parameter_is_never_irrelevant_however_many_copies_there_are():
    copies = Copies(2.0, 0.1)
    for n, lang in enumerate(("de", "fr", "es", "it", "pt-br") * 20):
        show(copies, f"/p{n}?lang={lang}", 7)
    show(copies, "/new", 8)
    assert expected(copies, "/new?lang=is") == (0.0, "")


def test_a_list_in_the_same_frame_leads_on():
    copies = Copies(2.0, 0.1)
    for n in range(50):
        show(copies, f"/list?page={n}", 7, leads_on=True)
    assert expected(copies, "/list?page=99")[0] < 0.01


def test_links_that_carry_the_same_number_lead_nowhere_new():
    copies = Copies(2.0, 0.1)
    page = parts_of(f"https://{SITE}/?visit=1")
    links = [parts_of(f"https://{SITE}/{name}?visit=2") for name in "ab"]
    assert copies.leads_on(page, links)
    again = [parts_of(f"https://{SITE}/{name}?visit=3") for name in "ab"]
    assert not copies.leads_on(page, again)
    assert copies.leads_on(page, [*again, parts_of(f"https://{SITE}/c?visit=3")])


def test_what_was_counted_survives_a_restart():
    copies = Copies(2.0, 0.1)
    for n in range(9):
        show(copies, f"/news?visit={n}", 7)
        copies.is_copy(n)
    again = Copies(2.0, 0.1)
    again.restore(copies.state())
    assert expected(again, "/news?visit=9") == expected(copies, "/news?visit=9")
    assert (again.is_copy(3), again.is_copy(99)) == (True, False)
