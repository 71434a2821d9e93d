#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of `calltrap heap --html', looked at by somebody who clicks, drags
and types."""

import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402
from browser import Browser  # noqa: E402

KEPT, PASSING, CHURN = 200 * 100, 200 * 3000, 200 * 700


def page_of(case, *command):
    if not command:
        command = (h.build("heap_times", "heap_times.c", "-g", "-O1",
                           "-fno-builtin", directory=case.dir), "200")
    case.calltrap("heap", "-o", "report", "--html", "page.html", *command,
                  log=False).check_status(0)
    return case.path("page.html")


def look(case, path):
    browser = Browser(case)
    browser.open("file://" + path, "HTML")
    return browser


def choose(browser, field, value):
    browser.value("(() => { const f = document.getElementById('%s');"
                  "f.value = '%s'; f.dispatchEvent(new Event('change'));"
                  "f.dispatchEvent(new Event('input')) })()" % (field, value))


# {function: [[in the range, held now, acquired, blocks, verdict]]} as it reads.
TABLE = """Object.fromEntries([...document.querySelectorAll("#table tbody tr")]
    .map(row => [...row.cells].map(cell => cell.textContent))
    .map(([name, ...rest]) => [name, rest]))"""


def rows(browser, by="function"):
    choose(browser, "by", by)
    return browser.value(TABLE)


def in_range(browser, metric):
    """What the three functions have in the range that is chosen."""
    choose(browser, "metric", metric)
    # Drawn once a frame: wait for that one, and the next.
    browser.value("document.body.dataset.drawn = ''")
    browser.value("requestAnimationFrame(() => requestAnimationFrame(() => "
                  "document.body.dataset.drawn = 'yes'))")
    browser.wait("document.body.dataset.drawn", "yes")
    found = rows(browser)
    return [found[name][0] for name in ("keep", "pass", "churn")]


# The part of the chart whose interval lies there: what passes is held then, all
# of it (an interval may end in the midst of giving it back).
WHERE = """(() => { const most = totals.map((total, at) => [total, at])
    .filter(([total]) => total >= %d).map(([, at]) => at);
    return [most[0], most.at(-1), data.intervals] })()""" % (KEPT + PASSING)


def drag(browser, begin, end):
    """Over the chart; intervals."""
    box = browser.value("(() => { const b = document.getElementById('chart')"
                        ".getBoundingClientRect();"
                        "return [b.x, b.y + b.height / 2, b.width] })()")
    count = browser.value("data.intervals")
    points = [box[0] + box[2] * at / count for at in
              (begin + .2, (begin + end) / 2, end - .2)]
    for kind, x in zip(("mousePressed", "mouseMoved", "mouseReleased"),
                       points):
        if kind == "mouseReleased":
            browser.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x,
                        y=box[1], button="left", buttons=1)
        browser.ask("Input.dispatchMouseEvent", type=kind, x=x, y=box[1],
                    button="left", buttons=int(kind != "mouseReleased"),
                    clickCount=1)


@h.test("the whole time: what is kept, acquired, churned, grown, and so on")
def whole(case):
    browser = look(case, page_of(case))
    found = {metric: in_range(browser, metric) for metric in
             ("kept", "acquired", "churn", "growth", "peak", "temporary")}
    facts = browser.value("document.getElementById('facts').textContent")
    complaints = browser.complaints()
    browser.close()
    h.check_equal(found, {
        "kept": ["19.5 KiB", "0 B", "0 B"],
        "acquired": ["19.5 KiB", "586 KiB", "137 KiB"],
        "churn": ["0 B", "586 KiB", "137 KiB"],
        "growth": ["19.5 KiB", "0 B", "0 B"],
        "peak": ["19.5 KiB", "586 KiB", "700 B"],
        "temporary": ["0 B", "0 B", "137 KiB"]}, "the table")
    h.check_match("process \\d+, watched for .* from its start on: .* none "
                  "was lost", facts, "facts")
    h.check_equal(complaints, [], "what went wrong")


@h.test("a range that is dragged over: what it acquired, and held at its end")
def dragged(case):
    browser = look(case, page_of(case))
    first, last, count = browser.value(WHERE)
    h.check(first < last, "what passes is seen: %r" % [first, last, count])
    drag(browser, 0, last)
    early = in_range(browser, "kept")
    text = browser.value("document.getElementById('range').textContent")
    drag(browser, last, count)
    late = [in_range(browser, metric) for metric in ("kept", "growth")]
    browser.click("document.getElementById('whole')")
    again = in_range(browser, "kept")
    # By keyboard: the field is focused, an arrow moves one interval.
    browser.value("document.getElementById('from').focus()")
    browser.key("ArrowRight")
    moved = browser.value("state.from")
    browser.close()
    h.check_equal(early, ["19.5 KiB", "586 KiB", "0 B"], "until it passes")
    h.check_match("^the start to .* of .*: held 0 B at its beginning, "
                  "605 KiB at its end$", text, "what it says of the range")
    h.check_equal(late, [["0 B", "0 B", "0 B"], ["0 B", "-586 KiB", "0 B"]],
                  "from then on")
    h.check_equal(again, ["19.5 KiB", "0 B", "0 B"], "the whole time again")
    h.check_equal(moved, 1, "an arrow key")


# [name, width, colour]: the colour is that of the canvas, between the box's
# edge and its name.
BOXES = """(() => { const canvas = document.getElementById("flames");
    const copy = document.createElement("canvas");
    const pen = copy.getContext("2d", { willReadFrequently: true });
    const scale = canvas.width / drawnWidth;
    copy.width = canvas.width; copy.height = canvas.height;
    pen.drawImage(canvas, 0, 0);
    return levels.flat().map(box => [nameOf(box.node), Math.round(box.width),
        "#" + [...pen.getImageData((box.left + 1) * scale,
                                   (topOf(box.node) + 8) * scale, 1, 1).data]
        .map(byte => byte.toString(16).padStart(2, "0")).join("")]) })()"""
FOUND, LESS = "#e64fe6ff", "#8fb8ffff"
# Of a box, what browser.click() asks elements for.
BOX = """(() => { const box = levels.flat().find(
    box => nameOf(box.node) === '%s');
    const { x, y, width } = document.getElementById("flames")
        .getBoundingClientRect();
    const scale = width / drawnWidth;
    return { getBoundingClientRect: () => ({ x: x + box.left * scale,
        y: y + topOf(box.node), width: box.width * scale,
        height: 16 }) } })()"""


def named(browser, name):
    return next((box for box in browser.value(BOXES) if box[0] == name), None)


@h.test("the flame graph: zoom, search, allocators first, reset")
def flames(case):
    browser = look(case, page_of(case))
    choose(browser, "metric", "acquired")
    browser.wait("levels.flat().some(box => nameOf(box.node) === 'pass')",
                 True)
    full = named(browser, "main")[1]
    part, colour = named(browser, "pass")[1:]
    h.check(abs(part / full - 600 / 760) < .02, "its share: %r" % [part, full])
    width = "levels.flat().find(box => nameOf(box.node) === 'pass').width"
    browser.click(BOX % "pass")
    browser.wait("%s > %d" % (width, full - 3), True)
    h.check_equal((named(browser, "keep"), named(browser, "pass")[2],
                   named(browser, "main")[2] == named(browser, "pass")[2]),
                  (None, colour, False), "zoomed")
    browser.key("Escape")
    browser.wait("%s < %d" % (width, full - 3), True)
    browser.key("/")
    browser.type("^pa")
    browser.wait("/1 stacks match: 586 KiB, 7/.test("
                 "document.getElementById('found').textContent)", True)
    h.check_equal((named(browser, "pass")[2],
                   named(browser, "churn")[2] == FOUND,
                   {"pass", "churn"} & set(rows(browser))),
                  (FOUND, False, {"pass"}), "marked, and in the table")
    browser.value("document.getElementById('search').value = '('; later()")
    browser.wait("document.getElementById('found').textContent",
                 "no regular expression")
    browser.click("document.getElementById('reset')")
    browser.wait("document.getElementById('search').value + "
                 "document.getElementById('metric').value", "kept")
    browser.value("document.getElementById('reverse').click()")
    browser.wait("nameOf(levels[1][0].node).endsWith('malloc')", True)
    complaints = browser.complaints()
    browser.close()
    h.check_equal(complaints, [], "what went wrong")


HOSTILE = r"""
#include <stdlib.h>
#include <unistd.h>
#define NAME "%s"
void keep(void) __asm__("\"" NAME "\"");
void *volatile kept;
__attribute__((noinline)) void keep(void) { kept = malloc(5000); }
int main(void) { keep(); return 0; }
"""


@h.test("names that are markup stay text; nothing but the page's own runs")
def hostile(case):
    name = "</script><img src=x onerror=document.title=1><script>"
    program = h.build("hostile", case.write("hostile.c", HOSTILE % name),
                      "-O1", "-fno-builtin", "-g0", directory=case.dir)
    path = page_of(case, program)
    text = h.read(path)
    h.check_equal((text.count("<script"), text.count("</script"),
                   len(re.findall("<img", text))), (2, 2, 0), "elements")
    browser = look(case, path)
    shown = list(rows(browser))
    # It forbids whatever else somebody might get into it.
    browser.value("document.body.append(Object.assign("
                  "document.createElement('script'),"
                  "{ textContent: 'document.title = 2' }))")
    browser.value("document.body.insertAdjacentHTML('beforeend', "
                  "'<img src=\"http://127.0.0.1:1/x.png\">')")
    title = browser.value("document.title")
    refused = [event for event in browser.complaints()
               if "Content Security Policy" in str(event)]
    browser.close()
    h.check(name in shown, "as it is: %r" % shown)
    h.check_match(r"^Heap of hostile \(\d+\)$", title, "title")
    h.check_equal(len(refused), 2, "script and picture refused")


@h.test("a program has the name that it runs by")
def known_as(case):
    program = h.build("heap_times", "heap_times.c", "-g", "-O1",
                      "-fno-builtin", directory=case.dir)
    os.symlink(program, case.path("known"))
    text = h.read(page_of(case, case.path("known"), "1"))
    h.check_match(r'"title":"Heap of known \(\d+\)"', text, "title")


LOSES = """#include <stdlib.h>
#include <unistd.h>
static void *volatile last;
int main(void)
{
	for (int i = 0; i < 500; i++) {
		last = malloc(40); /* the confidential line */
		usleep(2000);
	}
	return 0;
}
"""


@h.test("source text with --source, and only then")
def source(case):
    program = h.build("loses", case.write("loses.c", LOSES), "-g", "-O0",
                      directory=case.dir)
    h.check("confidential" not in h.read(page_of(case, program)),
            "what wasn't asked for")
    case.calltrap("heap", "-o", "report", "--html", "page.html", "--source",
                  program, log=False).check_status(0)
    browser = look(case, case.path("page.html"))
    shown = browser.value("[...document.querySelectorAll('#verdicts li')]"
                          ".map(item => item.textContent).join(' | ')")
    h.check("last = malloc(40); /* the confidential line */" in shown, shown)
    h.check_equal(browser.complaints(), [], "complaints")
    browser.close()


WRAPS = LOSES.replace("static void *volatile last;", """
static void *volatile last;
static __attribute__((noinline)) void *wrapper(size_t size)
{
	void *block = malloc(size);
	__asm__ volatile("" : : "r"(block) : "memory");
	return block;
}""").replace("last = malloc(40)", "last = wrapper(40)")


@h.test("a leak is whose the report says it is, behind wrappers")
def whose(case):
    program = h.build("wraps", case.write("wraps.c", WRAPS), "-g", "-O0",
                      directory=case.dir)
    case.calltrap("heap", "-o", "report", "--html", case.path("page.html"),
                  "--alloc-fn", "wrapper", program,
                  log=False).check_status(0)
    browser = look(case, case.path("page.html"))
    shown = browser.value("document.querySelector('#verdicts summary')"
                          ".textContent")
    h.check_match(r"LIKELY 19\.5 KiB in 500 blocks: main  wraps\.c:\d+; none",
                  shown, "the first leak")
    browser.close()


@h.test("light or dark, and no more than 60 kB without the data")
def shell(case):
    path = page_of(case)
    text = h.read(path)
    data = text.split('type="application/json">')[1].split("</script>")[0]
    h.check(len(text) - len(data) < 60000, "its size")
    h.check(not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text),
            "no other address")
    browser = look(case, path)
    found = []
    for scheme in "light", "dark":
        browser.ask("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme}])
        found.append(browser.value(
            "getComputedStyle(document.body).backgroundColor"))
    browser.close()
    h.check_equal(found, ["rgb(255, 255, 255)", "rgb(20, 24, 26)"],
                  "backgrounds")


# 4,096 places: at each of twelve levels one of two functions is called.
MANY = """
#include <stdlib.h>
#include <unistd.h>
static void *volatile last;
static unsigned path;
#define LEAF __attribute__((noinline)) static void
LEAF deep_0(void) { last = malloc(16 + path % 7); __asm__ volatile(""); }
#define LEVEL(n, below) \\
    LEAF left_##n(void) { below(); __asm__ volatile(""); } \\
    LEAF right_##n(void) { below(); __asm__ volatile(""); } \\
    LEAF deep_##n(void) { if (path >> n & 1) left_##n(); else right_##n(); \\
                          __asm__ volatile(""); }
