#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--engine=agent: calls are recorded in the process itself, each once, and
whatever happens to calltrap, the process goes on."""

import collections
import contextlib
import fcntl
import json
import os
import random
import re
import select
import signal
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

ROUNDS = int(os.environ.get("ROUNDS", "3"))
FLAGS = ("-O1", "-fno-builtin", "-pthread")


def slots(*flags):
    return h.build("slots" + "".join(flags), "slots.c", *FLAGS, *flags)


def start(case, *arguments, program=None):
    target = case.start([program or slots(), *arguments])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def attach_busy(case, target, *options):
    tracer = case.start_calltrap("--engine=agent", "-L", "-x", "labs",
                                 *options, "-p", str(target.pid))
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
    return tracer


def attach(case, target, *options):
    """The first trap is not the last: calls may come before that."""
    tracer = attach_busy(case, target, *options)
    h.settle(target, tracer)
    return tracer


def finish_only(target, lines=2):
    target.say("go\n")
    for _ in range(lines - 1):
        h.wait_until(lambda: "done" in target.out or
                     target.popen.poll() is not None, "the calls")
        target.say("end\n")
    h.check_equal(target.wait(), 7, "status of the target")


def finish(target, tracer, lines=2):
    """The log, when the target has ended with the right results."""
    finish_only(target, lines)
    tracer.wait()
    return h.read(tracer.log_path)


def made(target):
    return int(re.search(r"^made (\d+)$", target.out, re.M)[1])


def row_of(log):
    """The function's, in the table of -c; the calls are in front of it, and
    of the errors, which may be left out."""
    return h.check_match(r"^(?:.* )?labs$", log, "the row")[0].split()


def counted(log, column=3):
    return int(row_of(log)[column])


def caught(tracer):
    """How many functions in the process, and what else was said."""
    found = re.search(r"caught: (\d+) functions? in the process, (.*)",
                      tracer.err)
    h.check(found, "nothing is said of engines:\n" + tracer.err)
    return int(found[1]), found[2]


def check_lossless(tracer):
    h.check_seen(tracer)
    h.check("not recorded" not in tracer.err, tracer.err)


def count_exactly(words, *arguments, flags=(), inside=1):
    @h.test("-c: each call once: " + words)
    def run(case):
        target = start(case, *arguments, program=slots(*flags))
        tracer = attach(case, target, "-c")
        log = finish(target, tracer)
        check_lossless(tracer)
        h.check_equal(counted(log), made(target), "calls")
        h.check_equal(caught(tracer)[0], inside, "functions inside")


count_exactly("one thread", "1", "20000")
count_exactly("four threads", "4", "20000")
count_exactly("in children none, in their parent all", "1", "1000", "fork")
count_exactly("signal handlers", "2", "20000", "handlers")
count_exactly("a signal handler wherever one can be", "2", "2000", "storm")
count_exactly("the clock is forbidden: by traps", "2", "2000", "tsc", inside=0)
count_exactly("slots bound at the start", "2", "5000",
              flags=("-Wl,-z,now",))
count_exactly("no stubs: by a jump", "2", "20000", flags=("-fno-plt",))
count_exactly("a program at a fixed address", "2", "5000", flags=("-no-pie",))
count_exactly("seccomp: by traps", "1", "500", "seccomp", inside=0)
count_exactly("no more memory: by traps", "1", "500", "limit", inside=0)
count_exactly("no file for what is shared: by traps", "1", "500", "descriptors",
              inside=0)
count_exactly("no large files: by traps", "1", "500", "files", inside=0)
count_exactly("all is locked: by traps", "1", "500", "locked", inside=0)
count_exactly("all that comes is locked: by traps", "1", "500", "future", inside=0)
count_exactly("keys are locked, and nothing else", "2", "200000", "keys")


@h.test("-c: each call of who is killed, and how it was caught")
def counts_of_the_killed(case):
    target = start(case, "2", "20000")
    tracer = attach(case, target, "-c")
    target.say("go\n")
    h.wait_until(lambda: "done" in target.out, "the calls")
    os.kill(target.pid, signal.SIGKILL)
    h.check_equal(target.wait(), -signal.SIGKILL, "status of the target")
    tracer.wait()
    check_lossless(tracer)
    h.check_equal(counted(h.read(tracer.log_path)), made(target), "calls")
    h.check_equal(caught(tracer)[0], 1, "functions inside")


@h.test("-c: each call once: another user's process, by root")
def of_another_user(case):
    h.need_another()
    target = start(case, "2", "5000", "user")
    tracer = attach(case, target, "-c")
    log = finish(target, tracer)
    check_lossless(tracer)
    h.check_equal(counted(log), made(target), "calls")
    h.check_equal(caught(tracer)[0], 1, "functions inside")


def check_little_memory(tracer):
    inside, otherwise = caught(tracer)
    h.check_equal(inside, 0, "functions inside")
    h.check("little memory is left in its cgroup, or ours" in otherwise, otherwise)


@h.test("the target's memory cgroup has little left: by traps")
def little_left(case):
    target = start(case, "1", "500")
    with h.MemoryLimit(2 << 20) as group:
        group.take(target.pid)
        tracer = attach(case, target, "-c")
        log = finish(target, tracer)
        h.check_equal(counted(log), made(target), "calls")
        check_little_memory(tracer)


@h.test("calltrap's own memory cgroup has little left: by traps")
def little_for_us(case):
    if h.has_sanitizer():
        raise h.Skip("AddressSanitizer has memory of its own")
    target = start(case, "1", "500")
    with h.MemoryLimit(23 << 20) as group:
        tracer = case.start(
            ["sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec "$@"', group.path,
             h.CALLTRAP, "--engine=agent", "-c", "-L", "-x", "labs", "-o",
             case.path("counts"), "-p", str(target.pid)])
        h.wait_until(lambda: h.are_planted(target.pid), "the traps")
        tracer.pid = h.worker_of(tracer.popen)
        h.settle(target, tracer)
        finish_only(target)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        h.check_equal(counted(h.read(case.path("counts"))), made(target),
                      "calls")
        check_little_memory(tracer)


@h.test("auto: by the agent where it can go")
def auto(case):
    target = start(case, "2", "5000")
    tracer = case.start_calltrap("--engine=auto", "-c", "-L", "-x", "labs",
                                 "-p", str(target.pid), log=False)
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
    h.settle(target, tracer)
    finish_only(target)
    tracer.wait()
    check_lossless(tracer)
    h.check_equal(counted(tracer.err), made(target), "calls")
    h.check_equal(caught(tracer)[0], 1, "functions inside")


@h.test("auto: by traps where it can't, which is no news")
def auto_by_traps(case):
    target = start(case, "1", "500", "seccomp")
    tracer = attach(case, target, "-c", "--engine=auto")
    log = finish(target, tracer)
    h.check_equal(counted(log), made(target), "calls")
    h.check_equal(h.but_cost(tracer.err.splitlines()), [], "what is said")


def check_few(target, pid, calls, wanted):
    """The agent is in after so many calls, or not."""
    target.say("go\n")
    h.wait_until(lambda: "done" in target.out or
                 target.popen.poll() is not None, "the calls")
    h.check_equal(bool(agent_ranges(pid)), wanted,
                  "the agent is there, after %d calls" % calls)
    target.say("end\n")
    h.check_equal(target.wait(), 7, "status of the target")


@h.test("auto: with the 256th call by traps it gets into what was started, not before")
def few_calls(case):
    for calls, wanted in (255, False), (256, True):
        tracer = case.start_calltrap("-L", "-x", "labs", "-c", "--engine=auto",
                                     slots(), "1", str(calls), "slots")
        h.wait_until(lambda: "ready" in tracer.out, "the target")
        check_few(tracer, h.children_of(tracer.pid)[0], calls, wanted)
        h.check_equal(counted(h.read(tracer.log_path)), calls, "calls")


@h.test("auto: with the first one it gets into who was attached to")
def attached_to(case):
    """Nobody else would handle the traps when calltrap is killed."""
    target = start(case, "1", "3", "slots")
    tracer = attach(case, target, "-c", "--engine=auto")
    check_few(target, target.pid, 3, True)
    tracer.wait()
    h.check_equal(counted(h.read(tracer.log_path)), 3, "calls")


@h.test("threads of real-time priority wait for nobody")
def real_time(case):
    for options, inside in (["--when-full=wait"], 0), (["-c"], 1):
        target = start(case, "2", "500")
        try:
            os.sched_setscheduler(target.pid, os.SCHED_FIFO,
                                  os.sched_param(1))
        except PermissionError:
            raise h.Skip("no real-time priority may be had")
        tracer = attach(case, target, *options)
        finish(target, tracer)
        check_lossless(tracer)
        found, words = caught(tracer)
        h.check_equal(found, inside, "functions inside: " + tracer.err)
        h.check_equal("real-time" in words, not inside, tracer.err)


@h.test("-c: each call once: the clock is forbidden later")
def clock_is_forbidden(case):
    target = start(case, "2", "4000", "later")
    tracer = attach(case, target, "-c")
    log = finish(target, tracer)
    h.check_equal(counted(log), made(target), "calls")
    h.check("time stamp counter" in caught(tracer)[1], tracer.err)


@h.test("-c: as many failed as with traps")
def failures(case):
    program = h.build("failing", case.write("failing.c", """
        #include <stdlib.h>
        void *volatile p;
        int main(void)
        {
                for (int i = 0; i < 3000; i++) {
                        p = malloc(i % 3 ? 8 : (size_t)-8);
                        free(p);
                }
                return 0;
        }"""), "-O1", "-fno-builtin", "-w")
    rows = []
    for engine in "agent", "trap":
        result = case.calltrap("--engine=" + engine, "-c", "-L", "-x",
                               "malloc+free@libc.so.6", program)
        rows.append([line.split()[3:] for line in
                     result.log_text.splitlines()
                     if line.endswith(("malloc", "free"))])
    h.check_equal(sorted(rows[0]), sorted(rows[1]), "the table's rows")


@h.test("-c: what the C library chose for itself, and calls")
def library_calls_itself(case):
    program = h.build("itself", case.write("itself.c", """
        #include <stdlib.h>
        int main(void)
        {
                for (int i = 0; i < 3000; i++)
                        getenv("PATH");
                return 7;
        }"""), "-O1", "-fno-builtin", "-w")
    result = case.calltrap("--engine=agent", "-c", "-L", "-x",
                           "strlen@libc.so.6", program)
    calls = [int(line.split()[3]) for line in result.log_text.splitlines()
             if line.endswith("strlen")]
    if not calls or calls[0] < 3000:
        raise h.Skip("getenv() doesn't call strlen()")
    own = number(r"; ([\d,]+) calls? in the process", result.err)
    h.check(own > calls[0] - 100, result.err)


def least(cell):
    """Of a time in microseconds: "<3" is anything from 0 to 3."""
    return 0 if cell[0] == "<" else int(cell)


def most(cell):
    return int(cell.lstrip("<"))


@h.test("-c -T: the percentiles are those of the calls")
def percentiles(case):
    target = start(case, "2", "20000")
    tracer = attach(case, target, "-c", "-T")
    log = finish(target, tracer)
    h.check_equal(counted(log, 6), made(target), "calls")
    row = row_of(log)
    for one, other in (row[3], row[4]), (row[4], row[5]):
        h.check(least(one) <= most(other), "percentiles of %r" % row)


def arguments_of(log):
    return [-int(number) for number in
            re.findall(r"^.*?labs@libc[^(]*\((-?\d+)", log, re.M)]


def check_arguments(found, wanted):
    for i, (one, other) in enumerate(zip(found, wanted)):
        h.check_equal(one, other, "argument %d of %d (wanted: %d)" %
                      (i, len(found), len(wanted)))
    h.check_equal(len(found), len(wanted), "calls in the log")


@h.test("log: each call once, in order, with its result")
def log_of_calls(case):
    target = start(case, "1", "5000")
    tracer = attach(case, target)
    log = finish(target, tracer)
    check_lossless(tracer)
    check_arguments(arguments_of(log), list(range(5000)))
    for line in log.splitlines():
        found = re.match(r"labs\S*\((-?\d+)\)\s+= (\d+)$", line)
        h.check(not found or -int(found[1]) == int(found[2]), line)
    h.check_equal(caught(tracer)[0], 1, "functions inside")


@h.test("log: the threads are told apart")
def log_of_threads(case):
    target = start(case, "3", "2000")
    tracer = attach(case, target)
    log = finish(target, tracer)
    check_lossless(tracer)
    check_arguments(sorted(arguments_of(log)),
                    sorted(list(range(2000)) * 3))
    tids = set(re.findall(r"^(\d+) labs", log, re.M))
    h.check_equal(len(tids), 3, "threads that call")


def comparable(log):
    """Its lines, without what differs from one run to the next."""
    return [re.sub(r"^\d+ +|0x[0-9a-f]{6,}| +(?==)", "", line)
            for line in log.splitlines()]


def check_same_lines(lines, wanted):
    for i, (one, other) in enumerate(zip(lines, wanted)):
        h.check_equal(one, other, "line %d" % i)
    h.check_equal(len(lines), len(wanted), "lines")


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found[1].replace(",", "")) if found else 0


def logged(log):
    return len(re.findall(r"^(?:\d+ )?labs\S*\(", log, re.M))


def check_calls(tracer, target, log):
    """What isn't in the log is told of, each call."""
    lost = number(r"calltrap: (\d+) calls? (?:was|were) not recorded",
                  tracer.err)
    h.check_seen(tracer)
    h.check_equal(logged(log) + lost, made(target), "calls in the log, and "
                  "%d that were not recorded" % lost)
    own = number(r"; ([\d,]+) calls? in the process", tracer.err)
    h.check_equal(own + number(r"process, ([\d,]+) by traps(?! alone)",
                               tracer.err),
                  logged(log), "calls by engines")
    return lost


