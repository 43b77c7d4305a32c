from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="extra `train` is not installed")
pytest.importorskip("accelerate", reason="extra `train` is not installed")

from crawler.errors import UsageError  # noqa: E402
from training.loop import LoopConfig, Task, _schedule, train  # noqa: E402

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[3]


def task(scores=None):
    """y = 2x; `scores` are what dev says, epoch by epoch."""
    torch.manual_seed(1)
    network = torch.nn.Linear(1, 1)
    given = iter(scores or [])

    def loss(batch):
        x = torch.tensor(batch)[:, None]
        return ((network(x) - 2 * x) ** 2).mean()

    def evaluate():
        return next(given) if scores else -float((network.weight - 2).abs())

    return Task(
        network, lambda e, n: [i / 10 for i in range(min(n, 40))], loss, evaluate
    )


CONFIG = LoopConfig(
    learning_rate=0.05, weight_decay=0.0, max_epochs=30, patience=30, batch_size=8
)


def with_(**changes):
    from dataclasses import replace

    return replace(CONFIG, **changes)


def test_learns_and_keeps_the_best_epoch(tmp_path):
    assert train(task(), CONFIG, tmp_path) > -0.5


def test_ends_when_dev_does_not_improve(tmp_path):
    train(task([0.1, 0.3, 0.2, 0.2, 0.9]), with_(patience=2), tmp_path)
    rows = (tmp_path / "curve.tsv").read_text().splitlines()
    assert len(rows) == 1 + 4
    assert rows[0].split("\t") == ["epoch", "rows", "loss", "dev", "seconds"]


def test_a_killed_run_ends_as_an_unbroken_one(tmp_path):
    whole = task()
    train(whole, with_(max_epochs=6), tmp_path / "whole")
    train(task(), with_(max_epochs=3), tmp_path / "broken")
    resumed = task()
    # what a kill leaves: the state after epoch 3 of a run that was to have 6
    train(resumed, with_(max_epochs=6), tmp_path / "broken")
    assert torch.equal(whole.network.weight, resumed.network.weight)
    assert len((tmp_path / "broken/curve.tsv").read_text().splitlines()) == 1 + 6


def test_the_training_set_grows(tmp_path):
    train(task(), with_(max_epochs=3, grow=10), tmp_path)
    lines = (tmp_path / "curve.tsv").read_text().splitlines()[1:]
    assert [line.split("\t")[1] for line in lines] == ["10", "20", "30"]


def test_another_networks_folder_is_one_clear_error(tmp_path):
    train(task(), with_(max_epochs=1), tmp_path)
    other = task()
    wider = Task(torch.nn.Linear(3, 3), other.examples, other.loss, other.evaluate)
    with pytest.raises(UsageError, match="another network"):
        train(wider, CONFIG, tmp_path)


def test_the_papers_schedule():
    """10 % of ten epochs are warm-up, then the inverse square root ."""
    rate = _schedule(LoopConfig(), 100)
    assert rate(0) == pytest.approx(1 / 100)
    assert rate(99) == pytest.approx(1)
    assert rate(399) == pytest.approx(0.5)


def test_an_unknown_schedule_is_one_clear_error():
    with pytest.raises(UsageError, match="unknown schedule 'cosine'"):
        _schedule(LoopConfig(schedule="cosine"), 10)


SCRIPT = """
import sys
from pathlib import Path
import torch
from training.loop import LoopConfig, Task, train

torch.manual_seed(1)
network = torch.nn.Linear(1, 1)

def loss(batch):
    x = torch.tensor(batch)[:, None]
    return ((network(x) - 2 * x) ** 2).mean()

task = Task(network, lambda e, n: [i / 10 for i in range(41)], loss, lambda: 0.0)
# 41 rows in batches of 5: one process of two would have a batch more than the other
train(task, LoopConfig(max_epochs=2, batch_size=5), Path(sys.argv[1]))
"""


def test_two_processes_share_the_rows(tmp_path):
    """As `accelerate launch` does on two GPUs, here by gloo on a CPU."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = "-m torch.distributed.run --standalone --nproc-per-node 2".split()
    subprocess.run(
        [sys.executable, *command, str(script), str(tmp_path / "out")],
        env=os.environ | {"ACCELERATE_USE_CPU": "true", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        timeout=120,
    )
    _, *rows = (tmp_path / "out/curve.tsv").read_text().splitlines()
    assert [row.split("\t")[1] for row in rows] == ["20", "20"]
