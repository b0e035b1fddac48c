"""Families on Spark: what a run costs, and whether it says what `wonbon dedup` says.

    bench.py families CORPUS.parquet --program WONBON [--pairs TSV]     one line of JSON
    bench.py corpus OUT.parquet [--times N] [--only CORPUS] [--most BYTES] [--lines JSONL]
                                                                the four text corpora, N times over, or part of one
    bench.py generated OUT.parquet DOCUMENTS                            made-up posts with planted copies

Corpus: Reuters, Usenet, API documentation and court precedents from beside the checkout (76,199 documents, 206 MB
of text), once or several times over: every time with other words, so nothing is a copy across them. Rows are sorted by
id: that is how Spark orders documents of one date, and the local run takes them as they stand.

The cluster is `local-cluster[2,1,1024]`: two executors of one core with a heap of 600 MB each, processes of their
own beside the driver. One warm-up on 3,000 documents. Left out: starting the session and the warm-up, which are
told apart, and collecting the families for the comparison.

Measured by Spark's event log: task-seconds (what tasks ran, Python included), bytes shuffled, the longest task; by
/proc, five times a second: CPU seconds of everything, and the largest resident memory of one process of each kind
(driver, executor, Python worker). Both are told for each step of the run, too. `wonbon dedup` runs afterwards on the
same file with two threads.
"""

import argparse
import glob
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time

import pyarrow
import pyarrow.compute
import pyarrow.parquet

CORPORA = ["en-reuters21578", "en-usenet20news", "en-win32-api-docs", "ko-precedents"]
NAMES = ("id", "created", "text")


def shared_rows(shared, times, corpora):
    for number in range(times):
        for corpus in corpora:
            call = ["zstd", "-dcq", "--long=27", str(shared / f"{corpus}.jsonl.zst")]
            lines = subprocess.run(call, capture_output=True, check=True).stdout.splitlines()
            for row in sorted(map(json.loads, lines), key=lambda row: str(row["id"])):
                text = row["text"]
                if number:
                    text = " ".join(f"{word}x{number}" for word in text.split())
                yield f"{number:03}:{corpus}:{row['id']}", row.get("created"), text


def up_to(rows, most):
    """Rows until they have so many bytes of text."""
    size = 0
    for row in rows:
        size += len(row[2].encode())
        if size > most:
            return
        yield row


def generated_rows(documents):
    """Posts of 40 to 100 words; one in five is a copy with one word changed, of one of the last 1,000 posts."""
    chance = random.Random(1997)
    words = [f"w{number:05}" for number in range(50_000)]
    posts = []
    for number in range(documents):
        if posts and chance.random() < 0.2:
            post = list(chance.choice(posts))
            post[chance.randrange(len(post))] = chance.choice(words)
        else:
            post = chance.choices(words, k=chance.randint(40, 100))
        posts = [*posts[-999:], post] if len(posts) > 2000 else posts
        posts.append(post)
        yield f"{number:09}", f"2024-{1 + number * 12 // documents:02}-01", " ".join(post)


def write_table(path, rows, lines=None):
    schema = pyarrow.schema([(name, pyarrow.string()) for name in NAMES])
    count = size = 0
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        batch = []
        for row in rows:
            batch.append(row)
            if lines is not None:
                lines.write(json.dumps({"id": row[0], "created": row[1], "text": row[2]}) + "\n")
            count, size = count + 1, size + len(row[2].encode())
            if len(batch) == 5000:
                writer.write_table(pyarrow.table(list(zip(*batch)), schema=schema))
                batch = []
        if batch:
            writer.write_table(pyarrow.table(list(zip(*batch)), schema=schema))
    print(json.dumps({"documents": count, "text_bytes": size}))


