#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""calltrap heap --calls and --footprint: each call, against the program's own
record of its calls, and by making the calls of the file again."""

import contextlib
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402
import heap_reports as hr  # noqa: E402
from heap_call_lines import calls_of  # noqa: E402


def victim():
    return h.build("heap_calls", "heap_calls.c", "-g", "-O1", "-fno-builtin",
                   "-pthread")


def own_record(text):
    """What the program says: (tid, function, old, new, count, size)..."""
    found, held = [], [0, 0]
    for line in text.splitlines():
        words = line.split()
        if words and words[0] == "call":
            found.append((int(words[1]), words[2], words[3], words[4],
                          int(words[5]), int(words[6])))
        elif words and words[0] == "held":
            held = [held[0] + int(words[1]), held[1] + int(words[2])]
    return found, tuple(held)


# One function with two names: the first one is found.
ALIASES = {"aligned_alloc": "memalign"}


def by_thread(rows):
    threads = {}
    for row in rows:
        threads.setdefault(row[0], []).append(row)
    return threads


def expected(record, known=None):
    """The same calls as the log has to show them: sizes of what is given back
    are those that the program has asked for."""
    sizes, found = dict(known or {}), []
    for tid, function, old, new, count, size in record:
        total = min(count * size, 2 ** 64 - 1)
        function = ALIASES.get(function, function)
        if function == "free":
            size = sizes.pop(old, "?") if old != "0x0" else 0
            found.append((tid, function, None, old, None, str(size)))
        elif function == "realloc":
            before = sizes.get(old, "?") if old != "0x0" else 0
            if new != "0x0" or size == 0:
                sizes.pop(old, None)
                sizes[new] = size
            found.append((tid, function, old, new, str(before), str(size)))
        else:
            sizes[new] = total
            found.append((tid, function, None, new, None, str(total)))
    return found


def shown(calls):
    return [(call.tid, ALIASES.get(call.function, call.function), call.old, call.block, call.old_size,
             call.size) for call in calls if call.component == "program"]


def check_calls(calls, record):
    found, wanted = by_thread(shown(calls)), by_thread(expected(record))
    h.check_equal(sorted(found), sorted(wanted), "threads")
    for tid in wanted:
        h.check_equal(len(found[tid]), len(wanted[tid]), "calls of a thread")
        for one, other in zip(found[tid], wanted[tid]):
            h.check_equal(one, other, "a call")


# ---------------------------------------------------------------- replaying

class Replay:
    """Makes the calls of a footprint again, with numbers in place of blocks."""

    def __init__(self, path):
        lines = h.read(path).split("\n")
        self.held, self.counts, self.most = {}, {}, 0
        self.null_frees = 0
        h.check_equal(lines[1], "", "the second line")
        h.check_equal(lines[-1], "", "what follows the last line")
        h.check_equal(int(lines[0]), len(lines) - 3, "the number of calls")
        h.check_equal(lines[0], str(int(lines[0])), "the first line")
        for line in lines[2:-1]:
            kind, *words = line.split(" ")
            self.counts[kind] = self.counts.get(kind, 0) + 1
            getattr(self, "do_" + kind)(line, *map(int, words))
            self.most = max(self.most, len(self.held))

    def acquire(self, line, block, size):
        if not block:
            return
        h.check(block not in self.held, "acquired twice: " + line)
        h.check(0 < block <= self.most + 1, "not a small number: " + line)
        self.held[block] = size

    def do_m(self, line, block, size):
        self.acquire(line, block, size)

    def do_c(self, line, block, count, size):
        self.acquire(line, block, count * size)

    def do_r(self, line, new, old, size):
        h.check(not old or old in self.held, "nothing to resize: " + line)
        if new or not size:
            # A block is the old or the new one, never both at a time.
            self.acquire(line, new, size)
            self.held.pop(old, None)

    def do_f(self, line, block):
        h.check(not block or block in self.held, "nothing to free: " + line)
        self.null_frees += not block
        self.held.pop(block, None)

    def total(self):
        return len(self.held), sum(self.held.values())


KINDS = {"malloc": "m", "memalign": "m", "aligned_alloc": "m",
         "posix_memalign": "m", "calloc": "c", "realloc": "r", "free": "f"}


def kinds_of(functions):
    found = {}
    for function in functions:
        found[KINDS[function]] = found.get(KINDS[function], 0) + 1
    return found


# ---------------------------------------------------------------- exact

def gather(case, threads, rounds, *options):
    result = hr.heap(case, *options, "--calls", case.path("calls"),
                     "--footprint", case.path("footprint"), victim(),
                     str(threads), str(rounds))
    result.check_status(0)
    return result


@h.test("one thread: every call, as the program has it", users=True)
def _(case):
    result = gather(case, 1, 300)
    record, held = own_record(result.out)
    calls = calls_of(case.path("calls"))
    check_calls(calls, record)
    h.check_equal(len(calls), len(record), "no other calls")
    replay = Replay(case.path("footprint"))
    h.check_equal(replay.counts, kinds_of(row[1] for row in record),
                  "calls by kind")
    h.check_equal(replay.total(), held, "held at the end of the replay")
    h.check_equal(result.report.malloc.held(), held, "held by the report")
    h.check_equal(replay.null_frees, sum(
        row[1] == "free" and row[2] == "0x0" for row in record), "f 0")


@h.test("four threads: every call of each, and a replay that fits", users=True)
def _(case):
    result = gather(case, 4, 120)
    record, held = own_record(result.out)
    calls = calls_of(case.path("calls"))
    check_calls(calls, record)
    replay = Replay(case.path("footprint"))
    h.check_equal(replay.counts, kinds_of(call.function for call in calls),
                  "calls by kind")
    h.check_equal(replay.total(), result.report.malloc.held(), "held")
    others = [call for call in calls if call.component == "library" and
              call.function != "free"]
    h.check_equal(replay.total(), (
        held[0] + len(others), held[1] + sum(int(call.size)
                                             for call in others)),
        "held by the program and its threads")


@h.test("sorted by time, no block is anybody's twice")
def _(case):
    gather(case, 4, 120)
    calls = sorted(calls_of(case.path("calls")), key=lambda call: call.time)
    held = {}
    for call in calls:
        if call.function == "free":
            h.check_equal(call.size, held.pop(call.block, "0"), call.text)
        elif call.function != "realloc" and call.block != "0x0":
            h.check(call.block not in held, "held already: " + call.text)
            held[call.block] = call.size
        elif call.function == "realloc" and (call.block != "0x0" or
                                             call.size == "0"):
            held.pop(call.old, None)
            held[call.block] = call.size
            held.pop("0x0", None)


@h.test("times, frames and the component")
def _(case):
    path = case.write("components", "mine: heap_calls\n")
    before = time.time()
    result = gather(case, 1, 20, "--components", path)
    after = time.time()
    calls = calls_of(case.path("calls"))
    record, _ = own_record(result.out)
    h.check_equal(len(calls), len(record), "calls")
    for call in calls:
        h.check_equal((call.component, call.library), ("mine", "heap_calls"),
                      "component")
        h.check(before <= float(call.time) <= after, "time " + call.time)
        h.check(0 < int(call.took) < 10 ** 9, "it took " + call.took)
        h.check(1 <= len(call.frames) <= 10, "frames: " + call.text)
        h.check_equal(call.frames[-1][2], "main", "the outermost function")
    functions = {frame[2] for call in calls for frame in call.frames}
    h.check(functions >= {"main", "work", "failing", "aligned"},
            "functions: %r" % functions)
    with open(h.victim("heap_calls.c")) as file:
        source = file.read().splitlines()
    failed = [call for call in calls if call.block == "0x0" and
              call.function == "malloc"]
    h.check_equal(len(failed), 20, "mallocs that have failed")
    _, _, function, _, file, line = failed[0].frames[0]
    h.check_equal((function, os.path.basename(file)),
                  ("failing", "heap_calls.c"), "who has called")
    h.check("MALLOC(too_much)" in source[int(line) - 1], "line " + line)
    status, text = h.command_output(
        ["addr2line", "-fe", victim(),
         hex(int(failed[0].frames[0][0], 16) - 1)])
    h.check_equal((status, text.split()[0]), (0, "failing"), "addr2line")


@h.test("operator new, by its names, and an exception")
def _(case):
    program = h.build("heap_new", "heap_new.cc", "-g", "-O1", "-std=c++17",
                      cc="g++")
    for options, name in (([], "_Znwm"), (["-C"], "operator new(unsigned long)")):
        result = hr.heap(case, *options, "--top", "0", "--calls",
                         case.path("calls"), program,
                         "forms")
        result.check_status(0)
        calls = calls_of(case.path("calls"))
        found = [call for call in calls if call.function == name]
        seen = [each for (function, _), each in result.report.calls.items()
                if function == "operator new(unsigned long)"]
        h.check(found, "no call of " + name)
        h.check_equal(len(found), sum(each[0] for each in seen),
                      "calls of " + name)
        h.check_equal(len(calls), sum(each[0] for each in
                                      result.report.calls.values()), "calls")


@h.test("frames are as the linker knows them, a word each; with -C as written")
def _(case):
    source = case.write("keep.cc", """
