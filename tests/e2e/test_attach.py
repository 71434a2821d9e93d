#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Attach to running programs and leave them as they were."""

import os
import re
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

PROTOTYPES = "long f1(long);\nlong f2(long);\n"
SHIFT = 1 << 40


def program(name="target", directory=None):
    return h.build_with_libt(name, directory or h.build_directory("attach"))


def start(case, threads=1, pause=0, path=None):
    target = case.start([path or program(), str(threads), str(pause)])
    h.wait_until(lambda: "ready" in target.out or
                 target.popen.poll() is not None, "the target")
    return target


def where(target):
    """How far the target's first thread is, by its own word."""
    count = target.out.count("at ")
    target.say("a")
    h.wait_until(lambda: target.out.count("at ") > count and
                 target.out.endswith("\n"), "the target's answer")
    return int(target.out.split("at ")[-1].split()[0])


def leave(tracer, number=signal.SIGINT):
    tracer.popen.send_signal(number)
    status = tracer.wait()
    h.check_equal(status, 0, "status of calltrap; " + tracer.err)
    return h.Log(h.read(tracer.log_path))


def attach(case, *targets, ways=("-L", "-x", "f1"), calls=200):
    """Attaches, and waits until so many calls are in the log."""
    prototypes = case.write("t.conf", PROTOTYPES)
    pids = [word for target in targets for word in ("-p", str(target.pid))]
    tracer = case.start_calltrap("-F", prototypes, *ways, *pids)

    def seen():
        return (tracer.popen.poll() is not None or
                h.read(tracer.log_path).count("\n") > calls)
    h.wait_until(seen, "%d calls in the log" % calls)
    h.check_equal(tracer.popen.poll(), None,
                  "calltrap's end; it said: " + tracer.err)
    return tracer


def check_sequences(log, name="f1"):
    """Each thread's numbers without a gap; the threads that were seen."""
    ranges = {}
    for call in log.named(name):
        h.check(call.values(), "no argument in: " + call.text)
        thread, i = divmod(call.values()[0], SHIFT)
        first, last = ranges.get(thread, (i, i - 1))
        h.check_equal(i, last + 1, "thread %d's next call in: %s" %
                      (thread, call.text))
        ranges[thread] = first, i
        h.check(call.result is None or
                int(call.result, 0) == call.values()[0] + 1,
                "wrong result: " + call.text)
    return ranges


def goes_on(target):
    """It isn't traced, its code is its own, it still calls."""
    h.check_equal(target.popen.poll(), None, "the target's end")
    h.check_untouched(target.pid)
    before = where(target)
    h.wait_until(lambda: where(target) > before, "further calls")


def finish(target):
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")


WAYS = {"call sites": ("-e", "f1@MAIN"), "entries": ("-L", "-x", "f1")}


def register(way, threads, pause, users):
    @h.test("%d threads, pauses of %d us, %s" % (threads, pause, way),
            users=users)
    def run(case):
        target = start(case, threads, pause)
        before = where(target)
        tracer = attach(case, target, ways=WAYS[way])
        h.wait_until(lambda: len({call.values()[0] // SHIFT for call in
                                  h.Log(h.read(tracer.log_path)).calls[:-1]
                                  if call.values()}) == threads,
                     "calls of every thread")
        log = leave(tracer)
        after = where(target)
        ranges = check_sequences(log)
        h.check_equal(sorted(ranges), list(range(threads)), "threads")
        first, last = ranges[0]
        h.check(before <= first and last <= after,
                "numbers %d to %d, between %d and %d" % (first, last, before,
                                                         after))
        goes_on(target)
        finish(target)


for each_way in WAYS:
    for each_threads, each_pause in ((1, 0), (1, 1000), (8, 1000), (8, 0)):
        register(each_way, each_threads, each_pause,
                 (each_threads, each_pause) == (8, 0))


@h.test("20 times on 8 busy threads", users=True)
def rounds(case):
    target = start(case, 8, 0)
    for i in range(20):
        tracer = attach(case, target, ways=list(WAYS.values())[i % 2],
                        calls=20 * (i % 5))
        time.sleep(0.01 * (i % 3))
        log = leave(tracer, (signal.SIGINT, signal.SIGTERM,
                             signal.SIGHUP, signal.SIGQUIT)[i % 4])
        check_sequences(log)
        h.check_equal(target.popen.poll(), None, "the target's end in round "
                      "%d" % i)
        h.check_untouched(target.pid)
    goes_on(target)
    finish(target)


