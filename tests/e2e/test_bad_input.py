#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What can't be done is said in one line, and nothing is harmed."""

import os
import random
import re
import signal
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
import harness as h


def libraries():
    directory = h.build_directory("bad")
    h.build_library("libt.so", "libt.c", directory=directory)
    h.build_library("libu.so", "libu.c", *h.near(directory), "-lt",
                    directory=directory)
    return directory


def program(name="linkage", *flags):
    directory = libraries()
    return h.build(name, name + ".c", "-O1", *flags, *h.near(directory), "-lt",
                   "-lu", "-lpthread", directory=directory)


def target(case, name="target"):
    process = case.start([program(name)])
    h.wait_until(lambda: process.out or process.popen.poll() is not None,
                 "the target")
    return process


def check_refused(case, *arguments, status=1, holding=(), **how):
    """One line `calltrap: …` on standard error, which has these words."""
    how.setdefault("log", False)
    result = case.calltrap(*arguments, **how)
    result.check_status(status)
    h.check_equal(result.out, "", "standard output")
    lines = result.err.splitlines()
    h.check(lines and lines[0].startswith("calltrap: "),
            "no message of calltrap's: %r" % result.err)
    h.check_equal(len(lines), 1, "lines in\n" + result.err)
    for word in holding:
        h.check(re.search(word, lines[0], re.I), "%r isn't in: %s" %
                (word, lines[0]))
    return lines[0]


def command_line(name, *arguments, holding=(), status=2):
    @h.test("command line: " + name)
    def run(case):
        marker = case.path("ran")
        words = [word.replace("MARK", "touch " + marker)
                 for word in arguments]
        check_refused(case, *words, status=status, holding=holding)
        h.check(not os.path.exists(marker), "the command was run")


COMMAND = ["sh", "-c", "MARK"]
command_line("nothing")
command_line("options only", "-f")
command_line("unknown short option", "-%", *COMMAND, holding=["%"])
command_line("unknown long option", "--no-such-option", *COMMAND,
             holding=["no-such-option"])
command_line("a missing argument", "-e", holding=["-e|'e'"])
command_line("-p without a number", "-p", "abc", holding=["abc"])
command_line("-p with rubbish behind the number", "-p", "1x",
             holding=["1x"])
command_line("-p 0", "-p", "0")
command_line("-p -1", "-p", "-1")
command_line("-p too big", "-p", "99999999999999999999")
for each_option, each_word in (
        ("-a", "x"), ("-s", "x"), ("-s", "-1"), ("-n", "x"), ("-n", "-3"),
        ("-D", "9x"), ("-A", "x"), ("--for", "5x"), ("--for", "-1s"),
        ("--for", ""), ("--for", "1.2.3s"), ("--for", "nans")):
    command_line("%s '%s'" % (each_option, each_word), each_option, each_word,
                 *COMMAND, holding=[re.escape(each_word)])
for each_text, each_column in (
        ("/f1", 1), ("f1+/f2", 4), ("/f\\(/", None),
        ("f1+f2@/a\\(b/", None)):
    for each_option in ("-e", "-x"):
        command_line("%s '%s' points at the column" % (each_option,
                                                       each_text),
                     each_option, each_text, *COMMAND,
                     holding=[r"column %s\b" % (each_column or r"\d+")])
command_line("-l with a broken pattern", "-l", "/lib\\(/", *COMMAND,
             holding=[r"column \d+"])

NOT_THERE = "/no/such/program"
command_line("the command isn't there", NOT_THERE, status=1,
             holding=[NOT_THERE, "No such file"])
command_line("the command isn't in PATH", "no-such-command-anywhere",
             status=1, holding=["no-such-command-anywhere"])
command_line("the command is a directory", "/etc", status=1,
             holding=["/etc"])
command_line("-o in a directory that isn't there", "-o",
             "/no/such/directory/log", *COMMAND, status=1,
             holding=["/no/such/directory/log", "No such file"])
command_line("-u of a user that isn't there", "-u", "no-such-user",
             *COMMAND, status=1, holding=["no-such-user"])


@h.test("the command isn't executable", users=True)
def not_executable(case):
    path = case.write("plain", "#!/bin/sh\necho hello\n", 0o644)
    check_refused(case, path, holding=["plain", "Permission denied|not exec"])


