"""The file of `SqliteFrontier`: its tables, and the statements on them.

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

APPLICATION_ID = 0x42694672  # "BiFr" in the file's header, for file(1) and for us
VERSION = 2  # of the schema and the payload

SCHEMA = """
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
KIND = (f"application_id = {APPLICATION_ID}", f"user_version = {VERSION}")

PRAGMAS = (
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
NEXT_SESSION = "UPDATE url INDEXED BY postponed SET done = 0 WHERE done = 2"
FIND = "SELECT seq, done, score, url FROM url WHERE site = ? AND digest = ?"
INSERT = "INSERT INTO url VALUES (?, ?, ?, 0, ?, ?, ?, ?)"
RAISE = "UPDATE url SET score = ?, depth = ?, payload = ? WHERE seq = ?"
RELEASE = (
    "UPDATE url SET done = ?, score = ?, payload = coalesce(?, payload) WHERE seq = ?"
)
READ = "SELECT url, score, depth, payload, done FROM url WHERE seq = ?"
SCAN = "SELECT seq FROM url INDEXED BY known WHERE site = ? ORDER BY seq"
# What follows (score ?2, seq ?3) in a site's order. Two searches, because SQLite does
# not use the second half of (score, seq) < (?, ?), and in a breadth-first crawl all
# scores are equal. ?4: leased rows are still in the index, and passed over.
FOLLOWING = """
SELECT * FROM (SELECT score, seq FROM url INDEXED BY pending
  WHERE done = 0 AND site = ?1 AND score = ?2 AND seq > ?3 ORDER BY seq LIMIT ?4)
UNION ALL
SELECT * FROM (SELECT score, seq FROM url INDEXED BY pending
  WHERE done = 0 AND site = ?1 AND score < ?2 ORDER BY score DESC, seq LIMIT ?4)
"""
BEST = """
SELECT score, seq FROM url INDEXED BY pending
WHERE done = 0 AND site = ? ORDER BY score DESC, seq LIMIT 1
"""