LEVEL(1, deep_0) LEVEL(2, deep_1) LEVEL(3, deep_2) LEVEL(4, deep_3)
LEVEL(5, deep_4) LEVEL(6, deep_5) LEVEL(7, deep_6) LEVEL(8, deep_7)
LEVEL(9, deep_8) LEVEL(10, deep_9) LEVEL(11, deep_10) LEVEL(12, deep_11)
int main(int argc, char **argv)
{
    for (int round = 0; round <= argc; round++)
        for (path = 0; path < 8192; path += 2) {
            deep_12();
            if (path & 2) free(last);
        }
    return 0;
}
"""


@h.test("thousands of stacks: only what is to be seen is made")
def many(case):
    program = h.build("many", case.write("many.c", MANY), "-g", "-O1",
                      "-fno-builtin", "-fno-optimize-sibling-calls",
                      directory=case.dir)
    path = page_of(case, program)
    text = h.read(path)
    h.check(len(text) < 60000 + 200 * 4096, "its size: %d" % len(text))
    browser = look(case, path)
    counts = "[document.querySelectorAll('*').length, " \
             "document.querySelectorAll('#table tbody tr').length]"
    first = browser.value(counts)
    kept = sum(16 + at % 7 for at in range(0, 8192, 4)) * 2
    held = browser.value("sum(site.held.bytes)")
    sites = browser.value("SITES")
    # The table comes into sight, and is read on and on.
    browser.value("document.getElementById('table').scrollIntoView()")
    browser.wait("document.querySelectorAll('#table tbody tr').length > 0",
                 True)
    browser.value("document.getElementById('more').scrollIntoView()")
    browser.wait("document.querySelectorAll('#table tbody tr').length >= 100",
                 True)
    some = browser.value("document.querySelectorAll('#table tbody tr').length")
    more = browser.value("document.getElementById('more').textContent")
    function = rows(browser)["right_12"]
    complaints = browser.complaints()
    browser.close()
    h.check_equal((sites, held, complaints), (4096, kept, []), "all of it")
    h.check(first[0] < 2000 and first[1] == 0, "elements: %r" % first)
    h.check(some < 1000, "rows: %d" % some)
    h.check_match("^[0-9,]+ more rows$", more, "what is not shown")
    h.check_equal(function[3], number(sum(1 for at in range(0, 4096, 4)) * 2),
                  "blocks below right_12")


def number(value):
    return format(value, ",")


@h.test("the flame graph by keyboard: along the boxes, in, out")
def keyboard(case):
    browser = look(case, page_of(case))
    choose(browser, "metric", "acquired")
    browser.wait("levels.flat().some(box => nameOf(box.node) === 'pass')",
                 True)
    browser.value("document.getElementById('flames').focus()")
    at = "pointed && nameOf(pointed.node)"
    seen = []
    for key in (["ArrowUp"] * 5 + ["ArrowRight", "ArrowLeft", "ArrowDown"]):
        browser.key(key)
        seen.append(browser.value(at))
    said = browser.value("document.getElementById('detail').textContent")
    browser.key("ArrowUp")
    browser.key("Enter")
    browser.wait("state.zoom > 0 && levels[0].length", 1)
    zoomed = browser.value("nameOf(state.zoom)")
    browser.key("Escape")
    browser.wait("state.zoom", 0)
    browser.close()
    h.check_equal(seen[-5:], ["main", "pass", "churn", "pass", "main"],
                  "the way: %r" % seen)
    h.check_match("^main  742 KiB, 100.0 %", said, "what it says")
    h.check_equal(zoomed, "pass", "zoomed to")


CHANGES = """
#include <stdlib.h>
void *volatile kept[1000];
#define KEEP(name, size, first) \
    __attribute__((noinline)) void name(int n) \
    { while (n--) kept[first + n] = malloc(size); }
