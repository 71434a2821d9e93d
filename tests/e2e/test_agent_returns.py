#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--engine=agent: operator new is caught in the process, whatever way a call of
it ends; also where calltrap leaves, or is killed, while calls are under way."""

import json
import os
import random
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

ALONE = "200"
ROUNDS = int(os.environ.get("ROUNDS", "3"))


def program():
    h.need_jumps()
    h.need("g++")
    return h.build("refused", "refused.cc", "-O1", "-pthread", cc="g++")


def is_in(said):
    """Whether calls of operator new are caught in the process."""
    return re.search(r"agent: _Znwm: \d+, ", said)


def watched(case, engine, *options):
    """What one thread does that many times: the report, and what was said."""
    report = case.path("heap." + engine + ".json")
    tracer = case.start([h.CALLTRAP, "heap", "--engine=" + engine, *options,
                         "-o", case.path("heap.txt"), "--json", report,
                         program(), ALONE, "alone"])
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    h.check("right" in tracer.out, tracer.out + tracer.err)
    return json.loads(h.read(report)), tracer.err


def calls_of(report):
    return sorted((one["function"], one["calls"], one["bytes"])
                  for one in report["calls"] if one["function"].startswith("_Z"))


@h.test("each call of operator new and delete, as by traps")
def counted(case):
    by_agent, said = watched(case, "agent", "-D", "probe")
    h.check(is_in(said), said)
    h.check(re.search(r"caught: [1-9]\d* functions in the process", said), said)
    h.check_equal(by_agent["lost"]["calls"], 0, "lost calls")
    h.check(len(calls_of(by_agent)) >= 4, calls_of(by_agent))
    h.check_equal(calls_of(by_agent), calls_of(watched(case, "trap")[0]),
                  "calls")


class Target:
    def __init__(self, case):
        self.process = case.start([program(), "0"])
        self.get_on()

    def get_on(self):
        """All of its threads do, and what they see is right."""
        before = len(self.process.out)
        h.wait_until(lambda: self.process.popen.poll() is not None or
                     self.process.out[before:].count("\n") > 2, "the target")
        h.check(self.process.popen.poll() is None,
                "%s, %s" % (self.process.popen.poll(), self.process.err))


def attach(case, target):
    tracer = case.start([h.CALLTRAP, "heap", "--engine=agent", "-D", "probe",
                         "-o", case.path("heap.txt"), "-p",
                         str(target.process.pid)])
    h.wait_until(lambda: is_in(tracer.err) or
                 tracer.popen.poll() is not None, "the agent")
    h.check_equal(tracer.popen.poll(), None, tracer.err)
    target.get_on()
    time.sleep(random.uniform(0, 0.3))
    return tracer


@h.test("left and attached to again while calls are under way")
def left(case):
    target = Target(case)
    for _ in range(ROUNDS):
        tracer = attach(case, target)
        os.kill(tracer.popen.pid, signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        target.get_on()


def code_of_nobody(pid):
    """Mappings of code that are no file's: what calltraps have left."""
    return [line.split()[0] for line in
            h.read("/proc/%d/maps" % pid).splitlines()
            if line.split()[1][2] == "x" and len(line.split()) == 5]


@h.test("left as soon as it is there, again and again: what is left doesn't grow")
def left_at_once(case):
    """Its page for jumps was asked for, and maybe had no use yet."""
    h.need_jumps()
    target, left = Target(case), []
    for _ in range(8 * ROUNDS):
        tracer = case.start([h.CALLTRAP, "heap", "--engine=agent", "-D", "probe,trap",
                             "-o", case.path("heap.txt"), "-p",
                             str(target.process.pid)])
        h.wait_until(lambda: "agent: in process" in tracer.err or
                     tracer.popen.poll() is not None, "the agent")
        time.sleep(random.uniform(0, 0.01))
        os.kill(tracer.popen.pid, signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        left.append(len(code_of_nobody(target.process.pid)))
    target.get_on()
    # One page, and one for functions that lie far from the others.
    h.check(left[-1] <= left[0] + 2, "mappings after each: %s" % left)


@h.test("left within a call that stops on its way: its code is its own again")
def left_within(case):
    leave_clean(case, [], ["heap", "-D", "probe"],
                lambda target, tracer: is_in(tracer.err))


@h.test("left while it waits for a child that has ended: its code is its own again")
def left_waiting(case):
    leave_clean(case, ["forks"], ["-f", "-c", "-e", "*@MAIN"],
                lambda target, tracer: any(
                    "libgcc_s" in text and ": e9, " in text
                    for text in h.code_differences(target.pid)))


def leave_clean(case, arguments, options, is_there):
    h.need_jumps()
    h.need("g++")
    target = case.start([h.build("signalled_new", "signalled_new.cc", "-O1",
                                 "-pthread", cc="g++"), *arguments])
    h.wait_until(lambda: len(os.listdir("/proc/%d/task" % target.pid)) == 2,
                 "its threads")
    code = h.code_differences(target.pid)
    for _ in range(ROUNDS):
        tracer = case.start([h.CALLTRAP, *options, "--engine=agent", "-o",
                             case.path("out"), "-p", str(target.pid)])
        h.wait_until(lambda: is_there(target, tracer) or
                     tracer.popen.poll() is not None, "the agent")
        os.kill(tracer.popen.pid, signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        h.check_equal(h.code_differences(target.pid), code, "its code")
    target.say("\n")
    h.check_equal(target.wait(), 0, "the target's status")
    h.check("right" in target.out, target.out)


@h.test("calltrap's first process killed while calls are under way")
def killed(case):
    target = Target(case)
    for _ in range(ROUNDS):
        tracer = attach(case, target)
        worker = h.tracer_of(target.process.pid)
        h.check(worker, "nobody traces the target")
        tracer.popen.kill()
        tracer.wait()
        target.get_on()
        h.wait_until(lambda: h.tracer_of(target.process.pid) != worker,
                     "the end of its second process")


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
