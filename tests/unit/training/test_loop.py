from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="extra `train` is not installed")
pytest.importorskip("accelerate", reason="extra `train` is not installed")

from crawler.errors import UsageError  # noqa: E402
from training.feed import ListRows  # noqa: E402
from training.loop import LoopConfig, Task, schedule, train  # noqa: E402

pytestmark = pytest.mark.models

ROOT = Path(__file__).parents[3]
CONFIG = LoopConfig(
    learning_rate=0.05,
    weight_decay=0.0,
    max_epochs=30,
    patience=30,
    batch_size=8,
    workers=0,
    log_every=1,
)


class Doubling(torch.nn.Module):
    """y = 2x, with dropout, so that random numbers matter."""

    def __init__(self, limit=None):
        super().__init__()
        torch.manual_seed(1)
        self.linear, self.limit = torch.nn.Linear(1, 1), limit

    def forward(self, batch):
        if self.limit and len(batch["x"]) > self.limit:
            raise torch.OutOfMemoryError("as a GPU that is too small")
        return self.linear(torch.nn.functional.dropout(batch["x"], 0.1, self.training))


def task(scores=None, **changes):
    """`scores` are those of dev, epoch by epoch."""
    given = iter(scores or [])
    network = changes.pop("network", None) or Doubling()
    made = Task(
        network,
        lambda epoch, limit: ListRows([i / 10 for i in range(min(limit, 40))]),
        lambda rows: {"x": np.array(rows, dtype=np.float32)[:, None]},
        lambda net, batch: ((net(batch) - 2 * batch["x"]) ** 2).sum(),
        [1.0],
        lambda net, batch: net(batch),
        lambda out: next(given) if scores else -float((out - 2).abs().mean()),
        "closeness",
        length=lambda row: round(row * 10) % 3,
    )
    return replace(made, **changes)


def rows_of(path):
    header, *rows = path.read_text().splitlines()
    return [dict(zip(header.split("\t"), row.split("\t"))) for row in rows]


def with_(**changes):
    return replace(CONFIG, **changes)


def weight(made):
    return made.network.linear.weight


def test_learns_and_keeps_the_best_epoch(tmp_path):
    assert train(task(), CONFIG, tmp_path) > -0.5


def test_ends_when_dev_does_not_improve(tmp_path):
    train(task([0.1, 0.3, 0.2, 0.2, 0.9]), with_(patience=2), tmp_path)
    rows = rows_of(tmp_path / "curve.tsv")
    assert [row["dev closeness"] for row in rows] == ["0.1", "0.3", "0.2", "0.2"]
    assert {"epoch", "step", "rows", "loss", "learning_rate", "seconds"} < rows[
        0
    ].keys()


def test_a_run_that_was_stopped_ends_as_an_unbroken_one(tmp_path):
    whole, resumed = task(), task()
    train(whole, with_(max_epochs=6), tmp_path / "whole")
    train(task(), with_(max_epochs=3), tmp_path / "broken")
    train(resumed, with_(max_epochs=6), tmp_path / "broken")
    assert torch.equal(weight(whole), weight(resumed))
    steps = [rows_of(tmp_path / name / "steps.tsv") for name in ("whole", "broken")]
    assert steps[0] == steps[1]


class Killed(BaseException):
    """As kill -9 in the middle of an epoch: nothing is written any more."""


def test_a_run_that_was_killed_in_an_epoch_goes_on_with_the_next_batch(tmp_path):
    config = with_(max_epochs=4, checkpoint_minutes=0.0)
    whole = task()
    train(whole, config, tmp_path / "whole")
    left = 7  # of the batches of 5 an epoch

    def loss(net, batch):
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return whole.loss(net, batch)

    with pytest.raises(Killed):
        train(task(loss=loss), config, tmp_path / "broken")
    seen = []
    resumed = task()

    def watched(rows):
        seen.append(len(rows))
        return whole.encode(rows)

    train(replace(resumed, encode=watched), config, tmp_path / "broken")
    assert torch.equal(weight(whole), weight(resumed))
    steps = [rows_of(tmp_path / name / "steps.tsv") for name in ("whole", "broken")]
    assert steps[0] == steps[1]
    assert [row["step"] for row in steps[0]] == [str(i) for i in range(1, 21)]


def test_rows_are_accumulated_to_the_same_result(tmp_path):
    at_once, in_parts = task(network=plain()), task(network=plain())
    train(at_once, with_(max_epochs=3), tmp_path / "a")
    train(in_parts, with_(max_epochs=3, rows_at_once=3), tmp_path / "b")
    assert torch.allclose(weight(at_once), weight(in_parts), atol=1e-6)


def plain(limit=None):
    """Without dropout, whose random numbers depend on the parts of a batch."""
    network = Doubling(limit)
    network.forward = lambda batch: Doubling.forward(network.eval(), batch)
    return network


