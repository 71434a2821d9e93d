#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The flame graph of `calltrap heap --svg`: what it shows is what the program
holds, in a browser too, whatever the program's functions are called."""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import harness as h
from browser import Browser
from flames import (DETAIL, MATCHED, SHOWN, SVG, Graph, below, button, draw,
                    element, read_folded, width_of, written_script)

HOSTILE = {
    "cache": b"</text><script>alert(1)</script>",
    "odd": b"q\"uo'te&amp;]]>\x01\x1b[31m\xff\xed\xa0\x80\xef\xbf\xbe"
           b"\xe2\x80\xae;\n(x)",
    "even": b"long_" + b"\xc3\xa9x" * 5000,
}


def program():
    return h.build("flames", "flames.c", "-g", "-O1",
                   "-fno-optimize-sibling-calls")


def with_hostile_names(case):
    h.need("objcopy")
    argv = ["objcopy"]
    for old, new in HOSTILE.items():
        argv += ["--redefine-sym", old.encode() + b"=" + new]
    path = case.path("hostile")
    subprocess.run(argv + [program(), path], check=True)
    return path


def run(case, argv, *options):
    """The graph, the folded stacks, and the program's own words."""
    svg, folded = case.path("heap.svg"), case.path("heap.folded")
    result = case.calltrap("heap", "-o", case.path("report"), "--svg", svg,
                           "--folded", folded, *options, *argv, log=False)
    result.check_status(0)
    numbers = dict((line.split()[0], [int(n) for n in line.split()[1:]])
                   for line in result.out.splitlines())
    return Graph(svg), read_folded(folded), numbers


# ---------------------------------------------------------------- the file

@h.test("the boxes add up to what the program holds, by its own count",
        users=True)
def _(case):
    graph, folded, numbers = run(case, [program(), "500"])
    h.check_equal(graph.root.weight, numbers["kept"][0], "bytes held")
    h.check_equal({";".join(box.path): box.weight for box in graph.boxes
                   if not box.children}, folded, "leaves, folded stacks")
    for box in graph.boxes:
        h.check_equal(box.said, box.weight, "hover text of " + box.name)
        h.check_equal(box.percent,
                      round(100 * box.weight / graph.root.weight, 2),
                      "percentage of " + box.name)
        if box.children:
            h.check_equal(sum(child.weight for child in box.children),
                          box.weight, "children of " + box.name)
        left = box.x
        for child in box.children:
            h.check(abs(child.x - left) < 0.05 and child.y < box.y,
                    "place of " + child.name)
            left += child.width
        h.check(not box.children or abs(left - box.x - box.width) < 0.05,
                "widths above " + box.name)
    h.check(abs(graph.root.width - 1200) < 0.01, "width of the root")
    h.check(all(0 <= box.y < graph.height for box in graph.boxes), "rows")


@h.test("--value chooses what they weigh, and the title says so")
def _(case):
    for value, key, number, title, unit in (
            ("inuse-bytes", "kept", 0, "Heap in Use", "bytes"),
            ("inuse-blocks", "kept", 1, "Heap in Use", "blocks"),
            ("alloc-bytes", "acquired", 0, "Heap Acquired", "bytes"),
            ("alloc-blocks", "acquired", 1, "Heap Acquired", "blocks")):
        graph, _, numbers = run(case, [program(), "50"], "--value", value)
        h.check_equal(graph.root.weight, numbers[key][number], value)
        h.check_equal(graph.root.unit, unit, "unit of " + value)
        h.check_match(r"^%s Flame Graph: \S*/flames \(pid \d+\), \d{4}-\d\d-\d\d "
                      r"\d\d:\d\d:\d\d$" % title, graph.title, "title")


