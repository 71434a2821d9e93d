#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The report of `calltrap heap`: its rows, its options, when it is printed."""

import json
import os
import pty
import re
import resource
import select
import signal
import struct
import sys
import time
import zlib

sys.dont_write_bytecode = True
import fcntl
import harness as h
import heap_reports as hr
import termios

UNKNOWN = "frees of what was there before"


def steps():
    return h.build("heap_steps", "heap_steps.c", "-g", "-O1", "-lpthread")


def start(case):
    target = case.start([steps()])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def order(target, words):
    for word in words:
        count = target.out.count("did " + word)
        target.say(word)
        h.wait_until(lambda: target.out.count("did " + word) > count or
                     target.popen.poll() is not None, "the answer to " + word)


def watch(case, words, *options):
    """The report of a program that was attached to and did these."""
    target = start(case)
    tracer = hr.attach(case, target, options=options)
    hr.settle(target, tracer)
    order(target, words)
    report = hr.leave(tracer)
    h.check_untouched(target.pid)
    return report


def line_of(text):
    with open(h.victim("heap_steps.c")) as file:
        return 1 + [text in line for line in file].index(True)


def held(row):
    return row.blocks, row.bytes


# ---------------------------------------------------------------- rows

# What "abtg" comes to: alpha 0 of 10, beta 5, the thread 4, and its TLS.
ALPHA, BETA, GAMMA = (10, 1000), (5, 5000), (4, 200)


def check_sums(report):
    rows = report.rows
    h.check_equal((sum(row.blocks for row in rows) + report.rest[1],
                   sum(row.bytes for row in rows) + report.rest[0]),
                  report.malloc.held(), "sum of the rows")


@h.test("rows by stack")
def _(case):
    report = watch(case, "abtc", "--top", "0")
    for function, wanted in (("alpha", ALPHA), ("beta", BETA),
                             ("gamma_thread", GAMMA)):
        row = report.row("^malloc by %s$" % function)
        h.check_equal(held(row), wanted, function)
        h.check_equal(row.functions()[0], function, "innermost function")
    h.check_equal(report.row("alpha").functions()[-1], "main", "the outermost")
    row = report.row("^malloc by churn$")
    h.check_equal((held(row), row.acquired, row.given_back),
                  ((0, 0), 1000, 1000), "churn")
    h.check_equal([row for row in report.rows if not row.blocks], [row],
                  "rows of which nothing is held")
    h.check_equal(report.empty, 0, "rows left out of all")
    check_sums(report)


@h.test("rows by function, line, library")
def _(case):
    report = watch(case, "abtab", "--by", "function")
    h.check_equal(held(report.row("^alpha in heap_steps$")), (20, 2000),
                  "alpha")
    h.check_equal(held(report.row("^beta in heap_steps$")), (10, 10000),
                  "beta")
    check_sums(report)
    report = watch(case, "abta", "--by", "line")
    where = r"heap_steps\.c:%d$" % line_of("= malloc(100)")
    h.check_equal(held(report.row(where)), (20, 2000), "alpha's line")
    check_sums(report)
    report = watch(case, "abt", "--by", "library")
    h.check_equal(held(report.row("^heap_steps$")), (19, 6200), "the program")
    h.check_equal(report.row("^heap_steps$").acquired, 19, "acquired")
    check_sums(report)
    peaks = "\n".join(report.sections["PEAKS"])
    h.check_match(r"^ +6,200 +19 +19 +6,200  heap_steps$", peaks, "peaks")


@h.test("rows by thread and size")
def _(case):
    report = watch(case, "abt", "--by", "thread")
    target = report.row(r"^thread %d \(heap_steps\)$" % report.pid)
    h.check(target.blocks >= 15 and target.bytes >= 6000, "the first thread")
    rows = [row for row in report.rows if row is not target]
    h.check_equal([held(row) for row in rows], [GAMMA], "the other thread")
    check_sums(report)
    report = watch(case, "abt", "--by", "size")
    h.check_equal(held(report.row("^up to 64 bytes$")), GAMMA, "64")
    h.check_equal(held(report.row("^up to 128 bytes$")), ALPHA, "128")
    h.check_equal(held(report.row("^up to 1024 bytes$")), BETA, "1024")
    check_sums(report)


@h.test("rows by thread have the names that threads take")
def _(case):
    program = h.build("heap_crew", "heap_crew.c", "-g", "-O1", "-lpthread")
    report = hr.heap(case, "--by", "thread", program).report
    found = sorted((row.what.split()[2], row.blocks, row.bytes)
                   for row in report.rows if "heap_crew" not in row.what)
    h.check_equal(found, [("(eater)", 50, 5000), ("(eater)", 50, 5000),
                          ("(nibbler)", 9, 620)], "threads")
    report.row(r"^thread %d \(heap_crew\)$" % report.pid)


@h.test("rows by component, and their peaks")
def _(case):
    path = case.write("components", "# two of three\n"
                      "front: alpha nothing*\n\nback : bet?\n")
    report = watch(case, "abtg", "--by", "component", "--components", path)
    h.check_equal(held(report.row("^back$")), BETA, "back")
    other = report.row(r"^\(other\)$")
    h.check(other.blocks >= 4, "others: %d" % other.blocks)
    h.check_equal(len(report.rows), 2, "rows that hold anything")
    peaks = "\n".join(report.sections["PEAKS"])
    h.check_match(r"^ +0 +0 +10 +1,000  front$", peaks, "front's peak")
    check_sums(report)


