#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""examples/xor_encryptor.cc, which leaks, and the same when mended: attached
to while it runs, one command for each picture; both call sites are named, and
the picture of the difference shows what has been mended."""

import contextlib
import json
import os
import re
import signal
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr
from flames import Graph

SOURCE = os.path.join(h.HERE, "..", "..", "examples", "xor_encryptor.cc")
SIZE, INPUTS = 200000, 40
CHUNKS = -(-SIZE // 4096)
# Inlined functions have it from where they were declared.
CLASS = "(anonymous namespace)::XOREncryptor::"
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

    # At the very first they are this interpreter's mappings.
    def has_heap():
        maps = h.read("/proc/%d/maps" % process.pid)
        return "[heap]" in maps and process.argv[0] in maps
    h.wait_until(has_heap, "the program's first memory")
    os.kill(process.pid, signal.SIGSTOP)
    return process


def go_on(process, tracer):
    """Lets it run when all traps are there: calls between the first trap and the
    last one have other callers than they should."""
    h.wait_until(lambda: hr.planted(process.pid), "traps")
    h.settle(process, tracer, "t")
    os.kill(process.pid, signal.SIGCONT)


def watch(case, name, *options):
    """One run from its first allocations to its end; what calltrap heap with
    these options says of it."""
    process = begin(case, name)
    tracer = hr.attach(case, process, options=list(options))
    go_on(process, tracer)
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
    # On a busy machine it is slow in the end, and a leak only POSSIBLE.
    h.check(marked <= {NEW, NEW_ARRAY}, "LIKELY leaks %r in:\n%s" %
            (marked, text))
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


# ---------------------------------------------------------------- growth

def grown(text, kind):
    """(bytes, calls) of the report's total of a kind."""
    found = re.search(r"^%s: grown by ([\d,]+) bytes(?: \([\d.]+ MiB\))? in "
                      r"([\d,]+) " % kind, text, re.M)
    h.check(found, "no total of %s in:\n%s" % (kind, text))
    return tuple(int(word.replace(",", "")) for word in found.groups())


PICTURES = {
    "heap": ("Heap Expansion Flame Graph", "bytes", "kept for ever",
             "process_chunk"),
    "mmap": ("mmap() Flame Graph", "bytes", "as large as the input",
             "read_in_chunks"),
    "faults": ("Page Fault Flame Graph", "pages", "kept for ever",
               "process_chunk"),
}


@h.test("the pictures of brk, mmap and page faults: one command each",
        users=True)
def _(case):
    for kind, (title, unit, text, function) in PICTURES.items():
        report = watch(case, "leaking", "--growth", kind, "--svg",
                       case.path(kind + ".svg"))
        graph = Graph(case.path(kind + ".svg"))
        h.check(graph.title.startswith(title + ": "), "title " + graph.title)
        h.check_equal(graph.root.unit, unit, "unit of " + kind)
        box = graph.named(CLASS + function)
        h.check_match(r"/xor_encryptor\.cc:.*\b%d\b" % line_of(text),
                      box.more[1], "line of " + kind)
        h.check(box.weight > 0.3 * graph.root.weight, "its weight: %d of %d" %
                (box.weight, graph.root.weight))
        whole = "RSS" if kind == "faults" else "VIRT"
        h.check_match(r"^%s: \+[\d,]+ bytes" % whole, report, "tie-out")


@h.test("pictures of growth that can't be written harm nothing", users=True)
def _(case):
    theirs, ours = os.pipe()
    os.close(theirs)
    if case.user:
        os.fchown(ours, case.user.pw_uid, -1)
    process = begin(case, "leaking")
    tracer = hr.attach(case, process, pass_fds=(ours,), options=[
        "--growth", "mmap", "--svg", "/dev/full", "--pprof", "/dev/fd/%d" % ours, "--json", "whole"])
    os.close(ours)
    go_on(process, tracer)
    h.check_equal((tracer.wait(), process.wait()), (1, 0), "status of both")
    h.check_equal(sorted(tracer.err.splitlines()), [
        "calltrap: /dev/fd/%d can't be written: Broken pipe" % ours,
        "calltrap: /dev/full can't be written: No space left on device"],
        "messages")
    h.check_match("^sum [0-9a-f]{8}$", process.out, "what it computes")
    h.check(grown(h.read(tracer.report_path), "mmap")[0] >= SIZE * INPUTS / 2,
            "the report")
    with open(case.path("whole")) as file:
        h.check(json.load(file), "the other file")


@h.test("pictures of what has changed in growth; pprof opens such profiles")
def _(case):
    for name in "leaking", "fixed":
        watch(case, name, "--growth", "heap,mmap,faults", "--pprof",
              case.path(name + ".%k"))
    for kind, (_, _, text, function) in PICTURES.items():
        done = case.calltrap("heap", "diff", "--svg", case.path("diff.svg"),
                             "leaking." + kind, "fixed." + kind, log=False)
        done.check_status(0)
        graph = Graph(case.path("diff.svg"))
        box = graph.named(CLASS + function)
        h.check(box.before > 0.3 * graph.root.before, "before: %d of %d" %
                (box.before, graph.root.before))
        h.check(box.now < 0.1 * box.before, "%s: %d, then %d" %
                (kind, box.before, box.now))
        h.check_match(r"^ +-[\d,]+ +-[\d,]+ +[\d,]+ +0  .*\b%s$" % function,
                      done.out, "table of " + kind)
        h.check_match(r"/xor_encryptor\.cc:.*\b%d\b" % line_of(text),
                      done.out, "line of " + kind)
    check_other_kinds(case)
    check_pprof(case)


