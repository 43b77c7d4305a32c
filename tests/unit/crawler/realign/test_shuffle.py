from __future__ import annotations

import random

from crawler.data import LangPair
from crawler.realign.records import PageRecord
from crawler.realign.shuffle import Shuffle, write_records

LANGS = ("en", "is", "fr")


def test_the_records_of_a_site_come_back_from_all_files(tmp_path):
    chance = random.Random(0)
    files, all_records = [], []
    for number in range(3):
        records = [
            PageRecord(
                f"site{chance.randrange(7)}.example",
                chance.choice([None, *LANGS]),
                chance.randrange(60),
                chance.randbytes(chance.randrange(50)),
            )
            for _ in range(100)
        ]
        files.append(tmp_path / f"{number}.records")
        assert write_records(files[-1], records, LANGS) == 100
        all_records += records
    shuffle = Shuffle.read(files, LANGS)
    assert shuffle.groups == sorted({record.group for record in all_records})
    for langs in (LangPair("en", "is"), LangPair("is", "fr")):
        sizes = shuffle.sizes(langs)
        for site in shuffle.groups:
            mine = [r for r in all_records if r.group == site]
            places = shuffle.places(site, langs)
            wanted = [r.data for r in mine if not r.lang or r.lang in langs]
            assert list(places.read(files)) == wanted
            assert places.size == sum(map(len, wanted))
            pages = {(r.lang, r.page) for r in mine}
            counts = tuple(sum(p[0] == lang for p in pages) for lang in langs)
            assert sizes.get(site, (0, 0)) == (counts if all(counts) else (0, 0))


def test_an_empty_file_of_records_has_no_groups(tmp_path):
    write_records(tmp_path / "0.records", [], LANGS)
    shuffle = Shuffle.read([tmp_path / "0.records"], LANGS)
    assert shuffle.groups == []
    assert shuffle.sizes(LangPair("en", "is")) == {}
