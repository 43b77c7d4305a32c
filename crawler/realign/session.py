"""A session of Spark: opened for one job, and its errors in our words."""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Any

from crawler.errors import RunError

logger = logging.getLogger(__name__)

_LOCAL = re.compile(r"local\[(\d+|\*)\]")


@contextmanager
def spark_session(master: str, name: str) -> Iterator[Any]:
    """A SparkContext, which has no types, for the time of the block.

    `master`: `local[2]`, `spark://HOST:PORT`, `yarn`; under spark-submit, its own.
    RunError if Spark is not there, does not start, or gives the job up.
    """
    context = _context(master, name)
    from py4j.protocol import Py4JJavaError

    try:
        yield context
    except Py4JJavaError as error:
        cause = str(error.java_exception.getMessage()).strip().splitlines()
        raise RunError(
            f"Spark gave up: {cause[0]} (its log says more; nothing is half-written)"
        ) from error
    finally:
        context.stop()


def _context(master: str, name: str) -> Any:
    try:
        from pyspark import SparkConf, SparkContext
    except ImportError as error:
        raise RunError(
            f"Spark is not installed: {error} (pip install 'bifocal-crawler[spark]')"
        ) from error
    started = monotonic()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    logging.getLogger("py4j").setLevel(logging.WARNING)  # it logs every closing
    if match := _LOCAL.fullmatch(master):  # which gives a task one try, and not four
        master = f"local[{match[1]},4]"
    conf = SparkConf().setAppName(name).setIfMissing("spark.master", master)
    conf.setIfMissing("spark.ui.enabled", "false")
    conf.setIfMissing("spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower())
    try:
        context = SparkContext.getOrCreate(conf)
    except Exception as error:  # py4j has no class for a JVM that does not start
        raise RunError(
            f"Spark does not start: {error} (it needs Java 17 or later:"
            " apt-get install openjdk-17-jre-headless)"
        ) from error
    context.setLogLevel("ERROR")
    logger.info("Spark %s: session in %.1f s", context.version, monotonic() - started)
    return context
