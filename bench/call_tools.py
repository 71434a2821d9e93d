#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
What it costs to watch calls. Servers under load are attached to, and left again,
in turn with nobody there; programs are started alone and by calltrap; until there
are enough rounds. So are other tools, where they are installed and see the same
calls: ltrace -c where all are counted, the kernel's uprobes (by root, with bcc) where
malloc is: uprobe counts, uretprobe has their time, too. Printed for each are medians (lowest to highest) of: requests a
second and the 99th percentile of their times, ms; processor seconds of the program
and of calltrap, for a million requests; seconds and processor seconds of all, of
programs that end; how many calls were seen, and were not recorded. Where each call
is a stop, or a trap to the kernel, the load is a fraction. What takes longer than
--patience is ended; whether the program died is told. A machine that does other
things as well makes times longer for all.
"""

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

import servers
from servers import family_of, show, stat_of

HERE = os.path.dirname(os.path.abspath(__file__))
CALLTRAP = os.path.abspath(os.environ.get("CALLTRAP") or
                           os.path.join(HERE, "..", "calltrap"))

CXX = r"""
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
int main(int argc, char **argv)
{
        std::map<std::string, std::string> words;
        for (long i = 0; i < atol(argv[argc - 1]); i++) {
                char name[32];
                snprintf(name, sizeof name, "word %ld", i * 7919 % 5000);
                words[name] += getenv("HOME") ? "a long enough text" : "";
                if (words[name].size() > 400)
                        words.erase(name);
        }
        return words.empty();
}
"""

RUST = r"""
use std::collections::HashMap;
fn main() {
    let rounds: u64 = std::env::args().last().unwrap().parse().unwrap();
    let mut words: HashMap<String, String> = HashMap::new();
    for i in 0..rounds {
        let name = format!("word {}", i * 7919 % 5000);
        words.entry(name).or_default().push_str("a long enough text");
        if i % 50000 == 49999 {
            words.clear();
        }
    }
    std::process::exit(words.is_empty() as i32);
}
"""

PYTHON = """
import json, sys
text = json.dumps([{'a': i, 'b': str(i)} for i in range(100)])
for _ in range(int(sys.argv[1])):
    json.dumps(json.loads(text))
"""

TEN = "+".join(["malloc", "free", "strlen", "memcpy", "memcmp", "strcmp",
                "memset", "memchr", "realloc", "pthread_mutex_lock"])

# What is asked of calltrap; "log" is written to a file.
WHAT = {
    "-c": ["-c"],
    "-c malloc": ["-c", "-L", "-x", "malloc"],
    "-c ten": ["-c", "-L", "-x", TEN],
    "log malloc": ["-L", "-x", "malloc"],
    "log ten": ["-L", "-x", TEN],
}
ENGINES = ("auto", "trap", "ltrace", "uprobe", "uretprobe")

# Other tools: what of it they see as well.
PEERS = {"ltrace": "-c", "uprobe": "-c malloc", "uretprobe": "-c malloc"}

# Of the requests each has one in so many.
PART = {"trap": 50, "ltrace": 500, "uprobe": 5, "uretprobe": 5}


def has_uprobes():
    if os.geteuid():
        return False
    with tempfile.TemporaryDirectory() as directory:
        sleeper = subprocess.Popen(["sleep", "1000"])
        watcher = Watcher(directory, "-c malloc", "uprobe", sleeper.pid)
        found = os.path.exists(log_of(directory))
        watcher.end()
        sleeper.kill()
        sleeper.wait()
    return found


def peers_there(engines):
    """Of them all, those that work here."""
    there = {"ltrace": bool(shutil.which("ltrace"))}
    if "uprobe" in engines or "uretprobe" in engines:
        there["uprobe"] = there["uretprobe"] = has_uprobes()
    return [engine for engine in engines if there.get(engine, True)]


def log_of(directory):
    return os.path.join(directory, "log")


def uprobes(directory, engine, pid, function):
    library = function == "malloc" and servers.allocator_of(pid)
    library = library or servers.c_library_of(pid)
    return ["/usr/bin/python3", os.path.join(HERE, "uprobes.py"), str(pid),
            library, function, engine, log_of(directory)]


def calltrap(directory, what, engine):
    return [CALLTRAP, "--engine=" + engine, *WHAT[what], "-o",
            log_of(directory)]


def tool(directory, what, engine):
    """What is put before a program, or has -p PID; uprobes are attached."""
    if engine == "ltrace":
        return ["ltrace", "-f", "-c", "-o", log_of(directory)]
    return calltrap(directory, what, engine)


def kept(directory):
    """How many calls the table has, or the log; and what wasn't recorded."""
    calls = 0
    with open(log_of(directory), errors="replace") as file:
        for line in file:
            total = re.match(r"100\.00\s+~?[\d.]+\s+(\d+)\s.*total$"
                             r"|calls: (\d+), ns", line)
            if total:
                return int(total[1] or total[2])
            calls += 1
    return calls


