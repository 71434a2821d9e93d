#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-S: the system calls are those that strace sees, in the same order and with
the same results; programs see nothing of it."""

import os
import re
import shutil
import signal
import sys
import threading

sys.dont_write_bytecode = True
import harness as h

SYSTEM_CALLS = ("-L", "-S")
LINE = re.compile(r"^(?P<pid>\d+) +(?P<rest>.*)$")
BEGIN = re.compile(r"^ *(?P<name>\w+)(?P<system>@SYS)?\((?P<text>.*)$")
RESUMED = re.compile(r"^ *<\.\.\. \w+(?:@SYS)? resumed>(?P<text>.*)$")
# Whose result is a process: another one in each run.
PROCESSES = re.compile(r"fork|vfork|clone|clone3|wait4|waitpid|getpid|gettid|"
                       r"getppid|set_tid_address|getpgrp|(rt_)?sigreturn$")


def program(name="syscalls", *flags):
    return h.build(name, "syscalls.c", "-O1", "-pthread", *flags,
                   directory=h.build_directory("system_calls"))


def program32():
    try:
        return program("syscalls32", "-m32")
    except h.Failure:
        raise h.Skip("no 32-bit programs can be built here")


def programs():
    return [program()] + ([program32()] if h.X86 else [])


# ---------------------------------------------------------------- sequences

def simplify(name, result):
    """What two runs have in common, in either program's form."""
    words = result.split()
    if words[0] == "?" or words[0] == "-1" and len(words) > 1:
        return " ".join(words[:2]).split("(")[0].strip()
    number = re.match(r"-?\w+", result)
    if not number or PROCESSES.match(name):
        return "a value"
    value = int(number[0], 0)
    return "an address" if value > 0xfffff else value


class Sequence:
    """What one process or thread did: calls with results, signals, its end."""

    def __init__(self):
        self.events = []
        self.open = None

    def take(self, rest):
        mark = re.match(r"(---|\+\+\+) (?:(SIG\w+)|(?:killed by )(\w+))", rest)
        if mark:
            self.events.append(mark[2] or "killed by " + mark[3])
            return
        begin, resumed = BEGIN.match(rest), RESUMED.match(rest)
        if begin:
            self.open = [begin["name"], None]
            self.events.append(self.open)
        elif not resumed:
            return
        result = re.search(r"\) += (.*)$", (begin or resumed)["text"])
        if result and self.open and result[1] != "?":
            self.open[1] = simplify(self.open[0], result[1])

    def named(self):
        return [tuple(event) if isinstance(event, list) else event
                for event in self.events]


def sequences(text):
    """By process or thread, in the order of their appearance."""
    found = {}
    for line in text.splitlines():
        split = LINE.match(line)
        h.check(split, "no process in: " + line)
        found.setdefault(split["pid"], Sequence()).take(split["rest"])
    return [sequence.named() for sequence in found.values()]


def strace(case, argv):
    if not shutil.which("strace"):
        raise h.Skip("no strace here")
    path = case.path("strace.%d" % case.number())
    case.run(["strace", "-f", "-o", path, *argv])
    found = sequences(h.read(path).replace("syscall_0x270f", "syscall_9999"))
    # calltrap's program begins when its execve has returned.
    h.check(found and found[0] and found[0][0][0] == "execve",
            "strace's log begins with execve")
    del found[0][0]
    return found


def calltrap(case, argv):
    result = case.calltrap(*SYSTEM_CALLS, "-f", *argv)
    result.check_quiet()
    return sequences(result.log_text)


# It may have ended before wait4 is called, or not.
WHEN_A_CHILD_ENDS = ("SIGCHLD", "rt_sigreturn", "sigreturn")


def name_of(event):
    return event if isinstance(event, str) else event[0]


