#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap top' in a terminal: what somebody sees who presses keys, and that
neither the terminal nor the target is ever the worse for it."""

import glob
import json
import os
import re
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
import harness as h
from terminal import Terminal


def leaky(case, *flags):
    """Leaks 4 bytes each 5 ms: main > someFunc > leak."""
    program = h.build("heap_leak", "heap_leak.c", "-O1", *(flags or ["-g"]),
                      directory=case.dir)
    target = case.start([program, "5"])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def top(case, target, *options, **how):
    return Terminal(case, h.CALLTRAP, "top", *options, "-p", str(target.pid),
                    **how)


def let_go(target):
    h.wait_until(lambda: h.tracer_of(target.pid) == 0,
                 "the target to be let go of")
    h.check(not h.has_ended(target.pid), "the target has ended")
    h.check_untouched(target.pid)


def names(screen):
    """What is in the rows' last column."""
    rows = re.split(r"VERDICT.*\n", screen, 1)[1]
    return [row[48:].strip() for row in rows.splitlines()
            if re.match(r" *[\d.]+ [KM]?i?B ", row)]


@h.test("what leaks, at 80x24; and q leaves", users=True)
def screen(case):
    target = leaky(case)
    terminal = top(case, target)
    seen = terminal.wait_for(
        "LIKELY", "leak heap_leak.c:11 < someFunc",
        "heap_leak (%d)" % target.pid, matches=(
            r"^RSS +[\d.]+ [KM]iB",
            r"^held +[\d.]+ K?i?B in [\d,]+ blocks",
            r"^acquired +[\d.]+ K?i?B/s; [\d,]+ calls/s",
            r"^slowed +[\d.]+ % by being watched",
            r"^leaks +1 site LIKELY",
            r"^h help  q quit"))
    h.check(all(len(line) <= 80 for line in seen.splitlines()), seen)
    terminal.press("q")
    h.check_equal(terminal.status(), 0, "status")
    terminal.wait_for("LIKELY", "leak heap_leak.c:11", without=["h help"])
    let_go(target)


@h.test("a row unfolds to why, and to its stack")
def unfold(case):
    terminal = top(case, leaky(case))
    terminal.wait_for("LIKELY", "leak heap_leak.c:11")
    terminal.press("Enter")
    terminal.wait_for("why: none of", "  leak heap_leak.c:11\n",
                      "  someFunc heap_leak.c:", "  main heap_leak.c:")
    terminal.press("Enter")
    terminal.wait_for("LIKELY", without=["why:"])


@h.test("rows are sites, libraries, threads, families; sorted by each column")
def groups(case):
    target = leaky(case)
    terminal = top(case, target, "--by", "library")
    terminal.wait_for("  LIBRARY", "LIKELY    heap_leak")
    for heading, name in (("THREAD", "%d heap_leak" % target.pid),
                          ("FAMILY", "LIKELY    malloc"),
                          ("SITE", "leak heap_leak.c:11")):
        terminal.press("g")
        terminal.wait_for("  " + heading, name)
    for column in ("HELD*", "CHANGE*", "RATE/s*", "AGE*", "VERDICT*"):
        terminal.press("s")
        terminal.wait_for(column)


@h.test("a filter, and the mark")
def filters(case):
    terminal = top(case, leaky(case))
    terminal.wait_for("leak heap_leak.c:11")
    terminal.press("/", "n", "o", "n", "e")
    terminal.wait_for("filter: none_", "no name has this text")
    for _ in range(4):
        terminal.press("BSpace")
    terminal.press("L", "E", "A", "K", "Enter")
    terminal.wait_for('with "LEAK"', "leak heap_leak.c:11")
    terminal.press("Escape")
    terminal.wait_for("leak heap_leak.c:11", without=["with"])
    terminal.wait_for("LIKELY")
    terminal.press("m")
    # HELD, and a CHANGE that is something else, as it was before the mark.
    terminal.wait_for(", marked ", matches=(
        r"^ *([\d.]+ K?i?B) +(?!\+\1 )\+?[\d.]+ K?i?B .*LIKELY",))


@h.test("paused, it stands still")
def pauses(case):
    terminal = top(case, leaky(case))
    terminal.wait_for("LIKELY")
    # The last words that are drawn, from the top down.
    words = ("PAUSED", "the screen stands still, what is watched goes on; p "
             "again", "h help  q quit", "w write")
    terminal.press("p")
    before = terminal.wait_for(*words)
    terminal.press("h")
    terminal.wait_for("any key leads back")
    terminal.press("x")
    h.check_equal(terminal.wait_for(*words), before, "the screen")
    terminal.press("p")
    terminal.wait_for("h help", without=["PAUSED"])


