r"""Negatives: pairs of URLs that are not translations of each other.

García-Romero et al. (2024), section 3.1 and Appendix A, with the details of the
authors' code where the paper is silent: random match, maximum Jaccard similarity, and
removal of random tokens, each bilingual (from a pair) and monolingual (from a URL and
itself). Beside them genuine ones: the other links of a page that links its translation,
as the paper takes them from WMT16 (`linked_negatives`), and other pages of its site
(`site_negatives`).

No generator gives a pair that may be true: `Closure` knows the translation groups, the
handles and the aliases of the pages that are known to be parallel.

As a program it makes the synthetic ones of a table of pairs, site by site, and prints
how many each generator gave:

    python -m training.negatives pairs=DATA/url_pairs.tsv.gz out=negatives.tsv.gz \
        [methods=1,2,3,4,5] [k=3] [seed=71213]

`methods` are the numbers of the paper's Table 5: 1 random match, 2 maximum Jaccard
similarity, 3 removal of tokens; 4, 5, 6 the same, monolingual. `k` is the number of
negatives of a pair and method.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from crawler.config import load_profile
from crawler.data import Lang, Site
from crawler.errors import UsageError
from crawler.handles import handle_of, stripped_forms
from crawler.unionfind import UnionFind
from crawler.urls import site_of
from training.command import run_script
from training.data.tables import COLUMNS, UrlPair, read_negatives, write_table

_EXTENSION = re.compile(r"\.(?:x?html?|php\d?|aspx?|jsp|md)$")
_INDEX = re.compile(r"/(?:index|default|home)$")


@lru_cache(maxsize=500_000)
def alias_of(url: str) -> str:
    """One name for `http://www.x.org/a/index.html`, `https://x.org/a/` and the like."""
    text, question, query = url.split("://", 1)[-1].partition("?")
    text = _EXTENSION.sub("", text.removeprefix("www.").rstrip("/").lower())
    return _INDEX.sub("", text) + question + query


@lru_cache(maxsize=500_000)
def _forms(url: str) -> frozenset[str]:
    handle = handle_of(url).text
    return frozenset({alias_of(handle), *map(alias_of, stripped_forms(url))})


class Closure:
    """Tells which URLs belong together, listed as a pair or not.

    Two URLs are related when they are in one translation group (a connected component
    of the pairs), or of one handle in the strict or in the WMT16 form.
    """

    def __init__(self) -> None:
        self._groups = UnionFind[str]()

    @classmethod
    def of(cls, pairs: Iterable[UrlPair]) -> Self:
        """Join what these pairs say."""
        closure = cls()
        for a, b in pairs:
            closure._groups.join(alias_of(a), alias_of(b))
        return closure

    def group(self, url: str) -> str:
        """A name for the translation group of a URL."""
        return self._groups.find(alias_of(url))

    def related(self, a: str, b: str) -> bool:
        """True if the two may be a pair, or one page."""
        return self.group(a) == self.group(b) or not _forms(a).isdisjoint(_forms(b))


# ------------------------------------------------------------------ the paper's three


_TOKENS = re.compile(r"[^\W_]+|_+|[^\w\s]")


@lru_cache(maxsize=500_000)
def resource_tokens(url: str) -> tuple[str, ...]:
    """The tokens after the authority: words, numbers and separators.

    >>> resource_tokens("https://example.org/en/news_1?x=2")
    ('/', 'en', '/', 'news', '_', '1', '?', 'x', '=', '2')
    """
    return tuple(_TOKENS.findall(_cut(url)[1]))


def _cut(url: str) -> tuple[str, str]:
    """Scheme and authority, and the resource."""
    start = url.find("/", url.find("://") + 3)
    return (url, "") if start < 0 else (url[:start], url[start:])


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared over all; 0 for two empty sets."""
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if shared else 0.0


@lru_cache(maxsize=500_000)
def token_set(url: str) -> frozenset[str]:
    """The resource's words and numbers as a set."""
    return frozenset(t.lower() for t in resource_tokens(url) if t.isalnum())


def random_match(pairs: Sequence[UrlPair], k: int, rng: random.Random) -> list[UrlPair]:
    """For each pair its first URL with the second ones of k random other pairs."""
    targets = [b for _, b in pairs]
    return [
        (a, target)
        for a, _ in pairs
        for target in rng.sample(targets, min(k, len(targets)))
    ]