def first_difference(found, wanted):
    for i, (a, b) in enumerate(zip(found, wanted)):
        if a != b:
            return "%d: found %r, wanted %r" % (i, found[i:i + 4],
                                                wanted[i:i + 4])
    return "found %d, wanted %d: %r" % (len(found), len(wanted),
                                        found[len(wanted):] or
                                        wanted[len(found):])


def check_same(case, argv, calls=10, ignore=()):
    with h.same_addresses():
        wanted, found = strace(case, argv), calltrap(case, argv)
    compare(argv, found, wanted, calls, ignore)


def compare(argv, found, wanted, calls=10, ignore=()):
    h.check_equal(len(found), len(wanted), "processes and threads")
    h.check(sum(map(len, wanted)) > calls, "strace saw too little")
    for number, (a, b) in enumerate(zip(found, wanted)):
        a, b = ([event for event in events if name_of(event) not in ignore]
                for events in (a, b))
        h.check(a == b, "task %d of %s: %s" % (number, " ".join(argv),
                                               first_difference(a, b)))


@h.test("cat, ls and others: what strace sees", users=True)
def real_programs(case):
    path = case.write("text", "some text\n" * 3)
    for argv in (["cat", path], ["ls", "-l", "/etc"], ["ls", "/nowhere"],
                 ["sed", "-n", "1p", path],
                 ["/usr/bin/python3", "-I", "-S", "-c",
                  "open(%r).read()" % path]):
        check_same(case, argv)


# Whose arguments both show in the same words.
ALIKE = re.compile(r"^ *(openat|access|close|pread64|lseek|ioctl|exit_group|"
                   r"fadvise64|read|write|_llseek)(?:@SYS)?"
                   r"(\(.*?)(?:\) += .*| <no return>)$")


def arguments_of(text):
    found = []
    for line in text.splitlines():
        match = ALIKE.match(line)
        if match and "\\" not in match[2]:
            name, arguments = match[1], match[2].split("{")[0]
            # A structure, and a pointer to one, are shown in other ways.
            found.append((name, re.sub(r", 0x[0-9a-f]+.*", "", arguments)))
    return found


@h.test("cat and ls: the arguments that strace sees")
def arguments(case):
    path = case.write("text", "some text")
    for argv in (["cat", path], ["ls", "-l", "/etc/passwd"]):
        log = case.path("strace.%d" % case.number())
        if not shutil.which("strace"):
            raise h.Skip("no strace here")
        case.run(["strace", "-s", "200", "-o", log, *argv])
        wanted = arguments_of(h.read(log))
        found = arguments_of(case.calltrap(*SYSTEM_CALLS, "-s", "200",
                                           *argv).log_text)
        h.check(len(wanted) > 8 and
                ("close", "(3") in wanted, "strace saw too little")
        h.check(found == wanted, "%s: %s" % (
            argv[0], first_difference(found, wanted)))


@h.test("a shell with children: what strace sees of each")
def shell(case):
    check_same(case, ["sh", "-c", "true; ls /nowhere; (exit 3); "
                      "/bin/echo $(/bin/echo a)"], calls=100,
               ignore=WHEN_A_CHILD_ENDS)


@h.test("fork, vfork and exec")
def children(case):
    check_same(case, [program(), "children"], calls=100, ignore=WHEN_A_CHILD_ENDS)


@h.test("fork, vfork and exec of a 32-bit program")
def children32(case):
    check_same(case, [program32(), "children"], calls=100,
               ignore=WHEN_A_CHILD_ENDS)


class Sender(threading.Thread):
    """
    Sends signals to the program that tells its number in a file: each when it
    is seen to wait in a system call, or stopped, whenever that is.
    """

    def __init__(self, path, numbers):
        super().__init__(daemon=True)
        self.path, self.numbers = path, numbers
        self.given_up = threading.Event()

    def wait_for(self, states, looks):
        pid = seen = 0
        while seen < looks and not self.given_up.wait(0.01):
            pid = pid or int(h.read(self.path).partition("\n")[0] or 0)
            seen += 1
            if not pid or h.status_field(pid, "State", "?")[0] not in states:
                seen = 0
        return pid

    def run(self):
        for number in self.numbers:
            # Its tracer stops it for a moment, too.
            pid = (self.wait_for("Tt", 20) if number == signal.SIGCONT else
                   self.wait_for("S", 1))
            if not self.given_up.is_set():
                os.kill(pid, number)


