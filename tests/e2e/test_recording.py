#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings: that they tell what live reports tell, to a reader that was
written from the page alone, too; and what is left of damaged ones."""

import array
import fcntl
import gzip
import json
import os
import random
import re
import resource
import shutil
import signal
import struct
import subprocess
import sys
import termios
import zlib

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402
import heap_call_lines as lines_of  # noqa: E402
import recording as rec  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "1"))
FILES = ("json", "pprof", "folded", "callgrind", "svg", "calls", "footprint",
         "speedscope", "firefox", "dhat", "massif", "html")


def victim():
    return h.build("recorded", "recorded.cc", "-g", "-O1", "-pthread",
                   cc="g++")


def run(*arguments, status=0, **more):
    done = subprocess.run([h.CALLTRAP, *arguments], capture_output=True,
                          text=True, timeout=300, errors="replace", **more)
    h.check(status is None or done.returncode == status,
            f"status {done.returncode}: {done.stderr}")
    return done


def folder_of(case, name):
    path = case.path(name)
    os.mkdir(path)
    return path


def files_of(folder, name):
    return [f"--{kind}={folder}/{name}.{kind}" for kind in FILES]


def record_live(folder, *command, options=()):
    """The same run, recorded and reported."""
    path = os.path.join(folder, "file")
    run("heap", "--record", path, "-o", f"{folder}/live.text", *options,
        *files_of(folder, "live"), "--", *command)
    return path


def read_bytes(path):
    with open(path, "rb") as file:
        return file.read()


def write_bytes(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


@h.test("a recording's reports are those of the live run, to the byte")
def same(case):
    folder = folder_of(case, "same")
    for threads in ("1", "3"):
        path = record_live(folder, victim(), threads, "60")
        run("heap", "--from", path, "-o", f"{folder}/from.text",
            *files_of(folder, "from"))
        for kind in FILES + ("text",):
            live = read_bytes(f"{folder}/live.{kind}")
            played = read_bytes(f"{folder}/from.{kind}")
            h.check(live and are_equal(kind, live, played),
                    f"{threads} threads: --{kind} differs")


def are_equal(kind, live, played):
    return comparable(kind, live) == comparable(kind, played)


def comparable(kind, text):
    """What calltrap itself holds is its own."""
    if kind == "text":
        return [line for line in text.splitlines()
                if b"calltrap holds" not in line]
    if kind == "pprof":
        return gzip.decompress(text)
    if kind == "json":
        report = json.loads(text)
        h.check(report["cost"].pop("memory") > 0, "calltrap holds nothing")
        return report
    return text


STORM = """
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    static void *run(void *argument)
    {
            for (int i = 0; i < 200000; i++)
                    free(malloc(32 + i % 64));
            return argument;
    }
    int main(void)
    {
            char line[8];
            pthread_t threads[4];
            puts("ready");
            fflush(stdout);
            if (!fgets(line, sizeof(line), stdin))
                    return 2;
            for (int i = 0; i < 4; i++)
                    pthread_create(&threads[i], 0, run, 0);
            for (int i = 0; i < 4; i++)
                    pthread_join(threads[i], 0);
            puts("done");
            fflush(stdout);
            return fgets(line, sizeof(line), stdin) ? 7 : 2;
    }
