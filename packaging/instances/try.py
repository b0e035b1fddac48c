#!/usr/bin/env python3
"""The deployment of this folder without containers, under load and with its faults: three instances, a PostgreSQL with a
synchronous standby and the proxy, as processes on loopback.

    packaging/instances/try.py WONBON [SECONDS] [CLIENTS]

WONBON is the program. Clients add documents through the proxy, each waiting for its verdict; a tenth repeats a text that
another client sent. After a third of the time an instance is killed and started again; after two thirds the primary is
killed and the standby promoted. Then every acknowledged document has to be there, and of every text exactly one original.
Prints a table and exits with 1 if anything is wrong. Needs Debian's postgresql and nginx; as root the servers of
PostgreSQL run as its user.
"""

import http.client
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
wonbon = pathlib.Path(sys.argv[1]).resolve()
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 30.0
clients = int(sys.argv[3]) if len(sys.argv) > 3 else 16
programs = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
work = pathlib.Path(tempfile.mkdtemp(prefix="wonbon-instances-"))
PORTS = {"one": 7601, "two": 7602, "three": 7603}
PROXY, PRIMARY, STANDBY = 7680, 7632, 7633
running = {}


def as_server(*command):
    user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
    done = subprocess.run([*user, *map(str, command)], cwd=work, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{command}: {done.stdout}")


def start_server(name, port):
    settings = f"-p {port} -k {work} -c listen_addresses=127.0.0.1"
    if name == "primary":
        settings += " -c synchronous_standby_names=standby"
    as_server(programs / "pg_ctl", "-D", work / name, "-w", "-l", work / f"{name}.log", "-o", settings, "start")


def start_instance(name):
    place = f"postgres://wonbon@127.0.0.1:{PRIMARY},127.0.0.1:{STANDBY}/postgres?target_session_attrs=read-write"
    environment = dict(os.environ, WONBON_STORE=place, WONBON_DERIVED=str(work / name), WONBON_LOG="warn")
    log = open(work / f"{name}.log", "ab")
    command = [wonbon, "serve", "--listen", f"127.0.0.1:{PORTS[name]}"]
    running[name] = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=log)


def wait_until(port, path, patience=60):
    end = time.time() + patience
    while time.time() < end:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", path)
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit(f"{path} of {port} does not answer; see {work}")


def text_of(number):
    return " ".join(f"word{number * 7919 % 99991}x{at * 31 % 101}" for at in range(300))


acknowledged, times, refused = {}, [], [0]
lock = threading.Lock()
ended = threading.Event()


def client(number):
    connection, at = None, 0
    while not ended.is_set():
        key = f"{number}/{at}"
        about = at // 10 if at % 10 == 9 else number * 1_000_000 + at
        body = json.dumps({"id": key, "text": text_of(about)})
        while not ended.is_set():
            began = time.time()
            try:
                connection = connection or http.client.HTTPConnection("127.0.0.1", PROXY, timeout=60)
                connection.request("POST", "/v1/documents", body, {"content-type": "application/json"})
                answer = connection.getresponse()
                verdict = answer.read()
                if answer.status in (200, 201):
                    with lock:
                        acknowledged[key] = json.loads(verdict)["verdict"]
                        times.append((time.time(), time.time() - began))
                    break
            except (OSError, http.client.HTTPException):
                connection = None
            with lock:
                refused[0] += 1
            time.sleep(0.02)
        at += 1


def longest_pause(since, until):
    moments = sorted([since, *(moment for moment, _ in times if since <= moment <= until), until])
    return max(later - earlier for earlier, later in zip(moments, moments[1:]))


