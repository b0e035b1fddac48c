#!/usr/bin/env python3
"""Posts of about 2 kB as JSON lines, and words to search for: the same ones on every machine.

    documents.py COUNT > posts.jsonl
    documents.py --words > words.txt

Words are drawn by Zipf's law from 60,000 made-up ones, half of them Korean, so that some queries find
nearly everything and some a handful. A tenth of the posts is an earlier one with a few words changed.
"""

import bisect
import itertools
import json
import random
import sys

VOCABULARY = 60_000


def vocabulary(random):
    first, last = ord("가"), ord("힣")
    words = []
    for number in range(VOCABULARY):
        if number % 2:
            length = random.choice([2, 2, 3, 4])
            words.append("".join(chr(random.randint(first, last)) for _ in range(length)))
        else:
            length = random.randint(3, 9)
            words.append("".join(random.choice("abcdefghijklmnoprstuvwy") for _ in range(length)))
    return words


def posts(count):
    drawn = random.Random(1997)
    words = vocabulary(drawn)
    sums = list(itertools.accumulate(1 / (rank + 5) for rank in range(VOCABULARY)))
    earlier = []
    for number in range(count):
        if earlier and drawn.random() < 0.1:
            text = list(drawn.choice(earlier))
            for _ in range(drawn.randint(1, 3)):
                text[drawn.randrange(len(text))] = drawn.choice(words)
        else:
            # 190 to 300 words are some 2 kB.
            length = drawn.randint(190, 300)
            text = [words[bisect.bisect(sums, drawn.random() * sums[-1])] for _ in range(length)]
            if len(earlier) < 1000:
                earlier.append(text)
        yield {
            "id": f"https://blog{number % 1000}.example/{number}",
            "title": " ".join(text[:6]),
            "text": " ".join(text),
            "created": 1_600_000_000 + number,
        }


def main():
    out = sys.stdout
    if sys.argv[1] == "--words":
        # Words of all ranks: a common one, a rarer one.
        words = vocabulary(random.Random(1997))
        for rank in range(0, VOCABULARY, 7):
            print(words[rank], file=out)
        return
    for post in posts(int(sys.argv[1])):
        json.dump(post, out, ensure_ascii=False)
        out.write("\n")


main()
