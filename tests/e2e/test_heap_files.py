#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that calltrap heap writes for other programs, opened by these."""

import contextlib
import os
import re
import socket
import sys
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import *  # noqa: E402

SOURCE = victim("heap_files.c")


def line_of(mark):
    """The line of the victim's source that has this comment."""
    with open(SOURCE) as file:
        for number, line in enumerate(file, 1):
            if "/* %s */" % mark in line:
                return number
    raise Failure("no line is marked " + mark)


def own_build(case, name="heap_files", *flags):
    """In the test's own folder: it may vanish."""
    return build(name, "heap_files.c", "-g", "-O1", "-fno-builtin", *flags,
                 directory=case.dir)


def gather(case, *options, program=None):
    """(result, what the program says that it holds)"""
    result = case.calltrap("heap", *options, program or own_build(case),
                           log=False)
    result.check_status(0)
    held = {}
    for line in result.out.splitlines():
        words = line.split()
        if words[0] == "held":
            held[words[1]] = (int(words[2]), int(words[3]))
    return result, held


def reported(err):
    """Totals of the report, all families with bytes: in use, and ever."""
    totals = [0, 0, 0, 0]
    found = re.findall(r"^\w+: in use: ([\d,]+) bytes? in ([\d,]+) blocks?; "
                       r"total: ([\d,]+) allocs?, [\d,]+ frees?, ([\d,]+) "
                       r"bytes? allocated", err, re.M)
    check(found, "the report has no totals:\n" + shorten(err))
    for family in found:
        numbers = [int(word.replace(",", "")) for word in family]
        totals = [a + b for a, b in zip(totals, numbers)]
    return dict(zip(("bytes", "blocks", "alloc_blocks", "alloc_bytes"),
                    totals))


# ---------------------------------------------------------------- pprof

def pprof(case, *arguments):
    """What it prints. It may have nothing to complain about."""
    need("go")
    done = case.run(["go", "tool", "pprof"] + list(arguments),
                    env={"GOCACHE": case.path("cache"),
                         "PPROF_TMPDIR": case.dir})
    done.check_status(0)
    complaints = [line for line in done.err.splitlines()
                  if not line.startswith(("Generating report in",
                                          "Main binary filename: "))]
    check_equal(complaints, [], "complaints of pprof " + arguments[0])
    return done.out


def samples(raw):
    """Those of `pprof -raw': (values, labels)."""
    body = raw.split("\nSamples:\n")[1].split("\nLocations\n")[0]
    found = []
    for line in body.splitlines()[1:]:
        values, colon, _ = line.partition(": ")
        if colon and re.fullmatch(r"[ \d]+", values):
            found.append(([int(word) for word in values.split()], {}))
        else:
            for key, text in re.findall(r"(\w+):\[([^]]*)\]", line):
                found[-1][1][key] = text
    return found


@test("pprof: totals are the report's, and the program's", users=True)
def pprof_totals(case):
    result, held = gather(case, "--pprof", "heap.%p.pb.gz")
    files = [name for name in os.listdir(case.dir)
             if re.fullmatch(r"heap\.\d+\.pb\.gz", name)]
    check_equal(len(files), 1, "profiles written")
    found = samples(pprof(case, "-raw", files[0]))
    sums = [sum(values[i] for values, _ in found) for i in range(4)]
    check_equal(dict(zip(("alloc_blocks", "alloc_bytes", "blocks", "bytes"),
                         sums)), reported(result.err), "totals in the profile")
    check_equal(sum(values[3] for values, labels in found
                    if labels["allocator"] == "malloc" and
                    labels["library"] == "heap_files"),
                held["leak"][0], "bytes that malloc gave to the program")
    check_equal([(values[3], labels["bytes"]) for values, labels in found
                 if labels["allocator"] == "mmap" and
                 labels["library"] == "heap_files"],
                [(held["map"][0], "12288 bytes")], "what was mapped")


