#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A target can't tell that it is traced: waits are neither interrupted nor cut
short, job control works as without, and targets in all kinds of plights are
traced exactly and go on unharmed."""

import os
import pwd
import re
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

SHIFT = 1 << 40
F1 = ("-L", "-x", "f1")


def program(name):
    return h.build_with_libt(name, h.build_directory("invisible"))


# ---------------------------------------------------------------- waits

def waits_in(text):
    """name: (waits, interrupted, early, other, error)"""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 11 and words[1] == "waits":
            found[words[0]] = tuple(int(word) for word in words[2::2])
    return found


def attach_often(case, pid, duration, end, ways):
    """For that long; a slow machine does two rounds all the same."""
    rounds = calls = 0
    last = time.monotonic() + h.PATIENCE
    while time.monotonic() < end or (rounds < 2 or calls < 6) and (
            time.monotonic() < last):
        result = case.calltrap(*ways, "--for", duration, "-p", str(pid))
        result.check_status(0)
        calls += result.log_text.count("f1@libt.so(")
        rounds += 1
    return rounds, calls


def check_waits(case, period, seconds, duration, ways=F1):
    target = case.start([program("waiters"), str(period), "600"])
    h.wait_until(lambda: "ready" in target.out, "the target")
    begin = time.monotonic()
    rounds, calls = attach_often(case, target.pid, duration,
                                 begin + seconds - 0.5, ways)
    h.check_equal(target.popen.poll(), None, "the target's end")
    h.check_untouched(target.pid)
    target.say("over\n")
    h.check_equal(target.wait(), 7, "status of the target")
    waits = waits_in(target.out)
    h.check(len(waits) > 20, "no account of waits:\n" + target.out)
    h.check(calls > 5 and rounds > 1, "%d calls in %d rounds" % (calls, rounds))
    print("# %d rounds, %d calls logged, %d waits of %d kinds" %
          (rounds, calls, sum(counts[0] for counts in waits.values()),
           len(waits)))
    return waits


# What begins again after no stop (signal(7)). On arm64 nobody can tell what
# these were asked with, so that they end with EINTR (BUGS in the manual).
ENDED = () if h.X86 else (
    "accept", "epoll_pwait2", "epoll_wait", "epoll_wait-forever", "recv",
    "recvmsg", "semop", "semtimedop", "sigtimedwait")


# Their time is counted in ticks of 4 ms there (CONFIG_HZ=250), which come late in
# an emulated machine: where two come at once, a wait is a tick too short. Without
# calltrap 3 of 4,015 were.
IN_TICKS = () if h.X86 else ("accept", "recv", "recvmsg")


def check_unseen(waits, shorter_than_ticks=False):
    seen = {name: counts for name, counts in waits.items()
            if counts[1] and name not in ENDED or counts[3] or
            counts[2] and not (shorter_than_ticks and name in IN_TICKS)}
    h.check_equal(seen, {}, "waits that saw something (waits, interrupted, "
                  "early, ended otherwise, error)")


@h.test("threads that wait, without calltrap: nothing happens to them")
def waits_alone(case):
    target = case.start([program("waiters"), "300", "1"])
    h.check_equal(target.wait(), 7, "status of the target")
    waits = waits_in(target.out)
    check_unseen(waits)
    idle = [name for name, counts in waits.items()
            if counts[0] < 2 and counts[0]]
    h.check_equal(idle, [], "waits that don't end in time")
    h.check(sum(1 for counts in waits.values() if counts[0]) > 12,
            "waits that ended")


@h.test("long waits see neither attach nor trace nor detach", users=True)
def long_waits(case):
    check_unseen(check_waits(case, 1200, 4, "400ms"))


@h.test("waits over many attaches and detaches")
def many_attaches(case):
    check_unseen(check_waits(case, 700, 4, "20ms"))


@h.test("short waits over many attaches and detaches")
def short_waits(case):
    check_unseen(check_waits(case, 2, 6, "10ms"), True)


@h.test("long waits with system calls traced", users=True)
def long_waits_seen(case):
    check_unseen(check_waits(case, 700, 4, "20ms", ("-S", *F1)))


@h.test("short waits with system calls traced")
def short_waits_seen(case):
    check_unseen(check_waits(case, 2, 6, "10ms", ("-S", *F1)), True)


@h.test("long waits of a program that calltrap has started, and leaves")
def started(case):
    tracer = case.start_calltrap(*F1, "--for", "700ms", program("waiters"),
                                 "1500", "2")
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    h.wait_until(lambda: "pause waits" in tracer.out, "the program's end")
    waits = waits_in(tracer.out)
    h.check(len(waits) > 20, "no account of waits:\n" + tracer.out)
    check_unseen(waits)


# ---------------------------------------------------------------- captives

def start(case, threads, pause, *words, path=None, argv=None):
    argv = argv or [path or program("captive")]
    target = case.start([*argv, str(threads), str(pause), *words])
    h.wait_until(lambda: "ready" in target.out or
                 target.popen.poll() is not None, "the target")
    h.check_equal(target.popen.poll(), None, "the target's end; it said: " +
                  target.out + target.err)
    return target


def ask(target, letter="a"):
    """Thread 0's number, by its own word."""
    count = target.out.count("at ")
    target.say(letter)
    h.wait_until(lambda: target.out.count("at ") > count and
                 target.out.endswith("\n") or
                 target.popen.poll() is not None, "the target's answer")
    h.check_equal(target.popen.poll(), None, "the target's end; it said: " +
                  target.out + target.err)
    return int(target.out.split("at ")[-1].split()[0])


