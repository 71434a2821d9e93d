#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-c and logs, --engine=agent: what may throw, be jumped out of or be cancelled is
counted and recorded in the process, each call once, whatever way it ends; and goes
on when calltrap leaves, or is killed, meanwhile."""

import collections
import json
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
EVERYBODYS = ["-L", "-x", WAYS]
PROGRAMS = ["-e", "ways_*+read"]
WAITS = "read+epoll_wait+pthread_cond_wait@libc.so.6"


def ways(library="libways.so", *flags):
    h.need_jumps()
    h.need("g++")
    directory = h.build_directory("-".join([library, *flags]))
    h.build_library(library, "libways.cc", "-O1", cc="g++",
                    directory=directory)
    return h.build("ways", "ways.cc", "-O1", "-pthread", *flags,
                   *h.near(directory), "-l:" + library, cc="g++",
                   directory=directory)


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


def attach(case, target, *options, settled=True, counts="-c",
           engine="agent"):
    tracer = case.start_calltrap("--engine=" + engine, "-D", "probe",
                                 *[counts] * bool(counts), *options, "-p",
                                 str(target.pid))
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
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
    by_traps(case, ways("_greenlet.so"))


@h.test("by traps where a function is called as those that cut stacks")
def cut_by_name(case):
    by_traps(case, ways("libways.so", "-DSTACK_CUTTER=acosw"))


def by_traps(case, program):
    target = start(case, program, "1", "4")
    tracer = attach(case, target, "-L", "-x", WAYS)
    target.say("go\n")
    finish(target)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    check_counts(target, h.read(tracer.log_path))
    h.check("stacks that are cut in pieces" in tracer.err, tracer.err)


@h.test("counted when they begin, by default, where a place may be several calls'")
def cut_counted(case):
    for program in (ways("_greenlet.so"),
                    ways("libways.so", "-DSTACK_CUTTER=acosw")):
        target = start(case, program, "2", "400")
        tracer = attach(case, target, "-L", "-x", WAYS, engine="auto")
        target.say("go\n")
        finish(target)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        check_counts(target, h.read(tracer.log_path))
        h.check(is_caught(tracer, "read", "ways_throws", "ways_cleans",
                          "ways_calls"), tracer.err)


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


PROTOTYPES = """long ways_plain(long);
long ways_throws(long);
long ways_calls(addr, long);
long ways_cleans(addr, long);
long ways_many(long, long, long, long, long, long, long, long, long);
"""


def told(call):
    """What a call was, but for what differs from one run to the next."""
    values = ["ADDRESS" if str(value).startswith("0x") else value
              for value in call["args"]]
    if call["function"] == "read" and values[0]:
        values[0] = "PIPE"
    return (call["function"], values, call["depth"], call["end"],
            call.get("result"),
            [frame.get("function") for frame in call.get("stack", [])])


def threads_of(path):
    """What each thread is said to have called, in the order of the calls' ends;
    without the timer's."""
    threads = collections.defaultdict(list)
    for event in map(json.loads, h.read(path).splitlines()):
        if event["event"] == "call" and event["args"][:1] != [41]:
            threads[event["tid"]].append(told(event))
    return sorted(threads.values(), key=lambda calls: (-len(calls), str(calls)))


def logged(case, engine, threads, rounds, options):
    path = case.path(engine + ".json")
    target = start(case, ways(), str(threads), str(rounds))
    tracer = case.start_calltrap(
        "--engine=" + engine, "-D", "probe", "--json", path, "-F",
        case.write("ways.conf", PROTOTYPES), *options, "-p", str(target.pid))
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
    h.settle(target, tracer)
    target.say("go\n")
    finish(target)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    return threads_of(path), tracer


def logged_seeing(case, threads, rounds, options):
    return h.unless_starved(
        lambda: logged(case, "agent", threads, rounds, options),
        lambda found: "calls went by unseen" in found[1].err)


def compared(words, options, threads, rounds):
    @h.test("log: each call once, whatever way it ends, as by traps: " + words)
    def run(case):
        found, tracer = logged_seeing(case, threads, rounds, options)
        wanted, _ = logged(case, "trap", threads, rounds, options)
        h.check_equal(len(found), len(wanted), "threads")
        for one, other in zip(found, wanted):
            for a, b in zip(one, other):
                h.check_equal(a, b, "a call")
            h.check_equal(len(one), len(other), "calls of one thread")
        h.check(caught(tracer) >= 4, tracer.err)
        own = re.search(r"; ([\d,]+) calls? in the process", tracer.err)
        h.check(own and int(own[1].replace(",", "")) > 20 * threads * rounds,
                "most by traps: " + tracer.err)


compared("one thread", EVERYBODYS, 1, 100)
compared("threads", EVERYBODYS, 4, 60)
compared("with stacks", [*EVERYBODYS, "-w", "8"], 2, 60)
compared("the program's", PROGRAMS, 4, 60)
compared("the program's, with stacks", [*PROGRAMS, "-w", "8"], 2, 60)


