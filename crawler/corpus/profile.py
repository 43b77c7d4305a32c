"""The settings of a corpus; `settings/corpus/*.toml` override the defaults."""

from __future__ import annotations

from dataclasses import dataclass, field

from crawler.aligner.frequencies import RepeatedConfig
from crawler.aligner.sentences.aligner import SentencesConfig
from crawler.aligner.sentences.filters import FilterConfig
from crawler.corpus.command import CommandConfig
from crawler.corpus.dedupe import COPIES
from crawler.corpus.privacy import PrivacyConfig
from crawler.corpus.rights import MARKS
from crawler.errors import ProfileError


@dataclass(frozen=True, slots=True)
class CorpusProfile:
    """The settings of every step from document pairs to a corpus."""

    min_pair_score: float = 0.5  # of the page pairs that are taken
    # Pairs that count as copies: `near` (equal letters and digits), `exact`, or none
    # of them (`keep`).
    copies: str = "near"
    # Marks of pages that are left out: noindex, nofollow, noarchive, noai,
    # tdm-reservation.
    honour: tuple[str, ...] = ()
    sentences: SentencesConfig = field(default_factory=SentencesConfig)
    repeated: RepeatedConfig = field(default_factory=RepeatedConfig)
    filters: FilterConfig = field(default_factory=FilterConfig)
    privacy: PrivacyConfig = field(default_factory=PrivacyConfig)
    command: CommandConfig = field(default_factory=CommandConfig)

    def __post_init__(self) -> None:
        """Refuse unknown names."""
        if self.copies not in COPIES:
            raise ProfileError(
                f"copies: {self.copies!r} is not valid (known: {', '.join(COPIES)})"
            )
        unknown = [mark for mark in self.honour if mark not in MARKS]
        if unknown:
            raise ProfileError(
                f"honour: {unknown[0]!r} is not valid (known: {', '.join(MARKS)})"
            )
