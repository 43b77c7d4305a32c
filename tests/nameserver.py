"""A name server on loopback that answers exactly what a test tells it.

    with NameServer({"a.example": [["127.0.0.2"], ["127.0.0.1"]]}) as names:
        names.run(["getent", "hosts", "a.example"])

The addresses of a name are those of the first list for the first question, then those
of the second one; the last one for ever. `run` runs a program whose system asks this
server and no other.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from ipaddress import ip_address
from pathlib import Path
from typing import Self

from twisted.names import dns

# A file system of its own, in which the list of name servers is another one.
_ALONE = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
_MOUNT = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'


class NameServer:
    """Answers in a thread until the `with` block ends."""

    def __init__(
        self, names: Mapping[str, Sequence[Sequence[str]]], host: str = "127.0.53.1"
    ) -> None:
        self.names = names
        self.host = host
        self.asked: Counter[str] = Counter()  # questions for IPv4 addresses

    def __enter__(self) -> Self:
        """Begin; OSError where port 53 may not be had."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((self.host, 53))
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join()
        self._socket.close()

    def run(self, command: Sequence[str], **options) -> subprocess.CompletedProcess:
        """Run a program that asks this server for names."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "resolv.conf")
            path.write_text(f"nameserver {self.host}\noptions attempts:1 timeout:5\n")
            words = [*_ALONE, _MOUNT, str(path), *command]
            return subprocess.run(words, check=False, **options)

    def _serve(self) -> None:
        while True:
            data, whom = self._socket.recvfrom(2000)
            if not data:
                return
            self._socket.sendto(self._answer(data), whom)

    def _answer(self, data: bytes) -> bytes:
        question = dns.Message()
        question.fromStr(data)
        query = question.queries[0]
        name = query.name.name.decode().lower()
        rounds = self.names.get(name, [[]])
        found = rounds[min(self.asked[name], len(rounds) - 1)]
        self.asked[name] += query.type == dns.A
        answer = dns.Message(question.id, answer=True, auth=True)
        answer.queries = [query]
        for text in found:
            version = ip_address(text).version
            if query.type == {4: dns.A, 6: dns.AAAA}[version]:
                kind = dns.Record_A if version == 4 else dns.Record_AAAA
                payload = kind(text, ttl=0)
                answer.answers.append(
                    dns.RRHeader(name, query.type, ttl=0, payload=payload)
                )
        return answer.toStr()
