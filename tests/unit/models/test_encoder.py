"""Tiny local checkpoints of exactly the released forms ."""

from __future__ import annotations

import json

import pytest

torch = pytest.importorskip("torch", reason="extra `xlmr` is not installed")
pytest.importorskip("transformers", reason="extra `xlmr` is not installed")

from safetensors.torch import save_file  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: E402
from transformers import (  # noqa: E402
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)

from crawler.errors import ModelError  # noqa: E402
from models.encoder import (  # noqa: E402
    URL2LANG_LABELS,
    XlmrUrlLanguageModel,
    XlmrUrlPairModel,
)

pytestmark = pytest.mark.models

URLS = ["https://example.org/is/frettir", "https://example.org/en/news", "http://a.b/"]
PAIRS = [(URLS[0], URLS[1]), (URLS[1], URLS[0]), (URLS[0], URLS[2])]


def config(labels, positions=270, **changes):
    return XLMRobertaConfig(
        vocab_size=300,
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=1,
        intermediate_size=48,
        max_position_embeddings=positions,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
        num_labels=labels,
        **changes,
    )


def network(labels, **changes):
    torch.manual_seed(7)
    return XLMRobertaForSequenceClassification(config(labels, **changes)).eval()


def write_tokenizer(folder):
    vocab = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}
    for i in range(33, 250):
        vocab.setdefault(chr(i), len(vocab))
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>"])
    tokenizer.save(str(folder / "tokenizer.json"))


def hub_folder(folder, model, *, pickled=False):
    folder.mkdir(exist_ok=True)
    write_tokenizer(folder)
    (folder / "config.json").write_text(json.dumps(model.config.to_dict()))
    (folder / "tokenizer_config.json").write_text("{}")
    if pickled:
        torch.save(model.state_dict(), folder / "pytorch_model.bin")
    else:
        save_file(model.state_dict(), folder / "model.safetensors")
    return folder


def native_file(folder, model, task):
    """A checkpoint as the authors' code saves it: torch.save of two tables."""
    write_tokenizer(folder)
    state = model.state_dict()
    encoder = {k[len("roberta.") :]: v for k, v in state.items() if "roberta." in k}
    encoder["pooler.dense.weight"] = torch.zeros(64, 64)
    encoder["pooler.dense.bias"] = torch.zeros(64)
    tasks = {
        k.replace("classifier", task): v for k, v in state.items() if "classifier" in k
    }
    torch.save({"encoder": encoder, "tasks": tasks}, folder / "best.pt")
    return folder / "best.pt"


def test_162_outputs_without_names_are_url2langs_languages(tmp_path):
    model = XlmrUrlLanguageModel(hub_folder(tmp_path / "m", network(162)))
    (answer, *_) = model.predict(URLS)
    assert len(URL2LANG_LABELS) == 162
    assert URL2LANG_LABELS[0] == "unk"
    assert sum(answer.values()) == pytest.approx(1)
    assert {"unk", "en", "is", "mt", "eu", "fi"} <= set(answer)
    assert "isl" not in answer


def test_names_in_the_config_win(tmp_path):
    names = {0: "unk", 1: "isl", 2: "eng"}
    folder = hub_folder(
        tmp_path / "m",
        network(3, id2label=names, label2id={v: k for k, v in names.items()}),
    )
    assert set(XlmrUrlLanguageModel(folder).predict(URLS)[0]) == {"unk", "is", "en"}


def test_outputs_without_names_that_are_not_url2langs_are_refused(tmp_path):
    with pytest.raises(ModelError, match="id2label"):
        XlmrUrlLanguageModel(hub_folder(tmp_path / "m", network(5)))


@pytest.mark.parametrize("labels", [1, 2])
def test_pair_heads_with_one_and_two_logits(tmp_path, labels):
    reference = network(labels)
    model = XlmrUrlPairModel(hub_folder(tmp_path / "m", reference))
    encoded = model.tokenizer(
        "example . org / is / frettir</s>example . org / en / news",
        return_tensors="pt",
    )
    logits = reference(**encoded).logits[0]
    expected = logits.sigmoid()[0] if labels == 1 else logits.softmax(-1)[1]
    assert model.predict(PAIRS)[0] == pytest.approx(expected.item(), abs=1e-5)


