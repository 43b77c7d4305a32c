"""García-Romero (2024), section 4.1: breadth first behind CLD2 (Heritrix+CLD2)."""

from settings.base import *

URL_SCORER = "crawler.frontier.scorers.papers.UniformScorer"
SITEMAPS = False  # the paper follows links alone
