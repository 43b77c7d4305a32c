"""Files of sentence pairs, for filtering and merging: TMX, TSV, JSONL, plain text.

- `.tmx`: translation units with both languages, among others.
- `.tsv`: columns `src_text` and `trg_text`, or two columns named by the language codes,
  in a header line; without one, the only two columns, or the third and fourth of
  Bitextor's.
- `.jsonl`: objects with `translation`, a text by language, as `datasets` has it.
- plain text, a sentence a line: `NAME.en` and `NAME.is`, line by line (Moses, OPUS).
  One of the two, or NAME alone, names both.

All may be gzipped (`.gz`). A row without two texts is counted and left out.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from itertools import islice, zip_longest
from pathlib import Path
from typing import IO, NamedTuple, cast

import msgspec
from lxml import etree

from crawler.aligner.bridges.lexicon import Lexicon, induce
from crawler.aligner.sentences.quality import QualityModel, usual_ratio
from crawler.aligner.words import WordIds
from crawler.data import Lang, LangPair, SentencePair
from crawler.errors import RunDirError
from crawler.languages import known_code
from crawler.lines import bounded_lines

_KINDS = (".tmx", ".tsv", ".jsonl")
_MAX_LINE = 2**20  # bytes: a pair of sentences with all that is said about it
_SAMPLE = 10_000  # pairs that a lexicon is learned from
_BATCH = 1000  # pairs that are scored together
_LANG = "{http://www.w3.org/XML/1998/namespace}lang"
_ADDRESSES = ("source-document", "url")  # properties of a TMX variant (ParaCrawl)


class Row(NamedTuple):
    """Two texts of a file, and the addresses of their pages where it has them."""

    src: str
    trg: str
    src_url: str
    trg_url: str


def is_bitext(path: Path) -> bool:
    """True for a file that can be read, and for the common part of two names."""
    return path.is_file() or any(path.parent.glob(f"{path.name}.*"))


def read_bitext(path: Path, langs: LangPair, counts: Counter[str]) -> Iterator[Row]:
    """The rows of a file; RunDirError if it cannot be read.

    Counts `corpus/dropped/bitext`: rows without two texts.
    """
    kind = Path(path.name.removesuffix(".gz")).suffix
    try:
        if not path.is_file() or known_code(kind[1:]) in langs:
            rows = _plain(path, langs)
        elif kind == ".tmx":
            rows = _tmx(path, langs)
        elif kind == ".jsonl":
            rows = _jsonl(path, langs)
        elif kind == ".tsv":
            rows = _tsv(path, langs)
        else:
            raise RunDirError(
                f"{path}: not a known file of sentence pairs (names end in"
                f" {', '.join(_KINDS)}, or in a language code)"
            )
        where = f"file:{path.name}"
        for row in rows:
            if row is None or not (row.src.strip() and row.trg.strip()):
                counts["corpus/dropped/bitext"] += 1
            else:
                yield row._replace(
                    src_url=row.src_url or where, trg_url=row.trg_url or where
                )
    except (OSError, EOFError, etree.XMLSyntaxError) as error:
        raise RunDirError(f"{path}: cannot be read: {error}") from error


def _open(path: Path) -> IO[bytes]:
    packed = path.suffix == ".gz"
    return cast(IO[bytes], gzip.open(path, "rb") if packed else path.open("rb"))


def _lines(path: Path) -> Iterator[str | None]:
    with _open(path) as file:
        for line in bounded_lines(file, _MAX_LINE):
            text = None if line is None else line.decode("utf-8", "replace")
            yield text and text.rstrip("\r\n")


def _plain(path: Path, langs: LangPair) -> Iterator[Row | None]:
    name = path.name.removesuffix(".gz")
    if path.is_file():
        name = name.rpartition(".")[0]
    files = [
        next(iter(sorted(path.parent.glob(f"{name}.{lang}*"))), None) for lang in langs
    ]
    if None in files:
        raise RunDirError(
            f"{path}: expected {name}.{langs.src} and {name}.{langs.trg}, plain or .gz"
        )
    src, trg = (file for file in files if file is not None)
    for number, sides in enumerate(zip_longest(_lines(src), _lines(trg), fillvalue=0)):
        if 0 in sides:
            raise RunDirError(
                f"{src}, {trg}: one ends after {number} lines (give files that are"
                " parallel line by line)"
            )
        yield Row(*sides, "", "") if all(sides) else None  # type: ignore[arg-type]


def _tsv(path: Path, langs: LangPair) -> Iterator[Row | None]:
    columns: list[int] | None = None
    urls: list[int] = []
    for line in _lines(path):
        cells = (line or "").split("\t")
        if columns is None:
            for names in (("src_text", "trg_text"), langs):
                if set(names) <= set(cells):
                    columns = [cells.index(name) for name in names]
            if columns is not None:
                urls = [n for n, c in enumerate(cells) if c in ("src_url", "trg_url")]
                continue
            columns = [0, 1] if len(cells) == 2 else [2, 3]
            urls = [0, 1] if len(cells) >= 4 else []
        if len(cells) > max(columns):
            yield Row(
                *(cells[n] for n in columns), *([cells[n] for n in urls] or ("", ""))
            )
        else:
            yield None


class _Object(msgspec.Struct):
    translation: dict[str, str]


def _jsonl(path: Path, langs: LangPair) -> Iterator[Row | None]:
    decode = msgspec.json.Decoder(_Object).decode
    for line in _lines(path):
        try:
            texts = decode(line or "").translation
        except msgspec.DecodeError:
            yield None
        else:
            yield Row(texts.get(langs.src, ""), texts.get(langs.trg, ""), "", "")


def _tmx(path: Path, langs: LangPair) -> Iterator[Row | None]:
    with _open(path) as file:
        units = etree.iterparse(
            file, tag="tu", resolve_entities=False, no_network=True, load_dtd=False
        )
        for _, unit in units:
            sides = {lang: side for v in unit.iter("tuv") for lang, side in _variant(v)}
            if langs.src in sides and langs.trg in sides:
                (src, src_url), (trg, trg_url) = sides[langs.src], sides[langs.trg]
                yield Row(src, trg, src_url, trg_url)
            else:
                yield None
            unit.clear()
            while unit.getprevious() is not None:  # or the tree keeps their shells
                del unit.getparent()[0]


def _variant(variant: etree._Element) -> Iterator[tuple[Lang, tuple[str, str]]]:
    lang = known_code(variant.get(_LANG) or variant.get("lang"))
    segment = variant.find("seg")
    if lang and segment is not None:
        address = next(
            (
                (prop.text or "").strip()
                for prop in variant.iter("prop")
                if prop.get("type") in _ADDRESSES
            ),
            "",
        )
        yield lang, (" ".join("".join(segment.itertext()).split()), address)


# ------------------------------------------------------------------- sentence pairs


def sentence_pairs(
    path: Path, langs: LangPair, lexicon: Lexicon | None, counts: Counter[str]
) -> Iterator[SentencePair]:
    """The rows of a file as sentence pairs with a quality score.

    Without a lexicon one is learned from the first rows. `places` is the row's number.
    """
    sample = list(islice(read_bitext(path, langs, Counter()), _SAMPLE))
    words = WordIds()
    if lexicon is None:
        segments = [(words.encode(row.src), words.encode(row.trg)) for row in sample]
        lexicon = induce(segments, langs)
    quality = QualityModel(words, lexicon)
    usual = usual_ratio(
        float(sum(len(row.src) for row in sample)),
        float(sum(len(row.trg) for row in sample)),
    )
    rows = read_bitext(path, langs, counts)
    first = 0
    while batch := list(islice(rows, _BATCH)):
        texts = [(row.src, row.trg) for row in batch]
        judged = quality.judged(texts, usual)
        for number, (row, (score, ratio)) in enumerate(zip(batch, judged), first):
            yield SentencePair(
                row.src_url,
                row.trg_url,
                row.src,
                row.trg,
                score=score,
                pair_score=1.0,
                bead=(1, 1),
                places=(number, number),
                lexical_ratio=ratio,
            )
        first += len(batch)
