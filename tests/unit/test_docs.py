"""The documentation names what there is: settings, counters, fields, files, verbs."""

from __future__ import annotations

import ast
import importlib
import itertools
import json
import pkgutil
import re
import statistics
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from scrapy.settings import default_settings

import crawler.cli
from crawler.crawl import log as crawl_log
from crawler.languages import language_of
from crawler.rundir import RunDir
from crawler.seeds import read_seeds
from crawler.sinks.pairs import COLUMNS
from crawler.urls import canonicalize
from settings import base

ROOT = Path(__file__).resolve().parents[2]
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "SECURITY")),
    ROOT / "CHANGELOG.md",
    ROOT / "seeds" / "README.md",
    *DOCS,
]
PROFILES = ("adaptive", "focused", "language_only", "breadth_first")


def text_of(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def sources() -> list[str]:
    return [path.read_text("utf-8") for path in (ROOT / "crawler").rglob("*.py")]


def rows_of(text: str) -> dict[str, list[str]]:
    """The rows of all tables, by every name in code that stands in the first cell."""
    rows = {}
    for line in text.splitlines():
        if line.startswith("| "):
            cells = re.split(r"(?<!\\)\|", line.strip("| "))
            for name in re.findall(r"`([^`]+)`", cells[0]):
                rows[name] = [cell.strip() for cell in cells[1:]]
    return rows


def page_id(path: Path) -> str:
    return str(path.relative_to(ROOT))


# ------------------------------------------------------------------ settings


def our_settings() -> dict[str, object]:
    return {name: getattr(base, name) for name in dir(base) if name.isupper()}


@pytest.mark.parametrize("name", our_settings())
def test_every_setting_is_documented_with_its_default(name):
    row = rows_of(text_of("docs/settings.md"))[name]
    value = our_settings()[name]
    if isinstance(value, dict | list):  # too long for a table
        return
    said = row[0].strip("`")
    try:
        assert ast.literal_eval(said) == value
    except (SyntaxError, ValueError):
        assert said == value


def test_every_documented_setting_is_one():
    known = set(our_settings()) | set(dir(default_settings))
    for profile in PROFILES:
        known |= set(dir(importlib.import_module(f"settings.{profile}")))
    read = re.compile(r'settings\b.*?"([A-Z_]+)"')
    known |= {name for text in sources() for name in read.findall(text)}
    known |= {f"{name}_DIR" for name in ("URL_LANGUAGE_MODEL", "URL_PAIR_MODEL")}
    named = [n for n in rows_of(text_of("docs/settings.md")) if n.isupper()]
    assert [name for name in named if name not in known] == []


@pytest.mark.parametrize("profile", PROFILES)
def test_the_table_of_profiles_says_what_a_profile_sets(profile):
    settings = importlib.import_module(f"settings.{profile}")
    scorer, gate = rows_of(text_of("docs/settings.md"))[profile]
    assert scorer == f"`{settings.URL_SCORER}`"
    assert gate == f"`{settings.LANGUAGE_GATE}`"
    assert profile in rows_of(text_of("docs/crawling.md"))


# ------------------------------------------------------------------ counters


def counters() -> set[str]:
    """Every name under which something is counted; `…/` where a reason follows."""
    found: set[str] = set()
    for text in sources():
        for place in re.findall(r"\bcounts\[([^\]]*/[^\]]*)\]", text):
            found |= set(re.findall(r'"([a-z_/]+)["{]', place))
        found |= set(re.findall(r'\bstats\["([^"]+)"\]', text))
        found |= set(re.findall(r'\bset_value\("([^"]+)"', text))
        found |= set(re.findall(r'\bstats\.update\(\{f"([a-z]+/)\{', text))
    return found


def test_counters_are_found():
    assert {"frontier/added", "warc/dropped/bad_url", "pages", "status/"} <= counters()


@pytest.mark.parametrize("name", sorted(counters()))
def test_every_counter_is_documented(name):
    documented = rows_of(text_of("docs/stats.md"))
    if name.endswith("/"):
        assert [known for known in documented if known.startswith(name)]
    else:
        assert name in documented


@pytest.mark.parametrize(
    ("source", "pattern", "page", "prefix"),
    [
        ("aligner/profile.py", r'return "(\w+)"', "stats", "align/rejected/"),
        ("aligner/scoring.py", r'"align/rejected/(\w+)"', "stats", "align/rejected/"),
        (
            "aligner/sentences/filters.py",
            r'return "(\w+)"',
            "stats",
            "sentences/dropped/",
        ),
        ("frontier/scope.py", r'return "([\w/]+)"', "stats", "frontier/refused/"),
        ("frontier/frontier.py", r'return "(\w+)"', "stats", "frontier/refused/"),
        ("warc/http.py", r'problem = "(\w+)"', "stats", "warc/repaired/"),
        ("extract/document.py", r'reason="(\w+)"', "formats", ""),
    ],
)
def test_every_reason_is_documented(source, pattern, page, prefix):
    reasons = re.findall(pattern, text_of(f"crawler/{source}"))
    assert reasons
    documented = rows_of(text_of(f"docs/{page}.md"))
    assert [name for name in reasons if prefix + name not in documented] == []


# ------------------------------------------------------------------ formats


def crawl_log_fields() -> list[str]:
    """The keys of the dictionary that the crawl log writes as a line."""
    tree = ast.parse(Path(crawl_log.__file__).read_text("utf-8"))
    keys = [
        [key.value for key in node.keys if isinstance(key, ast.Constant)]
        for node in ast.walk(tree)
        if isinstance(node, ast.Dict)
    ]
    return max(keys, key=len)


def section(title: str) -> str:
    """A section of formats.md, by its heading."""
    found = re.search(
        rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)",
        text_of("docs/formats.md"),
        re.DOTALL | re.MULTILINE,
    )
    assert found, title
    return found[1]


