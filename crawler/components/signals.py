"""Bifocal's own Scrapy signals."""

# Accepted document pairs came out of the aligner: handlers get `pairs`, a list of
# PairScore. The only way by which results reach the frontier (ARCHITECTURE decision 7).
pair_found = object()

# A page was dealt with: handlers get `visit`, a crawler.components.crawl_log.Visit.
page_visited = object()
