"""The languages of the sentence pairs that recorded sites give.

    python -m benchmarks.sentence_languages WORLDS ... --work FOLDER [--sites SITE ...]

Each site is aligned offline in all of its pairs of languages, and its corpora built, as
`bifocal align` and `bifocal corpus` do by default (`benchmarks/worlds.py` says what
WORLDS holds; the sites without language links have the same texts and are left out).
heliport (extra `languages`), which nothing in between asks, then judges both sides of
every sentence pair: a side is suspect if it is taken for a language that is neither its
own nor close to it; below 30 characters, if that is the other language of the pair.
heliport guesses on short texts and on names, so that most suspects
are right. They are written to FOLDER/suspects.tsv to be read one by one, who puts
`wrong` in the first column of those that are; kept as FOLDER/read.tsv, that gives the
true rate the next time.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heliport import Identifier

from benchmarks.machine import machine
from benchmarks.realign import bifocal
from benchmarks.worlds import RecordedSite, load_sites
from crawler.data import Lang, LangPair
from crawler.extract.detectors.members import lang_of
from crawler.extract.page_language import is_close

RESULTS = Path(__file__).parent / "results" / "sentence_languages.json"
_LEAST, _SHORT = 10, 30  # characters
_TELLING = 60  # characters from which on it seldom guesses


@dataclass(frozen=True, slots=True)
class Row:
    """A sentence pair with the languages that its sides are taken for, if others."""

    site: str
    langs: LangPair
    texts: tuple[str, str]
    found: tuple[Lang | None, Lang | None]

    @property
    def key(self) -> tuple[str, ...]:
        """The text of a row by which it is found again."""
        return self.site, *self.langs, *self.texts


def corpora(site: RecordedSite, work: Path) -> Iterator[tuple[LangPair, Path]]:
    """The corpora of a site, made if they are not there."""
    run, out = work / site.name, work / f"{site.name}.corpus"
    if not out.exists():
        _run("align", site.warc, "--pairs", ",".join(site.pairs), "--out", run)
        _run("corpus", run, "--out", out, "--formats", "tsv")
    for path in sorted(out.rglob("??-??.tsv.gz")):
        src, trg = path.name.partition(".")[0].split("-")
        yield LangPair(src, trg), path


def _run(*words: object) -> None:
    done = subprocess.run(bifocal(*words), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{words}: {done.stderr[-2000:]}")


def rows_of(
    site: str, langs: LangPair, corpus: Path, identifier: Identifier
) -> Iterator[Row]:
    """The sentence pairs of a corpus."""
    with gzip.open(corpus, "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            texts = row["src_text"], row["trg_text"]
            ours = _other(texts[0], *langs, identifier)
            theirs = _other(texts[1], langs.trg, langs.src, identifier)
            yield Row(site, langs, texts, (ours, theirs))


def _other(text: str, lang: Lang, beside: Lang, identifier: Identifier) -> Lang | None:
    """The language that a text is taken for, if it is another one."""
    if len(text) < _LEAST:
        return None
    found = lang_of(identifier.identify(text), text)
    if found is None or is_close(found, lang):
        return None
    return found if len(text) >= _SHORT or found == beside else None


def read_marks(path: Path) -> dict[tuple[str, ...], bool]:
    """What a person said of suspects: are they wrong?"""
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        table = csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {tuple(key): bool(mark) for mark, _, *key in table}


def main() -> None:
    """Measure, print, and write the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("worlds", type=Path, nargs="+")
    parser.add_argument("--work", type=Path, required=True, help="runs and corpora")
    parser.add_argument("--sites", nargs="*", help="default: all")
    parser.add_argument("--out", type=Path, default=RESULTS)
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    identifier = Identifier()
    marks = read_marks(args.work / "read.tsv")
    sites: dict[str, Any] = {}
    total = Counter[str]()
    with (args.work / "suspects.tsv").open("w", encoding="utf-8") as suspects:
        for folder in args.worlds:
            for site in load_sites(folder, names=args.sites or ()):
                if site.name.startswith("bare."):
                    continue
                counts = Counter[str]()
                for langs, corpus in corpora(site, args.work):
                    for row in rows_of(site.name, langs, corpus, identifier):
                        counts["rows"] += 1
                        if not any(row.found):
                            continue
                        long = any(
                            other and len(text) >= _TELLING
                            for text, other in zip(row.texts, row.found)
                        )
                        counts["suspect"] += 1
                        counts["suspect, 60 characters and more"] += long
                        counts["read"] += row.key in marks
                        counts["wrong"] += marks.get(row.key, False)
                        said = "/".join(other or "" for other in row.found)
                        suspects.write("\t".join(("", said, *row.key)) + "\n")
                total += counts
                sites[site.name] = dict(counts)
                print(site.name, dict(counts), flush=True)
    figures = {
        "machine": machine("pycld2", "heliport"),
        "all": dict(total) | {"wrong share": round(total["wrong"] / total["rows"], 5)},
        "sites": sites,
    }
    args.out.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")
    print(json.dumps(figures["all"], indent=2))


if __name__ == "__main__":
    main()
