"""The quality of document pairs.

    python -m benchmarks.aligner_quality sites WORLDS     recorded sites, URLs and links
    python -m benchmarks.aligner_quality noisy WORLDS     the same on messy ones
    python -m benchmarks.aligner_quality few WORLDS       few true pairs, many pages
    python -m benchmarks.aligner_quality pools POOLS      content only: no URL, no link
    python -m benchmarks.aligner_quality stress POOLS     content only, and little of it
    python -m benchmarks.aligner_quality sensitivity POOLS    tuned numbers, changed
    python -m benchmarks.aligner_quality speed POOLS      pages a second, one core

Behind the folder sites or pools may be named; the figures of all others then stay.

WORLDS holds `warcs`, `truth` and `pairs.json`. Where a site's truth comes with
`SITE.sametext.tsv` (url, same_as: the page that has the same main text), recall and
precision count articles, whichever of their addresses are paired; a pair of
`SITE.ambiguous.tsv` is neither right nor wrong. Truths leave out pages, such as lists:
`precision, partner known` is of pairs of which the truth has one page at least.
`few` leaves 3, 5 or 10 articles of a site in both languages and all others in one, in
turn, five times each; pages that share 80 % of their 3-grams are one article. POOLS
holds a folder en-xx for each language with `docs.tsv` (id, language, name, HTML file,
text) and `truth.tsv`. Results go to benchmarks/results/aligner_quality_*.json.

In a pool a page's address is hidden, its links are dropped, and so is text that spells
its file name. Measures, as for the WMT16 task: strict recall (each page in one pair),
recall when a pair's twins count, soft recall and precision (a page that shares 80 % of
its 3-grams with the right one counts), soft recall at 99 % soft precision.
"""

from __future__ import annotations

import csv
import gc
import json
import math
import random
import re
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from benchmarks.degrade import first_words, half_of_blocks, main_text
from benchmarks.machine import machine
from crawler.aligner.aligner import Aligner, take_in
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile, GateConfig
from crawler.config import load_profile
from crawler.data import Document, LangPair, PairScore
from crawler.extract.document import image_names, read_page
from crawler.extract.linearize import Linearized, linearize
from crawler.reports.quality import Gold, judge_pairs, read_gold, read_rows
from crawler.unionfind import UnionFind
from crawler.warc.reader import iter_pages

RESULTS = Path(__file__).parent / "results"
SITE = "pool.example"
_NEAR = 0.8
# Everything is asked for, best first, as in the WMT16 task: recall is of all pairs that
# the 1-1 step leaves. In the pools a page is translated if CLD2 says so, however much
# of it is not; and of a page that lost half of its blocks a heading may be left. So the
# aligner's own rules (a score of 0.5; at most half identical, 100 characters of one's
# own, 15 outside of menus, at most three times as long) refuse nothing here.
_ALL = AlignProfile(
    min_score=0.0,
    gates=GateConfig(
        max_identical=1.0, min_size=1, min_main=1, max_length_ratio=math.inf
    ),
)

Truth = list[tuple[str, str]]
Figures = dict[str, float]
Rows = Iterator[tuple[str, Figures]]

# ---------------------------------------------------------------- recorded sites


def sites(worlds: Path, names: Sequence[str]) -> Rows:
    """Each site in each of its language pairs, by itself."""
    for site, pairs in json.loads((worlds / "pairs.json").read_text()).items():
        files = list((worlds / "warcs").glob(f"{site}.warc*"))
        if not files or (names and site not in names):
            continue
        readings = [read_page(page) for page in iter_pages(files)]
        for pair in pairs:
            langs = LangPair.parse(pair.replace("-", ","))
            start = time.process_time()
            with Aligner(langs) as aligner:
                for reading in readings:
                    take_in(aligner, [reading])
                found = aligner.finish()
            gold, doubtful = read_truth(worlds / "truth", site, langs)
            judged = judge_pairs(found, gold)
            wrong = [pair for pair in judged.wrong if not is_among(pair, doubtful)]
            known = sum(has_partner(pair, gold) for pair in wrong)
            precision = judged.right / max(judged.right + len(wrong), 1)
            of_known = judged.right / max(judged.right + known, 1)
            yield (
                f"{site} {pair}",
                {
                    "precision": round(precision, 3),
                    "precision, partner known": round(of_known, 3),
                    "recall": round(judged.recall, 3),
                    "f1": round(harmonic_mean(precision, judged.recall), 3),
                    "true": judged.gold,
                    "seconds": round(time.process_time() - start, 2),
                },
            )


