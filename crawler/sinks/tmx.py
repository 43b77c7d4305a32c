"""Sentences in some languages as TMX 1.4b, for translation memories and OmegaT.

A translation unit has the quality score, the number of copies and the address of each
side as properties, as Bitextor's TMX has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from crawler.atomic import atomic_text
from crawler.data import CorpusPair, Lang, LangPair, Origin

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4">
 <header adminlang="en" srclang={srclang} o-tmf="WARC" creationtool="bifocal"
  creationtoolversion={version} datatype="plaintext" segtype="sentence"
  o-encoding="utf-8" creationdate="{date:%Y%m%dT%H%M%SZ}"/>
 <body>
"""
_TAIL = " </body>\n</tmx>\n"
# Characters that XML 1.0 does not allow.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@contextmanager
def tmx_file(
    path: Path, srclang: str, version: str, date: datetime
) -> Iterator[Callable[[str], object]]:
    """A file that takes units (`unit`); `srclang`: `*all*` if each may be the source.

    `version` is Bifocal's, `date` when the corpus is made.
    """
    with atomic_text(path) as out:
        names = quoteattr(srclang), quoteattr(version)
        out.write(_HEAD.format(srclang=names[0], version=names[1], date=date))
        yield out.write
        out.write(_TAIL)


@contextmanager
def tmx_sink(
    path: Path, langs: LangPair, version: str, date: datetime
) -> Iterator[Callable[[CorpusPair], object]]:
    """A file that takes pairs, each as one unit; see `tmx_file`."""

    def pair_unit(item: CorpusPair) -> str:
        pair = item.pair
        texts = pair.src_text, pair.trg_text
        about = {"score": f"{pair.score:.4f}", "copies": str(item.copies)}
        return unit(item.id, about, zip(langs, texts, item.origins, strict=True))

    with tmx_file(path, langs.src, version, date) as write:
        yield lambda item: write(pair_unit(item))


def unit(
    name: str, about: Mapping[str, str], versions: Iterable[tuple[Lang, str, Origin]]
) -> str:
    """A translation unit with the text of each language and where it is from."""
    facts = (f'   <prop type="{k}">{value}</prop>\n' for k, value in about.items())
    texts = (_variant(*version) for version in versions)
    return "".join((f'  <tu tuid="{name}">\n', *facts, *texts, "  </tu>\n"))


def _variant(lang: str, text: str, origin: Origin) -> str:
    properties = [("source-document", origin.url), ("warc-record", origin.record_id)]
    return (
        f'   <tuv xml:lang="{lang}">\n'
        + "".join(
            f'    <prop type="{name}">{_text(value)}</prop>\n'
            for name, value in properties
            if value
        )
        + f"    <seg>{_text(text)}</seg>\n   </tuv>\n"
    )


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))
