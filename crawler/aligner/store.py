"""Where the features of pages wait for their partners: SQLite, in a file or in memory.

Nothing of a page stays in Python objects between two calls of the aligner: to align
500,000 pages needs no more memory than 5,000, and a crawl that was stopped finds
everything again. One caller at a time.

Declared links go by a loose key of URLs (`crawler.urls.url_key`): scheme, `www.`, a
trailing slash and an index page's name do not count, since links vary in these.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Self

from crawler.aligner.features import pack, unpack
from crawler.data import LangPair, PageFeatures
from crawler.errors import RunDirError
from crawler.groups import SiteGroups
from crawler.urls import hash64, identities, url_key

_SCHEMA = """
CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT);
CREATE TABLE IF NOT EXISTS sites (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TABLE IF NOT EXISTS pages (
  id INTEGER PRIMARY KEY, site INTEGER, side INTEGER, url TEXT, identity INTEGER,
  key INTEGER, handle INTEGER, family INTEGER, handle_text TEXT, family_text TEXT,
  digest TEXT, size INTEGER, sketch BLOB
);
CREATE UNIQUE INDEX IF NOT EXISTS by_url ON pages (identity);
CREATE INDEX IF NOT EXISTS by_key ON pages (key);
CREATE INDEX IF NOT EXISTS by_handle ON pages (handle);
CREATE INDEX IF NOT EXISTS by_site ON pages (site);
CREATE TABLE IF NOT EXISTS declared (
  source INTEGER, target INTEGER, PRIMARY KEY (source, target)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_target ON declared (target, source);
CREATE TABLE IF NOT EXISTS emitted (
  src INTEGER, trg INTEGER, score REAL, PRIMARY KEY (src, trg)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_trg ON emitted (trg);
"""
# 3: of words the first five letters. The column `sketch` holds the arrays of features.
_VERSION = "3"
# The file can be made again from the WARCs: worth keeping over a restart, not worth
# waiting for the disk. A commit writes every database page that it touched, most of
# them leaves of indexes: half the usual size saves 0.05 ms of each page of a crawl. A
# commit that splits a page goes through the whole cache, which stays at SQLite's 2 MB:
# with 16 MB a commit takes half as long again after 5,000 pages.
_PRAGMAS = """
PRAGMA page_size = 2048;
PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
"""


@dataclass(frozen=True, slots=True)
class PageRow:
    """A page as a collection lists it; its features are read when needed."""

    id: int
    side: int  # 0: src, 1: trg
    url: str
    handle: int
    family: int
    digest: str


# What a user can do whose file is damaged or of another version.
_CURE = (
    "give another run directory; or move the file away, crawl on, and pair all pages"
    " afterwards: bifocal align RUN_DIR/warc"
)


class PageStore:
    """Pages by id, handle and URL; declared links; the pairs that were emitted."""

    def __init__(self, langs: LangPair, path: str, db: sqlite3.Connection) -> None:
        self.langs = langs
        self.path = path
        self._db = db
        self._sites: dict[str, int] = {}
        self._groups = SiteGroups()

    @classmethod
    def open(cls, langs: LangPair, path: str | Path | None = None) -> Self:
        """Open a file, or keep everything in memory.

        RunDirError for a file that is damaged, or of other languages.
        """
        name = str(path) if path else ":memory:"
        try:
            db = sqlite3.connect(name, check_same_thread=False)
            db.executescript(_PRAGMAS + _SCHEMA)
        except sqlite3.Error as error:
            raise RunDirError(
                f"{name}: cannot hold the aligner's pages: {error} ({_CURE})"
            ) from error
        store = cls(langs, name, db)
        store._check({"version": _VERSION, "langs": str(langs)})
        return store

    def _check(self, about: dict[str, str]) -> None:
        known = dict(self._db.execute("SELECT name, value FROM about"))
        for name, value in about.items():
            if known.setdefault(name, value) != value:
                self._db.close()
                raise RunDirError(
                    f"{self.path}: its {name} is {known[name]}, not {value} ({_CURE})"
                )
        self._db.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", known.items())

    # ------------------------------------------------------------ pages

    def put(self, page: PageFeatures) -> int | None:
        """Keep a page; its id, or None if its URL is known and nothing changed.

        Of two contents of one URL in one language the one with the smaller digest
        stays, so that the order of pages does not matter. The id stays the same.
        """
        site, side = self.site_id(page.site), self._side(page.lang)
        for identity in identities(page.url, page.lang):
            known = self._db.execute(
                "SELECT id, digest, side FROM pages WHERE identity = ?", (identity,)
            ).fetchone()
            if known is None or known[2] == side:
                break
        if known:
            if known[1] <= page.digest:
                return None
            self._remove(known[0])
        address = page.url, identity, url_key(page.url)
        handles = hash64(page.handle), hash64(page.family), page.handle, page.family
        text = page.digest, page.size, pack(page)
        row = self._db.execute(
            "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (known and known[0], site, side, *address, *handles, *text),
        )
        if page.declared:
            self.declare(page.url, page.declared)
        assert row.lastrowid is not None
        return row.lastrowid

    def _remove(self, page: int) -> None:
        self._db.execute("DELETE FROM pages WHERE id = ?", (page,))
        self._db.execute("DELETE FROM emitted WHERE ? IN (src, trg)", (page,))

    def site_id(self, name: str) -> int:
        """The number of a site; a new site gets one."""
        found = self._sites.get(name)
        if found is None:
            self._db.execute("INSERT OR IGNORE INTO sites (name) VALUES (?)", (name,))
            found = self._db.execute(
                "SELECT id FROM sites WHERE name = ?", (name,)
            ).fetchone()[0]
            if len(self._sites) > 100_000:
                self._sites.clear()
            self._sites[name] = found
        return int(found)

    def sites(self) -> list[str]:
        """Every site with a page, by name; of a group, the one that stands for it.

        Groups are looked up here, and hold until the next call.
        """
        self._groups = SiteGroups()
        for source, target in self._db.execute(
            "SELECT a.url, b.url FROM declared CROSS JOIN pages a ON a.key = source"
            " CROSS JOIN pages b ON b.key = target"
            " AND b.site != a.site AND b.side != a.side"
        ):
            self._groups.declare(source, target)
        rows = self._db.execute(
            "SELECT name FROM sites WHERE EXISTS"
            " (SELECT 1 FROM pages WHERE pages.site = sites.id)"
        )
        return sorted({self._groups.of(name) for (name,) in rows})

    def rows(self, site: str) -> list[PageRow]:
        """The pages of a site and of those that it stands for, by URL.

        Handles are as if all pages were of the site that stands for the group.
        """
        names = self._groups.members(site)
        rows = []
        for name in names:
            for *row, handle in self._db.execute(
                "SELECT id, side, url, handle, family, digest, handle_text"
                " FROM pages WHERE site = ?",
                (self.site_id(name),),
            ):
                if name != site:
                    row[3] = hash64(handle.replace(name, site, 1))
                rows.append(PageRow(*row))
        return sorted(rows, key=attrgetter("url", "side"))

    def counts(self) -> dict[str, tuple[int, int]]:
        """(pages of src, pages of trg) of each site."""
        rows = self._db.execute(
            "SELECT name, sum(side = 0), sum(side = 1) FROM pages"
            " JOIN sites ON sites.id = pages.site GROUP BY name"
        )
        return {name: (src, trg) for name, src, trg in rows}

    def latest(self, limit: int) -> list[int]:
        """The pages that were put last."""
        return self._ids("SELECT id FROM pages ORDER BY id DESC LIMIT ?", (limit,))

    def get(self, pages: Sequence[int]) -> Iterator[PageFeatures]:
        """The features of some pages, in their order."""
        for page in pages:
            row = self._db.execute(
                "SELECT side, url, name, handle_text, family_text, digest, size, sketch"
                " FROM pages JOIN sites ON sites.id = pages.site WHERE pages.id = ?",
                (page,),
            ).fetchone()
            side, url, site, handle, family, digest, size, data = row
            yield unpack(
                data,
                url=url,
                site=site,
                lang=self.langs.trg if side else self.langs.src,
                digest=digest,
                handle=handle,
                family=family,
                size=size,
            )

    def same_handle(self, handle: str, lang: str, limit: int) -> list[int]:
        """Pages in a language whose handle is this one, by URL."""
        return self._ids(
            "SELECT id FROM pages WHERE handle = ? AND side = ? ORDER BY url LIMIT ?",
            (hash64(handle), self._side(lang), limit),
        )

    def known(self, url: str, lang: str) -> list[int]:
        """Pages in a language at an address, by URL."""
        return self._ids(
            "SELECT id FROM pages WHERE key = ? AND side = ? ORDER BY url",
            (url_key(url), self._side(lang)),
        )

    # ------------------------------------------------------------ declared links

    def declare(self, url: str, targets: Iterable[str]) -> None:
        """Remember that a page or a sitemap declares these URLs versions of a page."""
        source = url_key(url)
        self._db.executemany(
            "INSERT OR IGNORE INTO declared VALUES (?, ?)",
            [(source, target) for u in targets if (target := url_key(u)) != source],
        )

    def declared_by(self, url: str, lang: str, limit: int) -> list[int]:
        """Pages in a language that this URL declares its other version, by URL."""
        return self._ids(
            "SELECT id FROM declared JOIN pages ON key = target"
            " WHERE source = ? AND side = ? ORDER BY url LIMIT ?",
            (url_key(url), self._side(lang), limit),
        )

    def declaring(self, url: str, lang: str, limit: int) -> list[int]:
        """Pages in a language that declare this URL their other version, by URL."""
        return self._ids(
            "SELECT id FROM declared JOIN pages ON key = source"
            " WHERE target = ? AND side = ? ORDER BY url LIMIT ?",
            (url_key(url), self._side(lang), limit),
        )

    def declarations(self, site: str) -> list[tuple[int, int]]:
        """Each (page, page that it declares) of two languages within a group."""
        # CROSS JOIN keeps the order, and the plus keeps the index of sites out of it:
        # SQLite would else meet every page of the site with every other.
        group = [self.site_id(name) for name in self._groups.members(site)]
        rows = self._db.execute(
            "SELECT a.id, b.id FROM pages a CROSS JOIN declared ON source = a.key"
            " CROSS JOIN pages b ON b.key = target AND b.side != a.side"
            " AND +b.site IN (SELECT value FROM json_each(?1))"
            " WHERE a.site IN (SELECT value FROM json_each(?1))"
            " ORDER BY a.url, b.url",
            (json.dumps(group),),
        )
        return rows.fetchall()

    def versions(self, site: str) -> list[tuple[int, int, int | None]]:
        """Each (page, key of a URL that it declares, the page there or None)."""
        group = [self.site_id(name) for name in self._groups.members(site)]
        rows = self._db.execute(
            "SELECT a.id, target, b.id FROM pages a CROSS JOIN declared"
            " ON source = a.key LEFT JOIN pages b ON b.key = target"
            " WHERE a.site IN (SELECT value FROM json_each(?))"
            " ORDER BY a.id, target, b.id",
            (json.dumps(group),),
        )
        return rows.fetchall()

    # ------------------------------------------------------------ emitted pairs

    def emit(self, src: int, trg: int, score: float) -> None:
        """Remember a pair that was given out."""
        self._db.execute(
            "INSERT OR REPLACE INTO emitted VALUES (?, ?, ?)", (src, trg, score)
        )

    def best_emitted(self, page: int) -> float:
        """The best score of a page in a pair that was given out; 0 without one."""
        found = self._db.execute(
            "SELECT max(score) FROM (SELECT score FROM emitted WHERE src = ?1"
            " UNION ALL SELECT score FROM emitted WHERE trg = ?1)",
            (page,),
        ).fetchone()[0]
        return float(found or 0.0)

    def emitted(self, limit: int) -> list[tuple[int, int]]:
        """The best pairs that were given out: (page of src, page of trg)."""
        return self._db.execute(
            "SELECT src, trg FROM emitted ORDER BY score DESC, src, trg LIMIT ?",
            (limit,),
        ).fetchall()

    def unpaired(self, site: str) -> set[int]:
        """The pages of a site that are in no pair that was given out."""
        return set(
            self._ids(
                "SELECT id FROM pages WHERE site = ? AND id NOT IN"
                " (SELECT src FROM emitted) AND id NOT IN (SELECT trg FROM emitted)",
                (self.site_id(site),),
            )
        )

    def checked_links(self, site: str) -> tuple[int, int]:
        """Of the links between versions that are here: those of given pairs, all."""
        linked = {tuple(sorted(ends)) for ends in self.declarations(site)}
        given = (
            self._ids(
                "SELECT src FROM emitted WHERE src IN (?1, ?2) AND trg IN (?1, ?2)",
                ends,
            )
            for ends in linked
        )
        return sum(map(bool, given)), len(linked)

    # ------------------------------------------------------------ the rest

    def commit(self) -> None:
        """Make everything so far survive a kill."""
        self._db.commit()

    def close(self) -> None:
        """Commit, and give the file back."""
        self._db.commit()
        self._db.close()

    def _side(self, lang: str) -> int:
        return 0 if lang == self.langs.src else 1

    def _ids(self, query: str, values: Sequence[object]) -> list[int]:
        return [page for (page,) in self._db.execute(query, tuple(values))]