def attach(case, pid, calls=200, ways=F1):
    prototypes = case.write("t.conf", "long f1(long);\n")
    tracer = case.start_calltrap("-F", prototypes, *ways, "-p", str(pid))
    wait_for_calls(tracer, calls)
    return tracer


def lines_of(tracer):
    return h.read(tracer.log_path).count("\n")


def wait_for_calls(tracer, calls):
    h.wait_until(lambda: tracer.popen.poll() is not None or
                 lines_of(tracer) >= calls, "%d calls in the log" % calls)
    h.check_equal(tracer.popen.poll(), None, "calltrap's end; it said: " +
                  tracer.err)


def threads_in(text):
    found = re.findall(r"\bf1(?:@libt\.so)?\((0x[0-9a-f]+|\d+)", text)
    return {int(number, 0) // SHIFT for number in found}


def wait_for_threads(tracer, threads):
    """A busy one may keep the others waiting for long."""
    h.wait_until(lambda: tracer.popen.poll() is not None or len(
        threads_in(h.read(tracer.log_path))) == threads, "calls of all")


def leave(tracer, number=signal.SIGINT):
    tracer.popen.send_signal(number)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    tracer_log = h.Log(h.read(tracer.log_path))
    messages = [line for line in tracer.err.splitlines()
                if line.startswith("calltrap: ")]
    h.check_equal(h.but_cost(messages), [], "calltrap's messages")
    return tracer_log


def check_exact(log, threads, first, last):
    """Every call of every thread, in its order, with its result."""
    ranges = {}
    for call in log.named("f1"):
        h.check(call.values(), "no argument in: " + call.text)
        thread, i = divmod(call.values()[0], SHIFT)
        begin, end = ranges.get(thread, (i, i - 1))
        h.check_equal(i, end + 1, "thread %d's next call in: %s" %
                      (thread, call.text))
        ranges[thread] = begin, i
        h.check(call.result is None or
                int(call.result, 0) == call.values()[0] + 1,
                "wrong result: " + call.text)
    h.check_equal(sorted(ranges), list(range(threads)), "threads in the log")
    h.check(first <= ranges[0][0] and ranges[0][1] <= last,
            "thread 0 logged from %d to %d, but it was at %d and %d" %
            (*ranges[0], first, last))


def check_goes_on(target, pid):
    h.check_equal(h.tracer_of(pid), 0, "tracer of the target")
    before = ask(target)
    h.wait_until(lambda: ask(target) > before, "further calls")


def finish(target):
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")


def trace_captive(case, target, threads=2, pid=None, code=None, rounds=3):
    """Attached to, traced, left; then again, another way to leave."""
    pid = pid or target.pid
    for i in range(rounds):
        before = ask(target)
        tracer = attach(case, pid, ways=(F1, ("-e", "f1@MAIN"))[i % 2])
        wait_for_threads(tracer, threads)
        log = leave(tracer, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[i])
        check_exact(log, threads, before, ask(target))
        check_goes_on(target, pid)
        h.check_equal((code or h.code_differences)(pid), [],
                      "bytes left behind")


@h.test("may gain no privileges", users=True)
def no_new_privileges(case):
    target = start(case, 2, 200, "nnp")
    trace_captive(case, target)
    finish(target)


@h.test("a filter kills it for all but a few system calls", users=True)
def filtered(case):
    target = start(case, 2, 200, "filter")
    h.check_equal(h.status_field(target.pid, "Seccomp"), "2", "the filter")
    trace_captive(case, target)
    finish(target)


@h.test("a filter kills it for other system calls than those that are traced",
        users=True)
def filtered_traced(case):
    """Each thread is stopped in its wait; restart_syscall is none of its own."""
    target = start(case, 2, 200, "filter")
    for _ in range(3):
        tracer = attach(case, target.pid, ways=("-S",) + tuple(F1))
        wait_for_threads(tracer, 2)
        leave(tracer)
        check_goes_on(target, target.pid)
    finish(target)


@h.test("a busy target with a filter", users=True)
def filtered_busy(case):
    target = start(case, 4, 0, "filter")
    trace_captive(case, target, 4)
    finish(target)


def live_code(pid):
    """Through a thread that lives: /proc/PID/maps of a dead one is empty."""
    tids = [int(tid) for tid in os.listdir("/proc/%d/task" % pid)
            if int(tid) != pid]
    return h.code_differences(tids[0])


@h.test("its first thread ends while traced", users=True)
def leader_ends(case):
    target = start(case, 2, 200, "late")
    before = ask(target)
    tracer = attach(case, target.pid)
    ask(target, "l")
    h.wait_until(lambda: h.status_field(target.pid, "State")[0] == "Z",
                 "the end of its first thread")
    wait_for_calls(tracer, lines_of(tracer) + 200)
    wait_for_threads(tracer, 2)
    log = leave(tracer)
    check_exact(log, 2, before, ask(target))
    before = ask(target)
    h.wait_until(lambda: ask(target) > before, "further calls")
    h.check_equal(live_code(target.pid), [], "bytes left behind")
    finish(target)


# ---------------------------------------------------------------- files

def private_copy(case):
    """A program of the test's own, and copies of its files to compare with."""
    source = os.path.dirname(program("captive"))
    for directory in ("copy", "kept"):
        os.mkdir(case.path(directory))
        if case.user:
            os.chown(case.path(directory), case.user.pw_uid, case.user.pw_gid)
        for name in ("captive", "libt.so"):
            shutil.copy(os.path.join(source, name), case.path(directory))
    return case.path("copy/captive")


def kept_code(case):
    """code_differences() for files that are found under another name."""
    def differences(pid):
        found = []
        for line in h.read("/proc/%d/maps" % pid).splitlines():
            words = line.split(None, 5)
            if "x" not in words[1] or len(words) < 6 or words[5][0] != "/":
                continue
            path = words[5].replace(" (deleted)", "")
            kept = case.path("kept/" + os.path.basename(path))
            path = kept if os.path.exists(kept) else path
            start, end = (int(word, 16) for word in words[0].split("-"))
            with open("/proc/%d/mem" % pid, "rb", buffering=0) as mem:
                memory = os.pread(mem.fileno(), end - start, start)
            with open(path, "rb") as file:
                file.seek(int(words[2], 16))
                data = file.read(end - start).ljust(end - start, b"\0")
            found += ["%s+%#x: %02x for %02x" % (path, i, memory[i], data[i])
                      for i in range(len(data)) if memory[i] != data[i]][:20]
        return found
    return differences


def register_files(what, names, change):
    @h.test(what, users=True)
    def run(case):
        path = private_copy(case)
        target = start(case, 2, 200, path=path)
        for name in names:
            change(os.path.join(os.path.dirname(path), name))
        trace_captive(case, target, code=kept_code(case))
        finish(target)


def replace(path):
    """As package managers do it: by renaming a new file over the old."""
    new = path + ".new"
    shutil.copy(shutil.which("true"), new)
    os.rename(new, path)


register_files("the program was deleted", ["captive"], os.unlink)
register_files("the program was replaced", ["captive"], replace)
register_files("the library was deleted", ["libt.so"], os.unlink)
register_files("the library was replaced", ["libt.so"], replace)
register_files("program and library were replaced", ["captive", "libt.so"],
               replace)

# ---------------------------------------------------------------- containers

UNSHARE = ["unshare", "--user", "--map-root-user", "--mount", "--pid",
           "--fork", "--kill-child"]


def need_namespaces(case):
    h.need("unshare")
    done = case.run(UNSHARE + ["true"])
    if done.status:
        raise h.Skip("no namespaces: " + done.err)


@h.test("in a container: other mounts, other process ids, another user",
        users=True)
def container(case):
    need_namespaces(case)
    source = os.path.dirname(program("captive"))
    inside = case.path("inside")
    os.mkdir(inside)
    os.chmod(inside, 0o777)
    # Only the container sees the files: nobody else has them at that path.
    script = ("mount -t tmpfs none %s && cp %s/captive %s/libt.so %s && "
              "cd / && exec %s/captive \"$@\"" % (inside, source, source,
                                                  inside, inside))
    target = start(case, 2, 200,
                   argv=UNSHARE + ["sh", "-c", script, "captive"])
    h.check_equal(os.listdir(inside), [], "files seen from outside")
    pid = h.children_of(target.pid)[0]
    h.check(h.status_field(pid, "NSpid").endswith("\t1"), "NSpid: %s" %
            h.status_field(pid, "NSpid"))

    trace_captive(case, target, pid=pid, code=contained_code)
    finish(target)


def contained_code(pid):
    found = []
    for line in h.read("/proc/%d/maps" % pid).splitlines():
        words = line.split(None, 5)
        if "x" not in words[1] or len(words) < 6 or words[5][0] != "/":
            continue
        start, end = (int(word, 16) for word in words[0].split("-"))
        with open("/proc/%d/mem" % pid, "rb", buffering=0) as mem:
            memory = os.pread(mem.fileno(), end - start, start)
        with open("/proc/%d/root%s" % (pid, words[5]), "rb") as file:
            file.seek(int(words[2], 16))
            data = file.read(end - start).ljust(end - start, b"\0")
        found += ["%s+%#x" % (words[5], i) for i in range(len(data))
                  if memory[i] != data[i]][:20]
    return found


@h.test("another user's program, traced by root")
def others(case):
    if os.geteuid():
        raise h.Skip("needs root")
    user = pwd.getpwnam("nobody")
    theirs = h.Case(user)
    try:
        target = start(theirs, 2, 200)
        h.check_equal(h.status_field(target.pid, "Uid").split()[0],
                      str(user.pw_uid), "its user")
        trace_captive(case, target)
        finish(target)
    finally:
        theirs.finish()


# ---------------------------------------------------------------- job control

def state(pid):
    return h.status_field(pid, "State", "?")[:1]


def is_stopped(pid):
    """Each of its threads."""
    return all(state(int(tid)) in "Tt"
               for tid in os.listdir("/proc/%d/task" % pid))


def job_events(pid):
    """What its parent (this program) has been told since the last time."""
    found = []
    while True:
        flags = os.WSTOPPED | os.WCONTINUED | os.WNOHANG
        event = os.waitid(os.P_PID, pid, flags)
        if event is None:
            return found
        found.append({os.CLD_STOPPED: "stopped", os.CLD_CONTINUED:
                      "continued"}.get(event.si_code, "code %d" %
                                       event.si_code))


def stop(target):
    target.popen.send_signal(signal.SIGSTOP)
    h.wait_until(lambda: is_stopped(target.pid), "the stop")


def check_stays_stopped(target):
    """Whoever is let go of goes from the tracer's stop to that of the job by
    itself, for which it needs a processor (__ptrace_unlink(),
    kernel/ptrace.c): until then it is called running."""
    h.check_equal(h.tracer_of(target.pid), 0, "tracer of the target")
    h.wait_until(lambda: is_stopped(target.pid), "the stop of the job")
    for _ in range(20):
        h.check(is_stopped(target.pid), "it runs: " +
                h.task_states(target.pid))
        time.sleep(0.01)


@h.test("stopped at the attach: stays so after each way to leave, and goes on",
        users=True)
def stopped_before(case):
    target = start(case, 3, 200)
    stop(target)
    h.check_equal(job_events(target.pid), ["stopped"], "what its parent saw")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        tracer = case.start_calltrap(*F1, "-p", str(target.pid))
        h.wait_until(lambda: h.tracer_of(target.pid) == tracer.pid or
                     tracer.popen.poll() is not None, "the attach")
        time.sleep(0.3)
        h.check(is_stopped(target.pid), "it runs while traced")
        tracer.popen.send_signal(number)
        h.check(tracer.wait() in (0, 1), "status of calltrap; " + tracer.err)
        h.check_equal(h.read(tracer.log_path), "", "log of a stopped program")
        check_stays_stopped(target)
        h.check_untouched(target.pid)
    h.check_equal(job_events(target.pid), [], "what its parent saw of it")
    target.popen.send_signal(signal.SIGCONT)
    check_goes_on(target, target.pid)
    h.check_equal(job_events(target.pid), ["continued"], "what its parent saw")
    finish(target)


@h.test("stopped at the attach, continued while traced", users=True)
def continued(case):
    target = start(case, 3, 200)
    before = ask(target)
    stop(target)
    prototypes = case.write("t.conf", "long f1(long);\n")
    tracer = case.start_calltrap("-F", prototypes, *F1, "-p", str(target.pid))
    h.wait_until(lambda: h.tracer_of(target.pid) == tracer.pid or
                 tracer.popen.poll() is not None, "the attach")
    time.sleep(0.2)
    target.popen.send_signal(signal.SIGCONT)
    wait_for_calls(tracer, 300)
    wait_for_threads(tracer, 3)
    log = leave(tracer)
    check_exact(h.Log("\n".join(call.text for call in log.calls)), 3, before,
                ask(target))
    check_goes_on(target, target.pid)
    h.check_untouched(target.pid)
    h.check_equal(job_events(target.pid)[-1:], ["continued"],
                  "what its parent saw last")
    finish(target)


@h.test("stopped while traced: stays so after the detach", users=True)
def stopped_within(case):
    target = start(case, 3, 200)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        before = ask(target)
        tracer = attach(case, target.pid)
        stop(target)
        h.rest(tracer.pid)
        lines = lines_of(tracer)
        time.sleep(0.2)
        h.check_equal(lines_of(tracer), lines, "lines while it is stopped")
        leave(tracer, number)
        check_stays_stopped(target)
        h.check_untouched(target.pid)
        h.check_equal(job_events(target.pid), ["stopped"],
                      "what its parent saw")
        target.popen.send_signal(signal.SIGCONT)
        check_goes_on(target, target.pid)
        h.check_equal(job_events(target.pid), ["continued"],
                      "what its parent saw")
        h.check(ask(target) > before, "further calls")
    finish(target)


@h.test("stopped and continued while traced, 10 times", users=True)
def stops_within(case):
    target = start(case, 3, 200)
    before = ask(target)
    tracer = attach(case, target.pid)
    for _ in range(10):
        stop(target)
        target.popen.send_signal(signal.SIGCONT)
        wait_for_calls(tracer, lines_of(tracer) + 20)
    wait_for_threads(tracer, 3)
    log = leave(tracer)
    signals = log.of_kind("signal")
    h.check_equal(sum("SIGSTOP" in text for text in signals), 10,
                  "SIGSTOPs in the log")
    check_exact(log, 3, before, ask(target))
    check_goes_on(target, target.pid)
    h.check_untouched(target.pid)
    finish(target)


if __name__ == "__main__":
    # A shell's background jobs ignore it, and so would what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(h.main())