@h.test("calls by component, and what one acquires and another gives back")
def _(case):
    path = case.write("components", "front: alpha\nback: beta\nrest: main\n")
    report = watch(case, "abg", "--by", "component", "--components", path)
    calls = "\n".join(report.sections["CALLS"])
    for what in (r" 10 +0 +1,000 .* malloc by heap_steps \(front\)$",
                 r" 5 +0 +5,000 .* malloc by heap_steps \(back\)$",
                 r" 10 +0 +1,000 .* free by heap_steps \(rest\)$"):
        h.check_match(what, calls, "calls")
    pairs = "\n".join(report.sections["ACQUIRED BY ONE COMPONENT, GIVEN BACK "
                                      "BY ANOTHER"])
    h.check_match(r"^10 times, 1,000 bytes\n"
                  r" +acquired by malloc in heap_steps \(front\)\n", pairs,
                  "who acquires")
    h.check_match(r"^ +given back by free in heap_steps \(rest\)$", pairs,
                  "who gives back")


@h.test("a components file with a line that is none, and one that isn't there")
def _(case):
    path = case.write("components", "front alpha\nback: beta\n")
    target = start(case)
    tracer = hr.attach(case, target, options=["--by", "component",
                                              "--components", path])
    hr.settle(target, tracer)
    order(target, "b")
    report = hr.leave(tracer)
    h.check_match(re.escape(path) + r":1: expected 'NAME: PATTERN", tracer.err,
                  "the message")
    h.check_equal(held(report.row("^back$")), BETA, "back")
    result = case.calltrap("heap", "--components", case.path("none"), steps(),
                           log=False)
    result.check_status(1)
    h.check_match("No such file", result.err, "the message")


def check_order(report, key, how):
    """By verdict, which depends on how fast the machine is; then by the key."""
    found = [(("LIKELY", "POSSIBLE", "NOT").index(row.verdict), -key(row))
             for row in report.rows]
    h.check(len(found) > 2, "rows: " + report.text)
    h.check_equal(found, sorted(found), how)


@h.test("--sort and --top; what isn't shown is told")
def _(case):
    def rows_of(*options):
        report = watch(case, "abtcab", *options)
        check_sums(report)
        return report

    check_order(rows_of("--sort", "bytes"), lambda row: row.bytes, "by bytes")
    check_order(rows_of("--sort", "blocks"), lambda row: row.blocks,
                "by blocks")
    report = rows_of("--sort", "age")
    report.rows = [row for row in report.rows
                   if re.search("alpha|beta|gamma", row.what)]
    check_order(report, lambda row: "gba".index(row.what.split()[-1][0]),
                "by age")
    report = watch(case, "aaabcc", "--sort", "rate", "--by", "function")
    check_order(report, lambda row: row.acquired, "by rate")
    h.check_equal(sorted((row.what.split()[0], row.acquired, row.blocks)
                         for row in report.rows),
                  [("alpha", 30, 30), ("beta", 5, 5), ("churn", 2000, 0)],
                  "rows by rate")
    report = rows_of("--top", "1")
    h.check_equal(len(report.rows), 1, "the first alone")
    h.check(re.search("beta$" if report.rows[0].verdict == "NOT" else
                      "alpha$|beta$", report.rows[0].what), "which one: " +
            report.text)
    h.check_equal(report.rest[2], 3, "more rows")


@h.test("--older-than counts only what has lived longer")
def _(case):
    target = start(case)
    tracer = hr.attach(case, target, options=["--older-than", "1s",
                                              "--top", "0"])
    hr.settle(target, tracer)
    order(target, "a")
    time.sleep(1.2)
    order(target, "b")
    report = hr.leave(tracer)
    h.check_equal(held(report.row("alpha")), ALPHA, "alpha")
    row = report.row("beta")
    h.check_equal((held(row), row.acquired, row.given_back, row.median,
                   row.oldest), ((0, 0), 5, 0, "-", "-"),
                  "beta, which is younger")
    h.check_equal(report.malloc.held(), (15, 6000), "the total counts all")


@h.test("--histogram")
def _(case):
    report = watch(case, "abb", "--histogram", "--top", "0")
    text = "\n".join(report.row("beta").lines)
    h.check_match(r"up to +1,024 bytes: +10 +100\.0 %", text, "beta's sizes")
    text = "\n".join(report.row("alpha").lines)
    h.check_match(r"up to +128 bytes: +10 +100\.0 %", text, "alpha's sizes")


@h.test("--depth cuts stacks, and says so")
def _(case):
    report = watch(case, "a", "--depth", "1")
    h.check_equal(report.row("alpha").functions(), ["alpha"], "frames")
    h.check_match(r"^ {8}\.\.\. \(--depth shows more\)$", report.text, "mark")
    h.check_match(r"^\d+ stacks were cut at --depth$", report.text, "count")


@h.test("names of C++ are readable, hostile ones harmless")
def _(case):
    program = h.build("heap_names", "heap_names.cc", "-g", "-O1",
                      "-std=c++17", cc="g++")
    with open(program, "rb") as file:
        data = file.read()
    path = case.path("names")
    with open(path, "wb") as file:
        name = b"hostile_name_of_a_function"
        file.write(data.replace(name, b"\x1b[31m\nname \xff; \r".ljust(
            len(name), b"!")))
    os.chmod(path, 0o755)
    result = hr.heap(case, "--top", "0", path)
    result.check_status(0)
    row = result.report.row(r"^operator new\(unsigned long\) by cache<.*>::put")
    h.check_equal(row.blocks, 20, "nodes of the map")
    h.check(all(len(name) < 200 for name in row.functions()),
            "long names: %r" % row.functions())
    row = result.report.row("^malloc by .*name")
    h.check_equal(row.what, r"malloc by \033[31m\012name \377; \015" + 11 * "!",
                  "the hostile name")
    h.check(not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", result.text),
            "control characters")


# ---------------------------------------------------------------- when

@h.test("SIGQUIT prints and goes on")
def _(case):
    target = start(case)
    tracer = hr.attach(case, target)
    hr.settle(target, tracer)
    order(target, "a")
    for count in (1, 2):
        tracer.popen.send_signal(signal.SIGQUIT)
        h.wait_until(lambda: h.read(tracer.report_path).count("cost: ") ==
                     count, "report %d" % count)
        order(target, "b")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    reports = hr.reports(h.read(tracer.report_path))
    h.check_equal([report.malloc.held() for report in reports],
                  [(10, 1000), (15, 6000), (20, 11000)], "held")
    h.check_untouched(target.pid)