@h.test("log: what finds no room is counted, each call")
def drops(case):
    target = start(case, "4", "60000", "slots")
    tracer = attach(case, target, "--when-full=drop")
    log = finish(target, tracer)
    print("# dropped: %d" % check_calls(tracer, target, log))


def waits(words, *options):
    @h.test("log: %s all calls find room" % words)
    def run(case):
        target = start(case, "4", "60000", "slots")
        tracer = attach(case, target, *options)
        log = finish(target, tracer)
        h.check_equal(check_calls(tracer, target, log), 0,
                      "calls that were lost")


waits("unless something else is asked for,")
waits("with --when-full=wait", "--when-full=wait")


class Reader(threading.Thread):
    """Of a pipe: all that comes, from .start() on."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.text = b""

    def make_room(self):
        with contextlib.suppress(OSError):
            fcntl.fcntl(self.fd, fcntl.F_SETPIPE_SZ, 1 << 20)

    def run(self):
        os.set_blocking(self.fd, True)
        while piece := os.read(self.fd, 1 << 16):
            self.text += piece
        os.close(self.fd)


def log_to_nobody(case, *arguments, program=None, first=None):
    """The target, whose calls have begun, calltrap, and who hasn't begun to read.
    first: a function that is to be caught in the process before that."""
    path = case.path("pipe")
    os.mkfifo(path)
    reader = Reader(path)
    target = start(case, *arguments, program=program)
    tracer = case.start_calltrap("--engine=agent", "-L", "-x",
                                 "+".join(["labs"] + [first] * bool(first)),
                                 "--when-full=wait", "-D", "probe", "-o", path,
                                 "-p", str(target.pid), log=False)
    h.settle(target, tracer)
    if first:
        reader.make_room()
        h.wait_until(lambda: re.search("agent: %s: \\d" % first, tracer.err),
                     first + " in the process")
    target.say("go\n")
    return target, tracer, reader


@h.test("log: with --when-full=wait nobody reads for a while: all waits")
def nobody_reads(case):
    target, tracer, reader = log_to_nobody(case, "2", "60000", "slots")
    # Longer than hooks are patient.
    time.sleep(2)
    h.check("done" not in target.out, "it has not waited")
    reader.start()
    h.wait_until(lambda: "done" in target.out, "the calls")
    target.say("end\n")
    h.check_equal(target.wait(), 7, "status of the target")
    tracer.wait()
    reader.join()
    lost = check_calls(tracer, target, reader.text.decode())
    h.check_equal(lost, 0, "calls that were lost")


def busy_time(pid, tid):
    """Of one thread, in seconds."""
    fields = h.read("/proc/%d/task/%d/stat" % (pid, tid)).rpartition(")")[2]
    return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")


def await_waiting(target):
    """A ring is full: what its thread has to do doesn't take it so long. Others may
    stand at a trap, as calltrap waits, too."""
    state = {}

    def wait():
        state["rests"] = state.get("rests", 0) + 1
        if "R" in h.states(target.pid):
            state["rests"] = 0
        return state["rests"] > 1000 or any(
            busy_time(target.pid, int(tid)) > 0.4
            for tid in os.listdir("/proc/%d/task" % target.pid))
    h.wait_until(wait, "a thread that waits for room")
    if state["rests"] > 1000:
        raise h.Skip("all its threads stand at traps")
    h.check("done" not in target.out, "it hasn't waited")


def leave_waiting(case, *arguments, **how):
    """Each thread's calls are in the log up to some call, and none after that."""
    target, tracer, reader = log_to_nobody(case, "4", "600000", *arguments, **how)
    await_waiting(target)
    tracer.popen.send_signal(signal.SIGINT)
    time.sleep(0.1)
    reader.start()
    h.wait_until(lambda: "done" in target.out, "the calls")
    target.say("end\n")
    h.check_equal((target.wait(), tracer.wait()), (7, 0), "statuses")
    reader.join()
    check_lossless(tracer)
    calls = collections.defaultdict(list)
    for tid, argument in re.findall(r"^(\d+) labs[^(]*\(-?(\d+)",
                                    reader.text.decode(), re.M):
        calls[tid].append(int(argument))
    h.check(calls, "no calls")
    for found in calls.values():
        h.check(len(found) < 600000, "it has not waited")
        h.check(found == list(range(len(found))), "a call is missing")


@h.test("log: who waits for room when it is left isn't told of, and not lost")
def left_waiting(case):
    leave_waiting(case, "slots")


@h.test("log: … nor told of by its next call, while one that has begun is waited for")
def left_within(case):
    h.need_jumps()
    h.need("g++")
    program = h.build("left_sleeping", "left_sleeping.cc", *FLAGS, "-Wl,-z,now",
                      cc="g++")
    leave_waiting(case, program=program, first="usleep")


@h.test("what it costs, by its own clock, and who caught what, are told")
def told(case):
    target = start(case, "2", "50000", "slots")
    tracer = case.start_calltrap("--engine=agent", "-c", "-L", "-x",
                                 "labs+_setjmp@libc.so.6", "-p",
                                 str(target.pid), log=False)
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
    finish_only(target)
    tracer.wait()
    h.check_match(r"^calltrap: cost: .*; each call that was caught in the "
                  r"process took it \d+ ns more, in all [\d.]+ .?s of its "
                  r"processors' time", tracer.err, "the cost")
    h.check_match(r"caught: 1 function in the process, 1 by traps alone "
                  r"\(no slot leads there: 1\)", tracer.err, "engines")
    own = number(r"; ([\d,]+) calls? in the process", tracer.err)
    h.check(own > 0, tracer.err)


def attach_to_calls(case, target, *options):
    """Calls of one module: those that it makes by pointer are none of them."""
    tracer = case.start_calltrap("--engine=agent", "-e", "labs", *options,
                                 "-p", str(target.pid))
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
    h.settle(target, tracer)
    return tracer


def count_calls(words, threads, calls, *arguments, flags=(), inside=1,
                pointers=0.02):
    @h.test("-e, -c: each call of the program once: " + words)
    def run(case):
        target = start(case, str(threads), str(calls), *arguments,
                       program=slots(*flags))
        tracer = attach_to_calls(case, target, "-c")
        log = finish(target, tracer)
        check_lossless(tracer)
        h.check_equal(counted(log),
                      made(target) - int(threads * calls * pointers), "calls")
        h.check_equal(caught(tracer)[0], inside, "functions inside")
        if inside:
            own = number(r"; ([\d,]+) calls? in the process", tracer.err)
            h.check(own > counted(log) / 2, "most by traps: " + tracer.err)


count_calls("one thread", 1, 20000)
count_calls("four threads", 4, 20000)
count_calls("signal handlers", 2, 20000, "handlers")
count_calls("a signal handler wherever one can be", 2, 2000, "storm")
count_calls("the clock is forbidden later", 2, 2000, "later", inside=0)
count_calls("slots bound at the start", 2, 5000,
            flags=("-Wl,-z,now",))
# What is called by pointer returns into the program, too.
count_calls("no stubs", 2, 20000, flags=("-fno-plt",), pointers=0)
count_calls("no stubs, a signal handler wherever one can be", 2, 2000, "storm",
            flags=("-fno-plt",), pointers=0)
count_calls("no stubs, the clock is forbidden later", 2, 2000, "later", inside=0,
            flags=("-fno-plt",), pointers=0)
count_calls("a program at a fixed address", 2, 5000, flags=("-no-pie",))


def calls_of_own(case, engine, *options):
    """What is logged of strcoll() while its stub is its address; and what was said."""
    program = h.build("canonical", "canonical.c", "-O1", "-fno-pie", "-no-pie")
    tracer = case.start([h.CALLTRAP, "--engine=" + engine, "-e", "strcoll@MAIN",
                         *options, "-o", case.path("log"), program, "3000"])
    h.check_equal(tracer.wait(), 0, "status")
    h.check_equal(tracer.out, "own 6000, right\n", "what the program says")
    return h.read(case.path("log")), tracer.err


@h.test("-e: a stub that is the function's address for all: its own calls alone")
def own_of_the_canonical(case):
    log, said = calls_of_own(case, "agent", "-c")
    h.check_equal(int(h.check_match(r" (\d+) +strcoll$", log, "the row")[1]), 6000,
                  "calls")
    own = number(r"; ([\d,]+) calls? in the process", said)
    h.check(5500 < own <= 6000, "most by traps: " + said)
    log = re.sub("0x[0-9a-f]+", "", calls_of_own(case, "agent")[0])
    h.check_equal(log.count("strcoll("), 6000, "calls in the log")
    h.check_equal(log, re.sub("0x[0-9a-f]+", "", calls_of_own(case, "trap")[0]),
                  "the log by the agent, and by traps")