@h.test("log: calls that wait are told of when they begin, not when they end")
def begun(case):
    target = start(case, ways(), "1", "20")
    tracer = attach(case, target, "-F", case.write("ways.conf", PROTOTYPES),
                    "-L", "-x", "ways_calls", counts="")
    target.say("go\n")
    h.wait_until(lambda: "ways_calls" in h.read(tracer.log_path), "a call")
    finish(target)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    lines = h.read(tracer.log_path).splitlines()
    inner = [i for i, line in enumerate(lines) if re.search(r", 0\) +=", line)]
    h.check(inner, "no line of the innermost call")
    for i in inner:
        if "ways_calls" in lines[i - 1] and ", 1 <unf" in lines[i - 1]:
            return
    raise h.Failure("outer calls come later: " + "\n".join(lines[:60]))


TAILS = """long tails_plain(long);
long tails_read(int, addr, ulong);
long tails_text(string, long);
long tails_deep(addr, long);
"""


def with_library(name, *flags):
    """A program, and the library of its own that the same source has."""
    h.need_jumps()
    directory = h.build_directory(name)
    h.build_library("lib%s.so" % name, name + ".c", "-O1", "-DLIBRARY",
                    directory=directory)
    return h.build(name, name + ".c", "-O1", *flags, *h.near(directory),
                   "-l" + name, directory=directory)


@h.test("log, -T: stops within a call aren't its time")
def stopped_within(case):
    program = with_library("within")
    run = case.calltrap("--engine=agent", "-L", "-T", "-x", "outer+snprintf",
                        program)
    inside = h.check_match(r"(\d+) calls in the process", run.err, "engines")
    h.check(int(inside[1]) > 100, run.err)
    took = [int(word) for word in run.out.split()][100:]
    shown = [float(time) * 1e9 for time in
             re.findall(r"<\.\.\. outer resumed> .*<([\d.]+)>$",
                        run.log_text, re.M)][100:]
    h.check_equal(len(shown), len(took), "calls")
    # What a stop costs is estimated, on a busy machine too low for most.
    h.check(2 * min(shown) < min(took), "%s of %s ns" % (min(shown), min(took)))


@h.test("log, -T: of several threads none has slept for less than it has")
def sleeping(case):
    program = with_library("naps", "-fno-builtin", "-pthread")
    run = case.calltrap("--engine=agent", "-L", "-T", "-x", "outer+snprintf",
                        program)
    inside = h.check_match(r"([\d,]+) calls in the process", run.err, "engines")
    h.check(int(inside[1].replace(",", "")) > 100, run.err)
    shown = [float(time) for time in
             re.findall(r" outer(?: resumed>|@?[^(]*\().*<([\d.]+)>$",
                        run.log_text, re.M)]
    h.check(len(shown) > 100, "%d calls" % len(shown))
    short = [time for time in shown if time < 0.0029]
    h.check_equal(short, [], "too short, of %d" % len(shown))


def tails():
    h.need_jumps()
    directory = h.build_directory("tails")
    h.build_library("libtails.so", "libtails.c", "-O2", directory=directory)
    return h.build("tails", "tails.c", "-O1", *h.near(directory), "-ltails",
                   directory=directory)


def follow(case, engine, mode, number, *options):
    """A log of the victim's calls, and what calltrap has said."""
    path = case.path(engine + ".json")
    target = start(case, tails(), mode, str(number))
    tracer = case.start_calltrap(
        "--engine=" + engine, "-D", "probe", "--json", path, "-F",
        case.write("tails.conf", TAILS), *options, "-p", str(target.pid))
    h.wait_until(lambda: h.are_planted(target.pid), "the traps")
    h.settle(target, tracer)
    return path, target, tracer


def calls_of(path, *functions):
    return [event for event in map(json.loads, h.read(path).splitlines())
            if event["event"] == "call" and event["function"] in functions]


def said(call):
    """All of a call that is the same from one run to the next."""
    values = ["ADDRESS" if str(value).startswith("0x") else value
              for value in call["args"]]
    if "read" in call["function"] and values[0] != -1:
        values[0] = "PIPE"
    return [call.get(key) for key in
            ("function", "depth", "end", "result", "error")] + values


def jumped(words, *options):
    @h.test("log: who goes on by a jump, as by traps: " + words)
    def run(case):
        compare_jumped(case, options)


def compare_jumped(case, options):
    found = {}
    for engine in "agent", "trap":
        path, target, tracer = follow(
            case, engine, "tails", 200, "-L", "-x",
            "tails_*@libtails.so+read@libc.so.6", *options)
        target.say("go\n")
        finish(target)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        found[engine] = [
            said(call) for call in
            calls_of(path, "tails_plain", "tails_read", "tails_text", "read")]
        if engine == "agent":
            h.check(is_caught(tracer, "tails_read", "tails_plain"), tracer.err)
    h.check(len(found["trap"]) >= 1000, "calls: %d" % len(found["trap"]))
    for i, (a, b) in enumerate(zip(found["agent"], found["trap"])):
        h.check_equal(a, b, "call %d" % i)
    h.check_equal(len(found["agent"]), len(found["trap"]), "calls")