def test_every_field_of_the_crawl_log_is_documented():
    fields = crawl_log_fields()
    assert fields[0] == "url"
    documented = rows_of(section("crawl.jsonl"))
    assert [name for name in fields if name not in documented] == []


def test_the_columns_of_the_pairs_are_documented_in_their_order():
    documented = list(rows_of(section("pairs.tsv.gz")))
    assert tuple(documented[: len(COLUMNS)]) == COLUMNS


def test_every_file_of_a_run_directory_is_documented():
    run = RunDir("run")
    names = {str(p.relative_to("run")) for p in vars(run).values() if p != run.path}
    text = text_of("docs/formats.md")
    assert [name for name in names if name not in text] == []


def test_the_metadata_fields_are_documented():
    text = text_of("crawler/crawl/intake.py")
    documented = section("WARC")
    for name in re.findall(r'yield f?"([\w-]+)', text):
        assert name in documented


# ------------------------------------------------------------------ links and commands


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_relative_link_leads_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        goal = (page.parent / name).resolve() if name else page
        assert goal.exists(), target
        if anchor:
            assert anchor in anchors(goal), target


def code_and_docs() -> list[Path]:
    """What people read, but for recordings and this file."""
    rooms = "crawler models training settings benchmarks tests docs".split()
    files = [path for room in rooms for path in (ROOT / room).rglob("*")]
    files += ROOT.glob("*.md")
    kinds = (".py", ".md", ".toml")
    return [p for p in files if p.suffix in kinds and p != Path(__file__)]


def test_nothing_refers_to_documents_that_are_not_in_the_repository():
    outside = re.compile(r"\b(ALIGNMENT|SPEED|PEERS|INTEROP|SEEDS|ARCHITECTURE)\b")
    assert [p for p in code_and_docs() if outside.search(p.read_text("utf-8"))] == []


def test_every_page_of_the_documentation_that_the_code_names_is_there():
    named = re.compile(r"\bdocs/([a-z0-9/-]+\.md)(?:#([\w-]+))?")
    for path in code_and_docs():
        if path.suffix == ".md":  # links, tested above
            continue
        for name, anchor in named.findall(path.read_text("utf-8")):
            page = ROOT / "docs" / name
            assert page.exists(), f"{path}: {name}"
            assert not anchor or anchor in anchors(page), f"{path}: {name}#{anchor}"


