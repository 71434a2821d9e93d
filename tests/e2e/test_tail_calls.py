#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions that have left by a tail call, and the same ones as gdb sees them."""

import gzip
import json
import os
import re
import sys

sys.dont_write_bytecode = True
import harness as h
from stack_frames import stacks_of

COMPILERS = [(cc, version) for cc in ("gcc", "clang") for version in (4, 5)]


def program(cc="gcc", version=5, *flags):
    name = "-".join(["tail_calls", cc, str(version)] +
                    [re.sub(r"\W+", "_", flag) for flag in flags])
    return h.build(name, ["tail_calls.c", "tail_calls_other.c"], "-O2", "-g",
                   "-gdwarf-%d" % version, *flags, cc=cc,
                   directory=h.build_directory("tail_calls"),
                   optional=cc != "gcc" or bool(flags))


def run(case, kind, path=None, function="probe_here"):
    result = case.calltrap("-L", "-w", "50", "-x", function, path or program(),
                           kind)
    result.check_status(0)
    return stacks_of(result.log_text, function)


def to_main(stack):
    """[name], with a * behind what has left by a tail call."""
    names = []
    for frame in stack:
        name = re.sub(r"\.(constprop|isra|part)\.\d+$", "", frame.function)
        names.append(name + ("*" if frame.tail_call else ""))
        if frame.function == "main":
            break
    return names


KINDS = {
    "chain": ["last", "second*", "chain*", "main"],
    "leaver": ["leaver*", "main"],
    "other": ["other_last", "other_first*", "to_other*", "main"],
    "clone": ["last", "cloned*", "to_clone*", "main"],
    "inlined": ["last", "inlined", "around*", "main"],
    "either": ["last", "main"],
    "ends": ["last", "join*", "ends*", "main"],
    "round": ["last", "odd*", "even*", "main"],
    "pointer": ["last", "main"],
    "perhaps": ["last", "to_perhaps*", "main"],
}


def check_kinds(case, path):
    for kind, wanted in KINDS.items():
        h.check_equal(to_main(run(case, kind, path)[0]), wanted, kind)


def register(cc, version):
    @h.test("%s, DWARF %d: what is proven is shown, and nothing else" %
            (cc, version))
    def kinds(case):
        check_kinds(case, program(cc, version))


for each in COMPILERS:
    register(*each)


@h.test("in a 32-bit program")
def narrow(case):
    path = program("gcc", 5, "-m32")
    h.check_equal(case.run([path, "chain"]).status, 0, "status, untraced")
    stack = run(case, "chain", path)[0]
    h.check_equal([name.strip("*") for name in to_main(stack)],
                  [name.strip("*") for name in KINDS["chain"]], "stack")
    h.check(any(frame.tail_call for frame in stack), "no tail call")


@h.test("in a static program")
def static(case):
    check_kinds(case, program("gcc", 5, "-static"))


@h.test("without debug information nothing is shown")
def bare(case):
    path = h.build("tail_calls-bare", ["tail_calls.c", "tail_calls_other.c"],
                   "-O2", directory=h.build_directory("tail_calls"))
    h.check_equal(to_main(run(case, "chain", path)[0]), ["last", "main"],
                  "stack")


@h.test("into a library, and where that acquires")
def library(case):
    stacks = run(case, "library", function="malloc")
    found = [to_main(stack) for stack in stacks]
    h.check(["strdup", "copy*", "main"] in
            [[name.lstrip("_") for name in names] for names in found],
            "no stack of strdup: %r" % found)
    found = [to_main(stack) for stack in run(case, "reserve", function="malloc")]
    h.check(["reserve*", "main"] in found, "no stack of malloc: %r" % found)


# ---------------------------------------------------------------- gdb

def gdb_frames(case, path, kind):
    output = case.path("gdb.stacks")
    case.run(["gdb", "-q", "-nx", "-batch", "-x",
              os.path.join(h.HERE, "gdb_stacks.py"), "--args", path, kind],
             patience=300, env={"STACKS_FUNCTION": "probe_here",
                                "STACKS_LIMIT": "1", "STACKS_TAILS": "1",
                                "STACKS_OUTPUT": output})
    lines = h.read(output).splitlines()
    if not lines:
        raise h.Skip("gdb can't run it here")
    return [(library, int(address, 16)) for library, address, name in
            (line.split(" ", 2) for line in lines[1:])]


