"""What a run came to."""

from __future__ import annotations

from typing import Any, Dict, List

from pyspark.sql import functions as F

from wonbon import steps

from ._checkpoint import exists
from ._stepping import schema_of, through

#: A bucket of so many documents is worth a word.
HOT = 1000


def summary(families: Any) -> Dict[str, Any]:
    """How many documents there are, how many of each kind, and how many families have copies."""
    kinds = {row.kind: row["count"] for row in families.groupBy("kind").count().collect()}
    copies = F.col("kind").isin("copy", "identical", "same-text", "same-shingles")
    with_copies = families.where(copies).agg(F.count_distinct("family")).collect()[0][0]
    return {
        "documents": sum(kinds.values()),
        "kept": kinds.get("original", 0) + kinds.get("empty", 0),
        "families": with_copies,
        "kinds": dict(sorted(kinds.items())),
    }


def digest(families: Any) -> str:
    """The digest of families that ``wonbon dedup`` prints: equal if and only if every document has the same
    kind, family, original and resemblance, in whatever order the rows are."""
    columns = families.select(
        F.col("id").cast("string").alias("id"),
        "kind",
        "family",
        F.col("original").cast("string").alias("original"),
        "resemblance",
    )
    parts = through(columns, "digest", schema_of([], {"digest": "string"})).collect()
    return steps.join_digests([row.digest for row in parts])


def hot_buckets(spark: Any, checkpoint: str, *, least: int = HOT, limit: int = 20) -> List[Dict[str, Any]]:
    """Features that many documents share: ``members``, and the ids of two of them, ``one`` and ``another``.

    Most often that is the frame of a site, or a page that says that there is none. The documents need not
    resemble each other, but one task looks at all of them, so it is here that a run takes long. Nothing is
    found where a small corpus was compared as a whole.
    """
    place = checkpoint.rstrip("/")
    if not exists(spark, f"{place}/pairs"):
        return []
    hot = spark.read.parquet(f"{place}/pairs").where(F.col("members") >= least)
    # A bucket is spanned from its least member, so the buckets of one template come together here.
    hot = hot.groupBy("one").agg(F.max(F.struct("members", "other")).alias("largest"))
    hot = hot.select("one", "largest.members", F.col("largest.other").alias("other"))
    hot = hot.orderBy(F.desc("members"), "one").limit(limit)
    ids = spark.read.parquet(f"{place}/sketches").select("document", "id")
    first = ids.select(F.col("document").alias("one"), F.col("id").alias("one_id"))
    second = ids.select(F.col("document").alias("other"), F.col("id").alias("another_id"))
    rows = first.join(F.broadcast(hot), "one")
    rows = second.join(F.broadcast(rows), "other").collect()
    found = [{"members": row.members, "one": row.one_id, "another": row.another_id} for row in rows]
    return sorted(found, key=lambda bucket: (-bucket["members"], str(bucket["one"])))


def largest_families(families: Any, *, limit: int = 20) -> List[Dict[str, Any]]:
    """The families with most documents: ``family``, ``original`` and ``documents``."""
    counted = families.where("family is not null").groupBy("family", "original").count()
    rows = counted.where("count > 1").orderBy(F.desc("count"), "family").limit(limit).collect()
    return [{"family": row.family, "original": row.original, "documents": row["count"]} for row in rows]
