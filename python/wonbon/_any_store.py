"""What a store in a directory and one behind a service have in common: the methods, their arguments, their answers.

A method of `AnyStore` checks and names its arguments; what differs (a call into the library, a request by HTTP) is a short
method of `Store` or `Client`. So a program may take either.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, TypeVar

from . import _data
from ._answers import (
    Backup,
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
from .errors import RequestError, UnknownDocumentError
from .typing import Progress

__all__ = ["AnyStore", "checked_text"]

Self = TypeVar("Self", bound="AnyStore")

FIELDS = ("url", "created", "published", "title", "site", "author", "language")
"""What a document may have beside its key and its content."""


TEXTS = ("text", "html", "key", "q", "cursor", "site", "language", "since", "after", "before")
"""Arguments of questions that are texts,"""
COUNTS = ("limit", "least_words")
"""and those that are numbers of things."""


def _given(**values: Any) -> dict[str, Any]:
    """Those arguments that were given."""
    return {name: value for name, value in values.items() if value is not None}


def checked_text(name: str, value: Any) -> str:
    """An argument that must be a text."""
    if not isinstance(value, str):
        raise RequestError(f"`{name}` is a `str`, not {type(value).__name__}")
    return value


def _row(key: str | None, text: str | None, html: str | bytes | None, described: dict[str, Any]) -> dict[str, Any]:
    """A document as a row; unknown names are refused."""
    for name in described:
        if name not in FIELDS:
            raise TypeError(f"a document has no `{name}`; it may have {', '.join(FIELDS)}")
    if text is None and html is None:
        raise RequestError("a document has a `text` or an `html`")
    return _given(id=key, text=text, html=html, **described)


class AnyStore(ABC):
    """A store, wherever it is: `Store` for a directory, `Client` for a service."""

    @abstractmethod
    def _ask(self, name: str, question: dict[str, Any]) -> dict[str, Any]:
        """The answer to a question, by the name of its path in the service."""

    @abstractmethod
    def _add(self, row: dict[str, Any], how: dict[str, str]) -> dict[str, Any]:
        """The verdict of a row that is stored; `how` may have a sweep and dates."""

    @abstractmethod
    def _add_rows(
        self, data: Any, columns: dict[str, str], how: dict[str, str], threads: int | None, progress: Progress | None
    ) -> list[dict[str, Any]]:
        """The verdicts of the rows of a table; `columns` are those that the caller names."""

    @abstractmethod
    def _add_stream(self, rows: Iterator[dict[str, Any]], how: dict[str, str]) -> Iterator[Verdict]:
        """The verdicts of rows, one after another."""

    @abstractmethod
    def _check(self, row: dict[str, Any], how: dict[str, str]) -> dict[str, Any]:
        """The verdict of a row that is not stored."""

    def add(
        self,
        key: str | None = None,
        text: str | None = None,
        *,
        html: str | bytes | None = None,
        sweep: str | None = None,
        dates: str | None = None,
        **described: Any,
    ) -> Verdict:
        """Adds a document, and says whether it copies an earlier one. It is durable when this returns.

        `described`: url, created, published, title, site, author, language.
        """
        return Verdict.of(self._add(_row(key, text, html, described), _given(sweep=sweep, dates=dates)))

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
        """Adds the rows of a table, in order. All of them are durable when this returns.

        `data` is a table of any kind, or dictionaries. A row has an `id` or a `url`, a `text` or an `html`, and what else
        docs/formats.md names; columns that are called otherwise are named here.
        """
        columns, how = _data.named_columns(text, html, id, url, order), _given(sweep=sweep, dates=dates)
        return [Verdict.of(told) for told in self._add_rows(data, columns, how, threads, progress)]

    def add_stream(
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
    ) -> Iterator[Verdict]:
        """As `add_many`, for rows that come while verdicts go out: verdicts come in the order of the rows, each as soon
        as its document is durable. Rows are taken as verdicts are asked for: an iterator that nobody reads adds nothing.
        """
        columns, how = _data.named_columns(text, html, id, url, order), _given(sweep=sweep, dates=dates)
        return self._add_stream(_data.as_rows(data, columns), how)

    def check(
        self,
        text: str | None = None,
        *,
        key: str | None = None,
        html: str | bytes | None = None,
        dates: str | None = None,
        **described: Any,
    ) -> Verdict:
        """What would be said of a document; nothing is stored."""
        return Verdict.of(self._check(_row(key, text, html, described), _given(dates=dates)))

    @abstractmethod
    def get(self, key: str) -> Document:
        """A stored document. `UnknownDocumentError` if there is none."""

    @abstractmethod
    def family(self, key: str) -> list[Document]:
        """A document's original and all its copies."""

    @abstractmethod
    def delete(self, key: str) -> bool:
        """Removes a document with all its versions; whether it was there."""

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        try:
            self.get(key)
        except UnknownDocumentError:
            return False
        return True

    def __len__(self) -> int:
        count: int = self.status()["documents"]
        return count

    def _about(self, name: str, text: str | None, **question: Any) -> dict[str, Any]:
        asked = _data.as_json(_given(text=text, **question))
        for argument, value in asked.items():
            if argument in TEXTS:
                checked_text(argument, value)
            if argument in COUNTS and not (isinstance(value, int) and value >= 0):
                raise RequestError(f"`{argument}` is a whole number, not {value!r}")
        return self._ask(name, asked)

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
        html: str | bytes | None = None,
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
        html: str | bytes | None = None,
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
        html: str | bytes | None = None,
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
        html: str | bytes | None = None,
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
        html: str | bytes | None = None,
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
    def watch(self, key: str) -> None:
        """Watches a document for copies that differ by a little."""

    @abstractmethod
    def unwatch(self, key: str) -> None:
        """Watches a document no more."""

    @abstractmethod
    def decide(
        self, key: str, decision: str | None, *, who: str | None = None, reason: str | None = None
    ) -> DecisionEntry | None:
        """A person's decision: `original`, `not-a-copy`, or None to take the last one back. The entry in the log of
        decisions, if it changed anything. A service knows who decides by the token."""

    def status(self) -> Status:
        """How many documents there are, what decides, and what the store takes."""
        return Status(self._ask("status", {}))

    @abstractmethod
    def backup(self, where: Any) -> Backup:
        """Writes a copy of the store, as of one moment, while others read and write: to a directory, or under a name
        in the directory that the service was started with (`--backups`)."""

    @abstractmethod
    def close(self) -> None:
        """Ends the use of it."""

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
