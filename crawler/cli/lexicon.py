"""Make a lexicon for the aligner, from a dictionary or with a translator.

The aligner learns its own lexicon; one to start with helps most on small sites with
short pages. A dictionary is tab-separated text: a word of the first language, a word of
the second. A translator is a command that answers each line in the second language with
a line in the first; it gets the paragraphs of the pages that are given.

Example: bifocal lexicon words.tsv --langs en,eu --out L.npz
     or: bifocal lexicon WARCS --translator "apertium -u eu-en" --langs en,eu --out ...
   then: bifocal align WARCS --langs en,eu --out DIR --lexicon L.npz
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.data import LangPair


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    parser.add_argument("paths", nargs="+", help="dictionaries, or WARC files")
    parser.add_argument("--langs", required=True, help="two languages: en,is")
    parser.add_argument("--out", required=True, help="lexicon.npz to write")
    parser.add_argument("--translator", help="command: second language to first")
    parser.add_argument("--cache", help="file that keeps the translations")


def run(args: argparse.Namespace) -> int:
    """Write the lexicon, print one line."""
    import shlex
    from pathlib import Path

    from crawler.aligner.bridges.dictionary import read_dictionary
    from crawler.aligner.bridges.lexicon import Lexicon
    from crawler.aligner.bridges.translation import (
        Translator,
        lexicon_from_translations,
    )
    from crawler.data import LangPair

    langs = LangPair.parse(args.langs)
    if args.translator:
        cache = Path(args.cache) if args.cache else None
        translator = Translator(shlex.split(args.translator), cache)
        lexicon = lexicon_from_translations(
            translator, _paragraphs(args.paths, langs), langs
        )
        translator.close()
    else:
        lexicon = Lexicon.empty(langs)
        for path in args.paths:
            lexicon += read_dictionary(Path(path), langs)
    lexicon.save(Path(args.out))
    print(f"{args.out}: {len(lexicon)} links, version {lexicon.digest}")
    return 0


def _paragraphs(paths: Sequence[str], langs: LangPair) -> Iterator[str]:
    """The paragraphs of the pages in the second language."""
    from functools import partial

    from crawler.extract.bounded import PageReader
    from crawler.extract.document import read_page
    from crawler.extract.text import blocks_of
    from crawler.warc.reader import iter_pages, warc_files

    reader = PageReader()
    for page in iter_pages(warc_files(paths)):
        document = reader.read(page.url, partial(read_page, page)).document
        if document is not None and document.lang == langs.trg:
            for block in blocks_of(document.tokens, document.chunks):
                if not block.boilerplate and " " in block.text:
                    yield block.text
