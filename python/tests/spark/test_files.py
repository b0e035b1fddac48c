"""`python -m wonbon.spark`: the inputs and outputs of `wonbon dedup`, and a run that is killed and goes on."""

import gzip
import json
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import time

import pyarrow
import pyarrow.parquet
import pytest
from conftest import settings
from corpora import COLUMNS, corpus, dedup_files, write_lines

import wonbon.spark.__main__ as program


def configured(cluster):
    """The options of `spark-submit` for `local[2]`."""
    values = {**settings(cluster.folder), "spark.master": "local[2]"}
    return [part for name, value in values.items() if value for part in ("--conf", f"{name}={value}")]


def command(cluster, *arguments):
    """`python -m wonbon.spark` in a process of its own."""
    submit = shlex.join([*configured(cluster), "pyspark-shell"])
    environment = {**os.environ, "PYSPARK_SUBMIT_ARGS": submit, "SPARK_LOCAL_IP": "127.0.0.1"}
    call = [sys.executable, "-m", "wonbon.spark", *map(str, arguments)]
    return {"args": call, "env": environment, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}


def run(cluster, *arguments):
    return subprocess.run(**command(cluster, *arguments))


def submit(cluster, *arguments):
    """The same program given to `spark-submit`."""
    environment = {**os.environ, "SPARK_HOME": str(cluster.home), "SPARK_LOCAL_IP": "127.0.0.1"}
    environment["PYSPARK_PYTHON"] = sys.executable
    call = [str(cluster.home / "bin/spark-submit"), *configured(cluster), program.__file__, *map(str, arguments)]
    return subprocess.run(call, env=environment, capture_output=True, text=True)


def text_of(place: pathlib.Path) -> str:
    parts = sorted(place.glob("part-*"))
    return "".join((gzip.open(p, "rt") if p.suffix == ".gz" else open(p)).read() for p in parts)


def families_of(place: pathlib.Path):
    rows = pyarrow.parquet.read_table(place).to_pylist()
    return sorted(tuple(row[name] for name in COLUMNS) for row in rows)


def test_json_lines_as_the_program_reads_them(cluster, spark, tmp_path, capsys):
    rows = corpus(43, documents=120)
    expected, local = dedup_files(tmp_path / "local", rows, "--engine", "features")
    inputs = tmp_path / "in put"
    inputs.mkdir()
    write_lines(inputs / "a%20b.jsonl", rows[:70])
    write_lines(inputs / "c.jsonl", rows[70:])
    with open(inputs / "c.jsonl", "a") as file:
        file.write('\n{"id": "no text"}\n["no object"]\nnot JSON\n')
    out = tmp_path / "out"
    done = submit(cluster, inputs, "-o", out, "--engine", "features")
    assert done.returncode == 1, done.stderr
    told = json.loads(done.stdout)
    assert told["digest"] == local["digest"] and told["skipped"] == 3
    assert json.loads(text_of(out / "summary.json")) == told
    assert families_of(out / "families.parquet") == expected
    kept = {row[0] for row in expected if row[1] in ("original", "empty")}
    lines = {line for path in inputs.iterdir() for line in path.read_text().splitlines()}
    found = text_of(out / "kept").splitlines()
    assert set(found) <= lines and {json.loads(line)["id"] for line in found} == kept
    report = text_of(out / "report.md")
    assert report.startswith(f"# {len(rows) - len(kept)} of {len(rows)} documents are copies")
    assert local["digest"] in report
    # What is refused is refused in this process, whose session is up.
    assert program.main([str(inputs), "-o", str(out), "--engine", "features"]) == 2
    assert f"error: {out} exists; it is not overwritten" in capsys.readouterr().err
    assert program.main([str(tmp_path / "nothing"), "-o", str(tmp_path / "other")]) == 2
    assert "nothing does not exist" in capsys.readouterr().err
    assert not (tmp_path / "other").exists() and not (tmp_path / "other.steps").exists()


@pytest.mark.long
def test_a_run_over_parquet_that_is_killed_goes_on(cluster, tmp_path):
    """Killed whenever another step has begun; every time the same command."""
    rows = corpus(47, documents=200)
    others = corpus(48)
    flags = ["--engine", "features", "--keep", "last"]
    expected, local = dedup_files(tmp_path / "local", rows, *flags, against=others)
    schema = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "created", "text")])
    for name, part in (("in", rows), ("against", others)):
        table = pyarrow.Table.from_pylist([dict(zip(schema.names, row)) for row in part], schema)
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet", row_group_size=50)
    out, steps = tmp_path / "out", tmp_path / "steps"
    call = [tmp_path / "in.parquet", "-o", out, "--steps", steps, "--against", tmp_path / "against.parquet", *flags]
    for name in ["sketches", "members", "pairs", "groups", "assigned", "originals", "families"]:
        process = subprocess.Popen(**command(cluster, *call), start_new_session=True)
        while process.poll() is None and not (steps / name).exists():
            time.sleep(0.01)
        time.sleep(random.Random(name).random() / 4)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    done = run(cluster, *call)
    if done.returncode:
        assert "exists; it is not overwritten" in done.stderr, done.stderr
    assert json.loads(text_of(out / "summary.json"))["digest"] == local["digest"]
    assert families_of(out / "families.parquet") == expected
    refused = run(cluster, *call[:2], tmp_path / "second", *call[3:], "--threshold", "0.7")
    assert refused.returncode == 2 and "another rule" in refused.stderr
