#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-c: calls whose returns the agent can't see are counted when they begin, each
once; how long they take, and whether they fail, is estimated from some."""

import os
import re
import sys

sys.dont_write_bytecode = True
import harness as h

PROTOTYPES = """long tally_work(long);
fails_negative(long) tally_half(long);
"""


def tally():
    directory = h.build_directory("tally")
    h.build_library("libtally.so", "libtally.c", "-O1", directory=directory)
    return h.build("tally", "tally.c", "-O1", "-pthread", *h.near(directory),
                   "-l:libtally.so", directory=directory)


def rows(log):
    """Of each function: seconds, calls, errors, microseconds a call, as they stand
    there. Those that are estimated have a mark; seconds may be unknown where stops wait
    for processors."""
    found = {}
    for line in log.splitlines():
        row = re.match(r" *[\d.?]+ +([~<]?[\d.]+|\?) +(~?%s|\?) +"
                       r"(\d+) +(?:(~?\d+|\?) +)?(\w+)$" % h.MICROS, line)
        if row:
            found[row[5]] = (row[1], int(row[3]), row[4], row[2])
    return found


def estimate(number, log):
    h.check(number and number[0] == "~", log)
    return float(number[1:])


def estimated_time(number, log):
    if number == "?" or os.getloadavg()[0] > 3 * (os.cpu_count() or 1):
        raise h.Skip("what a stop costs is more than what is to be told")
    return estimate(number, log)


def run(case, *arguments, options=()):
    tracer = case.start_calltrap("-c", *options, tally(), *map(str, arguments))
    h.check_equal(tracer.wait(), 7, "status: " + tracer.err)
    log = h.read(tracer.log_path)
    made = dict(re.findall(r"^count (\w+) (\d+)$", tracer.out, re.M))
    h.check_equal(len(made), 2, "functions")
    found = rows(log)
    for function, number in made.items():
        h.check_equal(found[function][1], int(number), "calls of " + function)
    return tracer, log, found


@h.test("each call is counted, and few of them stop")
def counted(case):
    _, log, found = run(case, 4, 10, 100000)
    h.check(found["tally_half"][0][0] in "~?<", log)
    timed, all_calls = map(int, h.check_match(
        r"^~: each call was counted, but only (\d+) of (\d+) were timed, at "
        r"random$", log, "estimate").groups())
    h.check(all_calls >= 4000000 and timed < all_calls / 100, log)


@h.test("the program's calls alone, of those that come by one slot")
def program(case):
    run(case, 2, 10, 20000, options=["-L", "-e", "tally_*"])


@h.test("those of everybody, at the function's entry")
def everybody(case):
    run(case, 2, 10, 20000, options=["-L", "-x", "tally_*"])


def estimated_part(case):
    """The estimate, and how much of the truth it is; or how much of what it is less
    than the truth is, where that is all that it can say."""
    tracer, log, found = run(case, 1, 6000, 1)
    took = int(h.check_match(r"took (\d+)", tracer.out, "time")[1]) / 1e6
    micros = found["tally_work"][3]
    if micros.startswith("<"):
        return took * 1e6 / 6000 / int(micros[1:]), False, log
    return estimated_time(found["tally_work"][0], log) / took, True, log


@h.test("times are those of calls that take long and short by turns")
def estimated(case):
    # Of three, as few calls are told of: one estimate may be off by chance.
    parts = sorted(estimated_part(case) for _ in range(3))
    limits = [part for part, told, _ in parts if not told]
    if limits:
        h.check(sum(part > 1 for part in limits) < 2, "%r" % parts)
        raise h.Skip("what a stop costs is more than what is to be told")
    part, _, log = parts[1]
    # A fifth or nearly twice that, if each of them were of one kind.
    h.check(0.6 < part < 1.4, "%g of it: %s" % (part, log))


def truth():
    directory = h.build_directory("truth")
    h.build_library("libtruth.so", "libtruth.c", directory=directory)
    return h.build("truth", "truth.c", "-O1", *h.near(directory),
                   "-l:libtruth.so", directory=directory)


def interval(row):
    """Seconds, at least and at most, that a row says."""
    seconds, calls, _, micros = row
    if "?" in seconds:
        return 0, float("inf")
    if micros.startswith("<"):
        return 0, int(micros[1:]) * calls / 1e6
    off = re.search(r"±(\d+)%", micros)
    share = int(off[1]) / 100 if off else 0.1
    return tuple(float(seconds.strip("~")) * (1 + sign * share)
                 for sign in (-1, 1))


def check_truth(case, arguments, *options):
    """What functions have measured of themselves lies in what is printed. That has a
    standard error, and the machine may be as busy as it likes: so one time of three it
    may not, and what is next to it is in it."""
    outside = {}
    for _ in range(3):
        tracer = case.start_calltrap("-c", *options, truth(), *arguments)
        h.check_equal(tracer.wait(), 0, "status: " + tracer.err)
        log = h.read(tracer.log_path)
        found = rows(log)
        for name, calls, ns in re.findall(r"^(truth_\w+) (\d+) (\d+)$",
                                          tracer.out, re.M):
            h.check_equal(found[name][1], int(calls), "calls of " + name)
            least, most = interval(found[name])
            if not least / 1.5 <= int(ns) / 1e9 <= most * 1.5:
                outside.setdefault(name, []).append((int(ns) / 1e9, least,
                                                     most, log))
    for name, times in outside.items():
        h.check(len(times) < 2, "%s: %r" % (name, times))


@h.test("what is told holds the truth: calls that are estimated")
def truth_of_estimates(case):
    check_truth(case, ["5", "100000", "20000", "50", "50"])


@h.test("what is told holds the truth: calls by traps")
def truth_of_traps(case):
    check_truth(case, ["5", "200", "200", "50", "50"], "--engine=trap")


@h.test("failures are those of calls that fail by turns")
def failures(case):
    # Long enough for the calls that are told of at the last rate to be many.
    _, log, found = run(case, 1, 500, 100000,
                        options=["-F", case.write("tally.conf", PROTOTYPES)])
    errors = estimate(found["tally_half"][2], log)
    h.check(10000000 < errors < 40000000, log)


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
