#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap heap --growth': what makes a process grow. A program says by how
much each of its steps has made it larger, strace and perf what system calls it
has made, and /proc what has come of them."""

import json
import os
import re
import shutil
import signal
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

PAGE = 4096
MAPS, MAP_PAGES, BIGS = 5, 40, 3


def grower(*flags, name="heap_grow"):
    return h.build(name, "heap_grow.c", "-g", "-O1", *flags, "-lpthread")


def whole(size):
    return -(-size // PAGE) * PAGE


# ---------------------------------------------------------------- running

def growth(case, argv, *options, kinds="heap,mmap", text=False):
    """What a started program has grown by: JSON, or the report."""
    path = case.path("growth.json")
    result = case.calltrap("heap", "--growth", kinds, "--json", path,
                           "--top", "0", *options, "--", *argv, log=False)
    result.check_status(0)
    return result.err if text else json.loads(h.read(path))["grown"]


def start(case):
    target = case.start([grower()])
    h.wait_until(lambda: "step ready" in target.out, "the target")
    return target


def order(target, letters):
    """Has steps done; by how many bytes each has made the target larger."""
    done = {}
    for letter in letters:
        count = target.out.count("step ")
        target.say(letter)
        h.wait_until(lambda: target.out.count("\n") > count, "a step's answer")
        name, size = target.out.splitlines()[-1].split()[1:]
        done[name] = int(size)
    return done


def attach(case, letters, *options, kinds="heap,mmap"):
    """(what the steps came to, JSON, report) of a target attached to."""
    target = start(case)
    path = case.path("growth.json")
    tracer = case.start_calltrap("heap", "--growth", kinds, "--json", path,
                                 "-p", str(target.pid), *options, log=False)
    h.wait_until(lambda: h.tracer_of(target.pid), "calltrap to attach")
    h.wait_until(lambda: "-S" in options or hr.planted(target.pid),
                 "the traps")
    h.settle(target, tracer)
    done = order(target, letters)
    os.kill(tracer.pid, signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "exit status: " + tracer.err)
    h.check_untouched(target.pid)
    return done, json.loads(h.read(path))["grown"], tracer.err


# ---------------------------------------------------------------- reading

def functions(site):
    return [frame.get("function") for frame in site["stack"]]


def sum_of(kind, function, caller=None):
    """Sums over the sites of a function that have caller on their stacks."""
    sites = [site for site in kind["sites"] if site["function"] == function
             and (caller is None or caller in functions(site))]
    return {key: sum(site[key] for site in sites) for key in
            ("calls", "bytes", "there", "back_calls", "back", "failed")}


def check_sums(grown):
    for word in ("heap", "mmap"):
        kind = grown[word]
        for key in ("calls", "bytes", "back_calls", "failed"):
            h.check_equal(sum(site[key] for site in kind["sites"]), kind[key],
                          "%s: %s of all sites" % (word, key))
        gone = sum(site["bytes"] - site["there"] for site in kind["sites"])
        if word == "mmap":
            h.check_equal(gone + kind["back_before"] + grown["heap"]["back"] -
                          (grown["heap"]["back_before"]) -
                          (grown["heap"]["bytes"] -
                           sum(site["there"]
                               for site in grown["heap"]["sites"])),
                          kind["back"], "what is gone and was given back")


def remainder(grown):
    seen = sum(grown[word]["bytes"] - grown[word]["back"]
               for word in ("heap", "mmap"))
    return grown["last"]["virtual"] - grown["first"]["virtual"] - seen


def check_whole(grown):
    """Nothing has escaped."""
    check_sums(grown)
    h.check_equal(grown["lost"], 0, "calls lost")
    h.check_equal(remainder(grown), 0, "remainder of VIRT")
    h.check_equal(grown["last"]["unseen"], [], "mapped unseen")
    h.check_equal(grown["last"]["vanished"], 0, "unmapped unseen")


# ---------------------------------------------------------------- strace

LINE = re.compile(r"^\d+ +(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>\S+)")


def joined(text):
    """Calls of threads are told in two parts."""
    begun = {}
    for line in text.splitlines():
        tid = line.split()[0]
        if line.endswith("<unfinished ...>"):
            begun[tid] = line.removesuffix("<unfinished ...>").rstrip()
        elif "resumed>" in line:
            yield begun.pop(tid) + line.split("resumed>")[1]
        else:
            yield line


class Expected:
    """What system calls come to."""

    def __init__(self):
        self.heap = {"calls": 0, "bytes": 0, "back_calls": 0, "back": 0,
                     "failed": 0}
        self.mmap = dict(self.heap)
        self.end = None

    @staticmethod
    def _count(kind, change):
        if change < 0:
            kind["back_calls"] += 1
            kind["back"] -= change
        else:
            kind["calls"] += 1
            kind["bytes"] += change

    def take(self, name, arguments, result):
        failed = result == "-1"
        if name == "brk":
            now = int(result, 0)
            if arguments[0] != "NULL":
                self._count(self.heap, whole(now) - whole(self.end))
            self.end = now
        elif failed:
            self.mmap["failed"] += 1
        elif name in ("mmap", "mmap2"):
            self._count(self.mmap, whole(int(arguments[1])))
        elif name == "munmap":
            self._count(self.mmap, -whole(int(arguments[1])))
        elif name == "mremap":
            self._count(self.mmap, whole(int(arguments[2])) -
                        whole(int(arguments[1])))


def strace(case, argv):
    h.need("strace")
    path = case.path("strace")
    result = case.run(["strace", "-f", "-o", path, "-e",
                       "trace=brk,mmap,mmap2,munmap,mremap", *argv])
    h.check_equal(result.status, 0, "strace: " + result.err)
    expected = Expected()
    for line in joined(h.read(path)):
        found = LINE.match(line)
        if found:
            expected.take(found["name"], found["arguments"].split(", "),
                          found["result"])
    return expected


def check_as_strace(case, argv, *options, unseen=0):
    with h.same_addresses():
        grown = growth(case, argv, *options)
        expected = strace(case, argv)
    expected.heap["calls"] -= unseen
    found = {key: grown["heap"][key] for key in expected.heap}
    h.check_equal(found, expected.heap, "brk")
    mapped = {key: grown["mmap"][key] for key in expected.mmap}
    # MAP_FIXED gives back without a call of munmap.
    mapped["back"] -= grown["mmap"]["replaced"]
    h.check_equal(mapped, expected.mmap, "mmap, mremap, munmap")
    check_whole(grown)
    return grown


# ---------------------------------------------------------------- tests

@h.test("the same calls and bytes as strace: system calls")
def _(case):
    grown = check_as_strace(case, [grower(), "1"], "-S")
    h.check_equal(grown["seen_at"], "system calls", "where it was seen")


@h.test("the same calls and bytes as strace: functions of a static program")
def _(case):
    program = grower("-static", name="heap_grow.static")
    # Before it is able to call functions of its own, glibc makes one system
    # call to have room for thread-local variables (csu/libc-tls.c).
    grown = check_as_strace(case, [program, "1"], unseen=1)
    h.check_equal(grown["seen_at"], "functions", "where it was seen")


@h.test("the same calls and bytes as strace: i386")
def _(case):
    program = h.build("heap_grow.i386", "heap_grow.c", "-g", "-O1", "-m32",
                      "-lpthread", optional=True)
    check_as_strace(case, [program, "1"], "-S")


def check_steps(done, grown, threads=1):
    """What the victim's functions have done, by functions on the stacks."""
    mmap = grown["mmap"]
    found = sum_of(mmap, "mmap", "grow_map")
    h.check_equal((found["calls"], found["bytes"]),
                  (threads * MAPS, threads * MAPS * MAP_PAGES * PAGE),
                  "grow_map")
    h.check_equal(found["bytes"] - found["there"],
                  threads * (10 + 10 + 20) * PAGE,
                  "of grow_map: unmapped, and mapped over")
    found = sum_of(mmap, "munmap", "unmap_parts")
    h.check_equal((found["back_calls"], found["back"]),
                  (threads * 2, threads * 20 * PAGE), "unmap_parts")
    big, moved = sum_of(mmap, "mmap", "grow_big"), sum_of(mmap, "mremap")
    h.check_equal((big["calls"], moved["calls"]),
                  (threads * BIGS, threads * BIGS), "large blocks")
    h.check_equal((big["there"], moved["there"]), (0, 0),
                  "of blocks that were given back")
    freed = sum_of(mmap, "munmap", "free_big")
    h.check_equal(freed["back"], big["bytes"] + moved["bytes"], "free_big")
    h.check_equal(mmap["failed"], 2 * threads, "calls that failed")
    if done:
        h.check_equal(big["bytes"], done["grow_big"], "grow_big")
        h.check_equal(moved["bytes"], done["move_big"], "move_big")
        h.check_equal(-freed["back"], done["free_big"], "free_big")
        found = sum_of(grown["heap"], "brk", "grow_small")
        h.check_equal(found["bytes"], done["grow_small"], "grow_small")
        found = sum_of(grown["heap"], "brk", "free_small")
        h.check_equal(-found["back"], done["free_small"], "free_small")