@h.test("-e, -c: … each of these, while a library is binding its slot by pointer")
def own_of_the_late(case):
    library = h.build("libcanonical.so", "libcanonical.c", "-O1", "-shared", "-fPIC")
    program = h.build("canonical-late", "canonical_late.c", "-O1", "-fno-pie",
                      "-no-pie", "-pthread", "-Wl,-z,lazy", library,
                      "-Wl,-rpath," + os.path.dirname(library))
    tracer = case.start([h.CALLTRAP, "--engine=agent", "-c", "-e",
                         "found_late@MAIN", "-o", case.path("log"), program])
    h.check_equal(tracer.wait(), 0, "status")
    own = int(h.check_match(r"^own (\d+), right$", tracer.out, "its words")[1])
    h.check_equal(int(h.check_match(r" (\d+) +found_late$",
                                    h.read(case.path("log")), "the row")[1]),
                  own, "calls")
    inside = number(r"; ([\d,]+) calls? in the process", tracer.err)
    h.check(inside > own / 2, "most by traps: " + tracer.err)


count_calls("its address is taken: by a jump over the stub", 2, 20000,
            flags=("-DTAKES_ADDRESS",))
count_calls("seccomp: by traps", 1, 500, "seccomp", inside=0)


WITHOUT_STUBS = {"labs": 5.02, "memcpy": 1, "memmove": 1, "realloc": 1,
                 "malloc": 2, "free": 2, "llabs": 1}


def without_stubs(cc):
    return h.build("no_stubs." + cc, "no_stubs.c", "-O2", "-fno-builtin",
                   "-pthread", "-fno-plt", cc=cc)


def attach_without_stubs(case, target, names=tuple(WITHOUT_STUBS)):
    tracer = case.start_calltrap(
        "--engine=agent", "-c", "-e", "+".join(name + "@MAIN" for name in names),
        "-p", str(target.pid))
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
    return tracer


def count_without_stubs(cc):
    @h.test("-e, -c: no stubs: calls, jumps, pointers, and what others call: " + cc)
    def run(case):
        target = start(case, "2", "10000", program=without_stubs(cc))
        tracer = attach_without_stubs(case, target)
        h.settle(target, tracer)
        log = finish(target, tracer)
        check_lossless(tracer)
        rounds = int(re.search(r"^rounds (\d+)$", target.out, re.M)[1])
        found = {row.split()[-1]: int(row.split()[3])
                 for row in log.splitlines() if row.split()[-1] in WITHOUT_STUBS}
        h.check_equal(found, {name: round(calls * rounds) for name, calls in
                              WITHOUT_STUBS.items()}, "calls")
        # Not llabs, whose address is compared.
        h.check_equal(caught(tracer)[0], len(WITHOUT_STUBS) - 1,
                      "functions inside")
        own = number(r"; ([\d,]+) calls? in the process", tracer.err)
        h.check(own > 0.8 * sum(found.values()), "many by traps: " + tracer.err)


count_without_stubs("gcc")
count_without_stubs("clang")


def keeper(*flags):
    """Its library has one slot for labs' address and for its calls."""
    directory = h.build_directory("kept")
    h.build_library("libkeeps.so", "keeps.c", "-fno-builtin", "-Wl,-z,now",
                    directory=directory)
    return h.build("no_stubs_kept", "no_stubs_kept.c", "-O2", "-fno-builtin",
                   *flags, *h.near(directory), "-lkeeps", directory=directory)


@h.test("-e, -c: no stubs: a library that calls as well has its address as before")
def address_of_others(case):
    target = start(case, "5000", program=keeper("-fno-plt"))
    tracer = attach_without_stubs(case, target, ["labs"])
    h.settle(target, tracer)
    log = finish(target, tracer)
    check_lossless(tracer)
    h.check_equal(counted(log), 5000, "calls")
    h.check_equal(caught(tracer)[0], 1, "functions inside")


@h.test("-x, -c: a library that has kept a function's address finds it as before")
def address_of_all(case):
    target = start(case, "20000", program=keeper("-fno-plt"))
    tracer = case.start_calltrap("--engine=agent", "-c", "-L", "-x",
                                 "labs@libc.so.6", "-p", str(target.pid))
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
    h.settle(target, tracer)
    log = finish(target, tracer)
    check_lossless(tracer)
    h.check_equal(counted(log), 40000, "calls")
    own = number(r"; ([\d,]+) calls? in the process", tracer.err)
    h.check(own > 20000, "the program's go by traps: " + tracer.err)


def caught_without_stubs(cc, *flags):
    @h.test(" ".join(("-e, -c: no stubs: an address that is kept where one catches:",
                      cc) + flags))
    def run(case):
        program = h.build("".join(("no_stubs_caught.", cc) + flags),
                          "no_stubs_caught.cc", "-O2", "-fno-builtin", "-fno-plt",
                          "-fPIE", "-pie", *flags, cc=cc)
        target = start(case, "400", program=program)
        tracer = attach_without_stubs(case, target, ["labs"])
        h.settle(target, tracer)
        log = finish(target, tracer)
        check_lossless(tracer)
        h.check_equal(counted(log), 30000, "calls")


for compiler in "g++", "clang++":
    caught_without_stubs(compiler)
    caught_without_stubs(compiler, "-static-libstdc++", "-static-libgcc")


# So often a round; and once by the library in one of 50 rounds.
MIXED = {"memcpy": 1, "memmove": 1, "realloc": 1, "malloc": 2, "free": 2, "read": 1}


def mixed_stubs():
    """libc.so.6 has slots for its own malloc and free, too."""
    directory = h.build_directory("mixed")
    h.build_library("libmixed_rare.so", "mixed_stubs_rare.c", "-fno-builtin",
                    "-fno-plt", directory=directory)
    return h.build("mixed_stubs", "mixed_stubs.c", "-fno-builtin", "-O1",
                   *h.near(directory), "-lmixed_rare", directory=directory)


def of_modules(names, *libraries):
    return "+".join(name + "@" + library for library in libraries
                    for name in names)


@h.test("-e, -c: some by stubs, some without: each call, and few by traps")
def count_mixed_stubs(case):
    rounds = 2000
    target = start(case, str(rounds), program=mixed_stubs())
    tracer = case.start_calltrap(
        "--engine=agent", "-c", "-L", "-e",
        of_modules(MIXED, "MAIN", "libmixed_rare.so", "libc.so.6"), "-p",
        str(target.pid))
    h.wait_until(lambda: h.code_differences(target.pid), "the traps")
    h.settle(target, tracer)
    log = finish(target, tracer)
    check_lossless(tracer)
    found = {row.split()[-1]: int(row.split()[3]) for row in log.splitlines()
             if row.split()[-1] in MIXED}
    # What the C library calls itself is in it: more, by realloc() and stdio.
    for name, calls in MIXED.items():
        least = calls * rounds + rounds // 50 + (name == "memcpy") * rounds
        h.check(least <= found[name] <= least + rounds // 50 + 50,
                "%s: %d calls, of %d" % (name, found[name], least))
    own = number(r"; ([\d,]+) calls? in the process", tracer.err)
    by_traps = sum(found.values()) - own
    h.check(by_traps < 0.1 * own, "%d by traps: %s" % (by_traps, tracer.err))
    stops = number(r"cost: ([\d,]+) stops?", tracer.err)
    h.check(stops < 0.1 * own, "%d stops: %s" % (stops, tracer.err))


def lines_of_mixed_stubs(*options):
    @h.test(" ".join(("-e: some by stubs, some without: the same lines as by traps",)
                     + options))
    def run(case):
        found = {}
        # A log shows of memmove() what its record can't hold.
        names = [name for name in MIXED if name != "memmove"]
        for engine in "trap", "agent":
            tracer = case.start_calltrap(
                "--engine=" + engine, "--when-full=wait", *options, "-L", "-e",
                of_modules(names, "MAIN", "libmixed_rare.so"),
                mixed_stubs(), "300")
            tracer.say("go\nend\n")
            h.check_equal(tracer.wait(), 7, "status, with " + engine)
            found[engine] = comparable(h.read(tracer.log_path))
        check_same_lines(found["agent"], found["trap"])
        calls = 300 * sum(MIXED[name] for name in names)
        own = number(r"; ([\d,]+) calls? in the process", tracer.err)
        h.check(own > 0.9 * calls, "many by traps: " + tracer.err)


lines_of_mixed_stubs()
lines_of_mixed_stubs("-w", "4")


@h.test("-e: no stubs: the same lines as by traps")
def lines_without_stubs(case):
    found = {}
    for engine in "trap", "agent":
        tracer = case.start_calltrap(
            "--engine=" + engine, "--when-full=wait", "-e",
            "labs@MAIN+memcpy@MAIN+memmove@MAIN+realloc@MAIN",
            without_stubs("gcc"), "1", "300")
        tracer.say("go\nend\n")
        h.check_equal(tracer.wait(), 7, "status, with " + engine)
        found[engine] = comparable(h.read(tracer.log_path))
    check_same_lines(found["agent"], found["trap"])
    own = number(r"; ([\d,]+) calls? in the process", tracer.err)
    h.check(own > len(found["agent"]) / 2, "most by traps: " + tracer.err)


@h.test("-e: what the kernel does without being called")
def vdso(case):
    target = start(case, "20000", program=h.build("vdso", "vdso.c"))
    tracer = case.start_calltrap("--engine=agent", "-e", "gettimeofday", "-c",
                                 "-p", str(target.pid))
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
    h.settle(target, tracer)
    log = finish(target, tracer)
    check_lossless(tracer)
    row = h.check_match(r"^(?:.* )?gettimeofday$", log, "the row")[0].split()
    h.check_equal(int(row[3]), made(target), "calls")
    h.check_equal(caught(tracer)[0], 1, "functions inside")


@h.test("-e: the same lines as by traps, of the program's calls")
def lines_of_calls(case):
    program = h.build("texts", "texts.c", "-O1", "-fno-builtin", "-w")
    found = {}
    for engine in "trap", "agent":
        result = case.calltrap("--engine=" + engine, "--when-full=wait",
                               program, "50")
        h.check_equal(result.status, 7, "status, with " + engine)
        found[engine] = [re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", line)
                         for line in result.log_text.splitlines()]
    check_same_lines(found["agent"], found["trap"])
    own = number(r"; ([\d,]+) calls? in the process", result.err)
    h.check(own > len(found["agent"]) / 2, "most by traps: " + result.err)


@h.test("-e, -f: each call of each child, in order")
def calls_of_children(case):
    target = start(case, "1", "700", "fork")
    tracer = attach_to_calls(case, target, "-f", "--when-full=wait")
    log = finish(target, tracer)
    check_lossless(tracer)
    calls = collections.defaultdict(list)
    for pid, argument in re.findall(r"^(\d+) \S+->labs\((-?\d+)",
                                    log, re.M):
        calls[int(pid)].append(-int(argument))

    def own(count):
        return [n for n in range(count) if n % 50 != 49]
    h.check_equal(calls.pop(target.pid), own(700) * 20, "the parent's calls")
    h.check_equal(len(calls), 20, "children that call")
    for pid, found in calls.items():
        h.check_equal(found, own(1000), "calls of %d" % pid)


TEXTS = ("strlen+strnlen+atoi+atol+strcmp+strncmp+strcasecmp+strncasecmp+"
         "memcmp+strchr+strrchr+memchr+strcspn+strcpy+stpcpy+memcpy")
