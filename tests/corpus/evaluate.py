#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the verdicts of `calltrap heap' are worth: precision and recall on the
programs of this folder, each of which says itself what it leaks.

    evaluate.py                 by recordings of the programs, replayed, and
                                by `calltrap heap' on the programs, live
    evaluate.py --replay        only the former
    evaluate.py --reach         only `calltrap heap', which lets go of the
                                programs before their end, with a look at what
                                they can still reach and without
    evaluate.py --fresh         the same on ten programs of the folder fresh,
                                which no verdict was changed for
    evaluate.py NAME...         only these, with all that was said of them

A site that is called LIKELY and is a leak's is a hit, one that isn't is a false
alarm. A leaking function without a hit was missed. Recordings are looked at
three times: whole; as if one had attached to the program when it was running;
and so, with a time behind it in which nothing happens."""
import argparse
import concurrent.futures
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
BUILD = os.environ.get("builddir", TOP)
CALLTRAP = os.environ.get("CALLTRAP", os.path.join(BUILD, "calltrap"))
REPLAY = os.path.join(BUILD, "tests", "corpus", "replay")
FAMILIES = os.path.join(TOP, "etc", "families", "malloc.families")
LEVELS = ["NOT", "POSSIBLE", "LIKELY"]

# What part of a recording is watched (FROM, TO), and how long nothing happens
# behind it, in lengths of the recording.
WINDOWS = [("watched from the beginning", ["0", "1", "0"]),
           ("attached to later", ["0.4", "1", "0"]),
           ("attached to, and idle in the end", ["0.2", "0.9", "1"])]


FRESH = "fresh"


def names(folder):
    return sorted(os.path.basename(path).rsplit(".", 1)[0]
                  for path in glob.glob(os.path.join(HERE, folder, "*.c*"))
                  if os.path.basename(path) not in ("recorder.c", "replay.c"))


def source(name):
    found = [path for folder in ("", FRESH) for path in
             glob.glob(os.path.join(HERE, folder, name + ".c*"))]
    return found[0]


def truth(name):
    """The functions that leak."""
    with open(source(name), encoding="utf-8") as file:
        words = re.search(r"truth: (.*?) \*/", file.read()).group(1).split()
    return set() if words == ["none"] else set(words)


def compile_all(folder, chosen):
    flags = ["-O1", "-g", "-rdynamic", "-pthread"]
    for name in chosen:
        path = source(name)
        compiler = ["g++"] if path.endswith(".cc") else \
            shlex.split(os.environ.get("CC", "gcc"))
        subprocess.run([*compiler, *flags, path, "-o",
                        os.path.join(folder, name)], check=True)
    subprocess.run(["gcc", "-O2", "-fPIC", "-shared",
                    os.path.join(HERE, "recorder.c"), "-o",
                    os.path.join(folder, "recorder.so")], check=True)


def plain(function):
    """The name without C++'s signature."""
    found = re.match(r"_Z(\d+)", function)
    if found:
        start = found.end()
        return function[start:start + int(found.group(1))]
    return function.split("(")[0]


def record(folder, name, seconds):
    environment = dict(os.environ,
                       CORPUS_TRACE=os.path.join(folder, name + ".trace"),
                       LD_PRELOAD=os.path.join(folder, "recorder.so"))
    subprocess.run([os.path.join(folder, name), str(seconds)], check=True,
                   env=environment)


