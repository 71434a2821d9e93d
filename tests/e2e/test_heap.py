#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `calltrap heap` says that a program holds is what the program says."""

import os
import sys
import time

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

UNKNOWN = "frees of what was there before"
UNKNOWN_RESIZES = "resizes of what was there before"


def leaker():
    return h.build("heap_leak", "heap_leak.c", "-g", "-O1")


def churner():
    return h.build("heap_churn", "heap_churn.c", "-g", "-O1", "-lpthread")


def start(case, *argv, said="ready"):
    target = case.start(list(argv))
    h.wait_until(lambda: said in target.out or
                 target.popen.poll() is not None, "the target")
    return target


def order(target, words):
    """The target has done all that when this returns."""
    for word in words:
        answer = "said\n" if word == "s" else "did %s\n" % word
        count = target.out.count(answer)
        target.say(word)
        h.wait_until(lambda: target.out.count(answer) > count or
                     target.popen.poll() is not None, "the answer to " + word)
        h.check_equal(target.popen.poll(), None, "the target's end")


# ---------------------------------------------------------------- leaks

def leaking_line():
    with open(h.victim("heap_leak.c")) as file:
        return 1 + [("/* here */" in line) for line in file].index(True)


@h.test("a leak of 4 bytes a second is found, attached to, with its line",
        users=True)
def _(case):
    target = start(case, leaker(), "1000")
    tracer = hr.attach(case, target)
    h.wait_until(lambda: hr.planted(target.pid), "the traps")
    # Each time round it stops twice, and sleeps.
    before = h.naps(target.pid)
    h.wait_until(lambda: h.naps(target.pid) > before + 8 * 3, "leaks")
    report = hr.leave(tracer)
    h.check_untouched(target.pid)
    h.check_equal(len(report.rows), 1, "rows")
    row = report.rows[0]
    h.check_equal(row.verdict, "LIKELY", "verdict")
    h.check_equal(row.functions()[:3], ["leak", "someFunc", "main"], "stack")
    h.check_equal(row.frames()[0][2], str(leaking_line()), "line of leak()")
    h.check(row.frames()[0][1].endswith("heap_leak.c"), "file of leak()")
    watched = h.check_match(r"^watched for ([\d.]+) s[,;]", report.text, "time")
    h.check(6 <= row.blocks <= float(watched[1]) + 1,
            "%d blocks in %s s" % (row.blocks, watched[1]))
    h.check_equal(row.bytes, 4 * row.blocks, "bytes of as many ints")
    h.check_equal(report.malloc.held(), (row.blocks, row.bytes), "total")
    h.check_equal(report.levels["likely"], (row.bytes, row.blocks, 1),
                  "what is said to leak")


# ---------------------------------------------------------------- counting

# One function in glibc before 2.38.
ALIASES = {"aligned_alloc": "memalign"}


def own_calls(report, library="heap_churn"):
    found = {}
    for (name, caller), (calls, failed, _) in report.calls.items():
        if caller == library:
            name = ALIASES.get(name, name)
            found[name] = found.get(name, 0) + calls
            found[".failed"] = found.get(".failed", 0) + failed
    return found


def check_calls(report, counts):
    wanted = {name: count for name, count in counts.items()
              if not name.startswith(".") and count}
    wanted["memalign"] = (wanted.get("memalign", 0) +
                          wanted.pop("aligned_alloc", 0))
    wanted[".failed"] = counts[".failed"]
    h.check_equal(own_calls(report), wanted, "calls and failures")


def check_counts(report, counts):
    row = report.row("^heap_churn$")
    h.check_equal((row.blocks, row.bytes),
                  (counts[".blocks"], counts[".bytes"]), "blocks and bytes")
    h.check_equal(row.acquired, counts[".acquired"], "acquired")
    h.check_equal(row.given_back, counts[".given_back"], "given back")
    check_calls(report, counts)
    h.check_equal(report.malloc.odd("failed"), counts[".failed"], "failed")
    h.check_equal(report.lost(), 0, "lost")
    check_sums(report)


def check_sums(report):
    """What the rows say comes to what the totals say."""
    h.check_equal((sum(row.blocks for row in report.rows) + report.rest[1],
                   sum(row.bytes for row in report.rows) + report.rest[0]),
                  report.malloc.held(), "sum of the rows")
    if report.levels:
        h.check_equal((sum(level[1] for level in report.levels.values()),
                       sum(level[0] for level in report.levels.values())),
                      report.malloc.held(), "sum of the verdicts")


OPTIONS = ["--by", "library", "--top", "0"]


