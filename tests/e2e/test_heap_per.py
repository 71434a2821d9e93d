#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""calltrap heap --per: what each call of a function does, against what the
program has counted itself."""

import json
import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402
import heap_reports as hr  # noqa: E402

ENGINES = [[], ["--engine=agent"]]
NAP_NS = 50e6


def victim():
    return h.build("heap_per", "heap_per.c", "-g", "-O1", "-fno-builtin",
                   "-pthread")


def watch(case, *options, threads=1):
    path = case.path("per.json")
    program = victim()
    began = time.time()
    result = hr.heap(case, "--per-json", path, "--top", "0", *options,
                     program, str(threads))
    took = time.time() - began
    result.check_status(0)
    with open(path) as file:
        calls = [json.loads(line) for line in file]
    own = [list(map(int, line.split()[1:])) for line in result.out.splitlines()
           if line.startswith("request ")]
    check_calls([call for call in calls if call["function"] == "request"],
                own, began, took)
    return result, calls, own


def times_called(call):
    found = {}
    for use in call["calls"]:
        found[use["function"]] = found.get(use["function"], 0) + use["calls"]
    return found


def nanoseconds(call, function):
    return sum(use.get("ns", 0) for use in call["calls"]
               if use["function"] == function)


def knows_usable(calls):
    """malloc_usable_size() is worked out where that is written, if it is as
    simple as the C library's use to be: of all blocks, or of none."""
    known = any("usable_bytes" in call for call in calls)
    h.check(h.X86 or not known, "usable bytes on another machine")
    return known


def check_calls(calls, own, began, took):
    """Threads interleave, so only all of them together are compared."""
    finished = [call for call in calls if call["returned"]]
    found = [[call["blocks"], call["bytes"], call.get("usable_bytes"),
              call["releases"], times_called(call)["read"],
              times_called(call)["write"]] for call in finished]
    wanted = [counts[2:8] for counts in own]
    if not knows_usable(finished):
        wanted = [counts[:2] + [None] + counts[3:] for counts in wanted]
    h.check_equal(sorted(found, key=repr), sorted(wanted, key=repr),
                  "what requests did")
    for call in finished:
        h.check_equal(times_called(call)["select"], 1, "calls of select")
        # What stops have cost is taken off, which may be all of it.
        for key in "ns", "processor_ns":
            h.check(0 <= call.get(key, 0) <= took * 1e9,
                    "%s: %d, of %.3f s" % (key, call.get(key, 0), took))
        h.check(0 <= nanoseconds(call, "select") <= took * 1e9, "select's")
        h.check("ns" in call and call.get("processor_ns", 1), "times")
        h.check(began <= call["time"] <= began + took, "time")


def has_napped(calls):
    """What stops cost is estimated, and on a busy machine too much of it may be
    taken off, of a run."""
    return any(nanoseconds(call, "select") >= NAP_NS / 5 and
               call.get("ns", 0) >= NAP_NS / 5 for call in calls)


def check_faults(calls, own):
    """Of one thread, which counts a little longer. Its first block has a mapping
    of its own."""
    h.check(calls[0]["minor_faults"] > own[0][8] / 2, "%d page faults, of %d" %
            (calls[0]["minor_faults"], own[0][8]))
    for call, counts in zip(calls, own):
        h.check(call["minor_faults"] <= counts[8], "%d page faults, of %d" %
                (call["minor_faults"], counts[8]))


for engine in ENGINES:
    @h.test("requests of one thread%s" % "".join(" " + o for o in engine))
    def _(case, engine=engine):
        if engine:
            h.need_x86("the agent")
        result, calls, own = watch(case, "--per", "request", *engine)
        check_faults(calls, own)
        left = [call for call in calls if not call["returned"]]
        h.check_equal(len(left), 1, "left by a jump")
        h.check("ns" not in left[0], "the time of one that was left")
        h.check_equal(left[0]["blocks"], 1, "what that had done")
        lines = result.report.sections[
            "EACH CALL OF request: 4 calls, of which did not return: 1"]
        rows = {line[:18].strip(): line[18:].split() for line in lines[1:]}
        h.check_equal(hr.number(rows["bytes asked for"][-1]),
                      sum(row[3] for row in own), "bytes in all")
        if knows_usable(calls):
            h.check_equal(hr.number(rows["bytes usable"][-1]),
                          sum(row[4] for row in own), "usable bytes in all")
        h.check_equal("bytes usable" in rows, knows_usable(calls), "a row")

    @h.test("times%s: a nap is at least a fifth of what it is" %
            "".join(" " + o for o in engine))
    def _(case, engine=engine):
        if engine:
            h.need_x86("the agent")
        h.wait_until(lambda: has_napped(watch(case, "--per", "request",
                                              *engine)[1]),
                     "a call that has the time of its nap")


@h.test("requests of four threads at a time")
def _(case):
    _, calls, _ = watch(case, "--per", "request", threads=4)
    h.check_equal(len(calls), 16, "calls")


@h.test("one within another is part of both")
def _(case):
    _, calls, _ = watch(case, "--per", "request", "--per", "store")
    stores = [call for call in calls if call["function"] == "store"]
    h.check_equal(len(stores), sum(range(1, 4)), "calls of store")
    for call in stores:
        h.check_equal((call["blocks"], call["releases"]), (2, 1), "store")
        h.check_equal([use["function"] for use in call["calls"]],
                      ["malloc", "realloc", "free"], "what store calls")


