#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What calltrap or its target may have is used up: descriptors, memory, stack,
mappings. The target lives, and what is said is true."""

import gzip
import json
import os
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

CHILDREN = int(os.environ.get("CHILDREN") or 100)
ROUNDS = os.environ.get("ROUNDS")
FILES = int(os.environ.get("FILES") or 64)


def rounds(otherwise):
    return range(int(ROUNDS or otherwise))


def program(name, *flags):
    directory = h.build_directory("limits")
    h.build_library("libt.so", "libt.c", directory=directory)
    return h.build(name, name + ".c", "-O1", *flags, *h.near(directory), "-lt",
                   directory=directory)


# ---------------------------------------------------------------- descriptors

def limited(case, limits, *arguments):
    """calltrap, with what ulimit says (the hard limit as well)."""
    path = case.path("log.%d" % case.number())
    tracer = case.start(["bash", "-c", 'ulimit %s; exec "$0" "$@"' % limits,
                         h.CALLTRAP, "-o", path, *arguments])
    tracer.log_path = path
    return tracer


def swarm(case, options, generations):
    target = case.start([program("swarm"), str(CHILDREN)])
    h.wait_until(lambda: "ready" in target.out, "the target")
    tracer = limited(case, "-n %d" % FILES, *options, "-x", "f1", "-p",
                     str(target.pid))
    h.wait_until(lambda: "f1@" in h.read(tracer.log_path) or
                 tracer.popen.poll() is not None, "calls")
    for i in range(generations):
        target.say("g")
        h.wait_until(lambda: target.out.count("live") > i or
                     target.popen.poll() is not None, "the children")
    h.check("\n%d live" % CHILDREN in target.out, "target: " + target.out)
    time.sleep(0.2)
    tracer.popen.send_signal(signal.SIGINT)
    status = tracer.wait()
    time.sleep(0.3)
    target.say("q")
    h.check_equal((target.wait(), target.out.splitlines()[-1]),
                  (7, "0 live, 0 have died"), "target; calltrap said: " +
                  h.shorten(tracer.err))
    h.check_equal(status, 0, "status of calltrap: " + tracer.err)
    return tracer


def swarms(case, options):
    """Returns what calltrap has said in each round."""
    said = [swarm(case, options, 3).err for _ in rounds(1)]
    print("# %d rounds, 3 times %d children, 0 deaths" % (len(said), CHILDREN))
    return said


@h.test("children that live, more than there are descriptors: followed",
        users=True)
def many_followed(case):
    for said in swarms(case, ["-f"]):
        h.check("could not be followed" in said, "said: " + said)


@h.test("children that live, more than there are descriptors: not followed")
def many_unfollowed(case):
    for said in swarms(case, []):
        h.check("could not be followed" not in said, "said: " + said)


@h.test("eight descriptors: that is what is said")
def few_descriptors(case):
    for arguments in (["-x", "f1"], ["heap"]):
        result = case.run(["bash", "-c", 'ulimit -n 8; exec "$0" "$@"',
                           h.CALLTRAP, *arguments, "true"])
        result.check_status(1)
        h.check_equal(result.messages(), [
            "calltrap: only 8 descriptors may be had (ulimit -n): calltrap "
            "needs 32"], "messages")


# ---------------------------------------------------------------- stack

@h.test("a stack of 64 KiB", users=True)
def small_stack(case):
    for arguments in (["-f", "-w", "20", "-e", "*", "-o", "log"],
                      ["heap", "-o", "log"],
                      ["heap", "--pprof", "profile", "-o", "log"],
                      ["heap", "--svg", "picture", "-o", "log"],
                      ["heap", "--json", "json", "-o", "log"]):
        result = case.run(["bash", "-c", 'ulimit -s 64; exec "$0" "$@"',
                           h.CALLTRAP, *arguments, "ls", "/"])
        result.check_status(0)
        h.check("bin" in result.out, "the program's output: " + result.out)
        h.check(h.read(case.path("log")), "no log with " +
                " ".join(arguments))


# ---------------------------------------------------------------- memory

PEAK = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], capture_output=True, text=True)
print(done.returncode, done.stderr.strip())
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""


@h.test("heap diff of what was compressed to take memory")
def compressed(case):
    for level in (1, 9):
        path = case.path("bomb%d" % level)
        with open(path, "wb") as file:
            file.write(gzip.compress(bytes(600 << 20), level))
        result = case.run([sys.executable, "-c", PEAK, h.CALLTRAP, "heap",
                           "diff", path, path], env=h.keeping_nothing())
        words, peak = result.out.splitlines()
        h.check_equal(words, "1 calltrap: %s can't be read: it is too large" %
                      path, "status and message")
        h.check(int(peak) < 350, "it took %s MB" % peak)


MANY_SITES = r"""
#include <stdlib.h>
__attribute__((noinline)) static void left(unsigned way, unsigned depth);
__attribute__((noinline)) static void right(unsigned way, unsigned depth);
static volatile int here;
static void go(unsigned way, unsigned depth)
{
	if (!depth)
		*(volatile char *)malloc(16) = 1;
	else if (way & 1)
		left(way >> 1, depth - 1);
	else
		right(way >> 1, depth - 1);
	here++;
}
static void left(unsigned way, unsigned depth) { go(way, depth); here++; }
static void right(unsigned way, unsigned depth) { go(way, depth); here++; }
int main(void)
{
	for (unsigned way = 0; way < 1u << 12; way++)
		go(way, 12);
	return 0;
}
"""


@h.test("heap --json of many sites")
def many_sites(case):
    """It is written while it is made: all of it once took 1.6 GB for 35,000."""
    built = h.build("many_sites", case.write("many_sites.c", MANY_SITES), "-O1",
                    "-g", "-fno-optimize-sibling-calls", directory=case.dir)
    recording, path = case.path("recording"), case.path("json")
    case.calltrap("record", "-o", recording, built, log=False).check_status(0)
    peaks = []
    for options in ([], ["--json", path]):
        result = case.run([sys.executable, "-c", PEAK, h.CALLTRAP, "heap",
                           "--from", recording, "-o", case.path("report"),
                           *options], env=h.keeping_nothing())
        words, peak = result.out.splitlines()
        h.check_equal(words.split()[0], "0", "status")
        peaks.append(int(peak))
    text = h.read(path)
    found = json.loads(text)
    h.check(len(found["sites"]) >= 1 << 12, "sites: %d" % len(found["sites"]))
    h.check(len(text) >> 20 >= 16, "the file has %d bytes" % len(text))
    h.check(peaks[1] - peaks[0] < len(text) >> 21,
            "it took %d MB, and %d without a file of %d bytes" %
            (peaks[1], peaks[0], len(text)))
    h.check(text == json.dumps(found, indent=1, ensure_ascii=False) + "\n",
            "it isn't laid out as before")


def at_ceiling(case, group, left, functions):
    """Attaches where so many KiB are left; returns what calltrap did."""
    target = case.start(
        ["sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec "$@"', group.path,
         program("ceiling"), str(left), group.usage, str(group.limit)])
    h.wait_until(lambda: "ready" in target.out or
                 target.popen.poll() is not None, "the target")
    if target.popen.poll() is not None:
        return None  # it went too far by itself
    tracer = case.start_calltrap("-L", "-x", functions, "-p",
                                 str(target.pid))
    h.wait_until(lambda: "f1@" in h.read(tracer.log_path) or
                 tracer.popen.poll() is not None, "calls")
    time.sleep(0.1)
    if tracer.popen.poll() is None:
        tracer.popen.send_signal(signal.SIGINT)
    status = tracer.wait()
    if "has ended already" in tracer.err:
        return None  # so it did, before anything was done to it
    target.popen.send_signal(signal.SIGTERM)
    return (target.wait(), status, "f1@" in h.read(tracer.log_path),
            tracer.err)


SERVED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
device = os.open("/dev/fuse", os.O_RDWR)
done = not libc.unshare(0x20000) and not libc.mount(  # CLONE_NEWNS
    b"none", b"/", None, 0x44000, None) and not libc.mount(  # MS_REC | MS_PRIVATE
    b"none", sys.argv[1].encode(), b"fuse", 0,
    b"fd=%d,rootmode=40000,user_id=0,group_id=0" % device)
if not done:
    sys.exit("no mount")
"""

