"""Stores: documents in, verdicts and answers out."""

from __future__ import annotations

import json
import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterable
from types import TracebackType
from typing import Any, TypeVar

from . import _data
from ._answers import (
    Changes,
    Copies,
    DecisionEntry,
    Decisions,
    Document,
    Matches,
    Moved,
    SearchResults,
    Sources,
    Status,
    StoredPassages,
    Verdict,
    WatchList,
    WatchReports,
)
from ._wonbon import StoreCore
from ._wonbon import restore as _restore
from .errors import UnknownDocumentError
from .typing import Progress

__all__ = ["Deduplicator", "Questions", "Store"]

Self = TypeVar("Self", bound="Questions")

FIELDS = ("url", "created", "published", "title", "site", "author", "language")
"""What a document may have beside its key and its content."""


def one_row(key: str | None, text: str | None, html: str | bytes | None, described: dict[str, Any]) -> dict[str, Any]:
    """A document as a row; unknown names are refused."""
    for name in described:
        if name not in FIELDS:
            raise TypeError(f"a document has no `{name}`; it may have {', '.join(FIELDS)}")
    given = {"id": key, "text": text, "html": html, **described}
    return {name: value for name, value in given.items() if value is not None}


class Questions(ABC):
    """What a store and a service answer alike."""

    @abstractmethod
    def _ask(self, name: str, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question, by the name of its path in the service."""

    def _about(self, name: str, text: str | None, **question: Any) -> dict[str, Any]:
        given = {"text": text, **question}
        return self._ask(name, {name: value for name, value in given.items() if value is not None})

    def search(
        self,
        query: str,
        *,
        site: str | None = None,
        language: str | None = None,
        after: str | None = None,
        before: str | None = None,
        copies: bool = False,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SearchResults:
        """Originals by their words. `cursor` is the `next` of an earlier answer."""
        told = self._about(
            "search",
            None,
            q=query,
            site=site,
            language=language,
            after=after,
            before=before,
            copies=copies,
            limit=limit,
            cursor=cursor,
        )
        return SearchResults.of(told)

    def similar(
        self,
        text: str | None = None,
        *,
        key: str | None = None,
        html: str | None = None,
        min: float | None = None,
        limit: int | None = None,
    ) -> Matches:
        """Documents that resemble a text, or a stored document (`key=`)."""
        return Matches.of(self._about("similar", text, key=key, html=html, min=min, limit=limit))

    def within(
        self,
        text: str | None = None,
        *,
        key: str | None = None,
        html: str | None = None,
        min: float | None = None,
        limit: int | None = None,
    ) -> Matches:
        """Documents that contain a text or part of it."""
        return Matches.of(self._about("within", text, key=key, html=html, min=min, limit=limit))

    def contains(
        self,
        text: str | None = None,
        *,
        key: str | None = None,
        html: str | None = None,
        min: float | None = None,
        limit: int | None = None,
    ) -> Matches:
        """Documents that a text contains, whole or in part."""
        return Matches.of(self._about("contains", text, key=key, html=html, min=min, limit=limit))

    def sources(
        self,
        text: str | None = None,
        *,
        key: str | None = None,
        html: str | None = None,
        limit: int | None = None,
        least_words: int | None = None,
    ) -> Sources:
        """The fewest documents that together explain a text."""
        return Sources.of(self._about("sources", text, key=key, html=html, limit=limit, least_words=least_words))

    def passages(
        self,
        text: str | None = None,
        *,
        key: str | None = None,
        html: str | None = None,
        limit: int | None = None,
        least_words: int | None = None,
    ) -> StoredPassages:
        """What of a text stands in stored documents, run by run of at least `least_words` (8) words, with its places."""
        told = self._about("passages", text, key=key, html=html, limit=limit, least_words=least_words)
        return StoredPassages.of(told)

    def moved(self, key: str, *, min: float | None = None, limit: int | None = None) -> Moved:
        """Where the document of an address is now."""
        return Moved(self._about("moved", None, key=key, min=min, limit=limit))

    def copies(self, key: str, *, min: float | None = None, limit: int | None = None) -> Copies:
        """Who holds copies of a document, and of which version."""
        return Copies(self._about("copies", None, key=key, min=min, limit=limit))

    def changes(self, key: str | None = None, *, site: str | None = None, since: str | None = None) -> Changes:
        """The versions of a page, or how all pages change."""
        return Changes(self._about("changes", None, key=key, site=site, since=since))

    def watched(self) -> WatchList:
        """The documents that are watched."""
        return WatchList(self._ask("watched", {}))

    def reports(self, *, min: float | None = None) -> WatchReports:
        """How the copies of watched documents differ from them."""
        return WatchReports(self._about("reports", None, min=min))

    def decisions(self, key: str | None = None, *, limit: int | None = None, cursor: str | None = None) -> Decisions:
        """The log of people's decisions, the latest first."""
        return Decisions(self._about("decisions", None, key=key, limit=limit, cursor=cursor))

    @abstractmethod
    def close(self) -> None:
        """Ends the use of it."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Store(Questions):
    """A store in a directory, made if there is none. Any number of threads may use it.

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
        told: dict[str, Any] = json.loads(self._core.ask(name, json.dumps(question)))
        return told

    def add(
        self,
        key: str | None = None,
        text: str | None = None,
        *,
        html: str | bytes | None = None,
        sweep: str | None = None,
        **described: Any,
    ) -> Verdict:
        """Adds a document, and says whether it copies an earlier one. It is durable when this returns."""
        rows = _data.as_stream([one_row(key, text, html, described)])
        told = self._core.add(rows, "{}", sweep=sweep)
        return Verdict.of(json.loads(told[0]))

    def add_many(
        self,
        data: Any,
        *,
        text: str | None = None,
        id: str | None = None,
        order: str | None = None,
        html: str | None = None,
        url: str | None = None,
        sweep: str | None = None,
        dates: str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[Verdict]:
        """Adds the rows of a table, in order. All of them are durable when this returns."""
        fields = json.dumps(_data.named_columns(text, html, id, url, order))
        told = self._core.add(
            _data.as_stream(data), fields, sweep=sweep, dates=dates, threads=threads, progress=progress
        )
        return [Verdict.of(json.loads(one)) for one in told]

    def check(
        self, text: str | None = None, *, key: str | None = None, html: str | bytes | None = None, **described: Any
    ) -> Verdict:
        """What would be said of a document; nothing is stored."""
        rows = _data.as_stream([one_row(key or "", text, html, described)])
        named = bool(key or described.get("url"))
        return Verdict.of(json.loads(self._core.check(rows, "{}", named=named)[0]))

    def get(self, key: str) -> Document:
        """A stored document. `UnknownDocumentError` if there is none."""
        return Document.of(json.loads(self._core.get(key)))

    def family(self, key: str) -> list[Document]:
        """A document's original and all its copies."""
        return [Document.of(json.loads(one)) for one in self._core.family(key)]

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        try:
            self._core.get(key)
        except UnknownDocumentError:
            return False
        return True

    def __len__(self) -> int:
        count: int = self.status()["documents"]
        return count

    def delete(self, key: str) -> bool:
        """Removes a document with all its versions; whether it was there."""
        return self._core.delete(key)

    def watch(self, key: str) -> None:
        """Watches a document for copies that differ by a little."""
        self._core.watch(key, True)

    def unwatch(self, key: str) -> None:
        """Watches a document no more."""
        self._core.watch(key, False)

    def decide(
        self, key: str, decision: str | None, *, who: str | None = None, reason: str | None = None
    ) -> DecisionEntry | None:
        """A person's decision: `original`, `not-a-copy`, or None to take the last one back."""
        told = self._core.decide(key, decision, who, reason)
        return None if told is None else DecisionEntry(json.loads(told))

    def status(self) -> Status:
        """How many documents there are, what decides, and what the store takes."""
        return Status(json.loads(self._core.status()))

    def backup(self, directory: str | os.PathLike[str]) -> None:
        """Writes a copy of the store, as of one moment, while others read and write."""
        self._core.backup(os.fspath(directory))

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
        told = self.status()
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
        self._folder = tempfile.TemporaryDirectory(prefix="wonbon-", dir=_folder_in_memory())
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
        self._folder.cleanup()

    def __enter__(self) -> Deduplicator:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
