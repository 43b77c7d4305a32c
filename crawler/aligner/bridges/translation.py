"""Translation: an external translator teaches a lexicon.

Any command that reads a line of text and writes its translation, line by line, such as
`apertium -u eu-en`. What it makes of some thousand paragraphs stands beside them as the
segments of paired pages do, and IBM model 1 finds the words in it. So a slow translator
has to read a few pages, not a site, and its mistakes are outvoted.

Source: machine translation takes the place of the dictionary in Uszkoreit et al.
(2010), section 2.
In: texts of one language, and a command.  Out: translations; a Lexicon.
"""

from __future__ import annotations

import sqlite3
import subprocess
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

import xxhash

from crawler.aligner.bridges.lexicon import Lexicon, LexiconConfig, induce
from crawler.aligner.words import WordIds
from crawler.data import LangPair
from crawler.errors import ProfileError

_BATCH = 1000  # lines; starting apertium costs as much as 200 of them
_TIMEOUT = 600.0  # seconds for a batch
# 11,000 short segments taught a lexicon of use (docs/sources.md#the-lexicon).
MAX_TEXTS = 20_000


class Translator:
    """A command, and what it has translated already (in `cache`, a file, if given)."""

    def __init__(self, command: Sequence[str], cache: Path | None = None) -> None:
        self.command = list(command)
        self._cache = cache

    @cached_property
    def _db(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._cache or ":memory:")
        db.execute(
            "CREATE TABLE IF NOT EXISTS translated (key BLOB PRIMARY KEY, text TEXT)"
        )
        return db

    def translate(self, texts: Sequence[str]) -> list[str]:
        """The translation of each text; ProfileError if the command fails."""
        lines = [" ".join(text.split()) for text in texts]
        keys = [self._key(line) for line in lines]
        known = {key: self._known(key) for key in keys}
        new = {k: line for k, line in zip(keys, lines) if known[k] is None and line}
        waiting = iter(new.items())
        while batch := list(islice(waiting, _BATCH)):
            answers = self._run([line for _, line in batch])
            rows = [(key, answer) for (key, _), answer in zip(batch, answers)]
            self._db.executemany(
                "INSERT OR REPLACE INTO translated VALUES (?, ?)", rows
            )
            self._db.commit()
            known.update(rows)
        return [known[key] or "" for key in keys]

    def close(self) -> None:
        """Give the cache back."""
        self._db.close()

    def _key(self, line: str) -> bytes:
        asked = "\0".join([*self.command, line])
        return xxhash.xxh3_128_digest(asked.encode("utf-8", "replace"))

    def _known(self, key: bytes) -> str | None:
        row = self._db.execute("SELECT text FROM translated WHERE key = ?", (key,))
        found = row.fetchone()
        return str(found[0]) if found else None

    def _run(self, lines: Sequence[str]) -> list[str]:
        said = " ".join(self.command)
        try:
            done = subprocess.run(  # noqa: S603 - the user's own command, no shell
                self.command,
                input="\n".join(lines) + "\n",
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_TIMEOUT,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            raise ProfileError(
                f"{said}: exit status {error.returncode}: {error.stderr.strip()[-200:]}"
                " (try it on a line of text in a shell)"
            ) from error
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ProfileError(f"{said}: {error} (is it installed?)") from error
        answers = done.stdout.removesuffix("\n").split("\n")
        if len(answers) != len(lines):
            raise ProfileError(
                f"{said}: {len(answers)} lines for {len(lines)} (it has to answer each"
                " line with one line, in order)"
            )
        return answers


def lexicon_from_translations(
    translator: Translator,
    texts: Iterable[str],
    langs: LangPair,
    config: LexiconConfig | None = None,
) -> Lexicon:
    """A lexicon of what a translator from trg to src makes of some texts."""
    chosen = list(islice(dict.fromkeys(texts), MAX_TEXTS))
    ids = WordIds()
    segments = [
        (ids.encode(translation), ids.encode(text))
        for text, translation in zip(chosen, translator.translate(chosen))
    ]
    return induce(segments, langs, config)
