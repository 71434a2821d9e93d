#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent gets in before there are traps, by a thread that is interrupted between
two instructions of its program: nothing of that thread is changed, no other one is
woken, and where no thread can be had traps come first."""

import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

TARGETS = int(os.environ.get("TARGETS", "5"))
# The first finds nothing there, those that follow the agent.
ATTACHES = int(os.environ.get("ATTACHES", "4"))
SENT = "is sent from"


def has_run(pid, where):
    """Who has run for a while is known by what it has done."""
    fields = h.read("/proc/%d/task/%d/stat" % (pid, pid)).rpartition(")")[2].split()
    user, system = int(fields[11]), int(fields[12])
    return user + system >= 10 if where != "plain" else user >= 20 * max(1, system)


def start(case, where):
    target = case.start([h.build("between", "between.c", "-O1", "-pthread"),
                         where])
    h.wait_until(lambda: "ready" in target.out, "the target")
    h.wait_until(lambda: has_run(target.pid, where), "some time of a processor")
    return target


def attach(case, target, *options):
    """What it says of the way in. It ends when some calls were seen."""
    tracer = case.start_calltrap("--debug=trap", "-L", "-x", "malloc", *options,
                                 "-p", str(target.pid))
    h.wait_until(lambda: h.read(tracer.log_path).count("malloc") > 3 or
                 tracer.popen.poll() is not None or
                 target.popen.poll() is not None, "calls")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap: " + tracer.err[-2000:])
    return tracer.err


def finish(target):
    target.say("over\n")
    h.check_equal(target.wait(), 7, "status of the target: " + target.out)


def register(where, words, engine):
    @h.test("between two instructions: " + words + ", " + engine)
    def run(case):
        sent = 0
        for _ in range(TARGETS):
            target = start(case, where)
            for _ in range(ATTACHES):
                said = attach(case, target, "--engine=" + engine)
                sent += SENT in said
            finish(target)
        print("# %d of %d by a thread that was interrupted" %
              (sent, TARGETS * ATTACHES))
        h.check(sent > TARGETS * ATTACHES / 2,
                "only %d of %d" % (sent, TARGETS * ATTACHES))


if h.X86:
    for engine in "agent", "auto":
        register("plain", "registers, flags and what lies below the stack", engine)
    # Nothing is written there, nor to what is others' behind the stack's end.
    register("handler", "where a handler's stack has little room", "agent")
    register("coroutine", "where a coroutine's has", "agent")
    register("pool", "where it is one of many in a mapping", "agent")
    register("edge", "at the end of what the first thread is allowed", "agent")


def register_refused(where, words):
    @h.test("between two instructions: not " + words)
    def run(case):
        for _ in range(TARGETS):
            target = start(case, where)
            said = attach(case, target, "--engine=agent")
            h.check(SENT not in said, "a thread was sent: " + said)
            finish(target)


if h.X86:
    register_refused("signals", "where handlers come all the time")
    # Which can be seen since Linux 6.4.
    if [int(n) for n in os.uname().release.split(".")[:2]] >= [6, 4]:
        register_refused("dispatched", "where its system calls are dispatched")


@h.test("between two instructions: system calls aren't cut short")
def calls(case):
    h.need_x86("the agent")
    for _ in range(TARGETS):
        target = start(case, "calls")
        for _ in range(ATTACHES):
            attach(case, target, "--engine=agent")
        finish(target)


# As the last stop of all may cut one short, which is for leaving, and few others.
STOPS = 3


def register_writers(where, words, engine):
    @h.test("who writes more than a pipe holds isn't interrupted%s, by %s" %
            (words, engine))
    def run(case):
        target = start(case, where)
        for _ in range(6):
            tracer = case.start_calltrap("--debug=trap", "-L", "-x", "malloc",
                                         "--engine=" + engine, "-p",
                                         str(target.pid))
            h.wait_until(lambda: h.read(tracer.log_path).count("malloc") > 30,
                         "calls")
            tracer.popen.send_signal(signal.SIGINT)
            h.check_equal(tracer.wait(), 0, "status: " + tracer.err[-2000:])
            h.check(SENT not in tracer.err, "it was sent: " + tracer.err)
        target.say("over\n")
        target.wait()
        rounds, wrong = map(int, re.search(r"rounds (\d+) wrong (\d+)",
                                           target.out).groups())
        print("# %d of %d writes were cut short" % (wrong, rounds))
        h.check(rounds > 180 and wrong <= 6 * STOPS,
                "%d of %d writes were cut short" % (wrong, rounds))


if h.X86:
    for engine in "agent", "auto":
        register_writers("pipe", "", engine)
        register_writers("big", " on a stack of another kind", engine)


@h.test("handlers that jump keep nobody out")
def jumps(case):
    h.need_x86("the agent")
    for _ in range(TARGETS):
        target = start(case, "jumps")
        tracer = case.start_calltrap("--debug=trap", "-L", "-x", "malloc",
                                     "--engine=agent", "-p", str(target.pid))
        h.wait_until(lambda: "agent: in process" in tracer.err, "the agent")
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status: " + tracer.err[-2000:])
        h.check(SENT not in tracer.err, "a thread was sent: " + tracer.err)
        finish(target)


def register_said(where, said, words):
    """On a busy machine few targets may come to that: so some more are asked."""
    @h.test(words)
    def run(case):
        seen = targets = 0
        while targets < TARGETS or (not seen and targets < 4 * TARGETS):
            target = start(case, where)
            seen += said in attach(case, target, "--engine=agent")
            finish(target)
            targets += 1
        print("# %d of %d: %s" % (seen, targets, said))
        h.check(seen, "none of %d: %s" % (targets, said))


if h.X86:
    register_said("late", "isn't on its way any more",
                  "who jumps away once it was sent isn't waited for")
    register_said("newcomer", SENT,
                  "a thread that has only begun doesn't keep the agent out")


# A file that is cut stays so; one that is closed is missed for a moment.
CUT = 1000


# A moment is left, in which nobody can keep it from that.
@h.test("who closes all that it doesn't know keeps its own files as they are")
def closer(case):
    h.need_x86("the agent")
    wrong = []
    for _ in range(4 * TARGETS):
        target = start(case, "closer")
        attach(case, target, "--engine=agent")
        target.say("over\n")
        h.check(target.wait() in (7, 9), "it ended: " + target.out)
        wrong.append(int(re.search(r"wrong (\d+)", target.out)[1]))
    cut, harmed = sum(n >= CUT for n in wrong), sum(n > 0 for n in wrong)
    print("# of %d, %d had files cut, %d closed" % (len(wrong), cut, harmed - cut))
    h.check(cut <= len(wrong) // 10, "files were cut: %r" % wrong)


@h.test("where calltrap has no processor for a while the agent comes first, too")
def absent(case):
    h.need_x86("the agent")
    sent = 0
    for _ in range(TARGETS):
        target = start(case, "plain")
        tracer = case.start_calltrap("--debug=trap", "-L", "-x", "malloc",
                                     "--engine=auto", "-p", str(target.pid))
        h.wait_until(lambda: h.tracer_of(target.pid), "calltrap")
        worker = h.tracer_of(target.pid)
        while not re.search("agent: in process|traps come first", tracer.err):
            os.kill(worker, signal.SIGSTOP)
            time.sleep(0.06)
            os.kill(worker, signal.SIGCONT)
            time.sleep(0.01)
        sent += "traps come first" not in tracer.err
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status: " + tracer.err[-2000:])
        finish(target)
    print("# %d of %d came first" % (sent, TARGETS))
    h.check(sent > TARGETS / 2, "only %d of %d" % (sent, TARGETS))


@h.test("the agent is in before the first trap stands")
def order(case):
    h.need_x86("the agent")
    for engine in "agent", "auto":
        target = start(case, "plain")
        said = attach(case, target, "--engine=" + engine)
        finish(target)
        # The dynamic linker's own is there from the first, and rarely hit.
        planted = [at.start() for at in re.finditer(r" planted: 0$", said, re.M)]
        inside = said.find("agent: in process")
        h.check(inside >= 0, "no agent: " + said)
        h.check(sum(at < inside for at in planted) <= 1, "traps came first: " + said)


if __name__ == "__main__":
    sys.exit(h.main())