def steps_by_attaching(case, *options):
    done, grown, text = attach(case, "smpobrfxt", *options)
    check_steps(done, grown)
    check_whole(grown)
    h.check_equal(grown["last"]["virtual"] - grown["first"]["virtual"],
                  sum(done.values()), "growth of VIRT")
    h.check_match(r"^VIRT: \+[\d,]+ bytes, from [\d,]+ to [\d,]+$", text,
                  "the report")
    h.check_match(r"^ +\+0  remainder$", text, "the report")


@h.test("attached: as the program sees itself", users=True)
def _(case):
    steps_by_attaching(case)


@h.test("attached: as the program sees itself, by system calls", users=True)
def _(case):
    steps_by_attaching(case, "-S")


@h.test("four threads")
def _(case):
    for options in ((), ("-S",)):
        grown = growth(case, [grower(), "4"], *options)
        check_steps(None, grown, threads=4)
        h.check_equal(grown["lost"], 0, "calls lost")
        check_sums(grown)
        h.check_equal(remainder(grown), sum(
            unseen["bytes"] for unseen in grown["last"]["unseen"]) -
            grown["last"]["vanished"], "what is named of the remainder")
    check_whole(grown)


@h.test("as many calls as perf counts in the same run")
def _(case):
    h.need("perf")
    names = ("brk", "mmap", "mremap", "munmap")
    path = case.path("perf")
    argv = ["perf", "stat", "-x,", "-o", path, "-e",
            ",".join("syscalls:sys_enter_" + name for name in names),
            grower(), "4"]
    probe = case.run(["perf", "stat", "-e", "syscalls:sys_enter_brk", "true"])
    if probe.status or not re.search(r"\d +syscalls:", probe.err):
        raise h.Skip("perf can't count system calls here")
    out = case.path("out.%p.json")
    result = case.calltrap("heap", "-f", "-S", "--growth", "heap,mmap",
                           "--json", out, "--", *argv, log=False)
    result.check_status(0)
    counted = dict(re.findall(r"^(\d+),.*?sys_enter_(\w+)", h.read(path), re.M))
    counted = {name: int(count) for count, name in
               ((count, name) for count, name in counted.items())}
    reports = [json.loads(h.read(os.path.join(os.path.dirname(out), name)))
               for name in os.listdir(os.path.dirname(out))
               if re.fullmatch(r"out\.\d+\.json", name)]
    found = {}
    for report in reports:
        if "heap_grow" in report["process"]["program"]:
            for kind in ("heap", "mmap"):
                for site in report["grown"][kind]["sites"]:
                    found[site["function"]] = found.get(site["function"], 0) + \
                        site["calls"] + site["back_calls"] + site["failed"]
    for name in ("mmap", "mremap", "munmap"):
        h.check_equal(found[name], counted[name], name)
    # Where the end is was asked, once by the linker and once by libc.
    h.check(counted["brk"] - 2 <= found["brk"] <= counted["brk"], "brk: "
            "%d, by perf %d" % (found["brk"], counted["brk"]))