"""


@h.test("calls that found no room are counted, and the recording says so")
def no_room(case):
    if os.uname().machine != "x86_64":
        raise h.Skip("no agent is written for this machine")
    target = case.start([h.build("storm", case.write("storm.c", STORM), "-O1",
                                 "-fno-builtin", "-pthread")])
    h.wait_until(lambda: "ready" in target.out, "the target")
    path = case.path("storm.ctr")
    report = {kind: case.path(kind) for kind in ("live", "from")}
    tracer = case.start_calltrap(
        "heap", "--engine=agent", "--when-full=drop", "--record", path,
        "--json", report["live"], "-p", str(target.pid), log=False)
    h.settle(target, tracer)
    target.say("go\n")
    h.wait_until(lambda: "done" in target.out, "the calls")
    target.say("end\n")
    h.check_equal(target.wait(), 7, "status of the target")
    tracer.wait()
    tracer.wait()
    text = run("heap", "--from", path, "--json", report["from"]).stderr
    live, played = (json.loads(h.read(file)) for file in report.values())
    lost = live["lost"]
    print("# no room: %d calls" % lost["no_room"])
    h.check_equal(played["lost"], lost, "what was lost")
    h.check_equal(bool(lost["no_room"]),
                  "no room in the process's buffers" in text,
                  "what the report says")
    h.check_equal("calls were not recorded" in tracer.err,
                  bool(lost["no_room"]), "what calltrap says")
    if not lost["blind"] or lost["no_room"]:
        calls = h.check_match(r"(\d+) events in", tracer.err, "events")[1]
        h.check(int(calls) + lost["no_room"] >= 1600000,
                "%s events, %r" % (calls, lost))


BURST = """
    #include <stdlib.h>
    #include <time.h>
    #include <unistd.h>
    static void call(int count)
    {
            while (count--)
                    free(malloc(32));
    }
    int main(int argc, char **argv)
    {
            const struct timespec moment = { 0, 10000000 };
            for (int i = 0; i < atoi(argv[2]); i++) {
                    call(100);
                    nanosleep(&moment, 0);
            }
            call(atoi(argv[1]));
            if (argc > 3)
                    execl("/proc/self/exe", "again", "1", "0", (char *)0);
            _exit(7);
    }