@h.test("boxes name library, file and line; a LIKELY leak is marked, with why")
def _(case):
    graph, _, _ = run(case, [program(), "2000"])
    with open(h.victim("flames.c")) as file:
        lines = file.read().splitlines()
    leak = graph.named("leak")
    h.check_equal(os.path.basename(leak.more[0]), "flames", "library")
    h.check_equal(leak.more[1].rsplit("/", 1)[1],
                  "flames.c:%d" % (1 + lines.index("\tkeep(200);")), "line")
    marked = [box for box in graph.boxes if box.likely]
    h.check_equal([box.path[-5:] for box in marked],
                  [["main", "leak", "keep", "get", "malloc"]], "marked")
    h.check_match(r"^LIKELY leak: none of ", marked[0].more[-1], "why")
    h.check_equal(marked[0].text, "! malloc", "text of the box")
    header = "".join(graph.tree.getroot().itertext())
    h.check("! marks 1 LIKELY leak" in header, "legend")


@h.test("hostile names stay text, and long ones are cut")
def _(case):
    graph, _, numbers = run(case, [with_hostile_names(case), "20"])
    h.check_equal(graph.root.weight, numbers["kept"][0], "bytes held")
    root = graph.tree.getroot()
    scripts = [e for e in root.iter() if e.tag.lower().endswith("script")]
    h.check_equal(len(scripts), 1, "scripts")
    h.check_equal(scripts[0].text.split(), written_script().split(), "script")
    h.check_equal({e.tag.replace(SVG, "") for e in root.iter()},
                  {"svg", "title", "style", "defs", "linearGradient", "stop",
                   "g", "rect", "text", "tspan", "script"}, "elements")
    h.check(not [name for e in root.iter() for name in e.attrib
                 if name.lower().startswith("on") or "href" in name],
            "attributes that do something")
    graph.named("</text><script>alert(1)</script>")
    graph.named("q\"uo'te&amp;]]>\\001\\033[31m\\377\\355\\240\\200\\ufffe"
                "\\342\\200\\256;\\012(x)")
    long = [box for box in graph.boxes if box.name.startswith("long_")]
    h.check_equal([len(box.name) for box in long], [1000], "length")
    h.check(all(len(box.text) <= box.width / 6 for box in graph.boxes),
            "texts that don't fit")


@h.test("a graph that can't be written is told before anything is traced",
        users=True)
def _(case):
    result = case.calltrap("heap", "-o", case.path("report"), "--svg",
                           "/proc/none/x.svg", "--folded", case.dir,
                           program(), "20", log=False)
    result.check_status(1)
    h.check_equal(result.messages(), [
        "calltrap: /proc/none/x.svg can't be written: No such file or "
        "directory",
        "calltrap: %s can't be written: Is a directory" % case.dir],
        "messages")
    h.check_equal(result.out, "", "the program has run")
    h.check_equal([name for name in os.listdir(case.dir)
                   if name.startswith("report")], [], "leavings")


@h.test("flamegraph.pl draws the folded stacks")
def _(case):
    _, _, numbers = run(case, [with_hostile_names(case), "100"])
    text = draw(case.path("heap.folded"), "--countname=bytes", "--colors=mem")
    found = re.findall(r"all \(([\d,]+) bytes", text)
    h.check_equal({int(n.replace(",", "")) for n in found},
                  {numbers["kept"][0]}, "total")


# ---------------------------------------------------------------- a browser

def look(case, argv=None):
    graph, folded, _ = run(case, argv or [program(), "500"])
    browser = Browser(case)
    browser.open(graph.address)
    return graph, folded, browser


@h.test("a click zooms, Reset and the browser's Back undo it")
def _(case):
    graph, _, browser = look(case)
    leak, deep = graph.named("leak"), graph.named("deep")
    browser.click(element(leak))
    browser.wait("location.hash", "#zoom=" + leak.id)
    browser.wait(width_of(leak), 1200)
    browser.wait(width_of(leak.children[0]), 1200)
    browser.wait("%s.style.display" % element(deep), "none")
    h.check(set(browser.value(SHOWN)) >= {box.id for box in below(leak)},
            "what is above the box is hidden")
    h.check_match("^leak \\(100,000 bytes, 25.00%\\)", browser.value(DETAIL),
                  "what is said of it")
    browser.click(button("Reset"))
    browser.wait("location.hash.slice(1)", "")
    browser.wait(width_of(leak), round(leak.width))
    browser.value("history.back()")
    browser.wait(width_of(leak), 1200)
    h.check_equal(browser.complaints(), [], "complaints")
    browser.close()