KEEP(grows, 1024, 0)
KEEP(shrinks, 2048, 300)
KEEP(stays, 512, 600)
int main(int argc, char **argv)
{ grows(atoi(argv[1])); shrinks(atoi(argv[argc - 1])); stays(3); }
"""


@h.test("heap diff --html: what came, and what went")
def difference(case):
    program = h.build(case.path("changes"),
                      case.write("changes.c", CHANGES), "-g", "-O1",
                      "-fno-builtin")
    for name, *numbers in (("old", "10", "40"), ("new", "210", "20")):
        case.calltrap("heap", "-o", "report", "--pprof", name, program,
                      *numbers, log=False).check_status(0)
    case.calltrap("heap", "diff", "--html", "page.html", "old", "new",
                  log=False).check_status(0)
    browser = look(case, case.path("page.html"))
    said = browser.value("document.body.innerText")
    table = rows(browser)
    heading = browser.value(
        "[...document.querySelectorAll('#table th')].map(h => h.textContent)")
    less = [name for name, _, colour in browser.value(BOXES) if colour == LESS]
    choose(browser, "search", "grows")
    browser.wait("document.getElementById('found').textContent.length > 0",
                 True)
    found = browser.value("document.getElementById('found').textContent")
    complaints = browser.complaints()
    browser.close()
    h.check_match("From old to new", said, "title")
    h.check_match(r"\+200 KiB: grows changes\.c:\d+; 10\.0 KiB before, "
                  "210 KiB now", said, "what came")
    h.check_match("-40.0 KiB: shrinks", said, "what went")
    h.check("In time" not in said and "leak" not in said.lower(), said)
    h.check_equal(heading, ["What", "Difference ▾", "Now", "Before",
                            "Blocks now"], "columns")
    h.check_equal({name: table[name] for name in ("grows", "shrinks",
                                                  "stays")}, {
        "grows": ["+200 KiB", "210 KiB", "10.0 KiB", "210"],
        "shrinks": ["-40.0 KiB", "40.0 KiB", "80.0 KiB", "20"],
        "stays": ["0 B", "1.5 KiB", "1.5 KiB", "3"]}, "the table")
    h.check_equal(sorted(less), ["malloc", "shrinks"], "what is less")
    h.check_match("^1 stacks match: \\+200 KiB, 83.3 %", found, "search")
    h.check_equal(complaints, [], "what went wrong")


if __name__ == "__main__":
    sys.exit(h.main())