@h.test("beside leaks: neither report changes the other")
def _(case):
    _, alone, _ = attach(case, "smbt")
    _, both, text = attach(case, "smbt", "--engine=auto",
                           kinds="heap,leaks,mmap")
    for word in ("heap", "mmap"):
        for key in ("calls", "bytes", "back_calls", "back", "failed"):
            h.check_equal(both[word][key], alone[word][key], word + " " + key)
    check_whole(both)
    malloc = hr.only_report(text).malloc
    h.check_equal((malloc.allocs, malloc.frees), (2000 + BIGS, 2000),
                  "calls of malloc and free")
    h.check_equal(malloc.held(), (BIGS, BIGS << 20), "blocks in use")
    h.check_match(r"^mappings: in use: %s bytes in %d blocks" %
                  ("{:,}".format(MAPS * MAP_PAGES * PAGE), MAPS), text,
                  "mappings, without malloc's own")


@h.test("who found no room, and who has taken it")
def _(case):
    program = h.build("heap_spill", "heap_spill.c", "-g", "-O1")
    for options in ((), ("-S",)):
        text = growth(case, [program], *options, kinds="heap,leaks", text=True)
        found = h.check_match(
            r"^ +([\d,]+) +([\d,]+) +[\d,]+ +([\d,]+)  brk by passes\n"
            r" +stack \d+ of malloc, which holds nothing: it came when there "
            r"was no room left$", text, "the innocent one")
        h.check(int(found[2].replace(",", "")) > 3000 * 3000 / 2,
                "most of the growth is seen in its name: " + found[2])
        h.check_match(r"brk by leaks\n +stack \d+ of malloc, (LIKELY|POSSIBLY) "
                      r"a leak: it holds 9,000,000 bytes \(8\.6 MiB\) in "
                      r"3,000 blocks$",
                      text, "the leak")


