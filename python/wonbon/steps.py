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
    step_passage_again as passage_again,
    step_passage_contexts as passage_contexts,
    step_passage_cut as passage_cut,
    step_passage_hot as passage_hot,
    step_passage_removed as passage_removed,
    step_passage_seeds as passage_seeds,
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
    "passage_again",
    "passage_contexts",
    "passage_cut",
    "passage_hot",
    "passage_removed",
    "passage_seeds",
    "plan",
    "scatter",
    "settle",
    "sketch",
    "verdicts",
    "verify",
    "walk",
]
