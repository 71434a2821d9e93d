#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The same work untraced, under calltrap and, where it is installed, under
ltrace: one run, interleaved, medians. Prints microseconds per traced call
(the start subtracted), the time to start large programs, the peak memory of
the tracer, and the ratios to ltrace; and what reach.py measures.
"""

import argparse
import contextlib
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import reach

HERE = os.path.dirname(os.path.abspath(__file__))
CALLTRAP = os.path.abspath(os.environ.get("CALLTRAP") or
                           os.path.join(HERE, "..", "calltrap"))
STACKS = os.environ.get("STACKS", "")
NAMES = os.environ.get("NAMES", "")


def build(directory):
    def compile_(output, source, *flags):
        subprocess.run(["gcc", "-O1", "-o", os.path.join(directory, output),
                        os.path.join(HERE, source), *flags], check=True)
    compile_("libwork.so", "libwork.c", "-shared", "-fPIC")
    compile_("work", "work.c", "-L" + directory, "-Wl,-rpath,$ORIGIN",
             "-lwork", "-lpthread")
    return os.path.join(directory, "work")


def peak_of(pid):
    """VmHWM; rusage would have its children's and its parent's in it."""
    with contextlib.suppress(OSError), open("/proc/%d/status" % pid) as file:
        for line in file:
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return None


class Run:
    """Wall time, perhaps peak memory, and standard error of one command."""

    def __init__(self, argv, patience, memory=False):
        self.seconds = self.kilobytes = None
        self.memory = memory
        with tempfile.TemporaryFile() as err:
            start = time.monotonic()
            child = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=err)
            self.ok = self._wait(child, start + patience)
            self.seconds = time.monotonic() - start
            err.seek(0)
            self.err = err.read().decode(errors="replace")

    def _wait(self, child, end):
        pause = 0.0002
        while time.monotonic() < end:
            if child.poll() is not None:
                return child.returncode == 0
            if self.memory:
                self.kilobytes = peak_of(child.pid) or self.kilobytes
            time.sleep(pause)
            pause = min(pause * 1.2, 0.005)
        child.kill()
        child.wait()
        return False


class Subject:
    """Who runs the work: nobody, calltrap, ltrace."""

    def __init__(self, name, prefix):
        self.name, self.prefix = name, prefix


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None


def interleaved(commands, runs, patience):
    """Runs every command so often, in turn; each one's median or None."""
    seconds = {key: [] for key in commands}
    for _ in range(runs):
        for key, argv in commands.items():
            run = Run(argv, patience)
            seconds[key].append(run.seconds if run.ok else None)
    return {key: median(values) for key, values in seconds.items()}


def row(*cells):
    print("".join(cell.ljust(34) if i == 0 else cell.rjust(12)
                  for i, cell in enumerate(cells)))


def number(value, form="%.1f"):
    return "-" if value is None else form % value


def ratio(a, b):
    return "-" if not a or not b or b <= 0 else "%.2f" % (a / b)


def per_call(options, work, name, threads, arguments, tracers):
    """Microseconds a call of each tracer, the start subtracted."""
    commands = {}
    calls_of = {subject.name: options.calls * (1 if subject.prefix else 1000)
                for subject in tracers}
    for subject in tracers:
        more = ["-f"] if subject.name == "ltrace" and threads > 1 else []
        for calls in (threads, calls_of[subject.name]):
            commands[subject.name, calls] = (
                subject.prefix + (more + arguments if subject.prefix else []) +
                [work, str(threads), str(calls)])
    found = interleaved(commands, options.runs, options.patience)
    cost = {}
    for subject in tracers:
        one, all_ = (found[subject.name, calls]
                     for calls in (threads, calls_of[subject.name]))
        cost[subject.name] = (None if one is None or all_ is None else
                              (all_ - one) /
                              (calls_of[subject.name] - threads) * 1e6)
    row(name, *(number(cost[subject.name], "%.3f" if subject.name ==
                       "untraced" else "%.1f") for subject in tracers),
        ratio(cost.get("calltrap"), cost.get("ltrace")))


