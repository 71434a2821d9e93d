#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs: calls within others, some of which are caught in the process, and some by
traps: each once, behind the one that it is within, at its depth."""

import json
import os
import re
import sys

sys.dont_write_bytecode = True
import harness as h

ROUNDS = int(os.environ.get("ROUNDS", "1"))
CALLS = ["-L", "-x", "strdup+labs+strnlen@libc.so.6", "-x", "malloc+keeps@MAIN"]
INDENT = 2
LINE = re.compile(r"(?:(\d+) )?(\d+\.\d+) ( *)(.*)")
# As far as a stop's time and the agent's are the same clock's.
CLOCKS = 2e-6


def program():
    return h.build("nests", "nests.c", "-O1", "-fno-builtin", "-pthread")


class Thread:
    """What the lines of one thread have to be like: each call begins behind the one
    before it, and within all those that are open."""

    def __init__(self):
        self.last = 0
        self.open = []
        self.began = []

    def take(self, stamp, depth, text, line):
        h.check(stamp > self.last - CLOCKS, "earlier than a line before it: " + line)
        self.last = max(self.last, stamp)
        if text.startswith(("---", "+++")):
            return
        resumed = re.match(r"<\.\.\. (\w+) resumed>", text)
        if resumed:
            h.check(self.open and self.open.pop() == resumed[1],
                    "not the innermost one: " + line)
        h.check_equal(depth, len(self.open), "depth of " + line)
        name = resumed[1] if resumed else re.match(r"\w+", text)[0]
        if not resumed:
            self.began.append((name, depth))
        if text.endswith("<unfinished ...>"):
            self.open.append(name)


def threads_of(path):
    threads = {}
    for line in h.read(path).splitlines():
        if line.startswith(" >"):
            continue
        found = LINE.fullmatch(line)
        h.check(found, "line: " + line)
        thread = threads.setdefault(found[1], Thread())
        thread.take(float(found[2]), len(found[3]) // INDENT, found[4], line)
    return threads


def run(case, engine, words, *options):
    path = case.path("nests.log")
    result = case.calltrap("--engine=" + engine, "--when-full=wait", "-ttt",
                           "--indent", str(INDENT), "-o", path, *options, *CALLS,
                           program(), *words.split())
    h.check_equal(result.status, 7, "status: " + result.err)
    return result, threads_of(path)


def began_of(threads):
    return [call for thread in threads.values() for call in thread.began]


def made(result, name):
    return int(h.check_match(r"^count %s (\d+)$" % name, result.out, "calls")[1])


def check_counts(result, threads, names):
    began = began_of(threads)
    for name in names.split():
        seen = sum(call[0] == name for call in began)
        # Of the dynamic linker's strdup() the program knows nothing.
        others = name == "strdup" and seen - made(result, name) in (0, 1, 2)
        h.check(others or seen == made(result, name), "calls of %s: %d of %d" %
                (name, seen, made(result, name)))


def one_way(engine, words, names, *options):
    @h.test("behind those that they are within: %s, %s" %
            (words + " " * bool(options) + " ".join(options), engine))
    def behind(case):
        for _ in range(ROUNDS):
            result, threads = run(case, engine, words, *options)
            check_counts(result, threads, names)
            depths = [depth for _, depth in began_of(threads)]
            h.check(max(depths) >= 6 and sum(map(bool, depths)) > len(depths) / 2,
                    "within others: %d of %d" % (sum(map(bool, depths)), len(depths)))
            if engine == "agent":
                h.check_match(r"; [\d,]{5,} calls in the process", result.err,
                              "calls in the process")


ALL = "strdup malloc labs keeps strnlen"

for one in "agent", "auto":
    one_way(one, "400 2", ALL)
    one_way(one, "100 3 handlers", ALL)
    # Who jumps away has counted a call that it hasn't made, or the other way round.
    one_way(one, "100 3 handlers jumps", "")
    one_way(one, "160 4 comers handlers", ALL)
one_way("agent", "100 2 handlers", ALL, "-w", "4")
one_way("agent", "100 2 forks handlers", ALL)


@h.test("the same calls at the same depths as by traps")
def as_by_traps(case):
    wanted = run(case, "trap", "100 1")[1]
    for engine in "agent", "auto":
        found = run(case, engine, "100 1")[1]
        h.check_equal(began_of(found), began_of(wanted), "calls, with " + engine)


@h.test("--json: the same depths, and each within the time of the one around it")
def objects(case):
    path = case.path("nests.json")
    result = case.calltrap("--engine=agent", "--when-full=wait", "--json", path,
                           *CALLS, program(), "100", "1")
    h.check_equal(result.status, 7, "status")
    calls = [one for one in map(json.loads, h.read(path).splitlines())
             if one.get("event") == "call"]
    calls.sort(key=lambda call: (call["time"], call["depth"]))
    wanted = began_of(run(case, "trap", "100 1")[1])
    h.check_equal([(call["function"], call["depth"]) for call in calls],
                  wanted, "calls")


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
