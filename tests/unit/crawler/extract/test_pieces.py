"""Markup that would cost the parser the square of its size costs it no more than text.

What each costs is measured by benchmarks/linear.py; here is what becomes of it.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from crawler.extract import pieces
from crawler.extract.pieces import regular


def repaired(text: str) -> str:
    return "".join(regular(text))


def test_a_page_is_repaired_as_browsers_repair_it():
    assert repaired("<table><p>a<td>b") == (
        "<html><head></head><body><p>a</p>"
        "<table><tbody><tr><td>b</td></tr></tbody></table></body></html>"
    )


@pytest.mark.parametrize(
    "opening",
    ["<div>", "<ul><li>", "<b>", "<p><b>", "<table><tr><td>", "<form>"],
)
def test_nested_tags_are_cut_and_their_text_stays(opening):
    nested = opening * (100_000 // opening.count("<"))
    page = repaired(nested + "the text" + "</div>" * 1000)
    assert "the text" in page
    assert page.count("<") < 6 * 100_000


def test_a_page_that_is_nested_too_deep_goes_on_in_small_pieces():
    parts = ("<div>" * 9_000 + "</div>" * 900) * 4
    found = list(regular(parts))
    assert len(found) > 4 * 10_000 / pieces._SMALL / 2
    assert sum(part.count("<div>") for part in found) == 4 * 9_000


def test_unclosed_formatting_does_not_multiply():
    # each paragraph would open all of them again: 5,000 squared, 3 GB
    hostile = "".join(f"<font color={n}><p>" for n in range(5000))
    assert repaired(hostile).count("<") < pieces._MAX_OUTPUT_TAGS


def test_long_attributes_of_formatting_are_not_copied_into_every_block():
    page = repaired(f"<p><b title={'x' * 100_000}>" + "<p>y" * 2000)
    assert page.count("<b>") == 2001
    assert len(page) < 100_000


@pytest.mark.parametrize("value", ["1", "'>'", "'<a>'", '"</p>"', "'\"'"])
def test_of_too_many_attributes_the_first_are_kept(value):
    many = " ".join(f"a{n}={value}" for n in range(20_000))
    page = repaired(f"<p {many}>text</p><p>more</p>")
    tree = LexborHTMLParser(page)
    assert max(len(node.attributes) for node in tree.css("p")) <= 100
    assert "more" in page


@pytest.mark.parametrize(
    "start",
    [
        "<p ",
        "<p/",
        "<p x='<b",
        '<p x="> ',
        "<!-- <p ",
        '<a x"= "y> ',
        "<svg><style><p ",
    ],
)
def test_no_tag_has_more_attributes_whatever_stands_before(start):
    many = " ".join(f"a{n}='<x>'" for n in range(20_000))
    tree = LexborHTMLParser(repaired(f"{start} {many}>text"))
    found = [len(node.attributes) for node in tree.root.traverse()]
    assert max(found) <= 101


def test_a_script_that_looks_like_a_tag_ends_where_it_ends():
    script = "if (a <b && " + "c " * 20_000 + ") {}</script>"
    assert "<p>text</p>" in repaired(f"<script>{script}<p>text</p>")
    script = "if (a <bc " + "c " * 20_000 + ") {}</script>"
    assert "<p>text</p>" in repaired(f"<script>{script}<p>text</p>")


@pytest.mark.parametrize("name", ["plaintext", "xmp", "noembed", "noframes", "iframe"])
def test_raw_text_is_not_taken_for_markup(name):
    page = repaired(f"<p>text</p><{name}><!-- <b>&#{'9' * 5000};")
    assert "<p>text</p>" in page
    assert "<!--" not in page
    assert "999" not in page


def test_long_attributes_stay():
    image = "data:image/png;base64," + "A" * 200_000
    assert image in repaired(f'<img src="{image}">')


def test_a_long_manual_is_cut_behind_a_block_and_loses_nothing():
    items = [f"<p>paragraph <b>{n}</b></p>" for n in range(20_000)]
    page = repaired("<title>Manual</title>" + "".join(items))
    assert page == (
        f"<html><head><title>Manual</title></head><body>{''.join(items)}</body></html>"
    )


def test_many_forms_of_formatting_are_fine_where_they_are_closed():
    items = [f'<p><code id="c{n}">{n}</code></p>' for n in range(3000)]
    page = repaired("".join(items))
    assert page == f"<html><head></head><body>{''.join(items)}</body></html>"


def test_more_tags_than_any_text_has_are_left():
    page = repaired("<p>" * (pieces.MAX_PAGE_TAGS + 100) + "the end")
    assert "the end" not in page
    assert page.count("<p>") == pytest.approx(pieces.MAX_PAGE_TAGS, abs=50)


PARTS = """<b |<p |<a |x=|'|"|>|<|y |=| |/|<!--|-->|</b>|<i>|<svg>|<script>|</script>
<iframe>|<title>|<table>|<td>|</|<font c=1>|<object>|<select>""".split("|")


@given(st.lists(st.sampled_from(PARTS), min_size=1, max_size=30))
def test_whatever_is_repeated_stays_within_the_bounds(parts):
    unit = "".join(parts)
    page = repaired(unit * (60_000 // len(unit)))
    assert page.count("<") <= 2 * pieces._MAX_OUTPUT_TAGS
    nodes = LexborHTMLParser(page).root.traverse()
    assert max(len(node.attributes) for node in nodes) <= pieces._MAX_ATTRIBUTES + 1
