from __future__ import annotations

import random
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from crawler.aligner.aligner import Aligner
from crawler.aligner.candidates.shapes import ShapesConfig, shapes
from crawler.aligner.collection import Collection
from crawler.aligner.scorers.strand import StrandScorer
from crawler.data import Document, LangPair
from crawler.extract.linearize import linearize
from tests.documents import make_document

LANGS = LangPair("en", "ru")
STRAND = StrandScorer()


def document(number: int, lang: str) -> Document:
    """A page whose shape its number tells; no word of it is in two languages."""
    letter = {"en": "a", "ru": "б"}[lang]
    parts = [
        f"<{tag}>{letter * (3 + number * 7 % 40 + 5 * n)}</{tag}>"
        for n, tag in enumerate(("p", "li", "h2")[: 1 + number % 3] * (1 + number))
    ]
    page = linearize("".join(parts))
    return make_document(
        url=f"http://a.org/{lang}{number}",
        site="a.org",
        lang=lang,
        tokens=page.tokens,
        chunks=page.chunks,
        digest=f"{lang}{number}",
    )


def collection(numbers: range) -> Collection:
    aligner = Aligner(LANGS)
    for number in numbers:
        for lang in LANGS:
            aligner.add(document(number, lang))
    pages = Collection.of(aligner.store, "a.org", aligner.profile.boilerplate)
    weakref.finalize(pages, aligner.store.close)
    return pages


def test_pages_without_a_common_word_are_paired_by_their_shape():
    pages = collection(range(2, 12))
    near = shapes(pages, *pages.sides, STRAND, ShapesConfig())
    found = {(pages.url(s)[15:], pages.url(t)[15:]) for s, t in near.mutual().pairs}
    assert found == {(str(n), str(n)) for n in range(2, 12)}


def test_each_page_meets_only_the_nearest():
    pages = collection(range(2, 22))
    near = shapes(pages, *pages.sides, STRAND, ShapesConfig(n_best=2))
    assert len(near.pairs) <= 2 * 2 * 20
    assert all(len(near.ranked[page]) >= 2 for side in pages.sides for page in side)


def test_a_site_that_is_too_large_is_left_alone():
    pages = collection(range(2, 6))
    assert not shapes(pages, *pages.sides, STRAND, ShapesConfig(max_pages=3)).pairs
    assert not shapes(pages, [], pages.sides[1], STRAND, ShapesConfig()).pairs


def spoken(number: int, lang: str, common: str) -> Document:
    """A page of sentences; a word of the one language has one of the other."""
    chance = random.Random(number)
    alphabet = {"en": "abcdefghij", "ru": "абвгдежзий"}[lang]
    blocks = []
    for _ in range(chance.randint(4, 12)):
        words = [
            "".join(alphabet[int(digit)] for digit in str(chance.randint(1000, 1200)))
            for _ in range(chance.randint(5, 25))
        ]
        tag = chance.choice(["p", "li", "h2", "td"])
        blocks.append(f"<{tag}>{' '.join(words)}</{tag}>")
    page = linearize("".join([*blocks, f"<p>{common}</p>"]))
    return make_document(
        url=f"http://a.org/{lang}{number}",
        site="a.org",
        lang=lang,
        tokens=page.tokens,
        chunks=page.chunks,
        digest=f"{lang}{number}",
    )


def test_a_few_words_in_common_by_chance_do_not_outweigh_the_shapes():
    pages = 100
    with Aligner(LANGS) as aligner:
        for number in range(pages):
            for lang, other in (("en", number), ("ru", number + 1)):
                common = f"chance{other}" if other < pages // 6 else ""
                aligner.add(spoken(number, lang, common))
        found = {(pair.src_url[15:], pair.trg_url[15:]) for pair in aligner.finish()}
    assert len({pair for pair in found if pair[0] == pair[1]}) > 0.9 * pages


TAGS = "p li h1 h2 h3 h4 td th dt dd pre blockquote".split()


def mute(number: int, lang: str, words: int = 1) -> Document:
    """A page of words that stand on no other, and of a shape of its own."""
    chance = random.Random(number)
    tags = [*TAGS, *chance.choices(TAGS, k=12)]
    letter = {"en": "k", "ru": "ж"}[lang]
    texts = [
        " ".join(
            letter * chance.randint(3, 30) + f"{lang}{number}x{place}x{word}"
            for word in range(words)
        )
        for place in range(len(tags))
    ]
    page = linearize("".join(f"<{t}>{x}</{t}>" for t, x in zip(tags, texts)))
    return make_document(
        url=f"http://a.org/{lang}{number}",
        site="a.org",
        lang=lang,
        tokens=page.tokens,
        chunks=page.chunks,
        digest=f"{lang}{number}",
    )


def found_among_others(strangers: Callable[[int, str], Document]) -> set[int]:
    """Which of five pages are paired on a site of 55 others that share words."""
    with Aligner(LANGS) as aligner:
        for number in range(60):
            for lang in LANGS:
                common = f"both{number}"
                page = spoken(number, lang, common) if number % 12 else None
                aligner.add(page or strangers(number, lang))
        found = {(pair.src_url[15:], pair.trg_url[15:]) for pair in aligner.finish()}
    return {int(src) for src, trg in found if src == trg and int(src) % 12 == 0}


def test_what_says_little_is_compared_by_shape_once_the_others_are_paired():
    assert found_among_others(mute) == {*range(0, 60, 12)}


def test_pages_more_alike_than_any_rival_are_paired_although_no_word_is_known():
    assert found_among_others(partial(mute, words=3)) == {*range(0, 60, 12)}


def test_pages_of_one_shape_whose_words_are_not_known_are_not_paired():
    def alike(number: int, lang: str) -> Document:
        page = mute(0, lang, 3)
        chunks = tuple(f"{text}{number}" for text in page.chunks)
        url, digest = f"http://a.org/{lang}{number}", f"{lang}{number}"
        return replace(page, url=url, digest=digest, chunks=chunks)

    assert not found_among_others(alike)
