"""The training loop of the URL models, as García-Romero et al. (2024) train theirs.

AdamW, an inverse-square-root schedule with warm-up, a training set that grows every
epoch, and an end after `patience` epochs without a better dev score. It runs on a CPU,
a GPU (bf16) and several (`accelerate launch -m training …`): a batch is divided among
the processes, so that steps, schedule and results are those of one process. A run that
was killed goes on from its last checkpoint when it is started again.

A run leaves in its folder `best.pt` and `last.pt` (tables of tensors), `curve.tsv` (a
row per epoch), `steps.tsv` (a row per `log_every` steps, learning rate included), and
the same for TensorBoard if that is installed.
"""

from __future__ import annotations

import logging
import math
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic

import numpy as np
import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import gather_object
from torch import Tensor, nn

from crawler.atomic import atomic_file
from crawler.errors import UsageError
from crawler.progress import ProgressLine, Stage, terminal
from training.curve import Curve
from training.feed import Batch, Encode, Plan, Row, Rows, batches, count_batches

logger = logging.getLogger(__name__)

_DEV_BATCH = 256  # rows that are scored at once


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """The paper's numbers, else those of the authors' code; profiles change some."""

    learning_rate: float = 1e-5
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.01
    schedule: str = "inverse_sqrt"  # or linear, to zero at `max_epochs`
    warmup: float = 0.1  # share of the steps of `warmup_epochs`
    warmup_epochs: int = 1  # the paper; the authors' code takes its --epochs (10)
    max_epochs: int = 55
    patience: int = 5  # epochs without a better dev score
    grow: int = 1_000_000  # rows that each epoch adds to the training set
    batch_size: int = 140  # rows of an update, on all devices together
    rows_at_once: int | None = None  # on a device; the rest of a batch is accumulated
    precision: str = "auto"  # bf16, no, or auto: bf16 on a GPU
    compile: bool = False  # by torch.compile: minutes at the start, faster steps
    workers: int = 2  # processes that read and encode
    checkpoint_minutes: float = 10.0
    log_every: int = 100  # steps
    seed: int = 71213


def seed_everything(seed: int) -> None:
    """Seed Python's and torch's generators."""
    random.seed(seed)
    torch.manual_seed(seed)


def writes() -> bool:
    """True in the one of several processes that writes the files."""
    return bool(PartialState().is_main_process)


@dataclass(frozen=True)
class Task(Generic[Row]):
    """A network, its data, and the figure that decides."""

    network: nn.Module
    epoch: Callable[[int, int], Rows[Row]]  # of an epoch (from 1), at most so many rows
    encode: Encode[Row]
    loss: Callable[[nn.Module, Batch], Tensor]  # sum over the rows of a batch
    dev: Sequence[Row]
    outputs: Callable[[nn.Module, Batch], Tensor]  # (rows, …), what `score` judges
    score: Callable[[Tensor], float]  # of the outputs of dev: higher is better
    metric: str  # name of the score
    length: Callable[[Row], int] | None = None  # batches are of like length
    divisible: bool = True  # the loss of a batch is that of its rows, one by one


@dataclass(slots=True)
class _State:
    """The position of a run."""

    epoch: int = 1
    batch: int = 0  # batches of the epoch that are done
    step: int = 0  # updates of all epochs
    loss: float = 0.0  # sum over the epoch's rows so far
    rows: int = 0
    seconds: float = 0.0
    best: float = -math.inf
    stale: int = 0
    rows_at_once: int = 0  # 0: a whole batch


def train(task: Task[Row], config: LoopConfig, out: Path) -> float:
    """Train until `patience` or `max_epochs` ends it; the best score on dev.

    The network has the best epoch's weights afterwards.
    """
    out.mkdir(parents=True, exist_ok=True)
    if config.precision not in ("auto", "bf16", "no"):
        raise UsageError(
            f"loop.precision: {config.precision!r} is not auto, bf16 or no"
        )
    return _Run(task, config, out, Accelerator()).train()


