#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap doctor': what works here and on a process. What it says of -p is
held against what calltrap -p then does."""

import json
import os
import re
import sys

sys.dont_write_bytecode = True
import harness as h

LINE = re.compile(r"(ok|limited|no) +([a-z ]+): .+")


def lines_of(text):
    """[(verdict, what, line)]; each line is one of these."""
    found = []
    for line in text.splitlines():
        match = LINE.fullmatch(line)
        h.check(match, "no line of calltrap doctor: %r" % line)
        found.append((match[1], match[2], line))
    return found


def verdict(result, what):
    """(verdict, line) of the last check of that name."""
    found = [(v, line) for v, name, line in lines_of(result.out)
             if name == what]
    h.check(found, "nothing is said of %s:\n%s" % (what, result.out))
    return found[-1]


def doctor(case, *arguments, status=0):
    result = case.calltrap("doctor", *arguments, log=False)
    h.check_equal((result.status, result.err), (status, ""),
                  "status and messages; it said:\n" + result.out)
    return result


def attaches(case, pid):
    result = case.calltrap("-c", "-o", case.path("table"), "-x", "nanosleep",
                           "--for", "50ms", "-p", str(pid), log=False)
    return result.status == 0


def see(case, pid, what, wanted, words, works):
    """A check's verdict and words; and doctor's status is what -p then does."""
    result = doctor(case, "-p", str(pid), status=0 if works else 1)
    found, line = verdict(result, what)
    h.check_equal(found, wanted, "verdict: " + line)
    h.check(words in line, "%r isn't in: %s" % (words, line))
    h.check_equal(attaches(case, pid), works, "whether -p works")
    return result


def sleeper(case, *before):
    target = case.start([*before, "sleep", "1000"])
    h.wait_until(lambda: h.read("/proc/%d/comm" % target.pid) == "sleep\n",
                 "the program")
    return target


def victim(case, name, *arguments):
    """A program that says a line when it is ready; that line's last word."""
    target = case.start([h.build(name, name + ".c", "-pthread"), *arguments])
    h.wait_until(lambda: target.out.endswith("\n"), "what it says")
    return target, target.out.split()[-1]


def captive(case, *words):
    """A program with several threads."""
    return case.start([h.build_with_libt(
        "captive", h.build_directory("doctor"), "-pthread"), "2", "1000",
                       *words])


@h.test("without a process, what works here", users=True)
def machine(case):
    result = case.calltrap("doctor", log=False)
    names = [what for _, what, _ in lines_of(result.out)]
    h.check_equal(names, ["kernel", "ptrace", "threads", "traps", "descriptors",
                          "page faults", "pagemap", "pages in use", "debuginfod",
                          "processor clock", "shadow stacks"], "checks")
    h.check(os.uname().release in result.out, result.out)
    vital = [v for v, what, _ in lines_of(result.out)
             if what in ("kernel", "ptrace", "threads", "traps", "descriptors")]
    h.check_equal(result.status, int("no" in vital), "status")


@h.test("a process of one's own; it isn't touched", users=True)
def own(case):
    target = sleeper(case)
    result = doctor(case, "-p", str(target.pid))
    h.check_untouched(target.pid)
    h.check_equal(h.status_field(target.pid, "TracerPid"), "0", "tracer")
    lines = lines_of(result.out)
    first = [what for _, what, _ in lines].index("process")
    h.check_equal([what for v, what, _ in lines[first:] if v == "no"],
                  [] if h.X86 else ["agent"], "what doesn't work on it")
    see(case, target.pid, "permission", "ok", "it may be traced", True)
    see(case, target.pid, "allocator", "ok", "glibc's malloc", True)


@h.test("another user's, as an ordinary user")
def others(case):
    if os.geteuid():
        raise h.Skip("root alone can start programs of others")
    target = sleeper(case)
    case.user = h.ordinary_user("nobody")
    os.chmod(case.dir, 0o777)
    see(case, target.pid, "permission", "no", "another user", False)


@h.test("root without CAP_SYS_PTRACE, and a process that has it")
def incapable(case):
    h.need("setpriv")
    if os.geteuid():
        raise h.Skip("root alone has capabilities to lose")
    if not int(h.status_field(os.getpid(), "CapPrm"), 16) >> 19 & 1:
        raise h.Skip("there is no CAP_SYS_PTRACE to lose")
    target = sleeper(case)
    lose = ["setpriv", "--bounding-set", "-sys_ptrace", h.CALLTRAP]
    result = case.run([*lose, "doctor", "-p", str(target.pid)])
    result.check_status(1)
    found, line = verdict(result, "permission")
    h.check(found == "no" and "capabilities that calltrap hasn't" in line, line)
    h.check_equal(verdict(result, "ptrace")[0], "limited", result.out)
    tracer = case.run([*lose, "-c", "--for", "50ms", "-p", str(target.pid)])
    h.check_equal(tracer.status, 1, "what -p does: " + tracer.err)
    h.check_match(r"needs CAP_SYS_PTRACE.*--cap-add SYS_PTRACE", tracer.err,
                  "what -p says")


