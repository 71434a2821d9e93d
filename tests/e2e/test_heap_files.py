#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that calltrap heap writes for other programs, opened by these."""

import contextlib
import gzip
import json
import os
import re
import socket
import sys
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import heap_reports  # noqa: E402
from browser import Browser  # noqa: E402
from harness import *  # noqa: E402

SOURCE = victim("heap_files.c")


def line_of(mark):
    """The line of the victim's source that has this comment."""
    with open(SOURCE) as file:
        for number, line in enumerate(file, 1):
            if "/* %s */" % mark in line:
                return number
    raise Failure("no line is marked " + mark)


def own_build(case, name="heap_files", *flags):
    """In the test's own folder: it may vanish."""
    return build(name, "heap_files.c", "-g", "-O1", "-fno-builtin", *flags,
                 directory=case.dir)


def gather(case, *options, program=None, status=0):
    """(result, what the program says that it holds)"""
    result = case.calltrap("heap", *options, program or own_build(case),
                           log=False)
    result.check_status(status)
    held = {}
    for line in result.out.splitlines():
        words = line.split()
        if words[0] == "held":
            held[words[1]] = (int(words[2]), int(words[3]))
    return result, held


def reported(err):
    """Totals of the report, all families with bytes: in use, and ever."""
    totals = [0, 0, 0, 0]
    found = re.findall(r"^\w+: in use: ([\d,]+) bytes? in ([\d,]+) blocks?; "
                       r"total: ([\d,]+) allocs?, [\d,]+ frees?, ([\d,]+) "
                       r"bytes? allocated", err, re.M)
    check(found, "the report has no totals:\n" + shorten(err))
    for family in found:
        numbers = [int(word.replace(",", "")) for word in family]
        totals = [a + b for a, b in zip(totals, numbers)]
    return dict(zip(("bytes", "blocks", "alloc_blocks", "alloc_bytes"),
                    totals))


# ---------------------------------------------------------------- pprof

def pprof(case, *arguments):
    """What it prints. It may have nothing to complain about."""
    need("go")
    done = case.run(["go", "tool", "pprof"] + list(arguments),
                    env={"GOCACHE": case.path("cache"),
                         "PPROF_TMPDIR": case.dir})
    done.check_status(0)
    complaints = [line for line in done.err.splitlines()
                  if not line.startswith(("Generating report in",
                                          "Main binary filename: "))]
    check_equal(complaints, [], "complaints of pprof " + arguments[0])
    return done.out


def samples(raw):
    """Those of `pprof -raw': (values that all heaps have, labels)."""
    body = raw.split("\nSamples:\n")[1].split("\nLocations\n")[0]
    found = []
    for line in body.splitlines()[1:]:
        values, colon, _ = line.partition(": ")
        if colon and re.fullmatch(r"[ \d]+", values):
            found.append(([int(word) for word in values.split()][-4:], {}))
        else:
            for key, text in re.findall(r"(\w+):\[([^]]*)\]", line):
                found[-1][1][key] = text
    return found


@test("pprof: totals are the report's, and the program's", users=True)
def pprof_totals(case):
    result, held = gather(case, "--pprof", "heap.%p.pb.gz")
    files = [name for name in os.listdir(case.dir)
             if re.fullmatch(r"heap\.\d+\.pb\.gz", name)]
    check_equal(len(files), 1, "profiles written")
    found = samples(pprof(case, "-raw", files[0]))
    sums = [sum(values[i] for values, _ in found) for i in range(4)]
    check_equal(dict(zip(("alloc_blocks", "alloc_bytes", "blocks", "bytes"),
                         sums)), reported(result.err), "totals in the profile")
    check_equal(sum(values[3] for values, labels in found
                    if labels["allocator"] == "malloc" and
                    labels["library"] == "heap_files"),
                held["leak"][0], "bytes that malloc gave to the program")
    check_equal([(values[3], labels["bytes"]) for values, labels in found
                 if labels["allocator"] == "mmap" and
                 labels["library"] == "heap_files"],
                [(held["map"][0], "12288 bytes")], "what was mapped")
    check_match("^not a sample: every allocation is in it$",
                pprof(case, "-comments", files[0]), "-comments")


@test("pprof: a profile of samples says so")
def pprof_sampled(case):
    gather(case, "--pprof", "some.pb.gz", "--sample", "4k")
    check_match(r"^PeriodType: space bytes\nPeriod: 4096$",
                pprof(case, "-raw", "some.pb.gz"), "the period")
    comments = pprof(case, "-comments", "some.pb.gz")
    check_match("estimated by samples", comments, "-comments")
    check("not a sample" not in comments, comments)


