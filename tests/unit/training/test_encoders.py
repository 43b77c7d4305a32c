"""Encoders of many kinds, as tiny checkpoints of transformers: trained and used.

No hub and no GPU is needed: what is shown holds for the forms, not for the weights.
"""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch", reason="extra `train` is not installed")
pytest.importorskip("accelerate", reason="extra `train` is not installed")

from transformers import (  # noqa: E402
    BertConfig,
    BertForMaskedLM,
    ByT5Tokenizer,
    CanineConfig,
    CanineModel,
    CanineTokenizer,
    DebertaV2Config,
    DebertaV2ForMaskedLM,
    ModernBertConfig,
    ModernBertForMaskedLM,
    T5Config,
    T5EncoderModel,
    T5ForConditionalGeneration,
    XLMRobertaConfig,
    XLMRobertaForMaskedLM,
    XLMRobertaForSequenceClassification,
    XLMRobertaModel,
)

from crawler.errors import ModelError, UsageError  # noqa: E402
from models.encoder import XlmrUrlLanguageModel, XlmrUrlPairModel  # noqa: E402
from models.onnx import OnnxUrlLanguageModel, OnnxUrlPairModel  # noqa: E402
from training import appendix_a, export  # noqa: E402
from training.encoders import (  # noqa: E402
    EncoderConfig,
    EncoderNet,
    top_layers,
    url_tokenizer,
)
from training.loop import to_device  # noqa: E402

pytestmark = pytest.mark.models

URLS = ["https://x.org/is/frettir-vedur", "https://x.org/news-weather", "http://a.b/"]
PAIRS = [(URLS[0], URLS[1]), (URLS[1], URLS[2])]
SIZE = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 48,
}
WORDS = SIZE | {"vocab_size": 300}
NUMBERS = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
XLMR = WORDS | {"max_position_embeddings": 66, "type_vocab_size": 1}
T5 = {
    "vocab_size": 384,
    "d_model": 32,
    "d_kv": 16,
    "d_ff": 48,
    "num_layers": 2,
    "num_heads": 2,
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
}


def checkpoints():
    """Name → a network with random weights; masked language models and bare ones."""
    modern = NUMBERS | {"cls_token_id": 0, "sep_token_id": 2}
    return {
        "xlmr masked": lambda: XLMRobertaForMaskedLM(XLMRobertaConfig(**XLMR)),
        "xlmr bare": lambda: XLMRobertaModel(XLMRobertaConfig(**XLMR)),
        "xlmr classifier": lambda: XLMRobertaForSequenceClassification(
            XLMRobertaConfig(**XLMR, num_labels=7)
        ),
        "bert masked": lambda: BertForMaskedLM(BertConfig(**WORDS, pad_token_id=1)),
        "modernbert masked": lambda: ModernBertForMaskedLM(
            ModernBertConfig(**WORDS, max_position_embeddings=128, **modern)
        ),
        "mdeberta masked": lambda: DebertaV2ForMaskedLM(
            DebertaV2Config(**WORDS, max_position_embeddings=66, pad_token_id=1)
        ),
        "canine bare": lambda: CanineModel(
            CanineConfig(**SIZE, max_position_embeddings=256, num_hash_buckets=64)
        ),
        "byt5": lambda: T5ForConditionalGeneration(T5Config(**T5)),
    }


@pytest.fixture
def checkpoint(tmp_path):
    """A folder as the hub has it: config.json, safetensors, tokenizer."""

    def save(name):
        folder = tmp_path / name.replace(" ", "-")
        torch.manual_seed(3)
        network = checkpoints()[name]()
        network.save_pretrained(folder)
        if name.startswith("canine"):
            CanineTokenizer().save_pretrained(folder)
        elif name.startswith("byt5"):
            ByT5Tokenizer().save_pretrained(folder)
        else:
            url_tokenizer(URLS * 9, 300).save_pretrained(folder)
        return folder

    return save


