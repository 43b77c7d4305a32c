"""The attacks that once succeeded, by class, and what is tried against each today.

A class has what was seen, what is promised now, and its variants: hostile servers
(tests/hostile/attacks.py), inputs of any size (`reader:shape`, tests/hostile/shapes.py)
and tests (`file::function`), each with the number of its cases. The table with what was
measured is in docs/safety.md: `python -m benchmarks.attacks --classes` prints it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AttackClass:
    """A class of attacks."""

    name: str
    promise: str
    attacks: tuple[str, ...] = ()  # servers
    shapes: tuple[str, ...] = ()  # reader:shape
    tests: Mapping[str, int] = field(default_factory=dict)  # and how many cases

    @property
    def variants(self) -> int:
        """How many are tried."""
        return len(self.attacks) + len(self.shapes) + sum(self.tests.values())


def _of(reader: str, names: str) -> tuple[str, ...]:
    return tuple(f"{reader}:{name}" for name in names.split())


_BOUNDED = "tests/unit/crawler/extract/test_bounded.py"
_POLITE = "tests/unit/crawler/crawl/test_politeness.py"
CLASSES = (
    AttackClass(
        "1 a page that takes gigabytes, and again after each restart",
        "at most PAGE_MEMORY and PAGE_SECONDS; a page that ends the process is asked"
        " once, stored, and is `unreadable/…`",
        ("page_unclosed_formats_equals", "page_unclosed_formats_quotes"),
        _of(
            "page",
            "unclosed_formats_few unclosed_formats_slash unclosed_formats_quote"
            " unclosed_formats_tab unclosed_fonts unclosed_formats_many"
            " formats_with_long_attributes colours formats_misnested",
        ),
        {
            f"{_BOUNDED}::test_a_page_that_takes_too_much_is_unreadable": 4,
            f"{_BOUNDED}::test_a_page_in_hand_at_two_deaths_is_not_read_again": 1,
            "tests/integration/test_page_process.py"
            "::test_a_page_that_ends_two_processes_is_asked_for_once": 1,
        },
    ),
    AttackClass(
        "2 a sitemap that unpacks to gigabytes",
        "50 MB or 200 times its size; no tree is kept",
        (
            *("sitemap_bomb", "sitemap_of_ampersands", "sitemap_of_elements"),
            *("sitemap_of_elements_with_attributes", "sitemap_of_sitemaps_empty"),
            *("sitemap_of_alternates_empty", "sitemap_of_comments_open"),
            *("sitemap_index_cycle", "sitemap_index_without_end"),
            *("sitemap_gzip_in_gzip", "sitemap_index_deeper", "sitemap_of_one_line"),
            *("sitemap_feed", "sitemap_numbers", "sitemap_in_utf_7"),
        ),
        _of("sitemap", "elements_nested urls_empty cdata quotes doctype utf_16"),
    ),
    AttackClass(
        "3 a disk that fails while files are mended",
        "nothing is deleted; the run ends in its own words and not with 0",
        tests={
            "tests/crash/test_failing_disks.py"
            "::test_a_read_that_fails_while_files_are_mended": 3,
            "tests/crash/test_failing_disks.py::test_a_write_that_fails": 16,
            "tests/crash/test_failing_disks.py::test_a_disk_that_is_gone": 6,
            "tests/crash/test_events.py::test_events": 2,
        },
    ),
    AttackClass(
        "4 the address of a proxy, and names whose address changes",
        "the proxy's host and port, for the schemes that it serves, and nothing else;"
        " every connection goes to an address that was checked",
        (
            *("redirect_to_metadata", "refresh_to_metadata"),
            *("redirects_to_odd_urls", "addresses_in_disguise"),
        ),
        tests={
            "tests/unit/crawler/fetch/test_client.py"
            "::test_the_address_of_a_proxy_is_exempt_for_the_proxy_alone": 1,
            "tests/hostile/test_rebinding.py"
            "::test_a_name_whose_address_changes_never_leads_inside": 13,
            "tests/integration/test_address_guard.py"
            "::test_no_way_round_leads_to_a_private_address": 10,
        },
    ),
    AttackClass(
        "5 URLs that take long to parse",
        "one longer than 2,000 characters, or with a host of over 300, is not parsed",
        (
            *("page_links_marks", "page_links_marks_250", "page_links_hosts_cjk"),
            *("robots_sitemap_of_marks", "robots_sitemap_of_letters"),
            *("robots_sitemaps_of_marks", "sitemap_of_locs_marks"),
            *("redirect_to_a_host_of_letters", "hosts_of_punycode"),
        ),
        _of(
            "page",
            "links_marks_2000 links_hosts_cjk_long links_punycode"
            " links_punycode_long links_escaped_marks links_dots links_ipv6",
        ),
    ),
    AttackClass(
        "6 markup that takes the square of its size",
        "twice the page takes at most 2.3 times the time",
        (
            *("page_raw_plaintext", "page_raw_iframe", "page_attributes_499_unquoted"),
            *("page_attributes_of_links", "page_comments_open", "bases_that_change"),
            *("documents_in_attributes", "shadow_roots", "data_of_json"),
        ),
        _of(
            "page",
            "raw_xmp raw_noembed raw_script_escaped raw_title_end_almost"
            " comments_almost_closed attributes_quotes comment_of_comments",
        ),
    ),
    AttackClass(
        "7 a server that talks us out of our patience",
        "RETRY_WAIT, doubled with each error up to ten minutes, or Retry-After if that"
        " is more; every answer is logged and kept",
        ("later_in_the_past",),
        tests={
            f"{_POLITE}::test_a_site_that_says_no_for_hours_is_asked_seldom": 24,
            f"{_POLITE}::test_a_site_that_changes_what_it_asks_for"
            "_is_asked_as_seldom": 1,
        },
    ),
    AttackClass(
        "8 WARC records with odd dates and numbers",
        "the record is counted as damage, and reading goes on",
        shapes=_of("warc", "dates length_negative length_of_digits length_missing"),
    ),
    AttackClass(
        "9 CDXJ lines of any kind",
        "the line is counted as `cdx/bad`, and reading goes on",
        shapes=_of(
            "cdxj",
            "json_nested json_objects json_digits offsets_huge lengths_huge"
            " names_outside line_huge",
        ),
    ),
    AttackClass(
        "10 scripts that ask other sites",
        "JS_REQUESTS_ELSEWHERE requests, slowly, and as their robots.txt allows",
        tests={
            "tests/integration/test_converted_pages.py"
            "::test_a_page_makes_us_ask_other_sites_little_and_slowly": 1,
        },
    ),
    AttackClass(
        "11 WARC records inside records",
        "10,000 damaged places; a length beyond the file is damage before it is read",
        shapes=_of(
            "warc",
            "nested nested_within nested_halves nested_gzip nested_members magic",
        ),
    ),
    AttackClass(
        "12 lines without end",
        "a line has a bound in every format",
        shapes=(
            *_of("lett", "line_huge cell_huge url_huge"),
            *_of("arc", "line_huge blanks"),
            *_of("wet", "line_huge"),
            *_of("visits", "line_huge"),
        ),
    ),
    AttackClass(
        "13 redirects of robots.txt",
        "within the site; five times to the robots.txt of others",
        ("redirect_to_the_robots_of_others", "robots_loop"),
        tests={
            f"{_POLITE}::test_rules_are_looked_for_on_other_sites_seldom"
            "_and_nowhere_else_there": 12,
        },
    ),
    AttackClass(
        "14 a page process that dies",
        "another one goes on; no traceback",
        tests={
            "tests/integration/test_page_process.py"
            "::test_another_one_goes_on_where_one_was_killed": 1,
            "tests/integration/test_page_process.py"
            "::test_files_that_it_cannot_open_are_one_line": 1,
        },
    ),
    AttackClass(
        "15 run directories of others",
        "no control character is printed; an odd value is left out",
        shapes=_of("visits", "nested evidence lines_of_escapes"),
        tests={
            "tests/hostile/test_run_directories.py"
            "::test_no_verb_obeys_a_hostile_run_directory_or_breaks": 433,
        },
    ),
    AttackClass(
        "16 bodies that cost more than they bring",
        "the framing of chunks counts; 500,000 pieces; 256 KB of heads",
        (
            *("chunks_of_two_bytes", "chunk_extensions", "trailers_without_end"),
            *("folded_header", "interim_answers_with_heads", "blank_lines_first"),
            *("bombs_in_codings", "codings_without_end", "gzip_of_bombs"),
            *("gzip_of_empty_members", "gzip_name_without_end", "gzip_then_rubbish"),
            *("zstd_window", "zstd_skipped_frames", "zstd_empty_frames"),
            *("brotli_of_empty_blocks", "deflate_without_a_head"),
            *("deflate_of_stored_blocks", "chunk_sizes_odd", "transfer_codings"),
            *("robots_bomb", "robots_of_packed_rules"),
        ),
    ),
    AttackClass(
        "17 certificates of small sites",
        "one line says what is wrong and what to do",
        tests={
            "tests/integration/test_http.py"
            "::test_what_an_authority_vouches_for_must_be_valid_and_ours": 1,
            "tests/integration/test_http.py"
            "::test_a_certificate_that_nobody_vouches_for_is_refused": 1,
        },
    ),
    AttackClass(
        "18 a worker that was stopped and comes back",
        "a request leaves only while its site is ours",
        tests={
            "tests/crash/test_workers.py"
            "::test_a_worker_is_thought_dead_and_comes_back": 1,
        },
    ),
)