def seen(directory, text):
    if not os.path.exists(log_of(directory)):
        return {"calls": 0}
    return {"calls": kept(directory), "lost": lost(text)}


def lost(text):
    found = re.search(r"(\d+) calls? (?:was|were) not recorded", text)
    return int(found[1]) if found else 0


# ---- servers ----

class Watcher:
    """calltrap or a peer, attached; .end() says what it has used and seen."""

    def __init__(self, directory, what, engine, pid, function="malloc"):
        self.directory = directory
        self.log = tempfile.TemporaryFile("w+")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(log_of(directory))
        if engine in ("uprobe", "uretprobe"):
            self.start(uprobes(directory, engine, pid, function))
            servers.until(lambda: self.process.poll() is not None or
                          os.path.exists(log_of(directory)))
        else:
            self.start(tool(directory, what, engine) + ["-p", str(pid)])

    def start(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL,
                                        stderr=self.log)

    def spent(self):
        return sum(found[1] for found in
                   map(stat_of, family_of(self.process.pid)) if found)

    def end(self):
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.seek(0)
        return seen(self.directory, self.log.read())


def attached(server, pid, way, directory, requests):
    watcher = Watcher(directory, *way, pid) if way else None
    try:
        if watcher:
            time.sleep(1)
            server.load(max(requests // 50, 200))  # the agent gets in
        before = stat_of(pid)[1], watcher.spent() if watcher else 0
        found = server.load(requests)
        scale = 1e6 / requests
        found["program"] = (stat_of(pid)[1] - before[0]) * scale
        if watcher:
            found["calltrap"] = (watcher.spent() - before[1]) * scale
    except servers.Failed:
        found = {}
    if watcher:
        found.update(watcher.end())
    found["died"] = servers.is_dead(pid)
    return found


def start_server(name, directory, options):
    server = servers.SERVERS[name](directory)
    started = subprocess.Popen(server.argv, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    pid = server.wait()
    server.load(1000)
    server.patience = options.patience
    return server, started, pid


def stop_server(server, started, pid):
    if not servers.is_dead(pid):
        server.stop(pid)
    started.wait()


def serve(name, ways, options, directory):
    rounds, running = {}, None
    for way in ([None] + ways) * options.rounds:
        if not running:
            own = tempfile.mkdtemp(dir=directory)
            running = start_server(name, own, options)
        server, _, pid = running
        part = PART.get(way[1], 1) if way else 1
        requests = max(options.requests // part, 200)
        found = attached(server, pid, way, own, requests)
        rounds.setdefault(way, []).append(found)
        if found["died"]:
            stop_server(*running)
            running = None
    if running:
        stop_server(*running)
    return rounds


# ---- programs that end ----

def end_of(started, patience):
    """How it has ended, and what it has used; None: it was ended."""
    until = time.monotonic() + patience
    while time.monotonic() < until:
        pid, status, usage = os.wait4(started.pid, os.WNOHANG)
        if pid:
            return status, usage.ru_utime + usage.ru_stime
        time.sleep(0.005)
    for pid in reversed(family_of(started.pid)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    os.wait4(started.pid, 0)
    return None


def run_once(argv, way, directory, patience):
    log = tempfile.TemporaryFile("w+")
    how = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
           "stderr": log}
    began, watcher = time.monotonic(), None
    with contextlib.suppress(FileNotFoundError):
        os.unlink(log_of(directory))
    if way and way[1] in ("uprobe", "uretprobe"):
        started = servers.launch_stopped(argv, **how)
        watcher = Watcher(directory, *way, started.pid)
        began = time.monotonic()
        os.kill(started.pid, signal.SIGCONT)
    else:
        started = subprocess.Popen((tool(directory, *way) if way else []) +
                                   argv, **how)
    ended = end_of(started, patience)
    seconds = time.monotonic() - began
    spent = watcher.spent() if watcher else 0
    watched = watcher.end() if watcher else {}
    if not ended:
        return {}
    found = {"seconds": seconds, "all": ended[1] + spent,
             "died": os.WIFSIGNALED(ended[0])}
    if way and not watcher:
        log.seek(0)
        watched = seen(directory, log.read())
    found.update(watched)
    return found


def launch(argv, ways, options, directory):
    rounds, slow = {}, set()
    for _ in range(options.rounds):
        for way in [None] + ways:
            if way in slow:
                continue
            found = run_once(argv, way, directory, options.patience)
            rounds.setdefault(way, []).append(found)
            if not found:
                slow.add(way)
    return rounds


def build(directory, name, text, *command):
    path = os.path.join(directory, name)
    with open(path, "w") as file:
        file.write(text)
    out = os.path.splitext(path)[0] + ".out"
    subprocess.run([*command, path, "-o", out], check=True)
    return out


def python(_directory, options):
    return ["/usr/bin/python3", "-c", PYTHON, str(options.requests // 100)]


def cc1plus(directory, _options):
    source = build(directory, "t.cpp", CXX, "g++", "-E")
    program = subprocess.run(["g++", "-print-prog-name=cc1plus"], check=True,
                             stdout=subprocess.PIPE,
                             universal_newlines=True).stdout.strip()
    os.rename(source, source + ".ii")
    return [program, "-quiet", "-O1", source + ".ii", "-o", "/dev/null"]


def cxx(directory, options):
    return [build(directory, "words.cc", CXX, "g++", "-O2"),
            str(options.requests * 10)]


def rust(directory, options):
    if not shutil.which("rustc"):
        return None
    return [build(directory, "words.rs", RUST, "rustc", "-O"),
            str(options.requests * 10)]


PROGRAMS = {"python3": python, "cc1plus": cc1plus, "C++": cxx, "Rust": rust}

WAYS = {
    "redis -P 1": ["-c", "-c malloc", "log malloc"],
    "redis -P 16": ["-c", "-c malloc", "log malloc"],
    "nginx": ["-c", "-c malloc", "log malloc"],
    "mariadbd": ["-c ten", "log ten"],
    "python3": ["-c", "-c malloc"],
    "cc1plus": ["-c", "-c malloc"],
    "C++": ["-c", "-c malloc", "log malloc"],
    "Rust": ["-c", "-c malloc", "log malloc"],
}

COLUMNS = ["rate", "p99", "program", "calltrap", "seconds", "all", "calls",
           "lost"]


def print_line(name, way, found):
    line = ["%-12s%-12s%-9s" % (name, *(way or ("alone", "")))]
    for column in COLUMNS:
        numbers = [one[column] for one in found if one.get(column) is not None]
        if numbers:
            line.append("%s %s" % (column, show(numbers)))
    died = sum(bool(one.get("died")) for one in found)
    if died:
        line.append("the program died: %d of %d" % (died, len(found)))
    elif not any("rate" in one or "seconds" in one for one in found):
        line.append("not within its time")
    print("  ".join(line), flush=True)


def measure(name, options, directory):
    ways = [(what, engine) for what in WAYS[name]
            for engine in options.engines
            if PEERS.get(engine, what) == what]
    if name in servers.SERVERS:
        return servers.is_installed(name) and serve(name, ways, options,
                                                    directory)
    argv = PROGRAMS[name](directory, options)
    return argv and launch(argv, ways, options, directory)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--requests", type=int, default=50000)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("names", nargs="*", default=list(WAYS))
    options = parser.parse_args()
    options.engines = peers_there(options.engines.split(","))
    for name in options.names:
        with tempfile.TemporaryDirectory(prefix="calltrap-bench.") as directory:
            rounds = measure(name, options, directory)
        for way, found in (rounds or {}).items():
            print_line(name, way, found)


if __name__ == "__main__":
    main()
