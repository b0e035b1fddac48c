"""What a billion documents do to the longest task: the sizes of groups are drawn, and the tasks filled as Spark
fills them. Nothing is deduplicated. Needs NumPy.

    skew.py [--documents 1000000000] [--template 1000000] [--repeated 10000000]

Groups of candidates have sizes with a Pareto tail (least 2). Two tails: "measured" has the mean of the four corpora
(3.5 documents a group), "heavy" the largest group of the four corpora (761 of 4,633 groups). A template is one more
group of so many documents. A walk's task takes WALK_BYTES of compressed texts on average (wonbon.spark._dedup), and
a group is in one task as a whole, up to `largest_group`; what is larger is decided in rounds.
"""

import argparse

import numpy

SHARE = 0.21  # of the documents are candidates, in the four corpora
PACKED = 0.075 * 2718 / SHARE  # bytes of a candidate's text, compressed
WALK_BYTES = 32 << 20
LARGEST_GROUP = 2_000_000
TAILS = {"measured": 2.3, "heavy": 1.42}


def sizes_of(chance, candidates, tail):
    """Sizes of groups that have so many members in all."""
    parts, left = [], candidates
    while left > 0:
        drawn = (2 * chance.random(5_000_000) ** (-1 / tail)).astype(numpy.int64)
        ends = numpy.cumsum(drawn)
        drawn = drawn[: numpy.searchsorted(ends, left) + 1]
        parts.append(drawn)
        left -= int(drawn.sum())
    return numpy.concatenate(parts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, default=10**9)
    parser.add_argument("--template", type=int, default=10**6)
    parser.add_argument("--repeated", type=int, default=10**7)
    options = parser.parse_args()
    chance = numpy.random.default_rng(1997)
    print(f"{options.documents:,} documents, a template on {options.template:,}, a page {options.repeated:,} times")
    print("| tail | groups | largest | in rounds | tasks | median MB | longest MB | longest / median |")
    print("|---|---|---|---|---|---|---|---|")
    for name, tail in TAILS.items():
        for template in (0, options.template):
            sizes = sizes_of(chance, int(SHARE * options.documents), tail)
            sizes = numpy.append(sizes, template) if template else sizes
            peeled = sizes > LARGEST_GROUP
            walked = sizes[~peeled]
            tasks = int(2 + walked.sum() * PACKED // WALK_BYTES)
            task = chance.integers(0, tasks, len(walked))
            load = numpy.bincount(task, walked * PACKED, tasks) / 1e6
            median, longest = numpy.median(load), load.max()
            print(
                f"| {name}{', a template' if template else ''} | {len(sizes):,} | {sizes.max():,} | {peeled.sum()} "
                f"| {tasks:,} | {median:.0f} | {longest:.0f} | {longest / median:.1f} |"
            )
    # The repeated page: one row a task before the shuffle, one row after it for each task that saw it.
    tasks = options.documents * 2718 // (64 << 20)
    print(f"\nThe page that is repeated: at most {tasks:,} partial sums, one for each task that read it, meet in one task.")


if __name__ == "__main__":
    main()
