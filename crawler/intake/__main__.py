"""The intake as a process of its own, beside the crawl that started it.

    python -m crawler.intake 7 INFO FORMAT DATEFORMAT    # 7: a socket of the crawl's

It answers each message, in the order in which they come; between two of them it has
spare time for sentences. A thread reads ahead, so the crawl never waits to be heard,
and ends the process when the crawl is gone: what was in hand is lost as in a kill of
the crawl itself, and fetched again by the next session.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from multiprocessing.connection import Connection
from queue import SimpleQueue
from time import monotonic

from crawler.data import Page
from crawler.errors import BifocalError
from crawler.extract.document import read_page
from crawler.intake import messages
from crawler.intake.intake import OURS, Findings, Intake, IntakeConfig
from crawler.intake.spare_time import EVERY
from crawler.rundir import RunDir
from crawler.warc.reader import NO_DATE

Inbox = SimpleQueue[bytes | None]  # None: nothing came for a while
Told = tuple[messages.Fields, bytes]  # a message

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
    try:
        intake = Intake(config, Counter())
    except BifocalError as error:
        connection.send_bytes(messages.error_message(error))
        return
    connection.send_bytes(messages.pack({}))
    looked = monotonic()
    while True:
        try:
            for kind, group in groupby(_waiting(inbox), lambda told: told[0]["kind"]):
                if kind == "finish":
                    connection.send_bytes(messages.ending_message(intake.finish()))
                    return
                for reply in _replies(intake, kind, group):
                    connection.send_bytes(reply)
            if monotonic() - looked >= EVERY:
                looked = monotonic()
                intake.look(lambda: not inbox.empty())
        except OURS as error:
            told = RunDir(config.run_dir).error(error)
            connection.send_bytes(messages.error_message(told))


def _waiting(inbox: Inbox) -> list[Told]:
    """What has come by now, some of it if that is much; else what comes next."""
    found = [inbox.get()]
    while len(found) < TOGETHER and not inbox.empty():
        found.append(inbox.get())
    return [messages.unpack(message) for message in found if message is not None]


def _replies(intake: Intake, kind: str, group: Iterable[Told]) -> Iterator[bytes]:
    if kind == "take":
        answers = [messages.answer_of(*told) for told in group]
        for findings in intake.take(answers):
            if isinstance(findings, Findings):
                yield messages.findings_message(findings)
            else:
                yield messages.bug_message(findings)
        return
    for told in group:
        reply = messages.pack({})
        try:
            intake.keep(messages.exchange_of(*told))
        except OURS:
            raise
        except Exception as error:
            reply = messages.bug_message(error)
        yield reply


def warm_up() -> None:
    """Read a page, while nobody waits: the first one takes 25 ms more, for tables."""
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
        fields, _ = messages.unpack(connection.recv_bytes())
    except (EOFError, OSError):  # the crawl was killed before it said a word
        sys.exit(1)
    inbox: Inbox = SimpleQueue()
    threading.Thread(target=receive, args=(connection, inbox), daemon=True).start()
    serve(connection, inbox, messages.config_of(fields))


if __name__ == "__main__":
    main()
