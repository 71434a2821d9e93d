#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap heap` where memory is handled badly, or in C++'s ways."""

import signal
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

DOUBLE = "double frees"
INVALID = "frees of what was never acquired"
UNKNOWN = "frees of what was there before"
IN_FLIGHT = "calls that did not return"
MISMATCH = "freed by a function of another kind"
WRONG_SIZE = "freed with another size"
FAILED = "failed"
MISSED = "acquired while in use: a free was missed"


def faulty():
    directory = h.build_directory("heap_faults")
    h.build_library("libbump.so", "libbump.c", "-fno-builtin",
                    directory=directory)
    return h.build("heap_faults", "heap_faults.c", "-g", "-O1",
                   *h.near(directory), "-lbump", "-lpthread",
                   directory=directory)


def newer():
    return h.build("heap_new", "heap_new.cc", "-g", "-O1", "-std=c++17",
                   "-fno-builtin", "-w", cc="g++")


def faults(case, name, status=0, options=()):
    """Of a program started by calltrap."""
    result = hr.heap(case, "--top", "0", *options, faulty(), name)
    result.check_status(status)
    h.check_equal(result.report.lost(), 0, "lost")
    return result.report


def check_odd(report, **wanted):
    """These oddities and no others."""
    names = {"double": DOUBLE, "invalid": INVALID, "unknown": UNKNOWN,
             "in_flight": IN_FLIGHT, "mismatch": MISMATCH, "failed": FAILED,
             "wrong_size": WRONG_SIZE}
    found = dict(report.malloc.oddities)
    found.pop("frees of NULL, which do nothing", None)
    h.check_equal(found, {names[key]: count for key, count in wanted.items()},
                  "oddities")


# ---------------------------------------------------------------- in C

@h.test("frees of what was given back already, with both stacks")
def _(case):
    report = faults(case, "twice")
    check_odd(report, double=3)
    h.check_equal(report.malloc.held(), (1, 100), "held")
    text = "\n".join(report.sections["GIVEN BACK TWICE"])
    h.check_match(r"^3 times$", text, "how often")
    h.check_match(r"first given back by free in heap_faults\n +first_free .*\n"
                  r" +twice .*\n +main .*\n +given back by free in "
                  r"heap_faults\n +second_free .*\n +twice ", text, "stacks")


@h.test("frees of what was never acquired")
def _(case):
    report = faults(case, "unknown")
    check_odd(report, invalid=2)
    h.check_equal(report.malloc.held(), (1, 100), "held")
    text = "\n".join(report.sections["GIVEN BACK, NEVER ACQUIRED"])
    h.check_equal(text.count("given back by free in heap_faults"), 2, "stacks")


@h.test("the same in a program that was attached to: counted, no accusation")
def _(case):
    target = case.start([faulty(), "unknown", "wait"])
    h.wait_until(lambda: "ready" in target.out, "the target")
    tracer = hr.attach(case, target)
    hr.settle(target, tracer)
    target.say("x")
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    report = hr.only_report(h.read(tracer.report_path))
    check_odd(report, unknown=2)
    h.check("GIVEN BACK, NEVER ACQUIRED" not in report.sections,
            "nothing is said against them")
    h.check_equal(report.malloc.held(), (0, 0), "held")


@h.test("longjmp out of malloc, and malloc again from the same place")
def _(case):
    for engine in "trap", "agent":
        report = faults(case, "longjmps", options=["--engine=" + engine])
        check_odd(report, in_flight=5)
        h.check_equal(report.malloc.held(), (6, 150), "held, by " + engine)


@h.test("a thread that ends in malloc")
def _(case):
    report = faults(case, "thread")
    check_odd(report, in_flight=1)
    row = report.row("^malloc by thread_ends$")
    h.check_equal((row.blocks, row.bytes), (1, 10), "held by its parent")


@h.test("a process that is killed in mid-realloc")
def _(case):
    report = faults(case, "dies", status=128 + signal.SIGKILL)
    check_odd(report, in_flight=1)
    h.check_equal(report.malloc.held(), (2, 110), "held; the block that was "
                  "being resized too")
    h.check_match("until it was killed by SIGKILL", report.text, "its end")


