"""Small models of the forms that are released, with random weights."""

from __future__ import annotations

import json

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `encode` is not installed")
pytest.importorskip("transformers", reason="extra `encode` is not installed")

from safetensors.torch import save_file  # noqa: E402
from tokenizers import Tokenizer, models, pre_tokenizers, processors  # noqa: E402
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast  # noqa: E402

from crawler.aligner.sentences.aligner import SentencesConfig  # noqa: E402
from crawler.aligner.sentences.texts import TextAligner  # noqa: E402
from crawler.data import LangPair  # noqa: E402
from crawler.errors import ModelError  # noqa: E402
from models.sentence_encoder import load  # noqa: E402

pytestmark = pytest.mark.models

WORDS = "the ferry leaves at nine red books milk".split()
TEXTS = ["the ferry leaves", "red books", "milk", "the ferry leaves at nine", "red"]


def tokenizer() -> Tokenizer:
    vocabulary = {word: n for n, word in enumerate(["[PAD]", "[UNK]", "[CLS]", *WORDS])}
    made = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A", special_tokens=[("[CLS]", 2)]
    )
    return made


def transformer(folder):
    """A BERT of the form that LaBSE has, at a thousandth of its size."""
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(WORDS) + 3,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=40,
    )
    network = BertModel(config).eval()
    network.save_pretrained(folder)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer(), pad_token="[PAD]", unk_token="[UNK]"
    )
    fast.save_pretrained(folder)
    return network


def module(folder, name, kind, settings, tensors=None):
    (folder / name).mkdir()
    (folder / name / "config.json").write_text(json.dumps(settings))
    if tensors:
        save_file(tensors, folder / name / "model.safetensors")
    return {"type": f"sentence_transformers.models.{kind}", "path": name}


@pytest.fixture
def labse(tmp_path):
    """A folder of Sentence Transformers: first token, dense layer, tanh."""
    network = transformer(tmp_path)
    dense = torch.nn.Linear(16, 8)
    modules = [
        {"type": "sentence_transformers.models.Transformer", "path": ""},
        module(tmp_path, "1_Pooling", "Pooling", {"pooling_mode_cls_token": True}),
        module(
            tmp_path,
            "2_Dense",
            "Dense",
            {"activation_function": "torch.nn.modules.activation.Tanh"},
            {"linear.weight": dense.weight.data, "linear.bias": dense.bias.data},
        ),
        {"type": "sentence_transformers.models.Normalize", "path": "3_Normalize"},
    ]
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    return tmp_path, network, dense


@torch.no_grad()
def last_layer(network, text):
    ids = torch.tensor([tokenizer().encode(text).ids])
    return network(ids).last_hidden_state[0]


def test_a_folder_of_sentence_transformers_gives_what_its_parts_give(labse):
    folder, network, dense = labse
    vectors = load(str(folder))(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        expected = torch.tanh(dense(last_layer(network, text)[0])).detach().numpy()
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_an_encoder_without_a_description_gives_the_mean_of_its_last_layer(tmp_path):
    network = transformer(tmp_path)
    vectors = load(str(tmp_path))(TEXTS)
    for text, vector in zip(TEXTS, vectors, strict=True):
        expected = last_layer(network, text).mean(0).numpy()
        np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_batches_and_a_text_longer_than_the_model_give_finite_vectors(labse):
    encoder = load(str(labse[0]))
    texts = [" ".join(WORDS[: n % 7]) for n in range(150)] + ["red " * 500, "\ud800"]
    vectors = encoder(texts)
    assert vectors.shape == (152, 8)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(vectors[1], encoder([texts[1]])[0], atol=1e-5)
    assert len(encoder([])) == 0


@pytest.mark.parametrize("form", ["sentence-transformers", "model2vec"])
def test_static_embeddings_are_the_mean_of_the_vectors_of_tokens(tmp_path, form):
    table = torch.randn(len(WORDS) + 3, 6)
    save_file({"embedding.weight": table}, tmp_path / "model.safetensors")
    tokenizer().save(str(tmp_path / "tokenizer.json"))
    if form == "model2vec":
        (tmp_path / "config.json").write_text('{"model_type": "model2vec"}')
    else:
        rows = [{"type": "sentence_transformers.models.StaticEmbedding", "path": ""}]
        (tmp_path / "modules.json").write_text(json.dumps(rows))
    vectors = load(str(tmp_path))(["red books", ""])
    ids = tokenizer().encode("red books", add_special_tokens=False).ids
    np.testing.assert_allclose(vectors[0], table[ids].mean(0).numpy(), atol=1e-6)
    assert not vectors[1].any()


def test_weights_in_a_pickle_are_refused(tmp_path):
    transformer(tmp_path)
    weights = tmp_path / "model.safetensors"
    weights.rename(tmp_path / "pytorch_model.bin")
    with pytest.raises(ModelError, match="safetensors"):
        load(str(tmp_path))


def test_a_folder_that_is_not_a_model_is_one_clear_error(tmp_path):
    save_file({"x": torch.zeros(1)}, tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="give the folder of a sentence encoder"):
        load(str(tmp_path))


def test_texts_are_aligned_with_the_vectors_of_a_folder(labse):
    config = SentencesConfig(encoder=str(labse[0]))
    aligner = TextAligner(LangPair("en", "is"), config=config)
    lines = ["the ferry leaves at nine", "red books", "milk"]
    (found,) = aligner.align([(lines, lines)])
    assert [str(bead) for bead in found] == ["[0]:[0]", "[1]:[1]", "[2]:[2]"]
