#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-c --engine=agent: what may throw, be jumped out of or be cancelled is counted
in the process, each call once, whatever way it ends; and goes on when calltrap
leaves, or is killed, meanwhile."""

import os
import random
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

ROUNDS = int(os.environ.get("ROUNDS", "3"))
WAYS = "ways_*+read@libc.so.6"
WAITS = "read+epoll_wait+pthread_cond_wait@libc.so.6"


def ways(library="libways.so"):
    h.need_jumps()
    h.need("g++")
    directory = h.build_directory(library)
    h.build_library(library, "libways.cc", "-O1", cc="g++",
                    directory=directory)
    return h.build("ways", "ways.cc", "-O1", "-pthread", *h.near(directory),
                   "-l:" + library, cc="g++", directory=directory)


def sleepers(kind):
    h.need_jumps()
    flags = {"C": ["-fno-exceptions"], "C -fexceptions": ["-fexceptions"],
             "C++": ["-x", "c++", "-fnon-call-exceptions",
                     "-fasynchronous-unwind-tables"]}[kind]
    compiler = "g++" if kind == "C++" else "gcc"
    h.need(compiler)
    # The language is for files that come behind it.
    return h.build("sleepers" + kind.replace(" ", ""), [], "-O1", "-pthread",
                   *flags, h.victim("sleepers.c"), cc=compiler)


def start(case, program, *arguments):
    target = case.start([program, *arguments])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def attach(case, target, *options, settled=True):
    tracer = case.start_calltrap("--engine=agent", "-D", "probe", "-c",
                                 *options, "-p", str(target.pid))
    h.wait_until(lambda: h.code_differences(target.pid), "the traps")
    if settled:
        h.settle(target, tracer)
    return tracer


def is_caught(tracer, *functions):
    return all(re.search(r"agent: %s(?: of .*)?: \d+" % name, tracer.err)
               for name in functions)


def caught(tracer):
    return int(h.check_match(r"caught: (\d+) functions? in the process",
                             tracer.err, "engines")[1])


def calls_in(log):
    return {words[-1]: int(words[3]) for words in
            map(str.split, log.splitlines())
            if len(words) > 4 and words[3].isdigit()}


def check_counts(target, log):
    seen = calls_in(log)
    made = dict(re.findall(r"^count (\w+) (\d+)$", target.out, re.M))
    h.check(made, target.out)
    for function, number in made.items():
        h.check_equal(seen.get(function), int(number), "calls of " + function)


def finish(target):
    h.wait_until(lambda: "done" in target.out or
                 target.popen.poll() is not None, "the calls")
    target.say("end\n")
    h.check_equal(target.wait(), 7, "status of the target: " + target.err)


def counted(words, options, threads, rounds, least):
    @h.test("each call once, whatever way it ends: " + words)
    def run(case):
        target = start(case, ways(), str(threads), str(rounds))
        tracer = attach(case, target, *options)
        target.say("go\n")
        finish(target)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        if "unseen" in tracer.err and \
                os.getloadavg()[0] > 3 * (os.cpu_count() or 1):
            raise h.Skip("calltrap had no processor for a second")
        check_counts(target, h.read(tracer.log_path))
        h.check(caught(tracer) >= least, tracer.err)
        own = re.search(r"; ([\d,]+) calls? in the process", tracer.err)
        h.check(own and int(own[1].replace(",", "")) > 4 * threads * rounds,
                "most by traps: " + tracer.err)


counted("everybody's", ["-L", "-x", WAYS], 4, 300, 6)
counted("the program's", [], 2, 300, 8)
counted("one thread", ["-L", "-x", WAYS], 1, 400, 6)


@h.test("by traps where one place on a stack may be several calls'")
def cut(case):
    target = start(case, ways("_greenlet.so"), "1", "4")
    tracer = attach(case, target, "-L", "-x", WAYS)
    target.say("go\n")
    finish(target)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    check_counts(target, h.read(tracer.log_path))
    h.check("stacks that are cut in pieces" in tracer.err, tracer.err)


@h.test("by traps from when a library comes that takes pieces of stacks away")
def cut_later(case):
    h.need_jumps()
    directory = h.build_directory("cutter")
    library = h.build_library("_greenlet.so", "libways.cc", cc="g++",
                              directory=directory)
    program = h.build("cutter", "cutter.c", "-O1", "-fno-builtin", "-ldl",
                      directory=directory)
    target = start(case, program, library)
    tracer = attach(case, target, "-L", "-x", "labs+qsort@libc.so.6")
    target.say("go\n")
    h.wait_until(lambda: is_caught(tracer, "qsort", "labs"), "the agent")
    target.say("load it\n")
    finish(target)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    check_counts(target, h.read(tracer.log_path))
    h.check("stacks that are cut in pieces" in tracer.err, tracer.err)


@h.test("left and attached to again while calls are under way")
def left(case):
    target = start(case, ways(), "4", "0")
    target.say("go\n")
    for i in range(ROUNDS):
        options = [] if i % 2 else ["-L", "-x", WAYS]
        tracer = attach(case, target, *options, settled=False)
        h.wait_until(lambda: is_caught(tracer, "ways_calls", "ways_throws") or
                     tracer.popen.poll() is not None, "the agent")
        time.sleep(random.uniform(0, 0.3))
        os.kill(tracer.popen.pid, signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        h.check_equal(target.popen.poll(), None, target.err)
    target.say("enough\n")
    finish(target)


@h.test("calltrap's first process killed while calls are under way")
def killed(case):
    target = start(case, ways(), "4", "0")
    target.say("go\n")
    for _ in range(ROUNDS):
        tracer = attach(case, target, "-L", "-x", WAYS, settled=False)
        h.wait_until(lambda: is_caught(tracer, "ways_calls", "ways_throws") or
                     tracer.popen.poll() is not None, "the agent")
        worker = h.tracer_of(target.pid)
        h.check(worker, "nobody traces the target")
        time.sleep(random.uniform(0, 0.3))
        tracer.popen.kill()
        tracer.wait()
        h.wait_until(lambda: h.tracer_of(target.pid) != worker,
                     "the end of its second process")
        h.check_equal(target.popen.poll(), None, target.err)
    target.say("enough\n")
    finish(target)


def leave(tracer, target, how):
    worker = h.tracer_of(target.pid)
    if how == "left":
        os.kill(tracer.popen.pid, signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
    elif how == "killed":
        tracer.popen.kill()
        tracer.wait()
    elif how == "its worker killed":
        os.kill(worker, signal.SIGKILL)
        tracer.wait()
    if how != "still there":
        h.wait_until(lambda: h.tracer_of(target.pid) != worker,
                     "the end of its second process")


def sleeping(kind, how):
    @h.test("64 threads wait in calls, are woken, cancelled, end: %s, calltrap %s"
            % (kind, how))
    def run(case):
        target = start(case, sleepers(kind), "64")
        tracer = attach(case, target, "-L", "-x", WAITS)
        target.say("go\n")
        h.wait_until(lambda: "waiting" in target.out and
                     is_caught(tracer, "read", "epoll_wait"), "the agent")
        h.settle(target, tracer)
        leave(tracer, target, how)
        target.say("end\n")
        h.check_equal(target.wait(), 7, "status of the target: " + target.out)
        if how == "still there":
            tracer.wait()
        if how in ("left", "still there"):
            seen = calls_in(h.read(tracer.log_path))
            h.check_equal(seen["epoll_wait"], 16, "calls of epoll_wait")
            h.check(caught(tracer) >= 2, tracer.err)


for one in "C", "C -fexceptions", "C++":
    for other in "still there", "left", "killed", "its worker killed":
        sleeping(one, other)


@h.test("calls that have not returned when calltrap leaves have taken time")
def unreturned(case):
    target = start(case, sleepers("C"), "16")
    tracer = attach(case, target, "-L", "-x", WAITS)
    target.say("go\n")
    h.wait_until(lambda: "waiting" in target.out and
                 is_caught(tracer, "read", "epoll_wait"), "the agent")
    h.settle(target, tracer)
    time.sleep(0.5)
    leave(tracer, target, "left")
    row = h.check_match(r"^.* epoll_wait$", h.read(tracer.log_path), "the row")
    h.check(float(row[0].split()[1]) >= 4 * 0.5, row[0])
    target.say("end\n")
    h.check_equal(target.wait(), 7, "status of the target: " + target.out)


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
