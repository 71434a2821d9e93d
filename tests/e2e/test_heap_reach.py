#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap heap' looks at what can still be reached when it lets go of a
process: that tells leaks from caches, however few and young their blocks are."""

import json
import os
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr


def start(case, *words):
    target = case.start([h.build("heap_reach", "heap_reach.c", "-g", "-O1"),
                         *words])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def order(target, letter):
    answer = "did %s\n" % letter
    count = target.out.count(answer)
    target.say(letter)
    h.wait_until(lambda: target.out.count(answer) > count, "its answer")


def watch(case, target, letters="w", options=()):
    """(report, JSON) of what it did meanwhile."""
    path = case.path("heap.json")
    tracer = hr.attach(case, target,
                       options=["--top", "0", "--json", path, *options])
    hr.settle(target, tracer)
    for letter in letters:
        order(target, letter)
    return hr.leave(tracer), json.loads(h.read(path))


def quit_well(target):
    """It is as before: without children, and it answers."""
    h.check_untouched(target.pid)
    h.check_equal(h.read("/proc/%d/task/%d/children" %
                         (target.pid, target.pid)), "", "its children")
    order(target, "x")
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


def site_of(found, function):
    return next(site for site in found["sites"]
                if any(function == frame.get("function")
                       for frame in site["stack"]))


def lost(found, function):
    reach = site_of(found, function)["reach"]
    return reach["blocks"], reach["lost_blocks"]


@h.test("a cache and a leak of equal size are told apart", users=True)
def _(case):
    target = start(case)
    report, found = watch(case, target)
    h.check_equal({name: lost(found, name) for name in
                   ("lose", "put", "share", "lose_for_good")},
                  {"lose": (40, 40), "put": (40, 0), "share": (40, 0),
                   "lose_for_good": (3, 3)}, "blocks, and lost ones")
    h.check_equal((found["reach"]["blocks"], found["reach"]["lost_blocks"],
                   found["reach"]["lost_bytes"]),
                  (123, 43, 40 * 120 + 3 * 333), "in all")
    short = "\n".join(report.sections["IN SHORT"])
    for wanted in (r"^leak: likely: 5,799 bytes in 43 blocks at 2 sites; "
                   r"no pointer leads to any of these"
                   r"(; grows by \S+ bytes a second)?$",
                   r"^    4,800 bytes in 40 blocks(, (about )?\S+ bytes a "
                   r"second)?, since (before it was watched|[0-9:]{8}): calloc "
                   r"by lose \(stack \d+\)$",
                   r"^not seen: what was acquired before \(RSS \S+ .iB\)$",
                   r"^next: calltrap heap --source -p %d shows the lines of "
                   "code$" % target.pid):
        h.check_match("(?m)" + wanted, short, "in short")
    for name in ("lose", "lose_for_good"):
        site = site_of(found, name)
        h.check_equal(site["verdict"], "LIKELY", "verdict of " + name)
        h.check("can't be reached any more" in site["evidence"],
                "evidence: " + site["evidence"])
    for name in ("put", "share"):
        h.check("can't be reached" not in site_of(found, name)["evidence"],
                "evidence of " + name)
    h.check("can't be reached any more: 5,799 bytes in 43 blocks of 123"
            in report.text, "report: " + report.text)
    h.check("or a cache" not in report.text,
            "what nothing leads to is no cache: " + report.text)
    h.check(found["reach"]["pause"] > 0, "the pause")
    quit_well(target)


def memory(case, target, *options):
    path = case.path("memory.json")
    result = case.calltrap("memory", *options, "-p", str(target.pid),
                           "--json", path, log=False)
    result.check_status(0)
    return json.loads(h.read(path)), result.out


def lost_in_all(case, target):
    """(blocks, address of one)"""
    found, _ = memory(case, target, "--leaks")
    count = sum(found["leaks"][verdict]["blocks"] for verdict in
                ("definitely lost", "indirectly lost", "possibly lost"))
    return count, int(found["blocks"][0]["address"], 16)


def note_all_over(pid, address):
    """In the agent's private memory, which nobody uses any more."""
    with open("/proc/%d/maps" % pid, encoding="ascii") as file:
        lines = file.read().splitlines()
    shared = next(i for i, line in enumerate(lines)
                  if "/memfd:calltrap-agent" in line)
    end = int(lines[shared - 1].split()[0].split("-")[1], 16)
    h.check_match(" rw-p ", lines[shared - 1], "what is below it")
    with open("/proc/%d/mem" % pid, "r+b", buffering=0) as file:
        file.seek(end - 4096)
        file.write(struct.pack("<Q", address) * 512)


@h.test("what the agent has noted holds nothing, and is in a row of its own")
def _(case):
    if os.uname().machine != "x86_64":
        raise h.Skip("no agent is written for this machine")
    target = start(case)
    watch(case, target, "wwwww", ["--engine=agent"])
    order(target, "d")
    wanted = 5 * (40 + 40 + 3)  # the cache, the leak, what is lost for good
    count, address = lost_in_all(case, target)
    h.check_equal(count, wanted, "lost blocks")
    note_all_over(target.pid, address)
    h.check_equal(lost_in_all(case, target)[0], wanted,
                  "lost blocks, of which one is noted")
    found, _ = memory(case, target)
    own = found["kinds"]["calltrap's own"]
    h.check(own["mappings"] >= 4 and own["virtual"] > 1 << 20,
            "its own: %r" % own)
    quit_well(target)


