#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The flame graph of `calltrap heap diff --svg`: what came, what went, and how
much, by the programs' own counts; what has gone is seen too."""

import os
import re
import sys

sys.dont_write_bytecode = True
import harness as h
from browser import Browser
from flames import (DETAIL, MATCHED, SHOWN, SVG, Graph, button, draw, element,
                    width_of, written_script)

OLD, NEW = "l40 r300 c300", "l20 r600 m2"
# Bytes that these acquire (and churn() gives back): before, now.
LEAF = {
    "leak": tuple(sum(1000 + i for i in range(n)) for n in (40, 20)),
    "recurse": (300 * 64, 600 * 64),
    "churn": (300 * 77, 0),
    "map": (0, 2 * 3 * 4096),
}
KINDS = {"leak": "SHRUNK", "recurse": "GROWN", "churn": "GONE", "map": "NEW"}
HOSTILE = {
    "leak": b"</text><script>alert(1)</script>",
    "churn": b"q\"uo'te&amp;]]>\x01\x1b[31m\xff (before 1 bytes, now 2: +1)",
}


def profile(case, name, program, words):
    case.calltrap("heap", "--pprof", name, program, words,
                  log=False).check_status(0)


def compare(case, *options, old=OLD, new=NEW, change=None):
    """The picture, and the folded stacks with both numbers."""
    program = h.build("heap_files", "heap_files.c", "-g", "-O1",
                      "-fno-builtin", directory=case.dir)
    if change:
        program = change(program)
    profile(case, "old.pb.gz", program, old)
    profile(case, "new.pb.gz", program, new)
    result = case.calltrap("heap", "diff", "--svg", case.path("diff.svg"),
                           "--folded", case.path("diff.folded"), *options,
                           "old.pb.gz", "new.pb.gz", log=False)
    result.check_status(0)
    result.check_quiet()
    return Graph(case.path("diff.svg")), read_folded(case.path("diff.folded"))


def allocated(case, **how):
    return compare(case, "--value", "alloc-bytes", **how)


def read_folded(path):
    stacks = {}
    for line in h.read(path).splitlines():
        stack, before, now = line.rsplit(" ", 2)
        h.check(stack not in stacks, "twice: " + stack)
        stacks[stack] = (int(before), int(now))
    return stacks


def sums(boxes):
    return tuple(sum(getattr(box, key) for box in boxes)
                 for key in ("weight", "before", "now"))


# ---------------------------------------------------------------- the file

@h.test("boxes have what was before and what is now, by the programs' counts",
        users=True)
def _(case):
    graph, folded = allocated(case)
    for name, (before, now) in LEAF.items():
        box = graph.named(name)
        h.check_equal((box.before, box.now, box.weight),
                      (before, now, max(before, now)), name)
        h.check_equal(box.more[-1], KINDS[name], "kind of " + name)
    for box in graph.boxes:
        h.check_equal(box.said, (box.before, box.now), "text of " + box.name)
        h.check_equal(box.change, box.now - box.before, "change of " + box.name)
        if box.children:
            h.check_equal(sums(box.children), sums([box]),
                          "children of " + box.name)
    h.check_equal({";".join(box.path): (box.before, box.now)
                   for box in graph.boxes if not box.children},
                  folded, "leaves, folded stacks")
    root = graph.root
    h.check_equal((root.grown, root.shrunk),
                  (root.weight - root.before, root.weight - root.now),
                  "what grew, what shrank")
    h.check_equal(graph.named("recurse").percent, "+100.00%", "percentage")


@h.test("a box is as wide as the larger side; bars tell what came and went")
def _(case):
    graph, _ = allocated(case)
    whole = graph.root.weight
    for name, (before, now) in LEAF.items():
        box = graph.named(name)
        h.check(abs(box.width - 1200 * max(before, now) / whole) < 0.02,
                "width of %s: %g" % (name, box.width))
        kind = "grown" if now > before else "shrunk"
        share = 100 * abs(now - before) / max(before, now)
        h.check_equal(box.bars.get(kind),
                      ("%.3f%%" % (100 - share), "%.3f%%" % share),
                      "the bar of " + name)
        h.check_equal(sorted(box.bars), sorted(["kept", "outline", kind]),
                      "bars of " + name)
    h.check_equal((graph.named("map").text, graph.named("churn").text,
                   graph.named("leak").text), ("+ map", "- churn", "leak"),
                  "marks")
    h.check_equal(graph.title, "Heap Acquired Flame Graph, differences: "
                  "old.pb.gz and then new.pb.gz", "title")
    header = "".join(graph.tree.getroot().itertext())
    h.check("more, + new; \u25a0 less, - gone; \u25a0 as before" in header,
            "legend")


