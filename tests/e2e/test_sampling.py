#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""heap --sample: what some blocks tell of all. How often intervals hold the
truth is tested with prepared choices (tests/unit/test_sampling.c); here they
are made by chance, and all that is asked for is what no chance can change."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402

NUMBERS = ("bytes", "alloc_bytes")


def seeded():
    return h.build("heap_seeded", "heap_seeded.c", "-g", "-O1",
                   "-fno-builtin", "-pthread")


def load(path):
    return json.loads(h.read(path))


def malloc_of(whole):
    family, = [family for family in whole["summary"]["families"]
               if family["name"] == "malloc"]
    return family


def record(case):
    case.calltrap("record", "-o", "recording", seeded(), "2", "8000",
                  log=False)
    case.calltrap("heap", "--from", "recording", "--json", "whole",
                  log=False).check_status(0)
    return load(case.path("whole"))


def check_near(found, truth, number):
    """Ten standard deviations: never, by chance."""
    low, high = found["interval_95"][number]
    h.check(low <= found[number] <= high,
            "%s: %d is not in %d to %d" % (number, found[number], low, high))
    h.check(abs(found[number] - truth[number]) <= 2.5 * (high - low),
            "%s: %d, estimated as %d (%d to %d)" %
            (number, truth[number], found[number], low, high))


@h.test("all totals are right but for chance, of a recording")
def of_a_recording(case):
    truth = malloc_of(record(case))
    case.calltrap("heap", "--from", "recording", "--sample", "2k", "--json",
                  "some", "-o", "report", "--html", "page",
                  log=False).check_status(0)
    whole = load(case.path("some"))
    found = malloc_of(whole)
    h.check_equal(whole["sample"], 2048, "bytes a sample")
    h.check(100 < found["samples"] < truth["alloc_blocks"] / 2,
            "%d samples" % found["samples"])
    check_near(found, truth, "alloc_bytes")
    h.check_equal(found["blocks"] + found["freed_blocks"],
                  found["alloc_blocks"], "blocks")
    h.check_equal(sum(site["alloc_bytes"] for site in whole["sites"]
                      if site["family"] == "malloc"), found["alloc_bytes"],
                  "sum of all sites")
    for fault in ("double_frees", "doubtful_frees", "invalid_frees",
                  "unknown_frees", "reused", "size_mismatches"):
        h.check_equal(found[fault], truth[fault], fault)
    for site in whole["sites"]:
        if site["family"] == "malloc":
            for number in NUMBERS:
                low, high = site["interval_95"][number]
                h.check(low <= site[number] <= high, "%s: %s" %
                        (number, site))
    text = h.read(case.path("report"))
    h.check_match(r"^sampled: one block in 2,048 bytes", text, "the head")
    h.check_match("Kept was one block in 2,048 bytes.*, on average: numbers are "
                  "estimates", h.read(case.path("page")), "the page")
    h.check_match(r"^    with 95 %: .* bytes acquired; by [\d,]+ samples$", text,
                  "the total's interval")


@h.test("one byte a sample: every block, and no estimate")
def every_one(case):
    record(case)
    case.calltrap("heap", "--from", "recording", "--sample", "1", "--json",
                  "all", log=False).check_status(0)
    found, truth = load(case.path("all")), load(case.path("whole"))
    for whole in found, truth:
        del whole["cost"]
    h.check(found == truth, "differs from the report without --sample")


@h.test("while it happens, by traps and by the agent")
def live(case):
    truth = malloc_of(record(case))
    for engine in ("trap", "agent"):
        result = case.calltrap("heap", "--engine=" + engine, "--sample", "2k",
                               "--json", "json", seeded(), "2", "8000",
                               log=False)
        h.check_equal(result.status, 7, "status of the program")
        found = malloc_of(load(case.path("json")))
        check_near(found, truth, "alloc_bytes")
        for fault in ("double_frees", "invalid_frees", "unknown_frees",
                      "reused"):
            h.check_equal(found[fault], 0, fault)


@h.test("where nothing was kept there are no rows of no calls")
def nothing_kept(case):
    result = case.calltrap("heap", "--engine=trap", "--sample", "1000g",
                           "--top=0", seeded(), "1", "1000", log=False)
    h.check_equal(result.status, 7, "status of the program")
    report = result.err.split("---- ")
    h.check(any(part.startswith("IN SHORT\n") for part in report),
            "report: " + result.err)
    for part in report:
        if part.startswith("CALLS\n"):
            rows = [line.split() for line in part.splitlines()[2:]]
            h.check([] == [row for row in rows if row[:2] == ["0", "0"]],
                    "rows: " + part)


