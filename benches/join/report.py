"""Makes the Markdown table and the SVG plots out of the cells that run.sh measured."""

import json
import math
import os
import platform
import sys

PAIR_BYTES = 12
ALGORITHMS = ["auto", "allpairs", "ppjoin", "ppjoin+", "mpjoin", "apjoin"]
COLOURS = {"auto": "#d62728", "allpairs": "#7f7f7f", "ppjoin": "#1f77b4", "ppjoin+": "#17becf",
           "mpjoin": "#2ca02c", "apjoin": "#ff7f0e"}


def load(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip().startswith("{")]


def machine():
    model = "unknown processor"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    load_now = "/".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{model}, {os.cpu_count()} cores, {platform.system()}; load average at the end {load_now}"


def seconds(value, digits=3):
    return f"{value:.{digits}f}" if value < 10 else f"{value:.1f}"


def plot(path, title, x_label, series, x_log=False):
    width, height, left, bottom = 640, 400, 70, 50
    xs = [x for points in series.values() for x, _ in points]
    ys = [y for points in series.values() for _, y in points if y > 0]
    if not xs or not ys:
        return
    fx = (lambda x: math.log10(x)) if x_log else (lambda x: x)
    x0, x1 = fx(min(xs)), fx(max(xs))
    y0, y1 = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    px = lambda x: left + (fx(x) - x0) / ((x1 - x0) or 1) * (width - left - 120)
    py = lambda y: height - bottom - (math.log10(y) - y0) / ((y1 - y0) or 1) * (height - bottom - 40)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
           'font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="white"/>',
           f'<text x="{left}" y="22" font-size="14">{title}</text>',
           f'<text x="{(width - 120 + left) / 2}" y="{height - 10}" text-anchor="middle">{x_label}</text>',
           f'<text x="16" y="{height / 2}" transform="rotate(-90 16 {height / 2})" '
           'text-anchor="middle">seconds</text>']
    for power in range(y0, y1 + 1):
        y = py(10.0 ** power)
        out.append(f'<line x1="{left}" x2="{width - 120}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** power:g}</text>')
    for x in sorted(set(xs)):
        out.append(f'<text x="{px(x):.1f}" y="{height - bottom + 16}" text-anchor="middle">{x:g}</text>')
    for row, (name, points) in enumerate(series.items()):
        colour = COLOURS.get(name.split(" ")[0], "#000")
        dash = ' stroke-dasharray="5 3"' if "two" in name or "0.6" in name else ""
        line = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in sorted(points) if y > 0)
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        out.append(f'<text x="{width - 112}" y="{50 + 18 * row}" fill="{colour}">{name}</text>')
    out.append("</svg>")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


