"""`scrapy crawl`, with errors that a person can act on.

A mistake of the user or the end of a disk is one line that says what, where and the
cure, and the exit status is not 0. Of Scrapy's own milestones the log has only the
answer to Ctrl-C, unless a log level is asked for.

Scrapy finds it by the setting COMMANDS_MODULE and, where SCRAPY_PROJECT is mistyped so
that there are no settings, by the entry point of the package.
"""

from __future__ import annotations

import argparse
import logging
import sys
from asyncio import Task
from typing import cast

from scrapy.commands.crawl import Command as CrawlCommand
from scrapy.exceptions import UsageError

from crawler.components.checks import check_project, check_spider
from crawler.crawl.child import Child, start_child, wants_process
from crawler.crawl.settings import read_settings
from crawler.errors import BifocalError

# The loggers of Scrapy that speak before a command runs.
_EARLY = ("scrapy.utils.log", "scrapy.addons", "asyncio")


# In place of Scrapy's answers to a first and to a second signal.
_STOPPING = (
    "Stopping: pages on their way are waited for, then the final pairs are made (of a"
    " large run a minute or more). Once more stops at once and loses no page"
)
_STOPPED = (
    "Stopped at once: the pages are safe, the same command goes on and pairs them"
)


def _is_answer_to_signal(record: logging.LogRecord) -> bool:
    if str(record.msg).startswith("Received"):
        record.msg = _STOPPED if "twice" in str(record.msg) else _STOPPING
        record.args = ()
        return True
    return record.levelno > logging.INFO


def _is_warning(record: logging.LogRecord) -> bool:
    return record.levelno > logging.INFO


def quiet_scrapy() -> None:
    """Let Scrapy, which has set up its logging, say what is wrong and no more."""
    logging.getLogger("scrapy").setLevel(logging.WARNING)
    logging.getLogger("scrapy.crawler").setLevel(logging.INFO)
    logging.getLogger("scrapy.crawler").addFilter(_is_answer_to_signal)


class Command(CrawlCommand):
    """Runs a spider and reports what ended it."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Quiet Scrapy before it starts to talk, unless a log level is asked for."""
        super().process_options(args, opts)
        if opts.loglevel is None:
            for name in _EARLY:
                logging.getLogger(name).addFilter(_is_warning)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run one spider by name."""
        if len(args) != 1:
            raise UsageError("expected the name of one spider: scrapy crawl bilingual")
        assert self.crawler_process
        if opts.loglevel is None:
            quiet_scrapy()
        try:
            check_project()
            check_spider(self.settings)
            child = self._start_child() if args == ["bilingual"] else None
        except BifocalError as mistake:
            self._say(mistake)
            return
        spider_arguments = dict(opts.spargs, **({"child": child} if child else {}))
        crawler = self.crawler_process.create_crawler(args[0])
        started = self.crawler_process.crawl(crawler, **spider_arguments)
        task = cast("Task[None]", started)
        self.crawler_process.start()
        error = task.exception() if task.done() and not task.cancelled() else None
        fatal = error or getattr(crawler.spider, "fatal", None)
        if isinstance(fatal, BifocalError):
            self._say(fatal)
        elif fatal is not None:
            raise fatal
        elif self.crawler_process.bootstrap_failed:
            self.exitcode = 1

    def _start_child(self) -> Child | None:
        """Start the page process first of all: it takes as long as loading a spider."""
        assert self.settings is not None
        settings = read_settings(self.settings.copy_to_dict())
        return start_child(settings) if wants_process(settings) else None

    def _say(self, error: BifocalError) -> None:
        self.exitcode = error.exit_status
        print(f"bifocal: error: {error}", file=sys.stderr)
