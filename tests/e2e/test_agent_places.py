#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--engine=agent in programs that have little, allow little, or take away what is
read: each call is told of once, and the program does what it would without us."""

import json
import os
import re
import shutil
import signal
import sys

sys.dont_write_bytecode = True
import harness as h


# Nobody can look for leaks under a tracer.
NO_LEAKS = dict(os.environ, ASAN_OPTIONS="detect_leaks=0")


def start(case, program, *arguments):
    target = case.start([program, *arguments], env=NO_LEAKS)
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def attach(case, target, *options, engine="agent"):
    tracer = case.start_calltrap("--engine=" + engine, "-D", "probe", *options,
                                 "-p", str(target.pid))
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
    h.settle(target, tracer)
    return tracer


def finish(target, tracer):
    target.say("go\n")
    h.wait_until(lambda: "done" in target.out or
                 target.popen.poll() is not None, "the calls")
    target.say("end\n")
    h.check_equal(target.wait(), 7, "status of the target: " + target.err)
    h.check_equal(tracer.wait(), 0, "status of calltrap")


def was_starved(tracer):
    return "not recorded" in tracer.err or "went by unseen" in tracer.err


def gone(bytes_each):
    @h.test("log: what a call has filled is gone when it returns: -s %d" %
            bytes_each)
    def run(case):
        check_gone(case, "-s", str(bytes_each))


def check_gone(case, *options):
    h.need_jumps()

    def attempt():
        target = start(case, h.build("vanishing", "vanishing.c", "-O1"), "60")
        tracer = attach(case, target, "-L", "-x", "read@libc.so.6", *options)
        finish(target, tracer)
        return tracer

    tracer = h.unless_starved(attempt, was_starved)
    log = h.read(tracer.log_path)
    h.check_equal(len(re.findall(r" 0x[0-9a-f]+\?, \d+\) += \d+$", log, re.M)),
                  40, "reads whose memory is gone")
    h.check_equal(len(re.findall(r'"what .*, \d+\) += \d+$', log, re.M)),
                  20, "reads whose memory stays")
    h.check("SIGSEGV" not in log and "SIGBUS" not in log, log)
    caught = h.check_match(r"caught: 1 function in the process.*; ([\d,]+) "
                           r"calls? in the process", tracer.err, "engines")
    h.check(int(caught[1]) > 40, tracer.err)


gone(5)
gone(32)


def lodger(*flags):
    h.need_jumps()
    return h.build("lodger" + "".join(flags), "lodger.c", "-O1", "-fno-builtin",
                   "-pthread", *flags)


def calls_of(log, function):
    """By a table, or by a log."""
    for words in map(str.split, log.splitlines()):
        if words[-1:] == [function] and len(words) > 4 and words[3].isdigit():
            return int(words[3])
    return len(re.findall(r" %s(?:@[^(]*)?\(" % function, log))


def lodging(words, way, threads, rounds, *options, stack=1 << 16, flags=(),
            caught="caught: 1 function in the process, ", engine="agent"):
    @h.test("each call once: %s" % words)
    def run(case):
        command = [lodger(*flags), way, str(threads), str(rounds), str(stack)]
        if case.run(command, input_text="go\nend\n").status != 7:
            raise h.Skip("it can't run here: " + " ".join(command[1:]))

        def attempt():
            target = start(case, *command)
            tracer = attach(case, target, "-L", "-x", "labs", *options,
                            engine=engine)
            finish(target, tracer)
            return tracer

        tracer = h.unless_starved(attempt, was_starved)
        h.check_equal(calls_of(h.read(tracer.log_path), "labs"),
                      threads * rounds, "calls")
        h.check(caught in tracer.err, tracer.err)


BY_TRAPS = "caught: 0 functions in the process, 1 by traps alone (seccomp"
SMALL = 16384
lodging("threads with 16 KiB of stack", "all", 40, 50, "-c", stack=SMALL)
lodging("log: threads with 16 KiB of stack", "all", 40, 50, stack=SMALL)
lodging("log, -w: threads with 16 KiB of stack", "all", 40, 20, "-w", "5",
        stack=SMALL)
# So many that the agent is inside before they are over.
lodging("auto: threads with 16 KiB of stack", "all", 40, 500, "-c", stack=SMALL,
        engine="auto", caught="agent: labs: 0, 1 slots")
lodging("3,000 threads", "all", 3000, 3, "-c", stack=SMALL)
lodging("with AddressSanitizer", "all", 4, 200, "-c", stack=1 << 20,
        flags=("-fsanitize=address",))
lodging("few system calls are there: by traps", "errno", 4, 100, "-c",
        caught=BY_TRAPS)
lodging("few system calls don't kill: by traps", "kill", 4, 100, "-c",
        caught=BY_TRAPS)
lodging("log: few system calls don't kill: by traps", "kill", 4, 100,
        caught=BY_TRAPS)


@h.test("each call once: the program is deleted")
def deleted(case):
    path = case.path("lodger")

    def attempt():
        shutil.copy(lodger(), path)
        target = start(case, path, "all", "4", "200", str(SMALL))
        os.unlink(path)
        tracer = case.start_calltrap("--engine=agent", "-L", "-x", "labs",
                                     "-c", "-p", str(target.pid))
        h.settle(target, tracer)
        finish(target, tracer)
        return tracer

    tracer = h.unless_starved(attempt, was_starved)
    h.check_equal(calls_of(h.read(tracer.log_path), "labs"), 800, "calls")
    h.check("caught: 1 function in the process" in tracer.err, tracer.err)


@h.test("under valgrind: refused, and told why; but for its system calls")
def under_valgrind(case):
    h.need("valgrind")
    target = start(case, "valgrind", "--tool=none", "-q", lodger(), "all", "2",
                   "5", "65536")
    for options in ["-L", "-x", "labs"], ["-c"], ["--engine=agent"]:
        result = case.calltrap(*options, "-p", str(target.pid))
        h.check_equal(result.status, 1, "status of calltrap: " + result.err)
        h.check("runs under valgrind" in result.err and
                "-L -S" in result.err, result.err)
    tracer = case.start_calltrap("-L", "-x", "read@SYS", "-p", str(target.pid))
    h.wait_until(lambda: h.tracer_of(target.pid), "the attach")
    finish(target, tracer)
    h.check("read@SYS" in h.read(tracer.log_path), h.read(tracer.log_path))


class Busy:
    """Threads that make calls from before calltrap comes until it has gone."""

    THREADS, AT_ONCE = 2, 1000

    def __init__(self, case, argv, functions=("llabs", "labs"), env=None):
        self.case, self.functions = case, functions
        self.process = case.start([*argv, str(self.THREADS)], env=env)
        h.wait_until(lambda: "ready" in self.process.out or
                     self.process.popen.poll() is not None, "the target")
        if "ready" not in self.process.out:
            raise h.Skip("it can't run here: " + self.process.err)
        self.pid = self.find()
        self.places = [int(word, 16) for word in re.search(
            r"at (\w+) (\w+)\n", self.process.out).groups()]

    def find(self):
        """Itself, or what runs in a container."""
        pid = self.process.pid
        while h.children_of(pid):
            pid = h.children_of(pid)[0]
        return pid

    def ask(self, what, answer):
        have = self.process.out.count(answer)
        self.process.say(what)
        h.wait_until(lambda: self.process.out.count(answer) > have or
                     self.process.popen.poll() is not None, "an answer")
        return self.process.out

    def made(self):
        return int(re.findall(r"^made (\d+)\n", self.ask("?", "made"),
                              re.M)[-1])

    def mappings(self):
        return [line.split(None, 5) for line in
                h.read("/proc/%d/maps" % self.pid).splitlines()]

    def code(self):
        """By the addresses of the files' mappings."""
        found = {}
        with open("/proc/%d/mem" % self.pid, "rb", buffering=0) as mem:
            for words in self.mappings():
                if "x" in words[1] and len(words) == 6 and words[5][0] == "/":
                    start, end = (int(w, 16) for w in words[0].split("-"))
                    found[start] = os.pread(mem.fileno(), end - start, start)
        return found

    def byte(self, place):
        with open("/proc/%d/mem" % self.pid, "rb", buffering=0) as mem:
            return os.pread(mem.fileno(), 1, place)

    def code_without_file(self):
        return {words[0] for words in self.mappings()
                if "x" in words[1] and words[4] == "0" and len(words) == 5}

    def attach(self, engine):
        """The one isn't called yet; the other's trap may have been followed by
        the agent, and gone again."""
        was, before = [self.byte(place) for place in self.places], \
            self.code_without_file()
        tracer = self.case.start_calltrap(
            "--engine=" + engine, "-D", "probe", "-L", "-x",
            "+".join(self.functions), "-c", "-p", str(self.pid))
        h.wait_until(lambda: self.byte(self.places[1]) != was[1] and (
            self.byte(self.places[0]) != was[0] or
            self.code_without_file() != before), "the traps")
        return tracer

    def attempt(self, engine):
        """Calltrap, and how many calls it must and may have seen."""
        start = self.made()
        tracer = self.attach(engine)
        first = self.made()
        for _ in range(3):
            self.ask("go\n", "gone")
        last = self.made()
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap: " + tracer.err)
        return tracer, last - first, self.made() - start

    def round(self, engine, caught):
        code = self.code()
        tracer, least, most = h.unless_starved(
            lambda: self.attempt(engine), lambda found: was_starved(found[0]))
        self.check_counts(h.read(tracer.log_path), least, most)
        h.check_match(caught, tracer.err, "who caught them")
        h.check_equal(h.tracer_of(self.pid), 0, "tracer of the target")
        h.check(self.code() == code, "bytes are left behind")

    def check_counts(self, log, least, most):
        """What a thread counts is one call late."""
        calls = calls_of(log, self.functions[0])
        h.check(least - self.THREADS <= calls <= most + self.THREADS,
                "%d to %d calls of %s, counted: %d" %
                (least, most, self.functions[0], calls))
        h.check_equal(calls_of(log, self.functions[1]), 3 * self.AT_ONCE,
                      "calls of " + self.functions[1])

    def end(self):
        self.process.say("end\n")
        h.check_equal(self.process.wait(), 7, "status of the target: " +
                      self.process.err)


