#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""calltrap has no memory left while it is attached, or crashes: it gives up, and
its targets go on as if it had never been there."""

import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

ROUNDS = 10


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


def start_tracer(case, target, env, options):
    hungry = h.build("hungry.so", "hungry.c", "-shared", "-fPIC", "-O1")
    tracer = case.start_calltrap(*options, "-p", str(target.pid),
                                 env=dict(env, LD_PRELOAD=hungry))
    h.wait_until(lambda: h.read(tracer.log_path) or
                 tracer.popen.poll() is not None, "the first calls")
    return tracer


def go_on_without(tracer, target):
    """calltrap ends by itself; the target doesn't notice."""
    status = tracer.wait()
    h.wait_until(lambda: not h.tracer_of(target.pid) or
                 target.popen.poll() is not None, "the end of the tracing")
    h.check_equal(target.popen.poll(), None, "end of the target")
    check_code(target.pid)
    time.sleep(0.05)
    target.say("over\n")
    h.check_equal((target.wait(), target.out),
                  (7, "ready\nwrong 0\ndisturbed 0\n"),
                  "status and results of the target, calltrap's was %d" %
                  status)
    return status


def start_target(case):
    if h.has_sanitizer():
        raise h.Skip("the sanitizer has its own malloc, and sees crashes first")
    target = case.start([h.build("crowd", "crowd.c", "-O1", "-lpthread")])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def one_round(case, number, env, options, wanted, words):
    trigger = case.path("trigger.%d" % number)
    target = start_target(case)
    tracer = start_tracer(case, target, dict(env, HUNGRY=trigger), options)
    time.sleep(0.02 * number)
    case.write(os.path.basename(trigger), "")
    h.check_equal(go_on_without(tracer, target), -wanted,
                  "status of calltrap; " + tracer.err)
    h.check("calltrap: internal error: " + words in tracer.err,
            "calltrap said: " + tracer.err)


def register(options, words):
    @h.test("out of memory with 8 busy threads, and some that come and go; " +
            words, users=True)
    def run(case):
        for number in range(ROUNDS):
            one_round(case, number, {}, options, signal.SIGABRT,
                      "out of memory")


register(["-L", "-x", "ident"], "calls are traced")
register(["-S", "-L", "-x", "ident"], "system calls, too")


def register_crash(way, wanted):
    @h.test("a crash with busy threads: " + way, users=way == "overflow")
    def run(case):
        for number in range(ROUNDS // 2):
            one_round(case, number, {"HUNGRY_WAY": way},
                      ["-L", "-x", "ident"], wanted, "a crash")


for each_way, each_signal in (
        ("wild pointer", signal.SIGSEGV), ("division", signal.SIGFPE),
        ("overflow", signal.SIGSEGV), ("abort", signal.SIGABRT)):
    register_crash(each_way, each_signal)


FAMILY = """family ident counts bytes
acquire ident(size) = handle
"""


def beside_round(case, number, way, wanted, words):
    """One of calltrap's other threads, which writes the recording."""
    target = start_target(case)
    trigger = case.path("trigger.%d" % number)
    hungry = h.build("hungry.so", "hungry.c", "-shared", "-fPIC", "-O1")
    recording = case.path("recording.%d" % number)
    env = {"LD_PRELOAD": hungry, "HUNGRY": trigger, "HUNGRY_BESIDE": "1"}
    tracer = case.start(
        [h.CALLTRAP, "record", "--engine=trap", "-o", recording, "--family",
         case.write("ident.conf", FAMILY), "-p", str(target.pid)],
        env=dict(env, HUNGRY_WAY=way) if way else env)
    h.wait_until(lambda: os.path.exists(recording) and
                 os.path.getsize(recording) > 10000, "the first calls")
    case.write(os.path.basename(trigger), "")
    h.check_equal(go_on_without(tracer, target), -wanted,
                  "status of calltrap; " + tracer.err)
    h.check("calltrap: internal error: " + words in tracer.err,
            "calltrap said: " + tracer.err)


def register_beside(way, wanted, words):
    @h.test("in a thread of calltrap's that traces nothing: " +
            (way or "out of memory"), users=way == "overflow")
    def run(case):
        for number in range(ROUNDS // 3):
            beside_round(case, number, way, wanted, words)


for each_way, each_signal, each_words in (
        ("wild pointer", signal.SIGSEGV, "a crash"),
        ("overflow", signal.SIGSEGV, "a crash"),
        ("abort", signal.SIGABRT, "a crash"),
        ("", signal.SIGABRT, "out of memory")):
    register_beside(each_way, each_signal, each_words)


def tracers_of(pid):
    """Of all its threads."""
    return {h.tracer_of(int(tid)) for tid in os.listdir("/proc/%d/task" % pid)}


def throttled_round(case, group, number):
    """The target has a millisecond of each second, with others. Whether calltrap
    was still there when those that sleep weren't waited for any more."""
    trigger = case.path("trigger.%d" % number)
    target = start_target(case)
    tracer = start_tracer(case, target, {"HUNGRY": trigger, "HUNGRY_WAY": "abort"},
                          ["-L", "-x", "ident"])
    loops = [case.start(["sh", "-c", "while :; do :; done"])
             for _ in range(4)]
    for process in loops + [target]:
        group.take(process.pid)
    group.put("cpu.cfs_quota_us", "1000")
    case.write(os.path.basename(trigger), "")
    time.sleep(3)
    waits = tracer.popen.poll() is None
    h.check(waits or tracers_of(target.pid) == {0}, "it was left to the guardian")
    group.put("cpu.cfs_quota_us", "-1")
    for loop in loops:
        loop.popen.kill()
    h.check_equal(go_on_without(tracer, target), -signal.SIGABRT,
                  "status of calltrap; " + tracer.err)
    return waits


@h.test("a crash with busy threads that get no processor", users=True)
def throttled(case):
    with h.Cgroup(("/sys/fs/cgroup/cpu",), "cpu.cfs_quota_us") as group:
        group.put("cpu.cfs_period_us", "1000000")
        waited = [throttled_round(case, group, number) for number in range(2)]
    print("# it waited for them in %d of 2" % sum(waited))


@h.test("signals that would end or crash calltrap, sent to it with busy "
        "threads")
def signals(case):
    for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE,
                   signal.SIGUSR1, signal.SIGXCPU, signal.SIGPWR,
                   signal.SIGPROF):
        target = start_target(case)
        tracer = start_tracer(case, target, {}, ["-L", "-x", "ident"])
        tracer.popen.send_signal(number)
        crashes = number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE)
        h.check_equal(go_on_without(tracer, target),
                      -number if crashes else 0,
                      "status of calltrap; " + tracer.err)


