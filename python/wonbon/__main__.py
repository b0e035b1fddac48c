"""The program: `wonbon` and `python -m wonbon` run the same commands as the binary."""

from __future__ import annotations

import signal
import sys

from ._wonbon import run_program


def main() -> int:
    """Runs the command of `sys.argv`; returns its exit code."""
    # A command runs to its end without the interpreter, which so would never act on Ctrl-C.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.stdout.flush()
    return run_program(["wonbon", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
