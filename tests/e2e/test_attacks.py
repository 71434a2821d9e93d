#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that mean harm to those who look at them."""

import json
import re
import sys

sys.dont_write_bytecode = True
import harness as h

CONTROLS = "a\033[31mb\177c\u009b31md"
# What a terminal would act upon (besides the ends of lines).
COMMANDS = re.compile("[\0-\x08\x0b-\x1f\x7f\u0080-\u009f]")


def program():
    return h.build("hostile", "hostile.c", "-O1",
                   directory=h.build_directory("attacks"))


def check_harmless(text, what):
    found = COMMANDS.search(text)
    h.check(not found, "%s: a control character in %r" %
            (what, text[max(0, found.start() - 30):found.end() + 30]
             if found else ""))


@h.test("system calls by any number take no memory without end")
def made_up_numbers(case):
    count = 20000
    result = case.calltrap("-c", "-L", "-S", program(), "numbers", str(count))
    result.check_status(0)
    rows = re.findall(r" (\d+) +\d+ syscall_(\w+)@SYS$", result.log_text,
                      re.M)
    h.check_equal(sum(int(calls) for calls, _ in rows), count,
                  "calls in all rows")
    h.check(4000 < len(rows) < 4200, "%d rows" % len(rows))
    h.check("other" in [name for _, name in rows], "no row for all others")


@h.test("terminals: no control characters in any output", users=True)
def control_characters(case):
    directory = case.path(CONTROLS.replace("/", ""))
    target = case.copy(program(), "t" + CONTROLS)
    result = case.calltrap("-S", "-w", "3", "-x", "set*", "-e", "*env",
                           "--json", case.path("json"), target, "text")
    check_harmless(result.log_text, "the log")
    check_harmless(result.err, "standard error")
    text = h.read(case.path("json"))
    check_harmless(text, "JSON")
    lines = [json.loads(line) for line in text.splitlines()]
    values = [line["args"] for line in lines
              if line.get("function") == "setenv"]
    h.check(values, "no call of setenv in the JSON file")
    for value in values:
        h.check_equal(value, ["NAME", CONTROLS, 1], "setenv's arguments")
    table = case.calltrap("-c", "-x", "set*", target, "text")
    check_harmless(table.log_text, "the table")
    for bad in (["-x", CONTROLS, target, "text"], ["-F", directory, "true"],
                [directory], ["--" + CONTROLS], ["-s", CONTROLS, "true"],
                ["-D", "module,probe,session", target, "text"]):
        result = case.calltrap(*bad, log=False)
        h.check(result.err, "%r: nothing is said" % bad)
        check_harmless(result.err, repr(bad))


if __name__ == "__main__":
    sys.exit(h.main())
