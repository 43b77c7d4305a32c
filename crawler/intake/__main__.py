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
import traceback
from collections import Counter
from multiprocessing.connection import Connection
from queue import SimpleQueue
from time import monotonic

from crawler.data import Page
from crawler.errors import BifocalError
from crawler.extract.document import read_page
from crawler.intake import messages
from crawler.intake.intake import OURS, Intake, IntakeConfig
from crawler.intake.spare_time import EVERY
from crawler.rundir import RunDir
from crawler.warc.reader import NO_DATE

Inbox = SimpleQueue[bytes | None]  # None: nothing came for a while


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
        message = inbox.get()
        try:
            if message is not None:
                fields, body = messages.unpack(message)
                if fields["kind"] == "finish":
                    connection.send_bytes(messages.ending_message(intake.finish()))
                    return
                connection.send_bytes(_reply(intake, fields, body))
            if monotonic() - looked >= EVERY:
                looked = monotonic()
                intake.look(lambda: not inbox.empty())
        except OURS as error:
            told = RunDir(config.run_dir).error(error)
            connection.send_bytes(messages.error_message(told))


def _reply(intake: Intake, fields: messages.Fields, body: bytes) -> bytes:
    try:
        if fields["kind"] == "keep":
            intake.keep(messages.exchange_of(fields, body))
            return messages.pack({})
        findings = intake.take(messages.answer_of(fields, body))
        return messages.findings_message(findings)
    except OURS:
        raise
    except Exception:  # of a hostile page, perhaps: the crawl says so and goes on
        return messages.bug_message(traceback.format_exc())


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