def max_jaccard(pairs: Sequence[UrlPair], k: int, rng: random.Random) -> list[UrlPair]:
    """For each pair its first URL with the k most similar second ones of other pairs.

    Similarity is the Jaccard index of the resources' tokens, ties by that of their
    characters, then by URL. `rng` is unused: all generators have one signature.
    """
    targets = sorted({b for _, b in pairs})
    place = {b: i for i, b in enumerate(targets)}
    tokens, characters = (
        _Sets(map(token_set, targets)),
        _Sets(map(_characters, targets)),
    )
    negatives: list[UrlPair] = []
    for start in range(0, len(pairs), _BLOCK):
        block = pairs[start : start + _BLOCK]
        alike = tokens.jaccard([token_set(a) for a, _ in block])
        ties = characters.jaccard([_characters(a) for a, _ in block])
        for (a, own), first, second in zip(block, alike, ties):
            first[place[own]] = -1.0
            kth = np.partition(first, -min(k, len(first)))[-min(k, len(first))]
            near = np.flatnonzero(first >= max(kth, 0.0))
            best = near[np.lexsort((-second[near], -first[near]))][:k]
            negatives += ((a, targets[i]) for i in best.tolist())
    return negatives


_BLOCK = 256  # pairs that are compared with all targets at once


def _characters(url: str) -> frozenset[str]:
    return frozenset(_cut(url)[1])


class _Sets:
    """Sets as the rows of a sparse matrix, to be compared with many others at once."""

    def __init__(self, sets: Iterable[frozenset[str]]) -> None:
        self._columns: dict[str, int] = {}
        self._sets = list(sets)

    @cached_property
    def _matrix(self) -> Any:
        return self._rows(self._sets)

    def jaccard(self, others: Sequence[frozenset[str]]) -> npt.NDArray[np.float64]:
        """(others, sets): shared over all; 0 for two empty sets."""
        matrix = self._matrix
        known = [{item for item in one if item in self._columns} for one in others]
        shared = (self._rows(known) @ matrix.T).toarray()
        sizes = np.array([len(one) for one in others])
        every = sizes[:, None] + matrix.sum(axis=1)[None, :] - shared
        return np.asarray(shared / np.maximum(every, 1))

    def _rows(self, sets: Sequence[AbstractSet[str]]) -> Any:  # scipy has no stubs
        columns = [
            self._columns.setdefault(item, len(self._columns))
            for one in sets
            for item in one
        ]
        ends = np.cumsum([0, *(len(one) for one in sets)])
        shape = (len(sets), max(1, len(self._columns)))
        return csr_array((np.ones(len(columns)), columns, ends), shape=shape)


def remove_tokens(
    pairs: Sequence[UrlPair], k: int, rng: random.Random
) -> list[UrlPair]:
    """Each pair k times with random tokens missing on both sides.

    How many go is drawn from N(L/2, L/6), at least one and at most all L; scheme,
    authority and port stay. A copy in which nothing changed is left out.
    """
    negatives = []
    for a, b in pairs:
        for _ in range(k):
            pair = _shortened(a, rng), _shortened(b, rng)
            if pair != (a, b):
                negatives.append(pair)
    return negatives


def _shortened(url: str, rng: random.Random) -> str:
    tokens = resource_tokens(url)
    length = len(tokens)
    if not length:
        return url
    count = min(length, max(1, round(rng.gauss(length / 2, length / 6))))
    gone = set(rng.sample(range(length), count))
    rest = "".join(token for i, token in enumerate(tokens) if i not in gone)
    return _cut(url)[0] + re.sub("/{2,}", "/", "/" + rest.lstrip("/"))


Generator = Callable[[Sequence[UrlPair], int, random.Random], list[UrlPair]]

# The numbers of Table 5, Appendix A, in the order of the authors' code: the first three
# bilingual, the last three monolingual. The paper's choice is all but 6.
GENERATORS: dict[int, tuple[Generator, bool]] = {
    1: (random_match, False),
    2: (max_jaccard, False),
    3: (remove_tokens, False),
    4: (random_match, True),
    5: (max_jaccard, True),
    6: (remove_tokens, True),
}
PAPER_CHOICE = (1, 2, 3, 4, 5)


