#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Logs, --engine=agent: whatever option says how a line looks, or which there are, the
calls that are recorded in the process have the same lines as those by traps."""

import json
import re
import sys
import time

sys.dont_write_bytecode = True
import harness as h



def of_libc(names):
    return "+".join(name + "@libc.so.6" for name in names.split("+"))


NAMES = of_libc("strlen+strcmp+strchr+atoi+memcmp+getenv+strdup")
# None of which calls another.
FLAT = of_libc("strlen+strcmp+strchr+atoi+memcmp")
TIME = r"(?:\d\d:\d\d:\d\d(?:\.\d{6})?| *\d+\.\d{6})"


def program():
    return h.build("texts", "texts.c", "-O1", "-fno-builtin", "-w")


def in_process(err):
    found = re.search(r"; ([\d,]+) calls? in the process", err)
    return int(found[1].replace(",", "")) if found else 0


def check_inside(result, calls):
    h.check_seen(result)
    h.check(in_process(result.err) > 0.6 * calls,
            "of %d calls most by traps: %s" % (calls, result.err))


def plain(line):
    """Without addresses; and what fills its column, which they shift."""
    return re.sub(r" +(?==)", " ", re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", line))


def check_same(found, wanted, what="line"):
    for i, (one, other) in enumerate(zip(found, wanted)):
        h.check_equal(one, other, "%s %d" % (what, i))
    h.check_equal(len(found), len(wanted), what + "s")


def run(case, engine, *options, names=NAMES):
    result = case.calltrap("--engine=" + engine, "--when-full=wait", "-L", "-x",
                           names, *options, program(), "60")
    h.check_equal(result.status, 7, "status, with " + engine)
    if engine == "agent":
        check_inside(result, len(result.log.calls))
    return result


def calls_of(path):
    return [event for event in map(json.loads, h.read(path).splitlines())
            if event["event"] == "call"]


def both(case, *options):
    return [run(case, engine, *options) for engine in ("agent", "trap")]


def timeless(log):
    return [plain(re.sub("^" + TIME, "TIME", line)) for line in log.splitlines()]


# ------------------------------------------------------------ how lines look

@h.test("-t, -tt, -ttt: the same lines, each with its call's time")
def times(case):
    for option in "-t", "-tt", "-ttt":
        wanted = run(case, "trap", option)
        path = case.path("calls.json")
        began = time.time()
        found = run(case, "agent", option, "--json", path)
        ended = time.time()
        check_same(timeless(found.log_text), timeless(wanted.log_text))
        check_times(option, found.log.calls, calls_of(path), began, ended)


def check_times(option, lines, calls, began, ended):
    """Those of JSON, as the option shows them."""
    h.check_equal(len(lines), len(calls), "calls in JSON")
    calls.sort(key=lambda call: call["time"])
    h.check(began <= calls[0]["time"] and calls[-1]["time"] <= ended,
            "%f to %f, run from %f to %f" % (calls[0]["time"], calls[-1]["time"],
                                             began, ended))
    for line, call in zip(lines, calls):
        # Each has rounded it, or cut it off, by itself.
        near = [shown_as(option, call["time"] + off) for off in (-1e-6, 0, 1e-6)]
        h.check(line.time in near, "%s isn't one of %s" % (line.text, near))


def shown_as(option, moment):
    whole, part = ("%.6f" % moment).split(".")
    if option == "-ttt":
        return whole + "." + part
    return time.strftime("%T", time.localtime(int(whole))) + \
        ("." + part if option == "-tt" else "")


@h.test("-r: the same lines, each with the time since the one before")
def relative(case):
    wanted = run(case, "trap", "-r", names=FLAT)
    path = case.path("calls.json")
    found = run(case, "agent", "-r", "--json", path, names=FLAT)
    check_same(timeless(found.log_text), timeless(wanted.log_text))
    lines = [line for line in found.log.lines if line.kind != "exit"]
    moments = sorted(call["time"] for call in calls_of(path))
    h.check_equal(len(lines), len(moments), "a line each")
    for i, (line, now) in enumerate(zip(lines, moments)):
        since = now - moments[i - 1] if i else 0
        h.check(abs(float(line.time) - since) < 2.5e-6,
                "%.6f since the line before: %s" % (since, line.text))


def looks(words, *options):
    @h.test("the same lines: " + words)
    def compare(case):
        with h.same_addresses():
            found, wanted = both(case, *options)
        lines = [re.findall(r"^\[0x[0-9a-f]+\]|(?:^|(?<=\]))[^[].*", line)
                 for line in found.log_text.splitlines()]
        others = [re.findall(r"^\[0x[0-9a-f]+\]|(?:^|(?<=\]))[^[].*", line)
                  for line in wanted.log_text.splitlines()]
        check_same([[*line[:-1], plain(line[-1])] for line in lines],
                   [[*line[:-1], plain(line[-1])] for line in others])


looks("-i", "-i")
looks("-n 2 -a 70", "-n", "2", "-a", "70")
looks("-s 3 -C", "-s", "3", "-C")


# ----------------------------------------------------------------- JSON

def said(call):
    """What a call was, but for what differs from one run to the next."""
    kept = {key: value for key, value in call.items()
            if key not in ("pid", "tid", "time", "duration", "below")}
    kept["args"] = ["ADDRESS" if isinstance(value, int) and value > 1 << 32
                    else value for value in call["args"]]
    if isinstance(call.get("result"), int) and call["result"] > 1 << 32:
        kept["result"] = "ADDRESS"
    if isinstance(call.get("result"), dict):
        kept["result"] = {**call["result"], "address": "ADDRESS"}
    for frame in kept.get("stack", []):
        frame.pop("ip", None)
    kept.pop("ip", None)
    return kept


def json_of(case, engine, names, *options):
    path = case.path(engine + ".json")
    result = run(case, engine, "--json", path, *options, names=names)
    return calls_of(path), result


def check_moments(calls):
    """One thread's: of those within no other none begins before the last has ended."""
    outer = sorted((call for call in calls if not call["depth"]),
                   key=lambda call: call["time"])
    for one, other in zip(outer, outer[1:]):
        h.check(one["time"] + one["duration"] < other["time"] + 2e-6,
                "%r\nends behind %r" % (one, other))


