#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Replays: that they do what was recorded, with the allocator that was asked
for and no other, and what is measured."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402

ALLOCATORS = ("libjemalloc.so.2", "libtcmalloc_minimal.so.4",
              "libmimalloc.so.2.0")
MIB = 1 << 20


def replay(path, *arguments, status=0, **more):
    if h.has_sanitizer():
        raise h.Skip("the sanitizer's allocator is in the way of others")
    done = subprocess.run([h.CALLTRAP, "replay", path, *arguments],
                          capture_output=True, text=True, timeout=300, **more)
    h.check_equal(done.returncode, status, done.stderr)
    return done


def results(case, path, *arguments):
    file = case.path("replay.json")
    done = replay(path, "--json", file, *arguments)
    h.check("wall" in done.stdout and "peak RSS" in done.stdout, done.stdout)
    return json.loads(h.read(file))


def record(case, *command):
    path = case.path("recording")
    done = subprocess.run([h.CALLTRAP, "record", "-o", path, "--", *command],
                          capture_output=True, text=True, timeout=300)
    h.check_equal(done.returncode, 0, done.stderr)
    return path


def text_recording(case, text):
    """What is told by a text, which is known to the call."""
    with open(case.path("text"), "w", encoding="ascii") as file:
        file.write(text)
    path = case.path("recording")
    subprocess.run([h.CALLTRAP, "convert", case.path("text"), "--to",
                    "recording", "-o", path], check=True, timeout=60,
                   capture_output=True)
    return path


def installed(name):
    """Not by dlopen(): some have too large a part that is in each thread."""
    done = subprocess.run(["true"], env={**os.environ, "LD_PRELOAD": name},
                          capture_output=True, timeout=60, check=False)
    return not done.stderr


def library(case, name, source):
    path = case.path(name)
    with open(path + ".c", "w", encoding="ascii") as file:
        file.write(source)
    return h.build(name, path + ".c", "-shared", "-fPIC",
                   directory=os.path.dirname(path))


def csv_operations(path):
    """The calls of malloc's family, as another reader of them counts."""
    done = subprocess.run([h.CALLTRAP, "convert", path, "--to", "csv"],
                          capture_output=True, text=True, timeout=300)
    names = {"malloc", "calloc", "realloc", "free", "posix_memalign"}
    counts = dict.fromkeys(names, 0)
    for line in done.stdout.splitlines():
        name = line.split(",")[4].strip('"')
        name = "malloc" if name.startswith("_Zn") else name
        name = "free" if name.startswith("_Zd") else name
        if name in counts:
            counts[name] += 1
    return counts


def check_operations(found, path):
    wanted = csv_operations(path)
    h.check_equal(found["operations"], sum(wanted.values()), "all operations")
    for own in found["allocators"]:
        h.check_equal(own["operations"]["least"], found["operations"],
                      own["name"])
        h.check_equal(own["operations"]["most"], found["operations"],
                      own["name"])
        h.check_equal(own["failed"]["most"], 0, own["name"])
        for name, function in own["functions"].items():
            h.check_equal(function["operations"], wanted[name], name)
            h.check(function["p50_ns"]["median"] <=
                    function["p99_ns"]["median"] <=
                    function["max_ns"]["median"], f"{own['name']} {name}")


@h.test("the operations are the recording's, with threads that hand on blocks")
def operations(case):
    program = h.build("handover", "handover.c", "-g", "-O1", "-pthread")
    path = record(case, program, "800", "4")
    found = results(case, path, "--runs", "2")
    h.check_equal([own["name"] for own in found["allocators"]], ["libc"],
                  "allocators")
    check_operations(found, path)
    h.check_equal(found["threads"], 7, "threads")
    # Each block is given back or resized by another; the result of a resize
    # is its own.
    h.check(found["handed_over"] >= 800, f"{found['handed_over']} handed over")
    h.check_equal(found["skipped"], 0, "skipped")
    # Those four came one after the other: their blocks were never together.
    h.check(MIB <= found["ideal_peak_bytes"] < 2 * MIB,
            f"ideal peak {found['ideal_peak_bytes']}")
    peak = found["allocators"][0]["peak_rss_bytes"]["most"]
    h.check(peak < 4 * MIB, f"peak {peak}")


@h.test("C++, in threads")
def operators(case):
    program = h.build("recorded", "recorded.cc", "-g", "-O1", "-pthread",
                      cc="g++")
    path = record(case, program, "3", "60")
    check_operations(results(case, path, "--runs", "1"), path)


def allocator(name):
    @h.test(f"{name} does what the C library's allocator does")
    def with_allocator(case):
        if not installed(name):
            raise h.Skip(f"{name} isn't installed")
        program = h.build("handover", "handover.c", "-g", "-O1", "-pthread")
        path = record(case, program, "400", "2")
        found = results(case, path, "--with", name, "--runs", "1")
        h.check_equal([own["name"] for own in found["allocators"]],
                      ["libc", name], "allocators")
        check_operations(found, path)


for each in ALLOCATORS:
    allocator(each)


COUNTING = """
#include <stddef.h>
#include <unistd.h>
void *__libc_malloc(size_t); void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t); void __libc_free(void *);
static long calls;
void *malloc(size_t n) { calls++; return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { return __libc_realloc(p, n); }
"""


