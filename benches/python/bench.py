"""The Python package beside the other tools, on one core and on two, in one run.

    python bench.py --python PYTHON --peers PYTHON [--text-dedup PYTHON] --program WONBON --work FOLDER [--cores 1,2]

PYTHON is an interpreter with the tools (benches/python/run.sh makes them). Data: the shared corpora en-reuters21578 and
en-usenet20news one after another, whose pairs of resemblance 0.5 and more are known (`truth/`, made by another
program), and the first 400 pages of WCXB. Without them beside the checkout nothing is measured.

Speed is bytes of text or page by seconds on the wall, in the fastest run, and by seconds of CPU (user and system, children
too) in the run that took the fewest. Every contestant has as many cores as the heading says. Memory is what the job added to
what was resident before it, the data included before. A dropped row is right if some other row resembles it by 0.8. Two kinds of
rows may be missed: those that stay though an earlier row resembles them (recall), and among them those that stay though an
earlier row *that is kept* resembles them (left in): a family of the kind `star` keeps a row that resembles copies only.
text-dedup, which takes minutes, has the first 6,000 texts. Prints a page in Markdown, in pieces if `--only` and `--cores`
say so (`--only none` prints what the data is).
"""

import argparse
import collections
import io
import json
import os
import pathlib
import re
import resource
import subprocess
import sys
import tarfile
import time

import pyarrow
import pyarrow.parquet

HERE = pathlib.Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared/data"
CORPORA = ["en-reuters21578", "en-usenet20news"]
PAGES = 400
WORD = re.compile(r"\w+")

JOBS = {
    "sketch": [
        ("wonbon, pyarrow table, 128 values", "sketch-wonbon-table"),
        ("wonbon, list, 128 values", "sketch-wonbon-list"),
        ("wonbon, pyarrow table, 6 features (default)", "sketch-wonbon-default"),
        ("rensa 0.5.0, list of token lists", "sketch-rensa"),
        ("datasketch 2.0.0, `MinHash.generator`", "sketch-datasketch"),
    ],
    "dedup": [
        ("wonbon, pyarrow table", "dedup-wonbon-table"),
        ("wonbon, pyarrow table, linked families", "dedup-wonbon-linked"),
        ("wonbon, list", "dedup-wonbon-list"),
        ("gaoya 0.2.2, insert and query", "dedup-gaoya"),
        ("gaoya 0.2.2, in bulk", "dedup-gaoya-bulk"),
        ("rensa 0.5.0, `RMinHashDeduplicator.add_pairs`", "dedup-rensa"),
        ("datasketch 2.0.0, `MinHashLSH`", "dedup-datasketch"),
        ("text-dedup 0.4.1, `text_dedup.minhash`", "dedup-text-dedup"),
    ],
    "extract": [
        ("wonbon, `extract_column`", "extract-wonbon-column"),
        ("wonbon, `extract` page by page", "extract-wonbon-loop"),
        ("resiliparse 2.0.0, `extract_plain_text`", "extract-resiliparse"),
        ("trafilatura 2.3.1, `extract`", "extract-trafilatura"),
        ("trafilatura 2.3.1, `extract(fast=True)`", "extract-trafilatura-fast"),
    ],
}
SOME = {"dedup-text-dedup"}
"""Too slow for all texts: the first of them."""
SOME_ROWS = 6000
ONCE = {"sketch-datasketch", "dedup-datasketch", "dedup-text-dedup", "extract-trafilatura", "extract-trafilatura-fast"}
"""Slow ones, run once."""


SINGLE = {
    "sketch-datasketch", "dedup-datasketch", "dedup-gaoya", "extract-wonbon-loop", "extract-resiliparse", "extract-trafilatura",
    "extract-trafilatura-fast",
}
"""Those that use one thread whatever they are given: measured on one core only."""


def unpacked(path):
    return subprocess.run(["zstd", "-dcq", "--long=27", str(path)], capture_output=True, check=True).stdout


def make_texts(path):
    ids, texts = [], []
    for corpus in CORPORA:
        for line in unpacked(SHARED / f"{corpus}.jsonl.zst").splitlines():
            row = json.loads(line)
            ids.append(row["id"])
            texts.append(row["text"])
    table = pyarrow.table({"id": ids, "text": pyarrow.array(texts, pyarrow.large_string())})
    pyarrow.parquet.write_table(table, path, compression="zstd")


