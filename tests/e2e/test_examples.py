#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What calltrap says of the programs in examples/."""

import os
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

SOURCE = os.path.join(h.HERE, "..", "..", "examples", "xor_encryptor.cc")
SIZE, INPUTS = 200000, 40


def line_of(text):
    with open(SOURCE) as file:
        lines = [i for i, line in enumerate(file, 1) if text in line]
    h.check_equal(len(lines), 1, "lines with " + text)
    return lines[0]


def run(case, name, *flags):
    program = h.build(name, os.path.abspath(SOURCE), "-g", "-O1", *flags,
                      cc="g++")
    path = case.path(name + ".report")
    result = case.calltrap("heap", "-C", "-o", path, "--top=0", program,
                           str(SIZE), str(INPUTS), "1000", log=False)
    result.check_status(0)
    return result.out, hr.only_report(h.read(path))


@h.test("the encryptor's leaks have their lines, and are gone when mended",
        users=True)
def _(case):
    leaking_sum, leaking = run(case, "xor-leaking")
    fixed_sum, fixed = run(case, "xor-fixed", "-DFIXED")
    h.check_match(r"^sum [0-9a-f]{8}$", leaking_sum, "sum")
    h.check_equal(fixed_sum, leaking_sum, "sum of the mended one")
    chunks = -(-SIZE // 4096)
    found = {}
    for row in leaking.rows:
        if row.verdict == "LIKELY":
            function, _, line, _ = row.frames()[0]
            found[function.split("::")[-1].split("(")[0]] = (
                int(line), row.blocks, row.bytes)
    h.check_equal(found, {
        "read_in_chunks": (line_of("as large as the input"), INPUTS,
                           INPUTS * SIZE),
        "process_chunk": (line_of("kept for ever"), INPUTS * chunks,
                          INPUTS * chunks * (4096 + 8)),
    }, "leaks")
    h.check_equal([row.what for row in fixed.rows if row.verdict == "LIKELY"],
                  [], "leaks of the mended one")
    h.check_equal(sum(row.bytes for row in fixed.rows
                      if "XOREncryptor" in " ".join(map(str, row.frames()))),
                  0, "bytes held by the mended one")


sys.exit(h.main())
