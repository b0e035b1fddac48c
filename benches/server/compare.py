#!/usr/bin/env python3
"""Two builds of wonbon side by side, so that a change shows what it costs.

    compare.py OLD NEW [--rule RULE] [--documents N] [--seconds S] [--rounds N] [--out FILE]

OLD and NEW are programs. Both do the same work in turn, round after round, on the same core:
`sketch` and `dedup` of JSON lines (CPU seconds), and as services, filled with the same posts, check, search
and durable adds from 64 connections (requests a second, by wrk on the other core, and requests a CPU second of
the service, which a busy machine disturbs less). The table has the
median of each and the ratio of the two. Corpus: the shared English and Korean sets where they are beside
the checkout, otherwise made-up posts. Needs wrk, curl, zstd and two cores.
"""

import argparse
import datetime
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SHARED = HERE.parents[2] / "shared" / "data"
CORPORA = ["ko-precedents", "en-reuters21578", "en-usenet20news", "en-win32-api-docs"]


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def corpus(work, posts):
    path = work / "corpus.jsonl"
    files = [SHARED / f"{name}.jsonl.zst" for name in CORPORA]
    if not all(file.exists() for file in files):
        return posts
    with path.open("wb") as out:
        for file in files:
            subprocess.run(["zstd", "-dc", "--long=27", file], check=True, stdout=out)
    return path


class Service:
    def __init__(self, program, name, work, rule, posts):
        self.store = work / f"store-{name}"
        init = [program, "init", "--store", self.store, "--rule", rule, "--seed", "0"]
        subprocess.run(init, check=True, stderr=subprocess.DEVNULL)
        self.log = (work / f"log-{name}").open("wb")
        address = work / f"address-{name}"
        command = ["taskset", "-c", "0", program, "serve", "--store", self.store]
        self.process = subprocess.Popen(
            command + ["--listen", "127.0.0.1:0"], stdout=address.open("wb"), stderr=self.log
        )
        while not address.read_text().strip():
            time.sleep(0.05)
        self.base = address.read_text().splitlines()[0].rstrip("/")
        fill = ["curl", "-sS", "-T", posts, "-H", "content-type: application/x-ndjson"]
        fill += ["-X", "POST", f"{self.base}/v1/documents"]
        subprocess.run(fill, check=True, stdout=subprocess.DEVNULL)
        self.settle()

    def ticks(self):
        """Processor time of the service, in hundredths of a second."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().split()
        return int(fields[13]) + int(fields[14])

    def settle(self):
        """Waits until search has caught up and the service has used no processor for two seconds."""
        quiet, before = 0, -1
        for _ in range(600):
            used = self.ticks()
            quiet = quiet + 1 if used - before <= 2 else 0
            before = used
            if quiet >= 4:
                return
            time.sleep(0.5)

    def rate(self, kind, file, seconds):
        environment = dict(os.environ, LOAD_KIND=kind, LOAD_FILE=str(file))
        command = ["taskset", "-c", "1", "wrk", "-t", "1", "-c", "64", "-d", f"{seconds}s"]
        command += ["-s", HERE / "load.lua", self.base]
        before = self.ticks()
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        seconds = (self.ticks() - before) / 100
        rate = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
        answered = re.search(r"(\d+) requests in", done.stdout)
        if not rate or not answered or "Non-2xx" in done.stdout:
            sys.exit(f"error: {done.stdout}")
        return float(rate.group(1)), int(answered.group(1)) / seconds

    def end(self):
        self.process.terminate()
        self.process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("old", type=os.path.abspath)
    parser.add_argument("new", type=os.path.abspath)
    parser.add_argument("--rule", default="threshold=0.8")
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out")
    asked = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="wonbon-compare-"))
    programs = {"old": asked.old, "new": asked.new}
    services = {}
    try:
        posts, words, some = work / "posts.jsonl", work / "words.txt", work / "some.jsonl"
        with posts.open("wb") as out:
            subprocess.run([sys.executable, HERE / "documents.py", str(asked.documents)], check=True, stdout=out)
        with words.open("wb") as out:
            subprocess.run([sys.executable, HERE / "documents.py", "--words"], check=True, stdout=out)
        some.write_text("".join(posts.open().readlines()[:5000]))
        lines = corpus(work, posts)
        measured = {}

        def note(what, name, value):
            measured.setdefault(what, {}).setdefault(name, []).append(value)

        one_core = ["taskset", "-c", "0"]
        for number in range(asked.rounds):
            for name, program in programs.items():
                sketch = one_core + [program, "sketch", "--threads", "1", lines]
                note("sketch, CPU seconds", name, cpu_seconds(sketch))
                out = work / f"out-{name}-{number}"
                dedup = one_core + [program, "dedup", "--threads", "1", lines, "-o", out]
                dedup += ["--rule", asked.rule]
                note("dedup, CPU seconds", name, cpu_seconds(dedup))
                shutil.rmtree(out)
        for name, program in programs.items():
            services[name] = Service(program, name, work, asked.rule, posts)
        for _ in range(asked.rounds):
            for kind, file in [("check", some), ("search", words)]:
                for name, service in services.items():
                    rate, by_processor = service.rate(kind, file, asked.seconds)
                    note(f"{kind} a second, 64 clients", name, rate)
                    note(f"{kind} a CPU second of the service", name, by_processor)
        for _ in range(asked.rounds):
            for name, service in services.items():
                rate, by_processor = service.rate("add", some, asked.seconds)
                note("adds a second, 64 clients", name, rate)
                note("adds a CPU second of the service", name, by_processor)
                service.settle()
        table = [
            f"# Two builds side by side, {datetime.date.today()}",
            "",
            f"`benches/server/compare.py OLD NEW --rule {asked.rule} --documents {asked.documents} "
            f"--seconds {asked.seconds} --rounds {asked.rounds}`; medians, lowest and highest in brackets.",
            "",
            "| | old | new | new is faster by |",
            "|---|---|---|---|",
        ]
        for what, values in measured.items():
            old, new = (statistics.median(values[name]) for name in programs)
            shown = [
                f"{statistics.median(values[name]):,.2f} ({min(values[name]):,.2f} to {max(values[name]):,.2f})"
                for name in programs
            ]
            ratio = old / new if what.endswith("CPU seconds") else new / old
            table.append(f"| {what} | {shown[0]} | {shown[1]} | {100 * (ratio - 1):+.1f} % |")
        text = "\n".join(table) + "\n"
        print(text)
        if asked.out:
            pathlib.Path(asked.out).write_text(text)
    finally:
        for service in services.values():
            service.end()
        shutil.rmtree(work)


if __name__ == "__main__":
    main()