@h.test("a background job of a shell: SIGQUIT prints though it was ignored")
def _(case):
    target = start(case)
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    try:
        tracer = hr.attach(case, target)
    finally:
        signal.signal(signal.SIGQUIT, before)
    hr.settle(target, tracer)
    tracer.popen.send_signal(signal.SIGQUIT)
    h.wait_until(lambda: "cost: " in h.read(tracer.report_path), "a report")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)


@h.test("a user who has too many signals waiting: --every and --for work")
def _(case):
    target = start(case)
    limits = resource.getrlimit(resource.RLIMIT_SIGPENDING)
    resource.setrlimit(resource.RLIMIT_SIGPENDING, (0, limits[1]))
    try:
        tracer = hr.attach(case, target, options=["--every", "200ms", "--for",
                                                  "2s"])
    finally:
        resource.setrlimit(resource.RLIMIT_SIGPENDING, limits)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    h.check(len(hr.reports(h.read(tracer.report_path))) > 1, "two reports")
    h.check_untouched(target.pid)


@h.test("SIGUSR1 stops counting what is acquired; then one sees what survives")
def _(case):
    target = start(case)
    tracer = hr.attach(case, target)
    hr.settle(target, tracer)
    order(target, "abc")
    tracer.popen.send_signal(signal.SIGUSR1)
    h.wait_until(lambda: "doesn't count" in tracer.err, "the message")
    order(target, "bgcc")
    tracer.popen.send_signal(signal.SIGUSR1)
    h.wait_until(lambda: "counts again" in tracer.err, "the message")
    order(target, "ct")
    report = hr.leave(tracer)
    h.check_equal(held(report.row("beta")), BETA, "survivors")
    h.check_equal(held(report.row("gamma_thread")), GAMMA, "kept after that")
    h.check_equal([row for row in report.rows if "alpha" in row.what], [],
                  "rows of alpha")
    h.check_match(r"^2,005 acquisitions were not kept", report.text, "not kept")
    h.check_equal(report.malloc.odd(UNKNOWN), 2000, "unknown frees")
    h.check_equal(report.malloc.odd("double frees"), 0, "double frees")


@h.test("several processes: each has files of its own")
def own_files(case):
    for option in ("--folded", "--json", "--svg", "--pprof", "--callgrind"):
        name = case.path("held" + option + ".out")
        result = case.calltrap("heap", "-f", "-o", case.path("report"),
                               option + "=" + name, "sh", "-c",
                               "true; /bin/true; /bin/true", log=False)
        found = sorted(path for path in os.listdir(case.dir)
                       if path.startswith("held" + option))
        h.check(len(found) >= 3 and all(
            re.fullmatch(r"held%s\.\d+\.out" % option, path)
            for path in found), "files: %r" % found)
        h.check_match(r"there may be several processes: %s writes .*\.%%p\.out"
                      % option, result.err, "what is said")


@h.test("--top=0 and --sort=rate show what holds nothing")
def churn(case):
    report = watch(case, "ccc")
    h.check(report.empty, "no row that holds nothing: " + report.text)
    for options in (["--top=0"], ["--sort=rate", "--top=50"]):
        report = watch(case, "ccc", *options)
        h.check_equal(report.empty, 0, "rows left out with %r" % options)
        h.check([row for row in report.rows if not row.blocks],
                "no row without blocks in " + report.text)


@h.test("SIGUSR1: the time for which counting was off is no part of the trend")
def off_time(case):
    target = start(case)
    tracer = hr.attach(case, target)
    hr.settle(target, tracer)
    for _ in range(20):
        order(target, "b")
        time.sleep(0.02)
    began = time.monotonic()
    tracer.popen.send_signal(signal.SIGUSR1)
    h.wait_until(lambda: "doesn't count" in tracer.err, "the message")
    time.sleep(3 * (time.monotonic() - began) + 2)
    tracer.popen.send_signal(signal.SIGUSR1)
    h.wait_until(lambda: "counts again" in tracer.err, "the message")
    off = time.monotonic() - began
    for _ in range(20):
        order(target, "b")
        time.sleep(0.02)
    report = hr.leave(tracer)
    said = h.check_match(r"^counting was switched off for ([\d.]+) s",
                         report.text, "how long it was off")
    h.check(off / 2 < float(said[1]) < off * 1.1, "off %g s: %s" %
            (off, said[0]))
    h.check(report.row("beta").verdict != "NOT", "beta: " + report.text)


def stand_still(tracer, target):
    """A steady leak, stopped for most of the time. Returns for how long."""
    def go_on(count):
        before = len(target.out)
        h.wait_until(lambda: len(target.out) >= before + count or
                     target.popen.poll() is not None, "additions")

    hr.settle(target, tracer)
    began = time.monotonic()
    go_on(150)
    stopped = time.monotonic()
    target.popen.send_signal(signal.SIGSTOP)
    time.sleep(3 * (stopped - began) + 1)
    target.popen.send_signal(signal.SIGCONT)
    stopped = time.monotonic() - stopped
    go_on(75)
    return stopped


def check_stood_still(report, stopped):
    said = h.check_match(r"^it could not run for (?:(\d+) min )?([\d.]+) s",
                         report.text, "how long it stood still")
    held = 60 * float(said[1] or 0) + float(said[2])
    h.check(held > stopped / 2, "%g s: %s" % (stopped, said[0]))
    h.check_equal(report.row("add").verdict, "LIKELY", "add: " + report.text)


def steady(case):
    return case.start([h.build("heap_steady", "heap_steady.c", "-O1", "-g")])


@h.test("a leak of a process that stands still for long is as likely as ever",
        users=True)
