"""The languages of blocks."""

import pytest

from crawler.aligner.aligner import Aligner, take_in
from crawler.aligner.profile import AlignProfile
from crawler.config import load_profile
from crawler.corpus.texts import StoredText, TextStore
from crawler.data import LangPair, Origin, Page
from crawler.extract.document import read_page
from crawler.extract.text import blocks_of

ENGLISH = (
    "The harbour was closed in winter because the ice covered the whole bay.",
    "Fishermen mended their nets at home and waited for the spring to come.",
    "In March the first boats went out again, though the nights were cold.",
    "Since then nobody has seen the old lighthouse keeper in the village.",
)
ICELANDIC = (
    "Höfnin var lokuð á veturna því að ísinn þakti allan flóann.",
    "Sjómennirnir bættu netin sín heima og biðu eftir að vorið kæmi.",
    "Í mars fóru fyrstu bátarnir aftur út þótt næturnar væru kaldar.",
    "Síðan þá hefur enginn séð gamla vitavörðinn í þorpinu okkar.",
)


def texts(html, langs=("en", "is")):
    page = Page.of_html("https://example.org/", f"<html><body>{html}</body></html>")
    document = read_page(page, langs=langs).document
    assert document is not None
    blocks = blocks_of(document.tokens, document.chunks)
    return document.lang, [block.text for block in blocks]


def paragraphs(*sentences):
    return "".join(f"<p>{sentence}</p>" for sentence in sentences)


def test_a_page_in_one_language_keeps_all_its_blocks():
    html = paragraphs(*ENGLISH, "OK", "2 x 12") + "<pre>ferð = 1</pre>"
    assert texts(html) == ("en", [*ENGLISH, "OK", "2 x 12", "ferð = 1"])


def test_a_quotation_in_another_language_is_left_out():
    quoted = f"<blockquote>{ICELANDIC[0]} {ICELANDIC[1]}</blockquote>"
    html = paragraphs(*ENGLISH[:2]) + quoted + paragraphs(*ENGLISH[2:])
    assert texts(html) == ("en", list(ENGLISH))


def test_short_blocks_are_in_the_language_of_their_letters():
    menu = "".join(
        f"<li>{name}</li>" for name in ("Vue School", "Weekly News", "Forum")
    )
    korean = (
        "라이브러리와 모든 기능을 담은 프레임워크입니다.",
        "최소의 노력. 최대의 성과.",
        "초고속 Virtual DOM",
    )
    html = f"<ul>{menu}</ul>" + paragraphs(ENGLISH[0], *korean, ENGLISH[1])
    lang, found = texts(html, ("en", "ko"))
    kept = [text for text in found if text in (*korean, *ENGLISH)]
    assert kept == list(korean if lang == "ko" else ENGLISH[:2])


def test_numbers_between_foreign_blocks_are_in_every_language():
    html = paragraphs(*ENGLISH * 2, ICELANDIC[0], "12.5 %", *ICELANDIC[1:])
    assert texts(html) == ("en", [*ENGLISH * 2, "12.5 %"])


def test_the_short_cells_of_a_column_are_in_its_language():
    rows = [*zip(ENGLISH, ICELANDIC), ("Boats", "Bátar"), ("Nets", "Net")]
    cells = "".join(f"<tr><td>{a}</td><td>{b}</td></tr>" for a, b in rows)
    lang, found = texts(f"<table>{cells}</table>")
    assert found == [row[lang == "is"] for row in rows]


def test_a_menu_of_short_foreign_links_is_left_out():
    entries = (
        "Um höfnina|Fréttir og veður|Hafa samband|Starfsmenn okkar|Bátar til sölu|"
        "Saga þorpsins|Sumarhús til leigu|Spurt og svarað|Veiðar í dag|Fundargerðir"
    )
    menu = "".join(f"<li><a href=/x>{entry}</a></li>" for entry in entries.split("|"))
    html = f"<ul>{menu}</ul>" + paragraphs(*ENGLISH * 2)
    assert texts(html) == ("en", [*ENGLISH * 2])


@pytest.mark.parametrize("lang", ["da", "nn"])
def test_languages_that_a_detector_confuses_do_not_take_a_page_apart(lang):
    norwegian = (
        "Havnen var stengt om vinteren fordi isen dekket hele bukten i flere måneder.",
        "Fiskerne bøtte garnene sine hjemme og ventet på at våren skulle komme.",
    )
    assert texts(paragraphs(*norwegian), ("no", lang))[1] == list(norwegian)


def read(html):
    page = Page.of_html("https://example.org/", f"<html><body>{html}</body></html>")
    return read_page(page, langs=("en", "is"))


def test_a_page_with_both_languages_is_two_documents_of_one_address():
    reading = read(paragraphs(*ENGLISH, "2 x 12", *ICELANDIC))
    found = {document.lang: document for document in reading.documents}
    assert {document.url for document in found.values()} == {"https://example.org/"}
    own = {
        lang: [block.text for block in blocks_of(document.tokens, document.chunks)]
        for lang, document in found.items()
    }
    assert own == {"en": [*ENGLISH, "2 x 12"], "is": ["2 x 12", *ICELANDIC]}
    assert len({document.digest for document in found.values()}) == 2


def test_a_quotation_is_no_document():
    quoted = f"<blockquote>{' '.join(ICELANDIC)}</blockquote>"
    assert len(read(paragraphs(*ENGLISH * 5) + quoted).documents) == 1


def test_the_documents_of_a_page_pair_with_each_other_and_keep_to_their_sides():
    profile = load_profile(AlignProfile, None)
    langs = LangPair("en", "is")
    reading = read(paragraphs(*ENGLISH, *ICELANDIC))
    with Aligner(langs, profile) as aligner:
        take_in(aligner, [reading, reading])
        assert aligner.store.counts() == {"example.org": (1, 1)}
    store = TextStore.open()
    for document in (*reading.documents, *reversed(reading.documents)):
        store.put(StoredText(document, Origin(document.url)))
    assert len(store) == 2
    for document in reading.documents:
        text = store.get(document.url, document.lang)
        assert text is not None
        assert text.document.chunks == document.chunks


def test_a_short_block_is_in_the_language_that_its_lang_attribute_says():
    html = paragraphs(*ENGLISH[:2]) + "<p lang=is-IS>Takk fyrir<p>Ok then"
    html += f"<div lang=xx><br lang=is>{paragraphs(*ENGLISH[2:])}</div>"
    assert texts(html) == ("en", [*ENGLISH[:2], "Ok then", *ENGLISH[2:]])


def test_a_lang_attribute_is_not_believed_against_the_text():
    html = paragraphs(*ENGLISH[:2]) + f"<section lang=is>{paragraphs(*ENGLISH[2:])}"
    assert texts(html) == ("en", list(ENGLISH))
