#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Leaving targets that don't stop when they are asked to, and ends of calltrap
that it didn't plan. ROUNDS says how often each is tried."""

import os
import random
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import harness as h

ROUNDS = int(os.environ.get("ROUNDS") or 2)
CALLS = ["-L", "-x", "malloc+free"]
HEAP = ["heap"]
HOLDS_ON = 3


def churn(case, threads=4):
    target = case.start([h.build("churn", "churn.c", "-O1", "-pthread"),
                         str(threads)], stdin=subprocess.PIPE)
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def tracers_of(pid):
    """Of all its threads."""
    return {h.tracer_of(int(tid)) for tid in os.listdir("/proc/%d/task" % pid)}


# Seconds for which calls are traced: the agent has got in by then, or is about to.
AFTER_A_WHILE = 0.05, 0.2
ON_THE_WAY_IN = 0, 0.02


def attach(case, target, options, delay=AFTER_A_WHILE):
    """Returns when all traps are planted and run into; or as the first one stands, the
    dynamic linker's, while the agent gets in."""
    log = case.path("log.%d" % case.number())
    tracer = case.start([h.CALLTRAP] + options +
                        ["-o", log, "-p", str(target.pid)])
    stand = h.traps_in if delay == ON_THE_WAY_IN else h.are_planted
    h.wait_until(lambda: stand(target.pid) or
                 tracer.popen.poll() is not None, "traps")
    tracer.pid, tracer.log_path = h.worker_of(tracer.popen), log
    time.sleep(random.uniform(*delay))
    return tracer


def goes_on(target):
    """It isn't traced by anybody, is as its files say, and right."""
    h.wait_until(lambda: target.popen.poll() is not None or
                 tracers_of(target.pid) == {0}, "the end of the tracing")
    h.check_equal(target.popen.poll(), None, "the target's end")
    h.wait_until(lambda: not h.code_differences(target.pid), "clean code")
    target.say("over\n")
    h.check_equal(target.wait(), 7, "status of the target")


# ---------------------------------------------------------------- frozen

def frozen_round(case, group, options, delay=AFTER_A_WHILE):
    target = churn(case)
    group.take(target.pid)
    tracer = attach(case, target, options, delay)
    group.freeze()
    time.sleep(random.uniform(0, 0.05))
    tracer.popen.send_signal(signal.SIGTERM)
    status = tracer.wait()
    h.check(status in (0, HOLDS_ON), "status %d: %s" % (status, tracer.err))
    h.check_equal("it is frozen" in tracer.err, status == HOLDS_ON,
                  "a word of it, with status %d: %s" % (status, tracer.err))
    time.sleep(random.uniform(0, 0.1))
    group.freeze(False)
    goes_on(target)
    h.wait_until(lambda: not os.path.exists("/proc/%d" % tracer.pid),
                 "the end of calltrap's second process")
    return status


def register_frozen(version, options):
    @h.test("frozen by cgroup v%d when it is left: %s" %
            (version, options[0].lstrip("-")))
    def run(case):
        with h.Freezer(version) as group:
            held = [frozen_round(case, group, options)
                    for _ in range(ROUNDS)].count(HOLDS_ON)
        print("# %d rounds, 0 deaths; held on to in %d" % (ROUNDS, held))
        h.check(held or version == 2, "it was never held on to")


