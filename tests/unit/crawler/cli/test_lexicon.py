from __future__ import annotations

from pathlib import Path

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.cli import main
from crawler.data import LangPair
from tests.worlds import build_site, write_warc


def test_a_dictionary_becomes_a_lexicon_to_start_with(tmp_path, capsys):
    words, out = tmp_path / "words.tsv", Path(tmp_path / "lexicon.npz")
    words.write_text("house\tetxe\ncat\tkatu\n")
    assert main(["lexicon", str(words), "--langs", "en,eu", "--out", str(out)]) == 0
    assert "2 links" in capsys.readouterr().out
    assert len(Lexicon.load(out, LangPair("eu", "en"))) == 2


def test_a_dictionary_of_other_languages_is_refused(tmp_path, capsys):
    words = tmp_path / "words.tsv"
    words.write_text("lang_a\ttext_a\tlang_b\ttext_b\nen\thouse\tfr\tmaison\n")
    out = tmp_path / "lexicon.npz"
    assert main(["lexicon", str(words), "--langs", "en,eu", "--out", str(out)]) != 0
    assert "no entry of en and eu" in capsys.readouterr().err
    assert not out.exists()


def test_lexicons_and_dictionaries_are_merged_pruned_and_asked(tmp_path, capsys):
    first, muse = tmp_path / "first.npz", tmp_path / "eu-en.txt"
    words = tmp_path / "words.tsv"
    words.write_text("house\tetxe\nhouse\tetxalde\nhouse\teraikin\n")
    main(["lexicon", str(words), "--langs", "en,eu", "--out", str(first)])
    muse.write_text("etxe house\nkatu cat\n")
    asked = ["--langs", "en,eu", "--prune", "1", "--words", "house,cat,etxe,katu"]
    capsys.readouterr()
    assert main(["lexicon", str(first), str(muse), *asked]) == 0
    about, *links = capsys.readouterr().out.splitlines()
    assert "2 links, 2 words of en, 2 of eu" in about
    assert sorted(line.split("\t")[:3] for line in links) == [
        ["cat", "katu", "1.0"],
        ["house", "etxe", "2.0"],
    ]


def test_words_that_are_written_alike_become_entries(tmp_path, capsys):
    site = build_site(langs=("en", "is"), concepts=30)
    write_warc(tmp_path / "site.warc.gz", site.pages())
    words = tmp_path / "words.tsv"
    words.write_text("house\thús\nschool\tskóli\n")
    given = [str(words), "--langs", "en,is"]
    main(["lexicon", *given, "--out", str(tmp_path / "alone.npz")])
    cognates = ["--cognates", str(tmp_path / "site.warc.gz")]
    main(["lexicon", *given, *cognates, "--out", str(tmp_path / "more.npz")])
    alone, more = (
        Lexicon.load(tmp_path / name, LangPair("en", "is"))
        for name in ("alone.npz", "more.npz")
    )
    assert len(more) > len(alone)
    capsys.readouterr()
