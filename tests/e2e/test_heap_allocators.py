#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap heap` on allocators of all kinds, wherever they come from. What
programs hold is what they say themselves."""

import glob
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

UNKNOWN = "frees of what was there before"
NAMES = ("malloc", "calloc", "realloc", "reallocarray", "aligned_alloc",
         "posix_memalign", "memalign", "valloc", "free")
LIBRARIES = {"jemalloc": "libjemalloc.so.2",
             "tcmalloc": "libtcmalloc_minimal.so.4",
             "mimalloc": "libmimalloc.so.2"}


def build(name, *flags, **how):
    return h.build("heap_churn." + name, "heap_churn.c", "-g", "-O1", *flags,
                   "-lpthread", optional=True, **how)


def library(pattern):
    for directory in (h.LIBRARIES, "/usr/lib64", "/usr/lib"):
        found = sorted(glob.glob(os.path.join(directory, pattern)))
        if found:
            return found[0]
    raise h.Skip(pattern + " isn't installed")


def churning(report):
    """The rows of the victim's own calls; an allocator has some of its own."""
    return [row for row in report.rows
            if "act" in row.functions() or "heed" in row.functions()]


def check_held(report, counts):
    rows = churning(report)
    h.check_equal((sum(row.blocks for row in rows),
                   sum(row.bytes for row in rows)),
                  (counts[".blocks"], counts[".bytes"]), "held")
    extra = report.malloc.allocs - counts[".acquired"]
    h.check(0 <= extra <= 30, "%d blocks beside the victim's" % extra)
    extra = report.malloc.frees - counts[".given_back"]
    h.check(0 <= extra <= 30, "%d frees beside the victim's" % extra)
    odd = dict(report.malloc.oddities)
    odd.pop("frees of NULL, which do nothing", None)
    h.check_equal(odd, {"failed": counts[".failed"]}, "oddities")
    h.check_equal(report.lost(), 0, "lost")


def check_program(case, program, env=None):
    result = hr.heap(case, "--top", "0", program, "2", "4000",
                     input_text="cse", env=env)
    result.check_status(0)
    counts = result.counts()
    h.check(counts[".acquired"] > 1000, "the victim works: " + result.out)
    check_held(result.report, counts)
    return result.report


def check_attached(case, program, env=None):
    """Blocks from before are resized and given back."""
    target = case.start([program, "2", "4000"], env=env)
    h.wait_until(lambda: "ready" in target.out, "the target")

    def order(word, answer):
        target.say(word)
        h.wait_until(lambda: answer in target.out or
                     target.popen.poll() is not None, answer)
        h.check_equal(target.popen.poll(), None, "the target's end")
    order("p", "did p")
    tracer = hr.attach(case, target, options=["--top", "0"])
    h.settle(target, tracer)
    order("c", "did c")
    order("s", "said\n")
    report = hr.leave(tracer)
    counts = h.counts_in(target.out)
    rows = churning(report)
    h.check_equal((sum(row.blocks for row in rows),
                   sum(row.bytes for row in rows)),
                  (counts[".blocks"], counts[".bytes"]), "held")
    h.check_equal(report.malloc.odd(UNKNOWN), counts[".old_frees"],
                  "frees of blocks from before")
    h.check_equal(report.malloc.odd("double frees"), 0, "double frees")
    h.check_untouched(target.pid)


def both(name, how):
    """A test from the start, and one attached to; how gives (path, env)."""
    @h.test(name)
    def _(case):
        check_program(case, *how(case))

    @h.test(name + ", attached to")
    def _(case):
        check_attached(case, *how(case))


both("glibc, static", lambda case: (build("static", "-static"), None))
both("musl", lambda case: (build("musl", cc="musl-gcc"), None))
both("musl, static", lambda case: (build("musl_static", "-static",
                                         cc="musl-gcc"), None))
for name, soname in LIBRARIES.items():
    both(name + ", linked", lambda case, soname=soname: (
        build(soname, "-Wl,--no-as-needed", library(soname)), None))
    both(name + ", preloaded", lambda case, soname=soname: (
        build("plain"), {"LD_PRELOAD": library(soname)}))
both("jemalloc, linked statically", lambda case: (
    build("jemalloc_static", library("libjemalloc.a"), "-lm", "-lstdc++",
          "-ldl"), None))
both("tcmalloc, linked statically", lambda case: (
    build("tcmalloc_static", library("libtcmalloc_minimal.a"), "-lstdc++",
          "-lm"), None))


def prefixed(case):
    """jemalloc under the names je_malloc, …, beside the C library's."""
    h.need("objcopy")
    archive = case.path("libje.a")
    renames = [word for name in NAMES
               for word in ("--redefine-sym", "%s=je_%s" % (name, name))]
    status, text = h.command_output(
        ["objcopy", *renames, library("libjemalloc.a"), archive])
    h.check_equal(status, 0, "status of objcopy: " + text)
    source = h.read(h.victim("heap_churn.c"))
    # It has no reallocarray.
    path = case.write("churn.c", source.replace(
        "reallocarray(nothing, size / 3, 3)", "realloc(nothing, size)"))
    return h.build("heap_churn", path, "-g", "-O1", archive, "-lm",
                   "-lstdc++", "-ldl", "-lpthread", "-include",
                   "stdlib.h", "-include", "malloc.h",
                   *["-D%s=je_%s" % (name, name) for name in NAMES
                     if name != "reallocarray"],
                   directory=case.dir, optional=True), None


both("jemalloc with a prefix, beside the C library's malloc", prefixed)