@h.test("equal profiles show that nothing has changed")
def _(case):
    graph, _ = compare(case, new=OLD)
    for box in graph.boxes:
        h.check_equal((box.more[-1], sorted(box.bars), box.before),
                      ("as before", ["kept", "outline"], box.now), box.name)
    empty, folded = compare(case, old="x", new="x")
    h.check_equal((len(empty.boxes), folded), (1, {}), "boxes of nothing")


@h.test("flamegraph.pl draws the stacks with both numbers, and the reverse")
def _(case):
    graph, _ = allocated(case)
    now = graph.root.now
    for options in (), ("--negate",):
        text = draw(case.path("diff.folded"), "--countname=bytes", *options)
        found = re.findall(r"<title>(\w+) \(([\d,]+) bytes, [\d.]+%; "
                           r"([-+][\d.]+)%\)</title>", text)
        h.check_equal({name: (size, change) for name, size, change in found
                       if name.endswith(("map", "alloc"))},
                      {leaf: ("{:,}".format(LEAF[name][1]), "%+.2f" % (
                          100 * (LEAF[name][1] - LEAF[name][0]) / now *
                          (-1 if options else 1)))
                       for leaf, name in (("mmap", "map"),
                                          ("calloc", "recurse"),
                                          ("malloc", "leak"))}, "leaves")


def with_hostile_names(program):
    h.need("objcopy")
    argv = ["objcopy"]
    for old, new in HOSTILE.items():
        argv += ["--redefine-sym", old.encode() + b"=" + new]
    h.subprocess.run(argv + ["--strip-debug", program, program + "2"],
                     check=True)
    return program + "2"


@h.test("hostile names stay text")
def _(case):
    graph, _ = allocated(case, change=with_hostile_names)
    root = graph.tree.getroot()
    scripts = [e for e in root.iter() if e.tag.lower().endswith("script")]
    h.check_equal([script.text.split() for script in scripts],
                  [written_script().split()], "scripts")
    h.check_equal({e.tag.replace(SVG, "") for e in root.iter()},
                  {"svg", "title", "style", "defs", "linearGradient", "stop",
                   "g", "rect", "text", "tspan", "script"}, "elements")
    graph.named("</text><script>alert(1)</script>")
    browser = Browser(case)
    browser.open(graph.address + "#side=constructor&zoom=__proto__&find=%3Cs")
    browser.wait(width_of(graph.root), 1200)
    browser.wait(MATCHED + ".startsWith('matched: ')", True)
    h.check_equal(browser.complaints(), [], "complaints")
    browser.close()


@h.test("a picture that can't be written is one message; the rest is there")
def _(case):
    compare(case)
    table = case.calltrap("heap", "diff", "old.pb.gz", "new.pb.gz", log=False)
    case.write("mine", "old")
    os.mkdir(case.path("shut"), 0o555)
    places = {"/dev/full": "No space left on device",
              "nowhere/x.svg": "No such file or directory",
              "shut": "Is a directory"}
    for path, why in places.items():
        for this, other in (("--svg", "--folded"), ("--folded", "--svg")):
            done = case.calltrap("heap", "diff", this, path, other, "mine",
                                 "old.pb.gz", "new.pb.gz", log=False)
            h.check_equal(done.messages(),
                          ["calltrap: %s can't be written: %s" % (path, why)],
                          "messages")
            h.check_equal((done.status, done.out), (1, table.out),
                          "status and table")
            h.check(len(h.read(case.path("mine"))) > 100, "the other file")
            case.write("mine", "old")
    h.check_equal(sorted(name for name in os.listdir(case.dir)
                         if name.startswith(("mine", "shut"))),
                  ["mine", "shut"], "files left behind")


@h.test("a pipe that nobody reads is one message, and the table is there")
def _(case):
    compare(case)
    table = case.calltrap("heap", "diff", "old.pb.gz", "new.pb.gz", log=False)
    for option in "--svg", "--folded":
        theirs, ours = os.pipe()
        os.close(theirs)
        process = case.start(
            [h.CALLTRAP, "heap", "diff", option, "/dev/fd/%d" % ours,
             "old.pb.gz", "new.pb.gz"], pass_fds=(ours,))
        status = process.wait()
        os.close(ours)
        h.check_equal((status, process.out, process.err),
                      (1, table.out, "calltrap: /dev/fd/%d can't be written: "
                       "Broken pipe\n" % ours), "status, table, messages")


