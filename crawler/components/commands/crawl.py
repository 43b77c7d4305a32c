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
from scrapy.utils.log import DEFAULT_LOGGING

from crawler.components.checks import check_project
from crawler.components.page_process import start_early
from crawler.errors import BifocalError


def _is_answer_to_signal(record: logging.LogRecord) -> bool:
    return record.levelno > logging.INFO or str(record.msg).startswith("Received")


def quiet_scrapy() -> None:
    """Let Scrapy say what is wrong, and no more, from when it starts."""
    # the level that Scrapy itself gives its logger then
    loggers = cast("dict[str, dict[str, str]]", DEFAULT_LOGGING["loggers"])
    loggers["scrapy"]["level"] = "WARNING"
    loggers["scrapy.crawler"] = {"level": "INFO"}
    logging.getLogger("scrapy.crawler").addFilter(_is_answer_to_signal)


class Command(CrawlCommand):
    """Runs a spider and reports what ended it."""

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Quiet Scrapy, before it starts to talk; start what takes longest."""
        super().process_options(args, opts)
        if opts.loglevel is None:
            quiet_scrapy()
        assert self.settings is not None
        if args == ["bilingual"]:
            start_early(self.settings)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run one spider by name."""
        if len(args) != 1:
            raise UsageError("expected the name of one spider: scrapy crawl bilingual")
        assert self.crawler_process
        try:
            check_project()
        except BifocalError as mistyped:
            self._say(mistyped)
            return
        crawler = self._create_crawler(args[0])
        task = cast("Task[None]", self.crawler_process.crawl(crawler, **opts.spargs))
        self.crawler_process.start()
        error = task.exception() if task.done() and not task.cancelled() else None
        fatal = error or getattr(crawler.spider, "fatal", None)
        if isinstance(fatal, BifocalError):
            self._say(fatal)
        elif fatal is not None:
            raise fatal
        elif self.crawler_process.bootstrap_failed:
            self.exitcode = 1

    def _say(self, error: BifocalError) -> None:
        self.exitcode = error.exit_status
        print(f"bifocal: error: {error}", file=sys.stderr)