def check_same_with(case, path, situation, numbers, interrupted_calls):
    who = case.path("who")
    found = []
    for trace in (strace, calltrap):
        case.write("who", "")
        sender = Sender(who, numbers)
        sender.start()
        try:
            found.append(trace(case, [path, situation, who]))
        finally:
            sender.given_up.set()
            sender.join()
    compare([path, situation], found[1], found[0])
    h.check_equal(sum("? ERESTART" in str(event[1]) for event in found[1][0]
                      if not isinstance(event, str)), interrupted_calls,
                  "interrupted calls")


# read, nanosleep, poll, pause; epoll_wait fails with EINTR.
@h.test("calls that signals interrupt")
def interrupted(case):
    check_same_with(case, program(), "interrupted", [signal.SIGALRM] * 5, 4)


@h.test("calls that signals interrupt, in a 32-bit program")
def interrupted32(case):
    check_same_with(case, program32(), "interrupted", [signal.SIGALRM] * 5, 4)


@h.test("a process that is stopped and continued")
def stopped(case):
    check_same_with(case, program(), "stopped",
                    [signal.SIGSTOP, signal.SIGCONT, signal.SIGALRM], 2)


@h.test("calls that a filter forbids")
def filtered(case):
    for path in programs():
        check_same(case, [path, "filtered"])


@h.test("calls of another architecture, and of none")
def strange(case):
    h.need_x86("two tables of system calls in one program")
    result = case.calltrap(*SYSTEM_CALLS, program(), "strange")
    calls = sequences("".join("1 " + line + "\n" for line in
                              result.log_text.splitlines()))[0]
    h.check_equal(result.out, "getpid 1\nwrite -9\n9999 -1\n", "its output")
    h.check(("getpid", "a value") in calls, "getpid by int $0x80")
    h.check(("write", "-1 EBADF") in calls, "write by int $0x80")
    h.check(("syscall_9999", "-1 ENOSYS") in calls, "a call without a name")
    check_same(case, [program32(), "strange"])


# ---------------------------------------------------------------- threads

@h.test("threads: each of their calls")
def threads(case):
    for path in programs():
        result = case.calltrap(*SYSTEM_CALLS, "-f", path, "threads")
        wanted = int(re.search(r"getppid (\d+)", result.out)[1])
        h.check_equal(result.log.count("getppid", library="SYS"), wanted,
                      "calls logged")
        tasks = sequences(result.log_text)
        h.check_equal(sum(events.count(("getppid", "a value"))
                          for events in tasks), wanted, "with results")
        h.check_equal(len(tasks), 9, "threads")
        h.check(all(events[-1][0] in ("exit", "exit_group")
                    for events in tasks), "ends of threads")


@h.test("execve in a thread that is not the leader")
def thread_exec(case):
    result = case.calltrap(*SYSTEM_CALLS, program(), "thread_exec")
    result.check_status(0)
    h.check_match(r"^\d+ execve@SYS\(.* <unfinished \.\.\.>\n"
                  r"(\d+) <\.\.\. p(?:ause|poll)@SYS resumed> "
                  r"<unfinished: thread exited>\n"
                  r"\1 <\.\.\. execve@SYS resumed> .* = 0\n"
                  r"\1 --- Called exec\(\) of /\S+ ---\n"
                  r"\1 brk@SYS\(", result.log_text, "the log")


# ---------------------------------------------------------------- with calls

