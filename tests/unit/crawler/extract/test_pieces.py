from __future__ import annotations

from time import monotonic

import pytest

from crawler.extract import pieces
from crawler.extract.pieces import repaired


def seconds(text: str) -> float:
    started = monotonic()
    repaired(text)
    return monotonic() - started


def test_a_page_is_repaired_as_browsers_repair_it():
    assert repaired("<table><p>a<td>b") == (
        "<html><head></head><body><p>a</p>"
        "<table><tbody><tr><td>b</td></tr></tbody></table></body></html>"
    )


@pytest.mark.parametrize(
    "opening",
    ["<div>", "<ul><li>", "<b>", "<p><b>", "<table><tr><td>", "<form>"],
)
def test_100_000_nested_tags_end_soon(opening):
    nested = opening * (100_000 // opening.count("<"))
    assert seconds(nested + "x" + "</div>" * 1000) < 10


def test_unclosed_formatting_does_not_multiply():
    # each paragraph would open all of them again: 5,000 squared, 3 GB
    hostile = "".join(f"<font color={n}><p>" for n in range(5000))
    assert seconds(hostile) < 5
    assert len(repaired(hostile)) < 50_000_000


def test_a_tag_with_too_many_attributes_keeps_its_name_only():
    many = " ".join(f"a{n}=1" for n in range(100_000))
    assert seconds(f"<p {many}>text") < 2
    assert "<p>text</p>" in repaired(f"<p {many}>text")


def test_quotes_and_tags_in_attributes_hide_nothing_from_the_count():
    many = " ".join(f"<a{n}='>\"'" for n in range(100_000))
    assert seconds(f"<p {many}>text") < 2


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
    page = repaired("<p>" * (pieces._MAX_PAGE_TAGS + 100) + "the end")
    assert "the end" not in page
    assert page.count("<p>") == pytest.approx(pieces._MAX_PAGE_TAGS, abs=50)