_FEW, _TIMES = (3, 5, 10), 5


MadeSite = tuple[list[Document], Gold]  # its pages, and its true pairs


def few(worlds: Path, names: Sequence[str]) -> Rows:
    """Sites of which few articles are in both languages, made from recorded ones."""
    for name, langs, made in few_translations(worlds, names):
        judged = [judge_pairs(align(pages, langs)[0], gold) for pages, gold in made]
        right, found, of_gold = (
            sum(figure) for figure in zip(*((j.right, j.found, j.gold) for j in judged))
        )
        yield (
            name,
            {
                "precision": round(right / max(found, 1), 3),
                "recall": round(right / of_gold, 3),
            },
        )


def few_translations(
    worlds: Path, names: Sequence[str] = ()
) -> Iterator[tuple[str, LangPair, Iterator[MadeSite]]]:
    """Made-up sites of few translations: as many of each kind as `_TIMES`."""
    for site, pairs in json.loads((worlds / "pairs.json").read_text()).items():
        files = list((worlds / "warcs").glob(f"{site}.warc*"))
        if not files or (names and site not in names):
            continue
        found = [d for page in iter_pages(files) for d in read_page(page).documents]
        for pair in pairs:
            langs = LangPair.parse(pair.replace("-", ","))
            gold = read_gold(next((worlds / "truth").glob(f"{site}.truth.tsv*")), langs)
            documents = {d.url: d for d in found if d.lang in langs}
            true = {ends for ends in gold.pairs if documents.keys() >= {*ends}}
            articles = _articles(documents, true)
            if len(articles) < 2 * _FEW[-1]:
                continue
            for count in _FEW:
                made = (
                    _few(documents, articles, count, random.Random(seed))
                    for seed in range(_TIMES)
                )
                yield f"{site} {pair} {count} of {len(articles)}", langs, made


Article = tuple[Sequence[str], tuple[str, str]]  # its pages, and a true pair of them


def _articles(
    documents: Mapping[str, Document], true: Iterable[tuple[str, str]]
) -> list[Article]:
    """The articles that are there in both languages."""
    article = UnionFind[str]()
    for ends in sorted(true):
        article.join(*ends)
    grams = _Grams(list(documents.values()))
    for side in zip(*true):
        pages = sorted({*side})
        for number, page in enumerate(pages):
            for other in pages[:number]:
                if grams.same(page, other):
                    article.join(page, other)
    return [
        (pages, min(ends for ends in true if {*ends} <= {*pages}))
        for pages in sorted(map(sorted, article.sets()))
    ]


def _few(
    documents: Mapping[str, Document],
    articles: Sequence[Article],
    count: int,
    chance: random.Random,
) -> MadeSite:
    """A site of which so many articles are in both languages."""
    kept: set[str] = set()
    gold = set()
    for number, (_, ends) in enumerate(chance.sample(articles, len(articles))):
        if number < count:
            gold.add(ends)
            kept.update(ends)
        else:
            kept.add(ends[number % 2])
    return [documents[url] for url in sorted(kept)], Gold(frozenset(gold))


