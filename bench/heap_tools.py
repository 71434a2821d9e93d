#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What it costs to watch every allocation: programs are run alone, under calltrap
heap by each engine, by samples, under heaptrack, bcc's memleak (by root) and (once)
valgrind, in turn, until there are enough rounds or the minutes are over.
Printed for each are medians (lowest to highest) of: requests a second and the
99th percentile of their times, ms (at a rate: 20,000 requests a second, and times
since each was due); nanoseconds of a malloc and of a free;
processor seconds of the program, and of all else; resident memory of all else, or
at its most of the largest process, MiB; seconds, and processor seconds of all, and
those that it takes further until there is something to read, where a run leaves
but a file; calls that weren't seen. What takes longer than --patience is ended; whether
the program died is told, and so is a memleak that saw nothing. memleak is attached: to
servers when they are ready, to others before they begin, which isn't counted; it reports
each five seconds; its memory is with what the kernel keeps for it. Who stops or slows
a server at each call has a part of the requests, and its processor seconds are told as
if it had had all. What isn't installed, or can't attach, is left out. A machine that
does other things as well makes times longer for all.
"""

import argparse
import collections
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
static unsigned rounds;
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
        rounds = atoi(argv[argc - 2]) < ROUNDS ? atoi(argv[argc - 2]) : ROUNDS;
        for (unsigned round = 0; round < rounds; round++) {
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
                qsort(taken[i], rounds, sizeof(double), compare);
                fprintf(file, "%f ", taken[i][rounds / 2]);
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
    "memleak": None,  # see class Memleak
}
ONCE = "valgrind"  # it is slow, and hardly varies

# Of a server's requests each has one in so many.
PART = {"trap": 50, "memleak": 5, "valgrind": 10}


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
    ended = wait_for(started, patience)
    return ended and ended.usage.ru_utime + ended.usage.ru_stime


def launch(command):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL)


def start(tool, directory, program):
    return launch(TOOLS[tool](directory, program) if TOOLS[tool] else program)


def attach(tool, directory, pid):
    return Memleak(directory, pid) if tool == "memleak" else None


def start_watched(tool, directory, program):
    """The program, and what is attached to it before it has begun, or None."""
    if TOOLS[tool]:
        return start(tool, directory, program), None
    started = servers.launch_stopped(program, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
    return started, attach(tool, directory, started.pid)


def go_on(started):
    os.kill(started.pid, signal.SIGCONT)
    return time.monotonic()


class Memleak:
    def __init__(self, directory, pid):
        self.directory = directory
        self.process = launch(["/usr/bin/python3",
                               os.path.join(HERE, "memleak.py"), memleak(),
                               str(pid), servers.allocator_of(pid) or "c",
                               directory])
        servers.until(lambda: self.is_attached() or self.process.poll()
                      is not None)

    def is_attached(self):
        return os.path.exists(os.path.join(self.directory, "attached"))

    def memory(self):
        """What lies in its tables is no part of what is resident."""
        total = memory_of([self.process.pid])
        for path in glob.glob("/proc/%d/fdinfo/*" % self.process.pid):
            with open(path) as file:
                found = re.search(r"^memlock:\s*(\d+)", file.read(), re.M)
            total += int(found[1]) if found else 0
        return total

    def end(self):
        """What it has used, and whether it has seen anything."""
        if self.process.poll() is not None:
            return {"blind": True}
        memory = self.memory()
        self.process.send_signal(signal.SIGINT)
        usage = os.wait4(self.process.pid, 0)[2]
        try:
            with open(os.path.join(self.directory, "stacks")) as file:
                stacks = int(file.read())
        except FileNotFoundError:
            stacks = 0
        return {"else": usage.ru_utime + usage.ru_stime, "memory":
                memory / 2**20, "blind": not stacks}


def memleak():
    return shutil.which("memleak-bpfcc") or shutil.which("memleak")


def can_attach():
    if os.geteuid() or not memleak():
        return False
    with tempfile.TemporaryDirectory() as directory:
        sleeper = launch(["sleep", "1000"])
        watcher = Memleak(directory, sleeper.pid)
        can = watcher.is_attached()
        if can:
            watcher.end()
        end(sleeper)
    return can


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
        watcher = attach(tool, directory, pid)
        try:
            return serve(server, pid, started, watcher,
                         PART.get(tool, 1), options)
        except servers.Failed:
            died = servers.is_dead(pid)
            if watcher:
                watcher.end()
            end(started)
            return {"died": died}
    return measure


def serve(server, pid, started, watcher, part, options):
    server.patience = options.patience
    server.load(1000 // part)
    before = stat_of(pid)[1]
    found = server.load(options.requests // part)
    others = [one for one in family_of(started.pid) if one != pid]
    total = stat_of(pid)[1]
    found["program"] = (total - before) * part
    found["memory"] = memory_of(others) / 2**20
    if watcher:
        found.update(watcher.end())
    server.patience = None
    server.stop(pid)
    _, status, usage = os.wait4(started.pid, 0)
    found["died"] = os.WIFSIGNALED(status)
    if not watcher:
        found["else"] = max(usage.ru_utime + usage.ru_stime - total, 0)
    return found


Ended = collections.namedtuple("Ended", "died usage")


def wait_for(started, patience):
    """What it has used, or None: it took longer, and was ended."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        pid, status, usage = os.wait4(started.pid, os.WNOHANG)
        if pid:
            return Ended(os.WIFSIGNALED(status) or
                         os.WEXITSTATUS(status) > 128, usage)
        time.sleep(0.005)
    end(started)
    return None


