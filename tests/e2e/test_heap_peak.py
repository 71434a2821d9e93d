#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What was held at the peak, and what was temporary: in every file what the
program says itself, and what valgrind says."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import flames  # noqa: E402
import harness as h  # noqa: E402
import heap_reports as hr  # noqa: E402

FUNCTIONS = ("one", "two", "more", "churn")
VALUES = ("peak-bytes", "peak-blocks", "temporary-blocks")


def program():
    return h.build("heap_peak", "heap_peak.c", "-g", "-O1", "-fno-builtin")


def books(out):
    """{pid: {function, or "all": (bytes and blocks at the peak, temporary)}}"""
    found = {}
    for line in out.splitlines():
        pid, name, *numbers = line.split()
        found.setdefault(int(pid), {})[name] = tuple(map(int, numbers))
    return found


def only(found):
    h.check_equal(len(found), 1, "processes that have told")
    return next(iter(found.values()))


def load(path):
    with open(path) as file:
        return json.load(file)


def by_function(sites):
    """(names of frames, numbers) summed up, as the program has them."""
    sums = {name: (0,) * 3 for name in FUNCTIONS}
    for names, numbers in sites:
        for name in set(names) & set(FUNCTIONS):
            sums[name] = tuple(map(sum, zip(sums[name], numbers)))
    return sums


def told_by_json(whole):
    sites = [([frame["function"] for frame in site["stack"]],
              (site["at_peak_bytes"], site["at_peak_blocks"],
               site["temporary_blocks"]))
             for site in whole["sites"] if site["family"] == "malloc"]
    malloc, = [family for family in whole["summary"]["families"]
               if family["name"] == "malloc"]
    totals = (malloc["peak_bytes"], malloc["at_peak_blocks"],
              malloc["temporary_blocks"])
    h.check_equal(tuple(map(sum, zip(*(numbers for _, numbers in sites)))),
                  totals, "the sum of all stacks, and the total")
    return by_function(sites) | {"all": totals}


@h.test("JSON and the report have what the program says")
def truth(case):
    for seed in range(1, 5):
        done = hr.heap(case, "--json", "json", program(), str(seed), "1")
        own = only(books(done.out))
        h.check_equal(told_by_json(load(case.path("json"))), own, "numbers")
        h.check_equal(done.report.malloc.peak, own["all"][0], "the peak")
        h.check(all(any(numbers) for numbers in own.values()) and
                own["all"][2] > own["churn"][2], "nothing to see: %r" % own)


@h.test("by the agent, too")
def agent(case):
    done = hr.heap(case, "--engine", "agent", "--json", "json", program(), "7",
                   "1")
    h.check_equal(told_by_json(load(case.path("json"))),
                  only(books(done.out)), "numbers")


@h.test("children have peaks of their own")
def children(case):
    done = hr.heap(case, "-f", "--json", "json.%p", program(), "5", "1", "1")
    own = books(done.out)
    h.check_equal(len(own), 2, "processes")
    for pid, numbers in own.items():
        h.check_equal(told_by_json(load(case.path("json.%d" % pid))), numbers,
                      "numbers of %d" % pid)
    peaks = {numbers["all"] for numbers in own.values()}
    h.check_equal(len(peaks), 2, "different ones")


@h.test("a recording tells the same")
def recording(case):
    done = hr.heap(case, "--json", "live", "--record", "recording", program(),
                   "9", "1")
    own = only(books(done.out))
    case.calltrap("heap", "--from", "recording", "-o", "report", "--json",
                  "json", "--folded", "folded", "--value", "peak-bytes",
                  log=False).check_status(0)
    h.check_equal(told_by_json(load(case.path("json"))), own, "numbers")
    h.check_equal(sum(flames.read_folded(case.path("folded")).values()),
                  own["all"][0], "folded stacks")


@h.test("stacks weigh that: folded, in pictures, for speedscope")
def weights(case):
    for column, value in enumerate(VALUES):
        done = hr.heap(case, "--value", value, "--folded", "folded", "--svg",
                       "svg", "--speedscope", "speedscope", program(), "3",
                       "1")
        own = only(books(done.out))
        folded = flames.read_folded(case.path("folded"))
        h.check_equal(sum(folded.values()), own["all"][column], value)
        for name in FUNCTIONS:
            h.check_equal(sum(weight for stack, weight in folded.items()
                              if name in stack.split(";")), own[name][column],
                          "%s of %s" % (value, name))
        graph = flames.Graph(case.path("svg"))
        h.check_equal((graph.root.weight, graph.root.unit),
                      (own["all"][column], value.split("-")[1]), "the picture")
        h.check_match(r"^Heap (at Its Peak|Temporarily Acquired) Flame Graph: ",
                      graph.title, "its title")
        scope = load(case.path("speedscope"))
        shown = scope["profiles"][scope["activeProfileIndex"]]
        h.check_equal(shown["endValue"], own["all"][column],
                      "speedscope: " + shown["name"])


