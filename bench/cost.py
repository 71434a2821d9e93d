#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What calltrap says that watching costs, beside what it has cost: redis, nginx,
node, python3 and sqlite are worked with for a while, untraced and traced in
turn. Printed are the share of the work that clients lost, the share of the time
that calltrap's report says the program stood still for, of the same run, and
the ratio of the two. A program that isn't installed is left out.
"""

import argparse
import contextlib
import mmap
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CALLTRAP = os.path.abspath(os.environ.get("CALLTRAP") or
                           os.path.join(HERE, "..", "calltrap"))

# What is compared is how stops are told.
ENGINE = os.environ.get("ENGINE") or "trap"

NODE = """
const http = require('http');
http.createServer((request, response) => {
  response.end(JSON.stringify({ url: request.url, at: Date.now() }));
}).listen(process.argv[2]);
"""

PYTHON = """
import json, mmap, struct, sys
with open(sys.argv[1], 'r+b') as file:
    done = mmap.mmap(file.fileno(), 8)
text = json.dumps([{'a': i, 'b': str(i)} for i in range(50)])
count = 0
while True:
    json.dumps(json.loads(text))
    count += 1
    done[:8] = struct.pack('Q', count)
"""

NGINX = """
daemon off; worker_processes 1; pid {0}/pid; error_log {0}/error;
events {{ worker_connections 64; }}
http {{ access_log off; keepalive_requests 1000000000; client_body_temp_path {0}/b; proxy_temp_path {0}/p;
  fastcgi_temp_path {0}/f; uwsgi_temp_path {0}/u; scgi_temp_path {0}/s;
  server {{ listen unix:{0}/socket; location / {{ return 200 'well'; }} }} }}
