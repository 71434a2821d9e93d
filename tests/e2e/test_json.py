#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""--json: every line is an object, its calls are those of the log, and values
have their types."""

import json
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import harness as h


def objects(path):
    found = []
    for line in h.read(path).splitlines():
        value = json.loads(line)
        h.check(isinstance(value, dict), "no object: " + line)
        found.append(value)
    return found


def calls_in(found):
    return [value for value in found if value["event"] == "call"]


def trace(case, *arguments, **how):
    path = case.path("calls.%d.json" % case.number())
    result = case.calltrap("--json", path, *arguments, **how)
    return result, objects(path)


def name_of(call):
    return call["function"] + ("@SYS" if call.get("syscall") else "")


def check_as_log(result, found):
    """The same calls, each as often."""
    counts, wanted = {}, {}
    for call in calls_in(found):
        counts[name_of(call)] = counts.get(name_of(call), 0) + 1
    for call in result.log.calls:
        name = call.name + ("@SYS" if call.library == "SYS" else "")
        wanted[name] = wanted.get(name, 0) + 1
    h.check_equal(counts, wanted, "calls")


@h.test("real programs: as many calls as in the log", users=True)
def real_programs(case):
    path = case.write("text", "some text\n" * 3)
    for argv in (["ls", "-l", "/etc"], ["-S", "cat", path],
                 ["--engine=agent", "ls", "-l", "/etc"],
                 ["-f", "-S", "sh", "-c", "ls /nowhere | cat; exec true"],
                 ["-S", "/usr/bin/python3", "-S", "-c", "print('\u00e9')"]):
        result, found = trace(case, *argv)
        h.check(len(calls_in(found)) > 20, "calls of %r" % argv)
        check_as_log(result, found)
        for call in calls_in(found):
            h.check(call["end"] == "returned" or "result" not in call,
                    "a result of a call that did not return: %r" % call)
            h.check("duration" in call or call["end"] == "no return",
                    "a call that ended has no duration: %r" % call)
            h.check(call.get("duration", 1) >= 0 and call["time"] > 1.7e9 and
                    call["depth"] >= 0, "times: %r" % call)
            h.check(isinstance(call["args"], list), "arguments: %r" % call)


@h.test("threads and children: every object has its process")
def children(case):
    result, found = trace(case, "-f", "-S", "sh", "-c",
                          "/bin/true; /bin/false; kill -USR1 $$; true")
    h.check_equal(result.status, 128 + 10, "exit status")
    forks = [value["child"] for value in found if value["event"] == "fork"]
    exits = {value["pid"]: value for value in found
             if value["event"] == "exit"}
    execs = [os.path.basename(value["path"]) for value in found
             if value["event"] == "exec"]
    shell = found[0]["pid"]
    h.check_equal(sorted(exits), sorted(forks + [shell]), "ends")
    h.check_equal(execs, ["true", "false"], "programs")
    h.check_equal([exits[pid]["status"] for pid in forks], [0, 1],
                  "exit statuses")
    h.check_equal((exits[shell]["signal"], exits[shell]["number"]),
                  ("SIGUSR1", 10), "end of the shell")
    h.check([value for value in found if value["event"] == "signal" and
             value["signal"] == "SIGUSR1"], "the signal")
    failed = [call for call in calls_in(found) if call.get("failed")]
    h.check(any(call["error"] == "ENOENT" and call["result"] == -1
                for call in failed), "a failed call")


@h.test("values have the types of their prototypes")
def values(case):
    source = case.write("values.c", r"""
        #include <string.h>
        struct box { int width; const char *name; double weight; };
        int numbers(int a, unsigned long b, int c) { return -(a + !b + c); }
        const char *texts(const char *a, const char *b, const char *c)
        { return a + !b + !c; }
        long boxes(struct box *box, int *list, void *nothing)
        { return box->width + list[1] + !nothing; }
        void fill(char *text) { strcpy(text, "filled"); }
        int flags(int mode, char letter, int yes) { return mode + letter + yes; }
        int main(void)
        {
            struct box box = { 3, "tea", 0.25 };
            int list[] = { 5, 6, 7, 8, 9, 10 };
            char text[8];
            numbers(3, 1ul << 63, -5);
            texts("caf\xc3\xa9 \"x\"\n", "\xff\x01", "a text that is too long");
            boxes(&box, list, 0);
            fill(text);
            flags(66, 'q', 1);
            return 0;
        }""")
    prototypes = case.write("values.conf", r"""
        int numbers(int a, ulong, int c);
        string texts(string, string, string);
        long boxes(struct(int width, string name, double weight)*,
                   array(int, 6)*, addr);
        void fill(+string);
        int flags(flags(O_RDONLY=0/3, O_RDWR=2/3, O_CREAT=0100), char, bool(int));
        """)
    path = h.build("values", source, "-O0", directory=case.dir)
    _, found = trace(case, "-F", prototypes, "-L", "-x",
                     "numbers+texts+boxes+fill+flags", "-s", "12", path)
    calls = {call["function"]: call for call in calls_in(found)}
    numbers, texts = calls["numbers"], calls["texts"]
    h.check_equal(numbers["args"], [3, str(1 << 63), -5], "numbers")
    h.check_equal(numbers["names"], ["a", None, "c"], "their names")
    h.check_equal(numbers["result"], 2, "their result")
    h.check_equal(texts["args"], ["caf\u00e9 \"x\"\n", {"hex": "ff01"},
                                  "a text that "], "texts")
    h.check_equal(texts.get("cut"), True, "a text that was cut")
    h.check("cut" not in numbers, "a call without texts was cut")
    h.check_equal(calls["boxes"]["args"],
                  [{"width": 3, "name": "tea", "weight": 0.25}, [5, 6, 7, 8],
                   None], "a struct and an array")
    h.check_equal(calls["boxes"]["cut"], True, "the array was cut")
    h.check_equal(calls["boxes"]["result"], 10, "a result")
    h.check_equal((calls["fill"]["args"], "result" in calls["fill"]),
                  (["filled"], False), "an out-argument")
    h.check_equal(calls["flags"]["args"], ["O_RDWR|O_CREAT", "q", True],
                  "flags, a character, a truth value")


@h.test("calls that don't return")
def ends(case):
    _, found = trace(case, "-S", "sh", "-c", "exit 3")
    end = [call for call in calls_in(found)
           if call["function"] == "exit_group"][0]
    h.check_equal((end["end"], "result" in end), ("no return", False),
                  "exit_group")
    begin = [call for call in calls_in(found)
             if call["function"] == "__libc_start_main"][0]
    h.check_equal((begin["end"], "duration" in begin), ("no return", False),
                  "__libc_start_main")
    h.check_equal((found[-1]["event"], found[-1]["status"]), ("exit", 3),
                  "the last object")


@h.test("with the table instead of the log")
def table(case):
    result, found = trace(case, "-c", "-S", "cat", "/dev/null")
    total = h.check_match(r"^100\.00 +\S+ +(\d+) .* total$|"
                          r"^100\.00 +\S+ +(\d+) +\d+ total$",
                          re.sub(r" +", " ", result.log_text), "the table")
    h.check_equal(len(calls_in(found)), int(total[1] or total[2]), "calls")


@h.test("a file for each process")
def per_process(case):
    case.calltrap("-f", "-S", "--json", case.path("calls.%p"), "sh", "-c",
                  "/bin/true; /bin/true; exit 0")
    names = [name for name in os.listdir(case.dir)
             if re.fullmatch(r"calls\.\d+", name)]
    h.check_equal(len(names), 3, "files")
    for name in names:
        found = objects(case.path(name))
        h.check_equal({value["pid"] for value in found},
                      {int(name.split(".")[1])}, "processes in " + name)
        h.check_equal(found[-1]["event"], "exit", "end of " + name)


@h.test("a file that can't be written", users=True)
def unwritable(case):
    result = case.calltrap("--json", "/nowhere/calls", "true", log=False)
    h.check_equal((result.status, result.err),
                  (1, "calltrap: /nowhere/calls can't be written: "
                      "No such file or directory\n"), "what was said")


@h.test("a full disk")
def full_disk(case):
    if not os.path.exists("/dev/full"):
        raise h.Skip("no /dev/full here")
    result = case.calltrap("-S", "--json", "/dev/full", "ls", "-l", "/etc")
    h.check_equal([line for line in result.messages()
                   if "/dev/full" in line],
                  ["calltrap: /dev/full can't be written any more: "
                   "No space left on device"], "what was said")


@h.test("jq reads it")
def jq(case):
    if not shutil.which("jq"):
        raise h.Skip("no jq here")
    path = case.path("calls.json")
    case.calltrap("-S", "--json", path, "ls", "/nowhere")
    said = subprocess.run(["jq", "-r", "select(.failed) | .error", path],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    wanted = [call["error"] for call in calls_in(objects(path))
              if call.get("failed")]
    h.check("ENOENT" in wanted, "a failed call")
    h.check_equal(said.split(), wanted, "errors")


if __name__ == "__main__":
    sys.exit(h.main())
