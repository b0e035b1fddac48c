"""The bar of `progress=True`: in a notebook one output that changes, elsewhere a line on standard error."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from typing import Any, Callable

from . import _html
from .typing import Progress

__all__ = ["Bar", "telling"]

OFTEN = 0.1
"""Seconds between two changes of the bar."""

WIDTH = 28


def _notebook() -> Any:
    """IPython's way to show things, if a notebook runs this."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    # Hosted notebooks have a shell of their own that is one of these.
    if not any(kind.__name__ == "ZMQInteractiveShell" for kind in type(shell).__mro__):
        return None
    import IPython.display

    return IPython.display


class Bar:
    """Shows a phase, how much of it is done, and how long everything has taken. Called as every `progress=` is."""

    def __init__(self) -> None:
        self._begun = self._shown_at = time.monotonic()
        self._told = ("", 0, 0)
        self._notebook = _notebook()
        self._handle: Any = None
        self._length = 0

    def __call__(self, phase: str, done: int, total: int) -> None:
        new = phase != self._told[0]
        self._told = (phase, done, total)
        now = time.monotonic()
        if new or now - self._shown_at >= OFTEN:
            self._shown_at = now
            self._show(self._line(), done, total)

    def close(self, whole: bool) -> None:
        """The work has ended, well or not. What went wrong is an exception of the caller."""
        if self._told[0]:
            self._show(f"{'done' if whole else 'stopped'} after {time.monotonic() - self._begun:.1f} s", 1, 1)
        if self._length and not self._notebook:
            print(file=sys.stderr, flush=True)

    def _line(self) -> str:
        phase, done, total = self._told
        amount = f"{done:,}" if not total else f"{done:,} of {total:,}"
        return f"{phase}: {amount}, {time.monotonic() - self._begun:.1f} s"

    def _show(self, line: str, done: int, total: int) -> None:
        if self._notebook:
            shown = self._notebook.HTML(_html.bar(line, done, total))
            if self._handle is None:
                self._handle = self._notebook.display(shown, display_id=True)
            else:
                self._handle.update(shown)
            return
        filled = WIDTH * min(done, total) // total if total else 0
        text = f"[{'#' * filled}{' ' * (WIDTH - filled)}] {line}"
        # What a longer line has left behind is overwritten.
        print("\r" + text.ljust(self._length), end="", file=sys.stderr, flush=True)
        self._length = len(text)


@contextlib.contextmanager
def telling(progress: Progress | None) -> Iterator[Callable[[str, int, int], object]]:
    """What a caller says with `progress=`, as a function; a bar is closed at the end."""
    if not isinstance(progress, bool):
        yield progress or (lambda phase, done, total: None)
        return
    bar = Bar() if progress else None
    whole = False
    try:
        yield bar or (lambda phase, done, total: None)
        whole = True
    finally:
        if bar:
            bar.close(whole)
