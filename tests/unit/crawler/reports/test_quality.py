from __future__ import annotations

import gzip

import pytest

from crawler.data import LangPair, PairScore
from crawler.errors import RunDirError
from crawler.reports.quality import Gold, Judgement, judge_pairs, read_gold

GOLD = Gold(frozenset({("e1", "i1"), ("e2", "i2"), ("e3", "i3")}), {"e1-copy": "e1"})


def pair(src: str, trg: str, **twins) -> PairScore:
    return PairScore(src, trg, 1.0, **twins)


def test_precision_counts_what_was_found_and_recall_what_is_true():
    judged = judge_pairs([pair("e1", "i1"), pair("e2", "i3")], GOLD)
    assert (judged.precision, judged.recall) == (1 / 2, 1 / 3)
    assert judged.f1 == pytest.approx(0.4)
    assert judged.wrong == (pair("e2", "i3"),)
    assert judged.missed == (("e2", "i2"), ("e3", "i3"))
    assert str(judged) == "2 pairs found, 3 true: precision 0.500, recall 0.333"


def test_a_pair_is_right_by_any_address_of_its_pages():
    judged = judge_pairs([pair("e1-copy", "i1")], GOLD)
    assert judged.right == judged.hit == 1
    judged = judge_pairs([pair("x", "y", src_twins=("e2",), trg_twins=("i2",))], GOLD)
    assert judged.right == judged.hit == 1


def test_a_true_pair_that_is_found_twice_is_one_hit():
    judged = judge_pairs([pair("e1", "i1"), pair("e1-copy", "i1")], GOLD)
    assert (judged.found, judged.right, judged.hit) == (2, 2, 1)


def test_only_pairs_of_fetched_pages_count():
    gold = GOLD.within(["e1-copy", "i1", "e2", "i3"])
    assert gold.pairs == {("e1", "i1")}


def test_without_pairs_all_figures_are_zero():
    assert judge_pairs([], Gold(frozenset())) == Judgement(0, 0, 0, 0, (), ())
    nothing = judge_pairs([], GOLD)
    assert (nothing.precision, nothing.recall, nothing.f1) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("name", ["gold.tsv", "gold.tsv.gz"])
def test_gold_is_read_in_the_order_of_the_pair(tmp_path, name):
    text = "site\turl_a\tlang_a\turl_b\tlang_b\n"
    text += "a.is\te\ten-GB\ti\tis\na.is\ti2\tis\te2\ten\na.is\tf\tfr\te\ten\n"
    opener = gzip.open if name.endswith("gz") else open
    with opener(tmp_path / name, "wt") as file:
        file.write(text)
    gold = read_gold(tmp_path / name, LangPair("is", "en"))
    assert gold.pairs == {("i", "e"), ("i2", "e2")}


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", None])
def test_gold_that_cannot_be_read_is_one_clear_error(tmp_path, content):
    path = tmp_path / "gold.tsv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(RunDirError, match=str(path)):
        read_gold(path, LangPair("en", "is"))
