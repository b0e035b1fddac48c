"""The contestants of benches/python, each a job in a process of its own.

    python contestants.py JOB FILE THREADS OUT

Jobs begin with what they do: `sketch-`, `dedup-`, `extract-`. FILE is a Parquet file with the columns id and text, or
id, page (bytes) and url. It is read before the clock starts, into the kind of data that the tool's documentation hands
to it: a pyarrow table or a list. OUT gets what the job found, as JSON: for dedup the rows that it would drop, for
extract the texts. Printed: seconds, CPU seconds of the process and its children, megabytes of resident memory before
the job and at its peak.

Words for the tools that want tokens: lower-cased runs of letters and digits, which is less work than the normal form
that ours makes. Shingles of five words. 128 permutations, or what is nearest to that in bands for a threshold of 0.8.
"""

import json
import re
import resource
import subprocess
import sys
import tempfile
import time

import pyarrow.parquet

PERMUTATIONS = 128
THRESHOLD = 0.8
WORD = re.compile(r"[^\W_]+")


def shingles(text):
    words = WORD.findall(text.lower())
    if len(words) < 5:
        return [" ".join(words)] if words else []
    return list(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:])))


# --- sketches: texts to signatures


def sketch_wonbon_table(table, threads):
    import wonbon

    return len(wonbon.sketch(table.column("text"), features=PERMUTATIONS, group_size=1, threads=threads))


def sketch_wonbon_list(texts, threads):
    import wonbon

    return len(wonbon.sketch(texts, features=PERMUTATIONS, group_size=1, threads=threads))


def sketch_wonbon_default(table, threads):
    import wonbon

    return len(wonbon.sketch(table.column("text"), threads=threads))


def sketch_rensa(texts, threads):
    from rensa import RMinHash

    documents = 0
    for start in range(0, len(texts), 1000):
        tokens = [shingles(text) for text in texts[start : start + 1000]]
        documents += RMinHash.digest_matrix_from_token_sets(tokens, PERMUTATIONS, 42).len()
    return documents


def sketch_datasketch(texts, threads):
    from datasketch import MinHash

    tokens = ([shingle.encode() for shingle in shingles(text)] for text in texts)
    return sum(1 for _ in MinHash.generator(tokens, num_perm=PERMUTATIONS))


# --- dedup: texts to the rows that are copies of earlier ones


def dedup_wonbon_table(table, threads):
    import wonbon

    kept = wonbon.dedup(table, threads=threads).kept
    return [row for row, keep in enumerate(kept) if not keep]


def dedup_wonbon_linked(table, threads):
    import wonbon

    kept = wonbon.dedup(table, threads=threads, family="linked").kept
    return [row for row, keep in enumerate(kept) if not keep]


def dedup_wonbon_list(texts, threads):
    import wonbon

    kept = wonbon.dedup(texts, threads=threads).kept
    return [row for row, keep in enumerate(kept) if not keep]


def dedup_wonbon_pairs(table, threads):
    """Every pair, for recall and precision of pairs."""
    import wonbon

    pairs = wonbon.dedup(table, threads=threads, engine="features", pairs=True).pairs
    return [[left, right] for left, right in zip(pairs.column("left"), pairs.column("right"))]


def dedup_rensa(texts, threads):
    from rensa import RMinHashDeduplicator

    seen = RMinHashDeduplicator(threshold=THRESHOLD, num_perm=PERMUTATIONS, use_lsh=True)
    dropped = []
    for start in range(0, len(texts), 1000):
        pairs = [(str(row), shingles(texts[row])) for row in range(start, min(start + 1000, len(texts)))]
        dropped += [start + at for at, new in enumerate(seen.add_pairs(pairs)) if not new]
    return dropped


def dedup_datasketch(texts, threads):
    from datasketch import MinHash, MinHashLSH

    index, dropped = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS), []
    tokens = ([shingle.encode() for shingle in shingles(text)] for text in texts)
    with index.insertion_session() as session:
        for row, sketch in enumerate(MinHash.generator(tokens, num_perm=PERMUTATIONS)):
            if index.query(sketch):
                dropped.append(row)
            session.insert(row, sketch)
    return dropped


