"""Groups that are too large for one task: their star families in rounds, exactly.

A template can tie a million pages into one group. Each round pairs every undecided document with the first few
before it in each of its buckets, verifies those pairs, and settles in one stream in keep order who is an
original, who is a copy, and who must wait (:mod:`wonbon.steps`: near, verify, settle). An original that has met
everybody after it leaves with its copies; the next round looks further. In the last round everybody looks at
everybody, so it ends. Then every copy is compared with the originals that it has not met: one of them may be
closer than the one that made it a copy.

Cost: more comparisons than the local walk (1.4 to 2.1 times in a prototype) and every text of the group
a few times over the network. So only groups beyond a limit come here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from pyspark.sql import functions as F

from ._stepping import among, part_number, schema_of, through

if TYPE_CHECKING:
    from ._dedup import Job

PREFIXES = (1, 8, 64, 512, 4096, 1 << 40)
NEAR = {"later": "long", "earlier": "long", "marked": "boolean"}
VERIFIED = {
    "later": "long",
    "earlier": "long",
    "resemblance": "double",
    "agreeing": "long",
    "similar": "boolean",
}
UNDECIDED = 2


class Peel:
    """The rounds of one run, for all its large groups at once: no bucket reaches from one group into another."""

    def __init__(self, job: Job, groups: Any) -> None:
        self.job = job
        self.step = job.checkpoint.step
        self.groups = groups
        #: Tables of verified pairs.
        self.met: List[Any] = []

    def run(self) -> Any:
        """``document``, ``original``, ``resemblance`` of every copy, and ``assigned``."""
        features = F.coalesce(F.sum(F.octet_length("features")), F.lit(0))
        members = self.step("giants", self.number, features=features)
        self.members = self.job.offset(members).selectExpr(
            "start + place as document", "document as name", "id", "other", "features"
        )
        self.texts = self.step("giant-texts", self.pack).select("place", "packed")
        undecided = self.members.select("document")
        originals = None
        for number, prefix in enumerate(PREFIXES):
            states = self.round(number, prefix, undecided)
            found = states.where("state = 0").select("document")
            originals = found if originals is None else originals.union(found)
            undecided = states.where(f"state = {UNDECIDED}").select("document")
            if self.job.checkpoint.note(f"round-{number}-states")["undecided"] == 0:
                break
        return self.assign(originals)

    def number(self) -> Any:
        order = self.job.keep_order
        chosen = list(dict.fromkeys([*order, "document", "id", "other", "features"]))
        members = among(self.job.representatives.select(*chosen), self.groups, keep=True)
        members = members.orderBy(*order)
        added = {"part": "long", "place": "long"}
        return through(members, "number", schema_of(members.schema, added), part_number)

    def pack(self) -> Any:
        wanted = self.members.selectExpr("document as place", "id", "other")
        return self.job.packed(wanted, self.job.checkpoint.rows("giants"), ["place"])

    def near(self, named: Any, prefix: Any) -> Any:
        # At most: whoever has left has no entries any more.
        features = self.job.checkpoint.note("giants")["features"]
        return through(self.job.scattered(named, features), "near", schema_of([], NEAR), prefix=prefix)

    def verify(self, near: Any) -> Any:
        """The pairs that nobody has verified yet, verified."""
        unknown = near.where("not marked").select("earlier", "later").distinct()
        for table in self.met:
            unknown = unknown.join(table.select("earlier", "later"), ["earlier", "later"], "left_anti")
        texts = self.texts
        laters = unknown.join(texts.withColumnRenamed("place", "later"), "later")
        firsts = unknown.select("earlier").distinct()
        firsts = firsts.join(texts.withColumnRenamed("place", "earlier"), "earlier")
        firsts = firsts.selectExpr("earlier", "-1L as later", "packed")
        rows = laters.select("earlier", "later", "packed").union(firsts)
        count = self.job.partitions or 8
        rows = rows.repartition(count, "earlier").sortWithinPartitions("earlier", "later")
        return through(rows, "verify", schema_of([], VERIFIED), **self.job.options)

    def round(self, number: int, prefix: int, undecided: Any) -> Any:
        """Everybody undecided with the state that this round gives."""
        named = among(self.members.select("document", "features"), undecided, keep=True)
        near = self.step(f"round-{number}-near", lambda: self.near(named, prefix))
        self.met.append(self.step(f"round-{number}-met", lambda: self.verify(near)))
        left = F.count_if(F.col("state") == UNDECIDED)
        return self.step(f"round-{number}-states", lambda: self.settle(near, undecided), undecided=left)

    def settle(self, near: Any, undecided: Any) -> Any:
        marked = near.where("marked").select(F.col("later").alias("document")).distinct()
        everybody = undecided.join(marked.withColumn("marked", F.lit(True)), "document", "left")
        everybody = everybody.selectExpr(
            "document as later", "document as earlier", "coalesce(marked, false) as marked"
        )
        for table in self.met:
            similar = table.where("similar").selectExpr("later as document", "earlier")
            similar = among(similar, undecided, keep=True)
            similar = similar.selectExpr("document as later", "earlier as document")
            similar = among(similar, undecided, keep=True)
            everybody = everybody.union(similar.selectExpr("later", "document", "false"))
        rows = everybody.repartition(1).sortWithinPartitions("later")
        return through(rows, "settle", schema_of([], {"document": "long", "state": "long"}))

    def assign(self, originals: Any) -> Any:
        flags = originals.select("document", F.lit(1).cast("long").alias("is_original"))
        named = self.members.join(flags, "document", "left").selectExpr(
            "2 * document + coalesce(is_original, 0L) as document", "features"
        )
        near = self.step("best-near", lambda: self.near(named, None))
        self.met.append(self.step("best-met", lambda: self.verify(near)))
        measure = "agreeing" if self.job.by_features else "resemblance"
        candidates = []
        for table in self.met:
            similar = table.where("similar")
            similar = among(similar.withColumnRenamed("later", "document"), originals, keep=False)
            similar = similar.selectExpr(
                "document as later", "earlier as document", "resemblance", f"{measure} as measure"
            )
            similar = among(similar, originals, keep=True)
            candidates.append(
                similar.selectExpr("later", "document as earlier", "resemblance", "measure")
            )
        best = candidates[0]
        for similar in candidates[1:]:
            best = best.union(similar)
        ranked = F.max(F.struct("measure", (-F.col("earlier")).alias("place"), "resemblance"))
        best = best.groupBy("later").agg(ranked.alias("best"))
        best = best.selectExpr("later", "-best.place as earlier", "best.resemblance as resemblance")
        names = self.members.select("document", "name")
        best = best.join(names.selectExpr("document as later", "name as copy"), "later")
        best = best.join(names.selectExpr("document as earlier", "name as original"), "earlier")
        return best.selectExpr("copy as document", "original", "resemblance", "true as assigned")
