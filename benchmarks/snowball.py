"""What does a snowball find, and what does it waste?

    python -m benchmarks.snowball WORLDS… --langs en,fr --out FILE.json

WORLDS: folders with warcs/SITE.warc.xz and truth/SITE.truth.tsv.gz (site, url_a,
lang_a, url_b, lang_b). The recorded sites are joined by made-up links: every page that
was answered with 200 gets one more paragraph, and one page in five names two other
sites there, drawn by a seed. The crawl begins at one site that has pairs. Wasted are
the requests to sites without a true pair in the two languages: of those to all sites
(`wasted_share`), where the 264 that the pages name and nobody recorded answer 404 to
everything, and of those to the recorded sites, which are the world that the made-up
links join (`wasted_share_of_recorded`). Beside it: the same crawl with a trial of all
pages that a site may have, which tells no site apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from types import MappingProxyType

from benchmarks.prospect import read_worlds
from crawler.atomic import atomic_text
from crawler.crawl.replay import replay
from crawler.crawl.settings import load_profile_settings
from crawler.data import LangPair, Page
from crawler.replay.world import ReplayWorld
from crawler.rundir import RunDir
from crawler.sinks.pairs import read_pairs
from crawler.urls import site_of
from crawler.visits import read_visits

_EVERY, _LINKS = 5, 2
_PAGES = 100  # of a site, so that the benchmark ends
_SITES = 300  # the pages link to many sites that were not recorded: all of them 404


class JoinedWorld(ReplayWorld):
    """Recorded sites whose pages link to each other."""

    homes: Mapping[str, str] = MappingProxyType({})  # of each site

    def answer(self, url: str) -> Page:
        """The recorded answer, with links to other sites in one page of some."""
        page = super().answer(url)
        drawn = zlib.crc32(url.encode())
        if page.status != 200 or drawn % _EVERY or b"</body" not in page.body.lower():
            return page
        others = sorted(set(self.homes) - {site_of(url)})
        chosen = Random(drawn).sample(others, min(_LINKS, len(others)))
        links = "".join(f'<a href="{self.homes[s]}">{s}</a> ' for s in chosen)
        at = page.body.lower().rindex(b"</body")
        body = page.body[:at] + f"<p>{links}</p>".encode() + page.body[at:]
        return replace(page, body=body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("worlds", nargs="+", type=Path)
    parser.add_argument("--langs", default="en,fr")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    langs = LangPair.parse(args.langs)
    _, truth, _ = read_worlds(args.worlds)
    pair = (min(langs), max(langs))
    true = {site: n for (of_pair, site), n in truth.items() if of_pair == pair}
    warcs = [path for w in args.worlds for path in sorted(w.glob("warcs/*.warc.*"))]
    world = JoinedWorld.open(warcs)
    world.homes = homes(world)
    first = max(true.keys() & world.homes.keys(), key=lambda site: (true[site], site))
    results: dict[str, object] = {
        "command": "python -m benchmarks.snowball WORLDS… --langs LANGS --out FILE",
        "langs": args.langs,
        "sites": len(world.homes),
        "bilingual_sites": len(true.keys() & world.homes.keys()),
        "first": first,
        "pages_of_a_site_at_most": _PAGES,
    }
    for name, trial in (("snowball", 10), ("without_trial", 0)):
        results[name] = measured(world, first, args.langs, true, trial)
        print(name, results[name], file=sys.stderr)
    with atomic_text(args.out) as file:
        json.dump(results, file, indent=1)


def homes(world: ReplayWorld) -> dict[str, str]:
    """The shortest recorded page of each site."""
    shortest: dict[str, str] = {}
    for url in world.urls():
        site = site_of(url)
        best = shortest.get(site)
        is_shorter = best is None or (len(url), url) < (len(best), best)
        if is_shorter and world.answer(url).status in (200, 301, 302):
            shortest[site] = url
    return shortest


def measured(
    world: JoinedWorld, first: str, langs: str, true: dict[str, int], trial: int
) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        settings = load_profile_settings(
            RUN_DIR=folder,
            SNOWBALL=_SITES,
            SNOWBALL_PAGES=trial,
            SITE_MAX_PAGES=_PAGES,
            SENTENCES=False,
        )
        replay(world.homes[first], langs, settings, world)
        run = RunDir(folder)
        asked = Counter(visit.site for visit in read_visits(run.crawl_log))
        pairs = Counter(site_of(pair.src_url) for pair in read_pairs(run.pairs))
    taken = Counter({s: n for s, n in asked.items() if s != first})
    known = {site: n for site, n in taken.items() if site in world.homes}
    recorded = sum(known.values())
    wasted = taken.total() - sum(n for site, n in known.items() if site in true)
    in_recorded = sum(n for site, n in known.items() if site not in true)
    bilingual = (true.keys() & world.homes.keys()) - {first}
    return {
        "sites_taken": len(taken),
        "bilingual_sites_taken": len(bilingual & taken.keys()),
        "bilingual_sites_with_pairs_found": len(bilingual & pairs.keys()),
        "bilingual_sites": len(bilingual),
        "requests": taken.total(),
        "wasted_requests": wasted,
        "wasted_share": round(wasted / max(1, taken.total()), 3),
        "wasted_share_of_recorded": round(in_recorded / max(1, recorded), 3),
        "pairs": sum(n for site, n in pairs.items() if site != first),
        "sites_not_recorded": len(taken) - len(known),
        "bilingual_sites_missed": sorted(bilingual - pairs.keys()),
    }


if __name__ == "__main__":
    main()