def test_too_little_memory_halves_the_rows_at_once_and_says_so(tmp_path, caplog):
    roomy, tight = task(network=plain()), task(network=plain(limit=2))
    train(roomy, with_(max_epochs=2), tmp_path / "a")
    with caplog.at_level("WARNING", logger="training.loop"):
        train(tight, with_(max_epochs=2), tmp_path / "b")
    said = [record.getMessage() for record in caplog.records]
    assert [text.split(";")[0] for text in said] == [
        "out of memory: from here on 4 rows at once instead of 8",
        "out of memory: from here on 2 rows at once instead of 4",
    ]
    assert torch.allclose(weight(roomy), weight(tight), atol=1e-6)


def test_memory_that_does_not_hold_one_row_is_an_error(tmp_path):
    class Hopeless(Doubling):
        def forward(self, batch):
            raise torch.OutOfMemoryError("nothing fits")

    with pytest.raises(torch.OutOfMemoryError):
        train(task(network=Hopeless()), CONFIG, tmp_path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.compile itself
def test_compiled_steps_give_the_same(tmp_path):
    eager = task(network=plain())
    train(eager, with_(max_epochs=1), tmp_path / "a")
    compiled = task(network=torch.nn.Sequential(plain()))
    train(compiled, with_(max_epochs=1, compile=True), tmp_path / "b")
    assert torch.allclose(weight(eager), compiled.network[0].linear.weight, atol=1e-6)


def test_the_training_set_grows(tmp_path):
    train(task(), with_(max_epochs=3, grow=10), tmp_path)
    rows = [row["rows"] for row in rows_of(tmp_path / "curve.tsv")]
    assert rows == ["10", "20", "30"]


def test_another_networks_folder_is_one_clear_error(tmp_path):
    train(task(), with_(max_epochs=1), tmp_path)
    with pytest.raises(UsageError, match="another network"):
        train(task(network=torch.nn.Linear(3, 3)), CONFIG, tmp_path)


def test_no_rows_are_one_clear_error(tmp_path):
    with pytest.raises(UsageError, match="no rows to train on"):
        train(task(epoch=lambda epoch, limit: ListRows([])), CONFIG, tmp_path)


def test_the_papers_schedule():
    """A tenth of the first epoch is warm-up, then the inverse square root."""
    rate = schedule(LoopConfig(), 1000)
    assert rate(0) == pytest.approx(1 / 100)
    assert rate(99) == pytest.approx(1)
    assert rate(399) == pytest.approx(0.5)


def test_a_linear_schedule_ends_near_zero():
    rate = schedule(LoopConfig(schedule="linear", max_epochs=10), 100)
    assert rate(0) == pytest.approx(0.1)
    assert rate(500) == pytest.approx(0.5)
    assert rate(999) == pytest.approx(0.02)


def test_tensorboard_gets_the_same_figures(tmp_path):
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(task(), with_(max_epochs=2), tmp_path)
    board = EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    rates = [event.value for event in board.Scalars("learning rate")]
    written = [float(row["learning_rate"]) for row in rows_of(tmp_path / "steps.tsv")]
    assert rates == pytest.approx(written, rel=1e-4)
    assert len(board.Scalars("dev closeness")) == 2


SCRIPT = """
import sys
from pathlib import Path
import numpy as np
import torch
from training.feed import ListRows
from training.loop import LoopConfig, Task, train

torch.manual_seed(1)
network = torch.nn.Linear(1, 1)
task = Task(
    network,
    lambda epoch, limit: ListRows([i / 10 for i in range(int(sys.argv[2]))]),
    lambda rows: {"x": np.array(rows, dtype=np.float32)[:, None]},
    lambda net, batch: ((net(batch["x"]) - 2 * batch["x"]) ** 2).sum(),
    [1.0, 2.0],
    lambda net, batch: net(batch["x"]),
    lambda out: -float((out[:, 0] - torch.tensor([2.0, 4.0])).abs().mean()),
    "closeness",
    length=lambda row: round(row * 10) % 3,
)
config = LoopConfig(
    max_epochs=4, batch_size=5, workers=0, log_every=1, learning_rate=0.1
)
train(task, config, Path(sys.argv[1]))
"""


def start(script, out, rows, processes):
    launch = f"-m torch.distributed.run --standalone --nproc-per-node {processes}"
    subprocess.run(
        [sys.executable, *launch.split(), str(script), str(out), str(rows)],
        env=os.environ | {"ACCELERATE_USE_CPU": "true", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        timeout=120,
    )
    return rows_of(out / "steps.tsv")


def test_two_processes_reach_the_schedule_and_the_losses_of_one(tmp_path):
    """As `accelerate launch` starts them, with gloo in place of GPUs."""
    (script := tmp_path / "script.py").write_text(SCRIPT)
    one, two = (start(script, tmp_path / str(n), 40, n) for n in (1, 2))
    assert len(one) == len(two) == 4 * 8
    for a, b in zip(one, two):
        assert a["learning_rate"] == b["learning_rate"]
        assert float(a["loss"]) == pytest.approx(float(b["loss"]), rel=1e-3)


def test_a_batch_with_less_rows_than_processes_is_left_out(tmp_path):
    """Or one process would wait for the other for ever."""
    (script := tmp_path / "script.py").write_text(SCRIPT)
    rows = start(script, tmp_path / "out", 41, 2)
    assert len(rows) == 4 * 8
