from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter

import pytest

from crawler.errors import UsageError
from training.data.tables import read_negatives
from training.negatives import (
    GENERATORS,
    Closure,
    alias_of,
    jaccard,
    main,
    max_jaccard,
    random_match,
    remove_tokens,
    resource_tokens,
    site_negatives,
    synthetic_negatives,
    token_set,
)

SITE = "https://a.org"
WORDS = ["about", "news", "contact", "history", "people", "jobs"]
MOTS = ["a-propos", "nouvelles", "contact", "histoire", "gens", "emplois"]
PAIRS = [(f"{SITE}/en/{w}", f"{SITE}/fr/{m}") for w, m in zip(WORDS, MOTS)]


def test_one_page_has_one_alias():
    urls = ["http://www.a.org/x/index.html", "https://a.org/x/", "https://a.org/x"]
    assert {alias_of(url) for url in urls} == {"a.org/x"}


def test_a_translation_group_is_closed_over_pairs_that_are_not_listed():
    closure = Closure.of([("https://a.org/1", "https://a.org/2")])
    assert not closure.related("https://a.org/1", "https://a.org/3")
    closure = Closure.of(
        [("https://a.org/1", "https://a.org/2"), ("https://a.org/2", "https://a.org/3")]
    )
    assert closure.related("https://a.org/1", "https://a.org/3")


@pytest.mark.parametrize(
    "other", [f"{SITE}/de/about", f"{SITE}/about", f"{SITE}/fr/about.html"]
)
def test_one_handle_is_related_though_no_list_says_so(other):
    assert Closure().related(f"{SITE}/en/about", other)


def test_random_match_takes_targets_of_the_site():
    negatives = random_match(PAIRS, 3, random.Random(1))
    assert len(negatives) == 18
    assert {b for _, b in negatives} <= {b for _, b in PAIRS}


def test_maximum_jaccard_takes_the_most_similar_target():
    pairs = [
        (f"{SITE}/en/red-wine-list", f"{SITE}/fr/carte-des-vins"),
        (f"{SITE}/en/x", f"{SITE}/fr/red-wine"),
        (f"{SITE}/en/y", f"{SITE}/fr/autre"),
    ]
    (first, *_) = max_jaccard(pairs, 1, random.Random(1))
    assert first == (pairs[0][0], pairs[1][1])


def by_hand(pairs, k):
    """Maximum Jaccard similarity, one pair at a time."""
    chosen = []
    for a, own in pairs:
        ranked = sorted(
            {b for _, b in pairs if b != own},
            key=lambda b: (
                -jaccard(token_set(a), token_set(b)),
                -jaccard(frozenset(a[len(SITE) :]), frozenset(b[len(SITE) :])),
                b,
            ),
        )
        chosen += [(a, b) for b in ranked[:k]]
    return chosen


@pytest.mark.parametrize("k", [1, 3, 50])
def test_maximum_jaccard_is_that_of_each_pair_with_all_others(k):
    rng = random.Random(k)
    words = [*WORDS, *MOTS]
    urls = [
        f"{SITE}/{'/'.join(rng.choices(words, k=rng.randint(0, 3)))}" for _ in range(80)
    ]
    pairs = list(zip(urls[::2], urls[1::2]))
    assert max_jaccard(pairs, k, rng) == by_hand(pairs, k)


def test_removed_tokens_are_of_the_resource_only():
    for a, b in remove_tokens(PAIRS, 5, random.Random(1)):
        assert a.startswith(f"{SITE}/")
        assert b.startswith(f"{SITE}/")
        assert "//" not in a.removeprefix("https://")
        assert (a, b) not in PAIRS


def test_resource_tokens_leave_the_authority_out():
    assert resource_tokens("https://en.a.org") == ()
    assert "a" not in resource_tokens("https://a.org/x/y")


@pytest.mark.parametrize("method", sorted(GENERATORS))
def test_no_generator_makes_a_negative_that_may_be_true(method):
    closure = Closure.of(PAIRS)
    negatives = synthetic_negatives(PAIRS, closure, methods=[method])
    assert negatives
    assert not any(closure.related(a, b) for a, b in negatives)


def test_same_seed_same_negatives():
    closure = Closure.of(PAIRS)
    assert synthetic_negatives(PAIRS, closure) == synthetic_negatives(PAIRS, closure)


def test_genuine_negatives_are_of_the_site_and_half_of_them_near():
    pool = [f"{SITE}/fr/nouvelles-{i}" for i in range(20)] + [
        f"{SITE}/fr/produit/{i}" for i in range(20)
    ]
    pool += [url for pair in PAIRS for url in pair] + [f"{SITE}/de/news"]
    negatives = site_negatives(
        PAIRS[1], pool, Closure.of(PAIRS), rng=random.Random(1), near=6, far=7
    )
    others = [b for _, b in negatives]
    assert len(set(others)) == 13
    assert not {*PAIRS[1], f"{SITE}/de/news"} & set(others)
    assert sum("nouvelles" in url or "/en/" in url for url in others) >= 6


def test_the_program_writes_the_negatives_of_a_table_and_says_how_many(
    tmp_path, capsys
):
    table, out = tmp_path / "url_pairs.tsv", tmp_path / "negatives.tsv.gz"
    rows = "".join(f"{a}\ten\t{b}\tfr\n" for a, b in PAIRS)
    table.write_text("url_a\tlang_a\turl_b\tlang_b\n" + rows)
    main([f"pairs={table}", f"out={out}", "methods=1,6", "k=2", "seed=5"])
    written = list(read_negatives(out, Counter()))
    expected = synthetic_negatives(
        PAIRS, Closure.of(PAIRS), methods=(1, 6), k=2, seed=5
    )
    assert written == expected
    printed = capsys.readouterr().out
    assert f"{len(written)} negatives of 6 pairs of 1 sites" in printed
    assert "made/1" in printed
    assert "made/2" not in printed


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "give pairs="),
        (["pairs=x", "out=y"], "there is no such table"),
        (["pairs=x", "out=y", "methods=1,7"], "7 is not one of 1 to 6"),
        (["pairs=x", "out=y", "method=1"], "did you mean 'methods'"),
    ],
)
def test_wrong_words_are_one_clear_error(words, message):
    with pytest.raises(UsageError, match=message):
        main(words)


def test_help_has_the_numbers_of_the_methods():
    command = [sys.executable, "-m", "training.negatives", "--help"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "1 random match, 2 maximum Jaccard" in " ".join(printed.split())