def by_replay(folder, name, window):
    """What is said of each site: (level, functions in its stack, line)."""
    said = []
    for line in subprocess.run(
            [REPLAY, FAMILIES, os.path.join(folder, name + ".trace"), *window],
            check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        level, _, _, stack = line.split(" ", 3)
        stack = stack.split(": ", 1)[0]
        said.append((level, {plain(frame.split("@")[0])
                             for frame in stack.split("<")}, line))
    return said


ROW = re.compile(r"^ *[\d,]+ .* (LIKELY|POSSIBLE|NOT) +\S.* by ")
FRAME = re.compile(r"^ {8}(\S+)")


def by_calltrap(folder, name, seconds, options=()):
    out = os.path.join(folder, name + ".report")
    subprocess.run([CALLTRAP, "heap", "--top", "0", *options, "-o", out, "--",
                    os.path.join(folder, name), str(seconds)], check=True)
    said = []
    with open(out, encoding="utf-8") as file:
        for line in file:
            row, frame = ROW.match(line), FRAME.match(line)
            if row:
                said.append((row.group(1), set(), line.strip()))
            elif frame and said:
                said[-1][1].add(plain(frame.group(1)))
    return said


class Score:
    """Counts of one level and above."""

    def __init__(self, level):
        self.levels = LEVELS[LEVELS.index(level):]
        self.hits = self.false_alarms = self.missed = 0
        self.wrong = []

    def add(self, name, leaks, said):
        found = set()
        for level, functions, line in said:
            if level not in self.levels:
                continue
            if functions & leaks:
                self.hits += 1
                found |= functions & leaks
            else:
                self.false_alarms += 1
                self.wrong.append(f"{name}: false alarm: {line}")
        for function in sorted(leaks - found):
            self.missed += 1
            self.wrong += [f"{name}: {function} was missed"] + [
                f"{name}:   {line}" for _, functions, line in said
                if function in functions]

    def precision(self):
        alarms = self.hits + self.false_alarms
        return self.hits / alarms if alarms else 1

    def recall(self, leaks):
        return 1 - self.missed / leaks if leaks else 1


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--replay", action="store_true")
    parser.add_argument("--reach", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--seconds", type=float, default=3,
                        help="that each program runs")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("names", nargs="*")
    return parser.parse_args()


def report(number, title, answers, verbose):
    """One test point: hardly a false alarm, hardly a leak without a word."""
    likely, either = Score("LIKELY"), Score("POSSIBLE")
    leaks = sum(len(truth(name)) for name in answers)
    for name, said in answers.items():
        likely.add(name, truth(name), said)
        either.add(name, truth(name), said)
    good = likely.precision() >= 0.95 and either.recall(leaks) >= 0.95
    print(f"{'ok' if good else 'not ok'} {number} - verdicts: {title}")
    print(f"# {len(answers)} programs, {leaks} leaking functions")
    for label, score in (("LIKELY", likely), ("LIKELY or POSSIBLE", either)):
        print(f"# {label}: precision {score.precision():.3f}, "
              f"recall {score.recall(leaks):.3f} ({score.hits} hits, "
              f"{score.false_alarms} false alarms, {score.missed} missed)")
    shown = list(either.wrong)
    if verbose:
        shown += [line for said in answers.values() for _, _, line in said]
    for line in shown:
        print(f"#   {line}")
    return good


def look(options, folder, chosen, pool):
    print("1..2")
    good = True
    leave = ["--for", f"{0.9 * options.seconds}s"]
    for number, (title, flags) in enumerate(
            [("left, by ages alone", ["--no-reach"]),
             ("left, with what can be reached", [])], 1):
        found = pool.map(lambda name: by_calltrap(
            folder, name, options.seconds, leave + flags), chosen)
        good &= report(number, title, dict(zip(chosen, found)), options.names)
    return good


def main():
    options = arguments()
    chosen = options.names or names(FRESH if options.fresh else "")
    good = True
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        compile_all(folder, chosen)
        if options.reach or options.fresh:
            return 0 if look(options, folder, chosen, pool) else 1
        print(f"1..{len(WINDOWS) + (not options.replay)}")
        list(pool.map(lambda name: record(folder, name, options.seconds),
                      chosen))
        for number, (title, window) in enumerate(WINDOWS, 1):
            answers = {name: by_replay(folder, name, window)
                       for name in chosen}
            good &= report(number, title, answers, options.names)
        if not options.replay:
            found = pool.map(lambda name: by_calltrap(folder, name,
                                                      options.seconds), chosen)
            good &= report(len(WINDOWS) + 1, "by calltrap",
                           dict(zip(chosen, found)), options.names)
    return 0 if good else 1


sys.exit(main())
