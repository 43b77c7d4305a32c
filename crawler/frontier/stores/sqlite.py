"""The frontier in one SQLite file: survives a kill, and its memory does not grow.

Layout and statements: `sqlite_schema.py`.
"""

from __future__ import annotations

import json
import os
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import wraps
from hashlib import blake2b
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self, TypeVar

from crawler.data import FrontierEntry, Score, Site, StoredUrl, UrlState
from crawler.errors import FrontierError
from crawler.frontier.stores import sqlite_schema as sql
from crawler.frontier.stores.heap import LazyHeap, Rank, refuse_nan
from crawler.protocols import PushCounts

P = ParamSpec("P")
T = TypeVar("T")

_COUNTERS = "counters"  # the value that keeps them
_BEYOND = float("inf")  # the score to beat of a URL that cannot be raised

_CURES = {
    sqlite3.SQLITE_BUSY: "another process has it open: stop that, or use another file",
    sqlite3.SQLITE_FULL: "free some space and start again: what was committed is safe",
    sqlite3.SQLITE_IOERR: "check the disk and start again: what was committed is safe",
    sqlite3.SQLITE_CORRUPT: "restore a copy, or move it away and start afresh",
    sqlite3.SQLITE_NOTADB: "name a frontier, or a file that does not exist yet",
    sqlite3.SQLITE_READONLY: "make the file and its directory writable",
    sqlite3.SQLITE_CANTOPEN: "name a file in a directory that exists and is writable",
}


def digest_of(url: str) -> int:
    """48 bits, as a signed integer: SQLite stores it in six bytes.

    BLAKE2, because pages choose their URLs: with a faster hash a hostile site could
    make a million URLs of one digest, and every push would compare with all of them.
    """
    return int.from_bytes(blake2b(url.encode(), digest_size=6).digest(), signed=True)


