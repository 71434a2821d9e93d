#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What being watched costs, and that it isn't told as the program's own time.
"""

import json
import re
import statistics
import time

import harness as h

CALLS = 3000


def build():
    return h.build("brief", "brief.c", "-g", "-O1", "-rdynamic")


def row(text, name):
    return h.check_match(r"^.* %s$" % name, text, "the row of " + name)[0]


@h.test("-c: what takes no time is below what can be told")
def table(case):
    result = case.calltrap("-c", "-T", "-L", "-x", "nothing",
                           build(), str(CALLS))
    words = row(result.log_text, "nothing").split()
    # The mean has the calls in it that waited for a processor.
    h.check(words[3].startswith("<"), "median: %r" % words)
    h.check_equal(words[6], str(CALLS), "calls")


@h.test("-T: what takes no time has zeros")
def log(case):
    result = case.calltrap("-T", "-L", "-x", "nothing", build(), str(CALLS))
    times = [float(call.duration) for call in result.log.named("nothing")]
    h.check_equal(len(times), CALLS, "calls")
    h.check_equal(statistics.median(times), 0, "median")


@h.test("--json: what takes no time says what it is below")
def objects(case):
    path = case.path("json")
    case.calltrap("--json", path, "-L", "-x", "nothing", build(), str(CALLS))
    calls = [value for value in map(json.loads, h.read(path).splitlines())
             if value["event"] == "call"]
    h.check_equal(len(calls), CALLS, "calls")
    below = [call for call in calls if "below" in call]
    h.check(len(below) > CALLS / 2, "%d are below" % len(below))
    for call in below:
        h.check(call["duration"] <= call["below"], "%r" % call)


@h.test("heap: times of malloc are below what can be told")
def heap(case):
    path, json_path = case.path("report"), case.path("json")
    case.calltrap("heap", "--json", json_path, "-o", path, build(), str(CALLS),
                  log=False)
    mean = row(h.read(path), "malloc by brief").split()[3]
    times = [site["times"] for site in json.loads(h.read(json_path))["sites"]
             if site["allocator"] == "malloc"]
    h.check_equal([each["count"] for each in times], [CALLS], "calls")
    # A busy machine lets a few of them wait for a processor.
    h.check(mean.startswith("<") or
            float(mean) > 5 * times[0]["median"] / 1000,
            "mean time: %r; all: %r" % (mean, times))


@h.test("a call that works for long is told as it is untraced")
def long_calls(case):
    nest = [h.build("nest", "nest.c", "-g", "-O1"), "300"]

    def untraced():
        return int(re.search(r"^ran (\d+)$", case.run(nest).out, re.M)[1])
    before = min(untraced() for _ in range(3)) / 300 / 1e6
    result = case.calltrap("-T", "-L", "-x", "inner", *nest)
    times = [float(call.duration) for call in result.log.named("inner")]
    after = min(untraced() for _ in range(3)) / 300 / 1e6
    found = statistics.median(times)
    if max(before, after) > 1.3 * min(before, after):
        raise h.Skip("the machine is too uneven: %g s, %g s" % (before, after))
    # Below what can be told it is zero.
    h.check(found < max(before, after) * 1.6,
            "%g s; untraced %g and %g s" % (found, before, after))


def done(target):
    """Half seconds' work, as many as there are by now."""
    return [int(number) for number in re.findall(r"^did (\d+)$", target.out,
                                                 re.M)]


def ran(target):
    """Seconds that it has had a processor."""
    return int(h.read("/proc/%d/schedstat" % target.pid).split()[0]) / 1e9


def free_work(target, rounds):
    """
    What it does in half a second that it has a processor for. On a busy machine
    it waits for that, too, and gets it sooner when it often stands still.
    """
    first = len(done(target)) + 1
    h.wait_until(lambda: len(done(target)) >= first, "a round's begin")
    began = ran(target)
    h.wait_until(lambda: len(done(target)) >= first + rounds, "some work")
    taken = ran(target) - began
    return sum(done(target)[first:first + rounds]) / taken / 2


@h.test("attached: the share that is told is the share that was lost")
def share(case):
    target = case.start([h.build("busy", "busy.c", "-g", "-O1")])
    before = free_work(target, 3)
    tracer = case.start_calltrap("-c", "-L", "-x", "tiny", "-p",
                                 str(target.pid), log=False)
    h.wait_until(lambda: h.tracer_of(target.pid), "calltrap")
    first = len(done(target)) + 1
    h.wait_until(lambda: len(done(target)) > first + 4, "work while watched")
    watched = done(target)[first:]
    tracer.popen.terminate()
    tracer.wait()
    free = [round(before), round(free_work(target, 3))]
    lost = 1 - statistics.median(watched) / statistics.mean(free)
    said = h.check_match(r"stood still for ([\d.]+) %", tracer.err, "cost")
    said = float(said[1]) / 100
    print("# lost %.2f, said %.2f" % (lost, said))
    if max(free) > 1.2 * min(free):
        raise h.Skip("the machine is too uneven: %r" % free)
    h.check(lost / 1.5 < said < lost * 1.5, "lost %.3f of its work, said %.3f;"
            " %s" % (lost, said, tracer.err))
    h.check(said <= 1, "more than all: %s" % tracer.err)
    speed = h.check_match(r"ran at (?:about|less than) ([\d.]+) % of its "
                          "speed", tracer.err, "speed")
    h.check(abs(float(speed[1]) / 100 + said - 1) < 0.03, tracer.err)


@h.test("a target that stands still is told of at once, and once")
def warning(case):
    target = case.start([h.build("still", "busy.c", "-g", "-O1",
                                 "-DWORK=0")])
    h.wait_until(lambda: len(done(target)) > 1, "some work")
    tracer = case.start_calltrap("-L", "-x", "tiny", "-p", str(target.pid))
    h.wait_until(lambda: "stands still" in tracer.err or
                 tracer.popen.poll() is not None, "a warning")
    h.check(tracer.popen.poll() is None, "the warning came too late")
    h.check_match(r"^calltrap: the target stands still \d+ % of the time "
                  r".*-L -x$", tracer.err, "warning")
    time.sleep(1.5)
    tracer.popen.terminate()
    tracer.wait()
    h.check_equal(tracer.err.count("stands still"), 1, "warnings")
    h.check("cost:" not in tracer.err, "with -o: " + tracer.err)


@h.test("a target that hardly stops is not warned of")
def no_warning(case):
    target = case.start([h.build("rare", "busy.c", "-g", "-O1",
                                 "-DWORK=1000000000")])
    h.wait_until(lambda: len(done(target)) > 1, "some work")
    tracer = case.start_calltrap("-L", "-x", "tiny", "--for", "2500ms", "-p",
                                 str(target.pid))
    tracer.wait()
    h.check("stands still" not in tracer.err, tracer.err)


if __name__ == "__main__":
    raise SystemExit(h.main())
