"""The conventional crawler: breadth first, every page followed (Heritrix)."""

from settings.base import *

URL_SCORER = "crawler.frontier.scorers.papers.UniformScorer"
LANGUAGE_GATE = False
SITEMAPS = False  # the paper follows links alone
