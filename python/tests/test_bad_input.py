"""Bad input gives one clear sentence that names what is wrong."""

import uuid

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import wonbon

NOT_UTF8 = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0"), pa.py_buffer(b"ok\xff\xfe")]
)

BAD_COLUMNS = [
    (None, "texts must be a column, a table or a list, not NoneType"),
    (7, "texts must be a column, a table or a list, not int"),
    ("one text", "texts must be a column, a table or a list, not str"),
    ([1, 2], "item 0 is neither a text nor a table but int"),
    (["a", 2.5], "item 1 is neither a text nor a table but float"),
    (["a", b"b"], "the column of texts must hold texts, not LargeBinary"),
    (["a", "\ud800"], "text 1 holds half of a surrogate pair: it is no Unicode"),
    (pa.array([1, 2]), "the column of texts must hold texts, not Int64"),
    (pa.array([b"a"]), "the column of texts must hold texts, not Binary"),
    (pa.table({"a": ["x"], "b": ["y"]}), "the column of texts must hold texts, not a table of 2 columns"),
    (NOT_UTF8, "the column of texts is damaged:"),
]


@pytest.mark.parametrize(("column", "sentence"), BAD_COLUMNS)
def test_a_bad_column_is_named(column, sentence):
    with pytest.raises(wonbon.WonbonError) as caught:
        wonbon.sketch(column)
    assert str(caught.value).startswith(sentence)
    assert isinstance(caught.value, ValueError) and "\n" not in str(caught.value)


def test_bad_numbers():
    for options, sentence in [
        ({"shingle": 0}, "a shingle has from 1 to 65536 words, not 0"),
        ({"shingle": -1}, "a shingle has from 1 to 65536 words, not -1"),
        ({"threads": 0}, "`threads` is from 1 to 1024, not 0"),
        ({"features": 0}, "the number of features must be between 1 and 4096, not 0"),
        ({"seed": b"short"}, "a secret seed has at least 16 bytes, not 5"),
        ({"seed": 1.5}, "a seed is a whole number or bytes"),
    ]:
        with pytest.raises(wonbon.RequestError) as caught:
            wonbon.sketch(["a"], **options)
        assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: wonbon.words(None), "`text` is a `str`, not NoneType"),
        (lambda: wonbon.shingles(5), "`text` is a `str`, not int"),
        (lambda: wonbon.compare("a", None), "`b` is a `str`, not NoneType"),
        (lambda: wonbon.compare("\ud800", "a"), "`a` holds half of a surrogate pair: it is no Unicode"),
        (lambda: wonbon.extract("\ud800"), "`page` holds half of a surrogate pair: it is no Unicode"),
        (lambda: wonbon.extract(None), "a page is a `str` or `bytes`, not NoneType"),
        (lambda: wonbon.extract("<p>a", 5), "`url` is a `str`, not int"),
        (lambda: wonbon.ItemSet(None), "a set is made of a list of items, not NoneType"),
        (lambda: wonbon.ItemSet(["\ud800"]), "a text of the set holds half of a surrogate pair: it is no Unicode"),
        (lambda: wonbon.join([["a", None]], threshold=0.5), "the left side must hold lists of texts or numbers; row 0 does not"),
        (lambda: wonbon.join(pa.array([["a"], [None]]), threshold=0.5), "the left side must hold lists of texts or numbers; row 1"),
        (lambda: wonbon.join(pa.array([[0.5]]), threshold=0.5), "the left side must hold lists of texts or numbers; row 0"),
        (lambda: wonbon.dedup([{"text": "a"}, "b"]), "row 1 is no dictionary but str"),
        (lambda: wonbon.dedup([{"id": uuid.uuid4(), "text": "a"}]), "column `id` holds UUID in row 0, not texts, bytes, numbers"),
        (lambda: wonbon.dedup_files([], "nowhere"), "there is no input: name files or folders"),
        (lambda: wonbon.cluster_files(None, "nowhere"), "there is no input: name files or folders"),
        (lambda: wonbon.passages_files([], "nowhere"), "there is no input: name files or folders"),
    ],
)
def test_a_bad_argument_is_named(call, sentence):
    with pytest.raises(wonbon.RequestError) as caught:
        call()
    assert str(caught.value).startswith(sentence)


