"""What all profiles share. Each profile is `from settings.base import *` and changes.

Ours are prefixed by the component that reads them; docs/settings.md lists them all.
"""

BOT_NAME = "bifocal"
SPIDER_MODULES = ["crawler.spiders"]
COMMANDS_MODULE = "crawler.components.commands"

# --- who we are. Put an address here that a webmaster can write to.
USER_AGENT = "bifocal/0.1 (+https://github.com/bifocal-crawler/bifocal)"

# --- what is crawled
SCOPE = "site"  # site (registered domain), host or path; also -a scope=
RUN_DIR = None  # default: runs/DATE-TIME
FRONTIER_URL = None  # default: sqlite:RUN_DIR/frontier.sqlite; or memory:
# URLs that `adaptive` remembers, some 1.5 KB each, 1.5 GB in all; one of more than 200
# characters, or of a page with more than 250 links, counts as several. Older ones keep
# the score that they have.
SCORER_MAX_URLS = 1_000_000
GUESS_ADDRESSES = False  # True: ask for versions that no page links to (`adaptive`)
ANY_LANGUAGES = ""  # that langs=en,* and any stand for: en,de,fr; else all of CLD2
PAIR_WEIGHTS = ""  # of several pairs of languages: en-fi=3; else 1
FRONTIER_MAX_DEPTH = 100  # clicks from a seed: an endless calendar, not a long manual
URL_LANGUAGE_MODEL = "models.url_language.HashedUrlLanguageModel"
URL_PAIR_MODEL = "models.url_pair.HashedUrlPairModel"
ADAPT_AFTER = 0  # pages after which the language model learns from the crawl; 0: never
LANGUAGE_DETECTOR = "cld2"  # or heliport, a fastText file, a class of your own
LANGUAGE_SAMPLES = None  # CODE=FILE, …: texts in languages that it does not know
LANGUAGE_GATE = True  # follow the links of pages in the two languages only
SITEMAPS = True  # read the sitemaps that robots.txt names
SITEMAPS_MAX = 50  # files per site; an index may name thousands
ALIGN_PROFILE = None  # a TOML file of settings/align; default: built in
PDF = False  # True: read PDF files too (extra `pdf`)
JS_SITES = ""  # sites whose pages need JavaScript (extra `js`): their domains
JS_BROWSER = None  # default: the chromium on PATH, else the one of `playwright install`
JS_SECONDS = 20  # for a page to be built; then it is read as it is
JS_REQUESTS = 100  # files that a page may ask for …
JS_REQUESTS_ELSEWHERE = 10  # … and of them, of other sites than its own
PAIRS = True  # pair the pages while crawling; False: `bifocal align` may do it later
SENTENCES = True  # pair the sentences of accepted pairs while crawling
# With several pairs of languages: one file of all, too, which doubles their room
JOINT_FILES = True
# A process beside the crawl that stores, reads and pairs pages, which costs more than
# fetching them; True or False. Default: if there is a second core for it
PAGE_PROCESS = None
# What reading one page may take; it is stored and counted as unreadable if that is not
# enough. Bytes beyond what the process has: with 400 MB both processes stay below 700
PAGE_MEMORY = 400_000_000
PAGE_SECONDS = 10  # of processor time: the longest one-page manuals take 2

# --- politeness
ROBOTSTXT_OBEY = True  # read by our scheduler, not by Scrapy's middleware
DOWNLOAD_DELAY = 1.0  # seconds between two pages of a site, after the first is done
ROBOTS_MAX_CRAWL_DELAY = 300  # seconds; who asks for more does not want to be crawled
SITE_CONCURRENCY = 1  # more than one freezes the order of what is on its way
CONCURRENT_REQUESTS = 32  # sites at a time
RETRY_TIMES = 2  # more tries after the first
RETRY_WAIT = 10  # seconds that a site gets after an error of the server
DEFAULT_REQUEST_HEADERS = {
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.5",
    # what every reader of WARC files can undo; no brotli
    # (docs/sources.md#other-crawlers-and-readers)
    "Accept-Encoding": "gzip",
}

