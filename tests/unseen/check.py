#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether evaluate.py could do its work: all programs can be built, run, end by
themselves and have the functions that the key names; those made by chance as
well; and what was said is counted as it should be. Nothing is traced here."""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import generate
import judge
import programs
import tools

JOBS = 4
PATIENCE = 120


def text_of(program):
    """The source, with those of the modules that it loads."""
    with open(program.source, encoding="utf-8") as file:
        text = file.read()
    for path in programs.modules():
        if os.path.basename(path)[:-2] in text:
            with open(path, encoding="utf-8") as file:
                text += file.read()
    return text


def absent_functions(program):
    text = text_of(program)
    return [function for function in program.key
            if function != "*" and not re.search(
                r"\b%s\(" % re.escape(function), text)]


def try_program(program, folder):
    """What is wrong with it, or None."""
    absent = absent_functions(program)
    if absent:
        return "not in the source: " + ", ".join(absent)
    command = program.build(folder) + ["0.3"]
    try:
        status = subprocess.run(command, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, timeout=PATIENCE,
                                env=programs.environment(folder),
                                check=False).returncode
    except subprocess.TimeoutExpired:
        return "does not end by itself"
    return None if status == 0 else "status %d" % status


def try_all():
    """A text and what is wrong, or an exception, for each program."""
    with tempfile.TemporaryDirectory(prefix="unseen.") as folder, \
            concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        programs.build_modules(folder)
        found = programs.all_programs() + generate.programs(folder, 5, 7)
        tried = [(program.name, pool.submit(try_program, program, folder))
                 for program in found]
        for name, future in tried:
            try:
                yield name, future.result(), None
            except programs.Missing as missing:
                yield name, None, str(missing)
            except programs.Broken as broken:
                yield name, str(broken), None


def wrong_names():
    """Names that don't become what the key has."""
    wanted = {
        "take_order": "take_order",
        "take_order.isra.0": "take_order",
        "cache::put(unsigned int)": "cache::put",
        "std::list<int> (anonymous namespace)::f<int>(int) [clone .cold]": "f",
        "rust_forget::read_upload::hf96e3e69b4324b8a":
            "rust_forget::read_upload",
        "leak (c.c)": "leak",
        "std::ostream& operator<< <char>(std::ostream&)": "operator",
    }
    return ["%s becomes %s" % (name, judge.plain(name))
            for name, plain in wanted.items() if judge.plain(name) != plain]


def wrong_frames():
    """Stacks of LeakSanitizer that are not read as they should be."""
    record = ("Direct leak of 4 byte(s) in 1 object(s) allocated from:\n"
              "    #0 0x7f1c in malloc ../../lsan.cpp:75\n"
              "    #1 0x55e9 in f(char const*) /tmp/c.c:4\n"
              "    #2 0x55e9 in a::g::h0 tests/a.rs:10\n"
              "    #3 0x55e9 in g() (/lib/libg.so+0x1)\n"
              "    #4 0x55e9  (<unknown module>)\n")
    found = tools.lsan_frames(record)
    wanted = ["malloc", "f(char const*)", "a::g::h0", "g()"]
    return [] if found == wanted else ["%r" % found]


def wrong_count():
    key = {"leaks": "leak", "missed": "leak", "fine": "healthy"}
    sites = [(["malloc", "leaks", "fine"], "NOT"),
             (["malloc", "leaks", "main"], "LIKELY"),
             (["malloc", "fine", "leaks"], "POSSIBLE"),
             (["other"], "LIKELY")]
    said = judge.say(sites, key)
    wanted = {"leaks": "LIKELY", "missed": "-", "fine": "POSSIBLE",
              "*": "LIKELY"}
    if said != wanted:
        return ["said: %r" % said]
    wrong = []
    for words, wanted in ((("LIKELY",), (1, 2, 1)),
                          (("LIKELY", "POSSIBLE"), (1, 2, 2))):
        score = judge.Score(words)
        score.add(said, key)
        if (score.found, score.leaks, score.false) != wanted:
            wrong.append("%r: %s" % (words, score))
    return wrong


def is_same_again():
    with tempfile.TemporaryDirectory(prefix="unseen.") as folder:
        made = [[text_of(program) for program in
                 generate.programs(folder, 5, seed)] for seed in (3, 3, 4)]
    return [] if made[0] == made[1] != made[2] else ["seeds don't count"]


def main():
    number = failed = 0
    outcomes = [("names of functions", "\n".join(wrong_names()), None),
                ("frames", "\n".join(wrong_frames()), None),
                ("what is counted", "\n".join(wrong_count()), None),
                ("seeds", "\n".join(is_same_again()), None)]
    outcomes += try_all()
    print("1..%d" % len(outcomes))
    for number, (name, wrong, missing) in enumerate(outcomes, 1):
        if missing:
            print("ok %d - %s # SKIP %s" % (number, name,
                                           missing.splitlines()[-1]))
            continue
        failed += bool(wrong)
        print("%sok %d - %s" % ("not " * bool(wrong), number, name))
        for line in (wrong or "").splitlines():
            print("# " + line)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
