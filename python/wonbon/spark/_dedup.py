"""Families of a DataFrame: the steps of :mod:`wonbon.steps` between joins, groups and sorts of Spark.

1. *sketches*: every text becomes fingerprints, a key and features; 200 bytes a document are written;
2. *members*: of documents with the same set of shingles the earliest represents the others;
3. *pairs*: features are scattered, one blob a target partition, and every bucket is spanned by pairs;
4. *groups*: what hangs together by those pairs;
5. *assigned*: the texts of each group go, compressed, to one task, which runs the walk of the local run;
6. *originals*: those that are nobody's copy, sorted and numbered;
7. *families*: everybody's kind, original and family.

Why this is exactly the local result: documents that no chain of buckets connects cannot influence each other,
and inside a group nothing but keys and ids or positions orders the documents. Names of documents differ from
run to run and decide nothing.

Cost: texts are read twice; only those of candidates move. The driver gets a handful of numbers, and one row
for each partition of step 6.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, Optional, Sequence, Union

from pyspark.sql import functions as F

from wonbon import steps
from wonbon.errors import ColumnError, DamagedError, RequestError

from ._check import check
from ._checkpoint import Checkpoint
from ._input import Columns, columns_of, documents, identity
from ._peel import Peel
from ._stepping import among, check_ids, first_name, part_number, repeated, schema_of, through

SKETCHED = {
    "document": "long",
    "key": "long",
    "bytes": "long",
    "normal": "long",
    "set": "binary",
    "shingles": "long",
    "features": "binary",
}
WALKED = {"document": "long", "original": "long", "resemblance": "double", "assigned": "boolean"}

# Up to so many candidates their names are sent to every executor instead of being joined by a shuffle.
BROADCAST_ROWS = 200_000
# Bytes of entries that one task sorts.
ENTRY_BYTES = 64 << 20
# A candidate's text takes about so many bytes a shingle once it is compressed.
PACKED_BYTES = 3
# Compressed texts that one task walks through.
WALK_BYTES = 32 << 20
# Memory for the sets of one group; beyond it they go to a file of the executor.
WALK_MEMORY = 128 << 20
# Candidates of a group that one task decides.
LARGEST_GROUP = 2_000_000
# Memory for the exact join of one group.
JOIN_MEMORY = 1 << 30
# Targets for each partition, so that hashing their numbers loads the partitions evenly.
TARGETS = 4


def dedup(
    df: Any,
    *,
    id: str = "id",
    text: str = "text",
    order: Optional[str] = None,
    position: Union[None, str, Sequence[str]] = None,
    keep: str = "earliest",
    threshold: Optional[float] = None,
    rule: Optional[str] = None,
    family: str = "star",
    engine: str = "auto",
    against: Any = None,
    shingle: int = 5,
    seed: Union[None, int, bytes] = None,
    checkpoint: Optional[str] = None,
    pairs: Optional[str] = None,
    partitions: Optional[int] = None,
    largest_group: int = LARGEST_GROUP,
) -> Any:
    """The families of the documents of a DataFrame: columns ``id``, ``kind``, ``family``, ``original`` and
    ``resemblance``, one row a document, as ``wonbon dedup`` gives them.

    ``order`` is the column that ``keep`` looks at (the creation time, for "earliest"). Where it is equal, the
    document with the smaller ``position`` comes first, a column of whole numbers (or several), otherwise the
    one with the smaller id. ``against`` is another DataFrame with the same columns: what occurs in it is a
    copy. ``checkpoint`` is a folder that the driver and all executors can write; the same call after a kill
    continues there. ``pairs`` is a place for a Parquet table of every verified pair. ``partitions`` and
    ``largest_group`` change how work is cut and never the result: a group of candidates beyond so many
    documents is not given to one task but decided in rounds.
    """
    if threshold is not None and rule is not None:
        raise RequestError("threshold= and rule= say the same thing; give one of them")
    options: Dict[str, Any] = {
        "rule": rule or f"threshold={0.8 if threshold is None else threshold}",
        "family": family,
        "engine": engine,
        "keep": keep,
        "shingle": shingle,
    }
    if seed is not None:
        options["seed"] = seed
    positions = [position] if isinstance(position, str) else list(position or [])
    names = {"id": id, "text": text, "order": order, "positions": positions, "keep": keep}
    job = job_of(df, against, names, options, checkpoint, pairs, partitions, largest_group)
    with small_batches(df.sparkSession):
        return job.run()


def job_of(
    df: Any,
    against: Any,
    names: Dict[str, Any],
    options: Dict[str, Any],
    checkpoint: Optional[str],
    pairs: Optional[str],
    partitions: Optional[int],
    largest_group: int = LARGEST_GROUP,
) -> Job:
    """A run whose arguments are right, and whose checkpoint is its own."""
    if checkpoint is None:
        raise RequestError(
            "checkpoint= is missing: a folder that the driver and all executors can write, for the results "
            "of each step"
        )
    if partitions is not None and not 1 <= partitions <= 100_000:
        raise RequestError(f"partitions= is from 1 to 100000, not {partitions}")
    plan = json.loads(steps.plan(**options))
    columns = columns_of(df, "the DataFrame", **names)
    source = documents(df, columns, other=False, last=names["keep"] == "last")
    plan["columns"] = {**names, "order": columns.order}
    plan["input"] = identity(df)
    plan["pairs"] = pairs
    # Which steps there are and what is noted of them: a run of an earlier version cannot be continued.
    plan["layout"] = 2
    # Steps of one run must agree about who is decided in rounds.
    plan["largest group"] = largest_group
    if against is not None:
        others = documents(against, columns_of(against, "`against`", **names), other=True, last=False)
        for field in source.schema:
            kind = others.schema[field.name].dataType
            if kind != field.dataType:
                raise ColumnError(
                    f"`{field.name}` holds {field.dataType.simpleString()} in the DataFrame and "
                    f"{kind.simpleString()} in `against`"
                )
        plan["against"] = identity(against)
        source = source.unionByName(others)
    # Where the package is missing, one sentence says so before anything is written.
    check(df.sparkSession, tasks=2)
    job = Job(df.sparkSession, Checkpoint(df.sparkSession, checkpoint, plan), source, columns)
    job.options, job.partitions, job.pairs = options, partitions, pairs is not None
    job.pairs_place, job.largest_group = pairs, largest_group
    job.with_others = against is not None
    job.by_features = not plan["rule"].startswith("threshold")
    return job


@contextmanager
def small_batches(spark: Any) -> Iterator[None]:
    """Batches of a bounded size, also where Spark bounds only their rows (before 4.1)."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    major, minor = (int(number) for number in spark.version.split(".")[:2])
    if (major, minor) >= (4, 1):
        yield
        return
    before = spark.conf.get(name)
    spark.conf.set(name, "512")
    try:
        yield
    finally:
        spark.conf.set(name, before)


