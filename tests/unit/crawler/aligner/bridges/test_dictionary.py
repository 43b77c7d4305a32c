from __future__ import annotations

import gzip

import numpy as np
import pytest

from crawler.aligner.bridges.dictionary import read_dictionary
from crawler.aligner.words import WordIds
from crawler.data import LangPair
from crawler.errors import ProfileError

LANGS = LangPair("en", "eu")


def links(lexicon) -> set[tuple[int, int]]:
    return set(zip(lexicon.src.tolist(), lexicon.trg.tolist()))


def expected(*pairs: tuple[str, str]) -> set[tuple[int, int]]:
    ids = WordIds()
    return {(int(ids.encode(a)[0]), int(ids.encode(b)[0])) for a, b in pairs}


def test_a_line_is_a_word_and_its_translation(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("house\tetxe\nHouse\tEtxe\ncat\tkatu\tnoun\nno tab here\n")
    lexicon = read_dictionary(path, LANGS)
    assert links(lexicon) == expected(("house", "etxe"), ("cat", "katu"))
    assert np.all(lexicon.count == 1)


def test_an_entry_of_several_words_makes_at_most_four_links(tmp_path):
    path = tmp_path / "words.tsv"
    path.write_text("town hall\tudal etxe\nby and by\thanka hemenka\n")
    assert len(read_dictionary(path, LANGS)) == 4


def test_a_table_of_many_languages_gives_its_own_in_both_directions(tmp_path):
    path = tmp_path / "terms.tsv.gz"
    rows = [
        "lang_a\ttext_a\tlang_b\ttext_b\tsource",
        "eng\thouse\teus\tetxe\tX",
        "eu\tkatu\ten\tcat\tX",
        "en\thouse\tfr\tmaison\tX",
        "en\tbroken row",
    ]
    path.write_bytes(gzip.compress("\n".join(rows).encode()))
    found = read_dictionary(path, LANGS)
    assert links(found) == expected(("house", "etxe"), ("cat", "katu"))


@pytest.mark.parametrize("content", [b"", b"one word a line\n", b"\xff\xfe\t\xff\n"])
def test_a_file_that_is_not_a_dictionary_is_refused(tmp_path, content):
    path = tmp_path / "words.tsv"
    path.write_bytes(content)
    with pytest.raises(ProfileError, match=r"words\.tsv"):
        read_dictionary(path, LANGS)
    with pytest.raises(ProfileError, match="missing"):
        read_dictionary(tmp_path / "missing.tsv", LANGS)


TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body>
<entry><form><orth>etxe</orth></form>
<sense><cit type="trans"><quote>house</quote></cit></sense></entry>
<entry><form><orth>katu</orth></form>
<sense><cit type="trans"><quote>cat</quote></cit></sense></entry>
</body></text></TEI>"""
BIDIX = """<dictionary><section id="main" type="standard">
<e><p><l>etxe<s n="n"/></l><r>house<s n="n"/></r></p></e>
<e r="LR"><p><l>katu<s n="n"/></l><r>cat<s n="n"/></r></p></e>
</section></dictionary>"""
WIKTIONARY = """{"word": "house", "lang_code": "en",\
 "translations": [{"code": "eu", "word": "etxe"}, {"code": "fr", "word": "maison"}]}
{"word": "katu", "lang_code": "eu",\
 "senses": [{"translations": [{"lang_code": "en", "word": "cat"}]}]}
{"word": "maison", "lang_code": "fr", "translations": []}
"""


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("eus-eng.tei", TEI),
        ("apertium-eus-eng.eus-eng.dix", BIDIX),
        ("wiktionary.jsonl", WIKTIONARY),
        ("eu-en.txt", "etxe house\nkatu cat\n"),
    ],
)
def test_the_usual_kinds_of_free_dictionaries_are_read(tmp_path, name, content):
    path = tmp_path / f"{name}.gz"
    path.write_bytes(gzip.compress(content.encode()))
    found = read_dictionary(path, LANGS)
    assert links(found) == expected(("house", "etxe"), ("cat", "katu"))


def test_a_damaged_xml_file_is_refused(tmp_path):
    path = tmp_path / "eng-eus.tei"
    path.write_text("<TEI><entry>")
    with pytest.raises(ProfileError, match=r"eng-eus\.tei: not a valid dictionary"):
        read_dictionary(path, LANGS)


PHRASES = """house ||| etxe ||| 0.7 0.6 0.9 0.8 ||| 0-0 ||| 10 8 7
house ||| etxea ||| 1 1 0.1 0.1 ||| 0-0 ||| 1 8 1
town hall ||| udaletxe ||| 1 1 1 1 ||| 0-0 1-0 ||| 3 3 3
cat ||| katu ||| 1 1 1 1 ||| 0-0 ||| 4 4 4
"""


def test_a_phrase_table_gives_its_entries_of_one_word_as_often_as_it_saw_them(tmp_path):
    path = tmp_path / "en-eu.gz"
    path.write_bytes(gzip.compress(PHRASES.encode()))
    found = read_dictionary(path, LANGS)
    wanted = [("house", "etxe"), ("house", "etxea"), ("cat", "katu")]
    assert links(found) == expected(*wanted)
    assert sorted(found.count.tolist()) == [1, 4, 7]
    turned = read_dictionary(path, LangPair("eu", "en"))
    assert links(turned) == {link[::-1] for link in links(found)}


def test_a_phrase_table_without_counts_is_refused(tmp_path):
    path = tmp_path / "phrases"
    path.write_text("house ||| etxe ||| 0.7 0.6 0.9 0.8\n")
    with pytest.raises(ProfileError, match="line 1 has no count of the pair"):
        read_dictionary(path, LANGS)
