"""The default: the expected number of new pairs of one more download."""

from settings.base import *

URL_SCORER = "crawler.frontier.scorers.adaptive.AdaptiveScorer"
LANGUAGE_GATE = False  # a page in a third language is a bridge: a lower score, no wall
SITE_SCOUT_PAGES = 30  # a home page, its menu and some articles show the languages
