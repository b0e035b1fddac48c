"""Names what cargo has built for the Python tests, from its messages on standard input: the module, and the program
that writes the golden rows."""

import json
import sys

module, golden = [], []
for message in map(json.loads, sys.stdin):
    if message.get("reason") != "compiler-artifact":
        continue
    if message["target"]["name"] == "_wonbon":
        module += [name for name in message["filenames"] if name.endswith(".so")]
    if "/crates/python/" in message["manifest_path"] and message["executable"]:
        golden.append(message["executable"])
if len(module) != 1 or len(golden) != 1:
    sys.exit(f"error: cargo names the modules {module} and the test programs {golden}")
print(module[0], golden[0])
