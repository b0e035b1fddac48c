"""Runs all contestants over the same files, in turns, and writes one page of results.

Each run is a process of its own on one core with one thread; rounds go through all contestants one
after another, so that a busy minute of the machine does not fall on one of them alone; the best
run of each counts. A run shorter than two seconds is repeated, five times a round in all: short
runs suffer most from a busy neighbour. Seconds are those of the loop (for `wonbon sketch`: of the whole process, its
start included). Peak memory is that of the whole process, from the kernel.

Run by run.sh.
"""

import argparse
import datetime
import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = ["rensa", "datasketch", "gaoya", "orjson", "numpy"]
SHORT_SECONDS = 2
SHORT_RUNS = 5
DEFAULT_SHAPE = ["--groups", "6", "--group-size", "14"]
WIDE_SHAPE = ["--groups", "8", "--group-size", "16"]


@dataclass
class Run:
    """The best of several runs of one contestant over one file."""

    title: str
    command: list[str]
    whole_process: bool = False
    seconds: float = float("inf")
    cpu_seconds: float = float("inf")
    peak_bytes: int = 0
    documents: int = 0
    checksums: set = field(default_factory=set)

    def measure(self, bench, core):
        environment = dict(os.environ, RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")
        environment["OPENBLAS_NUM_THREADS"] = "1"
        launcher = ["taskset", "-c", str(core), bench, "measure"]
        discard = ["--discard"] if self.whole_process else []
        command = [*launcher, *discard, "--", *self.command]
        process = json.loads(subprocess.check_output(command, env=environment))
        loop = process if self.whole_process else json.loads(process["printed"])
        self.seconds = min(self.seconds, loop["seconds"])
        self.cpu_seconds = min(self.cpu_seconds, loop["cpu_seconds"])
        self.peak_bytes = max(self.peak_bytes, process["peak_bytes"])
        if not self.whole_process:
            self.documents = loop["documents"]
            self.checksums.add(loop.get("checksum"))


def ours(bench, wonbon, paths, file):
    def features(path, shape):
        return [bench, "run", "features", file, "--path", path, *shape]

    runs = {"program": Run("`wonbon sketch --threads 1`, the program, 6 x 14", [], True)}
    runs["program"].command = [wonbon, "sketch", file, "--threads", "1"]
    for path in paths:
        runs[f"84 {path}"] = Run(f"our library, 6 x 14, {path}", features(path, DEFAULT_SHAPE))
    for path in paths:
        runs[f"128 {path}"] = Run(f"our library, 8 x 16, {path}", features(path, WIDE_SHAPE))
    return runs


def others(names, file):
    titles = {
        "rensa-regex": "rensa: regex words, joined shingles, digest matrix",
        "rensa-split": "rensa: words by split(), joined shingles, digest matrix",
        "rensa-prehashed-regex": "rensa: regex words, shingle hashes by numpy, flat hashes",
        "rensa-prehashed-split": "rensa: words by split(), shingle hashes by numpy, flat hashes",
        "datasketch": "datasketch: regex words, joined shingles, SHA-1 (its default)",
        "datasketch-crc32": "datasketch: the same with CRC-32 for SHA-1",
        "gaoya-index": "gaoya: string index, words and shingles in Rust, filing included",
        "gaoya-sketch": "gaoya: the same without filing (undocumented method)",
    }
    command = [sys.executable, str(HERE / "contestants.py")]
    return {name: Run(titles[name], [*command, name, file]) for name in names}


STAGES = {
    "lines": "read, cut into lines",
    "rows": "... and JSON",
    "floor-our-hashes": "... and words, each hashed",
    "shingles": "... and shingles in place of sums of words",
    "features": "... and 84 permutations, 6 features: the whole way",
    "permutations": "84 permutations, 6 features alone, shingles in memory",
    "distinct": "counting different shingles alone (the program does it too)",
}
FLOORS = {
    "floor-our-hashes": "our JSON, our words, our word hash",
    "floor-byte-words": "our JSON, runs of bytes, hashed byte by byte (wrong words)",
    "floor-our-words": "our JSON, our words as strings, foldhash",
    "floor-std-words": "our JSON, runs of `char::is_alphanumeric`, foldhash",
    "floor-plain": "serde_json, runs of `char::is_alphanumeric`, foldhash",
}


def loops(bench, file):
    """The stages and floors; the last stage is our library's run, which is there already."""
    names = [name for name in dict.fromkeys([*STAGES, *FLOORS]) if name != "features"]
    return {name: Run(name, [bench, "run", name, file]) for name in names}


def measure_all(runs, arguments):
    for number in range(arguments.rounds):
        for run in runs.values():
            print(f"   round {number + 1}: {run.title}", file=sys.stderr)
            for _ in range(SHORT_RUNS):
                run.measure(arguments.bench, arguments.core)
                if run.cpu_seconds > SHORT_SECONDS:
                    break


def require_equal_bytes(runs, shape):
    checksums = set().union(*(run.checksums for name, run in runs.items() if name.startswith(shape)))
    if len(checksums) != 1:
        sys.exit(f"error: the SIMD paths disagree on {shape} permutations: {checksums}")
    return checksums.pop()


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def speed_rows(runs, count, ours_cpu):
    text = count["text_bytes"] / 1e6
    for run in runs:
        yield [
            run.title,
            f"{run.cpu_seconds:.2f}",
            f"{run.seconds:.2f}",
            f"{text / run.cpu_seconds:.1f}",
            f"{run.peak_bytes / 1e6:.0f}",
            f"{run.cpu_seconds / ours_cpu:.1f}",
        ]


SPEED_HEADER = ["contestant", "CPU s", "wall s", "MB/s of text", "peak MB", "times our CPU s"]


def ratio(slow, fast):
    return slow.cpu_seconds / fast.cpu_seconds


def verdict(name, value, target):
    return [name, f"{value:.2f}", f"{target}", "reached" if value >= target else "**missed**"]


def corpus_page(name, arguments, paths):
    """Measures one corpus; returns its part of the page."""
    whole, part = (str(arguments.inputs / f"{name}{end}.jsonl") for end in ("", "-slice"))
    counts = [json.loads(output(arguments.bench, "count", file)) for file in (whole, part)]
    best = paths[-1]

    everyone = ours(arguments.bench, arguments.wonbon, paths, part)
    everyone |= others(
        ["rensa-regex", "rensa-split", "rensa-prehashed-regex", "rensa-prehashed-split"]
        + ["gaoya-index", "gaoya-sketch", "datasketch", "datasketch-crc32"],
        part,
    )
    measure_all(everyone, arguments)
    on_whole = ours(arguments.bench, arguments.wonbon, paths, whole)
    on_whole |= others(["rensa-prehashed-split", "gaoya-index"], whole)
    on_whole |= loops(arguments.bench, whole)
    measure_all(on_whole, arguments)

    for run in [*everyone.values(), *on_whole.values()]:
        count = counts[0] if run in on_whole.values() else counts[1]
        if not run.whole_process and run.documents != count["documents"]:
            sys.exit(f"error: {run.title} saw {run.documents} of {count['documents']} documents")
    checksums = {
        (file, shape): require_equal_bytes(runs, shape)
        for file, runs in (("whole", on_whole), ("slice", everyone))
        for shape in ("84", "128")
    }

    library = everyone[f"84 {best}"]
    whole_library = on_whole[f"84 {best}"]
    text = counts[0]["text_bytes"] / 1e6
    stage_rows, before = [], None
    for stage, title in STAGES.items():
        run = whole_library if stage == "features" else on_whole[stage]
        added = "" if not title.startswith("...") else f"{run.cpu_seconds - before:.3f}"
        before = run.cpu_seconds
        stage_rows.append([title, f"{run.cpu_seconds:.3f}", added, f"{text / run.cpu_seconds:.0f}"])
    floor_rows = [
        [
            title,
            f"{on_whole[floor].cpu_seconds:.3f}",
            f"{text / on_whole[floor].cpu_seconds:.0f}",
            f"{ratio(on_whole[floor], whole_library):.2f}",
        ]
        for floor, title in FLOORS.items()
    ]
    fastest_rensa = min(
        (run for name, run in everyone.items() if name.startswith("rensa")),
        key=lambda run: run.cpu_seconds,
    )
    rivals = [
        ("rensa, regex words", everyone["rensa-regex"], 8),
        ("rensa, the fastest way we found", fastest_rensa, 8),
        ("datasketch", everyone["datasketch"], 30),
        ("datasketch with CRC-32", everyone["datasketch-crc32"], 30),
    ]
    targets = [
        verdict(f"{who} / {rival}", ratio(run, mine), target)
        for who, mine in (("library", library), ("program", everyone["program"]))
        for rival, run, target in rivals
    ]
    targets += [
        verdict(f"library / floor: {title}", ratio(on_whole[floor], whole_library), 0.6)
        for floor, title in FLOORS.items()
    ]

    def described(count):
        return (
            f"{count['documents']:,} documents, {count['text_bytes'] / 1e6:.1f} MB of text, "
            f"{count['words'] / 1e6:.1f} million words"
        )

    sums = ", ".join(f"{file} {shape}: `{sum}`" for (file, shape), sum in checksums.items())
    speed = [run for run in on_whole.values() if run.title not in loops(arguments.bench, whole)]
    return "\n\n".join(
        [
            f"## Corpus: {name}",
            f"Whole: {described(counts[0])}. Slice (every n-th line): {described(counts[1])}.",
            "### Targets: our speed over theirs, by CPU seconds of the same file in the same run",
            table(["ratio", "measured", "target", ""], targets),
            "### Everyone, on the slice",
            table(SPEED_HEADER, speed_rows(everyone.values(), counts[1], library.cpu_seconds)),
            "### On the whole corpus",
            table(SPEED_HEADER, speed_rows(speed, counts[0], whole_library.cpu_seconds)),
            "All SIMD paths gave the same features, checked by a checksum over all of them"
            f" ({sums}).",
            "### Our stages, on the whole corpus",
            table(["stage", "CPU s", "added s", "MB/s of text"], stage_rows),
            "### Floors: loops that read the JSON and hash each word",
            table(["floor", "CPU s", "MB/s of text", "our speed / floor's"], floor_rows),
        ]
    )


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def cpu_model():
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown CPU"


def head(arguments, paths, machine):
    commit = output("git", "-C", str(HERE), "rev-parse", "--short", "HEAD")
    changed = output("git", "-C", str(HERE), "status", "--porcelain", "--untracked-files=no")
    versions = ", ".join(f"{package} {version(package)}" for package in PACKAGES)
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return "\n".join(
        [
            f"# Sketching side by side, {datetime.date.today()}, {machine}",
            "",
            f"- CPU: {cpu_model()}, {os.cpu_count()} cores; paths {', '.join(paths)}",
            f"- load averages at the start (1, 5, 15 minutes): {load}; compare CPU seconds, not wall",
            f"- commit: {commit}{' with local changes' if changed else ''}",
            f"- command: `{arguments.command.strip()}`",
            f"- versions: {output('rustc', '--version')}; Python {platform.python_version()}, {versions}",
            f"- one process each on core {arguments.core}, one thread; {arguments.rounds} rounds of one run, "
            f"{SHORT_RUNS} if it is shorter than {SHORT_SECONDS} s; best seconds, largest peak memory",
            "",
            (HERE / "README.md").read_text().split("## What is measured", 1)[1].split("\n## ", 1)[0].strip(),
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--bench", required=True)
    parser.add_argument("--wonbon", required=True)
    parser.add_argument("--inputs", required=True, type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--core", type=int, default=1)
    parser.add_argument("--command", default="")
    parser.add_argument("--machine", default="")
    parser.add_argument("--out", default="")
    arguments = parser.parse_args()
    paths = output(arguments.bench, "paths").splitlines()
    model = re.sub(r"\(\w+\)", "", cpu_model()).lower()
    slug = "-".join(re.findall(r"[a-z0-9]+", model)) + f"-{os.cpu_count()}-cores"
    machine = arguments.machine or slug
    default = HERE / "results" / f"{datetime.date.today()}-{machine}.md"
    out = Path(arguments.out) if arguments.out else default
    page = [head(arguments, paths, machine)]
    page += [corpus_page(name, arguments, paths) for name in arguments.corpora]
    out.parent.mkdir(exist_ok=True)
    out.write_text("\n\n".join(page) + "\n")
    print(out)


if __name__ == "__main__":
    main()
