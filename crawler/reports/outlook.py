"""An estimate of the pairs that a stopped crawl would still find.

A frontier gives less and less, since the best URLs are fetched first: what the last
downloads yielded bounds what the waiting URLs yield. URLs that nobody has found yet are
not in it.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import gammaincinv

from crawler.reports.curves import Harvest

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


def outlook(curve: Harvest) -> Outlook | None:
    """The outlook of a crawl; None without downloads."""
    if not curve.downloads:
        return None
    recent = min(max(round(_RECENT * curve.downloads), _LEAST), curve.downloads)
    found = curve.complete[-1] - curve.complete[-1 - recent]
    seconds = curve.seconds[-1] - curve.seconds[-1 - recent]
    share = curve.waiting[-1] / recent
    return Outlook(
        waiting=curve.waiting[-1],
        recent=recent,
        found=found,
        since_last=curve.downloads - curve.complete.index(curve.complete[-1]),
        expected=found * share,
        # one-sided exact interval of a Poisson count (Garwood 1936)
        at_most=float(gammaincinv(found + 1, 0.95)) * share,
        seconds=seconds * share,
    )