@h.test("a program that begins another one, and a child")
def _(case):
    for options in ((), ("-S",)):
        path = case.path("growth.%p.json")
        result = case.calltrap(
            "heap", "-f", "--growth", "heap,mmap", *options, "--json",
            path, "--", "/bin/sh", "-c", "%s 1; exec %s 1" %
            (grower(), grower("-static", name="heap_grow.static")), log=False)
        result.check_status(0)
        parts = result.err.split("==== growth of process ")[1:]
        h.check_equal(len(parts), 3, "reports:\n" + result.err)
        for part in parts:
            if options or "static" in part.splitlines()[0]:
                h.check_match(r"^ +\+0  remainder$", part, "a program whole")
        h.check_match(r"until it began another program", result.err, "the end")


@h.test("one kind alone")
def _(case):
    _, grown, text = attach(case, "sm", kinds="heap")
    h.check("mmap" not in grown and "---- MAPPINGS" not in text,
            "mappings weren't asked for")
    h.check_match("^---- HEAP EXPANSION", text, "the report")
    h.check_match(r"^ +\+0  remainder$", text, "it adds up all the same")


@h.test("rows by function, line and library")
def _(case):
    for by, regex in (("function", r"^ +819,200 +819,200 +200 +5  "
                       r"grow_map in heap_grow$"),
                      ("line", r"^ +819,200 +819,200 +200 +5  "
                       r"\S*heap_grow\.c:\d+$"),
                      ("library", r"^ +3,977,216 +3,977,216 +971 +8  "
                       r"heap_grow$")):
        _, _, text = attach(case, "mb", "--by", by, kinds="mmap")
        h.check_match(regex, text, "--by " + by)


@h.test("a program without names is named as such, not the C library")
def _(case):
    path = case.path("bare")
    shutil.copy(grower(), path)
    case.run(["strip", path]).check_status(0)
    target = case.start([path])
    h.wait_until(lambda: "step ready" in target.out, "the target")
    tracer = hr.attach(case, target, options=["--growth", "heap,mmap"])
    hr.settle(target, tracer)
    order(target, "sm")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    text = h.read(tracer.report_path)
    for call in ("brk", "mmap"):
        h.check_match(r"^ +[\d,]+ +[\d,]+ +\d+ +\d+  %s by bare$" % call,
                      text, "who calls " + call)
    h.check(" by libc.so" not in text, "the C library is named:\n" + text)


@h.test("what grows within what it has: said, and how to see it")
def _(case):
    source = case.write("within.c", "#include <stdio.h>\n#include <string.h>\n"
                        "static char within[8 << 20];\n"
                        "int main(void)\n{\n\tputs(\"step ready\");\n"
                        "\tfflush(stdout);\n\tgetchar();\n"
                        "\tmemset(within, 1, sizeof(within));\n"
                        "\tputs(\"step done\");\n\tfflush(stdout);\n"
                        "\twhile (getchar() >= 0)\n\t\t;\n}\n")
    path = case.path("within")
    case.run(["gcc", "-o", path, source]).check_status(0)
    for kinds, said in (("heap,mmap", True), ("faults", False)):
        target = case.start([path])
        h.wait_until(lambda: "step ready" in target.out, "the target")
        tracer = hr.attach(case, target, options=["--growth", kinds])
        h.wait_until(lambda: said is False or hr.planted(target.pid), "traps")
        h.settle(target, tracer)
        target.say("x\n")
        h.wait_until(lambda: "step done" in target.out, "the step")
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
        found = re.findall(r"^RSS: \+([\d,]+) bytes \([\d.]+ MiB\): it grows "
                           r"within what it has: --growth faults",
                           h.read(tracer.report_path), re.M)
        h.check_equal(bool(found), said, "the advice with " + kinds)
        h.check(not found or int(found[0].replace(",", "")) >= 8 << 20, "RSS")


