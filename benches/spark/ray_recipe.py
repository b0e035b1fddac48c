"""Star families with Ray Data, on the same steps as `wonbon.spark`.

Texts stay in the dataset and are read twice; the sketches (200 bytes a document) come to the driver, which sorts
them, so a document's name is its place in keep order. Groups go to workers a hundred at a time, because Ray's
groupby is slow with many groups.

    python benches/spark/ray_recipe.py corpus.parquet        # columns id, text, created
"""

import sys

import pyarrow
import pyarrow.compute
import ray

from wonbon import steps

OPTIONS = {"rule": "threshold=0.8", "engine": "features", "keep": "earliest"}


def table_of(stream):
    return pyarrow.RecordBatchReader.from_stream(stream).read_all()


def sketch(rows):
    return table_of(steps.sketch(rows, text="text", order="created", **OPTIONS)).drop_columns(["document"])


def pack(rows, candidates):
    wanted = rows.select(["id", "text"]).join(candidates, "id", join_type="inner")
    return table_of(steps.pack(wanted.combine_chunks(), text="text"))


def walk(rows):
    ordered = rows.sort_by([("group", "ascending"), ("document", "ascending")])
    return table_of(steps.walk(ordered, **OPTIONS))


def numbered(table):
    names = pyarrow.array(range(table.num_rows), pyarrow.int64())
    return table.append_column("document", names)


def dedup(dataset):
    """A table of `id`, `original` and `resemblance`: the copies, and their originals."""
    parts = dataset.select_columns(["id", "text", "created"]).map_batches(sketch, batch_format="pyarrow")
    sketches = pyarrow.concat_tables(ray.get(parts.to_arrow_refs()))
    sketches = numbered(sketches.sort_by([("key", "ascending"), ("id", "ascending")]))
    words = sketches.filter(pyarrow.compute.greater(sketches["shingles"], 0))
    first = words.group_by("set").aggregate([("document", "min")])
    members = words.join(first, "set").sort_by("document")
    is_first = pyarrow.compute.equal(members["document"], members["document_min"])
    representatives = members.filter(is_first)

    scattered = steps.scatter(representatives.select(["document", "features"]), partitions=1)
    groups = table_of(steps.components(steps.pairs(scattered)))
    candidates = representatives.select(["id", "set", "document"]).join(groups, "document", join_type="inner")
    count = candidates.num_rows
    candidates = candidates.append_column("other", pyarrow.array([False] * count, pyarrow.bool_()))
    part = [group % 100 for group in candidates["group"].to_pylist()]
    candidates = candidates.append_column("part", pyarrow.array(part, pyarrow.int64()))
    packed = dataset.map_batches(pack, batch_format="pyarrow", fn_args=[candidates.combine_chunks()])
    walked = packed.groupby("part").map_groups(walk, batch_format="pyarrow")
    found = pyarrow.concat_tables(ray.get(walked.to_arrow_refs()))
    assigned = dict(zip(found["document"].to_pylist(), zip(found["original"].to_pylist(), found["resemblance"].to_pylist())))

    ids = sketches["id"].to_pylist()
    copies = []
    for name, representative in zip(members["document"].to_pylist(), members["document_min"].to_pylist()):
        original, resemblance = assigned.get(representative, (representative, 1.0))
        if original != name:
            copies.append((ids[name], ids[original], resemblance))
    columns = list(zip(*copies)) or [[], [], []]
    return pyarrow.table({"id": columns[0], "original": columns[1], "resemblance": columns[2]})


if __name__ == "__main__":
    print(dedup(ray.data.read_parquet(sys.argv[1])).to_pandas())
