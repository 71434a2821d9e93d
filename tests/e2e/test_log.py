#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The look of the log, the exit status, leaving."""

import json
import os
import pty
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

PROTOTYPES = """int ints(char, short, int, long, uint, ulong);
int many(int, int, int, int, int, int, int, int);
string text(string);
addr address(addr);
void nothing(void);
long slow(long);
long nested(addr, long);
long f1(long);
long f2(long);
"""


def program(name="log"):
    directory = h.build_directory("log")
    h.build_library("libt.so", "libt.c", directory=directory)
    h.build_library("liblog.so", "liblog.c", directory=directory)
    return h.build(name, name + ".c", "-O1", *h.near(directory), "-llog",
                   "-lt", "-lpthread", directory=directory)


def trace(case, kind, *arguments, only="@liblog.so", status=7, **how):
    """The log of victims/log.c doing `kind`, with its prototypes."""
    path = case.write("log.conf", PROTOTYPES)
    where = [] if only is None else ["-l", "liblog.so", "-l", "libt.so"]
    result = case.calltrap("-F", path, *where, *arguments, program(), kind,
                           **how)
    result.check_status(status)
    return result


def lines(result):
    return result.log.text.splitlines()


def padded(text, result, column=50):
    """A finished line: the result begins at the column of -a."""
    return text.ljust(column - 1) + " = " + result


def check_lines(result, wanted):
    h.check_equal(lines(result)[:len(wanted)], wanted, "lines")


@h.test("types with prototypes", users=True)
def types(case):
    result = trace(case, "types", "-e", "ints+many+address+nothing@MAIN",
                   only=None)
    h.check_equal(lines(result), [
        padded("log->ints('x', -2, -100000, 5000000000, 4000000000, "
               "18446744073709551615)", "409965525"),
        padded("log->many(1, 2, 3, 4, 5, 6, 7, 8)", "36"),
        padded("log->address(nil)", "nil"),
        padded("log->address(0x1234abcd)", "0x1234abcd"),
        padded("log->nothing()", "<void>"),
        "+++ exited (status 7) +++"], "lines")


@h.test("--if: only calls that it holds of")
def conditions(case):
    wanted = [padded("many@liblog.so(1, 2, 3, 4, 5, 6, 7, 8)", "36"),
              padded("address@liblog.so(0x1234abcd)", "0x1234abcd"),
              "+++ exited (status 7) +++"]
    functions = ("-L", "-x", "ints+many+address+nothing")
    # Known at the entry, or after the return; or the one after the other.
    for condition in ("arg1 == 1 || arg1 == 0x1234abcd",
                      "ret == 36 || ret == 0x1234abcd && !(ret < 1M)",
                      "arg1 > 0 && arg1 != 120 && errno == 0"):
        result = trace(case, "types", *functions, "--if", condition,
                       only=None)
        h.check_equal(lines(result), wanted, condition)
    result = trace(case, "types", *functions, "--if", "every 2", "--if",
                   "arg1 & 4", only=None)
    h.check_equal(lines(result), wanted[1:], "both")


@h.test("--if: arguments have the names that the prototypes give them")
def named_arguments(case):
    h.need("head")
    for name, shown in ((".where", ""), ("where", "where=")):
        path = case.write("log.conf", "addr address(addr %s);\n" % name)
        result = case.calltrap("-F", path, "-L", "-x", "address", "--if",
                               "where == 0x1234abcd", program(), "types")
        h.check_equal(lines(result)[:-1],
                      [padded("address@liblog.so(%s0x1234abcd)" % shown,
                              "0x1234abcd")], "lines")
    path = case.write("text", "some text")
    result = case.calltrap("-L", "-x", "read", "--if", "fd > 2 && count == 4",
                           "head", "-c", "4", path)
    h.check_equal(lines(result)[:-1],
                  [padded('read@libc.so.6(3, "some", 4)', "4")], "lines")
    h.check_equal(result.messages(), [], "messages")


