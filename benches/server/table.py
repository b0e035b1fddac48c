#!/usr/bin/env python3
"""Rows of several rounds as one table: the median of each figure, and its range."""

import statistics
import sys

library = float(sys.argv[1])
rounds = {}
for line in sys.stdin:
    kind, figures = line.split(" | ")
    rounds.setdefault(kind, []).append([float(figure) for figure in figures.split()])


def told(values, digits):
    middle = statistics.median(values)
    return f"{middle:.{digits}f} ({min(values):.{digits}f}–{max(values):.{digits}f})"


def rate(kind):
    return statistics.median(row[0] for row in rounds[kind])


print("| what | requests a second | p50, ms | p99, ms | errors | of the empty handler |")
print("|---|---|---|---|---|---|")
for kind, rows in rounds.items():
    rates, medians, slowest, errors = zip(*rows)
    share = statistics.median(rates) / rate("empty")
    print(f"| {kind} | {told(rates, 0)} | {told(medians, 2)} | {told(slowest, 2)} | {sum(errors):.0f} | {share:.2f} |")
print()
print(f"Adds by the service reach {rate('add') / library:.2f} of the library's own rate.")