@h.test("library calls are the same with and without system calls")
def library_calls(case):
    argv = ["ls", "-l", "/etc"]
    plain = case.calltrap(*argv).log
    both = case.calltrap("-S", *argv).log
    names = {call.name for call in plain.calls}
    h.check(len(names) > 10, "library calls")
    counts = [{name: sum(1 for call in log.calls if call.name == name and
                         call.library is None) for name in names}
              for log in (plain, both)]
    h.check_equal(counts[1], counts[0], "library calls with -S")
    h.check(both.count("openat", library="SYS") > 3, "system calls")
    h.check_match(r"^(\w+)\(.* <unfinished \.\.\.>\n"
                  r"write@SYS\(.*\) += \d+\n"
                  r"<\.\.\. \1 resumed> \) += ",
                  both.text, "a system call in a library call") \
        if "fwrite_unlocked" in names and "write" not in names else None


@h.test("the table counts them by their names")
def table(case):
    result = case.calltrap("-c", *SYSTEM_CALLS, program(), "threads")
    wanted = int(re.search(r"getppid (\d+)", result.out)[1])
    row = h.check_match(r"^ *[\d.]+ +[\d.]+ +%s +(\d+) +getppid@SYS$" %
                        h.MICROS, result.log_text, "the table")
    h.check_equal(int(row[1]), wanted, "calls in the table")


@h.test("prototypes of the user's, and those of the C library")
def prototypes(case):
    path = case.write("own.conf", "int SYS_getppid(hex(int));\n"
                      "int getppid(string);\nint close(string);\n")
    text = case.calltrap("-F", path, *SYSTEM_CALLS, program(),
                         "threads").log_text
    h.check_match(r"getppid@SYS\((0x[0-9a-f]+|0)\) +=", text, "SYS_getppid")
    h.check_match(r"close@SYS\(3[,)]", text, "close, which is another's")


# ---------------------------------------------------------------- attached

def attach(case, target):
    h.wait_until(lambda: "ready" in target.out, "the target")
    tracer = case.start_calltrap(*SYSTEM_CALLS, "-D", "stop", "-p",
                                 str(target.pid))
    h.wait_until(lambda: ": system call" in tracer.err, "the call's entry")
    return tracer


@h.test("attached in the middle of a call, and let go in another",
        users=True)
def attached(case):
    target = case.start([program(), "reader"])
    tracer = attach(case, target)
    target.say("one\n")
    h.wait_until(lambda: "one" in target.out, "the answer")
    h.wait_until(lambda: tracer.err.count(": system call") == 5, "its wait")
    tracer.popen.terminate()
    tracer.wait()
    log = h.read(tracer.log_path)
    h.check_match(r"\A\d+ read@SYS\(0.*\) += 4\n"
                  r"\d+ write@SYS\(1.*\) += 4\n"
                  r"\d+ read@SYS\(0.* <unfinished: detached>\n\Z", log,
                  "the log")
    h.check_untouched(target.pid)
    target.say("two\n")
    target.popen.stdin.close()
    h.check_equal(target.wait(), 0, "status of the target")
    h.check_equal(target.out, "ready\none\ntwo\nend 0\n", "its output")


@h.test("-x NAME@SYS: as many of them as with -S, and no others")
def named(case):
    argv = ["sh", "-c", "cat /etc/hostname /nowhere; exec true"]
    every = case.calltrap("-L", "-S", "-f", *argv).log.text
    some = case.calltrap("-L", "-x", "openat@SYS+/.*stat.*/@SYS+nice@SYS",
                         "-f", *argv)
    names = re.findall(r"(\w+)@SYS\(", every)
    wanted = [name for name in names if name == "openat" or "stat" in name]
    found = re.findall(r"(\w+)@SYS\(", some.log.text)
    h.check(len(wanted) > 10, "too few calls to compare")
    h.check_equal(sorted(found), sorted(wanted), "system calls")
    h.check_equal(some.messages(),
                  ["calltrap: -x nice@SYS: no such system call was made"],
                  "messages")


if __name__ == "__main__":
    os.environ.pop("LANG", None)
    sys.exit(h.main())