def test_a_pair_is_read_with_one_separator(tmp_path):
    model = XlmrUrlPairModel(hub_folder(tmp_path / "m", network(1)))
    (ids,) = model.tokenizer(["a</s>b"])["input_ids"]
    assert ids.count(2) == 2  # between, and at the end


def test_another_number_of_outputs_is_not_a_pair_model(tmp_path):
    with pytest.raises(ModelError, match="language model"):
        XlmrUrlPairModel(hub_folder(tmp_path / "m", network(162)))


def test_both_directions_are_symmetric(tmp_path):
    folder = hub_folder(tmp_path / "m", network(1))
    model = XlmrUrlPairModel(folder, both_directions=True)
    forth, back, _ = model.predict(PAIRS)
    assert forth == pytest.approx(back, abs=1e-6)


def test_pickled_weights_give_the_same(tmp_path):
    safe = XlmrUrlPairModel(hub_folder(tmp_path / "a", network(1)))
    pickled = XlmrUrlPairModel(hub_folder(tmp_path / "b", network(1), pickled=True))
    assert safe.predict(PAIRS) == pytest.approx(pickled.predict(PAIRS))


@pytest.mark.parametrize(
    ("task", "labels", "kind"),
    [
        ("urls_classification", 1, XlmrUrlPairModel),
        ("language-identification", 162, XlmrUrlLanguageModel),
    ],
)
def test_native_checkpoints_give_the_same(tmp_path, task, labels, kind):
    reference = kind(hub_folder(tmp_path / "hub", network(labels)))
    native = kind(native_file(tmp_path, network(labels), task))
    arguments = PAIRS if labels == 1 else URLS
    one, other = reference.predict(arguments), native.predict(arguments)
    if labels == 1:
        assert one == pytest.approx(other, abs=1e-6)
    else:
        assert [a["en"] for a in one] == pytest.approx([b["en"] for b in other])


def test_batches_and_order_change_nothing(tmp_path):
    folder = hub_folder(tmp_path / "m", network(1))
    many = XlmrUrlPairModel(folder, batch_size=2).predict(PAIRS)
    one = [XlmrUrlPairModel(folder, batch_size=1).predict([p])[0] for p in PAIRS]
    assert many == pytest.approx(one, abs=1e-6)


def test_hostile_urls_are_scored(tmp_path):
    model = XlmrUrlLanguageModel(hub_folder(tmp_path / "m", network(162)))
    urls = ["http://a.b/" + "x/" * 3000, "http://a.b/\ud800", "", "</s>" * 50]
    assert len(model.predict(urls)) == 4
    assert model.predict([]) == []


def test_a_compact_model_reads_what_it_has_positions_for(tmp_path):
    folder = hub_folder(tmp_path / "m", network(162, positions=66))
    long = "http://a.b/" + "x/" * 60  # 131 tokens
    cut, whole = XlmrUrlLanguageModel(folder).predict([long[:62], long])
    assert cut == pytest.approx(whole, abs=1e-6)


class Evil:
    def __reduce__(self):
        return (print, ("this must never run",))


def test_code_in_a_pickle_is_never_run(tmp_path, capsys):
    folder = hub_folder(tmp_path / "m", network(1), pickled=True)
    torch.save({"x": Evil()}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match="never run"):
        XlmrUrlPairModel(folder)
    assert "never run" not in capsys.readouterr().out


@pytest.mark.parametrize("missing", ["config.json", "model.safetensors"])
def test_an_incomplete_folder_is_an_error_that_says_so(tmp_path, missing):
    folder = hub_folder(tmp_path / "m", network(1))
    (folder / missing).unlink()
    with pytest.raises(ModelError, match=missing):
        XlmrUrlPairModel(folder)


def test_weights_of_another_architecture_are_refused(tmp_path):
    folder = hub_folder(tmp_path / "m", network(1))
    save_file({"a": torch.zeros(2)}, folder / "model.safetensors")
    with pytest.raises(ModelError, match="missing"):
        XlmrUrlPairModel(folder)
