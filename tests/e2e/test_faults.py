#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap heap --growth faults`: page faults and their stacks, by programs
that know how many pages they touch, and by what the kernel has counted."""

import json
import os
import re
import sys

sys.dont_write_bytecode = True
import harness as h

MANY, FEW = 2000, 700
PAGE = 4096


def pager():
    """Without frame pointers: stacks are unwound from copies by tables."""
    return h.build("pager", "pager.c", "-g", "-O2", "-fomit-frame-pointer",
                   "-fno-inline-small-functions", "-lpthread")


def line_of(mark):
    with open(h.victim("pager.c"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if "the line of " + mark in line:
                return number
    raise h.Failure("no line of " + mark)


class Faults:
    """What a JSON file says of page faults."""

    def __init__(self, text, report):
        self.all = json.loads(text)["grown"]
        self.of = self.all["faults"]
        self.sites = self.of["sites"]
        self.report = report

    def calls(self, function, line=None):
        """At sites whose innermost frame is there."""
        total = 0
        for site in self.sites:
            leaf = site["stack"][0] if site["stack"] else {}
            if leaf.get("function") == function and \
                    (line is None or leaf.get("line") == line):
                total += site["calls"]
        return total

    def calls_below(self, function):
        return sum(site["calls"] for site in self.sites
                   if function in self.functions(site))

    @staticmethod
    def functions(site):
        return [frame.get("function") for frame in site["stack"]]

    def check_work(self, times, system="x86_64"):
        """A fault that has to wait for what another thread holds, and finds a
        signal pending, is begun again (fault_signal_pending(),
        arch/x86/mm/fault.c): an event more, where there are more threads."""
        for function, line, wanted in (("touch_many", "many", times * MANY),
                                       ("touch_few", "few", times * FEW)):
            found = self.calls(function, line_of(line))
            h.check(wanted <= found < wanted + times,
                    "%d faults at the line of %s, %d pages" %
                    (found, line, wanted))
        for site in self.sites:
            if self.functions(site)[:1] == ["touch_many"]:
                h.check_equal(self.functions(site)[1], "work", "the caller")

    def counted(self):
        """(seen, counted by the kernel)"""
        found = re.search(r"page faults: ([\d,]+) seen, ([\d,]+) counted",
                          self.report)
        h.check(found, "no tie-out in\n" + self.report)
        return [int(text.replace(",", "")) for text in found.groups()]


def traced(case, *arguments, launcher=(), options=()):
    """Faults, and what the program has said."""
    path = case.path("faults.%d.json" % case.number())
    result = case.run(list(launcher) +
                      [h.CALLTRAP, "heap", "--growth", "faults", "--json",
                       path] + list(options) + list(arguments))
    result.check_status(0)
    return Faults(h.read(path), result.err), result.out


def need_events(faults):
    if faults.of["seen_by"] != "events":
        raise h.Skip("perf_event_open isn't allowed here: " +
                     faults.of["seen_by"])


def said(out, what):
    return int(re.search(what + r" (\d+)", out).group(1))


# ---------------------------------------------------------------- by events

@h.test("each page at its function and line, without frame pointers",
        users=True)
def _(case):
    faults, _ = traced(case, pager(), "work")
    need_events(faults)
    faults.check_work(1)
    h.check_equal(faults.of["lost"], 0, "lost")
    h.check(faults.calls_below("work") >= MANY + FEW, "no work")


@h.test("of four threads", users=True)
def _(case):
    faults, _ = traced(case, pager(), "threads")
    need_events(faults)
    faults.check_work(4)
    h.check_equal(faults.of["lost"], 0, "lost")
    for site in faults.sites:
        if faults.functions(site)[0] == "touch_few":
            h.check("start_thread" in faults.functions(site),
                    "the stack is cut: %s" % faults.functions(site))


@h.test("a process that is attached to, and threads that it starts then",
        users=True)
def _(case):
    path = case.path("faults.json")
    target = case.start([pager(), "serve"])
    h.wait_until(lambda: "ready" in target.out, "the target's start")
    tracer = case.start_calltrap("heap", "--growth", "faults", "--json", path,
                                 "-p", str(target.pid), log=False)
    h.settle(target, tracer)
    target.say("3\n")
    h.wait_until(lambda: "done" in target.out, "the threads")
    tracer.popen.send_signal(2)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    target.say("1\n")
    target.popen.stdin.close()
    h.check_equal(target.wait(), 0, "status of the target")
    faults = Faults(h.read(path), tracer.err)
    need_events(faults)
    faults.check_work(3)
    h.check_equal(said(target.out, "winches"), 0, "signals that it saw")


@h.test("as many as the kernel has counted", users=True)
def _(case):
    faults, out = traced(case, pager(), "threads")
    need_events(faults)
    seen, counted = faults.counted()
    # Those in system calls, which an ordinary user isn't told of, are few.
    h.check(abs(seen - counted) <= 12,
            "%d seen, %d counted by the kernel" % (seen, counted))
    h.check(seen >= 4 * (MANY + FEW), "only %d, the program says %d:\n%s" %
            (seen, said(out, "faults"), faults.report))
    h.check(said(out, "faults") <= counted, "the program counts more")


@h.test("as many as perf stat says")
def _(case):
    h.need("perf")
    plain = case.run(["perf", "stat", "-x", ",", "-e", "page-faults", pager(),
                      "threads"])
    found = re.search(r"^(\d+),,page-faults", plain.err, re.M)
    if not found:
        raise h.Skip("perf stat: " + plain.err.strip()[:80])
    faults, _ = traced(case, pager(), "threads")
    need_events(faults)
    wanted = int(found.group(1))
    h.check(abs(faults.of["calls"] - wanted) <= wanted / 50,
            "%d, perf: %d" % (faults.of["calls"], wanted))


@h.test("RSS has grown by the pages that were touched")
def _(case):
    faults, _ = traced(case, pager(), "threads")
    need_events(faults)
    grown = faults.all["last"]["resident"] - faults.all["first"]["resident"]
    pages = faults.of["bytes"] - faults.of["again"] - faults.of["back"]
    # The rest: pages of libraries that are mapped around those touched.
    h.check(0 <= grown - pages <= 4 << 20,
            "RSS has grown by %d, faults explain %d" % (grown, pages))


@h.test("pages of memory that is unmapped are given back", users=True)
def _(case):
    faults, _ = traced(case, pager(), "back")
    need_events(faults)
    faults.check_work(1)
    h.check(faults.of["back"] >= MANY * PAGE, "back: %d" % faults.of["back"])
    there = sum(site["there"] for site in faults.sites
                if faults.functions(site)[0] == "touch_many")
    h.check_equal(there, 0, "bytes of touch_many that are there")


@h.test("the program's own SIGWINCH handler is never run")
def _(case):
    _, out = traced(case, pager(), "threads")
    h.check_equal(said(out, "winches"), 0, "signals")


@h.test("huge pages count as what they are")
def _(case):
    faults, _ = traced(case, pager(), "huge")
    need_events(faults)
    calls = faults.calls("touch_huge")
    if calls >= 4 * 512:
        raise h.Skip("no huge pages were to be had")
    size = sum(site["bytes"] for site in faults.sites
               if faults.functions(site)[:1] == ["touch_huge"])
    if size == calls * PAGE:
        raise h.Skip("the kernel doesn't tell of huge pages (Linux 6.7 does)")
    h.check_equal(size, 4 << 21, "bytes in %d faults" % calls)


@h.test("a child that is followed")
def _(case):
    faults = {}
    path = case.path("faults.%p.json")
    result = case.run([h.CALLTRAP, "heap", "-f", "--growth", "faults",
                       "--json", path, pager(), "child"])
    result.check_status(0)
    for name in os.listdir(case.dir):
        if name.startswith("faults."):
            text = h.read(case.path(name))
            faults[name] = Faults(text, result.err)
    h.check_equal(len(faults), 2, "processes")
    for one in faults.values():
        need_events(one)
    h.check_equal(sorted(one.calls("touch_many") for one in faults.values()),
                  [0, MANY], "faults of parent and child")


@h.test("threads that block all signals: what is lost is told")
def _(case):
    faults, _ = traced(case, pager(), "deaf")
    need_events(faults)
    found = faults.calls("touch_many") + faults.calls("touch_few")
    missing = 2 * (MANY + FEW) - found
    h.check(0 <= missing <= faults.of["lost"],
            "%d seen, %d told to be lost" % (found, faults.of["lost"]))


@h.test("a stack that is larger than its copy is cut, and said to be")
def _(case):
    faults, _ = traced(case, pager(), "deep")
    need_events(faults)
    h.check_equal(faults.calls("touch_few"), FEW, "faults")
    for site in faults.sites:
        functions = faults.functions(site)
        if functions[0] == "touch_few":
            h.check(4 <= functions.count("dig") < 40,
                    "frames of dig: %d" % functions.count("dig"))
            h.check("main" not in functions, "it isn't cut")


@h.test("a 32-bit program")
def _(case):
    program = h.build("pager32", "pager.c", "-m32", "-g", "-O2",
                      "-fomit-frame-pointer", "-fno-inline-small-functions",
                      "-lpthread", optional=True)
    faults, _ = traced(case, program, "threads")
    need_events(faults)
    faults.check_work(4)
    h.check_equal(faults.of["lost"], 0, "lost")


@h.test("faults in system calls are seen as root, or said not to be",
        users=True)
def _(case):
    faults, _ = traced(case, pager(), "read")
    need_events(faults)
    if faults.of["system_calls_too"]:
        told = faults.calls_below("fill")
        h.check(told <= FEW + 10, "%d faults in read()" % told)
        h.check(told + faults.of["lost"] >= FEW,
                "%d seen, %d lost of %d" % (told, faults.of["lost"], FEW))
    else:
        h.check("perf_event_paranoid" in faults.report, faults.report)
        seen, counted = faults.counted()
        h.check(counted - seen >= FEW, "%d seen, %d" % (seen, counted))


# ---------------------------------------------------------------- by looking

def without_events(case, *arguments, options=()):
    no_perf = h.build("no_perf", "no_perf.c", "-O1")
    faults, out = traced(case, *arguments, launcher=[no_perf],
                         options=options)
    h.check_equal(faults.of["seen_by"], "looks", "how they were seen")
    h.check("page faults can't be seen here (perf_event_open: Operation not "
            "permitted)" in faults.report, faults.report)
    return faults, out


@h.test("without perf events: pages at who has mapped them", users=True)
def _(case):
    faults, _ = without_events(case, pager(), "threads")
    h.check_equal(faults.calls_below("map_pages"), 4 * (MANY + FEW),
                  "pages that map_pages() has mapped")
    for site in faults.sites:
        if "map_pages" in faults.functions(site):
            h.check_equal(site["function"], "mmap", "what has mapped them")


@h.test("without perf events: RSS is explained", users=True)
def _(case):
    faults, _ = without_events(case, pager(), "back")
    grown = faults.all["last"]["resident"] - faults.all["first"]["resident"]
    pages = faults.of["bytes"] - faults.of["again"] - faults.of["back"]
    # What comes and goes between two looks isn't seen at all.
    h.check(abs(grown - pages) <= 512 << 10,
            "RSS has grown by %d, %d looks explain %d:\n%s" %
            (grown, faults.of["looks"], pages, faults.report))


@h.test("without perf events: memory that was there has its name")
def _(case):
    path = case.path("faults.json")
    no_perf = h.build("no_perf", "no_perf.c", "-O1")
    target = case.start([pager(), "serve"])
    h.wait_until(lambda: "ready" in target.out, "the target's start")
    tracer = case.start([no_perf, h.CALLTRAP, "heap", "--growth", "faults",
                         "--json", path, "-p", str(target.pid)])
    tracer.pid = h.worker_of(tracer.popen)
    h.settle(target, tracer)
    target.say("2\n")
    h.wait_until(lambda: "done" in target.out, "the threads")
    tracer.popen.send_signal(2)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    faults = Faults(h.read(path), tracer.err)
    h.check_equal(faults.calls_below("map_pages"), 2 * (MANY + FEW),
                  "pages")
    names = [site["function"] for site in faults.sites if not site["stack"]]
    h.check(any("libc" in name or name == "[heap]" or "pager" in name
                for name in names), "names: %s" % names)


if __name__ == "__main__":
    sys.exit(h.main())
