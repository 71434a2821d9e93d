# SPDX-License-Identifier: GPL-2.0-or-later
"""
What calls cost a program where they are recorded in it, beside what was aimed at:
nanoseconds more a call, in the shortest burst of many, by each engine, ltrace and the
kernel's uprobes; how many a second calltrap keeps up with, and its own processor
time of a call; and how long threads don't
run while calltrap comes, beside how long without. All in turns.
"""

import os
import re
import resource
import signal
import statistics
import subprocess
import tempfile
import time

import call_tools
import servers

HERE = os.path.dirname(os.path.abspath(__file__))
CALLTRAP = call_tools.CALLTRAP

# What is asked, the kind of burst, what is taken off, nanoseconds to reach.
COSTS = [
    ("-c", "number", None, 40),
    ("log, an integer", "number", None, 100),
    ("log, a text", "text", None, 150),
    ("log -w20, 20 frames more", "deep", "log, an integer", 100),
]
FUNCTION = {"number": "labs", "text": "strlen", "deep": "labs"}

# Calls, threads, what is asked, calls a second to reach.
RATES = [
    ("log", 3000000, 1, ["-L", "-x", "labs"], 2e6),
    ("log, JSON lines, too", 2000000, 1,
     ["--json=%s/json", "-L", "-x", "labs"], 2e6),
    ("-c", 30000000, 2, ["-c", "-L", "-x", "labs"], 10e6),
]
TOOLS = ("untraced", "agent", "trap", "ltrace", "uprobe", "uretprobe")


def build(directory):
    path = os.path.join(directory, "reach")
    subprocess.run(["gcc", "-O1", "-fno-builtin", "-pthread", "-o", path,
                    os.path.join(HERE, "reach.c")], check=True)
    return path


def options_of(what, function):
    kind = ["-c"] if what == "-c" else ["-w20"] if "-w20" in what else []
    return kind + ["-L", "-x", function]


def command_of(tool, what, function, directory):
    log = os.path.join(directory, "log")
    if tool == "ltrace":
        return ["ltrace", "-o", log, "-e", function] + (
            ["-c"] if what == "-c" else [])
    return [CALLTRAP, "--engine=" + tool, "-o", log,
            *options_of(what, function)]


def sees(tool, what, function):
    """Peers: what they have to show is comparable."""
    if tool == "ltrace":
        return "-w" not in what
    if tool in ("uprobe", "uretprobe"):
        return what == "-c" and function == "labs"
    return True


def out_of(argv, patience):
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, timeout=patience,
                              stderr=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None
    return done.stdout.decode()


def by_uprobes(tool, argv, function, directory, patience):
    started = servers.launch_stopped(argv, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE)
    watcher = call_tools.Watcher(directory, "-c", tool, started.pid, function)
    os.kill(started.pid, signal.SIGCONT)
    text = started.communicate(timeout=patience)[0].decode()
    return text if watcher.end().get("calls") else None


def one_cost(tool, what, kind, work, directory, patience):
    argv = [work, kind, "1"]
    function = FUNCTION[kind]
    if tool in ("uprobe", "uretprobe"):
        text = by_uprobes(tool, argv, function, directory, patience)
    elif tool == "untraced":
        text = out_of(argv, patience)
    else:
        text = out_of(command_of(tool, what, function, directory) + argv,
                      patience)
    found = re.search(r"^([\d.]+)$", text or "", re.M)
    return float(found[1]) if found else None


def costs_of(what, kind, tools, work, options):
    """The least of each tool, less what it is without."""
    least = {}
    for _ in range(options.runs):
        for tool in tools:
            if not sees(tool, what, FUNCTION[kind]):
                continue
            with tempfile.TemporaryDirectory() as directory:
                one = one_cost(tool, what, kind, work, directory,
                               options.patience)
            if one is not None:
                least[tool] = min(one, least.get(tool, one))
    alone = least.pop("untraced", 0)
    return {tool: one - alone for tool, one in least.items()}


def show(value, form="%.0f"):
    return "-" if value is None else form % value


def more(cost):
    """None: less than what it varies by."""
    return cost if cost and cost > 0 else None


def row(title, *cells):
    print(title.ljust(28) + "".join(cell.rjust(max(11, len(cell) + 2))
                                    for cell in cells),
          flush=True)


def print_costs(work, options):
    tools = call_tools.peers_there(TOOLS)
    row("ns more a call, the least", *tools[1:], "aim", "agent/aim")
    known = {}
    for what, kind, less, aim in COSTS:
        found = known[what] = costs_of(what, kind, tools, work, options)
        if less:
            found = {tool: cost - known[less][tool]
                     for tool, cost in found.items() if tool in known[less]}
        agent = found.get("agent")
        row(what, *(show(more(found.get(tool))) for tool in tools[1:]),
            str(aim),
            show(agent and agent / aim, "%.2f"))


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rate_of(asked, work, threads, calls, patience):
    """Seconds in all, and processor seconds of calltrap; None: not in time."""
    began, spent = time.monotonic(), processor_seconds()
    with tempfile.TemporaryDirectory() as directory:
        asked = [one.replace("%s", directory) for one in asked]
        text = out_of([CALLTRAP, "--engine=agent", "-o",
                       os.path.join(directory, "log"), *asked, work, "rate",
                       str(threads), str(calls)], patience)
        seconds = time.monotonic() - began
    if not text:
        return None
    return seconds, processor_seconds() - spent - float(text)


def print_rates(work, options):
    row("calls a second, the most", "agent", "aim", "agent/aim",
        "ns of calltrap's")
    for title, calls, threads, asked, aim in RATES:
        found = {calls: [], threads: []}
        for _ in range(options.runs):
            for number, list_ in found.items():
                one = rate_of(asked, work, threads, number, options.patience)
                if one:
                    list_.append(one)
        if not all(found.values()):
            row(title, "-", show(aim))
            continue
        seconds = [min(one[0] for one in list_) for list_ in found.values()]
        spent = [statistics.median(one[1] for one in list_)
                 for list_ in found.values()]
        rate = (calls - threads) / (seconds[0] - seconds[1])
        row(title, show(rate), show(aim), show(rate / aim, "%.2f"),
            show((spent[0] - spent[1]) * 1e9 / calls))


def pauses_of(work, attach):
    """The longest of any thread, and the median of the longest of each, ms."""
    with tempfile.TemporaryDirectory() as directory:
        started = subprocess.Popen([work, "pauses", "64", "4"],
                                   stdout=subprocess.PIPE)
        time.sleep(1)
        tracer = attach and subprocess.Popen(
            [CALLTRAP, "-c", "-L", "-x", "labs", "-o",
             os.path.join(directory, "log"), "-p", str(started.pid)],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        text = started.communicate()[0].decode()
        if tracer:
            tracer.wait()
    return [float(word) for word in text.split()]


def print_pauses(work, options):
    found = {False: [], True: []}
    for _ in range(options.runs):
        for attach, list_ in found.items():
            list_.append(pauses_of(work, attach))
    row("64 busy threads, ms", "untraced", "attached", "ratio")
    for title, column in (("longest pause of any", 0), ("median thread's", 1)):
        alone, watched = (statistics.median(one[column] for one in list_)
                          for list_ in found.values())
        row(title, show(alone, "%.1f"), show(watched, "%.1f"),
            show(watched / alone, "%.2f"))


def measure(options, directory):
    work = build(directory)
    print_costs(work, options)
    print()
    print_rates(work, options)
    print()
    print_pauses(work, options)
