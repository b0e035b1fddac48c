"""The steps in `wonbon._wonbon`: stubs of python/native/steps.rs, for `_wonbon.pyi`."""

from typing import Any, final

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

def step_digest(stream: Any) -> Stream:
    """Families to their digest, in one row."""

def join_digests(parts: list[str]) -> str:
    """The digest of a table from those of its parts."""