"""


class Work:
    """Something that is done by .pid; .count() says how often by now."""

    def __init__(self, directory):
        self.dir = directory
        self.children = []
        self.done = 0
        self.stop = threading.Event()

    def start(self, *argv, **how):
        how.setdefault("stdout", subprocess.DEVNULL)
        child = subprocess.Popen(argv, stderr=subprocess.DEVNULL,
                                 stdin=how.pop("stdin", subprocess.DEVNULL),
                                 **how)
        self.children.append(child)
        return child

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def wait_for(self, name):
        for _ in range(500):
            if os.path.exists(self.path(name)):
                return
            time.sleep(0.02)

    def count(self):
        return self.done

    def end(self):
        self.stop.set()
        for child in reversed(self.children):
            child.kill()
            child.wait()


class Http(Work):
    """Closed loop clients over a socket that .connect() makes."""

    def clients(self, number):
        for _ in range(number):
            threading.Thread(target=self.client, daemon=True).start()

    def client(self):
        import socket
        request = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
        with contextlib.suppress(OSError), \
                socket.socket(socket.AF_UNIX) as sock:
            sock.connect(self.path("socket"))
            while not self.stop.is_set():
                sock.sendall(request)
                if not sock.recv(4096):
                    return
                self.done += 1


class Redis(Work):
    rare = "read"
    needs = ("redis-server", "redis-benchmark", "redis-cli")

    def begin(self):
        self.pid = self.start("redis-server", "--port", "0", "--unixsocket",
                              self.path("socket"), "--save", "",
                              "--dir", self.dir).pid
        self.wait_for("socket")
        self.start("redis-benchmark", "-s", self.path("socket"), "-t", "set",
                   "-l", "-q", "-c", "20")

    def count(self):
        text = subprocess.run(["redis-cli", "-s", self.path("socket"), "info",
                               "stats"], stdout=subprocess.PIPE).stdout
        return int(re.search(rb"total_commands_processed:(\d+)", text)[1])


class Nginx(Http):
    rare = "recv"
    needs = ("nginx",)

    def begin(self):
        conf = self.write("conf", NGINX.format(self.dir))
        master = self.start(shutil.which("nginx", path=PATH), "-c", conf)
        self.wait_for("socket")
        time.sleep(0.3)
        with open("/proc/%d/task/%d/children" % ((master.pid,) * 2)) as file:
            self.pid = int(file.read().split()[0])
        self.clients(4)


class Node(Http):
    rare = "writev"
    needs = ("node",)

    def begin(self):
        script = self.write("server.js", NODE)
        self.pid = self.start("node", script, self.path("socket")).pid
        self.wait_for("socket")
        self.clients(4)


class Python(Work):
    rare = "strchr"
    needs = ("/usr/bin/python3",)

    def begin(self):
        with open(self.path("done"), "wb") as file:
            file.write(bytes(8))
        with open(self.path("done"), "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 8)
        self.pid = self.start("/usr/bin/python3", self.write("w.py", PYTHON),
                              self.path("done"),
                              env=dict(os.environ, PYTHONMALLOC="malloc")).pid

    def count(self):
        return struct.unpack("Q", self.map[:8])[0]


class Sqlite(Work):
    rare = "read"
    needs = ("sqlite3",)

    def begin(self):
        self.shell = self.start("sqlite3", ":memory:", stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE)
        self.pid = self.shell.pid
        self.ask("create table t(a integer primary key, b text); "
                 "with recursive n(i) as (select 1 union all select i + 1 "
                 "from n where i < 500) insert into t select i, 'x' || i "
                 "from n; select 1;")
        threading.Thread(target=self.client, daemon=True).start()

    def ask(self, text):
        self.shell.stdin.write(text.encode() + b"\n")
        self.shell.stdin.flush()
        return self.shell.stdout.readline()

    def client(self):
        with contextlib.suppress(OSError):
            while not self.stop.is_set() and self.ask(
                    "select count(*), max(b) from t where b like '%7%';"):
                self.done += 1


PATH = os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin"
WORKS = {"redis": Redis, "nginx": Nginx, "node": Node, "python3": Python,
         "sqlite": Sqlite}
VERBS = {
    "heap": ["heap"],
    "-c": ["-c"],
    "-c malloc": ["-c", "-L", "-x", "malloc"],
    "-c rare": ["-c", "-L", "-x"],
}


def rate(work, seconds):
    before, start = work.count(), time.monotonic()
    time.sleep(seconds)
    return (work.count() - before) / (time.monotonic() - start)


def traced(work, arguments, seconds):
    """Work done a second while calltrap is there, and the share it reports."""
    with tempfile.TemporaryFile() as err:
        tracer = subprocess.Popen([CALLTRAP, *arguments, "--engine", ENGINE,
                                   "-p", str(work.pid)],
                                  stdin=subprocess.DEVNULL, stderr=err)
        time.sleep(1)
        found = rate(work, seconds)
        tracer.terminate()
        tracer.wait()
        err.seek(0)
        text = err.read().decode(errors="replace")
    said = re.search(r"stood still for (\d+(?:\.\d+)?) %", text)
    if not said:
        print(text[-500:], file=sys.stderr)
    return found, float(said[1]) / 100 if said else None


def measure(kind, arguments, options):
    """(lost, said) of each round, each between two untraced ones."""
    pairs = []
    with tempfile.TemporaryDirectory(prefix="calltrap-cost.") as directory:
        work = kind(directory)
        try:
            work.begin()
            time.sleep(1)
            before = rate(work, options.seconds)
            for _ in range(options.rounds):
                watched, said = traced(work, arguments, options.seconds)
                time.sleep(0.2)
                after = rate(work, options.seconds)
                free = (before + after) / 2
                if said is not None and free:
                    pairs.append((max(1 - watched / free, 0), said))
                before = after
        finally:
            work.end()
    return pairs


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("names", nargs="*", default=list(WORKS))
    options = parser.parse_args()
    print("%-10s%-12s%12s%12s%10s" % ("program", "calltrap", "lost", "said",
                                      "ratio"))
    for name in options.names:
        kind = WORKS[name]
        if not all(shutil.which(tool, path=PATH) for tool in kind.needs):
            continue
        for verb, arguments in VERBS.items():
            if verb == "-c rare":
                verb = "-c " + kind.rare
                arguments = arguments + [kind.rare]
            pairs = measure(kind, arguments, options)
            if not pairs:
                print("%-10s%-12s%12s" % (name, verb, "-"))
                continue
            lost, said = (statistics.median(column) for column in zip(*pairs))
            print("%-10s%-12s%10.0f %%%10.0f %%%10s" %
                  (name, verb, lost * 100, said * 100,
                   "%.2f" % (said / lost) if lost > 0.01 else "-"))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