COPIED = """
import time
all = [bytes([i]) * 100000 for i in range(256)]
more = [b'1' * (100000 + i) for i in range(1000)]
print('ready', flush=True)
time.sleep(1000)
"""


def check_looked_at(case, before=""):
    """Pages that process_vm_readv() pins are copied first, for whom they are read of."""
    with h.MemoryLimit(1 << 30) as group:
        target = case.start(
            ["sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec "$@"', group.path,
             "/usr/bin/python3", "-c", before + COPIED, case.dir])
        h.wait_until(lambda: "ready" in target.out or "no mount" in target.err or
                     "Error" in target.err, "its memory")
        if "ready" not in target.out:
            raise h.Skip("no file system can be mounted: " + target.err)
        usage = int(h.read(group.usage))
        h.check(usage > 120 << 20, "in use: %d" % usage)
        group.put("memory.max_usage_in_bytes", "0")
        result = case.calltrap("memory", "--leaks", "--freeze", "clone", "-p",
                               str(target.pid), log=False)
        result.check_status(0)
        if "a copy was read" not in result.out:
            raise h.Skip("no copy is made here: " + result.out.splitlines()[0])
        most = int(h.read(os.path.join(group.path, "memory.max_usage_in_bytes")))
        h.check(most - usage < 32 << 20,
                "in use: %d, then up to %d" % (usage, most))


