#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap memory' of programs that have musl's malloc: what the program counts
of its blocks itself, to the byte."""

import json
import sys

sys.dont_write_bytecode = True
import harness as h

LINKAGES = {
    "dynamic": [],
    "static": ["-static"],
    "static-pie": ["-static-pie", "-fPIE"],
    "static, without symbols": ["-static", "-s"],
}


def start(case, linkage):
    h.need("musl-gcc")
    name = "memory_musl." + "".join(filter(str.isalpha, linkage))
    target = case.start([h.build(name, "memory_musl.c", "-O1",
                                 *LINKAGES[linkage], cc="musl-gcc")])
    h.wait_until(lambda: "ready\n" in target.out, "its beginning")
    return target


def fill(target):
    target.say("f")
    h.wait_until(lambda: "first" in target.out and target.out.endswith("\n"),
                 "what it counts")
    words = target.out.splitlines()[-1].split()
    return dict(zip(words[::2], words[1::2]))


def look(case, *options):
    path = case.path("memory.json")
    result = case.calltrap("memory", "--json", path, *options, log=False)
    result.check_status(0)
    return json.loads(h.read(path)), result.out


def all_of(leaks, what):
    return sum(kind[what] for kind in leaks["leaks"].values())


def check_lost(leaks, report):
    verdicts = {group["size"]: group["verdict"] for group in leaks["groups"]}
    h.check_equal(verdicts, {77: "definitely lost", 99: "indirectly lost",
                             40: "definitely lost", 41: "indirectly lost"},
                  "what is lost: " + report)
    h.check_equal([(ring["blocks"], ring["bytes"]) for ring in leaks["rings"]],
                  [(2, 81)], "rings")


def check(case, linkage):
    target = start(case, linkage)
    said = fill(target)
    pid = str(target.pid)
    for how in ("stop", "clone"):
        leaks, report = look(case, "--leaks", "--freeze", how, "-p", pid)
        h.check(leaks["understood"], "it is understood: " + report)
        h.check_equal([all_of(leaks, "blocks"), all_of(leaks, "bytes")],
                      [int(said["blocks"]), int(said["bytes"])],
                      "blocks and bytes")
        check_lost(leaks, report)
    found, report = look(case, "-p", pid)
    heap = found["heap"]
    h.check(heap["understood"] and heap["malloc"] == "musl" and
            "HEAP (malloc of musl)" in report, "report: " + report)
    h.check_equal(heap["arenas"][0]["used"]["blocks"] +
                  heap["found_map_blocks"], int(said["blocks"]), "in use")
    h.check(found["kinds"]["heap (mapped)"]["resident"] > 0,
            "what it has mapped is the heap's: " + report)
    h.check_equal(sum(size["blocks"] for size in heap["sizes"]),
                  int(said["blocks"]), "blocks by size")
    return target, said


for each in LINKAGES:
    @h.test("what the program counts itself: " + each)
    def _(case, linkage=each):
        check(case, linkage)


@h.test("who holds a block of no bytes; a file answers the same")
def _(case):
    target = start(case, "dynamic")
    first = fill(target)["first"]
    kept = case.path("kept")
    case.calltrap("memory", "--save", kept, "-p", str(target.pid),
                  log=False).check_status(0)
    for whose in (["-p", str(target.pid)], [kept]):
        holders, report = look(case, "--holders", first, *whose)
        h.check("blocks" in report and "0 bytes" in report, report)
        h.check_equal(holders["blocks"], 1, "blocks: " + report)
    then, _ = look(case, "--leaks", kept)
    now, _ = look(case, "--leaks", "-p", str(target.pid))
    for what in ("leaks", "rings", "groups"):
        h.check_equal(then[what], now[what], what)
    then, report = look(case, kept)
    now, _ = look(case, "-p", str(target.pid))
    h.check_equal(then["heap"]["arenas"], now["heap"]["arenas"], "arenas")
    h.check("HEAP (malloc of musl)" in report, report)


@h.test("a program that never asked for memory has no heap")
def _(case):
    target = start(case, "static")
    result = case.calltrap("memory", "--leaks", "-p", str(target.pid),
                           log=False)
    h.check_equal(result.status, 1, "status")
    h.check("no heap of glibc's or musl's malloc" in result.err, result.err)
    found, _ = look(case, "-p", str(target.pid))
    h.check("heap" not in found, "a heap: %r" % found.get("heap"))


h.main()