def _(case):
    target = steady(case)
    tracer = hr.attach(case, target, options=["--no-reach"])
    stopped = stand_still(tracer, target)
    report = hr.leave(tracer)
    h.check_untouched(target.pid)
    check_stood_still(report, stopped)


@h.test("... and its recording says so, too")
def _(case):
    target, path = steady(case), case.path("recording")
    tracer = case.start_calltrap("record", "-o", path, "-p", str(target.pid),
                                 log=False)
    stopped = stand_still(tracer, target)
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    played = case.calltrap("heap", "--from", path, log=False)
    played.check_status(0)
    report = hr.only_report(played.err)
    check_stood_still(report, stopped)
    following = in_short(report)[0]["next"]
    h.check("-p" not in following or following.startswith("watch longer"),
            "what to do with a recording: " + following)


@h.test("--every prints each time, --for ends")
def _(case):
    target = start(case)
    tracer = hr.attach(case, target, options=["--every", "300ms", "--for",
                                              "1.8s"])
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    # When it is late, times that have passed are not made up for.
    found = hr.reports(h.read(tracer.report_path))
    h.check(2 <= len(found) <= 7, "%d reports" % len(found))
    h.check_untouched(target.pid)
    # Now each of them as soon as it is there.
    tracer = hr.attach(case, target, options=["--every", "300ms"])
    hr.settle(target, tracer)
    order(target, "a")
    first = len(hr.reports(h.read(tracer.report_path)))
    h.wait_until(lambda: len(hr.reports(h.read(tracer.report_path))) >
                 first + 2 or tracer.popen.poll() is not None, "reports")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    found = hr.reports(h.read(tracer.report_path))
    h.check_equal([each.malloc.held() for each in found[first + 1:]],
                  [ALPHA] * (len(found) - first - 1), "held")
    h.check_untouched(target.pid)


@h.test("--every: a file that is moved away is followed by another")
def _(case):
    target = start(case)
    tracer = hr.attach(case, target, options=["--every", "300ms"])
    hr.settle(target, tracer)
    order(target, "a")
    h.wait_until(lambda: hr.reports(h.read(tracer.report_path)), "a report")
    moved = tracer.report_path + ".1"
    os.rename(tracer.report_path, moved)
    h.wait_until(lambda: len(hr.reports(h.read(tracer.report_path))) > 1 or
                 tracer.popen.poll() is not None, "reports")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    for path in moved, tracer.report_path:
        h.check(h.read(path).startswith("===="), "begins with a report")
        h.check(h.read(path).endswith("\n"), "ends with a line")
    h.check_untouched(target.pid)


@h.test("SIGTERM and SIGINT: a report, and the target goes on")
def _(case):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        target = start(case)
        tracer = hr.attach(case, target)
        hr.settle(target, tracer)
        order(target, "a")
        tracer.popen.send_signal(number)
        h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
        report = hr.only_report(h.read(tracer.report_path))
        h.check_equal(report.malloc.held(), ALPHA, "held")
        h.check_untouched(target.pid)
        order(target, "b")


@h.test("a target that ends, or dies, gets its report")
def _(case):
    for words, how in (("ae", "until it exited with status 3"),
                       ("ak", "until it was killed by SIGKILL")):
        target = start(case)
        tracer = hr.attach(case, target)
        hr.settle(target, tracer)
        order(target, words)
        h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
        report = hr.only_report(h.read(tracer.report_path))
        h.check_equal(report.malloc.held(), ALPHA, "held")
        h.check(how in report.text, how)


@h.test("exec: a report of each program")
def _(case):
    target = start(case)
    tracer = hr.attach(case, target)
    hr.settle(target, tracer)
    order(target, "a")
    target.say("x")
    h.wait_until(lambda: target.out.count("ready") == 2, "the second program")
    order(target, "be")
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    first, second = hr.reports(h.read(tracer.report_path))
    h.check_equal(first.malloc.held(), ALPHA, "held by the first")
    h.check("until it began another program" in first.text, "its end")
    h.check_equal(second.malloc.held(), BETA, "held by the second")
    h.check("from its start" in second.text, "its start")
    h.check_equal(first.pid, second.pid, "process")


@h.test("fork and vfork without -f: the parent's alone")
def _(case):
    report = watch(case, "afvb")
    h.check_equal(report.malloc.held(), (15, 6000), "held")
    h.check_equal([row for row in report.rows if "keep" in row.what], [],
                  "rows of children")


def check_together(text):
    together = h.check_match(r"^==== heap of 3 processes together\n"
                             r"malloc: in use: 6,081 bytes in 20 blocks; total: "
                             r".*[^k]\n(?:.*\n)*?likely: ([\d,]+) bytes.*\n"
                             r"possible: ([\d,]+) .*\nno leak: ([\d,]+) .*\n\Z",
                             text, "the sum")
    h.check_equal(sum(map(hr.number, together.groups())), 6081,
                  "the sum, by verdict")


@h.test("with -f: a recording of several processes has their sum, too")
def _(case):
    target, path = start(case), case.path("recording")
    tracer = case.start_calltrap("record", "-f", "-o", path, "-p",
                                 str(target.pid), log=False)
    hr.settle(target, tracer)
    order(target, "afvb")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    played = case.calltrap("heap", "--from", path, log=False)
    played.check_status(0)
    h.check_equal(len(hr.reports(played.err)), 3, "reports")
    check_together(played.err)


@h.test("with -f: a report a process")
def _(case):
    target = start(case)
    tracer = hr.attach(case, target, options=["-f"])
    hr.settle(target, tracer)
    order(target, "afvb")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    found = hr.reports(h.read(tracer.report_path))
    h.check_equal([report.malloc.held() for report in found],
                  [(3, 21), (2, 60), (15, 6000)], "held by each")
    h.check_equal(len({report.pid for report in found}), 3, "processes")
    check_together(h.read(tracer.report_path))
    for report in found:
        share = h.check_match(r"^cost: .*; the program stood still for ([\d.]+) "
                              r"% of the time watched, and ran at .*% of its "
                              r"speed; ", report.text, "what it has cost")
        h.check(0 < float(share[1]) <= 100, "one thread can't stand still for "
                "longer than it was watched: " + share[0])
    h.check_untouched(target.pid)


