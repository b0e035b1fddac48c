"""What is said of each row: core text, sketches, pairs, and whether the package is there."""

import os
import subprocess
import sys

import pytest
from corpora import corpus, frame_of

import wonbon
from wonbon.errors import ColumnError, EnvironmentFailedError, RequestError
from wonbon.spark import check, extract, join, select, sketch

PAGE = (
    "<html><head><title>Bridges {0}</title></head><body><nav>home about</nav>"
    "<article><p>{1}</p></article></body></html>"
)


@pytest.mark.connect
def test_the_package_is_on_the_executors(spark):
    found = check(spark, tasks=2)
    assert found and all(row["version"] == wonbon.__version__ for row in found)


def test_another_version_is_refused_with_how_to_ship(spark, tmp_path, monkeypatch):
    from wonbon.spark import _check

    class Other:
        VERSION = "0.0.0"

    monkeypatch.setattr(_check, "_wonbon", Other)
    match = "has wonbon .*, the driver has 0.0.0: install it there"
    with pytest.raises(EnvironmentFailedError, match=match):
        check(spark, tasks=1)
    with pytest.raises(EnvironmentFailedError, match=match):
        join(frame_of(spark, corpus(5)), threshold=0.8, checkpoint=str(tmp_path / "steps"))
    assert not (tmp_path / "steps").exists(), "work began before the package was looked for"


#: The driver finds the package by itself; nothing tells the executors where it is.
WITHOUT = """
import sys
sys.path.insert(0, sys.argv[1])
from pyspark.sql import SparkSession
from wonbon.errors import EnvironmentFailedError
from wonbon.spark import dedup
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
frame = spark.createDataFrame([("a", "one two three")], "id string, text string")
try:
    dedup(frame, checkpoint=sys.argv[2])
except EnvironmentFailedError as error:
    print(error)
"""


@pytest.mark.long
def test_executors_without_the_package_are_told_how_to_get_it(tmp_path):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    call = [sys.executable, "-c", WITHOUT, os.environ["PYTHONPATH"], str(tmp_path / "steps")]
    done = subprocess.run(call, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "has no wonbon (ModuleNotFoundError: No module named 'wonbon'), the driver has" in done.stdout
    assert "install it there (pip install wonbon)" in done.stdout
    assert not (tmp_path / "steps").exists(), "work began before the package was looked for"


@pytest.mark.connect
def test_core_text_is_that_of_the_package(spark):
    pages = [PAGE.format(number, f"Here stands bridge number {number}. " * 30) for number in range(20)]
    rows = [(number, page) for number, page in enumerate(pages)] + [(20, None), (21, "")]
    frame = spark.createDataFrame(rows, "number int, html string").repartition(3)
    found = {row.number: row for row in extract(frame).collect()}
    assert len(found) == 22
    for number, page in rows:
        expected = wonbon.extract(page or "")
        assert (found[number].text or "") == expected.text and (found[number].title or None) == expected.title
    assert frame.columns == ["number", "html"]
    as_bytes = frame.selectExpr("number", "cast(html as binary) as html")
    assert {row.number: row.text for row in extract(as_bytes).collect()} == {
        number: row.text for number, row in found.items()
    }
    with pytest.raises(ColumnError, match="no column `page`; it has number, html"):
        extract(frame, html="page")
    with pytest.raises(ColumnError, match="must hold strings or bytes, not int"):
        extract(frame, html="number")


@pytest.mark.connect
def test_sketches_do_not_depend_on_partitions(spark):
    rows = corpus(3)
    found = [
        sorted(tuple(row) for row in sketch(frame_of(spark, rows, partitions)).collect()) for partitions in (1, 5)
    ]
    assert found[0] == found[1] and len(found[0]) == len(rows)
    names = sketch(frame_of(spark, rows)).columns
    assert names == ["id", "bytes", "normal", "set", "shingles", "features"]
    empty = [row for row in found[0] if row[names.index("shingles")] == 0]
    assert len(empty) >= 2 and all(len(row[names.index("features")]) == 0 for row in empty)


@pytest.mark.connect
def test_a_join_finds_every_pair(spark, tmp_path):
    rows = corpus(5)
    sets = {name: set(wonbon.shingles(text)) for name, _, text in rows}
    names = sorted(name for name in sets if sets[name])
    for threshold in (0.3, 0.8):
        expected = {}
        for at, one in enumerate(names):
            for two in names[at + 1 :]:
                shared = len(sets[one] & sets[two])
                united = len(sets[one] | sets[two])
                if shared >= threshold * united - 1e-9:
                    expected[one, two] = shared / united
        place = str(tmp_path / f"steps-{threshold}")
        found = join(frame_of(spark, rows), threshold=threshold, checkpoint=place)
        assert {(row.earlier, row.later): row.resemblance for row in found.collect()} == expected
        assert len(expected) > 20
    with pytest.raises(RequestError, match="checkpoint= is missing"):
        join(frame_of(spark, rows), threshold=0.8)


def test_rows_that_stay_have_all_their_columns(spark):
    frame = spark.createDataFrame([(1, "a", 5), (2, "b", 6)], "name long, text string, more int")
    families = spark.createDataFrame(
        [(1, "original", 1, 1, 1.0), (2, "copy", 1, 1, 0.9)],
        "id long, kind string, family long, original long, resemblance double",
    )
    assert [tuple(row) for row in select(frame, families, id="name").collect()] == [(1, "a", 5)]
    with pytest.raises(ColumnError, match="no column `id`; it has name, text, more"):
        select(frame, families)