@h.test("a process that exits in mid-realloc")
def _(case):
    report = faults(case, "exits", status=7)
    check_odd(report, in_flight=1)
    h.check_equal(report.malloc.held(), (1, 100), "held")
    h.check_match("until it exited with status 7", report.text, "its end")


@h.test("an allocator that calls itself counts once, by the outer function")
def _(case):
    report = faults(case, "nested")
    check_odd(report)
    h.check_equal(report.malloc.held(), (2, 200), "held")
    h.check_equal(report.call("calloc", "heap_faults"), (1, 0, 100), "calloc")
    h.check_equal(report.call("malloc", "heap_faults"), (1, 0, 100), "malloc")


# ---------------------------------------------------------------- in C++

def news(case, name, *options):
    result = hr.heap(case, *options, "--by", "library", "--top", "0", newer(),
                     name)
    result.check_status(0)
    h.check_equal(result.report.lost(), 0, "lost")
    return result


@h.test("all forms of new and delete count once")
def _(case):
    result = news(case, "forms")
    check_odd(result.report)
    counts, row = result.counts(), result.report.row("^heap_new$")
    h.check_equal((row.acquired, row.given_back),
                  (counts["news"], counts["deletes"]), "acquired, given back")
    h.check_equal((row.blocks, row.bytes), (4, 4 + 400 + 64 + 192), "held")
    calls = {name: found for (name, caller), found in
             result.report.calls.items() if caller == "heap_new"}
    h.check_equal(sum(found[0] for name, found in calls.items()
                      if name.startswith("operator new")), counts["news"],
                  "calls of operator new")
    h.check_equal(sum(found[2] for name, found in calls.items()
                      if name.startswith("operator new")), counts["bytes"],
                  "bytes asked of operator new")
    h.check_equal(sum(found[0] for name, found in calls.items()
                      if name.startswith("operator delete")),
                  counts["deletes"], "calls of operator delete")
    h.check_equal([name for name in calls
                   if not name.startswith("operator ")], [], "other calls")


@h.test("a vector that grows and goes")
def _(case):
    result = news(case, "vectors")
    check_odd(result.report)
    counts = result.counts()
    h.check_equal(result.report.call("operator new(unsigned long)",
                                     "heap_new"),
                  (counts["news"], 0, counts["bytes"]), "operator new")
    row = result.report.row("^heap_new$")
    h.check_equal((row.blocks, row.bytes, row.acquired, row.given_back),
                  (0, 0, counts["news"], counts["deletes"]),
                  "held; acquired, given back")


@h.test("new and free, new[] and delete, malloc and delete")
def _(case):
    report = news(case, "mismatches").report
    check_odd(report, mismatch=12)
    text = "\n".join(report.sections["GIVEN BACK BY A FUNCTION OF ANOTHER "
                                     "KIND"])
    for size, first, second in ((40, r"operator new\(unsigned long\)", "free"),
                                (80, r"operator new\[\]\(unsigned long\)",
                                 r"operator delete\(void\*\)"),
                                (120, "malloc", r"operator delete\(void\*\)")):
        h.check_match(r"4 times, %d bytes\n +acquired by %s in heap_new\n"
                      r"(?: {8}.*\n)+ +given back by %s in" %
                      (size, first, second), text, "a pair of stacks")


@h.test("delete with another size than new's")
def _(case):
    report = news(case, "sizes").report
    check_odd(report, wrong_size=1)


@h.test("bad_alloc: what failed is not held, what it threw is given back")
def _(case):
    result = news(case, "too_much")
    check_odd(result.report, failed=10)
    h.check_equal(result.counts()["caught"], 5, "exceptions caught")
    row = result.report.row("^heap_new$")
    h.check_equal((row.blocks, row.bytes), (1, 10), "held")
    h.check_equal(result.report.malloc.odd(FAILED), 10, "failed")


if __name__ == "__main__":
    sys.exit(h.main())