@dataclass
class _Run(Generic[Row]):
    """One training in its folder."""

    task: Task[Row]
    config: LoopConfig
    out: Path
    accelerator: Accelerator
    state: _State = field(default_factory=_State)

    def train(self) -> float:
        """All epochs that are left."""
        task, config = self.task, self.config
        self.state.rows_at_once = config.rows_at_once or 0
        optimizer = torch.optim.AdamW(
            task.network.parameters(),
            lr=config.learning_rate,
            betas=(config.beta1, config.beta2),
            eps=config.epsilon,
            weight_decay=config.weight_decay,
            fused=True,
        )
        first = self._plan(1)
        rate = schedule(config, count_batches(len(self._epoch(1)), first))
        task.network.to(self._device)
        self._resume(optimizer)
        state = self.state
        network: Any = task.network  # torch.compile's stub gives another type
        if config.compile:
            network = torch.compile(task.network, dynamic=True)
        dev = [task.encode(rows) for rows in _cut_up(task.dev)]
        curve = Curve.open(self.out, task.metric, state.step, write=self._writes)
        while state.epoch <= config.max_epochs and state.stale < config.patience:
            self._one_epoch(network, optimizer, rate, curve)
            task.network.eval()
            score = task.score(self._outputs(network, dev))
            better = score > state.best
            state.best, state.stale = max(score, state.best), state.stale + 1
            state.stale = 0 if better else state.stale
            if better and self._writes:
                _save(self.out / "best.pt", {"network": task.network.state_dict()})
            self._end_epoch(score, rate, optimizer, curve)
        curve.close()
        self.accelerator.wait_for_everyone()
        task.network.load_state_dict(load_tensors(self.out / "best.pt")["network"])
        task.network.eval()
        return state.best

    @property
    def _device(self) -> torch.device:
        device: torch.device = self.accelerator.device
        return device

    def _autocast(self) -> torch.autocast:
        precision, device = self.config.precision, self._device.type
        half = precision == "bf16" or (precision == "auto" and device == "cuda")
        return torch.autocast(device, torch.bfloat16, enabled=half)

    @property
    def _writes(self) -> bool:
        return bool(self.accelerator.is_main_process)

    def _epoch(self, number: int) -> Rows[Row]:
        rows = self.task.epoch(number, number * self.config.grow)
        if not len(rows):
            raise UsageError("the data have no rows to train on (is a table empty?)")
        return rows

    def _plan(self, epoch: int) -> Plan:
        return Plan(
            self.config.batch_size,
            self.config.seed,
            epoch,
            self.accelerator.process_index,
            self.accelerator.num_processes,
            self.config.workers,
        )

    def _one_epoch(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        rate: Callable[[int], float],
        curve: Curve,
    ) -> None:
        """The batches of the epoch that are left."""
        task, config, state = self.task, self.config, self.state
        rows, plan = self._epoch(state.epoch), self._plan(state.epoch)
        found = batches(rows, task.encode, plan, length=task.length, start=state.batch)
        task.network.train()
        saved = began = time.monotonic()
        before = state.seconds
        part = torch.zeros(2, device=self._device)  # loss and rows
        line = ProgressLine(logger, terminal() if self._writes else None)
        name = f"epoch {state.epoch} of at most {config.max_epochs}"
        if state.best > -math.inf:
            name += f" ({task.metric} {state.best:.4f})"
        with Stage(line, name, len(rows), "rows") as stage:
            stage.skip(state.rows)
            for number, batch in found:
                for group in optimizer.param_groups:
                    group["lr"] = config.learning_rate * rate(state.step)
                # a run that goes on draws what an unbroken one draws
                torch.manual_seed(config.seed + state.step * plan.processes + plan.rank)
                part[0] += self._update(network, optimizer, batch, number)
                part[1] += number
                state.step += 1
                state.batch += 1
                stage.advance(number, number)
                if state.step % config.log_every == 0:
                    self._log(part, rate, curve)
                    state.seconds = before + time.monotonic() - began
                    if time.monotonic() - saved > 60 * config.checkpoint_minutes:
                        self._checkpoint(optimizer)
                        saved = time.monotonic()
            self._log(part, rate, curve)
            state.seconds = before + time.monotonic() - began

    def _log(self, part: Tensor, rate: Callable[[int], float], curve: Curve) -> None:
        """Log the loss and the rows since the last time, and begin anew."""
        state = self.state
        loss, rows = float(self.accelerator.reduce(part[0], "sum")), int(part[1])
        if rows:
            state.loss += loss
            state.rows += rows
            curve.step(
                state.step,
                epoch=state.epoch,
                loss=loss / rows,
                learning_rate=self.config.learning_rate * rate(state.step - 1),
            )
        part.zero_()

    def _update(
        self,
        network: nn.Module,
        optimizer: torch.optim.Optimizer,
        batch: Batch,
        rows: int,
    ) -> Tensor:
        """One update; the sum of the losses of our rows.

        If memory does not hold the rows that are computed at once, half of them are
        from then on.
        """
        ours = len(next(iter(batch.values())))
        while True:
            at_once = self.state.rows_at_once or ours
            optimizer.zero_grad()
            total = torch.zeros((), device=self._device)
            try:
                for part in _parts(batch, at_once if self.task.divisible else ours):
                    with self._autocast():
                        loss = self.task.loss(network, to_device(part, self._device))
                    (loss / rows).backward()  # type: ignore[no-untyped-call]
                    total += loss.detach()
                break
            except torch.OutOfMemoryError:
                if at_once == 1 or not self.task.divisible:
                    raise
                torch.cuda.empty_cache()
                self.state.rows_at_once = max(1, min(at_once, ours) // 2)
                logger.warning(
                    "out of memory: from here on %d rows at once instead of %d; the"
                    " results stay the same (loop.rows_at_once)",
                    self.state.rows_at_once,
                    min(at_once, ours),
                )
        if self.accelerator.num_processes > 1:
            self._add_up_gradients()
        optimizer.step()
        return total

    def _add_up_gradients(self) -> None:
        gradients = [
            p.grad for p in self.task.network.parameters() if p.grad is not None
        ]
        together = nn.utils.parameters_to_vector(gradients)
        nn.utils.vector_to_parameters(
            self.accelerator.reduce(together, "sum"), gradients
        )

    @torch.inference_mode()
    def _outputs(self, network: nn.Module, dev: Sequence[Batch]) -> Tensor:
        """(rows, …) of dev, on the CPU; each process computes a part."""
        here, step = self.accelerator.process_index, self.accelerator.num_processes
        found: list[tuple[int, Tensor]] = []
        for i in range(here, len(dev), step):
            with self._autocast():
                outputs = self.task.outputs(network, to_device(dev[i], self._device))
            found.append((i, outputs.float().cpu()))
        every = gather_object(found) if step > 1 else found
        return torch.cat([part for _, part in sorted(every, key=lambda item: item[0])])

    def _end_epoch(
        self,
        score: float,
        rate: Callable[[int], float],
        optimizer: torch.optim.Optimizer,
        curve: Curve,
    ) -> None:
        state, metric = self.state, self.task.metric
        curve.epoch(
            state.epoch,
            step=state.step,
            rows=state.rows,
            loss=state.loss / max(1, state.rows),
            learning_rate=self.config.learning_rate * rate(state.step - 1),
            score=score,
            seconds=state.seconds,
        )
        if self._writes:
            logger.info(
                "epoch %d: loss %.4f, dev %s %.4f (best %.4f), %.0f rows/s",
                state.epoch,
                state.loss / max(1, state.rows),
                metric,
                score,
                state.best,
                state.rows / max(1e-6, state.seconds),
            )
        state.epoch, state.batch, state.rows = state.epoch + 1, 0, 0
        state.loss, state.seconds = 0.0, 0.0
        self._checkpoint(optimizer)

    def _checkpoint(self, optimizer: torch.optim.Optimizer) -> None:
        if self._writes:
            _save(
                self.out / "last.pt",
                {
                    "network": self.task.network.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "state": {n: getattr(self.state, n) for n in _State.__slots__},
                },
            )

    def _resume(self, optimizer: torch.optim.Optimizer) -> None:
        path = self.out / "last.pt"
        if not path.exists():
            return
        saved = load_tensors(path)
        try:
            self.task.network.load_state_dict(saved["network"])
            optimizer.load_state_dict(saved["optimizer"])
            self.state = _State(**saved["state"])
        except (RuntimeError, KeyError, TypeError, ValueError) as error:
            raise UsageError(
                f"{path}: a run of another network or version (give another folder, or"
                " delete it)"
            ) from error
        logger.info(
            "resumed in epoch %d after %d batches, from %s",
            self.state.epoch,
            self.state.batch,
            path,
        )


@torch.inference_mode()
def predict(task: Task[Row]) -> Tensor:
    """(rows, …) outputs of dev, on the CPU, by a network that was trained."""
    device = next(task.network.parameters()).device
    found = [
        task.outputs(task.network, to_device(task.encode(rows), device)).float().cpu()
        for rows in _cut_up(task.dev)
    ]
    return torch.cat(found)


def _cut_up(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), _DEV_BATCH):
        yield rows[start : start + _DEV_BATCH]