@h.test("--if: functions without a named argument are told of in two lines")
def unknown_names(case):
    result = trace(case, "types", "-L", "-x", "ints+many+address+nothing",
                   "--if", "rett == 36", only=None)
    h.check_equal(lines(result), ["+++ exited (status 7) +++"], "lines")
    first, rest = result.messages()
    h.check("has no argument that is known as 'rett'" in first, first)
    told = re.search(r"--if: (\w+) ", first)[1]
    others = re.search(r"--if: nor have 3 more functions: (.*)", rest)
    h.check(others, rest)
    h.check_equal(sorted([told] + others[1].split(", ")),
                  ["address", "ints", "many", "nothing"], "functions")


@h.test("--if: mistakes are shown where they are")
def bad_conditions(case):
    for condition, column in (("ret >", 6), ("ret > 1 time", 9), ("(1", 3)):
        result = case.calltrap("--if", condition, program(), "types")
        result.check_status(2)
        where = f"--if '{condition}': column {column}: "
        h.check(where in result.messages()[0],
                f"{result.messages()} doesn't say {where}")


@h.test("arguments without a prototype")
def guesses(case):
    result = case.calltrap("-e", "guess@MAIN", program(), "types")
    result.check_status(7)
    h.check_equal(lines(result), [
        padded("log->guess(1, -5, 10000, 0x2711)", "0x4e1d"),
        padded("log->guess(-10000, 0xffffffffffffd8ef, 0, 0x123456789a)",
               "0x1234562a79"),
        "+++ exited (status 7) +++"], "lines")


@h.test("strings")
def strings(case):
    result = trace(case, "strings", "-L", "-x", "text", only=None)
    calls = result.log.named("text")
    h.check_equal([call.arguments for call in calls[:5]], [
        '"short"', '""', "nil", '"exactly thirty-two characters ok"',
        '"more than thirty-two characters "...'], "arguments")
    h.check_equal([call.result for call in calls[:5]],
                  [call.arguments for call in calls[:5]], "results")
    h.check_equal(calls[5].arguments,
                  '"tab\\tnewline\\nreturn\\rback\\\\slash qu"...',
                  "escapes")
    h.check_equal(calls[6].arguments, r'"\001\177\200\377"', "escapes")
    h.check_equal(calls[7].arguments, "0x10?", "an address that isn't mapped")
    h.check(calls[8].arguments.startswith('"ending"') or
            re.match("0x[0-9a-f]+\\?", calls[8].arguments),
            "a string that runs into a hole: " + calls[8].text)


@h.test("-s")
def string_size(case):
    for size, wanted in ((5, '"exact"...'), (0, '""...'),
                         (100, '"exactly thirty-two characters ok"')):
        result = trace(case, "strings", "-s", str(size), "-L", "-x", "text",
                       only=None)
        h.check_equal(result.log.named("text")[3].arguments, wanted,
                      "-s %d" % size)


@h.test("CALLER-> with -e, @LIBRARY with -x, neither without")
def names(case):
    result = trace(case, "nesting", "-e", "f2@MAIN", only=None)
    check_lines(result, [padded("log->f2(9)", "10")])
    result = trace(case, "nesting", "-L", "-x", "f2", only=None)
    check_lines(result, [padded("f2@libt.so(9)", "10")])
    result = trace(case, "nesting", only=None)
    h.check(padded("f2(9)", "10") in lines(result), "lines:\n" +
            result.log.text)
    result = trace(case, "nesting", "-l", "libt.so", only=None)
    h.check(padded("log->f2(9)", "10") in lines(result), "lines:\n" +
            result.log.text)


@h.test("nested calls: unfinished and resumed")
def nested(case):
    result = trace(case, "nesting", only=None)
    text = re.sub(r"0x[0-9a-f]+", "ADDRESS", "\n".join(
        line for line in lines(result)
        if re.match(r"(nested|f1|f2)\(|<\.\.\. nested", line)))
    h.check_equal(text.splitlines(), [
        "nested(ADDRESS, 5 <unfinished ...>",
        "nested(ADDRESS, 5 <unfinished ...>",
        padded("f1(5)", "6"),
        padded("<... nested resumed> )", "7"),
        padded("<... nested resumed> )", "8"),
        padded("f2(9)", "10")], "lines")