def make_pages(path):
    names, pages, urls, wanted = [], [], [], []
    content = {}
    with tarfile.open(fileobj=io.BytesIO(unpacked(SHARED / "web/wcxb-dev.tar.zst"))) as one:
        members = [(one, member) for member in one.getmembers()]
        more = tarfile.open(fileobj=io.BytesIO(unpacked(SHARED / "web/wcxb-dev-more.tar.zst")))
        members += [(more, member) for member in more.getmembers()]
        for archive, member in members:
            if member.isfile():
                content[member.name.removeprefix("./")] = archive.extractfile(member).read()
    for name in sorted(name for name in content if name.endswith(".html"))[:PAGES]:
        truth = json.loads(content[name.replace("html/", "ground-truth/").replace(".html", ".json")])
        truth = {**truth, **truth.get("ground_truth", {})}
        names.append(name)
        pages.append(content[name])
        urls.append(truth.get("url"))
        wanted.append(truth["main_content"])
    table = pyarrow.table({"id": names, "page": pages, "url": urls, "wanted": wanted})
    pyarrow.parquet.write_table(table, path, compression="zstd")


def true_pairs(ids, least=0.8):
    """Rows that resemble each other by the truth that lies beside the corpora."""
    row = {id: at for at, id in enumerate(ids)}
    pairs = set()
    for corpus in CORPORA:
        for line in (SHARED / f"truth/{corpus}.w5.tsv").read_text().splitlines():
            one, other, resemblance = line.split("\t")
            if float(resemblance) >= least and one in row and other in row:
                pairs.add((min(row[one], row[other]), max(row[one], row[other])))
    return pairs


def score_rows(dropped, pairs):
    """Recall, precision, and how many rows stay though an earlier row that is kept resembles them."""
    later, anyone = {later for _, later in pairs}, {row for pair in pairs for row in pair}
    dropped = set(dropped)
    left_in = {later for earlier, later in pairs if not {earlier, later} & dropped}
    return len(dropped & later) / len(later), len(dropped & anyone) / max(len(dropped), 1), len(left_in)


def f1(found, wanted):
    """Words in common, as multisets, averaged over pages."""
    values = []
    for one, other in zip(found, wanted):
        a, b = collections.Counter(WORD.findall(one.lower())), collections.Counter(WORD.findall(other.lower()))
        common = sum((a & b).values())
        values.append(2 * common / max(sum(a.values()) + sum(b.values()), 1) if a or b else 1.0)
    return sum(values) / len(values)


def run(python, job, path, cores, out, times):
    best = None
    for _ in range(times):
        command = ["taskset", "-c", ",".join(map(str, range(cores))), python, str(HERE / "contestants.py")]
        environment = dict(os.environ, RAYON_NUM_THREADS=str(cores), TOKENIZERS_PARALLELISM="false", PYTHONWARNINGS="ignore")
        done = subprocess.run(
            [*command, job, str(path), str(cores), str(out)], capture_output=True, text=True, env=environment
        )
        if done.returncode != 0:
            print(done.stderr, file=sys.stderr)
            return (done.stderr.strip().splitlines() or ["no word why"])[-1]
        told = json.loads(done.stdout.splitlines()[-1])
        best = {name: min(value, best[name]) for name, value in told.items()} if best else told
    return best


def timed(command, cores, times=5):
    """Seconds of CPU of a whole process, and on the wall, the fewest of each."""
    best = None
    for _ in range(times):
        subprocess.run(["rm", "-rf", "out"], check=True)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        subprocess.run(["taskset", "-c", ",".join(map(str, range(cores))), *command], check=True, capture_output=True)
        after, seconds = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - start
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = (cpu, seconds) if best is None else (min(best[0], cpu), min(best[1], seconds))
    return best


FILES = """
import sys, time, wonbon
start = time.perf_counter()
wonbon.dedup_files(sys.argv[1], "out", threads=int(sys.argv[2]))
print(time.perf_counter() - start)
"""
"""The program's job from Python."""


