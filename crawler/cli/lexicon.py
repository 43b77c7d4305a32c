"""Make, merge, prune and inspect lexicons for the aligner.

The aligner learns its own lexicon; one to start with helps most on small sites with
short pages. It can be merged out of lexicons of earlier runs (lexicon.npz, or the run's
directory) and dictionaries (MUSE, FreeDict's .tei, Apertium's .dix, JSON lines of
Wiktionary, phrase tables of Moses, or text with a word, a tab and its translation a
line). A translator is a command that answers each line in the second language with a
line in the first; it gets the paragraphs of the pages that are given. --cognates adds
words of some pages that are written alike in both languages, by what the lexicon says
of letters. Without --out the lexicon is only described.

Example: bifocal lexicon words.tsv --langs en,eu --out L.npz
     or: bifocal lexicon runs/a runs/b eng-eus.tei --langs en,eu --prune 4 --out L.npz
     or: bifocal lexicon L.npz --langs en,eu --words house,etxe,cat,katu
     or: bifocal lexicon L.npz --langs en,eu --cognates WARCS --out more.npz
     or: bifocal lexicon WARCS --translator "apertium -u eu-en" --langs en,eu --out ...
   then: bifocal align WARCS --langs en,eu --out DIR --lexicon L.npz
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.aligner.bridges.lexicon import Lexicon
    from crawler.data import LangPair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument(
        "paths", nargs="+", help="lexicons, runs, dictionaries; or WARC files"
    )
    parser.add_argument("--langs", required=True, help="two languages: en,is")
    parser.add_argument("--out", help="lexicon.npz to write")
    parser.add_argument(
        "--prune", type=int, metavar="N", help="keep the N best translations of a word"
    )
    parser.add_argument(
        "--min-count", type=float, default=0.0, help="drop links that were seen less"
    )
    parser.add_argument("--words", help="print the links between these words: a,b,c")
    parser.add_argument(
        "--cognates", nargs="+", metavar="WARC", help="add words of these pages"
    )
    parser.add_argument("--translator", help="command: second language to first")
    parser.add_argument("--cache", help="file that keeps the translations")


def run(args: argparse.Namespace) -> int:
    """Write the lexicon, print what it is."""
    from pathlib import Path

    from crawler.data import LangPair

    langs = LangPair.parse(args.langs)
    lexicon = _translated(args, langs) if args.translator else _merged(args, langs)
    if args.cognates:
        lexicon += _cognates(args.cognates, lexicon, langs)
    if args.prune or args.min_count:
        lexicon = lexicon.pruned(args.prune or len(lexicon), args.min_count)
    if args.out:
        lexicon.save(Path(args.out))
    src, trg = (len(set(words.tolist())) for words in (lexicon.src, lexicon.trg))
    print(
        f"{args.out or langs}: {len(lexicon)} links, {src} words of {langs.src},"
        f" {trg} of {langs.trg}, version {lexicon.digest}"
    )
    for line in _links(lexicon, args.words.split(",") if args.words else []):
        print(line)
    return 0


def _merged(args: argparse.Namespace, langs: LangPair) -> Lexicon:
    """The sum of lexicons and dictionaries."""
    from pathlib import Path

    from crawler.aligner.bridges.dictionary import read_dictionary
    from crawler.aligner.bridges.lexicon import Lexicon
    from crawler.rundir import RunDir

    lexicon = Lexicon.empty(langs)
    for path in map(Path, args.paths):
        if path.is_dir():
            lexicon += Lexicon.load(RunDir(path).lexicon, langs)
        elif path.suffix == ".npz":
            lexicon += Lexicon.load(path, langs)
        else:
            lexicon += read_dictionary(path, langs)
    return lexicon


def _translated(args: argparse.Namespace, langs: LangPair) -> Lexicon:
    """The lexicon of what a translator says of some pages."""
    import shlex
    from pathlib import Path

    from crawler.aligner.bridges.translation import (
        Translator,
        lexicon_from_translations,
    )

    cache = Path(args.cache) if args.cache else None
    translator = Translator(shlex.split(args.translator), cache)
    paragraphs = (t for lang, t in _paragraphs(args.paths, langs) if lang == langs.trg)
    lexicon = lexicon_from_translations(translator, paragraphs, langs)
    translator.close()
    return lexicon


def _cognates(paths: Sequence[str], known: Lexicon, langs: LangPair) -> Lexicon:
    """The words of some pages that are written alike."""
    from collections import Counter

    from crawler.aligner.bridges.cognates import cognates
    from crawler.aligner.words import words_of

    words: dict[str, Counter[str]] = {lang: Counter() for lang in langs}
    for lang, text in _paragraphs(paths, langs):
        words[lang].update(words_of(text.lower()))
    return cognates(words[langs.src], words[langs.trg], known, langs)


def _links(lexicon: Lexicon, words: Sequence[str]) -> Iterator[str]:
    """A line for each link between some words: both, its count, its probabilities.

    Words are kept as numbers, so a lexicon can only be asked for words that are given.
    """
    from crawler.aligner.words import WordIds

    ids = WordIds()
    named = {int(i): word for word in words for i in ids.encode(word).tolist()}
    rows = zip(lexicon.src.tolist(), lexicon.trg.tolist(), lexicon.count.tolist())
    chances = zip(lexicon.p_trg().tolist(), lexicon.p_src().tolist())
    for (src, trg, count), (there, back) in zip(rows, chances):
        if src in named and trg in named:
            yield f"{named[src]}\t{named[trg]}\t{count:.1f}\t{there:.2f}\t{back:.2f}"


def _paragraphs(paths: Sequence[str], langs: LangPair) -> Iterator[tuple[str, str]]:
    """The language and the text of each paragraph of the pages in both languages."""
    from functools import partial

    from crawler.extract.bounded import PageReader
    from crawler.extract.document import read_page
    from crawler.extract.text import blocks_of
    from crawler.warc.reader import iter_pages, warc_files

    reader = PageReader()
    for page in iter_pages(warc_files(paths)):
        document = reader.read(page.url, partial(read_page, page)).document
        if document is not None and document.lang and document.lang in langs:
            for block in blocks_of(document.tokens, document.chunks):
                if not block.boilerplate and " " in block.text:
                    yield document.lang, block.text
