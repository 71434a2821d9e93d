# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers of their own for tests, each on a private socket."""

import json
import os
import shutil

import harness as h

SLOT = 0.005 # as in load_client.py


def start_redis(case, path):
    server = case.start(["redis-server", "--port", "0", "--unixsocket", path,
                         "--dir", case.dir, "--save", "", "--appendonly",
                         "no", "--daemonize", "no", "--loglevel", "notice",
                         # It keeps commands that are slow: here all may be.
                         "--slowlog-log-slower-than", "-1"])
    h.wait_until(lambda: os.path.exists(path) or
                 server.popen.poll() is not None, "redis-server")
    h.check_equal(server.popen.poll(), None, "redis-server's end: " +
                  server.out + server.err)
    return server


def find_program(*names):
    """Also in /usr/sbin, which is in few users' paths."""
    for name in names:
        for path in (os.environ.get("PATH"), "/usr/sbin:/usr/local/sbin"):
            found = shutil.which(name, path=path)
            if found:
                return found
    raise h.Skip("%s isn't installed" % names[0])


def start_mariadb(case, path, user):
    program = find_program("mariadbd")
    data = case.path("data")
    done = case.run([find_program("mariadb-install-db"), "--no-defaults",
                     "--force", "--user=" + user, "--datadir=" + data,
                     "--skip-test-db",
                     "--auth-root-authentication-method=normal",
                     "--skip-name-resolve", "--innodb-log-file-size=8M"])
    h.check_equal(done.status, 0, "status of mariadb-install-db: " +
                  h.shorten(done.out + done.err))
    server = case.start([program, "--no-defaults", "--user=" + user,
                         "--datadir=" + data, "--socket=" + path,
                         "--skip-networking", "--skip-name-resolve",
                         "--pid-file=" + case.path("pid"),
                         "--innodb-flush-log-at-trx-commit=0",
                         "--innodb-log-file-size=8M",
                         "--innodb-buffer-pool-size=32M",
                         "--tmpdir=" + case.dir])
    h.wait_until(lambda: "ready for connections" in server.err or
                 server.popen.poll() is not None, "mariadbd")
    h.check_equal(server.popen.poll(), None, "mariadbd's end: " +
                  h.shorten(server.err))
    return server


class Client:
    def __init__(self, case, kind, path, name):
        self.process = case.start(["/usr/bin/python3", h.victim("load_client.py"),
                                   kind, path, name])

    def is_ready(self):
        return "\n" in self.process.out

    def is_working(self):
        return self.process.popen.poll() is None

    def finish(self):
        """What it saw; any error or wrong answer is a failure."""
        self.process.popen.stdin.close()
        self.process.popen.stdin = None
        status = self.process.wait()
        lines = self.process.out.splitlines()
        h.check(status == 0 and lines, "a client ended with %d: %s" %
                (status, self.process.err))
        report = json.loads(lines[-1])
        h.check_equal(report["error"], None, "error that a client saw")
        h.check_equal(report["wrong"], [], "wrong answers that a client saw")
        return {int(slot) * SLOT: tuple(pair)
                for slot, pair in report["slots"].items()}
