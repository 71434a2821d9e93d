#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap heap` on real programs at work: redis-server, mariadbd, nginx,
openssl and python3. Their clients see nothing of it, and reports are sane."""

import os
import pwd
import socket
import ssl
import sys
import time

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr
import servers

SECONDS = 5
LEAKED = "text to work upon"


def check_sane(report, calls):
    """Whatever a program does, this holds."""
    total = report.malloc
    h.check_equal(total.allocs - total.frees, total.blocks, "allocs - frees")
    h.check(total.peak >= total.bytes, "peak")
    h.check_equal(report.lost(), 0, "lost")
    for odd in ("double frees", "frees of what was never acquired",
                "acquired while in use: a free was missed",
                "freed by a function of another kind",
                "not kept: there was no room"):
        h.check_equal(total.odd(odd), 0, odd)
    h.check(total.allocs > calls, "%d acquisitions" % total.allocs)
    sized = [found for found in report.totals.values() if found.bytes]
    h.check_equal((sum(row.bytes for row in report.rows) + report.rest[0]),
                  sum(found.bytes for found in sized), "sum of the rows")
    print("# %d allocations, %d bytes held in %d blocks; %s" %
          (total.allocs, total.bytes, total.blocks,
           [line for line in report.text.splitlines()
            if line.startswith("cost")][0]))


def wait_for_traps(server, tracer, code):
    """Until they are there, and for half a second there were no more."""
    found = [(time.monotonic(), code)]

    def planted():
        now = h.code_differences(server.pid)
        if now != found[0][1]:
            found[0] = time.monotonic(), now
        return tracer.popen.poll() is not None or \
            (now != code and time.monotonic() > found[0][0] + 0.5)
    h.wait_until(planted, "the traps")


def watch(case, server, options=(), during=lambda: time.sleep(SECONDS),
          rests=False):
    code = h.code_differences(server.pid)
    tracer = hr.attach(case, server, options=options)
    wait_for_traps(server, tracer, code)
    if rests:
        h.settle(server, tracer)
    during()
    report = hr.leave(tracer)
    h.check_equal(h.tracer_of(server.pid), 0, "the tracer that is left")
    h.check_equal(h.code_differences(server.pid), code, "its code")
    return report


# ---------------------------------------------------------------- redis

class Redis:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def ask(self, *words):
        self.socket.sendall(b"*%d\r\n" % len(words) +
                            b"".join(b"$%d\r\n%s\r\n" % (len(word), word)
                                     for word in words))
        line = self.file.readline()
        if line[:1] == b"$":
            return self.file.read(int(line[1:]) + 2)[:-2]
        return line.rstrip()


class Kept:
    """For how long the clients have kept a value: each of their fifty keys gets
    another one in turn."""

    def __init__(self, connection, clients):
        self.connection = connection
        self.seen = [[] for _ in clients] # times and operations
        self.longest = 0
        self.look()

    def look(self):
        for i, seen in enumerate(self.seen):
            count = int(self.connection.ask(b"GET", b"client%d:count" % i) or 0)
            now = time.monotonic()
            seen.append((now, count))
            while len(seen) > 1 and seen[1][1] <= count - 50:
                seen.pop(0)
            self.longest = max(self.longest, now - seen[0][0])


def hold_memory(connection, waited, clients):
    """Keeps 20,000 bytes fifty times a second; returns how often. That is a leak
    when it is kept for several times as long as others keep such; and until here
    calltrap has watched, too, on a busy machine for long."""
    count = 0
    begin = time.monotonic()
    kept = Kept(connection, clients)
    while all(client.is_working() for client in clients) and \
            time.monotonic() < begin + max(SECONDS + 2 * waited,
                                           4 * (waited + kept.longest)):
        h.check_equal(connection.ask(b"SET", b"held:%d" % count, b"x" * 20000),
                      b"+OK", "answer to SET")
        count += 1
        kept.look()
        time.sleep(0.02)
    return count


@h.test("redis-server under load; what a client makes it hold is named",
        users=True)
def _(case):
    h.need("redis-server")
    path = case.path("s")
    server = servers.start_redis(case, path)
    clients = [servers.Client(case, "redis", path, "client%d" % i)
               for i in range(2)]
    h.wait_until(lambda: all(client.is_ready() for client in clients),
                 "the clients")
    connection = Redis(path)
    found = {}
    begin = time.monotonic()

    def during():
        found["sets"] = hold_memory(connection, time.monotonic() - begin,
                                    clients)
    report = watch(case, server, ["--top", "30"], during)
    for client in clients:
        client.finish()
    check_sane(report, 1000)
    row = report.rows[0]
    h.check_equal(row.verdict, "LIKELY", "verdict of the largest row")
    # The load holds some, too: each of its clients has fifty keys.
    h.check(found["sets"] <= row.blocks <= found["sets"] + 100,
            "%d blocks of %d SETs" % (row.blocks, found["sets"]))
    h.check(row.bytes >= 20000 * found["sets"], "%d bytes of %d SETs:\n%s" %
            (row.bytes, found["sets"], report.text[:6000]))
    h.check("readQueryFromClient" in row.functions() and
            "createStringObject" in row.functions(), "its stack: %r" %
            row.functions())
    value = connection.ask(b"GET", b"held:%d" % (found["sets"] - 1))
    h.check_equal(value, b"x" * 20000, "what was held is there")


# ---------------------------------------------------------------- mariadb

@h.test("mariadbd under load")
def _(case):
    h.need("mariadb-admin")
    path = case.path("s")
    user = (case.user or pwd.getpwuid(os.geteuid())).pw_name
    server = servers.start_mariadb(case, path, user)
    clients = [servers.Client(case, "sql", path, "client%d" % i)
               for i in range(2)]
    h.wait_until(lambda: all(client.is_ready() for client in clients),
                 "the clients")
    report = watch(case, server)
    for client in clients:
        client.finish()
    check_sane(report, 1000)
    done = case.run(["mariadb-admin", "--no-defaults", "--user=root",
                     "--socket=" + path, "shutdown"])
    done.check_status(0)
    h.check_equal(server.wait(), 0, "mariadbd's status")


# ---------------------------------------------------------------- nginx

CONFIG = """\
worker_processes 1; daemon off; master_process off;
pid %(dir)s/pid; error_log %(dir)s/error.log;
events { worker_connections 64; }
http {
	access_log off; keepalive_timeout 5;
	client_body_temp_path %(dir)s/body; proxy_temp_path %(dir)s/proxy;
	fastcgi_temp_path %(dir)s/fastcgi; uwsgi_temp_path %(dir)s/uwsgi;
	scgi_temp_path %(dir)s/scgi;
	server { listen unix:%(dir)s/s; root %(dir)s/www; }
}
"""


def get(path, text):
    """Requests it as a client would, with a connection of its own."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(b"GET /page HTTP/1.0\r\n\r\n")
        data = b""
        while True:
            part = connection.recv(65536)
            if not part:
                break
            data += part
    h.check(data.startswith(b"HTTP/1.1 200") and data.endswith(text),
            "nginx's answer: %r" % data[:200])


