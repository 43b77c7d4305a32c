"""Whatever the bytes, a page can be read, and tokens and chunks agree."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from hypothesis import assume, given
from hypothesis import strategies as st

from crawler.data import Page
from crawler.extract.decode import decode
from crawler.extract.document import read_page
from crawler.extract.linearize import CHUNK, linearize
from crawler.extract.sitemap import read_sitemap
from crawler.extract.text import blocks_of, prose
from tests.strategies import rough_html

URL = "https://example.org/sitemap.xml"
NOW = datetime(2024, 3, 1, tzinfo=UTC)
HTML = "text/html; charset="
CHARSETS = [
    "",
    "utf-8",
    "utf-16",
    "windows-1252",
    "shift_jis",
    "gb18030",
    "koi8-r",
    "x",
]


@given(rough_html())
def test_tokens_and_chunks_agree_in_number(text):
    page = linearize(text)
    assert page.tokens.count(CHUNK) == len(page.chunks)
    assert all(chunk and chunk == " ".join(chunk.split()) for chunk in page.chunks)
    assert all(token == CHUNK or token[0] == "<" for token in page.tokens)


@given(rough_html())
def test_start_and_end_tags_are_balanced(text):
    """What a browser would make of it: the aligner's STRAND relies on that."""
    assume("<plaintext" not in text)  # its text is kept, as markup
    void = frozenset("area base br col embed frame hr img input link meta".split())
    void |= frozenset("param source track wbr basefont bgsound keygen image".split())
    open_tags: list[str] = []
    for token in linearize(text).tokens[:-1]:  # <html> itself is not told
        if token == CHUNK:
            continue
        name = token[1:]
        if name[0] == "/":
            assert open_tags.pop() == name[1:]
        elif name not in void:
            open_tags.append(name)
    assert open_tags == []


@given(rough_html())
def test_blocks_hold_every_chunk_once_and_in_order(text):
    page = linearize(text)
    blocks = blocks_of(page.tokens, page.chunks)
    assert " ".join(block.text for block in blocks) == " ".join(page.chunks)


@given(rough_html())
def test_prose_is_made_of_chunks(text):
    page = linearize(text)
    own, main, rest = prose(page.tokens, page.chunks)
    assert set(own) <= set(main)
    assert not Counter(main + rest) - Counter(page.chunks)


@given(
    st.lists(st.one_of(st.just(""), st.sampled_from(["<p", "</p", "<nav", "</nav"])))
)
def test_blocks_of_any_tokens(tokens):
    chunks = [str(number) for number in range(tokens.count(""))]
    texts = [block.text for block in blocks_of(tokens, chunks)]
    assert " ".join(texts).split() == chunks


@given(rough_html(), st.sampled_from(CHARSETS))
def test_any_text_as_a_page(text, charset):
    body = text.encode("utf-8", "surrogatepass")
    headers = (("Content-Type", HTML + charset),)
    reading = read_page(Page("https://example.org/a", 200, headers, body, NOW))
    document = reading.document
    assert (document is None) == (reading.reason is not None)
    if document is not None:
        for link in document.links:
            assert link.url.startswith(("http://", "https://"))
            assert link.source_url == "https://example.org/a"
        urls = [link.url for link in document.links]
        assert len(urls) == len(set(urls))


@given(st.binary(), st.sampled_from(CHARSETS))
def test_any_bytes_as_text(body, charset):
    decode(body, HTML + charset).encode()  # no lone surrogates


@given(st.one_of(st.binary(), rough_html().map(lambda t: t.encode("utf-8", "replace"))))
def test_any_bytes_as_a_sitemap(body):
    read_sitemap(URL, body)
    read_sitemap(URL, b"<urlset><url><loc>https://a.is/" + body)
