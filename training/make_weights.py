"""The weights that ship, from data alone: `python -m training.make_weights key=value`.

    data=FOLDER    the tables of URLs and pairs
    worlds=FOLDER  sites built from packages: built/NAME.warc.gz, truth/NAME.truth.tsv
    out=FOLDER     for the terms, both runs, and in the end both .npz files
    share=0.1      of the train sites, one short epoch: to try whether all of it runs

The Debian packages of `packages.txt` are downloaded to out/debs by apt-get, unless they
lie there; nothing is installed. What is in `out` already is not made again, and a
training that was killed goes on.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from crawler.config import load_profile
from crawler.errors import UsageError
from training import url_language, url_pair
from training.command import run_script
from training.data import freedict, localizations, titles
from training.url_language import LanguageProfile, read_profile
from training.url_pair import PairProfile

PACKAGES = Path(__file__).with_name("packages.txt")
_COPY = ".test"  # a site's suffix: another one's pages under other addresses


@dataclass(frozen=True, slots=True)
class WeightsProfile:
    """Where from and where to."""

    data: str = ""
    worlds: str = ""
    out: str = ""
    share: float = 1.0


def main(words: Sequence[str]) -> None:
    """Terms, then the language model, then the pair model that looks through it."""
    profile = load_profile(WeightsProfile, None, words)
    if not (profile.data and profile.worlds and profile.out):
        raise UsageError("give data=FOLDER, worlds=FOLDER and out=FOLDER")
    out = Path(profile.out)
    terms = ",".join(f'"{path}"' for path in make_terms(Path(profile.worlds), out))
    common = [f"data={profile.data}", f"terms=[{terms}]", f"rows.share={profile.share}"]
    few = ["loop.max_epochs=1", "rows.slugs=1000", "rows.remarked=1000"]
    short = few if profile.share < 1 else []
    language = url_language.run(
        read_profile(
            LanguageProfile,
            ["language-hashed", *common, *short, f"out={out / 'language'}"],
        )
    )
    few = ["words.loop.max_epochs=1", "words.texts=5000"]
    short = few if profile.share < 1 else []
    pair = url_pair.run(
        read_profile(
            PairProfile,
            [
                *("pair-hashed", *common, *short),
                *(f"out={out / 'pair'}", f"languages={language}"),
            ],
        )
    )
    for path in (language, pair):
        shutil.copy(path, out)


def make_terms(worlds: Path, out: Path) -> list[Path]:
    """The three tables of texts that translate each other."""
    debs = download(PACKAGES.read_text("utf-8").split(), out / "debs")
    dictionaries = [deb for deb in debs if deb.name.startswith("dict-freedict-")]
    sites: list[Path] = []
    for warc in sorted((worlds / "built").glob("*.warc.gz")):
        name = warc.name.removesuffix(".warc.gz")
        if not name.endswith(_COPY):
            sites += (warc, worlds / "truth" / f"{name}.truth.tsv")
    if not sites:
        raise UsageError(f"{worlds}: no built/*.warc.gz there")
    return [
        _made(out / "terms/titles.tsv.gz", titles.main, sites),
        _made(out / "terms/dictionaries.tsv.gz", freedict.main, dictionaries),
        _made(
            out / "terms/messages.tsv.gz",
            localizations.main,
            [deb for deb in debs if deb not in dictionaries],
        ),
    ]


def _made(
    path: Path, make: Callable[[Path, list[Path]], None], inputs: list[Path]
) -> Path:
    """A table, whole or not at all."""
    if not path.exists():
        part = path.with_name(f"part-{path.name}")
        make(part, inputs)
        part.replace(path)
    return path


def download(packages: Sequence[str], folder: Path) -> list[Path]:
    """The .deb files of packages, sorted; those that are not there yet by apt-get."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = [name for name in packages if not any(folder.glob(f"{name}_*.deb"))]
    if missing:
        try:
            command = ["apt-get", "download", *missing]
            subprocess.run(command, cwd=folder, check=True)  # noqa: S603 - our own words
        except (OSError, subprocess.CalledProcessError) as error:
            raise UsageError(
                f"{folder}: {len(missing)} packages are not there, {missing[0]} first,"
                f" and apt-get did not get them ({error})"
            ) from error
    return sorted(folder.glob("*.deb"))


if __name__ == "__main__":
    run_script(main)
