#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Pages that a thread of the target itself has to bring: by userfaultfd, or as
the server of a file system. Who reads them while that thread stands at a trap
would wait for ever."""

import os
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

PROTOTYPES = "long f1(string);\nlong f2(long);\n"


def program():
    return h.build_with_libt("served", h.build_directory("harm"))


def start(case, kind):
    target = case.start([program(), kind, case.dir])
    h.wait_until(lambda: target.out or target.popen.poll() is not None,
                 "the target")
    if target.out.startswith("no "):
        raise h.Skip(target.out.strip())
    return target


def pages(target):
    """How many it has read so far."""
    before = len(target.out.splitlines())
    target.say("a")
    h.wait_until(lambda: len(target.out.splitlines()) > before,
                 "the target's answer")
    return int(target.out.split()[-1])


def trace(case, target):
    return case.start_calltrap("-L", "-x", "f1+f2", "-F",
                               case.write("t.conf", PROTOTYPES), "-p",
                               str(target.pid))


def goes_on(case, kind):
    target = start(case, kind)
    tracer = trace(case, target)
    h.wait_until(lambda: h.read(tracer.log_path).count("f1@") > 20 or
                 tracer.popen.poll() is not None, "calls in the log")
    first = pages(target)
    h.wait_until(lambda: pages(target) > first + 100, "the target to go on")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    h.check_untouched(target.pid)
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")
    log = h.read(tracer.log_path)
    h.check_match(r"f2@libt\.so\(\d+\) += \d+", log, "calls of the server")
    return log


@h.test("a thread at a trap is the one that serves userfaultfd", users=True)
def faults(case):
    # The page isn't there yet, so its text can't be.
    h.check_match(r"f1@libt\.so\(0x[0-9a-f]+\?\)", goes_on(case, "uffd"),
                  "calls with an address of such a page")


@h.test("a thread at a trap is the one that serves a file system")
def files(case):
    h.check_match(r"f1@libt\.so\(0x[0-9a-f]+\?", goes_on(case, "fuse"),
                  "calls with an address of such a page")


@h.test("such a target is left within moments of being asked")
def leaves(case):
    for how in (signal.SIGINT, signal.SIGTERM):
        target = start(case, "uffd")
        tracer = trace(case, target)
        h.wait_until(lambda: "f2@" in h.read(tracer.log_path) or
                     tracer.popen.poll() is not None, "calls in the log")
        time.sleep(0.05)
        tracer.popen.send_signal(how)
        h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
        h.check_untouched(target.pid)
        target.say("q")
        h.check_equal(target.wait(), 7, "status of the target")


def without_symbols(case):
    """The program, with a library whose debug file is in .debug beside it."""
    h.need("objcopy", "strip")
    built = h.build_with_libt("hung", h.build_directory("hung"))
    os.mkdir(case.path(".debug"))
    for name in ("hung", "libt.so"):
        shutil.copy(os.path.join(os.path.dirname(built), name), case.dir)
    library = case.path("libt.so")
    debug = case.path("libt.so.debug")
    for argv in (["objcopy", "--only-keep-debug", library, debug],
                 ["strip", library],
                 ["objcopy", "--add-gnu-debuglink=" + debug, library]):
        h.check_equal(case.run(argv).status, 0, " ".join(argv))
    os.unlink(debug)
    return case.path("hung")


@h.test("debug files on a file system that doesn't answer")
def hung(case):
    target = case.start([without_symbols(case), case.path(".debug")])
    h.wait_until(lambda: target.out or target.popen.poll() is not None,
                 "the target")
    if target.out.startswith("no "):
        raise h.Skip(target.out.strip())

    def counts():
        before = len(target.out.splitlines())
        target.say("a")
        h.wait_until(lambda: len(target.out.splitlines()) > before,
                     "the target's answer")
        return [int(word) for word in target.out.split()[-2:]]

    tracer = case.start_calltrap("-L", "-x", "f1+f_local", "-p",
                                 str(target.pid))
    h.wait_until(lambda: "f1@" in h.read(tracer.log_path) or
                 tracer.popen.poll() is not None, "calls in the log")
    first = counts()
    h.wait_until(lambda: all(now > then + 20 for now, then in
                             zip(counts(), first)), "the target to go on")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    h.check_equal(tracer.err.count("answer"), 1, "words on it: " + tracer.err)
    h.check_untouched(target.pid)
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")


def fetch(pid):
    """All that it has mapped: it must not need the file system any more."""
    with open("/proc/%d/mem" % pid, "rb", buffering=0) as memory:
        for line in h.read("/proc/%d/maps" % pid).splitlines():
            words = line.split()
            start, end = (int(word, 16) for word in words[0].split("-"))
            if "r" in words[1] and "[v" not in line:
                memory.seek(start)
                memory.read(end - start)


def register_stale(kind, words):
    @h.test("%s on a file system that doesn't answer" % words)
    def stale(case):
        for folder in "files", "mounted":
            os.mkdir(case.path(folder))
        case.copy(h.build("static_target", ["target.c", "libt.c"], "-O1",
                          "-static", "-lpthread", optional=True),
                  "files/target")
        server = case.start([h.build("stale", "stale.c", "-O1", "-lpthread"),
                             kind, case.path("files"), case.path("mounted"),
                             "target", "2", "1000"])
        h.wait_until(lambda: "ready" in server.out or
                     server.popen.poll() is not None, "the target")
        if server.out.startswith("no "):
            raise h.Skip(server.out.strip())
        pid = int(server.out.split()[1])
        fetch(pid)
        server.popen.send_signal(signal.SIGUSR1)
        time.sleep(0.1)
        tracer = case.start_calltrap("-L", "-x", "f1", "-p", str(pid))
        h.check_equal(tracer.wait(), 1, "status; " + tracer.err)
        h.check("its program can't be read: its file system doesn't answer" in
                tracer.err, "words on it: " + tracer.err)
        h.wait_until(lambda: not h.tracer_of(pid), "the end of the tracing")
        server.say("q")
        h.check_equal(server.wait(), 7, "status of the target")


register_stale("exe", "the program itself is")
register_stale("root", "the target's root is")


if __name__ == "__main__":
    sys.exit(h.main())
