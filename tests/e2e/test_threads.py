#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Threads and signals: no call lost, none counted twice."""

import sys

sys.dont_write_bytecode = True
import harness as h


def program(name):
    directory = h.build_directory("threads")
    h.build_plugin(directory)
    return h.build(name, name + ".c", "-O1", *h.near(directory), "-lt",
                   "-ldl", "-lpthread", "-lrt", directory=directory)


WAYS = {"call sites": ["-e", "f1+f2@MAIN"], "entries": ["-L", "-x", "f1+f2"]}
PROTOTYPES = "long f1(long);\nlong f2(long);\nlong g1(long);\n"


def check_calls(log, threads, calls):
    """Each number once, by one thread each, in order, with its result."""
    for name in ("f1", "f2"):
        last = {}
        for call in log.named(name):
            number, i = divmod(call.values()[0], 1000000)
            pid, before = last.get(number, (call.pid, -1))
            # The column of pids begins with the second task.
            pid = pid or call.pid
            h.check_equal((call.pid or pid, i), (pid, before + 1), call.text)
            last[number] = pid, i
            h.check(call.result is None or
                    int(call.result, 0) == call.values()[0] + 1,
                    "wrong result: " + call.text)
        h.check_equal(len(last), threads, "threads that called " + name)
        h.check_equal(log.returns(name), threads * calls,
                      "results of " + name)


def register(threads, calls, way, users=False):
    @h.test("%d threads, %s" % (threads, way), users=users)
    def run(case):
        prototypes = case.write("t.conf", PROTOTYPES)
        result = case.calltrap("-F", prototypes, *WAYS[way],
                               program("threads"), str(threads), str(calls))
        result.check_status(7)
        wanted = result.counts()
        wanted.pop("g1")
        result.log.check_counts(wanted)
        check_calls(result.log, threads, calls)

    @h.test("%d threads, %s, and one that loads and unloads a library" %
            (threads, way))
    def loading(case):
        path = program("threads")
        plugin = path[:-len("threads")] + "plug.so"
        prototypes = case.write("t.conf", PROTOTYPES)
        result = case.calltrap("-F", prototypes, *WAYS[way], "-x", "g1", path,
                               str(threads), str(calls), plugin)
        result.check_status(7)
        result.log.check_counts(result.counts())
        check_calls(result.log, threads, calls)


for each_threads, each_calls in ((1, 4000), (8, 1000), (64, 100)):
    for each_way in WAYS:
        register(each_threads, each_calls, each_way, each_threads == 8)


def register_timer(calls, period, threads):
    for way, options in WAYS.items():
        @h.test("a signal each %d us in %d threads, its handler calls, %s" %
                (period, threads, way))
        def run(case, options=options):
            prototypes = case.write("t.conf", PROTOTYPES)
            result = case.calltrap("-F", prototypes, "-b", *options,
                                   program("timer"), str(calls), str(period),
                                   str(threads), patience=3 * h.PATIENCE)
            result.check_status(7)
            result.log.check_counts(result.counts())
            for name, number in result.counts().items():
                h.check_equal(result.log.returns(name), number,
                              "results of " + name)
            h.check(result.counts()["f2"] > 0, "the timer never came: "
                    "the test is void")


for each_case in ((20000, 1000, 1), (3000, 1000, 8), (5000, 200, 1)):
    register_timer(*each_case)


@h.test("the log shows each signal that the handler got")
def signal_lines(case):
    result = case.calltrap("-e", "f2@MAIN", program("timer"), "20000", "1000")
    result.check_status(7)
    shown = sum(1 for name in result.log.of_kind("signal")
                if name.startswith("SIGALRM"))
    handled = result.counts()["f2"]
    # One may come when the handler is gone already.
    h.check(handled <= shown <= handled + 1,
            "%d signals shown, %d handled" % (shown, handled))


if __name__ == "__main__":
    sys.exit(h.main())
