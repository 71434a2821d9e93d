#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""examples/xor_encryptor.cc, which leaks, and the same when mended: attached
to while it runs, one command for each picture; both call sites are named, and
the picture of the difference shows what has been mended."""

import os
import signal
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr
from flames import Graph

SOURCE = os.path.join(h.HERE, "..", "..", "examples", "xor_encryptor.cc")
SIZE, INPUTS = 200000, 40
CHUNKS = -(-SIZE // 4096)
NEW, NEW_ARRAY = "operator new(unsigned long)", "operator new[](unsigned long)"


def line_of(text):
    with open(SOURCE) as file:
        lines = [i for i, line in enumerate(file, 1) if text in line]
    h.check_equal(len(lines), 1, "lines with " + text)
    return lines[0]


def program(name):
    return h.build("xor-" + name, os.path.abspath(SOURCE), "-g", "-O1",
                   *(["-DFIXED"] if name == "fixed" else []), cc="g++")


def begin(case, name):
    """The program, held before it has done much."""
    process = case.start([program(name), str(SIZE), str(INPUTS), "1000"])
    h.wait_until(lambda: "[heap]" in h.read("/proc/%d/maps" % process.pid),
                 "the program's first memory")
    os.kill(process.pid, signal.SIGSTOP)
    return process


def watch(case, name, *options):
    """One run from its first allocations to its end; what calltrap heap with
    these options says of it."""
    process = begin(case, name)
    tracer = hr.attach(case, process, options=["-C", *options])
    h.wait_until(lambda: hr.planted(process.pid), "traps")
    os.kill(process.pid, signal.SIGCONT)
    h.check_equal(tracer.wait(), 0, "status of calltrap: " + tracer.err)
    h.check_equal(process.wait(), 0, "status of the program")
    h.check_match("^sum [0-9a-f]{8}$", process.out, "what it computes")
    return h.read(tracer.report_path)


def parents(graph, name):
    """The boxes below those of that name: who called."""
    return [above for above in graph.boxes for box in above.children
            if box.name == name and "chunk" in above.name]


def inside(box, name):
    found = [child for child in box.children if child.name == name]
    h.check_equal(len(found), 1, "boxes %r in %s" % (name, box.name))
    return found[0]


def check_sites(graph, kind):
    """Both call sites, with their lines."""
    for name, caller, text in (
            (NEW_ARRAY, "read_in_chunks", "as large as the input"),
            (NEW, "process_chunk", "kept for ever")):
        found = parents(graph, name)
        h.check_equal([caller in box.name for box in found], [True],
                      "callers of " + name)
        where = found[0].more[1 if kind == "plain" else 0]
        file, _, lines = where.rpartition(":")
        h.check(os.path.samefile(file, SOURCE), "file of " + where)
        h.check(str(line_of(text)) in lines.split(", "), "line of %s: %d" % (where, line_of(text)))
    return [parents(graph, name)[0] for name in (NEW_ARRAY, NEW)]


@h.test("the picture of the heap names both leaks with their lines",
        users=True)
def _(case):
    text = watch(case, "leaking", "--svg", case.path("heap.svg"))
    graph = Graph(case.path("heap.svg"))
    buffers, chunks = check_sites(graph, "plain")
    arrays, single = (inside(above, name).weight for above, name in
                      ((buffers, NEW_ARRAY), (chunks, NEW)))
    # The first ones may have been there before it was attached to.
    h.check(arrays in (SIZE * INPUTS, SIZE * (INPUTS - 1)),
            "bytes of buffers: %d" % arrays)
    h.check(0 <= CHUNKS * INPUTS - single // 4104 <= CHUNKS,
            "bytes of chunks: %d" % single)
    marked = {box.name for box in graph.boxes if box.likely}
    h.check(marked and marked <= {NEW, NEW_ARRAY},
            "LIKELY leaks %r in:\n%s" % (marked, text))
    h.check_equal(buffers.weight, arrays + chunks.weight, "read_in_chunks")


@h.test("the picture of the difference shows that it is mended", users=True)
def _(case):
    for name in "leaking", "fixed":
        watch(case, name, "--pprof", case.path(name + ".pb.gz"))
    done = case.calltrap("heap", "diff", "--svg", case.path("diff.svg"),
                         case.path("leaking.pb.gz"), case.path("fixed.pb.gz"),
                         log=False)
    done.check_status(0)
    graph = Graph(case.path("diff.svg"))
    buffers, chunks = check_sites(graph, "differences")
    h.check_equal((buffers.more[-1], chunks.more[-1], chunks.now),
                  ("GONE", "GONE", 0), "what became of them")
    h.check(chunks.text.startswith("- ") and "process" in chunks.text,
            "text of the box: " + chunks.text)
    h.check(buffers.width > 1100, "its width: %g of 1200" % buffers.width)
    h.check_equal(graph.root.weight, graph.root.before,
                  "nothing that isn't before")
    h.check_match(r"^gone: 2 sites, ", done.out, "the table")


if __name__ == "__main__":
    sys.exit(h.main())
