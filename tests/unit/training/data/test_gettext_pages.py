from __future__ import annotations

import random
from dataclasses import replace

import pytest

from crawler.aligner.sentences.beads import Bead
from crawler.aligner.sentences.split import side_of
from training.data.gettext_pages import (
    document_of,
    gold_of,
    noisy,
    pairs_in,
    read_pages,
)

MESSAGES = [
    ("type: title", "The harbour", "Höfnin"),
    ("type: para", "It is open. It is large.", "Hún er opin. Hún er stór."),
    ("type: para", "Ask. Then wait. Then go.", "Spyrðu fyrst. Farðu svo af stað."),
    ("type: para no-wrap", "make install now", "make install now"),
    *(("type: para", f"Boat {n} leaves.", f"Bátur {n} fer.") for n in range(2, 9)),
]


@pytest.fixture
def page(tmp_path):
    file = tmp_path / "package" / "doc" / "is.po"
    file.parent.mkdir(parents=True)
    header = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
    rows = [
        f'#. {comment}\n#: book.xml:{n}\nmsgid "{src}"\nmsgstr "{trg}"\n'
        for n, (comment, src, trg) in enumerate(MESSAGES)
    ]
    file.write_text("\n".join([header, *rows]))
    (found,) = read_pages(tmp_path, "is")
    return found


def sides(page):
    return (
        side_of(document_of(page.src, "en", 0)),
        side_of(document_of(page.trg, "is", 0)),
    )


def test_messages_become_blocks_of_two_pages_and_what_is_not_translated_is_left_out(
    page,
):
    assert page.src[0] == ("h2", "The harbour")
    assert len(page.src) == len(MESSAGES) - 1
    assert page.pairs == [(n, n) for n in range(len(page.src))]


def test_sentences_of_a_message_are_pairs_only_where_there_are_as_many(page):
    gold, closed = gold_of(page, *sides(page))
    assert {((1,), (1,)), ((2,), (2,))} <= gold
    assert closed == {((3, 4, 5), (3, 4))} <= gold


def test_a_block_that_was_not_read_has_no_true_bead(page):
    src, trg = sides(page)
    read = src.blocks != 0
    shifted = replace(src.take(read.nonzero()[0]), blocks=src.blocks[read] - 1)
    gold, _ = gold_of(page, shifted, trg)
    assert {((0,), (1,)), ((1,), (2,))} <= gold
    assert all(0 not in theirs for _, theirs in gold)


def test_what_is_found_inside_of_a_closed_bead_is_joined(page):
    _, closed = gold_of(page, *sides(page))
    found = [Bead(0, 0, (1, 1)), Bead(3, 3, (1, 1)), Bead(4, 4, (2, 1))]
    assert pairs_in([bead.pair for bead in [*found, Bead(6, 5, (1, 0))]], closed) == {
        ((0,), (0,)),
        ((3, 4, 5), (3, 4)),
    }


@pytest.mark.parametrize("kind", ["dropped", "reordered"])
def test_pairs_of_a_noisy_page_still_are_translations(page, kind):
    changed = noisy(page, kind, random.Random(1))
    blocks = dict(zip(page.src, page.trg, strict=True))
    assert changed.pairs
    assert all(blocks[changed.src[i]] == changed.trg[j] for i, j in changed.pairs)
    assert (changed.src, changed.trg) != (page.src, page.trg)
