"""A real redis-server for tests, on a socket of its own, gone when the tests are."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Self

import pytest
import redis


class RedisServer:
    """`redis-server` in an empty folder; with `aof`, a restart has its data again.

    It listens on a Unix socket, and where `options` (words of its command line) say.
    """

    def __init__(self, folder: Path, *options: str, aof: bool = False) -> None:
        self.folder = folder
        self.socket = folder / "redis.sock"
        self._options = ["--appendonly", "yes" if aof else "no", "--save", ""]
        self._options += options if "--port" in options else ("--port", "0", *options)
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, run: str, **options: object) -> str:
        """For FRONTIER_URL."""
        more = "".join(f"&{name}={value}" for name, value in options.items())
        return f"unix://{self.socket}?run={run}{more}"

    def start(self) -> Self:
        command = [found(), "--unixsocket", str(self.socket)]
        command += ["--dir", str(self.folder), *self._options]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while not self.socket.exists():
            assert time.monotonic() < end
            assert self._process.poll() is None
            time.sleep(0.01)
        return self

    def stop(self) -> None:
        """Answer nobody for a while, as a machine that hangs."""
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """The end of `stop`."""
        assert self._process
        self._process.send_signal(signal.SIGCONT)

    def memory(self) -> int:
        """Bytes that its data takes."""
        with self.client() as client:
            return int(client.info("memory")["used_memory"])

    def client(self) -> redis.Redis:
        """To look behind the frontier."""
        return redis.Redis(unix_socket_path=str(self.socket))

    def kill(self) -> None:
        """As the kernel would."""
        assert self._process
        self._process.kill()
        self._process.wait()
        self.socket.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.kill()


def free_port() -> int:
    """A TCP port that nobody listens on, and 10,000 above it a cluster may talk."""
    port = 65_535
    while port > 55_535:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    return port


def found() -> str:
    """The program; skips with the reason where there is none, but never in CI."""
    program = shutil.which("redis-server")
    if program is None:
        why = "no redis-server (apt-get install redis-server)"
        assert not os.environ.get("CI"), why
        pytest.skip(why)
    return program


def server_of_the_session() -> RedisServer:
    """In a short path: a socket's name may have 107 bytes."""
    return RedisServer(Path(tempfile.mkdtemp(prefix="bifocal-redis-")))
