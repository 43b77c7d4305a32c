from __future__ import annotations

import pytest

from crawler import cli
from crawler.corpus.marks import Mark, Marks, Precision
from crawler.data import LangPair, PairScore
from crawler.errors import RunDirError
from crawler.rundir import RunDir
from crawler.sinks.pairs import write_pairs

PAGE = Mark("page", "https://a.example/en", "https://a.example/is", "Ferry", "Ferja", 1)
LINE = Mark("sentence", src_text="The ferry\tleaves.", trg_text="Ferjan fer.")


def test_marks_come_back_from_their_file(tmp_path):
    marks = Marks()
    marks.put(Mark(**{**fields(PAGE), "verdict": "right"}))
    marks.put(Mark(**{**fields(LINE), "verdict": "wrong", "sampled": True}))
    marks.write(tmp_path / "marks.tsv")
    again = Marks.read(tmp_path / "marks.tsv")
    assert {m.key: (m.verdict, m.sampled) for m in again} == {
        PAGE.key: ("right", False),
        LINE.key: ("wrong", True),
    }


def test_the_last_mark_of_a_pair_counts_and_may_be_taken_back():
    marks = Marks()
    for verdict in ("wrong", "right"):
        marks.put(Mark(**{**fields(PAGE), "verdict": verdict}))
    assert [m.verdict for m in marks] == ["right"]
    marks.put(PAGE)
    assert len(marks) == 0


def test_a_spreadsheet_may_add_columns_and_change_the_case(tmp_path):
    path = tmp_path / "marks.tsv"
    path.write_text(
        "note\tlevel\tverdict\tsrc_text\ttrg_text\r\n"
        "x\tsentence\tRight\tA.\tB.\r\n\r\n",
        encoding="utf-8-sig",
    )
    assert [m.verdict for m in Marks.read(path)] == ["right"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a\tb\n", "not a file of marks"),
        ("level\tverdict\tsrc_text\ttrg_text\npage\tgood\ta\tb\n", "line 2"),
    ],
)
def test_a_file_that_does_not_hold_marks_is_an_error(tmp_path, text, said):
    (tmp_path / "marks.tsv").write_text(text)
    with pytest.raises(RunDirError, match=said):
        Marks.read(tmp_path / "marks.tsv")


def test_marks_that_were_drawn_at_random_count_alone():
    chosen = [Mark("sentence", src_text=str(n), verdict="wrong") for n in range(9)]
    drawn = [
        Mark("sentence", src_text=f"d{n}", verdict="right", sampled=True)
        for n in range(4)
    ]
    found = Precision.of([*chosen, *drawn], "sentence")
    assert (found.right, found.wrong, found.sampled) == (4, 0, True)
    assert Precision.of(chosen, "sentence").wrong == 9


def fields(mark: Mark) -> dict[str, object]:
    return {name: getattr(mark, name) for name in mark.__slots__}


def test_a_sample_is_drawn_judged_and_gives_a_precision(tmp_path, capsys):
    run = RunDir(tmp_path / "run")
    run.open(LangPair("en", "is"))
    run.write({"langs": ["en", "is"]})
    urls = [f"https://a.example/{n}" for n in range(60)]
    write_pairs(run.pairs, [PairScore(f"{u}/en", f"{u}/is", 0.9) for u in urls])
    words = ["sample", str(run.path), "--sentences", "0", "--pages", "20"]
    assert cli.main(words) == 0
    drawn = run.marks.read_text("utf-8")
    assert cli.main(["eval", "marks", str(run.path)]) == 1  # no verdicts yet
    assert "no verdicts" in capsys.readouterr().err
    assert cli.main(words) == 0
    assert run.marks.read_text("utf-8") == drawn  # same seed, same rows
    judged = drawn.replace("page\t\t", "page\tright\t", 15)
    run.marks.write_text(judged.replace("page\t\t", "page\twrong\t"), "utf-8")
    assert cli.main(words) == 0  # verdicts stay
    assert cli.main(["eval", "marks", str(run.path)]) == 0
    assert "page: precision 0.750 (0.531 to 0.888" in capsys.readouterr().out
    other = RunDir(tmp_path / "other")
    other.open(LangPair("en", "is"))
    other.write({"langs": ["en", "is"]})
    write_pairs(
        other.pairs,  # right ones under another address
        [
            PairScore(f"{m.src_url}?b", m.trg_url, 0.9, src_twins=(m.src_url,))
            for m in Marks.read(run.marks)
            if m.verdict == "right"
        ],
    )
    gold = ["--gold", str(run.marks)]
    assert cli.main(["eval", "marks", str(other.path), *gold]) == 0
    said = capsys.readouterr().out
    assert "15 of 15 right ones are found (1.000" in said
    assert "0 of 5 wrong ones are found (0.000" in said


def test_the_doubtful_ones_are_drawn_and_are_no_sample(tmp_path, capsys):
    run = RunDir(tmp_path / "run")
    run.open(LangPair("en", "is"))
    run.write({"langs": ["en", "is"]})
    urls = [f"https://a.example/{n}" for n in range(60)]
    scores = [0.4 + n / 100 for n in range(60)]
    pairs = map(PairScore, [f"{u}/en" for u in urls], [f"{u}/is" for u in urls], scores)
    write_pairs(run.pairs, list(pairs))
    words = ["sample", str(run.path), "--sentences", "0", "--pages", "3", "--doubtful"]
    assert cli.main(words) == 0
    marks = Marks.read(run.marks)
    assert [(m.score, m.sampled) for m in marks] == [
        (0.4, False),
        (0.41, False),
        (0.42, False),
    ]


def test_a_run_without_sentences_has_none_to_draw(tmp_path, capsys):
    run = RunDir(tmp_path / "run")
    run.open(LangPair("en", "is"))
    run.write({"langs": ["en", "is"]})
    assert cli.main(["sample", str(run.path)]) == 1
    assert "sentences.tsv.gz: is missing" in capsys.readouterr().err
