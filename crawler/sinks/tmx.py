"""Sentence pairs as TMX 1.4b, which translation memories and OmegaT open.

A translation unit has the quality score, the number of copies and the address of each
side as properties, as Bitextor's TMX has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from crawler.atomic import atomic_text
from crawler.data import CorpusPair, LangPair, Origin

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
def tmx_sink(
    path: Path, langs: LangPair, version: str, date: datetime
) -> Iterator[Callable[[CorpusPair], object]]:
    """A file that takes pairs; `version` is Bifocal's, `date` when the corpus is made.

    Each pair is one translation unit.
    """
    with atomic_text(path) as out:
        srclang, quoted = quoteattr(langs.src), quoteattr(version)
        out.write(_HEAD.format(srclang=srclang, version=quoted, date=date))
        yield lambda item: out.write(_unit(item, langs))
        out.write(_TAIL)


def _unit(item: CorpusPair, langs: LangPair) -> str:
    pair = item.pair
    sides = zip(langs, (pair.src_text, pair.trg_text), item.origins, strict=True)
    return (
        f'  <tu tuid="{item.id}">\n'
        f'   <prop type="score">{pair.score:.4f}</prop>\n'
        f'   <prop type="copies">{item.copies}</prop>\n'
        + "".join(_variant(*side) for side in sides)
        + "  </tu>\n"
    )


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