@h.test("pictures and folded stacks, a file each")
def _(case):
    done, grown, _ = attach(case, "smb", "--svg", case.path("%k.svg"),
                            "--folded", case.path("%k.folded"))
    for word, title in (("heap", "Heap Expansion Flame Graph"),
                        ("mmap", "mmap() Flame Graph")):
        picture = h.read(case.path(word + ".svg"))
        h.check("<title>%s: " % title in picture, "title of " + word)
        total = grown[word]["bytes"]
        h.check("{:,} bytes that are still there".format(total) in picture,
                "the total of " + word)
        lines = h.read(case.path(word + ".folded")).splitlines()
        h.check_equal(sum(int(line.rsplit(" ", 1)[1]) for line in lines),
                      total, "weights of " + word)
        h.check(all(line.rsplit(" ", 1)[0].split(";")[-1] in
                    ("brk", "mmap", "mremap") for line in lines), "leaves")
    h.check_equal(total, done["grow_map"] + done["grow_big"], "mapped")


@h.test("the leaf stands in a stack once, wherever it was caught")
def _(case):
    for options in ((), ("-S",)):
        attach(case, "m", "--folded", case.path("folded"), *options,
               kinds="mmap")
        stack = h.read(case.path("folded")).split(" ")[0].split(";")
        # As debug information has it, mmap() is __mmap64() too.
        h.check_equal(stack.count("mmap"), 1, "%s in %s" % (options, stack))
        h.check(stack[-1] in ("mmap", "__GI___mmap64", "__mmap64"),
                "the leaf: " + stack[-1])


@h.test("a Go program: all of its memory, by system calls")
def _(case):
    if not shutil.which("go"):
        raise h.Skip("go is not installed")
    directory = h.build_directory("go_growth")
    program = os.path.join(directory, "calls")
    h._execute(["env", "HOME=" + directory, "GO111MODULE=off", "go", "build",
                "-o", program, h.victim("calls.go")], True, directory)
    path = case.path("growth.json")
    case.calltrap("heap", "--growth", "mmap", "-S", "--json", path, "--",
                  program, log=False)
    grown = json.loads(h.read(path))["grown"]
    h.check("runtime.mmap" in str(grown["mmap"]["sites"]),
            "stacks through the runtime")
    h.check_equal(grown["last"]["unseen"], [], "mapped unseen")


@h.test("words that --growth doesn't know, and what doesn't go together")
def _(case):
    for options, regex in (
            (["--growth", "brk"], "--growth 'brk': some of heap"),
            (["--growth", "mmap,"], "--growth '': some of heap"),
            (["--growth", "leaks"], "--growth 'leaks': what else"),
            (["-S"], "-S: is for --growth only"),
            (["--growth", "heap,mmap", "--svg", "a.svg"], "%k"),
            (["--growth", "heap,mmap", "--pprof", "a"], "%k"),
            (["--growth", "mmap", "--callgrind", "a"],
             "--callgrind: has nothing"),
            (["--growth", "mmap", "--by", "size"], "--by: growth is told")):
        result = case.calltrap("heap", *options, "true", log=False)
        h.check_equal(result.status, 2, "exit status of " + " ".join(options))
        h.check(regex in result.err, "message of %s: %s" %
                (" ".join(options), result.err))


@h.test("what nobody could see is in the remainder, by name")
def _(case):
    # No symbol of the C library is left, so nothing is caught.
    program = grower("-static", "-s", name="heap_grow.stripped")
    path = case.path("growth.json")
    result = case.calltrap("heap", "--growth", "heap,mmap", "--json", path,
                           "--", program, "1", log=False)
    h.check("-S watches system calls" in result.err, "advice: " + result.err)
    grown = json.loads(h.read(path))["grown"]
    h.check_equal((grown["heap"]["calls"], grown["mmap"]["calls"]), (0, 0),
                  "calls seen")
    grown = growth(case, [program, "1"], "-S")
    h.check_equal(grown["mmap"]["failed"], 2, "-S: calls that failed")
    check_whole(grown)


h.main()