def objects(words, *options, names=NAMES):
    @h.test("--json: the same objects: " + words)
    def compare(case):
        found, result = json_of(case, "agent", names, *options)
        wanted, _ = json_of(case, "trap", names, *options)
        h.check(len(found) > 600, "calls: %d" % len(found))
        check_same([said(call) for call in found],
                   [said(call) for call in wanted], "call")
        h.check_equal({(call["pid"], call["tid"]) for call in found},
                      {(found[0]["pid"], found[0]["pid"])}, "threads")
        check_moments(found)
        check_inside(result, len(found))


objects("calls")
objects("with stacks", "-w", "5", names=FLAT)


@h.test("--json: the same objects: with stacks, of calls within others")
def objects_within(case):
    found, result = json_of(case, "agent", NAMES, "-w", "5")
    wanted, _ = json_of(case, "trap", NAMES, "-w", "5")
    inner = sum(call["depth"] == 1 for call in wanted)
    h.check(inner > 170, "calls within others: %d" % inner)
    check_same([said(call) for call in found], [said(call) for call in wanted],
               "call")
    h.check("could not be followed" not in result.err, result.err)


@h.test("-w: what stops within a call that a hook has made has its whole stack")
def stacks_of_stops_within(case):
    """malloc() within strdup(): the first ones stop, for rules."""
    result = run(case, "agent", "-w", "6", names=NAMES + "+" + of_libc("malloc"))
    h.check(result.log.count("malloc") > 100, "calls of malloc")
    h.check_equal(result.log_text.count("what called this is not known"), 0,
                  "stacks that end too early")


# --------------------------------------------------- system calls, scripts

def sayer():
    directory = h.build_directory("says")
    h.build_library("libsay.so", "libsay.c", "-O1", directory=directory)
    return h.build("says", "says.c", "-O1", "-fno-builtin", "-U_FORTIFY_SOURCE",
                   *h.near(directory), "-lsay", directory=directory)


def named(log):
    """Names and results, but for addresses and processes."""
    return [(line.kind, line.name, plain(" " + (line.result or line.end or ""))
             if line.name != "set_tid_address@SYS" else "")
            for line in log.lines if line.name != "set_tid_address"]


@h.test("-S: the same calls and system calls, in one order")
def system_calls(case):
    found, wanted = both(case, "-S")
    systems = [line for line in found.log.calls if line.library == "SYS"]
    h.check(len(systems) > 5, "system calls: %d" % len(systems))
    check_same(named(found.log), named(wanted.log))


