"""Makes the Markdown table of one core against two out of the cells that run.sh measured."""

import sys

from report import load, machine, seconds


def main():
    cells = load(sys.argv[1])
    with open(sys.argv[2], encoding="utf-8") as file:
        notes = [line.strip() for line in file if line.strip()]
    path, commit, command = sys.argv[3:6]
    by_key = {(c["file"], c["threshold"], c["threads"]): c for c in cells}
    out = ["# Joins on one core and on two", "",
           f"- machine: {machine()}", f"- commit: {commit}", f"- command: `{command}`",
           "- seconds of the join alone (index included; reading, ordering and printing apart), one and two threads"
           " in turn in one process, the least of the repetitions",
           "- `two / one`: wall time, the target is 0.6",
           "- `work`: CPU seconds of two threads over twice those of one: 0.5 if nothing is done twice",
           "- `busiest`: CPU seconds of the busier of two threads over those of one: the least that wall time comes to"
           " when both cores are free",
           *(f"- {note}" for note in notes), ""]
    for name in dict.fromkeys(c["file"] for c in cells):
        sample = next(c for c in cells if c["file"] == name)
        out += [f"## {name}", "",
                f"{sample['records']} distinct sets, {sample['tokens'] / sample['records']:.1f} tokens on average.", "",
                "| t | pairs | one core, wall s | two cores, wall s | two / one | work | busiest |",
                "|---|---|---|---|---|---|---|"]
        for t in sorted({c["threshold"] for c in cells if c["file"] == name}):
            one, two = by_key.get((name, t, 1)), by_key.get((name, t, 2))
            if not one or not two:
                continue
            pairs = one["results"] if one["results"] == two["results"] else "**differ**"
            out.append(f"| {t} | {pairs} | {seconds(one['wall_seconds'], 4)} | {seconds(two['wall_seconds'], 4)} "
                       f"| {two['wall_seconds'] / one['wall_seconds']:.2f} "
                       f"| {two['cpu_seconds'] / one['cpu_seconds'] / 2:.2f} "
                       f"| {two['busiest_seconds'] / one['cpu_seconds']:.2f} |")
        out.append("")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out))


main()
