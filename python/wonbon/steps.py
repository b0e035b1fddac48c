"""A batch run cut into pure steps over streams of Arrow batches, for engines that own the data.

Every function takes a stream (anything that exports Arrow, or an iterator of batches) and returns one that
can be read once, for example by ``pyarrow.RecordBatchReader.from_stream``. Nothing runs before it is read.
Between the steps the engine joins, groups and sorts: :mod:`wonbon.spark` does it with DataFrames, and
docs/scale.md has the same with Ray.

The options of a run are ``rule`` ("threshold=0.8", "2of6"), ``family`` ("star", "linked"), ``engine``,
``keep``, ``shingle``, ``seed`` and ``memory``; a step that needs some of them takes all.
"""

from wonbon._wonbon import (
    Stream,
    join_digests,
    step_components as components,
    step_digest as digest,
    step_engine as engine,
    step_near as near,
    step_number as number,
    step_pack as pack,
    step_pairs as pairs,
    step_plan as plan,
    step_scatter as scatter,
    step_settle as settle,
    step_sketch as sketch,
    step_verdicts as verdicts,
    step_verify as verify,
    step_walk as walk,
)

__all__ = [
    "Stream",
    "components",
    "digest",
    "engine",
    "join_digests",
    "near",
    "number",
    "pack",
    "pairs",
    "plan",
    "scatter",
    "settle",
    "sketch",
    "verdicts",
    "verify",
    "walk",
]