# They call others of these.
MORE_TEXTS = "getenv+strdup+strndup"
# memmove is memcpy, too.
MOVED_TEXTS = ("memmove+__errno_location+strcoll+strchrnul+mbrtowc+mbrlen+"
               "__strcpy_chk+__stpcpy_chk")
LOOKED_AT = ("strpbrk+strspn+strstr+strcasestr+strcat+strncat+strtok+"
             "strtol+strtoul+strtoll+strtoull+strtoimax+strtoumax+"
             "strncpy+readlink+strerror")
LINES = ("fgets+fread+fread_unlocked+getdelim+fseeko64+"
         "clearerr_unlocked+fwrite_unlocked")
NAMES = "readdir+access+stat+lstat+fstatat+unlink"


def texts_of(case, engine, names, *options):
    """Each line of the log, but for addresses, and for what there is to see where
    nobody says how much of a buffer has been written."""
    program = h.build("texts", "texts.c", "-O1", "-fno-builtin", "-w")
    result = case.calltrap(
        "--engine=" + engine, "--when-full=wait", "-L", "-x",
        "+".join(name + "@libc.so.6" for name in names.split("+")), *options,
        program, "50", *(["names"] if names == NAMES else []))
    h.check_equal(result.status, 7, "status, with " + engine)
    return [re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", line)
            for line in result.log_text.splitlines()
            # The C library's own, of addresses, when it begins.
            if not line.startswith("memcpy") or "bytes" in line
            if not re.match(r"memmove\S+ (\".*\\\d|.*, (2[2-9]|[3-9]\d|\d{3,})\))", line)
            ], result


def compare_texts(case, names, *options):
    lines, result = texts_of(case, "agent", names, *options)
    wanted = texts_of(case, "trap", names, *options)[0]
    check_same_lines(lines, wanted)
    own = number(r"; ([\d,]+) calls? in the process", result.err)
    print("# %d of %d lines of calls in the process" % (own, len(lines)))
    return own > len(lines) / 2


@h.test("log: strings are as traps have them, and read no further")
def texts(case):
    for options in [], ["-s", "3"]:
        h.check(compare_texts(case, TEXTS, *options), "most by traps")
    h.check(compare_texts(case, MORE_TEXTS), "most by traps")
    h.check(compare_texts(case, MOVED_TEXTS), "most by traps")
    compare_texts(case, MOVED_TEXTS, "-s", "3")
    for options in [], ["-s", "3"]:
        for names in LOOKED_AT, LINES, NAMES:
            h.check(compare_texts(case, names, *options), "most by traps")
    h.check(not compare_texts(case, "strlen+strcmp", "-s", "300"),
            "more than there is room for")


UNREAD = ("strtol+strtoul+strspn+strstr+strncat+strtok+strncpy+getline+getdelim+"
          "__getdelim+fgets+fread+strpbrk+write")


@h.test("log: what a function doesn't look at isn't read")
def unread(case):
    program = h.build("unread", "unread.c", "-O1", "-fno-builtin", "-w")
    for kind in "none", "unmapped", "cut", "waits":
        for options in [], ["ignored"]:
            alone = subprocess.run([program, kind, "1"] + options)
            if alone.returncode == 77:
                print("# nobody may wait for pages here")
                continue
            result = case.calltrap(
                "--engine=agent", "--when-full=wait", "-x",
                "+".join(name + "@libc.so.6" for name in UNREAD.split("+")),
                program, kind, "100", *options)
            h.check_equal(result.status, 7, " ".join([kind] + options))
            own = number(r"; ([\d,]+) calls? in the process", result.err)
            h.check(own > 500, "few in the process")


@h.test("log: who is jumped out of before a call is made has lost none")
def jumped_hooks(case):
    result = case.calltrap(
        "--engine=agent", "--when-full=wait", "-x", "strtoul+strstr@libc.so.6",
        h.build("jumped_hooks", "jumped_hooks.c", "-O1", "-fno-builtin"), "400")
    h.check_equal(result.status, 7, "status")
    h.check(number(r"; ([\d,]+) calls? in the process", result.err) > 400,
            "few in the process")
    h.check("not recorded" not in result.err, "none is lost")


FILLERS = ("read", "recv", "pread", "epoll_wait")


