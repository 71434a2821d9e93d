#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap heap --http' and `--push': what clients are told while a process is
watched, and that none of them costs it anything."""

import gzip
import http.client
import http.server
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402
from browser import Browser  # noqa: E402


class Watched:
    """A program that leaks 4 bytes each 5 ms, and who watches it."""

    def __init__(self, case, *options):
        self.case = case
        program = h.build("heap_leak", "heap_leak.c", "-O1", "-g",
                          directory=case.dir)
        self.target = case.start([program, "5"])
        h.wait_until(lambda: "ready" in self.target.out, "the target")
        self.calltrap = case.start_calltrap(
            "heap", "-p", str(self.target.pid), "-o", "report", "--no-reach",
            *options, log=False)
        h.wait_until(lambda: self.calltrap.popen.poll() is not None or
                     (h.tracer_of(self.target.pid) and
                      (not {"--http"} & set(options) or self.address())),
                     "calltrap to watch")
        if "was built without" in self.calltrap.err or \
                "can't be loaded" in self.calltrap.err:
            raise h.Skip(self.calltrap.err.strip())
        h.check(self.calltrap.popen.poll() is None, self.calltrap.err)

    def address(self):
        found = re.search(r"http://([\d.]+|\[[\d:]+\]):(\d+)/",
                          self.calltrap.err)
        return found and (found[1].strip("[]"), int(found[2]))

    def ask(self, path, method="GET", headers=None):
        """(status, headers, bytes)"""
        connection = http.client.HTTPConnection(*self.address(),
                                                timeout=h.PATIENCE)
        connection.request(method, path, headers=headers or {})
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()

    def get(self, path):
        status, _, body = self.ask(path)
        h.check_equal(status, 200, path + ": " + body[:200].decode())
        return body

    def wait_for_leak(self):
        h.wait_until(lambda: b"malloc" in self.get("/metrics"), "a call")

    def leave(self):
        self.calltrap.popen.send_signal(signal.SIGINT)
        self.calltrap.wait()
        h.check_equal(self.calltrap.popen.returncode, 0, "status")
        h.check(not h.has_ended(self.target.pid), "the target has ended")
        h.check_untouched(self.target.pid)


def pprof(case, *arguments):
    """What go tool pprof prints; "" where it isn't installed."""
    if not h.shutil.which("go"):
        return ""
    env = case.environment({"HOME": case.dir, "PPROF_TMPDIR": case.dir,
                            "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod"})
    done = subprocess.run(["go", "tool", "pprof", *arguments], env=env,
                          cwd=case.dir, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=h.PATIENCE,
                          check=False)
    h.check_equal(done.returncode, 0, done.stderr.decode())
    return done.stdout.decode()


@h.test("/debug/pprof/: profiles as net/http/pprof's, for go tool pprof, too",
        users=True)
def profiles(case):
    watched = Watched(case, "--http", "0")
    watched.wait_for_leak()
    status, headers, body = watched.ask("/debug/pprof/heap?gc=1")
    h.check_equal((status, headers["Content-Type"],
                   headers["Content-Disposition"],
                   headers["X-Content-Type-Options"]),
                  (200, "application/octet-stream",
                   'attachment; filename="heap"', "nosniff"), "headers")
    h.check(b"inuse_space" in gzip.decompress(body), "no profile of a heap")
    text = watched.get("/debug/pprof/heap?debug=1").decode()
    h.check_match(r"^heap profile: (\d+): (\d+) \[(\d+): (\d+)\] @ heap/1\n",
                  text, "the first line")
    h.check_match(r"^(\d+): (\d+) \[(\d+): (\d+)\] @( 0x[0-9a-f]+)+$", text,
                  "a sample")
    found = re.search(r"^#\t(0x[0-9a-f]+)\tleak\t\S*heap_leak\.c:\d+$", text,
                      re.M)
    h.check(found, text)
    symbol = watched.get("/debug/pprof/symbol?0x1+" + found[1]).decode()
    h.check_equal(symbol, "num_symbols: 1\n%s leak\n" % found[1], "symbol")
    with open("/proc/%d/cmdline" % watched.target.pid, "rb") as file:
        h.check_equal(watched.get("/debug/pprof/cmdline"),
                      file.read().rstrip(b"\0"), "cmdline")
    index = watched.get("/debug/pprof/").decode()
    h.check("heap_leak (%d)" % watched.target.pid in index, index)
    h.check_equal(watched.ask("/debug/pprof")[0], 301, "without the slash")
    base = "http://%s:%d/debug/pprof/" % watched.address()
    shown = pprof(case, "-top", base + "heap")
    h.check(not shown or re.search(r"Type: inuse_space(.|\n)* leak$", shown,
                                   re.M), shown)
    shown = pprof(case, "-top", base + "allocs")
    h.check(not shown or "Type: alloc_space" in shown, shown)
    watched.leave()


