#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""calltrap, run by root, opens nothing for a program that it couldn't open
itself, and writes to nothing that others have put in its way."""

import os
import shutil
import sys

sys.dont_write_bytecode = True
import harness as h

SECRET = "the secret of root"

PROGRAM = """\
#include <stdlib.h>
static void *volatile kept[100];
int main(void)
{
\tfor (int i = 0; i < 10; i++)
# 2 "%s"
\t\tkept[i] = malloc(1000 + i);
\treturn 0;
}
"""


def need_root():
    if os.geteuid():
        raise h.Skip("root alone can read what others can't")


def report(case, path, *options):
    """On a program of an ordinary user whose debug information names a file."""
    program = h.build("names" + str(case.number()), case.write(
        "names.c", PROGRAM % path), "-g", "-O0", directory=case.dir)
    os.chmod(case.dir, 0o755)
    log = case.path("report")
    result = case.calltrap("heap", "--source", "-o", log, *options, program,
                           log=False)
    result.check_status(0)
    text = h.read(log)
    h.check("SOURCE" in text, "the report:\n" + text)
    return text


def secret(case):
    path = case.write("secret.c", (SECRET + "\n") * 20, mode=0o600)
    os.chown(path, 0, 0)
    return path


@h.test("a file that only root may read is not shown for a user's program")
def source_of_root(case):
    need_root()
    path = secret(case)
    os.symlink(path, case.path("link.c"))
    for name in (path, case.path("link.c")):
        text = report(case, name, "-u", "nobody")
        h.check(SECRET not in text, "shown:\n" + text)
        h.check("can't be shown: Permission denied" in text,
                "the reason:\n" + h.shorten(text))
        # For root's own program it is.
        h.check(SECRET in report(case, name), "root's own isn't shown")


@h.test("a file that the user may read is shown", users=True)
def own_source(case):
    path = case.write("own.c", (SECRET + "\n") * 20)
    options = [] if os.geteuid() or case.user else ["-u", "nobody"]
    h.check(SECRET in report(case, path, *options), "it isn't shown")


@h.test("a FIFO is never opened")
def fifo(case):
    path = case.path("fifo.c")
    os.mkfifo(path)
    os.chmod(path, 0o666)
    # Who opens it to read would let this one be opened to write.
    text = report(case, path)
    h.check("can't be shown: no regular file" in text,
            "the reason:\n" + h.shorten(text))


@h.test("-o with %p in a directory of everybody's doesn't follow links",
        users=True)
def planted(case):
    directory = case.path("everybody")
    os.mkdir(directory)
    os.chmod(directory, 0o777)
    precious = case.write("precious", "precious\n")
    # The number of the process isn't known yet: all that may come are taken.
    last = int(h.read("/proc/sys/kernel/ns_last_pid") or "0")
    for pid in range(last, last + 3000):
        os.symlink(precious, "%s/log.%d" % (directory, pid))
    result = case.calltrap("-o", directory + "/log.%p", "-x", "puts", "ls",
                           log=False)
    h.check_equal(h.read(precious), "precious\n", "what a link led to")
    h.check("File exists" in result.err or
            [name for name in os.listdir(directory)
             if not os.path.islink(os.path.join(directory, name))],
            "said: " + result.err)
    result = case.calltrap("heap", "--json", directory + "/log.%p", "ls",
                           log=False)
    h.check_equal(h.read(precious), "precious\n", "what a link led to")
    h.check([name for name in os.listdir(directory)
             if not os.path.islink(os.path.join(directory, name))],
            "no file replaced a link; said: " + result.err)


@h.test("set-user-ID, it refuses to run")
def set_user_id(case):
    need_root()
    path = case.path("calltrap")
    shutil.copy(h.CALLTRAP, path)
    os.chmod(path, 0o4755)
    os.chmod(case.dir, 0o755)
    if os.statvfs(case.dir).f_flag & os.ST_NOSUID:
        raise h.Skip("file system mounted with nosuid")
    result = case.run(["setpriv", "--reuid", "nobody", "--clear-groups", path,
                       "--version"])
    h.check("doesn't run set-user-ID" in result.err, "said: " + result.err)
    h.check_equal((result.status != 0, result.out), (True, ""),
                  "status and output")


if __name__ == "__main__":
    sys.exit(h.main())