@h.test("several targets")
def several(case):
    targets = [start(case, 2, 500) for _ in range(3)]
    tracer = attach(case, *targets, calls=1000)
    h.wait_until(lambda: len({call.pid for call in h.Log(h.read(
        tracer.log_path)).calls}) >= 6, "calls of all")
    log = leave(tracer)
    by_task = {}
    for call in log.calls:
        by_task.setdefault(call.pid, []).append(call.values()[0] % SHIFT)
    h.check(None not in by_task, "lines without pid")
    for pid, numbers in by_task.items():
        h.check_equal(numbers, list(range(numbers[0], numbers[0] +
                                          len(numbers))), "task %d" % pid)
    for target in targets:
        goes_on(target)
        finish(target)


@h.test("the attach meets a thread that sleeps in the traced call's caller")
def sleeping(case):
    target = start(case, 3, 100000)
    tracer = attach(case, target, calls=6)
    check_sequences(leave(tracer))
    goes_on(target)
    finish(target)


@h.test("threads that wait in system calls don't notice")
def waits(case):
    target = case.start([program("waits")])
    h.wait_until(lambda: "ready" in target.out, "the target")
    for _ in range(3):
        result = case.calltrap("-L", "-x", "nanosleep+read", "--for", "400ms",
                               "-p", str(target.pid))
        result.check_status(0)
        h.check_untouched(target.pid)
    target.say("q")
    status = target.wait()
    h.check_equal(target.out, "ready\n", "what the target said")
    h.check_equal(status, 7, "status of the target")


def state(pid):
    return h.status_field(pid, "State", "?")[:1]


@h.test("a stopped target stays stopped")
def stopped(case):
    target = start(case, 3, 100)
    target.popen.send_signal(signal.SIGSTOP)
    h.wait_until(lambda: state(target.pid) == "T", "the stop")
    result = case.calltrap("-L", "-x", "f1", "--for", "500ms", "-p",
                           str(target.pid))
    h.check(result.status in (0, 1), "status %d; %s" % (result.status,
                                                        result.err))
    h.check_equal(result.log.count("f1"), 0, "calls of a stopped program")
    h.check_untouched(target.pid)
    h.wait_until(lambda: state(target.pid) == "T", "the stopped state again")
    target.popen.send_signal(signal.SIGCONT)
    goes_on(target)
    finish(target)


@h.test("SIGSTOP and SIGCONT while traced")
def stop_and_continue(case):
    target = start(case, 3, 100)
    tracer = attach(case, target)
    for _ in range(3):
        target.popen.send_signal(signal.SIGSTOP)
        h.wait_until(lambda: h.states(target.pid) <= set("Tt"), "the stop")
        h.rest(tracer.pid)
        lines = h.read(tracer.log_path).count(" = ")
        time.sleep(0.2)
        h.check_equal(h.read(tracer.log_path).count(" = "), lines,
                      "results while the program is stopped")
        target.popen.send_signal(signal.SIGCONT)
        h.wait_until(lambda: h.read(tracer.log_path).count(" = ") > lines +
                     10, "calls after SIGCONT")
    check_sequences(leave(tracer))
    goes_on(target)
    finish(target)


@h.test("the target is killed while traced: status 0")
def killed(case):
    target = start(case, 4, 0)
    tracer = attach(case, target)
    target.popen.kill()
    target.popen.wait(h.PATIENCE)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    h.check_match(r"\+\+\+ killed by SIGKILL \+\+\+",
                  h.read(tracer.log_path), "log")


@h.test("several targets, one ends")
def one_ends(case):
    targets = [start(case, 1, 500) for _ in range(2)]
    tracer = attach(case, *targets)
    finish(targets[0])
    lines = h.read(tracer.log_path).count("\n")
    h.wait_until(lambda: h.read(tracer.log_path).count("\n") > lines + 50 or
                 tracer.popen.poll() is not None, "calls of the other")
    log = leave(tracer)
    h.check_match(r"^%d \+\+\+ exited \(status 7\) \+\+\+$" % targets[0].pid,
                  log.text, "log")
    goes_on(targets[1])
    finish(targets[1])


def private_copy(case):
    """A program of the test's own, to delete or to replace."""
    source = os.path.dirname(program())
    directory = case.path("copy")
    os.mkdir(directory)
    if case.user:
        os.chown(directory, case.user.pw_uid, case.user.pw_gid)
    for name in ("target", "libt.so"):
        shutil.copy(os.path.join(source, name), directory)
    return os.path.join(directory, "target")


