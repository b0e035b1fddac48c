"""Temporary folders that go with the object that holds them, and only in the process that made them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref

__all__ = ["Folder"]


def _remove(name: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(name, ignore_errors=True)


class Folder:
    """A folder for what an answer or a stream needs on disk.

    Unlike `tempfile.TemporaryDirectory` it stays when a forked process ends or drops its copy of the object: the
    parent still reads from it.
    """

    def __init__(self, directory: str | None = None) -> None:
        self.name = tempfile.mkdtemp(prefix="wonbon-", dir=directory)
        self._remove = weakref.finalize(self, _remove, self.name, os.getpid())

    def remove(self) -> None:
        """Removes it now."""
        self._remove()
