"""What `wonbon` stands on. Use `wonbon`."""

from collections.abc import Iterable, Sequence
from typing import Any, final

from .typing import Pages, Progress, Texts

__all__ = [
    "FamilyCore",
    "ItemSet",
    "Numbers",
    "SetSketch",
    "Sketches",
    "StoreCore",
    "Stream",
    "Table",
    "VERSION",
    "cluster_files",
    "compare_json",
    "decode",
    "dedup_files",
    "dedup_table",
    "end",
    "extract_column",
    "extract_json",
    "forked",
    "join",
    "join_digests",
    "passages_files",
    "passages_table",
    "remove_passages_files",
    "remove_passages_table",
    "restore",
    "run_program",
    "shingles",
    "sketch",
    "step_components",
    "step_digest",
    "step_engine",
    "step_near",
    "step_number",
    "step_pack",
    "step_pairs",
    "step_passage_again",
    "step_passage_contexts",
    "step_passage_cut",
    "step_passage_hot",
    "step_passage_removed",
    "step_passage_seeds",
    "step_plan",
    "step_scatter",
    "step_settle",
    "step_sketch",
    "step_verdicts",
    "step_verify",
    "step_walk",
    "words",
]
VERSION: str

def end() -> None: ...
def forked() -> None: ...
def run_program(arguments: Sequence[str]) -> int: ...
def extract_json(page: str | bytes, url: str | None = None) -> str: ...
def compare_json(
    a: str,
    b: str,
    *,
    shingle: int | None = None,
    rule: str | None = None,
    seed: int | bytes | None = None,
    diff: bool = False,
) -> str: ...
def decode(bytes: bytes) -> str | None:
    """Bytes in any charset as text, as those of a column are read; None if they are no text."""

def words(text: str) -> list[str]:
    """The words of a text in normal form."""

def shingles(text: str, *, shingle: int | None = None) -> Numbers:
    """The hashes of the shingles of a text, in order and with repetitions."""

