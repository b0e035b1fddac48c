"""The same loop with other parts: others.py FOLDER DOCUMENTS SECONDS WONBON (called by others.sh).

FOLDER has posts.jsonl (id, text), features.jsonl (six features each, as `wonbon sketch` prints them) and the
socket of a PostgreSQL server.

datasketch: text to 5-word shingles to MinHash of 128 permutations; query, then insert. One process, one thread.
Nothing is durable. The threshold 0.9 is the nearest to what 2 of 6 features find.

PostgreSQL: a table of posts and a table of pair keys (15 for each post: the place of the pair, 64 bits of its two
features), unique. A post is stored by one transaction: look up its 15 keys, insert it with its original or none,
and, if it is an original, insert its keys sorted, ON CONFLICT DO NOTHING. Features are given: making them is not
in its time. The tables hold DOCUMENTS posts before clients are measured, each for SECONDS.

wonbon: `wonbon add` of the same file in the same run: text to features, decision, durable, search indexing and the
index of shingles included.
"""

import itertools
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time

WORD = re.compile(r"\w+")
PAIRS = list(itertools.combinations(range(6), 2))


def rows(path, count):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in itertools.islice(lines, count)]


def percentiles(times):
    times.sort()
    return times[len(times) // 2] * 1e6, times[len(times) * 99 // 100] * 1e6


def datasketch(folder, count, seconds):
    from datasketch import MinHash, MinHashLSH

    def signature(text):
        words = WORD.findall(text.lower())
        shingles = {" ".join(words[i : i + 5]) for i in range(max(1, len(words) - 4))}
        made = MinHash(num_perm=128)
        made.update_batch([shingle.encode() for shingle in shingles])
        return made

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    lsh = MinHashLSH(threshold=0.9, num_perm=128)
    times = []
    end = time.time() + max(20.0, 10 * seconds)
    stored = 0
    started = time.time()
    for row in rows(os.path.join(folder, "posts.jsonl"), count):
        made = signature(row["text"])
        start = time.perf_counter()
        copies = lsh.query(made)
        times.append(time.perf_counter() - start)
        if not copies:
            lsh.insert(row["id"], made)
        stored += 1
        if time.time() > end:
            break
    rate = stored / (time.time() - started)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    p50, p99 = percentiles(times[len(times) // 2 :])
    print(f"| datasketch MinHashLSH, in memory | {stored} | 1 | {rate:.0f} | {p50:.0f} / {p99:.0f} | {grown / stored:.0f} | no |")


def keys(features):
    numbers = [int(feature, 16) for feature in features]
    made = []
    for place, (a, b) in enumerate(PAIRS):
        mixed = (numbers[a] * 0x9E3779B97F4A7C15 + numbers[b]) & 0xFFFFFFFFFFFFFFFF
        made.append((place, mixed - (1 << 63)))
    return sorted(made)


def store_post(cursor, row, features):
    found = None
    pairs = keys(features) if features else []
    if pairs:
        cursor.execute(
            "SELECT post FROM pair_keys WHERE (place, key) IN %s ORDER BY post LIMIT 1", (tuple(pairs),)
        )
        found = cursor.fetchone()
    cursor.execute("INSERT INTO posts (body, original) VALUES (%s, %s) RETURNING post", (row["text"], found and found[0]))
    post = cursor.fetchone()[0]
    if found is None and pairs:
        cursor.execute(
            "INSERT INTO pair_keys (place, key, post) VALUES "
            + ",".join(f"({place},{key},{post})" for place, key in pairs)
            + " ON CONFLICT DO NOTHING"
        )
    cursor.connection.commit()


def postgresql(folder, count, seconds):
    import io

    import psycopg2

    def connect():
        return psycopg2.connect(host=folder, user="wonbon", dbname="postgres")

    posts = rows(os.path.join(folder, "posts.jsonl"), count + 40_000)
    features = {row["id"]: row["features"] for row in rows(os.path.join(folder, "features.jsonl"), count + 40_000)}
    connection = connect()
    cursor = connection.cursor()
    cursor.execute("CREATE TABLE posts (post serial PRIMARY KEY, body text, original int)")
    cursor.execute("CREATE TABLE pair_keys (place smallint, key bigint, post int, PRIMARY KEY (place, key))")
    bodies, pairs, known = io.StringIO(), io.StringIO(), set()
    for number, row in enumerate(posts[:count], 1):
        body = row["text"].replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")
        bodies.write(body + "\n")
        for pair in keys(features[row["id"]]) if features[row["id"]] else []:
            if pair not in known:
                known.add(pair)
                pairs.write(f"{pair[0]}\t{pair[1]}\t{number}\n")
    bodies.seek(0)
    pairs.seek(0)
    cursor.copy_from(bodies, "posts", columns=("body",))
    cursor.copy_from(pairs, "pair_keys")
    connection.commit()
    connection.autocommit = True
    cursor.execute("VACUUM ANALYZE")
    cursor.execute("SELECT pg_total_relation_size('pair_keys')")
    each = cursor.fetchone()[0] / count
    next_post = itertools.count(count)
    for clients in (1, 8, 64):
        times, lock = [], threading.Lock()
        end = time.time() + seconds

        def client():
            mine = []
            link = connect()
            cursor = link.cursor()
            while time.time() < end:
                row = posts[count + (next(next_post) - count) % 40_000]
                start = time.perf_counter()
                try:
                    store_post(cursor, row, features[row["id"]])
                except psycopg2.Error:
                    link.rollback()
                    continue
                mine.append(time.perf_counter() - start)
            link.close()
            with lock:
                times.extend(mine)

        threads = [threading.Thread(target=client) for _ in range(clients)]
        started = time.time()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rate = len(times) / (time.time() - started)
        p50, p99 = percentiles(times)
        print(f"| PostgreSQL 15, pair keys | {count} | {clients} | {rate:.0f} | {p50:.0f} / {p99:.0f} (whole add) | {each:.0f} on disk | yes |")


def ours(folder, count, wonbon):
    part = os.path.join(folder, "part.jsonl")
    with open(os.path.join(folder, "posts.jsonl"), encoding="utf-8") as lines, open(part, "w", encoding="utf-8") as out:
        out.writelines(itertools.islice(lines, count))
    with tempfile.TemporaryDirectory(dir=folder) as directory:
        done = subprocess.run(
            [wonbon, "--store", os.path.join(directory, "store"), "add", "--json", part], capture_output=True, text=True, check=True
        )
    summary = json.loads(done.stdout.strip().splitlines()[-1])["summary"]
    rate = summary["documents"] / summary["seconds"]
    print(f"| `wonbon add`, from a file | {count} | 1 | {rate:.0f} | see adds | see adds | yes |")


def main():
    folder, count, seconds, wonbon = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
    print("| | documents | clients | adds a second | check, µs p50 / p99 | index, bytes a document | durable |")
    print("|---|---|---|---|---|---|---|")
    ours(folder, count, wonbon)
    datasketch(folder, count, seconds)
    postgresql(folder, count, seconds)


if __name__ == "__main__":
    main()
