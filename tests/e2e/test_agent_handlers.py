#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--engine=agent: signal handlers of the thread that lets the agent in. They run
above code of ours, and whatever they do, the thread goes on."""

import os
import re
import signal
import sys

sys.dont_write_bytecode = True
import harness as h

ROUNDS = int(os.environ.get("ROUNDS", "2"))
# The thread is sent on its way to reserve memory, to map it, to close a
# descriptor; each time a handler comes first.
WAYS = 3


def start(case, what, signals=WAYS):
    target = case.start([h.build("interrupted", "interrupted.c", "-O1",
                                 "-fno-builtin", "-pthread"),
                         what, str(signals)])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def attach(case, target, engine="agent"):
    return case.start_calltrap("--engine=" + engine, "-L", "-x", "labs", "-c",
                               "-p", str(target.pid))


def is_inside(pid):
    """Calls come by the slot: there is the agent, and no stop any more."""
    return "calltrap-agent" in h.read("/proc/%d/maps" % pid)


def handlers(target):
    return target.out.count("in\n")


def wait_for(condition, target, tracer, what):
    h.wait_until(lambda: condition() or target.popen.poll() is not None or
                 tracer.popen.poll() is not None, what)


def leave(tracer):
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap: " + tracer.err)


def finish(target):
    """How many calls it has made, and none went wrong."""
    target.say("over\n")
    h.wait_until(lambda: "made" in target.out or
                 target.popen.poll() is not None, "the end of the calls")
    h.check_equal(target.popen.poll(), None, "the target's end")
    own = [os.readlink("/proc/%d/fd/%s" % (target.pid, fd))
           for fd in os.listdir("/proc/%d/fd" % target.pid)]
    h.check(not any("memfd:" in name for name in own),
            "a descriptor is left: %s" % own)
    target.say("over\n")
    h.check_equal(target.wait(), 7, "status of the target")
    return int(re.search(r"^made (\d+)$", target.out, re.M)[1])


@h.test("each makes a child, which goes on with the call")
def children(case):
    for _ in range(ROUNDS):
        target = start(case, "fork")
        tracer = attach(case, target)
        wait_for(lambda: is_inside(target.pid), target, tracer, "the agent")
        leave(tracer)
        finish(target)


@h.test("each sleeps, and calltrap leaves meanwhile")
def left(case):
    for number in range(1, WAYS + 1):
        target = start(case, "sleep")
        before = handlers(target)
        tracer = attach(case, target)
        wait_for(lambda: handlers(target) >= before + number, target, tracer,
                 "handler %d" % number)
        leave(tracer)
        finish(target)


@h.test("each sleeps, calltrap leaves and comes again meanwhile")
def left_and_attached_to(case):
    for _ in range(ROUNDS):
        target = start(case, "sleep")
        for number in range(1, WAYS + 1):
            before = handlers(target)
            tracer = attach(case, target, "agent" if number % 2 else "trap")
            wait_for(lambda: handlers(target) > before, target, tracer,
                     "a handler")
            leave(tracer)
        finish(target)


@h.test("threads end in them: calls of others are caught in the process")
def ends(case):
    for _ in range(ROUNDS):
        target = start(case, "end")
        tracer = attach(case, target)
        wait_for(lambda: is_inside(target.pid), target, tracer, "the agent")
        h.settle(target, tracer)
        finish(target)
        tracer.wait()
        h.check_match(r"caught: 1 function in the process", tracer.err,
                      "engines")


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