def fills_of(case, engine, *options):
    """Each line of the log, but for addresses."""
    result = case.calltrap(
        "--engine=" + engine, "--when-full=wait", "-L", "-x",
        "+".join(FILLERS) + "@libc.so.6", *options,
        h.build("fills", "fills.c", "-O1", "-fno-builtin"), "20")
    h.check_equal(result.status, 7, "status, with " + engine)
    lines = [re.sub(r"(recv\S*\(\d+, )\S+(, \d+, \S*MSG_TRUNC\)) +", r"\1BUFFER\2 ",
                    line) for line in result.log_text.splitlines()]
    return [re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", line) for line in lines], result


@h.test("log: buffers that are filled are as traps have them")
def fills(case):
    for options, inside in ([], True), (["-s", "3", "-A", "2"], True), \
            (["-s", "255", "-A", "20"], True), (["-s", "256"], False):
        wanted, _ = fills_of(case, "trap", *options)
        lines, result = fills_of(case, "agent", *options)
        for i, (one, other) in enumerate(zip(lines, wanted)):
            h.check_equal(one, other, "line %d, %r" % (i, options))
        h.check_equal(len(lines), len(wanted), "lines")
        for name in FILLERS:
            h.check(any(line.startswith(name) for line in lines), name)
        own = number(r"; ([\d,]+) calls? in the process", result.err) \
            if "calls in the process" in result.err else 0
        h.check((own > len(lines) / 2) == inside, result.err)


SAYERS = {
    "functions": ["-L", "-x", "write+pwrite+open+send@libc.so.6",
                  "-x", "say@libsay.so"],
    "the program's calls": ["-e", "write+pwrite+open+send+say"],
}


def says_of(case, engine, which, words, *options):
    """Each line of the log, but for addresses."""
    directory = h.build_directory("says")
    h.build_library("libsay.so", "libsay.c", "-O1", directory=directory)
    program = h.build("says", "says.c", "-O1", "-fno-builtin", "-U_FORTIFY_SOURCE",
                      *h.near(directory), "-lsay", directory=directory)
    prototypes = case.write("say.conf", "int say(bytes[arg2], ulong);\n")
    result = case.calltrap("--engine=" + engine, "--when-full=wait",
                           "-F", prototypes, *SAYERS[which], *options, program,
                           *words)
    h.check_equal(result.status, 7, "status, with " + engine)
    return [re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", line)
            for line in result.log_text.splitlines()], result


def says(which, words, *options):
    @h.test(" ".join(("log: what is written and said is as traps have it:",
                      which + ",") + words + options))
    def run(case):
        wanted, _ = says_of(case, "trap", which, words, *options)
        lines, result = says_of(case, "agent", which, words, *options)
        check_same_lines(lines, wanted)
        for name in "write", "pwrite", "open", "send", "say":
            h.check(any(re.match(r"(says->)?%s\b" % name, line)
                        for line in lines), name)
        own = number(r"; ([\d,]+) calls? in the process", result.err)
        print("# %d of %d lines of calls in the process" % (own, len(lines)))
        # Those of texts that are nowhere, or at an end, aren't.
        calls = sum(not line.startswith(" > ") for line in lines)
        h.check(own > 0.6 * calls, "most by traps: " + result.err)
        h.check("-w" not in options or len(lines) > 3 * calls, "no stacks")


says("functions", ("300",))
says("functions", ("300", "blocks"))
says("functions", ("300",), "-s", "3")
says("functions", ("300",), "-s", "200")
says("the program's calls", ("300",))
says("functions", ("300",), "-w", "6")
says("functions", ("300", "blocks"), "-w", "6", "-s", "200")
says("the program's calls", ("300",), "-w", "6", "-s", "3")


REALS = """\
double mix(int, double, string, float, long, double);
float narrow(float, double);
double four(double, double, double, double);
double five(double, double, double, double, double);
double six_and_four(long, double, long, double, long, double, long, double, long,
	long);
double stacked(long, long, long, long, long, long, long, double);
long rounded(double);
void nothing(double);
double from_nothing();
ldouble wide(ldouble, double);
double goes_on(double, double);
"""


def reals_of(case, engine, *options, words=("200",)):
    directory = h.build_directory("reals")
    h.build_library("libreals.so", "libreals.c", "-O2", directory=directory)
    program = h.build("reals", "reals.c", "-O1", "-fno-builtin", *h.near(directory),
                      "-lreals", "-lm", directory=directory)
    prototypes = case.write("reals.conf", REALS)
    result = case.calltrap("--engine=" + engine, "--when-full=wait", "-F", prototypes,
                           *options, program, *words)
    h.check_equal(result.status, 7, "status, with %s: %s" %
                  (engine, result.out + result.err))
    return [re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", line)
            for line in result.log_text.splitlines()], result


REAL_FUNCTIONS = ("-L", "-x", "*@libreals.so", "-x", "pow+fmod+sqrt+floorf+fma+ldexp+"
                  "lround+copysign+hypot@libm.so.6")


def reals(words, *options, most=0.2):
    """Those of more than four floats, or that lie on the stack, go by traps."""
    @h.test("log: floating-point numbers are as traps have them: " + words)
    def run(case):
        wanted, _ = reals_of(case, "trap", *options)
        lines, result = reals_of(case, "agent", *options)
        check_same_lines(lines, wanted)
        for name in "mix", "narrow", "four", "five", "wide", "pow", "floorf":
            h.check(any(re.search(r"\b%s\b" % name, line) for line in lines), name)
        own = number(r"; ([\d,]+) calls? in the process", result.err)
        traps = number(r"in the process, ([\d,]+) by traps", result.err)
        print("# %d calls in the process, %d by traps" % (own, traps))
        h.check(traps < most * (own + traps), "many by traps: " + result.err)


reals("functions", *REAL_FUNCTIONS)
reals("functions, with stacks", *REAL_FUNCTIONS, "-w", "4")
reals("the program's calls", most=0.25)
reals("the program's calls, with stacks", "-w", "4", most=0.25)


@h.test("floating-point numbers: handlers that come in between, and tables")
def reals_between(case):
    for options in REAL_FUNCTIONS, (), ("-c",), REAL_FUNCTIONS + ("-w", "4"):
        lines, result = reals_of(case, "agent", *options,
                                 words=("3000", "handlers"))
        h.check("wrong 0" in result.out, result.out)
        if "-c" in options:
            continue
        for line in lines:
            if re.match(r"narrow\S*\(2\.0, .* = ", line):
                h.check_match(r"^narrow\S*\(2\.0, 0\.25\) += 0\.5$", line, "a handler's")
            elif re.match(r"fmod\S*\(.* = ", line):
                h.check_match(r"\.25, 1\.0\) += 0\.25$", line, "fmod")


def stacks_of(case, engine, program, *options):
    result = case.calltrap("--engine=" + engine, "--when-full=wait", "-w", "9",
                           "-L", "-x", "malloc+free+calloc+strlen@libc.so.6",
                           *options, program, "1", "300")
    h.check_equal(result.status, 7, "status, with " + engine)
    return comparable(result.log_text), result


@h.test("log: -w: each call's stack, as by traps")
def stacks(case):
    wanted, _ = stacks_of(case, "trap", seeded())
    lines, result = stacks_of(case, "agent", seeded())
    check_same_lines(lines, wanted)
    check_lossless(result)
    calls = sum(not line.startswith(" > ") for line in lines)
    h.check(number(r"; ([\d,]+) calls? in the process", result.err) >
            calls / 2, "most by traps: " + result.err)
    result = case.calltrap("--engine=agent", "-w", "300", "-x", "labs",
                           "true")
    h.check_match(r"by traps alone \(-w", result.err, "too deep a stack")


class Growing:
    """What a log has, read once, however fast it grows."""

    def __init__(self, path):
        self.path, self.offset, self.rest = path, 0, ""

    def lines(self):
        """Whole ones, since the last time."""
        with contextlib.suppress(FileNotFoundError), open(self.path) as file:
            file.seek(self.offset)
            text = self.rest + file.read()
            self.offset = file.tell()
            *lines, self.rest = text.split("\n")
            return lines
        return []


def leaves_out(growing, seen):
    """Whether calls have come without their text, and then with one frame."""
    for line in growing.lines():
        if line.startswith("strlen"):
            seen["calls"] += 1
            seen["texts"] += '"a text"' in line
            seen["short"] |= seen["frames"] == 1 and seen["textless"]
            seen["textless"], seen["frames"] = '"a text"' not in line, 0
        else:
            seen["frames"] += line.startswith(" > ")
    return seen["short"]


@h.test("log: --max-overhead leaves out texts, then stacks, and says so")
def dear(case):
    program = h.build("dear", "dear.c", "-O1", "-fno-builtin")
    tracer = case.start_calltrap("--engine=agent", "--when-full=wait",
                                 "--max-overhead", "1%", "-w", "9", "-L", "-x",
                                 "strlen@libc.so.6", program)
    growing = Growing(tracer.log_path)
    seen = {"calls": 0, "texts": 0, "frames": 0, "short": False,
            "textless": False}
    h.wait_until(lambda: leaves_out(growing, seen) or
                 tracer.popen.poll() is not None, "what is left out")
    os.kill(int(re.match(r"pid (\d+)$", tracer.out, re.M)[1]),
            signal.SIGUSR1)
    h.check_equal(tracer.wait(), 7, "status; " + tracer.err)
    leaves_out(growing, seen)
    h.check_equal(seen["calls"], int(tracer.out.split()[-1]), "calls")
    h.check(0 < seen["texts"] < seen["calls"], "texts: %r" % seen)
    h.check_match(r"cost [\d.]+ % of its time on processors, of 1 % allowed; "
                  r"left out: what arguments point to, (\d+ % of the time|at "
                  r"the end), stacks beyond the caller, (\d+ %|at the end)",
                  tracer.err, "what was left out")


@h.test("log: -w of threads, with handlers in between")
def stacks_of_threads(case):
    target = start(case, "3", "3000", "handlers")
    tracer = attach(case, target, "-w", "5", "--when-full=wait")
    lines = finish(target, tracer).splitlines()
    check_lossless(tracer)
    h.check_equal(logged("\n".join(lines)), made(target), "calls in the log")
    for i in [i for i, line in enumerate(lines)
              if re.match(r"(\d+ )?(<\.\.\. )?labs.*\) *= ", line)]:
        h.check(lines[i + 1].startswith(" > slots"),
                "no stack: %r" % lines[i:i + 2])


def held_in_agent(pid):
    """Threads that stand where they wait for room: those at traps don't."""
    found = []
    for tid in os.listdir("/proc/%d/task" % pid):
        stat = h.read("/proc/%d/task/%s/stat" % (pid, tid))
        where = h.read("/proc/%d/task/%s/syscall" % (pid, tid)).split()
        if stat.rpartition(")")[2].split()[0] == "t" and len(where) > 1:
            ip = int(where[-1], 16)
            found += [tid for low, high in agent_ranges(pid)
                      if low <= ip < high]
    return found


def read_some(reader):
    size = 0
    while size < 4 << 20:
        h.check(select.select([reader], [], [], h.PATIENCE)[0], "no calls")
        size += len(os.read(reader, 65536))


def runs_on(target, tracer, reader):
    """Whether no thread stands while we read nothing. One may have come to a
    trap just before; then some more is read."""
    h.rest(h.worker_of(tracer.popen))
    found = [h.states(target.pid) for _ in range(20)]
    h.check_equal(held_in_agent(target.pid), [], "threads that are held")
    if "t" in set().union(*found):
        read_some(reader)
        return False
    return True


@h.test("log: threads that find no room run on while nobody reads it")
def are_not_held(case):
    target = start(case, "1", "0", "slots")
    path = case.path("pipe")
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    tracer = case.start([h.CALLTRAP, "--engine=agent", "--when-full=wait",
                         "-L", "-x", "labs", "-o", path, "-p",
                         str(target.pid)])
    h.settle(target, tracer)
    target.say("go\n")
    read_some(reader)
    h.wait_until(lambda: runs_on(target, tracer, reader),
                 "a moment without a trap")
    os.set_blocking(reader, True)
    with open(reader, errors="replace") as file:
        thread = threading.Thread(target=collections.deque, args=(file, 0))
        thread.start()
        finish_only(target)
        h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
        thread.join()


def flood(case, threads, calls):
    """How many calls were told until each thread had called dlsym() so often."""
    tracer = case.start_calltrap("--engine=agent", "-L", "-x",
                                 "labs@libc.so.6+dlsym@libc.so.6",
                                 h.build("flood", "flood.c", *FLAGS),
                                 str(threads), str(calls))
    h.wait_until(lambda: "ready" in tracer.out, "the target")
    tracer.say("go\n")
    h.check_equal(tracer.wait(), 7, "status of the target")
    os.unlink(tracer.log_path)
    h.check_equal(caught(tracer)[0], 1, "functions in the process")
    return number(r"; ([\d,]+) calls in the process", tracer.err)


@h.test("log: who stands at a trap doesn't wait for a full ring each")
def crowd(case):
    threads, calls, ring = 32, 4, 45000
    # One by one each waits for as much as a ring has room for, twice a call.
    most = 2 * calls * threads * ring // 8
    tries = []

    def is_soon():
        tries.append(flood(case, threads, calls))
        return tries[-1] < most

    h.check(any(is_soon() for _ in range(3)),
            "calls of others meanwhile: %s, at most %d" % (tries, most))


@h.test("log: -f: each call of each child, in order")
def children(case):
    for options in [], ["-w", "3"]:
        target = start(case, "1", "700", "fork")
        tracer = attach(case, target, "-f", "--when-full=wait", *options)
        log = finish(target, tracer)
        check_lossless(tracer)
        calls = collections.defaultdict(list)
        for pid, argument in re.findall(r"^(\d+) labs@libc[^(]*\((-?\d+)",
                                        log, re.M):
            calls[int(pid)].append(-int(argument))
        h.check_equal(calls.pop(target.pid), list(range(700)) * 20,
                      "the parent's calls")
        h.check_equal(len(calls), 20, "children that call")
        for pid, found in calls.items():
            h.check_equal(found, list(range(1000)), "calls of %d" % pid)
        own = number(r"; ([\d,]+) calls? in the process", tracer.err)
        h.check(own > 20 * 1500, "most by traps: " + tracer.err)


@h.test("exec: nothing is left of it")
def program_runs_another(case):
    target = start(case, "1", "500", "exec")
    tracer = attach(case, target, "-c")
    target.say("go\n")
    h.wait_until(lambda: "done" in target.out, "the calls")
    target.say("run\n")
    h.wait_until(lambda: target.out.count("ready") == 2, "the exec")
    h.check("calltrap-agent" not in h.read("/proc/%d/maps" % target.pid),
            "mapped after the exec")
    target.say("go\n")
    h.wait_until(lambda: target.out.count("done") == 2, "the calls")
    target.say("end\n")
    h.check_equal(target.wait(), 7, "status")
    tracer.wait()
    h.check_equal(counted(h.read(tracer.log_path)), 1000, "calls")


# ------------------------------------------------------------ coming and going


def writable_words(pid, path):
    """The program's own data: its slots among them."""
    words = {}
    with open("/proc/%d/mem" % pid, "rb", 0) as mem:
        for line in h.read("/proc/%d/maps" % pid).splitlines():
            fields = line.split()
            if fields[-1] != path or "x" in fields[1]:
                continue
            low, high = (int(n, 16) for n in fields[0].split("-"))
            with contextlib.suppress(OSError):
                data = os.pread(mem.fileno(), high - low, low)
                for i in range(0, len(data) - 7, 8):
                    words[low + i] = struct.unpack_from("<Q", data, i)[0]
    return words


def layout(name):
    """A number of the agent's layout."""
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    text = h.read(os.path.join(top, "sysdeps/x86_64/agent/layout.h"))
    return int(re.search(r"#define %s +(\w+)" % name, text).group(1), 0)


def gate_offset():
    return layout("AGENT_CODE_SIZE") + (layout("AGENT_STUBS") *
                                        layout("AGENT_STUB_SIZE"))


def agent_ranges(pid):
    """Where the agent's code and its stubs lie."""
    lines = h.read("/proc/%d/maps" % pid).splitlines()
    for i, line in enumerate(lines):
        if "calltrap-agent" in line:
            shared = int(line.split("-")[0], 16)
            return [(shared - layout("AGENT_SHARED_OFFSET"), shared)]
    return []


def slots_inside(pid, path):
    ranges = agent_ranges(pid)
    return [address for address, word in writable_words(pid, path).items()
            if any(low <= word < high for low, high in ranges)]


def wait_for_slots(target, program):
    h.wait_until(lambda: slots_inside(target.pid, program),
                 "a slot that leads to the agent")


def restored(target, program):
    return not slots_inside(target.pid, program)


def lasting_mappings(pid):
    """But for those of jumps: which functions get one is a matter of how often
    their traps are hit."""
    return [line for line in h.read("/proc/%d/maps" % pid).splitlines()
            if not is_for_jumps(*line.split(None, 5))]


def is_for_jumps(addresses, rights, *rest):
    low, high = (int(word, 16) for word in addresses.split("-"))
    return rights == "r-xp" and len(rest) == 3 and high - low == 0x2000


@h.test("leaving: slots and code are as they were, each time")
def come_and_go(case):
    program = slots()
    target = start(case, "2", "0")
    target.say("go\n")
    sizes = set()
    for _ in range(ROUNDS):
        tracer = attach_busy(case, target, "-c")
        wait_for_slots(target, program)
        time.sleep(random.uniform(0, 0.05))
        os.kill(tracer.popen.pid, signal.SIGINT)
        tracer.wait()
        h.check(counted(h.read(tracer.log_path)), "nothing was counted")
        h.check(restored(target, program), "a slot still leads to the agent")
        h.check_untouched(target.pid)
        sizes.add(len(lasting_mappings(target.pid)))
        h.check_equal(len(os.listdir("/proc/%d/fd" % target.pid)), 3,
                      "descriptors of the target")
    h.check_equal(len(sizes), 1, "numbers of mappings after each round")
    target.say("stop\n")
    h.wait_until(lambda: "done" in target.out, "the end")
    target.say("end\n")
    h.check_equal(target.wait(), 7, "status of the target")


def gate_is_closed(pid):
    low = agent_ranges(pid)[0][0]
    with open("/proc/%d/mem" % pid, "rb", 0) as mem:
        return os.pread(mem.fileno(), 8, low + gate_offset()) == bytes(8)


def attach_after_a_kill(case, target):
    """The guardian, which closes the gate first of all, traces the process for
    a moment: who comes meanwhile is refused."""
    tries = []

    def is_in():
        if not tries or tries[-1].popen.poll() is not None:
            tries.append(case.start_calltrap(
                "--engine=agent", "-D", "trap", "-L", "-x", "labs", "-c",
                "-p", str(target.pid)))
        return "agent: in process" in tries[-1].err
    h.wait_until(lambda: not h.traps_in(target.pid), "the code")
    h.wait_until(is_in, "the next one")
    return tries[-1]


@h.test("killed, all of it: the process goes on, and the next one repairs it")
def killed(case):
    program = slots()
    for _ in range(ROUNDS):
        # Few calls come by traps, of which a process may die.
        target = start(case, "2", "0", "slots")
        target.say("go\n")
        tracer = attach_busy(case, target, "-c")
        wait_for_slots(target, program)
        time.sleep(random.uniform(0, 0.1))
        os.killpg(tracer.popen.pid, signal.SIGKILL)
        tracer.wait()
        h.wait_until(lambda: gate_is_closed(target.pid), "the gate")
        h.check(not restored(target, program), "nobody restores slots yet")
        again = attach_after_a_kill(case, target)
        time.sleep(0.05)
        os.kill(again.popen.pid, signal.SIGINT)
        again.wait()
        h.check(counted(h.read(again.log_path)), "nothing was counted")
        h.check(restored(target, program), "a slot still leads to the agent")
        target.say("stop\n")
        h.wait_until(lambda: "done" in target.out, "the end")
        target.say("end\n")
        h.check_equal(target.wait(), 7, "status of the target")


def attach_past_traps(case, target, program):
    """No call comes by a trap: there is none at jumps, and what others call leads past
    those at functions."""
    tracer = attach_without_stubs(case, target, ["labs", "memcpy", "memmove"])
    wait_for_slots(target, program)
    if calls_what_it_chose(libc_of(target.pid)):
        h.wait_until(lambda: slots_inside(target.pid, libc_of(target.pid)),
                     "a slot of the C library's")
    h.wait_until(lambda: not trap_at_jump(target.pid, program), "the last stop")
    return tracer


def libc_of(pid):
    return re.search(r"\S+/libc\.so\.6$", h.read("/proc/%d/maps" % pid), re.M)[0]


def calls_what_it_chose(library):
    """By slots of its own: those of functions that it has chosen for the processor.
    Not each C library has such, and then only the program's lead to the agent."""
    h.need("readelf")
    return "_IRELATIV" in h.command_output(["readelf", "-rW", library])[1]


def trap_at_jump(pid, program):
    return any(re.search(r": cc, in the file ff$", text) and program in text
               for text in h.code_differences(pid))


@h.test("without stubs: slots are as they were, also when calltrap is killed")
def killed_without_stubs(case):
    program = without_stubs("gcc")
    for _ in range(ROUNDS):
        target = start(case, "2", "0", "slots", program=program)
        target.say("go\n")
        tracer = attach_past_traps(case, target, program)
        os.killpg(tracer.popen.pid, signal.SIGKILL)
        tracer.wait()
        h.wait_until(lambda: gate_is_closed(target.pid), "the gate")
        h.check(not restored(target, program), "nobody restores slots yet")
        again = attach_after_a_kill(case, target)
        os.kill(again.popen.pid, signal.SIGINT)
        again.wait()
        for path in program, libc_of(target.pid):
            h.check(restored(target, path), "a slot of %s is the agent's" % path)
        tracer = attach_past_traps(case, target, program)
        os.kill(tracer.popen.pid, signal.SIGINT)
        tracer.wait()
        for path in program, libc_of(target.pid):
            h.check(restored(target, path), "a slot of %s is the agent's" % path)
        target.say("stop\n")
        h.wait_until(lambda: "done" in target.out, "the end")
        target.say("end\n")
        h.check_equal(target.wait(), 7, "status of the target")


@h.test("killed on the way in: no thread has registers of ours")
def killed_on_the_way_in(case):
    h.need("strace")
    for number in range(9, 9 + 3 * ROUNDS):
        # One call: where no guardian is fast enough, the next one may hit a
        # trap (strace kills that as well).
        target = start(case, "1", "1", "slots")
        tracer = case.start(
            ["strace", "-f", "-qq", "-o", case.path("strace"), "-e",
             "trace=ptrace", "-e",
             "inject=ptrace:signal=KILL:when=%d" % number, h.CALLTRAP,
             "--engine=agent", "-L", "-x", "labs", "-c", "-o",
             case.path("log"), "-p", str(target.pid)])
        h.wait_until(lambda: h.are_planted(target.pid) or
                     tracer.popen.poll() is not None, "the traps")
        target.say("go\n")
        h.wait_until(lambda: "done" in target.out or
                     target.popen.poll() is not None, "the call")
        with contextlib.suppress(BrokenPipeError):
            target.say("end\n")
        status = target.wait()
        h.check(status in (7, -signal.SIGTRAP),
                "killed at %d: status %r" % (number, status))
        tracer.wait()


# ---- heap ----

def seeded():
    return h.build("heap_seeded", "heap_seeded.c", "-g", "-O1",
                   "-fno-builtin", "-pthread")


COUNTS = ("blocks", "bytes", "alloc_blocks", "alloc_bytes", "freed_blocks",
          "freed_bytes", "failed", "stack_is_whole")


def sites_of(path):
    """What each stack holds and has had, in every respect but time."""
    report = json.loads(h.read(path))
    lost = report["lost"]
    h.check(not any(lost[what] for what in ("unreadable", "unseen", "blind",
                                            "stacks_broken")), str(lost))
    sites = {}
    for site in report["sites"]:
        stack = tuple((frame.get("function"), frame.get("address"))
                      for frame in site["stack"])
        key = site.get("library"), stack
        h.check(key not in sites, "a site stands there twice: %s" % (key,))
        sites[key] = [site[count] for count in COUNTS]
    incidents = sorted((one["kind"], one["count"], one["bytes"])
                       for one in report["incidents"])
    calls = sorted((call["function"], call.get("library"), call["calls"],
                    call["failed"], call["bytes"])
                   for call in report["calls"])
    return sites, incidents, calls


def check_sites_equal(found, wanted):
    for stack in sorted(set(found[0]) | set(wanted[0]), key=str):
        h.check_equal(found[0].get(stack), wanted[0].get(stack),
                      "%s of %s" % (", ".join(COUNTS), stack))
    h.check_equal(found[1], wanted[1], "incidents")
    h.check_equal(found[2], wanted[2], "calls")


def heap_of(case, engine, *arguments):
    path = case.path(engine + ".json")
    result = case.calltrap("heap", "--engine=" + engine, "--json", path,
                           seeded(), *arguments, log=False)
    h.check_equal(result.status, 7, "status of the program")
    return sites_of(path), result


@h.test("heap: site by site as by traps")
def heap_is_the_same(case):
    wanted, _ = heap_of(case, "trap", "3", "700")
    for _ in range(ROUNDS):
        found, result = heap_of(case, "agent", "3", "700")
        check_sites_equal(found, wanted)
        check_lossless(result)
        h.check(caught(result)[0] >= 4, result.err)


@h.test("heap: attached, site by site as by traps")
def heap_is_the_same_attached(case):
    results = []
    for engine in "trap", "agent":
        path = case.path(engine + ".json")
        target = case.start([seeded(), "2", "700", "go"])
        h.wait_until(lambda: "ready" in target.out, "the target")
        tracer = case.start([h.CALLTRAP, "heap", "--engine=" + engine,
                             "--json", path, "-p", str(target.pid)])
        hr.settle(target, tracer)
        target.say("go\n")
        h.wait_until(lambda: "done" in target.out or
                     target.popen.poll() is not None, "the calls")
        target.say("end\n")
        h.check_equal(target.wait(), 7, "status of the target")
        tracer.wait()
        results.append(sites_of(path))
    check_sites_equal(results[1], results[0])


@h.test("heap: calls within operator new and delete, and behind those that were left, "
        "as by traps")
def heap_inner(case):
    """Those within aren't told of in the process; by new handlers that jump away or
    throw, what comes then is none of these."""
    for flags in [], ["-DOWN"]:
        for _ in range(ROUNDS):
            by_both(case, h.build("heap_inner" + "".join(flags), "heap_inner.cc", "-g",
                                  "-O1", "-std=c++17", "-pthread", *flags, cc="g++"))


def heap_left_unseen(engine):
    @h.test("heap: who left operator new unseen has what it acquires told of, %s" %
            engine)
    def left(case):
        """As soon as it has called from above in its stack: that one is over, though
        its return address still lies there."""
        h.need("g++")
        library = h.build("libleft_new.so", "libleft_new.cc", "-g", "-O1", "-fPIC",
                          "-shared", cc="g++")
        program = h.build("left_new", "left_new.cc", "-g", "-O1", library,
                          "-Wl,-rpath," + os.path.dirname(library), cc="g++")
        path = case.path("left.json")
        result = case.calltrap("heap", "--engine=" + engine, "--json", path, program,
                               log=False)
        h.check_equal(result.status, 7, "status of the program")
        found = sum(site["alloc_blocks"] for site in json.loads(h.read(path))["sites"]
                    if site["stack"] and
                    site["stack"][0].get("function") == "acquire_below()")
        h.check_equal(found, 200, "told of")


for each_engine in "agent", "trap":
    heap_left_unseen(each_engine)


# Frames are as large as it comes, so that what lay there before still does; and
# handlers jump out of some of them.
VARYING = """
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
static volatile unsigned long made;
static volatile int may;
static sigjmp_buf back;
static __attribute__((noinline)) void *deep(unsigned depth)
{
        volatile char *room = alloca(16 + made * 7919 % 200);
        void *block;
        room[0] = 1;
        block = depth ? deep(depth - 1) : malloc(16);
        room[1] = 2;
        made++;
        return block;
}
static __attribute__((noinline)) void wait_there(unsigned depth)
{
        volatile char *room = alloca(16 + made % 50);
        room[0] = 1;
        if (depth)
                wait_there(depth - 1);
        for (volatile int i = 0; i < 20000 && may; i++)
                ;
        room[1] = 2;
}
static __attribute__((noinline)) void *leaf(void)
{
        void *block = malloc(32);
        made++;
        return block;
}
static __attribute__((noinline)) void *left(void)
{
        void *block = leaf();
        made++;
        return block;
}
static __attribute__((noinline)) void *right(void)
{
        void *block = leaf();
        made++;
        return block;
}
static void jump(int signal)
{
        (void)signal;
        if (may)
                siglongjmp(back, 1);
}
int main(void)
{
        const struct itimerval often = { { 0, 300 }, { 0, 300 } };
        static volatile unsigned long i;
        signal(SIGALRM, jump);
        setitimer(ITIMER_REAL, &often, NULL);
        (void)sigsetjmp(back, 1);
        may = 0;
        while (i < 90000) {
                free(i % 2 ? left() : right());
                free(deep(i++ % 9));
                may = i % 64 == 0;
                if (may)
                        wait_there(i % 5);
                may = 0;
        }
        return 7;
}
"""


@h.test("heap: frames of changing size, and jumps: each call at its depth")
def heap_at_each_depth(case):
    path = case.path("json")
    program = h.build("varying", case.write("varying.c", VARYING), "-g", "-O1",
                      "-fno-builtin", directory=case.path("."))
    result = case.calltrap("heap", "--engine=agent", "--json", path, program,
                           log=False)
    h.check_equal(result.status, 7, "status of the program")
    found = [(len(stack), numbers[2], numbers[4])
             for (_, stack), numbers in sites_of(path)[0].items()
             if stack[0][0] == "deep"]
    h.check_equal(sorted(numbers[1:] for numbers in found),
                  [(10000, 10000)] * 9, "acquired and given back, each depth")
    h.check_equal(len({depth for depth, _, _ in found}), 9, "depths")
    h.check_equal(sorted((stack[1][0], numbers[2])
                         for (_, stack), numbers in sites_of(path)[0].items()
                         if stack[0][0] == "leaf"),
                  [("left", 45000), ("right", 45000)], "callers of callers")
    check_lossless(result)


# Between frames without tables lies one of the C library's, which has some and
# keeps what it likes in the frame pointer.
BARE = """
#include <stdlib.h>
static unsigned long made;
static __attribute__((noinline)) void *take(size_t size)
{
        void *block = malloc(size);
        made++;
        return block;
}
static __attribute__((noinline)) void *deep(unsigned depth)
{
        void *block = depth ? deep(depth - 1) : take(40);
        made++;
        return block;
}
static int compare(const void *a, const void *b)
{
        free(deep(made % 5));
        return *(const int *)a - *(const int *)b;
}
int main(void)
{
        for (int i = 0; i < 2000; i++) {
                int numbers[] = { 4, 3, 2, 1, 7, 6, 8, 5 };
                free(take(24));
                qsort(numbers, 8, sizeof(int), compare);
        }
        return 7;
}
"""


@h.test("heap: code without tables, by frame pointers, as by traps")
def heap_without_tables(case):
    program = h.build("bare", case.write("bare.c", BARE), "-O1", "-fno-builtin",
                      "-fno-omit-frame-pointer", "-fno-unwind-tables",
                      "-fno-asynchronous-unwind-tables",
                      "-fno-optimize-sibling-calls", directory=case.path("."))
    found, stops = [], []
    for engine in "trap", "agent":
        path = case.path(engine)
        result = case.calltrap("heap", "--engine=" + engine, "--json", path,
                               program, log=False)
        h.check_equal(result.status, 7, "status of the program")
        found.append(sites_of(path))
        stops.append(json.loads(h.read(path))["cost"]["stops"])
    check_sites_equal(found[1], found[0])
    depths = {len(stack) for (_, stack) in found[0][0]
              if stack[0][0] == "take"}
    h.check(len(depths) >= 6, "depths: %s" % depths)
    check_lossless(result)
    h.check(stops[1] < stops[0] / 10, "stops by traps and so: %s" % stops)


WRAPPING = """
#include <errno.h>
#include <stdlib.h>
static _Alignas(64) char memory[1 << 24];
static size_t used;
void *malloc(size_t size)
{
        void *block = memory + used;
        used += (size + 63) / 64 * 64;
        return used > sizeof(memory) ? NULL : block;
}
static volatile size_t freed;
void free(void *block) { freed += block != NULL; }
void *calloc(size_t count, size_t size) { return malloc(count * size); }
void *realloc(void *block, size_t size) { (void)block; return malloc(size); }
int posix_memalign(void **ret, size_t alignment, size_t size)
{
        *ret = alignment <= 64 ? malloc(size) : NULL;
        return *ret ? 0 : ENOMEM;
}
"""
WRAPPED = """
#include <stdlib.h>
int main(void)
{
        for (int i = 0; i < 30000; i++) {
                void *block;
                if (posix_memalign(&block, 16, 100))
                        return 1;
                free(block);
        }
        return 7;
}
"""


def check_calls_within(case, program):
    path = case.path("within.json")
    result = case.calltrap("heap", "--engine=agent", "--json", path, program,
                           log=False)
    h.check_equal(result.status, 7, "status of the program")
    check_lossless(result)
    calls = {call[0]: call[2] for call in sites_of(path)[2]
             if (call[1] or "").endswith("wrapped")}
    h.check_equal((calls.get("posix_memalign"), calls.get("free"),
                   calls.get("malloc")), (30000, 30000, None), "calls")
    stops = json.loads(h.read(path))["cost"]["stops"]
    h.check(stops < 15000, "%d stops for 60000 calls" % stops)


@h.test("heap: an allocator's calls within its own stop nobody")
def heap_within(case):
    directory = case.path("wrapping")
    os.mkdir(directory)
    h.build_library("liballoc.so", case.write("alloc.c", WRAPPING),
                    "-fno-builtin", directory=directory)
    check_calls_within(case, h.build(
        "wrapped", case.write("wrapped.c", WRAPPED), "-O1",
        *h.near(directory), "-lalloc", directory=directory))


@h.test("heap: what the C library's allocator calls within its own stops nobody")
def heap_within_libc(case):
    """malloc, directly, as no more alignment than its own is asked for."""
    check_calls_within(case, h.build(
        "wrapped", case.write("wrapped.c", WRAPPED), "-O1",
        directory=case.path(".")))


PLACES = 3000
NEW_PLACES = """
#include <pthread.h>
#include <stdlib.h>
static void *kept[2][%d];
static volatile unsigned long made;
%s
typedef void function(unsigned);
static function *const takes[] = { %s }, *const gives[] = { %s };
static void *work(void *thread)
{
        for (unsigned i = 0; i < 1000; i++)
                free(malloc(24));
        for (unsigned i = 0; i < %d; i++)
                takes[(i * 7 + 1) %% %d](thread != NULL);
        for (unsigned i = 0; i < %d; i++)
                gives[i](thread != NULL);
        return NULL;
}
int main(void)
{
        pthread_t other;
        work(NULL);
        pthread_create(&other, NULL, work, &other);
        pthread_join(other, NULL);
        return 7;
}
"""
NEW_PLACE = """
static __attribute__((noinline)) void take%d(unsigned n)
{ kept[n][%d] = malloc(%d); made++; }
static __attribute__((noinline)) void give%d(unsigned n)
{ free(kept[n][%d]); made++; }
"""


def by_both(case, program):
    """What heap finds by traps and by the agent, which is to be the same; the stops."""
    found, stops = [], []
    for engine in "trap", "agent":
        path = case.path(engine)
        result = case.calltrap("heap", "--engine=" + engine, "--json", path,
                               program, log=False)
        h.check_equal(result.status, 7, "status of the program")
        found.append(sites_of(path))
        stops.append(json.loads(h.read(path))["cost"]["stops"])
    check_sites_equal(found[1], found[0])
    check_lossless(result)
    return stops


def new_places(case, *flags):
    source = NEW_PLACES % (
        PLACES, "".join(NEW_PLACE % (n, n, 16 + n, n, n) for n in range(PLACES)),
        ", ".join("take%d" % n for n in range(PLACES)),
        ", ".join("give%d" % n for n in range(PLACES)), PLACES, PLACES, PLACES)
    program = h.build("places", case.write("places.c", source), "-O1",
                      "-fno-builtin", "-pthread", *flags, directory=case.path("."))
    return by_both(case, program)


@h.test("heap: a call from a place that is new stops once, and is as by traps")
def heap_new_places(case):
    """With the rule that was missing the process tells of it, return and all: of code
    without tables, whose rules are learned one by one."""
    stops = new_places(case, "-fno-asynchronous-unwind-tables",
                       "-fno-omit-frame-pointer")
    # It was 3 for each place, and some until the agent is in.
    h.check(PLACES < stops[1] < 2.8 * PLACES, "stops by traps and so: %s" % stops)


@h.test("heap: where tables tell, most new places stop nobody")
def heap_places_by_tables(case):
    stops = new_places(case)
    h.check(stops[1] < PLACES / 2, "stops by traps and so: %s" % stops)


GOING_PLACES = 2000
GOING_LIBRARY = """
#include <stdlib.h>
#include <string.h>
extern void *kept[];
%s
typedef void function(void);
function *const all[] = { %s };
"""
GOING_PLACE = """
void __attribute__((noinline)) take%d(void)
{ volatile char room[%d]; room[0] = 1; free(kept[%d]); kept[%d] = malloc(%d); room[1] = 1; }
"""
GOING = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
void *kept[%d];
typedef void function(void);
static void *run(const char *path)
{
        void *library = dlopen(path, RTLD_NOW);
        function *const *all = library ? dlsym(library, "all") : NULL;
        void *place = all ? (void *)all[0] : NULL;
        for (int i = 0; place && i < %d; i++)
                all[(i * 7 + 1) %% %d]();
        if (library)
                dlclose(library);
        return place;
}
int main(void)
{
        for (int i = 0; i < 1000; i++)
                free(malloc(24));
        for (int i = 0; i < 2; i++)
                if (!run("./libone.so") || !run("./libother.so"))
                        return 1;
        fprintf(stderr, run("./libone.so") == run("./libother.so") ? "same place\\n" :
                "other place\\n");
        return 7;
}
"""


def build_going(case):
    """Two libraries of the same shape, whose frames have other sizes."""
    for name, more in ("one", 100), ("other", 1000):
        places = "".join(GOING_PLACE % (n, more + n % 7 * 64, n, n, 16 + n)
                         for n in range(GOING_PLACES))
        source = GOING_LIBRARY % (places, ", ".join(
            "take%d" % n for n in range(GOING_PLACES)))
        h.build_library("lib%s.so" % name, case.write(name + ".c", source), "-O1",
                        "-fno-builtin", directory=case.path("."))
    return h.build("going", case.write("going.c", GOING % (
        (GOING_PLACES,) * 3)), "-rdynamic", "-ldl", directory=case.path("."))


@h.test("heap: a library's rules go with it, and others come to its place")
def heap_going(case):
    program = build_going(case)
    stops = by_both(case, program)
    h.check(stops[1] < stops[0] / 4, "stops by traps and so: %s" % stops)


def recorded(case, engine, *options):
    """What heap finds in a recording, and what record has said."""
    path = case.path(engine)
    result = case.calltrap("record", "--engine=" + engine, "-o", path,
                           *options, "--", seeded(), "3", "700", log=False)
    h.check_equal(result.status, 7, "status of the program")
    report = case.calltrap("heap", "--from", path, "--json", path + ".json",
                           log=False)
    h.check_equal(report.status, 0, report.err)
    return sites_of(path + ".json"), result


@h.test("record: site by site as by traps")
def recording_is_the_same(case):
    wanted, _ = recorded(case, "trap")
    found, result = recorded(case, "agent")
    check_sites_equal(found, wanted)
    check_lossless(result)
    h.check(caught(result)[0] >= 4, result.err)
    found, result = recorded(case, "agent", "--time-releases")
    check_sites_equal(found, wanted)
    h.check_equal(caught(result)[0], 0, result.err)
    h.check("(--time-releases)" in result.err, result.err)


def brood(case, *options):
    """What each process of heap_brood says of its functions, and what is said."""
    program = h.build("heap_brood", "heap_brood.c", "-g", "-O1", "-fno-builtin",
                      "-pthread")
    result = case.calltrap(*options, "--", program, "3", "2000", "9", log=False)
    h.check_equal(result.status, 0, "status of the program; " + result.err)
    told = collections.defaultdict(dict)
    for pid, name, *numbers in map(str.split, result.out.splitlines()):
        told[int(pid)][name] = list(map(int, numbers))
    h.check_equal(len(told), 10, "processes")
    return told, result


def check_brood(told, path_of):
    """Each site's numbers, and nothing that can't be right."""
    for pid, wanted in told.items():
        sites, incidents, _ = sites_of(path_of(pid))
        found = {name: [0] * 4 for name in wanted}
        for (_, stack), (_, _, *numbers, _, whole) in sites.items():
            h.check(whole, "a stack was cut: %s" % (stack,))
            for name in {frame[0] for frame in stack} & set(found):
                found[name] = list(map(sum, zip(found[name], numbers)))
        for name, numbers in wanted.items():
            acquired, acquired_bytes, released, released_bytes = numbers
            h.check_equal(found[name], [acquired, acquired_bytes, released,
                                        released_bytes],
                          "%s of %d" % (name, pid))
        h.check_equal(incidents, [], "incidents of %d" % pid)


def was_starved(brood_and_paths):
    return any(json.loads(h.read(path))["lost"]["blind"]
               for path in brood_and_paths[-1].values())


@h.test("heap: -f: each call of each child, by traps as in the processes")
def heap_of_children(case):
    stops = {}
    for engine in "trap", "agent", "auto":
        def attempt():
            told, result = brood(case, "heap", "-f", "--engine=" + engine,
                                 "--json", case.path(engine + ".%p"))
            return told, result, {pid: case.path("%s.%d" % (engine, pid))
                                  for pid in told}

        told, result, paths = h.unless_starved(attempt, was_starved)
        check_brood(told, paths.get)
        check_lossless(result)
        stops[engine] = sum(json.loads(h.read(path))["cost"]["stops"]
                            for path in paths.values())
    h.check(stops["agent"] < stops["trap"] / 5, "stops: %r" % stops)
    # The first calls of each function are by traps.
    h.check(stops["auto"] < stops["trap"] / 2, "stops: %r" % stops)


def played(case, path):
    done = case.calltrap("heap", "--from", path, "--json", path + ".json",
                         log=False)
    h.check_equal(done.status, 0, done.err)
    return path + ".json"


@h.test("record: -f: each call of each child")
def recordings_of_children(case):
    for engine in "agent", "auto":
        def attempt():
            told, _ = brood(case, "record", "-f", "--engine=" + engine, "-o",
                            case.path(engine + ".%p"))
            return told, {pid: played(case, case.path("%s.%d" % (engine, pid)))
                          for pid in told}

        told, paths = h.unless_starved(attempt, was_starved)
        check_brood(told, paths.get)


def made_by_seeded(threads, rounds):
    """Acquisitions and releases by heap_seeded's own loop, and what it loses."""
    acquired = released = 0
    for seed in range(1, threads + 1):
        held = set()
        for i in range(rounds):
            seed = (seed * 1103515245 + 12345) & 0xffffffff
            r = seed >> 8
            again = r % 512 in held and r % 7 == 0
            for _ in range(1 if again else 2):
                seed = (seed * 1103515245 + 12345) & 0xffffffff
            acquired += 1
            if not again:
                released += 1
                held.add(r % 512)
        released += 512 + (rounds + 49) // 50
        acquired += (rounds + 99) // 100
    return acquired, released, threads * ((rounds + 99) // 100)


@h.test("heap: threads that are faster than they are read")
def heap_keeps_up(case):
    threads, rounds = 3, 40000
    path = case.path("fast.json")
    result = case.calltrap("heap", "--engine=agent", "--json", path, seeded(),
                           str(threads), str(rounds), log=False)
    h.check_equal(result.status, 7, "status of the program")
    check_lossless(result)
    sites, _, calls = sites_of(path)
    by_program = [call for call in calls
                  if (call[1] or "").endswith("heap_seeded")]
    found = (sum(call[2] for call in by_program if call[0] != "free"),
             sum(call[2] for call in by_program if call[0] == "free"),
             sum(blocks for (_, stack), (blocks, *_) in sites.items()
                 if any(frame[0] == "work" for frame in stack) and
                 not any(frame[0] == "hand_over" for frame in stack)))
    h.check_equal(found, made_by_seeded(threads, rounds),
                  "acquired, released, lost")


@h.test("heap: left in the middle, nothing of it stays in the way")
def heap_is_left(case):
    program = seeded()
    for _ in range(ROUNDS):
        target = case.start([program, "2", "100000", "go"])
        h.wait_until(lambda: "ready" in target.out, "the target")
        tracer = case.start([h.CALLTRAP, "heap", "--engine=agent",
                             "-p", str(target.pid)])
        h.wait_until(lambda: h.are_planted(target.pid), "the traps")
        target.say("go\n")
        wait_for_slots(target, program)
        time.sleep(random.uniform(0, 0.1))
        os.kill(tracer.popen.pid, signal.SIGINT)
        tracer.wait()
        h.check(restored(target, program), "a slot still leads to the agent")
        h.check_untouched(target.pid)
        h.wait_until(lambda: "done" in target.out or
                     target.popen.poll() is not None, "the end")
        target.say("end\n")
        h.check_equal(target.wait(), 7, "status of the target")


STORM = """
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static volatile int over;
    static volatile long rounds[2], tids[2];
    static void *run(void *context)
    {
            long number = (long)context;
            tids[number] = syscall(SYS_gettid);
            while (!over) {
                    long *volatile block = malloc(64);
                    *block = number;
                    if (*block != number)
                            abort();
                    free(block);
                    rounds[number]++;
            }
            return context;
    }
    int main(void)
    {
            pthread_t threads[2];
            char line[8];
            for (long i = 0; i < 2; i++)
                    pthread_create(&threads[i], 0, run, (void *)i);
            puts("ready");
            fflush(stdout);
            while (fgets(line, sizeof(line), stdin) && line[0] == 'n') {
                    printf("rounds %ld %ld %ld %ld\\n", tids[0], rounds[0],
                           tids[1], rounds[1]);
                    fflush(stdout);
            }
            over = 1;
            for (int i = 0; i < 2; i++)
                    pthread_join(threads[i], 0);
            puts("done");
            fflush(stdout);
            return fgets(line, sizeof(line), stdin) ? 7 : 2;
    }
"""


def waits_of(pid, tid):
    """How often a thread has stopped running by itself: at a trap, or when
    it was held as there was no room."""
    status = h.read("/proc/%d/task/%d/status" % (pid, tid))
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)$", status,
                         re.M)[1])