# gdb shows nothing of "perhaps", as one of the ways is not known to its end, and
# takes the cold part of "clone", which lies before it, for its beginning; of
# clang's DWARF 5 it takes no addresses.
NOT_IN_GDB = ["perhaps", "clone"]


@h.test("as in gdb")
def as_in_gdb(case):
    h.need("gdb")
    shown = 0
    for cc, version in COMPILERS:
        if (cc, version) == ("clang", 5):
            continue
        try:
            path = program(cc, version)
        except h.Skip:
            continue
        for kind in KINDS:
            if kind in NOT_IN_GDB:
                continue
            stack = run(case, kind, path)[0]
            ours = [(frame.library, frame.address) for frame in stack
                    if not frame.inlined]
            h.check_equal(ours, gdb_frames(case, path, kind),
                          "%s, DWARF %d, %s" % (cc, version, kind))
            shown += sum(frame.tail_call for frame in stack)
    h.check(shown >= 10, "only %d tail calls" % shown)


# ---------------------------------------------------------------- formats

def functions(stack):
    names = [frame.get("function") for frame in stack]
    return names[:names.index("main") + 1] if "main" in names else []


@h.test("-o FILE.json, -w")
def log_json(case):
    path = case.path("log.json")
    result = case.calltrap("-L", "-w", "50", "--json=" + path, "-x",
                           "probe_here", program(), "chain")
    result.check_status(0)
    calls = [json.loads(line) for line in h.read(path).splitlines() if line]
    stack = next(call["stack"] for call in calls if call.get("stack"))
    h.check_equal(functions(stack), ["last", "second", "chain", "main"],
                  "stack")
    h.check_equal([frame.get("tail_call", False) for frame in stack[:4]],
                  [False, True, True, False], "tail_call")
    h.check("offset" in stack[1] and "line" in stack[1], stack[1])


def check_reserve(text, where):
    h.check_match(r"\n +reserve [^\n]*tail_calls\.c:\d+ "
                  r"\([^\n]*, tail call\)\n +main ", text, where)


@h.test("heap: report, files, and a recording of it")
def heap(case):
    names = {kind: case.path(kind) for kind in
             ("json", "folded", "svg", "callgrind", "html", "pprof", "calls")}
    report = case.path("report")
    result = case.run([h.CALLTRAP, "heap", "--by=stack", "-o", report] +
                      ["--%s=%s" % pair for pair in names.items()] +
                      [program(), "reserve"])
    h.check_equal(result.status, 0, result.err)
    check_reserve(h.read(report), "the report")
    h.check_match(r" malloc by reserve$", h.read(report), "who has acquired")
    for options, what in (["--by=function"], "  reserve in "), \
            (["--source"], r" return malloc\("):
        path = case.path("credited")
        result = case.run([h.CALLTRAP, "heap", *options, "-o", path, program(),
                           "reserve"])
        h.check_equal(result.status, 0, result.err)
        h.check_match("^ +42 +1 .*" + what, h.read(path), "who is credited")
    h.check_match(r"main;reserve;malloc 42\n", h.read(names["folded"]),
                  "folded stacks")
    for kind in "svg", "callgrind", "html":
        h.check("reserve" in h.read(names[kind]), kind)
    h.check_match(r"@[^ ]*\(reserve\+tail_call,[^ ]*:\d+\) [^ ]*\(main\+0x",
                  h.read(names["calls"]), "calls")
    with gzip.open(names["pprof"]) as file:
        h.check(b"reserve" in file.read(), "pprof")
    sites = json.loads(h.read(names["json"]))["sites"]
    stack = next(site["stack"] for site in sites
                 if "reserve" in functions(site["stack"]))
    h.check_equal(functions(stack), ["reserve", "main"], "stack")
    h.check_equal(stack[0].get("tail_call"), True, "tail_call")


@h.test("a recording keeps them, without the program's file")
def recorded(case):
    with open(program(), "rb") as file:
        path = case.write("program", "")
        with open(path, "wb") as copy:
            copy.write(file.read())
    os.chmod(path, 0o755)
    recording, report = case.path("recording"), case.path("report")
    result = case.run([h.CALLTRAP, "record", "-o", recording, path, "reserve"])
    h.check_equal(result.status, 0, result.err)
    os.unlink(path)
    result = case.run([h.CALLTRAP, "heap", "--by=stack", "--from", recording,
                       "-o", report])
    h.check_equal(result.status, 0, result.err)
    check_reserve(h.read(report), "the report")


if __name__ == "__main__":
    sys.exit(h.main())