@h.test("pprof and callgrind have it")
def others(case):
    h.need("go")
    done = hr.heap(case, "--value", "peak-bytes", "--pprof", "pprof",
                   "--callgrind", "callgrind", program(), "11", "1")
    size, blocks, temporary = only(books(done.out))["all"]
    env = {"GOCACHE": case.path("cache"), "PPROF_TMPDIR": case.dir}
    raw = case.run(["go", "tool", "pprof", "-raw", "pprof"], env=env)
    raw.check_status(0)
    head = re.search(r"^Samples:\n(.*)$", raw.out, re.M)[1].split()
    h.check_equal([word.split("/")[0] for word in head],
                  ["temporary_objects", "temporary_space", "peak_objects",
                   "peak_space", "alloc_objects", "alloc_space",
                   "inuse_objects", "inuse_space"], "types")
    h.check("[dflt]" in head[3], "what is shown first")
    body = raw.out.split("Samples:\n")[1].split("\nLocations\n")[0]
    rows = [[int(word) for word in found.split()] for found in
            re.findall(r"^ *(\d+(?: +\d+){7}): ", body, re.M)]
    sums = [sum(column) for column in zip(*rows)]
    h.check_equal((sums[0], sums[2], sums[3]), (temporary, blocks, size),
                  "sums")
    with open(case.path("callgrind")) as file:
        text = file.read()
    events = re.search(r"^events: (.*)$", text, re.M)[1].split()
    totals = dict(zip(events, map(int, re.search(
        r"^totals: (.*)$", text, re.M)[1].split())))
    h.check_equal((totals["peakB"], totals["peakBk"], totals["tmpBk"]),
                  (size, blocks, temporary), "callgrind's totals")


@h.test("valgrind's DHAT finds the same at the same moment")
def dhat(case):
    h.need("valgrind")
    for seed in ("21", "22"):
        theirs = case.run(["valgrind", "--tool=dhat", "--dhat-out-file=" +
                           case.path("dhat"), program(), seed], patience=300)
        if theirs.status or not os.path.exists(case.path("dhat")):
            raise h.Skip("valgrind doesn't run here")
        whole = load(case.path("dhat"))
        names = [re.sub(r"^.*?: (\w+).*$", r"\1", frame)
                 for frame in whole["ftbl"]]
        sites = [([names[frame] for frame in point["fs"]],
                  (point["gb"], point["gbk"], 0)) for point in whole["pps"]]
        hr.heap(case, "--json", "json", program(), seed)
        ours = told_by_json(load(case.path("json")))
        for name, numbers in by_function(sites).items():
            h.check_equal(ours[name][:2], numbers[:2], "valgrind's " + name)
        h.check_equal(ours["all"][0], sum(point["gb"]
                                          for point in whole["pps"]), "peak")


# ---------------------------------------------------------------- the report

CHURN = """#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void often(int n) {
  for (int i = 0; i < n; i++) { char *volatile p = malloc(10); free(p); } }
__attribute__((noinline)) void pairs(int n) {
  for (int i = 0; i < n; i++) { char *volatile p = malloc(10);
    char *volatile q = malloc(20); free(p); free(q); } }
int main(int argc, char **argv) {
  often(atoi(argv[1])); pairs(atoi(argv[2])); return 0; }
"""


@h.test("a row tells what was mostly temporary, if it was much")
def rows(case):
    own = h.build("churns", case.write("churns.c", CHURN), "-g", "-O1",
                  "-fno-builtin", directory=case.dir)
    for often, pairs, told in (("1000", "1500", ["1,000", None, "1,500"]),
                               ("999", "999", [None, None, None])):
        report = hr.heap(case, "--top=0", own, often, pairs).report
        found = []
        for row in report.rows:
            if not {"often", "pairs"} & set(row.functions()):
                continue
            word = re.search(r"; ([\d,]+) temporary; lived ",
                             "\n".join(row.lines))
            found.append(word[1] if word else None)
        h.check_equal(sorted(found, key=str), sorted(told, key=str),
                      "what rows tell")


# ---------------------------------------------------------------- heap diff

def diff(case, *words, status=0):
    done = subprocess.run([h.CALLTRAP, "heap", "diff", *words],
                          capture_output=True, text=True, cwd=case.dir,
                          timeout=100)
    h.check_equal(done.returncode, status, done.stderr)
    return done.stdout or done.stderr


@h.test("heap diff compares peaks, and what was temporary")
def differences(case):
    own = {}
    for name, seed in (("old", "31"), ("new", "32")):
        done = hr.heap(case, "--pprof", name, program(), seed, "1")
        own[name] = only(books(done.out))["all"]
    for value, column, words in (("peak-bytes", 0, "at the peak"),
                                 ("temporary-blocks", 2, "temporary")):
        text = diff(case, "--value", value, "--folded", "both", "old", "new")
        found = re.search(r"^%s: ([\d,]+) bytes? in ([\d,]+) blocks? before, "
                          r"([\d,]+) bytes? in ([\d,]+) blocks? now" % words,
                          text, re.M)
        h.check(found, "no head:\n" + text)
        numbers = [int(word.replace(",", "")) for word in found.groups()]
        h.check_equal((numbers[1], numbers[3]) if column == 2 else
                      (numbers[0], numbers[2]),
                      (own["old"][column], own["new"][column]), value)
        with open(case.path("both")) as file:
            pairs = [tuple(map(int, line.split()[-2:])) for line in file]
        h.check_equal(tuple(map(sum, zip(*pairs))),
                      (own["old"][column], own["new"][column]),
                      "folded stacks")


@h.test("what doesn't have it is refused with a word")
def refusals(case):
    for value in VALUES:
        done = case.calltrap("heap", "--growth", "mmap", "--value", value,
                             "--folded", "x", program(), log=False)
        done.check_status(2)
        h.check_equal(done.messages()[0], "calltrap: --value: what was held "
                      "at the peak, or was temporary, isn't known of --growth",
                      "what is said")
    case.calltrap("heap", "--growth", "mmap", "--pprof", "grown", program(),
                  log=False).check_status(0)
    h.check_match(r"^calltrap: grown doesn't tell what was held at the peak, "
                  r"or was temporary: ",
                  diff(case, "--value", "peak-blocks", "grown", "grown",
                       status=1), "what diff says")


if __name__ == "__main__":
    sys.exit(h.main())