@h.test("a script whose interpreter isn't there", users=True)
def no_interpreter(case):
    path = case.write("script", "#!/no/such/interpreter\n", 0o755)
    check_refused(case, path, holding=["script"])


@h.test("an executable text without #!")
def no_shebang(case):
    path = case.write("script", "echo hello\n", 0o755)
    check_refused(case, path, holding=["script"])


@h.test("a script that is its own interpreter")
def own_interpreter(case):
    path = case.path("script")
    case.write("script", "#!%s\n" % path, 0o755)
    check_refused(case, path, holding=["script"])


@h.test("an empty executable")
def empty(case):
    check_refused(case, case.write("empty", "", 0o755), holding=["empty"])


def check_unwritten(case, *options, output="/dev/full", command=None,
                    status=1):
    if not os.path.exists("/dev/full"):
        raise h.Skip("there is no /dev/full")
    result = case.run([h.CALLTRAP, *options, *(command or [program()])])
    result.check_status(status)
    h.check_equal(result.messages(),
                  ["calltrap: %s can't be written any more: No space left on "
                   "device" % output], "messages")
    return result


@h.test("the log's disk is full")
def full(case):
    result = check_unwritten(case, "-o", "/dev/full")
    h.check("count MAIN f1 1000" in result.out, "the program's output: " +
            result.out)


@h.test("the table's disk is full")
def full_table(case):
    check_unwritten(case, "-c", "-o", "/dev/full", command=["true"])


@h.test("the log's disk is full: a program that fails has the last word")
def full_and_failed(case):
    check_unwritten(case, "-c", "-o", "/dev/full",
                    command=["sh", "-c", "exit 7"], status=7)


@h.test("the disk of JSON is full: the log is whole")
def full_json(case):
    check_unwritten(case, "-e", "strlen", "--json", "/dev/full", "-o", "log",
                    command=["true"])
    h.check(h.read(case.path("log")).endswith("\n"), "end of the log")


@h.test("options of the log with -c: said to be in vain, and harmless")
def in_vain(case):
    result = case.calltrap("-c", "-tt", "-i", "-n2", "-w5", "-b", "-T", "-C",
                           "--engine=trap", program(), log=False)
    result.check_status(7)
    h.check_equal(result.messages(),
                  ["calltrap: %s has no effect with -c" % name
                   for name in ("-t", "-i", "-n", "-w")], "messages")
    h.check_match(r"^ .* f1$", result.err, "the table")
    result = case.calltrap("-c", "-w5", "--json", "calls.json", program())
    h.check_equal(result.messages(), [], "messages with JSON")
    h.check('"stack"' in h.read(case.path("calls.json")), "stacks in JSON")


@h.test("-o -: a file of that name")
def dash(case):
    result = case.calltrap("-o", "-", "-e", "f1", program(), log=False)
    result.check_status(7)
    h.check_match(r"->f1\(", h.read(case.path("-")), "the log")
    h.check("->f1(" not in result.out, "the program's output")
    result = case.calltrap("-o", "/dev/stdout", "-e", "f1", program(),
                           log=False)
    h.check_match(r"->f1\(", result.out, "standard output")


@h.test("standard output is full")
def full_standard_output(case):
    for option in "--help", "--version":
        result = case.run(["sh", "-c", '"$0" "$1" >/dev/full', h.CALLTRAP,
                           option])
        result.check_status(1)
        h.check_equal(result.messages(),
                      ["calltrap: standard output can't be written: No space "
                       "left on device"], "messages of " + option)


@h.test("no such pid", users=True)
def no_pid(case):
    with open("/proc/sys/kernel/pid_max") as file:
        pid = int(file.read()) - 1
    if os.path.exists("/proc/%d" % pid):
        raise h.Skip("there is a process %d" % pid)
    check_refused(case, "-p", str(pid), holding=[str(pid), "no (such )?process"])


@h.test("a zombie", users=True)
def zombie(case):
    process = target(case, "zombie")
    pid = process.out.split()[1]
    check_refused(case, "-p", pid, holding=[pid])


@h.test("a kernel thread", users=True)
def kernel_thread(case):
    for pid in sorted(int(name) for name in os.listdir("/proc")
                      if name.isdigit()):
        flags = h.read("/proc/%d/stat" % pid).rpartition(")")[2].split()
        if flags and int(flags[6]) & 0x00200000:
            check_refused(case, "-p", str(pid), holding=["kernel thread"])
            return
    raise h.Skip("no kernel thread can be seen here")


