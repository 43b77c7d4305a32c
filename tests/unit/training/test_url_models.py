"""The trainings of the hashed models, and the judgement, end to end on sixty URLs."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `train` is not installed")
pytest.importorskip("accelerate", reason="extra `train` is not installed")

from benchmarks import learning_curve  # noqa: E402
from crawler.errors import UsageError  # noqa: E402
from models.url_language import HashedUrlLanguageModel  # noqa: E402
from models.url_pair import FEATURES, HashedUrlPairModel, PairFeatures  # noqa: E402
from training import appendix_a, evaluate, url_language  # noqa: E402
from training.loop import load_tensors, to_device  # noqa: E402
from training.networks import HashedLanguageNet  # noqa: E402

pytestmark = pytest.mark.models

URLS = ["https://x.org/is/frettir-vedur", "https://x.org/news-weather", "http://a.b/"]
TINY_HASHED = """loop.workers=0 hashed.buckets=4096 hashed.width=16 loop.max_epochs=4
    rows.remarked=30 rows.slugs=30 loop.batch_size=32""".split()
TINY_PAIRS = """words.loop.workers=0 words.buckets=4096 words.width=16 words.texts=128
    words.loop.max_epochs=2 words.loop.batch_size=32
    trees.trees=10 trees.min_rows=5""".split()


@pytest.fixture
def language_weights(bifocal_train, data_folder, terms_file, tmp_path):
    out = tmp_path / "language"
    bifocal_train("language", "hashed", out, f"terms={terms_file}", *TINY_HASHED)
    return out / "url_language.npz"


def test_the_hashed_language_model(language_weights, capsys):
    model = HashedUrlLanguageModel(language_weights)
    answers = model.predict(URLS)
    assert max(answers[0], key=answers[0].get) == "is"
    assert sum(answers[1].values()) == pytest.approx(1)


def test_the_last_lines_name_the_model_and_the_crawl(bifocal_train, tmp_path, capsys):
    bifocal_train("language", "hashed", tmp_path / "run", *TINY_HASHED)
    *_, figure, model, crawl = capsys.readouterr().out.splitlines()
    path = tmp_path / "run/url_language.npz"
    assert figure.startswith("dev macro F1 ")
    assert model == f"model: {path}"
    assert crawl.startswith("crawl with it: scrapy crawl bilingual")
    assert crawl.endswith(f"-s URL_LANGUAGE_MODEL_DIR={path}")


def test_markers_are_trusted_as_dev_says():
    network = HashedLanguageNet(["unk", "en", "is"], 4096, 16, 0.2)
    better_from = 1.5  # dev has nothing against more, but nothing for it either
    best = url_language.fit_trust(network, lambda: float(network.trust >= better_from))
    assert best == (1.0, better_from)


def test_numpy_and_torch_agree(language_weights):
    """The shipped code computes what was trained, but for the table's 8 bits."""
    model = HashedUrlLanguageModel(language_weights)
    network = HashedLanguageNet(model.labels, 4096, 16, 0.2)
    network.load_state_dict(
        load_tensors(language_weights.parent / "best.pt")["network"]
    )
    with np.load(language_weights) as content:
        meta = json.loads(str(content["meta"]))
    network.trust = meta["trust"]
    batch = to_device(network.encode(URLS), torch.device("cpu"))
    scores = network.eval()(batch) / meta["temperature"]
    expected = scores.softmax(1).detach().numpy()
    np.testing.assert_allclose(model.probabilities(URLS), expected, atol=0.02)


def test_the_hashed_pair_model(bifocal_train, terms_file, language_weights, tmp_path):
    out = tmp_path / "pair"
    values = [f"terms={terms_file}", f"languages={language_weights}", *TINY_PAIRS]
    bifocal_train("pair", "hashed", out, *values)
    model = HashedUrlPairModel(
        out / "url_pair.npz", HashedUrlLanguageModel(language_weights)
    )
    p = model.predict([(URLS[0], URLS[1]), (URLS[1], URLS[2]), (URLS[0], URLS[0])])
    assert all(0 <= value <= 1 for value in p)
    assert p[2] == 0  # a page is not a translation of itself
    assert model.predict([]) == []


def test_both_models_by_one_command(bifocal_train, tmp_path, capsys):
    """The terms are those of the folder of data, if it has any."""
    language = [f"language.{value}" for value in TINY_HASHED]
    pair = [f"pair.{value}" for value in TINY_PAIRS]
    bifocal_train("all", "hashed", tmp_path / "both", *language, *pair)
    assert capsys.readouterr().out.count("crawl with it") == 2
    HashedUrlPairModel(
        tmp_path / "both/pair/url_pair.npz",
        HashedUrlLanguageModel(tmp_path / "both/language/url_language.npz"),
    )


def test_a_learning_curve_has_a_row_for_each_share(
    data_folder, terms_file, language_weights, tmp_path
):
    folders = [f"data={data_folder}", f"terms={terms_file}"]
    out = tmp_path / "curve"
    learning_curve.main(["language", "hashed", *folders, f"out={out}", *TINY_HASHED])
    header, *rows = (out / "learning_curve.tsv").read_text().splitlines()
    assert header.split("\t")[:2] == ["share", "macro_f1"]
    assert [row.split("\t")[0] for row in rows] == ["0.25", "0.5", "1"]
    more = [f"out={tmp_path / 'pairs'}", f"languages={language_weights}", *TINY_PAIRS]
    learning_curve.main(["pair", "hashed", *folders, *more])
    assert (tmp_path / "pairs" / "0.25" / "url_pair.npz").exists()
    with pytest.raises(UsageError, match="give one of language, pair"):
        learning_curve.main(["base"])


def test_models_and_rules_are_judged_by_one_command(data_folder, tmp_path, capsys):
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
    ("kind", "profile", "values", "message"),
    [
        ("language", "bse", [], "did you mean 'base'"),
        ("pair", "language-base", [], "not a pair profile"),
        ("language", "hashed", ["loop.lr=1"], "unknown key 'lr'"),
        ("language", "hashed", ["labels=mine"], "not all or url2lang"),
        ("language", "hashed", ["data=/nowhere"], "/nowhere: not a folder"),
        ("language", "hashed", ["out="], "which out folder"),
        ("language", "hashed", ["loop.schedule=cosine"], "not inverse_sqrt or linear"),
        ("language", "hashed", ["loop.precision=half"], "not auto, bf16 or no"),
        ("language", "hashed", ["terms=/no"], "no such table of terms"),
        ("language", "base", [], "train.parquet"),
        ("pair", "compact", ["rows.negatives=made-up"], "unknown negatives"),
    ],
)
def test_bad_words_are_one_clear_error(
    bifocal_train, tmp_path, kind, profile, values, message
):
    with pytest.raises(UsageError, match=message):
        bifocal_train(kind, profile, tmp_path / "out", *values)


def test_data_without_a_table_are_one_clear_error(bifocal_train, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="bifocal data build"):
        bifocal_train("pair", "hashed", tmp_path / "out", f"data={tmp_path / 'empty'}")
