"""Columns of a DataFrame: what is said of each row, and the rows that stay."""

from __future__ import annotations

from typing import Any, Iterator, Optional, Union

from pyspark.sql import functions as F
from pyspark.sql.types import BinaryType, StringType

from wonbon.errors import ColumnError

from ._dedup import SKETCHED, job_of, small_batches
from ._input import columns_of, documents
from ._stepping import first_name, schema_of, through

COPIES = ("copy", "identical", "same-text", "same-shingles")
EXTRACTED = {"text": "string", "title": "string", "language": "string", "published": "string"}


def select(df: Any, families: Any, *, id: str = "id") -> Any:
    """The rows of ``df`` that are nobody's copy."""
    if id not in df.columns:
        raise ColumnError(f"the DataFrame has no column `{id}`; it has {', '.join(df.columns)}")
    copies = families.where(F.col("kind").isin(*COPIES)).select(F.col("id").alias("wonbon_copy"))
    return df.join(copies, df[id] == copies.wonbon_copy, "left_anti")


def extract(df: Any, *, html: str = "html") -> Any:
    """``df`` with the core text of its pages: ``text``, ``title``, ``language`` and ``published``, as
    :func:`wonbon.extract_column` gives them. Columns of these names are replaced."""
    types = {field.name: field.dataType for field in df.schema}
    if html not in types:
        raise ColumnError(f"the DataFrame has no column `{html}`; it has {', '.join(types)}")
    if not isinstance(types[html], (StringType, BinaryType)):
        raise ColumnError(f"column `{html}` must hold strings or bytes, not {types[html].simpleString()}")
    kept = [field for field in df.schema if field.name not in EXTRACTED]

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow

        import wonbon

        for batch in batches:
            found = pyarrow.table(wonbon.extract_column(batch.column(html), threads=1))
            arrays = [batch.column(field.name) for field in kept]
            arrays += [found.column(name).cast("string").combine_chunks() for name in EXTRACTED]
            names = [*(field.name for field in kept), *EXTRACTED]
            yield pyarrow.RecordBatch.from_arrays(arrays, names=names)

    return df.mapInArrow(run, schema_of(kept, EXTRACTED))


def sketch(
    df: Any,
    *,
    id: str = "id",
    text: str = "text",
    threshold: float = 0.8,
    rule: Optional[str] = None,
    shingle: int = 5,
    seed: Union[None, int, bytes] = None,
) -> Any:
    """``id`` with the fingerprints of each text and the features by which candidates are found."""
    columns = columns_of(
        df, "the DataFrame", id=id, text=text, order=None, positions=[], keep="earliest"
    )
    source = documents(df, columns, other=False, last=False).drop("other")
    options = {"rule": rule or f"threshold={threshold}", "shingle": shingle}
    if seed is not None:
        options["seed"] = seed
    kept = [field for field in source.schema if field.name != "text"]
    frame = through(
        source, "sketch", schema_of(kept, SKETCHED), first_name, text="text", **options
    )
    return frame.drop("document", "key")


def join(
    df: Any,
    *,
    threshold: float,
    id: str = "id",
    text: str = "text",
    shingle: int = 5,
    checkpoint: Optional[str] = None,
    partitions: Optional[int] = None,
) -> Any:
    """All pairs of rows whose texts resemble each other by at least ``threshold``: ``earlier``, ``later``
    (the smaller and the larger id) and ``resemblance``. No pair is missed; rows without words are in none."""
    options = {
        "rule": f"threshold={threshold}",
        "family": "linked",
        "engine": "exact",
        "keep": "earliest",
        "shingle": shingle,
    }
    names: dict[str, Any] = {"id": id, "text": text, "order": None, "positions": [], "keep": "earliest"}
    job = job_of(df, None, names, options, checkpoint, None, partitions)
    job.pairs = True

    def by_id() -> Any:
        two = [F.col("earlier"), F.col("later")]
        smaller, larger = F.least(*two).alias("earlier"), F.greatest(*two).alias("later")
        return job.verified_pairs().select(smaller, larger, "resemblance")

    with small_batches(df.sparkSession):
        job.compare()
        return job.checkpoint.step("joined", by_id)
