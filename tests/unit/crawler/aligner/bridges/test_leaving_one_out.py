from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.aligner.bridges.leaving_one_out import confirmed
from crawler.aligner.bridges.lexicon import Lexicon
from tests.lexicons import LANGS, features, lexicon, word


def pairs(*texts: tuple[str, str]):
    return [(features(src, "en"), features(trg, "is")) for src, trg in texts]


def links(known: Lexicon) -> set[tuple[int, int, float]]:
    return set(zip(known.src.tolist(), known.trg.tolist(), known.count.tolist()))


def test_what_two_siblings_taught_for_themselves_goes():
    taught = lexicon(("lset", "rset", 5.0), ("aligns", "jafnar", 4.0))
    siblings = ("lset aligns lset", "rset jafnar rset")
    others = ("aligns text", "jafnar texta"), ("aligns left", "jafnar vinstri")
    assert links(confirmed(taught, pairs(siblings, *others))) == {
        (word("aligns"), word("jafnar"), 4.0)
    }
    # with one other pair each link may be a mistake of two
    assert not len(confirmed(taught, pairs(siblings, others[0])))


def test_a_pair_that_taught_nothing_confirms_nothing():
    assert not len(confirmed(lexicon(("sea", "haf", 1.0)), []))
    assert not len(confirmed(Lexicon.empty(LANGS), pairs(("sea", "haf"))))


ENGLISH, ICELANDIC = "sea sun cow day".split(), "haf sol kyr dagur".split()
page = [
    st.lists(st.sampled_from(words), min_size=1).map(" ".join)
    for words in (ENGLISH, ICELANDIC)
]


@given(st.lists(st.tuples(*page), max_size=8))
def test_a_link_stays_if_three_pairs_have_both_words(texts):
    taught = lexicon(*((e, f, 1.0) for e in ENGLISH for f in ICELANDIC))
    expected = {
        (word(e), word(f), 1.0)
        for e in ENGLISH
        for f in ICELANDIC
        if sum(e in src.split() and f in trg.split() for src, trg in texts) >= 3
    }
    assert links(confirmed(taught, pairs(*texts))) == expected
