"""The sentences of a run's document pairs: read, aligned, and judged by the filters.

    run: pairs.tsv.gz, WARC files ─▶ texts ─▶ beads ─▶ filters ─▶ what a corpus keeps

Everything streams: the texts lie in a temporary file, and memory holds the addresses of
the pairs. A corpus and a report read the same sentences, with the same reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.sentences.aligner import DynamicAligner
from crawler.aligner.sentences.filters import SentenceFilters
from crawler.aligner.sentences.split import main_blocks
from crawler.corpus.adapt import AdaptedScores
from crawler.corpus.collect import collect
from crawler.corpus.privacy import redacted
from crawler.corpus.profile import CorpusProfile
from crawler.corpus.sources import inputs_of
from crawler.corpus.texts import BlockCounts, StoredText, TextStore
from crawler.data import LangPair, PairScore, SentencePair
from crawler.extract.detectors.open import DetectorConfig
from crawler.extract.language import Cld2Detector
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs


@dataclass(frozen=True, slots=True)
class JudgedBead:
    """A bead, and the filter that refuses it; None: a corpus keeps it.

    `unpaired` is the reason of a bead without a partner.
    """

    pair: SentencePair
    reason: str | None


class SentenceJudge:
    """Redacts beads and applies the filters of a profile; counts what it refuses."""

    def __init__(
        self,
        langs: LangPair,
        profile: CorpusProfile,
        counts: Counter[str],
        adapted: AdaptedScores | None = None,
    ) -> None:
        self.langs = langs
        self.profile = profile
        self.counts = counts
        self._adapted = adapted or AdaptedScores()
        self._filters = SentenceFilters(
            langs, Cld2Detector(20), profile.filters, counts
        )

    def judged(self, beads: Iterable[SentencePair]) -> Iterator[JudgedBead]:
        """The beads, in their order; those with personal data may be left out."""
        kept = filter(None, map(self._adapt, beads))
        for bead, reason in self._filters.judged(filter(None, map(self._clean, kept))):
            yield JudgedBead(bead, reason)

    def _adapt(self, bead: SentencePair) -> SentencePair | None:
        """The bead with its adapted score; None, and counted, if it is marked wrong."""
        if self._adapted.is_wrong(bead):
            self.counts["sentences/dropped/marked"] += 1
            return None
        if not all(bead.bead):
            return bead
        score = self._adapted.score(bead.score, bead.pair_score)
        return bead if score == bead.score else replace(bead, score=score)

    def _clean(self, bead: SentencePair) -> SentencePair | None:
        """The bead with personal data masked; None, and counted, if it is dropped."""
        config = self.profile.privacy
        src, trg = (redacted(text, config) for text in (bead.src_text, bead.trg_text))
        if src is None or trg is None:
            self.counts["sentences/dropped/personal"] += 1
            return None
        if (src, trg) == (bead.src_text, bead.trg_text):
            return bead
        self.counts["sentences/masked"] += 1
        return replace(bead, src_text=src, trg_text=trg)


@dataclass(frozen=True, slots=True)
class RunSentences:
    """The document pairs of a run, ready to be aligned."""

    pairs: list[PairScore]  # src first, in the order of the file
    store: TextStore  # their pages
    repeated: BlockCounts
    aligner: DynamicAligner
    judge: SentenceJudge

    @classmethod
    @contextmanager
    def open(
        cls, run: RunDir, judge: SentenceJudge, work: Path
    ) -> Iterator[RunSentences]:
        """Read the pages of a run; the texts lie in the folder `work` meanwhile.

        RunDirError if the run has no pairs, or its pages are missing.
        """
        about, langs, profile = run.read(), judge.langs, judge.profile
        files = inputs_of(run, about)
        pairs = list(_pairs(run, about["langs"] != list(langs), judge))
        with (
            TemporaryDirectory(dir=work, prefix="texts-") as folder,
            closing(TextStore.open(Path(folder) / "texts.sqlite")) as store,
        ):
            wanted = {url for pair in pairs for url in (pair.src_url, pair.trg_url)}
            documents = bool(about.get("documents"))
            collect(
                files,
                wanted,
                langs,
                store,
                judge.counts,
                documents=documents,
                languages=_detector_of(about),
            )
            repeated = BlockCounts(profile.repeated)
            for text in store:
                repeated.add(text.document)
            aligner = DynamicAligner(
                langs,
                Lexicon.load(run.lexicon, langs) if run.lexicon.exists() else None,
                profile.sentences,
                is_repeated=repeated.is_repeated,
            )
            yield cls(pairs, store, repeated, aligner, judge)

    def pages(self, pair: PairScore) -> tuple[StoredText, StoredText] | None:
        """The two pages of a pair; None if one of them is missing."""
        urls = pair.src_url, pair.trg_url
        src, trg = map(self.store.get, urls, self.judge.langs)
        return (src, trg) if src and trg else None

    def align(
        self, pair: PairScore, src: StoredText, trg: StoredText
    ) -> list[JudgedBead]:
        """The beads of a pair, in the order of the src page."""
        beads = self.aligner.align(pair, src.document, trg.document)
        return list(self.judge.judged(beads))

    def repeated_blocks(self, text: StoredText) -> list[str]:
        """The blocks of a page that are left out, since too many pages have them."""
        document = text.document
        return [
            block.text
            for block in main_blocks(document)
            if self.repeated.is_repeated(document, block.text)
        ]


def _detector_of(about: Mapping[str, Any]) -> DetectorConfig:
    """What told the languages in a run, of a crawl or of `bifocal align`."""
    if "languages" in about:
        return DetectorConfig(*about["languages"])
    settings = about.get("settings", {})
    name = settings.get("LANGUAGE_DETECTOR") or "cld2"
    return DetectorConfig(name, settings.get("LANGUAGE_SAMPLES"))


def _pairs(run: RunDir, turned: bool, judge: SentenceJudge) -> Iterator[PairScore]:
    for pair in read_pairs(run.pairs):
        if pair.score < judge.profile.min_pair_score:
            judge.counts["corpus/dropped/pair_score"] += 1
        elif turned:
            yield PairScore(pair.trg_url, pair.src_url, pair.score)
        else:  # the features of a pair would fill the memory
            yield PairScore(pair.src_url, pair.trg_url, pair.score)
