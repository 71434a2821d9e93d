#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""heap --engine=agent on programs of Go's that call C: what they acquire there is
caught in the process, with the goroutine's own frames."""

import collections
import json
import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

ROUNDS = int(os.environ.get("ROUNDS", "2"))
# Of one round: 4 at a depth, a text, and three callbacks with two each; and by
# goroutines of their own, two, one of which makes its stack grow in a callback. There and
# behind it are two more.
A_ROUND = 4 + 1 + 6 + 3
LATE = "take_late"
# So many that most are made when the agent is inside, however late it gets there.
MANY = 240


def build(*flags):
    h.need_jumps()
    return h.build_go("cgo.go", *flags)


def is_own(stack):
    """Go calls C for itself, too: to start threads, for whoever runs just then."""
    calls = [i for i, name in enumerate(stack)
             if (name or "").startswith("runtime.asmcgocall")]
    callers = stack[calls[0] + 1:] if calls else ()
    return bool(callers) and (callers[0] or "").startswith("main.")


def check_late(report, rounds):
    """A stack that has been moved is left out, or told as it is now."""
    total = 0
    for site in report["sites"]:
        names = [frame.get("function") or "" for frame in site["stack"]]
        if LATE not in names:
            continue
        total += site["alloc_blocks"]
        others = [name for name in names if name.startswith("main.") and
                  not re.match(r"main\.(_Cfunc_take_(late|behind)|goGrow|late"
                               r"|apart)\b", name)]
        h.check_equal(others, [], "who hasn't called, in %s" % names)
        if site["stack_is_whole"]:
            h.check("main.late" in names, "not late: %s" % names)
    h.check_equal(total, 2 * 4 * rounds, "around a stack that grows")


def sites_of(report):
    """What the program's own functions have acquired, by stack."""
    sites = collections.Counter()
    for site in report["sites"]:
        stack = tuple(frame.get("function") for frame in site["stack"])
        if is_own(stack) and LATE not in stack:
            sites[stack, site["stack_is_whole"]] += site["alloc_blocks"]
            h.check_equal(site["alloc_blocks"], site["freed_blocks"],
                          "given back")
    return sites


def heap_of(case, engine, program, *arguments):
    path = case.path(engine + ".json")
    result = case.calltrap("heap", "--engine=" + engine, "--json", path,
                           program, *arguments, log=False)
    h.check_equal(result.status, 7, "status of the program: " + result.err)
    return json.loads(h.read(path)), result


def heap_seeing(case, engine, program):
    return h.unless_starved(
        lambda: heap_of(case, engine, program, str(MANY)),
        lambda found: found[0]["lost"]["unseen"] or found[0]["lost"]["blind"])


def compare(case, program, named):
    reports = {}
    for engine in "trap", "agent":
        reports[engine], result = heap_seeing(case, engine, program)
    wanted, found = map(sites_of, (reports["trap"], reports["agent"]))
    if named:
        for report in reports.values():
            check_late(report, MANY)
        h.check_equal(sum(wanted.values()), 8 + 4 * MANY * A_ROUND,
                      "the program's")
        for stack in set(found) | set(wanted):
            h.check_equal(found[stack], wanted[stack], "of %s" % (stack,))
        h.check(any("main.deep" in stack[0] and "main.work" in stack[0] and
                    stack[1] for stack in found), "no stack is whole: %s" %
                list(found)[:5])
    stops = [reports[engine]["cost"]["stops"] for engine in ("trap", "agent")]
    h.check(stops[1] < stops[0] / 4, "stops by traps and so: %s" % stops)
    h.check_match(r"caught: [2-9] functions in the process", result.err,
                  "engines")


@h.test("launched: site by site as by traps")
def launched(case):
    compare(case, build(), True)


@h.test("launched: stripped of all names")
def stripped(case):
    compare(case, build("-ldflags=-s -w"), False)


@h.test("attached while it is busy, and left: it goes on")
def come_and_go(case):
    target = case.start([build(), "0"])
    h.wait_until(lambda: "ready" in target.out, "the target")
    for engine in ["agent"] * ROUNDS + ["auto"]:
        path = case.path("heap.json")
        tracer = case.start([h.CALLTRAP, "heap", "--engine=" + engine, "-D",
                             "probe", "--json", path, "-p", str(target.pid)])
        h.wait_until(lambda: re.search(r"agent: malloc: \d", tracer.err) or
                     tracer.popen.poll() is not None, "the agent")
        time.sleep(0.3)
        os.kill(tracer.popen.pid, signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        h.check_equal(target.popen.poll(), None, target.err)
        h.check_equal(h.code_differences(target.pid), [], "code")
        h.check_match(r"caught: [2-9] functions in the process", tracer.err,
                      "engines")
    target.say("enough\n")
    h.check_equal(target.wait(), 7, "status of the target: " + target.err)


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