def extract_column(
    pages: Pages,
    *,
    urls: Texts | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Table:
    """The core text of every page of a column: text, title, language, published, canonical."""

def sketch(
    texts: Texts,
    *,
    features: int | None = None,
    group_size: int | None = None,
    shingle: int | None = None,
    seed: int | bytes | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Sketches:
    """The features of every text of a column."""

def join(
    left: Any,
    right: Any = None,
    *,
    threshold: float | str,
    measure: str = "jaccard",
    shingle: int | None = None,
    words: bool = False,
    top: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Table:
    """All pairs of records whose similarity reaches a threshold: left, right (rows counted from 0), similarity."""

def dedup_table(
    data: Any,
    request: str,
    folder: str,
    *,
    against: Any = None,
    pairs: bool = False,
    shingle: int | None = None,
    seed: int | bytes | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> FamilyCore: ...
def dedup_files(
    inputs: Sequence[str],
    output: str,
    request: str,
    *,
    against: Sequence[str] = ...,
    pairs: str | None = None,
    save_sketches: bool = False,
    strict: bool = False,
    shingle: int | None = None,
    seed: int | bytes | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> str: ...
def cluster_files(
    inputs: Sequence[str],
    output: str,
    request: str,
    *,
    strict: bool = False,
    shingle: int | None = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> str: ...
def passages_table(
    data: Any,
    fields: str,
    folder: str,
    *,
    words: int,
    min_documents: int,
    places: int,
    against: Any = None,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Table: ...
def remove_passages_table(
    data: Any,
    fields: str,
    folder: str,
    *,
    words: int,
    unit: str,
    min_left: int,
    against: Any = None,
    of_others_only: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> Table: ...
def passages_files(
    inputs: Sequence[str],
    output: str,
    fields: str,
    *,
    words: int,
    min_documents: int,
    places: int,
    against: Sequence[str] = ...,
    strict: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> str: ...
def remove_passages_files(
    inputs: Sequence[str],
    output: str,
    request: str,
    *,
    words: int,
    unit: str,
    min_left: int,
    only: bool = True,
    against: Sequence[str] = ...,
    of_others_only: bool = False,
    strict: bool = False,
    threads: int | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
) -> str: ...
def restore(backup: str, directory: str, *, move_old_aside: bool = False) -> Any: ...
@final
class FamilyCore:
    @property
    def table(self) -> Table: ...
    @property
    def digest(self) -> str: ...
    @property
    def content_columns(self) -> tuple[str, str]: ...
    @property
    def others(self) -> int: ...
    @property
    def shingle(self) -> int: ...
    def original_of(self, row: int) -> int: ...
    def rows_in_report(self) -> list[int]: ...
    def report(self, texts: Sequence[str]) -> str: ...
    def kept_array(self) -> tuple[object, object]: ...
    def kept_bytes(self) -> bytes: ...
    def summary(self) -> str: ...
    def pairs(self) -> Table | None: ...
    def again(self, threshold: float, progress: Progress | None = None) -> FamilyCore: ...

@final
class StoreCore:
    def __new__(
        cls,
        directory: str,
        *,
        rule: str | None = None,
        shingle: int | None = None,
        dates: str | None = None,
        seed: str | None = None,
        read_only: bool = False,
        create: bool = True,
    ) -> StoreCore: ...
    def close(self) -> None: ...
    def status(self) -> str: ...
    def add(
        self,
        data: Any,
        fields: str,
        *,
        sweep: str | None = None,
        dates: str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[str]: ...
    def check(
        self,
        data: Any,
        fields: str,
        *,
        named: bool = True,
        dates: str | None = None,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> list[str]: ...
    def get(self, key: str) -> str: ...
    def family(self, key: str) -> list[str]: ...
    def delete(self, key: str) -> bool: ...
    def ask(self, name: str, question: str) -> str: ...
    def watch(self, key: str, watched: bool) -> None: ...
    def decide(
        self, key: str, decision: str | None, who: str | None = None, reason: str | None = None
    ) -> str | None: ...
    def backup(self, directory: str) -> None: ...

@final
class ItemSet:
    """A set of texts, bytes or whole numbers."""

    def __new__(cls, items: Iterable[str | bytes | int]) -> ItemSet: ...
    def __len__(self) -> int: ...
    def resemblance(self, other: ItemSet) -> float: ...
    def containment_in(self, other: ItemSet) -> float: ...
    def smallest(self, size: int = 128, *, seed: int | bytes | None = None) -> SetSketch: ...
    def modulus(self, modulus: int = 25, *, seed: int | bytes | None = None) -> SetSketch: ...

@final
class SetSketch:
    """A sketch of a set."""

    def resemblance(self, other: SetSketch) -> tuple[float, float]: ...
    def containment_in(self, other: SetSketch) -> tuple[float, float]: ...
    def to_bytes(self) -> bytes: ...

@final
class Numbers:
    """A list of 64-bit numbers; numpy and Arrow see it without a copy."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> int: ...
    def to_pylist(self) -> list[int]: ...

@final
class Sketches:
    """The features of many texts; numpy and Arrow see them without a copy."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...
    @property
    def __array_interface__(self) -> dict[str, Any]: ...
    @property
    def features(self) -> int: ...
    def __len__(self) -> int: ...
    def __getitem__(self, at: int, /) -> list[int] | None: ...
    def agreeing(self, one: int, other: int) -> int: ...

@final
class Table:
    """Named columns of equal length."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    @property
    def column_names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def column(self, name: str) -> list[Any]: ...
    def to_pydict(self) -> dict[str, list[Any]]: ...
    def to_pylist(self) -> list[dict[str, Any]]: ...

@final
class Stream:
    """A stream of batches that has not been read yet."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    @property
    def column_names(self) -> list[str]: ...

def step_plan(**options: Any) -> str:
    """Everything in the options that decides the result, as JSON."""

def step_engine(shingles: int, **options: Any) -> tuple[float | None, str]:
    """How families are found: the threshold of the exact join if that is how, and a sentence."""

def step_sketch(
    stream: Any,
    *,
    text: str,
    order: str | None = None,
    other: str | None = None,
    first: int = 0,
    **options: Any,
) -> Stream:
    """Documents to fingerprints, keys and features."""

def step_scatter(stream: Any, *, partitions: int, prefixes: bool = False) -> Stream:
    """Features to blobs of entries, one for each target partition."""

def step_pairs(stream: Any) -> Stream:
    """Entries of a partition to pairs that span every bucket."""

def step_components(stream: Any) -> Stream:
    """All pairs to groups."""

def step_pack(stream: Any, *, text: str) -> Stream:
    """Texts, compressed."""

def step_walk(
    stream: Any, *, exact: float | None = None, pairs: bool = False, **options: Any
) -> Stream:
    """Groups in keep order to copies and their originals."""

def step_number(stream: Any, *, part: int) -> Stream:
    """Rows with the number of their part and their places in it."""

def step_verdicts(stream: Any) -> Stream:
    """Documents with what is known of them to kinds."""

def step_near(stream: Any, *, prefix: int | None = None) -> Stream:
    """Entries of a partition to pairs of later and earlier members."""

def step_verify(stream: Any, **options: Any) -> Stream:
    """Pairs with their texts to exact resemblances."""

def step_settle(stream: Any) -> Stream:
    """What a round decides."""

def step_passage_seeds(
    stream: Any,
    *,
    words: int,
    text: str = "text",
    keep: str = "earliest",
    order: str | None = None,
    other: str | None = None,
    first: int = 0,
) -> Stream:
    """Documents to their seeds."""

def step_passage_hot(stream: Any) -> Stream:
    """Entries of a partition to documents with the seeds that occur at several places."""

def step_passage_contexts(stream: Any, *, words: int) -> Stream:
    """Documents with such seeds to the words around them."""

def step_passage_again(stream: Any, *, words: int, of_others_only: bool = False) -> Stream:
    """Contexts, one seed after another, each in keep order, to words that occurred before."""

def step_passage_removed(stream: Any, *, unit: str = "word") -> Stream:
    """Documents with words that occurred before to all that is removed from them."""

def step_passage_cut(stream: Any, *, unit: str = "word") -> Stream:
    """Documents with what is removed to what is left of their texts."""

def step_digest(stream: Any) -> Stream:
    """Families to their digest, in one row."""

def join_digests(parts: list[str]) -> str:
    """The digest of a table from those of its parts."""
