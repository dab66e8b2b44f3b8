"""``python -m promptorder`` and the installed command."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from promptorder.cli import run

    code = run(sys.argv[1:])
    if "promptorder.commands.lint" in sys.modules and sys.gettrace() is None:
        # A hook calls lint for every commit. It leaves nothing behind that would need the interpreter taken down
        # in order, and that alone takes as long as half of its work.
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
