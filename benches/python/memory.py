"""Peak memory of `wonbon.dedup` on an Arrow table of a gigabyte.

    python memory.py [MEGABYTES]        (an interpreter with wonbon, pyarrow and numpy)

The table is made up: documents of 40 to 800 words of 60,000, a fifth of them copies of an earlier one with some words
replaced. Resident memory includes pages of files that are mapped; the table is not mapped.
"""

import sys
import time

import numpy
import pyarrow

import wonbon


def make(megabytes):
    draw = numpy.random.default_rng(18)
    words = numpy.array([f"{'aeiou'[at % 5]}{at:x}word"[: 3 + at % 7] + f"{at:x}" for at in range(60_000)])
    chunks, size, recent = [], 0, []
    while size < megabytes * 1e6:
        texts = []
        for _ in range(4000):
            if recent and draw.random() < 0.2:
                numbers = recent[draw.integers(len(recent))].copy()
                places = draw.integers(len(numbers), size=max(1, len(numbers) // 100))
                numbers[places] = draw.integers(len(words), size=len(places))
            else:
                numbers = draw.integers(len(words), size=draw.integers(40, 800))
            if len(recent) < 20_000:
                recent.append(numbers)
            texts.append(" ".join(words[numbers]))
        chunks.append(pyarrow.array(texts, pyarrow.large_string()))
        size += chunks[-1].nbytes
    return pyarrow.table({"text": pyarrow.concat_arrays(chunks)})


def status(name):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


def main():
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1000
    table = make(megabytes)
    pyarrow.default_memory_pool().release_unused()
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    before = status("VmRSS")
    start = time.perf_counter()
    families = wonbon.dedup(table)
    seconds = time.perf_counter() - start
    peak, size = status("VmHWM"), table.nbytes
    print(f"{len(table):,} rows, {size / 1e6:.0f} MB: resident before {before / 1e6:.0f} MB, peak {peak / 1e6:.0f} MB, "
          f"added {(peak - before) / 1e6:.0f} MB = {(peak - before) / size:.3f} of the table; table and added "
          f"{1 + (peak - before) / size:.3f}; {seconds:.1f} s, {size / 1e6 / seconds:.0f} MB/s; {families}")


if __name__ == "__main__":
    main()
