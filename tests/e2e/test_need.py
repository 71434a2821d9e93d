#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""calltrap has no memory left while it is attached: it gives up, and its
targets go on as if it had never been there."""

import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

ROUNDS = 10


def has_sanitizer():
    """Its own malloc comes before a preloaded one."""
    with open(h.CALLTRAP, "rb") as file:
        return b"__asan_init" in file.read()


def code_end(path):
    """Where in the file the code ends. What follows in its last page is
    nobody's; copies of instructions are left there."""
    _, text = h.command_output(["readelf", "-lW", path])
    ends = [int(found[1], 16) + int(found[2], 16) for found in re.finditer(
        r"^ +LOAD +(0x\w+) +0x\w+ +0x\w+ +(0x\w+) +0x\w+ +R E", text, re.M)]
    h.check_equal(len(ends), 1, "executable segments of " + path)
    return ends[0]


def check_code(pid):
    for difference in h.code_differences(pid):
        path, offset = re.match(r"(.*)\+0x(\w+): ", difference).groups()
        h.check(int(offset, 16) >= code_end(path), "left behind: " +
                difference)


def start_tracer(case, target, trigger, options):
    hungry = h.build("hungry.so", "hungry.c", "-shared", "-fPIC", "-O1")
    tracer = case.start_calltrap(*options, "-p", str(target.pid),
                                 env={"LD_PRELOAD": hungry,
                                      "HUNGRY": trigger})
    h.wait_until(lambda: h.read(tracer.log_path) or
                 tracer.popen.poll() is not None, "the first calls")
    return tracer


def one_round(case, number, options):
    trigger = case.path("trigger.%d" % number)
    target = case.start([h.build("crowd", "crowd.c", "-O1", "-lpthread")])
    h.wait_until(lambda: "ready" in target.out, "the target")
    tracer = start_tracer(case, target, trigger, options)
    time.sleep(0.02 * number)
    case.write(os.path.basename(trigger), "")
    h.check_equal(tracer.wait(), -signal.SIGABRT, "status of calltrap; " +
                  tracer.err)
    h.check("internal error: out of memory" in tracer.err,
            "calltrap said: " + tracer.err)
    h.wait_until(lambda: not h.tracer_of(target.pid) or
                 target.popen.poll() is not None, "the end of the tracing")
    h.check_equal(target.popen.poll(), None, "end of the target")
    check_code(target.pid)
    time.sleep(0.05)
    target.say("over\n")
    h.check_equal((target.wait(), target.out),
                  (7, "ready\nwrong 0\ndisturbed 0\n"),
                  "status and results of the target")


def register(words, *options):
    @h.test("out of memory with 8 busy threads, and some that come and go; " +
            words, users=True)
    def run(case):
        if has_sanitizer():
            raise h.Skip("the sanitizer's malloc can't be replaced")
        for number in range(ROUNDS):
            one_round(case, number, options)


register("calls are traced", "-L", "-x", "ident")
register("system calls, too", "-S", "-L", "-x", "ident")


if __name__ == "__main__":
    sys.exit(h.main())
