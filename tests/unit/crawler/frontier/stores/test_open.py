from __future__ import annotations

import pytest

from crawler.errors import FrontierError, UsageError
from crawler.frontier.stores.memory import MemoryFrontier
from crawler.frontier.stores.open import open_frontier
from crawler.frontier.stores.sqlite import SqliteFrontier


def test_the_url_names_the_kind_of_store(tmp_path, monkeypatch):
    assert isinstance(open_frontier("memory:"), MemoryFrontier)
    store = open_frontier(f"sqlite:{tmp_path}/a:b?c#d.sqlite")
    assert isinstance(store, SqliteFrontier)
    store.close()
    assert (tmp_path / "a:b?c#d.sqlite").is_file()
    monkeypatch.chdir(tmp_path)
    open_frontier("sqlite::memory:").close()
    assert (tmp_path / ":memory:").is_file()


@pytest.mark.parametrize(
    "url", ["", "memory", "memory:x", "sqlite", "sqlite:", "lmdb:x"]
)
def test_any_other_url_is_refused_with_the_kinds_there_are(url):
    with pytest.raises(UsageError, match="write memory:, sqlite:PATH or redis:"):
        open_frontier(url)


def test_a_file_in_no_directory_is_refused(tmp_path):
    with pytest.raises(FrontierError, match="in a directory that exists"):
        open_frontier(f"sqlite:{tmp_path}/none/frontier.sqlite")
