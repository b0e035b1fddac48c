"""How long Ctrl-C takes: a long call is interrupted at a moment drawn at random, again and again.

    python interrupts.py FILE.parquet [TIMES]        (an interpreter with wonbon and pyarrow; FILE has the column text)

Each time a process reads the table, says that it begins, and calls `dedup`, `sketch`, `join` or `dedup_files`; SIGINT comes
after up to the time that the call takes as a whole. Measured: from the signal to the moment at which the process catches
KeyboardInterrupt. The temporary folder must be empty afterwards.
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
    print("stopped", time.time(), flush=True)
"""


def run(call, path, delay):
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD.format(call=call), path],
            stdout=subprocess.PIPE, text=True, env=dict(os.environ, TMPDIR=folder),
        )
        assert child.stdout.readline() == "begun\n"
        if delay is not None:
            time.sleep(delay)
            child.send_signal(signal.SIGINT)
        sent = time.time()
        how, value = child.stdout.read().split()
        child.wait()
        # What a resumable job leaves is meant to stay.
        left = [] if "files" in call else os.listdir(folder)
        return how, float(value) - (sent if how == "stopped" else 0), left


def main():
    path, times = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10
    draw = random.Random(18)
    print("| call | seconds as a whole | interrupted | median ms | longest ms |\n|---|---|---|---|---|")
    for name, call in CALLS.items():
        _, whole, _ = run(call, path, None)
        told = [run(call, path, draw.random() * whole) for _ in range(times)]
        assert not any(left for _, _, left in told), "a folder was left behind"
        waited = sorted(1000 * value for how, value, _ in told if how == "stopped")
        if waited:
            print(f"| `{name}` | {whole:.2f} | {len(waited)} | {waited[len(waited) // 2]:.0f} | {waited[-1]:.0f} |", flush=True)
        else:
            print(f"| `{name}` | {whole:.2f} | 0 | | |", flush=True)


if __name__ == "__main__":
    main()