def read_truth(folder: Path, site: str, langs: LangPair) -> tuple[Gold, Gold]:
    """The true pairs of articles, and those that are neither right nor wrong.

    An article is all pages of one text, and all of one language that are paired with
    one page in the truth.
    """
    gold = read_gold(next(folder.glob(f"{site}.truth.tsv*")), langs)
    copies = next(folder.glob(f"{site}.sametext.tsv*"), None)
    if copies is None:
        return gold, Gold(frozenset())
    article = UnionFind[str]()
    for row in read_rows(copies):
        article.join(row["url"], row["same_as"])
    partners = defaultdict(list)
    for src, trg in sorted(gold.pairs):
        partners[article.find(src)].append(trg)
        partners[article.find(trg)].append(src)
    for first, *others in partners.values():
        for other in others:
            article.join(first, other)
    canonical = {url: urls[0] for urls in article.sets() for url in urls}
    doubtful: set[tuple[str, str]] = set()
    for path in folder.glob(f"{site}.ambiguous.tsv*"):
        doubtful |= read_gold(path, langs).pairs

    def of_articles(pairs: Iterable[tuple[str, str]]) -> Gold:
        named = ((article.find(src), article.find(trg)) for src, trg in pairs)
        return Gold(frozenset(named), canonical)

    return of_articles(gold.pairs), of_articles(doubtful)


def is_among(pair: PairScore, doubtful: Gold) -> bool:
    """Is a pair, by whatever address, one of those pairs?"""
    return judge_pairs([pair], doubtful).right > 0


def has_partner(pair: PairScore, gold: Gold) -> bool:
    """Has the truth a partner for one of the pages of a pair?"""
    known = {url for ends in gold.pairs for url in ends}
    ends = pair.src_url, *pair.src_twins, pair.trg_url, *pair.trg_twins
    return not known.isdisjoint(gold.canonical.get(url, url) for url in ends)


