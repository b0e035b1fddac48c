"""Corpora: which rows are copies, of which original."""

from __future__ import annotations

import json
import os
import pathlib
import webbrowser
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

from . import _data, _html
from ._folder import Folder
from ._table import TableAnswer
from ._texts import Comparison, compare
from ._wonbon import FamilyCore, Table, dedup_table
from ._wonbon import cluster_files as _cluster_files
from ._wonbon import dedup_files as _dedup_files
from .errors import EnvironmentFailedError, RequestError, UnknownDocumentError
from .typing import Progress

__all__ = ["Explanation", "Families", "Mask", "cluster_files", "dedup", "dedup_files"]


class Mask(Sequence[bool]):
    """Whether each row is kept, in the order of the rows: a sequence, an Arrow column, and a numpy array."""

    def __init__(self, core: FamilyCore) -> None:
        self._core = core
        self._bytes = core.kept_bytes()

    def __len__(self) -> int:
        return len(self._bytes)

    @overload
    def __getitem__(self, at: int) -> bool: ...
    @overload
    def __getitem__(self, at: slice) -> list[bool]: ...
    def __getitem__(self, at: int | slice) -> bool | list[bool]:
        if isinstance(at, slice):
            return [keep == 1 for keep in self._bytes[at]]
        return self._bytes[at] == 1

    def __iter__(self) -> Iterator[bool]:
        return (keep == 1 for keep in self._bytes)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return self._core.kept_array()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        import numpy

        seen = numpy.frombuffer(self._bytes, dtype=bool)
        return seen if dtype is None and not copy else numpy.array(seen, dtype=dtype)

    def __repr__(self) -> str:
        return f"<wonbon.Mask: {sum(self._bytes)} of {len(self)} rows are kept>"


@dataclass(frozen=True)
class Explanation:
    """Why a row is what it is. `comparison` is None where the texts cannot be read again."""

    id: str
    kind: str
    original: str
    resemblance: float
    comparison: Comparison | None

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("id", self.id),
            ("kind", self.kind),
            ("original", self.original),
            ("resemblance", self.resemblance),
        ]
        if self.comparison:
            rows += [(f"{one.words_a[0]}", f"{one.a} → {one.b}") for one in self.comparison.diff()[:20]]
        return _html.pairs(rows)


class _Found:
    """The columns of an answer as lists, and where each id stands: made once somebody asks about an id."""

    def __init__(self, table: Table) -> None:
        ids = table.column("id")
        self.kinds, self.originals = table.column("kind"), table.column("original")
        self.resemblances = table.column("resemblance")
        # The first row of an id that several have.
        self.rows = {id: row for row, id in reversed(list(enumerate(ids)))}
        self.copies: dict[str, list[str]] = {}
        for id, kind, original in zip(ids, self.kinds, self.originals):
            if kind not in ("original", "empty"):
                self.copies.setdefault(original, []).append(id)


class Families(TableAnswer):
    """The families of a table: one row for each of its rows, in its order.

    It is an Arrow table with the columns id, kind, family, original and resemblance: hand it to
    `pyarrow.table`, `polars.DataFrame`, `duckdb` or `pandas`.
    """

    def __init__(self, core: FamilyCore, data: Any, against: Any, folder: Folder) -> None:
        super().__init__(core.table)
        self._core = core
        self._data = data
        self._against = against
        # Holds what `again` needs; goes when the last answer that was made of it goes.
        self._folder = folder
        self._found: _Found | None = None

    @property
    def kept(self) -> Mask:
        """Whether each row is kept: originals, rows that resemble nothing, and rows without words."""
        return Mask(self._core)

    def select(self, data: Any = None) -> Any:
        """The rows that are kept, of the table that was given to `dedup`, or of another one with the same rows."""
        return _data.select(self._data if data is None else data, self.kept, again=data is not None)

    def _by_id(self) -> _Found:
        if self._found is None:
            self._found = _Found(self.table)
        return self._found

    def copies_of(self, id: str | int) -> list[str]:
        """The ids of the copies of an original, which may be a row of `against`."""
        found, wanted = self._by_id(), str(id)
        if wanted not in found.rows and wanted not in found.copies:
            raise UnknownDocumentError(f"there is no document `{wanted}`")
        return list(found.copies.get(wanted, ()))

    def _text_of(self, row: int) -> str | None:
        """The text of a row, counted from the first row of `against`."""
        others, columns = self._core.others, self._core.content_columns
        data, row = (self._against, row) if row < others else (self._data, row - others)
        return _data.text_at(data, row, columns)

    def explain(self, id: str | int) -> Explanation:
        """What a row is, what its original is, and which words differ."""
        found, wanted = self._by_id(), str(id)
        if wanted not in found.rows:
            raise UnknownDocumentError(f"there is no document `{wanted}`")
        row = found.rows[wanted]
        kind, original, resemblance = found.kinds[row], found.originals[row], found.resemblances[row]
        comparison = None
        if original != wanted:
            places = (row + self._core.others, self._core.original_of(row))
            texts = [self._text_of(place) for place in places]
            if texts[0] is not None and texts[1] is not None:
                comparison = compare(texts[0], texts[1], shingle=self._core.shingle)
        return Explanation(wanted, kind, original, resemblance, comparison)

    @property
    def pairs(self) -> Table | None:
        """Every verified pair (left, right, resemblance), if `pairs=True` was said."""
        return self._core.pairs()

    @property
    def summary(self) -> dict[str, Any]:
        """How many documents, copies and families there are, and how they were found."""
        told: dict[str, Any] = json.loads(self._core.summary())
        return told

    @property
    def digest(self) -> str:
        """Equal for equal families, whatever the order of the rows: the one that `wonbon dedup` prints."""
        return self._core.digest

    def again(self, threshold: float, progress: Progress | None = None) -> Families:
        """The families at a higher threshold; nothing is read again."""
        return Families(self._core.again(threshold, progress), self._data, self._against, self._folder)

    def report(self, path: str | os.PathLike[str] | None = None, *, show: bool = True) -> str:
        """Writes the report of `wonbon dedup`, a page of its own, and opens it in a browser unless `show=False`. It
        is written to `path`, or beside what `again` needs, where it goes with the answer. Returns where it is."""
        texts = [self._text_of(row) or "" for row in self._core.rows_in_report()]
        page = self._core.report(texts)
        where = os.path.abspath(os.path.join(self._folder.name, "report.html") if path is None else os.fspath(path))
        try:
            with open(where, "w", encoding="utf-8") as file:
                file.write(page)
        except OSError as error:
            raise EnvironmentFailedError(f"could not write {where}: {error.strerror}") from None
        if show:
            webbrowser.open(pathlib.Path(where).as_uri())
        return where

    def __repr__(self) -> str:
        told = self.summary
        return (
            f"<wonbon.Families: {told['documents']:,} documents, {told['kept']:,} kept, "
            f"{told['copies']:,} copies in {told['families']:,} families>"
        )

    def _repr_html_(self) -> str:
        told = self.summary
        rows = [*told["kinds"].items(), ("families", told["families"]), ("found by", told["engine"])]
        return _html.pairs(rows)