"""


def check_last_losses(case, *arguments):
    """What found no room before the end is in the report of the program that
    has made the calls. Returns how many that were."""
    path = case.path("report")
    result = case.calltrap("heap", "--engine=agent", "--when-full=drop", "-o",
                           path, *arguments, log=False)
    h.check_equal(result.status, 7, "status; " + result.err)
    told = [int(n) for n in re.findall(r"(\d+) calls? w\w+ not recorded",
                                       result.err)]
    lost = [int(n.replace(",", "")) for n in
            re.findall(r"^calls lost: ([\d,]+)", h.read(path), re.M)]
    h.check_equal(lost[:1] or [0], told or [0], "calls lost in the first")
    h.check_equal(sum(lost[1:]), 0, "calls lost in the second")
    return sum(told)


@h.test("calls that found no room just before the end, or an exec, are counted")
def no_room_at_the_end(case):
    if os.uname().machine != "x86_64":
        raise h.Skip("no agent is written for this machine")
    program = h.build("burst", case.write("burst.c", BURST), "-O1",
                      "-fno-builtin")
    for further in [], ["exec"]:
        lost = [check_last_losses(case, program, "8000", "40", *further)
                for _ in range(6)]
        print("# no room: %r calls" % lost)


@h.test("a reader written from the page alone agrees on every event")
def page(case):
    folder = folder_of(case, "page")
    if not rec.ZSTD:
        raise h.Skip("libzstd isn't there for Python")
    path = record_live(folder, victim(), "3", "60")
    dictionary, events, index, seen = rec.read(path)
    acts = [event for event in events
            if event["kind"] not in (rec.BEGIN, rec.NOTE)]
    lines = lines_of.calls_of(f"{folder}/live.calls")
    h.check_equal(len(acts), len(lines), "calls")
    for event, line in zip(acts, lines):
        compare(dictionary, event, line)
    h.check(len(acts) > 2000, f"{len(acts)} events are few")
    h.check_equal(index, seen, "the index")


def compare(dictionary, event, line):
    function = dictionary.function(event)
    h.check_equal(dictionary.tid(event), line.tid, line.text)
    h.check_equal(function["name"].decode(), line.function, line.text)
    h.check_equal(str(event["duration"]) if "duration" in event else "?",
                  line.took, line.text)
    if function["act"] == 2:
        h.check_equal(event["old"], int(line.old, 16), line.text)
    if line.block not in ("?", "-1"):
        h.check_equal(event["handle"], int(line.block, 16), line.text)
    if function["act"] in (0, 2):
        h.check_equal(str(event["size"]), line.size, line.text)
    wanted = [frame[2] for frame in line.frames if frame[2]]
    found = [name["linkage"].decode() for name in linkages(dictionary, event)]
    for name in wanted:
        h.check(name in found, f"{name} isn't in {found}: {line.text}")


def linkages(dictionary, event):
    stack = dictionary.entries[rec.SITE][event["site"]]["stack"]
    while stack:
        entry = dictionary.entries[rec.STACK][stack]
        yield from dictionary.entries[rec.NAMES][entry["frame"]]
        stack = entry["outer"] - 3 if entry["outer"] > 3 else 0


def sites_of(path):
    return json.loads(h.read(path))["sites"]


@h.test("of a part of the time: who acquired in it, and still holds at its end")
def part(case):
    folder = folder_of(case, "part")
    path = os.path.join(folder, "file")
    run("record", "-o", path, "--", victim(), "1", "30", "1500")
    dictionary, events, _, _ = rec.read(path)
    start = struct.unpack_from("<Q", read_bytes(path), 24)[0]
    late = [event for event in events if event["kind"] == rec.RETURN
            and event["size"] == 5000]
    h.check_equal(len(late), 10, "late blocks")
    middle = (late[0]["time"] - start) // 1000000 - 500
    run("heap", "--from", path, "--since", f"{middle}ms", "--json",
        f"{folder}/late.json", "-o", "/dev/null")
    sites = [site for site in sites_of(f"{folder}/late.json")
             if site["blocks"]]
    h.check_equal([(site["blocks"], site["bytes"]) for site in sites],
                  [(10, 50000)], "held of what came late")
    run("heap", "--from", path, "--until", f"{middle}ms", "--json",
        f"{folder}/early.json", "-o", "/dev/null")
    early = sites_of(f"{folder}/early.json")
    h.check(early and all(site["bytes"] != 50000 for site in early),
            "late blocks are among the early ones")
    done = run("heap", "--from", path, "--since", "5s", "--until", "1s",
               status=2)
    h.check_match("--until: comes before --since", done.stderr, "message")


@h.test("two parts of one recording are compared by heap diff")
def compared(case):
    folder = folder_of(case, "compared")
    path = os.path.join(folder, "file")
    run("record", "-o", path, "--", victim(), "1", "30", "1500")
    start = struct.unpack_from("<Q", read_bytes(path), 24)[0]
    late = [event["time"] for event in rec.read(path)[1]
            if event["kind"] == rec.RETURN and event["size"] == 5000]
    middle = f"{(late[0] - start) // 1000000 - 500}ms"
    for name, option in ("early", "--until"), ("late", "--since"):
        run("heap", "--from", path, option, middle, "--pprof",
            f"{folder}/{name}.pb.gz", "--json", f"{folder}/{name}.json", "-o",
            "/dev/null")
    held = [site for site in sites_of(f"{folder}/early.json")
            if site["blocks"]]
    gone = tuple(sum(site[what] for site in held)
                 for what in ("bytes", "blocks"))
    done = run("heap", "diff", f"{folder}/early.pb.gz",
               f"{folder}/late.pb.gz")
    found = {kind: tuple(int(word.replace(",", "")) for word in numbers)
             for kind, *numbers in re.findall(
                 r"^([a-z ]+): \d+ sites?, ([-+\d,]+) bytes, ([-+\d,]+) "
                 r"blocks$", done.stdout, re.M)}
    h.check(gone[1] > 2, "nothing was held early")
    h.check_equal(found, {"new": (50000, 10), "grown": (0, 0),
                          "shrunk": (0, 0), "gone": (-gone[0], -gone[1]),
                          "as before": (0, 0)}, "differences")


@h.test("a part of the time is found by the index; without one, by each block")
def indexed(case):
    folder = folder_of(case, "indexed")
    path = os.path.join(folder, "file")
    run("record", "-o", path, "--", victim(), "1", "30", "2500")
    data = read_bytes(path)
    blocks = list(rec.blocks(data))
    events = [block for block in blocks if block.kind == "E"]
    h.check(len(events) > 1, f"{len(events)} blocks of events")
    start = struct.unpack_from("<Q", data, 24)[0]
    late = f"{(events[-1].first - start) // 1000000}ms"

    def told(name, bytes_, status=0):
        done = run("heap", "--from", write_bytes(f"{folder}/{name}", bytes_),
                   "--since", late, "-o", "/dev/null", "--json",
                   f"{folder}/{name}.json", status=status)
        return done.stderr, status or sites_of(f"{folder}/{name}.json")

    whole = told("whole", data)
    h.check_equal(whole[0], "", "what is said of it")
    # Nobody has to look at what is early: so it isn't noticed, either.
    at = events[0].at
    bad = data[:at] + bytes(52) + data[at + 52:]
    h.check_equal(told("early", bad), whole, "early blocks damaged")
    h.check_match(f"byte {at}: no block begins there", told(
        "untailed", bad[:-1], status=1)[0], "... and no tail")
    h.check_equal(told("cut", data[:-1]), whole, "without a tail")
    # An index that says something else of the place where blocks are.
    for wrong in (index_with(data, blocks, lambda at: at + 1),
                  index_with(data, blocks, lambda at: at * 2)):
        run("heap", "--from", write_bytes(f"{folder}/wrong", wrong),
            "--since", late, "-o", "/dev/null", status=None)


def number(value):
    more = []
    while value > 127:
        more.append(value & 127 | 128)
        value >>= 7
    return bytes(more + [value])


def index_with(data, blocks, place):
    """The recording with an index whose blocks are elsewhere."""
    index, text, before, time = blocks[-1], b"", 0, 0
    for block in blocks[:-1]:
        step = block.first - time
        text += number(place(block.at) - before) + number(ord(block.kind))
        text += number(block.count)
        text += number(2 * step if step >= 0 else -2 * step - 1)
        text += number(block.last - block.first)
        before, time = place(block.at), block.first
    head = struct.pack("<4sBBHIIIIQQII", b"CBLK", ord("I"), 0, 0,
                       index.sequence, len(text), len(text), index.count, 0,
                       0, zlib.crc32(text), 0)
    return (data[:index.at] + head + struct.pack("<I", zlib.crc32(head)) +
            text + data[index.end:])


@h.test("a recording that was cut anywhere tells all of its whole blocks")
def cut(case):
    folder = folder_of(case, "cut")
    path = os.path.join(folder, "file")
    run("record", "-o", path, "--", victim(), "2", "20", "1300")
    data = read_bytes(path)
    ends = [block.end for block in rec.blocks(data)]
    whole = {block.end: block.count if block.kind == "E" else 0
             for block in rec.blocks(data)}
    h.check(len(ends) > 4, f"{len(ends)} blocks are few")
    chance = random.Random(1)
    places = {chance.randrange(40, len(data)) for _ in range(30 * ROUNDS)}
    for place in sorted(places | {ends[0], ends[1], ends[-2] + 1}):
        there = write_bytes(f"{folder}/cut", data[:place])
        done = run("heap", "--from", there, "-o", "/dev/null")
        last = max([40] + [end for end in ends if end <= place])
        if place >= ends[-2] + 52:
            continue
        wanted = sum(whole[end] for end in ends if end <= place)
        h.check_match(f"ends early, at byte {last}:", done.stderr,
                      f"cut at {place}")
        h.check_equal(len(rec.read(there)[1]), wanted, f"cut at {place}")


@h.test("damage is told with its place, and harms nobody")
def damage(case):
    folder = folder_of(case, "damage")
    path = os.path.join(folder, "file")
    run("record", "-o", path, "--", victim(), "1", "10")
    data = read_bytes(path)
    chance = random.Random(2)
    for _ in range(40 * ROUNDS):
        place = chance.randrange(len(data) - 24)
        bit = 1 << chance.randrange(8)
        bad = data[:place] + bytes([data[place] ^ bit]) + data[place + 1:]
        done = run("heap", "--from", write_bytes(f"{folder}/bad", bad),
                   "-o", "/dev/null", status=None)
        in_index = place >= list(rec.blocks(data))[-1].at
        h.check(done.returncode in (0, 1), f"status {done.returncode}")
        h.check(in_index or "byte " in done.stderr,
                f"bit {bit} at {place}: {done.stderr}")


def with_head(data, **parts):
    head = bytearray(data[:40])
    for at, value in parts.values():
        head[at:at + len(value)] = value
    head[36:40] = struct.pack("<I", zlib.crc32(bytes(head[:36])))
    return bytes(head) + data[40:]


@h.test("what is no recording, or a newer one, is said to be that")
def others(case):
    folder = folder_of(case, "others")
    path = os.path.join(folder, "file")
    run("record", "-o", path, "--", victim(), "1", "1")
    data = read_bytes(path)
    for bad, wanted in (
            (b"", "byte 0: it is no recording"),
            (b"m 1 16\n" * 20, "byte 0: it is no recording"),
            (data[:30], "byte 0: its head is cut"),
            (with_head(data, order=(8, b"\1\2\3\4")), "another byte order"),
            (with_head(data, version=(12, b"\2\0")), "a newer version")):
        done = run("heap", "--from", write_bytes(f"{folder}/bad", bad),
                   status=1)
        h.check_match(wanted, done.stderr, "message")


def pretending(size, stored=b"x" * 100, flags=1, kind=b"E"):
    head = struct.pack("<4sBBHIIIIQQII", b"CBLK", kind[0], flags, 0, 0,
                       len(stored), size, 1, 0, 0, zlib.crc32(stored), 0)
    return head + struct.pack("<I", zlib.crc32(head)) + stored


@h.test("a small file can't ask for much memory")
def honest(case):
    folder = folder_of(case, "honest")
    path = os.path.join(folder, "file")
    run("record", "-o", path, "--", victim(), "1", "1")
    data = read_bytes(path)[:40]
    for size in (1 << 24, 1 << 31):
        done = run("heap", "--from",
                   write_bytes(f"{folder}/bad", data + pretending(size)),
                   status=1)
        h.check_match("byte 40: a block is not what its head may say",
                      done.stderr, "message")
    long = pretending(1 << 24, flags=0)
    head = struct.pack("<4sBBHIIIIQQII", b"CBLK", ord("D"), 0, 0, 0, 1 << 24,
                       1 << 24, 1, 0, 0, 0, 0)
    long = head + struct.pack("<I", zlib.crc32(head)) + b"short"
    done = run("heap", "--from", write_bytes(f"{folder}/bad", data + long),
               "-o", "/dev/null")
    h.check_match("ends early, at byte 40", done.stderr, "message")


@h.test("a file each with %p, and children with -f")
def processes(case):
    folder = folder_of(case, "processes")
    command = ["sh", "-c", f"{victim()} 1 5; {victim()} 2 5; true"]
    run("record", "-f", "-o", f"{folder}/r.%p", "--", *command)
    found = [name for name in os.listdir(folder) if name.startswith("r.")]
    h.check_equal(len(found), 3, "files")
    live = run("heap", "-f", "--record", f"{folder}/one", "--", *command)
    done = run("heap", "--from", f"{folder}/one")
    h.check_equal(done.stderr.count("HOW IT WAS SEEN"),
                  live.stderr.count("HOW IT WAS SEEN"), "reports")
    done = run("heap", "--from", f"{folder}/one", "-o", "/dev/null",
               "--json", f"{folder}/out.json")
    h.check_match(r"--json writes .*/out\.%p\.json", done.stderr, "message")
    found = [name for name in os.listdir(folder) if name.startswith("out.")]
    h.check(len(found) > 1, f"files: {found}")


@h.test("what a process does before exec is in its file, too")
def replaced(case):
    folder = folder_of(case, "replaced")
    run("record", "-o", f"{folder}/r.%p", "--", "sh", "-c",
        f"exec {victim()} 1 5")
    found = os.listdir(folder)
    h.check_equal(len(found), 1, f"files: {found}")
    report = run("heap", "--from", os.path.join(folder, found[0])).stderr
    programs = re.findall(r"==== heap of process (\d+), (.*)", report)
    h.check_equal(len(programs), 2, report)
    h.check_equal(programs[0][0], programs[1][0], "process")
    h.check(programs[0][1] != programs[1][1], report)


def totals(report):
    """In use and acquired, by family: of each process, and of all."""
    return [{family: [int(number.replace(",", "")) for number in numbers]
             for family, *numbers in re.findall(
                 r"^(malloc|descriptors): in use: ([\d,]+).*; total: ([\d,]+) "
                 r"allocs, ([\d,]+) frees", part, re.M)}
            for part in report.split("==== heap of ")[1:]]


def added(one, other):
    return {family: [a + b for a, b in zip(one[family], other[family])]
            for family in one}


@h.test("several recordings: a report of each, and the sum; files for each")
def several(case):
    folder = folder_of(case, "several")
    orders = (["malloc", "descriptors"], ["descriptors", "malloc"])
    paths = [f"{folder}/one", f"{folder}/two"]
    for path, order in zip(paths, orders):
        named = [f"--family={name}" for name in order]
        run("record", "-o", path, *named, "--", "cat", __file__)
    one, two = (totals(run("heap", "--from", path).stderr)[0] for path in paths)
    done = run("heap", "--from", paths[0], "--from", paths[1],
               "--json", f"{folder}/out.json", "--folded", f"{folder}/%p.out")
    h.check_match(r"\n==== heap of 2 processes together\n", done.stderr, "sum")
    h.check_equal(set(one), {"malloc", "descriptors"}, "families")
    h.check_equal(totals(done.stderr), [one, two, added(one, two)], "totals")
    h.check_match(r"--json writes .*/out\.%p\.json", done.stderr, "message")
    pids = re.findall(r"==== heap of process (\d+)", done.stderr)
    wanted = {f"out.{pid}.json" for pid in pids} | {f"{pid}.out" for pid in pids}
    h.check_equal(set(os.listdir(folder)), wanted | {"one", "two"}, "files")


NAMED = """
#include <stdlib.h>
__attribute__((noinline)) void *NAME(void) { return malloc(1000 + SIZE); }
int main(void) { return NAME() == NULL; }
"""


@h.test("several recordings: of programs that were at one path, one after the other")
def several_at_one_path(case):
    folder = folder_of(case, "one-path")
    program, paths = f"{folder}/program", []
    for name, size in (("first_one", 11), ("other_one", 22)):
        with open(f"{folder}/source.c", "w") as file:
            file.write(NAMED.replace("NAME", name).replace("SIZE", str(size)))
        subprocess.run(["gcc", "-g", "-O1", "-o", program,
                        f"{folder}/source.c"], check=True)
        paths.append(f"{folder}/{name}")
        run("record", "-o", paths[-1], "--", program)
    os.unlink(program)
    done = run("heap", "--from", paths[0], "--from", paths[1],
               "--by", "function")
    for name, size in (("first_one", 1011), ("other_one", 1022)):
        h.check_match(rf"\n +{size:,} +1 .*{name} in program",
                      done.stderr, f"what {name} holds")


@h.test("what is said of a program that is gone by now is what was said of it")
def program_is_gone(case):
    folder = folder_of(case, "gone")
    program = h.build("heap_collected", "heap_collected.cc", "-g", "-O1",
                      cc="g++")
    # Built anew for others: that one stays.
    program = shutil.copy(program, folder)
    path = record_live(folder, program, options=("--top", "0"))
    os.unlink(program)
    run("heap", "--from", path, "--top", "0", "--json", f"{folder}/from.json",
        "-o", "/dev/null")
    said = [{(tuple(frame.get("function") for frame in site["stack"]),
              site["allocator"]): (site["verdict"], site.get("slab"))
             for site in json.loads(h.read(f"{folder}/{name}.json"))["sites"]}
            for name in ("live", "from")]
    h.check_equal(said[1], said[0], "verdicts")
    h.check_equal(sorted(verdict for verdict, _ in said[0].values()
                         if verdict != "NOT"),
                  ["LIKELY"] * 2 + ["POSSIBLE"] * 2, "verdicts of both")


@h.test("several recordings: what is of one only, or can't be read, is refused")
def several_refused(case):
    folder = folder_of(case, "refused")
    path = f"{folder}/file"
    run("record", "-o", path, "--", victim(), "1", "5")
    done = run("heap", "--from", path, "--from", path, "--calls",
               f"{folder}/calls", status=2)
    h.check_match("--calls: of one recording only", done.stderr, "message")
    done = run("heap", "--from", path, "--from", f"{folder}/none", status=1)
    h.check_match("none can't be read: No such file", done.stderr, "message")
    h.check("==== heap" not in done.stderr, done.stderr)
    done = run("heap", "--from", path, "--from", path, "--json",
               f"{folder}/out.json")
    h.check_match(r"its process \d+ has the number of one of another recording",
                  done.stderr, "message")


@h.test("a recorder that is killed leaves all but its last second")
def killed(case):
    folder = folder_of(case, "killed")
    path = os.path.join(folder, "file")
    churn = subprocess.Popen([victim(), "1", "1000000000"])
    recorder = subprocess.Popen([h.CALLTRAP, "record", "-o", path, "-p",
                                 str(churn.pid)], stderr=subprocess.DEVNULL)
    try:
        # A file grows by pages while a block is written.
        h.wait_until(lambda: os.path.exists(path) and
                     os.path.getsize(path) > 2000 and rec.read(path)[1],
                     "a whole block of events")
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        done = run("heap", "--from", path)
        h.check_match("ends early", done.stderr, "message")
        h.check_match("malloc", done.stderr, "report")
        h.check_equal(churn.poll(), None, "the target's end")
    finally:
        churn.kill()
        churn.wait()


@h.test("a full disk ends the recording, not the program; the file is readable")
def full(case):
    folder = folder_of(case, "full")
    path = os.path.join(folder, "file")

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30000, 30000))

    done = run("record", "-o", path, "--", victim(), "2", "400", status=None,
               preexec_fn=limit)
    h.check_match(r"can't be written any more: File too large; it has the "
                  r"first \d+ events and can be read, \d+ are missing",
                  done.stderr, "message")
    h.check(os.path.getsize(path) <= 30000, "it is larger")
    events = rec.read(path)[1]
    first = int(done.stderr.split("the first ")[1].split()[0])
    h.check_equal(len(events), first, "events in the file")
    done = run("heap", "--from", path, "-o", "/dev/null")
    h.check_match("ends early", done.stderr, "message")


def bytes_in(pipe):
    size = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, size)
    return size[0]


def fill(pipe):
    """To the last byte."""
    for size in (4096, 1):
        try:
            while True:
                os.write(pipe, bytes(size))
        except BlockingIOError:
            pass


@h.test("a disk that takes nothing keeps nobody who wants to leave")
def stuck(case):
    folder = folder_of(case, "stuck")
    path = os.path.join(folder, "fifo")
    os.mkfifo(path)
    pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    churn = subprocess.Popen([victim(), "1", "1000000000"])
    recorder = subprocess.Popen([h.CALLTRAP, "record", "-o", path, "-p",
                                 str(churn.pid)], stderr=subprocess.PIPE,
                                text=True)
    try:
        h.wait_until(lambda: bytes_in(pipe) and "TracerPid:\t0\n" not in
                     h.read(f"/proc/{churn.pid}/status"), "the recorder")
        fill(pipe)
        recorder.send_signal(signal.SIGINT)
        err = recorder.communicate(timeout=h.PATIENCE)[1]
        h.check_untouched(churn.pid)
        h.check_equal(churn.poll(), None, "the target's end")
    finally:
        recorder.kill()
        recorder.wait()
        churn.kill()
        churn.wait()
        os.close(pipe)
    h.check_match(r"can't be written any more: .*; it has the first \d+ events "
                  r"and can be read, \d+ are missing", err, "message")


def convert(path, form, *more):
    return run("convert", path, "--to", form, *more).stdout


@h.test("convert makes of a recording what the live run wrote, and back")
def converted(case):
    folder = folder_of(case, "converted")
    path = record_live(folder, victim(), "2", "40")
    for kind in ("footprint", "folded", "json"):
        run("convert", path, "--to", kind, "-o", f"{folder}/made")
        h.check_equal(comparable(kind, read_bytes(f"{folder}/made")),
                      comparable(kind, read_bytes(f"{folder}/live.{kind}")),
                      kind)
    text = f"{folder}/live.footprint"
    done = run("convert", text, "--to", "recording", "-o", f"{folder}/back")
    calls = int(h.read(text).split()[0])
    h.check_match(f"{calls} calls; when they were", done.stderr, "message")
    run("convert", f"{folder}/back", "--to", "footprint", "-o",
        f"{folder}/again")
    h.check_equal(h.read(f"{folder}/again"), h.read(text), "there and back")


@h.test("standard output may be a file that others write to, before and after")
def shared(case):
    folder = folder_of(case, "shared")
    path = os.path.join(folder, "file")
    run("record", "-o", path, "--", victim(), "1", "20")
    for form in ("footprint", "calls", "folded", "pprof", "csv", "stats"):
        run("convert", path, "--to", form, "-o", f"{folder}/alone")
        with open(f"{folder}/all", "wb", buffering=0) as file:
            file.write(b"before\n")
            subprocess.run([h.CALLTRAP, "convert", path, "--to", form],
                           stdout=file, check=True, timeout=300)
            file.write(b"after\n")
        h.check(read_bytes(f"{folder}/all") == b"before\n" +
                read_bytes(f"{folder}/alone") + b"after\n", form)
    command = [h.CALLTRAP, "heap", "--from", path, "-o", "/dev/null",
               "--footprint", "/dev/stdout"]
    write_bytes(f"{folder}/all", b"before\n")
    with open(f"{folder}/all", "ab") as file:
        subprocess.run(command, stdout=file, check=True, timeout=300)
    h.check(read_bytes(f"{folder}/all") == b"before\n" + convert(
        path, "footprint").encode(), "added with >>")


BARE_DEV = ("mount -t tmpfs none /dev && mknod -m 666 /dev/null c 1 3 && "
            "exec \"$@\"")


@h.test("standard output is written where there is no /dev/stdout")
def bare(case):
    folder = folder_of(case, "bare")
    path, out = os.path.join(folder, "file"), os.path.join(folder, "all")
    within = ["unshare", "-m", "sh", "-c", BARE_DEV, "sh"]
    if os.geteuid() or subprocess.run(within + ["true"], check=False,
                                      capture_output=True).returncode:
        raise h.Skip("/dev can't be mounted over")
    run("record", "-o", path, "--", victim(), "1", "40")
    run("convert", path, "--to", "calls", "-o", f"{folder}/alone")
    with open(out, "wb") as file:
        subprocess.run(within + [h.CALLTRAP, "convert", path, "--to", "calls"],
                       stdout=file, check=True, timeout=300)
    h.check(read_bytes(out) == read_bytes(f"{folder}/alone"), "calls")


@h.test("statistics and CSV are what a reader of the page counts")
def counted(case):
    folder = folder_of(case, "counted")
    path = os.path.join(folder, "file")
    run("record", "-o", path, "--", victim(), "2", "40")
    dictionary, events, _, _ = rec.read(path)
    acts = [event for event in events
            if event["kind"] not in (rec.BEGIN, rec.NOTE)]
    rows = convert(path, "csv").splitlines()
    h.check_equal(len(rows) - 1, len(acts), "lines of CSV")
    for row, event in zip(rows[1:], acts):
        cells = row.split(",")
        h.check_equal((int(cells[2]), cells[4], int(cells[5], 16),
                       int(cells[7])),
                      (dictionary.tid(event),
                       dictionary.function(event)["name"].decode(),
                       event["handle"], event["size"]), row)
    sizes = [event["size"] for event in acts if event["handle"] and
             not event["failed"] and dictionary.function(event)["act"] in
             (0, 2) and dictionary.function(event)["family"] == 1]
    stats = convert(path, "stats")
    h.check_match(f"sizes of {len(sizes)} acquisitions", stats, "stats")
    for power in (16, 256):
        share = 100 * sum(size <= power for size in sizes) / len(sizes)
        h.check_match(rf"{share:.2f} % are <= +{power} bytes", stats, "sizes")
    nulls = sum(1 for event in acts if dictionary.function(event)["act"] == 1
                and not event["handle"])
    h.check_match(rf"malloc: releases of nothing \(NULL\) {nulls}, "
                  r"released twice 0", stats, "releases")


LTRACE = """\
[pid 7] malloc(24) = 0x1000
[pid 7] calloc(2, 8 <unfinished ...>
[pid 8] free(0x1000) = <void>
[pid 7] <... calloc resumed> ) = 0x1000
12:00:01.5 libx.so->realloc@libc.so.6(0x1000, 99) = 0x2000 <0.00001>
puts("malloc(1)") = 2
malloc(what) = 0x3000
free(nil) = <void>
free(0x2000) = <void>
free(0x2000) = <void>
+++ exited (status 0) +++
"""


@h.test("logs of ltrace are read; what can't be is told")
def of_ltrace(case):
    folder = folder_of(case, "ltrace")
    path = os.path.join(folder, "log")
    with open(path, "w", encoding="ascii") as file:
        file.write(LTRACE)
    done = run("convert", path, "--to", "footprint")
    h.check_equal(done.stdout, "7\n\nm 1 24\nf 1\nc 1 2 8\nr 2 1 99\n"
                  "f 0\nf 2\nf 0\n", "footprint")
    h.check_match(f"{path}:7: can't be understood", done.stderr, "message")
    h.check_match("NULL\\) 1, released twice 1", convert(path, "stats"),
                  "stats")
    for text in ("", "nothing of that kind\n", "\0\1\2\n" * 100):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
        done = run("convert", path, "--to", "stats", status=1)
        h.check_match("byte 0: it is no recording, and", done.stderr,
                      "message")


if __name__ == "__main__":
    sys.exit(h.main())
