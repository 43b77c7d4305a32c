"""The steps of deploy/Dockerfile where no container daemon is: `make image-steps`.

The RUN instructions of the build stage run as they are written, by this Python in place
of the image's, in a copy of what the build would be given; the folders that ENV names
are temporary ones. Then the environment of the last stage crawls the demo world and
passes the health check, with the checkout gone.

    python -m tests.image_steps

Not shown: the base image, its size, the second stage's user. As root on Linux the crawl
runs as user 10001 on a read-only root file system; else as you, and it says so.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
# python:3.13-slim takes some 130 MB; the image is to stay below 600 MB.
MOST = 450_000_000  # bytes of the environment
_FORMS = "ADD ARG CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL RUN SHELL"
INSTRUCTIONS = {*_FORMS.split(), *"STOPSIGNAL USER VOLUME WORKDIR".split()}
_CONFINED = """
mount --make-rprivate / && mount --bind {runs} {runs} && mount -o remount,bind,ro /
mount -t tmpfs tmpfs /run
exec setpriv --reuid 10001 --clear-groups --inh-caps=-all --no-new-privs "$@"
"""


@dataclass
class Stage:
    """What stands between two FROM, in its order."""

    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)

    def all(self, name: str) -> list[str]:
        return [words for step, words in self.steps if step == name]

    def env(self) -> dict[str, str]:
        pairs = [w for kind in ("ARG", "ENV") for w in self.all(kind)]
        return dict(w.split("=", 1) for words in pairs for w in shlex.split(words))

    def last(self, name: str) -> list[str]:
        """The words of an instruction in its JSON form."""
        words = self.all(name)[-1]
        return json.loads(words[words.index("[") :])


def stages(text: str) -> list[Stage]:
    """A Dockerfile's stages; what stands before the first is the first's."""
    text = re.sub(r"(?m)^\s*#.*\n", "", text).replace("\\\n", " ")
    found = [Stage("")]
    for line in filter(None, map(str.strip, text.splitlines())):
        step, _, words = line.partition(" ")
        if step not in INSTRUCTIONS:
            raise ValueError(f"{step!r} is not an instruction: {line}")
        if step == "FROM":
            found.append(Stage(words.strip()))
        else:
            found[-1].steps.append((step, words.strip()))
    return found[1:]


def given() -> list[str]:
    """The files that the build is given: tracked, and let in by .dockerignore."""
    lines = DOCKERFILE.with_name("Dockerfile.dockerignore").read_text().splitlines()
    let_in = [line[1:] for line in lines if line.startswith("!")]
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--"]
    done = subprocess.run(
        [*words, *let_in], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return done.stdout.splitlines()


def build(stage: Stage, folder: Path) -> Path:
    """Run the build stage; the environment that it makes."""
    source = folder / "src"
    for name in given():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, source / name)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    env |= stage.env() | {"APP": str(folder / "app"), "DIST": str(folder / "dist")}
    tools = folder / "tools"  # its `python` is the image's there
    subprocess.run([sys.executable, "-m", "venv", str(tools)], check=True)
    env["PATH"] = f"{tools}/bin:{env['PATH']}"
    for step in stage.all("RUN"):
        print(f"RUN {step}", flush=True)
        subprocess.run(["/bin/sh", "-ec", step], cwd=source, env=env, check=True)
    shutil.rmtree(source)
    return folder / "app"


def confined(runs: Path, app: Path) -> list[str]:
    """The words before a command that confine it as a container would, if we may."""
    words = ["unshare", "--mount", "sh", "-ec", _CONFINED.format(runs=runs), "sh"]
    try:
        subprocess.run(
            [*words, f"{app}/bin/python", "-V"], check=True, capture_output=True
        )
    except (OSError, subprocess.CalledProcessError):
        print("Not confined: not root, no mount namespaces, or a Python of root's own.")
        return []
    print("Confined: user 10001, the root file system is read-only.")
    return words


def main() -> None:
    """Build, measure, crawl, check."""
    first, last = stages(DOCKERFILE.read_text("utf-8"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        app = build(first, folder)
        size = sum(p.lstat().st_size for p in app.rglob("*"))
        print(f"{size / 1e6:.0f} MB in the environment, at most {MOST / 1e6:.0f}")
        assert size <= MOST
        runs = folder / "runs"
        runs.mkdir()
        before = confined(runs, app)
        if before:
            os.chown(runs, 10001, 10001)
        env = last.env() | {"PATH": f"{app}/bin:/usr/bin:/bin", "HOME": "/nowhere"}
        check = [str(runs) if w == "/runs" else w for w in last.last("HEALTHCHECK")]
        for command in ([*last.last("ENTRYPOINT"), "demo"], check):
            print("$", *command, flush=True)
            subprocess.run([*before, *command], cwd=runs, env=env, check=True)
        assert (runs / "runs" / "demo" / "pairs.tsv.gz").exists()


if __name__ == "__main__":
    main()
