"""What a page costs, stage by stage: timers around a crawl's own functions.

Nothing of this is in the crawler: the functions are wrapped from outside, in the
process of one benchmark crawl, and a crawl without timers runs the code as it is.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Callable
from functools import wraps
from time import thread_time
from typing import Any

# Stage → the functions that are it, less what they call of other stages. What a crawl
# takes beside all of these is the download: Scrapy, Twisted and the event loop.
STAGES = {
    "warc": (
        "crawler.crawl.intake:Intake.keep",
        "crawler.warc.writer:WarcWriter.write_metadata",
        "crawler.warc.writer:WarcWriter.flush",
    ),
    "parse": (
        "crawler.crawl.intake:read_page",
        "crawler.extract.document:linearize",
    ),
    "links": ("crawler.extract.document:links_of",),
    "language": ("crawler.extract.language:Cld2Detector.detect",),
    "scoring": (
        "crawler.frontier.scorers.adaptive:AdaptiveScorer.score",
        "crawler.frontier.scorers.adaptive:AdaptiveScorer.fetched",
        "crawler.frontier.scorers.adaptive:AdaptiveScorer.paired",
        "crawler.frontier.scorers.adaptive:AdaptiveScorer.current",
        "crawler.frontier.scorers.papers:ProductScorer.score",
        "crawler.frontier.scorers.papers:UniformScorer.score",
    ),
    "frontier": (
        "crawler.frontier.frontier:Frontier.found",
        "crawler.frontier.frontier:Frontier.fetched",
        "crawler.frontier.frontier:Frontier.redirected",
        "crawler.frontier.frontier:Frontier.paired",
        "crawler.frontier.frontier:Frontier.commit",
        "crawler.crawl.crawl:Crawl.next",
        "crawler.crawl.crawl:Crawl._finish",
    ),
    "aligner": (
        "crawler.crawl.pairing:take_in",
        "crawler.aligner.aligner:Aligner.commit",
    ),
    "sentences": (
        "crawler.corpus.stream:SentenceStream.take",
        "crawler.corpus.stream:SentenceStream.commit",
    ),
    "log": ("crawler.crawl.crawl:Crawl._tell",),
}


class StageClock:
    """Processor time of each stage, without that of the stages inside it."""

    def __init__(self) -> None:
        """Put a timer around every function of STAGES."""
        self.seconds: Counter[str] = Counter()
        self._inside: list[float] = []  # of open stages: what inner ones have taken
        for stage, paths in STAGES.items():
            for path in paths:
                self._wrap(stage, path)

    def _wrap(self, stage: str, path: str) -> None:
        module, _, name = path.partition(":")
        owner: Any = importlib.import_module(module)
        *outer, last = name.split(".")
        for part in outer:
            owner = getattr(owner, part)
        setattr(owner, last, self._timed(stage, getattr(owner, last)))

    def _timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        inside = self._inside

        @wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:
            inside.append(0.0)
            start = thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                took = thread_time() - start
                self.seconds[stage] += took - inside.pop()
                if inside:
                    inside[-1] += took

        return timed