# ---------------------------------------------------------------- a browser

def look(case):
    graph, _ = allocated(case)
    browser = Browser(case)
    browser.open(graph.address)
    return graph, browser


def is_shown(box):
    return "%s.includes('%s')" % (SHOWN, box.id)


@h.test("a button and a key turn to what was before, and to what is now")
def _(case):
    graph, browser = look(case)
    root = graph.root
    sides = (("Both", "", root.weight, max),
             ("Before", "#side=before", root.before, lambda old, _: old),
             ("Now", "#side=now", root.now, lambda _, new: new))
    for turn in (lambda name: browser.click(button(name)),
                 lambda name: browser.key("b")):
        for name, address, whole, choose in sides:
            browser.wait("location.hash.replace(/#$/, '')", address)
            for leaf, both in LEAF.items():
                box, weight = graph.named(leaf), choose(*both)
                browser.wait(is_shown(box), weight > 0)
                if weight:
                    browser.wait("Math.abs(%s.getBoundingClientRect().width - "
                                 "%r) < 1" % (element(box),
                                              1200 * weight / whole), True)
            turn(name)
    h.check_equal(browser.complaints(), [], "complaints")
    browser.close()


def bar_of(box, kind):
    return ("(%s.querySelector('.%s')?.getBoundingClientRect().width || 0)" %
            (element(box), kind))


@h.test("what is red has come, what is blue has gone, on each side")
def _(case):
    graph, browser = look(case)
    leak, recurse = graph.named("leak"), graph.named("recurse")
    for side, whole in (("", graph.root.weight), ("before", graph.root.before),
                        ("now", graph.root.now)):
        browser.open(graph.address + "#side=" + side)
        wanted = {leak: ("shrunk", -1 if side == "now" else 1),
                  recurse: ("grown", -1 if side == "before" else 1)}
        for box, (kind, sign) in wanted.items():
            width = 1200 * abs(box.now - box.before) / whole
            browser.wait("Math.abs(%s - %r) < 1" % (
                bar_of(box, kind), max(0, sign * width)), True)
    for kind, colour in (("grown", "rgb(255, 127, 107)"),
                         ("shrunk", "rgb(116, 172, 255)")):
        browser.wait("getComputedStyle(document.querySelector('.frame .%s'))"
                     ".fill" % kind, colour)
    browser.close()


@h.test("a search finds what is new and what has gone; a link keeps the side")
def _(case):
    graph, browser = look(case)
    churn, new = graph.named("churn"), graph.named("map")
    for find, weight in (("GONE", churn.weight), ("NEW", new.weight),
                         ("^(churn|map)$", churn.weight + new.weight)):
        browser.open("%s#find=%s" % (graph.address, find))
        browser.wait(MATCHED, "matched: %.1f%%" %
                     (100 * weight / graph.root.weight))
    browser.open(graph.address + "#side=now&find=GONE&icicle=1")
    browser.wait(MATCHED, "matched: 0.0%")
    browser.ask("Page.reload")
    browser.wait("document.readyState", "complete")
    browser.wait(is_shown(churn), False)
    browser.key("b")
    browser.wait(is_shown(churn), True)
    browser.click(element(churn))
    browser.wait(width_of(churn), 1200)
    browser.wait(DETAIL + ".split('   ')[0]", "churn (before 23,100 bytes, "
                 "now 0: -23,100, gone)")
    # What isn't there now can't be zoomed into.
    browser.open(graph.address + "#side=now&zoom=" + churn.id)
    browser.wait(width_of(graph.root), 1200)
    browser.wait(is_shown(churn), False)
    h.check_equal(browser.complaints(), [], "complaints")
    browser.close()


@h.test("light and dark, and readable without the script")
def _(case):
    graph, browser = look(case)
    for scheme, bright in (("light", True), ("dark", False)):
        browser.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        browser.wait("Math.max(...getComputedStyle(document.querySelector("
                     "'.header .top')).fill.match(/\\d+/g)) > 127", bright)
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(graph.address)
    browser.wait("document.querySelectorAll('button').length", 0)
    for leaf in LEAF:
        box = graph.named(leaf)
        browser.wait("%s.querySelector('text').textContent" % element(box),
                     box.text)
    browser.close()


sys.exit(h.main())