@h.test("-o with %p: a file a process")
def _(case):
    target = start(case)
    tracer = case.start_calltrap("heap", "-f", "-o", case.path("r.%p"), "-p",
                                 str(target.pid), log=False)
    hr.settle(target, tracer)
    order(target, "af")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    names = [name for name in os.listdir(case.dir) if name.startswith("r.")]
    h.check_equal(len(names), 2, "files")
    for name in names:
        report = hr.only_report(h.read(case.path(name)))
        h.check_equal("r.%d" % report.pid, name, "process")


# ---------------------------------------------------------------- outputs

def on_terminal(case, *arguments, wanted, columns=60):
    """What calltrap writes to a terminal of its own. It is left when this was
    to be seen there."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ,
                struct.pack("HHHH", 24, columns, 0, 0))
    target = start(case)
    process = h.subprocess.Popen(
        [h.CALLTRAP, "heap", *arguments, "-p", str(target.pid)],
        stderr=slave, stdin=slave, stdout=slave, cwd=case.dir)
    os.close(slave)
    written, end = b"", time.monotonic() + h.PATIENCE
    left = False
    while time.monotonic() < end:
        if not left:
            order(target, "ac")
        if not left and re.search(wanted, written.decode()):
            process.send_signal(signal.SIGINT)
            left = True
        ready, _, _ = select.select([master], [], [], 0.1)
        try:
            data = os.read(master, 4096) if ready else b"-"
        except OSError:
            break
        if not data:
            break
        written += data if ready else b""
    h.check(left, "never seen: %r in %r" % (wanted, written))
    h.check_equal(process.wait(h.PATIENCE), 0, "status of calltrap")
    os.close(master)
    return written.decode()


@h.test("a progress line on a terminal, and none elsewhere")
def _(case):
    line = r"\r(\d+ s of 600 s, [^\r\n]*)\x1b\[K"
    text = on_terminal(case, "--for", "600s", wanted="(?s)" + 3 * (line + ".*"))
    lines = re.findall(line, text)
    seconds = [int(line.split()[0]) for line in lines]
    h.check_equal(sorted(set(seconds)), seconds, "a line each second")
    h.check(all(len(line) < 60 for line in lines), "their length")
    h.check_match(r"^\d+ s of 600 s, \d+ calls/s, \d+ bytes held in", lines[-1],
                  "a progress line")
    h.check_match(r"\r\x1b\[K==== heap of process", text,
                  "it is gone before the report")
    target = start(case)
    tracer = case.start_calltrap("heap", "--for", "2s", "-p", str(target.pid),
                                 log=False)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    h.check("\r" not in tracer.err, "no progress in a file")
    h.check("==== heap of process %d" % target.pid in tracer.err,
            "the report on standard error")


@h.test("progress of --growth: sizes, not blocks of which nothing is known")
def _(case):
    size = r" \d+\.\d [KM]iB \([+-]\d+(\.\d [KM]i| )B\)"
    for what, more in (("heap,mmap", r"\x1b"), ("heap,mmap,leaks",
                                                r", \d+ calls/s, ")):
        on_terminal(case, "--for", "600s", "--growth", what, columns=120,
                    wanted=r"\r\d+ s of 600 s, VIRT%s, RSS%s%s" %
                    (size, size, more))


@h.test("a full disk: one clear message, the target goes on")
def _(case):
    if not os.path.exists("/dev/full"):
        raise h.Skip("there is no /dev/full")
    target = start(case)
    tracer = case.start_calltrap("heap", "-o", "/dev/full", "--every", "300ms",
                                 "-p", str(target.pid), log=False)
    hr.settle(target, tracer)
    order(target, "a")
    time.sleep(1)
    tracer.popen.send_signal(signal.SIGINT)
    tracer.wait()
    h.check_equal([line for line in tracer.err.splitlines()],
                  ["calltrap: /dev/full can't be written any more: No space "
                   "left on device"], "messages")
    h.check_equal(tracer.popen.returncode, 1, "the exit status")
    h.check_untouched(target.pid)
    order(target, "b")


@h.test("a closed pipe: the target goes on")
def _(case):
    target = start(case)
    reader, writer = os.pipe()
    process = h.subprocess.Popen(
        [h.CALLTRAP, "heap", "--every", "300ms", "-p", str(target.pid)],
        stderr=writer, stdin=h.subprocess.DEVNULL, cwd=case.dir)
    os.close(writer)
    try:
        worker = h.worker_of(process)
        h.wait_until(lambda: h.tracer_of(target.pid) == worker, "calltrap")
        os.close(reader)
        order(target, "ab")
        time.sleep(1)
        order(target, "ab")
        process.send_signal(signal.SIGINT)
        status = process.wait(h.PATIENCE)
        h.check_equal(status, 1, "the exit status")
    finally:
        process.kill()
    h.check_untouched(target.pid)
    order(target, "a")


@h.test("an output that can't be opened: nothing is touched")
def _(case):
    target = start(case)
    result = case.calltrap("heap", "-o", "/does/not/exist", "-p",
                           str(target.pid), log=False)
    result.check_status(1)
    h.check_equal(result.err, "calltrap: /does/not/exist can't be written: No "
                  "such file or directory\n", "the message")


# ---------------------------------------------------------------- families

def things():
    return h.build("heap_things", "heap_things.c", "-g", "-O1")


def tallies(report, what):
    """Held, acquired and given back, of each row that matches."""
    return sorted((row.blocks, row.acquired, row.given_back)
                  for row in report.rows if re.search(what, row.what))


@h.test("leaked descriptors, with their stacks")
def _(case):
    result = hr.heap(case, "--pool", "descriptors", "--pool", "files",
                     "--top", "0", things())
    result.check_status(0)
    counts, report = result.counts(), result.report
    each = counts["each"]
    h.check_equal(report.totals["descriptors"].blocks, counts["descriptors"],
                  "descriptors")
    h.check_equal(counts["descriptors"], 5 * each, "by /proc")
    # Another line of it opens what isn't there.
    h.check_equal(tallies(report, "^open by leak_open$"),
                  [(0, 0, 0), (each, each, 0)], "open")
    row = [row for row in report.rows if row.what == "open by leak_open" and
           not row.acquired][0]
    h.check_match(r"^    stack \d+: no call acquired anything$", row.lines[0],
                  "what is said of calls that failed")
    for function in ("socket", "pipe", "dup"):
        row = report.row("^%s by leak_%s$" % (function, function))
        h.check_equal((row.blocks, row.bytes), (each, 0), function)
    row = [row for row in report.rows if "leak_fopen" in row.functions() and
           row.what.startswith("open")]
    h.check_equal([held(one) for one in row], [(each, 0)],
                  "fopen's descriptors")
    h.check_equal(report.others, 6 * each, "what the summary says beside "
                  "memory")
    row = report.row("^fopen by leak_fopen$")
    h.check_equal(row.blocks, each, "files")
    files = report.totals["files"]
    h.check_equal(files.blocks, each, "files in all")
    h.check_equal(tallies(report, "^popen by leak_nothing$"),
                  [(0, each, each)], "pipes")
    for odd in "frees of what was never acquired", "double frees", \
            "freed by a function of another kind":
        h.check_equal(files.odd(odd), 0, odd)
    h.check_equal(report.totals["directories"].blocks, 0, "directories")


POOL = """\
# The victim's own.
family pool counts bytes
acquire pool_alloc(_, size, *handle) = int 0
release pool_free(_, handle)
"""


@h.test("a family of the user's own")
def _(case):
    path = case.write("pool.families", POOL)
    result = hr.heap(case, "--pool", path, "--top", "0", things())
    result.check_status(0)
    counts, total = result.counts(), result.report.totals["pool"]
    h.check_equal(total.held(), (counts["pool"], 40 * counts["pool"]), "held")
    h.check_equal((total.allocs, total.frees), (10, 5), "allocs, frees")
    h.check_equal(total.odd("failed"), 5, "failed")
    # One fails, one is given back.
    pool = "^pool_alloc by leak_pool$"
    h.check_equal(tallies(result.report, pool),
                  [(0, 0, 0), (0, 5, 5), (5, 5, 0)], "its rows")
    h.check_equal(sum(row.bytes for row in result.report.rows
                      if re.search(pool, row.what)), 200, "their bytes")


BIOS = """\
#include <stdlib.h>
#define API __attribute__((noinline, visibility("default")))
typedef struct bio { int references; struct bio *next; } BIO;
API void CRYPTO_free_ex_data(int index, void *object, void *data)
{
	__asm__ volatile("" : : "r"(index), "r"(object), "r"(data) : "memory");
}
API BIO *BIO_new(void *method)
{
	BIO *bio = calloc(1, sizeof(*bio));
	__asm__ volatile("" : : "r"(method) : "memory");
	bio->references = 1;
	return bio;
}
API int BIO_up_ref(BIO *bio)
{
	return ++bio->references > 1;
}
static inline __attribute__((always_inline)) void end(BIO *bio)
{
	if (--bio->references)
		return;
	CRYPTO_free_ex_data(12, bio, NULL);
	free(bio);
}
API int BIO_free(BIO *bio)
{
	end(bio);
	return 1;
}
API void BIO_free_all(BIO *bio)
{
	while (bio) {
		BIO *next = bio->next;
		end(bio);
		bio = next;
	}
}
int main(void)
{
	for (int i = 0; i < 10; i++) {
		BIO *bio = BIO_new(NULL);
		CRYPTO_free_ex_data(3, bio, NULL); /* another kind's */
		BIO_up_ref(bio);
		BIO_free(bio);
		bio->next = BIO_new(NULL);
		BIO_free_all(bio);
		BIO_free(BIO_new(NULL));
	}
	BIO_new(NULL);
}
"""


@h.test("BIOs end, also where BIO_free was put into BIO_free_all")
def _(case):
    program = h.build("bios", case.write("bios.c", BIOS), "-O0",
                      directory=case.dir)
    result = hr.heap(case, "--pool", "openssl", program)
    result.check_status(0)
    total = result.report.totals["BIO"]
    h.check_equal((total.blocks, total.allocs, total.frees), (1, 31, 30),
                  "BIOs, acquired and given back")
    h.check_equal(total.oddities, {}, "oddities")


@h.test("a family file that is wrong: where, and what was expected")
def _(case):
    path = case.write("bad.families", POOL + "acquire pool_more(size = x\n")
    result = hr.heap(case, "--pool", path, things())
    result.check_status(0)
    h.check_match(r"^calltrap: %s:5:24: expected ',' or '\)', not '='$" %
                  re.escape(path), result.err, "the message")
    h.check_equal(result.report.totals["pool"].blocks, 5, "the rest is good")
    result = case.calltrap("heap", "--pool", "nosuch", things(), log=False)
    result.check_status(1)
    h.check_match("nosuch: there is no such file of families", result.err,
                  "the message")


NESTED = """\
#include <cstdlib>
#define INLINED inline __attribute__((always_inline))
#define APART __attribute__((noinline))
static void *volatile kept;
namespace {
template <class T> struct Pool {
	INLINED void get(int n) { kept = malloc(n * sizeof(T)); }
};
struct Shape {
	struct Inner { APART void take() { kept = malloc(77); } } inner;
};
INLINED void lone() { kept = malloc(55); }
}
static INLINED void plain() { kept = malloc(33); }
int main()
{
	Pool<double> pool;
	Shape shape;

	for (int i = 0; i < 10; i++) {
		pool.get(4);
		shape.inner.take();
		lone();
		plain();
	}
}
"""


@h.test("inlined functions have their classes and namespaces")
def _(case):
    h.need("g++")
    source = case.write("nested.cc", NESTED)
    for level in ("-O0", "-O2"):
        program = h.build("nested", source, "-g", level, cc="g++",
                          directory=case.dir)
        report = hr.heap(case, "--top", "0", program).report
        found = set()
        for row in report.rows:
            name = re.search(r" by (\(anonymous namespace\)::)?([^( ]+)",
                             row.what)
            if row.blocks == 10 and name:
                found.add((bool(name[1]), name[2]))
        h.check_equal(found, {(True, "Pool<double>::get"),
                              (True, "Shape::Inner::take"),
                              (True, "lone"), (False, "plain")}, "names")


def wrapped(case, callers, *flags):
    """A program whose functions acquire by wrap(), called from so many."""
    text = """\
