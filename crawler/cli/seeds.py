"""Check a list of seeds, grow one from a crawl, or import somebody else's.

check: fetches robots.txt and the seed from each site, as a crawl would.
discover: lists the sites that a crawl's pages link to, the most promising first.
import: makes a list from commoncrawl's web-languages pages or Bitextor's host files.

Example: bifocal seeds check seeds/en-is.txt --langs en,is
Example: bifocal seeds discover runs/demo
Example: bifocal seeds import icelandic.md
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from crawler.cli import add_settings, whole_number

if TYPE_CHECKING:
    from crawler.crawl.seed_check import Finding
    from crawler.wanted import WantedPairs

# A person's cure for an outcome, by its part before the slash.
_CURES = {
    "robots": "robots.txt forbids it: remove it, or ask the webmaster",
    "no_answer": "no answer: check the address",
    "status": "the server refuses the page: open it in a browser, correct the URL",
    "redirect": "redirects do not end: give the address that they should lead to",
    "language": "",
    "empty": "an empty answer: open it in a browser",
    "not_html": "not a web page: give the home page of the site",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the verb takes."""
    tasks = parser.add_subparsers(dest="task", metavar="TASK", required=True)
    check = tasks.add_parser("check", help="check that seeds can be crawled")
    check.add_argument("seeds", help="a file, a comma list of URLs, or - for stdin")
    check.add_argument("--langs", help="those of the crawl: en,is or en:de,fr")
    add_settings(check)
    discover = tasks.add_parser("discover", help="list other sites that a crawl found")
    discover.add_argument("run_dir", help="the RUN_DIR of a crawl")
    discover.add_argument(
        "--most", type=whole_number, default=100, help="sites (%(default)s)"
    )
    other = tasks.add_parser("import", help="read web-languages pages and host files")
    other.add_argument("files", nargs="+", help="Markdown or text files")


def run(args: argparse.Namespace) -> int:
    """Do one of the three; lists of seeds go to standard output."""
    if args.task == "check":
        return _check(args)
    if args.task == "discover":
        return _discover(args)
    return _import(args)


def _check(args: argparse.Namespace) -> int:
    from crawler.components.checks import project_settings
    from crawler.crawl.seed_check import check_seeds
    from crawler.seeds import read_seeds
    from crawler.wanted import WantedPairs

    langs = WantedPairs.parse(args.langs) if args.langs else None
    seeds = read_seeds(args.seeds)
    findings = check_seeds(seeds, project_settings(args.settings))
    for finding in findings:
        print(f"{finding.outcome:16} {finding.seed}  {remark(finding, langs)}".rstrip())
    usable = sum(finding.is_usable for finding in findings)
    print(f"{usable} of {len(findings)} seeds can be crawled.")
    return 0 if usable == len(findings) else 1


def remark(finding: Finding, langs: WantedPairs | None) -> str:
    """A remark on a seed, for a person."""
    from crawler.fetch.errors import cure_of

    if not finding.is_usable:
        kind = finding.outcome.partition("/")[0]
        return cure_of(finding.outcome) or _CURES.get(kind, "")
    parts = [finding.lang or "no known language (built by scripts? -s JS_SITES=HOST)"]
    if finding.declared:
        parts.append(f"declares {','.join(finding.declared)}")
    if finding.url != finding.seed:
        parts.append(f"leads to {finding.url}")
    if finding.crawl_delay > 1:
        parts.append(f"asks for {finding.crawl_delay:g} s between pages")
    if langs and finding.lang not in langs and not {*finding.declared} & {*langs}:
        parts.append(f"none of {langs} found")
    return "; ".join(parts)


def _discover(args: argparse.Namespace) -> int:
    from crawler.reports.outlinks import outlinks
    from crawler.rundir import RunDir
    from crawler.visits import read_visits
    from crawler.warc.reader import iter_pages

    run_dir = RunDir(args.run_dir)
    langs = run_dir.wanted()
    known = {visit.site for visit in read_visits(run_dir.crawl_log)}
    found = outlinks(iter_pages(run_dir.warc), langs, known)
    print(f"# Sites that the pages of {run_dir.path} name. Check them before a crawl.")
    for outlink in found[: args.most]:
        said = f"in {' and '.join(sorted(outlink.langs))}; " if outlink.langs else ""
        pages = f"{outlink.pages} pages of {len(outlink.sites)} sites"
        print(f"# {outlink.site}: {said}named by {pages}")
        print(*outlink.entrances(), sep="\n")
    return 0


def _import(args: argparse.Namespace) -> int:
    import gzip
    import zlib
    from pathlib import Path

    from crawler.errors import SeedError
    from crawler.seeds import import_seeds

    for name in args.files:
        try:
            data = Path(name).read_bytes()
            if data.startswith(b"\x1f\x8b"):  # Bitextor takes its host files packed
                data = gzip.decompress(data)
            text = data.decode("utf-8-sig")
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise SeedError(f"{name}: cannot be read: {error}") from error
        seeds = import_seeds(text.splitlines())
        if not seeds:
            raise SeedError(
                f"{name}: no seeds in it (a page of web-languages, or one host a line)"
            )
        print(f"# {len(seeds)} seeds from {Path(name).name}")
        for url, note in seeds.items():
            print(f"{url}  # {note}" if note else url)
    return 0
