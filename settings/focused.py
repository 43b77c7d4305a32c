"""García-Romero (2024), section 4: P(lang | url) · P(parallel | page, link)."""

from settings.base import *

URL_SCORER = "crawler.frontier.scorers.papers.ProductScorer"
SITEMAPS = False  # the paper follows links alone