def busy_program(*flags, cc="gcc"):
    h.need_jumps()
    h.need(cc)
    return h.build("tireless-" + cc + "".join(flags), "tireless.c", "-O1",
                   "-fno-builtin", "-pthread", *flags, cc=cc, optional=True)


INSIDE = r"caught: 2 functions in the process"
# What is called too rarely for a jump goes by its trap.
BY_JUMPS = r"caught: [12] functions? in the process"
# With auto nothing is said of engines in the end.
AUTO = r"agent: l?labs: \d"
SECCOMP = r"caught: 0 functions in the process, 2 by traps alone \(seccomp"


def while_busy(words, way="all", flags=(), cc="gcc", caught=INSIDE):
    @h.test("attached to while busy, and left: " + words)
    def run(case):
        target = Busy(case, [busy_program(*flags, cc=cc), way])
        target.round("agent", caught)
        target.round("auto", "" if caught is SECCOMP else AUTO)
        target.end()


while_busy("a program, which takes the functions' addresses, too", caught=BY_JUMPS)
while_busy("seccomp's strict mode: by traps", "strict", caught=SECCOMP)
while_busy("the filter that Docker's containers have: by traps", "docker",
           caught=SECCOMP)
while_busy("a static program", flags=("-static",), caught=BY_JUMPS)
while_busy("a static program at any address", flags=("-static-pie", "-fPIE"),
           caught=BY_JUMPS)
