"""The live web, on loopback: what servers do, politeness, and who is refused."""

from __future__ import annotations

import gzip
import ssl
import subprocess
import sys
import zlib
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from ipaddress import IPv4Address
from pathlib import Path
from statistics import median

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID

from crawler.warc.reader import iter_pages
from tests.commands import Run, bifocal, crawl, error_line, pair_urls
from tests.webserver import (
    Server,
    answer,
    endless,
    half,
    moved,
    page,
    reset,
    silence,
    text,
)
from tests.worlds import build_site

TOWN = build_site("town.example", concepts=12, words=120, hreflang=True)
ENGLISH = " ".join(TOWN.sentences(3, "en"))
ICELANDIC = " ".join(TOWN.sentences(3, "is"))
BIG = 300_000  # bytes: DOWNLOAD_MAXSIZE of these crawls
QUICK = {"DOWNLOAD_DELAY": 0, "RETRY_WAIT": 0, "DOWNLOAD_MAXSIZE": BIG}


def links_to(*paths: str) -> str:
    return "\n".join(f'<a href="{path}">more</a>' for path in paths)


def checked(run: Run) -> Run:
    """Every WARC file passes the reference checker."""
    warcio = Path(sys.executable).with_name("warcio")
    done = subprocess.run(
        [warcio, "check", *run.warcs], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")
    return run


# ------------------------------------------------------------ what servers do

HOSTILE_HEADERS = b"".join(
    [
        b"HTTP/1.1 200 Very\xff\xe9 OK\r\nContent-Type: text/html; charset=\xff\r\n",
        b"X-Latin: \xfe\xe6\r\nX-Long: " + b"a" * 9_000 + b"\r\nX-Empty:\r\n",
        *[b"Set-Cookie: a%d=b\r\n" % n for n in range(200)],
        b"X-Folded: one\r\n two\r\nContent-Length: 4\r\n\r\n<p>x",
    ]
)
PAST = formatdate(0, usegmt=True)
ODDITIES = {
    # redirects
    "/moved": moved("/moved/here"),
    "/moved/here": page(f"<p>{ENGLISH}"),
    "/loop/a": moved("/loop/b", "302 Found"),
    "/loop/b": moved("/loop/a", "302 Found"),
    "/self": moved("/self"),
    "/no-location": answer(status="302 Found"),
    "/script": moved("javascript:alert(1)"),
    "/long": moved("/" + "a" * 3000),
    "/tls": moved("https://127.0.0.1:1/tls"),
    # not now
    "/busy": [
        answer(status="503 Service Unavailable", retry_after="0"),
        page(f"<p>{ENGLISH} {ENGLISH}"),
    ],
    "/limited": [
        answer(status="429 Too Many Requests", retry_after=PAST),
        answer(status="429 Too Many Requests", retry_after="-1"),
        page(f"<p>{ENGLISH}"),
    ],
    "/odd-retry": [
        answer(status="503 Service Unavailable", retry_after="\xb2"),
        page(f"<p>{ENGLISH}"),
    ],
    "/always": answer(status="500 Internal Server Error"),
    "/reset": reset,
    "/silent": silence,
    "/half": half,
    "/garbage": b"\x16\x03\x01\x00garbage\r\n\r\n",
    # bodies
    "/gzip": answer(gzip.compress(f"<p>{ICELANDIC}".encode()), content_encoding="gzip"),
    "/deflate": answer(
        zlib.compress(f"<p>{ICELANDIC} {ENGLISH}".encode()), content_encoding="deflate"
    ),
    "/not-gzip": answer(f"<p>{ICELANDIC}", content_encoding="gzip"),
    "/bomb": answer(gzip.compress(b"a" * 150_000_000, 9), content_encoding="gzip"),
    "/huge": answer("x" * (BIG + 1)),
    "/endless": endless,
    "/latin": answer(
        f"<meta charset=utf-8><p>{ICELANDIC}".encode("latin-1"),
        content_type="text/html; charset=iso-8859-1",
    ),
    "/no-such-charset": answer(
        f"<p>{ICELANDIC}", content_type="text/html; charset=no-such-thing"
    ),
    "/binary": answer(bytes(range(256)) * 40, content_type="text/html"),
    "/nothing": answer(status="204 No Content"),
    "/headers": HOSTILE_HEADERS,
    "/999": answer("<p>no", "999 Request denied"),
    # robots.txt
    "/robots.txt": text("User-agent: *", "Disallow: /forbidden/"),
    "/forbidden/page": page(f"<p>{ENGLISH}"),
}


@pytest.fixture(scope="module")
def elsewhere():
    with Server({"/": page(f"<p>{ENGLISH}")}, "127.0.0.9") as server:
        yield server


@pytest.fixture(scope="module")
def server(elsewhere):
    with Server(ODDITIES) as server:
        home = page(
            f"<p>{ENGLISH}",
            links_to("/en/", *ODDITIES),
            links_to(elsewhere.url("/"), "/elsewhere", "/missing", "mailto:a@b.is"),
        )
        server.routes.update(
            {"/": home, "/elsewhere": moved(elsewhere.url("/"), "307 Temporary")}
        )
        server.add(TOWN)
        yield server


@pytest.fixture(scope="module")
def done(server, tmp_path_factory):
    path = tmp_path_factory.mktemp("http") / "run"
    done = crawl(server.url(), "en,is", path, DOWNLOAD_TIMEOUT=2, **QUICK)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done


@pytest.fixture(scope="module")
def run(done, server):
    path = next(
        line.split()[1] for line in done.stdout.splitlines() if "pages " in line[:8]
    )
    return checked(Run(Path(path).parent))


@pytest.fixture(scope="module")
def visits(run, server):
    origin = server.url("")
    return {visit["url"].removeprefix(origin): visit for visit in run.visits}


def test_whatever_a_server_does_the_crawl_ends_and_finds_the_pairs(run, server):
    origin = server.url("")
    gold = {
        tuple(url.replace("https://town.example", origin) for url in pair)
        for pair in TOWN.gold("en", "is")
    }
    assert gold <= set(pair_urls(run))


def test_every_answer_is_in_the_warc(run, server):
    stored = [page.url for page in iter_pages(run.path / "warc")]
    never_whole = {"/reset", "/silent", "/half", "/garbage", "/huge", "/endless"}
    for path in set(server.paths()) - never_whole:
        assert server.url(path) in stored
    assert stored.count(server.url("/limited")) == 3


def test_redirects_are_followed_once_and_not_out_of_the_site(visits, server, elsewhere):
    for path in ("/moved", "/loop/a", "/loop/b", "/self", "/elsewhere", "/long"):
        assert server.paths().count(path) == 1
        assert visits[path]["reason"] == "redirect"
    assert visits["/moved/here"]["lang"] == "en"
    assert elsewhere.asked == []


def test_nothing_but_what_should_be_tried_again_is_asked_for_twice(server):
    again = {"/busy": 2, "/limited": 3, "/odd-retry": 2, "/always": 3}
    again |= dict.fromkeys(["/silent", "/half", "/garbage"], 3)
    asked = Counter(server.paths())
    # Twisted itself asks again when a connection that was kept open is reset
    assert 3 <= asked.pop("/reset") <= 6
    assert asked == dict.fromkeys(asked, 1) | again


def test_a_page_is_taken_when_it_comes_at_last(visits):
    assert {visits[p]["status"] for p in ("/busy", "/limited", "/odd-retry")} == {200}
    assert visits["/always"]["reason"] == "status/500"


def test_what_gives_no_answer_is_in_the_log_with_its_reason(visits):
    for path in ("/reset", "/silent", "/half", "/garbage", "/huge", "/endless"):
        assert visits[path]["status"] == 0
        assert visits[path]["reason"].startswith("no_answer/")
    assert visits["/silent"]["reason"] == "no_answer/timeout"


def test_bodies_are_read_whatever_they_are_packed_in(visits):
    for path in ("/gzip", "/not-gzip", "/no-such-charset", "/latin"):
        assert visits[path]["lang"] == "is", path
    assert visits["/deflate"]["kept"]
    for path in ("/bomb", "/binary", "/nothing", "/headers", "/999"):
        assert not visits[path]["kept"], path


def test_what_robots_txt_forbids_is_not_asked_for(run, server):
    assert server.paths()[0] == "/robots.txt"
    assert "/forbidden/page" not in server.paths()
    assert run.stats["frontier/refused/robots"] == 1


def test_we_say_who_we_are_and_what_we_can_read(server):
    for asked in server.asked:
        assert asked.headers["user-agent"].startswith("bifocal/")
        assert asked.headers["accept-encoding"] == "gzip"
        assert "cookie" not in asked.headers


def test_the_next_session_asks_only_for_what_gave_no_answer(run, server):
    """Last: it goes on with the run that the tests above look at."""
    before = len(server.asked)
    server.routes["/reset"] = page(f"<p>{ENGLISH}")
    done = crawl(server.url(), "en,is", run.path, DOWNLOAD_TIMEOUT=1, **QUICK)
    assert done.returncode == 0, done.stderr
    asked = {asked.path for asked in server.asked[before:]}
    assert asked == {"/robots.txt", "/reset", "/silent", "/half", "/garbage"}
    assert "Fetched 1 more pages (en 1) in" in done.stdout


# ------------------------------------------------------------ TLS


PLAIN = serialization.NoEncryption()
NOW = datetime.now(UTC)


def issued(
    folder: Path,
    signer: tuple[x509.Certificate, rsa.RSAPrivateKey] | None = None,
    address: str = "127.0.0.1",
    ends: datetime = NOW + timedelta(days=9),
) -> tuple[x509.Certificate, rsa.RSAPrivateKey]:
    """A certificate of an authority, or one that signed itself; also as server.pem."""
    key = rsa.generate_private_key(65_537, 2048)
    called = address if signer else "An authority"
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, called)])
    authority, signing = signer or (None, key)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(authority.subject if authority else name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(NOW - timedelta(days=90))
        .not_valid_after(ends)
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(IPv4Address(address))]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(not signer, None), critical=True)
        .sign(signing, hashes.SHA256())
    )
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, PLAIN
    )
    shown = certificate.public_bytes(serialization.Encoding.PEM)
    (folder / "server.pem").write_bytes(pem + shown)
    return certificate, key


