"""Sentence pairs as TMX 1.4b, which translation memories and OmegaT open.

A translation unit has the quality score, the number of copies and the address of each
side as properties, as Bitextor's TMX has them.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from crawler.data import CorpusPair, LangPair, Origin
from crawler.sinks.whole import WholeFile

_HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4">
 <header adminlang="en" srclang={srclang} o-tmf="WARC" creationtool="bifocal"
  creationtoolversion={version} datatype="plaintext" segtype="sentence"
  o-encoding="utf-8" creationdate="{date:%Y%m%dT%H%M%SZ}"/>
 <body>
"""
_TAIL = " </body>\n</tmx>\n"
# Characters that XML 1.0 has no place for.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class TmxSink:
    """Writes one translation unit a pair."""

    def __init__(
        self, path: Path, langs: LangPair, version: str, date: datetime | None = None
    ) -> None:
        """Open the file; `version` is ours, `date` when the corpus is made."""
        self._file = WholeFile(path)
        self._langs = langs
        head = _HEAD.format(
            srclang=quoteattr(langs.src),
            version=quoteattr(version),
            date=date or datetime.now(UTC),
        )
        self._file.write(head)

    def write(self, item: CorpusPair) -> None:
        """Append a unit."""
        pair = item.pair
        sides = zip(
            self._langs, (pair.src_text, pair.trg_text), item.origins, strict=True
        )
        self._file.write(
            f'  <tu tuid="{item.id}">\n'
            f'   <prop type="score">{pair.score:.4f}</prop>\n'
            f'   <prop type="copies">{item.copies}</prop>\n'
            + "".join(_variant(*side) for side in sides)
            + "  </tu>\n"
        )

    def close(self) -> None:
        """End the document and put the file in its place."""
        self._file.write(_TAIL)
        self._file.close()

    def discard(self) -> None:
        """Leave nothing behind."""
        self._file.discard()


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
