#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Why calls have failed: in the log, in the table, and as the program itself
has found it in errno."""

import re
import sys

sys.dont_write_bytecode = True
import harness as h

ROUNDS = 50
PROTOTYPES = """
errno(int) open(string, int);
errno(int) close(int);
errno(int) chdir(string);
errno(int) access(string, int);
errno(addr) fopen(string, string);
errnum(int) posix_memalign(addr, ulong, ulong);
"""
FUNCTIONS = "open+close+chdir+access+fopen+posix_memalign"


def program(name, *flags, cc="gcc"):
    return h.build(name, "errors.c", "-O1", "-pthread", *flags, cc=cc,
                   directory=h.build_directory("errors"),
                   optional=cc != "gcc" or "-m32" in flags)


def trace(case, path, *options, ways=("-e", FUNCTIONS + "@MAIN")):
    prototypes = case.write("errors.conf", PROTOTYPES)
    result = case.calltrap("-F", prototypes, *ways, *options, path)
    result.check_status(0)
    h.check_equal([line.split()[0] for line in result.out.splitlines()],
                  ["chdir", "fopen", "posix_memalign", "access"],
                  "what the program found")
    return result


def check_log(case, path, **how):
    log = trace(case, path, **how).log

    def results(name):
        return [line.result for line in log.lines
                if line.name == name and line.result is not None]

    h.check_equal(results("open"), ["-1 ENOENT"] * ROUNDS, "open")
    h.check_equal(results("close"), ["-1 EBADF"] * ROUNDS, "close")
    h.check_equal(results("chdir"), ["0"], "chdir")
    h.check_equal(results("fopen"), ["nil EISDIR"], "fopen")
    h.check_equal(results("posix_memalign"), ["22 EINVAL"], "posix_memalign")
    h.check_equal(results("access"), ["-1 ENOENT"], "access")


@h.test("a dynamic program", users=True)
def dynamic(case):
    check_log(case, program("errors"))


@h.test("a 32-bit program")
def bits32(case):
    check_log(case, program("errors32", "-m32"))


@h.test("a static program, by its symbols")
def static(case):
    path = program("errors_static", "-static")
    log = trace(case, path, ways=("-L", "-x", "chdir+access")).log
    h.check_equal([call.result for call in log.named("access")],
                  ["-1 ENOENT"], "access")


@h.test("musl")
def musl(case):
    check_log(case, program("errors_musl", cc="musl-gcc"))


@h.test("a static program without symbols: its system calls say why")
def stripped(case):
    path = case.copy(program("errors_static", "-static"))
    case.run(["strip", path])
    result = case.calltrap("-L", "-S", path)
    h.check_match(r"access(at)?@SYS\(.*= -1 ENOENT$", result.log_text,
                  "a system call")


@h.test("while the function that tells errno's place is traced itself")
def traced(case):
    ways = ("-e", FUNCTIONS + "@MAIN", "-x", "__errno_location")
    check_log(case, program("errors"), ways=ways)


@h.test("the table's column of errors")
def table(case):
    text = trace(case, program("errors"), "-c").log_text
    rows = {}
    for line in text.splitlines()[2:-2]:
        found = re.match(r" *\d+\.\d\d +\d+\.\d{6} +%s (.{9}) (.{9}) "
                         r"(\S+)$" % h.MICROS, line)
        h.check(found, "not a row: " + line)
        rows[found[3]] = (found[1].strip(), found[2].strip())
    h.check_equal(rows, {
        "open": (str(ROUNDS), str(ROUNDS)), "close": (str(ROUNDS), str(ROUNDS)),
        "chdir": ("1", ""), "fopen": ("1", "1"), "posix_memalign": ("1", "1"),
        "access": ("1", "1")}, "calls and errors")
    h.check_match(r"^100\.00 +[\d.]+ +%d +%d total$" % (2 * ROUNDS + 4,
                                                       2 * ROUNDS + 3),
                  text, "the sum")


@h.test("system calls in the table: as many errors as strace counts")
def system_calls(case):
    argv = ["ls", "-l", "/etc", "/nowhere"]
    path = case.path("strace")
    try:
        case.run(["strace", "-c", "-o", path, *argv])
    except FileNotFoundError:
        raise h.Skip("no strace here")
    wanted = {}
    for line in h.read(path).splitlines():
        words = line.split()
        if re.match(r"\d+\.\d", line.strip()) and words[-1] != "total":
            wanted[words[-1]] = (int(words[3]), int(words[4])
                                 if len(words) == 6 else 0)
    wanted.pop("execve")
    wanted["exit_group"] = (1, 0)
    found = {}
    for line in case.calltrap("-c", "-L", "-S",
                              *argv).log_text.splitlines()[2:-2]:
        words = line.split()
        found[words[-1].removesuffix("@SYS")] = (int(words[3]), int(words[4])
                                                 if len(words) == 6 else 0)
    h.check(sum(errors for _, errors in wanted.values()) > 3,
            "errors that strace counts")
    h.check_equal(found, wanted, "calls and errors")


if __name__ == "__main__":
    sys.exit(h.main())
