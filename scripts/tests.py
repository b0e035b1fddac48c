#!/usr/bin/env python3
"""Every test program of the workspace, as many at once as there are cores.

    scripts/tests.py [--jobs N] [--slowest N] [-- ARGUMENTS OF CARGO TEST]

`cargo test` runs one program after another, and many of ours wait: for a child that is to be killed, for a
disk, for a browser. Here cargo builds the programs and names them, and the ones that took longest last
time start first (target/test-times.json has the seconds of each, on the clock and of CPU with its children). A program
that fails has its whole output printed at the end.
Documentation tests follow, by cargo. Exit code 1 when anything failed.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
COUNT = re.compile(r"test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")


def programs(arguments):
    """Builds the test programs; gives (name, executable, folder of the package) of each."""
    command = ["cargo", "test", "--no-run", "--quiet", "--message-format=json-render-diagnostics"]
    built = subprocess.run(command + arguments, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        sys.exit(built.returncode)
    found = []
    for line in built.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message["profile"]["test"] and message["executable"]:
            folder = pathlib.Path(message["manifest_path"]).parent
            name = f"{folder.name}/{message['target']['name']}"
            found.append((name, message["executable"], folder))
    return found


def run(program):
    """Runs one test program as cargo would: in the folder of its package."""
    name, executable, folder = program
    environment = dict(os.environ, CARGO_MANIFEST_DIR=str(folder))
    start = time.monotonic()
    child = subprocess.Popen(
        [executable, "--quiet"], cwd=folder, env=environment, text=True, errors="replace",
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )
    output = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return name, child.returncode, (time.monotonic() - start, used.ru_utime + used.ru_stime), output


def main():
    parser = argparse.ArgumentParser(description="Runs every test program of the workspace.")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="programs at once")
    parser.add_argument("--slowest", type=int, default=10, help="how many of the slowest to name")
    parser.add_argument("cargo", nargs="*", default=["--workspace"], help="arguments of cargo test")
    asked = parser.parse_args()
    found = programs(asked.cargo)
    if not found:
        sys.exit("error: cargo named no test program")
    metadata = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    target = pathlib.Path(json.loads(subprocess.check_output(metadata, cwd=ROOT))["target_directory"])
    remembered = target / "test-times.json"
    try:
        times = json.loads(remembered.read_text())
    except (OSError, ValueError):
        times = {}
    if not all(isinstance(seconds, list) for seconds in times.values()):
        times = {}  # an earlier version kept one number each
    # What was never timed starts first: it may be the longest.
    found.sort(key=lambda program: -times.get(program[0], [float("inf")])[0])

    start, failed, passed, ignored = time.monotonic(), [], 0, 0
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as threads:
        for done in concurrent.futures.as_completed([threads.submit(run, program) for program in found]):
            name, code, seconds, output = done.result()
            times[name] = [round(part, 2) for part in seconds]
            counts = COUNT.findall(output)
            passed += sum(int(count[0]) for count in counts)
            ignored += sum(int(count[2]) for count in counts)
            # A program that ended well without a result of its tests did not run them.
            if code != 0 or not counts:
                failed.append((name, code, output))
                print(f"FAILED {name}", flush=True)
    remembered.write_text(json.dumps(times, indent=1, sort_keys=True))

    wall, ran = time.monotonic() - start, [(name, *times[name]) for name, _, _ in found]
    cpu = sum(cpu for _, _, cpu in ran)
    print(f"{len(found)} programs, {passed} tests passed, {ignored} ignored, {wall:.0f} s, {cpu:.0f} CPU s")
    for what, part in (("slowest", 1), ("most CPU", 2)):
        first = sorted(ran, key=lambda row: -row[part])[: asked.slowest]
        print(f"{what}: " + ", ".join(f"{row[0]} {row[part]:.0f} s" for row in first))
    for name, code, output in failed:
        print(f"\n---- {name}: exit code {code}\n{output}")
    documentation = subprocess.run(["cargo", "test", "--doc", "--quiet"] + asked.cargo, cwd=ROOT)
    sys.exit(1 if failed or documentation.returncode else 0)


if __name__ == "__main__":
    main()