def check_vanished(case, change):
    path = private_copy(case)
    target = start(case, 2, 200, path)
    for name in (path, os.path.join(os.path.dirname(path), "libt.so")):
        change(name)
    for way in WAYS.values():
        log = leave(attach(case, target, ways=way))
        check_sequences(log)
        h.check_equal(h.tracer_of(target.pid), 0, "tracer of the target")
    before = where(target)
    h.wait_until(lambda: where(target) > before, "further calls")
    finish(target)


@h.test("program and library were deleted", users=True)
def deleted(case):
    check_vanished(case, os.unlink)


@h.test("program and library were replaced by others", users=True)
def replaced(case):
    def change(path):
        os.unlink(path)
        with open(path, "wb") as file:
            file.write(b"\x7fELF no more" * 1000)
    check_vanished(case, change)


@h.test("relative path, changed directory, another root's view")
def moved(case):
    path = private_copy(case)
    target = start(case, 1, 200, path)
    os.rename(os.path.dirname(path), case.path("elsewhere"))
    check_sequences(leave(attach(case, target)))
    finish(target)


@h.test("a command and a target together")
def with_command(case):
    target = start(case, 2, 500)
    tracer = case.start_calltrap("-L", "-x", "f1", "-p", str(target.pid),
                                 program(), "1", "500")
    h.wait_until(lambda: len({call.pid for call in h.Log(h.read(
        tracer.log_path)).calls}) >= 3 or tracer.popen.poll() is not None,
        "calls of both")
    tracer.say("q")
    tracer.popen.stdin.close()
    log = tracer.log_path
    h.wait_until(lambda: "exited (status 7)" in h.read(log),
                 "the end of the command")
    lines = h.read(log).count("\n")
    h.wait_until(lambda: h.read(log).count("\n") > lines + 20 or
                 tracer.popen.poll() is not None, "calls of the target")
    tracer.popen.send_signal(signal.SIGTERM)
    status = tracer.wait()
    h.check(status in (0, 7), "status of calltrap: %d" % status)
    goes_on(target)
    finish(target)


@h.test("results that nobody reads: the target is let go of before",
        users=True)
def unread_results(case):
    h.need("sleep")
    target = case.start(["sleep", "1000"])
    h.wait_until(lambda: state(target.pid) == "S" and "nanosleep" in
                 h.read("/proc/%d/wchan" % target.pid), "its system call")
    reader, writer = os.pipe()
    try:
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b"x" * 4096)
        except BlockingIOError:
            os.set_blocking(writer, True)
        tracer = case.start(["sh", "-c", 'exec "$@" 2>&%d' % writer, "sh",
                             h.CALLTRAP, "-c", "-e", "getppid", "--for",
                             "400ms", "-p", str(target.pid)],
                            pass_fds=[writer])
        h.wait_until(lambda: h.tracer_of(target.pid), "the tracing")
        h.wait_until(lambda: not h.tracer_of(target.pid), "its end", 20)
        h.check_equal(tracer.popen.poll(), None, "calltrap's end")
        h.check_untouched(target.pid)
    finally:
        os.close(reader)
        os.close(writer)
    tracer.wait()


@h.test("calltrap is killed: a started program ends with it")
def tracer_killed(case):
    tracer = case.start_calltrap("-L", "-x", "f1", program(), "1", "1000")
    h.wait_until(lambda: "f1" in h.read(tracer.log_path) or
                 tracer.popen.poll() is not None, "calls")
    children = h.children_of(tracer.pid)
    h.check(children, "no child of %d" % tracer.pid)
    tracer.popen.kill()
    tracer.popen.wait(h.PATIENCE)
    for pid in children:
        h.wait_until(lambda: not os.path.exists("/proc/%d" % pid) or
                     state(pid) in "ZX", "the end of the program")


def kept_to_one(target):
    """Whether the thread that traces keeps to one processor."""
    thread = int(h.status_field(target.pid, "TracerPid", "0"))
    return thread and h.status_field(thread, "Cpus_allowed_list",
                                     "-").isdigit()


def followed(case, policy):
    if len(os.sched_getaffinity(0)) < 2:
        raise h.Skip("there is one processor only")
    directory = h.build_directory("harm")
    h.build_library("libt.so", "libt.c", directory=directory)
    target = case.start([h.build("realtime", "realtime.c", "-O1",
                                 *h.near(directory), "-lt", "-lpthread",
                                 directory=directory), policy])
    h.wait_until(lambda: "ready" in target.out or
                 target.popen.poll() is not None, "the target")
    if target.popen.poll() == 77:
        raise h.Skip("no real-time threads for this user")
    tracer = case.start_calltrap("-L", "-x", "f1+f2", "-p", str(target.pid))
    found = []
    while h.read(tracer.log_path).count("f1") < 20000:
        found.append(kept_to_one(target))
        h.check_equal(tracer.popen.poll(), None, "calltrap's end")
        time.sleep(0.05)
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")
    return any(found)


