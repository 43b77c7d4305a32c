"""Bifocal: parallel text from bilingual sites.

The public names; everything else may change with any version. Each is imported when it
is first used. docs/api.md has examples.

This is the only package that an installed wheel puts beside others. The packages of the
project (`crawler`, `models`, `training`, `settings`) lie in its folder `packages` and
are importable after `import bifocal`; in a checkout they lie beside it
(docs/decisions/0013-one-installed-package.md).
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

_PACKAGES = Path(__file__).parent / "packages"
if _PACKAGES.is_dir() and str(_PACKAGES) not in sys.path:
    # first: a folder of a user may have a module `settings` of its own
    sys.path.insert(0, str(_PACKAGES))

_MODULES = {
    "BifocalError": "crawler.errors",
    "CorpusRequest": "crawler.corpus.build",
    "Document": "crawler.data",
    "DynamicAligner": "crawler.aligner.sentences.aligner",
    "LangPair": "crawler.data",
    "Page": "crawler.data",
    "PairScore": "crawler.data",
    "RunDir": "crawler.rundir",
    "SentencePair": "crawler.data",
    "build_corpus": "crawler.corpus.build",
    "build_document": "crawler.extract.document",
    "load_profile_settings": "crawler.crawl.settings",
    "open_crawl": "crawler.crawl.open",
    "read_pairs": "crawler.sinks.pairs",
    "read_sentences": "crawler.sinks.tsv",
    "write_report": "crawler.reports.page",
}
__all__ = sorted(_MODULES)  # noqa: PLE0605 - a list of strings all the same


def __getattr__(name: str) -> Any:  # as many types as there are names
    if name not in _MODULES:
        raise AttributeError(f"module 'bifocal' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return list(__all__)
