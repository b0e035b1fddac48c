"""Clean a Hugging Face dataset: which rows are copies, what is left, and why a row went.

    python clean_a_dataset.py [ROWS]

Reads JSON lines with a field `text` if a file is named; makes a small dataset otherwise.
"""

import sys

import datasets

import wonbon


def load(arguments: list[str]) -> datasets.Dataset:
    """The dataset of a file, or a small one with copies in it."""
    if arguments:
        return datasets.Dataset.from_json(arguments[0])
    words = [f"word{number}" for number in range(300)]
    texts = [" ".join(words[start : start + 60]) for start in range(0, 240, 60)]
    edited = texts[0].replace("word30", "another")
    return datasets.Dataset.from_dict({"text": [*texts, edited, texts[2].upper(), ""], "split": ["a"] * 7})


def main(arguments: list[str]) -> datasets.Dataset:
    data = load(arguments)
    families = wonbon.dedup(data)
    print(families)
    for kind, count in families.summary["kinds"].items():
        print(f"  {kind:<14} {count:>8,}")

    # The same object as came in: columns, features and format are untouched.
    clean = families.select()

    # Why did the first copy go?
    copies = [row["id"] for row in families.table.to_pylist() if row["kind"] == "copy"]
    if copies:
        told = families.explain(copies[0])
        print(f"row {told.id} resembles row {told.original} by {told.resemblance:.3f}")
        for passage in told.comparison.diff() if told.comparison else []:
            print(f"  {passage.a!r} stands where the original has {passage.b!r}")

    # A stricter threshold costs nothing: the texts are not read again.
    print("at 0.95:", families.again(0.95))
    print("digest:", families.digest)
    return clean


if __name__ == "__main__":
    main(sys.argv[1:])
