"""What is uneven: a page that occurs again and again, a template, a giant family, a huge document.

Executors have a heap of 600 MB. The long form has a hundred times as much of everything.
"""

import json
import random
import subprocess

import pytest
from conftest import LONG
from corpora import program, write_table

from wonbon.spark import dedup, digest, hot_buckets, largest_families

TIMES = 100 if LONG else 1


def uneven(chance):
    """(id, created, text)"""
    words = [f"w{number}" for number in range(5000)]

    def some(count):
        return [chance.choice(words) for _ in range(count)]

    number = 0
    page = " ".join(some(60))
    for number in range(10_000 * TIMES):
        yield f"page{number}", None, page
    # Resemblance of two pages of the template: about 0.6.
    frame = some(100)
    for number in range(1_200 * TIMES):
        yield f"template{number}", f"2024-01-{1 + number % 28:02}", " ".join(frame + some(30))
    member = some(120)
    for number in range(1_100 * TIMES):
        copy = list(member)
        copy[chance.randrange(120)] = f"edit{number}"
        yield f"member{number}", f"2023-01-{1 + number % 28:02}", " ".join(copy)
    huge = some(160_000 * TIMES)
    yield "huge0", "2022-01-01", " ".join(huge)
    huge[7] = "edit"
    yield "huge1", "2022-01-02", " ".join(huge)
    for number in range(500 * TIMES):
        yield f"other{number}", "2021-01-01", " ".join(some(80))


@pytest.mark.parametrize("largest", [2_000_000, pytest.param(500, marks=pytest.mark.long)])
def test_uneven_corpora(spark, tmp_path, largest):
    path = tmp_path / "uneven.parquet"
    write_table(path, uneven(random.Random(53)))
    call = [*program(), "dedup", str(path), "-o", str(tmp_path / "local"), "--engine", "features"]
    subprocess.run(call, check=True, capture_output=True)
    local = json.loads((tmp_path / "local" / "summary.json").read_text())
    place = str(tmp_path / "steps")
    families = dedup(
        spark.read.parquet(str(path)),
        order="created",
        engine="features",
        checkpoint=place,
        largest_group=largest,
    )
    assert digest(families) == local["digest"]
    largest_family = largest_families(families, limit=1)[0]
    assert largest_family["documents"] == 10_000 * TIMES and largest_family["original"] == "page0"
    least = 100 * TIMES
    hot = hot_buckets(spark, place, least=least)
    assert {row["one"].rstrip("0123456789") for row in hot} == {"template", "member"}
    assert all(row["members"] >= least for row in hot)
