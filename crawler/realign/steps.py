"""The steps from a page to pairs, the same for a crawl, one machine, and a cluster."""

from __future__ import annotations

from crawler.aligner.aligner import Aligner
from crawler.data import PairScore
from crawler.extract.document import Reading


def take_in(aligner: Aligner, reading: Reading) -> list[PairScore]:
    """Give the aligner what a page holds; the pairs that it completes so far.

    A document is added; what a sitemap declares of its pages is told.
    """
    if reading.document is not None:
        return aligner.add(reading.document)
    pairs: list[PairScore] = []
    if reading.sitemap is not None:
        for link in reading.sitemap.links:
            if link.rel == "alternate" and link.source_url and link.hreflang:
                pairs += aligner.declare(link.source_url, link.url, link.hreflang)
    return pairs