def harmonic_mean(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision * recall else 0.0


def mean_of(table: Mapping[str, Figures], name: str) -> float:
    """The mean over sites of the mean over their language pairs."""
    of_site: dict[str, list[float]] = {}
    for row, figures in table.items():
        of_site.setdefault(row.split()[0], []).append(figures[name])
    return round(mean(map(mean, of_site.values())), 4)


def align(
    documents: Sequence[Document],
    langs: LangPair,
    profile: AlignProfile | None = None,
    known: Lexicon | None = None,
) -> tuple[list[PairScore], float]:
    """The final pairs, and the processor seconds that they took."""
    start = time.process_time()
    with Aligner(langs, profile, known=known) as aligner:
        for document in documents:
            aligner.put(document)
        found = aligner.finish()
    return found, time.process_time() - start


# ---------------------------------------------------------------- pools


def read_pool(folder: Path) -> tuple[list[Document], Truth, float]:
    """The pages of a pool, its true pairs, and the seconds that parsing took."""
    documents = []
    csv.field_size_limit(sys.maxsize)
    seconds = 0.0
    gc.disable()  # it would look through all these documents, which nobody else keeps
    with (folder / "docs.tsv").open(encoding="utf-8", newline="") as file:
        for name, lang, _, path, _ in csv.reader(
            file, delimiter="\t", quoting=csv.QUOTE_NONE
        ):
            body = (folder.parents[1] / path).read_bytes()
            start = time.process_time()
            linear = linearize(body.decode("utf-8", "replace"))
            seconds += time.process_time() - start
            documents.append(_hidden(name, lang, Path(path), linear))
    gc.freeze()
    gc.enable()
    truth = [
        (_address(src), _address(trg))
        for src, trg, *_ in (
            line.split("\t") for line in (folder / "truth.tsv").read_text().splitlines()
        )
    ]
    return documents, truth, seconds


def _address(name: str) -> str:
    """An address that says nothing."""
    return f"https://{SITE}/{'1' if name.startswith('en') else '2'}{name[-5:]}"


def _hidden(name: str, lang: str, path: Path, linear: Linearized) -> Document:
    """A page without links, and without text that spells its file name."""
    stem = path.name.split(".")[0].lower()
    known = len(stem) >= 4 and stem not in ("index", "intro", "what")

    def leaks(chunk: str) -> bool:
        text = chunk.lower()
        return bool(_LEAK.search(chunk)) or (
            known and (f"{stem}." in text or f"/{stem}" in text)
        )

    chunks = tuple("" if leaks(chunk) else chunk for chunk in linear.chunks)
    images = tuple(
        image
        for image in image_names(linear.elements)
        if not (known and stem in image.lower())
    )
    return Document(
        url=_address(name),
        site=SITE,
        lang=lang,
        lang_confidence=1.0,
        title="",
        tokens=linear.tokens,
        chunks=chunks,
        links=(),
        digest=name,
        images=images,
    )


_LEAK = re.compile(r"text/[a-z]+/.*\.(xhp|html)|/text/s[a-z]+/|\.xhp|^This page is:")


def pools(folder: Path, names: Sequence[str]) -> Rows:
    for pool, langs in chosen_pools(folder, names):
        documents, truth, _ = read_pool(pool)
        first, _ = align(documents, langs, without_lexicon())
        yield f"{pool.name} shared words", measure(first, truth, documents)
        found, _ = align(documents, langs, _ALL)
        figures = measure(found, truth, documents)
        yield f"{pool.name} lexicon", {"pages": len(documents)} | figures


def speed(folder: Path, names: Sequence[str]) -> Rows:
    """HTML in memory to accepted pairs; with a bootstrap, and with its lexicon."""
    for pool, langs in chosen_pools(folder, names):
        documents, _, parsing = read_pool(pool)
        _, bootstrap = align(documents, langs)
        learning = replace(AlignProfile().bootstrap, shares=())
        known = lexicon_of(documents, langs)
        _, stored = align(documents, langs, AlignProfile(bootstrap=learning), known)
        pages = len(documents)
        tokens = mean(len(document.tokens) for document in documents)
        yield (
            pool.name,
            {
                "pages": pages,
                "tokens a page": round(tokens),
                "HTML to tokens, pages/s": round(pages / parsing),
                "HTML to pairs, pages/s": round(pages / (parsing + bootstrap)),
                "tokens to pairs, pages/s": round(pages / bootstrap),
                "HTML to pairs, stored lexicon": round(pages / (parsing + stored)),
                "tokens to pairs, stored lexicon": round(pages / stored),
            },
        )


def chosen_pools(folder: Path, names: Sequence[str]) -> Iterator[tuple[Path, LangPair]]:
    for pool in sorted(folder.iterdir()):
        if not names or pool.name in names:
            yield pool, LangPair.parse(pool.name.replace("-", ","))


def lexicon_of(documents: Sequence[Document], langs: LangPair) -> Lexicon | None:
    """What a site teaches."""
    with Aligner(langs) as aligner:
        for document in documents:
            aligner.put(document)
        aligner.finish()
        return aligner.lexicon


def without_lexicon() -> AlignProfile:
    return replace(_ALL, bootstrap=replace(_ALL.bootstrap, shares=()))


def measure(
    found: Sequence[PairScore],
    truth: Truth,
    documents: Sequence[Document],
    known: Truth | None = None,
    min_score: float = AlignProfile().min_score,
) -> dict[str, float]:
    """Strict, soft and ranked figures of a list of pairs.

    `known`: pairs of which one page was taken out; its copy is as right as it was.
    `min_score`: of a pair that counts for strict recall.
    """
    grams = _Grams(documents)
    known = known or truth
    partner = dict(known) | {trg: src for src, trg in known}

    def near(url: str, other: str) -> str | None:
        """The true pair's page that `url` stands for, next to `other`."""
        wanted = partner.get(other)
        return wanted if wanted and grams.same(url, wanted) else None

    ranked = sorted(found, key=lambda pair: -pair.score)
    hit: set[tuple[str, str]] = set()
    right = 0
    best_f1 = at_99 = precision = recall = 0.0
    for count, pair in enumerate(ranked, 1):
        ends = pair.src_url, pair.trg_url
        true = {ends} & set(known)
        if src := near(*ends):
            true.add((src, pair.trg_url))
        if trg := near(*reversed(ends)):
            true.add((pair.src_url, trg))
        hit |= true & set(truth)
        right += bool(true)
        p, r = right / count, len(hit) / len(truth)
        f1 = 2 * p * r / (p + r) if right else 0.0
        if f1 > best_f1:
            best_f1, precision, recall = f1, p, r
        if p >= 0.99:
            at_99 = r
    accepted = [pair for pair in ranked if pair.score >= min_score]
    strict = {(pair.src_url, pair.trg_url) for pair in accepted}
    collapsed = {
        (src, trg)
        for pair in accepted
        for src in (pair.src_url, *pair.src_twins)
        for trg in (pair.trg_url, *pair.trg_twins)
    }
    figures = {
        "strict recall": len(strict & set(truth)) / len(truth),
        "strict recall, twins": len(collapsed & set(truth)) / len(truth),
        "soft recall": len(hit) / len(truth),
        "best F1": best_f1,
        "precision there": precision,
        "recall there": recall,
        "recall at 99 % precision": at_99,
    }
    return {name: round(value, 4) for name, value in figures.items()}


class _Grams:
    """Word 3-grams of pages, made when they are asked for."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = {document.url: document for document in documents}
        self._grams: dict[str, NDArray[np.int64]] = {}

    def same(self, a: str, b: str) -> bool:
        """Do two pages share 80 % of their 3-grams?"""
        one, two = self._of(a), self._of(b)
        shared = len(np.intersect1d(one, two, assume_unique=True))
        return shared >= _NEAR * max(len(one), len(two), 1)

    def _of(self, url: str) -> NDArray[np.int64]:
        if url not in self._grams:
            words = " ".join(self._documents[url].chunks).split()
            trigrams = {hash(gram) for gram in zip(words, words[1:], words[2:])}
            self._grams[url] = np.array(sorted(trigrams), np.int64)
        return self._grams[url]


# ---------------------------------------------------------------- stress


def stress(folder: Path, names: Sequence[str]) -> Rows:
    for pool, langs in chosen_pools(folder, names):
        documents, truth, _ = read_pool(pool)
        texts = main_text(documents)
        conditions: dict[str, Iterable[Document]] = {
            "first 50 words": (first_words(document, 50) for document in texts),
            "half of the blocks of one side": half_of_blocks(texts, langs.trg),
            "70 % without a partner": _unpaired(documents, truth),
            "no shared word": _no_anchors(documents),
            "no shared word, no markup": _no_anchors(texts),
        }
        for name, change in conditions.items():
            changed = list(change)
            left = {document.url for document in changed}
            pairs = [pair for pair in truth if left.issuperset(pair)]
            found, _ = align(changed, langs, _ALL)
            known = documents if len(changed) < len(documents) else changed
            yield f"{pool.name} {name}", measure(found, pairs, known, truth)
        yield (
            f"{pool.name} new sites of 15 short pages",
            small_sites(texts, truth, langs),
        )


def small_sites(
    documents: Sequence[Document], truth: Truth, langs: LangPair
) -> dict[str, float]:
    """Strict recall on ten sites of 15 page pairs of 50 words each.

    The lexicon comes from all other pages; without it the site has only itself.
    """
    chance = random.Random(0)
    chosen = chance.sample(truth, 150)
    taken = {url for pair in chosen for url in pair}
    by_url = {document.url: document for document in documents}
    known = lexicon_of([d for d in documents if d.url not in taken], langs)
    found: dict[str, list[float]] = {"with the lexicon": [], "without": []}
    for start in range(0, len(chosen), 15):
        pairs = chosen[start : start + 15]
        site = [first_words(by_url[url], 50) for pair in pairs for url in pair]
        for name, lexicon in (("with the lexicon", known), ("without", None)):
            with Aligner(langs, _ALL, known=lexicon) as aligner:
                for document in site:
                    aligner.add(document)
                accepted = {(p.src_url, p.trg_url) for p in aligner.finish()}
            found[name].append(len(accepted & set(pairs)) / len(pairs))
    return {name: round(mean(shares), 4) for name, shares in found.items()}


def _unpaired(documents: Sequence[Document], truth: Truth) -> Iterator[Document]:
    """Pages are taken out of pairs until 70 % of those left have no partner."""
    chance = random.Random(0)
    # each page that goes leaves another one alone: 2 (pairs - n) = 0.3 (pages - n)
    gone = round((2 * len(truth) - 0.3 * len(documents)) / 1.7)
    lost = {chance.choice(pair) for pair in chance.sample(truth, gone)}
    return (document for document in documents if document.url not in lost)


def _no_anchors(documents: Sequence[Document]) -> Iterator[Document]:
    """Every word of the other language that English pages have too is taken out.

    Images as well; and before, on both sides, text that stands on both as it is: pages
    of which half is not translated.
    """
    texts = [
        {text for d in documents if (d.lang == "en") == english for text in d.chunks}
        for english in (True, False)
    ]
    untranslated = texts[0] & texts[1]
    english = {
        word.lower()
        for text in texts[0] - untranslated
        for word in re.findall(r"\w+", text)
    }

    def kept(document: Document, text: str) -> str:
        if text in untranslated:
            return ""
        if document.lang == "en":
            return text
        return re.sub(r"\w+", lambda m: "" if m[0].lower() in english else m[0], text)

    for document in documents:
        chunks = tuple(kept(document, text) for text in document.chunks)
        yield replace(document, chunks=chunks, images=())


# Numbers of the profile that were chosen by looking at pools, and others beside them.
_TUNED: dict[str, tuple[float, float]] = {
    "evidence.margin_cap": (0.1, 0.4),
    "evidence.likelihood_cap": (0.5, 2.0),
    "evidence.clear": (0.6, 0.9),
    "bootstrap.few_seeds": (0.1, 0.3),
    "copies.as_near": (0.8, 0.95),
    "copies.min_jaccard": (0.8, 0.95),
    "shapes.few_words": (20, 80),
    "shapes.min_tags": (8, 24),
    "shapes.min_margin": (0.05, 0.15),
}


def sensitivity(folder: Path, names: Sequence[str]) -> Rows:
    """The best F1 in four conditions, as tuned and with each number changed."""
    for pool, langs in chosen_pools(folder, names):
        documents, truth, _ = read_pool(pool)
        texts = main_text(documents)
        conditions = {
            "whole pages": documents,
            "half of the blocks of one side": list(half_of_blocks(texts, langs.trg)),
            "70 % without a partner": list(_unpaired(documents, truth)),
            "no shared word": list(_no_anchors(documents)),
        }
        changes = [f"{name}={value}" for name in _TUNED for value in _TUNED[name]]
        for change in [None, *changes]:
            profile = load_profile(AlignProfile, None, [change] if change else [])
            profile = replace(profile, gates=_ALL.gates, min_score=_ALL.min_score)
            figures = {}
            for condition, pages in conditions.items():
                left = {document.url for document in pages}
                pairs = [pair for pair in truth if left.issuperset(pair)]
                known = documents if len(pages) < len(documents) else pages
                found, _ = align(pages, langs, profile)
                figures[condition] = measure(found, pairs, known, truth)["best F1"]
            yield f"{pool.name} {change or 'as tuned'}", figures


KINDS: dict[str, Callable[[Path, Sequence[str]], Rows]] = {
    "sites": sites,
    "noisy": sites,
    "sensitivity": sensitivity,
    "speed": speed,
    "pools": pools,
    "stress": stress,
    "few": few,
}


def main(kind: str, folder: Path, names: Sequence[str]) -> None:
    """Measure, and write after every row; figures of what was not named stay."""
    path = RESULTS / f"aligner_quality_{kind}.json"
    table: dict[str, Figures] = {}
    if names and path.exists():
        table = json.loads(path.read_text("utf-8"))["rows"]
    for name, figures in KINDS[kind](folder, names):
        table[name] = figures
        print(name, figures, flush=True)
        result = {"machine": machine(), "rows": table}
        if kind in ("sites", "noisy", "few"):
            means = {
                f"mean {measure} over sites": mean_of(table, measure)
                for measure in figures
                if measure not in ("true", "seconds")
            }
            result = means | result
        path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
