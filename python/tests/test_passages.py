"""Passages: what the program lists and removes, from any table."""

import json
import pathlib
import random
import subprocess
import sys

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import wonbon

NOTICE = "This site uses small files to remember who you are, 漢字 and what you like"


def corpus(seed, documents=80):
    """Texts with notices, quotes of one another and repetitions of themselves."""
    draw = random.Random(seed)
    texts = []
    for number in range(documents):
        own = " ".join(f"w{draw.randrange(50_000)}" for _ in range(draw.choice([0, 5, 40])))
        parts = [own, NOTICE if number % 3 else "", draw.choice(texts)[:200] if texts and draw.random() < 0.4 else ""]
        texts.append("\n".join(part for part in [*parts, own if number % 11 == 0 else ""] if part))
    return [{"id": f"d{number:03}", "text": text} for number, text in enumerate(texts)]


def written(path: pathlib.Path, rows):
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def program(*arguments):
    done = subprocess.run([sys.executable, "-m", "wonbon", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def listed(found):
    return {
        (one.text, one.words, one.bytes, one.occurrences, one.documents, one.saved)
        + tuple((place.id, place.start, place.end) for place in one.places)
        for one in found
    }


@pytest.mark.parametrize("words", [4, 12])
def test_a_table_has_the_passages_that_the_program_lists(tmp_path, words):
    rows = corpus(words)
    input = written(tmp_path / "in.jsonl", rows)
    program("passages", input, "-o", tmp_path / "out", "--words", words)
    told = lines(tmp_path / "out" / "passages.jsonl")
    expected = {
        (one["text"], one["words"], one["bytes"], one["occurrences"], one["documents"], one["saved"])
        + tuple((place["id"], place["start"], place["end"]) for place in one["places"])
        for one in told
    }
    found = wonbon.passages(rows, words=words)
    assert listed(found) == expected and len(found) == len(told) > 3
    assert [one.saved for one in found] == sorted((one.saved for one in found), reverse=True)
    for one in found:
        first = next(row for row in rows if row["id"] == one.places[0].id)
        assert first["text"].encode()[one.places[0].start : one.places[0].end].decode() == one.text
    summary = wonbon.passages_files(input, tmp_path / "files", words=words, threads=1)
    assert summary["passages"] == len(told)
    assert lines(tmp_path / "files" / "passages.jsonl") == told


@pytest.mark.parametrize("unit", ["word", "line", "paragraph"])
def test_what_is_left_of_a_table_is_what_the_program_leaves(tmp_path, unit):
    rows = corpus(len(unit))
    input = written(tmp_path / "in.jsonl", rows)
    flags = ("--passages-only", "--passages", 8, "--unit", unit, "--min-left", 3)
    program("dedup", input, "-o", tmp_path / "out", "--keep", "first", *flags)
    kept = lines(tmp_path / "out" / "kept" / "in.jsonl")
    cleaned = wonbon.remove_passages(rows, words=8, unit=unit, min_left=3, memory=1 << 20, threads=2)
    told = [{**row, "text": text} for row, text, keep in zip(rows, cleaned.texts, cleaned.kept) if keep]
    assert told == kept and 0 < len(kept) < len(rows)
    for row, left, removed in zip(rows, cleaned.texts, cleaned.removed):
        assert (row["text"] == left) == (removed == [])
    options = {"words": 8, "unit": unit, "min_left": 3, "keep": "first"}
    summary = wonbon.remove_passages_files(input, tmp_path / "files", **options)
    assert summary["passages"]["dropped"] == cleaned.kept.count(False)
    assert lines(tmp_path / "files" / "kept" / "in.jsonl") == kept
    again = wonbon.remove_passages(told, words=8, unit=unit)
    assert all(removed == [] for removed in again.removed)
    assert len(wonbon.passages(told, words=8, min_documents=1)) == 0


def test_another_table_is_compared_with_and_any_table_will_do():
    rows, other = corpus(5), [{"id": "n", "text": NOTICE}]
    cleaned = wonbon.remove_passages(rows, words=8, against=other, from_against=True)
    assert len(cleaned) == len(rows)
    assert not any(NOTICE[5:] in text for text in cleaned)
    found = wonbon.passages(rows, words=8, against=other)
    assert found[0].text == NOTICE and found[0].places[0].id == "n"
    every = wonbon.remove_passages(rows, words=8).texts
    columns = {name: [row[name] for row in rows] for name in ("id", "text")}
    tables = [columns, pa.table(columns), pd.DataFrame(columns), pl.DataFrame(columns), iter(rows), columns["text"]]
    for table in tables:
        assert wonbon.remove_passages(table, words=8).texts == every
    table = pa.table(wonbon.passages(rows, words=8))
    assert table.column_names == ["text", "words", "bytes", "occurrences", "documents", "saved", "places"]
    assert "<table>" in wonbon.passages(rows, words=8)._repr_html_()


def test_what_is_wrong_is_said_in_a_sentence():
    with pytest.raises(wonbon.RequestError, match="the words of a passage must be from 2 to 65536, not 1"):
        wonbon.passages(["a"], words=1)
    with pytest.raises(wonbon.RequestError, match="write word, line or paragraph"):
        wonbon.remove_passages(["a"], unit="page")
    with pytest.raises(wonbon.ColumnError, match="nothing"):
        wonbon.passages({"text": ["a"]}, text="nothing")
    assert len(wonbon.passages([], words=5)) == 0
    assert wonbon.remove_passages([None, "", "one"], words=5).texts == ["", "", "one"]


def test_a_store_names_the_passages_of_a_text(tmp_path):
    with wonbon.Store(tmp_path / "store") as store:
        store.add("notice", f"First of all. {NOTICE}. And so on.")
        found = store.passages(f"A page of mine. {NOTICE}! The end.", least_words=6)
        assert [one.text for one in found] == [NOTICE]
        place = found[0].places[0]
        assert (place.key, place.text) == ("notice", NOTICE)
        assert found.complete and found.repeated == 16 and found.documents[0].key == "notice"
        assert "<table>" in found._repr_html_()
