"""The other tools, each from JSON lines to groups of near-duplicates in one process.

    python others.py TOOL CORPUS.jsonl PAIRS.tsv

TOOL: gaoya, rensa, datasketch. Words as the tool's users cut them (lower-cased runs of letters and digits),
5-word shingles, 128 permutations, threshold 0.8, the tool's own choice of bands where it has one. Written: every
pair that the tool calls similar. Printed: seconds of CPU, megabytes of peak memory, documents, pairs.
"""

import json
import re
import resource
import sys
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


def main():
    tool, path, out = sys.argv[1:4]
    start = time.process_time()
    count = 0
    with open(out, "w", encoding="utf-8") as pairs:
        for one, other in {"gaoya": gaoya, "rensa": rensa, "datasketch": datasketch}[tool](path):
            pairs.write(f"{one}\t{other}\n")
            count += 1
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"tool": tool, "cpu_seconds": round(seconds, 2), "peak_mb": round(peak, 1), "pairs": count}))


if __name__ == "__main__":
    main()
