"""Passages: runs of words that occur at several places, listed and removed."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from . import _data, _html
from ._families import _inputs, _paths, _request
from ._table import TableAnswer
from ._wonbon import Table, passages_table, remove_passages_table
from ._wonbon import passages_files as _passages_files
from ._wonbon import remove_passages_files as _remove_passages_files
from .typing import Progress

__all__ = [
    "Cleaned",
    "PassagePlace",
    "Passages",
    "RepeatedPassage",
    "passages",
    "passages_files",
    "remove_passages",
    "remove_passages_files",
]


@dataclass(frozen=True)
class PassagePlace:
    """A place of a passage: bytes of the text (UTF-8) of a document."""

    id: str
    start: int
    end: int


@dataclass(frozen=True)
class RepeatedPassage:
    """A maximal run of words that occurs at several places. `text` and `bytes` are those of the first occurrence;
    `saved` is what all the others take."""

    text: str
    words: int
    bytes: int
    occurrences: int
    documents: int
    saved: int
    places: list[PassagePlace] = field(repr=False)


class Passages(TableAnswer, Sequence[RepeatedPassage]):
    """The passages of a table, those that would save most first.

    It is an Arrow table, too, with the columns text, words, bytes, occurrences, documents, saved and places (JSON).
    """

    def __init__(self, table: Table) -> None:
        super().__init__(table)
        self._rows: list[dict[str, Any]] | None = None

    @overload
    def __getitem__(self, at: int) -> RepeatedPassage: ...
    @overload
    def __getitem__(self, at: slice) -> list[RepeatedPassage]: ...
    def __getitem__(self, at: int | slice) -> RepeatedPassage | list[RepeatedPassage]:
        if self._rows is None:
            self._rows = self._table.to_pylist()
        if isinstance(at, slice):
            return [_passage(row) for row in self._rows[at]]
        return _passage(self._rows[at])

    def __repr__(self) -> str:
        return f"<wonbon.Passages: {len(self):,} passages>"

    def _repr_html_(self) -> str:
        rows = [(one.text[:100], one.words, one.occurrences, one.documents, one.saved) for one in self[:20]]
        return _html.table(("text", "words", "occurrences", "documents", "bytes saved"), rows, len(self))


def _passage(row: dict[str, Any]) -> RepeatedPassage:
    places = [PassagePlace(**place) for place in json.loads(row["places"])]
    return RepeatedPassage(**{**row, "places": places})


class Cleaned(TableAnswer):
    """Texts without the passages that occurred before, row by row.

    It is an Arrow table, too, with the columns id, text, removed (JSON), words_left and kept.
    """

    @property
    def texts(self) -> list[str]:
        """What is left of the text of each row."""
        return self._table.column("text")

    @property
    def removed(self) -> list[list[tuple[int, int]]]:
        """The bytes of the text (UTF-8) of each row that are removed: the first, and the one behind the last."""
        return [[(start, end) for start, end in json.loads(one)] for one in self._table.column("removed")]

    @property
    def kept(self) -> list[bool]:
        """Whether enough is left of each row."""
        return self._table.column("kept")

    def __iter__(self) -> Iterator[str]:
        return iter(self.texts)

    def __repr__(self) -> str:
        cut = sum(left is not None for left in self._table.column("words_left"))
        return f"<wonbon.Cleaned: {len(self):,} rows, {cut:,} cut, {self.kept.count(False):,} dropped>"


def passages(
    data: Any,
    *,
    words: int = 50,
    min_documents: int = 2,
    places: int = 100,
    text: str | None = None,
    id: str | None = None,
    html: str | None = None,
    url: str | None = None,
    against: Any = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Passages:
    """Every run of at least `words` words that a table repeats: `wonbon passages` without files.

    A run is listed if it occurs at two places or more, in at least `min_documents` rows, and no word before or behind
    makes it longer at all of them. With `against`, another table, only what occurs in both is listed. `data` is what
    `dedup` takes; its texts are held in memory while this runs.

    >>> found = passages(["Yes. Sent from my phone, sorry", "No! Sent from my phone, sorry"], words=3)
    >>> found[0].text, found[0].documents
    ('Sent from my phone, sorry', 2)
    >>> [(place.id, place.start, place.end) for place in found[0].places]
    [('0', 5, 30), ('1', 4, 29)]
    """
    with tempfile.TemporaryDirectory(prefix="wonbon-") as folder:
        found = passages_table(
            data,
            json.dumps(_data.named_columns(text, html, id, url, None)),
            folder,
            words=words,
            min_documents=min_documents,
            places=places,
            against=against,
            threads=threads,
            memory=memory,
            progress=progress,
        )
    return Passages(found)


def remove_passages(
    data: Any,
    *,
    words: int = 50,
    unit: str = "word",
    min_left: int = 1,
    text: str | None = None,
    id: str | None = None,
    html: str | None = None,
    url: str | None = None,
    against: Any = None,
    from_against: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Cleaned:
    """The texts of a table without what occurred before: `wonbon dedup --passages-only` without files.

    No run of `words` words is left twice; of each the first occurrence stays, in the order of the rows. `unit` says what
    is removed as a whole: "word", "line" or "paragraph". A row from which something is removed is not kept if fewer than
    `min_left` words are left. What occurs in `against`, another table, is removed everywhere; with `from_against`
    nothing else is.

    >>> cleaned = remove_passages(["Yes. Sent from my phone, sorry", "No! Sent from my phone, sorry"], words=3)
    >>> cleaned.texts, cleaned.removed
    (['Yes. Sent from my phone, sorry', 'No! '], [[], [(4, 29)]])
    """
    with tempfile.TemporaryDirectory(prefix="wonbon-") as folder:
        left = remove_passages_table(
            data,
            json.dumps(_data.named_columns(text, html, id, url, None)),
            folder,
            words=words,
            unit=unit,
            min_left=min_left,
            against=against,
            of_others_only=from_against,
            threads=threads,
            memory=memory,
            progress=progress,
        )
    return Cleaned(left)


def passages_files(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    words: int = 50,
    min_documents: int = 2,
    places: int = 100,
    text: str | None = None,
    id: str | None = None,
    html: str | None = None,
    url: str | None = None,
    against: Sequence[str | os.PathLike[str]] = (),
    strict: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """`wonbon passages`: from files to a folder of results. The same call continues after a kill."""
    told: dict[str, Any] = json.loads(
        _passages_files(
            _inputs(inputs),
            os.fspath(output),
            json.dumps(_data.named_columns(text, html, id, url, None)),
            words=words,
            min_documents=min_documents,
            places=places,
            against=_paths(against),
            strict=strict,
            threads=threads,
            memory=memory,
            progress=progress,
        )
    )
    return told


def remove_passages_files(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    words: int = 50,
    unit: str = "word",
    min_left: int = 1,
    copies_too: bool = False,
    text: str | None = None,
    id: str | None = None,
    order: str | None = None,
    html: str | None = None,
    url: str | None = None,
    keep: str = "earliest",
    against: Sequence[str | os.PathLike[str]] = (),
    from_against: bool = False,
    annotate: bool = False,
    strict: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """`wonbon dedup --passages-only --passages WORDS`; with `copies_too` whole documents that are copies go first, as
    with `wonbon dedup --passages WORDS`. The same call continues after a kill."""
    request = _request(inputs=[], keep=keep, annotate=annotate, fields=_data.named_columns(text, html, id, url, order))
    told: dict[str, Any] = json.loads(
        _remove_passages_files(
            _inputs(inputs),
            os.fspath(output),
            request,
            words=words,
            unit=unit,
            min_left=min_left,
            only=not copies_too,
            against=_paths(against),
            of_others_only=from_against,
            strict=strict,
            threads=threads,
            memory=memory,
            progress=progress,
        )
    )
    return told