@h.test("a thread of a process, not the process")
def a_thread(case):
    process = case.start([program("target"), "2", "1000"])
    h.wait_until(lambda: "ready" in process.out, "the target")
    tid = max(int(name) for name in os.listdir("/proc/%d/task" % process.pid))
    result = case.calltrap("-L", "-x", "f1", "--for", "300ms", "-p", str(tid))
    # Either is right: the whole process is traced, or it is refused.
    if result.status == 0:
        h.check(result.log.count("f1") > 0, "no calls logged")
    else:
        result.check_status(1)
        h.check_equal(len(result.messages()), 1, result.err)
    check_alive(process)


def check_alive(process):
    h.check_untouched(process.pid)
    process.say("q")
    h.check_equal(process.wait(), 7, "status of the target")


@h.test("a process of another user")
def other_user(case):
    if os.geteuid() != 0:
        # In a container it may be our own: all there would end with it.
        if os.stat("/proc/1").st_uid == os.geteuid():
            raise h.Skip("process 1 is ours")
        check_refused(case, "-p", "1", holding=[r"\b1\b", "user|permi"])
        return
    process = target(case)
    case.user = h.ordinary_user("nobody")
    os.chown(case.dir, case.user.pw_uid, case.user.pw_gid)
    line = check_refused(case, "-p", str(process.pid),
                         holding=[str(process.pid), "user|uid|root|permi"])
    h.check("ptrace" not in line or len(line) > 40, "a bare errno: " + line)
    case.user = None
    check_alive(process)


@h.test("a process already traced: the tracer is named", users=True)
def already_traced(case):
    process = target(case)
    tracer = case.start([program("tracer"), str(process.pid)])
    h.wait_until(lambda: "tracing" in tracer.out or
                 tracer.popen.poll() is not None, "the other tracer")
    check_refused(case, "-p", str(process.pid),
                  holding=[r"\b%d\b" % process.pid, r"\b%d\b" % tracer.pid,
                           "tracer"])
    h.check_equal(h.tracer_of(process.pid), tracer.pid, "tracer")
    tracer.say("q")
    tracer.wait()
    check_alive(process)


def refused_beside(case, process, stranger):
    """What runs into traps there is somebody else's, who would pass them on."""
    tracer = case.start([program("tracer"), str(stranger)])
    h.wait_until(lambda: "tracing" in tracer.out or
                 tracer.popen.poll() is not None, "the other tracer")
    check_refused(case, "-x", "f1", "-p", str(process.pid),
                  holding=[r"\b%d\b" % number for number in
                           (process.pid, stranger, tracer.pid)])
    h.check_equal((h.tracer_of(stranger), h.tracer_of(process.pid)),
                  (tracer.pid, 0), "tracers")
    tracer.say("q")
    tracer.wait()
    check_alive(process)


@h.test("a process one of whose threads is traced", users=True)
def thread_traced(case):
    process = case.start([program("target"), "2", "1000"])
    tasks = "/proc/%d/task" % process.pid
    h.wait_until(lambda: process.out and len(os.listdir(tasks)) > 1,
                 "the target")
    refused_beside(case, process, max({int(tid) for tid in os.listdir(tasks)} -
                                      {process.pid}))


@h.test("a process whose memory somebody shares who is traced", users=True)
def sharer_traced(case):
    process = target(case, "sharer")
    refused_beside(case, process, int(process.out))


@h.test("a process traced by another calltrap")
def two_calltraps(case):
    process = case.start([program("target"), "2", "1000"])
    h.wait_until(lambda: process.out, "the target")
    first = case.start_calltrap("-L", "-x", "f1", "-p", str(process.pid))
    h.wait_until(lambda: "f1" in h.read(first.log_path) or
                 first.popen.poll() is not None, "the first calltrap")
    check_refused(case, "-L", "-x", "f1", "-p", str(process.pid),
                  holding=[r"\b%d\b" % first.pid])
    first.popen.send_signal(2)
    h.check_equal(first.wait(), 0, "status of the first calltrap")
    check_alive(process)


@h.test("a process that isn't dumpable")
def undumpable(case):
    if os.geteuid() == 0:
        case.user = h.ordinary_user("nobody")
        os.chown(case.dir, case.user.pw_uid, case.user.pw_gid)
    process = target(case, "undumpable")
    check_refused(case, "-p", str(process.pid), holding=[str(process.pid)])
    h.check_equal(process.popen.poll(), None, "the target's end")