def _request(**given: Any) -> str:
    return json.dumps({name: value for name, value in given.items() if value is not None})


def dedup(
    data: Any,
    *,
    text: str | None = None,
    id: str | None = None,
    order: str | None = None,
    html: str | None = None,
    url: str | None = None,
    keep: str = "earliest",
    threshold: float | None = None,
    rule: str | None = None,
    family: str = "star",
    engine: str = "auto",
    against: Any = None,
    dates: str | None = None,
    pairs: bool = False,
    shingle: int = 5,
    seed: int | bytes | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Families:
    """Which rows of a table are copies, of which original: `wonbon dedup` without files.

    `data` is a table or a column: pyarrow, pandas, polars, datasets, duckdb, a list of texts or of dictionaries,
    a dictionary of columns, or a generator of batches or dictionaries. Columns that are not named are guessed as
    the program does it: `text`, `id`, `created` and their usual synonyms; a row without id is called by its
    number. `order` is the column with the creation time, by which `keep="earliest"` decides.

    >>> text = "one two three four five six seven eight nine ten"
    >>> families = dedup({"id": ["a", "b", "c"], "text": [text, text.upper(), "something else"]})
    >>> families.table.column("kind"), list(families.kept)
    (['original', 'same-text', 'original'], [True, False, True])
    >>> families.copies_of("a")
    ['b']
    """
    request = _request(
        inputs=[],
        threshold=threshold,
        rule=rule,
        family=family,
        engine=engine,
        keep=keep,
        dates=dates,
        fields=_data.named_columns(text, html, id, url, order),
    )
    folder = Folder()
    try:
        core = dedup_table(
            data,
            request,
            folder.name,
            against=against,
            pairs=pairs,
            shingle=shingle,
            seed=seed,
            threads=threads,
            memory=memory,
            progress=progress,
        )
    except BaseException:
        folder.remove()
        raise
    return Families(core, data, against, folder)


def _paths(inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    if isinstance(inputs, (str, os.PathLike)):
        return [os.fspath(inputs)]
    return [os.fspath(one) for one in inputs]


def _inputs(inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    """The paths of a job, of which there must be one."""
    paths = _paths(inputs or ())
    if not paths:
        raise RequestError("there is no input: name files or folders")
    return paths


def dedup_files(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    text: str | None = None,
    id: str | None = None,
    order: str | None = None,
    html: str | None = None,
    url: str | None = None,
    keep: str = "earliest",
    threshold: float | None = None,
    rule: str | None = None,
    family: str = "star",
    engine: str = "auto",
    against: Sequence[str | os.PathLike[str]] = (),
    dates: str | None = None,
    pairs: str | os.PathLike[str] | None = None,
    annotate: bool = False,
    save_sketches: bool = False,
    strict: bool = False,
    shingle: int = 5,
    seed: int | bytes | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """`wonbon dedup`: from files to a folder of results. The same call continues after a kill."""
    request = _request(
        inputs=[],
        threshold=threshold,
        rule=rule,
        family=family,
        engine=engine,
        keep=keep,
        annotate=annotate,
        dates=dates,
        fields=_data.named_columns(text, html, id, url, order),
    )
    told: dict[str, Any] = json.loads(
        _dedup_files(
            _inputs(inputs),
            os.fspath(output),
            request,
            against=_paths(against),
            pairs=None if pairs is None else os.fspath(pairs),
            save_sketches=save_sketches,
            strict=strict,
            shingle=shingle,
            seed=seed,
            threads=threads,
            memory=memory,
            progress=progress,
        )
    )
    return told


def cluster_files(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    text: str | None = None,
    id: str | None = None,
    order: str | None = None,
    html: str | None = None,
    url: str | None = None,
    threshold: float | None = None,
    policy: str | None = None,
    dates: str | None = None,
    strict: bool = False,
    shingle: int | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """`wonbon cluster`: the 1997 clustering, from files to a folder of results."""
    request = _request(
        inputs=[],
        threshold=threshold,
        policy=policy,
        dates=dates,
        fields=_data.named_columns(text, html, id, url, order),
    )
    told: dict[str, Any] = json.loads(
        _cluster_files(
            _inputs(inputs),
            os.fspath(output),
            request,
            strict=strict,
            shingle=shingle,
            threads=threads,
            memory=memory,
            progress=progress,
        )
    )
    return told