@test("pprof shows first what --value says")
def pprof_first(case):
    program = own_build(case)
    for value, kind in (("inuse-bytes", "inuse_space"),
                        ("alloc-blocks", "alloc_objects")):
        gather(case, "--pprof", value, "--value", value, program=program)
        found = re.findall(r"(\w+)/\w+\[dflt\]", pprof(case, "-raw", value))
        check_equal(found, [kind], "the default of " + value)


@test("pprof: what each thread holds")
def pprof_threads(case):
    program = build("heap_crew", "heap_crew.c", "-g", "-O1", "-lpthread")
    case.calltrap("heap", "--pprof", "crew.pb.gz", program,
                  log=False).check_status(0)
    raw = pprof(case, "-raw", "crew.pb.gz")
    found = {}
    sums = [0, 0, 0, 0]
    for values, labels in samples(raw):
        if labels["library"] != "heap_crew":
            continue
        sums = [a + b for a, b in zip(sums, values)]
        key = labels.get("thread"), labels["bytes"].split()[0]
        found[key] = [a + b for a, b in zip(found.get(key, [0] * 4), values)]
    check_equal(sums, [118, 10800 + 300, 112, 10800 + 120], "sums")
    # Who has acquired what where several do is not known, but what is held.
    check_equal(found["eater", "100"], [0, 0, 100, 10000], "eaters")
    check_equal(found["nibbler", "100"], [0, 0, 5, 500], "nibbler")
    check_equal(found["nibbler", "30"], [10, 300, 4, 120], "the nibbler alone")
    check_equal([sum(values[3] for (thread, _), values in found.items()
                     if thread == "heap_crew")], [300], "main")
    tags = pprof(case, "-tags", "-tagfocus=thread=eater", "-unit=b",
                 "crew.pb.gz")
    check_match(r"thread: Total 10000", tags, "-tagfocus")


def check_views(case, profile):
    """All views in which something can be said without the binary."""
    head = pprof(case, "-raw", profile)
    check_match(r"inuse_space/bytes\[dflt\]", head, "the default type")
    check_match(r"^PeriodType: space bytes\nPeriod: 1$", head, "the period")
    mappings = head.split("\nMappings\n")[1].splitlines()
    check_match(r"^1: 0x.* \S*/heap_files \w+ \[FN\]\[FL\]\[LN\]\[IN\]$",
                mappings[0], "the first mapping")
    top = pprof(case, "-top", "-unit=b", "-nodefraction=0", profile)
    check_match(r"^Type: inuse_space$", top, "the type shown")
    check_match(r"^ *104950B .* 104950B .* keep \(inline\)$", top, "-top")
    check_match(r"^ *0 .* 104950B .* leak$", top, "-top")
    churn = pprof(case, "-top", "-unit=b", "-sample_index=alloc_space",
                  profile)
    check_match(r"^ *7700B .* 7700B .* churn$", churn, "-top of all bytes")
    check_match(r"104950B.*\|   keep \(inline\)$",
                pprof(case, "-peek", "leak", "-unit=b", profile), "-peek")
    tags = pprof(case, "-tags", profile)
    for tag in ("allocator", "bytes", "family", "library", "verdict"):
        check_match(r"^ *%s: Total" % tag, tags, "-tags")
    check_match(r"^ +\S+ +keep \(inline\)\n +leak\n +main$",
                pprof(case, "-traces", profile), "-traces")
    check_match(r"leak", pprof(case, "-tree", profile), "-tree")
    check_match(r'label="leak', pprof(case, "-dot", profile), "-dot")


@test("pprof: every view, with the binary and its source")
def pprof_views(case):
    gather(case, "--pprof", "heap.pb.gz")
    check_views(case, "heap.pb.gz")
    source = pprof(case, "-list", "leak|recurse", "-unit=b", "heap.pb.gz")
    for mark, numbers in (("LEAK", r" +\. +104950B"),
                          ("INLINED", r" +104950B +104950B"),
                          ("DEEP", r" +6400B +6400B")):
        if mark == "INLINED":
            source = pprof(case, "-list", "keep", "-unit=b", "heap.pb.gz")
        elif mark == "DEEP":
            source = pprof(case, "-list", "recurse", "-unit=b", "heap.pb.gz")
        check_match(r"^%s +%d:.*/\* %s \*/" % (numbers, line_of(mark), mark),
                    source, "-list")
    check_match(r"^ROUTINE =+ leak\n +104950B +104950B",
                pprof(case, "-disasm", "leak|keep", "-unit=b", "heap.pb.gz"),
                "-disasm")