SHORT = ["loop.workers=0", "loop.max_epochs=1", "encoder.max_tokens=64"]
FEW = ["rows.remarked=10", "rows.slugs=0"]
SMALL = """loop.workers=0 encoder.vocabulary=300 encoder.layers=1 encoder.width=64
    encoder.heads=1 loop.learning_rate=3e-3 loop.max_epochs=2""".split()


@pytest.mark.parametrize("name", sorted(checkpoints()))
def test_any_encoder_is_fine_tuned_and_crawled_with(
    bifocal_train, checkpoint, tmp_path, name
):
    start = f"encoder.pretrained={checkpoint(name)}"
    bifocal_train("language", "xlmr", tmp_path / "language", start, *SHORT, *FEW)
    languages = XlmrUrlLanguageModel(tmp_path / "language/model", device="cpu")
    assert {"unk", "de", "en", "is"} <= set(languages.predict(URLS)[0])
    bifocal_train("pair", "xlmr", tmp_path / "pair", start, *SHORT)
    pairs = XlmrUrlPairModel(tmp_path / "pair/model", device="cpu")
    answers = pairs.predict([*PAIRS, (URLS[0], "http://a.b/" + "x/" * 300)])
    assert all(0 < p < 1 for p in answers)


def test_appendix_a_fine_tunes_an_encoder_for_each_combination_that_is_named(
    data_folder, checkpoint, tmp_path
):
    out = tmp_path / "table.tsv"
    small = f"encoder.pretrained={checkpoint('xlmr masked')}"
    named = ["combinations=1,1+2", "folds=2", "per_site=4", "k=1"]
    appendix_a.main([f"data={data_folder}", f"out={out}", small, *named, *SHORT])
    _, *rows = out.read_text().splitlines()
    assert sorted(row.split("\t")[0] for row in rows) == ["1", "1+2"]
    with pytest.raises(UsageError, match="'2\\+1' is not one of the generators"):
        appendix_a.main([f"data={data_folder}", f"out={out}", "combinations=2+1"])


def test_a_missing_head_is_made_new_and_said_so(checkpoint, caplog):
    folder = checkpoint("xlmr masked")
    with caplog.at_level("INFO", logger="training.encoders"):
        EncoderNet(EncoderConfig(pretrained=str(folder)), ["a", "b", "c"], [])
    assert "the head is new, 3 outputs (4 weights missing)" in caplog.text


def test_a_head_of_other_labels_is_made_new_and_one_of_the_same_is_kept(
    checkpoint, caplog
):
    folder = checkpoint("xlmr classifier")
    names = [f"LABEL_{i}" for i in range(7)]
    with caplog.at_level("INFO", logger="training.encoders"):
        kept = EncoderNet(EncoderConfig(pretrained=str(folder)), names, [])
    assert caplog.text == ""
    saved = XLMRobertaForSequenceClassification.from_pretrained(folder)
    assert torch.equal(
        kept.network.classifier.dense.weight, saved.classifier.dense.weight
    )
    with caplog.at_level("INFO", logger="training.encoders"):
        new = EncoderNet(EncoderConfig(pretrained=str(folder)), [*"abcdefg"], [])
    assert "the head is new, 7 outputs (other labels)" in caplog.text
    assert not torch.equal(
        new.network.classifier.dense.weight, saved.classifier.dense.weight
    )


@pytest.mark.parametrize("name", sorted(checkpoints()))
def test_only_the_top_layer_starts_anew(checkpoint, name):
    folder = str(checkpoint(name))
    labels = ["a", "b", "c"]
    kept = EncoderNet(EncoderConfig(pretrained=folder, reinitialise=0), labels, [])
    anew = EncoderNet(EncoderConfig(pretrained=folder), labels, [])
    top = {id(p) for layer in top_layers(anew.network, 1) for p in layer.parameters()}
    assert top
    before = dict(kept.network.base_model.named_parameters())
    changed = {
        parameter_name
        for parameter_name, parameter in anew.network.base_model.named_parameters()
        if parameter.dim() > 1
        and not torch.equal(parameter, before[parameter_name])
        and ".pooler." not in f".{parameter_name}"
    }
    of_top = {
        parameter_name
        for parameter_name, parameter in anew.network.base_model.named_parameters()
        if id(parameter) in top and parameter.dim() > 1
    }
    assert changed == of_top


