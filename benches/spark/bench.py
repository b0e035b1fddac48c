"""Families on Spark: what a run costs, and whether it says what `wonbon dedup` says.

Data: the four text corpora beside the checkout (Reuters, Usenet, API documentation, court precedents; 76,199
documents, 206 MB of text), once or several times over (`--times N`: every copy has other words, made by a suffix
that the copy's number decides, so that nothing is a copy across them), as Parquet. Left out: starting the session,
which is told apart. One session on `local[2]`, one warm-up on the smallest corpus.

Measured by Spark's event log: task-seconds (what tasks ran, Python included), bytes shuffled, and for each step
its longest task; by /proc: CPU seconds and the largest resident memory of the driver and of the Python workers.

    target/spark/4.3.0/venv/bin/python benches/spark/bench.py --program target/release/wonbon [--times N]
"""

import argparse
import glob
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

import pyarrow
import pyarrow.parquet
from pyspark.sql import SparkSession

CORPORA = ["en-reuters21578", "en-usenet20news", "en-win32-api-docs", "ko-precedents"]
COLUMNS = ["id", "kind", "family", "original", "resemblance"]


def rows_of(shared, times):
    for number in range(times):
        for corpus in CORPORA:
            lines = subprocess.run(
                ["zstd", "-dc", str(shared / f"{corpus}.jsonl.zst")], capture_output=True, check=True
            ).stdout.splitlines()
            for line in lines:
                row = json.loads(line)
                text = row["text"]
                if number:
                    text = " ".join(f"{word}x{number}" for word in text.split())
                yield {"id": f"{number}:{row['id']}", "created": row.get("created"), "text": text}


def write_table(path, rows):
    schema = pyarrow.schema([(name, pyarrow.string()) for name in ("id", "created", "text")])
    count = size = 0
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        batch = []
        for row in rows:
            batch.append(row)
            count, size = count + 1, size + len(row["text"].encode())
            if len(batch) == 2000:
                writer.write_table(pyarrow.Table.from_pylist(batch, schema))
                batch = []
        writer.write_table(pyarrow.Table.from_pylist(batch, schema))
    return count, size


class Watch(threading.Thread):
    """CPU seconds and resident memory of this process's children, ten times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.cpu, self.most, self.over = {}, {"java": 0, "python": 0}, threading.Event()

    def run(self):
        tick = os.sysconf("SC_CLK_TCK")
        while not self.over.wait(0.1):
            seen = {}
            for place in glob.glob("/proc/[0-9]*/stat"):
                try:
                    with open(place) as file:
                        name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
                except OSError:
                    continue
                seen[int(place.split("/")[2])] = (name, rest.split())
            for pid, (name, fields) in seen.items():
                above = pid
                while above in seen and above != os.getpid():
                    above = int(seen[above][1][1])
                if above != os.getpid() or pid == above:
                    continue
                self.cpu[pid] = (int(fields[11]) + int(fields[12])) / tick
                kind = "java" if name == "java" else "python"
                self.most[kind] = max(self.most[kind], int(fields[21]) * 4096)

    def total(self):
        return sum(self.cpu.values())


def read_log(folder, since):
    """Task-seconds, bytes shuffled and the longest task of everything after a moment."""
    told = {"task_seconds": 0.0, "shuffled": 0, "longest": 0.0, "tasks": 0}
    for path in glob.glob(f"{folder}/*"):
        with open(path) as lines:
            for line in lines:
                if '"SparkListenerTaskEnd"' not in line:
                    continue
                event = json.loads(line)
                if event["Task Info"]["Launch Time"] < since:
                    continue
                metrics = event.get("Task Metrics", {})
                seconds = metrics.get("Executor Run Time", 0) / 1000
                told["tasks"] += 1
                told["task_seconds"] += seconds
                told["longest"] = max(told["longest"], seconds)
                told["shuffled"] += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return told


def local_run(program, table, folder):
    before = os.times()
    start = time.monotonic()
    command = [program, "dedup", table, "-o", f"{folder}/local", "--threads", "2", "--engine", "features"]
    subprocess.run(command, check=True, capture_output=True)
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return cpu, time.monotonic() - start


def compare(families, folder):
    local = pyarrow.parquet.read_table(f"{folder}/local/families.parquet").to_pylist()
    ours = sorted(tuple(row) for row in families.select(*COLUMNS).collect())
    theirs = sorted(tuple(row[name] for name in COLUMNS) for row in local)
    digest = hashlib.sha256(repr(ours).encode()).hexdigest()[:16]
    return ours == theirs, digest


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--shared", default="../shared/data", type=pathlib.Path)
    parser.add_argument("--times", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        table = f"{folder}/corpus.parquet"
        documents, size = write_table(table, rows_of(options.shared, options.times))
        small = f"{folder}/small.parquet"
        write_table(small, list(rows_of(options.shared, 1))[:3000])
        os.mkdir(f"{folder}/log")
        os.environ["PYSPARK_PYTHON"] = sys.executable
        os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
        watch = Watch()
        watch.start()
        start = time.monotonic()
        spark = (
            SparkSession.builder.master("local[2]")
            .config("spark.driver.memory", "1g")
            .config("spark.ui.enabled", "false")
            .config("spark.driver.host", "127.0.0.1")
            .config("spark.eventLog.enabled", "true")
            .config("spark.eventLog.rolling.enabled", "false")
            .config("spark.eventLog.dir", f"file://{folder}/log")
            .config("spark.local.dir", folder)
            .getOrCreate()
        )
        spark.sparkContext.setLogLevel("ERROR")
        from wonbon.spark import dedup

        frame = spark.read.parquet(small)
        dedup(frame, order="created", engine="features", checkpoint=f"{folder}/warm").count()
        session = time.monotonic() - start
        frame = spark.read.parquet(table)
        since, before, start = time.time() * 1000, watch.total(), time.monotonic()
        families = dedup(frame, order="created", engine="features", checkpoint=f"{folder}/steps")
        seconds = time.monotonic() - start
        time.sleep(0.3)
        cpu = watch.total() - before
        local_cpu, local_seconds = local_run(options.program, table, folder)
        equal, digest = compare(families, folder)
        written = sum(
            os.path.getsize(path)
            for path in glob.glob(f"{folder}/steps/**", recursive=True)
            if os.path.isfile(path)
        )
        spark.stop()
        told = read_log(f"{folder}/log", since)
        print(
            json.dumps(
                {
                    "documents": documents,
                    "text_bytes": size,
                    "equal": equal,
                    "digest_of_rows": digest,
                    "session_and_warm_up_seconds": round(session, 1),
                    "wall_seconds": round(seconds, 1),
                    "cpu_seconds": round(cpu, 1),
                    "local_wall_seconds": round(local_seconds, 1),
                    "local_cpu_seconds": round(local_cpu, 1),
                    "task_seconds": round(told["task_seconds"], 1),
                    "tasks": told["tasks"],
                    "longest_task_seconds": round(told["longest"], 1),
                    "shuffled_bytes_a_document": round(told["shuffled"] / documents),
                    "written_bytes_a_document": round(written / documents),
                    "peak_java_bytes": watch.most["java"],
                    "peak_python_bytes": watch.most["python"],
                    "MB_a_task_second": round(size / 1e6 / told["task_seconds"], 1),
                },
                indent=1,
            )
        )


if __name__ == "__main__":
    main()
