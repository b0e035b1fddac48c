"""Single texts, and columns of texts and pages."""

import json
import subprocess
import sys

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wonbon

FERRY = "One morning the old ferry did not come, and the whole village stood on the quay."
SPRING = "봄이 오면 강가의 버드나무에 물이 오르고 아이들은 피리를 만들어 불었다고 한다."
TEXTS = [FERRY, SPRING, "", None, "漢字 one ＷＥＢ ½ ﬁne " * 40, FERRY + " Nobody knew why."]


def program(*arguments, **options):
    command = [sys.executable, "-m", "wonbon", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def columns(texts):
    """The same texts as every kind of column."""
    array = pa.array(texts, pa.string())
    chunks = pa.chunked_array([array[:2], array[2:2], array[2:]])
    yield "list", texts
    yield "tuple", tuple(texts)
    yield "generator", (text for text in texts)
    yield "string", array
    yield "large_string", array.cast(pa.large_string())
    yield "string_view", array.cast(pa.string_view())
    yield "dictionary", array.dictionary_encode()
    yield "dictionary of 8 bits", pa.array(texts, pa.dictionary(pa.int8(), pa.large_string()))
    yield "slice", pa.array(["before", *texts, "after"])[1:-1]
    yield "chunks", chunks
    yield "table", pa.table({"text": chunks})
    yield "batches", (pa.record_batch({"text": array[at : at + 1]}) for at in range(len(texts)))
    yield "reader", pa.table({"text": chunks}).to_reader()
    yield "lazy polars", pl.DataFrame({"text": texts}, schema={"text": pl.String}).lazy()
    yield "datasets", datasets.Dataset.from_dict({"text": texts})
    yield "dataset of pyarrow", pyarrow.dataset.dataset(pa.table({"text": chunks}))
    yield "series of pandas", pd.Series(texts)
    yield "polars", pl.Series(texts, dtype=pl.String)
    yield "polars frame", pl.DataFrame({"text": texts}, schema={"text": pl.String})
    yield "pandas", pd.DataFrame({"text": texts})
    frame = pd.DataFrame({"text": texts})
    yield "duckdb", duckdb.connect().from_df(frame)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_every_kind_of_column_has_the_same_sketches(threads):
    wanted = wonbon.sketch(TEXTS, threads=1)
    for name, column in columns(TEXTS):
        sketches = wonbon.sketch(column, threads=threads)
        assert len(sketches) == len(TEXTS), name
        assert [sketches[at] for at in range(len(TEXTS))] == [wanted[at] for at in range(len(TEXTS))], name


def test_sketches_are_those_of_the_program(tmp_path):
    lines = [json.dumps({"id": str(at), "text": text or ""}) for at, text in enumerate(TEXTS)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    told = [json.loads(line) for line in program("sketch", tmp_path / "a.jsonl").stdout.splitlines()]
    sketches = wonbon.sketch(TEXTS)
    assert len(told) == len(TEXTS)
    for at, row in enumerate(told):
        ours = sketches[at]
        assert row["features"] == [f"{feature:016x}" for feature in ours or []]


def test_numpy_and_arrow_see_the_numbers_where_they_are():
    sketches = wonbon.sketch(TEXTS)
    seen = np.asarray(sketches)
    assert seen.shape == (len(TEXTS), 6) and seen.dtype == np.uint64
    assert seen.__array_interface__["data"][0] == sketches.__array_interface__["data"][0]
    arrow = pa.array(sketches)
    assert arrow.to_pylist() == [sketches[at] for at in range(len(TEXTS))]
    assert arrow.values.buffers()[1].address == sketches.__array_interface__["data"][0]
    numbers = wonbon.shingles(FERRY)
    assert np.asarray(numbers).tolist() == numbers.to_pylist() == pa.array(numbers).to_pylist()
    del sketches, numbers
    assert seen[0].any()


def test_a_text_without_words_has_no_features():
    sketches = wonbon.sketch(["", None, "…", "word"])
    assert [sketches[at] is None for at in range(4)] == [True, True, True, False]
    assert sketches.agreeing(0, 1) == 0 and sketches.agreeing(3, 3) == 6
    assert sketches[-1] == sketches[3]
    with pytest.raises(IndexError):
        sketches[4]


def test_the_share_of_equal_min_values_estimates_the_resemblance():
    words = [f"word{number}" for number in range(2000)]
    a, b = " ".join(words[:1500]), " ".join(words[500:])
    sketches = wonbon.sketch([a, b], features=1024, group_size=1)
    exact = wonbon.compare(a, b).resemblance
    # Four standard errors of a share of 1024.
    assert abs(sketches.agreeing(0, 1) / 1024 - exact) < 4 * (exact * (1 - exact) / 1024) ** 0.5


@given(st.text())
def test_words_are_those_of_a_normal_form(text):
    words = wonbon.words(text)
    assert wonbon.words(" ".join(words)) == words
    assert len(wonbon.shingles(text)) == (max(len(words) - 4, 1) if words else 0)
    assert len(wonbon.shingles(text, shingle=1)) == len(words)


@given(st.lists(st.sampled_from("abcdefgh"), max_size=40), st.lists(st.sampled_from("abcdefgh"), max_size=40))
def test_a_comparison_is_that_of_the_sets(left, right):
    def shingles(words):
        length = min(len(words), 2) or 1
        return {tuple(words[at : at + length]) for at in range(len(words) - length + 1)}

    a, b = shingles(left), shingles(right)
    found = wonbon.compare(" ".join(left), " ".join(right), shingle=2)
    assert found.resemblance == (len(a & b) / len(a | b) if a | b else 0)
    assert found.containment_a_in_b == (len(a & b) / len(a) if a else 0)
    assert (found.shingles_a, found.shingles_b) == (len(a), len(b))


def test_a_comparison_is_that_of_the_program(tmp_path):
    (tmp_path / "a").write_text(FERRY)
    (tmp_path / "b").write_text(FERRY.replace("old", "new"))
    told = json.loads(program("compare", "--json", "--diff", tmp_path / "a", tmp_path / "b").stdout)
    ours = wonbon.compare(FERRY, FERRY.replace("old", "new"))
    for name in ("resemblance", "containment_a_in_b", "verdict", "estimate", "features_equal", "shingles_a"):
        assert getattr(ours, name) == told[name], name
    assert [(one.a, one.b) for one in ours.diff()] == [(one["a"], one["b"]) for one in told["differences"]]
    assert "old" in ours.diff()[0].a and "<table>" in ours._repr_html_()


PAGE = (
    '<html lang=ko><meta charset=euc-kr><title>봄</title><nav><a href="/">처음</a></nav>'
    f"<main><p>{SPRING}</p></main></html>"
)


def test_a_page_in_any_charset():
    for page in (PAGE, PAGE.encode("euc-kr")):
        found = wonbon.extract(page, "https://example.org/spring")
        assert (found.text, found.title, found.language) == (SPRING, "봄", "ko")
        assert found.links == [wonbon.Link("https://example.org/", "처음")]
    assert wonbon.extract(b"plain <words>").text == "plain <words>"
    assert wonbon.extract("").text == ""


def test_columns_of_pages():
    pages = [PAGE, None, "plain", "<p>one two"]
    wanted = {
        "text": [SPRING, "", "plain", "one two"],
        "title": ["봄", None, None, None],
        "language": ["ko", None, None, None],
    }
    as_bytes = [page.encode("euc-kr") if page else None for page in pages]
    for column in (pages, pa.array(pages), as_bytes, pa.array(as_bytes), pa.array(as_bytes, pa.binary_view())):
        table = wonbon.extract_column(column)
        for name, values in wanted.items():
            assert table.column(name) == values
    urls = ["https://example.org/", None, "", "https://example.org/b"]
    table = pa.table(wonbon.extract_column(pages, urls=urls))
    assert table.column_names == ["text", "title", "language", "published", "canonical"]
    assert pl.DataFrame(wonbon.extract_column(pages))["text"].to_list() == wanted["text"]
    assert wonbon.extract_column(pages).to_pylist()[0]["title"] == "봄"


def test_extraction_is_that_of_the_program(tmp_path):
    (tmp_path / "a.html").write_bytes(PAGE.encode("euc-kr"))
    told = json.loads(program("extract", "--json", tmp_path / "a.html").stdout)
    found = wonbon.extract(PAGE.encode("euc-kr"))
    for name in ("text", "title", "language", "published", "canonical", "charset"):
        assert getattr(found, name) == told[name], name


def test_the_wonbon_command_is_the_program():
    assert program("--version").stdout == f"wonbon {wonbon.__version__}\n"
    wrong = program("compare", "no-such-file", "neither")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr.startswith("error: could not open no-such-file")
