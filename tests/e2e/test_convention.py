#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where arguments and results lie, against what compilers do: functions of
random signatures write down what they were given. SIGNATURES_SEED makes
others."""

import os
import random
import sys

sys.dont_write_bytecode = True
import harness as h
import signatures as s

SEED = int(os.environ.get("SIGNATURES_SEED", "1"))
FUNCTIONS = 64


def check_calls(out, log, program):
    wanted = out.splitlines()
    h.check_equal(len(wanted), len(program.functions), "functions called")
    h.check_equal(len(log.calls), len(wanted), "calls logged")
    prototypes = {f.name: f.prototype() for f in program.functions}
    wrong = []
    for call, line in zip(log.calls, wanted):
        name, _, rest = line.partition("(")
        arguments, _, result = rest.rpartition(") = ")
        if not (call.name == name and
                s.same_text(call.arguments, arguments) and
                s.same_text(call.result or "?", result)):
            wrong.append("%s\nwanted: %s\nfound:  %s" %
                         (prototypes[name], line, call.text))
    h.check(not wrong, "%d of %d calls are wrong (seed %d):\n%s" %
            (len(wrong), len(wanted), SEED, "\n".join(wrong[:4])))


def trace(case, kind, level):
    generator = random.Random("%d %r %s" % (SEED, vars(kind), level))
    program = s.Program(generator, kind, FUNCTIONS)
    path = program.build(case, level)
    prototypes = case.write("signatures.conf", program.prototypes())
    result = case.calltrap("-F", prototypes, "-A", "100", "-s", "1000", "-l",
                           "libsignatures.so", path)
    result.check_status(0)
    result.check_quiet()
    check_calls(result.out, result.log, program)


def register(cc, bits, level):
    @h.test("%s %s, %d bits" % (cc, level, bits))
    def signatures(case):
        h.need(cc)
        trace(case, s.Kind(cc, bits), level)


for cc in ("gcc", "clang"):
    for bits in (64, 32):
        for level in ("-O0", "-O2"):
            register(cc, bits, level)

if __name__ == "__main__":
    sys.exit(h.main())
