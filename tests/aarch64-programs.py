#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What is arm64's own, and what a first look is for: run in the machine of
tests/aarch64.sh, on programs that were built outside."""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "e2e"))
import harness as h  # noqa: E402
import heap_reports as hr  # noqa: E402

THREADS, CALLS = 4, 100
UNKNOWN = 77  # what a program ends with where it can't be shown


def program(name):
    return os.path.join(HERE, "..", name)


def show(text):
    """Who runs this wants to see what it looks like."""
    print("# " + text.replace("\n", "\n# "))


@h.test("ls: arguments and results")
def _(case):
    result = case.calltrap("ls", "/usr")
    result.check_status(0)
    show(result.log_text)
    found = result.log.named("strrchr")[0]
    h.check_equal((found.arguments, found.result), ("\"ls\", '/'", "nil"),
                  "the first call of ls")
    h.check_equal(result.log.of_kind("exit"), ["exited (status 0)"], "its end")


@h.test("system calls by name")
def _(case):
    result = case.calltrap("-S", "-e", "none@nowhere", "ls", "/usr")
    result.check_status(0)
    h.check(result.log.count("mmap", library="SYS") > 3,
            "log:\n" + result.log_text)
    # Both differ from x86's.
    h.check_match(r'^openat@SYS\(AT_FDCWD, "/usr", O_RDONLY\|O_NONBLOCK\|'
                  r'O_DIRECTORY\|O_CLOEXEC\) += 3$', result.log_text, "flags")
    h.check_match(r'^newfstatat@SYS\(3, "", {st_mode=040755, st_uid=0, ',
                  result.log_text, "a struct stat")


@h.test("functions of the dynamic linker have prototypes")
def _(case):
    result = case.calltrap("-e", "_dl_allocate_tls@libc.so.6",
                           program("calls"), input_text="\n")
    result.check_status(0)
    h.check_equal(result.log.count("_dl_allocate_tls"), THREADS, "calls")
    for call in result.log.named("_dl_allocate_tls"):
        h.check_match(r"^0x[0-9a-f]+$", call.arguments, "its argument")
        h.check_equal(call.result, call.arguments, "its result")


def register_calls(name):
    @h.test(name + ": a stack to its end, and a real result")
    def stack(case):
        result = case.calltrap("-w4", "-e", "strtod", program(name),
                               input_text="\n")
        result.check_status(0)
        h.check_match(r'strtod\("2.5", .* = 2.5$', result.log_text, "the call")
        for function in "main", "_start":
            h.check_match(r"^ > %s\(%s\+" % (name, function), result.log_text,
                          "the stack")

    @h.test(name + ": attached to, each call of each thread")
    def attached(case):
        target = case.start([program(name)])
        tracer = case.start_calltrap("-c", "-e", "malloc", "-p",
                                     str(target.pid))
        h.settle(target, tracer)
        target.say("\n")
        h.check_equal(target.wait(), 0, "exit status of the target")
        tracer.wait()
        table = h.read(tracer.log_path)
        show(table)
        found = h.check_match(r" (\d+) +malloc$", table, "the table")
        # One more in main().
        h.check_equal(int(found[1]), THREADS * CALLS + 1, "calls")


for each_name in "calls", "signed":
    register_calls(each_name)


@h.test("heap: LoopLeak, and its line")
def _(case):
    target = case.start([program("LoopLeak"), "10"])
    h.wait_until(lambda: "ready" in target.out, "the victim")
    tracer = hr.attach(case, target)
    h.wait_until(lambda: hr.planted(target.pid), "the traps")
    before = h.naps(target.pid)
    h.wait_until(lambda: h.naps(target.pid) > before + 100, "leaks")
    report = hr.leave(tracer).text
    show(report)
    h.check_match(r"^ +leak .*/heap_leak\.c:\d+ \(LoopLeak\)$", report,
                  "the stack")


@h.test("a copy of the process is read meanwhile (--freeze clone)")
def _(case):
    target = case.start([program("calls")])
    h.rest(target.pid)
    path = case.path("found.json")
    result = case.calltrap("memory", "--leaks", "--freeze", "clone", "--json",
                           path, "-p", str(target.pid), log=False)
    result.check_status(0)
    with open(path) as file:
        h.check(json.load(file)["copied"], "no copy: " + result.out)
    target.say("\n")
    h.check_equal(target.wait(), 0, "exit status of the target")


@h.test("pages that only certain jumps may lead into")
def _(case):
    if case.run([program("guards")]).status == UNKNOWN:
        raise h.Skip("this machine guards no pages")
    result = case.calltrap("-L", "-x", "guarded", "-e",
                           "malloc@libguarded.so", program("guards"))
    result.check_status(0)
    result.log.check_counts({"guarded": CALLS, "malloc": CALLS})


@h.test("registers of SVE are as they were after each call")
def _(case):
    if case.run([program("vectors")]).status == UNKNOWN:
        raise h.Skip("this machine has no SVE")
    conf = case.write("leaf.conf", "double leaf(double)\n")
    result = case.calltrap("-F", conf, "-L", "-x", "leaf", program("vectors"))
    result.check_status(0)
    result.log.check_counts({"leaf": CALLS})


@h.test("what pointers lead to whose upper byte is the program's")
def _(case):
    result = case.calltrap("-e", "strdup", program("tags"))
    result.check_status(0)
    h.check_equal([call.arguments for call in result.log.named("strdup")],
                  ['"tagged"'] * 5, "arguments")


@h.test("--engine=agent: there is none, and traps do the work")
def _(case):
    result = case.calltrap("--engine=agent", "-e", "strtod", program("calls"),
                           input_text="\n")
    result.check_status(0)
    h.check_match("there is none for this processor",
                  "\n".join(result.messages()), "what is said")
    result.log.check_counts({"strtod": 1})


@h.test("32-bit programs are refused, and run")
def _(case):
    result = case.calltrap(program("narrow"))
    result.check_status(3)
    h.check_match("it is for a processor that calltrap doesn't know",
                  result.err, "what is said")


sys.exit(h.main())
