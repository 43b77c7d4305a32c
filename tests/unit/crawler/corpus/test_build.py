from __future__ import annotations

import gzip
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.config import load_profile
from crawler.corpus.build import PROVENANCE, CorpusRequest, build_corpus
from crawler.corpus.marks import Mark, Marks
from crawler.corpus.profile import CorpusProfile
from crawler.corpus.rights import Removals
from crawler.corpus.stats import describe, read_about, read_distributions
from crawler.data import LangPair
from crawler.errors import BifocalError, ProfileError, RunDirError, UsageError
from crawler.warc.reader import read_page
from crawler.warc.record import WarcLocation
from tests.runs import LANGS, make_run
from tests.worlds import build_site

DATE = datetime(2026, 5, 1, tzinfo=UTC)


def corpus(out: Path, *runs, overrides=(), **options):
    profile = load_profile(CorpusProfile, None, list(overrides))
    options.setdefault("langs", LANGS)
    request = CorpusRequest(
        tuple(run.path for run in runs), out=out, profile=profile, date=DATE, **options
    )
    return build_corpus(request)


def rows(path: Path) -> list[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        header, *lines = (line.rstrip("\n").split("\t") for line in file)
    return [dict(zip(header, line, strict=True)) for line in lines]


def objects(path: Path):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A run, and its corpus in every format."""
    folder = tmp_path_factory.mktemp("corpus")
    run = make_run(folder / "run")
    about = corpus(
        folder / "out",
        run,
        formats=("tsv", "tmx", "jsonl", "parquet"),
        monolingual=True,
    )
    return run, folder / "out", about


def test_the_sentences_of_the_site_come_out_as_pairs(made):
    _, out, about = made
    site = build_site(concepts=6, words=200)
    true = {
        pair
        for concept in range(6)
        for pair in zip(site.sentences(concept, "en"), site.sentences(concept, "is"))
    }
    found = {(row["src_text"], row["trg_text"]) for row in rows(out / "en-is.tsv.gz")}
    assert len(true & found) > 0.95 * len(true)
    assert about["counts"]["corpus/sentence_pairs"] == len(found)
    assert about["counts"]["corpus/page_pairs"] == 6


def test_every_row_leads_back_to_its_records(made):
    _, out, _ = made
    for row in rows(out / "en-is.tsv.gz")[:5]:
        for side in ("src", "trg"):
            path = Path(row[f"{side}_warc"])
            offset = int(row[f"{side}_offset"])
            location = WarcLocation(path.name, offset, path.stat().st_size - offset)
            page = read_page(location, path.parent)
            assert page.url == row[f"{side}_url"]
            assert page.record_id == row[f"{side}_record_id"]


def test_every_copy_is_accounted_for(made):
    _, out, about = made
    provenance = rows(out / "provenance.tsv.gz")
    assert tuple(provenance[0]) == PROVENANCE
    counts = about["counts"]
    assert len(provenance) == counts["sentences/kept"]
    assert len({row["id"] for row in provenance}) == counts["corpus/sentence_pairs"]
    copies = {row["id"]: int(row["copies"]) for row in rows(out / "en-is.tsv.gz")}
    assert sum(copies.values()) == len(provenance)


def test_documents_have_every_sentence_and_link_to_the_corpus(made):
    _, out, _ = made
    ids = {row["id"] for row in rows(out / "en-is.tsv.gz")}
    documents = objects(out / "documents.jsonl.gz")
    assert len(documents) == 6
    for document in documents:
        linked = {s["id"] for s in document["segments"] if s["id"]}
        assert linked
        assert linked <= ids
        places = sorted(
            place
            for s in document["segments"]
            for place in range(s["places"][0], s["places"][0] + s["bead"][0])
        )
        assert places == list(range(len(places)))


def test_the_card_and_the_tables_describe_the_corpus(made):
    _, out, about = made
    text = (out / "README.md").read_text("utf-8")
    assert text.startswith("---\nlanguage:\n- en\n- is\n")
    assert "path: en-is.parquet" in text
    assert "town.example" in text
    assert "robots.txt was obeyed" in text
    assert json.loads((out / "corpus.json").read_text("utf-8")) == about
    assert (out / "sites.tsv").read_text("utf-8").startswith("#site\t")
    assert not list(out.glob("*.partial"))


def test_stats_describe_a_corpus(made):
    _, out, about = made
    found = read_distributions(out, ("en", "is"))
    assert sum(found.scores.values()) == about["counts"]["corpus/sentence_pairs"]
    text = "\n".join(describe(read_about(out), found))
    assert "quality score" in text
    assert "1-1" in text


def test_two_runs_of_one_site_give_each_pair_once(made, tmp_path):
    run, out, _ = made
    about = corpus(tmp_path / "out", run, run, formats=("tsv",))
    once, twice = rows(out / "en-is.tsv.gz"), rows(tmp_path / "out" / "en-is.tsv.gz")
    assert [row["id"] for row in twice] == [row["id"] for row in once]
    assert all(
        int(b["copies"]) == 2 * int(a["copies"])
        for a, b in zip(once, twice, strict=True)
    )
    assert about["counts"]["corpus/copies"] > 0


def test_equal_runs_give_equal_bytes(made, tmp_path):
    run, out, _ = made
    corpus(
        tmp_path / "out",
        run,
        formats=("tsv", "tmx", "jsonl", "parquet"),
        monolingual=True,
    )
    for file in sorted(out.iterdir()):
        assert file.read_bytes() == (tmp_path / "out" / file.name).read_bytes(), file


def test_languages_may_be_asked_for_the_other_way_round(made, tmp_path):
    run, out, _ = made
    corpus(tmp_path / "out", run, langs=LangPair("is", "en"), formats=("tsv",))
    turned = rows(tmp_path / "out" / "is-en.tsv.gz")
    straight = rows(out / "en-is.tsv.gz")
    ours = {(row["trg_text"], row["src_text"]) for row in turned}
    theirs = {(row["src_text"], row["trg_text"]) for row in straight}
    assert len(ours & theirs) > 0.95 * len(theirs)


@pytest.mark.parametrize("langs", [LANGS, LangPair("is", "en")])
def test_what_a_person_marked_wrong_is_left_out(made, tmp_path, langs):
    run, out, _ = made
    first = rows(out / "en-is.tsv.gz")[0]
    mark = Mark(
        "sentence",
        src_text=first["src_text"],
        trg_text=first["trg_text"],
        verdict="wrong",
    )
    Marks.of([mark]).write(run.marks)
    try:
        about = corpus(tmp_path / "out", run, langs=langs, formats=("tsv",))
    finally:
        run.marks.unlink()
    as_it_was = {"stretch": 1.0, "shift": 0.0, "pages": 0.0}
    assert about["scores"] == {**as_it_was, "marked_wrong": 1}
    assert about["counts"]["sentences/dropped/marked"] >= 1
    kept = rows(tmp_path / "out" / f"{langs.src}-{langs.trg}.tsv.gz")
    texts = {frozenset((row["src_text"], row["trg_text"])) for row in kept}
    assert frozenset((mark.src_text, mark.trg_text)) not in texts


# ------------------------------------------------------------------- switches


def test_sites_and_addresses_can_be_removed(made, tmp_path):
    run, out, _ = made
    removals = Removals.read(out / "sites.tsv")
    assert removals.match("https://town.example/x", "town.example")
    removals = Removals.of(["town.example"])
    about = corpus(tmp_path / "out", run, removals=removals)
    assert about["counts"].get("corpus/sentence_pairs", 0) == 0
    assert about["counts"]["corpus/dropped/removed"] == 6


def marked(page):
    headers = (*page.headers, ("X-Robots-Tag", "noindex"), ("tdm-reservation", "1"))
    return replace(page, headers=headers)


@pytest.mark.parametrize("mark", ["noindex", "tdm-reservation"])
def test_marks_are_honoured_when_asked(mark, tmp_path):
    run = make_run(tmp_path / "run", build_site(concepts=2), change=marked)
    kept = corpus(tmp_path / "all", run, formats=())
    assert kept["counts"]["corpus/page_pairs"] == 2
    assert kept["marks"] == {"noindex": 4, "tdm-reservation": 4}
    left = corpus(tmp_path / "out", run, overrides=[f"honour={mark}"], formats=())
    assert left["counts"][f"corpus/dropped/{mark}"] == 2


def with_address(page):
    body = page.body.replace(b"<p>", b"<p>Write to us at 7: info@town.example. ", 1)
    return replace(page, body=body)


def test_personal_data_are_masked_or_dropped_everywhere(tmp_path):
    run = make_run(tmp_path / "run", build_site(concepts=2), change=with_address)
    for action in ("mask", "drop"):
        out = tmp_path / action
        corpus(out, run, overrides=[f"privacy.email={action}"], monolingual=True)
        for file in sorted(out.iterdir()):
            text = file.read_bytes()
            text = gzip.decompress(text) if file.suffix == ".gz" else text
            assert b"info@" not in text, file


def test_a_command_from_outside_judges_every_pair(made, tmp_path):
    run, _, about = made
    script = tmp_path / "judge.py"
    script.write_text(
        "import sys\n"
        "for line in sys.stdin:\n"
        "    cells = line.rstrip('\\n').split('\\t')\n"
        "    assert len(cells) == 4\n"
        "    print(*cells, 0.9 if len(cells[2]) % 2 else 0.1, sep='\\t')\n"
    )
    counts = corpus(
        tmp_path / "out", run, overrides=[f'command.run="python3 {script}"']
    )["counts"]
    assert (
        counts["sentences/dropped/command"] + counts["corpus/sentence_pairs"]
        == about["counts"]["corpus/sentence_pairs"]
    )
    scores = {row["aligner_score"] for row in rows(tmp_path / "out" / "en-is.tsv.gz")}
    assert scores == {"0.9000"}


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("no-such-tool", "cannot be run"),
        ("false", "status 1 and 0 lines"),
        ("cat", "is not a score"),
        ("head -n 1", "status 0 and 1 lines"),
    ],
)
def test_a_command_that_fails_leaves_no_corpus(made, tmp_path, command, says):
    run, _, _ = made
    with pytest.raises(BifocalError, match=says):
        corpus(tmp_path / "out", run, overrides=[f'command.run="{command}"'])
    assert list((tmp_path / "out").iterdir()) == []


# ------------------------------------------------------------------- what is wrong


def test_a_request_that_cannot_be_met_is_one_clear_error(made, tmp_path):
    run, out, _ = made
    with pytest.raises(RunDirError, match="run directory"):
        corpus(tmp_path / "a", replace_path(run, tmp_path / "none"))
    with pytest.raises(RunDirError, match="is for en,is, not for en,fr"):
        corpus(tmp_path / "b", run, langs=LangPair("en", "fr"))
    with pytest.raises(RunDirError, match="is not empty"):
        corpus(out, run)
    with pytest.raises(UsageError, match="not a corpus format"):
        corpus(tmp_path / "c", run, formats=("xml",))
    with pytest.raises(ProfileError, match="honour"):
        corpus(tmp_path / "d", run, overrides=["honour=nothing"])
    with pytest.raises(ProfileError, match="copies"):
        corpus(tmp_path / "d", run, overrides=["copies=some"])
    with pytest.raises(RunDirError, match="not a corpus"):
        read_about(tmp_path)


def replace_path(run, path):
    return type(run)(path)


def test_a_run_without_pairs_says_how_to_get_them(tmp_path):
    run = make_run(tmp_path / "run", build_site(concepts=2))
    run.pairs.unlink()
    with pytest.raises(RunDirError, match="bifocal align"):
        corpus(tmp_path / "out", run)
