# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers of their own for tests, each on a private socket."""

import os
import shutil

import harness as h


def start_redis(case, path):
    server = case.start(["redis-server", "--port", "0", "--unixsocket", path,
                         "--dir", case.dir, "--save", "", "--appendonly",
                         "no", "--daemonize", "no", "--loglevel", "notice"])
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
                     "--user=" + user, "--datadir=" + data, "--skip-test-db",
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