@h.test("-n: indentation")
def indent(case):
    result = trace(case, "nesting", "-n", "3", only=None)
    found = [line for line in result.log.lines if line.kind in
             ("call", "resumed") and line.name in ("nested", "f1", "f2")]
    depths = [len(line.rest) - len(line.rest.lstrip(" ")) for line in found]
    first = depths[0]
    h.check_equal([depth - first for depth in depths], [0, 3, 6, 3, 0, 0],
                  "columns of indentation in\n" + result.log.text)


@h.test("-a: column of the result")
def align(case):
    for column in (1, 20, 50, 90):
        result = trace(case, "nesting", "-a", str(column), "-L", "-x", "f2",
                       only=None)
        check_lines(result, [padded("f2@libt.so(9)", "10", column)])


@h.test("-i: instruction pointer of the caller")
def pointer(case):
    result = trace(case, "nesting", "-i", "-e", "f1+f2@MAIN", only=None)
    for call in result.log.calls:
        h.check(call.ip, "no address in: " + call.text)
    ips = [call.ip for call in result.log.calls]
    h.check(abs(ips[0] - ips[1]) < 0x1000, "addresses: %r" % ips)


CLOCKS = {"-t": r"\d\d:\d\d:\d\d", "-tt": r"\d\d:\d\d:\d\d\.\d{6}",
          "-ttt": r"\d{9,}\.\d{6}"}


def register_clock(option, regex):
    @h.test(option + ": wall clock")
    def run(case):
        before = int(time.time())
        result = trace(case, "nesting", option, "-L", "-x", "f1+f2",
                       only=None)
        after = time.time() + 1
        for line in lines(result):
            found = h.check_match("^(%s) " % regex, line, option)
            if option == "-ttt":
                h.check(before <= float(found[1]) <= after, "time " + line)
            else:
                h.check(any(time.strftime("%H:%M:%S", time.localtime(moment))
                            == found[1][:8]
                            for moment in range(before, int(after) + 1)),
                        "time of " + line)
        for clock in result.log.calls:
            h.check(clock.name in ("f1", "f2"), "line: " + clock.text)


for each_option, each_regex in CLOCKS.items():
    register_clock(each_option, each_regex)


@h.test("-r: time since the line before")
def relative(case):
    result = trace(case, "times", "-r", "-L", "-x", "slow", only=None)
    steps = []
    for line in lines(result):
        found = h.check_match(r"^ *(\d+\.\d{6}) ", line, "-r")
        steps.append(float(found[1]))
    # The calls take 50 ms each and stand in one line each.
    h.check(all(step >= 0.045 for step in steps[1:3]), "steps: %r" % steps)


@h.test("-T: time spent")
def durations(case):
    result = trace(case, "times", "-T", "-L", "-x", "slow+f1", only=None)
    for call in result.log.calls:
        h.check(call.duration, "no time in: " + call.text)
        if call.name == "slow":
            h.check(float(call.duration) >= 0.045, call.text)
    h.check(re.search(r" = 50 <0\.\d{6}>$", lines(result)[0]), "line: " +
            lines(result)[0])


@h.test("-T and -c: the time of our own stops is left out")
def own_time(case):
    nest = h.build("nest", "nest.c", "-g", "-O1")

    def microseconds(what, result):
        return int(re.search(r"^%s (\d+)$" % what, result.out, re.M)[1])

    def check_outer(outer, calls, result):
        # Each call had two stops, none of which takes less than 1 us.
        took = microseconds("took", result)
        left_out = took - outer * 1e6
        h.check(left_out >= calls * 2, "of %d us, left out: %d" %
                (took, left_out))
        work = microseconds("ran", case.run([nest, str(calls)]))
        h.check(outer * 1e6 >= work * 0.5, "outer: %f s, untraced %d us" %
                (outer, work))

    # What the agent catches or counts has no stops.
    options = ["--engine=trap", "-L", "-x", "outer+inner"]
    result = case.calltrap(*options, "-T", "-w", "40", nest, "1000")
    h.check_equal(len(result.log.named("inner")), 1000, "calls of inner")
    outer = h.check_match(r"<\.\.\. outer resumed> .* <([\d.]+)>$",
                          result.log.text, "the end of outer")
    check_outer(float(outer[1]), 1000, result)
    # Long enough for one wait for a processor to be little of it.
    result = case.calltrap("-c", *options, nest, "10000")
    outer = h.check_match(r"^ *[\d.]+ +([\d.]+) .* outer$", result.log.text,
                          "the row of outer")
    check_outer(float(outer[1]), 10000, result)


