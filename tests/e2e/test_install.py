#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where calltrap finds its own files, wherever it was put."""

import os
import shutil
import sys

sys.dont_write_bytecode = True
import harness as h

ETC = os.path.join(h.HERE, "..", "..", "etc")
# The C library's prototypes are there: the arguments have their names.
SHOWN = r'access@libc\.so\.6\("/nowhere", F_OK\)'


def run(case, calltrap):
    return case.run([calltrap, "-L", "-x", "access@libc.so*", h.build(
        "asks", case.write("asks.c", "#include <unistd.h>\n"
                           "int main(void)\n{\n"
                           '\taccess("/nowhere", F_OK);\n}\n'))])


@h.test("moved together with its files", users=True)
def moved(case):
    os.makedirs(case.path("opt/bin"))
    calltrap = case.copy(h.CALLTRAP, "opt/bin/calltrap")
    shutil.copytree(ETC, case.path("opt/share/calltrap"))
    result = run(case, calltrap)
    result.check_quiet()
    h.check_match(SHOWN, result.err, "the log")


@h.test("installed without its files: it says so")
def alone(case):
    if os.path.exists("/usr/local/share/calltrap"):
        raise h.Skip("its files are installed here")
    result = run(case, case.copy(h.CALLTRAP))
    h.check_match(r"^calltrap: its prototype files aren't where", result.err,
                  "messages")
    h.check_match(r"^access@", result.err, "the log")
    h.check("F_OK" not in result.err, "a prototype was found:\n" + result.err)


@h.test("without its files, the user's own still go before ltrace's")
def alone_with_users(case):
    if os.path.exists("/usr/local/share/calltrap"):
        raise h.Skip("its files are installed here")
    calltrap = case.copy(h.CALLTRAP)
    case.write(".ltrace.conf", "int access(string, octal);\n")
    result = run(case, calltrap)
    h.check_match(r'^access@.*\("/nowhere", 0\)', result.err, "the log")
    os.makedirs(case.path(".config/calltrap"))
    result = run(case, calltrap)
    h.check('("/nowhere", 0)' not in result.err,
            "ltrace's prototype was used:\n" + result.err)
    result = case.run([calltrap, "heap", "true"])
    h.check_match("^calltrap: malloc: there is no such file of families here, "
                  "and those of calltrap aren't where", result.err, "messages")


if __name__ == "__main__":
    raise SystemExit(h.main())
