"""What the crawl and the process of its intake tell each other: JSON, then raw bytes.

    length of the JSON (4 bytes) │ JSON │ body │ converted body

Both ends are the same version of the same program, so there is nothing to negotiate;
and nothing that is read here can do more than be read.
"""

from __future__ import annotations

import json
import struct
import traceback
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any

from crawler import errors
from crawler.data import Document, Link, PairScore
from crawler.errors import BifocalError, RunError
from crawler.extract.document import Reading
from crawler.extract.sitemap import Sitemap
from crawler.intake.intake import Answer, Ending, Findings, IntakeConfig
from crawler.warc.exchange import Exchange, as_text
from crawler.warc.writer import WarcConfig

Fields = dict[str, Any]  # whatever JSON can say

_HEAD = struct.Struct("<I")
# json.dumps makes one of these at each call; `default`: numbers of numpy
_ENCODE = json.JSONEncoder(separators=(",", ":"), default=float).encode


def pack(fields: Mapping[str, Any], body: bytes = b"", more: bytes = b"") -> bytes:
    """A message; `unpack` gives the fields, and the two bodies in one."""
    head = _ENCODE(fields).encode("ascii")
    return b"".join((_HEAD.pack(len(head)), head, body, more))


def unpack(data: bytes) -> tuple[Fields, bytes]:
    """The fields of a message and the bytes after them.

    >>> unpack(pack({"kind": "keep"}, b"<p>"))
    ({'kind': 'keep'}, b'<p>')
    """
    end = _HEAD.size + _HEAD.unpack_from(data)[0]
    fields: Fields = json.loads(data[_HEAD.size : end])
    return fields, data[end:]


# ---------------------------------------------------------------- to the process


def config_message(config: IntakeConfig) -> bytes:
    """The first message."""
    return pack({"kind": "open", **asdict(config)})


def config_of(fields: Fields) -> IntakeConfig:
    """What `config_message` told."""
    about = {name: fields[name] for name in fields if name not in ("kind", "warc")}
    about["readable"] = tuple(about["readable"])
    return IntakeConfig(warc=WarcConfig(**fields["warc"]), **about)


def keep_message(exchange: Exchange) -> bytes:
    """An answer that is to be stored and nothing else."""
    return _exchange_message({"kind": "keep"}, exchange)


def take_message(answer: Answer) -> bytes:
    """An answer that is to be read as well."""
    about = {
        "kind": "take",
        "depth": answer.depth,
        "source": answer.source_url,
        "score": answer.score,
        "evidence": dict(answer.evidence),
    }
    return _exchange_message(about, answer.exchange)


def answer_of(fields: Fields, body: bytes) -> Answer:
    """What `take_message` told."""
    return Answer(
        exchange_of(fields, body),
        fields["depth"],
        fields["source"],
        fields["score"],
        fields["evidence"],
    )


def _exchange_message(about: Fields, exchange: Exchange) -> bytes:
    converted = exchange.converted
    about["exchange"] = (
        exchange.url,
        exchange.status,
        as_text(exchange.response_headers),
        exchange.fetched_at.isoformat(),
        exchange.method,
        as_text(exchange.request_headers),
        exchange.reason,
        exchange.http_version,
        exchange.ip,
        exchange.truncated,
    )
    about["size"] = None if converted is None else len(exchange.body)
    return pack(about, exchange.body, converted or b"")


def exchange_of(fields: Fields, body: bytes) -> Exchange:
    """The answer of a message."""
    url, status, headers, fetched_at, method, asked, *rest = fields["exchange"]
    reason, version, ip, truncated = rest
    size = fields["size"]
    return Exchange(
        url,
        status,
        _raw(headers),
        body[:size],
        datetime.fromisoformat(fetched_at),
        method,
        _raw(asked),
        reason,
        version,
        ip,
        truncated,
        None if size is None else body[size:],
    )


def _raw(headers: Any) -> tuple[tuple[bytes, bytes], ...]:
    return tuple(
        (name.encode("latin-1"), value.encode("latin-1")) for name, value in headers
    )


# ---------------------------------------------------------------- from the process


def findings_message(findings: Findings) -> bytes:
    """What the frontier needs of an answer: all but the text."""
    reading = findings.reading
    document, sitemap = reading.document, reading.sitemap
    return pack(
        {
            "document": document
            and (
                document.url,
                document.site,
                document.lang,
                document.lang_confidence,
                document.digest,
                document.prose,
                _rows(document.links),
            ),
            "sitemap": sitemap and (sitemap.sitemaps, _rows(sitemap.links)),
            "location": reading.location,
            "robots": reading.robots,
            "reason": reading.reason,
            "kept": findings.kept,
            "size": findings.size,
            "pairs": [_pair_row(pair) for pair in findings.pairs],
            "last": findings.last,
        }
    )


def findings_of(fields: Fields) -> Findings:
    """What `findings_message` told."""
    document, sitemap = fields["document"], fields["sitemap"]
    if document is not None:
        url, site, lang, confidence, digest, prose, links = document
        document = Document(
            url, site, lang, confidence, "", (), (), _links(links), digest, prose=prose
        )
    if sitemap is not None:
        sitemap = Sitemap(tuple(sitemap[0]), _links(sitemap[1]))
    reading = Reading(
        document, sitemap, fields["location"], fields["robots"], fields["reason"]
    )
    pairs = [_pair(row) for row in fields["pairs"]]
    kept, size, last = fields["kept"], fields["size"], fields["last"]
    return Findings(reading, kept, size, pairs, last)


def ending_message(ending: Ending) -> bytes:
    """The last message."""
    return pack({"stats": ending.stats, "error": ending.error and _error(ending.error)})


def ending_of(fields: Fields) -> Ending:
    """What `ending_message` told."""
    error = fields["error"]
    return Ending(fields["stats"], error and error_of(error))


def error_message(error: BifocalError) -> bytes:
    """An error that ends the run."""
    return pack({"error": _error(error)})


def bug_message(error: Exception) -> bytes:
    """An error of one page, hostile perhaps, with its traceback: the crawl goes on."""
    return pack({"bug": "".join(traceback.format_exception(error))})


def _error(error: BifocalError) -> tuple[str, str]:
    return type(error).__name__, str(error)


def error_of(told: tuple[str, str]) -> BifocalError:
    """The error of a message."""
    name, text = told
    kind: type[BifocalError] = getattr(errors, name, RunError)
    return kind(text)


def _rows(links: tuple[Link, ...]) -> list[tuple[Any, ...]]:
    return [
        (link.url, link.source_url, link.anchor, link.hreflang, link.rel, link.depth)
        for link in links
    ]


def _links(rows: Any) -> tuple[Link, ...]:
    return tuple(Link(*row) for row in rows)


def _pair_row(pair: PairScore) -> tuple[Any, ...]:
    return (
        pair.src_url,
        pair.trg_url,
        pair.score,
        dict(pair.features),
        sorted(pair.found_by),
        pair.src_twins,
        pair.trg_twins,
        pair.src_n_best,
        pair.trg_n_best,
    )


def _pair(row: Any) -> PairScore:
    src, trg, score, features, found_by, src_twins, trg_twins, *best = row
    src_best, trg_best = (tuple(map(tuple, side)) for side in best)
    return PairScore(
        src,
        trg,
        score,
        features,
        frozenset(found_by),
        tuple(src_twins),
        tuple(trg_twins),
        src_best,
        trg_best,
    )
