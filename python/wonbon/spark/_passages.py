"""Texts of a DataFrame without repeated passages: the steps of :mod:`wonbon.steps` in rounds.

1. *passage-seeds*: every text becomes the hashes of its seeds, a tenth of the text; written once;
2. a round: seeds that occur at several places (*hot-1*, *hot-2*, …), the words around them sorted by seed and
   keep order, and what occurred before (*again-…*); then all that is removed so far (*removed-…*);
3. *left*: the texts without it, once a round removes nothing.

Why this is exactly the local result, ``wonbon dedup --passages-only``: windows with the same words meet in one seed,
in keep order, and are compared there word by word; a round of the local run looks for nothing else.

Cost: texts are read once for the seeds, once a round where a seed is hot, and once at the end. Two or three rounds are
usual. A task holds the different contexts of one seed, so a notice that stands on every page costs one.
"""

from __future__ import annotations

import json
from typing import Any, Dict, Optional, Sequence, Union

from pyspark.sql import functions as F

from wonbon import steps
from wonbon.errors import RequestError

from ._checkpoint import Checkpoint
from ._dedup import ENTRY_BYTES, TARGETS, small_batches
from ._input import columns_of, documents, identity
from ._stepping import check_ids, first_name, schema_of, through

SEEDED = {"document": "long", "key": "long", "features": "binary"}
CONTEXT = {"seed": "long", "word": "long", "context": "binary"}

# Bytes of contexts that one task sorts.
CONTEXT_BYTES = 64 << 20


def remove_passages(
    df: Any,
    *,
    id: str = "id",
    text: str = "text",
    order: Optional[str] = None,
    position: Union[None, str, Sequence[str]] = None,
    keep: str = "earliest",
    words: int = 50,
    unit: str = "word",
    min_left: int = 1,
    against: Any = None,
    from_against: bool = False,
    checkpoint: Optional[str] = None,
    partitions: Optional[int] = None,
) -> Any:
    """The texts of a DataFrame without what occurred before: columns ``id``, ``text``, ``removed`` (bytes of the
    text, as JSON), ``words_left`` (null where nothing is removed) and ``kept``, one row a document, as ``wonbon dedup
    --passages-only`` leaves them.

    No run of ``words`` words is left twice; the first occurrence in keep order stays (``order``, ``position`` and
    ``keep`` as for :func:`dedup`). ``unit`` says what is removed as a whole: "word", "line" or "paragraph". ``kept`` is
    false where something is removed and fewer than ``min_left`` words are left. What occurs in ``against`` is removed
    everywhere; with ``from_against`` nothing else is. To remove whole copies first, give ``select(df, dedup(df, …))``.
    ``checkpoint`` is a folder that the driver and all executors can write; the same call after a kill continues there.
    ``partitions`` changes how work is cut and never the result.
    """
    if checkpoint is None:
        raise RequestError(
            "checkpoint= is missing: a folder that the driver and all executors can write, for the results "
            "of each step"
        )
    if min_left < 1:
        raise RequestError(f"min_left= is at least 1, not {min_left}")
    if from_against and against is None:
        raise RequestError("from_against= needs against=")
    positions = [position] if isinstance(position, str) else list(position or [])
    names: Dict[str, Any] = {"id": id, "text": text, "order": order, "positions": positions, "keep": keep}
    columns = columns_of(df, "the DataFrame", **names)
    plan = {
        "job": "passages",
        "plan": json.loads(steps.plan(keep=keep)),
        "columns": {**names, "order": columns.order},
        "input": identity(df),
        "words": words,
        "unit": unit,
        "from against": from_against,
    }
    source = documents(df, columns, other=False, last=keep == "last")
    if against is not None:
        others = documents(against, columns_of(against, "`against`", **names), other=True, last=False)
        plan["against"] = identity(against)
        source = source.unionByName(others)
    job = Removal(df.sparkSession, Checkpoint(df.sparkSession, checkpoint, plan), source)
    job.words, job.unit, job.keep = words, unit, keep
    job.from_against, job.partitions = from_against, partitions
    job.order = "order" if columns.order else None
    ties = [f"position{number}" for number in range(len(columns.positions))]
    job.keep_order = ["own", "key", *(ties or ["id"])]
    with small_batches(df.sparkSession):
        left = job.run()
    enough = F.col("words_left").isNull() | (F.col("words_left") >= min_left)
    return left.withColumn("kept", enough)


