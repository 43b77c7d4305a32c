"""Sites are ranked by the pairs that their URLs promise."""

import csv
import gzip
import json
from collections import Counter
from functools import cache

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from crawler.cli import main
from crawler.data import LangPair
from crawler.errors import WarcError
from crawler.prospect.estimate import estimate
from crawler.prospect.rows import Row, find_sources, read_rows
from crawler.prospect.sample import SAMPLE, Prospector, SiteSample
from models.rules import UrlLanguageRules, UrlPairRules

LANGS = LangPair("en", "is")


@cache
def bilingual(site="both.example.org", pages=40):
    return [f"https://{site}/{lang}/page{n}" for n in range(pages) for lang in LANGS]


def sampled(rows, langs=LANGS):
    prospector = Prospector(langs)
    prospector.add(rows, Counter())
    return prospector.samples()


def estimates(rows, langs=LANGS):
    models = UrlLanguageRules(), UrlPairRules()
    found = sampled(rows, langs).items()
    return {sites: estimate(sites, s, langs, *models) for sites, s in found}


def rows_of(path):
    counts = Counter()
    return list(read_rows(str(path), counts)), counts


def test_a_bilingual_site_is_listed_before_a_monolingual_one(tmp_path, capsys):
    urls = [f"https://www.one.is/frettir/{n}" for n in range(200)] + bilingual()
    (tmp_path / "urls.txt").write_text("\n".join([*urls, "not a url"]))
    out = tmp_path / "sites.tsv"
    args = ["prospect", "--langs", "en,is", str(tmp_path), "--out", str(out)]
    assert main(args) == 0
    with out.open() as file:
        first, second = csv.DictReader(file, delimiter="\t")
    assert (first["site"], second["site"]) == ("example.org", "one.is")
    assert 30 <= float(first["low"]) <= float(first["pairs"]) <= 40
    assert float(second["pairs"]) < 1
    assert {first["example_a"], first["example_b"]} <= set(bilingual())
    assert "1 rows could not be used" in capsys.readouterr().out


def test_copies_of_a_row_count_once():
    once, thrice = ([Row(url) for url in bilingual() * n] for n in (1, 3))
    one, three = (estimates(rows)[("example.org",)] for rows in (once, thrice))
    assert (one.pairs, one.pages) == (three.pairs, three.pages)


def test_a_large_site_is_sampled_and_its_interval_holds_the_truth():
    rows = [Row(url) for url in bilingual(pages=6000)]
    rows += [Row(f"https://both.example.org/en/only{n}") for n in range(6000)]
    (sample,) = sampled(rows).values()
    assert len(sample.pages) <= 2 * SAMPLE
    (found,) = estimates(rows).values()
    assert found.low < 6000 < found.high
    assert found.high < 2 * 6000


def test_samples_of_parts_merge_to_the_sample_of_the_whole():
    rows = [Row(url, date="20240101") for url in bilingual(pages=900)]
    (whole,) = sampled(rows).values()
    merged = SiteSample()
    for part in (rows[1::2], rows[::2]):
        merged.merge(*sampled(part).values())
    merged.trim()
    assert (whole.pages, whole.rows) == (merged.pages, merged.rows)


def test_sites_that_a_sitemap_joins_are_one(tmp_path):
    entry = """<url><loc>https://example.{0}/p{2}</loc><xhtml:link rel="alternate"
        hreflang="{1}" href="https://example.{0}/p{2}"/><xhtml:link rel="alternate"
        hreflang="{4}" href="https://example.{3}/s{2}"/></url>"""
    both = [entry.format("is", "is", n, "com", "en") for n in range(30)]
    sitemap = tmp_path / "sitemap.xml"
    sitemap.write_text(f"<urlset>{''.join(both)}</urlset>")
    rows, _ = rows_of(sitemap)
    ((sites, found),) = estimates(rows).items()
    assert sites == ("example.com", "example.is")
    assert 27 < found.pairs <= 30


def test_an_index_says_the_language_and_broken_lines_are_counted(tmp_path):
    fields = {"url": "https://a.is/x", "mime": "text/html", "status": "200"}
    fields |= {"filename": "w", "offset": "1", "length": "9", "languages": "isl,eng"}
    good = f"is,a)/x 20240102030405 {json.dumps(fields)}\n"
    cdx = "is,a)/y 20230102030405 https://a.is/y text/html 200 AAAA 12\n"
    gone = cdx.replace("200", "404")
    index = tmp_path / "cdx-00000.cdx.gz"
    # ZipNum: members of gzip, one behind the other
    blocks = [good, cdx + gone, "is,a)/z 2024 {broken\n" + "x" * 100_000 + "\n"]
    index.write_bytes(b"".join(gzip.compress(block.encode()) for block in blocks))
    rows, counts = rows_of(index)
    assert rows == [
        Row("https://a.is/x", ("is", "en"), "20240102"),
        Row("https://a.is/y", (), "20230102"),
    ]
    assert counts["prospect/dropped/line"] == 2
    assert counts["prospect/skipped/not_a_page"] == 1


def test_a_parquet_index_is_filtered_as_it_is_read(tmp_path):
    table = pa.table(
        {
            "url": ["https://a.is/x", "https://a.is/gone", "nonsense"],
            "content_languages": ["isl", None, "eng"],
            "fetch_status": pa.array([200, 404, 200], pa.int16()),
            "content_mime_detected": ["text/html"] * 3,
        }
    )
    pq.write_table(table, tmp_path / "part.parquet")
    (source,) = find_sources([str(tmp_path)])
    rows, counts = rows_of(source)
    assert rows == [Row("https://a.is/x", ("is",))]
    assert counts["prospect/dropped/line"] == 1


def test_what_comes_before_damage_is_kept(tmp_path):
    whole = gzip.compress("\n".join(bilingual(pages=5000)).encode())
    (tmp_path / "cut.txt.gz").write_bytes(whole[: len(whole) // 2])
    rows, counts = rows_of(tmp_path / "cut.txt.gz")
    assert len(rows) > 100
    assert counts["prospect/damaged"] == 1


@pytest.mark.parametrize("name", ["x.parquet", "x.txt.gz"])
def test_a_source_of_which_nothing_can_be_read_is_named(tmp_path, name):
    (tmp_path / name).write_bytes(b"\x1f\x8bnot what it says")
    with pytest.raises(WarcError, match=f"{name}: cannot be read"):
        rows_of(tmp_path / name)


def test_sites_over_the_limit_are_counted():
    prospector, counts = Prospector(LANGS, most_sites=1), Counter()
    prospector.add([Row("https://a.is/"), Row("https://b.is/")], counts)
    assert counts["prospect/dropped/too_many_sites"] == 1