@h.test("-T: a call that a child has inherited took what it took there")
def inherited_time(case):
    result = case.calltrap("-f", "-T", "-L", "-x", "f1+f2",
                           h.build("inherits", "inherits.c", "-g", "-O1"))
    h.check_equal(result.log.count("f1"), 1000, "calls before")
    found = h.check_match(r"<\.\.\. f2 resumed> .* = 0 <([\d.]+)>$",
                          result.log.text, "the return in the child")
    h.check(float(found[1]) >= 0.2, "it took %s s" % found[1])


@h.test("pids with threads, from the second task on; lines never mix",
        users=True)
def threads(case):
    result = trace(case, "threads", "-L", "-x", "slow+f1+f2", only=None)
    log = result.log
    log.check_counts({"slow": 10, "f2": 10, "f1": 2})
    h.check_equal(log.calls[0].pid, None, "pid of the first line")
    h.check(all(line.pid for line in log.lines if line.name != "f1"),
            "lines without pid:\n" + h.shorten(log.text))
    h.check_equal(len({call.pid for call in log.named("slow")}), 2,
                  "threads")
    for line in log.lines:
        h.check(line.kind != "other", "strange line: " + line.text)
    check_pairs(log)


def check_pairs(log):
    """Every unfinished call is resumed by its own thread."""
    opened = {}
    for line in log.lines:
        stack = opened.setdefault(line.pid, [])
        if line.kind == "call" and line.end == "unfinished":
            stack.append(line.name)
        if line.kind == "resumed":
            h.check(stack and stack.pop() == line.name,
                    "resumed without a beginning: " + line.text)
    h.check(not any(opened.values()), "never resumed: %r" % opened)


@h.test("pids on standard error: [pid N]")
def pids_stderr(case):
    result = trace(case, "threads", "-L", "-x", "slow+f2", only=None,
                   log=False)
    found = re.findall(r"^\[pid \d+\] (?:slow|f2)@", result.err, re.M)
    h.check_equal(len(found), 20, "lines with [pid N] in\n" +
                  h.shorten(result.err))


@h.test("-f: pids from the first line on")
def pids_follow(case):
    result = trace(case, "nesting", "-f", "-L", "-x", "f2", only=None)
    h.check_match(r"^\d+ f2@libt\.so\(9\)", result.log.text, "-f -o")
    result = trace(case, "nesting", "-f", "-L", "-x", "f2", only=None,
                   log=False)
    h.check_match(r"^\[pid \d+\] f2@libt\.so\(9\)", result.err, "-f")


@h.test("one task: no pids; the log is on standard error")
def no_pids(case):
    result = trace(case, "nesting", "-L", "-x", "f2", only=None, log=False)
    h.check_match(r"^f2@libt\.so\(9\) +", result.err, "standard error")
    h.check_match(r"^\+\+\+ exited \(status 7\) \+\+\+$", result.err,
                  "standard error")
    h.check("f2" not in result.out, "the log is on standard output")


@h.test("-o FILE with %p: a file for each process")
def per_process(case):
    directory = h.build_directory("log")
    h.build_library("libt.so", "libt.c", directory=directory)
    path = h.build("spawn", "spawn.c", *h.near(directory), "-lt",
                   directory=directory)
    result = case.run([h.CALLTRAP, "-f", "-o", case.path("out-%p.log"), "-L",
                       "-x", "f1+f2", path, "fork", "3"])
    result.check_status(7)
    files = [name for name in os.listdir(case.dir)
             if re.fullmatch(r"out-\d+\.log", name)]
    logs = [h.Log(h.read(case.path(name))) for name in files]
    h.check_equal(sorted((log.count("f1"), log.count("f2")) for log in logs),
                  [(0, 10)] * 3 + [(20, 0)], "calls in %r" % files)
    h.check(not any(re.search(r"^\d", log.text, re.M) for log in logs),
            "pids in a file of one process")
    for name, log in zip(files, logs):
        h.check_equal(log.text.splitlines()[0],
                      "==== log of process %s, %s" %
                      (re.search(r"\d+", name)[0], path), "the first line")