@h.test("a resize, small and large")
def resize(case):
    terminal = top(case, leaky(case))
    terminal.wait_for("LIKELY", "h help")
    for columns, rows in ((132, 50), (40, 10), (9, 3), (80, 24)):
        terminal.resize(columns, rows)
        terminal.wait_for("calltrap")
        h.wait_until(lambda: max(len(line) for line in
                                 terminal.text().splitlines()) <= columns,
                     "the screen to fit")
    terminal.wait_for("LIKELY", "leak heap_leak.c:11", "h help")
    terminal.press("q")
    h.check_equal(terminal.status(), 0, "status")


@h.test("files are written: text, JSON, pprof, a page", users=True)
def files(case):
    target = leaky(case)
    terminal = top(case, target)
    terminal.wait_for("LIKELY")
    for key, suffix in (("t", "txt"), ("j", "json"), ("p", "pb.gz"),
                        ("h", "html")):
        terminal.press("w")
        terminal.wait_for("write: t text")
        terminal.press(key)
        pattern = case.path("calltrap-%d-*.%s" % (target.pid, suffix))
        terminal.wait_for(".%s is written" % suffix)
        h.check_equal(len(glob.glob(pattern)), 1, pattern)
    terminal.press("q")
    h.check_equal(terminal.status(), 0, "status")
    found = {os.path.basename(path).split(".", 1)[1]: path for path in
             glob.glob(case.path("calltrap-*-*.*"))}
    h.check("LIKELY" in h.read(found["txt"]), h.read(found["txt"]))
    sites = json.loads(h.read(found["json"]))["sites"]
    h.check_equal(sites[0]["verdict"], "LIKELY", "verdict")
    h.check(h.read(found["html"]).startswith("<!DOCTYPE html>"), "no page")
    diff = case.calltrap("heap", "diff", found["pb.gz"], found["pb.gz"],
                         log=False)
    diff.check_status(0)


def is_red(terminal):
    return "\033[31m" in terminal.text("-e").replace(";", "m\033[")


@h.test("colours, and none with NO_COLOR")
def colours(case):
    target = leaky(case)
    for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        terminal = top(case, target, env=env)
        terminal.wait_for("LIKELY", "leak heap_leak.c:11", "h help  q quit")
        if coloured:
            h.wait_until(lambda: is_red(terminal), "red")
        h.check_equal(is_red(terminal), coloured, "red with %r" % env)
        terminal.press("q")
        terminal.status()
        terminal.end()
        os.unlink(case.path("after"))


@h.test("a text each time where there is no screen: dumb, a pipe", users=True)
def plain(case):
    target = leaky(case)
    terminal = top(case, target, "--for", "60s", "--every", "100ms",
                   env={"TERM": "dumb"})
    terminal.wait_for("calltrap top: heap_leak", "LIKELY")
    terminal.press("C-c")
    h.check_equal(terminal.status(), 0, "status")
    let_go(target)
    tracer = case.start_calltrap("top", "-p", str(target.pid), log=False)
    h.wait_until(lambda: tracer.out.count("calltrap top: heap_leak") >= 2 and
                 re.search(r"^leaks +", tracer.out, re.M), "two texts")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status: " + tracer.err)
    h.check("\033" not in tracer.out + tracer.err, tracer.out + tracer.err)


@h.test("nobody reads the text any more: it leaves")
def closed_pipe(case):
    target = leaky(case)
    result = case.run(["sh", "-c", '"$0" top -p %d | head -n 1; true' %
                       target.pid, h.CALLTRAP])
    h.check_match("calltrap top: heap_leak", result.out, "text")
    let_go(target)


def beats(target):
    """How often it has woken up, as the kernel counts."""
    return int(h.status_field(target.pid, "voluntary_ctxt_switches"))


@h.test("a terminal that takes nothing (Ctrl-S) holds nobody up")
def held(case):
    target = leaky(case)
    terminal = top(case, target)
    terminal.wait_for("LIKELY")
    front = terminal.command()
    terminal.press("C-s")
    # More than the terminal and all pipes would take.
    terminal.tmux("set", "-g", "status", "off")
    for size in ((200, 60), (190, 60)) * 3:
        terminal.resize(*size)
    before = beats(target)
    h.wait_until(lambda: beats(target) > before + 200, "the target to go on")
    os.kill(front, signal.SIGTERM)
    let_go(target)
    terminal.press("C-q")
    h.check_equal(terminal.status(), 0, "status")