@h.test("memory: a copy that is looked at takes no memory of the process's group")
def looked_at(case):
    check_looked_at(case)


@h.test("memory: nor does it where it has a file system that a process serves")
def looked_at_beside_served(case):
    check_looked_at(case, SERVED)


EATER = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
	printf("ready\\n");
	fflush(stdout);
	getchar();
	for (int i = 0; i < 4096; i++) {
		char *p = malloc(1 << 16);
		if (!p)
			return 3;
		memset(p, i | 1, 1 << 16);
	}
	return 4;
}
"""


@h.test("a target that its memory cgroup has no more for: the kill is counted")
def oom_kill(case):
    with h.MemoryLimit(40 << 20) as group:
        counter = os.path.join(group.path, "memory.oom_control")
        if "oom_kill 0" not in h.read(counter):
            raise h.Skip("this kernel doesn't count who is killed in a group")
        target = case.start(
            ["sh", "-c", 'echo $$ >"$0/cgroup.procs"; exec "$@"', group.path,
             h.build("eater", case.write("eater.c", EATER), "-O0",
                     directory=case.dir)])
        h.wait_until(lambda: "ready" in target.out, "the target")
        tracer = hr.attach(case, target)
        hr.settle(target, tracer)
        target.say("g")
        status = target.wait()
        h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
        if status == 4:
            raise h.Skip("the group has more memory than it was given")
        h.check_equal(status, -signal.SIGKILL, "end of the target")
        text = h.read(tracer.report_path)
        h.check("until it was killed by SIGKILL" in text, "its end:\n" + text)
        kills = re.search(r"oom_kill (\d+)", h.read(counter))[1]
        h.check_match("; OOM kills: %s, %s of them while this was watched$" %
                      (kills, kills), text, "kills that are counted")


@h.test("the target's memory cgroup is at its limit")
def ceiling(case):
    dead, refused, traced = [], 0, 0
    for i in rounds(2):
        for left in (0, 300, 700, 1500, 16000):
            functions = ("f1", "f1+*@libc.so*")[i % 2]
            with h.MemoryLimit(40 << 20) as group:
                found = at_ceiling(case, group, left, functions)
            if not found:
                continue
            end, status, calls, words = found
            if end != 7:
                dead.append((left, functions, end, status, words))
            refused += not calls
            traced += calls
            h.check(calls or "memory cgroup" in words or end != 7,
                    "no calls, and why isn't told: " + words)
            h.check(calls or left < 16000, "refused: " + words)
            h.check(" 0 pages" not in words and " 0 KiB." not in words,
                    "what traps would take: " + words)
    print("# refused %d, traced %d, deaths %d" % (refused, traced, len(dead)))
    h.check_equal(dead, [], "targets that came to harm")


# ------------------------------------------------------ memory of our own

# One thread calls labs() from the start, and so many more do from "g" on.
THREADS = """
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile int over;
static volatile long wrong;
static void *run(void *context)
{
        for (long i = 0; !over; i++) {
                if (labs(-i) != i)
                        wrong++;
                usleep(1000);
        }
        return context;
}
int main(int argc, char **argv)
{
        static pthread_t threads[1000];
        const int most = 1 + atoi(argv[argc - 1]);
        int count = 0, letter;
        pthread_create(&threads[count++], NULL, run, NULL);
        puts("ready");
        fflush(stdout);
        while ((letter = getchar()) != EOF && letter != 'q')
                while (letter == 'g' && count < most)
                        pthread_create(&threads[count++], NULL, run, NULL);
        over = 1;
        while (count--)
                pthread_join(threads[count], NULL);
        return wrong ? 9 : 7;
}
"""
HOG = """
import os, sys
block = b"x" * int(sys.argv[1])
print("has it", flush=True)
sys.stdin.read()
"""


def threads(case, more=64):
    if h.has_sanitizer():
        raise h.Skip("AddressSanitizer has memory of its own")
    target = case.start([h.build("limits-threads", case.write(
        "threads.c", THREADS), "-O1", "-fno-builtin", "-pthread"),
        str(more)])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def in_group(case, group, *arguments):
    path = case.path("log.%d" % case.number())
    tracer = case.start(["sh", "-c", 'echo $$ >"$0/cgroup.procs" && exec "$@"',
                         group.path, h.CALLTRAP, "-o", path, "--engine=agent",
                         "-L", "-x", "labs", *arguments])
    h.wait_until(lambda: "labs@" in h.read(path) or
                 tracer.popen.poll() is not None, "calls in the log")
    return tracer


def leave(tracer):
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap: " + tracer.err)


def finish(target):
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")


@h.test("calltrap's own memory cgroup is full before threads are many")
def own_ceiling_later(case):
    h.need_x86("the agent")
    target = threads(case)
    with h.MemoryLimit(300 << 20) as group:
        tracer = in_group(case, group, "-p", str(target.pid))
        h.wait_until(lambda: "calltrap-agent" in h.read(
            "/proc/%d/maps" % target.pid) or
            tracer.popen.poll() is not None, "the agent")
        left = (300 << 20) - int(h.read(group.usage))
        hog = case.start(["sh", "-c",
                          'echo $$ >"$0/cgroup.procs" && exec "$@"',
                          group.path, sys.executable, "-c", HOG,
                          str(max(left - (36 << 20), 0))])
        h.wait_until(lambda: "has it" in hog.out or
                     hog.popen.poll() is not None, "the other's memory")
        target.say("g")
        time.sleep(1)
        h.check_equal(hog.popen.poll(), None, "the end of another one there")
        leave(tracer)
        h.check_equal(hog.popen.poll(), None, "the end of another one there")
        hog.end()
    finish(target)


@h.test("there are more threads than buffers: each is in the log, by traps")
def many_threads(case):
    h.need_x86("the agent")
    target = threads(case, 160)
    tracer = case.start_calltrap("--engine=agent", "-L", "-x", "labs", "-p",
                                 str(target.pid))
    h.wait_until(lambda: "calltrap-agent" in h.read(
        "/proc/%d/maps" % target.pid), "the agent")
    target.say("g")
    h.wait_until(lambda: len(set(re.findall(
        r"^(\d+) labs", h.read(tracer.log_path), re.M))) == 161,
        "all threads in the log")
    leave(tracer)
    h.check("it has more threads than buffers" in tracer.err, tracer.err)
    finish(target)


# ---------------------------------------------------------------- mappings

def mappings(pid):
    return h.read("/proc/%d/maps" % pid).count("\n")


def all_mapped(case, engine, function, *words):
    """Calls of a process that may have no mapping more are seen, words said,
    and it is as it was. Returns what was said."""
    if int(h.read("/proc/sys/vm/max_map_count")) > 100000:
        raise h.Skip("too many mappings may be had")
    target = case.start([program("mapped", "-fno-builtin", "-pthread")])
    h.wait_until(lambda: "ready" in target.out or
                 target.popen.poll() is not None, "the target")
    before = mappings(target.pid)
    tracer = case.start_calltrap("--engine=" + engine, "-L", "-x", function,
                                 "-D", "trap", "-p", str(target.pid))
    h.wait_until(lambda: tracer.popen.poll() is not None or
                 h.read(tracer.log_path).count(function) > 20 and
                 all(word in tracer.err for word in words), "calls, and words")
    h.check_equal(mappings(target.pid), before, "mappings of the target")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status; " + h.shorten(tracer.err))
    h.check_untouched(target.pid)
    target.popen.stdin.close()
    h.check_equal(target.wait(), 7, "status of the target")
    return tracer.err


@h.test("the target has all the mappings that it may have")
def no_mapping(case):
    all_mapped(case, "trap", "f1")


@h.test("the target has all the mappings that it may have: no agent is tried")
def no_mapping_for_agent(case):
    h.need_x86("the agent")
    said = all_mapped(case, "agent", "labs", "agent: not in process")
    h.check("it may have few more mappings" in said, "said: " +
            h.shorten(said))


if __name__ == "__main__":
    sys.exit(h.main())