def starting(options, name, command, arguments, tracers):
    commands = {subject.name: subject.prefix +
                (arguments if subject.prefix else []) + command
                for subject in tracers}
    found = interleaved(commands, options.runs, options.patience)
    row(name, *(number(found[subject.name] and found[subject.name] * 1e3)
                for subject in tracers),
        ratio(found.get("calltrap"), found.get("ltrace")))


def peak(options, name, arguments, command):
    run = Run([CALLTRAP, *arguments, *command], options.patience, True)
    print("%-46s%s" % (name, "-" if not run.kilobytes else "%.1f MiB" %
                       (run.kilobytes / 1024)))


def stops_per_call(options, work):
    """
    How often calltrap was given a stop, by the context switches of the work:
    each stop of a task is one switch that it asked for.
    """
    script = ("import os, resource, sys; os.waitpid(os.posix_spawn(sys.argv"
              "[1], sys.argv[1:], os.environ), 0); print(resource.getrusage("
              "resource.RUSAGE_CHILDREN).ru_nvcsw, file=sys.stderr)")
    counts = []
    for calls in (1, options.calls):
        run = Run([CALLTRAP, "-f", "-o", "/dev/null", "-e", "f1",
                         sys.executable, "-I", "-S", "-c", script, work, "1",
                         str(calls)], options.patience)
        found = re.findall(r"^(\d+)$", run.err, re.M)
        if not run.ok or not found:
            print("stops per call: -")
            return
        counts.append(int(found[-1]))
    print("stops per call: %.3f" % ((counts[1] - counts[0]) /
                                    (options.calls - 1)))


GDB_STACKS = """
import gdb, time
gdb.execute("set pagination off")
gdb.execute("set debuginfod enabled off")
gdb.execute("run", to_string=True)
times = []
for i in range(20):
    gdb.execute("maintenance flush register-cache", to_string=True)
    begin = time.process_time()
    gdb.execute("bt 26", to_string=True)
    times.append(time.process_time() - begin)
print("gdb %.1f 26" % (sorted(times)[10] * 1e6))
gdb.execute("kill")
"""


def stacks(options, directory):
    """Microseconds of the processor for one stack of 26 frames."""
    if not os.path.exists(STACKS):
        return
    costs = {"libunwind-ptrace": [], "calltrap": [], "first": [], "gdb": []}
    script = os.path.join(directory, "stacks_gdb.py")
    with open(script, "w") as file:
        file.write(GDB_STACKS)
    commands = [[STACKS]] * options.runs
    if shutil.which("gdb"):
        commands.append(["gdb", "-q", "-nx", "-batch", "-ex",
                         "set confirm off", "-x", script, "--args", STACKS,
                         "stop"])
    for command in commands:
        done = subprocess.run(command, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, timeout=options.patience,
                              stderr=subprocess.DEVNULL)
        for name, cost in re.findall(r"^([\w-]+) ([\d.]+) 26$",
                                     done.stdout.decode(), re.M):
            costs[name].append(float(cost))
    ours = median(costs["calltrap"])
    print("microseconds per stack of 26 frames")
    for name, title in (("calltrap", "calltrap"),
                        ("first", "calltrap, its first"),
                        ("libunwind-ptrace", "libunwind-ptrace, as it comes"),
                        ("gdb", "gdb's bt")):
        cost = median(costs[name])
        row(title, number(cost, "%.2f"),
            "-" if not cost or not ours else "1/%.0f" % (cost / ours)
            if cost > ours else "")