@h.test("a library that isn't the allocator that answers is refused")
def refused(case):
    path = text_recording(case, "m 1 100\nf 1\n")
    none = library(case, "none.so", "int nothing;\n")
    done = replay(path, "--with", none, status=1)
    h.check("malloc() doesn't answer" in done.stderr, done.stderr)
    h.check_equal(done.stdout, "", "table")
    half = library(case, "half.so", COUNTING)
    done = replay(path, "--with", half, status=1)
    h.check("free() doesn't answer" in done.stderr, done.stderr)
    for wrong, words in ((case.path("missing.so"), "can't be read"),
                         ("libmissing.so.7", "doesn't answer"),
                         (case.path("recording"), "doesn't answer")):
        done = replay(path, "--with", wrong, status=1)
        h.check(words in done.stderr, done.stderr)


@h.test("an allocator that crashes, or has no memory, is told of")
def crashing(case):
    path = text_recording(case, "m 1 100\nm 2 77777\nf 1\nf 2\n")
    source = COUNTING + "void free(void *p) { __libc_free(p); }\n"
    crash = library(case, "crash.so", source.replace(
        "calls++;", "if (n == 77777) __builtin_trap();"))
    done = replay(path, "--with", crash, status=1)
    h.check("crash.so: can't be tried: the process was ended by signal" in
            done.stderr, done.stderr)
    poor = library(case, "poor.so", source.replace(
        "calls++;", "if (n == 77777) return NULL;"))
    found = results(case, path, "--with", poor, "--runs", "1")
    h.check_equal([own["failed"]["median"] for own in found["allocators"]],
                  [0, 1], "failed")


@h.test("memory is counted: touched or not, at most and at the end")
def memory(case):
    text = "".join(f"m {i} {MIB}\n" for i in range(1, 65))
    text += "".join(f"f {i}\n" for i in range(1, 49))
    path = text_recording(case, text)
    found = results(case, path, "--runs", "1")
    own = found["allocators"][0]
    h.check_equal(found["ideal_peak_bytes"], 64 * MIB, "ideal peak")
    h.check_equal(found["ideal_final_bytes"], 16 * MIB, "ideal end")
    h.check(63 * MIB < own["peak_rss_bytes"]["median"] < 68 * MIB,
            f"peak {own['peak_rss_bytes']}")
    h.check(own["final_rss_bytes"]["median"] >= 15 * MIB,
            f"end {own['final_rss_bytes']}")
    h.check(own["minor_faults"]["median"] >= 16, f"{own['minor_faults']}")
    found = results(case, path, "--runs", "1", "--touch", "none")
    own = found["allocators"][0]
    h.check(own["peak_rss_bytes"]["median"] < 8 * MIB,
            f"untouched: peak {own['peak_rss_bytes']}")


NAPPER = """
#include <stdlib.h>
#include <time.h>
int main(void)
{
	for (int i = 0; i < 8; i++) {
		free(malloc(100 + i));
		nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
	}
	return 0;
}
"""


@h.test("pauses are left out, or kept")
def pace(case):
    with open(case.path("napper.c"), "w", encoding="ascii") as file:
        file.write(NAPPER)
    program = h.build("napper", case.path("napper.c"), "-O0",
                      directory=case.path(""))
    path = record(case, program)
    found = results(case, path, "--runs", "1", "--pace")
    span = found["recorded_ns"]
    h.check(span >= 7 * 50e6, f"recorded in {span} ns")
    h.check_equal(found["pace"], True, "pace")
    own = found["allocators"][0]
    # What takes longest is no call, and no call begins before its time.
    h.check(own["wall_ns"]["median"] >= span - 1e6,
            f"{own['wall_ns']}, recorded in {span}")
    check_operations(found, path)
    hasty = results(case, path, "--runs", "3")
    h.check_equal(hasty["pace"], False, "pace")
    h.check(hasty["allocators"][0]["wall_ns"]["least"] < span / 2,
            f"{hasty['allocators'][0]['wall_ns']}, recorded in {span}")


@h.test("what is freed but was acquired before is skipped and counted")
def skipped(case):
    path = text_recording(case, "m 1 100\nf 7\nr 9 8 50\nf 1\nf 9\n")
    found = results(case, path, "--runs", "1")
    h.check_equal(found["skipped"], 1, "skipped")
    h.check_equal(found["adopted"], 1, "resized from before")
    h.check_equal(found["operations"], 4, "operations")


@h.test("a recording that was cut is replayed as far as it goes")
def cut(case):
    program = h.build("handover", "handover.c", "-g", "-O1", "-pthread")
    # More than one block has, however fast they come.
    path = text_recording(case, "".join(f"m {i} 16\nf {i}\n"
                                        for i in range(1, 80001)))
    with open(path, "rb") as file:
        whole = file.read()
    with open(path, "wb") as file:
        file.write(whole[:len(whole) * 2 // 3])
    done = replay(path, "--runs", "1", "--json", case.path("cut.json"))
    h.check("ends early" in done.stderr, done.stderr)
    found = json.loads(h.read(case.path("cut.json")))
    h.check(0 < found["operations"] < 160000, str(found["operations"]))
    with open(path, "wb") as file:
        file.write(whole[:200] + bytes([whole[200] ^ 255]) + whole[201:])
    done = replay(path, status=1)
    h.check("byte " in done.stderr, done.stderr)
    done = replay(program, status=1)
    h.check("byte 0" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(h.main())