def weights(body):
    """(blocks, bytes) held, of ?debug=1."""
    return tuple(map(int, re.match(rb"heap profile: (-?\d+): (-?\d+) ",
                                   body).groups()))


@h.test("?seconds=N: what was acquired in that time, not what was before")
def delta(case):
    watched = Watched(case, "--http", "0")
    watched.wait_for_leak()
    time.sleep(1)
    before = weights(watched.get("/debug/pprof/heap?debug=1"))
    change = weights(watched.get("/debug/pprof/heap?seconds=1&debug=1"))
    after = weights(watched.get("/debug/pprof/heap?debug=1"))
    h.check(0 < change[0] <= after[0] - before[0],
            "%r, then %r more, then %r" % (before, change, after))
    h.check_equal(change[1], 4 * change[0], "bytes")
    status, headers, body = watched.ask("/debug/pprof/allocs?seconds=1")
    h.check_equal((status, headers["Content-Disposition"]),
                  (200, 'attachment; filename="allocs-delta"'), "headers")
    h.check(gzip.decompress(body), "an empty profile")
    for wrong in ("seconds=0", "seconds=-1", "seconds=x", "seconds=99999",
                  "debug=x", "pid=x"):
        h.check_equal(watched.ask("/debug/pprof/heap?" + wrong)[0], 400, wrong)
    h.check_equal(watched.ask("/debug/pprof/heap?pid=1")[0], 404,
                  "another process")
    watched.leave()


SAMPLE = re.compile(r'([a-z_]+)\{((?:[a-z]+="(?:[^"\\\n]|\\["\\n])*",?)+)\} '
                    r"(-?[\d.]+(?:e[+-]?\d+)?)")


def metrics(text):
    """{(name, labels): number}, checked against what OpenMetrics 1.0 says."""
    h.check(text.endswith("# EOF\n"), "the end is missing")
    found, family, kind, seen = {}, None, None, set()
    for line in text.splitlines()[:-1]:
        words = line.split(" ", 3)
        if words[:2] == ["#", "TYPE"]:
            family, kind = words[2:]
            h.check(family not in seen, "twice: " + family)
            h.check(kind in ("gauge", "counter"), line)
            seen.add(family)
        elif words[0] == "#":
            h.check(words[1] in ("HELP", "UNIT") and words[2] == family, line)
            h.check(words[1] == "HELP" or family.endswith("_" + words[3]),
                    line)
        else:
            sample = SAMPLE.fullmatch(line)
            h.check(sample, line)
            h.check_equal(sample[1],
                          family + ("_total" if kind == "counter" else ""),
                          "the name of a sample")
            h.check((sample[1], sample[2]) not in found, "twice: " + line)
            found[sample[1], sample[2]] = float(sample[3])
    return found


@h.test("/metrics: OpenMetrics; what is held by verdict and library")
def openmetrics(case):
    watched = Watched(case, "--http", "0")
    watched.wait_for_leak()
    status, headers, body = watched.ask("/metrics")
    h.check_equal((status, headers["Content-Type"]),
                  (200, "application/openmetrics-text; version=1.0.0; "
                   "charset=utf-8"), "headers")
    found = metrics(body.decode())
    held = {labels: number for (name, labels), number in found.items()
            if name == "calltrap_held_bytes"}
    h.check(any('library="heap_leak"' in labels and 'family="malloc"' in labels
                and "verdict=" in labels and number > 0
                for labels, number in held.items()), repr(held))
    h.wait_until(lambda: 'verdict="LIKELY"} ' in
                 watched.get("/metrics").decode(), "the verdict")
    later = metrics(watched.get("/metrics").decode())
    for (name, labels), number in found.items():
        if name.endswith("_total"):
            h.check(later.get((name, labels), -1) >= number,
                    "%s{%s} has fallen" % (name, labels))
    watched.leave()


