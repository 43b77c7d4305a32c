from __future__ import annotations

from collections import Counter

import pytest

from crawler.aligner.frequencies import RepeatedConfig
from crawler.aligner.sentences.split import main_blocks
from crawler.corpus.stream import SentenceStream
from crawler.corpus.texts import BlockCounts, StoredText, TextStore
from crawler.data import Origin, PairScore
from crawler.extract.document import build_document
from crawler.rundir import RunDir
from crawler.sinks.growing import read_lines
from crawler.sinks.tsv import COLUMNS
from tests.runs import LANGS
from tests.worlds import build_site

SITE = build_site(concepts=3, words=200)
DOCUMENTS = [d for page in SITE.pages() if (d := build_document(page))]
PAIRS = [PairScore(src, trg, 0.9) for src, trg in sorted(SITE.gold("en", "is"))]


@pytest.fixture
def run(tmp_path):
    run = RunDir(tmp_path / "run")
    run.open(LANGS)
    return run


def texts_of(run):
    return [tuple(line.split("\t")[2:4]) for line in read_lines(run.sentences)][1:]


def test_sentences_can_be_read_as_soon_as_their_pages_are_paired(run):
    stream = SentenceStream.open(run, LANGS)
    for document in DOCUMENTS:
        stream.take(document, "<urn:uuid:1>")
    stream.found(PAIRS[:1])
    first = texts_of(run)
    assert set(zip(SITE.sentences(0, "en"), SITE.sentences(0, "is"))) & set(first)
    stream.found(PAIRS[1:2])
    assert texts_of(run)[: len(first)] == first
    stream.close()


def test_a_resumed_crawl_knows_the_pages_of_the_session_before(run):
    stream = SentenceStream.open(run, LANGS)
    for document in DOCUMENTS:
        stream.take(document, None)
    stream.found(PAIRS[:1])
    before = texts_of(run)
    stream.close()
    again = SentenceStream.open(run, LANGS)
    again.found(PAIRS[1:2])
    again.close()
    assert texts_of(run)[: len(before)] == before
    assert len(texts_of(run)) > len(before)


def test_sentences_of_the_final_pairs_replace_provisional_ones(run):
    stream = SentenceStream.open(run, LANGS)
    for document in DOCUMENTS:
        stream.take(document, "<urn:uuid:1>")
    wrong = PairScore(PAIRS[0].src_url, PAIRS[1].trg_url, 0.6)
    stream.found([wrong])
    counts = Counter()
    count = stream.finish(PAIRS, None, counts)
    stream.close()
    lines = list(read_lines(run.sentences))
    assert lines[0].split("\t") == list(COLUMNS)
    assert len(lines) == count + 1 == counts["sentences/kept"] + 1
    urls = {tuple(line.split("\t")[:2]) for line in lines[1:]}
    assert urls == {(pair.src_url, pair.trg_url) for pair in PAIRS}


def test_a_page_that_was_never_read_is_left_out(run):
    stream = SentenceStream.open(run, LANGS)
    assert stream.finish(PAIRS, None, Counter()) == 0
    stream.close()


# ------------------------------------------------------------------- texts


def test_a_text_comes_back_as_it_was(tmp_path):
    origin = Origin(DOCUMENTS[0].url, "w/a.warc.gz", 17, "<urn:uuid:1>")
    text = StoredText(DOCUMENTS[0], origin, frozenset({"noindex"}), "https://cc")
    store = TextStore.open(tmp_path / "texts.sqlite")
    store.put(text)
    store.close()
    store = TextStore.open(tmp_path / "texts.sqlite")
    (found,) = store
    assert (found.origin, found.marks, found.licence) == (
        origin,
        text.marks,
        "https://cc",
    )
    assert main_blocks(found.document) == main_blocks(DOCUMENTS[0])
    assert found.document.lang == DOCUMENTS[0].lang
    assert store.get("https://none.is/", "is") is None
    store.close()


def test_of_two_texts_of_one_url_the_same_one_stays_whatever_comes_first():
    from dataclasses import replace

    texts = [
        replace(DOCUMENTS[0], digest=digest, title=digest) for digest in ("aa", "bb")
    ]
    for order in (texts, texts[::-1]):
        store = TextStore.open()
        for document in order:
            store.put(StoredText(document, Origin(document.url)))
        assert [text.document.digest for text in store] == ["aa"]
        assert len(store) == 1
        store.close()


def test_a_block_of_many_pages_is_boilerplate_on_its_site_only():
    from dataclasses import replace

    counts = BlockCounts(RepeatedConfig(min_pages=2))
    pages = [
        replace(
            DOCUMENTS[0], url=f"u{k}", tokens=("<p", "", "</p"), chunks=("Same " * 20,)
        )
        for k in range(3)
    ]
    for page in pages[:2]:
        counts.add(page)
    assert not counts.is_repeated(pages[0], pages[0].chunks[0])
    counts.add(pages[2])
    assert counts.is_repeated(pages[0], pages[0].chunks[0])
    assert not counts.is_repeated(replace(pages[0], site="b.is"), pages[0].chunks[0])
    assert not counts.is_repeated(replace(pages[0], lang="is"), pages[0].chunks[0])