def listening(folder: Path) -> ssl.SSLContext:
    """A server's side of TLS, with the certificate that was issued last."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "server.pem")
    return context


def test_a_certificate_that_nobody_vouches_for_is_refused(tmp_path):
    issued(tmp_path)
    routes = {"/": page(f"<p>{ENGLISH}")}
    with Server(routes, tls=listening(tmp_path)) as server:
        line = error_line(crawl(server.url(), "en,is", tmp_path / "no", **QUICK))
        url = server.url()
        assert f"no page could be fetched from {url}: certificate/self_signed" in line
        assert "TLS_VERIFY" in line
        assert server.asked == []
        (visit,) = Run(tmp_path / "no").visits
        assert visit["reason"] == "robots/certificate/self_signed"
        with Server(routes, host="127.0.0.2") as good:
            run = Run(tmp_path / "some")
            done = crawl(f"{url},{good.url()}", "en,is", run.path, **QUICK)
        assert done.returncode == 0, done.stderr
        assert "no page 127.0.0.1: robots/certificate/self_signed" in done.stdout
        assert run.stats["sites/without_pages"] == 1
        checked_seed = bifocal("seeds", "check", url, "-s", "ADDRESS_ALLOW=127.0.0.1")
        assert "no_answer/certificate/self_signed" in checked_seed.stdout
        assert "signed by itself" in checked_seed.stdout
        except_it = {"TLS_VERIFY": "except 127.0.0.1"} | QUICK
        done = crawl(url, "en,is", tmp_path / "excepted", **except_it)
        assert done.returncode == 0, done.stderr
        server.asked.clear()
        allowed = {"TLS_VERIFY": False} | QUICK
        done = crawl(server.url(), "en,is", tmp_path / "yes", **allowed)
        assert done.returncode == 0, done.stderr
        assert server.paths() == ["/robots.txt", "/"]
    checked(Run(tmp_path / "yes"))


@pytest.mark.parametrize("wrong", ["nothing", "expired", "name"])
def test_what_an_authority_vouches_for_must_be_valid_and_ours(
    tmp_path, monkeypatch, wrong
):
    authority = issued(tmp_path)
    trusted = tmp_path / "authorities.pem"
    trusted.write_bytes(authority[0].public_bytes(serialization.Encoding.PEM))
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    ends = NOW - timedelta(days=1) if wrong == "expired" else NOW + timedelta(days=9)
    issued(tmp_path, authority, "127.0.0.7" if wrong == "name" else "127.0.0.1", ends)
    routes = {"/": page(f"<p>{ENGLISH}")}
    with Server(routes, tls=listening(tmp_path)) as server:
        done = crawl(server.url(), "en,is", tmp_path / "run", **QUICK)
    reason = {"expired": "certificate/expired", "name": "certificate/wrong_name"}
    if wrong == "nothing":
        assert done.returncode == 0, done.stderr
        assert server.paths() == ["/robots.txt", "/"]
    else:
        assert "no page could be fetched" in error_line(done)
        assert reason[wrong] in error_line(done)
        assert server.asked == []


# ------------------------------------------------------------ robots.txt

LONG_ROBOTS = [f"Disallow: /nothing/{number}" for number in range(30_000)]
ROBOTS = {
    "missing": text(status="404 Not Found"),
    "forbidden": text(status="403 Forbidden"),
    "broken": text(status="500 Internal Server Error"),
    "restarting": [
        text(status="503 Service Unavailable"),
        text("User-agent: *", "Disallow: /secret"),
    ],
    "moved": moved("/rules.txt"),
    "looping": moved("/robots.txt"),
    "huge": text("User-agent: *", "Disallow: /secret", *LONG_ROBOTS),
    "garbage": answer(bytes(range(256)) * 100, content_type="text/plain"),
    "hostile": text(
        "User-agent: *",
        "Crawl-delay: nan",
        "Request-rate: 0/0",
        "Disallow: /*a*a*a*a*a*a*a*a*a*a*a*a*a*b",
        "Disallow: /secret",
        "Sitemap: javascript:alert(1)",
        "Sitemap: http://127.0.0.9:1/sitemap.xml",
    ),
}
OBEYED = {"restarting", "moved", "huge", "hostile"}


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """Many sites in one crawl, each with another robots.txt."""
    servers = {}
    for number, (name, robots) in enumerate(ROBOTS.items(), start=10):
        routes = {
            "/robots.txt": robots,
            "/rules.txt": text("User-agent: bifocal", "Disallow: /secret"),
            "/": page(f"<p>{ENGLISH}", links_to("/secret", "/open", "/" + "a" * 500)),
            "/secret": page(f"<p>{ENGLISH}"),
            "/open": page(f"<p>{ENGLISH}"),
        }
        servers[name] = Server(routes, f"127.0.0.{number}").__enter__()
    seeds = ",".join(server.url() for server in servers.values())
    path = tmp_path_factory.mktemp("robots") / "run"
    done = crawl(seeds, "en,is", path, DOWNLOAD_DELAY=0, RETRY_WAIT=0.1)
    for server in servers.values():
        server.__exit__()
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    checked(Run(path))
    return servers


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_txt_is_the_first_thing_asked_for_and_is_obeyed(sites, name):
    paths = sites[name].paths()
    assert paths[0] == "/robots.txt"
    assert ("/open" in paths) == (name != "broken")
    assert ("/secret" in paths) == (name not in OBEYED | {"broken"})


def test_robots_txt_is_asked_for_again_only_if_the_server_fails(sites):
    asked = {
        name: server.paths().count("/robots.txt") for name, server in sites.items()
    }
    looping = 6  # RFC 9309, section 2.3.1.2: five redirects
    assert asked == dict.fromkeys(ROBOTS, 1) | {
        "broken": 3,
        "restarting": 2,
        "looping": looping,
    }


# ------------------------------------------------------------ patience


def pauses(server: Server) -> list[float]:
    """Seconds between the end of an answer and the next request."""
    return [
        after.came - before.answered
        for before, after in zip(server.asked, server.asked[1:])
    ]


def test_sites_get_the_pause_that_they_ask_for_and_no_much_longer_one(tmp_path):
    """The pause is our delay or their crawl-delay, measured on the server's clock.

    Without its own timer the crawl would go on at Scrapy's heartbeat, every 5 seconds.
    """
    with Server() as ours, Server(host="127.0.0.2") as theirs:
        for server in (ours, theirs):
            server.add(TOWN)
        theirs.routes["/robots.txt"] = text("User-agent: *", "Crawl-delay: 0.4")
        busy = answer(status="503 Service Unavailable", retry_after="1")
        ours.routes["/en/"] = [busy, ours.routes["/en/"]]
        seeds = f"{ours.url('/en/')},{theirs.url('/en/')}"
        done = crawl(
            *(seeds, "en,is", tmp_path / "run"),
            profile="breadth_first",
            DOWNLOAD_DELAY=0.2,
            CLOSESPIDER_PAGECOUNT=24,
        )
    assert done.returncode == 0, done.stderr
    assert min(pauses(ours)) >= 0.2
    assert min(pauses(theirs)[1:]) >= 0.4
    assert pauses(ours)[1] >= 1  # Retry-After
    assert median(pauses(ours)) < 2.5
    assert median(pauses(theirs)) < 2.5
