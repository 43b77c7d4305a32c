from __future__ import annotations

import pytest

from crawler.extract.linearize import Element, linearize


def body(html: str) -> tuple[str, ...]:
    """The tokens between <body> and </body>."""
    tokens = linearize(html).tokens
    return tokens[1:-2]


def anchors(html: str) -> list[tuple[str | None, str]]:
    found = linearize(html).elements
    return [(e.attributes.get("href"), e.text) for e in found if e.name == "a"]


def test_the_papers_example():
    # Resnik & Smith (2003), figure 3, with the end tags that a browser supplies
    page = linearize(
        "<HTML><TITLE>Emergency Exit</TITLE><BODY><H1>Emergency Exit</H1>\n"
        "If seated at an exit and</BODY></HTML>"
    )
    assert page.title == "Emergency Exit"
    assert page.tokens == ("<body", "<h1", "", "</h1", "", "</body", "</html")
    assert page.chunks == ("Emergency Exit", "If seated at an exit and")


def test_every_chunk_has_its_token():
    page = linearize("<p>a<br>b<!-- c -->d<i> </i>e")
    assert page.tokens.count("") == len(page.chunks) == 4


def test_white_space_is_folded_and_alone_is_not_a_chunk():
    page = linearize("<p> a \n\t b&nbsp;c <i>\u2003</i>")
    assert page.chunks == ("a b c",)


@pytest.mark.parametrize(
    "invisible",
    [
        "<script>if (a < b) document.write('<p>no</p>')</script>",
        "<style>p::before { content: '<p>no' }</style>",
        "<template><p>no</p></template>",
        "<noscript><p>no</p></noscript>",
        "<svg><title>no</title><text>no</text></svg>",
        "<math><mi>no</mi></math>",
        "<object><p>no</p></object>",
    ],
)
def test_what_nobody_reads_is_gone(invisible):
    assert linearize(f"<p>a</p>{invisible}<p>b").chunks == ("a", "b")


@pytest.mark.parametrize(
    ("comment", "rest"),
    [
        ("<!-- <p>no</p> -->", ()),
        ("<!-->", ()),
        ("<!--->", ()),
        ("<!-- a > b --!>", ()),
        ("<? php ?>", ()),
        ("<![CDATA[ no ]]>", ()),
        ("</ no>", ()),
    ],
)
def test_comments_of_all_kinds_are_gone(comment, rest):
    assert linearize(f"<p>a{comment}b").chunks == ("a", "b")


def test_an_unclosed_comment_takes_the_rest_as_in_a_browser():
    page = linearize("<p>a</p><!-- <p>b</p> <a href=/c>d</a>")
    assert page.chunks == ("a",)
    assert not anchors("<p>a</p><!-- <a href=/c>d</a>")


@pytest.mark.parametrize(
    "attribute",
    ['x="a>b"', "x='<p>'", "x='\"'", 'x="&quot;>"', "x=a\"b'c", "<", "x=<p"],
)
def test_attributes_may_hold_anything(attribute):
    assert anchors(f"<a {attribute} href=/is>text</a>") == [("/is", "text")]


@pytest.mark.parametrize(
    "tag",
    [
        '<a href="/is""class="x">',  # a stray quote: the attribute is called `"class`
        '<a href="/is" title="x"">',
        '<a href="/is"class="x">',
        "<a href=/is '>",
        '<a ="x" href="/is">',
        '<a href = "/is" / >',
        '<A HREF="/is">',
        '<a href="/is" href="/other">',
    ],
)
def test_links_survive_broken_attributes(tag):
    page = f"<p>before</p>{tag}text</a><p>after</p>"
    assert anchors(page) == [("/is", "text")]
    assert linearize(page).chunks == ("before", "text", "after")


def test_a_tag_name_may_hold_anything():
    assert linearize('<p"x>a</p"x><p<b>c').chunks == ("a", "c")


def test_an_anchor_has_the_text_that_a_reader_sees():
    assert anchors("<a href=1>In <b>English</b></a><a href=2><img alt=Home></a>") == [
        ("1", "In English"),
        ("2", "Home"),
    ]


def test_an_image_speaks_only_where_there_is_no_text():
    assert anchors("<a href=1>News <img alt=picture></a>") == [("1", "News")]


def test_an_anchor_in_an_anchor_ends_the_first():
    assert anchors("<a href=1>one<a href=2>two</a>") == [("1", "one"), ("2", "two")]


def test_an_anchor_without_end_reaches_to_the_end_of_its_block():
    assert anchors("<p><a href=1>one</p>")[0] == ("1", "one")


def test_the_elements_that_speak_are_found_in_document_order():
    page = linearize(
        "<html lang=is><base href=/b/><link rel=alternate href=1><meta name=robots>"
        "<body><map><area href=2></map><iframe src=3></iframe>"
        "<select><option value=/is>Íslenska</select><gcds-lang-toggle href=/fr>"
    )
    assert [element.name for element in page.elements] == [
        "html",
        "base",
        "link",
        "meta",
        "area",
        "iframe",
        "option",
        "gcds-lang-toggle",
    ]
    assert page.elements[-2] == Element("option", {"value": "/is"}, "Íslenska")


def test_framesets_have_frames_and_no_text():
    page = linearize("<frameset><frame src=a.html><frame src=b.html></frameset>")
    assert [e.attributes.get("src") for e in page.elements if e.name == "frame"] == [
        "a.html",
        "b.html",
    ]
    assert page.chunks == ()


def test_an_xhtml_prologue_is_not_text():
    page = linearize(
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html PUBLIC '
        '"-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/x.dtd">\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xml:lang="is" lang="is"><head>'
        "<title>Titill</title></head><body><p>texti</p></body></html>"
    )
    assert (page.title, page.chunks) == ("Titill", ("texti",))
    assert page.elements[0].attributes["lang"] == "is"


def test_entities_are_read_in_text_and_attributes():
    page = linearize("<title>A &amp; B</title><a href='?a=1&amp;b=2'>&THORN;&#250;</a>")
    assert page.title == "A & B"
    assert page.chunks == ("Þú",)
    assert page.elements[-1].attributes["href"] == "?a=1&b=2"


def test_entities_that_are_no_characters_do_no_harm():
    page = linearize("<p>&#0;&#xD800;&#x110000;&#xFFFFFFFFF;&nosuch;&</p>")
    page.chunks[0].encode()


@pytest.mark.parametrize(
    ("text", "chunk"),
    [
        ("a\x00b", "ab"),
        ("a\ud800b", "ab"),
        ("\u202emoc.elpmaxe\u202c", "\u202emoc.elpmaxe\u202c"),  # right to left
        ("שלום עולם", "שלום עולם"),
        ("a\u200bb\ufeffc", "a\u200bb\ufeffc"),
    ],
)
def test_odd_characters_neither_break_nor_vanish_without_need(text, chunk):
    assert linearize(f"<p>{text}</p>").chunks == (chunk,)


@pytest.mark.parametrize("html", ["", " ", "<", "<p", "</", "<!", "<!--", "&", "]]>"])
def test_next_to_nothing_is_a_page_too(html):
    page = linearize(html)
    assert page.tokens[0] == "<body"
    assert page.tokens[-2:] == ("</body", "</html")


def test_only_the_title_of_the_head_is_the_title():
    assert linearize("<title>one</title><title>two</title><p>x").title == "one"
    assert linearize("<p>x<svg><title>icon</title></svg>").title == ""