@h.test("another allocator's block isn't looked at by the C library's function")
def _(case):
    directory = h.build_directory("heap_per")
    h.build_library("libbump.so", "libbump.c", "-fno-builtin",
                    directory=directory)
    program = h.build("heap_faults", "heap_faults.c", "-g", "-O1",
                      *h.near(directory), "-lbump", "-lpthread",
                      directory=directory)
    path = case.path("per.json")
    hr.heap(case, "--per", "twice", "--per-json", path, program,
            "twice").check_status(0)
    with open(path) as file:
        call = json.loads(file.readline())
    h.check(call["blocks"] > 0 and call["bytes"] > 0, "blocks: %r" % call)
    h.check("usable_bytes" not in call, "usable: %r" % call)


CXX = """
#include <cstdlib>
void *volatile kept;
extern "C" void from_c() { kept = malloc(100); }
extern "C" void from_cxx() { kept = new char[100]; }
int main() { from_c(); from_cxx(); return 0; }
"""


def watch_cxx(case, name, *flags):
    """What both functions did, by their names."""
    h.need("g++")
    directory = h.build_directory("heap_per")
    source, path = case.path("acquires.cc"), case.path(name + ".json")
    with open(source, "w") as file:
        file.write(CXX)
    program = h.build(name, source, "-O0", *h.near(directory), *flags,
                      cc="g++", directory=directory)
    hr.heap(case, "--per", "from_c", "--per", "from_cxx", "--per-json", path,
            program).check_status(0)
    with open(path) as file:
        calls = [json.loads(line) for line in file]
    h.check_equal([[call["function"], call["blocks"], call["bytes"]]
                   for call in calls],
                  [["from_c", 1, 100], ["from_cxx", 1, 100]], name)
    return calls


@h.test("C++'s blocks are those of the C library, or of who replaces its malloc")
def _(case):
    h.build_library("libbump.so", "libbump.c", "-fno-builtin",
                    directory=h.build_directory("heap_per"))
    calls = watch_cxx(case, "cxx")
    h.check_equal("usable_bytes" in calls[1], "usable_bytes" in calls[0],
                  "operator new's, and malloc's")
    for call in calls:
        h.check(call.get("usable_bytes", 100) >= 100, "usable: %r" % call)
    for call in watch_cxx(case, "cxx_bump", "-Wl,--no-as-needed", "-lbump"):
        h.check("usable_bytes" not in call, "usable: %r" % call)


NAMES = """
void *volatile kept;
namespace shop {
int serve(int way) { kept = new char[way]; return 0; }
template <class T> int serve(T way) { kept = new char[(int)way]; return 1; }
}
int main() { return shop::serve(7) + shop::serve(8L) - 1; }
"""


@h.test("names in the table are as they are written, in the file the linker's")
def _(case):
    h.need("g++")
    directory = h.build_directory("heap_per")
    source, path = case.path("serves.cc"), case.path("names.json")
    with open(source, "w") as file:
        file.write(NAMES)
    program = h.build("serves", source, "-O0", cc="g++", directory=directory)
    result = hr.heap(case, "--per", "*serve*", "--per-json", path, program)
    result.check_status(0)
    sections = result.report.sections
    for name, size in (("shop::serve(int)", 7),
                       ("int shop::serve<long>(long)", 8)):
        title = "EACH CALL OF %s: 1 call" % name
        h.check(title in sections, "no %r among %r" % (title, list(sections)))
        uses = [re.split("  +", line.strip()) for line in sections[title]]
        h.check(["1", "1.00", str(size), "operator new[](unsigned long)"] in
                [use[:3] + use[4:] for use in uses], "operator new: %r" % uses)
    with open(path) as file:
        found = [json.loads(line)["function"] for line in file]
    h.check_equal(found, ["_ZN4shop5serveEi", "_ZN4shop5serveIlEEiT_"],
                  "the file's names")


@h.test("bytes that go to disks, and come from there")
def _(case):
    program = h.build("heap_per_disk", "heap_per_disk.c", "-g", "-O1",
                      directory=h.build_directory("heap_per"))
    path, data = case.path("per.json"), case.path("data")
    result = hr.heap(case, "--per", "transfer", "--per-json", path, program,
                     data)
    result.check_status(0)
    own = [list(map(int, line.split()[1:])) for line in result.out.splitlines()
           if line.startswith("transfer ")]
    with open(path) as file:
        calls = [json.loads(line) for line in file]
    found = [[call["device_read_bytes"], call["device_written_bytes"]]
             for call in calls]
    h.check_equal(found, own, "bytes, by the kernel's count of blocks")
    if not sum(map(sum, own)):
        raise h.Skip("no device is behind this folder")


@h.test("what there is no sense in is refused; what isn't there is told")
def _(case):
    for options, message in (
            (["--per-json", case.path("x"), victim()], "--per FUNCTION names"),
            (["--per", "f", "--sample", "512k", victim()], "--per needs all"),
            (["--per", "f", "--from", "x"], "leave --per out")):
        result = case.calltrap("heap", *options, log=False)
        h.check_equal(result.status, 2, "status of %r" % options)
        h.check(message in result.err, "no %r in %s" % (message, result.err))
    result = hr.heap(case, "--per", "requets", victim(), "1")
    h.check("--per requets: never found" in result.err and
            "request" in result.err, "a name that isn't there: " + result.err)


if __name__ == "__main__":
    h.main()
