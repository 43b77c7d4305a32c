"""Temperature scaling (Guo et al., 2017): probabilities from scores."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def fit_temperature(scores: Tensor, truth: Tensor) -> float:
    """The divisor of the scores that gives the truth of dev the highest likelihood.

    `scores` are (rows, labels) with label numbers as `truth`, or (rows,) logits of a
    yes/no decision with 0 and 1. It is the same for all rows, so that no decision
    changes.

    >>> scores = torch.tensor([4.0, 4.0, 4.0, -4.0])
    >>> fit_temperature(scores, torch.tensor([1, 1, 0, 0])) > 1  # too sure of itself
    True
    """
    one_logit = scores.dim() == 1

    def loss(log_temperature: Tensor) -> Tensor:
        scaled = scores / log_temperature.exp()
        if one_logit:
            return nn.functional.binary_cross_entropy_with_logits(scaled, truth.float())
        return nn.functional.cross_entropy(scaled, truth)

    # One dimension and convex in 1/T: a fine grid from 1/8 to 8 cannot miss it.
    grid = torch.linspace(-2.08, 2.08, 417)
    return float(grid[torch.stack([loss(t) for t in grid]).argmin()].exp())