@h.test("root without CAP_DAC_OVERRIDE, and another user's process")
def without_override(case):
    h.need("setpriv")
    h.need_another()
    target = sleeper(case, "setpriv", "--reuid", "65534", "--regid", "65534",
                     "--clear-groups")
    lose = ["setpriv", "--bounding-set", "-dac_override", h.CALLTRAP]
    result = case.run([*lose, "doctor", "-p", str(target.pid)])
    result.check_status(1)
    found, line = verdict(result, "permission")
    h.check(found == "no" and "; give calltrap CAP_DAC_OVERRIDE" in line, line)
    tracer = case.run([*lose, "-c", "--for", "50ms", "-p", str(target.pid)])
    h.check_equal(tracer.status, 1, "what -p does: " + tracer.err)


@h.test("one that isn't dumpable", users=True)
def undumpable(case):
    target, _ = victim(case, "undumpable")
    if case.user or os.geteuid():
        see(case, target.pid, "permission", "no", "isn't dumpable", False)
    else:
        see(case, target.pid, "permission", "ok", "may be traced", True)


@h.test("one that is traced by another", users=True)
def traced(case):
    target = sleeper(case)
    tracer, _ = victim(case, "tracer", str(target.pid))
    see(case, target.pid, "permission", "no",
        "by process %d (tracer); end that one" % tracer.pid, False)


@h.test("a zombie, a thread, none at all", users=True)
def absent(case):
    _, pid = victim(case, "zombie")
    see(case, pid, "process", "no", "(it is a zombie)", False)
    gone = case.start(["true"])
    gone.wait()
    see(case, gone.pid, "process", "no", "there is no process", False)
    target = captive(case)
    tasks = "/proc/%d/task" % target.pid
    h.wait_until(lambda: len(os.listdir(tasks)) > 1, "its threads")
    thread = max(map(int, os.listdir(tasks)))
    see(case, thread, "process", "no", "a thread of process %d" % target.pid,
        False)


@h.test("one whose first thread has ended", users=True)
def without_leader(case):
    target = captive(case, "leader")
    h.wait_until(lambda: h.status_field(target.pid, "State", "").startswith(
        "Z"), "the end of its leader")
    result = see(case, target.pid, "permission", "ok", "may be traced", True)
    h.check_equal(verdict(result, "allocator")[0], "ok", result.out)


SECCOMP = """\
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
\tchar byte;
\tputs("ready");
\tfflush(stdout);
\treturn prctl(PR_SET_SECCOMP, 1) || read(0, &byte, 1) < 0;
}
"""


@h.test("one in seccomp: only the agent stays outside", users=True)
def seccomp(case):
    target = case.start([h.build("strict", case.write("strict.c", SECCOMP),
                                 directory=case.dir)])
    h.wait_until(lambda: h.status_field(target.pid, "Seccomp") == "1",
                 "seccomp")
    see(case, target.pid, "agent", "no",
        ("seccomp (strict)" if h.X86 else "there is none for this processor") +
        "; traps work, and take its place", True)


@h.test("a memory cgroup with room, with little, with none")
def limits(case):
    target = sleeper(case)
    for kib, wanted, words, works in ((65536, "ok", "KiB are left", True),
                                      (1800, "limited", "few functions", True),
                                      (1024, "no", "raise the limit", False)):
        with h.MemoryLimit(kib << 10) as group:
            group.take(target.pid)
            see(case, target.pid, "memory limit", wanted, words, works)
            h.check(group.path in doctor(case, "-p", str(target.pid),
                                         status=0 if works else 1).out,
                    "the group's path")
        # It has ended with its group.
        target = sleeper(case)


# As runtimes have it: a container sees its own group alone, as if that were all.
SEES = ('mount --make-rprivate / && mount --bind "$0" %s && exec "$@"' %
        h.MemoryLimit.PLACE)
ENTERS = 'echo $$ >"$0/cgroup.procs" && exec "$@"'


def seeing(group, *namespaces):
    return ["unshare", "--mount", *namespaces, "sh", "-c", SEES, group.path]