@h.test("nginx under load: no block and no descriptor is left")
def _(case):
    program = servers.find_program("nginx")
    os.chmod(case.dir, 0o755)
    os.mkdir(case.path("www"))
    case.write("www/page", "text " * 2000)
    config = case.write("nginx.conf", CONFIG % {"dir": case.dir})
    server = case.start([program, "-c", config, "-p", case.dir])
    path = case.path("s")
    h.wait_until(lambda: os.path.exists(path) or
                 server.popen.poll() is not None, "nginx")
    h.check_equal(server.popen.poll(), None, "nginx's end: " + server.err)
    requests = []

    def during():
        end = time.monotonic() + 3
        while time.monotonic() < end:
            get(path, b"text " * 2000)
            requests.append(1)
        time.sleep(0.3)
    report = watch(case, server, ["--pool", "descriptors"], during)
    check_sane(report, len(requests))
    h.check_equal(report.malloc.held(), (0, 0), "held")
    descriptors = report.totals["descriptors"]
    h.check_equal(descriptors.blocks, 0, "descriptors held")
    h.check(descriptors.allocs >= 2 * len(requests), "%d descriptors for %d "
            "requests: a socket and a file each" %
            (descriptors.allocs, len(requests)))
    h.check_equal(h.read(case.path("error.log")), "", "nginx's errors")