@h.test("a crash while children are made as fast as can be")
def fertile(case):
    """One that its parent stands to tell of has copies of the traps."""
    if h.has_sanitizer():
        raise h.Skip("the sanitizer sees crashes first")
    target = case.start([h.build_with_libt(
        "fertile", h.build_directory("harm")), "3"])
    h.wait_until(lambda: "ready" in target.out, "the target")
    for number in range(4 * ROUNDS):
        tracer = case.start_calltrap("--engine=trap", "-L", "-x", "f1", "-p",
                                     str(target.pid))
        h.wait_until(lambda: h.read(tracer.log_path) or
                     tracer.popen.poll() is not None, "the first calls")
        time.sleep(0.003 * number)
        tracer.popen.send_signal(signal.SIGSEGV)
        h.check_equal(tracer.wait(), -signal.SIGSEGV,
                      "status of calltrap; " + tracer.err)
        h.wait_until(lambda: tracers_of(target.pid) == {0}, "the end of it")
    check_code(target.pid)
    target.say("q")
    h.check_equal((target.wait(), target.out), (7, "ready\n"),
                  "status, and children that ended otherwise")


@h.test("a crash where nothing is traced is said, too")
def reading(case):
    if h.has_sanitizer():
        raise h.Skip("the sanitizer sees crashes first")
    hungry = h.build("hungry.so", "hungry.c", "-shared", "-fPIC", "-O1")
    for number, words in enumerate((["heap", "--from"], ["memory"],
                                    ["convert", "--to", "csv"])):
        trigger = case.path("hungry.%d" % number)
        pipe = case.path("pipe.%d" % number)
        os.mkfifo(pipe)
        tracer = case.start([h.CALLTRAP, *words, pipe], env={
            "LD_PRELOAD": hungry, "HUNGRY": trigger, "HUNGRY_WAY": "abort"})
        # It waits for somebody who opens it as well.
        fd = os.open(pipe, os.O_WRONLY)
        case.write(os.path.basename(trigger), "")
        os.close(fd)
        h.check_equal(tracer.wait(), -signal.SIGABRT,
                      "status of calltrap; " + tracer.err)
        h.check("calltrap: internal error: a crash" in tracer.err,
                "calltrap said: " + tracer.err)


def abort_at(tracer, place, ignored, *further):
    """
    SIGABRT comes when calltrap has been there that often, and behind what further
    commands do. What gdb wants to
    know of the program it reads first: calltrap stands still from the attach
    on. False: it did so for longer than a second, and is given up for that
    (tracee/guard.c).
    """
    status, text = h.command_output(
        ["gdb", "-q", "-batch", "-nx", h.CALLTRAP,
         "-ex", "set auto-solib-add off",
         "-ex", "handle all nostop noprint pass", "-ex", "break " + place,
         "-ex", "ignore 1 %d" % ignored, "-ex", "attach %d" % tracer.pid,
         "-ex", "continue", "-ex", "delete", *further, "-ex", "signal SIGABRT"])
    if "Breakpoint 1 at" not in text:
        raise h.Skip("calltrap has no debug information")
    if "exited normally" in text:
        tracer.wait()
        h.check("was stopped for longer than a second" in tracer.err,
                "gdb said: %s; calltrap said: %s" % (text, tracer.err))
        return False
    h.check_equal(status, 0, "status of gdb; " + text)
    h.check("Breakpoint 1, " in text, "gdb said: " + text)
    return True


def aborted(case, *where):
    for _ in range(10):
        target = start_target(case)
        tracer = start_tracer(case, target, {}, ["-L", "-x", "ident"])
        if abort_at(tracer, *where):
            return target, tracer
        h.check_equal(target.popen.poll(), None, "end of the target")
    raise h.Skip("gdb takes longer than a second here")


@h.test("a signal between the end of a thread's stop and its resume")
def between(case):
    h.need("gdb")
    for ignored in range(50, 54):
        target, tracer = aborted(case, "book_stop", ignored)
        h.check_equal(go_on_without(tracer, target), -signal.SIGABRT,
                      "status of calltrap; " + tracer.err)


@h.test("a signal when a thread has just been put back to a trap")
def put_back(case):
    h.need("gdb")
    for ignored in range(50, 54):
        target, tracer = aborted(case, "ptrace_set_ip", ignored, "-ex", "finish")
        h.check_equal(go_on_without(tracer, target), -signal.SIGABRT,
                      "status of calltrap; " + tracer.err)


if __name__ == "__main__":
    sys.exit(h.main())