def synthetic_negatives(
    pairs: Sequence[UrlPair],
    closure: Closure,
    *,
    methods: Iterable[int] = PAPER_CHOICE,
    k: int = 3,  # the authors' default per positive and generator
    seed: int = 71213,
    counts: Counter[str] | None = None,
) -> list[UrlPair]:
    """The paper's negatives for the pairs of one site, without any that may be true.

    `counts` gets the pairs that each method made, and those that were left out.
    """
    rng = random.Random(seed)
    counts = Counter() if counts is None else counts
    negatives: set[UrlPair] = set()
    for method in methods:
        generate, monolingual = GENERATORS[method]
        sources: list[Sequence[UrlPair]] = (
            [[(a, a) for a, _ in pairs], [(b, b) for _, b in pairs]]
            if monolingual
            else [pairs]
        )
        made = [pair for source in sources for pair in generate(source, k, rng)]
        kept = {pair for pair in made if not closure.related(*pair)}
        counts[f"made/{method}"] += len(made)
        counts["dropped/may be true"] += sum(pair not in kept for pair in made)
        counts["dropped/made before"] += len(kept & negatives)
        negatives |= kept
    return sorted(negatives)


# ------------------------------------------------------------------ genuine ones


def linked_negatives(
    pair: UrlPair,
    links: Iterable[str],
    languages: Mapping[str, Lang],
    closure: Closure,
) -> list[UrlPair]:
    """A page with its links to other pages than its translation.

    Empty if the translation is not linked; and only pages known to be in one of the
    pair's two languages (section 3.1).
    """
    page, partner = pair
    linked = set(links)
    wanted = {languages.get(page), languages.get(partner)} - {None}
    if partner not in linked:
        return []
    return [
        (page, url)
        for url in sorted(linked)
        if languages.get(url) in wanted and not closure.related(page, url)
    ]


def site_negatives(
    pair: UrlPair,
    pool: Sequence[str],
    closure: Closure,
    *,
    near: int = 6,
    far: int = 7,
    rng: random.Random,
) -> list[UrlPair]:
    """Pairs of one URL with others of its site, `near` in tokens and at random.

    Half of the near ones resemble the URL's true partner (and are mostly in the
    partner's language), half the URL itself (mostly in its own). 6 and 7 make the
    paper's ratio of 13 to 1.
    """
    a, b = pair
    group, forms = closure.group(a), _forms(a) | _forms(b)
    others = [
        url
        for url in pool
        if closure.group(url) != group and forms.isdisjoint(_forms(url))
    ]
    chosen: dict[str, None] = {}
    for anchor, count in ((b, near - near // 2), (a, near // 2)):
        tokens = token_set(anchor)
        ranked = sorted(
            (url for url in others if url not in chosen),
            key=lambda url: (-jaccard(tokens, token_set(url)), url),
        )
        chosen.update(dict.fromkeys(ranked[:count]))
    rest = [url for url in others if url not in chosen]
    chosen.update(dict.fromkeys(rng.sample(rest, min(far, len(rest)))))
    return [(a, url) for url in chosen]


# ------------------------------------------------------------------ the program


@dataclass(frozen=True, slots=True)
class NegativesProfile:
    """The words of the command line."""

    pairs: str = ""  # a table with the columns url_a and url_b
    out: str = ""
    methods: tuple[int, ...] = PAPER_CHOICE
    k: int = 3
    seed: int = 71213


def main(words: Sequence[str]) -> None:
    """Make the negatives of a table, and print numbers and a sample."""
    profile = load_profile(NegativesProfile, None, words)
    if not profile.pairs or not profile.out:
        raise UsageError("give pairs=TABLE and out=TABLE (--help has an example)")
    if unknown := set(profile.methods) - set(GENERATORS):
        raise UsageError(
            f"methods: {min(unknown)} is not one of 1 to {len(GENERATORS)}"
        )
    path = Path(profile.pairs)
    if not path.exists():
        raise UsageError(f"{path}: there is no such table")
    counts: Counter[str] = Counter()
    pairs = list(read_negatives(path, counts))
    closure = Closure.of(pairs)
    by_site: dict[Site, list[UrlPair]] = defaultdict(list)
    for pair in pairs:
        by_site[site_of(pair[0])].append(pair)
    found: list[UrlPair] = []
    for _, listed in sorted(by_site.items()):
        found += synthetic_negatives(
            listed,
            closure,
            methods=profile.methods,
            k=profile.k,
            seed=profile.seed,
            counts=counts,
        )
    written = write_table(Path(profile.out), COLUMNS["negatives"], found)
    for name, count in sorted(counts.items()):
        print(f"{name:24}{count:12,}")
    print(f"{written:,} negatives of {len(pairs):,} pairs of {len(by_site):,} sites")
    for a, b in random.Random(profile.seed).sample(found, min(5, len(found))):
        print(f"  {a}  {b}")
    print(f"written to {profile.out}")


if __name__ == "__main__":
    run_script(main, __doc__)
