"""The environment's proxy: who goes through it, and who hears its password."""

from __future__ import annotations

import gzip
import socket
import threading
from base64 import b64encode
from contextlib import suppress

from tests.commands import Run, crawl
from tests.integration.test_http import ENGLISH, issued, links_to, listening
from tests.webserver import Server, Talk, page

PASSWORD = b64encode(b"me:secret").decode()
HOME = page(f"<p>{ENGLISH}", links_to("/more"))
PAGES = {"/": HOME, "/more": page(f"<p>{ENGLISH} {ENGLISH}")}


def crawled(run_dir, proxy: Server, *seeds: str, **settings: object) -> Run:
    """A crawl in an environment that names the proxy, but not for 127.0.0.1."""
    address = f"http://me:secret@{proxy.host}:{proxy.port}"
    proxies = {"http_proxy": address, "https_proxy": address, "no_proxy": "127.0.0.1"}
    words = ",".join(seeds), "en,is", run_dir
    done = crawl(*words, proxies=proxies, DOWNLOAD_DELAY=0, **settings)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return Run(run_dir)


def statuses(run: Run) -> dict[str, int]:
    return {visit["url"]: visit["status"] for visit in run.visits}


def assert_no_password(run: Run) -> None:
    for file in run.warcs:
        stored = gzip.decompress(file.read_bytes())
        assert b"user-agent" in stored.lower()
        assert b"proxy-authorization" not in stored.lower()


def test_through_it_and_past_it(tmp_path):
    far = "http://far.example"
    routes = {f"{far}{path}": body for path, body in PAGES.items()}
    with Server(routes) as proxy, Server(PAGES) as near:
        run = crawled(tmp_path / "run", proxy, f"{far}/", near.url())
    assert set(statuses(run).values()) == {200}
    assert set(proxy.paths()) == {f"{far}{path}" for path in ("/robots.txt", *PAGES)}
    assert set(near.paths()) == {"/robots.txt", *PAGES}
    for asked in proxy.asked:
        assert asked.headers["proxy-authorization"] == f"Basic {PASSWORD}"
    for asked in near.asked:
        assert "proxy-authorization" not in asked.headers
    assert_no_password(run)


def pump(here: socket.socket, there: socket.socket) -> None:
    with suppress(OSError):
        while data := here.recv(65_536):
            there.sendall(data)
        there.shutdown(socket.SHUT_WR)


def tunnel(server: Server) -> Talk:
    """What a proxy does when it is asked to CONNECT."""

    def talk(connection: socket.socket) -> None:
        with socket.create_connection((server.host, server.port)) as far:
            connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            back = threading.Thread(target=pump, args=(far, connection))
            back.start()
            pump(connection, far)
            back.join()

    return talk


def test_a_tunnel_for_tls(tmp_path):
    issued(tmp_path)
    with (
        Server(PAGES, tls=listening(tmp_path)) as secure,
        Server({"far.example:443": tunnel(secure)}) as proxy,
    ):
        url, verify = "https://far.example/", {"TLS_VERIFY": False}
        run = crawled(tmp_path / "run", proxy, url, **verify)
    assert statuses(run) == {f"https://far.example{path}": 200 for path in PAGES}
    assert set(proxy.paths()) == {"far.example:443"}
    for asked in proxy.asked:
        assert asked.headers["proxy-authorization"] == f"Basic {PASSWORD}"
    for asked in secure.asked:
        assert "proxy-authorization" not in asked.headers
    assert_no_password(run)