@test("pprof: every view, without the binary")
def pprof_without_binary(case):
    program = own_build(case)
    gather(case, "--pprof", "heap.pb.gz", program=program)
    os.unlink(program)
    check_views(case, "heap.pb.gz")


@test("pprof: code without debug information, and without names")
def pprof_stripped(case):
    gather(case, "--pprof", "heap.pb.gz",
           program=own_build(case, "stripped", "-s"))
    top = pprof(case, "-top", "-unit=b", "-nodefraction=0", "heap.pb.gz")
    check_match(r"^ *104950B .* \[stripped\+0x[0-9a-f]+\]$", top, "-top")


def free_port():
    with contextlib.closing(socket.socket()) as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def answers(address):
    host, _, port = address.partition(":")
    with contextlib.suppress(OSError):
        socket.create_connection((host, int(port)), PATIENCE).close()
        return True
    return False


def fetch(url):
    with urllib.request.urlopen(url, timeout=PATIENCE) as page:
        return page.read().decode(errors="replace")


def serve(case, *arguments):
    """The address of pprof's pages, and its process."""
    need("go", "dot")
    address = "127.0.0.1:%d" % free_port()
    server = case.start(["go", "tool", "pprof", "-no_browser",
                         "-http=" + address, *arguments],
                        env={"PPROF_TMPDIR": case.dir})
    # It says that it serves before it listens.
    wait_until(lambda: answers(address) or server.popen.poll() is not None,
               "pprof's server")
    return "http://%s/ui/" % address, server


# What each page has to show of leak(), in the browser that ran its scripts.
NODE = ("[...document.querySelectorAll('#graph .node text')].some(e => "
        "e.textContent == 'leak')")
FLAME = ("[...document.querySelectorAll('.boxtext, .d3-flame-graph-label')]"
         ".some(e => e.textContent == 'leak')")
ROW = ("[...document.querySelectorAll('#rows tr')].some(e => "
       "/104950B .* leak$/.test(e.innerText.trim().replace(/\\s+/g, ' ')))")
PAGES = {
    "": NODE,
    "flamegraph": FLAME,
    "top": ROW,
    "peek?f=leak": "/leak/.test(document.querySelector('#content')"
                   ".textContent)",
    "source?f=leak": "/void leak\\(size_t size\\)/.test(document"
                     ".querySelector('#content').textContent)",
}


def look_at_pages(case, pages):
    base, server = serve(case, "-unit=b", "heap.pb.gz")
    for page in pages:
        text = fetch(base + page)
        check("leak" in text, "the page %r doesn't name leak()" % page)
        check("inuse_space" in text, "the page %r has another type" % page)
    browser = Browser(case)
    for page, shown in pages.items():
        browser.open(base + page, tag="HTML")
        browser.wait(shown, True)
    check_equal(browser.complaints(), [], "complaints of the browser")
    browser.close()
    check_equal(len(server.err.splitlines()), 1,
                "lines that pprof says: " + server.err)


@test("pprof: its web pages, in a browser")
def pprof_web(case):
    gather(case, "--pprof", "heap.pb.gz")
    look_at_pages(case, PAGES)


@test("pprof: its web pages, without the binary")
def pprof_web_without_binary(case):
    program = own_build(case)
    gather(case, "--pprof", "heap.pb.gz", program=program)
    os.unlink(program)
    look_at_pages(case, PAGES)


# ---------------------------------------------------------------- callgrind

# Valgrind's, and ours behind them.
EVENTS = ("curB", "curBk", "totB", "totBk", "totFdB", "totFdBk")
OURS = ("peakB", "peakBk", "tmpBk")


def own_costs(path, file_name):
    """(costs of each line of a file by itself, those of the program), by the
    events that valgrind has, too."""
    costs, names, totals = {}, {}, None
    ours = calls = False
    for line in read(path).splitlines():
        found = re.match(r"fl=(?:\((\d+)\))? ?(.*)$", line)
        if found:
            name = names.setdefault(found[1], found[2]) if found[1] \
                else found[2]
            ours = name.endswith("/" + file_name)
        elif re.match(r"[\d]+( \d+){6}( \d+){0,3}$", line):
            numbers = [int(word) for word in line.split()]
            if ours and not calls:
                old = costs.get(numbers[0], [0] * 6)
                costs[numbers[0]] = [a + b for a, b in zip(old, numbers[1:7])]
        elif line.startswith("totals:"):
            totals = [int(word) for word in line.split()[1:7]]
        calls = line.startswith("calls=")
    return costs, totals


