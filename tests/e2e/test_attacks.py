#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that mean harm to those who look at them."""

import gzip
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


LIBRARY = """\
#include <stdlib.h>
void *evil_name(void) { return malloc(100); }
"""
PROGRAM = """\
void *evil_name(void);
int main(void) { for (int i = 0; i < 50; i++) evil_name(); return 0; }
"""


def evil_program(case):
    """A program whose library and function have such names."""
    h.need("objcopy")
    library = case.path("lib" + CONTROLS + ".so")
    for name, text in (("lib", LIBRARY), ("main", PROGRAM)):
        case.write(name + ".c", text)
        case.run(["gcc", "-g", "-O0", "-fPIC", "-c", case.path(name + ".c"),
                  "-o", case.path(name + ".o")]).check_status(0)
        case.run(["objcopy", "--redefine-sym", "evil_name=evil" + CONTROLS,
                  case.path(name + ".o")]).check_status(0)
    case.run(["gcc", "-shared", "-o", library,
              case.path("lib.o")]).check_status(0)
    case.run(["gcc", "-o", case.path("evil"), case.path("main.o"),
              library]).check_status(0)
    return case.path("evil")


@h.test("terminals: symbols and libraries whose names are commands")
def names(case):
    program = evil_program(case)
    kinds = ("json", "folded", "svg", "callgrind", "calls", "footprint",
             "speedscope", "firefox", "massif", "dhat", "html")
    options = [word for kind in kinds
               for word in ("--" + kind, case.path(kind))]
    result = case.run([h.CALLTRAP, "heap", *options, "--pprof",
                       case.path("pprof"), "--top=0", "--source", program])
    result.check_status(0)
    texts = {kind: h.read(case.path(kind)) for kind in kinds}
    texts["report"] = result.err
    # pprof -top prints its strings as they are.
    with gzip.open(case.path("pprof")) as file:
        profile = file.read()
    h.check(b"evil" in profile, "pprof doesn't name it")
    # Numbers in it may be any byte: these are the ones of the names.
    for part in (b"\x1b[31m", b"b\x7fc", "\u009b31m".encode()):
        h.check(part not in profile, "pprof: %r" % part)
    texts["difference"] = case.run([h.CALLTRAP, "heap", "diff",
                                    case.path("pprof"),
                                    case.path("pprof"), "--folded",
                                    case.path("pairs")]).out
    texts["pairs"] = h.read(case.path("pairs"))
    for by in ("line", "function", "library"):
        texts[by] = case.run([h.CALLTRAP, "heap", "--by", by, program]).err
    texts["log"] = case.calltrap("-w", "3", "-x", "evil*", program).log_text
    texts["table"] = case.calltrap("-c", "-x", "evil*", program).log_text
    for what, text in texts.items():
        check_harmless(text, what)
    for what in ("json", "folded", "svg", "speedscope", "firefox", "massif",
                 "dhat", "html", "function", "log", "table",
                 "difference"):
        h.check("evil" in texts[what], what + " doesn't name it")


if __name__ == "__main__":
    sys.exit(h.main())
