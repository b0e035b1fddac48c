"""Tables from what run.sh noted: one line each, a name, a tab, JSON; and how runs on generated documents grow.

    table.py LINES [PLOT.svg]
"""

import json
import math
import sys

FIELDS = [
    ("documents", "documents"),
    ("text MB", "text_bytes"),
    ("families equal to `wonbon dedup`", "equal"),
    ("wall s", "wall_seconds"),
    ("CPU s", "cpu_seconds"),
    ("of it: driver, executors, Python workers", "cpu_seconds_of"),
    ("task s", "task_seconds"),
    ("MB a CPU s", "MB_a_cpu_second"),
    ("MB a task s", "MB_a_task_second"),
    ("longest task s", "longest_task_seconds"),
    ("B shuffled a document", "shuffled_bytes_a_document"),
    ("peak MB: driver, executor, Python worker", "peak_MB"),
    ("local: CPU s", "local_cpu_seconds"),
    ("CPU against local", "cpu_against_local"),
    ("session and warm-up s", "session_and_warm_up_seconds"),
    ("pairs found", "found"),
    ("recall", "recall"),
    ("precision", "precision"),
]


def shown(name, value):
    if value is None:
        return ""
    if name == "text_bytes":
        return f"{value / 1e6:.0f}"
    if isinstance(value, dict):
        return " / ".join(str(part) for part in value.values())
    if isinstance(value, bool):
        return "yes" if value else "NO"
    return f"{value:,}" if isinstance(value, int) else str(value)


def plot(grown, path):
    """CPU seconds and the driver's memory against documents, by powers; dashed, what n^1.1 would be."""
    left, right, top, bottom = 70, 600, 30, 330
    low, high = (math.log10(told["documents"]) for told in (grown[0], grown[-1]))
    curves = [
        ("CPU, s", "a", [(told["documents"], told["cpu_seconds"]) for told in grown]),
        ("n^1.1", "b", [(d, grown[0]["cpu_seconds"] * (d / grown[0]["documents"]) ** 1.1) for d in (10**low, 10**high)]),
        ("driver, MB", "c", [(told["documents"], told["peak_MB"]["driver"]) for told in grown]),
    ]
    values = [math.log10(value) for _, _, points in curves for _, value in points]
    least, most = math.floor(min(values)), math.ceil(max(values))

    def x(documents):
        return left + (math.log10(documents) - low) / (high - low) * (right - left)

    def y(value):
        return bottom - (math.log10(value) - least) / (most - least) * (bottom - top)

    style = "svg{color-scheme:light dark;background:#fbfaf7;font:13px system-ui,sans-serif}text{fill:#1d2327}"
    style += "path{fill:none;stroke-width:2}.g{stroke:#dedbd3;stroke-width:1}.a{stroke:#0b6e99}.c{stroke:#a8503a}"
    style += ".b{stroke:#8a9299;stroke-dasharray:5 4}"
    style += "@media(prefers-color-scheme:dark){svg{background:#14181b}text{fill:#e6e8e9}.g{stroke:#333b41}}"
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 380" role="img" aria-label="CPU and memory over documents">']
    svg.append(f"<style>{style}</style>")
    for power in range(least, most + 1):
        at = y(10**power)
        svg.append(f'<path class="g" d="M{left} {at:.1f}H{right}"/><text x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{10**power:,}</text>')
    for told in grown:
        svg.append(f'<text x="{x(told["documents"]):.1f}" y="{bottom + 22}" text-anchor="middle">{told["documents"]:,}</text>')
    svg.append(f'<text x="{(left + right) / 2}" y="{bottom + 44}" text-anchor="middle">documents</text>')
    for name, kind, points in curves:
        places = [(x(documents), y(value)) for documents, value in points]
        svg.append(f'<path class="{kind}" d="M' + "L".join(f"{across:.1f} {down:.1f}" for across, down in places) + '"/>')
        svg.append(f'<text x="{places[-1][0] + 8:.1f}" y="{places[-1][1] + 4:.1f}">{name}</text>')
    svg.append("</svg>")
    with open(path, "w") as file:
        file.write("\n".join(svg) + "\n")


def main():
    columns = []
    with open(sys.argv[1]) as lines:
        for line in lines:
            name, _, told = line.rstrip("\n").partition("\t")
            columns.append((name, json.loads(told) if told else {}))
    print("| run | " + " | ".join(title for title, _ in FIELDS) + " |")
    print("|---" * (1 + len(FIELDS)) + "|")
    for name, told in columns:
        told.setdefault("peak_MB", told.get("peak_mb"))
        print(f"| {name} | " + " | ".join(shown(field, told.get(field)) for _, field in FIELDS) + " |")
    ours = [(name, told) for name, told in columns if "steps" in told]
    if ours:
        print("\nWritten for each step, bytes a document:\n")
        for name, told in ours:
            written = told["written_bytes_a_document"].items()
            print(f"- {name}: " + ", ".join(f"{step} {count}" for step, count in written if count >= 0.5))
        print("\nCPU seconds of each step, and bytes shuffled a document in it:\n")
        for name, told in ours:
            parts = [
                f"{step} {cost['cpu_seconds']}, {cost['shuffled_bytes_a_document']} B" for step, cost in told["steps"].items()
            ]
            print(f"- {name}: " + "; ".join(parts))
    grown = [told for name, told in columns if name.startswith("generated") and told.get("documents")]
    if len(grown) > 1:
        first, last = grown[0], grown[-1]
        exponent = math.log(last["cpu_seconds"] / first["cpu_seconds"]) / math.log(last["documents"] / first["documents"])
        print(f"\nFrom {first['documents']:,} to {last['documents']:,} generated documents CPU grows as n^{exponent:.2f}.")
        if len(sys.argv) > 2:
            plot(grown, sys.argv[2])


if __name__ == "__main__":
    main()
