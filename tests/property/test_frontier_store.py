"""A frontier behaves like a sorted list, whatever is done to it and in what order."""

from __future__ import annotations

import shutil
import tempfile
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from crawler.data import FrontierEntry, StoredUrl
from crawler.frontier.stores.open import open_frontier
from crawler.protocols import PushCounts

SITES = ["a.is", "b.is", "c.is"]
# Few values, so that there are ties; any float, so that order is the numbers' own.
scores = st.sampled_from([0.0, 0.25, 0.5, 1.0]) | st.floats(allow_nan=False)
payloads = st.sampled_from([b"", b"{}"]) | st.binary(max_size=20)
busy_sites = st.sets(st.sampled_from([*SITES, "unknown.is"]))


@st.composite
def entries(draw) -> FrontierEntry:
    site = draw(st.sampled_from(SITES))
    url = f"https://{site}/{draw(st.integers(0, 9))}"
    return FrontierEntry(
        url, site, draw(scores), draw(st.integers(0, 5)), draw(payloads)
    )


@dataclass
class Row:
    entry: FrontierEntry
    state: str = "pending"

    def change(self, **values) -> None:
        old = {name: getattr(self.entry, name) for name in self.entry.__slots__}
        self.entry = FrontierEntry(**(old | values))


class SortedList(RuleBasedStateMachine):
    """The rows in the order of first pushes; best = the first of the highest score."""

    url = "memory:"

    def __init__(self) -> None:
        super().__init__()
        self.store = open_frontier(self.url)
        self.rows: list[Row] = []
        self.values: dict[str, bytes] = {}

    def _find(self, url: str) -> Row | None:
        return next((row for row in self.rows if row.entry.url == url), None)

    def _in(self, state: str) -> list[Row]:
        return [row for row in self.rows if row.state == state]

    @rule(batch=st.lists(entries(), max_size=12))
    def push(self, batch):
        counts = {"added": 0, "raised": 0, "ignored": 0}
        for entry in batch:
            row = self._find(entry.url)
            if row is None:
                self.rows.append(Row(entry))
                counts["added"] += 1
            elif row.state == "pending" and entry.score > row.entry.score:
                row.entry = entry
                counts["raised"] += 1
            else:
                counts["ignored"] += 1
        assert self.store.push(batch) == PushCounts(**counts)

    @rule(busy=busy_sites, times=st.integers(1, 4))
    def pop(self, busy, times):
        for _ in range(times):
            free = [row for row in self._in("pending") if row.entry.site not in busy]
            best = max(free, key=lambda row: row.entry.score, default=None)
            assert self.store.pop(busy) == (best and best.entry)
            if best:
                best.state = "leased"

    @precondition(lambda self: self._in("leased"))
    @rule(
        data=st.data(),
        done=st.booleans(),
        score=st.none() | scores,
        payload=st.none() | payloads,
    )
    def release(self, data, done, score, payload):
        row = data.draw(st.sampled_from(self._in("leased")))
        self.store.release(row.entry.url, done=done, score=score, payload=payload)
        row.state = "done" if done else "pending"
        if score is not None:
            row.change(score=score)
        if payload is not None:
            row.change(payload=payload)

    @rule(name=st.sampled_from("xy"), value=st.binary(max_size=9))
    def save(self, name, value):
        self.store.save(name, value)
        self.values[name] = value

    @rule()
    def commit(self):
        self.store.commit()

    @rule(site=st.sampled_from(SITES))
    def scan(self, site):
        known = [StoredUrl(r.entry, r.state) for r in self.rows if r.entry.site == site]
        assert list(self.store.scan(site)) == known

    @invariant()
    def counts_are_right(self):
        states = ("pending", "leased", "done")
        assert self.store.counts() == {s: len(self._in(s)) for s in states}
        assert len(self.store) == len(self._in("pending"))
        assert {name: self.store.load(name) for name in self.values} == self.values

    def teardown(self):
        self.pop(busy=set(), times=len(self.rows) + 1)
        for site in SITES:
            self.scan(site)
        self.store.close()


class LastingSortedList(SortedList):
    """The same, with a file that is closed and opened again, or left by a kill."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.url = f"sqlite:{self.folder}/0"
        self.lives = 0
        self.committed: tuple[list[Row], dict[str, bytes]] = ([], {})
        super().__init__()

    def _open(self) -> None:
        self.store = open_frontier(self.url)
        for row in self._in("leased"):
            row.state = "pending"

    @rule()
    def commit(self):
        super().commit()
        self.committed = deepcopy((self.rows, self.values))

    @rule()
    def close_and_open(self):
        self.store.close()
        self._open()
        self.committed = deepcopy((self.rows, self.values))

    @rule()
    def kill_and_open(self):
        """The files as they are at this moment are what a kill would leave."""
        old, new = self.folder / str(self.lives), self.folder / str(self.lives + 1)
        for suffix in ("", "-wal"):
            shutil.copy(f"{old}{suffix}", f"{new}{suffix}")
        self.store.close()
        self.lives += 1
        self.url = f"sqlite:{new}"
        self.rows, self.values = deepcopy(self.committed)
        self._open()

    def teardown(self):
        super().teardown()
        shutil.rmtree(self.folder)


class TestMemory(SortedList.TestCase):
    settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


class TestSqlite(LastingSortedList.TestCase):
    settings = settings(max_examples=40, stateful_step_count=40, deadline=None)
