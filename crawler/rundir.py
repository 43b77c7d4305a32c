"""The run directory: the only interface between a crawl and everything after it.

    run.json            the request: languages, seeds, every resolved setting
    crawl.jsonl         one line per fetched URL, in the order of fetching
    warc/               the fetched pages, with CDXJ indexes
    frontier.sqlite     known and pending URLs, and what the crawl learned
    aligner.sqlite      the features of each document
    pairs.tsv.gz        accepted document pairs
    clusters.tsv.gz     versions of articles, if there are several pairs of languages
    lexicon.npz         words and their translations, learned from the pairs
    sentences.tsv.gz    sentence pairs of the document pairs
    url_language.npz    weights that this crawl has adapted (ADAPT_AFTER)
    texts.sqlite        texts of pages, until their sentences are paired
    marks.tsv           what a person says of pairs and sentences
    stats.json          counters, written at the end of each session
    reading             the pages in hand; reading.jsonl those of a process that died
    stop                made by a person, it ends the session as Ctrl-C does

With several pairs of languages each pair whose languages a site has shown has a run
directory of its own inside, named after it (`en-fi`), with `warc` and `crawl.jsonl` as
links to those of the crawl.

docs/formats.md gives every field.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec

from crawler.atomic import atomic_text
from crawler.data import LangPair
from crawler.errors import BifocalError, LanguageError, RunDirError, RunError
from crawler.languages import language_of
from crawler.lines import printable_values
from crawler.wanted import WantedPairs

# The files of a run have a few KB; of a crawl of a million seeds, 60 MB.
_MAX_JSON = 256 * 2**20  # bytes


class _About(TypedDict, total=False):
    """The fields of run.json that are read, with their types."""

    langs: Annotated[list[str], msgspec.Meta(min_length=2)]
    pairs: list[tuple[str, str]]
    seeds: list[str]
    scope: Literal["site", "host", "path"] | None
    profile: str | None
    shared_run: str | None
    warcs: list[str]
    settings: dict[str, Any]
    align: dict[str, Any]


class RunDir:
    """Paths of a run, and the two JSON files that describe it."""

    def __init__(self, path: str | Path) -> None:
        """Name a run directory; nothing is created or read yet."""
        self.path = Path(path)
        self.run_json = self.path / "run.json"
        self.stats_json = self.path / "stats.json"
        self.crawl_log = self.path / "crawl.jsonl"
        self.warc = self.path / "warc"
        self.frontier = self.path / "frontier.sqlite"
        self.aligner = self.path / "aligner.sqlite"
        self.pairs = self.path / "pairs.tsv.gz"
        self.clusters = self.path / "clusters.tsv.gz"
        self.lexicon = self.path / "lexicon.npz"
        self.url_language = self.path / "url_language.npz"
        self.sentences = self.path / "sentences.tsv.gz"
        self.texts = self.path / "texts.sqlite"
        self.marks = self.path / "marks.tsv"
        self.reading = self.path / "reading"
        self.stop = self.path / "stop"

    def of_pair(self, langs: LangPair, wanted: WantedPairs) -> RunDir:
        """The directory of a pair of languages: this one, if there is no other pair."""
        return self if wanted.only else RunDir(self.path / "-".join(langs))

    def by_pair(self) -> list[RunDir]:
        """The directory of each pair of languages that this run has found pages of."""
        wanted = self.wanted()
        parts = (self.of_pair(langs, wanted) for langs in wanted.pairs)
        return [part for part in parts if part.run_json.exists()]

    def wanted(self) -> WantedPairs:
        """The pairs of languages that run.json names."""
        about = self.read()
        if "langs" not in about:
            raise RunDirError(
                f"{self.run_json}: it names no languages (it is damaged, or not of a"
                " crawl; choose another RUN_DIR)"
            )
        return _wanted(about)

    def shown(self) -> WantedPairs:
        """The wanted pairs of which some site has shown pages; all, if none has."""
        parts = tuple(part.langs() for part in self.by_pair())
        return WantedPairs(parts) if parts else self.wanted()

    def as_before(self, wanted: WantedPairs) -> WantedPairs:
        """These pairs as the run names them, if it is there and has the same.

        Its scorers and the directories of its pairs go by their order and sides.
        """
        before = self.wanted() if self.run_json.exists() else wanted
        return before if before.same_as(wanted) else wanted

    def langs(self) -> LangPair:
        """The two languages of the run; RunDirError if it has several pairs."""
        wanted = self.wanted()
        if wanted.only:
            return wanted.only
        names = ", ".join(str(run.path) for run in self.by_pair())
        raise RunDirError(
            f"{self.path}: this run has several pairs of languages (give the directory"
            f" of one: {names})"
        )

    def open(self, langs: LangPair | WantedPairs) -> bool:
        """Create the directory, or check that it is this crawl's; True: it resumes.

        Raises RunDirError when it holds a run of other languages or cannot be written.
        """
        try:
            self.warc.mkdir(parents=True, exist_ok=True)
            probe = self.path / ".write-test"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise RunDirError(
                f"{self.path}: cannot write the run directory: {error.strerror}"
                " (choose another RUN_DIR, or free space and rights)"
            ) from error
        if not self.run_json.exists():
            return False
        theirs = self.wanted()
        ours = WantedPairs((langs,)) if isinstance(langs, LangPair) else langs
        if not theirs.same_as(ours):
            raise RunDirError(
                f"{self.path}: this run directory is for {theirs}, not for {langs}"
                " (choose another RUN_DIR)"
            )
        return True

    def read(self) -> dict[str, Any]:
        """The contents of run.json; RunDirError if it is missing or damaged.

        Known fields have values of their types; strings are made printable.
        """
        about = self._load(self.run_json)
        try:
            known = msgspec.convert(about, _About)
            if "langs" in known:
                about["langs"] = [language_of(lang).code for lang in known["langs"]]
                if len(about["langs"]) != 2 and "pairs" not in known:
                    raise LanguageError("its langs are not two, and it has no pairs")
            if "pairs" in known:
                about["pairs"] = [
                    [language_of(lang).code for lang in pair] for pair in known["pairs"]
                ]
        except (msgspec.ValidationError, LanguageError) as error:
            raise RunDirError(
                f"{self.run_json}: {error} (it is damaged, or not of a crawl; choose"
                " another RUN_DIR)"
            ) from error
        return about

    def stats(self) -> dict[str, Any]:
        """The contents of stats.json; RunDirError if it is missing or damaged."""
        return self._load(self.stats_json)

    def write(self, run: Mapping[str, Any]) -> None:
        """Replace run.json."""
        write_json(self.run_json, run)

    def describe(self, wanted: WantedPairs, about: Mapping[str, Any]) -> None:
        """Replace run.json; with several pairs, that of each directory of one, too."""
        if wanted.only:
            self.write({**about, "langs": list(wanted)})
            return
        pairs = [list(pair) for pair in wanted.pairs]
        self.write({**about, "langs": list(wanted), "pairs": pairs})
        for pair in wanted.pairs:
            part = self.of_pair(pair, wanted)
            if part.run_json.exists():
                part.write({**about, "langs": list(pair)})

    def begin_part(self, langs: LangPair, wanted: WantedPairs) -> None:
        """Make the directory of one of several pairs of languages, if it is missing."""
        part = self.of_pair(langs, wanted)
        if wanted.only or part.run_json.exists():
            return
        part.path.mkdir(exist_ok=True)
        for shared in (self.warc, self.crawl_log):
            link = part.path / shared.name
            if not link.is_symlink():
                link.symlink_to(Path("..", shared.name))
        about = {name: v for name, v in self.read().items() if name != "pairs"}
        part.write({**about, "langs": list(langs)})

    def write_stats(self, stats: Mapping[str, Any]) -> None:
        """Replace stats.json."""
        write_json(self.stats_json, stats)

    def error(self, error: Exception) -> BifocalError:
        """The error that ends a run, as one line with a cure."""
        if isinstance(error, BifocalError):
            return error
        return RunError(
            f"{self.path}: {error} (make room or mend the disk, then start again: the"
            " same command goes on where this one stopped)"
        )

    def _load(self, path: Path) -> dict[str, Any]:
        try:
            with path.open("rb") as file:
                text = file.read(_MAX_JSON)
            # NaN and Infinity are not JSON, and no browser reads them
            data = printable_values(json.loads(text, parse_constant=lambda _: None))
        except OSError as error:
            raise RunDirError(
                f"{path}: {error.strerror} (is {self.path} a run directory?)"
            ) from error
        except (ValueError, RecursionError) as error:
            raise RunDirError(
                f"{path}: cannot be read: {error} (is {self.path} a run directory?)"
            ) from error
        if not isinstance(data, dict):
            raise RunDirError(f"{path}: not a JSON object (delete it and crawl again)")
        return data


def _wanted(about: Mapping[str, Any]) -> WantedPairs:
    pairs = about.get("pairs") or [about["langs"]]
    return WantedPairs(tuple(LangPair(src, trg) for src, trg in pairs))


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    text = json.dumps(data, indent=1, ensure_ascii=False, sort_keys=True, default=str)
    with atomic_text(path, errors="surrogateescape") as file:
        file.write(text + "\n")
