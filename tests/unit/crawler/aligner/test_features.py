from __future__ import annotations

from dataclasses import fields, replace

import numpy as np

from crawler.aligner.features import (
    BOILERPLATE_BLOCK,
    CODE,
    Featurizer,
    pack,
    unpack,
)
from crawler.data import Document, LangPair, Page
from crawler.extract.document import build_document
from tests.documents import make_document
from tests.worlds import FETCHED_AT, build_site

FEATURIZER = Featurizer(LangPair("en", "is"))


def document(html: str, url: str = "https://town.example/en/x.html") -> Document:
    found = build_document(Page(url, 200, (), html.encode(), FETCHED_AT))
    assert found
    return found


def features(html: str):
    page = document(html)
    return FEATURIZER.featurize(
        make_document(
            url=page.url,
            site=page.site,
            lang="en",
            title=page.title,
            tokens=page.tokens,
            chunks=page.chunks,
            links=page.links,
            digest=page.digest,
        )
    )


def test_the_head_is_part_of_the_markup_where_a_profile_wants_it():
    html = "<title>A town</title><meta name=a><body><p>Ships come and go.</p>"
    page = document(html)
    assert page.head.chunks == ("A town",)
    assert {"<title", "", "<meta"} <= {*page.head.tokens}
    pair = LangPair("en", "is")
    page = replace(page, lang="en")
    alone, whole = (
        Featurizer(pair, head=head).featurize(page) for head in (False, True)
    )
    heading = len(page.head.tokens)
    assert whole.markup[heading:] == alone.markup
    assert whole.chunk_lengths.tolist() == [5, *alone.chunk_lengths.tolist()]
    assert whole.words.tolist() == alone.words.tolist()


def test_packed_values_are_unpacked_unchanged():
    site = build_site(hreflang=True, concepts=3)
    for page in site.pages():
        found = build_document(page)
        assert found
        before = FEATURIZER.featurize(found)
        after = unpack(
            pack(before),
            **{
                name: getattr(before, name)
                for name in "url site lang digest handle family size".split()
            },
        )
        for field in fields(before):
            a, b = getattr(before, field.name), getattr(after, field.name)
            assert np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b


def test_blocks_are_cut_by_block_level_tags_and_know_their_kind():
    page = features(
        "<nav>Home <a>Menu</a></nav><p>Some <b>bold</b> text</p><pre>x = 1</pre>"
    )
    kinds = [int(block) & 3 for block in page.blocks]
    assert kinds == [0, CODE, BOILERPLATE_BLOCK]
    assert page.block_sizes.tolist() == [12, 3, 8]
    assert page.block_words.tolist() == [3, 2, 2]


def test_menus_are_read_only_where_there_is_little_else():
    prose = "<p>" + "word " * 200 + "</p>"
    assert features("<nav>one two</nav>" + prose).block_words.tolist() == [200, 0]
    assert features("<nav>one two</nav><p>three</p>").block_words.tolist() == [1, 2]


def test_a_page_of_any_length_has_features_of_bounded_size():
    html = "<p>a few words <b>in</b> many paragraphs</p>" * 50_000
    assert len(pack(features(html))) < 60_000


def test_unknown_elements_are_tokens_like_others():
    page = features("<my-card>one</my-card><my-card>two</my-card>")
    assert len(set(page.markup)) == len(set(features("<p>one</p><p>two</p>").markup))
