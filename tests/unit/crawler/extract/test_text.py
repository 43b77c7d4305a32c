from __future__ import annotations

import pytest

from crawler.data import Block
from crawler.extract.linearize import linearize
from crawler.extract.text import blocks_of, prose


def blocks(html: str) -> list[tuple[str, str, bool]]:
    page = linearize(html)
    return [(b.tag, b.text, b.boilerplate) for b in blocks_of(page.tokens, page.chunks)]


def texts(html: str) -> list[str]:
    return [text for _, text, _ in blocks(html)]


def prose_of(html: str) -> tuple[str, str, str]:
    """Own sentences, main text, all text."""
    page = linearize(html)
    own, main, rest = prose(page.tokens, page.chunks)
    return " ".join(own), " ".join(main), " ".join(main + rest)


def test_inline_markup_does_not_break_a_block():
    assert texts("<p>one <b>two</b> <a href=x>three</a></p>") == ["one two three"]


@pytest.mark.parametrize(
    "tag", ["p", "div", "li", "section", "h2", "br", "hr", "x-y", "foo"]
)
def test_block_level_and_unknown_tags_break(tag):
    found = " ".join(texts(f"one<{tag}>two"))
    assert found == "one two"
    assert len(texts(f"one<{tag}>two")) == 2


def test_a_block_is_named_after_what_holds_it():
    assert blocks("<article><h1>T</h1><ul><li>a</li></ul>rest</article>") == [
        ("h1", "T", False),
        ("li", "a", False),
        ("article", "rest", False),
    ]
    assert blocks("bare") == [("body", "bare", False)]


@pytest.mark.parametrize(
    "tag", ["nav", "header", "footer", "aside", "form", "select", "button", "dialog"]
)
def test_boilerplate_is_marked_and_not_lost(tag):
    inner = "<option>b</option>" if tag == "select" else "b"
    found = blocks(f"<p>a</p><{tag}>{inner}</{tag}><p>c</p>")
    assert [(text, boilerplate) for _, text, boilerplate in found] == [
        ("a", False),
        ("b", True),
        ("c", False),
    ]


def test_boilerplate_in_boilerplate_ends_with_the_outer_one():
    html = "<footer><nav><p>a</p></nav><p>b</p></footer><p>c</p>"
    assert [boilerplate for *_, boilerplate in blocks(html)] == [True, True, False]


def test_stray_end_tags_unbalance_nothing():
    tokens = ("</nav", "<nav", "", "</div", "</nav", "</p", "<p", "", "</p")
    assert blocks_of(tokens, ("a", "b")) == (
        Block("nav", "a", boilerplate=True),
        Block("p", "b", boilerplate=False),
    )


def test_a_text_that_nothing_closes_is_a_block():
    assert blocks_of(("<p", ""), ("a",)) == (Block("p", "a", boilerplate=False),)
    assert blocks_of((), ()) == ()


def test_void_elements_hold_nothing():
    assert blocks("<p>a<br>b<img>c</p>") == [
        ("p", "a", False),
        ("p", "b c", False),
    ]


def test_prose_is_the_main_text_and_all_of_it():
    html = "<nav>Home</nav><p>One <b>two</b></p><footer>End</footer>"
    assert prose_of(html)[1:] == ("One two", "One two Home End")


def test_where_there_is_no_boilerplate_both_are_one():
    assert prose_of("<p>a</p><p>b</p>")[1:] == ("a b", "a b")


def test_sentences_outside_links_are_the_page_s_own():
    sentence = "The ship comes into the harbour."
    html = f"<h2>Harbour</h2><p>{sentence}</p><ul><li><a href=/>{sentence}</a></ul>"
    assert prose_of(html)[0] == sentence
    assert prose_of("<p>船は港に入りました。海は静かです。</p>")[0]


@pytest.mark.parametrize("tag", ["pre", "code", "kbd", "samp", "textarea"])
def test_code_is_not_prose(tag):
    assert prose_of(f"<p>a <{tag}>int main() <b>x</b></{tag}> b</p>")[1] == "a b"


def test_menus_of_languages_are_no_prose():
    html = "<p>a</p><select><option>Afrikaans<option>Dansk</select>"
    assert prose_of(html)[1:] == ("a", "a")


@pytest.mark.parametrize(
    "attributes",
    [
        "class=sidebar",
        "class='left_sidebar x'",
        "id=mainNav",
        "role=navigation",
        "class=cookie-consent",
        "id=relatedPosts",
        "class='box SITE-FOOTER'",
    ],
)
def test_a_div_that_is_called_furniture_is_an_aside(attributes):
    html = f"<div>a<div {attributes}>b<div>c</div>d</div>e</div>"
    assert [text for _, text, boilerplate in blocks(html) if boilerplate] == [*"bcd"]
    tokens = linearize(html).tokens
    assert tokens.count("<aside") == tokens.count("</aside") == 1


@pytest.mark.parametrize(
    "attributes",
    [
        "class='content has-sidebar'",
        "class='article-body share'",
        "class=modal-enabled",
        "class=canoe",
        "data-x=menu",
        "",
    ],
)
def test_a_div_of_text_or_layout_is_none(attributes):
    found = blocks(f"<div {attributes}>b</div>")
    assert found == [("div", "b", False)]


def test_the_id_of_a_section_is_its_heading():
    assert not any(b for *_, b in blocks("<section id=menu-options>b</section>"))
