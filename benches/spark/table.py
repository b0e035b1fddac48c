"""Tables from what run.sh noted: one line each, a name, a tab, JSON."""

import json
import sys

FIELDS = [
    ("documents", "documents"),
    ("text MB", "text_bytes"),
    ("families equal to `wonbon dedup`", "equal"),
    ("wall s", "wall_seconds"),
    ("CPU s", "cpu_seconds"),
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
    steps = [(name, told["written_bytes_a_document"]) for name, told in columns if "written_bytes_a_document" in told]
    if steps:
        print("\nWritten for each step, bytes a document:\n")
        for name, told in steps:
            written = ", ".join(f"{step} {count}" for step, count in told.items() if count >= 0.5)
            print(f"- {name}: {written}")


if __name__ == "__main__":
    main()