def churn_from_start(threads):
    def run(case):
        result = hr.heap(case, *OPTIONS, "--", churner(), str(threads),
                         str(20000 // threads), input_text="cse")
        result.check_status(0)
        check_counts(result.report, result.counts())
        counts = result.counts()
        h.check(counts[".moved"] and counts[".in_place"] and
                counts[".failed"], "the victim does it all")
        h.check_equal([result.report.malloc.odd(odd)
                       for odd in (UNKNOWN, UNKNOWN_RESIZES, "double frees")],
                      [0, 0, 0], "oddities")
    return run


def churn_attached(threads):
    """What was there before the attach is given back after it."""
    def run(case):
        target = start(case, churner(), str(threads), str(20000 // threads))
        order(target, "p")
        tracer = hr.attach(case, target, options=OPTIONS)
        h.settle(target, tracer)
        order(target, "cs")
        report = hr.leave(tracer)
        counts = h.counts_in(target.out)
        check_counts(report, counts)
        h.check(counts[".old_frees"] and counts[".old_resizes"],
                "the victim does it all")
        h.check_equal(report.malloc.odd(UNKNOWN), counts[".old_frees"],
                      "frees of blocks from before")
        h.check_equal(report.malloc.odd(UNKNOWN_RESIZES),
                      counts[".old_resizes"], "resizes of blocks from before")
        h.check_untouched(target.pid)
    return run


def churn_running(threads):
    """Attached to in the middle of everything: no block is made up or lost."""
    def run(case):
        target = start(case, churner(), str(threads))
        order(target, "pr")
        tracer = hr.attach(case, target, options=OPTIONS)
        h.wait_until(lambda: hr.planted(target.pid), "traps")
        time.sleep(1)
        order(target, "fks")
        report = hr.leave(tracer)
        counts = h.counts_in(target.out)
        row = report.row("^heap_churn$")
        h.check_equal((row.blocks, row.bytes),
                      (counts[".blocks"], counts[".bytes"]),
                      "what was acquired when all was given back")
        h.check_equal(row.blocks, 3 * threads, "blocks")
        odd = report.malloc.odd(UNKNOWN) + report.malloc.odd(UNKNOWN_RESIZES)
        h.check(0 < odd <= 200 * threads, "%d blocks from before" % odd)
        h.check_equal(report.malloc.odd("acquired while in use: a free was "
                                        "missed"), 0, "frees missed")
        check_sums(report)
    return run


for threads in (1, 4, 16):
    h.test("totals are the program's own, %d threads" % threads)(
        churn_from_start(threads))
    h.test("… %d threads, attached to, with blocks from before" % threads)(
        churn_attached(threads))
    h.test("… %d threads, attached to in full run" % threads)(
        churn_running(threads))


# ---------------------------------------------------------------- others

def said_by_valgrind(text):
    """((blocks, bytes) held, allocs, frees, bytes)"""
    held = h.check_match(r"in use at exit: ([\d,]+) bytes in ([\d,]+) blocks",
                         text, "valgrind's report")
    usage = h.check_match(r"total heap usage: ([\d,]+) allocs, ([\d,]+) frees,"
                          r" ([\d,]+) bytes allocated", text,
                          "valgrind's report")
    return ((hr.number(held[2]), hr.number(held[1])),
            *map(hr.number, usage.groups()))


@h.test("valgrind says the same, but for resizes that fail")
def _(case):
    h.need("valgrind")
    arguments = [churner(), "1", "2000"] # valgrind 3.19 dies of 3000
    ours = hr.heap(case, *arguments, input_text="cse")
    theirs = case.run(["valgrind", "--run-libc-freeres=no", *arguments],
                      input_text="cse")
    if "INTERNAL ERROR" in theirs.err:
        raise h.Skip("valgrind has crashed")
    counts = ours.counts()
    both = ("acquired", "given_back", "blocks", "bytes", "failed_resizes")
    h.check_equal([h.counts_in(theirs.out)["." + name] for name in both],
                  [counts["." + name] for name in both],
                  "the program does the same both times")
    held, allocs, frees, byte_count = said_by_valgrind(theirs.err)
    malloc = ours.report.malloc
    h.check_equal(malloc.held(), held, "held")
    # A resize that fails is an alloc and a free to valgrind 3.19, of the size
    # that was asked for (PTRDIFF_MAX - 1000); its sum has 64 bits.
    failed = counts[".failed_resizes"]
    h.check(failed, "resizes fail")
    h.check_equal((allocs, frees), (malloc.allocs + failed,
                                    malloc.frees + failed), "allocs, frees")
    h.check_equal(byte_count, (malloc.alloc_bytes +
                               failed * ((1 << 63) - 1 - 1000)) % (1 << 64),
                  "bytes allocated")


@h.test("heaptrack says the same, but for what it takes no notice of")
def _(case):
    h.need("heaptrack", "heaptrack_print")
    # memalign and reallocarray are none of its functions, and a block that was
    # resized to nothing is leaked to it: the victim does without these. Of the
    # blocks for threads' dtv (calloc in pthread_create) it sees larger ones,
    # as it is a library that uses thread-local variables.
    arguments = [churner(), "4", "2000", "plain"]
    ours = hr.heap(case, "--by", "library", *arguments, input_text="cse")
    theirs = case.run(["heaptrack", "-o", case.path("track"), *arguments],
                      input_text="cse")
    names = [name for name in os.listdir(case.dir)
             if name.startswith("track.")]
    h.check_equal(len(names), 1, "files of heaptrack: " + theirs.err)
    h.check_equal(h.counts_in(theirs.out)[".bytes"], ours.counts()[".bytes"],
                  "the program does the same both times")
    stacks = case.path("stacks")
    case.run(["heaptrack_print", "-F", stacks, "--flamegraph-cost-type",
              "leaked", "-f", case.path(names[0])]).check_status(0)
    leaked = sum(int(line.split()[-1]) for line in h.read(stacks).splitlines()
                 if ";act " in line)
    h.check_equal(leaked, ours.report.row("^heap_churn$").bytes, "held")


if __name__ == "__main__":
    sys.exit(h.main())
