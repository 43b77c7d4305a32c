"""The intake: the same from answers taken together as from each on its own."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from crawler.crawl.intake import Answer, Intake, IntakeConfig
from crawler.data import PairScore
from crawler.sinks.pairs import read_pairs
from crawler.warc.exchange import Exchange
from crawler.warc.writer import WarcConfig
from tests.worlds import build_site

SITE = build_site("town.example", concepts=6, words=80, hreflang=True)


def answers() -> list[Answer]:
    found = []
    for concept in range(SITE.concepts):
        for lang in SITE.langs_of(concept):
            page = SITE.page(concept, lang)
            headers = tuple((k.encode(), v.encode()) for k, v in page.headers)
            exchange = Exchange(
                page.url, page.status, headers, page.body, page.fetched_at
            )
            found.append(Answer(exchange, 1, SITE.home, 0.5, {"handle": 1.0}))
    return found


def open_intake(folder: Path) -> Intake:
    folder.mkdir(exist_ok=True)
    return Intake.open(IntakeConfig(str(folder), "en,is", WarcConfig()), Counter())


def stored(folder: Path) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for file in folder.glob("warc/*.warc.gz"):
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream):
                address = record.rec_headers.get_header("WARC-Target-URI")
                found[record.rec_type, address or ""] += 1
    return found


def test_together_or_one_by_one(tmp_path: Path):
    results = []
    for folder, number in ((tmp_path / "one", 1), (tmp_path / "all", 5)):
        intake, found = open_intake(folder), []
        for start in range(0, len(answers()), number):
            found += [
                # how often words occur is counted before a pair is compared, or after
                (replace(item, pairs=()), [(p.src_url, p.trg_url) for p in item.pairs])
                for item in intake.take(answers()[start : start + number])
            ]
        ending = intake.finish()
        assert ending.error is None
        results.append((found, ending.stats["pairs"], stored(folder)))
    one, together = results
    assert one == together
    assert one[1] == SITE.concepts


def test_pairs_can_be_read_while_the_crawl_runs(tmp_path: Path):
    intake = open_intake(tmp_path)
    found = [pair for item in intake.take(answers()) for pair in item.pairs]
    assert found
    assert list(read_pairs(tmp_path / "pairs.tsv.gz")) == [rounded(p) for p in found]
    intake.finish()


def rounded(pair: PairScore) -> PairScore:
    features = {name: round(value, 4) for name, value in pair.features.items()}
    return replace(pair, score=round(pair.score, 6), features=features)


def test_an_error_of_one_answer_is_its_own(tmp_path: Path):
    intake = open_intake(tmp_path)
    some = answers()[:3]
    some[1] = replace(some[1], evidence={"handle": "not a number"})
    results = intake.take(some)
    assert [item.reason for item in results] == [None, "failed/ValueError", None]
    intake.finish()
    counts = Counter(kind for kind, _ in stored(tmp_path).elements())
    assert (counts["response"], counts["metadata"]) == (3, 2)
