"""Sentence pairs as two plain texts, line by line, as Moses reads and OPUS publishes.

`NAME.en-is.en.gz` and `NAME.en-is.is.gz`, and `NAME.en-is.ids.gz` with the id and the
score of each line; NAME is that of the folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from crawler.atomic import atomic_text
from crawler.data import CorpusPair, LangPair
from crawler.sinks.tsv import one_cell


@contextmanager
def moses_sink(
    folder: Path, langs: LangPair
) -> Iterator[Callable[[CorpusPair], object]]:
    """Files that take pairs, one a line."""
    base = f"{folder.absolute().name}.{langs.src}-{langs.trg}"
    with (
        atomic_text(folder / f"{base}.{langs.src}.gz") as src,
        atomic_text(folder / f"{base}.{langs.trg}.gz") as trg,
        atomic_text(folder / f"{base}.ids.gz") as ids,
    ):

        def write(item: CorpusPair) -> None:
            src.write(one_cell(item.pair.src_text) + "\n")
            trg.write(one_cell(item.pair.trg_text) + "\n")
            ids.write(f"{item.id}\t{item.pair.score:.4f}\n")

        yield write
