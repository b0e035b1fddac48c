"""Measures `wonbon dedup` beside the other tools: one corpus, one core, one table.

    python benches/dedup/run.py CORPUS.jsonl [TOOL=PYTHON...]        (benches/dedup/run.sh does it all)

PYTHON is an interpreter that has the tool. A tool that fails or takes more than LIMIT seconds (1800) is said to.

The corpus has fields id and text. Speed is bytes of text by seconds of CPU (user and system, all children), because
a shared machine's wall clock says little; the wall clock stands beside it. Recall and precision are against
`wonbon dedup --exact --pairs` at 0.8, by band of exact resemblance.
"""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CORE = os.environ.get("CORE", "1")
LIMIT = float(os.environ.get("LIMIT", "1800"))
WONBON = os.environ.get("WONBON", os.path.join(HERE, "../../target/release/wonbon"))
BANDS = [(0.80, 0.85), (0.85, 0.90), (0.90, 0.95), (0.95, 1.01)]


def measured(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.time()
    try:
        done = subprocess.run(["taskset", "-c", CORE, *command], capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return f"takes more than {LIMIT:.0f} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1) or not done.stdout.strip():
        print(done.stderr, file=sys.stderr)
        why = (done.stderr.strip().splitlines() or ["no word why"])[-1]
        # Places of this machine say nothing elsewhere.
        return "fails: " + re.sub(r"/[^\s'\"]*/", "", why)[:120]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall": time.time() - start, "cpu": cpu, "out": done.stdout}


def pairs(path):
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            fields = line.rstrip("\n").split("\t")
            found[frozenset(fields[:2])] = float(fields[2]) if len(fields) > 2 else None
    return found


def main():
    corpus, tools = sys.argv[1], sys.argv[2:]
    text = sum(len(json.loads(line)["text"].encode()) for line in open(corpus, encoding="utf-8"))
    rows = []
    with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as folder:
        def wonbon(name, *flags):
            out, found = os.path.join(folder, name), os.path.join(folder, name + ".tsv")
            best = None
            for _ in range(int(os.environ.get("REPEAT", "3"))):
                shutil.rmtree(out, ignore_errors=True)
                with_pairs = ["--pairs", found] if "pairs" in name else []
                run = measured([WONBON, "dedup", corpus, "-o", out, "--threads", "1", "--json", *with_pairs, *flags])
                if isinstance(run, str):
                    raise SystemExit(f"wonbon {name} {run}")
                if run and (best is None or run["cpu"] < best["cpu"]):
                    best = run
            best["peak"] = max(phase["peak_bytes"] for phase in json.loads(best["out"])["phases"]) / 1e6
            return best, found

        _, truth_path = wonbon("exact-pairs", "--exact")
        truth = pairs(truth_path)
        for name, flags in [("families", ["--engine", "features"]), ("families and pairs", ["--engine", "features"])]:
            run, found = wonbon(name, *flags)
            rows.append(("wonbon dedup: " + name, run["cpu"], run["wall"], run["peak"],
                         pairs(found) if "pairs" in name else None))
        notes = []
        for tool in tools:
            tool, _, python = tool.partition("=")
            found = os.path.join(folder, tool + ".tsv")
            run = measured([python or sys.executable, os.path.join(HERE, "others.py"), tool, corpus, found])
            if isinstance(run, str):
                notes.append(f"{tool} {run}.")
                continue
            peak = json.loads(run["out"].strip().splitlines()[-1])["peak_mb"]
            rows.append((tool, run["cpu"], run["wall"], peak, pairs(found)))
    print(f"{text / 1e6:.1f} MB of text, {len(truth)} pairs at or above 0.8 by the exact join\n")
    print("| tool | MB/s of text by CPU | CPU s | wall s | peak MB | recall .80-.85 | .85-.90 | .90-.95 | .95-1 | precision |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, cpu, wall, peak, found in rows:
        cells = ["", "", "", "", ""]
        if found is not None:
            cells = []
            for low, high in BANDS:
                band = [pair for pair, value in truth.items() if low <= value < high]
                cells.append(f"{sum(pair in found for pair in band) / len(band):.3f}" if band else "")
            cells.append(f"{sum(pair in truth for pair in found) / max(1, len(found)):.3f}")
        print(f"| {name} | {text / 1e6 / cpu:.1f} | {cpu:.2f} | {wall:.2f} | {peak:.0f} | {' | '.join(cells)} |")
    if notes:
        print("\n" + "\n".join(notes))


if __name__ == "__main__":
    main()