@test("callgrind: the numbers of each line, and all totals, are valgrind's")
def callgrind_like_valgrind(case):
    need("valgrind")
    program = own_build(case)
    gather(case, "--callgrind", "ours.kcg", program=program)
    done = case.run(["valgrind", "--tool=memcheck", "--xtree-memory=full",
                     "--xtree-memory-file=" + case.path("theirs.kcg"),
                     program], patience=300)
    if "HEAP SUMMARY" not in done.err:
        raise Skip("valgrind doesn't run here")
    ours, totals = own_costs(case.path("ours.kcg"), "heap_files.c")
    theirs, their_totals = own_costs(case.path("theirs.kcg"), "heap_files.c")
    # Mappings are not for valgrind.
    mapped = ours.pop(line_of("MAP"))
    check_equal(mapped, [3 * 4096, 1, 3 * 4096, 1, 0, 0], "the mapping")
    # What is given back is for valgrind a cost of the line that does that.
    check_equal({line: costs[:4] for line, costs in ours.items()},
                {line: costs[:4] for line, costs in theirs.items()
                 if costs[3]}, "costs by line")
    check_equal(sorted(ours), sorted(line_of(mark) for mark in
                                     ("INLINED", "CHURN", "DEEP")), "lines")
    check_equal([a - b for a, b in zip(totals, mapped)], their_totals,
                "totals")


def annotate(case, *arguments):
    need("callgrind_annotate")
    done = case.run(["callgrind_annotate"] + list(arguments))
    done.check_status(0)
    check_equal(done.err, "", "what callgrind_annotate complains about")
    # Percentages depend on its version.
    return re.sub(r" *\([ \d.]+%\)", "", done.out)


@test("callgrind_annotate shows the line that leaks")
def callgrind_annotated(case):
    gather(case, "--callgrind", "heap.kcg")
    text = annotate(case, "--auto=yes", "heap.kcg", SOURCE)
    check_match(r"^Events shown: +" + " ".join(EVENTS + OURS) + "$", text,
                "events")
    check_match(r"^ *104,950 +100 +104,950 +100 +0 +0 +104,950 +100 +0 .*"
                r"/\* INLINED \*/$", text, "the line that leaks")
    check_match(r"^ *0 +0 +7,700 +100 +7,700 +100 +0 +0 +100 .*/\* CHURN \*/$",
                text, "the line that doesn't")
    check_match(r"^ *104,950 +100 +104,950 +100 +0 +0 +104,950 +100 +0 +=> .*"
                r":keep \(100x\)",
                text, "the call that leads there")
    tree = annotate(case, "--inclusive=yes", "--tree=caller", "heap.kcg")
    totals = re.search(r"^ *([\d,]+) .*PROGRAM TOTALS", tree, re.M)[1]
    check_match(r"^ *%s .*\* .*:main" % totals, tree, "all is below main()")
    check_match(r"^ *6,400 +100 +6,400 +100 +0 +0 +6,400 +100 +0 +\* .*"
                r":recurse", tree, "recursion counts once")


def load_in_kcachegrind(case, name):
    """What it says of a file, without a screen."""
    os.makedirs(case.path("run"), 0o700, exist_ok=True)
    viewer = case.start(["dbus-run-session", "--", "kcachegrind",
                         case.path(name)],
                        env={"QT_QPA_PLATFORM": "offscreen",
                             "XDG_RUNTIME_DIR": case.path("run"),
                             "HOME": case.dir})
    wait_until(lambda: re.search(r"^(Selected|Loading) ", viewer.err, re.M) or
               viewer.popen.poll() is not None, "kcachegrind's words")
    said = [line for line in viewer.err.splitlines()
            if line.startswith(("Selected", "Loading"))]
    viewer.end()
    return said


@test("kcachegrind opens it, and has nothing to complain about")
def kcachegrind_opens(case):
    need("kcachegrind", "dbus-run-session")
    gather(case, "--callgrind", "heap.kcg")
    said = load_in_kcachegrind(case, "heap.kcg")
    check_equal([line.split()[0] for line in said], ["Selected"],
                "what it said: %r" % said)
    whole = read(case.path("heap.kcg"))
    case.write("odd.kcg", whole.replace("\nfn=", "\nfunction=", 1))
    said = load_in_kcachegrind(case, "odd.kcg")
    check_match("^Loading ", said[0], "what it said of a damaged one")


