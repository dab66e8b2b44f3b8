"""``python -m promptorder`` and the installed command."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from promptorder.cli import leave, run

    leave(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