@h.test("who may ask what: verbs, names of hosts, addresses")
def manners(case):
    watched = Watched(case, "--http", "0")
    host, port = watched.address()
    h.check_equal(host, "127.0.0.1", "where it listens")
    for verb in ("POST", "PUT", "DELETE", "OPTIONS"):
        status, headers, _ = watched.ask("/", verb)
        h.check_equal((status, headers["Allow"]), (405, "GET, HEAD"), verb)
    status, headers, body = watched.ask("/", "HEAD")
    h.check_equal((status, body), (200, b""), "HEAD")
    h.check(int(headers["Content-Length"]) > 10000, "HEAD: no page")
    for name, wanted in (("evil.example", 403), ("evil.example:%d" % port, 403),
                         ("127.0.0.1.evil.example", 403), ("", 403),
                         ("localhost:%d" % port, 200), ("LOCALHOST", 200),
                         ("[::1]:%d" % port, 200), ("127.0.0.1", 200),
                         ("localhost:x", 403), ("[evil]", 403)):
        status = watched.ask("/debug/pprof/cmdline", headers={"Host": name})[0]
        h.check_equal(status, wanted, "Host: " + name)
    for path in ("/debug/pprof/profile", "/etc/passwd", "/../etc/passwd",
                 "/%2e%2e/", "//"):
        h.check_equal(watched.ask(path)[0], 404, path)
    with socket.socket() as other:
        # Bound to loopback alone, so another address of ours is free.
        try:
            other.bind(("127.0.0.2", port))
        except OSError as error:
            raise h.Failure("it listens at more than 127.0.0.1: %s" % error)
    watched.leave()


@h.test("slow, silent and greedy clients: others are served, the target runs")
def hostile(case):
    watched = Watched(case, "--http", "0")
    watched.wait_for_leak()
    held = []
    for request in (b"", b"GET", b"GET /debug/pprof/heap HTTP/1.1\r\nHost: ",
                    b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    b"\0\xff" * 500, b"GET /%s HTTP/1.1\r\n" % (b"a" * 9000),
                    b"GET /debug/pprof/heap?seconds=3000 HTTP/1.1\r\n"
                    b"Host: localhost\r\n\r\n"):
        client = socket.create_connection(watched.address(), h.PATIENCE)
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        client.sendall(request)
        held.append(client)
    # They keep connections, and read nothing; another one is answered.
    h.check(b"calltrap_held_bytes" in watched.get("/metrics"), "no metrics")
    begun = weights(watched.get("/debug/pprof/heap?debug=1"))
    h.wait_until(lambda: weights(watched.get("/debug/pprof/heap?debug=1")) >
                 begun, "the target to go on")
    for _ in range(40):
        client = socket.socket()
        # More than it takes at once: the rest is not waited for.
        client.setblocking(False)
        client.connect_ex(watched.address())
        held.append(client)
    watched.leave()
    for client in held:
        client.close()


@h.test("the server is killed: the target is watched on, and left as it was")
def killed(case):
    watched = Watched(case, "--http", "0")
    watched.wait_for_leak()
    tracer = h.tracer_of(watched.target.pid)
    servers = [child for child in h.children_of(tracer)
               if "ctrap-http" in h.read("/proc/%d/comm" % child)]
    h.check_equal(len(servers), 1, "servers")
    os.kill(servers[0], signal.SIGKILL)
    h.wait_until(lambda: h.has_ended(servers[0]), "the server's end")
    time.sleep(0.5)
    h.check_equal(h.tracer_of(watched.target.pid), tracer, "the tracer")
    watched.leave()
    h.check("LIKELY" in h.read(case.path("report")) or
            "malloc" in h.read(case.path("report")), "no report")


