#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Whether the families that are shipped say nothing of programs that are healthy:
each file of etc/families, but those of PHP's and Ruby's objects, is used on real
ones, which are worked with for a while. Printed are, for each family, what was
acquired and given back (of that, what had been there before), how many sites are
LIKELY and POSSIBLE, and all that is said to be wrong (double frees and so on). The
status is 1 if anything was, or is LIKELY. A program that isn't installed is left
out.
"""

import argparse
import concurrent.futures
import contextlib
import itertools
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
from cost import CALLTRAP, PATH, Work

BEFORE = ("unknown_frees", "unknown_resizes", "unseen_frees")
WRONG = ("double_frees", "doubtful_frees", "invalid_frees", "mismatches",
         "size_mismatches", "reused", "dropped")

NGINX = """
daemon off; worker_processes 1; pid {0}/pid; error_log {0}/error;
events {{ worker_connections 64; }}
http {{ access_log off; root {0}; client_body_temp_path {0}/b;
  proxy_temp_path {0}/p; fastcgi_temp_path {0}/f; uwsgi_temp_path {0}/u;
  scgi_temp_path {0}/s; ssl_certificate {0}/cert; ssl_certificate_key {0}/key;
  server {{ listen unix:{0}/socket; listen unix:{0}/secure ssl; }} }}
"""

PYTHON_SERVER = """
import http.server, socketserver, sys, os
class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(__file__) as file:
            text = file.read().encode() + str(os.listdir('/etc')).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text)
    def log_message(self, *_):
        pass
    def address_string(self):
        return 'x'
Server(sys.argv[1], Handler).serve_forever()
"""

PYTHON_WORK = """
import json, sqlite3, time
base = sqlite3.connect(':memory:')
base.execute('create table t(a integer primary key, b text)')
for i in range(10000000):
    json.dumps(json.loads(json.dumps([{'a': j} for j in range(i % 300)])))
    base.execute('insert into t(b) values (?)', ('x' * (i % 99),))
    base.execute('delete from t where a < ?', (i - 200,))
    list(base.execute('select a + %d from t limit 9' % (i % 50)))
    time.sleep(0.02)
