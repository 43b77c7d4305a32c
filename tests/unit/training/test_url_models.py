"""Both training commands, end to end on sixty URLs."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `train` is not installed")
pytest.importorskip("accelerate", reason="extra `train` is not installed")

from benchmarks import learning_curve  # noqa: E402
from crawler.errors import ModelError, UsageError  # noqa: E402
from models.encoder import XlmrUrlLanguageModel, XlmrUrlPairModel  # noqa: E402
from models.onnx import OnnxUrlLanguageModel, OnnxUrlPairModel  # noqa: E402
from models.url_language import HashedUrlLanguageModel  # noqa: E402
from models.url_pair import FEATURES, HashedUrlPairModel, PairFeatures  # noqa: E402
from training import (  # noqa: E402
    appendix_a,
    evaluate,
    export,
    url_language,
    url_pair,
)

pytestmark = pytest.mark.models

URLS = ["https://x.org/is/frettir-vedur", "https://x.org/news-weather", "http://a.b/"]
TINY_ENCODER = """encoder.vocabulary=300 encoder.layers=1 encoder.width=64
    encoder.heads=1 loop.learning_rate=3e-3 loop.max_epochs=2""".split()
TINY_HASHED = """hashed.buckets=4096 hashed.width=16 loop.max_epochs=4
    rows.remarked=30 rows.slugs=30 loop.batch_size=32""".split()
TINY_PAIRS = """words.buckets=4096 words.width=16 words.texts=128
    words.loop.max_epochs=2 words.loop.batch_size=32
    trees.trees=10 trees.min_rows=5""".split()


def words(data_folder, out, *more):
    return [f"data={data_folder}", f"out={out}", *more]


@pytest.fixture
def language_weights(data_folder, terms_file, tmp_path):
    out = tmp_path / "language"
    url_language.main(
        [
            "language-hashed",
            *words(data_folder, out, f"terms={terms_file}"),
            *TINY_HASHED,
        ]
    )
    return out / "url_language.npz"


def test_the_hashed_language_model(language_weights):
    model = HashedUrlLanguageModel(language_weights)
    answers = model.predict(URLS)
    assert max(answers[0], key=answers[0].get) == "is"
    assert sum(answers[1].values()) == pytest.approx(1)


def test_markers_are_trusted_as_dev_says():
    from training.networks import HashedLanguageNet

    network = HashedLanguageNet(["unk", "en", "is"], 4096, 16, 0.2)
    better_from = 1.5  # dev has nothing against more, but nothing for it either
    best = url_language.fit_trust(network, lambda: float(network.trust >= better_from))
    assert best == (1.0, better_from)


def test_numpy_and_torch_agree(language_weights, data_folder):
    """The shipped code computes what was trained, but for the table's 8 bits."""
    from training.loop import load_tensors
    from training.networks import HashedLanguageNet

    model = HashedUrlLanguageModel(language_weights)
    network = HashedLanguageNet(model.labels, 4096, 16, 0.2)
    network.load_state_dict(
        load_tensors(language_weights.parent / "best.pt")["network"]
    )
    with np.load(language_weights) as content:
        meta = json.loads(str(content["meta"]))
    network.trust = meta["trust"]
    scores = network.eval()(URLS) / meta["temperature"]
    expected = scores.softmax(1).detach().numpy()
    np.testing.assert_allclose(model.probabilities(URLS), expected, atol=0.02)


def test_the_hashed_pair_model(data_folder, terms_file, language_weights, tmp_path):
    out = tmp_path / "pair"
    more = [f"terms={terms_file}", f"languages={language_weights}", *TINY_PAIRS]
    url_pair.main(["pair-hashed", *words(data_folder, out, *more)])
    model = HashedUrlPairModel(
        out / "url_pair.npz", HashedUrlLanguageModel(language_weights)
    )
    p = model.predict([(URLS[0], URLS[1]), (URLS[1], URLS[2]), (URLS[0], URLS[0])])
    assert all(0 <= value <= 1 for value in p)
    assert p[2] == 0  # a page is not a translation of itself
    assert model.predict([]) == []


@pytest.mark.parametrize("negatives", ["site", "synthetic"])
def test_encoders_are_trained_exported_and_loaded(data_folder, tmp_path, negatives):
    out, onnx = tmp_path / "encoder", tmp_path / "onnx"
    options = [*TINY_ENCODER, f"rows.negatives={negatives}"]
    url_pair.main(["pair-compact", *words(data_folder, out, *options)])
    export.main([str(out / "model"), str(onnx)])
    pairs = [(URLS[0], URLS[1]), (URLS[1], URLS[2])]
    full = XlmrUrlPairModel(out / "model", device="cpu").predict(pairs)
    assert OnnxUrlPairModel(onnx).predict(pairs) == pytest.approx(full, abs=0.05)
    assert OnnxUrlPairModel(onnx).predict([]) == []


def test_a_language_encoder_goes_on_from_a_pretrained_one(
    data_folder, tmp_path, monkeypatch
):
    first, second, onnx = (tmp_path / name for name in ("first", "second", "onnx"))
    rows = ["rows.remarked=10", "rows.slugs=0"]
    url_language.main(
        ["language-compact", *words(data_folder, first, *TINY_ENCODER, *rows)]
    )
    options = [f"encoder.pretrained={first / 'model'}", "loop.max_epochs=1", *rows]
    url_language.main(
        [
            "language-base",
            *words(data_folder, second, *options),
            "encoder.max_tokens=64",
        ]
    )
    full = XlmrUrlLanguageModel(second / "model", device="cpu").predict(URLS)
    export.main([str(second / "model"), str(onnx)])
    small = OnnxUrlLanguageModel(onnx).predict(URLS)
    assert set(small[0]) == set(full[0]) >= {"unk", "de", "en", "is"}
    for one, two in zip(small, full):
        assert one == pytest.approx(two, abs=0.05)