@h.test("Ctrl-C leaves")
def interrupted(case):
    target = leaky(case)
    terminal = top(case, target)
    terminal.wait_for("LIKELY")
    terminal.press("C-c")
    h.check_equal(terminal.status(), 0, "status")
    let_go(target)


def tasks_of(front):
    """(who traces, who shows)"""
    tracer = h.children_of(front)[0]
    names = {h.read("/proc/%d/comm" % pid).strip(): pid
             for pid in h.children_of(tracer)}
    return tracer, names["ctrap-screen"]


@h.test("the screen is killed: the target is left, the terminal restored")
def screen_killed(case):
    target = leaky(case)
    terminal = top(case, target)
    terminal.wait_for("LIKELY")
    _, shows = tasks_of(terminal.command())
    os.kill(shows, signal.SIGKILL)
    h.check_equal(terminal.status(), 0, "status")
    let_go(target)


@h.test("calltrap crashes: the target is left, the terminal restored")
def crashed(case):
    if h.has_sanitizer():
        raise h.Skip("the sanitizer handles crashes")
    target = leaky(case)
    terminal = top(case, target)
    terminal.wait_for("LIKELY")
    traces, _ = tasks_of(terminal.command())
    os.kill(traces, signal.SIGSEGV)
    h.check(terminal.status() != 0, "a crash has status 0")
    h.wait_until(lambda: h.tracer_of(target.pid) == 0, "the target's freedom")
    before = beats(target)
    h.wait_until(lambda: beats(target) > before + 100, "the target to go on")


@h.test("the front is killed: the target is left, the screen ends")
def front_killed(case):
    target = leaky(case)
    terminal = top(case, target)
    terminal.wait_for("LIKELY")
    front = terminal.command()
    _, shows = tasks_of(front)
    os.kill(front, signal.SIGKILL)
    h.wait_until(lambda: h.has_ended(shows), "the screen's end")
    let_go(target)


@h.test("the target ends: so does top, and what was found stays")
def target_ends(case):
    target = leaky(case)
    terminal = top(case, target)
    terminal.wait_for("LIKELY", "leak heap_leak.c:11")
    target.popen.kill()
    h.check_equal(terminal.status(), 0, "status")
    terminal.wait_for("LIKELY", "leak heap_leak.c:11")


@h.test("a hostile name reaches no terminal")
def hostile(case):
    h.need("objcopy")
    source = case.write("plain.c", """
        #include <stdlib.h>
        #include <unistd.h>
        void *volatile kept;
        __attribute__((noinline)) void leak(void) { kept = malloc(40); }
        int main(void) { for (;;) { leak(); usleep(5000); } }
        """)
    program = case.path("a\033]0;b\a\u202ec")
    h.build(case.path("plain"), source, "-O1", "-fno-builtin")
    subprocess.run(["objcopy", "--redefine-sym",
                    "leak=evil\033[2J\u202e\x9b31m", case.path("plain"),
                    program], check=True)
    target = case.start([program])
    terminal = top(case, target)
    seen = terminal.wait_for("LIKELY", "evil\\033[2J\\342")
    h.check("\u202e" not in seen, ascii(seen))
    terminal.press("Enter")
    terminal.wait_for("why: none", "evil\\033[2J")
    terminal.press("q")
    h.check_equal(terminal.status(), 0, "status")
    plain = case.calltrap("top", "--for", "1500ms", "-p", str(target.pid),
                          log=False)
    said = plain.out + plain.err
    h.check("]0;b" in said and "\033" not in said and "\u202e" not in said,
            ascii(said))


@h.test("several processes on one screen")
def several(case):
    first, second = leaky(case), leaky(case)
    terminal = top(case, first, "-p", str(second.pid), columns=100)
    terminal.wait_for("and 1 more", "[%d] leak heap_leak.c:11" % first.pid,
                      "[%d] leak heap_leak.c:11" % second.pid)
    terminal.press("q")
    h.check_equal(terminal.status(), 0, "status")
    let_go(first)
    let_go(second)


if __name__ == "__main__":
    sys.exit(h.main())