@h.test("children that are not followed: no pids")
def not_followed(case):
    script = "/bin/true; /bin/false; exit 7"
    log = case.calltrap("-L", "-e", "fork+vfork+wait*", "/bin/sh", "-c",
                        script).log
    h.check_equal(log.count("fork") + log.count("vfork"), 2, "forks")
    h.check(not re.search(r"^\d", log.text, re.M), "pids in\n" + log.text)


@h.test("-o: an old file is replaced, descriptors don't leak")
def output_file(case):
    path = case.write("log", "old text\n" * 1000)
    result = case.run([h.CALLTRAP, "-o", path, "/bin/sh", "-c",
                       "ls -l /proc/self/fd"])
    result.check_status(0)
    h.check("old text" not in h.read(path), "old text is still there")
    h.check(path not in result.out, "the program has the log's descriptor:\n"
            + result.out)


@h.test("signals are shown, and hidden by -b")
def signals(case):
    result = trace(case, "signals", "-L", "-x", "f1", only=None)
    text = "\n".join(lines(result))
    h.check_match(r"^--- SIGURG \(Urgent I/O condition\) ---$", text, "log")
    h.check_match(r"^--- SIGWINCH \(Window changed\) ---$", text, "log")
    result = trace(case, "signals", "-b", "-L", "-x", "f1", only=None)
    h.check_equal(result.log.of_kind("signal"), [], "signals with -b")


@h.test("-c: the count table")
def table(case):
    result = trace(case, "threads", "-c", only=None)
    text = result.log.text
    h.check_match(r"^% time     seconds  usecs/call     calls    errors  "
                  r"function$", text, "header")
    for name, calls in (("pthread_create", 2), ("f2", 10), ("f1", 2)):
        found = h.check_match(r"^ *\d+\.\d\d +\d+\.\d{6} +%s +(\d+) +%s$" %
                              (h.MICROS, name), text, "row of " + name)
        h.check_equal(int(found[1]), calls, "calls of " + name)
    h.check_match(r"^100\.00 +\d+\.\d{6} +\d+ +total$", text, "total")
    h.check("+++" not in text, "the log is printed as well")
    result = trace(case, "threads", "-c", "-L", "-x", "slow+f1+f2",
                   only=None)
    for name, calls in (("slow", 10), ("f2", 10), ("f1", 2)):
        found = h.check_match(r" (\d+) +%s$" % name, result.log.text, name)
        h.check_equal(int(found[1]), calls, "calls of " + name)


ENDS = {"return": 7, "exit": 7, "_exit": 7, "0": 0, "255": 255,
        "thread-exit": 7, "thread-leaves": 7, "handled": 7,
        "segv": "SIGSEGV", "null": "SIGSEGV", "abort": "SIGABRT",
        "kill": "SIGKILL", "term": "SIGTERM", "trap": "SIGTRAP"}


def register_end(how, wanted):
    @h.test("exit status: " + how, users=how in ("exit", "segv"))
    def run(case):
        path = h.build("end", "end.c", "-lpthread")
        result = case.calltrap(path, how)
        text = h.re.sub(r"(?m)^\d+ ", "", result.log.text)
        if isinstance(wanted, int):
            result.check_status(wanted)
            line = "+++ exited (status %d) +++" % wanted
        else:
            result.check_status(128 + signal.Signals[wanted])
            line = "+++ killed by %s +++" % wanted
            if wanted != "SIGKILL":
                h.check_match(r"^--- %s \(.+\) ---$" % wanted, text, "signal")
        h.check_equal(text.splitlines()[-1:], [line], "last line")
        h.check_equal([part for part in text.splitlines()
                       if part.startswith("+++")], [line], "exit lines")
        if how == "handled":
            h.check_match(r"^--- SIGUSR1 \(User defined signal 1\) ---$",
                          text, "signal")
            h.check_match(r"^--- SIGALRM \(Alarm clock\) ---$", text,
                          "signal")
        if how in ("exit", "_exit"):
            h.check_match(r"^%s\(7.* <no return>$" % how, text, "end of exit")


for each_how, each_wanted in ENDS.items():
    register_end(each_how, each_wanted)