def main():
    parser = argparse.ArgumentParser()
    for name in ("python", "peers", "text-dedup", "program", "work"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--cores", default="1,2")
    parser.add_argument("--times", type=int, default=3, help="runs of a contestant that is not slow")
    parser.add_argument("--without", default="", help="contestants that are left out")
    parser.add_argument("--only", default="sketch,dedup,extract,program")
    asked = parser.parse_args()
    if not SHARED.exists():
        sys.exit("the shared corpora are not beside the checkout")
    work = pathlib.Path(asked.work).resolve()
    work.mkdir(parents=True, exist_ok=True)
    texts, pages, out = work / "texts.parquet", work / "pages.parquet", work / "out.json"
    some_texts = work / "some-texts.parquet"
    if not texts.exists():
        make_texts(texts)
    if not pages.exists():
        make_pages(pages)
    table = pyarrow.parquet.read_table(texts)
    pyarrow.parquet.write_table(table.slice(0, SOME_ROWS), some_texts, compression="zstd")
    some_size = sum(len(text.encode()) for text in table.slice(0, SOME_ROWS).column("text").to_pylist())
    ids = table.column("id").to_pylist()
    sizes = {"dedup": sum(len(text.encode()) for text in table.column("text").to_pylist())}
    sizes["sketch"] = sizes["dedup"]
    page_table = pyarrow.parquet.read_table(pages)
    sizes["extract"] = sum(len(page.as_py()) for page in page_table.column("page"))
    wanted = page_table.column("wanted").to_pylist()
    pairs = true_pairs(ids)
    if asked.only == "none" or "," in asked.only:
        print(f"Texts: {len(ids):,} documents, {sizes['dedup'] / 1e6:.1f} MB, {len(pairs):,} pairs of 0.8 and more. "
              f"Pages: {len(page_table):,}, {sizes['extract'] / 1e6:.1f} MB.\n")
    os.chdir(work)
    for cores in map(int, asked.cores.split(",")):
        for kind, contestants in JOBS.items():
            if kind not in asked.only.split(","):
                continue
            quality = {"dedup": "rows: recall | precision | left in", "extract": "F1", "sketch": ""}[kind]
            columns = ["", "MB/s", "MB by CPU s", "seconds", "CPU s", "MB added", *([quality] if quality else [])]
            head = " | ".join(columns)
            print(f"## {kind}, {cores} core{'s' if cores > 1 else ''}\n\n| {head} |\n|{'---|' * head.count('|')}---|")
            for name, job in contestants:
                if job in asked.without.split(","):
                    print(f"| {name} | left out |")
                    continue
                python = asked.python if "wonbon" in job else asked.text_dedup if "text-dedup" in job else asked.peers
                if cores > 1 and job in SINGLE:
                    print(f"| {name} | one thread: as on one core |")
                    continue
                if not python:
                    print(f"| {name} | not installed |")
                    continue
                path = pages if kind == "extract" else some_texts if job in SOME else texts
                size = some_size if job in SOME else sizes[kind]
                told = run(python, job, path, cores, out, 1 if job in ONCE else asked.times)
                if isinstance(told, str):
                    print(f"| {name} | {told[:100]} |")
                    continue
                cells = [f"{size / 1e6 / told['seconds']:.1f}", f"{size / 1e6 / told['cpu']:.1f}", f"{told['seconds']:.2f}",
                         f"{told['cpu']:.2f}", f"{max(told['peak'] - told['before'], 0):.0f}"]
                found = json.loads(out.read_text())
                if kind == "dedup":
                    there = {pair for pair in pairs if max(pair) < SOME_ROWS} if job in SOME else pairs
                    recall, precision, left_in = score_rows(found, there)
                    cells += [f"{recall:.4f}", f"{precision:.4f}", str(left_in)]
                if kind == "extract":
                    cells.append(f"{f1(found, wanted):.3f}")
                print(f"| {name} | {' | '.join(cells)} |", flush=True)
            if kind == "dedup":
                told = run(asked.python, "dedup-wonbon-pairs", texts, cores, out, 1)
                row = {id: at for at, id in enumerate(ids)}
                found = {tuple(sorted((row[one], row[other]))) for one, other in json.loads(out.read_text())}
                print(f"\nPairs of `dedup(pairs=True)`: {len(found):,}, recall {len(found & pairs) / len(pairs):.4f}, "
                      f"precision {len(found & pairs) / max(len(found), 1):.4f}; {told['seconds']:.2f} s.")
            print()
        if "program" in asked.only.split(","):
            program = timed([asked.program, "dedup", str(texts), "-o", "out", "--threads", str(cores)], cores)
            package = timed([asked.python, "-c", FILES, str(texts), str(cores)], cores)
            module = timed([asked.python, "-m", "wonbon", "dedup", str(texts), "-o", "out", "--threads", str(cores)], cores)
            start = timed([asked.python, "-c", "import wonbon"], cores)
            print(f"## The program's job, {cores} core{'s' if cores > 1 else ''}\n\nParquet to kept rows and report, whole "
                  "processes.\n\n| | CPU s | seconds |\n|---|---|---|")
            for name, told in [("`wonbon dedup`, the program", program), ("`wonbon dedup` of the wheel", module),
                               ("`wonbon.dedup_files`", package), ("Python's start, `import wonbon`", start)]:
                print(f"| {name} | {told[0]:.2f} | {told[1]:.2f} |")
            print()


if __name__ == "__main__":
    main()