#include <cstdlib>
__attribute__((noipa)) void *keep(int size, long more)
{ void *all = malloc(size + more); *(volatile char *)all = 1; return all; }
int main() { return !keep(10, 90); }
""")
    program = case.path("keep")
    status, text = h.command_output(["g++", "-O1", source, "-o", program])
    h.check_equal(status, 0, text)
    for options, name in (([], "_Z4keepil"), (["-C"], "keep(int, long)")):
        hr.heap(case, *options, "--calls", case.path("calls"),
                program).check_status(0)
        h.check_match(r"- malloc 0x[0-9a-f]+ 100 bytes .*@keep\(%s\+0x" %
                      re.escape(name), h.read(case.path("calls")), "frames")


# ---------------------------------------------------------------- attached

def start(case, threads="1", rounds="200"):
    target = case.start([victim(), threads, rounds, "wait"])
    h.wait_until(lambda: "ready" in target.out, "the victim")
    return target


@h.test("attached: blocks from before are told apart", users=True)
def _(case):
    target = start(case, "4")
    tracer = hr.attach(case, target, options=[
        "--calls", case.path("calls.%p"), "--footprint",
        case.path("footprint.%p")])
    hr.settle(target, tracer)
    h.check_equal(os.path.exists(case.path("footprint.%d" % target.pid)),
                  False, "the footprint before its time")
    target.say("go\n")
    h.wait_until(lambda: "held" in target.out.rpartition("call")[2] and
                 target.out.count("held") == 4, "the rounds")
    report = hr.leave(tracer)
    calls = calls_of(case.path("calls.%d" % target.pid))
    record, _ = own_record(target.out)
    check_calls(calls, record)
    unknown = [call for call in calls if call.size == "?" or
               call.old_size == "?"]
    h.check_equal(len(unknown), 1, "blocks from before")
    replay = Replay(case.path("footprint.%d" % target.pid))
    h.check_equal(replay.total(), report.malloc.held(), "held")
    h.check_equal(replay.counts, kinds_of(call.function for call in calls),
                  "calls by kind")
    h.check_untouched(target.pid)


@h.test("a target that is killed: whole files")
def _(case):
    target = start(case, "4", "100000")
    tracer = hr.attach(case, target, options=[
        "--calls", case.path("calls"), "--footprint", case.path("footprint")])
    hr.settle(target, tracer)
    target.say("go\n")
    h.wait_until(lambda: os.path.getsize(case.path("calls")) > 1 << 20, "calls")
    os.kill(target.pid, signal.SIGKILL)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    report = hr.only_report(h.read(tracer.report_path))
    calls = calls_of(case.path("calls"))
    replay = Replay(case.path("footprint"))
    returned = [call for call in calls if call.took != "?"]
    h.check(len(calls) - len(returned) <= 4, "calls that did not return")
    h.check_equal(replay.total(), report.malloc.held(), "held")
    h.check(abs(sum(replay.counts.values()) - len(returned)) <= 4,
            "calls in both: %r, %d" % (replay.counts, len(returned)))


@h.test("-f: a file a process, and exec")
def _(case):
    program = h.build("heap_steps", "heap_steps.c", "-g", "-O1", "-lpthread")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "the victim")
    tracer = hr.attach(case, target, options=[
        "-f", "--calls", case.path("calls.%p"), "--footprint",
        case.path("footprint.%p")])
    hr.settle(target, tracer)
    for word in "afvb":
        target.say(word)
        h.wait_until(lambda: "did " + word in target.out, "order " + word)
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    found = hr.reports(h.read(tracer.report_path))
    h.check_equal([report.malloc.held() for report in found],
                  [(3, 21), (2, 60), (15, 6000)], "held by each")
    for report in found:
        replay = Replay(case.path("footprint.%d" % report.pid))
        h.check_equal(replay.total(), report.malloc.held(), "held by %d" %
                      report.pid)


# ---------------------------------------------------------------- faults

@h.test("a full disk: one message for each file, the report is there")
def _(case):
    if not os.path.exists("/dev/full"):
        raise h.Skip("there is no /dev/full")
    for option in ("--calls", "--footprint"):
        target = start(case, "2", "500")
        tracer = hr.attach(case, target, options=[option, "/dev/full"])
        hr.settle(target, tracer)
        target.say("go\n")
        h.wait_until(lambda: target.out.count("held") == 2, "the rounds")
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 1, "status of calltrap; " + tracer.err)
        h.check_equal(h.but_cost(tracer.err.splitlines()),
                      ["calltrap: /dev/full can't be written: No space left "
                       "on device"], "messages with " + option)
        report = hr.only_report(h.read(tracer.report_path))
        h.check(report.malloc.allocs > 1000, "the report")
        h.check_untouched(target.pid)
        h.check_equal([name for name in os.listdir(case.dir)
                       if name.startswith("calltrap")], [], "leavings")


@h.test("a file that can't be opened: nothing is touched")
def _(case):
    target = start(case)
    for option in ("--calls", "--footprint"):
        result = case.calltrap("heap", option, "/does/not/exist", "-p",
                               str(target.pid), log=False)
        result.check_status(1)
        h.check_equal(result.err, "calltrap: /does/not/exist can't be "
                      "written: No such file or directory\n", "the message")
    h.check_untouched(target.pid)


@h.test("no permission: said, and nothing is touched")
def _(case):
    case.user = h.ordinary_user("nobody") if os.geteuid() == 0 else None
    directory = case.path("closed")
    os.mkdir(directory, 0o755 if case.user else 0o555)
    if case.user:
        os.chown(case.dir, case.user.pw_uid, case.user.pw_gid)
    for option in ("--calls", "--footprint"):
        result = case.calltrap("heap", option, directory + "/file", "true",
                               log=False)
        result.check_status(1)
        h.check_equal(result.messages(), [
            "calltrap: %s/file can't be written: Permission denied" %
            directory], "the message")
    h.check_equal(os.listdir(directory), [], "leavings")


@h.test("a reader who goes away: one message, the target goes on")
def _(case):
    pipe = case.path("pipe")
    os.mkfifo(pipe)
    target = start(case, "1", "3000")
    keep = os.open(pipe, os.O_RDWR)
    tracer = hr.attach(case, target, options=["--calls", pipe])
    hr.settle(target, tracer)
    reader = os.open(pipe, os.O_RDONLY)
    os.close(keep)
    target.say("go\n")
    h.check(os.read(reader, 1000), "nothing came")
    os.close(reader)
    h.wait_until(lambda: "held" in target.out, "the rounds")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 1, "status of calltrap; " + tracer.err)
    h.check_equal(h.but_cost(tracer.err.splitlines()), [
        "calltrap: %s can't be written: Broken pipe" % pipe], "messages")
    h.check_equal(hr.only_report(h.read(tracer.report_path)).malloc.held(),
                  own_record(target.out)[1], "held")
    h.check_untouched(target.pid)


@h.test("a reader who doesn't read: the target waits, memory doesn't grow")
def _(case):
    pipe = case.path("pipe")
    os.mkfifo(pipe)
    target = start(case, "1", "20000")
    keep = os.open(pipe, os.O_RDWR)
    tracer = hr.attach(case, target, options=["--calls", pipe],
                       env=h.keeping_nothing())
    hr.settle(target, tracer)
    before = int(h.status_field(tracer.pid, "VmRSS").split()[0])
    target.say("go\n")
    time.sleep(3)
    grown = int(h.status_field(tracer.pid, "VmRSS").split()[0]) - before
    h.check("held" not in target.out, "the target did not wait")
    h.check(grown < 32 << 10, "calltrap has grown by %d kB" % grown)
    tracer.popen.send_signal(signal.SIGINT)
    began = time.monotonic()
    tracer.wait()
    h.check(time.monotonic() - began < 20, "leaving took too long")
    h.wait_until(lambda: "held" in target.out, "the target to go on")
    os.close(keep)
    h.check_untouched(target.pid)


@h.test("a footprint as it is needed: memory doesn't grow with it")
def _(case):
    target = start(case, "1", "90000")
    tracer = hr.attach(case, target, options=[
        "--footprint", case.path("footprint")], env=h.keeping_nothing())
    hr.settle(target, tracer)
    target.say("go\n")

    def size():
        with contextlib.suppress(OSError):
            return sum(os.stat("/proc/%d/fd/%s" % (tracer.pid, fd)).st_size
                       for fd in os.listdir("/proc/%d/fd" % tracer.pid)
                       if "footprint" in
                       os.readlink("/proc/%d/fd/%s" % (tracer.pid, fd)))
        return 0
    h.wait_until(lambda: size() > 100000, "the spool")
    before = int(h.status_field(tracer.pid, "VmRSS").split()[0])
    first = size()
    h.wait_until(lambda: size() > 4 * first, "more of it")
    grown = int(h.status_field(tracer.pid, "VmRSS").split()[0]) - before
    h.check(grown < 8 << 10, "calltrap has grown by %d kB" % grown)
    hr.leave(tracer)
    h.check(os.path.getsize(case.path("footprint")) > 4 * first, "its size")
    h.check_equal([name for name in os.listdir(case.dir)
                   if name.startswith("footprint")], ["footprint"], "leavings")


if __name__ == "__main__":
    sys.exit(h.main())