@h.test("a search says how much matches of what is shown")
def _(case):
    graph, folded, browser = look(case)
    total = graph.root.weight

    def share(regex, whole=total, inside=""):
        return "matched: %.1f%%" % (100 * sum(
            weight for stack, weight in folded.items()
            if inside in stack.split(";") + [""] and
            any(re.search(regex, name) for name in stack.split(";"))) / whole)
    for regex in ("leak", "^(odd|even)$", "^(keep|cache)$", "malloc$", "zzz"):
        browser.key("/")
        browser.wait("document.activeElement.tagName", "input")
        browser.value("document.activeElement.select()")
        browser.type(regex)
        browser.wait(MATCHED, share(regex))
        browser.value("document.activeElement.blur()")
    browser.key("f", control=True)
    browser.type("(")
    browser.wait(MATCHED, "not a regular expression")
    browser.wait("document.querySelectorAll('.match').length", 0)
    browser.key("f", control=True)
    browser.type("CACHE")
    browser.wait(MATCHED, "matched: 0.0%")
    browser.key("f", control=True)
    browser.type("flames\\.c")
    browser.wait(MATCHED, "matched: 100.0%")
    browser.key("f", control=True)
    browser.type("^cac")
    browser.value("document.activeElement.blur()")
    cache = graph.named("cache")
    browser.wait("getComputedStyle(%s.querySelector('rect')).fill" %
                 element(cache), "rgb(238, 119, 238)")
    browser.click(element(cache))
    browser.wait(MATCHED, "matched: 100.0%")
    browser.key("Escape")
    browser.wait(MATCHED, "")
    browser.wait("document.querySelectorAll('.match').length", 0)
    h.check_equal(browser.complaints(), [], "complaints")
    browser.close()


@h.test("the address holds what is shown: a link and a reload bring it back")
def _(case):
    graph, _, browser = look(case)
    leak = graph.named("leak")
    browser.open(graph.address + "#zoom=%s&find=kee%%2A&icicle=1" % leak.id)
    for _ in range(2):
        browser.wait(width_of(leak), 1200)
        browser.wait("document.querySelector('input').value", "kee*")
        browser.wait(MATCHED, "matched: 100.0%")
        browser.wait("%s.getBoundingClientRect().y < "
                     "%s.getBoundingClientRect().y" %
                     (element(graph.root), element(leak)), True)
        browser.ask("Page.reload")
        browser.wait("document.readyState", "complete")
    browser.open(graph.address + "#zoom=nothing&find=%5B&icicle=&x=%")
    browser.wait(width_of(graph.root), 1200)
    browser.wait(MATCHED, "not a regular expression")
    h.check_equal(browser.complaints(), [], "complaints")
    browser.close()


@h.test("the keyboard reaches all of it")
def _(case):
    graph, _, browser = look(case)
    focus = "document.activeElement.id"
    box = graph.root
    browser.key("ArrowUp")
    browser.wait(focus, box.id)
    while box.children:
        browser.key("ArrowUp")
        box = box.children[0]
        browser.wait(focus, box.id)
        browser.wait(DETAIL + ".split('   ')[0]", "%s (%s bytes, %.2f%%)" % (
            box.name, format(box.weight, ","), box.percent))
    browser.key("ArrowDown")
    main = graph.named("main")
    for child in main.children:
        browser.value("%s.focus()" % element(child))
        if child != main.children[0]:
            browser.key("ArrowLeft")
            browser.wait(focus, main.children[
                main.children.index(child) - 1].id)
            browser.key("ArrowRight")
            browser.wait(focus, child.id)
    browser.key("Enter")
    browser.wait(width_of(main.children[-1]), 1200)
    browser.key("Escape")
    browser.wait(width_of(main.children[-1]), round(main.children[-1].width))
    browser.key("i")
    browser.wait("location.hash", "#icicle=1")
    browser.value("%s.focus()" % element(main))
    browser.key("ArrowDown")
    browser.wait(focus, main.children[0].id)
    browser.click(button("Icicle"))
    browser.wait("location.hash.slice(1)", "")
    h.check_equal(browser.complaints(), [], "complaints")
    browser.close()