def test_an_encoder_without_its_own_weights_is_one_clear_error(tmp_path):
    T5EncoderModel(T5Config(**T5)).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="weights of the encoder are missing"):
        EncoderNet(EncoderConfig(pretrained=str(tmp_path)), ["a", "b"], [])


def test_an_encoder_without_a_head_is_not_a_model_to_crawl_with(checkpoint):
    with pytest.raises(ModelError, match=r"classifier\.dense\.bias first"):
        XlmrUrlLanguageModel(checkpoint("xlmr masked"))


def test_code_of_a_model_is_never_run(checkpoint, tmp_path, capsys):
    folder = checkpoint("xlmr masked")
    config = json.loads((folder / "config.json").read_text())
    config["auto_map"] = {"AutoModelForSequenceClassification": "own.Model"}
    config["model_type"] = "of-its-own"
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "own.py").write_text("print('this must never run')")
    with pytest.raises(ModelError, match="cannot be loaded"):
        EncoderNet(EncoderConfig(pretrained=str(folder)), ["a", "b"], [])
    assert "never run" not in capsys.readouterr().out


def test_a_pickle_is_not_read_as_an_encoder(checkpoint):
    folder = checkpoint("bert masked")
    (folder / "model.safetensors").unlink()
    torch.save({}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError):
        EncoderNet(EncoderConfig(pretrained=str(folder)), ["a", "b"], [])


@pytest.mark.parametrize("profile", ["compact", "bytes"])
@pytest.mark.parametrize("negatives", ["site", "synthetic"])
def test_small_encoders_are_trained_and_exported(
    bifocal_train, tmp_path, profile, negatives
):
    out, onnx = tmp_path / "encoder", tmp_path / "onnx"
    size = [v for v in SMALL if profile == "compact" or "vocabulary" not in v]
    bifocal_train("pair", profile, out, *size, f"rows.negatives={negatives}")
    export.main([str(out / "model"), str(onnx)])
    full = XlmrUrlPairModel(out / "model", device="cpu").predict(PAIRS)
    assert OnnxUrlPairModel(onnx).predict(PAIRS) == pytest.approx(full, abs=0.05)
    assert OnnxUrlPairModel(onnx).predict([]) == []
    with pytest.raises(ModelError, match="a pair model where a language model belongs"):
        OnnxUrlLanguageModel(onnx)
    with pytest.raises(ModelError, match="is it a pair model"):
        XlmrUrlLanguageModel(out / "model", device="cpu")


@pytest.mark.parametrize("name", ["xlmr masked", "modernbert masked", "bert masked"])
def test_a_fine_tuned_encoder_is_exported(bifocal_train, checkpoint, tmp_path, name):
    out, onnx = tmp_path / "out", tmp_path / "onnx"
    start = f"encoder.pretrained={checkpoint(name)}"
    bifocal_train("language", "xlmr", out, start, *SHORT, *FEW)
    export.main([str(out / "model"), str(onnx)])
    full = XlmrUrlLanguageModel(out / "model", device="cpu").predict(URLS)
    small = OnnxUrlLanguageModel(onnx).predict(URLS)
    assert set(small[0]) == set(full[0]) >= {"unk", "de", "en", "is"}
    for one, two in zip(small, full):
        assert one == pytest.approx(two, abs=0.05)
    with pytest.raises(ModelError, match="a language model where a pair model belongs"):
        OnnxUrlPairModel(onnx)
    with pytest.raises(ModelError, match="is it a language model"):
        XlmrUrlPairModel(out / "model", device="cpu")


