"""The shared frontier on each kind of Redis: TLS, password, Sentinel, cluster."""

from __future__ import annotations

import subprocess
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from ipaddress import IPv4Address
from pathlib import Path

import pytest
import redis
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from crawler.data import FrontierEntry
from crawler.errors import FrontierError
from crawler.frontier.stores.open import open_frontier
from crawler.frontier.stores.redis import RedisFrontier
from tests.commands import bifocal
from tests.redis_server import RedisServer, found, free_port


def entry(page: int) -> FrontierEntry:
    return FrontierEntry(f"https://a.is/{page}", "a.is", page / 100, 1, b"{}")


def check(url: str) -> None:
    """A worker fetches, another one sees it and takes over."""
    first = open_frontier(f"{url}&worker=a&pause=0")
    first.push([entry(page) for page in range(10)])
    first.release(first.pop().url, done=True)
    first.close()
    second = open_frontier(f"{url}&worker=b&pause=0")
    assert second.pop() == entry(8)
    assert second.counts() == {"pending": 8, "leased": 1, "done": 1}
    second.save("x", b"y")
    assert second.load("x") == b"y"
    second.commit()
    shown = bifocal("status", url)
    assert shown.stdout.startswith("1 URLs done, 9 pending, 1 open sites"), shown.stderr
    second.close()


@pytest.fixture
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("r")  # a short path, for the socket


def write_certificates(folder: Path) -> None:
    """A certificate authority of our own, and a server that it vouches for."""
    authority = ec.generate_private_key(ec.SECP256R1())
    server = ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "ours")])
    now = datetime.now(UTC)
    for name, key in (("ca", authority), ("server", server)):
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
        made = (
            x509.CertificateBuilder()
            .subject_name(issuer if name == "ca" else subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(
                x509.BasicConstraints(ca=name == "ca", path_length=None), critical=True
            )
            .add_extension(
                x509.SubjectAlternativeName([x509.IPAddress(IPv4Address("127.0.0.1"))]),
                critical=False,
            )
            .sign(authority, hashes.SHA256())
        )
        (folder / f"{name}.crt").write_bytes(
            made.public_bytes(serialization.Encoding.PEM)
        )
        (folder / f"{name}.key").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )


def test_tls_with_a_certificate_that_is_checked(folder):
    write_certificates(folder)
    port = free_port()
    options = ["--port", "0", "--tls-port", str(port), "--tls-auth-clients", "no"]
    options += ["--tls-cert-file", str(folder / "server.crt")]
    options += ["--tls-key-file", str(folder / "server.key")]
    options += ["--tls-ca-cert-file", str(folder / "ca.crt")]
    with RedisServer(folder, *options):
        url = f"rediss://127.0.0.1:{port}/0?run=x"
        check(f"{url}&ssl_ca_certs={folder / 'ca.crt'}")
        with pytest.raises(FrontierError, match=r"(?i)certificate"):
            RedisFrontier.open(f"{url}&patience=0")  # of an authority that nobody knows


def test_a_password_from_the_url_or_the_environment(folder, monkeypatch):
    port = free_port()
    with RedisServer(folder, "--port", str(port), "--requirepass", "secret"):
        check(f"redis://:secret@127.0.0.1:{port}/0?run=x")
        for wrong in ("", ":wr0ng@"):
            with pytest.raises(FrontierError, match="password") as caught:
                RedisFrontier.open(
                    f"redis://{wrong}127.0.0.1:{port}/0?run=x"
                )  # at once
            assert "wr0ng" not in str(caught.value)
        monkeypatch.setenv("REDISCLI_AUTH", "secret")
        check(f"redis://127.0.0.1:{port}/0?run=y")


def test_a_cluster_keeps_a_run_on_one_of_its_servers(folder):
    ports = [free_port() for _ in range(3)]
    with ExitStack() as stack:
        for port in ports:
            options = ["--port", str(port), "--cluster-enabled", "yes"]
            home = folder / str(port)
            home.mkdir()
            stack.enter_context(RedisServer(home, *options))
        nodes = [f"127.0.0.1:{port}" for port in ports]
        cli = Path(found()).with_name("redis-cli")
        command = [cli, "--cluster", "create", *nodes, "--cluster-yes"]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        # of some runs, most are not on the server that is asked first
        for run in ("x", "y", "z"):
            check(f"redis+cluster://{nodes[0]}/?run={run}")


def test_a_sentinel_names_the_master_and_the_next_one(folder):
    """The master dies: the workers wait, and go on with the replica."""
    port, other, watch = free_port(), free_port(), free_port()
    homes = [folder / name for name in ("a", "b", "s")]
    for home in homes:
        home.mkdir()
    config = homes[2] / "sentinel.conf"
    config.write_text(
        f"port {watch}\ndir {homes[2]}\n"
        f"sentinel monitor ours 127.0.0.1 {port} 1\n"
        "sentinel down-after-milliseconds ours 500\n"
        "sentinel failover-timeout ours 2000\n"
    )
    url = f"redis+sentinel://127.0.0.1:{watch}/ours?run=x"
    with ExitStack() as stack:
        master = RedisServer(homes[0], "--port", str(port), aof=True)
        stack.enter_context(master)
        replica = ["--port", str(other), "--replicaof", "127.0.0.1", str(port)]
        stack.enter_context(
            RedisServer(homes[1], *replica, "--repl-diskless-sync-delay", "0")
        )
        sentinel = subprocess.Popen(
            [found(), str(config), "--sentinel"], stdout=subprocess.DEVNULL
        )
        stack.callback(sentinel.wait)
        stack.callback(sentinel.kill)
        check(url)
        store = RedisFrontier.open(f"{url}&worker=a&pause=0&patience=60")
        store.push([entry(page) for page in range(20, 30)])
        store.commit()
        with redis.Redis(port=other) as client, redis.Redis(port=watch) as asked:
            end = time.monotonic() + 30
            while not (
                client.info("replication")["master_link_status"] == "up"
                and client.exists("{bifocal:x}:site:a.is")
                and asked.sentinel_master("ours")["num-slaves"] == 1
            ):
                assert time.monotonic() < end
                time.sleep(0.1)
        master.kill()
        store.push([entry(page) for page in range(30, 40)])
        store.commit()  # waits for the new master
        store.close()
        with redis.Redis(port=other) as client:
            assert client.info("replication")["role"] == "master"
        heir = RedisFrontier.open(f"{url}&worker=b&pause=0&patience=60")
        assert heir.pop() == entry(39)
        assert heir.counts() == {"pending": 28, "leased": 1, "done": 1}
        heir.close()
