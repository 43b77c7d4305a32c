from __future__ import annotations

import pytest

from crawler.cli import main
from tests.unit.crawler.aligner.sentences.test_dynamic import learned
from tests.worlds import build_site

SITE = build_site(concepts=4, words=200)


def texts(concept: int = 1):
    return SITE.sentences(concept, "en"), SITE.sentences(concept, "is")


@pytest.fixture
def files(tmp_path):
    src, trg = tmp_path / "text.en", tmp_path / "text.is"
    for path, lines in zip((src, trg), texts()):
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return str(src), str(trg)


def printed(capsys, *arguments: str) -> list[str]:
    assert main(["sentences", *arguments, "--langs", "en,is"]) == 0
    return capsys.readouterr().out.splitlines()


def test_two_files_give_beads_that_vecaligns_scorer_reads(files, capsys):
    lines = printed(capsys, *files)
    assert lines == [f"[{n}]:[{n}]" for n in range(len(texts()[0]))]


def test_a_table_has_the_sentences_and_a_score(files, capsys, tmp_path):
    lexicon = tmp_path / "lexicon.npz"
    learned().save(lexicon)
    table = printed(capsys, *files, "--format", "tsv", "--lexicon", str(lexicon))
    rows = [line.split("\t") for line in table]
    assert [tuple(row[:2]) for row in rows] == list(zip(*texts()))
    assert all(0 <= float(row[2]) <= 1 for row in rows)
    # a run directory has its lexicon inside
    again = printed(capsys, *files, "--format", "tsv", "--lexicon", str(tmp_path))
    assert again == table


def test_a_ladder_has_the_rungs_of_both_texts_and_their_ends(files, capsys):
    rungs = [line.split("\t") for line in printed(capsys, *files, "--format", "ladder")]
    count = len(texts()[0])
    expected = [(str(n), str(n)) for n in range(count + 1)]
    assert [tuple(row[:2]) for row in rungs] == expected


def test_a_missing_line_and_a_blank_one_have_no_partner(files, capsys, tmp_path):
    src, trg = texts()
    (tmp_path / "text.en").write_text("\n".join(["", *src]) + "\n", "utf-8")
    (tmp_path / "text.is").write_text("\n".join([*trg[:2], *trg[4:]]) + "\n", "utf-8")
    lexicon = tmp_path / "lexicon.npz"
    learned().save(lexicon)
    lines = printed(capsys, *files, "--lexicon", str(lexicon))
    assert lines[:5] == ["[0]:[]", "[1]:[0]", "[2]:[1]", "[3]:[]", "[4]:[]"]
    assert lines[-1] == f"[{len(src)}]:[{len(trg) - 3}]"


def test_running_text_is_cut_first(capsys, tmp_path):
    src, trg = tmp_path / "a", tmp_path / "b"
    src.write_text("The ferry leaves at 9. It is back at 16.\n")
    trg.write_text("Ferjan fer klukkan 9. Hún kemur\raftur klukkan 16.\n")
    rows = printed(capsys, str(src), str(trg), "--split", "--format", "tsv")
    assert len(rows) == 2
    assert rows[1].startswith("It is back at 16.\tHún kemur aftur klukkan 16.\t")


def test_a_batch_writes_a_file_for_each_text(capsys, tmp_path):
    jobs = []
    for concept in (1, 2):
        names = [tmp_path / f"{concept}.{end}" for end in ("en", "is", "beads")]
        for path, lines in zip(names, texts(concept)):
            path.write_text("\n".join(lines) + "\n", "utf-8")
        jobs.append("\t".join(map(str, names)))
    (tmp_path / "jobs").write_text("\n".join(jobs) + "\n")
    assert printed(capsys, "--batch", str(tmp_path / "jobs")) == []
    for concept in (1, 2):
        count = len(texts(concept)[0])
        beads = (tmp_path / f"{concept}.beads").read_text().splitlines()
        assert beads == [f"[{n}]:[{n}]" for n in range(count)]


def test_texts_of_which_one_is_empty_have_no_pairs(capsys, tmp_path):
    src, trg = tmp_path / "a", tmp_path / "b"
    src.write_text("One.\nTwo.\n")
    trg.write_text("")
    assert printed(capsys, str(src), str(trg)) == ["[0]:[]", "[1]:[]"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.txt"], "give two files"),
        (["nowhere.en", "nowhere.is"], "nowhere.en: .*No such file.*UTF-8"),
        (["--batch", "jobs", "a", "b"], "one or the other"),
    ],
)
def test_mistakes_are_one_line_with_a_cure(arguments, message, capsys):
    import re

    assert main(["sentences", *arguments, "--langs", "en,is"]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error)
    assert error.count("\n") == 1


def test_a_line_of_a_batch_without_three_names_is_an_error(capsys, tmp_path):
    jobs = tmp_path / "jobs"
    jobs.write_text("a.en a.is a.out\n")
    assert main(["sentences", "--batch", str(jobs), "--langs", "en,is"]) == 2
    assert f"{jobs}:1: 1 names" in capsys.readouterr().err
