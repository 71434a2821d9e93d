#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What it costs to watch every allocation: programs are run alone, under calltrap
heap by each engine, by samples, under heaptrack and (once, as long as --patience
lasts) valgrind, in turn, until there are enough rounds or the minutes are over.
Printed for each are medians (lowest to highest) of: requests a second and the
99th percentile of their times, ms; nanoseconds of a malloc and of a free;
processor seconds of the program, and of all else; resident memory of all else, or
at its most of the largest process, MiB; seconds, and processor seconds of all, and
those that it takes further until there is something to read, where a run leaves
but a file; calls that weren't seen. What isn't installed is left out. A machine that does
other things as well makes times longer for all.
"""

import argparse
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import servers
from servers import family_of, memory_of, show, stat_of

HERE = os.path.dirname(os.path.abspath(__file__))
CALLTRAP = os.path.abspath(os.environ.get("CALLTRAP") or
                           os.path.join(HERE, "..", "calltrap"))

PYTHON = """
import json, sys
text = json.dumps([{'a': i, 'b': str(i)} for i in range(100)])
for _ in range(int(sys.argv[1])):
    json.dumps(json.loads(text))
"""

NODE = """
let kept = [];
for (let i = 0; i < +process.argv[1]; i++) {
    kept[i % 500] = Buffer.alloc(2000 + i % 7000);
    JSON.stringify(JSON.parse('{"a": [1, 2, ' + i + ']}'));
}
"""

GO = """
package main

// #include <stdlib.h>
import "C"
import (
	"os"
	"strconv"
	"sync"
	"unsafe"
)

func main() {
	rounds, _ := strconv.Atoi(os.Args[len(os.Args)-1])
	var crew sync.WaitGroup
	for i := 0; i < 4; i++ {
		crew.Add(1)
		go func() {
			defer crew.Done()
			for i := 0; i < rounds; i++ {
				text := C.CString(strconv.Itoa(i))
				C.free(C.malloc(C.size_t(16 + i%1000)))
				C.free(unsafe.Pointer(text))
			}
		}()
	}
	crew.Wait()
}
"""

CXX = """
#include <map>
#include <regex>
#include <string>
int main() { std::map<std::string, std::regex> m; return m.size(); }
"""

# Median nanoseconds of a malloc and a free, of a thousand each at a time.
PAIRS = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#define ROUNDS 4000
#define BLOCKS 1000
static void *blocks[BLOCKS];
static double taken[2][ROUNDS];
static double now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return t.tv_sec * 1e9 + t.tv_nsec;
}
static int compare(const void *a, const void *b)
{
        return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b);
}
int main(int argc, char **argv)
{
        FILE *file = fopen(argv[argc - 1], "w");
        for (unsigned round = 0; round < ROUNDS; round++) {
                double begun = now(), half;
                for (unsigned i = 0; i < BLOCKS; i++)
                        blocks[i] = malloc(48);
                half = now();
                for (unsigned i = 0; i < BLOCKS; i++)
                        free(blocks[i]);
                taken[0][round] = (half - begun) / BLOCKS;
                taken[1][round] = (now() - half) / BLOCKS;
        }
        for (unsigned i = 0; i < 2; i++) {
                qsort(taken[i], ROUNDS, sizeof(double), compare);
                fprintf(file, "%f ", taken[i][ROUNDS / 2]);
        }
        return fclose(file);
}
"""

STORM = r"""
#include <pthread.h>
#include <stdlib.h>
#define OWN 256
static unsigned long rounds;
static __attribute__((noinline)) void *deep(unsigned depth, size_t size)
{
        volatile char here = (char)depth;
        void *block = depth ? deep(depth - 1, size) : malloc(size);
        here++;
        return block;
}
static void *work(void *argument)
{
        unsigned seed = (unsigned)(size_t)argument;
        void *own[OWN] = { 0 };
        for (unsigned long i = 0; i < rounds; i++) {
                unsigned which = (seed = seed * 1103515245 + 12345) >> 8;
                free(own[which % OWN]);
                own[which % OWN] = deep(which % 8, 16 + which % 200);
        }
        for (unsigned i = 0; i < OWN; i++)
                free(own[i]);
        return NULL;
}
int main(int argc, char **argv)
{
        pthread_t crew[16];
        rounds = strtoul(argv[argc - 1], NULL, 10);
        for (size_t i = 0; i < 16; i++)
                pthread_create(&crew[i], NULL, work, (void *)(i + 1));
        for (size_t i = 0; i < 16; i++)
                pthread_join(crew[i], NULL);
        return 0;
}
"""


