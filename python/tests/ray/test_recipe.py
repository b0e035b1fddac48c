"""The Ray Data recipe of benches/spark finds the families of `wonbon dedup`. Needs Ray: scripts/spark.sh sees to it."""

import pathlib
import sys

import pyarrow
import pytest

ray = pytest.importorskip("ray", reason="Ray is not installed here; WONBON_RAY=1 scripts/spark.sh runs this")

TOP = pathlib.Path(__file__).resolve().parents[3]
sys.path += [str(TOP / "python/tests/spark"), str(TOP / "benches/spark")]

from corpora import corpus, dedup_files  # noqa: E402


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100 << 20, log_to_driver=False)
    yield
    ray.shutdown()


def test_copies_are_those_of_the_program(cluster, tmp_path):
    import ray_recipe

    rows = corpus(61, documents=200)
    expected, _ = dedup_files(tmp_path / "local", sorted(rows), "--engine", "features")
    copies = [(row[0], row[3], row[4]) for row in expected if row[1] not in ("original", "empty")]
    columns = dict(zip(("id", "created", "text"), zip(*rows)))
    dataset = ray.data.from_arrow(pyarrow.table(columns)).repartition(5)
    found = ray_recipe.dedup(dataset).to_pylist()
    assert sorted((row["id"], row["original"], row["resemblance"]) for row in found) == copies
    assert len(copies) > 50
