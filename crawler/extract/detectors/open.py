"""From settings to the detector of a crawl; says at once which language none knows."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from crawler.config import load_object
from crawler.data import Lang
from crawler.errors import UsageError
from crawler.extract.detectors.samples import SampleDetector
from crawler.extract.language import Cld2Detector
from crawler.languages import all_languages, known_code
from crawler.protocols import LanguageDetector

logger = logging.getLogger(__name__)

_HELIPORT = "crawler.extract.detectors.heliport.HeliportDetector"
_FASTTEXT = "crawler.extract.detectors.fasttext.FastTextDetector"
_MODEL_FILES = ".bin", ".ftz"


@dataclass(frozen=True, slots=True)
class DetectorConfig:
    """The settings LANGUAGE_DETECTOR and LANGUAGE_SAMPLES."""

    # or heliport, the file of a fastText model, or the dotted path of a class
    name: str = "cld2"
    samples: str | None = None  # CODE=FILE, with commas between


@lru_cache(4)
def open_detector(
    langs: Sequence[Lang], config: DetectorConfig | None = None
) -> LanguageDetector:
    """The detector for these languages; UsageError if one of them is unknown to it."""
    config = config or DetectorConfig()
    base: LanguageDetector
    base = Cld2Detector() if config.name == "cld2" else _load(config.name)
    samples = _samples(config.samples or "")
    if config.name == "cld2":
        known = {code for code, row in all_languages().items() if row.cld2}
        missing = [lang for lang in langs if lang not in known | samples.keys()]
        if missing:
            raise UsageError(
                f"CLD2 does not know the language {missing[0]!r} (set"
                " LANGUAGE_DETECTOR=heliport, which knows 220 languages, extra"
                f" `languages`; or LANGUAGE_SAMPLES={missing[0]}=FILE with texts in it)"
            )
    if not samples:
        return base
    detector = SampleDetector.learn(base, samples)
    for line in detector.report():
        logger.info("%s", line)
    return detector


def _load(name: str) -> LanguageDetector:
    detector: LanguageDetector
    if name == "heliport":
        _require("heliport", "languages", name)
        detector = load_object(_HELIPORT)()
    elif name.endswith(_MODEL_FILES):
        _require("fasttext", "fasttext", name)
        try:
            detector = load_object(_FASTTEXT).load(name)
        except (OSError, ValueError, RuntimeError) as error:
            raise UsageError(
                f"LANGUAGE_DETECTOR: {error} (give the file of a fastText model, such"
                " as OpenLID's)"
            ) from error
    else:
        detector = load_object(name)()
    return detector


def _require(module: str, extra: str, name: str) -> None:
    if find_spec(module) is None:
        raise UsageError(
            f"LANGUAGE_DETECTOR={name} needs the extra `{extra}`"
            f" (pip install 'bifocal-crawler[{extra}]')"
        )


def _samples(text: str) -> dict[Lang, str]:
    samples: dict[Lang, str] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, path = part.partition("=")
        try:
            sample = Path(path).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(
                f"LANGUAGE_SAMPLES={part}: {error} (write CODE=FILE, a text in UTF-8)"
            ) from error
        samples[known_code(name) or name.strip().lower()] = sample
    return samples
