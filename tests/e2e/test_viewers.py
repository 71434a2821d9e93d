#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files of calltrap heap for viewers: what they show is what the program did."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402
from browser import Browser  # noqa: E402

KEPT, PASSING, CHURN = 200 * 100, 200 * 3000, 200 * 700
DHAT_VIEWER = "/usr/libexec/valgrind/dh_view.html"


def watch(case, *options, status=0, program=None):
    program = program or h.build("heap_times", "heap_times.c", "-g", "-O1",
                                 "-fno-builtin", directory=case.dir)
    result = case.calltrap("heap", *options, program, "150", log=False)
    result.check_status(status)
    return result


def load(case, name):
    with open(case.path(name)) as file:
        return json.load(file)


def weights_by_function(stacks):
    """{function of ours: weight} of (names of frames, weight)"""
    sums = dict.fromkeys(("keep", "pass", "churn"), 0)
    for names, weight in stacks:
        for name in set(names) & set(sums):
            sums[name] += weight
    return sums


# ---------------------------------------------------------------- speedscope

@h.test("speedscope: profiles of the same stacks, the program's numbers")
def speedscope(case):
    watch(case, "--speedscope", "a.json", "--value", "alloc-bytes")
    whole = load(case, "a.json")
    h.check_equal(whole["$schema"],
                  "https://www.speedscope.app/file-format-schema.json",
                  "schema")
    frames = [frame["name"] for frame in whole["shared"]["frames"]]
    found = {}
    for profile in whole["profiles"]:
        h.check_equal((profile["type"], profile["startValue"],
                       profile["endValue"], len(profile["samples"])),
                      ("sampled", 0, sum(profile["weights"]),
                       len(profile["weights"])), "a profile")
        found[profile["name"], profile["unit"]] = weights_by_function(
            ([frames[i] for i in sample], weight) for sample, weight in
            zip(profile["samples"], profile["weights"]))
    h.check_equal(found, {
        ("Heap in use, bytes", "bytes"):
            {"keep": KEPT, "pass": 0, "churn": 0},
        ("Heap in use, blocks", "none"): {"keep": 200, "pass": 0, "churn": 0},
        ("Heap acquired, bytes", "bytes"):
            {"keep": KEPT, "pass": PASSING, "churn": CHURN},
        ("Heap acquired, blocks", "none"):
            {"keep": 200, "pass": 200, "churn": 200},
        # The first block of churn() makes it, and the next ones don't.
        ("Heap at its peak, bytes", "bytes"):
            {"keep": KEPT, "pass": PASSING, "churn": 700},
        ("Heap at its peak, blocks", "none"):
            {"keep": 200, "pass": 200, "churn": 1},
        ("Heap temporarily acquired, blocks", "none"):
            {"keep": 0, "pass": 0, "churn": 200}}, "profiles")
    shown = whole["profiles"][whole["activeProfileIndex"]]
    h.check_equal(shown["name"], "Heap acquired, bytes", "what is shown")
    sample = next(sample for sample in shown["samples"]
                  if "keep" in [frames[i] for i in sample])
    names = [frames[i] for i in sample]
    h.check(names.index("main") < names.index("keep") <
            names.index("malloc"), "the outermost first: %r" % names)
    keep = whole["shared"]["frames"][sample[names.index("keep")]]
    with open(keep["file"]) as source:
        line = source.read().splitlines()[keep["line"] - 1]
    h.check("kept[i] = malloc(100)" in line, "the source line: " + line)


# ---------------------------------------------------------------- DHAT

def points(whole):
    """{function: its program point}"""
    found = {}
    for point in whole["pps"]:
        for number in point["fs"]:
            word = re.search(r": (keep|pass|churn) ", whole["ftbl"][number])
            if word:
                found[word[1]] = point
    return found


@h.test("DHAT: totals, lifetimes, at the peak and at the end")
def dhat(case):
    watch(case, "--dhat", "a.json")
    whole = load(case, "a.json")
    found = points(whole)
    numbers = {name: tuple(point[key] for key in
                           ("tb", "tbk", "mb", "mbk", "gb", "gbk", "eb",
                            "ebk")) for name, point in found.items()}
    # One of those may live at any moment.
    h.check(numbers["churn"][4:6] in ((0, 0), (700, 1)), "the peak")
    numbers["churn"] = numbers["churn"][:4] + (0, 0) + numbers["churn"][6:]
    h.check_equal(numbers, {
        "keep": (KEPT, 200, KEPT, 200, KEPT, 200, KEPT, 200),
        "pass": (PASSING, 200, PASSING, 200, PASSING, 200, 0, 0),
        "churn": (CHURN, 200, 700, 1, 0, 0, 0, 0)}, "numbers")
    lives = {name: point["tl"] / point["tbk"]
             for name, point in found.items()}
    h.check(lives["churn"] < lives["pass"] < lives["keep"] and
            lives["pass"] >= 150e3 and lives["keep"] >= 450e3,
            "mean lifetimes in microseconds: %r" % lives)
    h.check(450e3 <= lives["keep"] < whole["te"] and
            300e3 <= whole["tg"] < whole["te"], "times")