def rounds_of(target):
    """Of each thread: its number, and how many rounds it has made."""
    before = target.out.count("rounds")
    target.say("n\n")
    h.wait_until(lambda: target.out.count("rounds") > before and
                 target.out.endswith("\n"), "an answer")
    answer = target.out.splitlines()[-1].split()
    return {int(answer[1]): int(answer[2]), int(answer[3]): int(answer[4])}


def runs_freely(target):
    """No thread comes to a trap any more: by these it would wait at each call,
    for room in its buffer it does so once in thousands."""
    waits = {tid: waits_of(target.pid, tid) for tid in rounds_of(target)}
    before = rounds_of(target)
    time.sleep(0.05)
    after = rounds_of(target)
    return all(after[tid] - before[tid] >
               100 * (1 + waits_of(target.pid, tid) - waits[tid])
               for tid in after)


QUIET = r"""
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	char line[16];
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < 3000; i++)
			free(malloc(100));
		puts("done");
		fflush(stdout);
	}
	return 0;
}
"""


def resident_of_agent(pid):
    """By the kernel: of what is shared with calltrap. Its code isn't named."""
    wanted, found = False, 0
    for line in h.read("/proc/%d/smaps" % pid).splitlines():
        words = line.split()
        if "-" in words[0] and not words[0].endswith(":"):
            wanted = "calltrap" in line
        elif wanted and words[0] == "Rss:":
            found += int(words[1]) * 1024
    return found


