"""What deploy/ and the workflow name exists: files, commands, options, settings."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from scrapy.settings import default_settings

from crawler.cli import main
from settings import base
from tests.image_steps import DOCKERFILE, ROOT, given, stages

DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "bifocal@.service"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
KUBERNETES = [*yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text("utf-8"))]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def of_kind(kind: str) -> list[dict]:
    return [thing for thing in KUBERNETES if thing["kind"] == kind]


def pods() -> dict[str, dict]:
    """The pods' specifications, by the name of what makes them."""
    made = of_kind("Job") + of_kind("StatefulSet")
    return {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in made}


def workers() -> dict[str, dict]:
    return {n: s for n, s in COMPOSE["services"].items() if n.startswith("worker")}


def service_command() -> str:
    found = re.search(
        r"^ExecStart=(.*?[^\\])$", UNIT.read_text(), re.MULTILINE | re.DOTALL
    )
    return found[1].replace("\\\n", " ")


def crawls() -> list[str]:
    """The command line of each kind of worker."""
    (pod,) = (pod for name, pod in pods().items() if name == "bifocal-workers")
    commands = {worker["command"][0] for worker in workers().values()}
    return [*commands, *pod["containers"][0]["args"], service_command()]


def words_of(command: str) -> list[str]:
    """The words of a shell's command for `bifocal`, with a language for a variable."""
    command = re.sub(r"\$+\{?LANGS\}?", "en,is", command)
    words = shlex.split(command)
    start = next(n for n, word in enumerate(words) if word.endswith("bifocal"))
    return words[start + 1 :]


def test_three_kinds_of_workers_are_described():
    assert len(crawls()) == 3
    assert len(workers()) == 2


@pytest.mark.parametrize("command", crawls())
def test_a_worker_is_a_crawl_with_options_and_settings_that_exist(command, monkeypatch):
    asked = []
    monkeypatch.setattr("crawler.cli.crawl.run", lambda args: asked.append(args) or 0)
    assert main(words_of(command)) == 0
    (args,) = asked
    assert args.langs == "en,is"
    own = ("/$$WORKER", "/$JOB_COMPLETION_INDEX", "/%i")
    assert args.out.endswith(own)
    settings = dict(setting.split("=", 1) for setting in args.settings)
    assert set(settings) == {"FRONTIER_URL", "USER_AGENT"}
    assert all(hasattr(base, n) or hasattr(default_settings, n) for n in settings)
    assert re.search(r"\?run=\S+&worker=\S+$", settings["FRONTIER_URL"])


def probes() -> list[str]:
    (pod,) = (pod for name, pod in pods().items() if name == "bifocal-workers")
    probe = pod["containers"][0]["livenessProbe"]["exec"]["command"][-1]
    return [probe, *(w["healthcheck"]["test"][1] for w in workers().values())]


@pytest.mark.parametrize("probe", probes())
def test_a_probe_looks_for_the_line_that_status_prints_of_a_worker(probe, tmp_path):
    line = "  a: 3 sites, 8 done (1.0/s), renewed, 90 s left"
    assert "  {_printable(name)}: {sites:,} sites" in (
        ROOT / "crawler/frontier/stores/redis_status.py"
    ).read_text("utf-8")
    assert words_of(probe.partition("|")[0])[0] == "status"
    probe = probe.replace("$$", "$").partition("|")[2]  # `$$` is compose's `$`
    for said, status in ((line, 0), (line.replace("a:", "b:"), 1)):
        done = subprocess.run(
            ["/bin/sh", "-c", probe],
            env={"WORKER": "a", "JOB_COMPLETION_INDEX": "a", "PATH": "/usr/bin:/bin"},
            input=said.encode(),
            check=False,
        )
        assert done.returncode == status
    gone = line.replace("renewed, 90 s left", "not heard of, 3 stuck leases")
    assert "renewed" not in gone