# -------------------------------------------------------------- openssl

WRONG = ("double frees", "frees of what was never acquired",
         "given back twice, unless an acquisition was missed",
         "acquired while in use: a free was missed",
         "freed by a function of another kind", "freed with another size",
         "not kept: there was no room")


def ask_securely(path):
    """A page, by a connection of its own."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        with context.wrap_socket(connection) as secure:
            secure.sendall(b"GET / HTTP/1.0\r\n\r\n")
            h.check(secure.recv(4).startswith(b"HTTP"), "an answer")


@h.test("a TLS server: of all that openssl's families count, nothing is wrong")
def _(case):
    h.need("openssl")
    key, certificate, path = map(case.path, ("key", "cert", "s"))
    status, said = h.command_output(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
         key, "-out", certificate, "-days", "2", "-subj", "/CN=x"])
    h.check_equal(status, 0, "a certificate: " + said)
    # It gives up where the name has more than 31 characters.
    server = case.start(["openssl", "s_server", "-unix", "s", "-cert",
                         certificate, "-key", key, "-www", "-quiet"])
    h.wait_until(lambda: os.path.exists(path) or
                 server.popen.poll() is not None, "openssl")
    h.check_equal(server.popen.poll(), None, "openssl's end: " + server.err)

    def during():
        for _ in range(25):
            ask_securely(path)
        time.sleep(0.3)
    report = watch(case, server, ["--pool", "openssl"], during, rests=True)
    for name, total in report.totals.items():
        for odd in WRONG:
            h.check_equal(total.odd(odd), 0, "%s: %s" % (name, odd))
    for name in "SSL", "EVP_MD_CTX", "EVP_PKEY_CTX":
        total = report.totals[name]
        h.check(total.allocs >= 25,
                "%s: %d; %s" % (name, total.allocs, report.text))
        h.check(total.odd("frees of what was there before") <= 2,
                "%s: of before" % name)
        h.check(total.blocks <= 2, "%s: %d are left" % (name, total.blocks))
    h.check(report.totals["BIGNUM"].odd(
        "frees of what was there before, or acquired otherwise") > 25,
            "numbers of pools")


# ---------------------------------------------------------------- python

PROGRAM = """\
import sys, time
sys.path.insert(0, sys.argv[1])
import leaky
print("ready", flush=True)
count = 0
while True:
    for i in range(20):
        leaky.parse("%s")
        leaky.convert("%s")
        leaky.store("%s")
        count += 1
    print(count, flush=True)
    time.sleep(0.02)
""" % (LEAKED, LEAKED, LEAKED)


def build_module(case):
    python = "/usr/bin/python3"
    if not os.access(python, os.X_OK):
        raise h.Skip("there is no " + python)
    status, include = h.command_output([python, "-c", "import sysconfig; "
                                        "print(sysconfig.get_paths()"
                                        "['include'])"])
    h.check_equal(status, 0, "status of python3")
    include = include.strip()
    if not os.path.exists(os.path.join(include, "Python.h")):
        raise h.Skip("there is no Python.h")
    directory = h.build_directory("heap_python")
    h.build("leaky.so", "leaky_module.c", "-g", "-O1", "-shared", "-fPIC",
            "-I" + include, directory=directory)
    return python, directory


@h.test("the function of three that leaks, in a running python3", users=True)
def _(case):
    python, directory = build_module(case)
    target = case.start([python, case.write("p.py", PROGRAM), directory])
    h.wait_until(lambda: "ready" in target.out, "python3")
    report = watch(case, target, ["--top", "20"])
    row = report.rows[0]
    h.check_equal((row.verdict, row.functions()[0]), ("LIKELY", "convert"),
                  "the first row")
    h.check_equal(row.bytes, row.blocks * (len(LEAKED) + 64), "its bytes")
    h.check(row.blocks > 100, "%d blocks" % row.blocks)
    h.check_equal(row.blocks, row.acquired, "all of them are held")
    for other in report.rows[1:]:
        h.check(other.verdict != "LIKELY", "a false alarm:\n" + report.text)
    count = target.out.count("\n")
    h.wait_until(lambda: target.out.count("\n") > count, "python3 going on")


if __name__ == "__main__":
    sys.exit(h.main())
