"""The other tools, each from JSON lines to JSON lines without repeated passages, in one process; and what is left.

    python others.py datatrove|paragraphs|suffixes WORDS CORPUS.jsonl OUT.jsonl
    python others.py errors WORDS CORPUS.jsonl LEFT.jsonl

datatrove: its sentence deduplication (three sentences at a time, its defaults), the nearest it has on PyPI: its exact-substring step
needs a program that has to be built from another repository, and so does text-dedup's suffix array.
suffixes: an array of all suffixes of the bytes, as text-dedup's `suffix_array` and datatrove's `exact_substrings` have it, by pydivsufsort
(libdivsufsort, in C) and numpy: every byte goes that stands in a run of 6 * WORDS bytes which occurs at an earlier place; runs do
not reach over the end of a document.
paragraphs: lines by their hashes, first one kept, as many pipelines have it. Normal form as ours for ASCII: lower case, runs of letters and digits.

errors: how many windows of WORDS words occurred before in what is left (missed), and how many words are gone that stood in no
window that occurs twice in the corpus (taken wrongly), with a table of exact windows. Words here are those of `\\w`
without underscores, one by one for Han and kana. Prints a line of JSON.
"""

import glob
import gzip
import json
import os
import re
import resource
import sys
import tempfile
import time

WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|(?:(?![\u3040-\u30ff\u3400-\u9fff])[^\W_])+")


def documents(path):
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield str(row["id"]), row["text"]


def paragraphs(path, out):
    seen = set()
    with open(out, "w", encoding="utf-8") as rows:
        for name, text in documents(path):
            kept = []
            for line in text.split("\n"):
                words = " ".join(WORD.findall(line.lower()))
                if words and hash(words) in seen:
                    continue
                seen.add(hash(words))
                kept.append(line)
            rows.write(json.dumps({"id": name, "text": "\n".join(kept)}) + "\n")


def suffixes(path, out, words):
    import numpy
    import pydivsufsort

    least = 6 * words
    names, texts = zip(*documents(path))
    contents = [text.encode() for text in texts]
    ends = numpy.cumsum([len(content) + 1 for content in contents])
    # No text has this byte, so it ends a run; two of them are alike, which the lengths to it put right.
    joined = numpy.array(numpy.frombuffer(b"\xff".join(contents) + b"\xff", dtype=numpy.uint8))
    suffix = pydivsufsort.divsufsort(joined)
    common = pydivsufsort.kasai(joined, suffix)
    left = ends[numpy.searchsorted(ends, suffix, side="right")] - 1 - suffix
    # kasai: how much each suffix has in common with the next one.
    common[:-1] = numpy.minimum(numpy.minimum(common[:-1], left[:-1]), left[1:])
    # Suffixes that share a run stand side by side; all but the first of them in the text lose it.
    group = numpy.concatenate([[0], numpy.cumsum(common[:-1] < least)])
    first = numpy.full(group[-1] + 1, len(joined), dtype=suffix.dtype)
    numpy.minimum.at(first, group, suffix)
    again = suffix[suffix != first[group]]
    edges = numpy.zeros(len(joined) + least + 1, dtype=numpy.int32)
    numpy.add.at(edges, again, 1)
    numpy.add.at(edges, again + least, -1)
    gone = numpy.cumsum(edges) > 0
    with open(out, "w", encoding="utf-8") as rows:
        start = 0
        for name, content in zip(names, contents):
            kept = joined[start : start + len(content)][~gone[start : start + len(content)]]
            text = kept.tobytes().decode("utf-8", "ignore")
            rows.write(json.dumps({"id": name, "text": text}) + "\n")
            start += len(content) + 1


def datatrove(path, out):
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import SentenceDedupFilter, SentenceDedupSignature, SentenceFindDedups
    from datatrove.pipeline.dedup.sentence_dedup import SentDedupConfig
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    with tempfile.TemporaryDirectory() as folder:
        config = SentDedupConfig(n_sentences=3, split_sentences=True, min_doc_words=0, min_num_sentences=0)
        sigs, dups, result = (os.path.join(folder, name) for name in ("sigs", "dups", "result"))
        reader = lambda: JsonlReader(os.path.dirname(os.path.abspath(path)), glob_pattern=os.path.basename(path))
        steps = [
            [reader(), SentenceDedupSignature(sigs, config=config)],
            [SentenceFindDedups(sigs, dups, config=config)],
            [reader(), SentenceDedupFilter(dups, config=config), JsonlWriter(result)],
        ]
        for number, pipeline in enumerate(steps):
            logs = os.path.join(folder, f"logs{number}")
            LocalPipelineExecutor(pipeline=pipeline, tasks=1, workers=1, logging_dir=logs).run()
        with open(out, "w", encoding="utf-8") as rows:
            for name in sorted(glob.glob(result + "/*.gz")):
                with gzip.open(name, "rt", encoding="utf-8") as lines:
                    for line in lines:
                        row = json.loads(line)
                        rows.write(json.dumps({"id": row["id"], "text": row["text"]}) + "\n")


def windows(words, length):
    for at in range(len(words) - length + 1):
        yield at, hash(tuple(words[at : at + length]))


def errors(length, corpus, left):
    count = {}
    whole = {}
    for name, text in documents(corpus):
        words = WORD.findall(text.lower())
        whole[name] = words
        for _, window in windows(words, length):
            count[window] = count.get(window, 0) + 1
    repeated = 0
    alone = {}
    for name, words in whole.items():
        inside = bytearray(len(words))
        for at, window in windows(words, length):
            if count[window] > 1:
                inside[at : at + length] = b"\1" * length
        repeated += sum(inside)
        alone[name] = len(words) - sum(inside)
    seen, missed, left_words = set(), 0, 0
    rest = dict(documents(left))
    taken = 0
    for name, words in whole.items():
        kept = WORD.findall(rest.get(name, "").lower())
        left_words += len(kept)
        for _, window in windows(kept, length):
            missed += window in seen
            seen.add(window)
        # Fewer words are left than stood outside of every repeated window: so many at least are gone wrongly.
        taken += max(0, alone[name] - len(kept))
    total = sum(map(len, whole.values()))
    print(json.dumps({
        "words": total,
        "in_repeated_windows": repeated,
        "removed": total - left_words,
        "windows_missed": missed,
        "words_taken_wrongly_at_least": taken,
    }))


def main():
    tool, words, corpus, out = sys.argv[1:5]
    if tool == "errors":
        return errors(int(words), corpus, out)
    start = time.process_time()
    if tool == "suffixes":
        suffixes(corpus, out, int(words))
    else:
        {"datatrove": datatrove, "paragraphs": paragraphs}[tool](corpus, out)
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = time.process_time() - start + usage[1].ru_utime + usage[1].ru_stime
    text = sum(len(text.encode()) for _, text in documents(corpus)) / 1e6
    print(json.dumps({
        "tool": tool,
        "text_mb": round(text, 1),
        "cpu_seconds": round(seconds, 2),
        "mb_a_cpu_second": round(text / seconds, 2),
        "peak_mb": round(max(part.ru_maxrss for part in usage) / 1024, 1),
    }))


if __name__ == "__main__":
    main()
