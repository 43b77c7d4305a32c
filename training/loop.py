"""The training loop of both URL models, as García-Romero et al. (2024) train theirs.

AdamW, an inverse-square-root schedule with warm-up, a training set that grows every
epoch, and an end after `patience` epochs without a better dev score. One command runs
on a CPU, a GPU (bf16) and several (`accelerate launch -m training.url_language …`). A
run that was killed goes on from its last epoch when it is started again.

A run leaves in its folder `best.pt` and `last.pt` (tables of tensors), `curve.tsv` (a
row per epoch: what a plot needs) and prints its rate and the time that is left.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from accelerate import Accelerator, PartialState
from torch import Tensor, nn

from crawler.atomic import atomic_file
from crawler.errors import UsageError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LoopConfig:
    """The paper's numbers, or those of the authors' code; profiles change some."""

    learning_rate: float = 1e-5
    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.01
    schedule: str = "inverse_sqrt"  # or linear, to zero at `max_epochs`
    warmup: float = 0.1  # share of the steps of `warmup_epochs`
    warmup_epochs: int = 10  # the authors' --epochs: 10 x 10 % is one whole epoch
    max_epochs: int = 55
    patience: int = 5  # epochs without a better dev score
    grow: int = 1_000_000  # rows that each epoch adds to the training set
    batch_size: int = 140  # halved where a GPU's memory does not hold it
    seed: int = 71213


def seed_everything(seed: int) -> None:
    """Python's, numpy's (through torch's workers none) and torch's generators."""
    random.seed(seed)
    torch.manual_seed(seed)


def writes() -> bool:
    """Whether this is the one of several processes that writes the files."""
    return bool(PartialState().is_main_process)


@dataclass(frozen=True)
class Task(Generic[T]):
    """What is trained on what."""

    network: nn.Module
    examples: Callable[[int, int], Sequence[T]]  # an epoch's (from 1), so many at most
    loss: Callable[[Sequence[T]], Tensor]  # mean loss of a batch
    evaluate: Callable[[], float]  # score on dev: higher is better


def train(task: Task[T], config: LoopConfig, out: Path) -> float:
    """Train until `patience` or `max_epochs` ends it; the best score on dev.

    The network has the best epoch's weights afterwards.
    """
    network = task.network
    out.mkdir(parents=True, exist_ok=True)
    accelerator = Accelerator(
        mixed_precision="bf16" if torch.cuda.is_available() else "no"
    )
    optimizer = torch.optim.AdamW(
        network.parameters(),
        lr=config.learning_rate,
        betas=(config.beta1, config.beta2),
        eps=config.epsilon,
        weight_decay=config.weight_decay,
        fused=True,
    )
    first = len(task.examples(1, config.grow)) // config.batch_size + 1
    rate = _schedule(config, first)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    state = _resume(out / "last.pt", network, optimizer, scheduler)
    # `loss` holds the bare network: what prepare() wraps is used through autocast.
    network.to(accelerator.device)
    _move(optimizer, accelerator.device)
    clock = _Clock()
    epoch, best, stale = state["epoch"], state["best"], state["stale"]
    while epoch < config.max_epochs and stale < config.patience:
        epoch += 1
        rows = task.examples(epoch, epoch * config.grow)
        # as many for each: a process with a batch more would wait for ever
        even = len(rows) - len(rows) % accelerator.num_processes
        rows = rows[accelerator.process_index : even : accelerator.num_processes]
        seed_everything(config.seed + epoch)  # a resumed run repeats an unbroken one
        network.train()
        began = time.monotonic()
        mean = 0.0
        for start in range(0, len(rows), config.batch_size):
            batch = rows[start : start + config.batch_size]
            mean += len(batch) / len(rows) * _step(task, batch, accelerator, optimizer)
            scheduler.step()
            clock.tell(start + len(batch), len(rows), epoch)
        seconds = max(1e-6, time.monotonic() - began)
        network.eval()
        with torch.inference_mode():
            score = task.evaluate()
        stale = 0 if score > best else stale + 1
        if not accelerator.is_main_process:
            best = max(best, score)
            continue
        if score > best:
            best = score
            _save(out / "best.pt", {"network": network.state_dict()})
        _save(
            out / "last.pt",
            {
                "network": network.state_dict(),
                "optimizer": optimizer.state_dict(),
                "scheduler": scheduler.state_dict(),
                "epoch": epoch,
                "best": best,
                "stale": stale,
            },
        )
        _curve(
            out / "curve.tsv",
            epoch=epoch,
            rows=len(rows),
            loss=round(mean, 5),
            dev=round(score, 5),
            seconds=round(seconds, 1),
        )
        left = (config.max_epochs - epoch) * seconds
        print(
            f"epoch {epoch}: loss {mean:.4f}, dev {score:.4f} (best {best:.4f}),"
            f" {len(rows) / seconds:.0f} rows/s, at most {left / 60:.0f} min left",
            flush=True,
        )
    accelerator.wait_for_everyone()
    network.load_state_dict(load_tensors(out / "best.pt")["network"])
    network.eval()
    return float(best)


class _Clock:
    """Says every half a minute how fast an epoch goes and when it ends."""

    def __init__(self) -> None:
        self._epoch = 0
        self._began = self._told = time.monotonic()

    def tell(self, seen: int, rows: int, epoch: int) -> None:
        now = time.monotonic()
        if epoch != self._epoch:
            self._epoch, self._began, self._told = epoch, now, now
        elif now - self._told > 30:
            self._told, rate = now, seen / (now - self._began)
            print(
                f"epoch {epoch}: {seen}/{rows} rows, {rate:.0f} rows/s,"
                f" {(rows - seen) / rate:.0f} s left",
                flush=True,
            )


def _step(
    task: Task[T],
    batch: Sequence[T],
    accelerator: Accelerator,
    optimizer: torch.optim.Optimizer,
) -> float:
    """One update; what does not fit into a GPU's memory goes in by halves."""
    optimizer.zero_grad()
    parts: list[Sequence[T]] = [batch]
    total = 0.0
    while parts:
        part = parts.pop()
        try:
            with accelerator.autocast():
                value: Any = task.loss(part) * (len(part) / len(batch))
            value.backward()
            total += value.item()
        except torch.cuda.OutOfMemoryError:
            if len(part) == 1:
                raise
            torch.cuda.empty_cache()
            parts += [part[: len(part) // 2], part[len(part) // 2 :]]
    for parameter in task.network.parameters():
        if accelerator.num_processes > 1 and parameter.grad is not None:
            parameter.grad = accelerator.reduce(parameter.grad, "mean")
    optimizer.step()
    return total


def _schedule(config: LoopConfig, steps: int) -> Callable[[int], float]:
    """The factor of the learning rate at a step; `steps` is what an epoch has."""
    if config.schedule == "linear":
        warmup = max(1, round(config.warmup * steps))
        last = config.max_epochs * steps
        return lambda step: min((step + 1) / warmup, max(0.02, 1 - step / last))
    if config.schedule != "inverse_sqrt":
        raise UsageError(
            f"unknown schedule {config.schedule!r} (inverse_sqrt or linear)"
        )
    warmup = max(1, round(config.warmup * config.warmup_epochs * steps))
    return lambda step: min((step + 1) / warmup, math.sqrt(warmup / (step + 1)))


def _resume(path: Path, network: nn.Module, optimizer: Any, scheduler: Any) -> Any:
    if not path.exists():
        return {"epoch": 0, "best": -math.inf, "stale": 0}
    state = load_tensors(path)
    try:
        network.load_state_dict(state["network"])
    except RuntimeError as error:
        raise UsageError(
            f"{path}: a run of another network (give another folder, or delete it)"
        ) from error
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])
    print(f"resumed after epoch {state['epoch']} from {path}", flush=True)
    return state


def _move(optimizer: torch.optim.Optimizer, device: torch.device) -> None:
    for values in optimizer.state.values():
        for name, value in values.items():
            if isinstance(value, Tensor) and value.dim():
                values[name] = value.to(device)


def _save(path: Path, content: Mapping[str, Any]) -> None:
    """Write a checkpoint whole: a kill meanwhile must not cost the one before."""
    with atomic_file(path) as file:
        torch.save(dict(content), file)


def load_tensors(path: Path) -> dict[str, Any]:
    """A file of this module; never code."""
    content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    return content


def _curve(path: Path, **values: float) -> None:
    new = not path.exists()
    with path.open("a", encoding="utf-8") as out:
        if new:
            out.write("\t".join(values) + "\n")
        out.write("\t".join(map(str, values.values())) + "\n")
