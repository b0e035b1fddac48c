"""Stores in a directory, and the decision for a stream that nobody keeps."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any

from ._answers import Backup, DecisionEntry, Document, Verdict
from ._any_store import AnyStore
from ._folder import Folder
from ._wonbon import StoreCore
from ._wonbon import restore as _restore
from .errors import RequestError
from .typing import Progress

__all__ = ["Deduplicator", "Store"]


class Store(AnyStore):
    """A store in a directory, made if there is none. Any number of threads may use it.

    A process that was forked opens the store itself, once its parent has closed it, or with `read_only=True`.

    >>> import tempfile
    >>> ferry = "one morning the old ferry did not come and the whole village stood on the quay"
    >>> with tempfile.TemporaryDirectory() as folder, Store(folder + "/store") as store:
    ...     first = store.add("a", ferry, created="2024-05-01")
    ...     second = store.add("b", ferry + " again")
    ...     first.verdict, second.verdict, second.original, len(store)
    ('original', 'copy', 'a', 2)
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        rule: str | None = None,
        shingle: int | None = None,
        dates: str | None = None,
        seed: str | None = None,
        read_only: bool = False,
        create: bool = True,
    ) -> None:
        self._core = StoreCore(
            os.fspath(directory),
            rule=rule,
            shingle=shingle,
            dates=dates,
            seed=seed,
            read_only=read_only,
            create=create,
        )

    def _ask(self, name: str, question: dict[str, Any]) -> dict[str, Any]:
        asked = self._core.status() if name == "status" else self._core.ask(name, json.dumps(question))
        told: dict[str, Any] = json.loads(asked)
        return told

    def _add(self, row: dict[str, Any], how: dict[str, str]) -> dict[str, Any]:
        return self._add_rows([row], {}, how, None, None)[0]

    def _add_rows(
        self, data: Any, columns: dict[str, str], how: dict[str, str], threads: int | None, progress: Progress | None
    ) -> list[dict[str, Any]]:
        told = self._core.add(data, json.dumps(columns), threads=threads, progress=progress, **how)
        return list(map(json.loads, told))

    def _add_stream(self, rows: Iterator[dict[str, Any]], how: dict[str, str]) -> Iterator[Verdict]:
        # A row at a time: the next one may come only after this one's verdict.
        return (Verdict.of(self._add(row, how)) for row in rows)

    def _check(self, row: dict[str, Any], how: dict[str, str]) -> dict[str, Any]:
        named = bool(row.get("id") or row.get("url"))
        told = self._core.check([{"id": "", **row}], "{}", named=named, dates=how.get("dates"))
        checked: dict[str, Any] = json.loads(told[0])
        return checked

    def get(self, key: str) -> Document:
        return Document.of(json.loads(self._core.get(key)))

    def family(self, key: str) -> list[Document]:
        return [Document.of(json.loads(one)) for one in self._core.family(key)]

    def delete(self, key: str) -> bool:
        return self._core.delete(key)

    def watch(self, key: str) -> None:
        self._core.watch(key, True)

    def unwatch(self, key: str) -> None:
        self._core.watch(key, False)

    def decide(
        self, key: str, decision: str | None, *, who: str | None = None, reason: str | None = None
    ) -> DecisionEntry | None:
        told = self._core.decide(key, decision, who, reason)
        return None if told is None else DecisionEntry(json.loads(told))

    def backup(self, where: str | os.PathLike[str]) -> Backup:
        self._core.backup(os.fspath(where))
        size = os.path.getsize(os.path.join(where, "documents.sqlite"))
        return Backup(name=os.fspath(where), database_bytes=size)

    @staticmethod
    def restore(
        backup: str | os.PathLike[str], directory: str | os.PathLike[str], *, move_old_aside: bool = False
    ) -> str | None:
        """Makes a store of a backup; tells where what was there is now, if it was moved aside."""
        aside = _restore(os.fspath(backup), os.fspath(directory), move_old_aside=move_old_aside)
        return None if aside is None else os.fspath(aside)

    def close(self) -> None:
        """Closes the store. What was acknowledged is durable already."""
        self._core.close()

    def __repr__(self) -> str:
        try:
            told = self.status()
        except RequestError as error:
            return f"<wonbon.Store: {error}>"
        return f"<wonbon.Store: {told['documents']:,} documents, {told['copies']:,} copies, {told['rule']}>"


IN_MEMORY = "/dev/shm"
"""Where Linux has files that are in memory alone."""

ROOM = 1 << 30
"""How much room has to be there: a container may have been given a few megabytes."""


def _folder_in_memory() -> str | None:
    """A folder for files in memory, if the system has one with room; None stands for its temporary folder."""
    try:
        told = os.statvfs(IN_MEMORY)
    except (OSError, AttributeError):
        return None
    return IN_MEMORY if told.f_bavail * told.f_frsize >= ROOM and os.access(IN_MEMORY, os.W_OK) else None


class Deduplicator:
    """The decision of a store for a stream that nobody keeps: is this a copy of something seen before?

    What was seen is held in a temporary store, which goes with this object. It is in memory where the system has files
    in memory (`/dev/shm` with a gigabyte of room), otherwise in the temporary folder.

    >>> ferry = "one morning the old ferry did not come and the whole village stood on the quay"
    >>> with Deduplicator(threshold=0.7) as seen:
    ...     [seen.add(key, text).is_copy for key, text in [("a", ferry), ("b", ferry + " again"), ("c", "else")]]
    [False, True, False]
    """

    def __init__(self, threshold: float = 0.8, *, rule: str | None = None, shingle: int = 5) -> None:
        self._folder = Folder(_folder_in_memory())
        rule = rule or f"threshold={threshold}"
        self._store = Store(os.path.join(self._folder.name, "store"), rule=rule, shingle=shingle)

    @property
    def store(self) -> Store:
        """The temporary store, for its questions."""
        return self._store

    def add(self, key: str, text: str, created: Any = None) -> Verdict:
        """Says whether a text copies one seen before, and remembers it."""
        return self._store.add(key, text, created=created)

    def add_many(self, rows: Iterable[Any], **columns: Any) -> list[Verdict]:
        """The same for a table; see `Store.add_many`."""
        return self._store.add_many(rows, **columns)

    def check(self, text: str) -> Verdict:
        """Says whether a text would be a copy, and forgets it."""
        return self._store.check(text)

    def __len__(self) -> int:
        return len(self._store)

    def close(self) -> None:
        """Forgets everything."""
        self._store.close()
        self._folder.remove()

    def __enter__(self) -> Deduplicator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
