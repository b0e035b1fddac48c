"""Texts from a cluster are those of `wonbon dedup --passages-only`, document by document."""

import json
import subprocess

import pytest
from conftest import LONG
from corpora import corpus, frame_of, program, write_lines

from wonbon.errors import RequestError
from wonbon.spark import remove_passages


def left_by_program(folder, rows, *flags, against=None):
    """Id and text of the rows that are kept."""
    folder.mkdir(parents=True)
    write_lines(folder / "in.jsonl", rows)
    command = [*program(), "dedup", str(folder / "in.jsonl"), "-o", str(folder / "out"), "--passages-only", *flags]
    if against is not None:
        write_lines(folder / "against.jsonl", against)
        command += ["--against", str(folder / "against.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(folder / "out" / "kept" / "in.jsonl", encoding="utf-8") as lines:
        return sorted((row["id"], row["text"]) for row in map(json.loads, lines))


def collected(left):
    return sorted((row.id, row.text) for row in left.where("kept").collect())


@pytest.mark.parametrize("words, unit, partitions", [(8, "word", 3), (20, "line", 1), (5, "paragraph", 7)])
def test_what_is_left(spark, tmp_path, words, unit, partitions):
    for seed in range(20 if LONG else 1):
        gap = "\n\n" if unit == "paragraph" else "\n"
        rows = [(name, date, text.replace(" w", f"{gap}w", 2)) for name, date, text in corpus(50 + words + seed)]
        flags = ("--passages", str(words), "--unit", unit, "--min-left", "2")
        expected = left_by_program(tmp_path / f"local-{seed}", rows, *flags)
        assert any(text not in {text for _, _, text in rows} for _, text in expected)
        left = remove_passages(
            frame_of(spark, rows, partitions, shuffled=seed),
            order="created",
            words=words,
            unit=unit,
            min_left=2,
            partitions=partitions,
            checkpoint=str(tmp_path / f"steps-{seed}"),
        )
        assert left.columns == ["id", "text", "removed", "words_left", "kept"]
        assert collected(left) == expected


def test_another_corpus_and_a_run_that_continues(spark, tmp_path):
    rows, others = corpus(3), corpus(4, documents=20) + [("x", None, corpus(3)[5][2])]
    flags = ("--passages", "6", "--passages-from-against")
    expected = left_by_program(tmp_path / "local", rows, *flags, against=others)
    place = str(tmp_path / "steps")
    options = {"order": "created", "words": 6, "from_against": True, "checkpoint": place}
    frames = frame_of(spark, rows), frame_of(spark, others)
    for _ in range(2):
        assert collected(remove_passages(frames[0], against=frames[1], **options)) == expected
    with pytest.raises(RequestError, match="another words"):
        remove_passages(frames[0], against=frames[1], **{**options, "words": 7})
    with pytest.raises(RequestError, match="checkpoint="):
        remove_passages(frames[0])