def parts_of_the_papers() -> list[list[str]]:
    """The rows of docs/papers.md: part, where, state, held by or how it differs."""
    lines = text_of("docs/papers.md").splitlines()
    rows = [
        [cell.strip() for cell in x[2:-2].split(" | ")] for x in lines if x[:1] == "|"
    ]
    return [row for row in rows if row[0] != "part" and not row[0].startswith("-")]


def test_every_part_of_a_paper_is_where_the_table_says():
    rows = parts_of_the_papers()
    assert len(rows) > 30
    for part, where, state, *_ in rows:
        assert state in ("exact", "simplified", "differs", "missing"), part
        for name in re.findall(r"`([^`]+)`", where):
            assert (ROOT / name).is_file(), f"{part}: {name}"
        assert (where == "none") == (state == "missing"), part


def test_what_is_called_exact_is_held_by_a_test():
    for part, _, state, held in parts_of_the_papers():
        tests = re.findall(r"`(tests/[^`]+\.py)(?:::(\w+))?`", held)
        assert state != "exact" or any(name for _, name in tests), part
        for file, name in tests:
            assert f"def {name}" in text_of(file), f"{part}: {file}::{name}"


def files_of_the_flows() -> list[list[str]]:
    """The files that each flow of docs/architecture.md names, in their order."""
    flows = text_of("docs/architecture.md").split("## The tree")[0].split("\n```")
    steps = [
        re.findall(r"^ *\d+ (.+?\.py(?:, \w+\.py)*)  ", f, re.MULTILINE) for f in flows
    ]
    return [flow for flow in steps if flow]


def test_two_flows_of_at_most_twelve_files_lead_through_the_house():
    flows = files_of_the_flows()
    assert len(flows) == 2
    for flow in flows:
        assert len(flow) <= 12
        for names in flow:
            folder = Path(names.split(", ")[0]).parent
            for name in (Path(n).name for n in names.split(", ")):
                room = ROOT if folder.parts[:1] == ("models",) else ROOT / "crawler"
                found = [room / folder / name, room / name]
                assert any(path.is_file() for path in found), f"{folder}/{name}"


def test_every_page_of_the_documentation_is_in_the_index():
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"({page.name})" in text_of(
            "docs/index.md"
        ), f"add a row for {page.name} to docs/index.md"
    for page in (ROOT / "docs" / "decisions").glob("0*.md"):
        assert f"({page.name})" in text_of("docs/decisions/README.md")


