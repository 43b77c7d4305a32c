from __future__ import annotations

import struct
from itertools import chain

import pytest

from crawler.errors import ProfileError, UsageError
from crawler.extract.detectors.open import DetectorConfig, open_detector
from crawler.extract.detectors.samples import SampleDetector
from crawler.extract.language import Cld2Detector
from crawler.extract.linearize import linearize
from crawler.extract.page_language import language_of_page
from tests.worlds import build_site

# Universal Declaration of Human Rights, article 1.
SAMI = """
Buot olbmot leat riegádan friddjan ja olmmošárvvu ja olmmošvuoigatvuođaid dáfus
ovttaárvosažžan. Sii leat jierbmelaš olbmot geain lea oamedovdu ja sii gálggašedje leat
dego vieljačagat."""
NORWEGIAN = """Alle mennesker er født frie og med samme menneskeverd og
menneskerettigheter. De er utstyrt med fornuft og samvittighet og bør handle mot
hverandre i brorskapets ånd."""
CROATIAN = """
Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima. Ona
su obdarena razumom i svijesti i trebaju jedno prema drugome postupati u duhu
bratstva. Stari most je sagrađen od kamena i dugo je bio jedini prijelaz."""


def text_of(lang: str, seed: int = 0) -> str:
    pages = build_site(langs=("en", lang), concepts=8, words=200, seed=seed).pages()
    return "\n".join(
        " ".join(linearize(page.body.decode()).chunks)
        for page in pages
        if f"/{lang}/" in page.url
    )


def language(html: str, langs: tuple[str, ...]) -> str | None:
    page = linearize(html)
    return language_of_page(page, "https://a.example/", Cld2Detector(), langs).lang


def test_what_no_detector_tells_apart_is_the_language_that_is_looked_for():
    page = f"<p>{CROATIAN}"
    for lang in ("hr", "bs", "sr", "cnr"):
        assert language(page, ("en", lang)) == lang
    assert language(f"<html lang=bs>{page}", ("en", "hr")) == "bs"
    assert language(f"<p>{NORWEGIAN}", ("en", "hr")) == "no"


def test_sh_is_a_name_that_is_accepted():
    assert open_detector(("en", "hr")).detect(CROATIAN).lang in ("hr", "bs", "sr")


def test_a_language_is_told_from_its_neighbours_by_samples_of_both():
    samples = {"xyz": text_of("fi"), "es": text_of("es")}
    detector = SampleDetector.learn(Cld2Detector(), samples)
    assert detector.detect(text_of("fi", 1)).lang == "xyz"
    assert detector.detect(text_of("es", 1)).lang == "es"
    assert detector.detect(text_of("fr", 1)).lang == "fr"
    assert detector.detect("").lang is None


def test_the_report_says_how_well_and_which_sample_is_missing():
    (line,) = SampleDetector.learn(Cld2Detector(), {"xyz": text_of("es")}).report()
    assert line.startswith("xyz: ")
    assert "calls" in line
    assert "es=FILE" in line


def test_mistakes_are_told_with_their_cure(tmp_path):
    short = tmp_path / "short.txt"
    short.write_text("Too little.")
    for samples, message in [
        (f"xyz={short}", "has 11 characters"),
        ("xyz=/nowhere", "write CODE=FILE"),
    ]:
        with pytest.raises(UsageError, match=message):
            open_detector(("en", "xyz"), DetectorConfig(samples=samples))
    with pytest.raises(UsageError, match="does not know the language 'se'"):
        open_detector(("no", "se"))
    with pytest.raises(ProfileError, match="cannot load"):
        open_detector(("en", "is"), DetectorConfig("mine.Detector"))


def test_heliport_tells_sami_from_norwegian():
    pytest.importorskip("heliport")
    detector = open_detector(("se", "no"), DetectorConfig("heliport"))
    for text, lang in ((SAMI, "se"), (NORWEGIAN, "no")):
        found = detector.detect(text)
        assert (found.lang, found.reliable) == (lang, True)
    assert detector.detect(CROATIAN).lang == "hr"
    assert detector.detect("").lang is None


def fasttext_model(texts: dict[str, str]) -> bytes:
    """A fastText model that knows the words of texts, in the format of its version 12.

    A word's vector, and a label's, has a one at the number of its language.
    """
    size = len(texts)
    words = {w: n for n, text in enumerate(texts.values()) for w in text.split()}
    entries = [(word, 0) for word in words] + [(f"__label__{t}", 1) for t in texts]
    softmax, supervised = 3, 3
    arguments = (size, 5, 5, 1, 5, 1, softmax, supervised, 0, 0, 0, 100)
    one = [[float(n == m) for m in range(size)] for n in range(size)]
    vectors = [one[n] for n in words.values()], [[9 * x for x in row] for row in one]
    return b"".join(
        [
            struct.pack("<ii12id", 793712314, 12, *arguments, 1e-4),
            struct.pack("<iiiqq", len(entries), len(words), size, 100, -1),
            *(word.encode() + struct.pack("<xqb", 1, kind) for word, kind in entries),
            *(
                struct.pack("<?qq", False, len(matrix), size)
                + struct.pack(f"<{len(matrix) * size}f", *chain(*matrix))
                for matrix in vectors
            ),
        ]
    )


def test_a_fasttext_model_is_taken_by_its_path(tmp_path):
    pytest.importorskip("fasttext")
    path = tmp_path / "lid.bin"
    path.write_bytes(fasttext_model({"sme_Latn": SAMI, "nob_Latn": NORWEGIAN}))
    detector = open_detector(("se", "no"), DetectorConfig(str(path)))
    for text, lang in ((SAMI, "se"), (NORWEGIAN, "no")):
        assert detector.detect(f"{text}\n{text}").lang == lang
    assert detector.detect("").lang is None
    assert detector.detect("Ich verstehe kein einziges Wort davon.").lang is None


def test_a_file_that_is_not_a_fasttext_model_is_a_clear_error(tmp_path):
    pytest.importorskip("fasttext")
    (tmp_path / "empty.bin").write_bytes(b"no model")
    for name in ("empty.bin", "missing.ftz"):
        with pytest.raises(UsageError, match="give the file of a fastText model"):
            open_detector(("se", "no"), DetectorConfig(str(tmp_path / name)))
