#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What the report of `calltrap heap' says once, in short, or not at all."""

import json
import os
import re
import sys
import time

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

CHAIN = ["fourth", "third", "second", "first", "main"]


def deep(*options):
    name = "-".join(["heap_deep", *(option.lstrip("-") for option in options)])
    return h.build(name, "heap_deep.c", "-O1", *options)


def start(case):
    target = case.start([h.build("heap_steps", "heap_steps.c", "-g", "-O1",
                                 "-lpthread")])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def order(target, word):
    count = target.out.count("did " + word)
    target.say(word)
    h.wait_until(lambda: target.out.count("did " + word) > count or
                 target.popen.poll() is not None, "the answer to " + word)


@h.test("frames that stand there already are not told again")
def _(case):
    report = hr.heap(case, deep("-g")).report
    first, second = report.rows[:2]
    h.check_equal(first.functions(), ["large"] + CHAIN, "the first stack")
    h.check_equal(second.functions(), ["small", "fourth"], "what the second has else")
    number = re.match(r" {4}stack (\d+): ", first.lines[0])[1]
    h.check_equal(second.lines[-1], "        ... 4 more, as under stack " +
                  number, "where the rest is")
    report = hr.heap(case, "--top", "0", deep("-g")).report
    h.check_equal(report.row("by small$").functions(), ["small"] + CHAIN,
                  "with --top=0")


@h.test("frames without names are counted")
def _(case):
    report = hr.heap(case, deep("-s")).report
    lines = [line for line in report.rows[0].lines
             if line.startswith("        ")]
    h.check_match(r"^ {8}0x[0-9a-f]+ \(heap_deep-s\)$", lines[0], "a frame")
    h.check_equal(lines[1], "        ... 5 more without names (heap_deep-s)",
                  "the others")
    report = hr.heap(case, "--top", "0", deep("-s")).report
    names = [name for name in report.rows[0].functions()
             if name.startswith("0x")]
    h.check_equal(len(names), 6, "frames with --top=0")


@h.test("large numbers of bytes have their size beside")
def _(case):
    report = hr.heap(case, deep("-g")).report
    h.check_match(r"^malloc: in use: 9,443,184 bytes \(9\.0 MiB\) in 6 "
                  r"blocks; .* 9,443,184 bytes \(9\.0 MiB\) allocated; peak: "
                  r"9,443,184 bytes \(9\.0 MiB\)", report.text, "the summary")
    h.check_equal(report.malloc.held(), (6, 9443184), "read back")


@h.test("nothing acquired: no heading over nothing")
def _(case):
    target = start(case)
    tracer = hr.attach(case, target, options=("--by", "library"))
    hr.settle(target, tracer)
    report = hr.leave(tracer)
    h.check_equal(report.sections["LIBRARIES"], ["nothing was acquired"],
                  "rows")
    h.check("PEAKS" not in report.sections, "peaks of nothing")


def frames_of(case, *options):
    path = case.path("heap.json")
    result = hr.heap(case, "--json", path, deep(*options))
    sites = json.loads(h.read(path))["sites"]
    return result.report, sites[0]["stack"]


@h.test("how each frame was found: by tables")
def _(case):
    report, frames = frames_of(case, "-g")
    h.check_equal(frames[0]["found_by"], "return address", "the innermost")
    h.check_equal({frame["found_by"] for frame in frames[1:6]},
                  {"unwind tables"}, "the others")
    h.check("frame pointer" not in report.text, "marks in the text")


@h.test("how each frame was found: by frame pointers, marked in the text")
def _(case):
    report, frames = frames_of(case, "-fno-asynchronous-unwind-tables",
                               "-fno-unwind-tables",
                               "-fno-omit-frame-pointer")
    h.check_equal([frame["found_by"] for frame in frames[:6]],
                  ["return address"] + 5 * ["frame pointer"], "in JSON")
    marked = re.findall(r"^ {8}(\w+) \(heap_deep-[^)]*, by frame pointer\)$",
                        "\n".join(report.rows[0].lines), re.M)
    h.check_equal(marked, CHAIN, "in the text")