# ---------------------------------------------------------------- JSON

@test("JSON: the report's totals, sites, stacks from the leaf on")
def json_whole(case):
    result, held = gather(case, "--json", "heap.json")
    with open(case.path("heap.json")) as file:
        heap = json.load(file)
    totals = reported(result.err)
    for where, numbers in (("summary", heap["summary"]),
                           ("sum of sites", {
                               key: sum(site[key] for site in heap["sites"])
                               for key in totals})):
        check_equal({key: numbers[key] for key in totals}, totals, where)
    leak, = [site for site in heap["sites"] if site["bytes"] == 104950]
    check_equal((leak["bytes"], leak["blocks"]), held["leak"], "the leak")
    check_equal((leak["alloc_bytes"], leak["freed_blocks"]), (104950, 0),
                "the leak")
    check(leak["verdict"] in ("NOT", "POSSIBLE", "LIKELY"), "its verdict")
    check_equal([(frame["function"], frame.get("line"))
                 for frame in leak["stack"][:2]],
                [("keep", line_of("INLINED")), ("leak", line_of("LEAK"))],
                "its stack")
    check(all(frame["library"].endswith("/heap_files") and
              frame["file"].endswith("/heap_files.c")
              for frame in leak["stack"][:3]), "library and file")
    check_equal(heap["lost"]["calls"], 0, "calls lost")
    calls = {use["function"]: use["calls"] for use in heap["calls"]
             if use.get("library", "").endswith("/heap_files")}
    check_equal(calls, {"malloc": 100, "calloc": 200, "free": 100, "mmap": 1},
                "calls")


# ---------------------------------------------------------------- heap diff

def diff(case, *arguments):
    done = case.calltrap("heap", "diff", *arguments, log=False)
    done.check_status(0)
    done.check_quiet()
    return done.out


def changes(text):
    """{kind: (sites, bytes, blocks)} of the table's head."""
    found = re.findall(r"^([a-z ]+): (\d+) sites?, ([-+\d,]+) bytes, "
                       r"([-+\d,]+) blocks$", text, re.M)
    return {kind: tuple(int(word.replace(",", "")) for word in rest)
            for kind, *rest in found}


@test("heap diff: what is new, grown, shrunk, gone", users=True)
def diff_kinds(case):
    program = own_build(case)
    for name, rounds in (("old", "l100 r10 m1"), ("new", "l20 r30 c5 m1")):
        case.calltrap("heap", "--pprof", name, program, rounds,
                      log=False).check_status(0)
    text = diff(case, "old", "new")
    leaked = [sum(1000 + i for i in range(n)) for n in (100, 20)]
    check_equal(changes(text),
                {"new": (0, 0, 0), "grown": (1, 20 * 64, 20),
                 "shrunk": (1, leaked[1] - leaked[0], -80),
                 "gone": (0, 0, 0), "as before": (1, 0, 0)}, "in use")
    shrunk = text.split("---- shrunk\n")[1]
    check_match(r"^ +-%s +-80 +%s +%s  malloc by keep\n"
                r" +keep \S*/heap_files.c:%d\n +leak \S*:%d\n +main " %
                (*("{:,}".format(n) for n in
                   (leaked[0] - leaked[1], *leaked)),
                 line_of("INLINED"), line_of("LEAK")), shrunk, "the row")
    check_equal(changes(diff(case, "--value", "alloc-bytes", "old", "new"))
                ["new"], (1, 5 * 77, 5), "allocated")
    check_equal(changes(diff(case, "new", "old"))["grown"],
                (1, leaked[0] - leaked[1], 80), "the other way round")
    check_equal(changes(diff(case, "old", "old"))["as before"][0], 3,
                "sites of a file and itself that are the same")


@test("heap diff: other builds are compared by function, not by line")
def diff_builds(case):
    for name, flags in (("first", []), ("second", ["-DONCE_MORE"])):
        case.write(name + ".c", ("\n" * len(flags) * 7) + read(SOURCE))
        program = build(name, case.path(name + ".c"), "-g", "-O1",
                        "-fno-builtin", *flags, directory=case.dir)
        case.calltrap("heap", "--pprof", name + ".pb.gz", program,
                      log=False).check_status(0)
    found = changes(diff(case, "first.pb.gz", "second.pb.gz"))
    check_equal(found["as before"][0], 3, "sites as before: %r" % found)


