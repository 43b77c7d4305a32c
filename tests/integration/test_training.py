"""From data to a crawl, offline and on a CPU: the way of somebody who trains XLM-R.

The checkpoint is a tiny masked language model with random weights, in the form in which
the hub has FacebookAI/xlm-roberta-base, and the data are the made-up sample: the chain
is shown, not the quality of the models.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

torch = pytest.importorskip("torch", reason="extra `train` is not installed")
pytest.importorskip("accelerate", reason="extra `train` is not installed")

from transformers import XLMRobertaConfig, XLMRobertaForMaskedLM  # noqa: E402

from models.preprocess import url_text  # noqa: E402
from tests.commands import DEMO, DEMO_SEEDS, Run, bifocal, crawl, environment  # noqa: E402
from training.data.sample import tables  # noqa: E402
from training.encoders import url_tokenizer  # noqa: E402
from training.evaluate import main as evaluate  # noqa: E402
from training.export import export  # noqa: E402

pytestmark = [pytest.mark.models, pytest.mark.slow]

QUICK = """loop.max_epochs=2 loop.learning_rate=1e-3 loop.log_every=2 loop.workers=1
    loop.checkpoint_minutes=0 loop.grow=560 loop.batch_size=70 encoder.max_tokens=40
    pair.rows.max_per_host=20""".split()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the checkpoint and the sample."""
    folder = tmp_path_factory.mktemp("training")
    done = bifocal("data", "build", "sample", str(folder / "data"))
    assert done.returncode == 0, done.stderr
    torch.manual_seed(5)
    texts = [url_text(row.url) for row in tables("sample", {}, None).urls]
    tokenizer = url_tokenizer(texts, 600)
    config = XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=258,
        type_vocab_size=1,
    )
    XLMRobertaForMaskedLM(config).save_pretrained(folder / "tiny-xlm-roberta")
    tokenizer.save_pretrained(folder / "tiny-xlm-roberta")
    return folder


def words(place, kind, out, *values):
    """`bifocal train` with the paper's profiles, as arguments of the interpreter."""
    start = f"encoder.pretrained={place / 'tiny-xlm-roberta'}"
    words = ["-m", "training", kind, "--profile", "base", "--data", place / "data"]
    return [*map(str, words), "--out", str(place / out), start, *QUICK, *values]


def python(*words, **variables):
    """Run the interpreter; what it said."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        env=environment() | variables,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done


def steps(folder):
    return (folder / "steps.tsv").read_text().splitlines()


@pytest.fixture(scope="module")
def trained(place):
    """Both models, trained in one go."""
    done = python(*words(place, "all", "whole"))
    assert done.stderr.count("the head is new") == 2
    for kind in ("language", "pair"):
        assert f"model: {place / 'whole' / kind / 'model'}" in done.stdout
        assert f"URL_{kind.upper()}_MODEL_DIR={place / 'whole' / kind}" in done.stdout
    return place / "whole"


def test_trainings_that_are_killed_go_on_to_the_same_losses(place, trained):
    out = place / "killed"
    command = [sys.executable, *words(place, "all", "killed")]
    talk = subprocess.DEVNULL
    process = subprocess.Popen(command, env=environment(), stdout=talk, stderr=talk)
    deadline = time.monotonic() + 120
    while not (out / "pair" / "last.pt").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(steps(out / "pair")) < len(steps(trained / "pair"))
    done = python(*command[1:])
    assert "resumed in epoch 1 after" in done.stderr
    for kind in ("language", "pair"):
        assert steps(out / kind) == steps(trained / kind)


@pytest.fixture(scope="module")
def exported(place, trained):
    for kind in ("language", "pair"):
        export(trained / kind / "model", place / "onnx" / kind)
    return place / "onnx"


def test_what_was_trained_is_judged(place, trained):
    figures = trained / "figures.json"
    models = [f"{kind}s={trained / kind / 'model'}" for kind in ("language", "pair")]
    evaluate([f"data={place / 'data'}", *models, f"out={figures}"])
    assert json.loads(figures.read_text())["language"]["model"]["rows"] > 100


def test_models_are_listed_and_verified(exported):
    done = bifocal("models", "verify", exported)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("in no SHA256SUMS; P(parallel |") == 1
    assert "language, onnx, 162 outputs" in done.stdout


@pytest.mark.parametrize("form", ["encoder", "onnx"])
def test_a_crawl_asks_the_models_that_were_trained(trained, exported, tmp_path, form):
    settings = {}
    for kind in ("language", "pair"):
        path = exported / kind if form == "onnx" else trained / kind / "model"
        used = bifocal("models", "use", path, "--for", kind)
        assert used.returncode == 0, used.stderr
        lines = (line.partition(" = ") for line in used.stdout.splitlines())
        settings |= {name: value.strip('"') for name, sign, value in lines if sign}
    assert len(settings) == 4
    done = crawl(
        DEMO_SEEDS,
        "en,is",
        tmp_path / "run",
        profile="focused",
        REPLAY_WARCS=DEMO / "demo.warc.gz",
        SITE_MAX_PAGES=60,
        **settings,
    )
    assert done.returncode == 0, done.stderr
    assert Run(tmp_path / "run").stats["pages"] >= 30


def test_two_processes_of_accelerate_reach_the_schedule_of_one(place, trained):
    launch = "-m accelerate.commands.launch --cpu --num_processes 2 --num_machines 1"
    launch += " --mixed_precision no --dynamo_backend no --main_process_port 0 --module"
    python(*launch.split(), *words(place, "pair", "two")[1:])
    rates = [
        [row.split("\t")[3] for row in steps(folder)]
        for folder in (trained / "pair", place / "two")
    ]
    assert rates[0] == rates[1]


def test_the_hashed_models_are_trained_on_the_sample_by_one_command(place):
    small = """language.loop.max_epochs=1 language.rows.slugs=500 pair.trees.trees=20
        language.rows.remarked=500 pair.words.texts=2000 pair.words.loop.max_epochs=2
        pair.trees.min_rows=5""".split()
    folders = ["--data", str(place / "data"), "--out", str(place / "hashed")]
    done = python("-m", "training", "all", *folders, *small)
    assert done.stdout.count("crawl with it: scrapy crawl bilingual") == 2
    verified = bifocal("models", "verify", str(place / "hashed"))
    assert verified.returncode == 0, verified.stderr
    assert verified.stdout.count("hashed, ") == 2
