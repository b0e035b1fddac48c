"""The last Spark script of text-dedup (0.3.1), and recall and precision of what tools found.

    peers.py text-dedup CORPUS.parquet PAIRS.tsv [--partitions N]     one line of JSON
    peers.py score TRUTH.tsv PAIRS.tsv                                recall and precision

The script comes from the installed package and is changed where it must be: the corpus is read from Parquet and not
from BigQuery, the components are written as pairs (every two documents of one), and with --partitions its number of
partitions is ours. Threshold 0.8, 5 words, its own 256 permutations. Session, executors and what is measured: bench.py.
"""

import argparse
import importlib.util
import itertools
import json
import os
import sys
import tempfile
import time

from bench import Watch, read_log, session

SCRIPT = "text_dedup.minhash_spark"


def changed(source, replacements):
    for old, new in replacements:
        if old not in source:
            sys.exit(f"error: the script is not that of 0.3.1: it lacks {old!r}")
        source = source.replace(old, new)
    return source


def text_dedup(options):
    place = importlib.util.find_spec("text_dedup").submodule_search_locations[0]
    with open(os.path.join(place, "minhash_spark.py")) as file:
        source = file.read()
    replacements = [
        ('spark.read.format("bigquery").option("table", args.table).load()', "spark.read.parquet(args.table)"),
        ("sys.exit(0)", "raise SystemExit(0)"),
    ]
    if options.partitions:
        replacements.append(("records.repartition(args.num_perm * 2)", f"records.repartition({options.partitions})"))
    source = changed(source, replacements)
    # The last lines drop whole components; who is in one is kept beside it.
    collected = "FOUND.extend(df.join(components, on='__id__').select('component', 'id').collect())"
    source = source.replace("components.show()", collected)
    found = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR", "/tmp")) as folder:
        # Its functions must be importable where tasks run.
        with open(os.path.join(folder, "peer_script.py"), "w") as file:
            file.write(source.replace('if __name__ == "__main__":', "def run(FOUND):"))
        os.environ["PYTHONPATH"] = f"{folder}:{os.environ.get('PYTHONPATH', '')}"
        sys.path.insert(0, folder)
        watch = Watch()
        watch.start()
        spark = session(folder, "600m")
        spark.range(8).rdd.map(lambda row: row.id).count()
        import peer_script

        sys.argv = ["peer", "--table", options.corpus, "--threshold", "0.8", "--column", "text"]
        sys.argv += ["--output", f"{folder}/out"]
        since, before, start = time.time() * 1000, watch.total(), time.monotonic()
        peer_script.run(found)
        wall, cpu = time.monotonic() - start, watch.total() - before
        documents = spark.read.parquet(options.corpus).count()
        spark.stop()
        told = read_log(f"{folder}/log", since)
    groups = {}
    for row in found:
        groups.setdefault(row.component, []).append(row.id)
    with open(options.pairs, "w") as file:
        for group in groups.values():
            for one, other in itertools.combinations(sorted(group), 2):
                file.write(f"{one}\t{other}\n")
    print(
        json.dumps(
            {
                "wall_seconds": round(wall, 1),
                "cpu_seconds": round(cpu, 1),
                "task_seconds": round(told["task_seconds"], 1),
                "tasks": told["tasks"],
                "shuffled_bytes_a_document": round(told["shuffled"] / documents),
                "peak_MB": {kind: round(count / 1e6) for kind, count in watch.most.items()},
                "in_components": len(found),
            }
        )
    )


def pairs_of(path):
    with open(path) as lines:
        return {frozenset(line.rstrip("\n").split("\t")[:2]) for line in lines}


def score(options):
    truth, found = pairs_of(options.truth), pairs_of(options.pairs)
    right = len(truth & found)
    print(
        json.dumps(
            {
                "true_pairs": len(truth),
                "found": len(found),
                "recall": round(right / max(1, len(truth)), 4),
                "precision": round(right / max(1, len(found)), 4),
            }
        )
    )


def main():
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("text-dedup")
    one.add_argument("corpus")
    one.add_argument("pairs")
    one.add_argument("--partitions", type=int)
    one.set_defaults(run=text_dedup)
    one = commands.add_parser("score")
    one.add_argument("truth")
    one.add_argument("pairs")
    one.set_defaults(run=score)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
