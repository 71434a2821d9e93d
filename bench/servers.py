# SPDX-License-Identifier: GPL-2.0-or-later
"""
Servers that are put under load, for who measures what it costs to watch them. Each
is given a directory of its own, has the command that starts it (.argv), and can be
waited for, which returns its process (.wait()), put under so many requests (.load(),
which returns requests a second and, where clients say it, the 99th percentile of
their times in ms, or raises Failed where that takes longer than .patience or the
server doesn't answer), and be ended (.stop()).
"""

import collections
import csv
import io
import os
import re
import select
import shutil
import signal
import socket
import statistics
import subprocess
import time

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGESIZE")

NGINX = """
daemon off;
master_process off;
pid {0}/pid;
error_log /dev/null;
events {{ }}
http {{
    access_log off;
    keepalive_requests 1000000;
    client_body_temp_path {0};
    proxy_temp_path {0};
    fastcgi_temp_path {0};
    uwsgi_temp_path {0};
    scgi_temp_path {0};
    server {{ listen unix:{0}/socket; location / {{ return 200 "hello"; }} }}
}}
"""


# ---- what there is of processes ----

def stat_of(pid):
    """(parent, processor seconds, resident bytes), or None."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return (int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS,
            int(fields[21]) * PAGE)


def is_dead(pid):
    """Also while nobody has waited for it."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] in "ZX"
    except OSError:
        return True


def family_of(pid):
    """The process, and what it and its children have made."""
    parents = {}
    for name in os.listdir("/proc"):
        found = stat_of(int(name)) if name.isdigit() else None
        if found:
            parents.setdefault(found[0], []).append(int(name))
    family = [pid]
    for one in family:
        family += parents.get(one, [])
    return family


def memory_of(pids):
    return sum(found[2] for found in map(stat_of, pids) if found)


def launch_stopped(argv, **how):
    """A program that begins when it gets SIGCONT."""
    started = subprocess.Popen(["/bin/sh", "-c", 'kill -STOP $$; exec "$@"',
                                "sh", *argv], **how)
    os.waitid(os.P_PID, started.pid, os.WSTOPPED | os.WNOWAIT)
    return started


def allocator_of(pid):
    """The library whose malloc the process calls, or None: the C library."""
    with open("/proc/%d/maps" % pid) as file:
        found = re.search(r"/\S*lib(?:jemalloc|tcmalloc|mimalloc)\S*",
                          file.read())
    return found and found[0]


def c_library_of(pid):
    """Waits for it, where the process has only begun."""
    def find():
        with open("/proc/%d/maps" % pid) as file:
            return re.search(r"/\S*/libc[.-]\S*", file.read())
    return until(find)[0]


class Failed(Exception):
    """The load hasn't been carried out."""


class NotReady(SystemExit):
    """The end, for who doesn't go on without it."""


def until(condition):
    for _ in range(3000):
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise NotReady("a program isn't ready after a minute")


def run(*command, patience=None):
    try:
        return subprocess.run(command, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, timeout=patience,
                              universal_newlines=True).stdout
    except subprocess.TimeoutExpired:
        raise Failed from None


def pid_in(path):
    """0: it isn't there, or not written yet."""
    try:
        with open(path) as file:
            return int(file.read() or 0)
    except FileNotFoundError:
        return 0


# ---- servers ----

class Redis:
    needs = "redis-server"
    patience = None
    request, answer = b"SET key value\r\n", b"+OK"

    def __init__(self, directory, pipelined):
        self.socket = os.path.join(directory, "socket")
        self.pipelined = pipelined
        self.argv = ["redis-server", "--port", "0", "--unixsocket", self.socket,
                     "--save", "", "--dir", directory]

    def ask(self, *words):
        return run("redis-cli", "-s", self.socket, *words)

    def wait(self):
        return int(until(lambda: re.search(r"process_id:(\d+)",
                                           self.ask("info", "server")))[1])

    def load(self, requests):
        text = run("redis-benchmark", "-s", self.socket, "-t", "set", "-r",
                   "10000", "-P", str(self.pipelined), "--csv", "-n",
                   str(requests * self.pipelined), patience=self.patience)
        row = next(csv.DictReader(io.StringIO(text)), None)
        if not row or not row.get("p99_latency_ms"):
            raise Failed
        return {"rate": float(row["rps"]), "p99": float(row["p99_latency_ms"])}

    def stop(self, _pid):
        self.ask("shutdown", "nosave")


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        return None
    return connection


def hear(connection):
    """The rest of an answer."""
    text = b""
    while not text.endswith(b"hello"):
        text = connection.recv(4096)
        if not text:
            raise Failed