@h.test("the page: opens in a browser, fresh, without a complaint")
def page(case):
    watched = Watched(case, "--http", "0")
    watched.wait_for_leak()
    browser = Browser(case)
    browser.open("http://%s:%d/" % watched.address(), "HTML")
    h.check("leak" in browser.value("document.body.innerText"),
            "the page says nothing of leak")
    h.check_equal(browser.complaints(), [], "complaints")
    browser.close()
    watched.leave()


@h.test("an address that is taken, or none at all, is told before it attaches")
def addresses(case):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        result = case.calltrap("heap", "--http", port, "true", log=False)
        if "was built without" in result.err:
            raise h.Skip(result.err.strip())
        result.check_status(1)
        h.check("--http '%s': Address already in use" % port in result.err,
                result.err)
    for wrong in ("", "x", "70000", "localhost:80", "1.2.3:80", "::1:80",
                  "127.0.0.1:", "[::1]80"):
        result = case.calltrap("heap", "--http", wrong, "true", log=False)
        result.check_status(2)
        h.check("--http '%s': " % wrong in result.err, result.err)
    for option, url in (("--push", "localhost"), ("--push", "ftp://x/"),
                        ("--push", "http://"), ("--push", "http://a/?b")):
        result = case.calltrap("heap", option, url, "true", log=False)
        if "was built without" not in result.err:
            result.check_status(2)
            h.check("%s '%s': " % (option, url) in result.err, result.err)


class Pyroscope(http.server.BaseHTTPRequestHandler):
    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posts.append((self.path, dict(self.headers), body))
        self.send_response(self.server.answer)
        self.end_headers()

    def log_message(self, *_):
        pass


def parts(headers, body):
    """{name: bytes} of multipart/form-data."""
    boundary = re.search("boundary=(.*)", headers["Content-Type"])[1].encode()
    found = {}
    for part in body.split(b"--" + boundary)[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name = re.search(rb'[; ]name="([^"]*)"', head)[1].decode()
        found[name] = content[:-2]
    return found


@h.test("--push: profiles as Pyroscope's /ingest takes them; failures told once")
def push(case):
    server = http.server.HTTPServer(("127.0.0.1", 0), Pyroscope)
    server.posts, server.answer = [], 200
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = "http://127.0.0.1:%d" % server.server_port
        watched = Watched(case, "--push", url, "--push-every", "1s")
        h.wait_until(lambda: len(server.posts) >= 2, "two posts")
        path, headers, body = server.posts[1]
        query = dict(urllib.parse.parse_qsl(path.split("?")[1]))
        h.check_equal((path.split("?")[0], query["name"], query["format"],
                       query["spyName"]),
                      ("/ingest", "heap_leak{pid=%d}" % watched.target.pid,
                       "pprof", "calltrap"), "the address")
        h.check(int(query["from"]) < int(query["until"]) + 1, path)
        found = parts(headers, body)
        h.check_equal(sorted(found), ["profile", "sample_type_config"],
                      "parts")
        h.check(b"inuse_space" in gzip.decompress(found["profile"]), "profile")
        server.answer = 500
        h.wait_until(lambda: "the server's answer is 500" in
                     watched.calltrap.err, "a word")
        count = len(server.posts)
        h.wait_until(lambda: len(server.posts) > count + 1, "more posts")
        h.check_equal(watched.calltrap.err.count("--push:"), 1, "words")
        watched.leave()
    finally:
        server.shutdown()
        server.server_close()


@h.test("--push to nobody, and to who never answers: told, and nobody waits")
def push_in_vain(case):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        url = "http://127.0.0.1:%d/ingest" % silent.getsockname()[1]
        watched = Watched(case, "--push", url, "--push-every", "200ms")
        h.wait_until(lambda: "--push: a profile was not taken" in
                     watched.calltrap.err, "a word")
        watched.leave()
        h.check_equal(watched.calltrap.err.count("--push:"), 1, "words")
        silent.listen()
        watched = Watched(case, "--push", url, "--push-every", "200ms")
        client = silent.accept()[0]
        # That one is still being waited for; leaving isn't.
        watched.leave()
        client.close()


if __name__ == "__main__":
    sys.exit(h.main())