@h.test("one of several targets can't be traced: none is touched")
def one_refused(case):
    process = target(case)
    other = target(case)
    tracer = case.start([program("tracer"), str(other.pid)])
    h.wait_until(lambda: "tracing" in tracer.out, "the other tracer")
    result = case.calltrap("-L", "-x", "f1", "-p", str(process.pid), "-p",
                           str(other.pid), "--for", "300ms", log=False)
    h.check_equal(len(result.messages()), 1,
                  "messages:\n" + result.err)
    h.check_match(str(other.pid), result.messages()[0], "message")
    check_alive(process)
    tracer.say("q")
    tracer.wait()
    check_alive(other)


@h.test("a target that can't be read is given back, another one is traced",
        users=True)
def given_back(case):
    other = case.start([program("target"), "2", "1000"])
    refused = case.start([program("noauxv")])
    h.wait_until(lambda: "ready" in other.out and (
        "ready" in refused.out or refused.popen.poll() is not None),
        "the targets")
    if refused.popen.poll() == 77:
        raise h.Skip("the kernel doesn't let it: " + refused.err)
    tracer = case.start_calltrap("-L", "-x", "f1", "-p", str(other.pid), "-p",
                                 str(refused.pid))
    h.wait_until(lambda: "f1" in h.read(tracer.log_path) or
                 tracer.popen.poll() is not None, "calls of the other")
    h.check_match("process %d .*can't be found" % refused.pid, tracer.err,
                  "message")
    h.check_equal({h.tracer_of(int(tid)) for tid in
                   os.listdir("/proc/%d/task" % refused.pid)}, {0},
                  "tracers of the one that is refused")
    refused.say("q")
    h.check_equal(refused.wait(), 7, "its status")
    tracer.popen.send_signal(2)
    h.check_equal(tracer.wait(), 0, "status of calltrap")
    check_alive(other)


def damaged_list(how, told):
    @h.test("a link map that leads astray: " + how)
    def run(case):
        result = case.calltrap("-e", "f1@MAIN", program("ring"), how)
        result.check_status(7)
        result.log.check_counts({"f1": 10})
        h.check_equal(sum("damaged" in line for line in result.messages()),
                      told, "messages that it is damaged:\n" + result.err)


for each_damage, each_told in (("ring", 1), ("long", 1), ("copies", 1),
                               ("self", 0), ("wild", 0)):
    damaged_list(each_damage, each_told)


def hidden_library(how):
    @h.test("a link map that hides a library: " + how)
    def run(case):
        result = case.calltrap("-L", "-x", "f1", program("ring"), how)
        result.check_status(7)
        result.log.check_counts({"f1": 30})


for each_way in "cut", "none", "moved":
    hidden_library(each_way)


@h.test("calltrap itself, its parent")
def itself(case):
    result = case.run(["/bin/sh", "-c", "exec '%s' -p $$" % h.CALLTRAP])
    result.check_status(1)
    h.check_equal(len(result.messages()), 1, result.err)


@h.test("-u as an ordinary user")
def user_as_user(case):
    if os.geteuid() == 0:
        case.user = h.ordinary_user("nobody")
        os.chown(case.dir, case.user.pw_uid, case.user.pw_gid)
    check_refused(case, "-u", "root", "/bin/true")


@h.test("-x that matches nothing: said, the program runs", users=True)
def matches_nothing(case):
    result = case.calltrap("-L", "-x", "no_such_function", program(),
                           log=False)
    result.check_status(7)
    said = [line for line in result.messages() if "no_such_function" in line]
    h.check_equal(len(said), 2, "messages, when it is missed and at the end: "
                  + result.err)
    h.check("count MAIN f1 1000" in result.out, "the program's output")


@h.test("-l that matches nothing: said at the end; one that does isn't")
def matches_no_library(case):
    result = case.calltrap("-l", "libnosuch.so", "-l", "libu.so", program())
    result.check_status(7)
    h.check(result.log.count("u_work") > 0, "no calls into libu.so")
    h.check_equal(["libnosuch.so" in line for line in result.messages()],
                  [True], "messages about libnosuch.so alone: " + result.err)


OPENAT = "257 " if h.X86 else "56 "