class Job:
    """One run. Each step is a method that reads what earlier steps wrote."""

    options: Dict[str, Any]
    partitions: Optional[int]
    #: Whether every verified pair is wanted.
    pairs: bool
    pairs_place: Optional[str]
    with_others: bool
    #: Whether the rule counts features, so that most of them make the closest original.
    by_features: bool
    largest_group: int

    def __init__(self, spark: Any, checkpoint: Checkpoint, source: Any, columns: Columns) -> None:
        self.spark = spark
        self.checkpoint = checkpoint
        self.source = source
        self.with_order = columns.order is not None
        count = len(columns.positions)
        #: Keep order: those of the other corpus first, then by key, then by position or id.
        self.ties: List[str] = [f"position{number}" for number in range(count)] or ["id"]
        self.keep_order = ["own", "key", *self.ties]

    def run(self) -> Any:
        self.compare()
        self.copies = self.assigned.where("assigned").drop("assigned")
        self.originals = self.checkpoint.step("originals", self.number_originals)
        families = self.checkpoint.step("families", self.judge)
        rows = self.checkpoint.rows("families")
        if rows != self.own:
            raise DamagedError(
                f"{rows} verdicts were made for {self.own} documents; the checkpoint "
                f"{self.checkpoint.path} cannot be used"
            )
        if self.pairs_place is not None:
            self.checkpoint.remember("pairs-written", self.write_pairs)
        return families

    def write_pairs(self) -> Dict[str, Any]:
        """A place that exists already is not overwritten."""
        place = str(self.pairs_place)
        self.verified_pairs().write.mode("error").parquet(place)
        return {"rows": self.spark.read.parquet(place).count()}

    def compare(self) -> None:
        """All steps up to the walk."""
        shingles = F.coalesce(F.sum("shingles"), F.lit(0))
        sketches = self.checkpoint.step(
            "sketches",
            self.sketch,
            own=F.count_if(~F.col("other")),
            nameless=F.count_if(F.col("id").isNull()),
            words=F.count_if(F.col("shingles") > 0),
            shingles=shingles,
            features=F.coalesce(F.sum(F.octet_length("features")), F.lit(0)),
        )
        self.sketches = sketches.withColumn("own", ~F.col("other"))
        totals = self.checkpoint.note("sketches")
        self.checkpoint.remember("ids", lambda: check_ids(self.sketches, totals["nameless"]))
        self.own = totals["own"]
        self.all_words = totals["words"]
        self.words = self.sketches.where("shingles > 0")
        self.members = self.checkpoint.step("members", self.find_members, shingles=shingles)
        again = self.checkpoint.note("members")
        self.representatives = among(self.words, self.members, keep=False)
        self.count_of = totals["words"] - again["rows"]
        self.shingles = totals["shingles"] - again["shingles"]
        self.feature_bytes = totals["features"]
        self.exact, _ = steps.engine(self.shingles, **self.options)
        # A small corpus is one group; a large one is cut by what its documents must share.
        self.prefixes = self.exact is not None and self.options["engine"] == "exact"
        self.find_groups()
        self.assigned = self.checkpoint.step("assigned", self.walk)

    def sketch(self) -> Any:
        frame = through(
            self.source,
            "sketch",
            schema_of([f for f in self.source.schema if f.name != "text"], SKETCHED),
            first_name,
            text="text",
            order="order" if self.with_order else None,
            other="other",
            **self.options,
        )
        return frame.drop("order")

    def find_members(self) -> Any:
        """Documents that another one with the same set of shingles represents. The sums are made before
        anything moves, so a page that occurs ten million times is one row a task; and of documents whose set
        nobody shares only a hash moves."""
        bits = 1 << max(6, self.all_words.bit_length())
        again = repeated(self.words, "set").selectExpr(f"pmod(hash, {bits}L) as shared")
        words = self.words.withColumn("shared", F.expr(f"pmod(xxhash64(set), {bits}L)"))
        words = among(words, again, keep=True, by="shared").drop("shared", "features")
        first = F.min(F.struct(*self.keep_order, "document", "bytes", "normal")).alias("first")
        same = words.groupBy("set").agg(first, F.count(F.lit(1)).alias("times"))
        joined = words.join(same.where("times > 1"), "set").where("document <> first.document")
        return joined.select(
            "document",
            "id",
            "other",
            "bytes",
            "normal",
            "shingles",
            F.col("first.document").alias("representative"),
            F.col("first.bytes").alias("first_bytes"),
            F.col("first.normal").alias("first_normal"),
        )

    def find_groups(self) -> None:
        self.one_group = self.exact is not None and not self.prefixes
        if self.one_group:
            everybody = f"{self.count_of}L as members"
            self.groups = self.representatives.selectExpr("document", "0L as group", everybody)
            self.candidates = self.count_of
            return
        self.bucket_pairs = self.checkpoint.step("pairs", self.pair)
        large = F.count_if(F.col("members") > self.largest_group)
        self.groups = self.checkpoint.step("groups", self.group, large=large)
        self.candidates = self.checkpoint.rows("groups")

    def scattered(self, named: Any, features: int) -> Any:
        """The entries of ``document`` and ``features`` (so many bytes): all of one bucket in one partition."""
        count = self.partitions or 1 + 2 * features // ENTRY_BYTES
        blobs = through(
            named.select("document", "features"),
            "scatter",
            schema_of([], {"partition": "long", "entries": "binary"}),
            partitions=count * TARGETS,
            prefixes=self.prefixes,
        )
        return blobs.repartition(count, "partition").select("entries")

    def pair(self) -> Any:
        added = {"one": "long", "other": "long", "members": "long"}
        scattered = self.scattered(self.representatives, self.feature_bytes)
        return through(scattered, "pairs", schema_of([], added))

    def group(self) -> Any:
        one_task = self.bucket_pairs.select("one", "other").repartition(1)
        added = {"document": "long", "group": "long", "members": "long"}
        return through(one_task, "components", schema_of([], added))

    def walk(self) -> Any:
        """Groups to copies: each in one task, or in rounds if it is too large for that."""
        groups = self.groups
        if not self.may_peel() or self.checkpoint.note("groups")["large"] == 0:
            return self.walked(groups)
        large = groups.where(F.col("members") > self.largest_group)
        rest = groups.where(F.col("members") <= self.largest_group)
        return self.walked(rest).unionByName(Peel(self, large).run())

    def may_peel(self) -> bool:
        star = self.options["family"] == "star"
        return star and self.exact is None and not self.pairs and not self.with_others

    def walked(self, groups: Any) -> Any:
        named = ["document", "id", "other", "own", "key", "set", "shingles"]
        named += [tie for tie in self.ties if tie != "id"]
        # Groups are of representatives only.
        candidates = self.words.select(*named)
        if self.candidates > BROADCAST_ROWS:
            candidates = among(candidates, groups, keep=True).join(groups, "document")
        else:
            candidates = candidates.join(F.broadcast(groups), "document")
        kept = ["group", "members", "document", "own", "key", "set", *named[7:]]
        packed = self.packed(candidates, self.candidates, kept)
        if self.one_group:
            count = 1
        else:
            shingles = self.shingles * self.candidates // max(1, self.count_of)
            count = self.partitions or 2 + shingles * PACKED_BYTES // WALK_BYTES
        arranged = packed.repartition(count, "group").sortWithinPartitions("group", *self.keep_order)
        return through(
            arranged.select("group", "members", "document", "other", "set", "packed"),
            "walk",
            schema_of([], WALKED),
            exact=self.exact,
            pairs=self.pairs,
            memory=WALK_MEMORY if self.exact is None else JOIN_MEMORY,
            **self.options,
        )

    def packed(self, wanted: Any, count: int, kept: List[str]) -> Any:
        """``id``, ``other`` and ``packed``, the compressed text, of the rows of ``wanted`` (about ``count``),
        and their columns ``kept``."""
        texts = self.source.select("id", "other", "text")
        wanted = wanted.select("id", "other", *kept)
        if count <= BROADCAST_ROWS:
            return self.pack(texts.join(F.broadcast(wanted), ["id", "other"]))
        # What is certainly not wanted is left out where it is read; the join does the rest.
        bits = 1 << (16 * count).bit_length()
        place = F.expr(f"pmod(xxhash64(id, other), {bits}L)").alias("document")
        some = among(texts.select("*", place), wanted.select(place), keep=True)
        return self.pack(some.drop("document")).join(wanted, ["id", "other"])

    def pack(self, frame: Any) -> Any:
        kept = [field for field in frame.schema if field.name != "text"]
        ordered = frame.select(*[field.name for field in kept], "text")
        return through(ordered, "pack", schema_of(kept, {"packed": "binary"}), text="text")

    def number_originals(self) -> Any:
        gone = self.members.select("document").union(self.copies.select("document"))
        chosen = list(dict.fromkeys([*self.keep_order, "document", "id"]))
        originals = among(self.words, gone, keep=False).select(*chosen).orderBy(*self.keep_order)
        added = {"part": "long", "place": "long"}
        return through(originals, "number", schema_of(originals.schema, added), part_number)

    def offset(self, frame: Any) -> Any:
        """Parts of a sorted DataFrame with the number of rows before each as ``start``."""
        starts, start = [], 0
        for row in sorted(frame.groupBy("part").count().collect(), key=lambda row: row.part):
            starts.append((row.part, start))
            start += row["count"]
        table = self.spark.createDataFrame(starts, "part long, start long")
        return frame.join(F.broadcast(table), "part")

    def numbered(self) -> Any:
        """Originals with the numbers of their families: places in keep order over all parts."""
        family = (F.col("start") + F.col("place") + 1).alias("family")
        return self.offset(self.originals).select("document", "id", "own", family)

    def judge(self) -> Any:
        numbered = self.numbered()
        known = ["document", "id", "other", "bytes", "normal", "representative"]
        known += ["first_bytes", "first_normal"]
        copied = among(self.words, self.copies, keep=True).selectExpr(
            "document",
            "id",
            "other",
            "bytes",
            "normal",
            "document as representative",
            "bytes as first_bytes",
            "normal as first_normal",
        )
        judged = self.members.select(*known).union(copied.select(*known)).where("not other")
        copies = self.copies.selectExpr(
            "document as representative", "original as found", "resemblance as measured"
        )
        judged = judged.join(copies, "representative", "left").selectExpr(
            "id",
            "bytes",
            "normal",
            "first_bytes",
            "first_normal",
            "true as represented",
            "found is not null as copied",
            "coalesce(found, representative) as name",
            "coalesce(measured, 1D) as resemblance",
        )
        originals = numbered.selectExpr("document as name", "id as original", "family")
        judged = judged.join(originals, "name").drop("name")
        judged = through(judged, "verdicts", schema_of(judged.schema, {"kind": "string"}))
        told = ["id", "kind", "family", "original", "resemblance"]
        own = numbered.where("own").selectExpr(
            "id", "'original' as kind", "family", "id as original", "1D as resemblance"
        )
        empty = self.sketches.where("shingles = 0 and own").selectExpr(
            "id", "'empty' as kind", "cast(null as long) as family", "id as original", "0D as resemblance"
        )
        return own.select(*told).union(judged.select(*told)).union(empty.select(*told))

    def verified_pairs(self) -> Any:
        """Every verified pair of documents; of the same set of shingles all pairs. ``earlier`` is the one whose
        set of shingles occurred first."""
        everybody = self.members.select("document", "representative", "id", "other").union(
            self.representatives.selectExpr("document", "document as representative", "id", "other")
        )
        later = everybody.selectExpr("representative as document", "id as later", "other as later_other")
        earlier = everybody.selectExpr(
            "representative as original", "id as earlier", "other as earlier_other"
        )
        found = self.assigned.where("not assigned").select("document", "original", "resemblance")
        found = found.join(later, "document").join(earlier, "original")
        chosen = list(dict.fromkeys(["set", "id", "other", *self.keep_order]))
        one, two = self.words.select(*chosen).alias("one"), self.words.select(*chosen).alias("two")
        sooner = [F.struct(*[F.col(f"{side}.{name}") for name in self.keep_order]) for side in ("one", "two")]
        same = one.join(two, F.col("one.set") == F.col("two.set")).where(sooner[0] < sooner[1])
        same = same.selectExpr(
            "one.id as earlier",
            "two.id as later",
            "one.other as earlier_other",
            "two.other as later_other",
            "1D as resemblance",
        )
        told = ["earlier", "later", "earlier_other", "later_other", "resemblance"]
        every = found.select(*told).union(same.select(*told))
        every = every.where("not (earlier_other and later_other)")
        return every.select("earlier", "later", "resemblance")