def register_frozen_early(version):
    @h.test("frozen by cgroup v%d, and left, while the agent gets in" % version)
    def run(case):
        with h.Freezer(version) as group:
            for _ in range(max(1, ROUNDS // 2)):
                frozen_round(case, group, CALLS, ON_THE_WAY_IN)
                frozen_round(case, group, HEAP, ON_THE_WAY_IN)


for each_version in (1, 2):
    register_frozen(each_version, CALLS)
    register_frozen(each_version, HEAP)
    register_frozen_early(each_version)


@h.test("frozen when it is attached to and left")
def frozen_before(case):
    with h.Freezer(1) as group:
        target = churn(case)
        group.take(target.pid)
        group.freeze()
        tracer = case.start_calltrap(*CALLS, "-p", str(target.pid))
        h.wait_until(lambda: "frozen" in tracer.err or
                     tracer.popen.poll() is not None, "a word of it")
        h.wait_until(lambda: h.traps_in(target.pid), "traps")
        tracer.popen.send_signal(signal.SIGTERM)
        h.check_equal(tracer.wait(), HOLDS_ON, "status: " + tracer.err)
        h.check(not h.traps_in(target.pid), "code isn't restored")
        group.freeze(False)
        goes_on(target)


@h.test("frozen when it is attached to, and left before all traps are there")
def frozen_before_the_traps(case):
    with h.Freezer(1) as group:
        for _ in range(ROUNDS):
            target = churn(case)
            group.take(target.pid)
            group.freeze()
            tracer = case.start_calltrap("-L", "-c", "-x", "*@libc.so*", "-p",
                                         str(target.pid))
            h.wait_until(lambda: "is frozen" in tracer.err or
                         tracer.popen.poll() is not None, "a word of it")
            tracer.popen.send_signal(signal.SIGTERM)
            h.check_equal(tracer.wait(), HOLDS_ON, "status: " + tracer.err)
            group.freeze(False)
            goes_on(target)


@h.test("calltrap's second process is killed while it holds on")
def frozen_and_killed(case):
    with h.Freezer(1) as group:
        target = churn(case)
        group.take(target.pid)
        tracer = attach(case, target, CALLS)
        group.freeze()
        time.sleep(0.05)
        tracer.popen.send_signal(signal.SIGTERM)
        h.check_equal(tracer.wait(), HOLDS_ON, "status: " + tracer.err)
        os.kill(tracer.pid, signal.SIGKILL)
        h.wait_until(lambda: tracers_of(target.pid) - {0, tracer.pid},
                     "the guardian to take over")
        time.sleep(0.2)
        group.freeze(False)
        h.wait_until(lambda: target.popen.poll() is not None or
                     tracers_of(target.pid) == {0}, "its end")
        target.say("over\n")
        h.check_equal(target.wait(), 7, "status of the target")


# ---------------------------------------------------------------- starved

def starved_round(case, processor):
    target = churn(case)
    loop = case.start([sys.executable, "-c", "while True: pass"])
    os.sched_setaffinity(loop.pid, {processor})
    tracer = attach(case, target, CALLS)
    for tid in os.listdir("/proc/%d/task" % target.pid):
        os.sched_setaffinity(int(tid), {processor})
        os.sched_setscheduler(int(tid), os.SCHED_IDLE, os.sched_param(0))
    time.sleep(random.uniform(0, 0.1))
    tracer.popen.send_signal(signal.SIGTERM)
    status = tracer.wait()
    h.check(status in (0, HOLDS_ON), "status %d: %s" % (status, tracer.err))
    # It gets a little at times, and has to stop by itself.
    time.sleep(random.uniform(0, 0.2))
    loop.popen.kill()
    goes_on(target)
    return status


@h.test("threads that get no processor when they are left")
def starved(case):
    processor = random.choice(sorted(os.sched_getaffinity(0)))
    held = [starved_round(case, processor)
            for _ in range(ROUNDS)].count(HOLDS_ON)
    print("# %d rounds, 0 deaths; held on to in %d" % (ROUNDS, held))


# ---------------------------------------------------------------- killed

@h.test("calltrap is killed while the target does nothing but traced calls")
def front_killed(case):
    for _ in range(ROUNDS):
        target = churn(case)
        tracer = attach(case, target, CALLS)
        tracer.popen.kill()
        h.check_equal(tracer.wait(), -signal.SIGKILL, "status")
        goes_on(target)
    print("# %d rounds, 0 deaths" % ROUNDS)


@h.test("everything that is called calltrap is killed")
def all_killed(case):
    for _ in range(ROUNDS):
        target = churn(case)
        tracer = attach(case, target, CALLS)
        mine = [tracer.popen.pid] + h.children_of(tracer.popen.pid)
        guards = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and
                  h.read("/proc/%s/comm" % pid).strip() == "ctrap-guardian"]
        h.check(guards, "no guardian")
        for guard in guards:
            h.check("calltrap" not in h.read("/proc/%d/cmdline" % guard),
                    "the guardian's command line is calltrap's")
        for pid in mine:
            if "calltrap" in h.read("/proc/%d/comm" % pid):
                os.kill(pid, signal.SIGKILL)
        tracer.wait()
        goes_on(target)


@h.test("calltrap is killed while the target is stopped: it stays so")
def killed_while_stopped(case):
    for which in ("first", "second"):
        target = churn(case)
        tracer = attach(case, target, CALLS)
        os.kill(target.pid, signal.SIGSTOP)
        h.wait_until(lambda: all(
            "stop" in h.status_field(int(tid), "State", "")
            for tid in os.listdir("/proc/%d/task" % target.pid)), "the stop")
        time.sleep(0.3)
        os.kill(tracer.popen.pid if which == "first" else tracer.pid,
                signal.SIGKILL)
        tracer.wait()
        h.wait_until(lambda: not h.tracer_of(target.pid), "the end")
        time.sleep(0.5)
        h.check_equal(h.status_field(target.pid, "State")[:1], "T",
                      "its state; %s process killed" % which)
        os.kill(target.pid, signal.SIGCONT)
        time.sleep(0.1)
        target.say("over\n")
        h.check_equal(target.wait(), 7, "status of the target")


# ---------------------------------------------------------------- stopped

@h.test("calltrap is stopped: after a second the target goes on without it")
def stopped(case):
    for _ in range(ROUNDS):
        target = churn(case)
        tracer = attach(case, target, CALLS)
        for pid in (tracer.popen.pid, tracer.pid):
            os.kill(pid, signal.SIGSTOP)
        h.wait_until(lambda: not h.tracer_of(target.pid), "the end of tracing")
        os.kill(tracer.popen.pid, signal.SIGCONT)
        h.check_equal(tracer.wait(), 0, "status: " + tracer.err)
        h.check("was stopped" in tracer.err, "calltrap said: " + tracer.err)
        goes_on(target)


@h.test("heap: calltrap is stopped: its report blames no other tool")
def stopped_heap(case):
    for engine in ("trap", "agent"):
        target = churn(case)
        tracer = attach(case, target, HEAP + ["--engine=" + engine])
        for pid in (tracer.popen.pid, tracer.pid):
            os.kill(pid, signal.SIGSTOP)
        h.wait_until(lambda: not h.tracer_of(target.pid), "the end of tracing")
        os.kill(tracer.popen.pid, signal.SIGCONT)
        h.check_equal(tracer.wait(), 0, "status: " + tracer.err)
        report = h.read(tracer.log_path)
        h.check("another tool" not in report and "uprobes" not in report,
                "who took the traps: " + report)
        h.check_match(r"(?m)^calls lost: [\d,]+, and those that went by unseen.*\n"
                      r"calls went by unseen for up to \d", report,
                      "what was lost, by " + engine)
        goes_on(target)


@h.test("the process that was started is stopped: nobody notices")
def front_stopped(case):
    target = churn(case)
    tracer = attach(case, target, CALLS)
    os.kill(tracer.popen.pid, signal.SIGSTOP)
    time.sleep(1.5)
    h.check(h.traps_in(target.pid), "traps are gone")
    os.kill(tracer.popen.pid, signal.SIGCONT)
    tracer.popen.send_signal(signal.SIGTERM)
    h.check_equal(tracer.wait(), 0, "status: " + tracer.err)
    h.check("was stopped" not in tracer.err, "calltrap said: " + tracer.err)
    goes_on(target)


@h.test("calltrap is frozen: no further thread runs into a trap")
def frozen_itself(case):
    with h.Freezer(1) as group:
        target = churn(case)
        tracer = attach(case, target, CALLS)
        group.take(tracer.pid)
        group.freeze()
        h.wait_until(lambda: not h.traps_in(target.pid), "the traps to be lifted")
        group.freeze(False)
        h.check_equal(tracer.wait(), 0, "status: " + tracer.err)
        h.check("was stopped" in tracer.err, "calltrap said: " + tracer.err)
        goes_on(target)


if __name__ == "__main__":
    sys.exit(h.main())
