from __future__ import annotations

from pathlib import Path

from crawler.aligner.bridges.lexicon import Lexicon
from crawler.cli import main
from crawler.data import LangPair


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