# --- limits
SITE_MAX_PAGES = 0  # answers of one site; 0: no limit. A site over a limit is closed
SITE_MAX_BYTES = 0  # of the bodies
SITE_MAX_SECONDS = 0  # that its server took to answer
RUN_MAX_PAGES = 0  # answers of the whole run, all its workers together; 0: no limit
RUN_MAX_BYTES = 0  # of the bodies
STOP_WHEN = 0  # requests that a site's next pair may cost; 0: the site is crawled out
SITE_SCOUT_PAGES = 0  # then a site of one language waits for the others; 0: never
DOWNLOAD_TIMEOUT = 60  # seconds for a whole answer
DOWNLOAD_MAXSIZE = 20_000_000  # bytes; the longest one-page manuals have 5 MB
SNOWBALL = 0  # sites that good sites link to, to be crawled as well; 0: none
SNOWBALL_PAGES = 10  # in which such a site has to give a pair: both sides of a few

# --- who may be connected to: public addresses only, checked when a connection is made
ADDRESS_ALLOW = ""  # host names, addresses and networks that are not public but ours
# Certificates are checked; False: of nobody. Or of all but some hosts and those below
# them: "except old.example.is, example.org"
TLS_VERIFY = "True"
DOWNLOAD_HANDLERS = {
    "http": "crawler.components.download.DownloadHandler",
    "https": "crawler.components.download.DownloadHandler",
    "file": None,  # nothing but the web is crawled
    "ftp": None,
    "s3": None,
    "data": None,
}

# --- WARC
WARC_PREFIX = "bifocal"
WARC_MAX_BYTES = 1_000_000_000  # the size at which a file is rotated, as everybody's
WARC_REVISITS = False  # True: a body that comes again is stored once
WARC_FSYNC = False  # True: pages survive a power failure too, at 4 ms a page
WARC_GZIP_LEVEL = 6  # 1 % larger than 9 and 1.7 times faster (measured)

# --- replay: a folder or comma list of WARC files makes the world offline
REPLAY_WARCS = None
# --- pages of an archive in the place of the web, by sorted CDXJ, cluster.idx or WARCs
ARCHIVE_FIRST = None
ARCHIVE_ROOT = None  # where the files lie that an index names; default: beside it
ARCHIVE_MAX_DAYS = 365  # older pages are fetched from the web; 0: of any age
ARCHIVE_ONLY = False  # True: the web is not asked, what the archive lacks is 404
ADDONS = {
    "crawler.components.archive.ArchiveAddon": 50,
    "crawler.components.replay.ReplayAddon": 0,
    "crawler.components.conversion.ConversionAddon": 100,  # stands before the replay
}

# --- Scrapy's own: only what we use. The unsafe defaults are off.
SCHEDULER = "crawler.components.scheduler.CrawlScheduler"
DOWNLOADER = "crawler.components.downloader.GatedDownloader"
REMOTE_CONTROL_ENABLED = False
TELNETCONSOLE_ENABLED = False
COOKIES_ENABLED = False
CONCURRENT_ITEMS = 1  # else a page starts a hundred tasks for items, and has none
TWISTED_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
# Redirects, retries, robots.txt, compression and scope are ours: a redirect is a page
# with one link, kept in the WARC; the frontier is the only queue.
DOWNLOADER_MIDDLEWARES_BASE: dict[str, int] = {}  # what we need, the downloader does
SPIDER_MIDDLEWARES_BASE: dict[str, int] = {}
EXTENSIONS_BASE = {
    "scrapy.extensions.closespider.CloseSpider": 0,
    "scrapy.extensions.corestats.CoreStats": 0,
}
EXTENSIONS = {"crawler.components.extension.CrawlExtension": 0}
PROGRESS_INTERVAL = 30  # seconds between progress lines outside a terminal
LOG_LEVEL = "INFO"
LOG_FORMAT = "%(asctime)s %(levelname)s %(message)s"
LOG_DATEFORMAT = "%H:%M:%S"
STATS_DUMP = False  # stats.json has them
