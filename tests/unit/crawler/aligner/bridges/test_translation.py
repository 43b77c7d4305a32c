from __future__ import annotations

import sys
from contextlib import closing

import pytest

from crawler.aligner.bridges.lexicon import LexiconConfig
from crawler.aligner.bridges.translation import Translator, lexicon_from_translations
from crawler.aligner.words import WordIds
from crawler.data import LangPair
from crawler.errors import ProfileError

# A translator from Basque: it knows three words, and notes each line that it reads.
TRANSLATOR = """
import sys
WORDS = {"etxe": "house", "katu": "cat", "handi": "big"}
with open(sys.argv[1], "a", encoding="utf-8") as log:
    for line in sys.stdin:
        log.write(line)
        print(*(WORDS.get(word, word) for word in line.split()))
"""


@pytest.fixture
def command(tmp_path):
    program = tmp_path / "translate.py"
    program.write_text(TRANSLATOR)
    return [sys.executable, str(program), str(tmp_path / "read.txt")]


def test_each_text_comes_back_translated_in_its_place(command):
    texts = ["etxe handi", "", "katu\n handi", "etxe handi"]
    with closing(Translator(command)) as translator:
        translated = translator.translate(texts)
    assert translated == ["house big", "", "cat big", "house big"]


def test_nothing_is_translated_twice_even_by_another_run(command, tmp_path):
    for texts in (["etxe", "katu", "etxe"], ["katu", "handi"]):
        translator = Translator(command, tmp_path / "cache.sqlite")
        translator.translate(texts)
        translator.close()
    assert (tmp_path / "read.txt").read_text().split() == ["etxe", "katu", "handi"]


def test_a_translator_teaches_the_words_that_it_knows(command):
    texts = [f"{a} {b} {n}" for n in range(9) for a, b in (("etxe", "handi"),)]
    texts += [f"katu {n}" for n in range(9)] + [f"handi {n} katu" for n in range(9)]
    langs, config = LangPair("en", "eu"), LexiconConfig(min_count=2)
    with closing(Translator(command)) as translator:
        lexicon = lexicon_from_translations(translator, texts, langs, config)
    known = set(zip(lexicon.src.tolist(), lexicon.trg.tolist()))
    ids = WordIds()
    for english, basque in (("house", "etxe"), ("cat", "katu"), ("big", "handi")):
        assert (ids.encode(english)[0], ids.encode(basque)[0]) in known


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["/no/such/translator"], "is it installed"),
        ([sys.executable, "-c", "raise SystemExit('no model')"], "no model"),
        ([sys.executable, "-c", "print('one'); print('two')"], "2 lines for 1"),
    ],
)
def test_a_translator_that_fails_is_named_with_its_reason(command, message):
    with (
        closing(Translator(command)) as translator,
        pytest.raises(ProfileError, match=message),
    ):
        translator.translate(["etxe"])