"""

NODE_SERVER = """
const https = require('https'), fs = require('fs'), zlib = require('zlib');
const { Worker } = require('worker_threads');
const at = process.argv[2];
https.createServer({ key: fs.readFileSync(at + '/key'),
                     cert: fs.readFileSync(at + '/cert') },
    (request, response) => fs.readFile(__filename, (error, data) =>
        zlib.gzip(data, (error, packed) => response.end(packed)))
).listen(at + '/secure');
(function again() {
  new Worker('1', { eval: true }).on('exit', () => setTimeout(again, 300));
})();
"""


class Server(Work):
    """What clients come to again and again, each by a connection of its own."""

    def certify(self):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048",
                        "-nodes", "-keyout", self.path("key"), "-out",
                        self.path("cert"), "-days", "2", "-subj", "/CN=x"],
                       check=True, stderr=subprocess.DEVNULL)

    def repeat(self, what, pause=0.03):
        def run():
            while not self.stop.wait(pause):
                with contextlib.suppress(OSError):
                    what()
                    self.done += 1
        threading.Thread(target=run, daemon=True).start()

    def ask(self, name, request):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(30)
            sock.connect(self.path(name))
            sock.sendall(request)
            while sock.recv(65536):
                pass

    def ask_http(self):
        self.ask("socket", b"GET /conf HTTP/1.0\r\n\r\n")

    def ask_securely(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(30)
            sock.connect(self.path("secure"))
            with context.wrap_socket(sock) as secure:
                secure.sendall(b"GET /conf HTTP/1.0\r\n\r\n")
                while secure.recv(65536):
                    pass


class Redis(Server):
    needs = ("redis-server",)

    def begin(self):
        numbers = itertools.count()
        self.pid = self.start("redis-server", "--port", "0", "--unixsocket",
                              self.path("socket"), "--save", "",
                              # Being watched makes commands slow.
                              "--slowlog-log-slower-than", "-1",
                              "--dir", self.dir).pid
        self.wait_for("socket")

        def work():
            n = next(numbers) % 50
            for words in (b"SET k%d %s" % (n, b"x" * n), b"LPUSH l%d y" % n,
                          b"RPOP l%d" % n):
                self.ask("socket", words + b"\r\n")
        self.repeat(work)

    def ask(self, name, request):
        with socket.socket(socket.AF_UNIX) as sock:
            sock.settimeout(30)
            sock.connect(self.path(name))
            sock.sendall(request)
            sock.recv(4096)


class Memcached(Server):
    needs = ("memcached",)

    def begin(self):
        numbers = itertools.count()
        self.pid = self.start("memcached", "-u", "nobody" if os.geteuid() == 0
                              else "", "-s", self.path("socket"),
                              "-a", "777").pid
        os.chmod(self.dir, 0o777)
        self.wait_for("socket")

        def work():
            n = next(numbers) % 50
            with socket.socket(socket.AF_UNIX) as sock:
                sock.settimeout(30)
                sock.connect(self.path("socket"))
                sock.sendall(b"set k%d 0 0 4\r\nword\r\nget k%d\r\n" % (n, n))
                sock.recv(4096)
        self.repeat(work)


class Nginx(Server):
    needs = ("nginx", "openssl")

    def begin(self):
        self.certify()
        os.chmod(self.dir, 0o755)
        conf = self.write("conf", NGINX.format(self.dir))
        master = self.start(shutil.which("nginx", path=PATH), "-c", conf)
        self.wait_for("secure")
        time.sleep(0.5)
        with open("/proc/%d/task/%d/children" % ((master.pid,) * 2)) as file:
            self.pid = int(file.read().split()[0])
        self.repeat(self.ask_http)
        self.repeat(self.ask_securely)


class OpenSSL(Server):
    needs = ("openssl",)

    def begin(self):
        self.certify()
        self.pid = self.start("openssl", "s_server", "-unix", "secure", "-cert",
                              "cert", "-key", "key", "-www", "-quiet",
                              cwd=self.dir).pid
        self.wait_for("secure")
        self.repeat(self.ask_securely)


class Node(Server):
    needs = ("node", "openssl")

    def begin(self):
        self.certify()
        script = self.write("server.js", NODE_SERVER)
        self.pid = self.start("node", script, self.dir).pid
        self.wait_for("secure")
        self.repeat(self.ask_securely, 0.1)


class PythonServer(Server):
    needs = ("/usr/bin/python3",)

    def begin(self):
        self.pid = self.start("/usr/bin/python3",
                              self.write("s.py", PYTHON_SERVER),
                              self.path("socket")).pid
        self.wait_for("socket")
        self.repeat(self.ask_http)


class Python(Server):
    needs = ("/usr/bin/python3",)

    def begin(self):
        self.pid = self.start("/usr/bin/python3",
                              self.write("w.py", PYTHON_WORK)).pid


class Shell(Server):
    """A shell whose globs read folders."""
    needs = ("bash",)

    def begin(self):
        os.mkfifo(self.path("fifo"))
        self.pid = self.start("bash", "-c", "exec 3<> fifo; while :; do "
                              "read -t 0.02 -u 3; a=(/etc/*); done",
                              cwd=self.dir).pid


class Sqlite(Server):
    """Its shell, which writes to files and pipes as it is told."""
    needs = ("sqlite3",)

    def begin(self):
        shell = self.start("sqlite3", ":memory:", stdin=subprocess.PIPE)
        self.pid = shell.pid
        numbers = itertools.count()

        def work():
            n = next(numbers)
            shell.stdin.write(
                b"create table if not exists t(a integer primary key, b);\n"
                b".once '%s/out'\nselect count(*) from t;\n"
                b".once '|cat > /dev/null'\nselect max(b) from t;\n"
                b"insert into t(b) values(hex(randomblob(%d)));\n"
                b"delete from t where a < %d;\n" %
                (self.dir.encode(), n % 90, n - 100))
            shell.stdin.flush()
        self.repeat(work, 0.05)


class Curl(Server):
    """One process of curl that gets pages again and again."""
    needs = ("curl",)

    def begin(self):
        PythonServer.begin(self)
        self.pid = self.start("curl", "-s", "--rate", "2400/m",
                              "--unix-socket", self.path("socket"),
                              "-H", "X-Number: 1", "-o", "/dev/null",
                              "http://localhost/[1-1000000]").pid


class Mariadb(Server):
    needs = ("mariadbd", "mariadb", "mariadb-install-db")

    def begin(self):
        user = ["--user=root"] if os.geteuid() == 0 else []
        subprocess.run(["mariadb-install-db", "--datadir=" + self.path("data"),
                        "--auth-root-authentication-method=normal", *user],
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.pid = self.start(
            shutil.which("mariadbd", path=PATH), "--no-defaults", *user,
            "--datadir=" + self.path("data"), "--skip-networking",
            "--socket=" + self.path("socket")).pid
        self.wait_for("socket")
        self.repeat(lambda: subprocess.run(
            ["mariadb", "--no-defaults", "-uroot", "-S", self.path("socket"),
             "-e", "select table_name, sum(data_length) from "
             "information_schema.tables group by 1 order by 2 limit 5"],
            check=False, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL), 0.2)


USES = {
    "malloc": (Redis, Memcached, Nginx, Node, Python, Sqlite, Mariadb),
    "descriptors": (Redis, Nginx, PythonServer, Memcached),
    "files": (Sqlite, Shell, PythonServer),
    "mappings": (Python, PythonServer, Node),
    "threads": (PythonServer, Node, Mariadb),
    "openssl": (OpenSSL, Nginx, Node),
    "curl": (Curl,),
    "sqlite3": (Sqlite, Python),
}


def watch(kind, pool, seconds, keep):
    """What the report says, as JSON and as text."""
    with tempfile.TemporaryDirectory(prefix="families.") as directory:
        work = kind(directory)
        try:
            work.begin()
            time.sleep(2)
            base = os.path.join(keep or directory,
                                "%s-%s" % (pool, kind.__name__.lower()))
            done = subprocess.run(
                [CALLTRAP, "heap", "-p", str(work.pid), "--for",
                 "%gs" % seconds, "--pool", pool, "--json", base + ".json",
                 "-o", base + ".text"], stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                check=False)
            if done.returncode:
                return done.stdout, ""
            with open(base + ".json", encoding="utf-8") as file, \
                    open(base + ".text", encoding="utf-8") as text:
                return json.load(file), text.read()
        finally:
            work.end()


def print_report(name, pool, report, text):
    """How much of it should not have been said."""
    if isinstance(report, str):
        print("%-13s%-14s%s" % (pool, name, report.strip()))
        return 1
    bad = 0
    for family in report["summary"]["families"]:
        if not family["alloc_blocks"] and not family["freed_blocks"]:
            continue
        said = [site["verdict"] for site in report["sites"]
                if site["family"] == family["name"]]
        wrong = ["%s %d" % (key.replace("_", " "), family[key])
                 for key in WRONG if family[key]]
        print("%-13s%-14s%-22s%9d%9d%8d%7d%7d%6d  %s" %
              (pool, name, family["name"], family["alloc_blocks"],
               family["freed_blocks"] + family["unseen_frees"],
               sum(family[key] for key in BEFORE),
               said.count("LIKELY"), said.count("POSSIBLE"),
               text.count("\n"), ", ".join(wrong) or "-"))
        bad += said.count("LIKELY") + len(wrong)
    sys.stdout.flush()
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("-j", "--jobs", type=int, default=2,
                        help="programs at a time; default 2")
    parser.add_argument("--keep", metavar="DIRECTORY",
                        help="where reports stay")
    parser.add_argument("names", nargs="*", default=list(USES))
    options = parser.parse_args()
    print("%-13s%-14s%-22s%9s%9s%8s%7s%7s%6s  %s" %
          ("file", "program", "family", "acquired", "released", "before",
           "LIKELY", "POSS.", "lines", "wrong"))
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        asked = [(kind, name, pool.submit(watch, kind, name, options.seconds,
                                          options.keep))
                 for name in options.names for kind in USES[name]
                 if all(shutil.which(tool, path=PATH) for tool in kind.needs)]
        bad = sum([print_report(kind.__name__, name, *future.result())
                   for kind, name, future in asked])
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