#include <stdlib.h>
static void *volatile kept;
%s void wrap(size_t size) { kept = malloc(size); }
""" % ("static inline __attribute__((always_inline))"
       if "-DINLINED" in flags else "__attribute__((noinline))")
    text += "".join("""\
static void caller%d(int more)
{
	if (more > 0)
		caller%d(more - 1);
	wrap(100 + more); kept = (char *)kept + 1;
}
""" % (i, i) for i in range(callers))
    text += "int main(void)\n{\n%s}\n" % "".join(
        "\tcaller%d(%d);\n" % (i, 20 // callers) for i in range(callers))
    return h.build("wrapped%d" % callers, case.write("wrapped.c", text), "-g",
                   "-O1", "-fno-optimize-sibling-calls", *flags,
                   directory=case.dir)


def names_of(case, *arguments):
    report = hr.heap(case, "--top", "0", *arguments).report
    return {re.sub(r"\d+$", "", row.what) for row in report.rows}


@h.test("a wrapper of malloc that many call is passed over for the name")
def _(case):
    for flags in ((), ("-DINLINED",)):
        many = wrapped(case, 10, *flags)
        h.check_equal(names_of(case, many), {"malloc by caller"}, "ten callers")
        few = wrapped(case, 3, *flags)
        h.check_equal(names_of(case, few), {"malloc by wrap"}, "three callers")
        h.check_equal(names_of(case, "--alloc-fn", "nobody", "--alloc-fn",
                               "wr?p", few), {"malloc by caller"},
                      "three callers, and a wrapper that is named")
        h.check_equal(names_of(case, "--by", "function", many),
                      {"caller%d in wrapped" % i for i in range(10)},
                      "by function")


EXITS = """\
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words)
{
	for (int i = 0; i < 100; i++) {
		void *volatile block = malloc(30);

		if (count > 1)
			free(block);
		usleep(10000);
	}
	return 5;
}
"""


@h.test("--error-exitcode, when a leak is likely; and how long blocks lived")
def _(case):
    program = h.build("exits", case.write("exits.c", EXITS),
                      directory=case.dir)
    code = ["--error-exitcode", "77"]
    result = hr.heap(case, *code, program)
    h.check_equal(result.report.rows[0].verdict, "LIKELY", "the verdict")
    result.check_status(77)
    result = hr.heap(case, *code, "--top=0", program, "frees")
    result.check_status(5)
    row = result.report.rows[0]
    h.check_match(r"lived \S+ \S+ \(mean\), up to \S+ \S+ \(median\) to ",
                  "\n".join(row.lines), "how long they lived")
    known = case.write("known", "leak:main\n")
    result = hr.heap(case, *code, "--suppress", known, program)
    result.check_status(5)
    recording = case.path("recording")
    case.calltrap("record", "-o", recording, program, log=False)
    hr.heap(case, *code, "--from", recording).check_status(77)
    hr.heap(case, "--from", recording).check_status(0)


def in_short(report):
    """{"leak": text, ...}, and the lines of places."""
    lines = report.sections["IN SHORT"]
    return (dict(line.split(": ", 1) for line in lines
                 if not line.startswith(" ")),
            [line.strip() for line in lines if line.startswith(" ")])


@h.test("in short: what leaks and where, how sure, what wasn't seen, what next")
def _(case):
    source = case.write("exits.c", EXITS)
    program = h.build("exits", source, "-g", directory=case.dir)
    report = hr.heap(case, program).report
    said, places = in_short(report)
    row = report.rows[0]
    likely = next(line for line in report.sections["LEAK SUMMARY"]
                  if line.startswith("likely: "))
    h.check_equal(list(report.sections)[:3],
                  ["HEAD", "IN SHORT", "HEAP SUMMARY"], "where it stands")
    h.check_equal(list(said), ["leak", "limit", "sure", "not seen", "next"],
                  "what is told")
    h.check_equal(said["leak"].split("; grows")[0], likely, "leak")
    h.check_equal(len(places), 1, "places: %r" % places)
    h.check_match(r"^%s bytes in %s blocks, .*since \d\d:\d\d:\d\d: %s "
                  r"\(stack \d+\)$" % (format(row.bytes, ","),
                                       format(row.blocks, ","), row.what),
                  places[0], "the place")
    reason = row.lines[0].split(": ", 1)[1]
    h.check_equal(said["sure"], reason + "; a cache that fills looks the same",
                  "how sure")
    h.check_equal((said["not seen"], said["next"]),
                  ("nothing is missing",
                   "the same with --source shows the lines of code"),
                  "not seen, next")
    without = h.build("exits_without", source, directory=case.dir)
    said, _ = in_short(hr.heap(case, without).report)
    h.check_equal(said["next"],
                  "the same with --html FILE makes a page with what was held "
                  "when; of exits_without there is no debug information, so no "
                  "lines of code", "next, without debug information")
    said, places = in_short(hr.heap(case, program, "frees").report)
    h.check_equal((said["leak"], places, said["next"]),
                  ("none is seen", [], "it has ended: give it more to do, for "
                   "longer; the same with --html FILE makes a page with what "
                   "was held when"),
                  "nothing leaks")
    for option in "--by=size", "--by=thread":
        report = hr.heap(case, option, program).report
        h.check("IN SHORT" not in report.sections, "no verdicts " + option)


@h.test("in short: who was attached to is looked at for what came before")
def _(case):
    target = case.start(["/bin/sleep", "1000"])
    h.rest(target.pid)
    said, _ = in_short(hr.heap(case, "--for", "100ms", "-p",
                               str(target.pid)).report)
    h.check_equal(said["leak"], "none is seen", "leak")
    command = said["next"].split("; ")[1].split(" says calltrap ")[1]
    result = case.calltrap(*command.split(), log=False)
    result.check_status(0)
    h.check("definitely lost: " in result.out, "report: " + result.out)


def begun_at(case, recording, seconds):
    """When the first place has begun, by the clock of a recording that says it
    was made so much later: seconds of a day."""
    data = bytearray(recording)
    wall = int.from_bytes(data[16:24], "little") + seconds * 1000000000
    data[16:24] = wall.to_bytes(8, "little")
    data[36:40] = zlib.crc32(data[:36]).to_bytes(4, "little")
    with open(case.path("moved"), "wb") as file:
        file.write(data)
    report = hr.heap(case, "--from", case.path("moved"),
                     env={**os.environ, "TZ": "UTC"}).report
    place = in_short(report)[1][0]
    hours, minutes, rest = map(int, re.search(r"since (\d+):(\d+):(\d+)",
                                              place).groups())
    return (hours * 60 + minutes) * 60 + rest


@h.test("in short: when it began, by the clock of when it was recorded")
def _(case):
    program = h.build("exits", case.write("exits.c", EXITS),
                      directory=case.dir)
    path = case.path("recording")
    case.calltrap("record", "-o", path, program, log=False).check_status(5)
    with open(path, "rb") as file:
        recording = file.read()
    first, moved = (begun_at(case, recording, seconds) for seconds in
                    (0, 5 * 3600))
    h.check_equal((moved - first) % 86400, 5 * 3600, "five hours later")


@h.test("what grows may be a cache, and Python keeps its own objects")
def _(case):
    result = hr.heap(case, things())
    text = "\n".join(result.report.sections["LEAK SUMMARY"])
    h.check("Python" not in text, "no Python:\n" + text)
    h.check_equal("or a cache" in text, "LIKELY" in
                  {row.verdict for row in result.report.rows}, text)
    python = "/usr/bin/python3"
    if not os.access(python, os.X_OK):
        raise h.Skip("there is no " + python)
    result = hr.heap(case, python, "-c", "kept = [bytes(999)] * 3")
    h.check_match(r"^note: Python's objects .* PYTHONMALLOC=malloc$",
                  "\n".join(result.report.sections["LEAK SUMMARY"]),
                  "the note")


SLICES = """\
import ctypes, os
glib = ctypes.CDLL("libglib-2.0.so.0")
glib.g_slice_alloc.restype = ctypes.c_void_p
kept = [glib.g_slice_alloc(ctypes.c_size_t(48)) for _ in range(3000)]
os._exit(0)
"""
ARENAS = """\
import os
kept = [(i,) for i in range(100000)]
os._exit(0)
"""


def slabs(case, *argv, **how):
    """The inside of each row's slab, by the report and by JSON."""
    path = case.path("json")
    result = hr.heap(case, "--top", "0", "--json", path, *argv, **how)
    told = re.findall(r"^    each is an? .*, for whichever stack needed the "
                      r"next one; with (\S+) each object is seen$",
                      result.report.text, re.M)
    sites = json.loads(h.read(path))["sites"]
    h.check_equal(sorted(told),
                  sorted(site["slab"]["inside"] for site in sites
                         if "slab" in site), "slabs in JSON")
    return told, result


