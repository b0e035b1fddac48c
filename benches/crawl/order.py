"""Turns the lines of order-bench into a Markdown report and a plot; see run.sh."""

import json
import math
import pathlib
import platform
import sys
import os

work, base, commit, command = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]

# The figures that were to be reached, after a tenth of the pages.
ASKED = {
    "synthetic": {"bfs": ".444/.260", "mcs": ".507/.463", "opic": ".481/.294", "damped": ".517/.468"},
    "webkb": {"bfs": ".189/.128", "mcs": ".105/.041", "opic": ".217/.165", "damped": ".273/.449"},
}


def lines(name):
    path = work / name
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def machine():
    for line in open("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def share(value):
    return f"{value:.3f}".lstrip("0")


def table(name, title):
    rows = lines(f"{name}.jsonl")
    if not rows:
        return []
    head = rows[0]
    text = [
        f"## {title}",
        "",
        f"{head['pages']:,} pages, {head['links']:,} links ({100 * head['external']:.1f} % external), "
        f"{head['sites']:,} sites; {head['reachable_pages']:,} pages of {head['reachable_sites']:,} sites, "
        f"with {100 * head['reachable_pagerank']:.1f} % of the PageRank, can be reached from the "
        f"{head['seeds']} seeds. Cells are shares of what can be reached: PageRank / sites.",
        "",
        "| ordering | 1 % of pages | 5 % | 10 % | asked at 10 % | 25 % | 50 % | CPU s |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows[1:]:
        cells = {s[0]: f"{share(s[1])}/{share(s[2])}" for s in row["shares"] if s}
        asked = ASKED[name].get(row["order"], "")
        text.append(
            f"| {row['order']} | {cells.get(1, '')} | {cells.get(5, '')} | {cells.get(10, '')} | {asked} "
            f"| {cells.get(25, '')} | {cells.get(50, '')} | {row['cpu_seconds']:.2f} |"
        )
    return text + [""]


def plot(rows, path):
    width, height, left, top, right, bottom = 720, 380, 70, 40, 110, 50
    names = list(dict.fromkeys(row["order"] for row in rows))
    most = max(row["seconds_per_million_links"] for row in rows) * 1.15
    low, high = 4.8, 8.2
    x = lambda links: left + (math.log10(links) - low) / (high - low) * (width - left - right)
    y = lambda value: height - bottom - value / most * (height - top - bottom)
    day = ["#1f6f9c", "#b4540a", "#2f7d3b", "#8b3fa0"]
    night = ["#6fb3d2", "#f0a35e", "#7fcb8a", "#c99bdc"]
    style = "svg{color-scheme:light dark;background:#fbfaf7;font:13px system-ui,sans-serif}text{fill:#1d2327}.faint{fill:#626b72}.grid{stroke:#dedbd3}"
    style += "".join(f".c{i}{{stroke:{c};fill:none;stroke-width:2}}text.c{i},circle.c{i}{{stroke:none;fill:{c}}}" for i, c in enumerate(day))
    style += "@media(prefers-color-scheme:dark){svg{background:#14181b}text{fill:#e6e8e9}.faint{fill:#9aa4ab}.grid{stroke:#333b41}"
    style += "".join(f".c{i}{{stroke:{c}}}text.c{i},circle.c{i}{{fill:{c}}}" for i, c in enumerate(night)) + "}"
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="Seconds per million links over links">', f"<style>{style}</style>"]
    svg.append(f'<text class="faint" x="{left}" y="24">CPU seconds per million links</text>')
    step = 10 ** math.floor(math.log10(most / 4))
    step = next(step * m for m in (1, 2, 5, 10) if most / (step * m) <= 6)
    value = 0.0
    while value <= most:
        svg.append(f'<path class="grid" d="M{left} {y(value):.1f}H{width - right}"/><text class="faint" text-anchor="end" x="{left - 8}" y="{y(value) + 4:.1f}">{value:.2f}</text>')
        value += step
    for power in range(5, 9):
        svg.append(f'<text class="faint" text-anchor="middle" x="{x(10 ** power):.1f}" y="{height - bottom + 20}">10<tspan dy="-5" font-size="10">{power}</tspan></text>')
    svg.append(f'<text class="faint" text-anchor="middle" x="{(left + width - right) / 2}" y="{height - 10}">links</text>')
    placed = []
    for i, name in enumerate(names):
        points = [(x(row["links"]), y(row["seconds_per_million_links"])) for row in rows if row["order"] == name]
        svg.append(f'<path class="c{i}" d="M' + "L".join(f"{a:.1f} {b:.1f}" for a, b in points) + '"/>')
        svg.extend(f'<circle class="c{i}" cx="{a:.1f}" cy="{b:.1f}" r="3.5"/>' for a, b in points)
        at = points[-1][1]
        while any(abs(at - other) < 15 for other in placed):
            at -= 3
        placed.append(at)
        svg.append(f'<text class="c{i}" x="{points[-1][0] + 10:.1f}" y="{at + 4:.1f}">{name}</text>')
    svg.append("</svg>")
    pathlib.Path(path).write_text("\n".join(svg) + "\n")


linear = lines("linear.jsonl")
text = [
    "# Orderings",
    "",
    f"`{command}` at {commit}, {machine()}, {os.cpu_count()} cores, pinned to one; "
    "the machine did other work at the same time, so times are CPU seconds, the least of several crawls.",
    "",
    "## Time for a link",
    "",
    "Whole virtual crawls of made-up webs with the default shape: the ordering, the numbering of pages and the",
    "making of link lists. Nanoseconds a link are seconds per million links times 1,000.",
    "",
    "| links | pages | " + " | ".join(dict.fromkeys(row["order"] for row in linear)) + " |",
    "|---|---|" + "---|" * len(dict.fromkeys(row["order"] for row in linear)),
]
for links in dict.fromkeys(row["links"] for row in linear):
    rows = [row for row in linear if row["links"] == links]
    cells = [f"{row['seconds_per_million_links']:.4f} s ({links / row['cpu_seconds'] / 1e6:.0f} M/s)" for row in rows]
    text.append(f"| {links:,} | {rows[0]['pages']:,} | " + " | ".join(cells) + " |")
if linear:
    plot(linear, f"{base}.svg")
    text += ["", f"![seconds per million links]({pathlib.Path(base).name}.svg)", ""]
text += table("synthetic", "A made-up web: `wonbon order generate`")
text += table("webkb", "WebKB from the front pages of its four large departments, site = host")
memory = lines("memory.jsonl")
if memory:
    text += ["## Memory", "", "Growth of the resident memory while a made-up web is crawled whole, ordering and crawl (8 bytes a page of the graph, 1 a site) together.", "", "| ordering | known pages | bytes a page |", "|---|---|---|"]
    text += [f"| {row['order']} | {row['pages']:,} | {row['bytes_a_page']:.1f} |" for row in memory]
    text.append("")
notes = work / "notes.md"
if notes.exists():
    text.append(notes.read_text())
pathlib.Path(f"{base}.md").write_text("\n".join(text).rstrip() + "\n")