@h.test("--histogram: of everything, and in JSON")
def _(case):
    path = case.path("heap.json")
    report = hr.heap(case, "--histogram", "--json", path, deep("-g")).report
    wanted = [(2048, 3, 50.0), (4 << 20, 3, 100.0)]
    title = "SIZES OF ALL THAT WAS ACQUIRED"
    found = [re.match(r" +up to +([\d,]+) bytes: +(\d+) +([\d.]+) %$", line)
             for line in report.sections[title]]
    h.check_equal([(hr.number(each[1]), int(each[2]), float(each[3]))
                   for each in found], wanted, "in the text")
    data = json.loads(h.read(path))
    h.check_equal([(size["up_to"], size["blocks"], size["percent_up_to"])
                   for size in data["sizes"]], wanted, "in JSON")
    h.check_equal(data["sites"][0]["sizes"],
                  [{"up_to": 4 << 20, "blocks": 3, "percent_up_to": 100.0}],
                  "of a site")
    hr.heap(case, "--json", path, deep("-g"))
    h.check("sizes" not in json.loads(h.read(path)), "sizes nobody asked for")


DUMP = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} \[MEM_DUMP day_1\] "
                  r"Process: (\d+); RSS: (\d+); Total: (\d+); Blocks: (\d+); "
                  r"Libraries:((?: \S+:\d+)*)$", re.M)


@h.test("--tag: a line each time, whose parts add up")
def _(case):
    target = start(case)
    tracer = hr.attach(case, target, options=("--every", "50ms", "--tag",
                                              "day 1"))
    hr.settle(target, tracer)

    def lines():
        return DUMP.findall(h.read(tracer.report_path))

    order(target, "a")
    h.wait_until(lambda: any(line[2:4] == ("1000", "10") for line in lines()),
                 "a line with alpha's blocks")
    order(target, "b")
    h.wait_until(lambda: any(line[2:4] == ("6000", "15") for line in lines()),
                 "a line with beta's")
    tracer.popen.send_signal(h.signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status")
    text = h.read(tracer.report_path)
    for pid, resident, total, _, parts in DUMP.findall(text):
        h.check_equal(int(pid), target.pid, "process")
        h.check(int(resident) > 0, "RSS")
        h.check_equal(sum(int(part.rsplit(":", 1)[1])
                          for part in parts.split()), int(total), "the sum")
    h.check_equal(text.count("==== heap of process"), 1, "reports")
    result = case.calltrap("heap", "--tag", "x", "true", log=False)
    result.check_status(2)


def age(pid):
    fields = h.read("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()
    ticks = os.sysconf("SC_CLK_TCK")
    return float(h.read("/proc/uptime").split()[0]) - int(fields[19]) / ticks


@h.test("what it was like before it was watched")
def _(case):
    target = start(case)
    h.wait_until(lambda: age(target.pid) > 1.5, "a second and a half")
    tracer = hr.attach(case, target)
    hr.settle(target, tracer)
    time.sleep(0.2)
    report = hr.leave(tracer)
    text = "\n".join(report.sections["PROCESS"])
    found = h.check_match(r"^before that, in (\S+) (s|min) since its start: "
                          r"([\d.,]+) page faults a second, (\d+) % of a "
                          r"processor$", text, "before")
    h.check(found[2] == "min" or float(found[1]) > 1, "its age")
    h.check(float(found[3].replace(",", "")) > 0, "faults before")
    h.check_match(r"this report took [\d.]+ \S+$", report.text, "how long the "
                  "report took")
    report = hr.heap(case, deep("-g")).report
    h.check("before that" not in report.text, "before its start")


if __name__ == "__main__":
    sys.exit(h.main())