def test_the_image_has_two_stages_and_ends_as_a_user_who_is_not_root():
    first, last = stages(DOCKERFILE.read_text("utf-8"))
    assert first.base == "python:${PYTHON}-slim AS build"
    assert last.base == "python:${PYTHON}-slim"
    assert last.all("USER") == ["10001"]
    assert last.all("COPY") == ["--from=build /app /app"]
    extras = first.env()["EXTRAS"].split(",")
    assert {"redis"} <= set(extras) <= set(PROJECT["optional-dependencies"])


def test_the_image_is_checked_by_a_command_that_exists(monkeypatch):
    _, last = stages(DOCKERFILE.read_text("utf-8"))
    assert last.last("ENTRYPOINT") == ["bifocal"]
    tool, *words = last.last("HEALTHCHECK")
    monkeypatch.setattr("crawler.cli.doctor.run", lambda args: 0)
    assert tool == "bifocal"
    assert main(words) == 0


def test_the_image_is_given_all_that_the_wheel_is_made_of():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]
    files = given()
    for name in build["build"]["targets"]["wheel"]["only-include"]:
        assert any(file == name or file.startswith(f"{name}/") for file in files), name
    assert {"pyproject.toml", "README.md", "LICENSE", "constraints.txt"} <= {*files}
    assert not [file for file in files if file.startswith(("tests/", "benchmarks/"))]


def test_containers_are_confined():
    for service in COMPOSE["services"].values():
        assert service["read_only"]
    for worker in workers().values():
        assert worker["cap_drop"] == ["ALL"]
        assert (DEPLOY / worker["build"]["context"]).resolve() == ROOT
        assert (ROOT / worker["build"]["dockerfile"]).is_file()
    for pod in pods().values():
        assert pod["securityContext"]["runAsNonRoot"]
        for container in pod["containers"]:
            assert container["securityContext"]["readOnlyRootFilesystem"]


def test_every_variable_of_compose_is_asked_for_and_given_in_the_example():
    asked = set(re.findall(r"[^$]\$\{(\w+):\?", (DEPLOY / "compose.yaml").read_text()))
    lines = (DEPLOY / "crawl.env").read_text("utf-8").splitlines()
    said = dict(line.split("=", 1) for line in lines if line[:1] != "#")
    assert asked == set(said)
    assert (DEPLOY / said["SEED_FILE"]).resolve().is_file()


def test_what_kubernetes_mounts_and_reads_is_declared_or_made_by_the_commands_above():
    text = (DEPLOY / "kubernetes.yaml").read_text("utf-8")
    made = set(re.findall(r"create (?:secret generic|configmap) ([\w-]+)", text))
    declared = {thing["metadata"]["name"] for thing in KUBERNETES} | made
    named = set(
        re.findall(r"(?:claimName|configMap: \{name|Ref: \{name): ([\w-]+)", text)
    )
    assert named <= declared
    for pod in pods().values():
        volumes = {volume["name"] for volume in pod.get("volumes", ())} | {"data"}
        for container in pod["containers"]:
            assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


def test_the_workflow_runs_scripts_that_exist_on_every_python_that_we_promise():
    jobs = WORKFLOW["jobs"]
    assert jobs["test"]["strategy"]["matrix"]["python"][0] == "3.11"
    assert PROJECT["requires-python"] == ">=3.11"
    makefile = (ROOT / "Makefile").read_text("utf-8")
    steps = [
        step["run"] for job in jobs.values() for step in job["steps"] if "run" in step
    ]
    assert ".ci/run" in steps
    for step in steps:
        tool, *words = step.split()
        assert tool in ("make", "git") or (ROOT / tool).is_file()
        if tool == "make":
            assert re.search(rf"^{words[0]}:", makefile, re.MULTILINE), step


@pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="needs Linux with systemd"
)
def test_systemd_reads_the_unit_without_a_complaint(tmp_path):
    text = UNIT.read_text("utf-8").replace("/opt/bifocal/bin/bifocal", sys.executable)
    unit = Path(tmp_path, "bifocal@a.service")
    unit.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
    )
    assert "bifocal" not in done.stderr, done.stderr