def ask_many(path, requests, patience):
    """How long each took, of eight that are under way at a time."""
    crew = [until(lambda: connect(path)) for _ in range(8)]
    end = time.monotonic() + patience if patience else float("inf")
    times = []
    for one in crew:
        one.settimeout(patience)
    for _ in range(requests // len(crew)):
        began = time.monotonic()
        try:
            for one in crew:
                one.sendall(Nginx.request)
            for one in crew:
                hear(one)
                times.append(time.monotonic() - began)
        except OSError:
            raise Failed from None
        if time.monotonic() > end:
            raise Failed
    for one in crew:
        one.close()
    return times


class Nginx:
    needs = "nginx"
    patience = None
    request, answer = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"hello"

    def __init__(self, directory):
        path = os.path.join(directory, "nginx.conf")
        with open(path, "w") as file:
            file.write(NGINX.format(directory))
        self.socket = os.path.join(directory, "socket")
        self.pid_file = os.path.join(directory, "pid")
        self.argv = ["nginx", "-p", directory, "-c", path]

    def wait(self):
        until(lambda: connect(self.socket)).close()
        return until(lambda: pid_in(self.pid_file))

    def load(self, requests):
        began = time.monotonic()
        times = ask_many(self.socket, requests, self.patience)
        return {"rate": len(times) / (time.monotonic() - began),
                "p99": 1000 * statistics.quantiles(times, n=100)[98]}

    def stop(self, pid):
        os.kill(pid, signal.SIGTERM)


class Mariadb:
    needs = "mariadb-slap"
    patience = None

    def __init__(self, directory):
        data, path = (os.path.join(directory, name) for name in
                      ("data", "socket"))
        subprocess.run(["mariadb-install-db", "--no-defaults", "--force",
                        "--skip-test-db",
                        "--auth-root-authentication-method=normal",
                        "--datadir=" + data], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.user = ["--no-defaults", "-uroot", "-S", path]
        self.pid_file = path + ".pid"
        self.argv = ["mariadbd", "--no-defaults", "--datadir=" + data,
                     "--socket=" + path, "--skip-networking", "--user=root",
                     "--pid-file=" + self.pid_file]

    def wait(self):
        until(lambda: "alive" in run("mariadb-admin", *self.user, "ping"))
        return until(lambda: pid_in(self.pid_file))

    def load(self, requests):
        queries = max(requests // 10, 1)
        text = run("mariadb-slap", *self.user, "--csv", "--auto-generate-sql",
                   "--auto-generate-sql-load-type=mixed", "--concurrency=4",
                   "--number-of-queries=%d" % queries,
                   patience=self.patience)
        fields = text.split(",")
        if len(fields) < 3:
            raise Failed
        return {"rate": queries / float(fields[2])}

    def stop(self, _pid):
        run("mariadb-admin", *self.user, "shutdown")


class Paced:
    """Asked at a rate that it keeps up with, however late it answers."""

    rate = 20000
    patience = None

    def __init__(self, server):
        self.server = server
        self.argv, self.wait, self.stop = server.argv, server.wait, server.stop

    def load(self, requests):
        crew = [until(lambda: connect(self.server.socket)) for _ in range(8)]
        for one in crew:
            one.settimeout(self.patience)
        began = time.monotonic()
        try:
            times = self.ask(crew, requests, began)
        except OSError:
            raise Failed from None
        for one in crew:
            one.close()
        return {"rate": requests / (time.monotonic() - began),
                "p99": 1000 * statistics.quantiles(times, n=100)[98]}

    def ask(self, crew, requests, began):
        """How long each took since it was due, not since it was sent."""
        due = {one: collections.deque() for one in crew}
        times, sent = [], 0
        while len(times) < requests:
            next_one = began + sent / self.rate
            if sent < requests and next_one <= time.monotonic():
                one = crew[sent % len(crew)]
                one.sendall(self.server.request)
                due[one].append(next_one)
                sent += 1
                continue
            ready = self.hear(due, times, self.patience if sent == requests
                              else max(next_one - time.monotonic(), 0))
            if not ready and sent == requests:
                raise Failed
        return times

    def hear(self, due, times, patience):
        ready = select.select(list(due), [], [], patience)[0]
        for one in ready:
            text = one.recv(1 << 20)
            if not text:
                raise Failed
            now = time.monotonic()
            for _ in range(text.count(self.server.answer)):
                times.append(now - due[one].popleft())
        return ready


SERVERS = {
    "redis at a rate": lambda directory: Paced(Redis(directory, 1)),
    "nginx at a rate": lambda directory: Paced(Nginx(directory)),
    "redis -P 1": lambda directory: Redis(directory, 1),
    "redis -P 16": lambda directory: Redis(directory, 16),
    "nginx": Nginx,
    "mariadbd": Mariadb,
}


def is_installed(name):
    return bool(shutil.which({"redis": Redis, "nginx": Nginx,
                              "mariadbd": Mariadb}[name.split()[0]].needs))


# ---- figures ----

def show(numbers):
    """The median, and the lowest and the highest."""
    if not numbers:
        return "-"
    digits = 0 if min(numbers) >= 100 else 2
    return "%.*f (%.*f-%.*f)" % (digits, statistics.median(numbers), digits,
                                 min(numbers), digits, max(numbers))
