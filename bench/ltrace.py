#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
calltrap --ltrace=0.7.3 beside Debian's ltrace, on thirty programs of the
system: exit status, standard output, log (-o) and the calls of -c. What differs
is printed; addresses, process ids and times are left out, and two things that
are meant to differ: values of functions that no ltrace.conf describes, of which
ltrace shows four registers; and calls of functions whose address the program
takes, too, which ltrace doesn't see.

usage: bench/ltrace.py [NAME...]
"""

import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CALLTRAP = os.path.abspath(os.environ.get("CALLTRAP") or
                           os.path.join(HERE, "..", "calltrap"))
TRACERS = (("ltrace", ["ltrace"]),
           ("calltrap", [CALLTRAP, "--ltrace=0.7.3"]))

COMMANDS = """
true
false
echo one two
cat text
ls files
head -n 2 text
tail -n 2 text
wc text
sort text
uniq text
cut -c1-3 text
paste text text
nl text
tac text
rev text
fold -w 5 text
expand text
comm text text
join text text
md5sum text
sha1sum text
base64 text
od -c text
seq 1 5
factor 1234567
expr 3 + 4
basename /a/b/c
dirname /a/b/c
printf %d-%s\\n 7 x
date -u -d @0
env -i A=b env
stat -c %s text
uname -s
tr a b
cmp text other
diff text other
grep l text
find files
""".strip().splitlines()

TEXT = "alpha 1\nbeta 2\ngamma 3\ndelta 4\n"


def described():
    """The functions that ltrace knows."""
    with open("/etc/ltrace.conf") as file:
        return set(re.findall(r"^[^;#\n]*?(\w+)\s*\(", file.read(), re.M))


def unseen(program):
    """The functions that the program finds by an entry of its GOT that isn't
    a stub's."""
    done = subprocess.run(["readelf", "-rW", shutil.which(program)],
                          capture_output=True, text=True)
    return set(re.findall(r"R_X86_64_GLOB_DAT +\S+ (\w+)", done.stdout))


def clean(line, known, left_out):
    """Without what differs from run to run, and on purpose. None: not at all."""
    call = re.match(r"(\w+)\(", line)
    if call and call[1] in left_out:
        return None
    if call and call[1] not in known:
        return call[1]
    # Of what wasn't passed, a register has what was there before.
    line = re.sub(r"^(open\(.*), 0, 0[0-7]*\)", r"\1, 0, MODE)", line)
    line = re.sub(r"0x[0-9a-f]{6,}", "ADDRESS", line)
    line = re.sub(r"^\d+ ", "PID ", line)
    return re.sub(r" +=", " =", line)


def run(tracer, options, command, path):
    log = os.path.join(path, "log")
    with open(os.path.join(path, "text")) as text:
        done = subprocess.run([*tracer, *options, "-o", log, *command],
                              cwd=path, stdin=text, capture_output=True,
                              timeout=120)
    with open(log, errors="replace") as file:
        return done.returncode, done.stdout, file.read()


def calls_of(table, left_out):
    """The functions of -c, with how often each was called."""
    return sorted("%s %s" % found for found in
                  re.findall(r"^ *[\d.]+ +[\d.]+ +\d+ +(\d+) (\S+)$", table,
                             re.M) if found[1] not in left_out)


def compare(command, path, known):
    left_out = unseen(command[0])
    logs = [run(tracer, [], command, path) for _, tracer in TRACERS]
    tables = [run(tracer, ["-c"], command, path) for _, tracer in TRACERS]
    lines = [list(filter(None, (clean(line, known, left_out)
                                for line in log[2].splitlines())))
             for log in logs]
    counts = [calls_of(table[2], left_out) for table in tables]
    differences = []
    for what, pair in (("status", [log[0] for log in logs]),
                       ("output", [log[1] for log in logs]),
                       ("status of -c", [table[0] for table in tables])):
        if pair[0] != pair[1]:
            differences.append("%s: %r, %r" % (what, *pair))
    for what, pair in (("log", lines), ("-c", counts)):
        differences += ["%s %s" % (what, line) for line in
                        difflib.unified_diff(*pair, lineterm="", n=0)
                        if not line.startswith(("---", "+++", "@@"))]
    return len(lines[0]), differences


def main():
    if not shutil.which("ltrace"):
        sys.exit("there is no ltrace")
    same = all_of_them = 0
    known = described()
    with tempfile.TemporaryDirectory() as path:
        os.mkdir(os.path.join(path, "files"))
        for name, text in ("text", TEXT), ("other", TEXT + "more\n"), \
                ("files/a", ""), ("files/b", ""):
            with open(os.path.join(path, name), "w") as file:
                file.write(text)
        for line in COMMANDS:
            command = line.split()
            if sys.argv[1:] and command[0] not in sys.argv[1:] or \
                    not shutil.which(command[0]):
                continue
            count, differences = compare(command, path, known)
            all_of_them += 1
            same += not differences
            print("%-24s %5d lines  %s" %
                  (line, count, "%d differ" % len(differences)
                   if differences else "the same"), flush=True)
            for difference in differences:
                print("        " + difference)
    print("%d of %d programs: the same" % (same, all_of_them))


main()
