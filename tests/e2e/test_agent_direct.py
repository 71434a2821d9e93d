#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--engine=agent: functions that are called directly are caught by a jump over
their first bytes, each call once; and the bytes are there again afterwards."""

import os
import random
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

ROUNDS = int(os.environ.get("ROUNDS", "3"))
NAMES = ("malloc", "free")
ALL = ("malloc", "calloc", "realloc", "free")
PROGRAMS = {
    "static": ("gcc", "-static"),
    "static-pie": ("gcc", "-static-pie", "-fPIE"),
    "musl": ("musl-gcc", "-static"),
    "forks": ("gcc", "-static", "-DFORKS"),
}
JUMP = 0xe9


def program(kind):
    h.need_jumps()
    cc, *flags = PROGRAMS[kind]
    h.need(cc)
    return h.build("direct-" + kind, "direct.c", "-O1", "-fno-builtin",
                   "-pthread", *flags, cc=cc)


class Target:
    def __init__(self, case, kind, threads=1, *more):
        self.process = case.start([program(kind), str(threads), *more])
        self.names = ALL if more else NAMES
        h.wait_until(lambda: "ready" in self.process.out, "the target")
        words = re.search(r"at (.*)\nready", self.process.out).group(1)
        places = dict(zip(ALL, (int(word, 16) for word in words.split())))
        self.places = [places[name] for name in self.names]
        self.asked = 0

    def code_at(self, pid, place):
        with open("/proc/%d/mem" % pid, "rb", buffering=0) as mem:
            mem.seek(place)
            return mem.read(5)

    def jumps(self, pid, before):
        """Those functions whose first bytes have become a jump."""
        now = [self.code_at(pid, place) for place in self.places]
        return [name for name, was, code in zip(self.names, before, now)
                if code[0] == JUMP and code != was]

    def code(self, pid):
        return [self.code_at(pid, place) for place in self.places]

    def rounds(self):
        self.asked += 1
        self.process.say("?\n")
        h.wait_until(lambda: self.said() >= self.asked, "an answer")
        return self.last()

    def said(self):
        return len(re.findall(r"^rounds.*\n", self.process.out, re.M))

    def last(self):
        lines = re.findall(r"^rounds(.*)\n", self.process.out, re.M)
        return [int(word) for word in lines[-1].split()]

    def get_on(self, most=200):
        """Each thread has made so many rounds more."""
        first = self.rounds()
        h.wait_until(lambda: all(now >= was + most for was, now in
                                 zip(first, self.rounds())), "the calls")

    def end(self):
        self.process.say("end\n")

    def finish(self):
        self.end()
        h.wait_until(lambda: "done" in self.process.out, "the end")
        h.check_equal(self.process.wait(), 7, "status of the target")
        return sum(self.last())


def attach(case, target, *options, log=True, more=()):
    before = target.code(target.process.pid)
    tracer = case.start_calltrap("--engine=agent", "-L",
                                 "-x", "+".join([*target.names, *more]),
                                 *options, "-p", str(target.process.pid), log=log)
    return before, tracer


def wait_for_jumps(target, before):
    pid = target.process.pid
    h.wait_until(lambda: len(target.jumps(pid, before)) == len(target.names),
                 "the jumps")


def count_of(log, name):
    row = h.check_match(r"^(?:.* )?%s$" % name, log, "the row")[0]
    return int(row.split()[3])


def inside(text):
    found = re.search(r"([\d,]+) calls? in the process", text)
    return int(found.group(1).replace(",", "")) if found else 0


def count_exactly(case, kind, *more):
    """From before the first call to the end of the program."""
    target = Target(case, kind, 2)
    before, tracer = attach(case, target, "-c", more=more)
    h.wait_until(lambda: h.are_planted(target.process.pid), "the traps")
    h.settle(target.process, tracer)
    target.process.say("go\n")
    wait_for_jumps(target, before)
    target.get_on(5000)
    rounds = target.finish()
    tracer.wait()
    log = h.read(tracer.log_path)
    for name in ("malloc", *more):
        h.check_equal(count_of(log, name), rounds, name)
    # glibc frees what a thread has kept when that ends.
    kept = count_of(log, "free") - rounds
    h.check(0 <= kept <= (0 if kind == "musl" else 2 * 512), log)
    h.check(inside(tracer.err) >= 2 * 5000, tracer.err)
    h.check("%d functions in the process" % (2 + len(more)) in tracer.err,
            tracer.err)


@h.test("a static program's calls are counted, each once")
def static(case):
    count_exactly(case, "static", "memset")


@h.test("those of a position-independent one")
def static_pie(case):
    count_exactly(case, "static-pie", "memset")


@h.test("those of one with musl")
def musl(case):
    count_exactly(case, "musl")


def come_and_go(case, kind):
    target = Target(case, kind, 4, "all")
    target.process.say("go\n")
    for _ in range(ROUNDS):
        before, tracer = attach(case, target, "-c")
        wait_for_jumps(target, before)
        time.sleep(random.uniform(0, 0.05))
        os.kill(tracer.popen.pid, signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        h.check_untouched(target.process.pid)
        target.get_on()
    target.finish()


@h.test("attached to and left, the bytes are there again")
def left(case):
    come_and_go(case, "static")
    come_and_go(case, "musl")


def kill_all(tracer, _):
    os.killpg(tracer.popen.pid, signal.SIGKILL)


def kill_worker(_, pid):
    os.kill(h.tracer_of(pid), signal.SIGKILL)


def leave_behind(case, target, kill):
    """Returns what was there before the jumps that are there now."""
    pid = target.process.pid
    before, tracer = attach(case, target, "-c")
    wait_for_jumps(target, before)
    target.get_on()  # nobody is on his way from a trap any more
    time.sleep(random.uniform(0, 0.05))
    kill(tracer, pid)
    tracer.wait()
    h.check_equal(len(target.jumps(pid, before)), 2, "jumps that are left")
    target.get_on()
    return before


def leave(target, tracer, before):
    os.kill(tracer.popen.pid, signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    h.check_equal(target.code(target.process.pid), before, "their first bytes")
    target.get_on()


def by_jumps_again(case, target, before):
    # Without a file for the counts it says what it has found.
    tracer = attach(case, target, "-c", log=False)[1]
    h.wait_until(lambda: "killed: repaired" in tracer.err, "the repair")
    wait_for_jumps(target, before)
    target.get_on()
    leave(target, tracer, before)


def by_traps(case, target, before):
    pid = target.process.pid
    tracer = case.start_calltrap("--engine=trap", "-L", "-x", "malloc+free", "-c",
                                 "-p", str(pid))
    h.wait_until(lambda: all(code[0] == 0xcc for code in target.code(pid)),
                 "the traps")
    target.get_on(20)
    leave(target, tracer, before)


def repair(case, kind):
    target = Target(case, kind, 4)
    target.process.say("go\n")
    for kill in (kill_all, kill_worker):
        for again in (by_jumps_again, by_traps):
            again(case, target, leave_behind(case, target, kill))
    target.finish()


@h.test("killed behind jumps: the program goes on, the next one repairs it")
def killed(case):
    for _ in range(ROUNDS // 3 or 1):
        repair(case, "static")


@h.test("the same with musl")
def killed_with_musl(case):
    for _ in range(ROUNDS // 3 or 1):
        repair(case, "musl")


@h.test("children that are made while an earlier one's jumps are taken out")
def children(case):
    target = Target(case, "forks", 5)
    target.process.say("go\n")
    for _ in range(ROUNDS):
        before = leave_behind(case, target, kill_worker)
        target.process.say("forks\n")
        target.get_on(5)
        tracer = attach(case, target, "-c", log=False)[1]
        h.wait_until(lambda: "killed: repaired" in tracer.err, "the repair")
        target.get_on(5)
        os.kill(tracer.popen.pid, signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        h.check_equal(target.code(target.process.pid), before,
                      "their first bytes")
        target.process.say("forks\n")
        target.get_on(5)  # the last children are over
    target.finish()


def heap_counts(case, engine):
    report = case.path("report." + engine)
    target = Target(case, "static", 2, "all")
    before = target.code(target.process.pid)
    tracer = case.start([h.CALLTRAP, "heap", "--engine=" + engine, "-o", report,
                         "-p", str(target.process.pid)])
    h.wait_until(lambda: h.are_planted(target.process.pid), "the traps")
    h.settle(target.process, tracer)
    target.process.say("go\n")
    if engine == "agent":
        wait_for_jumps(target, before)
    target.get_on(1000)
    rounds = target.finish()
    tracer.wait()
    text = h.read(report)
    h.check("calls lost: 0" in text, text)
    for name, each in zip(ALL, (1, 1, 1, 2)):
        found = re.search(r"^ *([\d,]+) .* %s by " % name, text, re.M)
        h.check(found, text)
        h.check_equal(int(found.group(1).replace(",", "")), each * rounds,
                      "%s by %s" % (name, engine))


@h.test("heap: what a static program acquires and releases, by both engines")
def heap(case):
    heap_counts(case, "agent")
    heap_counts(case, "trap")


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