@pytest.mark.parametrize("student", ["language-compact", "language-hashed"])
def test_a_language_model_learns_from_a_teacher(
    data_folder, terms_file, tmp_path, student
):
    teacher, out = tmp_path / "teacher", tmp_path / "student"
    encoder, rows = TINY_ENCODER[:-1], ["rows.remarked=10", "rows.slugs=0"]
    first = words(data_folder, teacher, *encoder, *rows, "loop.max_epochs=1")
    url_language.main(["language-compact", *first])
    size = TINY_HASHED if student == "language-hashed" else encoder
    options = [f"distillation.teacher={teacher / 'model'}", "distillation.weight=1.0"]
    url_language.main(
        [student, *words(data_folder, out, *size, *rows, *options), "loop.max_epochs=2"]
    )
    # the truth has no weight here: what falls is the distance from the teacher
    losses = [
        float(row.split("\t")[2])
        for row in (out / "curve.tsv").read_text().splitlines()[1:]
    ]
    assert losses[1] < losses[0]


def test_a_pair_model_learns_from_a_teacher(data_folder, tmp_path):
    teacher, out = tmp_path / "teacher", tmp_path / "student"
    url_pair.main(["pair-compact", *words(data_folder, teacher, *TINY_ENCODER)])
    option = f"distillation.teacher={teacher / 'model'}"
    url_pair.main(["pair-compact", *words(data_folder, out, *TINY_ENCODER, option)])
    assert len(XlmrUrlPairModel(out / "model", device="cpu").predict([URLS[:2]])) == 1
    with pytest.raises(UsageError, match="trees have no teacher"):
        url_pair.main(["pair-hashed", *words(data_folder, out, option)])


def test_a_learning_curve_has_a_row_for_each_share(
    data_folder, terms_file, language_weights, tmp_path
):
    terms = f"terms={terms_file}"
    out = tmp_path / "curve"
    learning_curve.main(
        ["language", "language-hashed", *words(data_folder, out, terms), *TINY_HASHED]
    )
    header, *rows = (out / "learning_curve.tsv").read_text().splitlines()
    assert header.split("\t")[:2] == ["share", "macro_f1"]
    assert [row.split("\t")[0] for row in rows] == ["0.25", "0.5", "1"]
    more = [terms, f"languages={language_weights}", *TINY_PAIRS]
    learning_curve.main(
        ["pair", "pair-hashed", *words(data_folder, tmp_path / "pairs", *more)]
    )
    assert (tmp_path / "pairs" / "0.25" / "url_pair.npz").exists()
    with pytest.raises(UsageError, match="give one of language, pair"):
        learning_curve.main(["base"])


def test_models_and_rules_are_judged_by_one_command(
    data_folder, language_weights, tmp_path, capsys
):
    out = tmp_path / "figures.json"
    evaluate.main(
        [
            f"data={data_folder}",
            "languages=models.rules.UrlLanguageRules",
            "pairs=models.rules.UrlPairRules",
            f"out={out}",
        ]
    )
    result = json.loads(out.read_text())
    assert result["language"]["model"]["kinds"]["code"]["accuracy"] == 1
    assert result["pair"]["model"]["translated"]["positive"]["rows"] == 20
    recalls = result["wmt16"]["model"]
    assert (recalls["candidates"], recalls["official_recall"]) == (4, 1.0)
    assert "WMT16 recall, official rule" in capsys.readouterr().out


def test_appendix_a_compares_all_combinations(data_folder, tmp_path):
    pytest.importorskip("sklearn", reason="extra `train` is not installed")
    out = tmp_path / "table.tsv"
    appendix_a.main([f"data={data_folder}", f"out={out}", "folds=2"])
    header, *rows = out.read_text().splitlines()
    assert header.split("\t")[0] == "generators"
    assert len(rows) == len(appendix_a.combinations()) == 63


def test_features_are_numbers_from_0_to_1(language_weights):
    features = PairFeatures(
        np.zeros((4096, 8), dtype=np.float32), HashedUrlLanguageModel(language_weights)
    )
    rows = features([(a, b) for a in URLS for b in URLS])
    assert rows.shape == (9, len(FEATURES))
    assert rows.min() >= 0
    assert rows.max() <= 1 + 1e-5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no profile"),
        (["language-hashed"], "no data folder"),
        (["language-hashed", "data=x"], "no out folder"),
        (["language-hashed", "data=x", "out=y", "loop.lr=1"], "unknown key 'lr'"),
    ],
)
def test_bad_commands_are_one_clear_error(arguments, message):
    with pytest.raises(UsageError, match=message):
        url_language.main(arguments)


def test_an_export_of_nothing_is_one_clear_error(tmp_path):
    with pytest.raises(UsageError, match=r"no tokenizer\.json"):
        export.export(tmp_path, tmp_path / "out")
    with pytest.raises(ModelError, match="not an exported model"):
        OnnxUrlPairModel(tmp_path)
    with pytest.raises(ModelError, match="URL_PAIR_MODEL_DIR"):
        OnnxUrlPairModel()
