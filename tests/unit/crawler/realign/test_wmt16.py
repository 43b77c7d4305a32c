from __future__ import annotations

import base64
import gzip
from pathlib import Path

import pytest

from crawler.cli import main
from crawler.data import LangPair, PairScore
from crawler.errors import RunDirError
from crawler.realign.wmt16 import best_first, evaluate, overlap
from tests.worlds import build_site

LANGS = LangPair("en", "fr")


def lett(pages, languages) -> bytes:
    def code(data: bytes) -> bytes:
        return base64.b64encode(data)

    lines = [
        b"\t".join(
            [
                languages[page.url].encode(),
                b"text/html",
                b"charset=utf-8",
                page.url.encode(),
                code(page.body),
                code(b"text of " + page.url.encode()),
            ]
        )
        for page in pages
    ]
    return gzip.compress(b"\n".join(lines) + b"\n")


@pytest.fixture
def task(tmp_path):
    site = build_site(style="dir", concepts=20, langs=("en", "fr"))
    gold = site.gold("en", "fr")
    languages = {url: "en" for url, _ in gold} | {url: "fr" for _, url in gold}
    pages = [page for page in site.pages() if page.url in languages]
    (tmp_path / "site.lett.gz").write_bytes(lett(pages, languages))
    lines = [f"{a}\t{b}\n" for a, b in sorted(gold)]
    lines[0] = "\t".join(reversed(lines[0].split())) + "\n"  # the order is not fixed
    (tmp_path / "train.pairs").write_text("".join(lines))
    return tmp_path, gold


def test_every_rule_counts_what_the_aligner_finds(task):
    folder, gold = task
    result = evaluate(folder, LANGS)
    assert result.pairs == len(gold)
    assert result.stages["both pages there"] == len(gold)
    assert result.official == result.soft == result.stages["scored"] == len(gold)
    assert result.n_best == {1: len(gold), 3: len(gold), 10: len(gold)}
    assert result.overlapping == len(gold)
    assert result.lines["rows"] == 2 * len(gold)


def test_a_missing_page_loses_its_pair_at_the_first_stage(task):
    folder, gold = task
    with (folder / "train.pairs").open("a") as file:
        file.write("http://missing.example/en\thttp://missing.example/fr\n")
    result = evaluate(folder, LANGS)
    assert result.pairs == len(gold) + 1
    assert result.stages["both pages there"] == result.official == len(gold)


def test_the_verb_prints_each_rule_with_its_share(task, capsys):
    folder, gold = task
    assert main(["eval", "wmt16", str(folder)]) == 0
    output = capsys.readouterr().out
    assert f"{len(gold)} true pairs" in output
    assert "found, official rule" in output
    assert "100.00%" in output


def test_a_url_model_pairs_the_pages_by_their_addresses_alone(task, capsys):
    folder, gold = task
    weights = str(Path(__file__).parents[4] / "models/weights/url_pair.npz")
    assert main(["eval", "wmt16", str(folder), "--urls", weights]) == 0
    lines = capsys.readouterr().out.splitlines()
    rules = {line[:28].strip(): int(line[28:].split()[0]) for line in lines[1:]}
    assert rules["found, official rule"] == rules["found, soft rule"] == len(gold)
    assert rules["found, 1 best"] <= rules["found, 10 best"] == len(gold)


def test_a_url_model_knows_nothing_of_the_pages(task):
    class Constant:
        def predict(self, pairs):
            return [0.5] * len(pairs)

    folder, gold = task
    result = evaluate(folder, LANGS, urls=Constant())
    # ties go by address, one to one, whatever the pages say
    ends = [sorted(side) for side in zip(*gold)]
    assert result.official == len({*zip(*ends)} & gold)
    assert result.stages["scored"] == len(gold)


def test_a_model_of_the_other_kind_is_refused(task, capsys):
    folder, _ = task
    weights = str(Path(__file__).parents[4] / "models/weights/url_language.npz")
    assert main(["eval", "wmt16", str(folder), "--urls", weights]) != 0
    assert "a language model where a pair model belongs" in capsys.readouterr().err


def test_a_folder_without_data_says_what_is_expected(tmp_path):
    with pytest.raises(RunDirError, match=r"expected \.lett\.gz files"):
        evaluate(tmp_path, LANGS)
    (tmp_path / "x.lett.gz").write_bytes(b"no gzip")
    (tmp_path / "x.pairs").write_text("")
    with pytest.raises(RunDirError, match="cannot be read"):
        evaluate(tmp_path, LANGS)


def test_the_ranks_of_true_partners_and_texts_that_overlap_count_as_in_the_paper():
    scores = [
        PairScore("e1", "f2", 0.9, {}),
        PairScore("e1", "f1", 0.8, {}),
        PairScore("e2", "f2", 0.95, {}),
    ]
    assert best_first(scores) == {"e1": ["f2", "f1"], "e2": ["f2"]}
    assert overlap("un deux trois quatre cinq", "un deux trois quatre six") == 0.8
    assert overlap("un un", "un deux") == 0.5
    assert overlap("", "un") == 0.0
