"""Names whose addresses change, asked of a real name server by the system's resolver.

The crawl may connect to 127.0.51.0/24, the internet of this test; 127.0.0.1 and the
addresses of INSIDE are the network that it must not reach.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest

from tests.commands import PATIENCE, ROOT, Run, crawl_command, environment
from tests.nameserver import NameServer
from tests.webserver import Server, page, text

OUTSIDE, ELSEWHERE = "127.0.51.1", "127.0.51.2"
INSIDE = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0", "169.254.169.254"]
# What a name is, question after question.
NAMES = {
    "flips.example": [[OUTSIDE], ["127.0.0.1"]] * 40,
    "both.example": [[OUTSIDE, "127.0.0.1"]],
    "inside-first.example": [["127.0.0.1", OUTSIDE]],
    "six-and-four.example": [[OUTSIDE, "::1", "::ffff:127.0.0.1"]],
    "many.example": [[*INSIDE, OUTSIDE]],
    "late.example": [[], [], ["127.0.0.1"]],
    **{f"inside{n}.example": [[address]] for n, address in enumerate(INSIDE)},
    "cloud.example": [["169.254.169.254"]],
    "moved.example": [[ELSEWHERE], ["127.0.0.1"]],
}
# Asks for every name again and again, without a memory for addresses.
_PROBE = """
import asyncio, json, sys
from crawler.fetch.client import ClientConfig, HttpClient
from crawler.fetch.errors import FetchError
from crawler.fetch.guard import AddressRules

async def main(port, names):
    rules = AddressRules.parse(["127.0.51.0/24"])
    client = HttpClient(ClientConfig(rules, seconds=5, dns_seconds=0, max_idle=0))
    found = {}
    for name in names:
        for _ in range(20):
            try:
                came = (await client.fetch(f"http://{name}:{port}/")).ip
            except FetchError as error:
                came = error.failure
            found.setdefault(name, []).append(str(came))
    await client.close()
    print(json.dumps(found))

asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
"""

pytestmark = pytest.mark.skipif(
    shutil.which("unshare") is None, reason="needs unshare(1)"
)


@pytest.fixture(scope="module")
def names():
    server = NameServer(NAMES)
    try:
        server.__enter__()
    except PermissionError:
        pytest.skip("needs unshare(1), as root")
    ours = {"capture_output": True, "text": True}
    if server.run(["true"], **ours).returncode:
        server.__exit__()
        pytest.skip("needs unshare(1), and leave to mount")
    yield server
    server.__exit__()


@pytest.fixture
def network(names):
    """The servers outside, and the one inside, at one port."""
    names.asked.clear()
    links = "".join(f'<a href="/{n}">{n}</a>' for n in range(5))
    routes = {"/": page("<p>Welcome", links), "/robots.txt": text("User-agent: *")}
    with (
        Server(routes, OUTSIDE) as outside,
        Server(routes, ELSEWHERE, port=outside.port) as elsewhere,
        Server(routes, "127.0.0.1", port=outside.port) as inside,
    ):
        yield outside, elsewhere, inside


def run(names: NameServer, command: list[str]) -> subprocess.CompletedProcess[str]:
    return names.run(
        command,
        cwd=ROOT,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )


def test_a_name_whose_address_changes_never_leads_inside(names, network):
    outside, _, inside = network
    command = [sys.executable, "-c", _PROBE, str(outside.port), *NAMES]
    done = run(names, command)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found["flips.example"]) == {OUTSIDE, "private_address"}
    for name in ("both", "inside-first", "six-and-four", "many"):
        assert set(found[f"{name}.example"]) == {OUTSIDE}, name
    assert set(found["late.example"]) == {"no_address", "private_address"}
    for number in range(len(INSIDE)):
        assert set(found[f"inside{number}.example"]) == {"private_address"}
    assert inside.asked == []
    assert inside.most_connections == 0


def test_a_crawl_of_such_names_asks_nobody_inside(names, network, tmp_path):
    outside, elsewhere, inside = network
    seeds = ",".join(f"http://{name}:{outside.port}/" for name in NAMES)
    command = crawl_command(
        seeds,
        "en,is",
        tmp_path / "run",
        ADDRESS_ALLOW="127.0.51.0/24",
        DOWNLOAD_DELAY=0,
        RETRY_WAIT=0,
    )
    done = run(names, command)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert inside.asked == []
    assert inside.most_connections == 0
    assert len(outside.asked) > len(network)
    assert elsewhere.asked
    reasons = {visit["reason"] for visit in Run(tmp_path / "run").visits}
    assert "robots/private_address" in reasons
