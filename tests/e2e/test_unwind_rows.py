#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Stacks of threads that were stopped at any moment, in the middle of
prologues, exceptions, signal handlers: the same as libunwind-ptrace's."""

import os
import sys

sys.dont_write_bytecode = True
import harness as h
import servers

ROUNDS = os.environ.get("ROUNDS", "40")

# While an exception's unwinder leaves, its own frame is half gone: there the
# two may end apart, each in rubbish.
SHARE_EQUAL = 0.97

PYTHON = """
import json, re, sys, threading

def deeper(depth):
    if depth:
        return deeper(depth - 1)
    return json.dumps([{"a": re.sub("a+", "b", "caab")}] * 20)

def work():
    while True:
        deeper(20)
        sorted(range(100), key=lambda number: -number)

for i in range(2):
    threading.Thread(target=work, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""


def judge():
    path = os.path.join(os.environ.get("builddir", "."), "tests/e2e/judge")
    if not os.path.exists(path):
        raise h.Skip("tests/e2e/judge wasn't built")
    return path


def ours_and_theirs(text):
    """The pairs that aren't equal."""
    lines = [line.split() for line in text.splitlines()]
    return [(ours[1:], theirs[1:]) for ours, theirs in zip(lines, lines[1:])
            if ours[0] == "ours"]


def compare(case, pid):
    """How many were compared, how many of these hold signal frames."""
    result = case.run([judge(), str(pid), ROUNDS])
    result.check_status(0)
    found = h.check_match(r"^compared (\d+) equal (\d+) signals (\d+)$",
                          result.out, "judge")
    compared, equal, signals = [int(text) for text in found.groups()]
    for ours, theirs in ours_and_theirs(result.out):
        h.check(ours == theirs[:len(ours)] or theirs == ours[:len(theirs)],
                "ours %r, theirs %r" % (ours, theirs))
    h.check(compared >= int(ROUNDS), "only %d stacks" % compared)
    h.check(equal >= SHARE_EQUAL * compared,
            "only %d of %d are equal:\n%s" % (equal, compared,
                                              h.shorten(result.out)))
    return compared, signals


def start(case, argv, env=None):
    process = case.start(argv, env=env)
    h.wait_until(lambda: "ready" in process.out or
                 process.popen.poll() is not None, argv[0])
    h.check_equal(process.popen.poll(), None, "its end: " + process.err)
    return process


@h.test("threads, exceptions, callbacks and signals of a C++ program")
def exceptions(case):
    path = h.build("moments", "moments.cc", "-O2", "-lpthread", cc="g++",
                   optional=True)
    compared, signals = compare(case, start(case, [path]).pid)
    h.check(signals, "none of %d stacks was in a handler" % compared)


@h.test("python3, threads of it")
def python(case):
    script = case.write("work.py", PYTHON)
    compare(case, start(case, [sys.executable, script]).pid)


# The product is in assembler, whose frames take a multiplication to find.
@h.test("RSA keys of openssl, without the newest instructions")
def openssl(case):
    h.need("openssl")
    if not h.X86:
        raise h.Skip("libunwind doesn't know signed return addresses")
    process = case.start(["openssl", "speed", "-seconds", "30", "rsa2048"],
                         env={"OPENSSL_ia32cap": ":0x0"})
    h.wait_until(lambda: "Doing" in process.err + process.out or
                 process.popen.poll() is not None, "openssl")
    h.check_equal(process.popen.poll(), None, "its end: " + process.err)
    compare(case, process.pid)


@h.test("a server with threads")
def redis(case):
    h.need("redis-server")
    compare(case, servers.start_redis(case, case.path("socket")).pid)


if __name__ == "__main__":
    sys.exit(h.main())
