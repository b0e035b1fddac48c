"""How long Ctrl-C takes: a long call is interrupted at a moment drawn at random, again and again.

    python interrupts.py FILE.parquet [TIMES]        (an interpreter with wonbon and pyarrow; FILE has the column text)

Each time a process reads the table, says that it begins, and calls `dedup`, `sketch`, `join` or `dedup_files`; SIGINT comes
after up to the time that the call takes as a whole. Measured: from the signal to the moment at which the process catches
KeyboardInterrupt, on the wall and by CPU of all threads: on a machine that has other work the wall clock says more about that
work. The temporary folder must be empty afterwards.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import time

CALLS = {
    "dedup": "wonbon.dedup(table, pairs=True)",
    "dedup exact": "wonbon.dedup(table, engine='exact')",
    "sketch": "wonbon.sketch(table.column('text'), features=128)",
    "join": "wonbon.join(table.column('text'), threshold=0.5)",
    "dedup_files": "wonbon.dedup_files(sys.argv[1], tempfile.gettempdir() + '/out')",
}

CHILD = """
import sys, tempfile, time
import pyarrow, pyarrow.parquet, wonbon
table = pyarrow.parquet.read_table(sys.argv[1])
table = pyarrow.concat_tables([table] * 3).combine_chunks()
wonbon.dedup(["a"])
print("begun", flush=True)
start = time.time()
try:
    {call}
    print("whole", time.time() - start, flush=True)
except KeyboardInterrupt:
    print("stopped", time.time(), time.process_time(), flush=True)
"""
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(process):
    """What a process has used so far, as the system counts: in hundredths of a second."""
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def run(call, path, delay):
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD.format(call=call), path],
            stdout=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=folder),
        )
        assert child.stdout.readline() == "begun\n"
        if delay is not None:
            time.sleep(delay)
            used = cpu_seconds(child.pid)
            child.send_signal(signal.SIGINT)
        sent = time.time()
        how, *values = child.stdout.read().split()
        child.wait()
        # What a resumable job leaves is meant to stay.
        left = [] if "files" in call else os.listdir(folder)
        if how == "whole":
            return how, float(values[0]), 0, left
        return how, float(values[0]) - sent, max(float(values[1]) - used, 0), left


def main():
    path, times = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    draw = random.Random(18)
    print("| call | seconds as a whole | interrupted | median ms | longest ms | median CPU ms | most CPU ms |\n" + "|---" * 7 + "|")
    for name, call in CALLS.items():
        _, whole, _, _ = run(call, path, None)
        told = [run(call, path, draw.random() * whole) for _ in range(times)]
        assert not any(left for *_, left in told), "a folder was left behind"
        cells = [f"`{name}`", f"{whole:.2f}", str(sum(how == "stopped" for how, *_ in told))]
        for at in (1, 2):
            waited = sorted(1000 * one[at] for one in told if one[0] == "stopped") or [0]
            cells += [f"{waited[len(waited) // 2]:.0f}", f"{waited[-1]:.0f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
