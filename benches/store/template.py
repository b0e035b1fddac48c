#!/usr/bin/env python3
"""How long a check and an add take when very many originals are made from one template.

    template.py WONBON [--pages 1000,10000,100000] [--words 300] [--shared 0.6] [--out FILE]

Pages of `words` words: `shared` of the words are the template's, in place; the others are each page's own, so two
pages resemble each other by far less than a copy and all of them are originals. The service of WONBON stores
them in steps; after each step 200 checks of unseen pages of the template, 200 of pages without it, 200 edited
copies of stored pages and 200 adds are timed by the microseconds that the service itself reports. The last
columns count the answers that say `stopped_early` and the edited copies that were found.
"""

import argparse
import datetime
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

def page(number, words, shared, template=True):
    own = random.Random(number)
    common = random.Random(1997)
    keep = [common.random() < shared for _ in range(words // 12)]
    written = []
    for block, kept in enumerate(keep):
        for at in range(12):
            name = f"t{block * 12 + at}" if kept and template else f"p{own.randrange(1 << 40)}"
            written.append(name)
    return " ".join(written)


def edited(text):
    words = text.split()
    words[-3:] = ["another", "ending", "here"]
    return " ".join(words)


def post(base, path, row):
    request = urllib.request.Request(
        base + path, json.dumps(row).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("wonbon", type=os.path.abspath)
    parser.add_argument("--pages", default="1000,10000,100000")
    parser.add_argument("--words", type=int, default=300)
    parser.add_argument("--shared", type=float, default=0.6)
    parser.add_argument("--out")
    asked = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="wonbon-template-"))
    address = work / "address"
    service = subprocess.Popen(
        [asked.wonbon, "serve", "--store", work / "store", "--listen", "127.0.0.1:0"],
        stdout=address.open("wb"),
        stderr=subprocess.DEVNULL,
    )
    rows = [
        f"# One template, many originals, {datetime.date.today()}",
        "",
        f"`benches/store/template.py WONBON --pages {asked.pages} --words {asked.words} --shared {asked.shared}`; microseconds, p50 / p99.",
        "",
        "| originals | check, unseen page | check, page without the template | check, edited copy | add | stopped early | copies found |",
        "|---|---|---|---|---|---|---|",
    ]
    try:
        while not address.read_text().strip():
            time.sleep(0.05)
        base = address.read_text().splitlines()[0].rstrip("/")
        stored = 0
        for goal in map(int, asked.pages.split(",")):
            lines = work / "pages.jsonl"
            with lines.open("w") as out:
                for number in range(stored, goal):
                    row = {"id": f"p{number}", "created": 1_600_000_000 + number, "text": page(number, asked.words, asked.shared)}
                    out.write(json.dumps(row) + "\n")
            fill = ["curl", "-sS", "-T", lines, "-H", "content-type: application/x-ndjson", "-X", "POST"]
            subprocess.run(fill + [f"{base}/v1/documents"], check=True, stdout=subprocess.DEVNULL)
            stored = goal
            kinds = {"unseen": [], "plain": [], "copy": [], "add": []}
            early = found = 0
            for number in range(200):
                for kind, text in [
                    ("unseen", page(10_000_000 + goal + number, asked.words, asked.shared)),
                    ("plain", page(20_000_000 + number, asked.words, asked.shared, template=False)),
                    ("copy", edited(page(number * (goal // 200), asked.words, asked.shared))),
                ]:
                    answer = post(base, "/v1/check", {"id": "asked", "text": text})
                    kinds[kind].append(answer["microseconds"])
                    early += answer.get("stopped_early", False)
                    found += kind == "copy" and answer["verdict"] == "copy"
                new = {"id": f"n{goal}-{number}", "text": page(30_000_000 + goal + number, asked.words, asked.shared)}
                kinds["add"].append(post(base, "/v1/documents", new)["microseconds"])
            cells = [
                f"{statistics.median(values):,.0f} / {sorted(values)[-2]:,}" for values in kinds.values()
            ]
            rows.append(f"| {goal:,} | " + " | ".join(cells) + f" | {early} of 600 | {found} of 200 |")
            print(rows[-1], flush=True)
    finally:
        service.terminate()
        service.wait()
        shutil.rmtree(work)
    if asked.out:
        pathlib.Path(asked.out).write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