# ---- tools ----

def calltrap(engine, *options):
    def command(directory, program):
        return [CALLTRAP, "heap", "--engine=" + engine, *options, "-o",
                os.path.join(directory, "report"), *program]
    return command


def heaptrack(directory, program):
    return ["heaptrack", "-o", os.path.join(directory, "heaptrack"), *program]


TOOLS = {
    "none": lambda directory, program: program,
    "agent": calltrap("agent"),
    "sample": calltrap("agent", "--sample=512k"),
    "trap": calltrap("trap"),
    "heaptrack": heaptrack,
    "valgrind": lambda directory, program: ["valgrind", "-q", "--leak-check=no",
                                            *program],
}
ONCE = "valgrind"  # it is slow, and hardly varies


def lost_of(directory):
    """What calltrap says; other tools don't."""
    try:
        with open(os.path.join(directory, "report")) as file:
            found = re.search(r"calls lost: ([\d,]+)", file.read())
    except OSError:
        return None
    return int(found[1].replace(",", "")) if found else None


def read(tool, directory, patience):
    """Processor seconds, where the run has made no report."""
    files = glob.glob(os.path.join(directory, "heaptrack.*"))
    if tool != "heaptrack" or not files:
        return None
    started = subprocess.Popen(["heaptrack_print", "-f", files[0]],
                               stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    usage = wait_for(started, patience)
    return usage.ru_utime + usage.ru_stime if usage else None


def start(tool, directory, program):
    return subprocess.Popen(TOOLS[tool](directory, program),
                            stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def end(started):
    """With all that it has started."""
    for pid in reversed(family_of(started.pid)):
        os.kill(pid, signal.SIGKILL)
    started.wait()


# ---- programs ----

def served(name):
    def measure(tool, directory, options):
        server = servers.SERVERS[name](directory)
        started = start(tool, directory, server.argv)
        try:
            pid = server.wait()
        except servers.NotReady:
            end(started)
            return {}
        server.load(1000)
        before = stat_of(pid)[1]
        found = server.load(options.requests)
        others = [one for one in family_of(started.pid) if one != pid]
        total = stat_of(pid)[1]
        found["program"] = total - before
        found["memory"] = memory_of(others) / 2**20
        server.stop(pid)
        usage = os.wait4(started.pid, 0)[2]
        found["else"] = max(usage.ru_utime + usage.ru_stime - total, 0)
        return found
    return measure


def wait_for(started, patience):
    """What it has used, or None: it took longer, and was ended."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        pid, _, usage = os.wait4(started.pid, os.WNOHANG)
        if pid:
            return usage
        time.sleep(0.005)
    started.kill()
    os.wait4(started.pid, 0)
    return None


def to_the_end(program):
    """How long it takes in all; what is the tool's isn't told from its own."""
    def run(tool, directory, options):
        began = time.monotonic()
        started = start(tool, directory, program(options))
        usage = wait_for(started, options.patience)
        if not usage:
            return {}
        return {"seconds": time.monotonic() - began,
                "largest": usage.ru_maxrss / 1024,
                "all": usage.ru_utime + usage.ru_stime}
    return run


def pairs(tool, directory, options):
    path = os.path.join(directory, "pairs")
    started = start(tool, directory, [options.pairs, path])
    if not wait_for(started, options.patience):
        return {}
    with open(path) as file:
        acquired, released = map(float, file.read().split())
    return {"malloc": acquired, "free": released}


def python(options):
    return ["/usr/bin/python3", "-c", PYTHON, str(options.requests // 500)]


def cc1plus(options):
    program = subprocess.run(["g++", "-print-prog-name=cc1plus"],
                             stdout=subprocess.PIPE,
                             universal_newlines=True).stdout.strip()
    return [program, "-quiet", "-O1", options.source, "-o", "/dev/null"]


def node(options):
    return ["node", "-e", NODE, str(4 * options.requests)]


def go(options):
    return [options.go, str(options.requests)]


def storm(options):
    return [options.storm, str(options.requests)]


PROGRAMS = {
    "redis -P 1": served("redis -P 1"),
    "redis -P 16": served("redis -P 16"),
    "nginx": served("nginx"),
    "malloc and free": pairs,
    "python3": to_the_end(python),
    "storm, 16 threads": to_the_end(storm),
    "cc1plus": to_the_end(cc1plus),
    "mariadbd": served("mariadbd"),
    "node": to_the_end(node),
    "go, cgo": to_the_end(go),
}
COLUMNS = ["rate", "p99", "malloc", "free", "program", "else", "memory", "seconds",
           "all", "read", "largest", "lost"]


def build(directory, name, text):
    path = os.path.join(directory, name)
    with open(path + ".c", "w") as file:
        file.write(text)
    subprocess.run(["cc", "-O1", "-g", "-fno-builtin", "-pthread", path + ".c",
                    "-o", path], check=True)
    return path


def build_go(directory):
    path = os.path.join(directory, "cgo")
    with open(path + ".go", "w") as file:
        file.write(GO)
    subprocess.run(["go", "build", "-o", path, path + ".go"], check=True,
                   env={**os.environ, "GOCACHE": directory + "/go",
                        "GO111MODULE": "off"})
    return path


def prepare(directory, options):
    options.storm = build(directory, "storm", STORM)
    options.pairs = build(directory, "pairs", PAIRS)
    if shutil.which("go"):
        options.go = build_go(directory)
    with open(os.path.join(directory, "t.cpp"), "w") as file:
        file.write(CXX)
    options.source = os.path.join(directory, "t.ii")
    subprocess.run(["g++", "-E", file.name, "-o", options.source], check=True)


def is_there(name):
    if name in servers.SERVERS:
        return servers.is_installed(name)
    return bool(shutil.which({"node": "node", "go,": "go"}.get(name.split()[0],
                                                               "cc")))


def tools_of(number, options):
    return [tool for tool in options.tools.split(",")
            if (tool not in ("heaptrack", "valgrind") or shutil.which(tool)) and
            (tool != ONCE or not number)]


def measure(directory, options):
    """In turns, so that what else the machine does comes to all alike."""
    rounds, end = {}, time.monotonic() + 60 * options.minutes
    for number in range(options.rounds):
        for name in filter(is_there, options.names):
            for tool in tools_of(number, options):
                if time.monotonic() > end:
                    return rounds
                with tempfile.TemporaryDirectory(dir=directory) as own:
                    found = PROGRAMS[name](tool, own, options)
                    found["lost"] = lost_of(own)
                    found["read"] = read(tool, own, options.patience)
                rounds.setdefault((name, tool), []).append(found)
    return rounds


def print_line(name, tool, found, options):
    line = ["%-18s%-10s" % (name, tool)]
    for column in COLUMNS:
        numbers = [one[column] for one in found if one.get(column) is not None]
        if numbers:
            line.append("%s %s" % (column, show(numbers)))
    if len(line) == 1:
        line.append("not within %g s" %
                    (60 if name in servers.SERVERS else options.patience))
    print("  ".join(line), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=1e6)
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--requests", type=int, default=50000)
    parser.add_argument("--tools", default=",".join(TOOLS))
    parser.add_argument("--json", help="all rounds, there")
    parser.add_argument("names", nargs="*", default=list(PROGRAMS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="calltrap-bench.") as directory:
        prepare(directory, options)
        rounds = measure(directory, options)
    for (name, tool), found in rounds.items():
        print_line(name, tool, found, options)
    if options.json:
        with open(options.json, "w") as file:
            json.dump([[*key, value] for key, value in rounds.items()], file)


if __name__ == "__main__":
    main()