def check_other_kinds(case):
    done = case.calltrap("heap", "diff", "leaking.heap", "fixed.mmap",
                         log=False)
    h.check_equal((done.status, done.out, done.messages()),
                  (1, "", ["calltrap: leaking.heap and fixed.mmap can't be "
                           "compared: each is of a heap, or of one kind of "
                           "growth, and these are not the same"]),
                  "what is said of two kinds")


def check_pprof(case):
    h.need("go")
    for kind, (_, _, text, function) in PICTURES.items():
        done = case.run(["go", "tool", "pprof", "-list", "::%s$" % function,
                         "-unit=b", "leaking." + kind],
                        env={"PPROF_TMPDIR": case.dir})
        h.check_equal((done.status, done.err), (0, ""), "pprof -list")
        h.check_match(r"^ +\S+ +[1-9]\d+B +%d:.*%s" % (line_of(text), text),
                      done.out, "the line")


# What the kernel does for one process, as others count it.
BPFTRACE = """
BEGIN { printf("ready\\n"); }
tracepoint:syscalls:sys_enter_brk /pid == %(pid)d/ {
	@brk = count(); @top = max(args->brk);
}
tracepoint:syscalls:sys_enter_mmap /pid == %(pid)d/ {
	@mmap = count(); @bytes = sum(args->len);
}
tracepoint:exceptions:page_fault_user /pid == %(pid)d/ { @user = count(); }
software:page-faults:1 /pid == %(pid)d/ { @faults = count(); }
tracepoint:sched:sched_process_exit /pid == %(pid)d/ { exit(); }
"""
PERF_EVENTS = ("page-faults", "syscalls:sys_enter_brk",
               "syscalls:sys_enter_mmap")


def start_perf(case, pid):
    h.need("perf")
    process = case.start(["perf", "stat", "-x,", "-p", str(pid), "-e",
                          ",".join(PERF_EVENTS), "-o", case.path("perf")])
    h.wait_until(lambda: watches(process.pid) or
                 process.popen.poll() is not None, "perf")
    if process.popen.poll() is not None:
        raise h.Skip("perf stat: " + h.shorten(process.err))
    return process


FIRST_PID_NAMESPACE = "pid:[4026531836]"  # the kernel's PROC_PID_INIT_INO


def start_bpftrace(case, pid):
    h.need("bpftrace")
    if os.readlink("/proc/self/ns/pid") != FIRST_PID_NAMESPACE:
        raise h.Skip("bpftrace counts pids as the first pid namespace does, "
                     "and this is another one")
    process = case.start(["bpftrace", "-e", BPFTRACE % {"pid": pid}])
    h.wait_until(lambda: "ready" in process.out or
                 process.popen.poll() is not None, "bpftrace")
    if process.popen.poll() is not None:
        raise h.Skip("bpftrace: " + h.shorten(process.err))
    return process


def watches(pid):
    """Whether it has opened an event of the kernel."""
    directory = "/proc/%d/fd" % pid
    for name in os.listdir(directory):
        with contextlib.suppress(OSError):
            if "perf_event" in os.readlink(os.path.join(directory, name)):
                return True
    return False


def read_perf(case):
    counts = {}
    for line in h.read(case.path("perf")).splitlines():
        words = line.split(",")
        if len(words) > 2:
            counts[words[2]] = int(words[0])
    return counts


def read_bpftrace(process):
    h.check_equal(process.wait(), 0, "status of bpftrace: " + process.err)
    return {key: int(number) for key, number in
            re.findall(r"^@(\w+): (\d+)$", process.out, re.M)}


def end_of_heap(pid):
    line, = [line for line in h.read("/proc/%d/maps" % pid).splitlines()
             if line.endswith("[heap]")]
    return int(line.split()[0].split("-")[1], 16)


def count_together(case, name):
    """One run, as calltrap, perf and bpftrace see it; and the end of the heap
    before."""
    if os.getuid():
        raise h.Skip("only root may ask bpftrace")
    process = begin(case, name)
    end = end_of_heap(process.pid)
    perf = start_perf(case, process.pid)
    bpftrace = start_bpftrace(case, process.pid)
    tracer = hr.attach(case, process,
                       options=["--growth", "heap,mmap,faults"])
    h.wait_until(lambda: watches(tracer.pid), "what is to be watched")
    go_on(process, tracer)
    h.check_equal(tracer.wait(), 0, "status of calltrap: " + tracer.err)
    h.check_equal(process.wait(), 0, "status of the program")
    perf.wait()
    return (h.read(tracer.report_path), read_perf(case),
            read_bpftrace(bpftrace), end)


@h.test("brk, mmap and page faults are what perf and bpftrace count")
def _(case):
    text, perf, bpftrace, end = count_together(case, "leaking")
    brk, mmap = grown(text, "brk"), grown(text, "mmap")
    h.check_equal({brk[1]}, {perf["syscalls:sys_enter_brk"], bpftrace["brk"]},
                  "calls of brk")
    h.check_equal({mmap[1]}, {perf["syscalls:sys_enter_mmap"],
                              bpftrace["mmap"]}, "calls of mmap")
    h.check_equal(brk[0], bpftrace["top"] - end, "bytes by brk")
    h.check(0 <= mmap[0] - bpftrace["bytes"] < 4096 * mmap[1],
            "bytes by mmap: %d, asked for: %d" % (mmap[0], bpftrace["bytes"]))
    faults = grown(text, "page faults")[1]
    others = perf["page-faults"], bpftrace["faults"], bpftrace["user"]
    h.check(min(others) * 0.99 <= faults <= max(others) * 1.01,
            "page faults: %d; perf and bpftrace: %r" % (faults, others))


if __name__ == "__main__":
    sys.exit(h.main())
