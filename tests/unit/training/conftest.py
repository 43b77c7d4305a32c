from __future__ import annotations

import argparse
import gzip

import pytest

from training.data.tables import TermPair, write_terms

WORDS = {
    "en": "news weather about people work house river spring letter garden".split(),
    "is": "frettir vedur um folk vinna hus fljot vor bref gardur".split(),
    "de": "nachrichten wetter ueber leute arbeit haus fluss lenz post garten".split(),
}


def write_table(folder, name, *rows):
    text = "".join("\t".join(row) + "\n" for row in rows)
    (folder / f"{name}.tsv.gz").write_bytes(gzip.compress(text.encode()))


@pytest.fixture
def data_folder(tmp_path):
    """Six sites in three languages: translated slugs, codes on every second one."""
    folder = tmp_path / "data"
    folder.mkdir()
    urls, pairs, splits = [], [], []
    for site in range(6):
        host = f"site-{site}.org"
        splits.append((host, "train" if site < 4 else ("dev", "test")[site - 4]))
        for i in range(10):
            row = {}
            for lang, words in WORDS.items():
                slug = f"{words[i]}-{words[(i + site + 1) % 10]}"
                row[lang] = (
                    f"https://{host}/{lang}/{slug}"
                    if site % 2
                    else (f"https://{host}/{slug}")
                )
                urls.append((row[lang], lang))
            pairs.append((row["en"], "en", row["is"], "is", "0"))
            pairs.append((row["en"], "en", row["de"], "de", "0"))
    write_table(folder, "splits", ("registered_domain", "split"), *splits)
    write_table(folder, "url_lang", ("url", "lang"), *urls)
    write_table(folder, "host_urls", ("url", "lang"), *urls)
    write_table(
        folder, "url_pairs", ("url_a", "lang_a", "url_b", "lang_b", "code_only"), *pairs
    )
    (folder / "wmt16_test_pairs.tsv").write_text(
        "url_en\turl_fr\nhttp://c.org/en/1\thttp://c.org/fr/1\n"
        "http://c.org/en/2\thttp://c.org/fr/2\n"
    )
    return folder


@pytest.fixture
def terms_file(tmp_path):
    path = tmp_path / "terms.tsv.gz"
    write_terms(
        path,
        [
            TermPair("en", a, lang, b, source)
            for lang in ("is", "de")
            for a, b in zip(WORDS["en"], WORDS[lang])
            for source in ("manual", "dict-freedict-eng-xxx")
        ],
    )
    return path


@pytest.fixture
def bifocal_train(data_folder):
    """`bifocal train` on these data: kind, profile, folder of the run, values."""
    from training.cli import add_arguments, run

    def train(kind, profile, out, *values, teacher=None):
        parser = argparse.ArgumentParser()
        add_arguments(parser)
        words = ["--data", str(data_folder), "--out", str(out)]
        words += ["--teacher", str(teacher)] if teacher else []
        run(parser.parse_args([kind, "--profile", profile, *words, *values]))

    return train


@pytest.fixture
def parquet_data(data_folder, tmp_path):
    """The same URLs as `bifocal data build` would leave them."""
    duckdb = pytest.importorskip("duckdb", reason="extra `train` is not installed")
    folder = tmp_path / "parquet"
    (folder / "url_lang").mkdir(parents=True)
    for site, split in enumerate(["train"] * 4 + ["dev", "test"]):
        duckdb.sql(
            f"SELECT * FROM read_csv('{data_folder}/url_lang.tsv.gz', delim='\t')"
            f" WHERE url LIKE '%site-{site}.org%'"
        ).write_parquet(str(folder / "url_lang" / f"{split}-{site}.parquet"))
    for split in ("train", "dev", "test"):
        parts = f"SELECT * FROM '{folder}/url_lang/{split}-*.parquet'"
        whole = folder / "url_lang" / f"{split}.parquet"
        duckdb.sql(f"{parts} ORDER BY md5(url)").write_parquet(str(whole))
    for part in (folder / "url_lang").glob("*-*.parquet"):
        part.unlink()
    (folder / "splits.tsv.gz").write_bytes((data_folder / "splits.tsv.gz").read_bytes())
    return folder
