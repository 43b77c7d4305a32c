"""Makes the weights that ship, from data alone: `python -m training.make_weights`.

    data=FOLDER    the tables of URLs and pairs
    worlds=FOLDER  sites built from packages: built/NAME.warc.gz, truth/NAME.truth.tsv
    out=FOLDER     for the terms, both runs, and in the end both .npz files
    languages=FILE a language model that the pair model looks through, not a new one
    share=0.1      of the train sites and one short epoch, to test that all of it runs

The Debian packages of `packages.txt` are downloaded to out/debs by apt-get, unless they
lie there; nothing is installed. What is in `out` already is not made again, and a
training that was killed goes on.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crawler.config import load_profile
from crawler.errors import UsageError
from training import url_language, url_pair
from training.command import run_script
from training.data.build import build
from training.profile import read_profile
from training.url_language import LanguageProfile
from training.url_pair import PairProfile

PACKAGES = Path(__file__).with_name("packages.txt")
_COPY = ".test"  # suffix of sites that have the pages of another one


@dataclass(frozen=True, slots=True)
class WeightsProfile:
    """The folders of a run."""

    data: str = ""
    worlds: str = ""
    out: str = ""
    languages: str = ""
    share: float = 1.0


def main(words: Sequence[str]) -> None:
    """Terms, then the language model, then the pair model that looks through it."""
    profile = load_profile(WeightsProfile, None, words)
    if not (profile.data and profile.worlds and profile.out):
        raise UsageError("give data=FOLDER, worlds=FOLDER and out=FOLDER")
    out = Path(profile.out)
    terms = make_terms(Path(profile.worlds), out)
    common = [f"data={profile.data}", f"terms={terms}", f"rows.share={profile.share}"]
    few = ["loop.max_epochs=1", "rows.slugs=1000", "rows.remarked=1000"]
    short = few if profile.share < 1 else []
    if profile.languages:
        language = Path(profile.languages)
    else:
        language = url_language.run(
            read_profile(
                "language",
                LanguageProfile,
                "hashed",
                [*common, *short, f"out={out / 'language'}"],
            )
        )
    few = ["words.loop.max_epochs=1", "words.texts=5000"]
    short = few if profile.share < 1 else []
    pair = url_pair.run(
        read_profile(
            "pair",
            PairProfile,
            "hashed",
            [*common, *short, f"out={out / 'pair'}", f"languages={language}"],
        )
    )
    for path in (language, pair):
        shutil.copy(path, out)


def make_terms(worlds: Path, out: Path) -> Path:
    """The table of texts that translate each other."""
    debs = download(PACKAGES.read_text("utf-8").split(), out / "debs")
    dictionaries = [str(d) for d in debs if d.name.startswith("dict-freedict-")]
    sites = [
        f"{warc}={worlds / 'truth' / name}.truth.tsv"
        for warc in sorted((worlds / "built").glob("*.warc.gz"))
        if not (name := warc.name.removesuffix(".warc.gz")).endswith(_COPY)
    ]
    if not sites:
        raise UsageError(f"{worlds}: there is no built/*.warc.gz")
    build("titles", out / "terms", sites)
    build("freedict", out / "terms", dictionaries)
    build("localizations", out / "terms", sorted({*map(str, debs)} - {*dictionaries}))
    return out / "terms" / "terms.tsv.gz"


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
    run_script(main, __doc__)