def shown_by_dhat(case, name):
    browser = Browser(case)
    browser.open("file://" + DHAT_VIEWER, "HTML")
    browser.ask("DOM.enable")
    root = browser.ask("DOM.getDocument")["root"]["nodeId"]
    field = browser.ask("DOM.querySelector", nodeId=root,
                        selector="input[type=file]")["nodeId"]
    browser.ask("DOM.setFileInputFiles", nodeId=field,
                files=[case.path(name)])
    browser.wait("/PP 1|Error/.test(document.body.innerText)", True)
    text = browser.value("document.body.innerText")
    complaints = browser.complaints()
    browser.close()
    return text, len(complaints)


@h.test("DHAT's own viewer shows it")
def dhat_viewer(case):
    if not os.path.exists(DHAT_VIEWER):
        raise h.Skip("valgrind's dh_view.html isn't installed")
    watch(case, "--dhat", "a.json")
    text, complaints = shown_by_dhat(case, "a.json")
    h.check("rror" not in text and not complaints, h.shorten(text))
    h.check_match(r"Total:\s+600,000 bytes \(78\.\d+%.*\) in 200 blocks", text,
                  "what passed")
    h.check_match(r"At t-end:\s+20,000 bytes \(100%.*\) in 200 blocks", text,
                  "what is kept")
    h.check_match(r"pass \(.*heap_times\.c:\d+\)", text, "its function")
    # One that isn't as it must be is complained about.
    broken = load(case, "a.json")
    del broken["pps"][0]["eb"]
    case.write("b.json", json.dumps(broken))
    h.check("rror" in shown_by_dhat(case, "b.json")[0], "a broken one")


# ---------------------------------------------------------------- Massif

@h.test("ms_print shows the peak and what is kept")
def massif(case):
    h.need("ms_print")
    watch(case, "--massif", "a.massif")
    done = case.run(["ms_print", "a.massif"])
    done.check_status(0)
    h.check_equal(done.err, "", "what ms_print complains about")
    h.check_match(r"^Command: +heap_times \(\d+\)$", done.out, "command")
    peak, last = re.search(r"Detailed snapshots: \[(\d+) \(peak\), (\d+)\]",
                           done.out).groups()
    rows = {found[0]: int(found[1].replace(",", "")) for found in
            re.findall(r"^ *(\d+) +[\d,]+ +([\d,]+) +[\d,]+ +0 +0$", done.out,
                       re.M)}
    h.check_equal(rows["0"], 0, "at the beginning")
    # The C library may hold some for itself.
    h.check(KEPT <= rows[last] < KEPT + 10000 and
            KEPT + PASSING <= rows[peak] < KEPT + PASSING + 10000,
            "at the peak, and at the end: %r" % rows)
    h.check_equal(max(rows.values()), rows[peak], "the peak")
    h.check_match(r"^->\d+\.\d+% \(600,000B\) 0x[0-9a-f]+: pass "
                  r"\(heap_times\.c:\d+\)|"
                  r"^->\d+\.\d+% \(600,000B\) 0x[0-9a-f]+: pass \(.*"
                  r"heap_times\.c:\d+\)$", done.out, "the peak's tree")
    h.check_match(r"^->\d+\.\d+% \(20,000B\) 0x[0-9a-f]+: keep ", done.out,
                  "the last one's tree")


# ---------------------------------------------------------------- Firefox

COLUMNS = {
    "stackTable": ("frame", "prefix", "category", "subcategory"),
    "frameTable": ("address", "inlineDepth", "category", "subcategory", "func",
                   "nativeSymbol", "innerWindowID", "implementation", "line",
                   "column"),
    "funcTable": ("isJS", "relevantForJS", "name", "resource", "fileName",
                  "lineNumber", "columnNumber"),
    "resourceTable": ("lib", "name", "host", "type"),
    "nativeSymbols": ("libIndex", "address", "name", "functionSize"),
    "samples": ("stack", "time"),
    "markers": ("data", "name", "startTime", "endTime", "phase", "category"),
    "nativeAllocations": ("time", "weight", "stack", "memoryAddress",
                          "threadId"),
}
# Column: where its numbers lead to.
REFERENCES = {
    ("stackTable", "frame"): "frameTable", ("stackTable", "prefix"):
    "stackTable", ("frameTable", "func"): "funcTable", ("funcTable", "name"):
    "stringArray", ("funcTable", "fileName"): "stringArray",
    ("funcTable", "resource"): "resourceTable", ("resourceTable", "name"):
    "stringArray", ("nativeAllocations", "stack"): "stackTable",
}


