"""The frontier in one SQLite file: survives a kill, and its memory does not grow.

What is kept where, and what was tried (benchmarks/frontier.py measures what is here):

* One row a URL, appended in the order of first pushes, so that a tie is broken by the
  row's number and a batch of new rows is one write.
* `known` finds a URL by its site and a 48-bit digest, and the URL itself decides: two
  URLs of one digest (a chance of 1 in 6 with 10 M URLs) stay two. The URL as the key
  costs 85 bytes more a row. The digest alone, with an index by site for `scan`, costs
  half as much again per push once there are many sites: links stay on their site
  mostly, and site first keeps the pages that a batch touches few.
* `pending` holds only rows to be fetched, best first within a site. Which site has the
  best one is known in memory (0.5 KB a site), so neither 20,000 sites nor one of 10 M
  URLs make a pop slower: it is one row read, and one step in the index.
* Leases live in memory alone. A pop writes nothing, and a kill makes every leased URL
  pending again without anybody doing so. What is postponed is marked in its row, and
  pending again when the file is opened: a crawl may meet millions of dead links.
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
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from crawler.data import FrontierEntry, Score, Site, StoredUrl, UrlState
from crawler.errors import FrontierError
from crawler.frontier.stores.heap import LazyHeap, Rank, refuse_nan
from crawler.protocols import PushCounts

P = ParamSpec("P")
T = TypeVar("T")

_APPLICATION_ID = 0x42694672  # "BiFr" in the file's header, for file(1) and for us
_VERSION = 2  # of the schema and the payload

_SCHEMA = """
CREATE TABLE site (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE url (
  seq     INTEGER PRIMARY KEY,  -- 1, 2, 3, ... by first push
  site    INTEGER NOT NULL,
  digest  INTEGER NOT NULL,
  done    INTEGER NOT NULL,  -- 0: to be fetched, 1: done, 2: in the next session
  score   REAL NOT NULL,
  depth   INTEGER NOT NULL,
  url     TEXT NOT NULL,
  payload BLOB NOT NULL
);
CREATE INDEX known ON url (site, digest);
CREATE INDEX pending ON url (site, score DESC) WHERE done = 0;
CREATE INDEX postponed ON url (done) WHERE done = 2;
CREATE TABLE value (name TEXT PRIMARY KEY, value BLOB NOT NULL);
-- Written by every commit: counting 10 M rows of a cold file takes 14 seconds.
CREATE TABLE total (pending INTEGER NOT NULL);
INSERT INTO total VALUES (0);
"""
_KIND = (f"application_id = {_APPLICATION_ID}", f"user_version = {_VERSION}")

_PRAGMAS = (
    # New rows touch the indexes at random, a page each. Half the usual page writes a
    # quarter (one site) to a third (20,000 sites) less to the disk, for the same
    # processor time; with 1024 bytes that goes up.
    "page_size = 2048",
    # One process at a time: the lock is the operating system's, so a kill frees it.
    # Without other processes there is no shared-memory file either, which a full disk
    # would turn into a SIGBUS.
    "locking_mode = EXCLUSIVE",
    "journal_mode = WAL",
    # A commit is in the operating system's hands: a kill -9 loses nothing. After a
    # power cut the frontier may go back some commits (to the last checkpoint at worst),
    # whole; the pages since then are fetched again. FULL costs an fsync a commit (4 ms
    # on a cloud disk) and would spare only those.
    "synchronous = NORMAL",
    # 64 MB of log between checkpoints: pages that are written again and again reach the
    # database once. 16 MB make pushes a tenth slower and 4 MB a half; with 256 MB they
    # are a quarter faster, but a checkpoint stops the crawl for most of a second.
    "wal_autocheckpoint = 32768",
    "journal_size_limit = 67108864",
    # The cache stays at SQLite's 2 MB: a commit that splits a page goes through all of
    # it (3.40: 0.3 ms with 64 MB), and the system's page cache is behind it.
    # Debian's SQLite overwrites what is deleted with zeros; nothing here is a secret.
    "secure_delete = OFF",
)

# What was postponed is pending again.
_NEXT_SESSION = "UPDATE url INDEXED BY postponed SET done = 0 WHERE done = 2"
_FIND = "SELECT seq, done, score, url FROM url WHERE site = ? AND digest = ?"
_INSERT = "INSERT INTO url VALUES (?, ?, ?, 0, ?, ?, ?, ?)"
_RAISE = "UPDATE url SET score = ?, depth = ?, payload = ? WHERE seq = ?"
_RELEASE = (
    "UPDATE url SET done = ?, score = ?, payload = coalesce(?, payload) WHERE seq = ?"
)
_READ = "SELECT url, score, depth, payload, done FROM url WHERE seq = ?"
_SCAN = "SELECT seq FROM url INDEXED BY known WHERE site = ? ORDER BY seq"
# What follows (score ?2, seq ?3) in a site's order. Two searches, because SQLite does
# not use the second half of (score, seq) < (?, ?), and in a breadth-first crawl all
# scores are equal. ?4: leased rows are still in the index, and passed over.
_FOLLOWING = """
SELECT * FROM (SELECT score, seq FROM url INDEXED BY pending
  WHERE done = 0 AND site = ?1 AND score = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4)
UNION ALL
SELECT * FROM (SELECT score, seq FROM url INDEXED BY pending
  WHERE done = 0 AND site = ?1 AND score < ?2 ORDER BY score DESC, seq LIMIT ?4)
"""
_BEST = """
SELECT score, seq FROM url INDEXED BY pending
WHERE done = 0 AND site = ? ORDER BY score DESC, seq LIMIT 1
"""

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


class _Lease(NamedTuple):
    seq: int
    site: Site
    score: Score


def _guarded(
    method: Callable[Concatenate[SqliteFrontier, P], T],
) -> Callable[Concatenate[SqliteFrontier, P], T]:
    """A method whose SQLite errors become FrontierError, and the store's last words."""

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

    def __init__(self, path: str | Path) -> None:
        """Open the file, or make it; FrontierError if it cannot be had."""
        self._path = Path(path)
        self._failure: str | None = None
        if self._path.exists() and not os.access(self._path, os.W_OK):
            # SQLite would read it, and then stumble over a lock it cannot have.
            raise FrontierError(
                f"{path}: read-only ({_CURES[sqlite3.SQLITE_READONLY]})"
            )
        try:
            # One second: a process that was just killed may take a moment to go.
            # Absolute, so that no name is special (":memory:").
            self._db = sqlite3.connect(
                self._path.absolute(), timeout=1, isolation_level=None
            )
        except sqlite3.Error as error:
            raise FrontierError(self._explain(error)) from error
        self._sites: dict[Site, int] = {}
        self._heads = LazyHeap()  # each site's best pending URL
        self._leases: dict[str, _Lease] = {}
        self._leased: set[int] = set()  # the same, by seq
        self._known = 0
        self._pending = 0
        self._postponed = 0
        self._open()
        self._counters = Counter(json.loads(self.load(_COUNTERS) or b"{}"))

    @_guarded
    def _open(self) -> None:
        execute = self._db.execute
        for pragma in _PRAGMAS:
            execute(f"PRAGMA {pragma}")
        execute("BEGIN IMMEDIATE")
        self._check_kind()
        execute(_NEXT_SESSION)
        self._sites = dict(execute("SELECT name, id FROM site ORDER BY id"))
        for site, number in self._sites.items():
            for score, seq in execute(_BEST, (number,)):
                self._heads.set(site, (-score, seq))
        # Rows are never deleted, so the last number is how many there are.
        (self._known,) = execute("SELECT coalesce(max(seq), 0) FROM url").fetchone()
        (self._pending,) = execute("SELECT pending FROM total").fetchone()

    def _check_kind(self) -> None:
        (kind,) = self._db.execute("PRAGMA application_id").fetchone()
        (version,) = self._db.execute("PRAGMA user_version").fetchone()
        (tables,) = self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if (kind, tables) == (0, 0):
            for statement in _SCHEMA.split(";"):
                self._db.execute(statement)
            for pragma in _KIND:
                self._db.execute(f"PRAGMA {pragma}")
        elif (kind, version) != (_APPLICATION_ID, _VERSION):
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
        for seq, done, score, url in self._db.execute(_FIND, key):
            if url == entry.url:
                return seq, _BEYOND if done or seq in self._leased else score
        return 0, _BEYOND

    def _write(self, rows: Collection[tuple[int, FrontierEntry]], found: int) -> None:
        self._db.executemany(
            _INSERT,
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
            _RAISE,
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
        for next_score, next_seq in self._db.execute(_FOLLOWING, key):
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
        self._db.execute(_RELEASE, (done, score, payload, lease.seq))
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
        rows = self._db.execute(_SCAN, (self._sites.get(site, 0),))
        return array("q", (seq for (seq,) in rows))

    @_guarded
    def _read(self, seq: int) -> Any:  # a row of _READ
        row = self._db.execute(_READ, (seq,)).fetchone()
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

    def close(self) -> None:
        """Commit, and give the file back. Leased URLs will be pending again."""
        if self._failure is None:
            self._commit_and_close()

    @_guarded
    def _commit_and_close(self) -> None:
        self._end()
        self._db.close()
        self._failure = f"{self._path}: the frontier is closed (open it again)"

    def _fail(self, error: Exception) -> FrontierError:
        """Close, so that nothing is committed by halves, and remember why."""
        self._failure = self._explain(error)
        self._db.close()
        return FrontierError(self._failure)

    def _explain(self, error: Exception) -> str:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
        cure = _CURES.get(code, _CURES[sqlite3.SQLITE_CORRUPT])
        return f"{self._path}: {error} ({cure})"
