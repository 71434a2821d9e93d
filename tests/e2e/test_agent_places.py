#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--engine=agent in programs that have little, allow little, or take away what is
read: each call is told of once, and the program does what it would without us."""

import re
import sys

sys.dont_write_bytecode = True
import harness as h


def start(case, program, *arguments):
    target = case.start([program, *arguments])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def attach(case, target, *options, engine="agent"):
    tracer = case.start_calltrap("--engine=" + engine, "-D", "probe", *options,
                                 "-p", str(target.pid))
    h.wait_until(lambda: h.code_differences(target.pid), "the traps")
    h.settle(target, tracer)
    return tracer


def finish(target, tracer):
    target.say("go\n")
    h.wait_until(lambda: "done" in target.out or
                 target.popen.poll() is not None, "the calls")
    target.say("end\n")
    h.check_equal(target.wait(), 7, "status of the target: " + target.err)
    h.check_equal(tracer.wait(), 0, "status of calltrap")


def gone(bytes_each):
    @h.test("log: what a call has filled is gone when it returns: -s %d" %
            bytes_each)
    def run(case):
        check_gone(case, "-s", str(bytes_each))


def check_gone(case, *options):
    h.need_jumps()
    target = start(case, h.build("vanishing", "vanishing.c", "-O1"), "60")
    tracer = attach(case, target, "-L", "-x", "read@libc.so.6", *options)
    finish(target, tracer)
    log = h.read(tracer.log_path)
    h.check_equal(len(re.findall(r" 0x[0-9a-f]+\?, \d+\) += \d+$", log, re.M)),
                  40, "reads whose memory is gone")
    h.check_equal(len(re.findall(r'"what .*, \d+\) += \d+$', log, re.M)),
                  20, "reads whose memory stays")
    h.check("SIGSEGV" not in log and "SIGBUS" not in log, log)
    caught = h.check_match(r"caught: 1 function in the process.*; ([\d,]+) "
                           r"calls? in the process", tracer.err, "engines")
    h.check(int(caught[1]) > 40, tracer.err)


gone(5)
gone(32)


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
