from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("duckdb", reason="extra `train` is not installed")

from crawler.data import LangPair
from crawler.errors import UsageError
from training.data.build import SOURCES, WITHOUT_INPUT, build, merge
from training.data.tables import find_table, read_pairs, read_terms, read_urls

DEMO = Path(__file__).parents[4] / "worlds/demo/demo.warc.gz"
ROW = "https://{site}/en/{i}\thttps://{site}/is/{i}\tHello\tHall\u00f3\t0.9\n"
LANGS = LangPair("en", "is")


def bitext(path, site, pages=2):
    path.write_text("".join(ROW.format(site=site, i=i) * 3 for i in range(pages)))
    return str(path)


def rows(data, name, read):
    return list(read(find_table(data, name), Counter()))


def test_the_tables_have_each_url_once_in_the_split_of_its_site(tmp_path, capsys):
    data = tmp_path / "data"
    data.mkdir()
    (data / "splits.tsv").write_text(
        "registered_domain\tsplit\na.org\ttrain\nb.org\ttest\n"
    )
    files = [
        bitext(tmp_path / f"{n}.tsv", site) for n, site in ((1, "a.org"), (2, "b.org"))
    ]
    copy = bitext(tmp_path / "3.tsv", "b.org")
    build("bitext", data, [*files, copy], LANGS)
    assert len(rows(data, "url_lang", read_urls)) == 8
    assert [p.site for p in rows(data, "url_pairs", read_pairs)] == ["b.org"] * 2 + [
        "a.org"
    ] * 2
    printed = capsys.readouterr().out
    assert "written/url_pairs 2" in printed
    assert f"{data / 'url_pairs/test.parquet'}: 2 rows" in printed


def test_an_input_is_read_again_only_if_it_has_changed(tmp_path):
    data, file = tmp_path / "data", tmp_path / "x.tsv"
    build("bitext", data, [bitext(file, "a.org")], LANGS)
    (part,) = (data / "parts").iterdir()
    before = part.stat().st_mtime_ns
    build("bitext", data, [str(file)], LANGS)
    assert [p.stat().st_mtime_ns for p in (data / "parts").iterdir()] == [before]
    bitext(file, "a.org", pages=3)
    build("bitext", data, [str(file)], LANGS)
    assert len(list((data / "parts").iterdir())) == 1
    assert len(rows(data, "url_pairs", read_pairs)) == 3


def test_a_killed_build_goes_on_where_it_was(tmp_path):
    data = tmp_path / "data"
    build("bitext", data, [bitext(tmp_path / "1.tsv", "a.org")], LANGS)
    (part,) = (data / "parts").iterdir()
    half = data / "unfinished" / part.name.replace("1.tsv", "2.tsv")
    shutil.copytree(part, half)
    (half / "counts.json").unlink()  # the kill came before the last file
    assert merge(data)["url_pairs/train.parquet"] in (0, 2)
    build("bitext", data, [bitext(tmp_path / "2.tsv", "b.org")], LANGS)
    assert len(rows(data, "url_pairs", read_pairs)) == 4


def test_recorded_pages_give_urls_pairs_and_negatives(tmp_path):
    build("hreflang", tmp_path, [str(DEMO)])
    assert len(rows(tmp_path, "url_lang", read_urls)) > 100
    assert len(rows(tmp_path, "url_pairs", read_pairs)) > 100
    assert find_table(tmp_path, "negatives")


def test_terms_are_one_table_in_one_order(tmp_path):
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("url_a\tlang_a\turl_b\tlang_b\n")
    build("titles", tmp_path / "none", [f"{DEMO}={pairs}"])
    assert find_table(tmp_path / "none", "terms") is None
    host = "https://www.skarfey.example"
    pairs.write_text(
        pairs.read_text() + f"{host}/museum/item.php?id=7\ten\t"
        f"{host}/museum/item.php?id=7&lang=es\tes\n"
    )
    build("titles", tmp_path / "data", [f"{DEMO}={pairs}"])
    terms = list(read_terms(find_table(tmp_path / "data", "terms")))
    assert {(term.lang_a, term.lang_b) for term in terms} == {("en", "es")}


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_every_source_says_what_it_reads(name, tmp_path):
    if name == "cldr":
        pytest.importorskip("babel", reason="only the builder cldr needs it")
    if name in WITHOUT_INPUT:
        build(name, tmp_path, [])
        return
    with pytest.raises(UsageError, match=f"{name}: nothing to read .*input"):
        build(name, tmp_path, [])


def test_bitext_needs_to_know_its_languages(tmp_path):
    with pytest.raises(UsageError, match="--langs"):
        build("bitext", tmp_path / "data", [bitext(tmp_path / "x.tsv", "a.org")])
