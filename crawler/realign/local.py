"""Offline, on one machine: WARC files in, pairs out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from crawler.aligner.aligner import Aligner
from crawler.aligner.bridges.lexicon import Lexicon
from crawler.aligner.profile import AlignProfile
from crawler.config import to_table
from crawler.data import LangPair
from crawler.errors import RunDirError
from crawler.extract.document import read_page
from crawler.realign.steps import take_in
from crawler.rundir import RunDir
from crawler.sinks.pairs import write_pairs
from crawler.warc.reader import iter_pages, warc_files


def align_warcs(
    paths: Sequence[str | Path],
    langs: LangPair,
    out: str | Path,
    profile: AlignProfile | None = None,
    *,
    lexicon: str | Path | None = None,
) -> dict[str, Any]:
    """Pair the pages of WARC files into a run directory; returns its stats.

    The directory must be a new one: what is in `aligner.sqlite` would be paired too.
    `lexicon`: the lexicon.npz of an earlier run of these languages.
    """
    files = warc_files(paths)  # what is not there is said before anything is written
    run = RunDir(out)
    if run.open(langs) or run.aligner.exists():
        raise RunDirError(f"{run.path}: holds a run already (choose another --out)")
    profile = profile or AlignProfile()
    inputs = [str(file) for file in files]
    known = Lexicon.load(Path(lexicon), langs) if lexicon else None
    run.write(
        {
            "langs": list(langs),
            "warcs": inputs,
            "lexicon": known.digest if known else None,
            "align": to_table(profile),
        }
    )
    counts: Counter[str] = Counter()
    with Aligner(langs, profile, store=run.aligner, known=known) as aligner:
        for page in iter_pages(files, counts=counts):
            reading = read_page(page)
            counts["pages"] += reading.document is not None
            if reading.reason:
                counts[f"align/dropped/{reading.reason}"] += 1
            take_in(aligner, reading)
        pairs = write_pairs(run.pairs, aligner.pairs())
        if aligner.lexicon:
            aligner.lexicon.save(run.lexicon)
        stats = {**counts, **aligner.counts, "pages": counts["pages"], "pairs": pairs}
    run.write_stats(stats)
    return stats