@h.test("-o to a pipe that nobody reads: Ctrl-C ends the wait", users=True)
def pipe_without_reader(case):
    path = case.path("pipe")
    os.mkfifo(path, 0o666)
    os.chmod(path, 0o666)
    tracer = case.start_calltrap("-o", path, program(), log=False)
    # It has got to openat(2), and stays there.
    h.wait_until(lambda: h.read("/proc/%d/syscall" %
                                tracer.pid).startswith(OPENAT) and
                 h.status_field(tracer.pid, "State", "")[:1] == "S",
                 "calltrap to wait")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 1, "status of calltrap; " + tracer.err)
    h.check("can't be written" in tracer.err, "calltrap said: " + tracer.err)


@h.test("-e and options that are misspelt: the near ones are named")
def near_words(case):
    result = case.calltrap("-e", "f11", program())
    h.check_match(r"^calltrap: -e f11: never found: .*; near: f1\b",
                  result.err, "messages")
    result = case.run([h.CALLTRAP, "--nmae", "x"])
    h.check_equal(result.messages(),
                  ["calltrap: --nmae: unknown option; near: --name; see "
                   "calltrap --help"], "messages")


@h.test("operators of C++ that are misspelt: the near ones are named")
def near_operators(case):
    h.need("g++")
    source = case.write("new.cc", "int main() { delete new int; }\n")
    built = h.build("new", source, "-O0", cc="g++", directory=case.dir)
    for option in ("-x", "-e"):
        result = case.calltrap(option, "operator nwe*", built)
        h.check_match(r"^calltrap: %s operator nwe\*: never found: .*; near: "
                      r"operator new\b" % option, result.err, "messages")


@h.test("-x of a misspelt name: the near ones are named")
def near_names(case):
    result = case.calltrap("-L", "-x", "u_wrok", program())
    result.check_status(7)
    said = [line for line in result.messages() if "u_wrok" in line]
    h.check(said and "u_work" in said[0], "messages:\n" + result.err)


@h.test("no call was seen: said, and where most of the code is")
def elsewhere(case):
    source = case.write("big.c", "int puts_of_mine(int);\n"
                        "int pause(void);\nint f(int n)\n{\n\tswitch (n) {\n"
                        "\tcase -1: return pause();\n" +
                        "".join("\tcase %d: return n * %d + n / %d;\n" %
                                (i, i * i + 3, i + 7) for i in range(3000)) +
                        "\t}\n\treturn puts_of_mine(n);\n}\n"
                        "int puts_of_mine(int n) { return n; }\n")
    main = case.write("thin.c", "int f(int);\nint main(int c)\n"
                      "{\n\treturn f(c > 1 ? -1 : 4711) != 4711;\n}\n")
    for command in ("gcc -w -O0 -shared -fPIC -o libbig-1.so.1 " + source,
                    "gcc -o thin %s -Wl,-rpath,%s ./libbig-1.so.1" %
                    (main, case.dir)):
        case.run(command.split()).check_status(0)
    said = "calltrap: next to no call was seen: its code is in " \
           "libbig-1.so.1: try -e '@libbig?1.so*'"
    result = case.calltrap("-c", case.path("thin"), log=False)
    result.check_status(0)
    h.check(said in result.err.splitlines(), "messages:\n" + result.err)
    result = case.calltrap("-e", "@libbig?1.so*", case.path("thin"))
    h.check_equal(([call.name for call in result.log.lines
                    if call.name == "puts_of_mine"], result.messages()),
                  (["puts_of_mine"], []), "what was said works")
    target = case.start([case.path("thin"), "waits"])
    h.rest(target.pid)
    result = case.calltrap("-c", "--for", "300ms", "-p", str(target.pid))
    h.check("calltrap: no call was seen: its code is in libbig-1.so.1: try "
            "-e '@libbig?1.so*'" in result.messages(), "beside a file:\n" +
            result.err)
    result = case.calltrap("-L", "-x", "getaddrinfo", case.path("thin"),
                           log=False)
    h.check_match(r"^calltrap: no call was seen$", result.err,
                  "nothing called")
    result = case.calltrap("-L", "-x", "getaddrinfo", case.path("thin"))
    h.check_equal(result.messages(), [], "beside a log of its own: no hints")


def truncated(size):
    @h.test("an ELF file cut off after %d bytes" % size)
    def run(case):
        path = case.copy(program())
        os.truncate(path, size)
        check_same(case, path)


