"""Bad input gives one clear sentence that names what is wrong."""

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