def run():
    if os.getuid() == 0:
        shutil.chown(work, "postgres")
    as_server(programs / "initdb", "-D", work / "primary", "-U", "wonbon", "-A", "trust", "-E", "UTF8", "--locale=C")
    # The standby has to be there before the first commit that waits for it.
    as_server(programs / "pg_ctl", "-D", work / "primary", "-w", "-l", work / "primary.log", "-o", f"-p {PRIMARY} -k {work}", "start")
    source = f"host=127.0.0.1 port={PRIMARY} user=wonbon application_name=standby"
    as_server(programs / "pg_basebackup", "-D", work / "standby", "-R", "-X", "stream", "-c", "fast", "-d", source)
    as_server(programs / "pg_ctl", "-D", work / "primary", "-w", "stop")
    start_server("primary", PRIMARY)
    start_server("standby", STANDBY)
    for name in PORTS:
        start_instance(name)
    configuration = (HERE / "nginx.conf").read_text()
    for name, port in PORTS.items():
        configuration = configuration.replace(f"server {name}:7600", f"server 127.0.0.1:{port}")
    configuration = configuration.replace("listen 8080", f"listen 127.0.0.1:{PROXY}")
    temporary = "".join(f"{kind}_temp_path {work}/{kind};" for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"])
    configuration = configuration.replace("http {", "http { " + temporary, 1)
    (work / "nginx.conf").write_text(f"daemon off; user root; pid {work}/nginx.pid; " + configuration)
    running["proxy"] = subprocess.Popen([nginx, "-c", work / "nginx.conf", "-e", work / "nginx.log"], stderr=subprocess.DEVNULL)
    for port in [*PORTS.values(), PROXY]:
        wait_until(port, "/readyz")

    threads = [threading.Thread(target=client, args=(number,)) for number in range(clients)]
    began = time.time()
    for thread in threads:
        thread.start()
    time.sleep(seconds / 3)
    killed = time.time()
    running["two"].kill()
    running["two"].wait()
    start_instance("two")
    time.sleep(seconds / 3)
    lost = time.time()
    postmaster = int((work / "primary/postmaster.pid").read_text().split()[0])
    os.kill(postmaster, signal.SIGKILL)
    as_server(programs / "pg_ctl", "-D", work / "standby", "-w", "promote")
    time.sleep(seconds / 3)
    ended.set()
    for thread in threads:
        thread.join()
    until = time.time()

    for port in PORTS.values():
        wait_until(port, "/readyz")
    connection = http.client.HTTPConnection("127.0.0.1", PROXY, timeout=60)
    missing = originals = 0
    by_text = {}
    for key, verdict in acknowledged.items():
        connection.request("GET", "/v1/documents/" + key.replace("/", "%2F"))
        answer = connection.getresponse()
        stored = json.loads(answer.read())
        missing += answer.status != 200
        if answer.status == 200:
            by_text.setdefault(stored["text"], []).append(stored["verdict"])
    wrong = sum(verdicts.count("original") > 1 for verdicts in by_text.values())
    latencies = sorted(latency for _, latency in times)
    quiet = [latency for moment, latency in times if moment < killed]
    quiet.sort()
    print(f"| acknowledged | {len(acknowledged)} |\n| a second, before the faults | {len(quiet) / (killed - began):.0f} |")
    print(f"| p50 and p99 before the faults, ms | {quiet[len(quiet) // 2] * 1e3:.1f} and {quiet[len(quiet) * 99 // 100] * 1e3:.1f} |")
    print(f"| longest wait of a client, s | {latencies[-1]:.2f} |\n| refused, then tried again | {refused[0]} |")
    print(f"| longest pause of all after the kill of an instance, s | {longest_pause(killed, lost):.2f} |")
    print(f"| longest pause of all after the loss of the primary, s | {longest_pause(lost, until):.2f} |")
    print(f"| acknowledged and missing | {missing} |\n| texts with two originals | {wrong} |")
    return missing == 0 and wrong == 0


try:
    print("| | |\n|---|---|")
    is_right = run()
finally:
    ended.set()
    for process in running.values():
        process.terminate()
    for process in running.values():
        process.wait()
    for name in ["primary", "standby"]:
        if (work / name / "postmaster.pid").exists():
            user = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
            stop = [*user, programs / "pg_ctl", "-D", work / name, "-m", "immediate", "-w", "stop"]
            subprocess.run(stop, cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if sys.exc_info()[0] is None:
        shutil.rmtree(work)
    else:
        print(f"see {work}", file=sys.stderr)
sys.exit(0 if is_right else 1)
