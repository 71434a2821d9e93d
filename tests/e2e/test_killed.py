#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What traces is killed while it is attached: the guardian restores the code, and
puts back those that stand at a trap. None may go on with wrong results; how
many live is printed, and most have to where calls are rare."""

import os
import random
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

ROUNDS = int(os.environ.get("ROUNDS") or 12)


def has_net(pid):
    """The agent handles what would kill it at a trap that nobody serves."""
    return int(h.status_field(pid, "SigCgt"), 16) >> signal.SIGTRAP - 1 & 1


def one_round(case, pause, *options):
    """The target's status: 7 = right results, -SIGTRAP = it died."""
    target = case.start([h.build("killed", "killed.c", "-O1"), str(pause)])
    h.wait_until(lambda: "ready" in target.out, "the target")
    tracer = case.start_calltrap("-L", "-x", "ident", *options, "-p",
                                 str(target.pid))
    h.wait_until(lambda: h.tracer_of(target.pid) or
                 tracer.popen.poll() is not None, "the attach")
    if "--engine=agent" in options:
        h.wait_until(lambda: has_net(target.pid), "the agent")
    time.sleep(random.uniform(0.05, 0.2))
    os.kill(tracer.pid, signal.SIGKILL)
    tracer.wait()
    h.wait_until(lambda: not h.tracer_of(target.pid) or
                 target.popen.poll() is not None, "the end of the tracing")
    time.sleep(0.1)
    if target.popen.poll() is None:
        target.say("over\n")
    return target.wait()


def register(pause, at_least, words, *options):
    @h.test("killed: a target with " + words)
    def run(case):
        statuses = [one_round(case, pause, *options) for _ in range(ROUNDS)]
        lived = statuses.count(7)
        print("# %d of %d lived: %s" % (lived, ROUNDS, words))
        h.check(set(statuses) <= {7, -signal.SIGTRAP},
                "statuses %r: wrong results, or another death" % statuses)
        h.check(lived >= at_least, "only %d of %d lived" % (lived, ROUNDS))


register(10000, ROUNDS // 2, "a call every 10 ms")
register(10000, ROUNDS // 2, "a call every 10 ms, and -S", "-S")
register(0, 0, "nothing but calls")
# Its first instructions are too few for a jump: each call hits the trap. On a busy
# machine the guardian kills one that it can't seize; what the agent does is shown by
# tests/unit/test_agent.c.
if h.X86:
    register(0, ROUNDS * 2 // 3, "nothing but calls, and an agent", "-c",
             "--engine=agent")


if __name__ == "__main__":
    sys.exit(h.main())
