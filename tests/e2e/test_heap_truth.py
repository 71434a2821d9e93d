#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What `calltrap heap` says where it can't know all: it says that, and accuses
nobody."""

import os
import re
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

DOUBTFUL = "given back twice, unless an acquisition was missed"


def pairs():
    return h.build("heap_pairs", "heap_pairs.c", "-g", "-O1")


def start(case, *argv, **how):
    target = case.start(list(argv), **how)
    h.wait_until(lambda: target.out or target.popen.poll() is not None,
                 "the target")
    return target


# ---------------------------------------------------------------- lost traps

PLACE = re.compile(r"^(/\S+)\+0x([0-9a-f]+): ")


def mapped_at(pid, path, offset):
    for line in h.read("/proc/%d/maps" % pid).splitlines():
        words = line.split(None, 5)
        if len(words) < 6 or words[5] != path or "x" not in words[1]:
            continue
        start, end = (int(word, 16) for word in words[0].split("-"))
        first = int(words[2], 16)
        if first <= offset < first + end - start:
            return start + offset - first
    raise h.Failure("%s isn't mapped" % path)


def traps_of(pid):
    """Files, and where in them."""
    return {(path, int(last, 16) + 1 - len(h.TRAP)) for path, last in
            (PLACE.match(text).groups() for text in h.traps_in(pid))}


def take_away(pid, traps):
    """As the kernel does when a uprobe is removed: the file's bytes are there."""
    mem = os.open("/proc/%d/mem" % pid, os.O_WRONLY)
    for path, offset in traps:
        with open(path, "rb") as file:
            code = os.pread(file.fileno(), len(h.TRAP), offset)
        os.pwrite(mem, code, mapped_at(pid, path, offset))
    os.close(mem)


@h.test("traps that another tool has removed come back, and it is told",
        users=True)
def _(case):
    target = start(case, pairs())
    tracer = hr.attach(case, target)
    h.wait_until(lambda: hr.planted(target.pid), "the traps")
    time.sleep(1)
    there = traps_of(target.pid)
    h.check(there, "no traps")
    take_away(target.pid, there)
    h.wait_until(lambda: traps_of(target.pid) >= there, "the traps again")
    time.sleep(0.5)
    report = hr.leave(tracer)
    h.check_untouched(target.pid)
    h.check_match(r"^[\d,]+ traps? of ours (was|were) taken away by another "
                  r"tool", report.text, "the foot of the report")
    h.check_match(r"traps? (was|were) taken away by another tool", tracer.err,
                  "what calltrap says")
    h.check_equal(report.malloc.odd("double frees"), 0, "double frees")
    h.check_equal(report.levels["likely"], (0, 0, 0), "what leaks")
    h.check_equal(report.levels["possible"], (0, 0, 0), "what may leak")


def own_libc(case):
    """A copy: the int3 of a uprobe stands in every process that has mapped the
    file, and other tests look at the code of the machine's."""
    directory = case.path("lib")
    os.mkdir(directory)
    with open("/proc/self/maps") as maps:
        libc = re.search(r"/\S*libc\.so\.6", maps.read()).group()
    return directory, shutil.copy(libc, directory)


@h.test("a uprobe on malloc makes no double frees")
def _(case):
    h.need("bpftrace")
    directory, libc = own_libc(case)
    target = start(case, pairs(), env={"LD_LIBRARY_PATH": directory})
    h.check(libc in h.read("/proc/%d/maps" % target.pid), "the copy in use")
    tracer = hr.attach(case, target)
    h.wait_until(lambda: hr.planted(target.pid), "the traps")
    time.sleep(1)
    probe = case.run(["bpftrace", "-p", str(target.pid), "-e",
                      "uprobe:%s:malloc { @ = count(); } "
                      "interval:s:1 { exit(); }" % libc])
    if not re.search(r"^@: [1-9]", probe.out, re.M):
        tracer.popen.terminate()
        raise h.Skip("bpftrace can't have uprobes here: " +
                     h.shorten(probe.err, 4))
    h.wait_until(lambda: hr.planted(target.pid), "the traps again")
    time.sleep(1.5)
    report = hr.leave(tracer)
    h.check_equal(report.malloc.odd("double frees"), 0, "double frees")
    h.check(report.malloc.odd(DOUBTFUL) > 10, "releases in doubt")
    h.check_match(r"unseen for up to", report.text, "the foot of the report")


@h.test("a function with a uprobe of another tool's is named, and why")
def _(case):
    h.need("bpftrace")
    directory, libc = own_libc(case)
    probe = case.start(["bpftrace", "-e", "BEGIN { printf(\"ready\\n\"); } "
                        "uprobe:%s:malloc { @ = count(); }" % libc])
    target = start(case, pairs(), env={"LD_LIBRARY_PATH": directory})
    h.wait_until(lambda: any("+0x" in text for text in
                             h.code_differences(target.pid)) or
                 probe.popen.poll() is not None, "the uprobe")
    if probe.popen.poll() is not None:
        raise h.Skip("bpftrace can't have uprobes here: " +
                     h.shorten(probe.err, 4))
    tracer = hr.attach(case, target)
    h.wait_until(lambda: hr.planted(target.pid, "free"), "the traps")
    report = hr.leave(tracer)
    for text in tracer.err, report.text:
        h.check_match(r"1 function could not be trapped .*; "
                      r"malloc@libc\.so\.6: another tool has an int3 there",
                      text, "what calltrap says")


# ---------------------------------------------------------------- one leak