def test_an_encoder_of_bytes_without_a_fast_tokenizer_is_not_exported(
    bifocal_train, checkpoint, tmp_path
):
    start = f"encoder.pretrained={checkpoint('byt5')}"
    bifocal_train("pair", "xlmr", tmp_path / "out", start, *SHORT)
    with pytest.raises(UsageError, match="ByT5Tokenizer cannot be exported"):
        export.export(tmp_path / "out/model", tmp_path / "onnx")


def test_bf16_trains_too(bifocal_train, tmp_path):
    bifocal_train("pair", "compact", tmp_path / "out", *SMALL, "loop.precision=bf16")
    _, *rows = (tmp_path / "out/curve.tsv").read_text().splitlines()
    assert len(rows) == 2


def test_the_profile_of_the_paper_has_its_languages_and_its_rows(
    bifocal_train, checkpoint, parquet_data, tmp_path
):
    start = [f"encoder.pretrained={checkpoint('xlmr masked')}", f"data={parquet_data}"]
    bifocal_train("language", "base", tmp_path / "out", *start, *SHORT)
    model = XlmrUrlLanguageModel(tmp_path / "out/model", device="cpu")
    assert len(model.labels) == 162
    assert model.labels[:3] == ["unk", "en", "de"]
    _, row = (tmp_path / "out/curve.tsv").read_text().splitlines()
    assert row.split("\t")[2] == "120"  # the URLs of four sites, as they stand


@pytest.mark.parametrize("student", ["compact", "hashed"])
def test_a_language_model_learns_from_a_teacher(
    bifocal_train, terms_file, tmp_path, student
):
    teacher, out = tmp_path / "teacher", tmp_path / "student"
    bifocal_train("language", "compact", teacher, *SMALL, *FEW)
    hashed = """hashed.buckets=4096 hashed.width=16 loop.batch_size=32 loop.workers=0
        loop.max_epochs=2""".split()
    size = hashed if student == "hashed" else SMALL
    # the truth has no weight here: what falls is the distance from the teacher
    values = [*size, *FEW, "distillation.weight=1.0"]
    bifocal_train("distil", student, out, *values, teacher=teacher / "model")
    rows = (out / "curve.tsv").read_text().splitlines()[1:]
    losses = [float(row.split("\t")[3]) for row in rows]
    assert losses[1] < losses[0]


def test_a_pair_model_learns_from_a_teacher(bifocal_train, tmp_path):
    teacher, out = tmp_path / "teacher", tmp_path / "student"
    bifocal_train("pair", "compact", teacher, *SMALL)
    bifocal_train("distil", "compact", out, *SMALL, teacher=teacher / "model")
    assert len(XlmrUrlPairModel(out / "model", device="cpu").predict([URLS[:2]])) == 1
    with pytest.raises(UsageError, match="trees have no teacher"):
        bifocal_train("distil", "hashed", out, teacher=teacher / "model")


def test_inputs_are_arrays_of_one_width():
    network = EncoderNet(EncoderConfig(max_tokens=16), ["a"], URLS * 9)
    batch = network.encode(["a", "a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q", "\ud800"])
    assert batch["input_ids"].shape == batch["attention_mask"].shape == (3, 16)
    assert batch["attention_mask"][0].sum() < 16
    assert network(to_device(batch, torch.device("cpu"))).shape == (3, 1)


def test_an_export_of_nothing_is_one_clear_error(tmp_path):
    with pytest.raises(UsageError, match=r"config\.json is missing"):
        export.export(tmp_path, tmp_path / "out")
    with pytest.raises(ModelError, match="not an exported model"):
        OnnxUrlPairModel(tmp_path)
    with pytest.raises(ModelError, match="URL_PAIR_MODEL_DIR"):
        OnnxUrlPairModel()
