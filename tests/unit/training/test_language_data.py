from __future__ import annotations

import pytest

pytest.importorskip("anyascii", reason="extra `train` is not installed")

from crawler.handles import handle_of
from training import language_data
from training.language_data import LanguageData, LanguageDataConfig
from training.protocol import Collection


@pytest.fixture
def collection(data_folder):
    return Collection.read(data_folder)


def test_only_the_train_split_is_learned(collection):
    data = LanguageData(collection)
    assert {"unk", "de", "en", "is", "mt"} <= set(data.labels)
    assert {row.url.split("/")[2] for row in data.rows} == {
        f"site-{i}.org" for i in range(4)
    }


def test_sites_can_be_left_out(collection):
    config = LanguageDataConfig(without=("site-0.org",))
    assert not any("site-0" in r.url for r in LanguageData(collection, (), config).rows)


def test_an_epoch_is_the_same_every_time_and_no_two_are_equal(collection):
    data = LanguageData(collection)
    assert data.epoch(1, 50) == data.epoch(1, 50)
    assert data.epoch(1, 50) != data.epoch(2, 50)


def test_the_limit_is_on_rows(collection):
    config = LanguageDataConfig(remarked=0, slugs=0)
    assert len(LanguageData(collection, (), config).epoch(1, 17)) == 17


def test_a_marker_becomes_that_of_another_language(collection):
    config = LanguageDataConfig(remarked=300, slugs=0, unmarked=0)
    rows = LanguageData(collection, (), config).epoch(1, 0)
    assert len(rows) == 300
    assert len({row.lang for row in rows}) > 100
    for row in rows:
        assert row.lang in handle_of(row.url).languages, row


def test_unmarked_urls_keep_their_language(collection):
    config = LanguageDataConfig(remarked=0, slugs=0, unmarked=1, uncountried=0)
    for row in LanguageData(collection, (), config).epoch(1, 1000):
        assert f"/{row.lang}/" not in row.url


def test_slugs_have_words_of_their_language(collection, terms_file, monkeypatch):
    monkeypatch.setattr(language_data, "_MIN_WORDS", 5)
    config = LanguageDataConfig(remarked=0, slugs=50)
    rows = LanguageData(collection, [terms_file], config).epoch(1, 0)
    assert len(rows) == 50
    assert {row.lang for row in rows} == {"en", "is", "de"}
    assert any("frettir" in row.url for row in rows if row.lang == "is")


def test_slugs_are_on_hosts_of_many_names(collection, terms_file, monkeypatch):
    monkeypatch.setattr(language_data, "_MIN_WORDS", 5)
    config = LanguageDataConfig(remarked=0, slugs=100)
    rows = LanguageData(collection, [terms_file], config).epoch(1, 0)
    hosts = {row.url.split("/")[2].partition(".")[0] for row in rows}
    assert len(hosts) > 20
    assert "example" in hosts
    assert hosts & {f"site-{i}" for i in range(4)}