def _explain(path: Path, error: Exception) -> str:
    """An error of SQLite as one line, with its cure."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    cure = _CURES.get(code, _CURES[sqlite3.SQLITE_CORRUPT])
    return f"{path}: {error} ({cure})"


class _Lease(NamedTuple):
    seq: int
    site: Site
    score: Score


def _guarded(
    method: Callable[Concatenate[SqliteFrontier, P], T],
) -> Callable[Concatenate[SqliteFrontier, P], T]:
    """A method whose SQLite errors become FrontierError, and close the store."""

    @wraps(method)
    def guarded(self: SqliteFrontier, /, *args: P.args, **kwargs: P.kwargs) -> T:
        if self._failure is not None:
            raise FrontierError(self._failure)
        try:
            return method(self, *args, **kwargs)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._fail(error) from error  # a decoding error: damaged text

    return guarded


class SqliteFrontier:
    """A FrontierStore in a file (`sqlite:PATH`), for one process and one thread.

    After a FrontierError the store is closed and everything since the last commit
    undone: half of a batch is never kept.
    """

    def __init__(self, path: Path, db: sqlite3.Connection) -> None:
        """Take a connection that `open` has made."""
        self._path = path
        self._db = db
        self._failure: str | None = None
        self._sites: dict[Site, int] = {}
        self._heads = LazyHeap()  # each site's best pending URL
        self._leases: dict[str, _Lease] = {}
        self._leased: set[int] = set()  # the same, by seq
        self._known = 0
        self._pending = 0
        self._postponed = 0
        self._counters: Counter[str] = Counter()

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the file, or make it; FrontierError if that is not possible."""
        path = Path(path)
        if path.exists() and not os.access(path, os.W_OK):
            # SQLite would read it, and then stumble over a lock it cannot have.
            raise FrontierError(
                f"{path}: read-only ({_CURES[sqlite3.SQLITE_READONLY]})"
            )
        try:
            # One second: a process that was just killed may take a moment to go.
            # Absolute, so that no name is special (":memory:").
            db = sqlite3.connect(path.absolute(), timeout=1, isolation_level=None)
        except sqlite3.Error as error:
            raise FrontierError(_explain(path, error)) from error
        store = cls(path, db)
        store._begin()
        store._counters.update(json.loads(store.load(_COUNTERS) or b"{}"))
        return store

    @_guarded
    def _begin(self) -> None:
        execute = self._db.execute
        for pragma in sql.PRAGMAS:
            execute(f"PRAGMA {pragma}")
        execute("BEGIN IMMEDIATE")
        self._check_kind()
        execute(sql.NEXT_SESSION)
        self._sites = dict(execute("SELECT name, id FROM site ORDER BY id"))
        for site, number in self._sites.items():
            for score, seq in execute(sql.BEST, (number,)):
                self._heads.set(site, (-score, seq))
        # Rows are never deleted, so the last number is how many there are.
        (self._known,) = execute("SELECT coalesce(max(seq), 0) FROM url").fetchone()
        (self._pending,) = execute("SELECT pending FROM total").fetchone()

    def _check_kind(self) -> None:
        (kind,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (kind, tables) == (0, 0):
            for statement in sql.SCHEMA.split(";"):
                self._db.execute(statement)
            for pragma in sql.KIND:
                self._db.execute(f"PRAGMA {pragma}")
        elif (kind, version) != (sql.APPLICATION_ID, sql.VERSION):
            self._db.close()
            raise FrontierError(
                f"{self._path}: a database of another program or version"
                " (name a frontier of this version, or a new file)"
            )

    @_guarded
    def push(self, entries: Sequence[FrontierEntry]) -> PushCounts:
        """Add new URLs; raise pending ones whose score got better, payload included."""
        refuse_nan(entry.score for entry in entries)
        found = self._known
        raised = 0
        latest: dict[str, tuple[int, FrontierEntry]] = {}  # what the batch makes of it
        for entry in entries:
            if entry.url in latest:
                seq, before = latest[entry.url]
                bar = before.score
            else:
                seq, bar = self._find(entry)
            if not seq:
                self._known += 1
                seq = self._known
            elif entry.score > bar:
                raised += 1
            else:
                continue
            latest[entry.url] = seq, entry
        added = self._known - found
        self._write(latest.values(), found)
        self._pending += added
        return PushCounts(added, raised, len(entries) - added - raised)

    def _find(self, entry: FrontierEntry) -> tuple[int, Score]:
        """A URL's number (0 if it is new) and the score that would raise it."""
        key = self._number(entry.site), digest_of(entry.url)
        for seq, done, score, url in self._db.execute(sql.FIND, key):
            if url == entry.url:
                return seq, _BEYOND if done or seq in self._leased else score
        return 0, _BEYOND

    def _write(self, rows: Collection[tuple[int, FrontierEntry]], found: int) -> None:
        self._db.executemany(
            sql.INSERT,
            [
                (
                    seq,
                    self._sites[entry.site],
                    digest_of(entry.url),
                    entry.score,
                    entry.depth,
                    entry.url,
                    entry.payload,
                )
                for seq, entry in rows
                if seq > found
            ],
        )
        self._db.executemany(
            sql.RAISE,
            [
                (entry.score, entry.depth, entry.payload, seq)
                for seq, entry in rows
                if seq <= found
            ],
        )
        for seq, entry in rows:
            self._offer(entry.site, (-entry.score, seq))

    def _number(self, site: Site) -> int:
        number = self._sites.get(site)
        if number is None:
            number = self._sites[site] = len(self._sites) + 1
            self._db.execute("INSERT INTO site VALUES (?, ?)", (number, site))
        return number

    def _offer(self, site: Site, rank: Rank) -> None:
        head = self._heads.rank(site)
        if head is None or rank < head:
            self._heads.set(site, rank)

    @_guarded
    def pop(self, busy: Collection[Site] = ()) -> FrontierEntry | None:
        """Lease the best pending URL of a site that is not busy, if there is one."""
        site = self._heads.best(busy)
        if site is None:
            return None
        rank = self._heads.rank(site)
        assert rank is not None
        score, seq = -rank[0], rank[1]
        url, _, depth, payload, _ = self._read(seq)
        self._leases[url] = _Lease(seq, site, score)
        self._leased.add(seq)
        self._pending -= 1
        self._advance(site, score, seq)
        return FrontierEntry(url, site, score, depth, payload)

    def _advance(self, site: Site, score: Score, seq: int) -> None:
        """Make the best URL after this one, that is not leased, the site's head."""
        key = self._sites[site], score, seq, len(self._leased) + 1
        for next_score, next_seq in self._db.execute(sql.FOLLOWING, key):
            if next_seq not in self._leased:
                self._heads.set(site, (-next_score, next_seq))
                return
        self._heads.discard(site)

    @_guarded
    def release(
        self,
        url: str,
        *,
        done: bool,
        score: Score | None = None,
        payload: bytes | None = None,
    ) -> None:
        """End a lease: done for good, or pending again; ValueError if there is none."""
        if score is not None:
            refuse_nan([score])
        lease = self._leases.get(url)
        if lease is None:
            raise ValueError(f"{url} is not leased")
        if score is None:
            score = lease.score
        self._db.execute(sql.RELEASE, (done, score, payload, lease.seq))
        del self._leases[url]
        self._leased.remove(lease.seq)
        if not done:
            self._pending += 1
            self._offer(lease.site, (-score, lease.seq))

    @_guarded
    def postpone(self, url: str) -> None:
        """End a lease until the file is opened again; ValueError if there is none."""
        lease = self._leases.pop(url, None)
        if lease is None:
            raise ValueError(f"{url} is not leased")
        self._db.execute("UPDATE url SET done = 2 WHERE seq = ?", (lease.seq,))
        self._leased.remove(lease.seq)
        self._postponed += 1

    def sites(self) -> Sequence[Site]:
        """Every site that has a URL here, in the order of first pushes."""
        return tuple(self._sites)

    def scan(self, site: Site) -> Iterator[StoredUrl]:
        """Every URL of a site that was ever pushed, in the order of first pushes.

        Only the rows' numbers are held, 8 bytes each.
        """
        for seq in self._seqs(site):
            url, score, depth, payload, done = self._read(seq)
            leased = done == 2 or seq in self._leased
            ended = UrlState.DONE if done else UrlState.PENDING
            state = UrlState.LEASED if leased else ended
            yield StoredUrl(FrontierEntry(url, site, score, depth, payload), state)

    @_guarded
    def _seqs(self, site: Site) -> array[int]:
        rows = self._db.execute(sql.SCAN, (self._sites.get(site, 0),))
        return array("q", (seq for (seq,) in rows))

    @_guarded
    def _read(self, seq: int) -> Any:  # a row of sql.READ
        row = self._db.execute(sql.READ, (seq,)).fetchone()
        if row is None:
            raise sqlite3.DatabaseError("an index names a row that is not there")
        return row

    @_guarded
    def save(self, name: str, value: bytes) -> None:
        """Keep a small value with the frontier."""
        self._db.execute("INSERT OR REPLACE INTO value VALUES (?, ?)", (name, value))

    @_guarded
    def load(self, name: str) -> bytes | None:
        """The value that was saved under a name, also after a restart."""
        query = "SELECT value FROM value WHERE name = ?"
        row: tuple[bytes] | None = self._db.execute(query, (name,)).fetchone()
        return row[0] if row else None

    def tally(self, amounts: Mapping[str, int]) -> Mapping[str, int]:
        """Add to the run's counters, which the next commit saves; their sums."""
        self._counters.update(amounts)
        return self._counters

    def counts(self) -> Mapping[str, int]:
        """How many URLs are `pending`, `leased` and `done`."""
        leased = len(self._leases) + self._postponed
        return {
            "pending": self._pending,
            "leased": leased,
            "done": self._known - self._pending - leased,
        }

    @_guarded
    def commit(self) -> None:
        """Make everything so far survive a kill, as one transaction."""
        self._end()
        self._db.execute("BEGIN IMMEDIATE")

    def _end(self) -> None:
        # what a kill makes of leases, and of what is postponed
        pending = self._pending + len(self._leases) + self._postponed
        self._db.execute("UPDATE total SET pending = ?", (pending,))
        if self._counters:
            self.save(_COUNTERS, json.dumps(self._counters).encode())
        self._db.execute("COMMIT")

    def __len__(self) -> int:
        return self._pending

    def close(self, *, commit: bool = True) -> None:
        """Give the file back, `commit=False`: as it was at the last commit."""
        if self._failure is None:
            self._close(commit=commit)

    @_guarded
    def _close(self, *, commit: bool) -> None:
        if commit:
            self._end()
        self._db.close()
        self._failure = f"{self._path}: the frontier is closed (open it again)"

    def _fail(self, error: Exception) -> FrontierError:
        """Close, so that nothing is committed by halves, and remember why."""
        self._failure = _explain(self._path, error)
        self._db.close()
        return FrontierError(self._failure)
