"""One cell of another tool: reads a set file, joins it, prints one JSON line.

Only the join is timed. Both tools compute in floating point.
"""

import io
import json
import os
import resource
import sys
import time


def read(path):
    if path.endswith(".zst"):
        import zstandard

        with open(path, "rb") as file:
            reader = zstandard.ZstdDecompressor(max_window_size=2**31).stream_reader(file)
            text = io.TextIOWrapper(reader, encoding="ascii").read()
    else:
        with open(path, encoding="ascii") as file:
            text = file.read()
    return text.splitlines()


def main():
    tool, path, threshold = sys.argv[1], sys.argv[2], float(sys.argv[3])
    lines = read(path)
    if tool == "SetSimilaritySearch":
        from SetSimilaritySearch import all_pairs

        sets = [line.split() for line in lines]
        started = time.perf_counter()
        pairs = sum(1 for _ in all_pairs(sets, "jaccard", threshold))
    else:
        import pandas
        import py_stringmatching
        import py_stringsimjoin

        table = pandas.DataFrame({"id": range(len(lines)), "text": lines})
        tokenizer = py_stringmatching.WhitespaceTokenizer(return_set=True)
        started = time.perf_counter()
        found = py_stringsimjoin.jaccard_join(
            table, table.copy(), "id", "id", "text", "text", tokenizer, threshold,
            n_jobs=1, show_progress=False,
        )
        pairs = int((found["l_id"] < found["r_id"]).sum())
    print(json.dumps({
        "file": os.path.basename(path),
        "tool": tool,
        "threshold": sys.argv[3],
        "wall_seconds": time.perf_counter() - started,
        "results": pairs,
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }))


main()