for each_size in (1, 16, 63, 64, 100, 700, 1000, 4096, 5000, 8192, 12000,
                  13000, 14000):
    truncated(each_size)


def run_untraced(path):
    """Exit status as a shell shows it; None when it can't be started."""
    environment = {"PATH": "/usr/bin:/bin",
                   "LD_LIBRARY_PATH": libraries()}
    try:
        done = subprocess.run([path], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=10,
                              env=environment)
    except OSError:
        return None
    except subprocess.TimeoutExpired:
        raise h.Skip("the broken program hangs by itself")
    return done.returncode if done.returncode >= 0 else 128 - done.returncode


def check_same(case, path, *arguments):
    """The same end as without calltrap, or a line why it can't be begun."""
    wanted = run_untraced(path)
    result = case.calltrap(*arguments, path,
                           env={"LD_LIBRARY_PATH": libraries()})
    h.check(result.status >= 0, "calltrap was killed by signal %d:\n%s" %
            (-result.status, h.shorten(result.err)))
    h.check("Sanitizer" not in result.err and "runtime error" not in
            result.err, h.shorten(result.err))
    if wanted is None:
        result.check_status(1)
        h.check_equal(len(result.messages()), 1,
                  "messages:\n" + result.err)
    else:
        result.check_status(wanted)


def tables(data):
    """Where the parts of an ELF file lie that a reader follows."""
    found = [(16, 64)]
    phoff, shoff = struct.unpack_from("<QQ", data, 32)
    phsize, phnum, shsize, shnum = struct.unpack_from("<HHHH", data, 54)
    found.append((phoff, phoff + phsize * phnum))
    found.append((shoff, shoff + shsize * shnum))
    for i in range(shnum):
        name, kind, flags, address, offset, size = struct.unpack_from(
            "<IIQQQQ", data, shoff + i * shsize)
        if kind in (2, 3, 4, 5, 6, 7, 11, 0x6ffffff6, 0x6ffffffe,
                    0x6fffffff) and size:
            found.append((offset, offset + size))
    return found


def corrupt(data, random_source):
    """A few bytes of one table get values that are never meant well."""
    data = bytearray(data)
    start, end = random_source.choice(tables(data))
    for _ in range(random_source.choice((1, 1, 2, 8))):
        place = random_source.randrange(start, min(end, len(data)))
        value = random_source.choice((b"\xff", b"\0", b"\x7f", b"\x80",
                                      b"\xff\xff\xff\xff",
                                      b"\xff\xff\xff\xff\xff\xff\xff\x7f",
                                      bytes([random_source.randrange(256)])))
        data[place:place + len(value)] = value
    return bytes(data[:len(data)])


def hostile(number):
    @h.test("hostile ELF files, series %d" % number)
    def run(case):
        with open(program(), "rb") as file:
            original = file.read()
        source = random.Random(number)
        for i in range(25):
            path = case.path("hostile.%d" % i)
            with open(path, "wb") as file:
                file.write(corrupt(original, source))
            os.chmod(path, 0o755)
            try:
                for how in ([], ["-L", "-x", "*@MAIN"]):
                    check_same(case, path, *how)
            except h.Failure as failure:
                raise h.Failure("file %d of series %d: %s" % (i, number,
                                                              failure))
            os.unlink(path)


for each_number in range(8):
    hostile(each_number)


@h.test("a hostile library is loaded by dlopen")
def hostile_library(case):
    directory = h.build_directory("bad")
    plugin = h.build_plugin(directory)
    loader = h.build("loader", "loader.c", "-ldl", "-lpthread",
                     directory=directory)
    with open(plugin, "rb") as file:
        original = file.read()
    source = random.Random(1)
    for i in range(25):
        path = case.path("plug.so")
        with open(path, "wb") as file:
            file.write(corrupt(original, source))
        env = {"LD_LIBRARY_PATH": directory}
        plain = case.run([loader, path], input_text="lcq", env=env)
        wanted = plain.status if plain.status >= 0 else 128 - plain.status
        result = case.calltrap("-L", "-x", "g*", loader, path,
                               input_text="lcq", env=env)
        h.check_equal(result.status, wanted, "status with file %d; %s" %
                      (i, result.err))


if __name__ == "__main__":
    sys.exit(h.main())
