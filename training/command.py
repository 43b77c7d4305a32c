"""How a script of this package ends: an error of the user is one line on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

from crawler.errors import BifocalError


def run_script(main: Callable[[Sequence[str]], object]) -> None:
    """Run a script with the words of the command line; a BifocalError is its end."""
    try:
        main(sys.argv[1:])
    except BifocalError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_status)