jumped("both in the process")
# What is filled is known at a stop alone.
jumped("one of them by a trap", "-s", "256")


@h.test("log, -e: each call, more at once than returns can be replaced")
def deep_calls(case):
    path, target, tracer = follow(case, "agent", "deep", 10000, "-e",
                                  "tails_deep+tails_plain")
    target.say("go\n")
    finish(target)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    h.check_equal(len(calls_of(path, "tails_deep")), 10000, "calls")


@h.test("log: of what finds no room neither the entry nor the return is told")
def dropped(case):
    path, target, tracer = follow(case, "agent", "often", 900, "-L", "-x",
                                  "tails_*@libtails.so", "--when-full=drop")
    target.say("go\n")
    h.wait_until(lambda: is_caught(tracer, "tails_deep"), "the agent")
    worker = h.tracer_of(target.pid)
    for _ in range(3):
        os.kill(worker, signal.SIGSTOP)
        time.sleep(0.1)
        os.kill(worker, signal.SIGCONT)
        time.sleep(0.1)
    finish(target)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    h.check("not recorded" in tracer.err, "nothing was dropped: " + tracer.err)
    ends = collections.Counter(call["end"] for call in
                               calls_of(path, "tails_deep"))
    h.check_equal(list(ends), ["returned"], "ends: %s" % ends)
    h.check(max(call["depth"] for call in calls_of(path, "tails_deep")) < 100,
            "calls are open that have returned")


@h.test("log, -f: each call of each child, in order")
def of_children(case):
    path, target, tracer = follow(case, "agent", "fork", 10, "-f", "-L", "-x",
                                  "tails_plain@libtails.so")
    target.say("go\n")
    finish(target)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    children = collections.defaultdict(list)
    for call in calls_of(path, "tails_plain"):
        h.check_equal(call["end"], "returned", "the end of " + str(call))
        children[call["pid"]].append(call["args"][0])
    h.check_equal(children.pop(target.pid), list(range(10)), "the parent's")
    h.check_equal(list(children.values()), [list(range(100))] * 10,
                  "the children's")


def left_with(words, options_of, **attaching):
    @h.test(words + "left and attached to again while calls are under way")
    def run(case):
        target = start(case, ways(), "4", "0")
        target.say("go\n")
        for i in range(ROUNDS):
            tracer = attach(case, target, *options_of(i), settled=False,
                            **attaching)
            h.wait_until(lambda: is_caught(tracer, "ways_calls",
                                           "ways_throws") or
                         tracer.popen.poll() is not None, "the agent")
            time.sleep(random.uniform(0, 0.3))
            os.kill(tracer.popen.pid, signal.SIGINT)
            h.check_equal(tracer.wait(), 0, "status of calltrap")
            h.check_equal(target.popen.poll(), None, target.err)
        target.say("enough\n")
        finish(target)


left_with("", lambda i: [] if i % 2 else EVERYBODYS)
left_with("log: ", lambda i: [*EVERYBODYS, *["-w", "6"] * (i % 2)],
          counts="")
left_with("log, the program's: ",
          lambda i: [*PROGRAMS, *["-w", "6"] * (i % 2)], counts="")


def killed_with(words, counts, *options):
    @h.test("calltrap's first process killed while calls are under way: " +
            words)
    def run(case):
        killed(case, counts, *options)


def killed(case, counts, *options):
    target = start(case, ways(), "4", "0")
    target.say("go\n")
    for _ in range(ROUNDS):
        tracer = attach(case, target, *options, settled=False, counts=counts)
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


killed_with("-c", "-c", *EVERYBODYS)
killed_with("log", "", *EVERYBODYS)
killed_with("log, the program's", "", *PROGRAMS)
killed_with("log, the program's, with stacks", "", *PROGRAMS, "-w", "6")


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


def sleeping(kind, how, engine, before):
    @h.test("64 threads wait in calls, are woken, cancelled, end: %s, %s, calltrap %s"
            % (kind, engine, how))
    def run(case):
        target = start(case, sleepers(kind), "64", str(before))
        tracer = attach(case, target, "-L", "-x", WAITS, engine=engine)
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
            h.check_equal(seen["epoll_wait"], 16 + before,
                          "calls of epoll_wait")
            h.check(engine == "auto" or caught(tracer) >= 2, tracer.err)


for one in "C", "C -fexceptions", "C++":
    for other in "still there", "left", "killed", "its worker killed":
        sleeping(one, other, "agent", 0)
        if one != "C -fexceptions":
            sleeping(one, other, "auto", 1000)


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
