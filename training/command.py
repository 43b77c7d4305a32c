"""The frame of the scripts of this package: --help, talk, and errors as one line."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable

from crawler.errors import BifocalError


def run_script(main: Callable[[list[str]], object], purpose: str | None = None) -> None:
    """Run a script with the words of the command line.

    `purpose`, the script's docstring, is what --help prints; None: `main` does. A
    BifocalError ends the script.
    """
    if purpose and {"-h", "--help"} & set(sys.argv[1:]):
        print(purpose.strip())
        return
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        main(sys.argv[1:])
    except BifocalError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_status)
