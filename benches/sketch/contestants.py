"""The other contestants: JSON lines to MinHash signatures of 128 values, 5-word shingles.

Each gets the fastest JSON parser there is for Python (orjson) and the cheapest way we know to make
words and shingles. Two ways to make words are offered, neither of which does what ours does:

- regex: runs of letters and digits of the lower-cased text; no NFKC, Han and kana not cut apart;
- split: the lower-cased text at white space, punctuation stays on the words, as in rensa's own
  examples.

Both give fewer words on Japanese and Chinese texts than ours, which is less work for them.

Measured: seconds of the loop from opening the file to the last signature, imports not counted.
Signatures are dropped after each batch, except in gaoya's index, which is its only documented way
to make them.

Run: contestants.py NAME FILE, on one core with the thread pools set to one thread (compare.py does).
"""

import json
import re
import sys
import time
from itertools import chain, islice

import orjson

PERMUTATIONS = 128
SHINGLE_WORDS = 5
SEED = 42
BATCH_DOCUMENTS = 1000

find_words = re.compile(r"[^\W_]+").findall


def regex_words(text):
    return find_words(text.lower())


def split_words(text):
    return text.lower().split()


def shingles(words):
    """Every run of five words as one string; a shorter text is one shingle."""
    if len(words) < SHINGLE_WORDS:
        return [" ".join(words)] if words else []
    return list(map(" ".join, zip(words, words[1:], words[2:], words[3:], words[4:])))


def texts(path):
    with open(path, "rb") as lines:
        for line in lines:
            yield orjson.loads(line)["text"]


def batches(path):
    every = texts(path)
    while batch := list(islice(every, BATCH_DOCUMENTS)):
        yield batch


def rensa_joined(to_words):
    """rensa's documented bulk path: token sets in, a matrix of full-set R-MinHash digests out."""
    from rensa import RMinHash

    def run(path):
        documents = 0
        for batch in batches(path):
            tokens = [shingles(to_words(text)) for text in batch]
            digests = RMinHash.digest_matrix_from_token_sets(tokens, PERMUTATIONS, SEED)
            documents += digests.len()
        return documents

    return run


def rensa_prehashed(to_words):
    """The fastest way we found: rensa hashes the words of a whole batch, numpy rolls five word
    hashes into one shingle hash, rensa takes the flat hashes. Nobody documents it as a recipe."""
    import numpy
    from rensa import RMinHash

    base = numpy.uint64(0x9E3779B97F4A7C15)

    def padded(words):
        missing = SHINGLE_WORDS - len(words)
        return words + [""] * missing if words and missing > 0 else words

    def run(path):
        documents = 0
        for batch in batches(path):
            documents += len(batch)
            words = [padded(to_words(text)) for text in batch]
            flat = list(chain.from_iterable(words))
            if not flat:
                continue
            hashes = numpy.array(RMinHash.hash_token_sets([flat])[0], dtype=numpy.uint64)
            lengths = numpy.fromiter(map(len, words), dtype=numpy.int64, count=len(words))
            rolled = hashes[: 1 - SHINGLE_WORDS].copy()
            for place in range(1, SHINGLE_WORDS):
                rolled *= base
                rolled += hashes[place : len(rolled) + place]
            # A run that starts in the last four words of a document would reach into the next.
            ends = numpy.cumsum(lengths)[lengths > 0]
            within = numpy.ones(len(hashes), dtype=bool)
            for place in range(1, SHINGLE_WORDS):
                within[ends - place] = False
            rolled = rolled[within[: len(rolled)]]
            counts = numpy.maximum(lengths - (SHINGLE_WORDS - 1), 0)
            offsets = numpy.concatenate([[0], numpy.cumsum(counts)]).astype(numpy.uint64)
            RMinHash.digest_matrix_from_flat_token_hashes(rolled, offsets, PERMUTATIONS, SEED)
        return documents

    return run


def datasketch(hash_function=None):
    """datasketch's bulk path, which shares the permutations between documents."""
    from datasketch import MinHash

    options = {"hashfunc": hash_function} if hash_function else {}

    def run(path):
        tokens = ([s.encode() for s in shingles(regex_words(text))] for text in texts(path))
        return sum(1 for _ in MinHash.generator(tokens, num_perm=PERMUTATIONS, **options))

    return run


def datasketch_crc32():
    """The same with a cheap hash function in place of SHA-1; the documentation offers the choice."""
    import zlib

    return datasketch(zlib.crc32)


def gaoya_index():
    """gaoya's only documented way: the string index lower-cases, cuts at ASCII punctuation and
    white space, makes the shingles and 16 bands of 8, and files the document in Rust."""
    from gaoya.minhash import MinHashStringIndex

    def run(path):
        index = MinHashStringIndex(32, 0.8, 16, 8, None, "word", True, (5, 5), "vec")
        for number, text in enumerate(texts(path)):
            index.insert_document(number, text)
        return index.size()

    return run


def gaoya_sketch():
    """The same without filing, by an undocumented method of the class inside the index."""
    from gaoya.minhash import MinHashStringIndex

    def run(path):
        index = MinHashStringIndex(32, 0.8, 16, 8, None, "word", False, (5, 5), "vec")
        sketch = index.minhash_index.tokenize_and_minhash
        documents = 0
        for text in texts(path):
            sketch(text.lower())
            documents += 1
        return documents

    return run


CONTESTANTS = {
    "rensa-regex": lambda: rensa_joined(regex_words),
    "rensa-split": lambda: rensa_joined(split_words),
    "rensa-prehashed-regex": lambda: rensa_prehashed(regex_words),
    "rensa-prehashed-split": lambda: rensa_prehashed(split_words),
    "datasketch": datasketch,
    "datasketch-crc32": datasketch_crc32,
    "gaoya-index": gaoya_index,
    "gaoya-sketch": gaoya_sketch,
}


def main():
    name, path = sys.argv[1:]
    run = CONTESTANTS[name]()
    wall, cpu = time.perf_counter(), time.process_time()
    documents = run(path)
    outcome = {
        "documents": documents,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }
    print(json.dumps(outcome))


if __name__ == "__main__":
    main()
