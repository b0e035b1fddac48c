"""How time and memory of `wonbon dedup` grow with the corpus, each size in one gigabyte of memory.

    python benches/dedup/growth.py [DOCUMENTS...]          (benches/dedup/growth.sh and large.sh build first)

Input: made-up posts of about 5 kB, a quarter of them copies with up to 4 % of their words changed (`generate N 580`);
a smaller input is the beginning of a larger one. Each size is run once, smallest first, from a cold start: the input
is written, synced and dropped from the page cache where that is allowed. Told: CPU, wall, peak resident set, what the
system read from and wrote to the disk, and the exponents by which CPU and wall grow from the smallest to the largest.
A run that takes more than LIMIT seconds (3600) is ended and said to, and larger ones are left out.

Room needed in BENCH_DIR (or TMPDIR): three times the input and a half; the script refuses to begin without it.
Written: results/<date>-growth.md and .svg, or what OUT says (without ending).
"""

import datetime
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WONBON = os.environ.get("WONBON", os.path.join(HERE, "../../target/release/wonbon"))
GENERATE = os.environ.get("GENERATE", os.path.join(HERE, "target/release/generate"))
LIMIT = float(os.environ.get("LIMIT", "3600"))
MEMORY = os.environ.get("MEMORY", "1G")
WORDS = 580
BYTES_A_DOCUMENT = 5_300


def written_input(path, documents):
    with open(path, "wb") as file:
        subprocess.run([GENERATE, str(documents), str(WORDS)], stdout=file, check=True)
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return os.path.getsize(path)


def run(path, folder, threads):
    """One run: its summary and what the system says it used; or why there is none."""
    out = os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    command = [WONBON, "dedup", path, "-o", out, "--threads", str(threads), "--memory", MEMORY, "--json"]
    with tempfile.TemporaryFile() as told:
        start = time.time()
        child = subprocess.Popen(command, stdout=told, stderr=subprocess.DEVNULL)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.time() - start > LIMIT:
                child.send_signal(signal.SIGKILL)
                os.wait4(child.pid, 0)
                child.returncode = -9
                return f"takes more than {LIMIT:.0f} s"
            time.sleep(0.05)
        child.returncode = os.waitstatus_to_exitcode(status)
        wall = time.time() - start
        if child.returncode != 0:
            return f"ends with {child.returncode}"
        told.seek(0)
        summary = json.loads(told.read())
    shutil.rmtree(out, ignore_errors=True)
    return {
        "wall": wall, "user": usage.ru_utime, "system": usage.ru_stime, "peak": usage.ru_maxrss / 1024,
        "read": usage.ru_inblock * 512 / 1e6, "written": usage.ru_oublock * 512 / 1e6, "summary": summary,
    }