@h.test("light and dark, and readable without the script")
def _(case):
    graph, _, browser = look(case)
    bright = ("Math.max(...getComputedStyle(document.querySelector('%s'))"
              ".fill.match(/\\d+/g)) > 127")
    for scheme, paper in (("light", True), ("dark", False)):
        browser.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        browser.wait(bright % ".header .top", paper)
        browser.wait(bright % ".heading", not paper)
    browser.ask("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(graph.address)
    browser.wait("document.querySelectorAll('button').length", 0)
    for box in graph.boxes:
        if box.width > 200:
            browser.wait("%s.querySelector('text').textContent" %
                         element(box), "! " * box.likely + box.name)
    browser.wait(width_of(graph.root), 1200)
    browser.close()


HEADING = "document.querySelector('.heading')"
FITS = ("(box => box.x >= 0 && box.x + box.width <= innerWidth)"
        "(%s.getBBox())" % HEADING)


@h.test("the title fits into a narrow window, and is whole in a wide one")
def _(case):
    graph, _, browser = look(case)
    browser.wait(HEADING + ".textContent", graph.title)
    for width in (500, 300):
        browser.ask("Emulation.setDeviceMetricsOverride", width=width,
                    height=400, deviceScaleFactor=1, mobile=False)
        browser.wait(FITS, True)
        title = browser.value(HEADING + ".textContent")
        h.check_match(r"^Heap in Use .*:\d\d$", title, "title")
    h.check("..." in title, "the middle is there in 300 pixels: " + title)
    browser.ask("Emulation.clearDeviceMetricsOverride")
    browser.wait(HEADING + ".textContent", graph.title)
    browser.wait(FITS, True)
    browser.close()


@h.test("it begins at the root, but where nobody can scroll at the top")
def _(case):
    graph, _, browser = look(case)
    browser.ask("Emulation.setDeviceMetricsOverride", width=900, height=100,
                deviceScaleFactor=1, mobile=False)
    for can in (False, True):
        browser.ask("Emulation.setTouchEmulationEnabled", enabled=can)
        browser.open(graph.address)
        browser.wait("document.querySelectorAll('button').length > 1", True)
        browser.wait("scrollY > 0", can)
    browser.close()


@h.test("the legend names the libraries of most boxes, in their hues")
def _(case):
    graph, _, _ = run(case, [program(), "50"])
    header = "".join(graph.tree.getroot().itertext())
    h.check("\u25a0 flames \u25a0 libc.so.6" in header or
            "\u25a0 libc.so.6 \u25a0 flames" in header, "legend: " + header)


@h.test("a hostile program's graph does nothing in a browser")
def _(case):
    graph, _, browser = look(case, [with_hostile_names(case), "20"])
    browser.wait("document.querySelectorAll('script').length", 1)
    evil = graph.named("</text><script>alert(1)</script>")
    browser.click(element(evil))
    browser.wait("%s.querySelector('text').textContent" % element(evil),
                 evil.name)
    browser.wait(DETAIL + ".startsWith('</text><script>')", True)
    long = next(box for box in graph.boxes if box.name.startswith("long_"))
    browser.open(graph.address + "#zoom=" + long.id)
    browser.wait("%s.querySelector('text').textContent.slice(-2)" %
                 element(long), "..")
    browser.wait("%s.querySelector('text').getBBox().width < 1200" %
                 element(long), True)
    browser.open(graph.address + "#find=%3Cscript%3Ealert(2)%3C/script%3E"
                 "&zoom=%22%3E%3Cscript%3E")
    browser.wait(MATCHED, "matched: 0.0%")
    h.check_equal(browser.complaints(), [], "complaints")
    browser.close()


sys.exit(h.main())