def kinds(case, path, *options):
    program = h.build("heap_kinds", "heap_kinds.cc", "-g", "-O1",
                      "-fno-builtin", "-pthread", cc="g++")
    result = case.calltrap("heap", "--engine=agent", "--json", path, *options,
                           program, "500", log=False)
    h.check_equal(result.status, 7, "status of the program")
    return load(case.path(path)), result.err


@h.test("chosen in the process, and at traps: functions of all kinds")
def all_kinds(case):
    whole, _ = kinds(case, "whole")
    some, err = kinds(case, "some", "--sample", "1k")
    truth, found = malloc_of(whole), malloc_of(some)
    check_near(found, truth, "alloc_bytes")
    check_near(found, truth, "bytes")
    h.check_equal(found["blocks"] + found["freed_blocks"],
                  found["alloc_blocks"], "blocks")
    for fault in ("double_frees", "invalid_frees", "unknown_frees", "reused"):
        h.check_equal(found[fault], 0, fault)
    if re.search(r"caught: [1-9]", err):
        h.check(some["process"]["calls"] < whole["process"]["calls"],
                "%d calls were told of, of %d" %
                (some["process"]["calls"], whole["process"]["calls"]))


# Longer ones, so that the rate changes, and with intervals counted: ROUNDS=100.
ROUNDS = int(os.environ.get("ROUNDS", "1"))


def look_at(case, work):
    result = case.calltrap("heap", "--engine=agent", "--max-overhead", "2%",
                           "--json", "json", "-o", "report", *work, log=False)
    h.check_equal(result.status, 7, "status of the program")
    whole = load(case.path("json"))
    h.check(whole["rates"], "which rates held")
    h.check_match(r"^sampled: one block in ", h.read(case.path("report")),
                  "the head")
    return whole


@h.test("as many samples as can be had for 2 %")
def at_a_price(case):
    if ROUNDS < 100:  # how many samples there are is the load's business
        look_at(case, (seeded(), "2", "8000"))
        return
    work = (seeded(), "2", "400000")
    case.calltrap("heap", "--engine=agent", "--json", "whole", *work,
                  log=False)
    truth = malloc_of(load(case.path("whole")))
    inside = dict.fromkeys(NUMBERS, 0)
    changed = 0
    for _ in range(ROUNDS):
        whole = look_at(case, work)
        found = malloc_of(whole)
        changed += len(whole["rates"]) > 1
        for number in NUMBERS:
            low, high = found["interval_95"][number]
            inside[number] += low <= truth[number] <= high
    print("# inside: %s of %d, the rate changed in %d" %
          (inside, ROUNDS, changed))
    for number in NUMBERS:
        h.check(inside[number] >= 0.86 * ROUNDS, "inside: %s" % inside)


@h.test("a price is asked for where it can be paid")
def refused_prices(case):
    for wrong in "0", "101", "x", "", "2%%", "-1", "1.5":
        result = case.calltrap("heap", "--engine=agent", "--max-overhead",
                               wrong, "true", log=False)
        result.check_status(2)
        h.check_match("a number from 1 to 100 is expected", result.err, wrong)
    result = case.calltrap("heap", "--engine=trap", "--max-overhead", "2",
                           "true", log=False)
    result.check_status(2)
    h.check_match("--max-overhead: needs --engine=agent", result.err, "why")


@h.test("what needs every call is refused")
def refused(case):
    for other in (("--calls", "calls"), ("--footprint", "calls"),
                  ("--value", "temporary-blocks"), ("--record", "file")):
        result = case.calltrap("heap", "--sample", "4k", *other, "true",
                               log=False)
        result.check_status(2)
        h.check_match(r"--sample: keeps some blocks, and " + other[0],
                      result.err, "the message")
    for wrong in "0", "", "k", "-1", "4kb", "1e3", "1025g", "99999999999999":
        result = case.calltrap("heap", "--sample", wrong, "true", log=False)
        result.check_status(2)
        h.check_match("a number of bytes is expected", result.err, wrong)


if __name__ == "__main__":
    sys.exit(h.main())
