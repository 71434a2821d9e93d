#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Start programs: what they inherit, and signals that come meanwhile."""

import contextlib
import os
import random
import resource
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

# Runs a command as somebody would who has changed what is inherited.
AS_WAS = """
import os, resource, signal, sys
blocked, ignored, files = eval(sys.argv[1])
for number in range(1, signal.NSIG):
    if number not in (signal.SIGKILL, signal.SIGSTOP, 32, 33):
        signal.signal(number, signal.SIG_IGN if number in ignored else
                      signal.SIG_DFL)
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (files, hard))
signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def numbers(*signals):
    return [int(number) for number in signals]


def as_was(blocked=(), ignored=(), files=256):
    return [sys.executable, "-c", AS_WAS, repr((numbers(*blocked),
                                                numbers(*ignored), files))]


LOOK = ["grep", "-hE", "^(Sig(Blk|Ign)|Max open files)", "/proc/self/status",
        "/proc/self/limits"]


def register_inherits(name, **how):
    @h.test("inherited as without calltrap: " + name)
    def run(case):
        plain = case.run(as_was(**how) + LOOK)
        h.check_match("SigBlk", plain.out, "what it found")
        traced = case.run(as_was(**how) + [
            h.CALLTRAP, "-o", case.path("log"), "-e", "malloc"] + LOOK)
        traced.check_status(0)
        h.check_equal(traced.out, plain.out, "what it found")


register_inherits("nothing special")
register_inherits("blocked signals", blocked=(
    signal.SIGTERM, signal.SIGALRM, signal.SIGINT, signal.SIGUSR1))
register_inherits("ignored signals", ignored=(
    signal.SIGPIPE, signal.SIGXFSZ, signal.SIGALRM, signal.SIGINT,
    signal.SIGHUP, signal.SIGUSR2))
register_inherits("SIGCHLD ignored", ignored=(signal.SIGCHLD,))
register_inherits("few descriptors", files=40)


@h.test("SIGCHLD ignored: the program's status is seen all the same")
def no_sigchld(case):
    result = case.run(as_was(ignored=[signal.SIGCHLD]) + [
        h.CALLTRAP, "-o", case.path("log"), "sh", "-c", "exit 5"])
    result.check_status(5)


BLOCKED = (signal.SIGTERM, signal.SIGALRM, signal.SIGINT)


@h.test("signals blocked: --for works")
def blocked_deadline(case):
    target = case.start(["sleep", "1000"])
    tracer = case.start(as_was(blocked=BLOCKED) + [
        h.CALLTRAP, "-o", case.path("log"), "--for", "300ms", "-L", "-x",
        "getppid", "-p", str(target.pid)])
    tracer.wait(20)
    h.check_untouched(target.pid)


@h.test("signals blocked: SIGTERM detaches")
def blocked_term(case):
    target = case.start(["sleep", "1000"])
    tracer = case.start(as_was(blocked=BLOCKED) + [
        h.CALLTRAP, "-o", case.path("log"), "-L", "-x", "getppid", "-p",
        str(target.pid)])
    h.wait_until(lambda: h.tracer_of(target.pid), "the tracing")
    tracer.popen.send_signal(signal.SIGTERM)
    tracer.wait(20)
    h.check_untouched(target.pid)


@h.test("more processes than descriptors were allowed")
def many(case):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 1024:
        raise h.Skip("the hard limit is low")
    targets = [case.start(["sleep", "1000"]) for _ in range(60)]
    pids = [word for target in targets for word in ("-p", str(target.pid))]
    result = case.run(as_was(files=32) + [
        h.CALLTRAP, "-c", "-o", case.path("log"), "--for", "500ms", "-L",
        "-x", "getppid"] + pids)
    result.check_quiet()
    result.check_status(0)
    for target in targets:
        h.check_equal(target.popen.poll(), None, "the end of a target")


def register_early(number):
    @h.test("%s to all at any moment of the start ends all" % number.name,
            users=True)
    def run(case):
        source = random.Random(number)
        for _ in range(60):
            tracer = case.start_calltrap("-c", "-e", "getppid", "true")
            time.sleep(source.uniform(0.001, 0.02))
            with contextlib.suppress(ProcessLookupError):
                os.killpg(tracer.pid, number)
            tracer.wait()


for each_number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT):
    register_early(each_number)


@h.test("a command that isn't there: attached targets are let go of")
def missing_command(case):
    target = case.start(["sleep", "1000"])
    result = case.calltrap("-L", "-x", "getppid", "-p", str(target.pid),
                           "/no/such/command")
    result.check_status(1)
    h.check_equal(target.popen.poll(), None, "the target's end")
    h.check_untouched(target.pid)


if __name__ == "__main__":
    sys.exit(h.main())