def to_the_end(program):
    """How long it takes in all; what is the tool's isn't told from its own."""
    def run(tool, directory, options):
        began = time.monotonic()
        started, watcher = start_watched(tool, directory, program(options))
        if watcher:
            began = go_on(started)
        ended = wait_for(started, options.patience)
        seconds = time.monotonic() - began
        watched = watcher.end() if watcher else {}
        if not ended:
            return {}
        return {"seconds": seconds, "died": ended.died,
                "blind": watched.get("blind"),
                "largest": max(ended.usage.ru_maxrss / 1024,
                               watched.get("memory", 0)),
                "all": ended.usage.ru_utime + ended.usage.ru_stime +
                       watched.get("else", 0)}
    return run


def pairs(tool, directory, options):
    path = os.path.join(directory, "pairs")
    rounds = str(4000 // PART.get(tool, 1))
    started, watcher = start_watched(tool, directory,
                                     [options.pairs, rounds, path])
    if watcher:
        go_on(started)
    ended = wait_for(started, options.patience)
    watched = watcher.end() if watcher else {}
    if not ended or ended.died:
        return {"died": bool(ended)}
    with open(path) as file:
        acquired, released = map(float, file.read().split())
    return {"malloc": acquired, "free": released,
            "blind": watched.get("blind")}


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
    "redis at a rate": served("redis at a rate"),
    "nginx at a rate": served("nginx at a rate"),
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
            (tool != "memleak" or options.memleak) and
            (tool != ONCE or not number)]


def measure(directory, options):
    """In turns, so that what else the machine does comes to all alike."""
    rounds, until = {}, time.monotonic() + 60 * options.minutes
    for number in range(options.rounds):
        for name in filter(is_there, options.names):
            for tool in tools_of(number, options):
                if time.monotonic() > until:
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
    died, blind = (sum(bool(one.get(key)) for one in found)
                   for key in ("died", "blind"))
    if len(line) == 1 and not died:
        line.append("not within %g s" % options.patience)
    if died:
        line.append("the program died: %d of %d" % (died, len(found)))
    if blind:
        line.append("nothing was seen: %d of %d" % (blind, len(found)))
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
    options.memleak = "memleak" in options.tools.split(",") and can_attach()
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