def main():
    cells, memory, others = (load(path) for path in sys.argv[1:4])
    with open(sys.argv[4], encoding="utf-8") as file:
        notes = [line.strip() for line in file if line.strip()]
    base, limit, commit, command = sys.argv[5], float(sys.argv[6]), sys.argv[7], sys.argv[8]
    one = {(c["file"], c["threshold"], c["algorithm"]): c for c in cells if c["threads"] == 1}
    two = {(c["file"], c["threshold"]): c for c in cells if c["threads"] == 2}
    files = list(dict.fromkeys(c["file"] for c in cells if c["file"] != "growth"))
    out = ["# Joins: every algorithm, data set and threshold", "",
           f"- machine: {machine()}", f"- commit: {commit}", f"- command: `{command}`",
           "- seconds are CPU seconds of the join alone (index included; reading, ordering and printing"
           " apart), one core, the least of the repetitions; `auto, 2` is wall time on two cores and"
           " what part of the wall time on one that is",
           f"- a cell over {limit:g} s ends its row: `> {limit:g}` at lower thresholds",
           "- `best / auto`: the fastest of the five over auto; above 1 auto is faster",
           *(f"- {note}" for note in notes), ""]
    for name in files:
        sample = next(c for c in cells if c["file"] == name)
        out += [f"## {name}", "",
                f"{sample['records']} distinct sets, {sample['tokens'] / sample['records']:.1f} tokens on average.", "",
                "| t | pairs | " + " | ".join(ALGORITHMS) + " | best / auto | auto, 2 |",
                "|---" * (len(ALGORITHMS) + 4) + "|"]
        thresholds = sorted({c["threshold"] for c in cells if c["file"] == name})
        for t in thresholds:
            row = [one.get((name, t, a)) for a in ALGORITHMS]
            counts = {c["results"] for c in row if c}
            pairs = str(counts.pop()) if len(counts) == 1 else f"**differ: {sorted(counts)}**"
            five = [c["cpu_seconds"] for c in row[1:] if c]
            ratio = f"{min(five) / row[0]['cpu_seconds']:.2f}" if five and row[0] else ""
            pair = two.get((name, t))
            both = ""
            if pair and row[0]:
                both = f"{seconds(pair['wall_seconds'])} ({pair['wall_seconds'] / row[0]['wall_seconds']:.2f})"
            times = [seconds(c["cpu_seconds"]) if c else f"> {limit:g}" for c in row]
            out.append(f"| {t} | {pairs} | " + " | ".join(times) + f" | {ratio} | {both} |")
        out.append("")
        series = {}
        for a in ALGORITHMS:
            points = [(float(t), one[name, t, a]["cpu_seconds"]) for t in thresholds if (name, t, a) in one]
            if points:
                series[a] = points
        slug = name.split(".")[0].replace("_set", "")
        plot(f"{base}-{slug}.svg", f"{slug}: CPU seconds against threshold, one core", "threshold", series)
        out += [f"![time against threshold]({os.path.basename(base)}-{slug}.svg)", ""]
    for name in files:
        if not name.startswith(("dblp", "enron.")):
            continue
        t = "0.85"
        out += [f"### Table 2 of the paper, on {name} at t {t}", "",
                "| | comparisons | candidates | join | seconds |", "|---|---|---|---|---|"]
        for a in ALGORITHMS[2:] + ["allpairs", "auto"]:
            c = one.get((name, t, a))
            if c:
                out.append(f"| {a} | {c['comparisons']:,} | {c['candidates']:,} | {c['results']:,} | {seconds(c['cpu_seconds'])} |")
        out.append("")
    growth = [c for c in cells if c["file"] == "growth"]
    if growth:
        out += ["## Growth: records against time, DBLP's shape", "",
                "| records | t | auto | ppjoin | apjoin | pairs |", "|---|---|---|---|---|---|"]
        series = {}
        for c in growth:
            series.setdefault(f"{c['algorithm']} {c['threshold']}", []).append((c["records"], c["cpu_seconds"]))
        for records in sorted({c["records"] for c in growth}):
            for t in sorted({c["threshold"] for c in growth}):
                row = {c["algorithm"]: c for c in growth if c["records"] == records and c["threshold"] == t}
                if row:
                    times = [seconds(row[a]["cpu_seconds"]) if a in row else f"> {limit:g}" for a in ("auto", "ppjoin", "apjoin")]
                    out.append(f"| {records} | {t} | " + " | ".join(times) + f" | {next(iter(row.values()))['results']} |")
        plot(f"{base}-growth.svg", "time against records, DBLP's shape, one core", "records", series, x_log=True)
        out += ["", f"![growth]({os.path.basename(base)}-growth.svg)", ""]
    if memory:
        out += ["## Peak memory of the whole program", "",
                "`wonbon join FILE --threads 1`; the bound is 1.5 x (4 bytes a token + 16 bytes a posting) of the"
                f" paper's index. Pairs wait to be sorted at {PAIR_BYTES} bytes each. The base is the peak of the same"
                " program reading as many empty lines, compressed alike: resident code, buffers, the window of zstd.", "",
                "| file | t | MB | of that pairs, MB | of that base, MB | bound, MB | without pairs / bound | without pairs and base / bound | pairs | reading s | ordering s | joining s | writing s |",
                "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
        for m in memory:
            if "peak_memory_bytes" not in m:
                continue
            paper = one.get((m["file"], m["asked"], "apjoin"), m)
            bound = 1.5 * (4 * m["tokens"] + 16 * paper["postings"]) / 1e6
            peak, waiting = m["peak_memory_bytes"] / 1e6, PAIR_BYTES * m["pairs"] / 1e6
            resident = m.get("base_bytes", 0) / 1e6
            out.append(f"| {m['file']} | {m['asked']} | {peak:.1f} | {waiting:.1f} | {resident:.1f} | {bound:.1f} "
                       f"| {(peak - waiting) / bound:.2f} | {(peak - waiting - resident) / bound:.2f} "
                       f"| {m['pairs']} | {m['reading_seconds']:.2f} | {m['ordering_seconds']:.2f} | {m['joining_seconds']:.2f} | {m['writing_seconds']:.2f} |")
        out.append("")
    if others:
        out += ["## Other tools, same run, one core", "", "Wall seconds of the join alone; they compute in floating point.", "",
                "| file | t | tool | seconds | pairs | auto, seconds | auto, pairs | MB |", "|---|---|---|---|---|---|---|---|"]
        for o in others:
            auto = one.get((o["file"], o["threshold"], "auto"))
            mine = f"{seconds(auto['cpu_seconds'])} | {auto['results']}" if auto else " | "
            if "stopped_after" in o:
                out.append(f"| {o['file']} | {o['threshold']} and below | {o['tool']} | > {o['stopped_after']} | | {mine} | |")
            else:
                out.append(f"| {o['file']} | {o['threshold']} | {o['tool']} | {seconds(o['wall_seconds'])} | {o['results']} | {mine} | {o['peak_memory_bytes'] / 1e6:.0f} |")
        out.append("")
    with open(f"{base}.md", "w", encoding="utf-8") as file:
        file.write("\n".join(out))


if __name__ == "__main__":
    main()
