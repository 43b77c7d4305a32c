"""Full XLM-R classifiers over URLs: released ones and your own, by name or folder.

García-Romero et al. (2024): XLM-R base, first token, dense layer, tanh, projection; a
softmax over 162 languages, or one logit for a pair. Needs `pip install -e '.[xlmr]'`.
Three forms are read:

* a Hugging Face name (`Transducens/xlm-roberta-base-url2lang`), downloaded once;
* a folder with config.json, tokenizer.json and model.safetensors, or pytorch_model.bin,
  which is a pickle and read with `weights_only`;
* the authors' native checkpoint, one file with the tables `encoder` and `tasks`.

It scores some 60 URLs/s on a CPU core; what crawls on CPUs is `models.url_language` and
`models.url_pair`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoTokenizer,
    PreTrainedTokenizerFast,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)

from crawler.data import Lang
from crawler.errors import ModelError
from crawler.languages import known_code
from models.preprocess import pair_text, url_text
from models.rules import UNKNOWN

URL2LANG = "Transducens/xlm-roberta-base-url2lang"
PAIR_CLASSIFIER = "Transducens/xlm-roberta-base-parallel-urls-classifier"
BASE = "FacebookAI/xlm-roberta-base"  # whose tokenizer a native checkpoint uses
MAX_LENGTH = 256  # tokens; the authors' default

# The order of url2lang's 162 outputs, where config.json does not say it.
URL2LANG_LABELS = """
    unk eng deu rus fra zho spa jpn ita nld pol por ces vie tur ind swe ara fas
    kor hun ell ron dan fin tha slk nor ukr bul cat srp hrv slv lit hin est heb
    lat ben lav msa bos sqi tam glg isl aze kat mkd eus hye nep urd mon mal kaz
    mar tel nno bel uzb guj kan mya khm cym epo tgl sin afr tat swa gle pan kur
    kir tgk mlt fao ori lao som ltz oci amh fry bak pus san bre mlg hau tuk war
    asm cos div jav ceb kin hat zul gla bod xho yid snd mri uig roh sun kal yor
    tir abk bih haw hmn ina que grn ibo nya sco sna sot smo vol glv orm ile syr
    aar dzo iku kha lin lug mfe aka aym bis chr crs fij ipk nso run sag ssw ton
    tsn wol zha got kas lif nau sux tso ven
""".split()


class _Encoder:
    """Loading, and logits for batches of texts: the part that both models share."""

    def __init__(
        self,
        model: str | Path,
        *,
        batch_size: int = 32,  # 128 is no faster on a CPU (measured)
        device: str | None = None,
        tokenizer: str | Path | None = None,
    ) -> None:
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self.batch_size = batch_size
        network: Any = load_classifier(model)  # its stubs disagree with torch's
        self.network = network.to(self.device).eval()
        # a compact model may have fewer positions; two are not for tokens (padding)
        positions: int = network.config.max_position_embeddings - 2
        self.max_length = min(MAX_LENGTH, positions)
        self.tokenizer = load_tokenizer(model, tokenizer)

    @torch.inference_mode()
    def logits(self, texts: Sequence[str]) -> torch.Tensor:
        """(texts, labels); texts are sorted by length so that batches pad little."""
        if not texts:
            return torch.empty(0, self.network.config.num_labels)
        order = sorted(range(len(texts)), key=lambda i: (len(texts[i]), i))
        rows: list[torch.Tensor] = []
        for start in range(0, len(order), self.batch_size):
            batch = [texts[i] for i in order[start : start + self.batch_size]]
            encoded = self.tokenizer(
                # lone surrogates cannot be tokenized
                [text.encode("utf-8", "replace").decode() for text in batch],
                truncation=True,
                max_length=self.max_length,
                padding=True,
                return_tensors="pt",
            ).to(self.device)
            rows.append(self.network(**encoded).logits.float().cpu())
        logits = torch.cat(rows)
        back = torch.empty(len(order), dtype=torch.long)
        back[torch.tensor(order)] = torch.arange(len(order))
        return logits[back]


class XlmrUrlLanguageModel(_Encoder):
    """P(language | URL) by a full XLM-R (setting: URL_LANGUAGE_MODEL)."""

    def __init__(self, model: str | Path = URL2LANG, **options: Any) -> None:
        """`model` is a hub name, a folder or a native checkpoint file.

        Options: `batch_size`, `device`, `tokenizer` (where a checkpoint has none).
        """
        super().__init__(model, **options)
        self.labels = _labels(self.network.config)

    def predict(self, urls: Sequence[str]) -> list[Mapping[Lang, float]]:
        """The softmax over the model's languages, in our codes."""
        texts = [url_text(url) for url in urls]
        probabilities = self.logits(texts).double().softmax(-1)
        answers: list[Mapping[Lang, float]] = []
        for row in probabilities.tolist():
            answer: dict[Lang, float] = {UNKNOWN: 0.0}
            for label, p in zip(self.labels, row):
                answer[label] = answer.get(label, 0.0) + p
            answers.append(answer)
        return answers