def large_library(directory, megabytes):
    """
    One with that much debug information: an object of many functions, types
    and inlined calls, linked under ever other names.
    """
    with open(os.path.join(directory, "large.c"), "w") as file:
        for i in range(2500):
            file.write("""
struct s%d { int a, b[%d]; struct s%d *next; long (*f)(struct s%d *, int); };
static inline long in%d(struct s%d *p, int n)
{ long sum = p->a; for (int i = 0; i < n; i++) sum += p->b[i]; return sum; }
long f%d(struct s%d *p, int n)
{ return in%d(p, n) * (p->f ? p->f(p, n) : n) + in%d(p->next, n + 1); }
""" % (i, i + 1, i, i, i, i, i, i, i, i))
    def run(*argv):
        subprocess.run(argv, cwd=directory, check=True)
    run("gcc", "-g", "-O2", "-fPIC", "-c", "large.c")
    def debug_bytes(name):
        text = subprocess.run(["size", "-A", name], cwd=directory,
                              stdout=subprocess.PIPE).stdout.decode()
        return sum(int(size) for size in
                   re.findall(r"^\.debug_\S+\s+(\d+)", text, re.M))
    objects = []
    for i in range(megabytes * 1000000 // debug_bytes("large.o") + 1):
        objects.append("large%d.o" % i)
        run("objcopy", "--prefix-symbols=p%d_" % i, "large.o", objects[-1])
    run("gcc", "-shared", "-o", "liblarge.so", *objects)
    for name in objects:
        os.unlink(os.path.join(directory, name))
    return (os.path.join(directory, "liblarge.so"),
            debug_bytes("liblarge.so") / 1e6)


def naming(options, directory):
    if not os.path.exists(NAMES):
        return
    path, megabytes = large_library(directory, 100)
    done = subprocess.run([NAMES, path, "10000"], stdout=subprocess.PIPE,
                          timeout=options.patience)
    words = done.stdout.decode().split()
    print("10,000 addresses of a file with %.0f MB of debug information: %s" %
          (megabytes, "-" if len(words) != 5 else
           "%s named, %s with a line, %s s; peak %s MiB, and %s MiB where "
           "DWARF is read" % tuple(words)))


HOLDS = re.compile(r"calltrap holds ([\d,]+) bytes")


def heap_tracers(directory):
    """Each with how many pairs of malloc and free it gets done in a second."""
    report = os.path.join(directory, "report")
    yield "untraced", [], 2000000
    yield "calltrap heap", [CALLTRAP, "heap", "-o", report], 20000
    if shutil.which("heaptrack"):
        yield ("heaptrack", ["heaptrack", "-o",
                             os.path.join(directory, "heaptrack")], 200000)
    if shutil.which("valgrind"):
        yield "valgrind", ["valgrind", "-q"], 200000
    if shutil.which("ltrace"):
        yield ("ltrace -c", ["ltrace", "-c", "-o", "/dev/null", "-e",
                             "malloc+free"], 3000)


def one_pair(tracer, pairs, work, options):
    """Microseconds, as the program itself has measured."""
    done = subprocess.run(tracer + [work, "20", str(pairs), "0"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, cwd=os.path.dirname(work),
                          timeout=options.patience)
    found = re.search(r"^([\d.]+)$", done.stdout.decode(), re.M)
    return float(found[1]) / 1000 if found else None


def held(work, directory, words, options):
    """Bytes of calltrap itself at the end of that work."""
    report = os.path.join(directory, "held")
    subprocess.run([CALLTRAP, "heap", "-o", report, work, *map(str, words)],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   timeout=options.patience)
    with open(report) as file:
        found = HOLDS.search(file.read())
    return int(found[1].replace(",", "")) if found else None


def heaps(options, directory):
    work = os.path.join(directory, "heap")
    subprocess.run(["gcc", "-O1", "-o", work, os.path.join(HERE, "heap.c")],
                   check=True)
    costs = {}
    for _ in range(options.runs):
        for name, tracer, pairs in heap_tracers(directory):
            cost = one_pair(tracer, pairs, work, options)
            if cost:
                costs.setdefault(name, []).append(cost)
    ours = median(costs["calltrap heap"])
    row("malloc and free, 20 frames deep", "us", "calltrap/")
    for name, values in costs.items():
        cost = median(values)
        row(name, number(cost, "%.3f"), ratio(ours, cost))
    few, many = [held(work, directory, (20, 0, blocks), options)
                 for blocks in (0, 200000)]
    if few and many:
        print("bytes of calltrap per live block: %.1f" %
              ((many - few) / 200000))
    few, many = [held(work, directory, ("sites", depth), options)
                 for depth in (0, 12)]
    if few and many:
        print("bytes of calltrap per site: %.0f" % ((many - few) / 4095))


def programs():
    """Large programs, a command and a function of each."""
    yield "python3 -S -c pass", ["/usr/bin/python3", "-I", "-S", "-c",
                                 "pass"], "PyList_New"
    chromium = "/usr/lib/chromium/chromium"
    if os.path.exists(chromium):
        yield "chromium --version", [chromium, "--version"], "main"


def measure(options, directory):
    work = build(directory)
    tracers = [Subject("untraced", []),
               Subject("calltrap", [CALLTRAP])]
    ltrace = shutil.which("ltrace")
    if ltrace and not options.no_ltrace:
        tracers.append(Subject("ltrace", [ltrace]))
    else:
        print("ltrace isn't installed, or not wanted: no ratios")
    names = [subject.name for subject in tracers] + ["calltrap/"]
    print("%d runs, medians; %d calls; %s\n" %
          (options.runs, options.calls, "not pinned" if options.pin is None
           else "processor %d" % options.pin))

    if options.pin is not None:
        os.sched_setaffinity(0, {options.pin})

    row("microseconds per call", *names)
    for threads in (1, 8):
        for title, arguments in (
                ("-o /dev/null", ["-o", "/dev/null", "-e", "f1"]),
                ("-c", ["-c", "-o", "/dev/null", "-e", "f1"]),
                ("-L -x f1 -o /dev/null", ["-o", "/dev/null", "-L", "-x",
                                           "f1"])):
            per_call(options, work, "%d thread%s, %s" %
                     (threads, "" if threads == 1 else "s", title), threads,
                     arguments, tracers)
    print()
    stops_per_call(options, work)
    print()
    stacks(options, directory)
    print()
    naming(options, directory)
    print()
    heaps(options, directory)
    print()
    reach.measure(options, directory)

    print()
    row("start to end, milliseconds", *names)
    starting(options, "a small program", [work, "1", "1"],
             ["-o", "/dev/null"], tracers)
    for name, command, function in programs():
        if not os.path.exists(command[0]):
            continue
        starting(options, name, command, ["-o", "/dev/null"], tracers)
        starting(options, name + ", -x one", command,
                 ["-o", "/dev/null", "-L", "-x", function], tracers)

    print("\npeak memory of calltrap")
    peak(options, "a small program", ["-o", "/dev/null"],
         [work, "1", str(options.calls)])
    for name, command, function in programs():
        if os.path.exists(command[0]):
            peak(options, name, ["-o", "/dev/null"], command)
            peak(options, name + ", -x one",
                 ["-o", "/dev/null", "-L", "-x", function], command)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--calls", type=int, default=10000)
    parser.add_argument("--patience", type=float, default=120,
                        help="seconds until a run is given up")
    parser.add_argument("--pin", type=int, metavar="CPU",
                        help="run everything on one processor")
    parser.add_argument("--no-ltrace", action="store_true")
    options = parser.parse_args()
    if not os.access(CALLTRAP, os.X_OK):
        print("no program %s; set CALLTRAP" % CALLTRAP, file=sys.stderr)
        return 1
    with contextlib.suppress(KeyboardInterrupt), \
            tempfile.TemporaryDirectory(prefix="calltrap-bench.") as directory:
        measure(options, directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