def plot(rows, path):
    """Seconds against documents, both by powers, with the slope of n and of n^1.1."""
    left, right, top, bottom = 70, 600, 20, 330
    sizes = [row["documents"] for row in rows]
    times = [row[kind] for row in rows for kind in ("wall", "cpu")]
    low, high = math.log(min(sizes)), math.log(max(sizes))
    least, most = math.log(min(times) / 1.3), math.log(max(times) * 1.6)
    x = lambda n: left + (math.log(n) - low) / max(1e-9, high - low) * (right - left)
    y = lambda s: bottom - (math.log(s) - least) / (most - least) * (bottom - top)
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 380" font-family="sans-serif" font-size="13">',
             '<rect width="680" height="380" fill="#fff"/>']
    for row in rows:
        parts.append(f'<text x="{x(row["documents"]):.0f}" y="352" text-anchor="middle">{row["documents"]:,}</text>')
    for seconds in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000):
        if least <= math.log(seconds) <= most:
            parts.append(f'<line x1="{left}" x2="{right}" y1="{y(seconds):.0f}" y2="{y(seconds):.0f}" stroke="#ddd"/>'
                         f'<text x="{left - 8}" y="{y(seconds) + 4:.0f}" text-anchor="end">{seconds} s</text>')
    for kind, colour in (("wall", "#2f6f8f"), ("cpu", "#b5642a")):
        points = " ".join(f"{x(row['documents']):.1f},{y(row[kind]):.1f}" for row in rows)
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{right + 6}" y="{y(rows[-1][kind]) + 4:.0f}" fill="{colour}">{kind}</text>')
    first = rows[0]
    limit = [first["wall"] * (row["documents"] / first["documents"]) ** 1.1 for row in rows]
    points = " ".join(f"{x(row['documents']):.1f},{y(min(value, math.exp(most))):.1f}" for row, value in zip(rows, limit))
    parts.append(f'<polyline points="{points}" fill="none" stroke="#888" stroke-dasharray="4 4"/>')
    parts.append(f'<text x="{left + 10}" y="{top + 10}" fill="#666">dashed: the first wall time by n^1.1</text></svg>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(parts) + "\n")


def main():
    sizes = sorted(int(text) for text in sys.argv[1:]) or [100_000, 200_000, 500_000, 1_000_000, 2_000_000]
    threads = os.cpu_count() or 1
    base = os.environ.get("BENCH_DIR") or tempfile.gettempdir()
    needed, free = 3.5 * BYTES_A_DOCUMENT * sizes[-1], shutil.disk_usage(base).free
    if free < needed:
        raise SystemExit(f"{base} has {free / 1e9:.0f} GB free, {needed / 1e9:.0f} GB are needed; say BENCH_DIR")
    rows, notes = [], []
    with tempfile.TemporaryDirectory(dir=base, prefix="wonbon-growth-") as folder:
        for documents in sizes:
            path = os.path.join(folder, "in.jsonl")
            size = written_input(path, documents)
            found = run(path, folder, threads)
            os.remove(path)
            if isinstance(found, str):
                notes.append(f"{documents:,} documents: {found}; larger ones were left out.")
                break
            found.update(documents=documents, bytes=size, cpu=found["user"] + found["system"])
            rows.append(found)
            print(f"{documents:,}: {found['wall']:.1f} s, CPU {found['cpu']:.1f} s, {found['peak']:.0f} MB",
                  file=sys.stderr, flush=True)
    if not rows:
        raise SystemExit(" ".join(notes))
    out = os.environ.get("OUT", os.path.join(HERE, "results", f"{datetime.date.today()}-growth"))
    commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty"], capture_output=True, text=True)
    lines = [
        f"# Growth in {MEMORY} of memory, {datetime.date.today()}", "",
        f"Machine: {threads} cores, load {os.getloadavg()[0]:.1f} at the end. Commit: {commit.stdout.strip()}. Command: "
        f"`python benches/dedup/growth.py {' '.join(sys.argv[1:])}`", f"(`wonbon dedup in.jsonl -o out --threads {threads} "
        f"--memory {MEMORY} --json`). Input: `generate N {WORDS}`.", "",
        "| documents | input MB | text MB | CPU s (user + system) | wall s | peak resident MB | read MB | written MB | "
        "families | copies |", "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        summary = row["summary"]
        copies = sum(count for kind, count in summary["kinds"]
                     if kind in ("identical", "same-text", "same-shingles", "copy"))
        lines.append(
            f"| {row['documents']:,} | {row['bytes'] / 1e6:,.0f} | {summary['text_bytes'] / 1e6:,.0f} | {row['cpu']:.1f} "
            f"({row['user']:.1f} + {row['system']:.1f}) | {row['wall']:.1f} | {row['peak']:.0f} | {row['read']:,.0f} | "
            f"{row['written']:,.0f} | {summary['families']:,} | {copies:,} |")
    lines += ["", "Seconds of each phase, wall (CPU):", ""]
    names = list(dict.fromkeys(phase["phase"] for row in rows for phase in row["summary"]["phases"]))
    lines += ["| documents | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    for row in rows:
        by_name = {phase["phase"]: phase for phase in row["summary"]["phases"]}
        cells = [f"{by_name[name]['seconds']:.1f} ({by_name[name]['cpu_seconds']:.1f})" if name in by_name else ""
                 for name in names]
        lines.append(f"| {row['documents']:,} | " + " | ".join(cells) + " |")
    if len(rows) > 1:
        first, last = rows[0], rows[-1]
        grown = math.log(last["documents"] / first["documents"])
        powers = {kind: math.log(last[kind] / first[kind]) / grown for kind in ("cpu", "wall")}
        lines += ["", f"From {first['documents']:,} to {last['documents']:,} documents CPU grows by n^{powers['cpu']:.2f}, "
                  f"wall by n^{powers['wall']:.2f}.", "", f"![growth]({os.path.basename(out)}.svg)"]
        plot(rows, out + ".svg")
    lines += [""] + notes if notes else []
    with open(out + ".md", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    print(out + ".md", file=sys.stderr)


if __name__ == "__main__":
    main()