CUTS = {"exit": ("sleep", "process ended"),
        "_exit": ("sleep", "process ended"),
        "kill": ("sleep", "process ended"),
        "abort": ("sleep", "process ended"),
        "pthread_exit": ("qsort", "thread exited"),
        "SYS_exit": ("qsort", "thread exited")}


def register_cut(how, name, why):
    @h.test("a call that is cut off says why: " + how)
    def run(case):
        path = h.build("cut", "cut.c", "-lpthread")
        result = case.calltrap("-e", "sleep+qsort@MAIN", path, how)
        h.check_equal((result.log.count(name), result.log.ends(name, why)),
                      (1, 1), "calls, and those that end so:\n" +
                      result.log.text)


for each_how, (each_name, each_why) in CUTS.items():
    register_cut(each_how, each_name, each_why)


def ready(process):
    h.wait_until(lambda: "ready" in process.out or
                 process.popen.poll() is not None, "the program")


def child_of(pid):
    """The one child of a process."""
    found = h.children_of(pid)
    h.check(found, "no child of %d" % pid)
    return found[0]


@h.test("--for on an attached program: it goes on", users=True)
def for_attached(case):
    target = case.start([program(), "forever"])
    ready(target)
    result = case.calltrap("-L", "-x", "f1", "--for", "400ms", "-p",
                           str(target.pid))
    result.check_status(0)
    h.check(result.log.count("f1") > 0, "no calls were logged")
    h.check_equal(target.popen.poll(), None, "the target's end")
    h.check_untouched(target.pid)


@h.test("--for on a started program: it goes on, status 0")
def for_started(case):
    tracer = case.start_calltrap("-L", "-x", "f1", "--for", "0.4s",
                                 program(), "forever")
    ready(tracer)
    pid = child_of(tracer.pid)
    try:
        h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
        h.check_untouched(pid)
        h.check(h.status_field(pid, "State", "")[:1] in "RS",
                "the program's state: %s" % h.status_field(pid, "State"))
    finally:
        tracer_end(pid)
    h.check(h.Log(h.read(tracer.log_path)).count("f1") > 0, "no calls logged")


