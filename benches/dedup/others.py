"""The other tools, each from JSON lines to groups of near-duplicates in one process.

    python others.py TOOL CORPUS.jsonl PAIRS.tsv

TOOL: gaoya, rensa, datasketch, text-dedup, datatrove. Words as the tool's users cut them (lower-cased runs of letters
and digits; datatrove has a tokenizer of its own), 5-word shingles, 126 to 128 permutations (datatrove: its own 14 bands
of 8), threshold 0.8, the tool's own choice of bands where it has one. Written: every pair that the tool calls similar;
text-dedup and datatrove only tell groups, and every two documents of a group are written as a pair.
Printed: seconds of CPU, megabytes of peak memory, pairs.
"""

import itertools

import json
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time

WORD = re.compile(r"\w+")


def shingles(text):
    words = WORD.findall(text.lower())
    if len(words) < 5:
        return {" ".join(words)} if words else set()
    return {" ".join(words[i : i + 5]) for i in range(len(words) - 4)}


def documents(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["id"], row["text"]


def gaoya(path):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32, jaccard_threshold=0.8, num_bands=21, band_size=6, num_hashes=126,
        analyzer="word", lowercase=True, ngram_range=(5, 5),
    )
    ids = []
    for number, (name, text) in enumerate(documents(path)):
        ids.append(name)
        for other in index.query(text):
            yield ids[other], name
        index.insert_document(number, text)


def rensa(path):
    from rensa import RMinHash, RMinHashLSH

    index = RMinHashLSH(threshold=0.8, num_perm=128, num_bands=16)
    ids, kept = [], []
    for number, (name, text) in enumerate(documents(path)):
        sketch = RMinHash(num_perm=128, seed=42)
        sketch.update(list(shingles(text)))
        ids.append(name)
        for other in index.query(sketch):
            if kept[other].jaccard(sketch) >= 0.8:
                yield ids[other], name
        index.insert(number, sketch)
        kept.append(sketch)


def datasketch(path):
    from datasketch import MinHash, MinHashLSH

    index = MinHashLSH(threshold=0.8, num_perm=128)
    for name, text in documents(path):
        sketch = MinHash(num_perm=128)
        sketch.update_batch([shingle.encode() for shingle in shingles(text)])
        for other in index.query(sketch):
            yield other, name
        index.insert(name, sketch)


def grouped(names, links):
    """Every two documents of every connected component."""
    root = list(range(len(names)))

    def find(number):
        while root[number] != number:
            root[number] = root[root[number]]
            number = root[number]
        return number

    for one, other in links:
        one, other = find(one), find(other)
        root[max(one, other)] = min(one, other)
    groups = {}
    for number in range(len(names)):
        groups.setdefault(find(number), []).append(names[number])
    for group in groups.values():
        yield from itertools.combinations(group, 2)


def datatrove(path):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup.minhash import MinhashConfig, MinhashDedupBuckets, MinhashDedupSignature
    from datatrove.pipeline.readers import JsonlReader

    with tempfile.TemporaryDirectory() as folder:
        config = MinhashConfig(n_grams=5)
        sketches, links = os.path.join(folder, "sketches"), os.path.join(folder, "links")
        reader = JsonlReader(os.path.dirname(os.path.abspath(path)), glob_pattern=os.path.basename(path))
        steps = [
            ([reader, MinhashDedupSignature(sketches, config=config)], 1),
            ([MinhashDedupBuckets(sketches, links, config=config)], config.num_buckets),
        ]
        for number, (pipeline, tasks) in enumerate(steps):
            logs = os.path.join(folder, f"logs{number}")
            LocalPipelineExecutor(pipeline=pipeline, tasks=tasks, workers=1, logging_dir=logs).run()
        # A link is two places, each a file and the number of a document in it.
        found = []
        for name in sorted(os.listdir(links)):
            with open(os.path.join(links, name), "rb") as file:
                found.extend((one, other) for _, one, _, other in struct.iter_unpack("<4I", file.read()))
        yield from grouped([name for name, _ in documents(path)], found)


def text_dedup(path):
    import pickle

    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        # Its reader wants the same fields in every line.
        even = os.path.join(folder, "even.jsonl")
        with open(even, "w", encoding="utf-8") as lines:
            for name, text in documents(path):
                lines.write(json.dumps({"id": name, "text": text}) + "\n")
        command = [sys.executable, "-m", "text_dedup.minhash", "--path", "json", "--data_files", even, "--split", "train",
                   "--column", "text", "--ngram", "5", "--num_perm", "128", "--threshold", "0.8", "--min_length", "0",
                   "--num_proc", "1", "--debug", "--cache_dir", os.path.join(folder, "cache"), "--output", out]
        subprocess.run(command, check=True, stdout=sys.stderr)
        with open(os.path.join(out, "uf.pkl"), "rb") as file:
            parents = pickle.load(file).parent
        yield from grouped([name for name, _ in documents(path)], parents.items())


TOOLS = {"gaoya": gaoya, "rensa": rensa, "datasketch": datasketch, "text-dedup": text_dedup, "datatrove": datatrove}


def main():
    tool, path, out = sys.argv[1:4]
    start = time.process_time()
    count = 0
    with open(out, "w", encoding="utf-8") as pairs:
        for one, other in TOOLS[tool](path):
            pairs.write(f"{one}\t{other}\n")
            count += 1
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = time.process_time() - start + usage[1].ru_utime + usage[1].ru_stime
    peak = max(part.ru_maxrss for part in usage) / 1024
    print(json.dumps({"tool": tool, "cpu_seconds": round(seconds, 2), "peak_mb": round(peak, 1), "pairs": count}))


if __name__ == "__main__":
    main()