RINGS = """
import gc, os, sys, weakref
gc.disable()
if forgotten := sys.argv[1] == 'forgotten':
    import ctypes
    refer = ctypes.pythonapi.Py_IncRef
    refer.argtypes = [ctypes.py_object]
class Ring(list):
    __hash__ = object.__hash__
known = weakref.WeakSet() if sys.argv[1] == 'known' else None
kept = []
print('ready', flush=True)
while letter := os.read(0, 1).decode():
    for i in range(200):
        ring = [None] * 50
        if known is not None:
            ring = Ring(ring)
            known.add(ring)
        ring[0] = ring
        if forgotten:
            refer(ring)
        kept.append([None] * 50)
    print('did ' + letter, flush=True)
"""


def garbage_of_rings(case, how):
    if subprocess.run([sys.executable, "-c", "import ctypes"], check=False,
                      stderr=subprocess.DEVNULL).returncode:
        raise h.Skip("this Python has no ctypes")
    target = case.start(["env", "PYTHONMALLOC=malloc", sys.executable, "-c",
                         RINGS, how])
    h.wait_until(lambda: "ready" in target.out, "the target")
    _, found = watch(case, target)
    return found["reach"].get("garbage_blocks", 0)


@h.test("rings that Python has dropped are told from what it keeps")
def _(case):
    # A word that was a pointer once may still lead to some.
    dropped = garbage_of_rings(case, "dropped")
    h.check(150 <= dropped <= 420, f"{dropped} blocks of garbage")


@h.test("a set of weak references keeps nothing that was dropped")
def _(case):
    dropped = garbage_of_rings(case, "known")
    h.check(150 <= dropped <= 620, f"{dropped} blocks of garbage")


@h.test("a ring with a reference that was never dropped is no garbage")
def _(case):
    dropped = garbage_of_rings(case, "forgotten")
    h.check(dropped < 100, f"{dropped} blocks of garbage")


@h.test("the variable through which alone blocks are reached is named")
def _(case):
    target = start(case)
    _, found = watch(case, target)
    reach = site_of(found, "put")["reach"]
    h.check(reach["owner"].startswith("cache (heap_reach ."),
            "owner: " + reach["owner"])
    h.check_equal(reach["own_bytes"], 40 * 120, "its bytes")
    h.check("owner" not in site_of(found, "share")["reach"],
            "two hold what is shared")
    quit_well(target)


@h.test("--no-reach leaves it out, and verdicts are those of ages alone")
def _(case):
    target = start(case)
    report, found = watch(case, target, options=["--no-reach"])
    h.check_equal(found["reach"], None, "reach")
    h.check_equal(site_of(found, "lose_for_good")["verdict"], "NOT",
                  "verdict of three blocks")
    h.check("can't be reached" not in report.text, "report: " + report.text)
    quit_well(target)


@h.test("where system calls are filtered, it stands still and isn't copied")
def _(case):
    target = start(case, "filter")
    _, found = watch(case, target)
    h.check_equal((found["reach"]["copied"], lost(found, "lose")),
                  (False, (40, 40)), "copied, and lost")
    quit_well(target)


@h.test("of an overwritten heap nothing is said, and the reason is")
def _(case):
    target = start(case)
    report, found = watch(case, target, "wo")
    h.check_equal(found["reach"], {"unknown": "its heap isn't understood"},
                  "reach")
    h.check("what can still be reached isn't known: its heap isn't understood"
            in report.text, "report: " + report.text)
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


def pages_of_sites(case, **how):
    """By the function that has acquired, and what else calltrap has said."""
    target = case.start([h.build("sparse", "sparse.c", "-g", "-O1",
                                 "-fno-builtin")])
    h.wait_until(lambda: "ready" in target.out, "the victim")
    path = case.path("heap.json")
    tracer = hr.attach(case, target, options=["--json", path], **how)
    hr.settle(target, tracer)
    target.say("\n")
    h.wait_until(lambda: "done" in target.out, "its blocks")
    hr.leave(tracer)
    sites = {site["stack"][0]["function"]: site["pages"]
             for site in json.loads(h.read(path))["sites"] if "pages" in site}
    return sites, h.read(tracer.report_path)


@h.test("what a stack has asked for, and what of that is in memory")
def resident(case):
    sites, report = pages_of_sites(case)
    page = os.sysconf("SC_PAGE_SIZE")
    in_front = 2 * struct.calcsize("P")  # malloc's own, of each mapping
    written = -(-((512 << 10) + in_front) // page) * page - in_front
    for function, size, there in (("reserve", 16 << 20, written),
                                  ("fill", 1 << 20, 1 << 20)):
        pages = sites[function]
        h.check_equal(pages["bytes"], 16 * size, function + ": asked")
        h.check_equal(pages["resident"] + pages["swapped"], 16 * there,
                      function + ": in memory, or swapped out")
    h.check_match(r"^    asked 268,435,456 bytes, of which [\d,]+ are resident",
                  report, "the report")


@h.test("... where the kernel doesn't tell which pages are huge")
def _(case):
    sites, _ = pages_of_sites(case, before=[h.build("no_scan", "no_scan.c")])
    for function in "reserve", "fill":
        h.check_equal(sorted(sites[function]),
                      ["bytes", "resident", "swapped"], function)


if __name__ == "__main__":
    sys.exit(h.main())
