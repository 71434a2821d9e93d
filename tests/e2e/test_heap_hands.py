#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Blocks that change hands: whose call was the first is known, though a thread that is
alone for a while has no clock read for each of its calls."""

import json
import re
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

def check_granted(path, calls):
    """Some calls were made where no clock is read."""
    with open(path, encoding="utf-8") as file:
        uses = json.load(file)["calls"]
    made, timed = (sum(use[key] for use in uses if use["function"] == "malloc")
                   for key in ("calls", "timed"))
    h.check(made >= calls and 0 < timed < made,
            "%d of %d calls were timed" % (timed, made))


ODD = ("frees of what was there before", "double frees")


def hands():
    return h.build("hands", "hands.c", "-g", "-O1", "-fno-builtin",
                   "-pthread")


def handed_over(seed):
    def run(case):
        path = case.path("json")
        result = hr.heap(case, "--engine=agent", "--by", "library", "--top",
                         "0", "--json", path, "--", hands(), "40", str(seed),
                         "500")
        result.check_status(0)
        calls, handed, back = map(int, re.search(
            r"(\d+) calls, (\d+) handed over, (\d+) came back",
            result.out).groups())
        h.check(handed and back == handed, "%d of %d blocks came back" %
                (back, handed))
        report = result.report
        h.check_equal([report.malloc.odd(odd) for odd in ODD], [0, 0],
                      "oddities")
        row = report.row("^hands$")
        h.check_equal((row.blocks, row.acquired, row.given_back),
                      (0, calls, calls), "blocks, acquired, given back")
        h.check_equal(report.lost(), 0, "lost")
        check_granted(path, calls)
    return run


for seed in (1, 2, 3):
    h.test("what others free is got again in that order, seed %d" % seed)(
        handed_over(seed))


if __name__ == "__main__":
    sys.exit(h.main())
