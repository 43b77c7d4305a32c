"""An estimate of the pairs that a stopped crawl would still find.

A frontier gives less and less, since the best URLs are fetched first: what the last
downloads yielded bounds what the waiting URLs yield. URLs that nobody has found yet are
not in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import gammaincinv

_RECENT = 0.1  # of the downloads, and …
_LEAST = 200  # … no fewer: the next section of a site may be another matter


@dataclass(frozen=True, slots=True)
class Outlook:
    """The end of a crawl's log, and what may be ahead."""

    waiting: int  # URLs
    recent: int  # downloads that the estimate is made of
    found: int  # pairs that these completed
    since_last: int  # downloads since the last pair was complete
    expected: float  # pairs to come, if the waiting URLs were as the recent ones
    at_most: float  # upper end of the 95 % interval of this (Poisson)
    seconds: float  # that the waiting URLs take at the recent pace

    @property
    def line(self) -> str:
        """What is ahead, in a line."""
        if not self.waiting:
            return "nothing waits"
        cost = f"one in {self.recent / self.found:,.1f}" if self.found else "none"
        return (
            f"about {self.expected:,.0f} pairs ahead, at most {self.at_most:,.0f}"
            f" (of the last {self.recent:,} downloads {cost} completed a pair)"
        )


def outlook(
    complete: Sequence[int], waiting: int, seconds: Sequence[float] = ()
) -> Outlook | None:
    """The outlook of a crawl, or of a site; None without downloads.

    `complete`: pairs that were complete at the start and after each download;
    `waiting`: URLs; `seconds`: the time since the first download, likewise, if known.
    """
    downloads = len(complete) - 1
    if not downloads:
        return None
    recent = min(max(round(_RECENT * downloads), _LEAST), downloads)
    found = complete[-1] - complete[-1 - recent]
    share = waiting / recent
    return Outlook(
        waiting=waiting,
        recent=recent,
        found=found,
        since_last=downloads - complete.index(complete[-1]),
        expected=found * share,
        # one-sided exact interval of a Poisson count (Garwood 1936)
        at_most=float(gammaincinv(found + 1, 0.95)) * share,
        seconds=(seconds[-1] - seconds[-1 - recent]) * share if seconds else 0.0,
    )
