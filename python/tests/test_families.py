"""Corpora: the same families as the program, whatever table the rows come in."""

import datetime
import io
import json
import mmap
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import tarfile
import time

import datasets
import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pytest

import wonbon

WORDS = [f"word{number}" for number in range(400)]


def corpus(seed, documents=120):
    """Originals and copies that differ from them by a few words; some empty, some of equal dates."""
    draw = random.Random(seed)
    rows, texts = [], []
    for number in range(documents):
        if texts and draw.random() < 0.5:
            words = list(draw.choice(texts))
            for _ in range(draw.choice([0, 1, 1, 3, 10])):
                words[draw.randrange(len(words))] = draw.choice(WORDS)
        else:
            words = [draw.choice(WORDS) for _ in range(draw.choice([3, 30, 80]))]
        texts.append(words)
        text = None if number % 31 == 7 else " ".join(words)
        rows.append({"id": f"d{number}", "created": f"2024-01-{draw.randint(1, 28):02}", "text": text})
    return rows


def program(*arguments):
    command = [sys.executable, "-m", "wonbon", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def told_by_program(rows, folder, *flags):
    """What `wonbon dedup --json` says, and its families."""
    lines = [json.dumps({**row, "text": row["text"] or ""}) for row in rows]
    (folder / "rows.jsonl").write_text("\n".join(lines))
    done = program("dedup", folder / "rows.jsonl", "-o", folder / "out", "--json", *flags)
    assert done.returncode == 0, done.stderr
    families = (folder / "out" / "families.jsonl").read_text().splitlines()
    return json.loads(done.stdout), [json.loads(line) for line in families]


@pytest.mark.parametrize(
    ("options", "flags"),
    [
        ({}, []),
        ({"threshold": 0.6, "engine": "features", "threads": 3}, ["--threshold", "0.6", "--engine", "features"]),
        ({"family": "linked", "keep": "longest"}, ["--family", "linked", "--keep", "longest"]),
        ({"rule": "2of6", "shingle": 2, "keep": "last"}, ["--rule", "2of6", "--shingle", "2", "--keep", "last"]),
        ({"keep": "max:created"}, ["--keep", "max:created"]),
    ],
)
def test_the_families_are_those_of_the_program(options, flags, tmp_path):
    for seed in range(3):
        rows = corpus(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        summary, wanted = told_by_program(rows, folder, *flags)
        families = wonbon.dedup(rows, **options)
        assert families.table.to_pylist() == [
            {name: row[name] for name in ("id", "kind", "family", "original", "resemblance")} for row in wanted
        ]
        assert families.digest == summary["digest"] and len(families.digest) == 32
        assert families.summary["copies"] > 0
        kept = [json.loads(line)["id"] for line in (folder / "out/kept/rows.jsonl").read_text().splitlines()]
        assert [row["id"] for row in families.select()] == kept


def tables(rows):
    """The rows in every kind of table."""
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    arrow = pa.table(columns)
    yield "list of dictionaries", rows
    yield "generator of dictionaries", (row for row in rows)
    yield "dictionary", columns
    yield "pyarrow", arrow
    yield "chunks", pa.concat_tables([arrow.slice(0, 7), arrow.slice(7, 0), arrow.slice(7)])
    yield "views", arrow.set_column(2, "text", arrow["text"].cast(pa.string_view()))
    yield "dictionaries of Arrow", arrow.set_column(2, "text", arrow["text"].dictionary_encode())
    yield "batch", arrow.to_batches()[0]
    yield "reader", arrow.to_reader(13)
    yield "generator of batches", iter(arrow.to_batches(max_chunksize=11))
    yield "dataset of pyarrow", pyarrow.dataset.dataset(arrow)
    yield "pandas", pd.DataFrame(columns)
    yield "polars", pl.DataFrame(columns)
    yield "lazy polars", pl.DataFrame(columns).lazy()
    yield "datasets", datasets.Dataset.from_dict(columns)
    yield "a part of datasets", datasets.Dataset.from_list([rows[0], *rows]).select(range(1, len(rows) + 1))
    yield "iterable dataset", datasets.Dataset.from_dict(columns).to_iterable_dataset()
    yield "duckdb", duckdb.from_arrow(arrow)


def test_every_kind_of_table_has_the_same_families():
    rows = corpus(5, 60)
    wanted = wonbon.dedup(rows)
    assert wanted.summary["copies"] > 5
    for name, data in tables(rows):
        families = wonbon.dedup(data)
        assert families.digest == wanted.digest, name
        assert families.table.to_pylist() == wanted.table.to_pylist(), name


def as_rows(data):
    if isinstance(data, dict):
        return data["id"]
    if isinstance(data, list):
        return [row["id"] for row in data]
    if isinstance(data, pd.DataFrame):
        return data["id"].tolist()
    if isinstance(data, pl.LazyFrame):
        return data.collect()["id"].to_list()
    if isinstance(data, pl.DataFrame):
        return data["id"].to_list()
    if isinstance(data, duckdb.DuckDBPyRelation):
        return [row[0] for row in data.project("id").fetchall()]
    if isinstance(data, (datasets.Dataset, datasets.IterableDataset)):
        return [row["id"] for row in data]
    if isinstance(data, pa.dataset.Dataset):
        data = data.to_table()
    return data["id"].to_pylist()


def test_rows_are_kept_in_a_table_of_the_same_kind():
    rows = corpus(6, 60)
    wanted = [row["id"] for row in wonbon.dedup(rows).select()]
    assert 10 < len(wanted) < 60
    for name, data in tables(rows):
        families = wonbon.dedup(data)
        if name == "views":
            continue  # pyarrow itself cannot filter them yet
        if name.startswith("generator") or name == "reader":
            with pytest.raises(wonbon.RequestError, match="use the mask `.kept`"):
                families.select()
            # What can be read only once is given again.
            kept = list(families.select(dict(tables(rows))[name]))
            ids = [row["id"] for one in kept for row in ([one] if isinstance(one, dict) else one.to_pylist())]
            assert ids == wanted, name
            continue
        kept = families.select()
        assert as_rows(kept) == wanted, name
        if name == "iterable dataset":
            assert as_rows(kept) == wanted, "for the second time"
        assert isinstance(kept, pa.dataset.Dataset if name == "dataset of pyarrow" else type(data)), name


def test_the_mask_is_a_sequence_a_numpy_array_and_an_arrow_column():
    rows = corpus(7, 40)
    kept = wonbon.dedup(rows).kept
    values = list(kept)
    assert np.asarray(kept).tolist() == pa.array(kept).to_pylist() == pl.Series(kept).to_list() == values
    assert (kept[0], kept[-1], kept[1:3], len(kept)) == (values[0], values[-1], values[1:3], 40)


def test_times_without_a_zone_are_utc_and_days_are_times(monkeypatch):
    """As in a table of Arrow, whatever zone this machine is in; what pandas has for nothing is nothing."""
    monkeypatch.setenv("TZ", "Asia/Seoul")
    time.tzset()
    try:
        text = " ".join(WORDS[:40])
        seen = [
            datetime.datetime(2024, 5, 1, 3),
            datetime.datetime(2024, 5, 1, 2, tzinfo=datetime.timezone.utc),
            pd.NaT,
            None,
        ]
        rows = [{"id": str(at), "created": time, "text": text} for at, time in enumerate(seen)]
        wanted = wonbon.dedup(pa.table({"id": list("0123"), "text": [text] * 4, "created": pa.array(
            [time.replace(tzinfo=None) if time and time is not pd.NaT else None for time in seen], pa.timestamp("us"))}))
        families = wonbon.dedup(rows)
        assert families.table.to_pylist() == wanted.table.to_pylist()
        assert families.table.column("original") == ["1"] * 4
        days = [{"id": "0", "created": datetime.date(2024, 5, 2), "text": text}, {"id": "1", "created": datetime.date(2024, 5, 1), "text": text}]
        assert wonbon.dedup(days).table.column("original") == ["1", "1"]
    finally:
        monkeypatch.undo()
        time.tzset()
    missing = wonbon.dedup([{"id": np.int64(7), "text": text}, {"id": 8, "text": float("nan")}, {"id": 9, "text": pd.NA}])
    assert missing.table.column("id") == ["7", "8", "9"]
    assert missing.table.column("kind") == ["original", "empty", "empty"]


def test_a_data_frame_of_pandas_is_read_without_pyarrow():
    child = """
import importlib.util, sys
find = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "pyarrow" else find(name, *rest)
import pandas as pd, wonbon
text = "one two three four five six seven eight nine ten"
frame = pd.DataFrame({"id": ["a", "b", "c"], "text": [text, text.upper(), None]}, index=[5, 6, 7])
families = wonbon.dedup(frame)
assert families.table.column("kind") == ["original", "same-text", "empty"], families.table.to_pylist()
assert families.select()["id"].tolist() == ["a", "c"] and list(families.select().index) == [5, 7]
assert len(wonbon.sketch(frame["text"])) == 3 and list(wonbon.dedup(frame["text"]).kept) == [True, False, True]
"""
    done = subprocess.run([sys.executable, "-c", child], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_columns_that_are_no_part_of_a_document_may_hold_anything():
    text = " ".join(WORDS[:40])
    rows = [
        {"id": str(at), "text": text, "tags": ["a", at], "meta": {"n": at}, "vector": np.zeros(3), "none": None} for at in range(3)
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for data in (rows, columns, (row for row in rows)):
        assert wonbon.dedup(data).table.column("original") == ["0"] * 3
    assert wonbon.dedup(rows).select() == rows[:1]
    for wrong in ([{"text": ["a"]}], {"text": [["a"]]}, [{"id": ["a"], "text": "a"}]):
        with pytest.raises(wonbon.ColumnError, match="holds list in row 0"):
            wonbon.dedup(wrong)
    with pytest.raises(wonbon.ColumnError, match="there is no column `tags` for `text`"):
        wonbon.dedup(rows, text="tags")


def test_texts_alone_are_called_by_their_numbers():
    text = " ".join(WORDS[:30])
    families = wonbon.dedup([text, "other words", text])
    assert families.table.column("id") == ["0", "1", "2"]
    assert families.table.column("original") == ["0", "1", "0"]
    assert families.select() == [text, "other words"]
    assert families.copies_of(0) == ["2"]
    with pytest.raises(wonbon.UnknownDocumentError):
        families.copies_of("7")


def test_what_stands_in_another_table_is_a_copy(tmp_path):
    rows = corpus(8)
    old, new = rows[:60], rows[60:]
    for name, part in (("old", old), ("new", new)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(json.dumps({**r, "text": r["text"] or ""}) for r in part))
    done = program("dedup", tmp_path / "new.jsonl", "--against", tmp_path / "old.jsonl", "-o", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    families = wonbon.dedup(new, against=old)
    assert families.digest == json.loads(done.stdout)["digest"]
    assert len(families) == 60 and families.summary["others"] == 60
    assert set(families.table.column("original")) & {row["id"] for row in old}


def test_pairs_are_those_of_the_program(tmp_path):
    rows = corpus(9)
    told_by_program(rows, tmp_path, "--pairs", str(tmp_path / "pairs"))
    wanted = sorted(line.split("\t") for line in (tmp_path / "pairs").read_text().splitlines())
    pairs = wonbon.dedup(rows, pairs=True).pairs.to_pylist()
    assert sorted([one["left"], one["right"], f"{one['resemblance']:.6f}"] for one in pairs) == wanted
    assert wonbon.dedup(rows).pairs is None


@pytest.mark.parametrize("engine", ["exact", "features"])
def test_again_at_a_higher_threshold_is_a_run_at_that_threshold(engine):
    rows = corpus(10)
    families = wonbon.dedup(rows, threshold=0.5, engine=engine, pairs=True)
    for threshold in (0.5, 0.8, 1.0):
        again = families.again(threshold)
        fresh = wonbon.dedup(rows, threshold=threshold, engine="exact", pairs=True)
        assert again.table.to_pylist() == fresh.table.to_pylist()
        assert sorted(map(str, again.pairs.to_pylist())) == sorted(map(str, fresh.pairs.to_pylist()))
    assert again.again(1.0).digest == again.digest
    with pytest.raises(wonbon.RequestError, match="the threshold must be at least what it was"):
        families.again(0.4)
    with pytest.raises(wonbon.RequestError):
        families.again(1.5)


def test_an_explanation_shows_the_words_that_differ():
    text = " ".join(WORDS[:60])
    rows = [{"id": "a", "text": text}, {"id": "b", "text": text.replace("word50", "another")}]
    for name, data in tables([{"id": row["id"], "created": "2024", "text": row["text"]} for row in rows]):
        found = wonbon.dedup(data).explain("b")
        assert (found.kind, found.original) == ("copy", "a")
        if found.comparison:
            assert [(one.a, one.b) for one in found.comparison.diff()] == [("another", "word50")], name
            assert found.comparison.resemblance == found.resemblance
        else:
            assert "generator" in name or name == "reader", name


def test_an_explanation_reaches_pages_and_other_tables():
    text = " ".join(WORDS[:60])
    page = "<html><title>t</title><nav><a href=/>Home</a></nav><main><p>{}</p></main></html>"
    pages = {"id": ["a", "b"], "html": [page.format(text), page.format(text.replace("word50", "another"))]}
    for data in (pages, pa.table(pages), pd.DataFrame(pages), [dict(zip(pages, row)) for row in zip(*pages.values())]):
        found = wonbon.dedup(data).explain("b")
        assert [(one.a, one.b) for one in found.comparison.diff()] == [("another", "word50")]
    families = wonbon.dedup({"id": ["new"], "html": [page.format(text)]}, against={"id": ["old"], "html": [page.format(text)]})
    assert (families.explain("new").original, families.explain("new").comparison.resemblance) == ("old", 1.0)
    assert families.copies_of("old") == ["new"] and families.copies_of("new") == []


def test_the_report_is_a_page(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    rows = corpus(13)
    families = wonbon.dedup(rows)
    where = families.report(tmp_path / "report.html")
    page = pathlib.Path(where).read_text()
    assert opened == [pathlib.Path(where).as_uri()] and where == str(tmp_path / "report.html")
    summary, _ = told_by_program(rows, tmp_path)
    theirs = (tmp_path / "out/report.html").read_text()
    for part in (r"<h1>.*?</h1>", r"<(?:details|summary).*?</details>"):
        ours, wanted = (re.findall(part, one, re.DOTALL) for one in (page, theirs))
        assert ours == wanted and ours, part
    # Of what cannot be read again the page shows ids alone.
    once = wonbon.dedup(row for row in rows)
    again = once.again(0.9)
    assert "resemblance" in pathlib.Path(once.report(show=False)).read_text()
    assert "documents are copies" in pathlib.Path(again.report(show=False)).read_text() and len(opened) == 1


def test_columns_of_a_dictionary_may_be_of_any_kind():
    rows = corpus(14, 40)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    wanted = wonbon.dedup(columns)
    text, ids = columns["text"], columns["id"]
    for kind in (tuple, np.array, pa.array, pl.Series, lambda ids: pa.chunked_array([ids[:3], ids[3:]]), pd.Series):
        data = {**columns, "id": kind(ids), "text": kind(text) if kind is not np.array else np.array(text, object)}
        families = wonbon.dedup(data)
        assert families.digest == wanted.digest, kind
        kept = families.select()["id"]
        assert type(kept) is type(data["id"]), kind
        assert list(kept.to_pylist() if hasattr(kept, "to_pylist") else kept) == wanted.select()["id"], kind


def test_arrays_of_many_megabytes_are_read_in_pieces():
    draw = random.Random(16)
    texts = [" ".join(draw.choices(WORDS, k=1500)) for _ in range(800)]
    texts[700] = texts[3]
    one = pa.array(texts, pa.large_string())
    # More than two pieces of four megabytes.
    assert one.nbytes > 9e6
    wanted = wonbon.dedup(texts)
    assert wanted.table.column("original")[700] == "3"
    for column in (one, one.cast(pa.string_view()), one.dictionary_encode(), pa.array(["x", *texts])[1:]):
        told = []
        families = wonbon.dedup(pa.table({"text": column}), progress=lambda *at: told.append(at))
        assert families.digest == wanted.digest, column.type
    damaged = pa.Array.from_buffers(
        pa.large_string(), len(one), [None, one.buffers()[1], pa.py_buffer(one.buffers()[2].to_pybytes()[:-1] + b"\xff")]
    )
    with pytest.raises(wonbon.ColumnError, match="column `text` is damaged"):
        wonbon.dedup(pa.table({"text": damaged}))


def test_a_bar_is_shown(capsys):
    families = wonbon.dedup([" ".join(WORDS)] * 4000, progress=True)
    shown = capsys.readouterr().err
    assert len(families) == 4000 and (not shown or "done after" in shown)
    assert wonbon.dedup(["a"], progress=False).digest


def test_a_notebook_shows_small_tables():
    families = wonbon.dedup(corpus(11))
    assert "120 documents" in repr(families)
    assert families._repr_html_().startswith("<table>") and "<td>120" not in families._repr_html_()
    assert wonbon.dedup(["<script>"])._repr_html_().count("<script>") == 0


def test_jobs_over_files_are_those_of_the_program(tmp_path):
    rows = corpus(12)
    summary, _ = told_by_program(rows, tmp_path)
    told = []
    ours = wonbon.dedup_files(
        tmp_path / "rows.jsonl", tmp_path / "ours", progress=lambda phase, done, total: told.append(phase)
    )
    for name in ("digest", "documents", "kinds", "plan", "text_bytes"):
        assert ours[name] == summary[name], name
    for file in ("kept/rows.jsonl", "families.jsonl"):
        assert (tmp_path / "ours" / file).read_bytes() == (tmp_path / "out" / file).read_bytes()
    with pytest.raises(wonbon.RequestError, match="exists already; it is not overwritten"):
        wonbon.dedup_files(tmp_path / "rows.jsonl", tmp_path / "ours")
    with pytest.raises(wonbon.EnvironmentFailedError, match="no-such-file"):
        wonbon.dedup_files(tmp_path / "no-such-file", tmp_path / "nothing")
    clusters = wonbon.cluster_files([tmp_path / "rows.jsonl"], tmp_path / "clusters", threshold=0.5)
    done = program("cluster", tmp_path / "rows.jsonl", "-o", tmp_path / "theirs", "--threshold", "0.5", "--json")
    assert clusters["documents"] == json.loads(done.stdout)["documents"]


def golden(format):
    folder = pathlib.Path(os.environ["WONBON_GOLDEN"]) / format
    files = sorted(folder.iterdir())
    assert len(files) > 40
    return files


def test_golden_rows_are_the_documents_that_the_program_makes(tmp_path):
    """Each awkward row as a table: the same document, or refused in the words of the program."""
    compared = 0
    for file in golden("Parquet"):
        table = pa.parquet.read_table(file)
        done = program("sketch", file)
        if "redirect" in table.column_names and done.returncode != 0:
            continue
        names = set(table.column_names)
        try:
            families = wonbon.dedup(table)
        except wonbon.RequestError as error:
            # What has no text is an empty document in a table, so only other faults are refused.
            assert done.returncode == 1, (file, error)
            sentence = done.stderr.splitlines()[0].partition(" has ")[2]
            assert not sentence or sentence in str(error) or not names & {"text", "html"}, (file, error, done.stderr)
            continue
        if done.returncode != 0:
            # The program skips rows without content; in a table they are empty.
            assert "neither a field" in done.stderr and families.summary["kinds"]["empty"] == 1, (file, done.stderr)
            continue
        row = json.loads(done.stdout)
        (told,) = families.table.to_pylist()
        assert told["kind"] == ("empty" if row["shingles"] == 0 else "original"), file
        if names & {"id", "url"} and not row["id"].startswith(str(file)):
            assert told["id"] == row["id"], file
        compared += 1
    assert compared > 25


SHARED = pathlib.Path(__file__).resolve().parents[3] / "shared/data"


def rows_of(file):
    with pa.input_stream(file, compression="zstd") as lines:
        yield from map(json.loads, lines.read().splitlines())


def corpora():
    """The smallest of the shared corpora, unless the long form asks for all."""
    files = sorted(SHARED.glob("*.jsonl.zst"), key=lambda file: file.stat().st_size)
    return files if "WONBON_ALL_CORPORA" in os.environ else files[:1]


def lines_of(file):
    return [json.loads(line) for line in pathlib.Path(file).read_text().splitlines()]


@pytest.mark.skipif(not SHARED.exists(), reason="the shared corpora are not beside the checkout")
def test_a_shared_corpus_has_the_families_pairs_and_features_of_the_program(tmp_path):
    for file in corpora():
        out, pairs = tmp_path / file.name, tmp_path / f"{file.name}.pairs"
        done = program("dedup", file, "-o", out, "--pairs", pairs, "--json")
        assert done.returncode in (0, 1), done.stderr
        wanted, rows = json.loads(done.stdout), list(rows_of(file))
        families = wonbon.dedup(rows, pairs=True)
        assert families.digest == wanted["digest"], file
        assert families.summary["copies"] > 0 and families.summary["kinds"] == dict(wanted["kinds"]), file
        named = ("id", "kind", "family", "original", "resemblance")
        told = [{name: row[name] for name in named} for row in lines_of(out / "families.jsonl")]
        assert families.table.to_pylist() == told, file
        ours = [f"{one['left']}\t{one['right']}\t{one['resemblance']:.6f}" for one in families.pairs.to_pylist()]
        assert sorted(ours) == sorted(pairs.read_text().splitlines()), file
        features = [[f"{feature:016x}" for feature in one or []] for one in wonbon.sketch(row["text"] for row in rows)]
        done = program("sketch", file)
        assert features == [json.loads(line)["features"] for line in done.stdout.splitlines()], file


@pytest.mark.skipif(not SHARED.exists(), reason="the shared corpora are not beside the checkout")
def test_pages_of_the_shared_set_have_the_text_of_the_program(tmp_path):
    with pa.input_stream(SHARED / "web/cleaneval-dev.tar.zst", compression="zstd") as packed:
        archive = tarfile.open(fileobj=io.BytesIO(packed.read()))
    files, pages = [], []
    for member in archive.getmembers():
        if member.name.endswith(".html") and member.isfile():
            pages.append(archive.extractfile(member).read())
            files.append(tmp_path / f"{len(files)}.html")
            files[-1].write_bytes(pages[-1])
    told = [json.loads(line) for line in program("extract", "--json", *files).stdout.splitlines()]
    ours = wonbon.extract_column(pages).to_pylist()
    assert len(told) == len(ours) > 50
    for row, theirs, page in zip(ours, told, pages):
        assert row == {name: theirs[name] for name in row}
        assert wonbon.extract(page).links == [wonbon.Link(**link) for link in theirs["links"]]


NOT_UTF8 = pa.Array.from_buffers(
    pa.string(), 2, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0\4\0\0\0"), pa.py_buffer(b"ok\xff\xfe")]
)
# Two texts, of which one has more bytes than fit 31 bits. They take no memory as long as nobody looks at them.
NOTHING = mmap.mmap(-1, 2 + 2**31 + 8, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
ENDS = struct.pack("<3q", 0, 2, len(NOTHING))
LONG = pa.Array.from_buffers(pa.large_string(), 2, [None, pa.py_buffer(ENDS), pa.py_buffer(NOTHING)])

BAD_TABLES = [
    ({"text": ["a", "b"], "id": ["x"]}, {}, "column `id` has 1 rows where `text` has 2"),
    ({"body_text": ["a"]}, {}, "there is neither a column `text` nor a column `html`, only `body_text`; say `text=`"),
    ({"text": ["a"]}, {"text": "body"}, "there is no column `body` for `text`, only `text`"),
    ({"text": ["a"]}, {"order": "when"}, "there is no column `when` for `order`, only `text`"),
    ({"text": ["a"]}, {"keep": "min:score"}, "there is no column `score` for `keep`, only `text`"),
    ({"text": [1, 2]}, {}, "row:0 has a field `text` that is not a string"),
    ({"text": ["a"], "created": ["soon"]}, {}, "row:0 has a field `created` that is not a time: soon"),
    ({"text": ["a"], "id": [1.5]}, {}, "row:0 has a field `id` that is neither a string nor a whole number"),
    ({"text": ["a", 5]}, {}, "column `text` holds int in row 1, which fits nothing before it"),
    ({"text": [True]}, {}, "column `text` holds bool in row 0"),
    ({"text": 7}, {}, "column `text` is no list"),
    (pa.table({"text": NOT_UTF8}), {}, "column `text` is damaged:"),
    (pa.table({"id": ["x", "y"], "text": LONG}), {}, "column `text` has 2147483656 bytes in row 1, more than the "),
    (["a"], {"threshold": 0}, "`threshold` is above 0 and at most 1, not 0"),
    (["a"], {"threshold": 0.5, "rule": "2of6"}, "say a `threshold` or a `rule`, not both"),
    (["a"], {"keep": "newest"}, "`newest`: write earliest, longest, first, last, min:FIELD or max:FIELD"),
    (["a"], {"family": "round"}, "`round`: write star or linked"),
    (7, {}, "the data must be a column, a table or a list, not int"),
]


@pytest.mark.parametrize(("data", "options", "sentence"), BAD_TABLES)
def test_a_bad_table_is_named(data, options, sentence):
    with pytest.raises(wonbon.RequestError) as caught:
        wonbon.dedup(data, **options)
    assert str(caught.value).startswith(sentence)


def test_an_empty_table_has_no_families():
    for data in ([], {"text": []}, pa.table({"text": pa.array([], pa.string())}), iter([])):
        families = wonbon.dedup(data)
        assert (len(families), families.digest, list(families.kept)) == (0, "0" * 32, [])