@h.test("the processor of a busy thread is kept to, but not of a real-time one")
def realtime(case):
    h.check(followed(case, "other"), "no busy thread was followed")
    h.check(not followed(case, "fifo"), "a real-time thread was followed")


@h.test("-f: children that an attached target makes")
def children(case):
    directory = h.build_directory("attach")
    h.build_library("libflow.so", "libflow.c", directory=directory)
    path = h.build("forker", "forker.c", "-O1", *h.near(directory), "-lt",
                   directory=directory)
    for follow in (True, False):
        target = case.start([path])
        h.wait_until(lambda: "ready" in target.out, "the target")
        options = ["-f"] if follow else []
        tracer = case.start_calltrap(*options, "-L", "-x", "f1+f2", "-p",
                                     str(target.pid))
        h.wait_until(lambda: "f1" in h.read(tracer.log_path) or
                     tracer.popen.poll() is not None, "calls")
        target.say("g")
        h.wait_until(lambda: "done" in target.out, "the children")
        log = leave(tracer)
        h.check_equal(log.count("f2"), 50 if follow else 0,
                      "calls of children, %s" % options)
        h.check_untouched(target.pid)
        target.say("q")
        h.check_equal(target.wait(), 7, "status of the target")


@h.test("SIGINT before there is anything to be seen of calltrap")
def early_interrupt(case):
    h.need("strace")
    target = case.start(["sleep", "1000"])
    result = case.run(
        ["strace", "-qq", "-o", "/dev/null", "-e",
         "inject=clone,fork,vfork:signal=SIGINT:when=1", h.CALLTRAP, "-o",
         case.path("log"), "-p", str(target.pid)])
    h.check_equal(result.status, 0, "status; " + result.err)
    h.check_untouched(target.pid)


def untraced_program(flags):
    directory = h.build_directory("untraced" + "".join(flags))
    h.build_library("libt.so", "libt.c", *flags, directory=directory)
    return h.build("untraced", "untraced.c", *flags, "-O1",
                   *h.near(directory), "-lt", directory=directory)


def call_until_traced(target, tracer):
    """Returns how often it was told to."""
    sent = 0

    def is_traced():
        nonlocal sent
        target.say("x")
        sent += 1
        return ("f2@" in h.read(tracer.log_path) or
                tracer.popen.poll() is not None)
    h.wait_until(is_traced, "calls")
    return sent


def interrupt_early(case, targets):
    """Whether it left before it had attached to all."""
    argv = [word for target in targets for word in ("-p", str(target.pid))]
    tracer = case.start_calltrap(*argv)
    h.wait_until(lambda: h.tracer_of(targets[0].pid) or
                 tracer.popen.poll() is not None, "the first attach")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    for target in targets:
        h.check_untouched(target.pid)
    return "processes were not attached to" in tracer.err


@h.test("SIGINT while it attaches to many is heard before the last one")
def interrupted(case):
    targets = [case.start(["sleep", "1000"]) for _ in range(40)]
    # It may be the faster one, when this here gets no processor.
    h.check(any(interrupt_early(case, targets) for _ in range(20)),
            "it has always attached to all of them first")


@h.test("children that their parent wants to be untraced", users=True)
def untraced_children(case):
    for flags in h.WIDTHS:
        for follow in (False, True):
            target = case.start([untraced_program(flags)])
            h.wait_until(lambda: "ready" in target.out, "the target")
            tracer = case.start_calltrap(*(["-f"] if follow else []), "-L",
                                         "-x", "f2", "-p", str(target.pid))
            sent = call_until_traced(target, tracer)
            h.wait_until(lambda: target.out.count("done") == sent,
                         "what was asked of it")
            target.say("cs")
            h.wait_until(lambda: target.out.count("status") == 2 or
                         not os.path.exists("/proc/%d" % target.pid),
                         "the children")
            leave(tracer)
            h.check_untouched(target.pid)
            target.say("q")
            h.check_equal(target.wait(), 7, "status of the target, %s, %s"
                          % (flags, target.out))
            callers = re.findall(r"^(\d+) f2@", h.read(tracer.log_path), re.M)
            calls = len(callers) - callers.count(str(target.pid))
            h.check_equal(calls, 20 if follow else 0,
                          "calls of children, %s" % flags)


if __name__ == "__main__":
    sys.exit(h.main())
