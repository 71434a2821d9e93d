#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Programs that nobody here has written, as the distribution ships them. The
truth comes from a preloaded library that counts the calls through the
program's GOT, in the very run that is traced; and again without it in a
second run.
"""

import os
import shutil
import sys

sys.dont_write_bytecode = True
import harness as h

NAMES = ("malloc", "free", "calloc", "realloc", "strlen", "strcmp", "memcpy",
         "getenv")
FILTER = "+".join(name + "@MAIN" for name in NAMES)


def counter():
    return h.build("counter.so", "counter.c", "-shared", "-fPIC", "-O2",
                   "-fno-builtin", "-ldl", directory=h.build_directory("real"))


def find_program(name):
    path = os.path.join("/usr/bin", name)
    if not os.path.exists(path):
        raise h.Skip(path + " isn't installed")
    path = os.path.realpath(path)
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            raise h.Skip(path + " is no ELF file")
    return path


def preload(program, truth, on=True):
    """The same environment, but for two letters, when the counter is off."""
    return {"LD_PRELOAD" if on else "LD_PRELOAX": counter(),
            "COUNTER_FILE": truth, "COUNTER_PROGRAM": program,
            "PERL_HASH_SEED": "0",
            "GIT_CONFIG_NOSYSTEM": "1"}


def truth_of(path):
    text = h.read(path)
    h.check(text, "the counter has written nothing")
    return {words[2]: (int(words[3]), int(words[4])) for words in
            (line.split() for line in text.splitlines())}


def run_counted(case, program, arguments):
    """Not traced: the counts and the result."""
    path = case.path("truth.%d" % case.number())
    result = case.run(["setarch", "-R", program, *arguments],
                      env=preload(program, path))
    return truth_of(path), result


def agrees(counts, truth):
    """Each count is the sure one, or more by what is unclear at most."""
    return all(sure <= counts[name] <= sure + unclear
               for name, (sure, unclear) in truth.items())


def compare(log, truth, what):
    found = {name: log.count(name) for name in NAMES}
    h.check(agrees(found, truth), "%s: found %r, wanted (sure, unclear) %r" %
            (what, found, truth))


def check_program(case, name, arguments, status=0, threshold=20):
    program = find_program(name)
    h.need("setarch")
    plain, plain_result = run_counted(case, program, arguments)
    h.check_equal(plain_result.status, status, "untraced status; " +
                  plain_result.err)
    h.check(sum(map(sum, plain.values())) >= threshold, "the program makes too few "
            "calls for a test: %r" % plain)

    path = case.path("truth.traced")
    result = case.calltrap("-e", FILTER, program, *arguments,
                           env=preload(program, path))
    result.check_status(status)
    compare(result.log, truth_of(path), "calls, in the run that was counted")
    h.check_equal(result.out, plain_result.out, "the program's output")

    again, _ = run_counted(case, program, arguments)
    if again != plain:
        raise h.Skip("the run that was counted is right; without the counter "
                     "nothing can be said: its counts vary by themselves")
    # Not counted: other libraries, the same calls.
    log = case.path("log.second")
    second = case.run(["setarch", "-R", h.CALLTRAP, "-o", log, "-e", FILTER,
                       program, *arguments],
                      env=preload(program, path, on=False))
    second.check_status(status)
    compare(h.Log(h.read(log)), plain, "calls, in a run that wasn't counted")
    h.check_equal(second.out, plain_result.out, "the program's output")


@h.test("ls -l /", users=True)
def ls(case):
    check_program(case, "ls", ["-l", "/usr"])


LOOP = """i=0; s=
while [ $i -lt 50 ]; do s=$s$i; a[$i]=${#s}; i=$((i+1)); done
echo ${#s} ${a[49]}"""


@h.test("bash: a loop")
def bash(case):
    check_program(case, "bash", ["--norc", "-c", LOOP])


@h.test("git --version")
def git_version(case):
    check_program(case, "git", ["--version"])


def repository(case):
    h.need("git")
    directory = case.path("repository")
    os.mkdir(directory)
    case.write("repository/file", "text\n")
    env = dict(case.environment(), GIT_AUTHOR_NAME="a",
               GIT_AUTHOR_EMAIL="a@b", GIT_COMMITTER_NAME="a",
               GIT_COMMITTER_EMAIL="a@b", GIT_AUTHOR_DATE="1700000000 +0000",
               GIT_COMMITTER_DATE="1700000000 +0000", GIT_CONFIG_NOSYSTEM="1")
    for arguments in (["init", "-q"], ["add", "file"],
                      ["commit", "-q", "-m", "first"]):
        result = case.run(["git", "-C", directory, *arguments], env=env)
        result.check_status(0)
    return directory


@h.test("git log")
def git_log(case):
    check_program(case, "git", ["-C", repository(case), "--no-pager", "log",
                                "--stat"])


@h.test("python3 -S -c")
def python(case):
    check_program(case, "python3", ["-I", "-S", "-c",
                                    "print(sum(range(10)), 'x' * 3)"])


@h.test("perl")
def perl(case):
    check_program(case, "perl", ["-e", 'my %h; $h{$_} = $_ x 3 for 1..50; '
                                 'print join(",", sort keys %h), "\\n"'])


@h.test("sqlite3")
def sqlite(case):
    check_program(case, "sqlite3", [
        ":memory:", "create table t(a, b); insert into t values (1, 'x'), "
        "(2, 'y'); select sum(a), group_concat(b) from t;"],
                  threshold=5)  # Debian 13's is little more than its library


@h.test("openssl dgst")
def openssl(case):
    path = case.write("data", "some text\n" * 100)
    check_program(case, "openssl", ["dgst", "-sha256", path])


@h.test("curl --version")
def curl(case):
    check_program(case, "curl", ["--version"], threshold=5)


@h.test("curl of a file")
def curl_file(case):
    path = case.write("data", "some text\n" * 100)
    check_program(case, "curl", ["-s", "file://" + path])


@h.test("gcc -f: compiles, and the result runs", users=True)
def gcc(case):
    h.need("gcc")
    source = case.write("hello.c", '#include <stdio.h>\n'
                        'int main(void) { puts("hello"); return 3; }\n')
    output = case.path("hello")
    result = case.calltrap("-f", "-e", "execv+vfork+exit@MAIN", "gcc", "-O1",
                           "-o", output, source, patience=6 * h.PATIENCE)
    result.check_status(0)
    hello = case.run([output])
    h.check_equal((hello.status, hello.out), (3, "hello\n"), "the result")
    exits = [name for name in result.log.of_kind("exit")
             if name == "exited (status 0)"]
    # The driver, cc1, as, collect2, ld.
    h.check(len(exits) >= 5, "exit lines: %r" % result.log.of_kind("exit"))


@h.test("gcc -f: malloc of all its processes, by the counter")
def gcc_counted(case):
    """The assembler's calls, as it counted them, found by gcc -f."""
    h.need("gcc")
    status, text = h.command_output(["gcc", "-print-prog-name=as"])
    program = shutil.which(text.strip())
    if status or not program:
        raise h.Skip("no assembler")
    program = os.path.realpath(program)
    source = case.write("t.s", ".globl f\nf: ret\n")
    path = case.path("truth")
    result = case.calltrap("-f", "-e", FILTER, "gcc", "-c", "-o",
                           case.path("t.o"), source,
                           env=preload(program, path),
                           patience=6 * h.PATIENCE)
    result.check_status(0)
    truth = truth_of(path)
    by_pid = {}
    for call in result.log.calls:
        counts = by_pid.setdefault(call.pid, dict.fromkeys(NAMES, 0))
        if call.name in counts:
            counts[call.name] += 1
    h.check(any(agrees(counts, truth) for counts in by_pid.values()),
            "the assembler counted %r; logged: %r" % (truth, by_pid))


@h.test("Rust: malloc and free of the standard library")
def rust(case):
    h.need("rustc")
    directory = h.build_directory("real")
    program = os.path.join(directory, "boxes")
    status, text = h.command_output(["rustc", "-O", "-o", program,
                                     h.victim("names.rs")], directory)
    if status:
        raise h.Skip("rustc can't build here: " + text.splitlines()[0])
    path = case.path("truth")
    result = case.calltrap("-e", FILTER, program, env=preload(program, path))
    result.check_status(7)
    compare(result.log, truth_of(path), "calls")


@h.test("Go: functions of the program itself")
def go(case):
    h.need("go")
    directory = h.build_directory("go")
    shutil.copy(h.victim("calls.go"), directory)
    program = os.path.join(directory, "calls")
    environment = dict(os.environ, GOCACHE=os.path.join(directory, "cache"),
                       GO111MODULE="off", GOFLAGS="")
    done = h.subprocess.run(["go", "build", "-o", program, "calls.go"],
                            cwd=directory, env=environment, timeout=600,
                            stdout=h.subprocess.PIPE,
                            stderr=h.subprocess.STDOUT)
    if done.returncode:
        raise h.Skip("go can't build here: %s" % done.stdout.decode())
    plain = case.run([program])
    h.check_equal(plain.status, 7, "status of the untraced program")
    result = case.calltrap("-L", "-x", "main.plain+main.deep+main.growing",
                           program)
    result.check_status(7)
    wanted = {"main." + name: number
              for name, number in plain.counts().items()}
    result.log.check_counts(wanted)
    for name in wanted:
        h.check_equal(result.log.returns(name), wanted[name],
                      "results of " + name)


@h.test("a large program with -x on one symbol")
def large(case):
    program = find_program("python3")
    result = case.calltrap("-L", "-x", "PyList_New", program, "-I", "-S",
                           "-c", "x = [[] for i in range(100)]")
    result.check_status(0)
    h.check(result.log.count("PyList_New") > 50, "calls of PyList_New: %d" %
            result.log.count("PyList_New"))


@h.test("-x '*' on a small program", users=True)
def everything(case):
    result = case.calltrap("-x", "*", "/bin/echo", "hello",
                           patience=6 * h.PATIENCE)
    result.check_status(0)
    h.check_equal(result.out, "hello\n", "output")
    h.check(len(result.log.calls) > 100, "calls logged: %d" %
            len(result.log.calls))


@h.test("-e '*' on a program with threads")
def all_calls(case):
    program = find_program("xz")
    path = case.write("data", "some text\n" * 200000)
    result = case.calltrap("-e", "malloc+free@*", program, "-T2", "-k", path,
                           patience=6 * h.PATIENCE)
    result.check_status(0)
    h.check(os.path.getsize(path + ".xz") > 0, "no output")
    tasks = {call.pid for call in result.log.calls}
    h.check(len(tasks) > 1, "tasks that called: %r" % tasks)


if __name__ == "__main__":
    sys.exit(h.main())
