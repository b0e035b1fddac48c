"""Sets of anything, and exact joins."""

import json
import subprocess
import sys

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wonbon

SETS = st.sets(st.integers(-50, 50), max_size=40)


@given(SETS, SETS)
def test_sets_are_compared_exactly(left, right):
    one, other = wonbon.ItemSet(left), wonbon.ItemSet(right)
    assert len(one) == len(left)
    assert one.resemblance(other) == (len(left & right) / len(left | right) if left | right else 0)
    assert one.containment_in(other) == (len(left & right) / len(left) if left else 0)


def test_sketches_of_sets_estimate_within_four_standard_errors():
    one, other = wonbon.ItemSet(range(30_000)), wonbon.ItemSet(range(10_000, 40_000))
    exact = one.resemblance(other)
    for estimate in (
        one.smallest(400).resemblance(other.smallest(400)),
        one.modulus(25).resemblance(other.modulus(25)),
    ):
        assert abs(estimate[0] - exact) < 4 * estimate[1]
    estimate = one.modulus(25).containment_in(other.modulus(25))
    assert abs(estimate[0] - one.containment_in(other)) < 4 * estimate[1]
    assert one.smallest(400).to_bytes() == one.smallest(400).to_bytes() != other.smallest(400).to_bytes()
    with pytest.raises(wonbon.RequestError):
        one.smallest(400).resemblance(other.smallest(200))
    with pytest.raises(wonbon.RequestError, match="texts, bytes or whole numbers, not float"):
        wonbon.ItemSet([1.5])


def pairs_of(table):
    return {(row["left"], row["right"]): row["similarity"] for row in table.to_pylist()}


RECORDS = st.lists(st.sets(st.sampled_from("abcdefghij"), max_size=8), max_size=15)


@given(RECORDS, st.sampled_from(["0.5", "0.8", "1"]))
def test_a_join_is_the_double_loop(records, threshold):
    found = pairs_of(wonbon.join([list(one) for one in records], threshold=threshold))
    wanted = {
        (i, j): len(a & b) / len(a | b)
        for i, a in enumerate(records)
        for j, b in enumerate(records)
        if i < j and a and b and len(a & b) / len(a | b) >= float(threshold)
    }
    assert found == wanted
    lists = pa.array([list(one) for one in records], pa.list_(pa.string()))
    for column in (lists, lists.cast(pa.large_list(pa.string_view())), pa.table({"tokens": lists}), pl.Series(lists)):
        assert pairs_of(wonbon.join(column, threshold=threshold)) == wanted


def test_numbers_as_tokens_are_the_same_in_lists_and_columns():
    records = [[1, 2, 3], [2, 3, 4], [], [-1]]
    wanted = pairs_of(wonbon.join(records, threshold=0.5))
    assert wanted == {(0, 1): 0.5}
    for kind in (pa.int64(), pa.int32()):
        assert pairs_of(wonbon.join(pa.array([*records[:2], None, [-1]], pa.list_(kind)), threshold=0.5)) == wanted
    assert pairs_of(wonbon.join(records, pa.array([["4", "3", "2"]]), threshold=1)) == {(1, 0): 1.0}


def test_a_join_of_texts_is_that_of_the_program(tmp_path):
    left = ["one two three four five six", "one two three four five seven", "nothing alike here", ""]
    right = ["one two three four five six seven", "nothing else"]
    for name, texts in (("a", left), ("b", right)):
        (tmp_path / name).write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))

    def program(*arguments):
        command = [sys.executable, "-m", "wonbon", "join", "--json", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        return {(row["left"], row["right"]): row["similarity"] for row in rows}

    def rounded(table):
        return {pair: round(value, 6) for pair, value in pairs_of(table).items()}

    a, b = tmp_path / "a", tmp_path / "b"
    assert rounded(wonbon.join(left, threshold=0.3, shingle=3)) == program(a, "--threshold", "0.3", "--shingle", "3")
    found = wonbon.join(pa.array(left), pa.array(right), threshold="1/4", measure="containment", words=True)
    assert rounded(found) == program(a, b, "--threshold", "1/4", "--measure", "containment", "--words")
    assert len(found) > 0
    best = wonbon.join(left, right, threshold=0.1, words=True, top=1)
    assert len({row["left"] for row in best.to_pylist()}) == len(best)


def test_bad_joins():
    for options, sentence in [
        ({"threshold": 0.5, "measure": "likeness"}, "likeness"),
        ({"threshold": 0.5, "words": True, "shingle": 3}, "say `shingle` or `words`, not both"),
        ({"threshold": 0.5, "top": 0}, "`top` is at least 1, not 0"),
        ({"threshold": 2}, "2"),
    ]:
        with pytest.raises(wonbon.RequestError, match=sentence):
            wonbon.join(["a"], **options)
    with pytest.raises(wonbon.RequestError, match="row 1 does not"):
        wonbon.join([["a"], [1.5]], threshold=0.5)