def test_bad_questions_and_documents(tmp_path):
    with wonbon.Store(tmp_path / "store") as store, wonbon.Deduplicator() as seen:
        for one in (store, wonbon.Client("http://127.0.0.1:9")):
            for call, sentence in [
                (lambda: one.add(), "a document has a `text` or an `html`"),
                (lambda: one.add("a", None), "a document has a `text` or an `html`"),
                (lambda: one.check(), "a document has a `text` or an `html`"),
                (lambda: one.similar(5), "`text` is a `str`, not int"),
                (lambda: one.copies(5), "`key` is a `str`, not int"),
                (lambda: one.similar("a", limit=-1), "`limit` is a whole number, not -1"),
                (lambda: one.sources("a", least_words="x"), "`least_words` is a whole number, not 'x'"),
                (lambda: one.get(None), "`key` is a `str`, not NoneType"),
                (lambda: one.delete(7), "`key` is a `str`, not int"),
                (lambda: one.watch(None), "`key` is a `str`, not NoneType"),
                (lambda: one.decide(None, "original"), "`key` is a `str`, not NoneType"),
            ]:
                with pytest.raises(wonbon.RequestError) as caught:
                    call()
                assert str(caught.value) == sentence
        with pytest.raises(wonbon.RequestError, match="a document has a `text`"):
            seen.add("a", None)
        assert len(store) == 0
    assert repr(store) == "<wonbon.Store: the store is closed>"
    (tmp_path / "file").write_text("no store")
    with pytest.raises(wonbon.EnvironmentFailedError) as caught:
        wonbon.Store(tmp_path / "file")
    assert str(caught.value).count("File exists") == 1


def test_a_table_of_another_length_is_not_taken_for_the_one_that_was_decided(tmp_path):
    families = wonbon.dedup(["a b c", "a b c", "d"])
    for data in (
        ["x"],
        {"a": ["x"]},
        pa.table({"a": [1]}),
        pa.array([1] * 4),
        pl.DataFrame({"a": [1]}),
        pl.DataFrame({"a": [1]}).lazy(),
        pd.DataFrame({"a": [1] * 4}),
        np.array([1]),
        datasets.Dataset.from_dict({"a": [1]}),
        duckdb.sql("select 1 as a"),
    ):
        with pytest.raises(wonbon.RequestError, match="in the table, 3 in the families"):
            families.select(data)
    for rows in (2, 4):
        for data in (iter(["x"] * rows), iter([pa.record_batch({"a": [1] * rows})]), pa.table({"a": [1] * rows}).to_reader()):
            with pytest.raises(wonbon.RequestError, match="in the table, 3 in the families"):
                list(families.select(data))
    with pytest.raises(wonbon.EnvironmentFailedError, match="could not write .*: No such file or directory"):
        families.report(tmp_path / "nowhere/report.html", show=False)


def test_bad_pages():
    with pytest.raises(wonbon.RequestError, match="a page is a `str` or `bytes`"):
        wonbon.extract(7)
    with pytest.raises(wonbon.ColumnError, match="there are more pages than urls"):
        wonbon.extract_column(["a", "b"], urls=["u"])
    with pytest.raises(wonbon.ColumnError, match="there are more urls than pages"):
        wonbon.extract_column(["a"], urls=["u", "v"])
    with pytest.raises(wonbon.RequestError, match="`0.8of`"):
        wonbon.compare("a", "b", rule="0.8of")


def test_an_error_of_a_generator_is_passed_on():
    def texts():
        yield "one"
        raise LookupError("the source broke")

    with pytest.raises(LookupError, match="the source broke"):
        wonbon.sketch(texts())


def test_nothing_is_no_error():
    assert len(wonbon.sketch([])) == 0
    assert len(wonbon.sketch(pa.array([], pa.string()))) == 0
    assert len(wonbon.extract_column([])) == 0
    assert wonbon.extract_column([]).to_pydict()["text"] == []
    assert wonbon.words("") == []
    for empty in (pl.DataFrame({"text": []}), pl.DataFrame({"text": []}).lazy(), pl.DataFrame({"id": [], "text": []})):
        assert len(wonbon.dedup(empty)) == 0
    assert wonbon.dedup(pl.DataFrame({"text": [None]})).table.column("kind") == ["empty"]
    assert len(wonbon.sketch(pl.Series("text", []))) == 0 and len(wonbon.dedup(pl.Series([None]))) == 1