class Watch(threading.Thread):
    """CPU seconds and resident memory of this process's children, five times a second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.cpu, self.kinds, self.kind_of = {}, {}, {}
        self.most = {"driver": 0, "executor": 0, "python": 0}

    def run(self):
        while True:
            self.look()
            time.sleep(0.2)

    def look(self):
        tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
        seen = {}
        for place in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(place) as file:
                    name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
            except (OSError, IndexError):
                continue
            seen[int(place.split("/")[2])] = (name, rest.split())
        for pid, (name, fields) in seen.items():
            above = pid
            while above in seen and above != os.getpid():
                above = int(seen[above][1][1])
            if above != os.getpid() or pid == above:
                continue
            # A forked worker counts from the moment it is there.
            self.cpu[pid] = (int(fields[11]) + int(fields[12])) / tick
            kind = self.kind_of[pid] = self.kind(pid, name)
            self.most[kind] = max(self.most[kind], int(fields[21]) * page)

    def kind(self, pid, name):
        if name != "java":
            return "python"
        if pid not in self.kinds:
            try:
                with open(f"/proc/{pid}/cmdline") as file:
                    executor = "CoarseGrainedExecutorBackend" in file.read()
            except OSError:
                return "driver"
            self.kinds[pid] = "executor" if executor else "driver"
        return self.kinds[pid]

    def total(self):
        self.look()
        return sum(self.cpu.values())

    def by_kind(self):
        """CPU seconds of drivers, executors and Python workers since the start."""
        told = dict.fromkeys(self.most, 0.0)
        for pid, seconds in self.cpu.items():
            told[self.kind_of[pid]] += seconds
        return told


class Steps:
    """What each step of a run takes: notes who is at work whenever that changes."""

    def __init__(self, watch):
        self.watch, self.names, self.marks = watch, ["between"], []

    def follow(self, checkpoint):
        for method in ("step", "remember"):
            setattr(checkpoint, method, self.followed(getattr(checkpoint, method)))

    def followed(self, method):
        def call(checkpoint, name, make, **sums):
            self.names.append(name)
            self.mark()
            try:
                return method(checkpoint, name, make, **sums)
            finally:
                self.names.pop()
                self.mark()

        return call

    def mark(self):
        self.marks.append((time.time() * 1000, self.watch.total(), self.names[-1]))

    def told(self, tasks):
        """CPU seconds and bytes shuffled by step; `tasks` are moments with bytes."""
        told = {}
        for (since, before, name), (end, after, _) in zip(self.marks, self.marks[1:]):
            step = told.setdefault(name, {"cpu_seconds": 0, "shuffled": 0})
            step["cpu_seconds"] = round(step["cpu_seconds"] + after - before, 1)
            step["shuffled"] += sum(size for moment, size in tasks if since <= moment < end)
        return told


def read_log(folder, since):
    """What all tasks after a moment took, and the longest task of each stage against the median of its stage."""
    told = {"task_seconds": 0.0, "shuffled": 0, "longest": 0.0, "tasks": 0, "moved": []}
    for path in glob.glob(f"{folder}/**", recursive=True):
        if not os.path.isfile(path) or path.endswith(".crc"):
            continue
        with open(path, errors="replace") as lines:
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
                moved = metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
                told["shuffled"] += moved
                told["moved"].append((event["Task Info"]["Launch Time"], moved))
    return told


def session(folder, heap):
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ.setdefault("SPARK_HOME", str(pathlib.Path(__import__("pyspark").__file__).parent))
    os.makedirs(f"{folder}/log", exist_ok=True)
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in {
        "spark.driver.memory": "800m",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": heap,
        "spark.executorEnv.PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "spark.eventLog.enabled": "true",
        "spark.eventLog.rolling.enabled": "false",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": f"file://{folder}/log",
        "spark.local.dir": folder,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "16",
        # A partition of the scan: the bytes of a Parquet file.
        "spark.sql.files.maxPartitionBytes": "32m",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def local_run(program, table, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    call = [program, "dedup", table, "-o", f"{folder}/local", "--threads", "2", "--engine", "features"]
    call = ["/usr/bin/env", "python3", "-c", PEAK, *call]
    peak = int(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    with open(f"{folder}/local/summary.json") as file:
        return cpu, seconds, peak, json.load(file)["digest"]


PEAK = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL, "
    "stderr=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)


def text_bytes(table):
    file = pyarrow.parquet.ParquetFile(table)
    batches = file.iter_batches(columns=["text"])
    return sum(pyarrow.compute.sum(pyarrow.compute.binary_length(batch.column(0))).as_py() for batch in batches)


def families(options):
    table = os.path.abspath(options.corpus)
    size = text_bytes(table)
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR", "/tmp")) as folder:
        watch = Watch()
        watch.start()
        start = time.monotonic()
        spark = session(folder, options.heap)
        from wonbon.spark import _checkpoint, dedup, digest, summary

        source = spark.read.parquet(table)
        settings = {"order": "created", "engine": "features"}
        warm = spark.createDataFrame(source.limit(3000).collect(), source.schema)
        dedup(warm, checkpoint=f"{folder}/warm", **settings).count()
        up = time.monotonic() - start
        followed = Steps(watch)
        followed.follow(_checkpoint.Checkpoint)
        since, before, start = time.time() * 1000, watch.total(), time.monotonic()
        kinds = watch.by_kind()
        followed.mark()
        place = f"{folder}/pairs" if options.pairs else None
        found = dedup(source, checkpoint=f"{folder}/steps", pairs=place, **settings)
        followed.mark()
        wall, cpu = time.monotonic() - start, watch.total() - before
        end, after = time.time() * 1000, watch.by_kind()
        ours, totals = digest(found), summary(found)
        if options.pairs:
            with open(options.pairs, "w") as file:
                for row in spark.read.parquet(place).collect():
                    file.write(f"{row.earlier}\t{row.later}\n")
        written = {}
        for path in glob.glob(f"{folder}/steps/*"):
            files = [file for file in glob.glob(f"{path}/**", recursive=True) if os.path.isfile(file)]
            written[os.path.basename(path)] = sum(map(os.path.getsize, files))
        spark.stop()
        told = read_log(f"{folder}/log", since)
        local_cpu, local_wall, local_peak, theirs = local_run(options.program, table, folder)
    documents = totals["documents"]
    print(
        json.dumps(
            {
                "documents": documents,
                "text_bytes": size,
                "equal": ours == theirs,
                "digest": ours,
                "kinds": totals["kinds"],
                "session_and_warm_up_seconds": round(up, 1),
                "wall_seconds": round(wall, 1),
                "cpu_seconds": round(cpu, 1),
                "cpu_seconds_of": {kind: round(after[kind] - kinds[kind], 1) for kind in after},
                "task_seconds": round(told["task_seconds"], 1),
                "tasks": told["tasks"],
                "longest_task_seconds": round(told["longest"], 1),
                "MB_a_cpu_second": round(size / 1e6 / cpu, 1),
                "MB_a_task_second": round(size / 1e6 / told["task_seconds"], 1),
                "shuffled_bytes_a_document": round(told["shuffled"] / documents),
                "written_bytes_a_document": {
                    name: round(count / documents, 1) for name, count in sorted(written.items())
                },
                "steps": {
                    name: {
                        "cpu_seconds": step["cpu_seconds"],
                        "shuffled_bytes_a_document": round(step["shuffled"] / documents),
                    }
                    for name, step in followed.told(told["moved"]).items()
                },
                "peak_MB": {kind: round(count / 1e6) for kind, count in watch.most.items()},
                "local_wall_seconds": round(local_wall, 1),
                "local_cpu_seconds": round(local_cpu, 1),
                "local_peak_MB": round(local_peak / 1e3),
                "cpu_against_local": round(cpu / local_cpu, 2),
                "measured_ms": round(end - since),
            }
        )
    )


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("families")
    one.add_argument("corpus")
    one.add_argument("--program", required=True)
    one.add_argument("--heap", default="600m")
    one.add_argument("--pairs", help="where found pairs go")
    one = commands.add_parser("corpus")
    one.add_argument("out")
    one.add_argument("--shared", default="../shared/data", type=pathlib.Path)
    one.add_argument("--times", type=int, default=1)
    one.add_argument("--only", choices=CORPORA)
    one.add_argument("--most", type=float, default=float("inf"))
    one.add_argument("--lines")
    one = commands.add_parser("generated")
    one.add_argument("out")
    one.add_argument("documents", type=int)
    options = parser.parse_args()
    if options.command == "corpus":
        rows = shared_rows(options.shared, options.times, [options.only] if options.only else CORPORA)
        rows = up_to(rows, options.most)
        lines = open(options.lines, "w") if options.lines else None
        write_table(options.out, rows, lines)
        if lines:
            lines.close()
    elif options.command == "generated":
        write_table(options.out, generated_rows(options.documents))
    else:
        families(options)


if __name__ == "__main__":
    main()
