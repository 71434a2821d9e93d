#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap heap --suppress`: what is kept out of the report, and what is
said of that. The programs say what they keep."""

import gzip
import json
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

CART, HIDDEN, PLAIN = (3, 120), (4, 200), (5, 300)


def names():
    return h.build("heap_suppress", "heap_suppress.cc", "-g", "-O1",
                   "-lstdc++")


def run(case, lines, *options):
    path = case.write("suppressions", lines)
    result = hr.heap(case, "--suppress", path, "--top", "0", *options, names())
    result.check_status(0)
    result.path = path
    return result


def kept(report, kind):
    return [(row.blocks, row.bytes) for row in report.rows if
            (row.blocks, row.bytes) == kind] == [kind]


def check_suppressed(lines, wanted):
    """One line of a file keeps back these rows of the three, no other."""
    @h.test("suppressed: " + lines)
    def _(case):
        report = run(case, lines).report
        shown = [kind for kind in (CART, HIDDEN, PLAIN) if kept(report, kind)]
        h.check_equal(shown, [kind for kind in (CART, HIDDEN, PLAIN)
                              if kind not in wanted], "the rows")
        blocks = sum(kind[0] for kind in wanted)
        held = sum(kind[1] for kind in wanted)
        h.check_equal(report.levels["suppressed"],
                      (held, blocks, len(wanted)), "suppressed")
        h.check_equal(report.idle_suppressions, int(not wanted), "idle")


check_suppressed("shop::cart::add", [CART])
check_suppressed('"shop::cart::add(int)"', [CART])
check_suppressed("_ZN4shop4cart3addEi", [CART])
check_suppressed("shop::*", [CART])
check_suppressed("hidden", [HIDDEN])
check_suppressed('"operator new[](unsigned long)"', [HIDDEN])
check_suppressed("pl?in", [PLAIN])
check_suppressed("plain main", [PLAIN])
check_suppressed("plain heap_suppress main heap_suppress", [PLAIN])
check_suppressed("main plain", [])
check_suppressed("plai", [])
check_suppressed("malloc heap_suppress", [CART, PLAIN])
check_suppressed("heap_suppress", [CART, HIDDEN, PLAIN])
check_suppressed("leak:cart", [CART])
check_suppressed("leak:^shop::cart*add$", [CART])
check_suppressed("leak:^lain", [])
check_suppressed("leak:lain$", [PLAIN])
check_suppressed("leak: new[]", [HIDDEN])
check_suppressed("leak:p_suppr", [CART, HIDDEN, PLAIN])


@h.test("each line of two files is counted for itself, the first that fits")
def _(case):
    first = case.write("first", "# a remark\n\n  plain  \nmain\n")
    second = case.write("second", "shop::*\r\n")
    result = hr.heap(case, "--suppress", first, "--suppress", second,
                     "--top", "0", names())
    report = result.report
    main = report.suppressions[first + ":4: main"]
    h.check_equal(report.suppressions[first + ":3: plain"], (300, 5, 1),
                  "plain's")
    h.check_equal(main, (320, 7, 2), "all else that main calls")
    h.check_equal(report.idle_suppressions, 1, "what is left for the second")
    h.check_equal(report.levels["suppressed"], (620, 12, 3), "the sum")
    h.check_equal(result.err, "", "messages")


@h.test("all that is held is in the rows or suppressed, however rows are made")
def _(case):
    for by in ("stack", "function", "line", "library", "thread", "size"):
        report = run(case, "plain\n", "--by", by).report
        held = sum(row.bytes for row in report.rows)
        h.check_equal(report.levels["suppressed"], (300, 5, 1), by)
        h.check_equal(held + 300, report.malloc.bytes, "sum by " + by)


@h.test("files for other programs are without it, too")
def _(case):
    out = {kind: case.path(kind) for kind in ("folded", "json", "callgrind",
                                              "svg", "pprof")}
    options = [word for kind, path in out.items()
               for word in ("--" + kind, path)]
    run(case, "plain\n", *options)
    for kind in ("folded", "json", "callgrind", "svg"):
        text = h.read(out[kind])
        h.check("add" in text, "%s has the others" % kind)
        if kind != "json":
            h.check("plain" not in text, "%s has it" % kind)
    found = json.loads(h.read(out["json"]))
    h.check(not any(frame.get("function") == "plain()"
                    for site in found["sites"] for frame in site["stack"]),
            "json has it")
    suppressed = found["summary"]["suppressed"]
    h.check_equal((suppressed["bytes"], suppressed["blocks"]), (300, 5),
                  "json's sum")
    h.check_equal(suppressed["suppressions"][0]["bytes"], 300, "its line's")
    with gzip.open(out["pprof"]) as file:
        profile = file.read()
    h.check(b"add" in profile and b"plain" not in profile, "pprof has it")


@h.test("what is wrong in a file is told with its place, and left out")
def _(case):
    lines = ["plain", "{", "race:x", '  main "a', "leak:", "leak:^$", "a\1b",
             '""', "x " * 17, "shop::*"]
    result = run(case, "\n".join(lines) + "\n")
    places = {2: 1, 3: 1, 4: 9, 5: 6, 6: 6, 7: 2, 8: 2, 9: 33}
    messages = result.err.splitlines()
    h.check_equal(len(messages), len(places), "messages: " + result.err)
    for message, (line, column) in zip(messages, places.items()):
        wanted = "calltrap: %s:%d:%d: " % (result.path, line, column)
        h.check(message.startswith(wanted), message + ", not " + wanted)
    h.check_equal(result.report.levels["suppressed"], (420, 8, 2),
                  "what the other lines did")


@h.test("a file that isn't meant for this, one that isn't there")
def _(case):
    with open("/bin/true", "rb") as file:
        junk = file.read()
    path = case.path("junk")
    with open(path, "wb") as file:
        file.write(junk)
    result = hr.heap(case, "--suppress", path, names())
    h.check(len(result.err.splitlines()) <= 21, "messages have an end")
    result = case.calltrap("heap", "--suppress", case.path("none"), names(),
                           log=False)
    result.check_status(1)
    h.check_match("--suppress .*/none: No such file", result.err, "message")


@h.test("descriptors are counted as others")
def _(case):
    program = h.build("heap_things", "heap_things.c", "-g", "-O1")
    path = case.write("suppressions", "leak_open\n")
    plain = hr.heap(case, "--pool", "descriptors", program).report
    report = hr.heap(case, "--pool", "descriptors", "--suppress", path,
                     program).report
    h.check(plain.others, "some are held")
    h.check_equal(report.others, plain.others, "all are told of")
    h.check_match(r"^suppressed: 0 bytes .*; \d+ others? at", "\n".join(
        report.sections["LEAK SUMMARY"]), "as suppressed")


if __name__ == "__main__":
    sys.exit(h.main())
