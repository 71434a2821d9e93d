#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What traces is killed while it is attached: the guardian restores the code, and
puts back those that stand at a trap. None may go on with wrong results; how
many live is printed, and most have to where calls are rare; all, where the agent
waits for what a trap was."""

import os
import random
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

ROUNDS = int(os.environ.get("ROUNDS") or 12)


def has_net(pid):
    """The agent handles what would kill it at a trap that nobody serves."""
    with open("/proc/%d/maps" % pid) as maps:
        inside = "calltrap-agent" in maps.read()
    return inside and handles_traps(pid)


def kill_at_once(tracer, target):
    os.kill(tracer.pid, signal.SIGKILL)


def state(pid):
    return h.status_field(pid, "State")[0]


def freeze_between_calls(worker, pid):
    """Whether it stands, and has fetched no stop that it doesn't serve."""
    if state(pid) != "S":
        return False
    os.kill(worker, signal.SIGSTOP)
    h.wait_until(lambda: state(worker) == "T", "who traces stands")
    if state(pid) == "S":
        return True
    os.kill(worker, signal.SIGCONT)
    return False


def kill_frozen(tracer, target):
    """The target hits a trap, and nobody ever fetches that."""
    worker = h.tracer_of(target.pid)
    h.wait_until(lambda: freeze_between_calls(worker, target.pid), "a sleep")
    h.wait_until(lambda: state(target.pid) == "t", "a stop")
    os.kill(worker, signal.SIGKILL)


def handles_traps(pid):
    return int(h.status_field(pid, "SigCgt", "0"), 16) >> signal.SIGTRAP - 1 & 1


def kill_untended(tracer, target):
    """None of its functions is the agent's, of which nothing but the handler is there."""
    h.wait_until(lambda: handles_traps(target.pid), "the handler")
    kill_frozen(tracer, target)


def kill_after_own(tracer, target):
    """Some of its own int3s have gone by meanwhile."""
    time.sleep(0.3)
    kill_frozen(tracer, target)


def any_blocks(pid):
    return any(int(h.status_field(int(tid), "SigBlk", "0"), 16)
               >> signal.SIGTRAP - 1 & 1 for tid in os.listdir("/proc/%d/task" % pid))


def kill_mended(tracer, target):
    """Each thread has blocked SIGTRAP at a trap, and taken the handler away."""
    h.wait_until(lambda: not any_blocks(target.pid), "a trap that each thread has hit")
    h.wait_until(lambda: has_net(target.pid), "the handler, once more")
    kill_frozen(tracer, target)


def one_target(case, calls, kill, moments, *options):
    target = case.start([h.build("killed", "killed.c", "-O1", "-fno-builtin",
                                 "-pthread"), *map(str, calls)])
    h.wait_until(lambda: "ready" in target.out, "the target")
    tracer = case.start_calltrap("-L", "-x", "ident", *options, "-p",
                                 str(target.pid))
    h.wait_until(lambda: h.tracer_of(target.pid) or
                 tracer.popen.poll() is not None, "the attach")
    if kill in (kill_frozen, kill_after_own):
        h.wait_until(lambda: has_net(target.pid), "the agent")
    time.sleep(random.uniform(*moments))
    kill(tracer, target)
    tracer.wait()
    h.wait_until(lambda: not h.tracer_of(target.pid) or
                 target.popen.poll() is not None, "the end of the tracing")
    time.sleep(0.1)
    if target.popen.poll() is None:
        target.say("over\n")
    return target


def one_round(case, calls, kill, moments, *options):
    """The target's status: 7 = right results, -SIGTRAP = it died."""
    return one_target(case, calls, kill, moments, *options).wait()


def register(calls, at_least, words, *options, kill=kill_at_once,
             moments=(0.05, 0.2)):
    @h.test("killed: a target with " + words)
    def run(case):
        statuses = [one_round(case, calls, kill, moments, *options) for _ in range(ROUNDS)]
        lived = statuses.count(7)
        print("# %d of %d lived: %s" % (lived, ROUNDS, words))
        h.check(set(statuses) <= {7, -signal.SIGTRAP},
                "statuses %r: wrong results, or another death" % statuses)
        h.check(lived >= at_least, "only %d of %d lived" % (lived, ROUNDS))


def stop(worker):
    os.kill(worker, signal.SIGSTOP)
    h.wait_until(lambda: state(worker) == "T", "who traces stands")