@h.test("-S: system calls are within the calls that make them")
def system_calls_within(case):
    found = {}
    for engine in "agent", "trap":
        result = case.calltrap("--engine=" + engine, "--when-full=wait", "-L", "-S",
                               "-x", "write+open@libc.so.6", sayer(), "100")
        h.check_equal(result.status, 7, "status, with " + engine)
        found[engine] = result
    h.check_seen(found["agent"])
    check_same(named(found["agent"].log), named(found["trap"].log))
    h.check(in_process(found["agent"].err) > 100, found["agent"].err)


@h.test("--script: each call with its place, by a stop")
def scripts(case):
    h.need("/usr/bin/python3")
    script = case.write("makes.py", "import os\n" + "os.getppid()\n\n" * 200)
    found = {}
    for engine in "agent", "trap":
        path = case.path(engine + ".json")
        result = case.calltrap("--engine=" + engine, "--script", "--json", path,
                               "-L", "-x", "getppid", "/usr/bin/python3", script)
        result.check_status(0)
        found[engine] = calls_of(path)
        if not any("script" in call for call in found[engine]):
            raise h.Skip("there is no file for this python3")
    lines = [call["script"]["line"] for call in found["agent"]]
    h.check_equal(lines, [2 + 2 * i for i in range(200)], "lines")
    check_same([call["script"] for call in found["agent"]],
               [call["script"] for call in found["trap"]], "place")


# ------------------------------------------- namespaces, several processes

@h.test("dlmopen: calls of each namespace's library, and within it")
def namespaces(case):
    loader, plugin = h.build_loader()
    found = {}
    for engine in "agent", "trap":
        result = case.calltrap("--engine=" + engine, "--when-full=wait", "-L", "-x",
                               "f1+g1+g_calls_f1", loader, plugin,
                               input_text="ncppncppuncplcpncp" + "q")
        result.check_status(7)
        found[engine] = result
    check_inside(found["agent"], 700)
    found["agent"].log.check_counts({"g1": 15, "g_calls_f1": 7, "f1": 700})
    check_same([plain(line) for line in found["agent"].log_text.splitlines()],
               [plain(line) for line in found["trap"].log_text.splitlines()])


CALLS = 2000, 3000, 500


def start(case, calls):
    slots = h.build("slots-several", "slots.c", "-O1", "-fno-builtin", "-pthread")
    target = case.start([slots, "2", str(calls)])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


@h.test("several -p, and a file for each: each call of each process")
def several(case):
    for divided in False, True:
        targets = [start(case, calls) for calls in CALLS]
        where = case.path("%p.json" if divided else "all.json")
        tracer = case.start_calltrap(
            "--engine=agent", "--when-full=wait", "-L", "-x", "labs", "--json", where,
            *(word for target in targets for word in ("-p", str(target.pid))))
        for target in targets:
            h.wait_until(lambda: h.are_planted(target.pid), "the traps")
            h.settle(target, tracer)
        for line in "go\n", "end\n":
            for target in targets:
                target.say(line)
        for target in targets:
            h.check_equal(target.wait(), 7, "status of a target")
        h.check_equal(tracer.wait(), 0, "status of calltrap")
        check_inside(tracer, 2 * sum(CALLS))
        for target, calls in zip(targets, CALLS):
            check_calls(where.replace("%p", str(target.pid)), target.pid, calls)


def check_calls(path, pid, wanted):
    """Those of the process, by its two threads."""
    threads = {}
    for call in calls_of(path):
        if call["pid"] == pid:
            threads.setdefault(call["tid"], []).append(-call["args"][0])
    h.check_equal([len(calls) for calls in threads.values()], [wanted] * 2,
                  "calls of %d" % pid)
    for calls in threads.values():
        check_same(calls, list(range(wanted)), "argument")


@h.test("by the program's slots and at the function: each is told of, nobody stops")
def slot_and_entry(case):
    """The hook of the slot leads to that of the function, not to the trap there."""
    own = FLAT.replace("@libc.so.6", "")
    logs = []
    for engine in ("agent", "trap"):
        result = case.calltrap("--engine=" + engine, "--when-full=wait",
                               "-e", own, "-x", FLAT, program(), "60")
        h.check_equal(result.status, 7, "status, with " + engine)
        logs.append([plain(line.text) for line in result.log.lines])
        if engine == "agent":
            check_inside(result, len(result.log.calls))
    check_same(*logs)


if __name__ == "__main__":
    sys.exit(h.main(of_x86="the agent"))
