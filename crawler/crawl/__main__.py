"""The intake as a process of its own, beside the crawl that started it.

    python -m crawler.crawl 7 INFO FORMAT DATEFORMAT    # 7: a socket of the crawl's

It answers each message, in the order in which they come; between two of them it aligns
sentences. A thread reads ahead, so the crawl never waits to be heard, and ends the
process when the crawl is gone: what was in hand is lost as in a kill of the crawl
itself, and fetched again by the next session.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import threading
from collections import Counter
from itertools import groupby
from multiprocessing.connection import Connection
from queue import SimpleQueue
from time import monotonic
from traceback import format_exc
from typing import Any

from crawler.crawl import codec
from crawler.crawl.intake import Intake, IntakeConfig
from crawler.crawl.spare_time import EVERY
from crawler.data import Page
from crawler.errors import FATAL_ERRORS
from crawler.extract.document import read_page
from crawler.rundir import RunDir
from crawler.warc.reader import NO_DATE

Inbox = SimpleQueue[bytes | None]  # None: nothing came for a while

# Answers taken together, at most: eight would save a fifth more here, but where ten
# sites have a page on its way each, the crawl would wait for them with nothing to do.
TOGETHER = 4


def receive(connection: Connection, inbox: Inbox) -> None:
    """Put messages where the worker finds them, until the crawl is gone."""
    poll = select.poll()  # a tenth of the time of connection.poll, at each message
    poll.register(connection.fileno(), select.POLLIN)
    while True:
        try:
            if poll.poll(1000 * EVERY):
                inbox.put(connection.recv_bytes())
            elif inbox.empty():
                inbox.put(None)
        except (EOFError, OSError):
            os._exit(1)


def serve(connection: Connection, inbox: Inbox, config: IntakeConfig) -> None:
    """Answer until told to finish."""
    counts: Counter[str] = Counter()

    def reply(**fields: Any) -> None:
        data = codec.encode(codec.Reply(counts=counts, **fields))
        try:
            connection.send_bytes(data)
        except OSError:  # the crawl is gone, as `receive` will see
            os._exit(1)
        counts.clear()

    try:
        intake = Intake.open(config, counts)
    except FATAL_ERRORS as error:
        reply(failed=codec.told(RunDir(config.run_dir).error(error)))
        return
    reply()
    looked = monotonic()
    while True:
        try:
            for kind, group in groupby(_waiting(inbox), lambda found: found.kind):
                if kind == "finish":
                    ended = intake.finish()
                    reply(stats=ended.stats, failed=codec.told(ended.error))
                    return
                if kind == "take":
                    answers = [found.answer for found in group if found.answer]
                    reply(results=intake.take(answers))
                else:
                    for found in group:
                        reply(bug=_keep(intake, found))
            if monotonic() - looked >= EVERY:
                looked = monotonic()
                intake.use_spare_time(lambda: not inbox.empty())
        except FATAL_ERRORS as error:
            reply(failed=codec.told(RunDir(config.run_dir).error(error)))


def _waiting(inbox: Inbox) -> list[codec.Request]:
    """The messages that have come by now, up to a number; else the next one."""
    found = [inbox.get()]
    while len(found) < TOGETHER and not inbox.empty():
        found.append(inbox.get())
    return [codec.request_of(message) for message in found if message is not None]


def _keep(intake: Intake, request: codec.Request) -> str | None:
    """Store an answer; the traceback of an unexpected error, which costs it alone."""
    assert request.exchange
    try:
        intake.keep(request.exchange)
    except FATAL_ERRORS:
        raise
    except Exception:
        return format_exc()
    return None


def warm_up() -> None:
    """Read a page while nobody waits: the first one takes 25 ms more, for tables."""
    headers = (("Content-Type", "text/html"),)
    body = b"<p>Whose languages are told by tables, as the parts of hosts are."
    read_page(Page("http://www.example.org/", 200, headers, body, NO_DATE))


def main() -> None:
    """Serve the crawl at the other end of the socket that is named."""
    for number in (signal.SIGINT, signal.SIGTERM):  # the crawl says when to end
        signal.signal(number, signal.SIG_IGN)
    socket, level, form, dates = sys.argv[1:]
    logging.basicConfig(level=level, format=form, datefmt=dates)
    connection = Connection(int(socket))
    warm_up()
    try:
        first = codec.request_of(connection.recv_bytes())
    except (EOFError, OSError):  # the crawl was killed before it said a word
        sys.exit(1)
    assert first.config
    inbox: Inbox = SimpleQueue()
    threading.Thread(target=receive, args=(connection, inbox), daemon=True).start()
    serve(connection, inbox, first.config)


if __name__ == "__main__":
    main()