def encoded(number):
    return bytes([number]) if number < 128 else (
        bytes([number & 127 | 128]) + encoded(number >> 7))


def field(number, value):
    """Of a protobuf's message: a number, or bytes."""
    if isinstance(value, int):
        return encoded(number << 3) + encoded(value)
    return encoded(number << 3 | 2) + encoded(len(value)) + value


def watched(case, name, start, seconds, held, comment="heap of process 7"):
    """A profile: {function that acquires: (bytes, blocks)}."""
    texts = ["", "alloc_objects", "count", "alloc_space", "bytes",
             "inuse_objects", "inuse_space", "allocator", "malloc", comment]
    texts += sorted(held)
    types = [(1, 2), (3, 4), (5, 2), (6, 4)]
    data = b"".join(field(1, field(1, kind) + field(2, unit))
                    for kind, unit in types)
    for number, function in enumerate(sorted(held), 1):
        size, blocks = held[function]
        values = b"".join(encoded(n) for n in (blocks, size, blocks, size))
        data += field(2, field(1, encoded(number)) + field(2, values) +
                      field(3, field(1, 7) + field(2, 8)))
        data += field(4, field(1, number) + field(4, field(1, number)))
        data += field(5, field(1, number) + field(2, 9 + number))
    data += b"".join(field(6, text.encode()) for text in texts)
    data += (field(9, (start + seconds) * 10**9) +
             field(10, seconds * 10**9) + field(13, 9))
    case.write(name, "")
    with open(case.path(name), "wb") as file:
        file.write(data)


def rates(text):
    found = re.findall(r"^([a-z ]+): (\d+) sites?, ([-+.\d,]+) bytes, "
                       r"([-+.\d,]+) blocks( a second)?$", text, re.M)
    return {kind: rest for kind, *rest in found}


@test("heap diff: when each was written, and how fast it acquired")
def diff_heads(case):
    watched(case, "old", 1000, 8, {"leak": (800, 80)})
    watched(case, "new", 2000, 16, {"leak": (32000, 160)})
    text = diff(case, "old", "new")
    when = r"\n    1970-01-0[12] \d\d:\d\d:\d\d, watched for "
    check_match(r"^before: \S*old \(heap of process 7\)" + when + r"8 s, "
                r"80 allocations \(10 a second\), 800 bytes \(100 a second\)$",
                text, "before")
    check_match(r"^now: \S*new \(heap of process 7\)" + when + r"16 s, "
                r"160 allocations \(10 a second\), 32,000 bytes \(2,000 a "
                r"second\)$", text, "now")


@test("heap diff --by library, --by component")
def diff_groups(case):
    program = build("heap_deep-g", "heap_deep.c", "-O1", "-g")
    case.write("parts", "big: large\nsmall: small\n")
    case.write("others", "big: large\n")
    for name, parts in (("old", "parts"), ("new", "others"), ("bare", None)):
        options = ("--components", case.path(parts)) if parts else ()
        case.calltrap("heap", "--pprof", case.path(name), *options, program,
                      log=False).check_status(0)
    text = diff(case, "old", "new", "--by", "component")
    check_match(r"^as before: 1 component, 0 bytes, 0 blocks$", text, "big")
    check_match(r"^---- new\n.*\n +\+6,000 +\+3 +0 +6,000  \(other\)\n"
                r"---- gone\n.*\n +-6,000 +-3 +6,000 +0  small\n\Z", text,
                "rows")
    folded = case.path("folded")
    text = diff(case, "old", "bare", "--by", "library", "--folded", folded)
    check_match(r"^as before: 1 library, 0 bytes, 0 blocks$", text, "library")
    check(";first;second;third;fourth;large" in read(folded), "stacks")
    result = case.calltrap("heap", "diff", "--by", "component",
                           case.path("old"), case.path("bare"), log=False)
    result.check_status(1)
    check_match(r"bare was written without --components$", result.err, "why")