def check_tables(thread):
    for table, columns in COLUMNS.items():
        for column in columns:
            h.check_equal(len(thread[table][column]), thread[table]["length"],
                          "rows of %s.%s" % (table, column))
    for (table, column), to in REFERENCES.items():
        rows = len(thread[to]) if to == "stringArray" else thread[to]["length"]
        bad = [number for number in thread[table][column]
               if number is not None and number != -1 and
               not 0 <= number < rows]
        h.check_equal(bad, [], "%s.%s leads to %s" % (table, column, to))
    for i, prefix in enumerate(thread["stackTable"]["prefix"]):
        h.check(prefix is None or prefix < i, "callers come first")


def functions_of(thread, stack):
    names = []
    while stack is not None:
        frame = thread["stackTable"]["frame"][stack]
        names.append(thread["stringArray"][thread["funcTable"]["name"][
            thread["frameTable"]["func"][frame]]])
        stack = thread["stackTable"]["prefix"][stack]
    return names


def retained(thread, begin, end):
    """As the viewer has it: what a range has allocated, and not freed."""
    table = thread["nativeAllocations"]
    live = {}
    for time, weight, stack, address in zip(
            table["time"], table["weight"], table["stack"],
            table["memoryAddress"]):
        if not begin <= time < end:
            continue
        if weight >= 0:
            live[address] = (functions_of(thread, stack), weight)
        else:
            live.pop(address, None)
    return weights_by_function(live.values())


@h.test("Firefox Profiler: what a range of time has acquired and kept")
def firefox(case):
    watch(case, "--firefox", "a.json")
    whole = load(case, "a.json")
    h.check_equal((whole["meta"]["preprocessedProfileVersion"],
                   [c["color"] for c in whole["meta"]["categories"]]),
                  (48, ["grey"]), "version and categories")
    thread, = whole["threads"]
    check_tables(thread)
    table = thread["nativeAllocations"]
    h.check_equal((table["weightType"], table["time"]),
                  ("bytes", sorted(table["time"])), "in the order of time")
    times = thread["samples"]["time"]
    passed = [(time, weight) for time, weight, stack in zip(
        table["time"], table["weight"], table["stack"])
              if "pass" in functions_of(thread, stack)]
    h.check(times[0] <= min(table["time"]) and
            max(table["time"]) <= times[-1] + whole["meta"]["interval"],
            "the time line's length")
    # Its blocks are given back after a pause: nothing else is going on.
    before, middle, after = (passed[0][0] - 1,
                             min(time for time, weight in passed if weight < 0),
                             times[-1] + whole["meta"]["interval"])
    h.check_equal([retained(thread, *of) for of in (
        (0, before), (before, middle), (0, middle), (middle, after),
        (0, after))], [{"keep": keep, "pass": passing, "churn": 0}
                       for keep, passing in ((KEPT, 0), (0, PASSING),
                                             (KEPT, PASSING), (0, 0),
                                             (KEPT, 0))], "ranges")


# ---------------------------------------------------------------- all of them

OPTIONS = ("--speedscope", "--dhat", "--massif", "--firefox")


@h.test("a program that acquires nothing has files, too")
def nothing(case):
    program = h.build("nothing", case.write("nothing.c", "int main(void)"
                                            "{ return 0; }"),
                      directory=case.dir)
    pairs = [word for option in OPTIONS for word in (option, option[2:])]
    watch(case, *pairs, program=program)
    h.check_equal((load(case, "speedscope")["shared"]["frames"],
                   load(case, "dhat")["pps"],
                   load(case, "firefox")["threads"][0]["stackTable"]
                   ["length"]), ([], [], 0), "what is in them")
    done = case.run(["ms_print", "massif"]) if h.shutil.which("ms_print") \
        else None
    h.check(not done or done.status == 0, "ms_print")


@h.test("they know nothing of growth, and say so")
def growth(case):
    for option in OPTIONS:
        done = watch(case, "--growth", "heap", option, "x", status=2)
        h.check_equal(done.messages()[0],
                      "calltrap: %s: has nothing of --growth, unless leaks "
                      "are watched as well" % option, "what is said")


if __name__ == "__main__":
    sys.exit(h.main())