def commands(page: Path) -> list[str]:
    """The command lines of a page's code blocks, continued lines joined."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    blocks = re.findall(r"^(?: {4}|\$ )(.+)$", text, re.MULTILINE)
    return [block.partition("  #")[0].removeprefix("$ ") for block in blocks]


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_every_command_names_what_there_is(page):
    verbs = {module.name for module in pkgutil.iter_modules(crawler.cli.__path__)}
    targets = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    for command in commands(page):
        words = command.split()
        for tool, word in itertools.pairwise(words):
            if tool.endswith("bifocal") and tool[:1] in "b.":
                assert word in verbs or word.startswith("-"), command
            if tool == "make":
                assert word in targets, command
            if word.startswith("benchmarks."):
                path = ROOT / (word.replace(".", "/") + ".py")
                assert path.exists(), command
        for word in words:
            file = re.sub(r"^(seeds|REPLAY_WARCS)=", "", word)
            if file.startswith(("seeds/", "worlds/", "benchmarks/")):
                assert (ROOT / file).exists(), command
            if word.startswith("SCRAPY_PROJECT=") and word.isascii():
                assert word.partition("=")[2] in (*PROFILES, "NAME"), command


def test_the_settings_on_command_lines_are_settings():
    known = {*our_settings(), *dir(default_settings), "URL_SCORER"}
    for page in PAGES:
        for command in commands(page):
            named = re.findall(r"-s ([A-Z_]+)=", command)
            assert [name for name in named if name not in known] == [], command


def mean_area(order: str) -> float:
    """Of the recorded sites that only judge; within a site over its language pairs."""
    by_site: dict[str, list[float]] = {}
    for row in results("crawl_curve"):
        if not row["built"]:
            by_site.setdefault(row["site"], []).append(row["orders"][order]["area"])
    return statistics.fmean(map(statistics.fmean, by_site.values()))


def lowest_recall(method: str) -> float:
    rows = results("aligner_quality_pools")["rows"]
    return min(row["soft recall"] for name, row in rows.items() if method in name)


def rate(entrant: str) -> float:
    """Pages a second of processor time, of ten sites from a local server."""
    measured = results("throughput")["rates town:10:50:1500"]["entrants"]
    return measured[entrant]["pages_per_cpu_s"]["median"]


def results(benchmark: str):
    return json.loads(text_of(f"benchmarks/results/{benchmark}.json"))


def figures_of(benchmark: str) -> list[str]:
    """The figures that the README's row of a benchmark has to show, in their order."""
    if benchmark == "crawl_curve":
        orders = ("adaptive", "breadth_first", "focused")
        return [f"{mean_area(order):.3f}" for order in orders]
    if benchmark == "aligner_quality_pools":
        return [f"{lowest_recall(how):.3f}" for how in ("lexicon", "shared words")]
    if benchmark == "sentence_quality":
        row = results(benchmark)["en-fr/dropped"]
        return [f"{row[who]['strict_f1']:.3f}" for who in ("bifocal", "gale_church")]
    if benchmark == "url_models":
        row = results(benchmark)["language"]
        return [f"{row[who]['macro_f1']:.3f}" for who in ("model", "rules")]
    if benchmark == "throughput":
        return [f"{rate(name):.0f}" for name in ("adaptive", "bare", "crawlspider")]
    (row,) = (row for row in results("warc")["rows"] if row["size"] == "docs")
    figures = row["figures"]
    names = ("read bifocal written", "read warcio written")
    return [f"{figures[name]['pages_per_s']:,}" for name in names]


def test_the_figures_of_the_readme_are_those_of_the_results():
    rows = re.findall(
        r"^\|[^|]*\|(.*)\| \[\w+\]\(benchmarks/results/(\w+)\.json\) \|$",
        text_of("README.md"),
        re.MULTILINE,
    )
    assert len(rows) == 6
    for cells, benchmark in rows:
        text = re.sub(r"\[[^]]*\]\([^)]*\)", "", cells)  # links
        said = re.findall(r"\d[\d,.]*\d", text)
        assert said == figures_of(benchmark), f"README, the row of {benchmark}.json"


@pytest.mark.parametrize("file", sorted((ROOT / "seeds").glob("*.txt")), ids=str)
def test_a_seed_list_is_well_formed_and_says_how_it_was_made(file):
    seeds = read_seeds(str(file))
    assert [canonicalize(seed) for seed in seeds] == seeds
    assert len(set(seeds)) == len(seeds)
    assert file.read_text("utf-8").startswith("#")
    (row,) = re.findall(
        rf"^\| \[{file.name}\].*$", text_of("seeds/README.md"), re.MULTILINE
    )
    for count in re.findall(r"(\d+) hosts, by hand", row):
        assert len({urlsplit(seed).hostname for seed in seeds}) == int(count)
    if file.stem != "demo":
        assert "by hand, see [below](#" in row
        two = [language_of(code).name for code in file.stem.split("-")]
        assert all(name in row for name in two)


def test_the_readme_is_short_and_names_both_commands():
    text = text_of("README.md")
    assert len(text.splitlines()) <= 80
    assert "make demo" in text
    assert "make test" in text


def test_the_version_that_is_cited_is_the_version():
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    assert f"version: {project['version']}\n" in text_of("CITATION.cff")