def dedup_gaoya(texts, threads):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32, jaccard_threshold=THRESHOLD, num_bands=21, band_size=6, num_hashes=126,
        analyzer="word", lowercase=True, ngram_range=(5, 5),
    )
    dropped = []
    for row, text in enumerate(texts):
        if index.query(text):
            dropped.append(row)
        index.insert_document(row, text)
    return dropped


def dedup_gaoya_bulk(texts, threads):
    from gaoya.minhash import MinHashStringIndex

    index = MinHashStringIndex(
        hash_size=32, jaccard_threshold=THRESHOLD, num_bands=21, band_size=6, num_hashes=126,
        analyzer="word", lowercase=True, ngram_range=(5, 5),
    )
    index.par_bulk_insert_docs(list(range(len(texts))), texts)
    found = index.par_bulk_query(texts)
    return [row for row, others in enumerate(found) if any(other < row for other in others)]


def dedup_text_dedup(path, threads):
    import datasets

    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/config.toml", "w") as config:
            config.write(f"""
[input]
input_type = "local_files"
file_type = "parquet"
[input.read_arguments]
path = "parquet"
data_files = "{path}"
split = "train"
[algorithm]
algorithm_name = "minhash"
text_column = "text"
num_perm = {PERMUTATIONS}
threshold = {THRESHOLD}
ngram_size = 5
min_length = 0
check_false_positive = true
num_proc = {threads}
[output]
output_dir = "{folder}/out"
[debug]
""")
        subprocess.run([sys.executable, "-m", "text_dedup.minhash"], cwd=folder, check=True, stdout=sys.stderr)
        kept = set(datasets.load_from_disk(f"{folder}/out")["id"])
    ids = pyarrow.parquet.read_table(path, columns=["id"]).column("id").to_pylist()
    return [row for row, id in enumerate(ids) if id not in kept]


# --- extract: pages to texts


def extract_wonbon_column(table, threads):
    import wonbon

    return wonbon.extract_column(table.column("page"), urls=table.column("url"), threads=threads).column("text")


def extract_wonbon_loop(pages, threads):
    import wonbon

    return [wonbon.extract(page).text for page in pages]


def extract_trafilatura(pages, threads):
    from trafilatura import extract

    return [extract(page) or "" for page in pages]


def extract_trafilatura_fast(pages, threads):
    from trafilatura import extract

    return [extract(page, fast=True) or "" for page in pages]


def extract_resiliparse(pages, threads):
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    return [extract_plain_text(bytes_to_str(page, detect_encoding(page)), main_content=True) for page in pages]


# What each takes.
TABLE = {sketch_wonbon_table, sketch_wonbon_default, dedup_wonbon_table, dedup_wonbon_linked, dedup_wonbon_pairs, extract_wonbon_column}
PATH = {dedup_text_dedup}


def resident(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith(name + ":"))


def main():
    job, path, threads, out = sys.argv[1:]
    work = globals()[job.replace("-", "_")]
    if work in PATH:
        data = path
    else:
        table = pyarrow.parquet.read_table(path)
        data = table if work in TABLE else table.column("page" if job.startswith("extract") else "text").to_pylist()
        if work not in TABLE:
            del table
        pyarrow.default_memory_pool().release_unused()
    # The first call of a library is its own set-up: imports are not counted.
    if work not in PATH:
        work(data.slice(0, 2) if work in TABLE else data[:2], int(threads))
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    before = resident("VmRSS")
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    start = time.perf_counter()
    found = work(data, int(threads))
    seconds = time.perf_counter() - start
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    cpu = sum(b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime for a, b in zip(usage, used))
    peak = max(resident("VmHWM"), used[1].ru_maxrss / 1024)
    with open(out, "w") as file:
        json.dump(found, file)
    print(json.dumps({"seconds": seconds, "cpu": cpu, "before": before, "peak": peak}))


if __name__ == "__main__":
    main()
