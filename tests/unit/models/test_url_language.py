from __future__ import annotations

import numpy as np
import pytest

from crawler.errors import ModelError
from models.url_language import HashedUrlLanguageModel, language_inputs

HOSTILE = [
    "http://x/",
    "http://[::1]/",
    "https://a.org/%ff%fe",
    "http://a.b/?" + "&" * 500,
]


@pytest.fixture(scope="module")
def model():
    return HashedUrlLanguageModel()


def best(answer):
    return max(answer, key=answer.get)


@pytest.mark.parametrize(
    ("url", "lang"),
    [
        ("https://www.townmuseum.org/is/um-okkur", "is"),
        ("https://mt.townmuseum.org/", "mt"),
        ("https://www.townmuseum.org/page_ga.html", "ga"),
        ("https://www.townmuseum.org/index.php?lang=eu", "eu"),
        ("https://www.townmuseum.com/die-wichtigsten-nachrichten-des-tages", "de"),
        ("https://www.townmuseum.com/la-verdad-sobre-el-cambio-climatico", "es"),
    ],
)
def test_reads_markers_and_words(model, url, lang):
    assert best(model.predict([url])[0]) == lang


def test_a_code_that_training_hardly_saw_is_read(model):
    for lang in ("lb", "fo", "gd", "mi"):
        assert (
            best(model.predict([f"https://www.townmuseum.org/{lang}/products"])[0])
            == lang
        )


def test_answers_are_probabilities(model):
    urls = ["https://www.townmuseum.org/", "https://www.townmuseum.org/fr/x", *HOSTILE]
    for answer in model.predict(urls):
        assert sum(answer.values()) == pytest.approx(1)
        assert all(0 <= p <= 1 for p in answer.values())
        assert "unk" in answer


def test_an_answer_does_not_depend_on_the_batch(model):
    urls = ["https://www.townmuseum.org/de/a", "https://x.is/frettir", *HOSTILE]
    together = model.probabilities(urls)
    for i, url in enumerate(urls):
        np.testing.assert_allclose(
            model.probabilities([url])[0], together[i], atol=1e-5
        )


def test_no_urls(model):
    assert model.predict([]) == []


def test_a_marker_of_two_languages_counts_for_both():
    index = {"unk": 0, "br": 1, "pt": 2}
    inputs = language_inputs(["https://www.townmuseum.org/br/x"], index, 16)
    assert sorted(inputs.labels.tolist()) == [1, 2]
    assert set(inputs.rows.tolist()) == {0}


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04broken"])
def test_damaged_weights_are_one_clear_error(tmp_path, content):
    path = tmp_path / "weights.npz"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"weights\.npz: cannot be read as weights"):
        HashedUrlLanguageModel(path)


def test_missing_weights_are_one_clear_error(tmp_path):
    with pytest.raises(ModelError, match="cannot be read as weights"):
        HashedUrlLanguageModel(tmp_path / "none.npz")


def test_weights_of_something_else_are_one_clear_error(tmp_path):
    path = tmp_path / "weights.npz"
    np.savez(path, meta="{}", other=np.zeros(3))
    with pytest.raises(ModelError, match="not the weights of a hashed language model"):
        HashedUrlLanguageModel(path)