def limit_seen(case, pid, group, *namespaces):
    """What doctor says from a container with that group."""
    result = case.run(["sh", "-c", ENTERS, group.path,
                       *seeing(group, *namespaces), h.CALLTRAP, "doctor", "-p",
                       str(pid)])
    if "unshare:" in result.err or "mount:" in result.err:
        raise h.Skip("no namespaces here: " + result.err)
    return verdict(result, "memory limit")


def check_left(seen, least, most):
    match = re.search(r"limit: (\d+) KiB are left", seen[1])
    h.check(match and least < int(match[1]) <= most, "%d to %d KiB: %s" %
            (least, most, seen[1]))


@h.test("whose memory cgroup it is, from the host and from other containers")
def others_limits(case):
    if os.geteuid():
        raise h.Skip("unshare needs root")
    with h.MemoryLimit(64 << 20, "-theirs") as theirs, \
            h.MemoryLimit(40 << 20, "-ours") as ours:
        target = sleeper(case, *seeing(theirs))
        plain = sleeper(case)
        own = sleeper(case)
        for group, process in ((theirs, target), (theirs, plain), (ours, own)):
            group.take(process.pid)
        for pid in target.pid, plain.pid:
            check_left(verdict(doctor(case, "-p", str(pid)), "memory limit"),
                       40 << 10, 64 << 10)
        for namespaces in (), ("--cgroup",):
            check_left(limit_seen(case, target.pid, ours, *namespaces),
                       40 << 10, 64 << 10)
            check_left(limit_seen(case, own.pid, ours, *namespaces),
                       1, 40 << 10)
        # The host's own view of the tree is the process's here.
        check_left(limit_seen(case, plain.pid, ours), 40 << 10, 64 << 10)
        # One that sees no more than we do.
        blind = sleeper(case, *seeing(ours))
        theirs.take(blind.pid)
        seen = limit_seen(case, blind.pid, ours, "--cgroup")
        h.check_equal(seen[0], "limited", "what can't be seen: " + seen[1])


@h.test("namespaces of its own")
def namespaces(case):
    h.need("unshare")
    if os.geteuid():
        raise h.Skip("unshare needs root")
    target = sleeper(case, "unshare", "-n")
    see(case, target.pid, "namespaces", "ok", "its own: net", True)


@h.test("debug information of each module, by build-id", users=True)
def debug(case):
    h.need("readelf")
    for flag, wanted in (("-g", "ok"), ("-s", "limited")):
        program = h.build("waits" + flag, case.write(
            "waits.c", "#include <unistd.h>\nint main(void)\n"
                       "{ return sleep(1000); }\n"),
            flag, "-Wl,--build-id", directory=case.dir)
        target = case.start([program])
        h.wait_until(lambda: "libc.so" in h.read("/proc/%d/maps" % target.pid)
                     and h.states(target.pid) == {"S"}, "the program")
        result = doctor(case, "-p", str(target.pid))
        _, notes = h.command_output(["readelf", "-n", program])
        found = [(v, line) for v, what, line in lines_of(result.out)
                 if what == "debug information" and program in line]
        h.check_equal(len(found), 1, "lines of the program")
        h.check_equal(found[0][0], wanted, found[0][1])
        h.check(re.search(r"Build ID: (\w+)", notes)[1] in found[0][1],
                found[0][1])


@h.test("--json says the same", users=True)
def as_json(case):
    target = sleeper(case)
    gone = case.start(["true"])
    gone.wait()
    pids = ["-p", "%d,%d" % (target.pid, gone.pid)]
    said = json.loads(doctor(case, "--json", *pids, status=1).out)
    text = lines_of(doctor(case, *pids, status=1).out)
    h.check_equal([(c["verdict"], c["what"]) for c in said["machine"] + [
        c for process in said["processes"] for c in process["checks"]]],
        [(v, what) for v, what, _ in text], "checks")
    h.check_equal([(p["pid"], p["name"], p["works"])
                   for p in said["processes"]],
                  [(target.pid, "sleep", True), (gone.pid, "", False)],
                  "processes")
    h.check_equal(said["works"], False, "works")


@h.test("what a program calls itself reaches no terminal")
def hostile(case):
    path = case.path("a\033[2Jb")
    os.symlink("/bin/sleep", path)
    target = case.start([path, "1000"])
    h.wait_until(lambda: "\033" in h.read("/proc/%d/comm" % target.pid),
                 "the program")
    result = doctor(case, "-p", str(target.pid))
    h.check("\033" not in result.out and "a?[2Jb" in result.out, result.out)


if __name__ == "__main__":
    sys.exit(h.main())
