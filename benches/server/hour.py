#!/usr/bin/env python3
"""Mixed load for a while, and how the memory of the service moves.

    hour.py PORT PID POSTS WORDS MINUTES [REQUESTS_A_SECOND]

Of a hundred requests 60 search, 25 check, 5 add, 5 get what was added, 5 ask for a page. Prints a line a
minute (documents added, the service's own memory in MB, and what of files it has mapped), then the slopes
of the last three quarters. Mapped files are the system's memory, which it takes back when it needs it.
"""

import http.client
import itertools
import random
import sys
import threading
import time
import urllib.parse

port, pid, posts, words = int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
minutes, rate = float(sys.argv[5]), float(sys.argv[6]) if len(sys.argv) > 6 else 200.0
lines = open(posts, encoding="utf-8").read().splitlines()
words = open(words, encoding="utf-8").read().split()
end = time.time() + minutes * 60
added, failed = itertools.count(), itertools.count()
adds, failures = [0], [0]
THREADS = 4


def client(number):
    drawn = random.Random(number)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    last = None
    due = time.time()
    while time.time() < end:
        due += THREADS / rate
        time.sleep(max(0.0, due - time.time()))
        dice = drawn.randrange(100)
        json = {"Content-Type": "application/json"}
        if dice < 60:
            query = urllib.parse.quote(drawn.choice(words))
            asked = ("GET", f"/v1/search?limit=10&q={query}", None, {})
        elif dice < 85:
            asked = ("POST", "/v1/check", drawn.choice(lines).encode(), json)
        elif dice < 90:
            last = f"https://hour.example/{number}/{next(added)}"
            text = drawn.choice(lines)
            body = '{"id": "' + last + '"' + text[text.index(",") :]
            asked = ("POST", "/v1/documents", body.encode(), json)
        elif dice < 95:
            key = urllib.parse.quote(last or "nothing", safe="")
            asked = ("GET", f"/v1/documents/{key}", None, {})
        else:
            page = drawn.choice(["/", "/families", "/status", "/search?q=" + urllib.parse.quote(drawn.choice(words))])
            asked = ("GET", page, None, {"Accept": "text/html"})
        try:
            connection.request(*asked)
            answer = connection.getresponse()
            answer.read()
            if answer.status >= 500:
                failures[0] += 1
            if asked[1] == "/v1/documents" and answer.status < 300:
                adds[0] += 1
        except OSError:
            failures[0] += 1
            connection.close()


def resident():
    sizes = dict(line.split()[:2] for line in open(f"/proc/{pid}/status") if line.startswith("Rss"))
    return int(sizes["RssAnon:"]) / 1024, int(sizes["RssFile:"]) / 1024


def slope(points):
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)


threads = [threading.Thread(target=client, args=(number,)) for number in range(THREADS)]
for thread in threads:
    thread.start()
seen = []
started = time.time()
while time.time() < end:
    own, mapped = resident()
    seen.append((time.time() - started, adds[0], own, mapped))
    print(f"{seen[-1][0] / 60:.1f} min, {adds[0]} added, {own:.1f} MB own, {mapped:.1f} MB mapped, "
          f"{failures[0]} failures", flush=True)
    time.sleep(min(60.0, max(0.1, end - time.time())))
for thread in threads:
    thread.join()
seen.append((time.time() - started, adds[0], *resident()))
late = [point for point in seen if point[0] >= seen[-1][0] / 4]
own = slope([(point[0] / 3600, point[2]) for point in late])
mapped = slope([(point[0] / 3600, point[3]) for point in late])
print(f"slope of the last three quarters: {own:.2f} MB of own memory an hour, {mapped:.2f} MB mapped; "
      f"{late[-1][1] - late[0][1]} documents added meanwhile, {failures[0]} failures")
