"""Pairwise precision, recall and F1 of `wonbon dedup --exact --pairs` against hand-made labels.

    python benches/dedup/labelled.py ../shared/data/labelled [SET...] > benches/dedup/results/DATE-labelled.md

A pair of documents is right when the set's labels put them together: the same `group`, or, where documents have no
group, a line in `SET.pairs.tsv`.
"Default" is a threshold of 0.8 on 5-word shingles; "best" is the best F1 over thresholds from 0.15 up and shingles of
2, 3, 5 and 8 words. A join that takes longer than LIMIT seconds (600) is run again from 0.3, then from 0.5; the table
says where "best" was sought. For ko-petition-edits a second table tells, per kind of edit, how many of the 160 edited texts
are found as copies of their original. Needs a release build, or WONBON=path.
"""

import datetime
import itertools
import json
import os
import platform
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WONBON = os.environ.get("WONBON", os.path.join(HERE, "../../target/release/wonbon"))
WORDS = [2, 3, 5, 8]
LOWEST = [0.15, 0.3, 0.5]
LIMIT = float(os.environ.get("LIMIT", "600"))
GRID = [step / 20 for step in range(3, 20)]


def rows(path):
    text = subprocess.run(["zstd", "-dcq", "--long=27", path], capture_output=True, check=True).stdout
    return [json.loads(line) for line in text.decode().split("\n") if line.strip()]


def labelled_pairs(folder, name, documents):
    groups = {}
    for row in documents:
        if row.get("group") is not None:
            groups.setdefault(row["group"], []).append(row["id"])
    if groups:
        return {frozenset(pair) for ids in groups.values() for pair in itertools.combinations(ids, 2)}
    lines = open(os.path.join(folder, name + ".pairs.tsv"), encoding="utf-8")
    return {frozenset(line.rstrip("\n").split("\t")[:2]) for line in lines}


def found_pairs(path, words, folder):
    """All pairs from the lowest threshold that the join does in time, and that threshold."""
    for lowest in LOWEST:
        try:
            return joined_pairs(path, words, lowest, folder), lowest
        except subprocess.TimeoutExpired:
            print(f"{path}: w {words} from {lowest} takes more than {LIMIT:.0f} s", file=sys.stderr, flush=True)
    return None, None


def joined_pairs(path, words, threshold, folder):
    out, pairs = os.path.join(folder, "out"), os.path.join(folder, "pairs.tsv")
    subprocess.run(["rm", "-rf", out, out + ".partial", pairs], check=True)
    command = [WONBON, "dedup", path, "-o", out, "--exact", "--shingle", str(words), "--threshold", str(threshold),
               "--pairs", pairs, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr)
    found = {}
    for line in open(pairs, encoding="utf-8"):
        one, other, value = line.rstrip("\n").split("\t")
        found[frozenset((one, other))] = float(value)
    return found


def score(found, threshold, wanted):
    said = {pair for pair, value in found.items() if value >= threshold}
    right = len(said & wanted)
    precision, recall = right / max(1, len(said)), right / max(1, len(wanted))
    return precision, recall, 2 * precision * recall / max(1e-9, precision + recall)


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    if not names:
        names = sorted(name[: -len(".jsonl.zst")] for name in os.listdir(folder) if name.endswith(".jsonl.zst"))
    commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True)
    print(f"# Labelled sets, {datetime.date.today()}\n")
    print(f"Machine: {os.cpu_count()} cores, {platform.machine()}. Commit: {commit.stdout.strip()}. Command: "
          "`python benches/dedup/labelled.py ../shared/data/labelled`.\nP, R and F1 are over pairs of documents; "
          "\"default\" is a threshold of 0.8 on 5-word shingles, \"best\" the best F1 over\nthresholds from the one "
          "in the column \"from\" to 0.95 and shingles of 2, 3, 5 and 8 words.\n")
    print("| set | documents | labelled pairs | default P | R | F1 | best at | P | R | F1 | from |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    edits = None
    with tempfile.TemporaryDirectory() as work:
        for name in names:
            path = os.path.join(folder, name + ".jsonl.zst")
            documents = rows(path)
            wanted = labelled_pairs(folder, name, documents)
            best, default = (0, None, None), None
            lowest = LOWEST[0]
            for words in WORDS:
                found, tried = found_pairs(path, words, work)
                if found is None:
                    lowest = "some w not done"
                    continue
                lowest = tried if isinstance(lowest, float) and tried > lowest else lowest
                for threshold in (threshold for threshold in GRID if threshold >= tried):
                    result = score(found, threshold, wanted)
                    if result[2] > best[0]:
                        best = (result[2], (words, threshold), result)
                if words == 5:
                    default = score(found, 0.8, wanted)
                if name == "ko-petition-edits":
                    edits = edits or {}
                    for line in open(os.path.join(folder, name + ".pairs.tsv"), encoding="utf-8"):
                        one, other, kind = line.rstrip("\n").split("\t")[:3]
                        value = found.get(frozenset((one, other)), 0)
                        edits.setdefault(kind, {}).setdefault(words, []).append(value)
            cells = [f"{value:.3f}" for value in default or ()] or ["", "", ""]
            where = f"w {best[1][0]}, r {best[1][1]:.2f}" if best[1] else "none"
            cells += [where] + [f"{value:.3f}" for value in best[2] or (0, 0, 0)]
            cells.append(str(lowest))
            print(f"| {name} | {len(documents)} | {len(wanted)} | {' | '.join(cells)} |", flush=True)
    if edits and all(set(by_words) >= {2, 5} for by_words in edits.values()):
        print("\nThe Korean edits: which share of 160 edited petitions is found as a copy of its original.\n")
        print("| edit | found at r >= 0.8, w 5 | 0.5, w 5 | 0.2, w 5 | 0.8, w 2 | 0.5, w 2 | 0.2, w 2 |")
        print("|---|---|---|---|---|---|---|")
        for kind, by_words in edits.items():
            shares = [
                f"{sum(value >= threshold for value in by_words[words]) / len(by_words[words]):.3f}"
                for words in (5, 2)
                for threshold in (0.8, 0.5, 0.2)
            ]
            print(f"| {kind} | {' | '.join(shares)} |")


if __name__ == "__main__":
    main()
