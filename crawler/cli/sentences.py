"""Align the sentences of two texts: which belong together?

Plain files with one sentence a line, as hunalign and Vecalign read them; with --split,
running text. No dictionary is needed: the words are learned from the texts themselves.
A lexicon of an earlier run helps short texts.

Formats: `beads`, the numbers of the sentences from 0, `[0, 1]:[0]`; `tsv`, the texts
and a score from 0 to 1; `ladder`, hunalign's: where each bead begins in either text,
and the score. Sentences without a partner come out as well, with an empty side.

Many texts of one kind teach each other: --batch FILE has three names in a line, tabs
between them: the two texts, and the file to write.

Example: bifocal sentences A.txt B.txt --langs de,fr > beads
     or: bifocal sentences book.en book.hu --langs en,hu --split --format tsv
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.errors import UsageError

if TYPE_CHECKING:
    from crawler.aligner.sentences.texts import Text, TextBead
    from crawler.data import Lang, LangPair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("src", nargs="?", help="text in the first language")
    parser.add_argument("trg", nargs="?", help="text in the second language")
    parser.add_argument("--langs", required=True, help="two languages: de,fr")
    parser.add_argument(
        "--lexicon", help="lexicon.npz of an earlier run, or its directory"
    )
    parser.add_argument(
        "--format",
        choices=["beads", "tsv", "ladder"],
        default="beads",
        help="what to print (beads)",
    )
    parser.add_argument(
        "--split", action="store_true", help="cut running text into sentences first"
    )
    parser.add_argument("--batch", metavar="FILE", help="a list of texts: SRC TRG OUT")
    parser.add_argument(
        "--encoder",
        metavar="MODEL",
        help="sentence vectors besides: folder or name of a model (extra `encode`)",
    )


def run(args: argparse.Namespace) -> int:
    """Align, and print or write the beads."""
    from dataclasses import replace

    from crawler.aligner.bridges.lexicon import Lexicon
    from crawler.aligner.sentences.texts import WHOLE, TextAligner
    from crawler.data import LangPair
    from crawler.rundir import RunDir

    langs = LangPair.parse(args.langs)
    jobs = _jobs(args)
    texts = [_read(job[:2], langs, split=args.split) for job in jobs]
    lexicon = None
    if args.lexicon:
        path = Path(args.lexicon)
        lexicon = Lexicon.load(RunDir(path).lexicon if path.is_dir() else path, langs)
    aligner = TextAligner(langs, lexicon, replace(WHOLE, encoder=args.encoder))
    for (_, _, out), beads in zip(jobs, aligner.align(texts)):
        lines = _FORMATS[args.format](beads)
        if out is None:
            for line in lines:
                print(line)
        else:
            out.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return 0


def _jobs(args: argparse.Namespace) -> list[tuple[Path, Path, Path | None]]:
    """The files of each text, and where its beads go; None: standard output."""
    if args.batch:
        if args.src:
            raise UsageError("--batch and two files: give one or the other")
        jobs: list[tuple[Path, Path, Path | None]] = []
        for number, line in enumerate(_lines(Path(args.batch)), 1):
            if line.strip():
                names = line.split("\t")
                if len(names) != 3:
                    raise UsageError(
                        f"{args.batch}:{number}: {len(names)} names"
                        " (give three with tabs between them: SRC TRG OUT)"
                    )
                src, trg, out = map(Path, names)
                jobs.append((src, trg, out))
        return jobs
    if not args.trg:
        raise UsageError("give two files, or a list of them with --batch")
    return [(Path(args.src), Path(args.trg), None)]


def _read(files: Sequence[Path], langs: LangPair, *, split: bool) -> Text:
    src, trg = (
        _sentences(path, lang) if split else _lines(path)
        for path, lang in zip(files, langs)
    )
    return src, trg


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error} (give a text file in UTF-8)") from error
    lines = text.split("\n")  # splitlines() would cut at form feeds as well
    return [line.rstrip("\r") for line in (lines if lines[-1] else lines[:-1])]


def _sentences(path: Path, lang: Lang) -> list[str]:
    from crawler.aligner.sentences.split import split

    return [sentence for line in _lines(path) for sentence in split(line, lang)]


def _beads(beads: Sequence[TextBead]) -> Iterator[str]:
    """`[0, 1]:[0]`."""
    return map(str, beads)


def _table(beads: Sequence[TextBead]) -> Iterator[str]:
    """The sentences of both sides, and the score."""
    for bead in beads:
        texts = (" ".join(text.split()) for text in (bead.src_text, bead.trg_text))
        yield "\t".join((*texts, f"{bead.score:.3f}"))


def _ladder(beads: Sequence[TextBead]) -> Iterator[str]:
    """Where each bead begins on both sides, its score; then where both texts end."""
    rung = [0, 0]
    for bead in beads:
        yield f"{rung[0]}\t{rung[1]}\t{bead.score:.3f}"
        rung = [start + len(side) for start, side in zip(rung, bead.pair)]
    yield f"{rung[0]}\t{rung[1]}\t0.000"


_FORMATS = {"beads": _beads, "tsv": _table, "ladder": _ladder}
