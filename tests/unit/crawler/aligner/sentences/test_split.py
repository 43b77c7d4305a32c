from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.sentences.split import Side, main_blocks, side_of, split
from crawler.data import Page
from crawler.extract.document import build_document
from tests.worlds import FETCHED_AT

LANGS = "en fr is fi de ja zh th km bo ar el hi ru ko xx".split()


def document(html: str):
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    page = Page("https://a.is/", 200, headers, html.encode(), FETCHED_AT)
    found = build_document(page)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("lang", "sentences"),
    [
        ("en", ["Mr. Smith left, e.g. by bus.", "See Fig. 2 for v. 2.0.", "Why?"]),
        ("en", ["Call java.lang.String first.", "Then apt.conf(5)."]),
        ("en", ["1. First item.", "2. Second item."]),
        ("is", ["Sbr. 3. gr. laga nr. 90/2003.", "Það var 17. júní 1944.", "Já."]),
        ("fr", ["M. Dupont est là.", "Voir p. 12.", "« Vraiment ? » dit-il.", "Oui !"]),
        ("de", ["Am 3. Oktober kam z. B. Dr. Müller.", "Er ging."]),
        ("fi", ["Esim. tämä on 3. luku.", "Hän tuli n. klo 5."]),
        ("es", ["El Sr. García llegó.", "¿Qué tal?"]),
        ("zh", ["第一句！？", "第二句。"]),
        ("ja", ["これは本です。", "行きますか？", "はい。"]),
        ("hi", ["यह एक वाक्य है।", "यह दूसरा है।"]),
        ("ar", ["كيف حالك؟", "أنا بخير."]),
        ("km", ["នេះជាប្រយោគ។", "នេះជាប្រយោគទីពីរ។"]),
        ("th", ["ผมชื่อสมชายมาจากกรุงเทพมหานคร", "วันนี้อากาศดีมากและเราจะไปเที่ยวกัน"]),
    ],
)
def test_a_block_is_cut_where_its_sentences_end(lang, sentences):
    blank = "" if lang in ("zh", "ja") else " "
    assert split(blank.join(sentences), lang) == sentences


@given(
    st.text(st.characters(exclude_categories=()), max_size=80), st.sampled_from(LANGS)
)
def test_nothing_but_white_space_is_lost(text, lang):
    kept = "".join("".join(split(text, lang)).split())
    assert kept == "".join(text.encode("utf-8", "replace").decode().split())


def test_blocks_are_never_joined_and_code_and_menus_are_left_out():
    page = document(
        "<nav>Home</nav><h1>A title</h1><p>One sentence. Another one, which is"
        " longer than the first.<ul><li>An item<li>One more</ul>"
        "<pre>code. more code.</pre><table><tr><td>Cell</table>"
    )
    side = side_of(page)
    assert side.texts == (
        "A title",
        "One sentence.",
        "Another one, which is longer than the first.",
        "An item",
        "One more",
        "Cell",
    )
    assert side.tags == ("h1", "p", "p", "li", "li", "td")
    assert side.blocks.tolist() == [0, 1, 1, 2, 3, 4]


def test_a_page_that_is_all_menu_is_read_all_the_same():
    page = document("<form><p>Everything stands in a form. Some sites do that.</form>")
    assert [block.text for block in main_blocks(page)] == [
        "Everything stands in a form. Some sites do that."
    ]


def test_repeated_blocks_are_set_aside():
    page = document("<p>All rights reserved.<p>This is what the page has to say to us.")
    side = side_of(page, lambda _, text: text.startswith("All"))
    assert side.texts == ("This is what the page has to say to us.",)


def test_a_chinese_character_counts_more_than_one():
    side = Side.of("zh", [("p", "你好。")])
    assert side.sizes[0] == pytest.approx(3 + 1.2 * 2)
