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

_SHORT = {"heliport": "crawler.extract.detectors.heliport.HeliportDetector"}


@dataclass(frozen=True, slots=True)
class DetectorConfig:
    """The settings LANGUAGE_DETECTOR and LANGUAGE_SAMPLES."""

    name: str = "cld2"  # or heliport, or the dotted path of a class
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
    detector = SampleDetector(base, samples)
    for line in detector.report():
        logger.info("%s", line)
    return detector


def _load(name: str) -> LanguageDetector:
    if name in _SHORT and find_spec(name) is None:
        raise UsageError(
            f"LANGUAGE_DETECTOR={name} needs the extra `languages`"
            " (pip install 'bifocal-crawler[languages]')"
        )
    detector: LanguageDetector = load_object(_SHORT.get(name, name))()
    return detector


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
