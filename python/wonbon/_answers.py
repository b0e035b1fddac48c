"""Answers of stores and services: the same types, made of the same JSON."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

from . import _html

__all__ = [
    "Answer",
    "Backup",
    "Changes",
    "Copies",
    "DecisionEntry",
    "Decisions",
    "Document",
    "Found",
    "Match",
    "Matches",
    "Moved",
    "Passage",
    "SearchResults",
    "Source",
    "Sources",
    "Status",
    "StoredPassage",
    "StoredPassages",
    "StoredPlace",
    "Verdict",
    "WatchList",
    "WatchReports",
]

T = TypeVar("T")


def _filled(kind: type[T], told: dict[str, Any], **made: Any) -> T:
    """An answer of the fields that it knows; a newer service may tell more."""
    known = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    return kind(**{**{name: value for name, value in told.items() if name in known}, **made})


@dataclass(frozen=True)
class Verdict:
    """What is said of a document: `verdict` is original, copy, identical, same-text, same-shingles or empty."""

    key: str
    verdict: str
    original: str | None = None
    resemblance: float | None = None
    features_equal: int | None = None
    stopped_early: bool = False
    change: str | None = None

    @property
    def is_copy(self) -> bool:
        """Whether it copies an earlier document."""
        return self.original is not None

    @classmethod
    def of(cls, told: dict[str, Any]) -> Verdict:
        """From JSON."""
        return _filled(cls, {"verdict": "", **told})

    def _repr_html_(self) -> str:
        return _html.pairs((one.name, getattr(self, one.name)) for one in fields(self))


@dataclass(frozen=True)
class Document:
    """A stored document."""

    key: str
    created: str
    stored: str
    words: int
    version: int
    verdict: str
    original: str | None = None
    resemblance: float | None = None
    copies: int | None = None
    published: str | None = None
    url: str | None = None
    site: str | None = None
    author: str | None = None
    title: str | None = None
    language: str | None = None
    decision: str | None = None
    text: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Document:
        """From JSON."""
        return _filled(cls, told)

    def _repr_html_(self) -> str:
        told = ((one.name, getattr(self, one.name)) for one in fields(self))
        return _html.pairs((name, value) for name, value in told if value is not None)


@dataclass(frozen=True)
class Match:
    """A stored document that shares something with a text."""

    document: Document
    resemblance: float
    containment_of_text: float
    containment_of_document: float
    shingles_shared: int

    @classmethod
    def of(cls, told: dict[str, Any]) -> Match:
        """From JSON."""
        return _filled(cls, told, document=Document.of(told["document"]))


@dataclass(frozen=True)
class Matches:
    """Stored documents that share something with a text, the nearest first."""

    matches: list[Match]
    complete: bool = True

    @classmethod
    def of(cls, told: dict[str, Any]) -> Matches:
        """From JSON."""
        return _filled(cls, told, matches=[Match.of(one) for one in told["matches"]])

    def __len__(self) -> int:
        return len(self.matches)

    def __getitem__(self, at: int) -> Match:
        return self.matches[at]

    def _repr_html_(self) -> str:
        rows = [
            (one.document.key, one.document.verdict, one.resemblance, one.containment_of_text, one.containment_of_document)
            for one in self.matches
        ]
        names = ("document", "verdict", "resemblance", "has of the text", "is in the text")
        return _html.table(names, rows[:20], len(rows))


@dataclass(frozen=True)
class Passage:
    """A passage of a text, by its words, and the same passage where it was taken from."""

    words: tuple[int, int]
    text: str
    source: str | None = None

    @classmethod
    def of(cls, told: dict[str, Any]) -> Passage:
        """From JSON."""
        return _filled(cls, told, words=tuple(told["words"]))


@dataclass(frozen=True)
class Source:
    """A stored document that explains part of a text."""

    document: Document
    words: int
    words_in_all: int
    passages: list[Passage]

    @classmethod
    def of(cls, told: dict[str, Any]) -> Source:
        """From JSON."""
        passages = [Passage.of(one) for one in told["passages"]]
        return _filled(cls, told, document=Document.of(told["document"]), passages=passages)


@dataclass(frozen=True)
class Sources:
    """Where a text was taken from: the fewest documents that together explain it."""

    sources: list[Source]
    words: int
    explained: int
    unexplained: list[Passage]

    @classmethod
    def of(cls, told: dict[str, Any]) -> Sources:
        """From JSON."""
        return _filled(
            cls,
            told,
            sources=[Source.of(one) for one in told["sources"]],
            unexplained=[Passage.of(one) for one in told["unexplained"]],
        )

    def _repr_html_(self) -> str:
        rows = [(one.document.key, one.words, len(one.passages)) for one in self.sources]
        rows.append(("nothing stored", self.words - self.explained, len(self.unexplained)))
        return _html.table(("document", "words", "passages"), rows, len(rows))


@dataclass(frozen=True)
class StoredPlace:
    """Where a passage of a text stands: bytes of the text (UTF-8) of a stored document, and how it is written there."""

    key: str
    bytes: tuple[int, int]
    text: str

    @classmethod
    def of(cls, told: dict[str, Any]) -> StoredPlace:
        """From JSON."""
        return _filled(cls, told, bytes=tuple(told["bytes"]))


@dataclass(frozen=True)
class StoredPassage:
    """A run of words that a text and stored documents have in common."""

    words: tuple[int, int]
    text: str
    places: list[StoredPlace]

    @classmethod
    def of(cls, told: dict[str, Any]) -> StoredPassage:
        """From JSON."""
        places = [StoredPlace.of(one) for one in told["places"]]
        return _filled(cls, told, words=tuple(told["words"]), places=places)


@dataclass(frozen=True)
class StoredPassages:
    """What of a text stands in stored documents, in the order of the text."""

    passages: list[StoredPassage]
    documents: list[Document]
    words: int
    repeated: int
    complete: bool = True

    @classmethod
    def of(cls, told: dict[str, Any]) -> StoredPassages:
        """From JSON."""
        return _filled(
            cls,
            told,
            passages=[StoredPassage.of(one) for one in told["passages"]],
            documents=[Document.of(one) for one in told["documents"]],
        )

    def __len__(self) -> int:
        return len(self.passages)

    def __getitem__(self, at: int) -> StoredPassage:
        return self.passages[at]

    def _repr_html_(self) -> str:
        rows = [(one.text[:100], ", ".join(place.key for place in one.places[:3]), len(one.places)) for one in self.passages]
        return _html.table(("passage", "stands in", "places"), rows[:20], len(rows))


@dataclass(frozen=True)
class Found:
    """An original that was found by its words. `snippet_html` marks them; everything else in it is escaped."""

    document: Document
    score: float
    snippet_html: str
    copies: list[Document] | None = None

    @classmethod
    def of(cls, told: dict[str, Any]) -> Found:
        """From JSON."""
        copies = told.get("copies")
        return _filled(
            cls,
            told,
            document=Document.of(told["document"]),
            copies=None if copies is None else [Document.of(one) for one in copies],
        )


@dataclass(frozen=True)
class SearchResults:
    """Originals that were found; `next` is the cursor of the next page, if there is one."""

    total: int
    results: list[Found]
    next: str | None = None

    @classmethod
    def of(cls, told: dict[str, Any]) -> SearchResults:
        """From JSON."""
        return _filled(cls, told, results=[Found.of(one) for one in told["results"]])

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, at: int) -> Found:
        return self.results[at]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{_html.table((), [[one.document.title or one.document.key]], 1)}</td>"
            f"<td>{one.snippet_html}</td></tr>"
            for one in self.results
        )
        return f"<table>{rows}</table>"


class Answer(dict[str, Any]):
    """An answer with parts of parts: a dictionary whose fields are attributes too, its parts likewise. Fields that a
    kind of answer names are None where they are missing."""

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return _wrapped(self[name])
        if name in type(self).__annotations__:
            return None
        raise AttributeError(f"there is no {name} in this answer")

    def _repr_html_(self) -> str:
        lists = [(name, value) for name, value in self.items() if isinstance(value, list) and value]
        rest = _html.pairs((name, value) for name, value in self.items() if not isinstance(value, (list, dict)))
        return rest + "".join(_listed(name, value) for name, value in lists)


def _wrapped(value: Any) -> Any:
    if isinstance(value, dict):
        return Answer(value)
    return [_wrapped(one) for one in value] if isinstance(value, list) else value


def _listed(name: str, rows: list[Any]) -> str:
    """A list of parts as a small table."""
    names = list(dict.fromkeys(key for row in rows if isinstance(row, dict) for key in row)) or [name]
    cells = [[_short(row.get(key)) for key in names] if isinstance(row, dict) else [_short(row)] for row in rows[:20]]
    return _html.table(names, cells, len(rows))


def _short(value: Any) -> Any:
    """A part in a cell: a place or a document by its key, a list of them by theirs."""
    if isinstance(value, dict):
        return value["key"] if "key" in value else _short(value["place"]) if "place" in value else value
    return ", ".join(str(_short(one)) for one in value) if isinstance(value, list) else value


class Moved(Answer):
    """Where the document of an address is now: `status` is here, moved, merged, split or gone."""

    key: str
    status: str
    place: Answer | None
    redirects: list[Answer]
    places: list[Answer]
    covered: float | None
    also: list[Answer]
    total: int
    cut: bool


class Copies(Answer):
    """Who holds copies of a document, by site; each holder has its place and the version that it follows."""

    place: Answer
    holders: int
    cut: bool
    sites: list[Answer]


class Changes(Answer):
    """The versions of a page (`place`, `versions`), or how pages change."""

    place: Answer | None
    versions: list[Answer] | None


class WatchList(Answer):
    """The documents that are watched."""

    watched: list[Answer]


class WatchReports(Answer):
    """How the copies of watched documents differ from them: faithful, outdated, differing."""

    reports: list[Answer]


class DecisionEntry(Answer):
    """What a person decided: what was in effect before and what is since."""

    entry: int
    time: str
    who: str
    change: str
    key: str
    before: str | None
    after: str | None
    undoes: int | None
    reason: str | None


class Decisions(Answer):
    """Entries of the log of decisions, the latest first; `next` is the cursor of the next page, if there is one."""

    decisions: list[Answer]
    next: str | None


class Backup(Answer):
    """A backup that was made: the directory or the name that was asked for, and the bytes of its database."""

    name: str
    database_bytes: int


class Status(Answer):
    """How many documents a store has, what decides, and what it takes."""

    store: str
    rule: str
    shingle_words: int
    documents: int
    originals: int
    copies: int
    empty: int
    search_behind: int