@test("heap diff: watches of their own are compared per second")
def diff_rates(case):
    watched(case, "old", 1000, 8, {"steady": (8000, 80), "faster": (800, 80),
                                   "slower": (800, 80), "once": (5000, 1),
                                   "gone": (80, 8)})
    late = {"steady": (16400, 164), "faster": (8000, 800),
            "slower": (160, 16), "once": (5000, 1), "new": (160, 16)}
    watched(case, "new", 2000, 16, late)
    text = diff(case, "old", "new")
    check_match(r"^in use: 14,680 bytes in 249 blocks in 8 s before, "
                r"29,720 bytes in 997 blocks in 16 s now", text, "head")
    found = rates(text)
    check_equal({kind: rest[0] for kind, rest in found.items()},
                {"new": "1", "grown": "1", "shrunk": "1", "gone": "1",
                 "as before": "2"}, "sites")
    check_equal(found["grown"][1:], ["+400", "+40", " a second"], "grown")
    check_equal(found["shrunk"][1:], ["-90", "-9.0", " a second"], "shrunk")
    check_match(r"^---- grown, per second\n.*\n +\+400 +\+40 +100 +500  "
                r"malloc by faster$", text, "row")
    # The same watch, later; and processes that were seen from their start.
    watched(case, "later", 1000, 16, late)
    check_equal(changes(diff(case, "old", "later"))["grown"],
                (2, 15600, 804), "of one watch")
    for name, start, seconds in (("old", 1000, 8), ("new", 2000, 16)):
        watched(case, name, start, seconds, {"steady": (8000 * seconds, 80)},
                "heap of process 7, from its start")
    check_equal(changes(diff(case, "old", "new"))["grown"][:2], (1, 64000),
                "from the start")


@test("heap diff: folded stacks with both numbers")
def diff_folded(case):
    program = own_build(case)
    for name, rounds in (("old", "l100"), ("new", "l20")):
        case.calltrap("heap", "--pprof", name, program, rounds,
                      log=False).check_status(0)
    diff(case, "--folded", "both", "--value", "inuse-blocks", "old", "new")
    check_match(r"^_start;.*;main;leak;keep;malloc 100 20$",
                read(case.path("both")), "folded stacks")


@test("heap diff reads Go's own profiles")
def diff_go(case):
    need("go")
    case.write("heap.go", """package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
)

var kept = make([][]byte, 0, 10)

func leak(n int) {
	for i := 0; i < n; i++ {
		kept = append(kept, make([]byte, 1<<20))
	}
}

func write(path string) {
	file, _ := os.Create(path)
	runtime.GC()
	pprof.WriteHeapProfile(file)
	file.Close()
}

func main() {
	runtime.MemProfileRate = 1
	// A collection that begins in leak() allocates there, too.
	debug.SetGCPercent(-1)
	leak(1)
	write("old")
	leak(3)
	write("new")
}
""")
    done = case.run(["go", "run", "heap.go"], patience=300,
                    env={"GOCACHE": case.path("cache"),
                         "GO111MODULE": "off"})
    done.check_status(0)
    text = diff(case, "--top", "0", "old", "new")
    check_match(r"^ +\+3,145,728 +\+3 .* allocated by main.leak$", text,
                "the table")


def varint(data, at):
    number = shift = 0
    while data[at] & 128:
        number |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
    return number | data[at] << shift, at + 1


