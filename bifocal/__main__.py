"""The command `bifocal`, also as `python -m bifocal`."""

import sys


def main() -> int:
    """Run a verb; the packages are found since `bifocal` was imported before."""
    from crawler.cli import main as run

    return run()


if __name__ == "__main__":
    sys.exit(main())