class XlmrUrlPairModel(_Encoder):
    """P(parallel | URL, URL) by a full XLM-R (setting: URL_PAIR_MODEL)."""

    def __init__(
        self,
        model: str | Path = PAIR_CLASSIFIER,
        *,
        both_directions: bool = False,
        **options: Any,
    ) -> None:
        """`both_directions` averages over both orders, at twice the cost.

        The released model was trained on one order only and is not symmetric.
        """
        super().__init__(model, **options)
        self.both_directions = both_directions
        if self.network.config.num_labels not in (1, 2):
            raise ModelError(
                f"{model}: {self.network.config.num_labels} outputs where a pair model"
                " has 1 or 2 (is it a language model?)"
            )

    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Sigmoid of one logit, or the second share of two."""
        forth = self._probabilities([pair_text(a, b) for a, b in pairs])
        if not self.both_directions:
            return forth
        back = self._probabilities([pair_text(b, a) for a, b in pairs])
        return [(p + q) / 2 for p, q in zip(forth, back)]

    def _probabilities(self, texts: Sequence[str]) -> list[float]:
        logits = self.logits(texts).double()
        if self.network.config.num_labels == 1:
            one: list[float] = logits.sigmoid()[:, 0].tolist()
            return one
        two: list[float] = logits.softmax(-1)[:, 1].tolist()
        return two


def _labels(config: Any) -> list[Lang]:
    names = [str(config.id2label.get(i, i)) for i in range(config.num_labels)]
    if all(re.fullmatch(r"(?:LABEL_)?\d+", name) for name in names):
        if len(names) != len(URL2LANG_LABELS):
            raise ModelError(
                f"{len(names)} outputs without names, and url2lang has"
                f" {len(URL2LANG_LABELS)} (put id2label in config.json)"
            )
        names = URL2LANG_LABELS
    return [known_code(name) or name for name in names]


# ------------------------------------------------------------------ loading


def load_classifier(model: str | Path) -> XLMRobertaForSequenceClassification:
    """The network of a hub name, a folder or a native checkpoint file."""
    path = Path(model)
    if path.is_file():
        return _native(path)
    if not path.is_dir():
        path = _download(str(model))
    if not (path / "config.json").exists():
        files = [f for f in sorted(path.iterdir()) if f.suffix in _NATIVE_SUFFIXES]
        if len(files) != 1:
            raise ModelError(
                f"{path}: config.json is missing (give a folder with config.json,"
                " tokenizer.json and model.safetensors, or a native checkpoint file)"
            )
        return _native(files[0])
    config = XLMRobertaConfig.from_pretrained(path)
    return _with_weights(config, _read_weights(path), path)


_NATIVE_SUFFIXES = (".pt", ".pth", ".ckpt", ".model")


def _download(name: str) -> Path:
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(
                name, allow_patterns=["*.json", "*.safetensors", "*.bin", "*.model"]
            )
        )
    except Exception as error:  # what the hub client raises has no common root
        raise ModelError(
            f"{name}: no such folder, and not to be had from the hub"
            f" ({type(error).__name__}; give a folder, or connect to the network)"
        ) from error


def _read_weights(folder: Path) -> dict[str, torch.Tensor]:
    safe = folder / "model.safetensors"
    if safe.exists():
        from safetensors.torch import load_file

        return load_file(safe)
    pickled = folder / "pytorch_model.bin"
    if pickled.exists():
        return _read_pickle(pickled)
    raise ModelError(f"{folder}: neither model.safetensors nor pytorch_model.bin")


def _read_pickle(path: Path) -> dict[str, Any]:
    """Tensors and plain containers only: anything else in a pickle is refused."""
    try:
        content = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # UnpicklingError, RuntimeError, EOFError, ...
        raise ModelError(
            f"{path}: not a file of tensors ({type(error).__name__}; code in a"
            " checkpoint is never run)"
        ) from error
    if not isinstance(content, dict):
        raise ModelError(f"{path}: a {type(content).__name__}, not a table of tensors")
    return content


def _with_weights(
    config: XLMRobertaConfig, weights: Mapping[str, torch.Tensor], where: Path
) -> XLMRobertaForSequenceClassification:
    head = weights.get("classifier.out_proj.weight")
    if head is not None:  # a config.json that forgot its labels means 2
        config.num_labels = head.shape[0]
    network = XLMRobertaForSequenceClassification(config)
    missing, _ = network.load_state_dict(dict(weights), strict=False)
    missing = [name for name in missing if not name.endswith("position_ids")]
    if missing:
        raise ModelError(
            f"{where}: {len(missing)} weights are missing, {missing[0]} first (is it a"
            " sequence classifier of XLM-R architecture?)"
        )
    return network


def _native(path: Path) -> XLMRobertaForSequenceClassification:
    """A checkpoint of parallel-urls-classifier or url2lang as its own code saves it."""
    content = _read_pickle(path)
    if not {"encoder", "tasks"} <= set(content):
        raise ModelError(
            f"{path}: not a native checkpoint (expected tables `encoder` and `tasks`)"
        )
    weights = {
        "roberta." + key.removeprefix("roberta."): value
        for key, value in content["encoder"].items()
        if not key.startswith("pooler.")  # unused: the head reads the first token
    }
    weights |= _native_head(content["tasks"], path)
    sibling = path.with_name("config.json")
    config = (
        XLMRobertaConfig.from_pretrained(sibling)
        if sibling.exists()
        else _config_of(weights, path)
    )
    return _with_weights(config, weights, path)


_NATIVE_TASKS = ("urls_classification", "language-identification")


def _native_head(tasks: Mapping[str, Any], path: Path) -> dict[str, torch.Tensor]:
    for task in _NATIVE_TASKS:
        head = {
            "classifier." + key.removeprefix(f"{task}."): value
            for key, value in tasks.items()
            if key.startswith(f"{task}.")
        }
        if head:
            return head
    raise ModelError(f"{path}: none of the tasks {', '.join(_NATIVE_TASKS)} in `tasks`")


def _config_of(weights: Mapping[str, torch.Tensor], path: Path) -> XLMRobertaConfig:
    """The shape of a network from its tensors; heads have 64 dimensions as in XLM-R."""
    try:
        vocabulary, hidden = weights["roberta.embeddings.word_embeddings.weight"].shape
        positions = weights["roberta.embeddings.position_embeddings.weight"].shape[0]
        inner = weights["roberta.encoder.layer.0.intermediate.dense.weight"].shape[0]
    except KeyError as error:
        raise ModelError(f"{path}: not an XLM-R encoder, {error} is missing") from error
    layers = {key.split(".")[3] for key in weights if ".encoder.layer." in key}
    return XLMRobertaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        num_hidden_layers=len(layers),
        num_attention_heads=max(1, hidden // 64),
        intermediate_size=inner,
        max_position_embeddings=positions,
        type_vocab_size=1,
        layer_norm_eps=1e-5,
    )


SPECIAL_TOKENS = {
    "bos_token": "<s>",
    "eos_token": "</s>",
    "cls_token": "<s>",
    "sep_token": "</s>",
    "pad_token": "<pad>",
    "unk_token": "<unk>",
    "mask_token": "<mask>",
}


def load_tokenizer(model: str | Path, tokenizer: str | Path | None = None) -> Any:
    """The tokenizer of a model, or another one."""
    if tokenizer is None:
        path = Path(model)
        folder = path.parent if path.is_file() else path
        native = path.is_file() or (
            folder.is_dir() and not (folder / "config.json").exists()
        )
        if (folder / "tokenizer.json").exists():
            kind: Any = PreTrainedTokenizerFast  # untyped constructor
            file = str(folder / "tokenizer.json")
            return kind(tokenizer_file=file, **SPECIAL_TOKENS)
        tokenizer = BASE if native else model
    try:
        return AutoTokenizer.from_pretrained(tokenizer)
    except Exception as error:  # as for weights: no common root
        raise ModelError(
            f"{tokenizer}: a tokenizer is missing ({type(error).__name__}; put its"
            " tokenizer.json beside the weights)"
        ) from error