def to_device(batch: Batch, device: torch.device) -> Batch:
    """The arrays of a batch as tensors on a device; lists stay."""
    return {
        name: torch.from_numpy(value).to(device, non_blocking=True)
        if isinstance(value, np.ndarray)
        else value
        for name, value in batch.items()
    }


def _parts(batch: Batch, rows: int) -> Iterator[Batch]:
    size = len(next(iter(batch.values())))
    if rows >= size:
        yield batch
        return
    for start in range(0, size, rows):
        yield {name: value[start : start + rows] for name, value in batch.items()}


def schedule(config: LoopConfig, steps: int) -> Callable[[int], float]:
    """The factor of the learning rate at a step (from 0); the first epoch has `steps`.

    Steps are updates, so they do not depend on the number of devices.
    """
    warmup = max(1, round(config.warmup * config.warmup_epochs * steps))
    if config.schedule == "linear":
        last = config.max_epochs * steps
        return lambda step: min((step + 1) / warmup, max(0.02, 1 - step / last))
    if config.schedule != "inverse_sqrt":
        raise UsageError(
            f"loop.schedule: {config.schedule!r} is not inverse_sqrt or linear"
        )
    return lambda step: min((step + 1) / warmup, math.sqrt(warmup / (step + 1)))


def _save(path: Path, content: Mapping[str, Any]) -> None:
    """Whole or not at all: a kill while writing must not cost the run."""
    with atomic_file(path) as file:
        torch.save(dict(content), file)


def load_tensors(path: Path) -> dict[str, Any]:
    """A file of this module; never code."""
    content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return content