@h.test("slabs of Perl, of Python and of GLib are told from what lies in them")
def _(case):
    h.need("perl")
    told, _ = slabs(case, "perl", "-e", "push @a, {n => $_} for 1 .. 1000")
    h.check("-DPURIFY" in told, "Perl: %r" % told)
    python = "/usr/bin/python3"
    if not os.access(python, os.X_OK):
        raise h.Skip("there is no " + python)
    told, _ = slabs(case, python, "-c", ARENAS)
    h.check("PYTHONMALLOC=malloc" in told, "Python: %r" % told)
    told, result = slabs(case, python, "-c", SLICES)
    if not any(row.what.startswith("posix_memalign") and
               "g_slice_alloc" in row.functions()
               for row in result.report.rows):
        raise h.Skip("GLib has no slices here")
    h.check("G_SLICE=always-malloc" in told, "GLib: %r" % told)
    told, _ = slabs(case, python, "-c", SLICES,
                    env={"G_SLICE": "always-malloc"})
    h.check("G_SLICE=always-malloc" not in told, "not GLib: %r" % told)


@h.test("the heap of a collector is told from what leaks, however it grows")
def _(case):
    program = h.build("heap_collected", "heap_collected.cc", "-g", "-O1",
                      cc="g++")
    told, result = slabs(case, program)
    h.check_equal(told, ["--heapsnapshot-signal=SIGUSR2"], "slabs")
    rows = result.report.rows
    names = "AllocatePage", "leak", "wrap", "forget"
    by_caller = {name: row for row in rows for name in names
                 if name in row.functions()[0]}
    h.check_equal({name: row.verdict for name, row in by_caller.items()},
                  {"AllocatePage": "POSSIBLE", "leak": "LIKELY",
                   "wrap": "POSSIBLE", "forget": "LIKELY"},
                  "verdicts: " + result.text)
    h.check("go with objects of JavaScript" in result.text, result.text)
    h.check("given back by a collector" in result.text, result.text)


if __name__ == "__main__":
    sys.exit(h.main())