def check_views(case, profile):
    """All views in which something can be said without the binary."""
    head = pprof(case, "-raw", profile)
    check_match(r"inuse_space/bytes\[dflt\]", head, "the default type")
    check_match(r"^PeriodType: space bytes\nPeriod: 1$", head, "the period")
    mappings = head.split("\nMappings\n")[1].splitlines()
    check_match(r"^1: 0x.* \S*/heap_files \w+ \[FN\]\[FL\]\[LN\]\[IN\]$",
                mappings[0], "the first mapping")
    top = pprof(case, "-top", "-unit=b", "-nodefraction=0", profile)
    check_match(r"^Type: inuse_space$", top, "the type shown")
    check_match(r"^ *104950B .* 104950B .* keep \(inline\)$", top, "-top")
    check_match(r"^ *0 .* 104950B .* leak$", top, "-top")
    churn = pprof(case, "-top", "-unit=b", "-sample_index=alloc_space",
                  profile)
    check_match(r"^ *7700B .* 7700B .* churn$", churn, "-top of all bytes")
    check_match(r"104950B.*\|   keep \(inline\)$",
                pprof(case, "-peek", "leak", "-unit=b", profile), "-peek")
    tags = pprof(case, "-tags", profile)
    for tag in ("allocator", "bytes", "family", "library", "verdict"):
        check_match(r"^ *%s: Total" % tag, tags, "-tags")
    check_match(r"^ +\S+ +keep \(inline\)\n +leak\n +main$",
                pprof(case, "-traces", profile), "-traces")
    check_match(r"leak", pprof(case, "-tree", profile), "-tree")
    check_match(r'label="leak', pprof(case, "-dot", profile), "-dot")


@test("pprof: every view, with the binary and its source")
def pprof_views(case):
    gather(case, "--pprof", "heap.pb.gz")
    check_views(case, "heap.pb.gz")
    source = pprof(case, "-list", "leak|recurse", "-unit=b", "heap.pb.gz")
    for mark, numbers in (("LEAK", r" +\. +104950B"),
                          ("INLINED", r" +104950B +104950B"),
                          ("DEEP", r" +6400B +6400B")):
        if mark == "INLINED":
            source = pprof(case, "-list", "keep", "-unit=b", "heap.pb.gz")
        elif mark == "DEEP":
            source = pprof(case, "-list", "recurse", "-unit=b", "heap.pb.gz")
        check_match(r"^%s +%d:.*/\* %s \*/" % (numbers, line_of(mark), mark),
                    source, "-list")
    check_match(r"^ROUTINE =+ leak\n +104950B +104950B",
                pprof(case, "-disasm", "leak|keep", "-unit=b", "heap.pb.gz"),
                "-disasm")


@test("pprof: every view, without the binary")
def pprof_without_binary(case):
    program = own_build(case)
    gather(case, "--pprof", "heap.pb.gz", program=program)
    os.unlink(program)
    check_views(case, "heap.pb.gz")


@test("pprof: code without debug information, and without names")
def pprof_stripped(case):
    gather(case, "--pprof", "heap.pb.gz",
           program=own_build(case, "stripped", "-s"))
    top = pprof(case, "-top", "-unit=b", "-nodefraction=0", "heap.pb.gz")
    check_match(r"^ *104950B .* \[stripped\+0x[0-9a-f]+\]$", top, "-top")


def free_port():
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def fetch(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as page:
        return page.read().decode(errors="replace")


@test("pprof: its web pages")
def pprof_web(case):
    need("go")
    gather(case, "--pprof", "heap.pb.gz")
    address = "localhost:%d" % free_port()
    server = case.start(["go", "tool", "pprof", "-no_browser",
                         "-http=" + address, "heap.pb.gz"],
                        env={"PPROF_TMPDIR": case.dir})
    wait_until(lambda: "Serving web UI" in server.err or
               server.popen.poll() is not None, "pprof's server")
    base = "http://%s/ui/" % address
    pages = {page: fetch(base + page) for page in
             ("top", "flamegraph", "peek?f=leak", "source?f=leak")}
    for name, page in pages.items():
        check("leak" in page, "the page %s doesn't name leak()" % name)
    check("inuse_space" in pages["top"], "no inuse_space in the page top")
    check_equal(len(server.err.splitlines()), 1,
                "lines that pprof says: " + server.err)


if __name__ == "__main__":
    sys.exit(main())
