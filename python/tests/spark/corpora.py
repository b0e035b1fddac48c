"""Corpora with everything that makes families hard, and what the program says of them."""

import json
import os
import pathlib
import random
import subprocess
import sys

import pyarrow
import pyarrow.parquet

COLUMNS = ("id", "kind", "family", "original", "resemblance")


def corpus(seed, documents=60):
    """Planted families, a chain of versions, pages of one template, empty documents, equal dates, identical
    documents and equal texts: (id, created, text), in no order."""
    chance = random.Random(seed)
    words = [f"w{number}" for number in range(400)]
    texts = []
    while len(texts) < documents:
        text = [chance.choice(words) for _ in range(chance.randint(0, 90))]
        texts.append(text)
        for _ in range(chance.choice([0, 0, 1, 3])):
            copy = list(text)
            for _ in range(chance.randint(0, 4)):
                if copy:
                    copy[chance.randrange(len(copy))] = chance.choice(words)
            texts.append(copy)
    version = [f"chain{number}" for number in range(70)]
    for edit in range(12):
        version[chance.randrange(70)] = f"edit{edit}"
        texts.append(list(version))
    frame = [f"frame{number}" for number in range(60)]
    for page in range(8):
        texts.append(frame + [f"page{page}word{n}" for n in range(chance.randint(3, 16))])
    texts = [" ".join(text) for text in texts]
    again = chance.randrange(len(texts))
    texts += [texts[again], texts[again].replace(" ", "  "), "", "... !", "two words", "one"]
    chance.shuffle(texts)
    created = [f"2024-05-{chance.randint(1, 9):02}" if chance.random() < 0.8 else None for _ in texts]
    return [(f"d{number:05}", date, text) for number, (date, text) in enumerate(zip(created, texts))]


def write_lines(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        for name, created, text in rows:
            row = {"id": name, "text": text}
            if created is not None:
                row["created"] = created
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def write_table(path, rows):
    """Rows as Parquet, sorted by their ids."""
    schema = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "created", "text")])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        batch = []
        for row in sorted(rows):
            batch.append(dict(zip(schema.names, row)))
            if len(batch) == 2000:
                writer.write_table(pyarrow.Table.from_pylist(batch, schema))
                batch = []
        writer.write_table(pyarrow.Table.from_pylist(batch, schema))


def program():
    """The command of the package, or another program that is to be compared with."""
    chosen = os.environ.get("WONBON_PROGRAM")
    return [chosen] if chosen else [sys.executable, "-m", "wonbon"]


def dedup_files(folder: pathlib.Path, rows, *flags, against=None):
    """What `wonbon dedup` says: rows of `COLUMNS`, sorted; and its summary as JSON."""
    folder.mkdir(parents=True)
    write_lines(folder / "in.jsonl", rows)
    command = [*program(), "dedup", str(folder / "in.jsonl"), "-o", str(folder / "out"), *flags]
    if against is not None:
        write_lines(folder / "against.jsonl", against)
        command += ["--against", str(folder / "against.jsonl")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with open(folder / "out" / "families.jsonl", encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    summary = json.loads((folder / "out" / "summary.json").read_text())
    return sorted(tuple(row[name] for name in COLUMNS) for row in found), summary


def collected(families):
    """The rows of a DataFrame of families, sorted."""
    return sorted(tuple(row) for row in families.select(*COLUMNS).collect())


def frame_of(spark, rows, partitions=3, shuffled=0):
    """A DataFrame of a corpus, cut into partitions, in an order of its own."""
    rows = list(rows)
    random.Random(shuffled).shuffle(rows)
    frame = spark.createDataFrame(rows, "id string, created string, text string")
    return frame.repartition(partitions, "id")