@h.test("stripped and static: says what was looked for")
def _(case):
    path = case.copy(build("static", "-static"), "stripped")
    h.need("strip")
    h.check_equal(h.command_output(["strip", path])[0], 0, "status of strip")
    os.chmod(path, 0o755)
    target = case.start([path, "1", "1000"])
    h.wait_until(lambda: "ready" in target.out, "the target")
    tracer = hr.attach(case, target, options=["--for", "1s"])
    h.check_equal(tracer.wait(), 1, "status of calltrap; " + tracer.err)
    h.check_match(r"^calltrap: no allocator was found: none of \d+ functions "
                  r"\(malloc, .*families: malloc, mappings, program break.*"
                  r"stripped\?$", tracer.err, "the message")
    h.check_equal(target.popen.poll(), None, "the target's end")
    result = hr.heap(case, path, "1", "1000", input_text="ce")
    result.check_status(0)
    h.check_match("no allocator was found", result.err, "the message")


GO = r"^calltrap: the program is Go's, .*--growth .*go tool pprof"


@h.test("stripped, with Go's tables: says what Go has instead")
def _(case):
    path = case.path("tables")
    source = case.write("tables.c", """
        __attribute__((section(".gopclntab"), used)) static const char t = 1;
        void _start(void) {
        #ifdef __aarch64__
            __asm__ volatile("mov x0, 0; mov x8, 94; svc 0");
        #else
            __asm__ volatile("syscall" : : "a"(231), "D"(0) : "rcx", "r11");
        #endif
        }
    """)
    status, said = h.command_output(["gcc", "-nostdlib", "-static", "-s",
                                     "-o", path, source])
    if status:
        raise h.Skip("can't be built here: " + said)
    result = hr.heap(case, path)
    result.check_status(0)
    h.check_match(GO, result.err, "the message")


@h.test("a Go program, whole and stripped: says what Go has instead")
def _(case):
    h.need("go", "strip")
    directory = h.build_directory("allocators-go")
    path = os.path.join(directory, "calls-go")
    environment = dict(os.environ, GOCACHE=os.path.join(directory, "cache"),
                       GO111MODULE="off", GOFLAGS="", CGO_ENABLED="0")
    done = subprocess.run(["go", "build", "-o", path, h.victim("stacks.go")],
                          env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600)
    if done.returncode:
        raise h.Skip("go can't build here: %s" % done.stdout.decode())
    for strip in (False, True):
        if strip:
            h.check_equal(h.command_output(["strip", path])[0], 0, "strip")
        result = hr.heap(case, path)
        result.check_status(0)
        h.check_match(GO, result.err, "the message, strip: %s" % strip)
        h.check("is it stripped" not in result.err, result.err)


@h.test("the dynamic linker's own malloc isn't counted, the C library's is")
def _(case):
    directory = h.build_directory("heap_loader")
    h.build_library("libheap.so", "libheap.c", "-g", directory=directory)
    program = h.build("heap_loader", "heap_loader.c", "-g", "-O1", "-ldl",
                      directory=directory)
    result = hr.heap(case, "--top", "0", program,
                     os.path.join(directory, "libheap.so"))
    result.check_status(0)
    report, counts = result.report, result.counts()
    row = report.row("malloc by lib_keep$")
    h.check_equal((row.blocks, row.bytes), (counts["blocks"],
                                            counts["bytes"]), "held")
    h.check_equal(row.frames()[0][3], "libheap.so", "whose call it is")
    h.check_equal(report.malloc.odd("frees of what was never acquired"), 0,
                  "frees of blocks of the dynamic linker's first malloc")
    h.check_equal([found for (name, _), found in report.calls.items()
                   if name == "malloc" and found[1]], [], "failures")


@h.test("the same library, loaded into a program that was attached to")
def _(case):
    directory = h.build_directory("heap_loader")
    h.build_library("libheap.so", "libheap.c", "-g", directory=directory)
    program = h.build("heap_loader", "heap_loader.c", "-g", "-O1", "-ldl",
                      directory=directory)
    target = case.start([program, os.path.join(directory, "libheap.so"), "w"])
    h.wait_until(lambda: "ready" in target.out, "the target")
    tracer = hr.attach(case, target, options=["--top", "0"])
    h.settle(target, tracer)
    target.say("x")
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    report = hr.only_report(h.read(tracer.report_path))
    counts = h.counts_in(target.out)
    row = report.row("malloc by lib_keep$")
    h.check_equal((row.blocks, row.bytes), (counts["blocks"],
                                            counts["bytes"]), "held")
    h.check_equal(sorted((row.blocks, row.bytes, row.acquired, row.given_back)
                         for row in report.rows
                         if row.what == "je_malloc by pool_keep"),
                  [(0, 0, 1, 1), (7, 700, 7, 0)],
                  "the library's own je_malloc: given back, held")


@h.test("memory straight from the kernel: mmap, munmap, mremap, brk, sbrk")
def _(case):
    program = h.build("heap_maps", "heap_maps.c", "-g", "-O1")
    result = hr.heap(case, "--top", "0", program)
    result.check_status(0)
    report, counts = result.report, result.counts()
    mappings = report.totals["mappings"]
    h.check_equal(mappings.bytes, counts["mapped"], "mapped")
    h.check_equal(mappings.peak, counts["peak"], "mapped at most")
    h.check_equal(report.totals["program break"].bytes, counts["broken"],
                  "program break")
    h.check_equal(report.row("mmap by keep_half").bytes, counts["half"],
                  "of a mapping whose middle was unmapped")
    h.check_equal(report.malloc.bytes, counts["malloc"], "malloc")


if __name__ == "__main__":
    sys.exit(h.main())