def tracer_end(pid):
    """Ends a program that a calltrap of ours has started."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


@h.test("--for on a program that ends sooner: its status is 0 or its own")
def for_short(case):
    result = case.calltrap("--for", "60s", program(), "nesting")
    h.check(result.status in (0, 7), "status %d" % result.status)
    h.check_match(r"exited \(status 7\)", result.log.text, "log")


@h.test("an attached target that ends: status 0")
def attached_end(case):
    target = case.start([program(), "interrupted"])
    ready(target)
    tracer = case.start_calltrap("-L", "-x", "f?", "-p", str(target.pid))
    h.wait_until(lambda: "f1@" in h.read(tracer.log_path) or
                 tracer.popen.poll() is not None, "a call in the log")
    target.popen.send_signal(signal.SIGINT)
    h.check_equal(target.wait(), 9, "status of the target")
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    text = h.read(tracer.log_path)
    h.check_match(r"^\d+ --- SIGINT \(Interrupt\) ---$", text, "log")
    h.check_match(r"^\d+ \+\+\+ exited \(status 9\) \+\+\+$", text, "log")
    h.check_match(r"^\d+ f2@libt\.so\(1", text, "log")


def on_terminal(case, argv):
    """Starts argv as the foreground job of a terminal; its pid and master."""
    pid, master = pty.fork()
    if pid == 0:
        try:
            os.chdir(case.dir)
            os.execvpe(argv[0], argv, case.environment())
        finally:
            os._exit(127)
    return pid, master


def read_until(master, text, seen=b""):
    end = time.monotonic() + h.PATIENCE
    while text not in seen:
        h.check(time.monotonic() < end, "never came: %r; so far %r" %
                (text, seen))
        try:
            seen += os.read(master, 4096)
        except OSError:
            break
    return seen


def wait_for(pid):
    end = time.monotonic() + h.PATIENCE
    while time.monotonic() < end:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise h.Failure("calltrap hung after Ctrl-C")


@h.test("Ctrl-C goes to a started program; calltrap stays until it ends")
def interrupt_started(case):
    log = case.path("log")
    pid, master = on_terminal(case, [h.CALLTRAP, "-o", log, "-L", "-x", "f?",
                                     program(), "interrupted"])
    try:
        read_until(master, b"ready")
        os.write(master, b"\x03")
        seen = read_until(master, b"interrupted")
        status = wait_for(pid)
    finally:
        os.close(master)
    h.check(b"interrupted" in seen, "the program's handler never ran")
    h.check_equal(status, 9, "status of calltrap")
    text = h.read(log)
    h.check_match(r"^--- SIGINT \(Interrupt\) ---$", text, "log")
    h.check_match(r"^f2@libt\.so\(1", text, "log")
    h.check_match(r"^\+\+\+ exited \(status 9\) \+\+\+$", text, "log")


@h.test("Ctrl-C on calltrap -p detaches, status 0")
def interrupt_attached(case):
    target = case.start([program(), "forever"])
    ready(target)
    log = case.path("log")
    pid, master = on_terminal(case, [h.CALLTRAP, "-o", log, "-L", "-x", "f1",
                                     "-p", str(target.pid)])
    try:
        h.wait_until(lambda: "f1@" in h.read(log), "a call in the log")
        os.write(master, b"\x03")
        status = wait_for(pid)
    finally:
        os.close(master)
    h.check_equal(status, 0, "status of calltrap")
    h.check_untouched(target.pid)
    h.check_equal(target.popen.poll(), None, "the target's end")


def register_leave(name):
    @h.test("%s detaches from an attached and from a started program" % name)
    def run(case):
        number = signal.Signals[name]
        target = case.start([program(), "forever"])
        ready(target)
        tracer = case.start_calltrap("-L", "-x", "f1", "-p", str(target.pid))
        h.wait_until(lambda: "f1@" in h.read(tracer.log_path), "a call")
        tracer.popen.send_signal(number)
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        h.check_untouched(target.pid)
        h.check_equal(target.popen.poll(), None, "the target's end")

        tracer = case.start_calltrap("-L", "-x", "f1", program(), "forever")
        ready(tracer)
        pid = child_of(tracer.pid)
        try:
            tracer.popen.send_signal(number)
            h.check_equal(tracer.wait(), 0, "status of calltrap")
            h.check_untouched(pid)
        finally:
            tracer_end(pid)


for each_signal in ("SIGTERM", "SIGHUP", "SIGQUIT"):
    register_leave(each_signal)


@h.test("several -p and a command together")
def several(case):
    targets = [case.start([program(), "forever"]) for _ in range(2)]
    for target in targets:
        ready(target)
    tracer = case.start_calltrap(
        "-L", "-x", "f1+slow", *(word for target in targets
                                 for word in ("-p", str(target.pid))),
        program(), "times")

    def are_all_there():
        log = h.Log(h.read(tracer.log_path).rpartition("\n")[0])
        return log.returns("slow") == 3 and \
            {target.pid for target in targets} <= \
            {call.pid for call in log.named("f1")}
    h.wait_until(are_all_there, "calls of all three")
    tracer.popen.send_signal(signal.SIGTERM)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    log = h.Log(h.read(tracer.log_path))
    h.check_equal(log.count("slow"), 3, "calls of the command")
    for target in targets:
        h.check_untouched(target.pid)


@h.test("-u: the command runs as another user")
def as_user(case):
    if os.geteuid() != 0:
        raise h.Skip("only root can do that")
    result = case.calltrap("-u", "nobody", "/usr/bin/id", "-un")
    result.check_status(0)
    h.check_equal(result.out.strip(), "nobody", "user")
    h.check(len(result.log.calls) > 5, "calls logged")


@h.test("--help and --version")
def help_text(case):
    result = case.calltrap("--help", log=False)
    result.check_status(0)
    for option in ("-p", "-f", "-e", "-x", "-l", "-o", "--for", "-T"):
        h.check(option in result.out, "--help doesn't name " + option)
    result = case.calltrap("--version", log=False)
    result.check_status(0)
    h.check_match(r"^calltrap \d", result.out, "--version")
    h.check_equal(result.err, "", "standard error")


ENDURING = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
        int calls = 0;
        for (; access(argv[1], F_OK); usleep(2000), calls++)
                abs(rand());
        printf("%d calls\\n", calls);
        return 7;
}
"""


