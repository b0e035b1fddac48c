"""Finds the original and its copies in text.

Corpora: `dedup`, `dedup_files`, `cluster_files`, `join`, `passages`, `remove_passages`. Stores and services: `Store`, `Client`, `Deduplicator`. Texts and columns: `extract`, `extract_column`, `compare`, `words`, `shingles`, `sketch`. A column is anything that
speaks Arrow, a list, or an iterator of either; no table library has to be installed.
"""

from __future__ import annotations

import atexit
import os

from ._answers import (
    Answer,
    Backup,
    Changes,
    Copies,
    DecisionEntry,
    Decisions,
    Document,
    Found,
    Match,
    Matches,
    Moved,
    Passage,
    SearchResults,
    Source,
    Sources,
    Status,
    StoredPassage,
    StoredPassages,
    StoredPlace,
    Verdict,
    WatchList,
    WatchReports,
)
from ._any_store import AnyStore
from ._client import Client
from ._families import Explanation, Families, Mask, cluster_files, dedup, dedup_files
from ._passages import (
    Cleaned,
    PassagePlace,
    Passages,
    RepeatedPassage,
    passages,
    passages_files,
    remove_passages,
    remove_passages_files,
)
from ._store import Deduplicator, Store
from ._texts import Comparison, Difference, Link, MovedBlock, Page, compare, extract
from ._wonbon import (
    VERSION,
    ItemSet,
    Numbers,
    SetSketch,
    Sketches,
    Table,
    extract_column,
    join,
    shingles,
    sketch,
    words,
)
from ._wonbon import end as _end
from ._wonbon import forked as _forked
from .errors import (
    ColumnError,
    DamagedError,
    EnvironmentFailedError,
    RequestError,
    ServiceError,
    UnknownDocumentError,
    WonbonError,
)

__version__ = VERSION

# Threads of ours that work in the background leave the interpreter alone from here on.
atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)

__all__ = [
    "Answer",
    "AnyStore",
    "Backup",
    "Changes",
    "Cleaned",
    "Client",
    "ColumnError",
    "Comparison",
    "DamagedError",
    "Copies",
    "DecisionEntry",
    "Decisions",
    "Deduplicator",
    "Difference",
    "Document",
    "EnvironmentFailedError",
    "Explanation",
    "Families",
    "Found",
    "ItemSet",
    "Link",
    "Mask",
    "Match",
    "Matches",
    "Moved",
    "MovedBlock",
    "Numbers",
    "Page",
    "Passage",
    "PassagePlace",
    "Passages",
    "RepeatedPassage",
    "RequestError",
    "SearchResults",
    "ServiceError",
    "SetSketch",
    "Sketches",
    "Source",
    "Sources",
    "Status",
    "Store",
    "StoredPassage",
    "StoredPassages",
    "StoredPlace",
    "Table",
    "UnknownDocumentError",
    "Verdict",
    "WatchList",
    "WatchReports",
    "WonbonError",
    "cluster_files",
    "compare",
    "dedup",
    "dedup_files",
    "extract",
    "extract_column",
    "join",
    "passages",
    "passages_files",
    "remove_passages",
    "remove_passages_files",
    "shingles",
    "sketch",
    "words",
]