class Removal:
    """One run: rounds over the texts until one removes nothing."""

    words: int
    unit: str
    keep: str
    from_against: bool
    partitions: Optional[int]
    order: Optional[str]
    #: By what documents are sorted: those of the other corpus first.
    keep_order: Any

    def __init__(self, spark: Any, checkpoint: Checkpoint, source: Any) -> None:
        self.spark = spark
        self.checkpoint = checkpoint
        self.source = source

    def run(self) -> Any:
        features = F.coalesce(F.sum(F.octet_length("features")), F.lit(0))
        nameless = F.count_if(F.col("id").isNull())
        seeded = self.checkpoint.step("passage-seeds", self.find_seeds, nameless=nameless, features=features)
        noted = self.checkpoint.note("passage-seeds")
        self.checkpoint.remember("ids", lambda: check_ids(seeded, noted["nameless"]))
        #: About their bytes in every round: what is removed takes its seeds along.
        self.features = noted["features"]
        self.places = seeded.drop("features").withColumn("own", ~F.col("other"))
        #: The features of documents from which nothing was removed yet, and of the others as they are now.
        self.seeds = seeded.select("document", "features")
        removed = self.nothing_removed()
        number = 1
        while True:
            again = self.again(number, removed)
            if again is None:
                break
            removed = self.checkpoint.step(f"removed-{number}", lambda: self.add(removed, again))
            reseeded = self.checkpoint.step(f"seeds-{number}", lambda: self.seed_again(removed))
            unchanged = self.seeds.join(reseeded.select("document"), "document", "left_anti")
            self.seeds = unchanged.unionByName(reseeded)
            number += 1
        return self.checkpoint.step("left", lambda: self.cut(removed))

    def nothing_removed(self) -> Any:
        return self.spark.createDataFrame([], "document long, removed binary")

    def find_seeds(self) -> Any:
        frame = through(
            self.source,
            "passage_seeds",
            schema_of([field for field in self.source.schema if field.name != "text"], SEEDED),
            first_name,
            words=self.words,
            keep=self.keep,
            order=self.order,
            other="other",
        )
        return frame.drop("order")

    def again(self, number: int, removed: Any) -> Any:
        """What occurs again in what is left; None if nothing does."""
        hot = self.checkpoint.step(f"hot-{number}", self.find_hot)
        if self.checkpoint.rows(f"hot-{number}") == 0:
            return None
        again = self.checkpoint.step(f"again-{number}", lambda: self.look(number, hot, removed))
        return again if self.checkpoint.rows(f"again-{number}") else None

    def find_hot(self) -> Any:
        """Seeds that occur at several places, scattered as one blob a target partition."""
        count = self.partitions or 1 + 2 * self.features // ENTRY_BYTES
        blobs = through(
            self.seeds,
            "scatter",
            schema_of([], {"partition": "long", "entries": "binary"}),
            partitions=count * TARGETS,
            prefixes=True,
        )
        entries = blobs.repartition(count, "partition").select("entries")
        return through(entries, "passage_hot", schema_of([], {"document": "long", "seed": "long"}))

    def look(self, number: int, hot: Any, removed: Any) -> Any:
        """The words around hot seeds, compared."""
        seeds = hot.groupBy("document").agg(F.collect_list("seed").alias("seeds"))
        named = list(dict.fromkeys(["document", "other", *self.keep_order]))
        wanted = self.places.select(*dict.fromkeys([*named, "id"])).join(seeds, "document")
        wanted = wanted.join(removed, "document", "left")
        texts = self.with_texts(wanted).select(*named, "text", "removed", "seeds")
        kept = [field for field in texts.schema if field.name in named]
        contexts = through(
            texts, "passage_contexts", schema_of(kept, CONTEXT), words=self.words
        )
        # A context has some 1.3 times the words of a window, and words have six bytes.
        rows = self.checkpoint.rows(f"hot-{number}")
        count = self.partitions or 2 + rows * 8 * self.words // CONTEXT_BYTES
        arranged = contexts.repartition(count, "seed").sortWithinPartitions("seed", *self.keep_order, "word")
        return through(
            arranged.select("seed", "document", "other", "word", "context"),
            "passage_again",
            schema_of([], {"document": "long", "range": "long"}),
            words=self.words,
            of_others_only=self.from_against,
        )

    def with_texts(self, wanted: Any) -> Any:
        """Rows with ``id`` and ``other``, and the texts of these documents."""
        return self.source.select("id", "other", "text").join(wanted, ["id", "other"])

    def add(self, removed: Any, again: Any) -> Any:
        """All that is removed after a round."""
        ranges = again.groupBy("document").agg(F.collect_list("range").alias("ranges"))
        changed = self.places.select("document", "id", "other").join(ranges, "document")
        changed = self.with_texts(changed.join(removed, "document", "left"))
        now = through(
            changed.select("document", "text", "removed", "ranges"),
            "passage_removed",
            schema_of([], {"document": "long", "removed": "binary"}),
            unit=self.unit,
        )
        return removed.join(ranges, "document", "left_anti").unionByName(now)

    def seed_again(self, removed: Any) -> Any:
        """The seeds of what is left of the documents that were ever changed."""
        changed = self.places.select("document", "id", "other").join(removed, "document")
        return through(
            self.with_texts(changed).select("document", "text", "removed"),
            "passage_seeds",
            schema_of([], {"document": "long", "features": "binary"}),
            words=self.words,
        )

    def cut(self, removed: Any) -> Any:
        own = self.places.where("own").select("document", "id", "other").join(removed, "document", "left")
        texts = self.with_texts(own).select("id", "text", "removed")
        kept = [field for field in texts.schema if field.name == "id"]
        added = {"text": "string", "removed": "string", "words_left": "long"}
        return through(texts, "passage_cut", schema_of(kept, added), unit=self.unit)