def cut_within(plain):
    """Half of a profile, its last field in the middle: whole fields, however
    few, are a profile."""
    at = 0
    while True:
        begin = at
        tag, at = varint(plain, at)
        number, at = varint(plain, at)
        if tag & 7 == 2:
            at += number
            if at > len(plain) // 2 and number > 2:
                return plain[:at - number // 2]


@test("heap diff: what is no profile, and what is damaged, is told")
def diff_damaged(case):
    gather(case, "--pprof", "whole")
    with open(case.path("whole"), "rb") as file:
        data = file.read()
    plain = gzip.decompress(data)
    bad = {"empty": b"", "cut": data[:len(data) // 2],
           "plain_cut": cut_within(plain), "text": b"heap profile: 1",
           "zeroes": bytes(1000),
           "bomb": gzip.compress(bytes(600 << 20), 1)}
    for name, content in bad.items():
        with open(case.path(name), "wb") as file:
            file.write(content)
        done = case.calltrap("heap", "diff", "whole", name, log=False)
        check_equal((done.status, done.out, len(done.messages())), (1, "", 1),
                    name + ": " + done.err)
        check_match(r"^calltrap: %s can't be read: \S" % name, done.err, name)
    done = case.calltrap("heap", "diff", "whole", "nowhere", log=False)
    check_equal(done.messages(), ["calltrap: nowhere can't be read: No such "
                                  "file or directory"], "messages")
    with open(case.path("not_compressed"), "wb") as file:
        file.write(plain)
    check_equal(changes(diff(case, "whole", "not_compressed"))
                ["as before"][0], 3, "a profile that isn't compressed")


# ---------------------------------------------------------------- all

@test("a file that can't be written is told, and harms nothing else")
def unwritable(case):
    result, held = gather(case, "--pprof", "/dev/full", "--callgrind",
                          "heap.kcg", status=1)
    check_equal([text for text in result.messages()
                 if not text.startswith("calltrap: caught: ")],
                ["calltrap: /dev/full can't be written: No space left on "
                 "device"], "messages")
    check(reported(result.err)["bytes"] >= held["leak"][0], "the report")
    check(own_costs(case.path("heap.kcg"), "heap_files.c")[1], "the third")


@test("a file that can't be made is told at once: nothing is touched")
def nowhere(case):
    """A run of an hour has lost nothing, and what is there stays."""
    case.write("kept", "kept")
    target = case.start([own_build(case)])
    check_equal(
        [(done.status, done.messages()) for done in (
            case.calltrap("heap", "--for", "1h", option, path, "-o", "kept",
                          "-p", str(target.pid), log=False)
            for option, path in (("--svg", "nowhere/x"), ("--folded", "/"),
                                 ("--pprof", "nowhere/%p"),
                                 ("--json", "kept/x"),
                                 ("--callgrind", "nowhere/x"),
                                 ("--calls", "nowhere/%p.csv"),
                                 ("--footprint", "nowhere/x")))],
        [(1, ["calltrap: %s can't be written: %s" % told]) for told in (
            ("nowhere/x", "No such file or directory"),
            ("/", "Is a directory"),
            ("nowhere/%p", "No such file or directory"),
            ("kept/x", "Not a directory"),
            ("nowhere/x", "No such file or directory"),
            ("nowhere/%p.csv", "No such file or directory"),
            ("nowhere/x", "No such file or directory"))], "messages")
    check_equal((read(case.path("kept")), tracer_of(target.pid)),
                ("kept", 0), "what was touched")


@test("--older-than counts for files, too")
def older_than(case):
    gather(case, "--older-than", "1h", "--pprof", "heap.pb.gz", "--json",
           "heap.json", "--callgrind", "heap.kcg")
    with open(case.path("heap.json")) as file:
        sites = json.load(file)["sites"]
    check_equal(sum(site["bytes"] for site in sites), 0, "bytes in JSON")
    check(sum(site["alloc_bytes"] for site in sites) >= 104950, "allocated")
    totals = own_costs(case.path("heap.kcg"), "heap_files.c")[1]
    check_equal(totals[:2], [0, 0], "totals of callgrind's file")
    values = [values for values, _ in samples(pprof(case, "-raw",
                                                    "heap.pb.gz"))]
    check_equal((sum(v[2] for v in values), sum(v[3] for v in values)),
                (0, 0), "in use in the profile")


BEGINNINGS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char *kept[5];
static char *keep(const void *bytes, size_t size) {
	return memcpy(malloc(size), bytes, size);
}
int main(void) {
	puts("ready"); fflush(stdout); getchar();
	kept[0] = keep("short\\0behind it", 16);
	kept[1] = keep("1234567\\303\\244 that goes on", 24);
	kept[2] = keep("ab\\1", 3);
	kept[3] = keep("\\0\\1\\2\\3\\4\\5\\6\\7\\10\\11", 10);
	kept[4] = malloc(0);
	puts("done"); fflush(stdout); getchar();
	return kept[0][0] == 0;
}
"""


@test("what blocks begin with: text where it is some, cut where it is long")
def _(case):
    source = case.write("beginnings.c", BEGINNINGS)
    target = case.start([build("beginnings", source, "-O1", "-fno-builtin",
                               directory=case.dir)])
    wait_until(lambda: "ready" in target.out, "the program")
    file = case.path("objects.json")
    tracer = heap_reports.attach(case, target,
                                 options=["--objects", file, "--data", "8"])
    heap_reports.settle(target, tracer)
    target.say("\n")
    wait_until(lambda: "done" in target.out, "the blocks")
    heap_reports.leave(tracer)
    blocks = [json.loads(line) for line in read(file).splitlines()]
    check_equal(sorted((block["size"], block.get("text"), block.get("data"))
                       for block in blocks if block["size"] <= 24),
                [(0, None, None), (3, None, "616201"),
                 (10, None, "0001020304050607"), (16, "short", None),
                 (24, "1234567", None)], "what blocks begin with")
    result = case.calltrap("heap", "--data", "8", "true", log=False)
    check("--data: is of the blocks that --objects" in result.err, result.err)
    result.check_status(2)


if __name__ == "__main__":
    sys.exit(main())