@h.test("heap: what is calltrap's own of the process's memory is told apart")
def own_memory(case):
    program = h.build("quiet", case.write("quiet.c", QUIET), "-O1",
                      "-fno-builtin", directory=case.dir)
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "the target")
    path = case.path("json")
    tracer = hr.attach(case, target,
                       options=["--engine=agent", "--json", path])
    hr.settle(target, tracer)
    owns = []
    for count in (1, 2):
        target.say("go\n")
        h.wait_until(lambda: target.out.count("done") == count, "the calls")
        tracer.popen.send_signal(signal.SIGQUIT)
        h.wait_until(lambda: h.read(tracer.report_path).count("cost: ") ==
                     count, "report %d" % count)
        process = json.loads(h.read(path))["growth"]["last"]
        shared = resident_of_agent(target.pid)
        h.check(shared > 50000, "shared: %d" % shared)
        h.check(shared <= process["own_bytes"] <= shared + (1 << 20),
                "own: %d, shared: %d" % (process["own_bytes"], shared))
        owns.append(process["own_bytes"])
    h.check(owns[1] > owns[0], "its buffer is used: %r" % owns)
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    h.check_match(r"(?m)^of RSS: .*, calltrap's own [\d,]+ \(\+[\d,]+\)$",
                  h.read(tracer.report_path), "the report")