def in_a_newborn(target, worker):
    """It has a copy of the traps, and nobody has looked at it."""
    stop(worker)
    target.say("go on\n")
    h.wait_until(lambda: h.children_of(target.pid), "a child")


def kill_at_trap_of_sharer(tracer, target):
    """Who runs in its memory has handlers of its own."""
    sharer = int(re.search(r"child (\d+)", target.out).group(1))
    h.wait_until(lambda: has_net(sharer), "the sharer's handler")
    worker = h.tracer_of(target.pid)
    h.wait_until(lambda: freeze_between_calls(worker, sharer), "a sleep")
    h.wait_until(lambda: state(sharer) == "t", "a stop")
    os.kill(worker, signal.SIGKILL)


def register_child(words, *options):
    @h.test("killed: a child " + words)
    def run(case):
        for _ in range(3):
            target = case.start([h.build("killed_child", "killed_child.c", "-O1")])
            h.wait_until(lambda: "ready" in target.out, "the target")
            tracer = case.start_calltrap("-c", "-L", "-x", "ident", "--engine=agent",
                                         *options, "-p", str(target.pid))
            h.wait_until(lambda: has_net(target.pid), "the agent")
            worker = h.tracer_of(target.pid)
            target.say("over\n")
            h.wait_until(lambda: "quiet" in target.out, "a line")
            in_a_newborn(target, worker)
            os.kill(worker, signal.SIGKILL)
            tracer.wait()
            h.check_equal(target.wait(), 7, "status")


def who_lends_its_memory(case):
    """Its children come to its traps first. The agent is its own all the same."""
    for engine in "agent", "auto":
        target = case.start([h.build("lender", "lender.c", "-O1", "-fno-builtin")])
        h.wait_until(lambda: "ready" in target.out, "the target")
        tracer = case.start_calltrap("-f", "-L", "-x", "labs",
                                     "--engine=" + engine, "-p", str(target.pid))
        h.wait_until(lambda: has_net(target.pid), "the agent, " + engine)
        os.kill(h.tracer_of(target.pid), signal.SIGKILL)
        tracer.wait()
        time.sleep(0.1)
        target.say("q\n")
        h.check_equal(target.wait(), 7, "status")


def who_runs_another_program(case):
    """Its traps are there before its first call, and who handles them before these."""
    for engine in "agent", "auto":
        program = h.build("late_call", "late_call.c", "-O1")
        target = case.start(["/bin/sh", "-c", 'read line; "$0"; echo "status $?"',
                             program])
        tracer = case.start_calltrap("-f", "-L", "-x", "ident", "--engine=" + engine,
                                     "-p", str(target.pid))
        h.wait_until(lambda: h.tracer_of(target.pid), "the attach")
        target.say("go on\n")
        h.wait_until(lambda: "begun" in target.out, "its program")
        child, = h.children_of(target.pid)
        h.wait_until(lambda: state(child) == "S", "a wait")
        worker = h.tracer_of(child)
        stop(worker)
        target.say("x")
        h.wait_until(lambda: state(child) == "t", "a trap")
        os.kill(worker, signal.SIGKILL)
        tracer.wait()
        h.wait_until(lambda: "status" in target.out, "its end")
        h.check_equal(target.out, "begun\nstatus 7\n", "the target, " + engine)


def who_makes_a_child(case):
    """That is traced by the guardian, then, and its parent waits for it."""
    for _ in range(ROUNDS):
        target = case.start([h.build("slow_maker", "slow_maker.c", "-O1")])
        h.wait_until(lambda: "ready" in target.out, "the target")
        tracer = case.start_calltrap("-L", "-x", "ident", "--engine=agent", "-p",
                                     str(target.pid))
        h.wait_until(lambda: has_net(target.pid), "the agent")
        time.sleep(random.uniform(0, 0.05))
        os.kill(h.tracer_of(target.pid), signal.SIGKILL)
        tracer.wait()
        target.say("over\n")
        h.check_equal((target.wait(), target.out), (7, "ready\n"), "the target")