@h.test("a log that is moved away goes on under its name")
def rotated(case):
    source = case.write("enduring.c", ENDURING)
    binary = h.build("enduring", source, "-O1")
    end = case.path("end")
    names = [case.path(name) for name in ("log", "log.1", "log.2")]
    jsons = [case.path(name) for name in ("json", "json.1", "json.2")]
    tracer = case.start([h.CALLTRAP, "-o", names[0], "--json", jsons[0], "-L",
                         "-x", "rand", binary, end])
    for moved in 2, 1:
        for path in names[0], jsons[0]:
            h.wait_until(lambda: h.read(path).count("rand") > 3, path)
            os.rename(path, "%s.%d" % (path, moved))
    for path in names[0], jsons[0]:
        h.wait_until(lambda: h.read(path).count("rand") > 3, path)
    case.write("end", "")
    h.check_equal(tracer.wait(), 7, "status; " + tracer.err)
    calls = int(tracer.out.split()[0])
    logs = [h.read(name) for name in names]
    for log in logs:
        h.check(log.endswith("\n"), "whole lines: %r" % log[-100:])
    h.check_equal(sum(log.count("rand@") for log in logs), calls, "calls")
    events = [json.loads(line) for name in jsons
              for line in h.read(name).splitlines()]
    h.check_equal(len([e for e in events if e["event"] == "call"]), calls,
                  "calls as JSON")


BLOCKING = """
#include <unistd.h>
int main(void)
{
        char line[64];
        while (read(0, line, sizeof(line)) > 0)
                ;
        return 7;
}
"""


def start_blocking(case):
    binary = h.build("blocking", case.write("blocking.c", BLOCKING), "-O1")
    log = case.path("log")
    tracer = case.start([h.CALLTRAP, "-o", log, "-L", "-x", "read@libc.so.6",
                         binary])
    h.wait_until(lambda: h.read(log).count("read@") == 1, "a call")
    return tracer, log


def end_blocking(tracer):
    tracer.popen.stdin.close()
    h.check_equal(tracer.wait(), 7, "status; " + tracer.err)


@h.test("a log that is moved away in the midst of a line")
def rotated_in_a_line(case):
    tracer, log = start_blocking(case)
    os.rename(log, log + ".1")
    time.sleep(1.2)  # once a second it is looked
    tracer.say("a\n")
    h.wait_until(lambda: os.path.exists(log), "the new log")
    tracer.say("b\n")
    h.wait_until(lambda: "resumed" in h.read(log), "its first line")
    end_blocking(tracer)
    h.check(h.read(log + ".1").endswith("<unfinished ...>\n"),
            "the old one: " + h.read(log + ".1"))
    h.check_equal((h.read(log + ".1") + h.read(log)).count("read@"), 3,
                  "calls in both")


@h.test("where a log was, somebody else's file isn't written to")
def rotated_to_another(case):
    tracer, log = start_blocking(case)
    precious = case.write("precious", "precious\n")
    os.rename(log, log + ".1")
    os.symlink(precious, log)
    time.sleep(1.2)
    tracer.say("a\n")
    h.wait_until(lambda: "= 2" in h.read(log + ".1"), "the old log")
    end_blocking(tracer)
    h.check_equal(h.read(precious), "precious\n", "what lies there")
    h.check("was moved away" in tracer.err, tracer.err)


@h.test("a log that is emptied meanwhile has no hole")
def emptied(case):
    source = case.write("enduring.c", ENDURING)
    binary = h.build("enduring", source, "-O1")
    end, log = case.path("end"), case.path("log")
    tracer = case.start([h.CALLTRAP, "-o", log, "-L", "-x", "rand", binary,
                         end])
    h.wait_until(lambda: h.read(log).count("rand") > 3, "a log")
    os.truncate(log, 0)
    h.wait_until(lambda: h.read(log).count("rand") > 3, "a log again")
    case.write("end", "")
    h.check_equal(tracer.wait(), 7, "status; " + tracer.err)
    h.check("\0" not in h.read(log), "zeros in the log")


if __name__ == "__main__":
    sys.exit(h.main())