@h.test("a library's object that is forgotten is one leak of one caller")
def _(case):
    target = start(case, h.build("heap_object", "heap_object.c", "-g", "-O1"))
    tracer = hr.attach(case, target, options=["--top", "3"])
    h.wait_until(lambda: hr.planted(target.pid), "the traps")
    said = target.out.count("ten more")
    h.wait_until(lambda: target.out.count("ten more") >= said + 5, "patterns")
    report = hr.leave(tracer)
    likely = [row for row in report.rows if row.verdict == "LIKELY"]
    h.check(report.levels["likely"][2] > 5, "sites: %r" % report.levels)
    h.check(len(likely) <= 2, "%d rows for one leak" % len(likely))
    h.check(likely[0].parts > 3, "%d stacks with the first" % likely[0].parts)
    for row in likely:
        h.check_match(" by forget_pattern$", row.what, "who leaks")
    h.check_equal(sum(row.bytes for row in report.rows) + report.rest[0],
                  report.malloc.bytes, "sum of the rows")


# ---------------------------------------------------------------- what else grew

@h.test("descriptors that get more are seen, and which --pool to use",
        users=True)
def _(case):
    code = ("import os, sys, time\nprint('ready', flush=True)\n"
            "while True: os.dup(0); time.sleep(0.05)\n")
    target = start(case, "/usr/bin/python3", "-c", code)
    tracer = hr.attach(case, target)
    h.wait_until(lambda: hr.planted(target.pid), "the traps")
    count = len(os.listdir("/proc/%d/fd" % target.pid))
    h.wait_until(lambda: len(os.listdir("/proc/%d/fd" % target.pid)) >
                 count + 20, "descriptors")
    report = hr.leave(tracer)
    found = h.check_match(r"^also: descriptors ([\d,]+) \(\+([\d,]+)\): --pool "
                          r"descriptors shows where from, threads 1 \(\+0\), mappings ",
                          report.text, "what else grew")
    h.check(hr.number(found[2]) >= 20, "%s more" % found[2])


# ---------------------------------------------------------------- children

FAMILY = """if True:
    import ctypes, os, sys, time
    libc = ctypes.CDLL(None)
    parent = os.getpid()
    for child in 1, 2:
        if not os.fork():
            if child == 2:
                os.fork()
            break
    print('ready', os.getpid(), flush=True)
    while True:
        libc.malloc(4321)
        time.sleep(0.01)
        try:
            os.kill(parent, 0)
        except ProcessLookupError:
            break
    """


@h.test("with -f, children and theirs that are there already are watched, too",
        users=True)
def _(case):
    target = start(case, "/usr/bin/python3", "-c", FAMILY)
    h.wait_until(lambda: target.out.count("ready") == 4, "four processes")
    pids = sorted(map(int, re.findall(r"ready (\d+)", target.out)))
    tracer = hr.attach(case, target, options=["-f"])
    h.wait_until(lambda: all(hr.planted(pid) for pid in pids), "the traps")
    time.sleep(0.5)
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    found = hr.reports(h.read(tracer.report_path))
    h.check_equal(sorted(report.pid for report in found), pids, "processes")
    for pid in pids:
        h.check_equal(h.tracer_of(pid), 0, "tracer of %d" % pid)
        h.check(not hr.planted(pid), "traps are left in %d" % pid)


@h.test("descriptors by fcntl count, and none that comes in a message is "
        "closed twice")
def _(case):
    code = """if True:
        import os, socket, sys, time
        here, there = socket.socketpair()
        kept = []
        print('ready', flush=True)
        while True:
            a, b = os.pipe()
            socket.send_fds(here, [b'x'], [a])
            got = socket.recv_fds(there, 1, 1)[1][0]
            os.close(os.dup(got))
            for fd in a, b, got:
                os.close(fd)
            if len(kept) < 50 and os.path.exists(sys.argv[1]):
                kept.append(os.dup(0))
                if len(kept) == 50:
                    print('kept', flush=True)
            time.sleep(0.005)
        """
    go = case.path("go")
    target = start(case, "/usr/bin/python3", "-c", code, go)
    tracer = hr.attach(case, target, options=["--pool", "descriptors"])
    h.wait_until(lambda: hr.planted(target.pid), "the traps")
    time.sleep(0.3)
    case.write("go", "")
    h.wait_until(lambda: "kept" in target.out, "descriptors")
    total = hr.leave(tracer).totals["descriptors"]
    for odd in "double frees", "frees of what was never acquired":
        h.check_equal(total.odd(odd), 0, odd)
    h.check(total.odd("frees of what was there before, or acquired "
                      "otherwise") >= 20, "closed, but not opened")
    h.check(45 <= total.blocks <= 55, "%d are held" % total.blocks)


@h.test("a process that grows without malloc isn't told to leak a few bytes")
def _(case):
    code = ("import mmap, time\nroom = mmap.mmap(-1, 1 << 30)\n"
            "print('ready', flush=True)\nkept = []\n"
            "for at in range(0, 1 << 30, 1 << 16):\n"
            "    room[at:at + (1 << 16)] = b'x' * (1 << 16)\n"
            "    kept.append(bytes(1000))\n    time.sleep(0.02)\n")
    target = start(case, "/usr/bin/python3", "-c", code)
    tracer = hr.attach(case, target, options=["--every", "1s"])
    h.wait_until(lambda: "\nelsewhere: " in h.read(tracer.report_path),
                 "what grows elsewhere")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    text = h.read(tracer.report_path)
    h.check_match(r"^elsewhere: RSS grows by [\d,]{5,} bytes a second, what is "
                  r"held by [\d,]+; ", text, "the summary")
    report = hr.reports(text)[-1]
    h.check_match(r"^also: .*, mappings [\d,]+ \(\+\d+\)$", report.text,
                  "what else there is")
    h.check_match(r"^of RSS: anonymous [\d,]+ \([+-][\d,]+\), files ",
                  report.text, "what it consists of")


if __name__ == "__main__":
    sys.exit(h.main())