while_busy("a static program of musl's", flags=("-static",), cc="musl-gcc",
           caught=BY_JUMPS)
while_busy("a program of musl's", cc="musl-gcc", caught=BY_JUMPS)


@h.test("attached to while busy, and left: an allocator that is preloaded")
def preloaded(case):
    library = "libjemalloc.so.2"
    path = h.command_output(["gcc", "-print-file-name=" + library])[1].strip()
    if not os.path.isabs(path):
        raise h.Skip(library + " isn't installed")
    target = Busy(case, [busy_program("-DALLOCATES"), "all"],
                  ("malloc", "calloc"), env=dict(os.environ, LD_PRELOAD=path))
    h.check("jemalloc" in h.read("/proc/%d/maps" % target.pid), "no jemalloc")
    target.round("agent", INSIDE)
    target.round("auto", r"agent: [mc]alloc: \d")
    target.end()


@h.test("attached to while busy, and left: in a container, its file is gone")
def container(case):
    h.need("unshare", "chroot")
    root = case.path("root")
    os.mkdir(root)
    shutil.copy(busy_program("-static"), root + "/busy")
    target = Busy(case, ["unshare", "--mount", "--pid", "--fork",
                         "--kill-child", "chroot", root, "/busy", "all"])
    os.unlink(root + "/busy")
    target.round("agent", BY_JUMPS)
    target.round("auto", AUTO)
    target.end()


@h.test("heap: threads with 16 KiB of stack, each block once")
def heap_on_small_stacks(case):
    path = case.path("heap.json")

    def attempt():
        target = start(case, lodger(), "all", "40", "50", str(SMALL))
        tracer = case.start([h.CALLTRAP, "heap", "--engine=agent", "--json",
                             path, "-p", str(target.pid)])
        h.settle(target, tracer)
        finish(target, tracer)
        return tracer, json.loads(h.read(path))

    tracer, report = h.unless_starved(
        attempt, lambda found: found[1]["lost"]["unseen"] or
        found[1]["lost"]["blind"])
    calls = {call["function"]: call["calls"] for call in report["calls"]}
    h.check_equal(calls.get("malloc"), 40 * 50, "calls of malloc")
    h.check_match(r"caught: [2-9] functions in the process", tracer.err,
                  "engines")


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