@h.test("killed: waits that no signal restarts go on")
def waits(case):
    for _ in range(3):
        target = case.start([h.build("doze", "doze.c", "-O1")])
        h.wait_until(lambda: "ready" in target.out, "the target")
        tracer = case.start_calltrap("-c", "-L", "-x", "ident", "--engine=trap",
                                     "-p", str(target.pid))
        h.wait_until(lambda: h.code_differences(target.pid), "a trap")
        worker = h.tracer_of(target.pid)
        # From the trap it goes to its wait: the guardian stops who ran last.
        target.say("call\n")
        h.wait_until(lambda: "called" in target.out, "a call")
        h.wait_until(lambda: state(target.pid) == "S", "the wait")
        os.kill(worker, signal.SIGKILL)
        tracer.wait()
        time.sleep(0.2)
        target.say("over\n")
        h.check_equal((target.wait(), target.out),
                      (7, "ready\ncalled\nover\ndisturbed 0\n"), "the target")


@h.test("killed: what other threads wait for goes on")
def others_wait(case):
    """Where one of a process is stopped, all of its threads are."""
    for _ in range(3):
        target = case.start([h.build("crowd", "crowd.c", "-O1", "-lpthread")])
        h.wait_until(lambda: "ready" in target.out, "the target")
        # What none of them calls: those that run might have, and are stopped.
        tracer = case.start_calltrap("-L", "-x", "puts", "--engine=trap",
                                     "-p", str(target.pid))
        h.wait_until(lambda: h.code_differences(target.pid), "a trap")
        os.kill(h.tracer_of(target.pid), signal.SIGKILL)
        tracer.wait()
        time.sleep(0.2)
        target.say("q")
        h.check_equal((target.wait(), target.out),
                      (7, "ready\nwrong 0\ndisturbed 0\n"), "the target")


def longest_own(case):
    """In ms: the longest time that an int3 of the target's own took."""
    target = one_target(case, [20000, 1, "own"], kill_frozen, (0, 0.1), "-c",
                        "--engine=agent")
    h.check_equal(target.wait(), 7, "status")
    return int(re.search(r"longest (\d+)", target.out).group(1))


if h.X86:
    h.test("killed: the agent gets into whose vfork children call first")(
        who_lends_its_memory)
    h.test("killed: who is making a child, and waits for it")(who_makes_a_child)
    h.test("killed: a program that was just begun, at its first trap")(
        who_runs_another_program)

    @h.test("killed: the program's own int3 waits for nobody when the guardian is done")
    def own_int3s_wait_for_nobody(case):
        took = []
        # Each took two seconds.
        while len(took) < ROUNDS and min(took, default=9999) >= 1900:
            took.append(longest_own(case))
        h.check(min(took) < 1900, "milliseconds: %r" % took)


register([10000], ROUNDS // 2, "a call every 10 ms")
register([10000], ROUNDS // 2, "a call every 10 ms, and -S", "-S")
register([0], 0, "nothing but calls")
# Its first instructions are too few for a jump: each call hits the trap.
if h.X86:
    register([20000], ROUNDS, "a trap that nobody serves, and an agent", "-c",
             "--engine=agent", kill=kill_frozen)
    # Those that report crashes do, and the runtime of Go.
    register([20000, 1, "report"], ROUNDS, "a handler of its own for SIGTRAP", "-c",
             "--engine=agent", kill=kill_frozen)
    # As SBCL, whose handler takes each int3 for one of its own.
    register([20000, 1, "own"], ROUNDS, "an int3 of its own after each call", "-c",
             "--engine=agent", kill=kill_after_own)
    # As in haproxy, and wherever one thread waits for all signals.
    register([20000, 4, "block"], ROUNDS, "threads that block SIGTRAP", "-c",
             "--engine=agent", kill=kill_mended)
    # It is there before the agent: what children inherit it doesn't have.
    register([20000, 1, "share"], ROUNDS, "a process that runs in its memory", "-c",
             "--engine=agent", kill=kill_at_trap_of_sharer)
    register_child("that nobody has looked at")
    register_child("that nobody has looked at, -f", "-f")
    # All by traps, as ident() is by auto.
    register([20000], ROUNDS, "a trap that nobody serves, and no agent",
             "--engine=auto", kill=kill_untended)
    # As soon as it is attached: no trap stands before somebody handles it.
    for engine in "agent", "auto":
        register([0, 8], ROUNDS, "8 threads, killed at once, by " + engine,
                 "--engine=" + engine, "-x", "labs", moments=(0, 0.06))


if __name__ == "__main__":
    sys.exit(h.main())
