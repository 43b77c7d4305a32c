"""The URL-language model learns while the crawl goes on: setting ADAPT_AFTER.

After every so many pages whose language is known, `bifocal train adapt` continues the
model on all pages of the run so far, in a process beside the crawl. If held-out pages
gain and its reference loses no more than half a point (`training/adapt.py`), the new
weights are put into `url_language.npz` of the run directory, links that come later are
scored by them, and so is a crawl that is resumed. It begins with the original weights
each time, so losses do not add up.

In: visits.  Out: `url_language.npz`, `adapting.log`; counters adapt/….
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from crawler.crawl.log import Visit
from crawler.crawl.settings import CrawlSettings
from crawler.errors import BifocalError, ProfileError
from crawler.frontier.scorers.remembered import RememberedLanguages
from crawler.protocols import UrlLanguageModel

logger = logging.getLogger(__name__)

ADAPTABLE = "models.url_language.HashedUrlLanguageModel"
_NICE = 5  # the crawl comes first

Load = Callable[[Path], UrlLanguageModel]


def check_adaptable(model: str) -> None:
    """ProfileError if this class of models cannot be continued, or not here."""
    if model != ADAPTABLE:
        raise ProfileError(
            f"ADAPT_AFTER: URL_LANGUAGE_MODEL={model} cannot be adapted (leave it at"
            f" {ADAPTABLE}, or ADAPT_AFTER at 0)"
        )
    if find_spec("torch") is None:
        raise ProfileError(
            "ADAPT_AFTER needs torch (pip install 'bifocal-crawler[train]')"
        )


class Adaptation:
    """Counts visits, and has the model continued in a process of its own.

    `settings`: ADAPT_AFTER, pages between two adaptations, and the original weights;
    `load` makes a model of a file of weights; `model` is the one that is replaced.
    """

    def __init__(
        self,
        settings: CrawlSettings,
        model: RememberedLanguages,
        load: Load,
        counts: Counter[str],
    ) -> None:
        self._run = settings.run
        self._after = settings.adapt_after
        self._weights = settings.url_language_model_dir
        self._model = model
        self._load = load
        self._counts = counts
        self._new = 0  # pages since the last one began
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a process is at work whose result was not taken yet."""
        return self._process is not None

    def visited(self, visit: Visit) -> None:
        """Count a page whose language is known."""
        self._new += visit.lang is not None

    def tick(self, _now: float) -> None:
        """Take the result of a process that has ended; start one when it is time."""
        if self._process is not None:
            if self._process.poll() is not None:
                self._take(self._process.returncode)
        elif self._new >= self._after:
            self._new = 0
            self._start()

    def close(self) -> None:
        """End the process: what it would have learned, the next session learns."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self._counts["adapt/unfinished"] += 1
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _folder(self) -> Path:
        return self._run.path / "adapting"

    def _start(self) -> None:
        # a training goes on where it stopped, which is no good with other pages
        shutil.rmtree(self._folder, ignore_errors=True)
        words = ["-m", "training", "adapt", str(self._run.path)]
        words += ["--out", str(self._folder)]
        if self._weights:
            words += ["--weights", self._weights]
        environment = dict(os.environ)
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
        with (self._run.path / "adapting.log").open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own words
                [sys.executable, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=environment,
                process_group=0,  # Ctrl-C is for the crawl, which ends it then
            )
        if hasattr(os, "setpriority"):
            os.setpriority(os.PRIO_PROCESS, self._process.pid, _NICE)
        self._counts["adapt/started"] += 1

    def _take(self, status: int) -> None:
        self._process = None
        made = self._folder / "url_language.npz"
        if status != 0:
            self._counts["adapt/failed"] += 1
            log = self._run.path / "adapting.log"
            logger.warning("The language model was not adapted: see %s", log)
        elif not made.is_file():
            self._counts["adapt/no_gain"] += 1
        else:
            try:
                model = self._load(made)
            except BifocalError as error:  # written on a disk that is full
                self._counts["adapt/failed"] += 1
                logger.warning("The adapted language model is not used: %s", error)
            else:
                made.replace(self._run.url_language)
                self._model.replace(model)
                self._counts["adapt/replaced"] += 1
                logger.info("The language model has learned from this crawl")
        shutil.rmtree(self._folder, ignore_errors=True)