PACED = r"""
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
	puts("ready");
	fflush(stdout);
	for (;; usleep(10000))
		for (int i = 0; i < 8; i++)
			free(malloc(100));
}
"""


@h.test("heap: calltrap's own memory is no growth of the process's")
def own_growth(case):
    program = h.build("paced", case.write("paced.c", PACED), "-O1",
                      "-fno-builtin", directory=case.dir)
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "the target")
    result = hr.heap(case, "--engine=agent", "--json", case.path("json"),
                     "--for", "6s", "-p", str(target.pid))
    growth = json.loads(h.read(case.path("json")))["growth"]
    grown = [trend["bytes_per_second"] for trend in growth["trends"]
             if trend["of"] == "resident"]
    h.check(not grown or grown[0] < 4096, "trends: %r" % growth["trends"])
    h.check("in no block" not in result.text, "report: " + result.text)


@h.test("heap: killed under nothing but malloc and free: the process goes on")
def heap_is_killed(case):
    program = h.build("storm", case.write("storm.c", STORM), "-O1",
                      "-fno-builtin", "-pthread")
    for _ in range(ROUNDS):
        target = start(case, program=program)
        tracer = case.start([h.CALLTRAP, "heap", "--engine=agent", "-o",
                             case.path("report"), "-p", str(target.pid)])
        # malloc and free: before that calls come by traps, which may kill.
        h.wait_until(lambda: agent_ranges(target.pid) and
                     len(slots_inside(target.pid, program)) >= 2 and
                     runs_freely(target), "calls without traps")
        time.sleep(random.uniform(0, 0.1))
        os.killpg(tracer.popen.pid, signal.SIGKILL)
        tracer.wait()
        h.wait_until(lambda: gate_is_closed(target.pid), "the gate")
        h.wait_until(lambda: not h.traps_in(target.pid), "the code")
        finish_only(target)


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
