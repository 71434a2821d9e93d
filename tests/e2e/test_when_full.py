#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nobody takes calltrap's output, or it is stopped from the terminal: what it
is attached to goes on, and what was missed is counted. Programs that it has
started, and --when-full=wait, lose nothing."""

import json
import os
import pty
import re
import select
import signal
import sys
import termios
import time

sys.dont_write_bytecode = True
import harness as h

PROTOTYPES = "long f1(long);\nlong f2(long);\n"


def program():
    return h.build_with_libt("target", h.build_directory("harm"))


def start(case, *arguments):
    target = case.start([program(), *arguments])
    h.wait_until(lambda: "ready" in target.out, "the target")
    return target


def calls(target):
    """How many its first thread has made."""
    before = target.out.count("at ")
    target.say("a")
    h.wait_until(lambda: target.out.count("at ") > before,
                 "the target's answer")
    return int(re.findall(r"at (\d+)\n", target.out)[-1])


def check_goes_on(target, by=2000):
    first = calls(target)
    h.wait_until(lambda: calls(target) > first + by, "the target to go on")


def finish(target, tracer=None):
    if tracer:
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    h.check_untouched(target.pid)
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")


def trace(case, target, *arguments, **how):
    return case.start([h.CALLTRAP, "-L", "-x", "f1", "-F",
                       case.write("t.conf", PROTOTYPES), *arguments, "-p",
                       str(target.pid)], **how)


def dropped(tracer):
    found = re.findall(r"(\d+) lines were dropped", tracer.err)
    h.check(found, "calltrap said: " + tracer.err)
    return int(found[-1])


class Pipe:
    """A FIFO with its reading end open, which nobody reads."""

    def __init__(self, case, name="pipe"):
        self.path = case.path(name)
        os.mkfifo(self.path, 0o666)
        os.chmod(self.path, 0o666)
        self.fd = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def wait_for_text(self):
        h.check(select.select([self.fd], [], [], h.PATIENCE)[0],
                "nothing was written")

    def read_all(self):
        """Until its writer has closed it."""
        os.set_blocking(self.fd, True)
        with open(self.fd, errors="replace") as file:
            return file.read()


# ---------------------------------------------------------------- the output

@h.test("a log that nobody reads: the target goes on, lines are counted",
        users=True)
def unread_log(case):
    pipe = Pipe(case)
    target = start(case, "2", "0")
    tracer = trace(case, target, "-o", pipe.path)
    pipe.wait_for_text()
    check_goes_on(target, 20000)
    tracer.popen.send_signal(signal.SIGINT)
    text = pipe.read_all()
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    h.check(dropped(tracer) > 1000, "calltrap said: " + tracer.err)
    finish(target)
    for line in text.splitlines():
        h.check_match(r"^\+\+\+ \d+ lines.*|^\d+ (f1@libt\.so\(\d+( <unfinished.*>|\) += \d+)|"
                      r"<\.\.\. f1 resumed.*)$", line, "a line")


@h.test("a log that is read again says where lines are missing", users=True)
def gap(case):
    pipe = Pipe(case)
    target = start(case, "1", "0")
    tracer = trace(case, target, "-o", pipe.path)
    pipe.wait_for_text()
    check_goes_on(target, 10000)
    text, end = "", time.monotonic() + h.PATIENCE
    while "were dropped" not in text and time.monotonic() < end:
        try:
            text += os.read(pipe.fd, 65536).decode()
        except BlockingIOError:
            time.sleep(0.01)
    found = h.check_match(r"^\+\+\+ (\d+) lines were dropped: nobody took "
                          r"them \+\+\+$", text, "the log")
    before = re.findall(r"f1@libt\.so\((\d+)", text[:found.start()])
    tracer.popen.send_signal(signal.SIGINT)
    text += pipe.read_all()
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    after = re.findall(r"f1@libt\.so\((\d+)", text[found.end():])
    # Two lines a call, if one was cut.
    missing = int(after[0]) - int(before[-1]) - 1
    h.check(missing / 2 <= int(found[1]) + 1 and
            int(found[1]) <= 2 * missing + 2,
            "%s lines dropped, %d calls missing" % (found[1], missing))
    finish(target)


@h.test("--json that nobody reads: each line is an object", users=True)
def unread_json(case):
    pipe = Pipe(case)
    target = start(case, "2", "0")
    tracer = trace(case, target, "--json", pipe.path, "-o", "/dev/null")
    pipe.wait_for_text()
    check_goes_on(target, 10000)
    tracer.popen.send_signal(signal.SIGINT)
    lines = [json.loads(line) for line in pipe.read_all().splitlines()]
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    told = sum(line["lines"] for line in lines if line["event"] == "dropped")
    h.check(told <= dropped(tracer), "%d lines told of" % told)
    finish(target)


@h.test("heap --calls that nobody reads", users=True)
def unread_calls(case):
    pipe = Pipe(case)
    busy = case.start(["sh", "-c", "while :; do x=$(($x + 1)); y=$x$x$x; "
                       "z=$y$y$y$y$y; done"])
    tracer = case.start([h.CALLTRAP, "heap", "--calls", pipe.path, "-o",
                         "report", "-p", str(busy.pid)])
    pipe.wait_for_text()
    before = h.processor_time(busy.pid)
    h.wait_until(lambda: h.processor_time(busy.pid) > before + 50,
                 "the target to go on")
    tracer.popen.send_signal(signal.SIGINT)
    pipe.read_all()
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    h.check_untouched(busy.pid)


@h.test("--when-full=wait: the target waits, and nothing is lost", users=True)
def waits(case):
    pipe = Pipe(case)
    target = start(case, "1", "0")
    tracer = trace(case, target, "-o", pipe.path, "--when-full=wait")
    pipe.wait_for_text()

    # Slow machines take seconds to fill a pipe.
    def stands():
        first = calls(target)
        time.sleep(1)
        return calls(target) - first <= 2
    h.wait_until(stands, "the target to wait")
    h.check(stands(), "the target goes on")
    tracer.popen.send_signal(signal.SIGINT)
    text = pipe.read_all()
    tracer.wait()
    numbers = [int(n) for n in re.findall(r"f1@libt\.so\((\d+)", text)]
    h.check_equal(numbers, list(range(numbers[0], numbers[0] + len(numbers))),
                  "calls in the log")
    h.check("were dropped" not in tracer.err, tracer.err)
    finish(target)


@h.test("a program that was started waits for whoever reads its log")
def started(case):
    pipe = Pipe(case)
    tracer = case.start([h.CALLTRAP, "-L", "-x", "f1", "-o", pipe.path,
                         program(), "1", "0"])
    h.wait_until(lambda: "ready" in tracer.out, "the program")
    time.sleep(1)
    tracer.say("q")
    text = pipe.read_all()
    h.check_equal(tracer.wait(), 7, "status; " + tracer.err)
    made = int(re.findall(r"calls (\d+)", tracer.out)[0])
    h.check_equal(len(re.findall(r"f1@libt\.so\(", text)), made,
                  "calls in the log")


# ---------------------------------------------------------------- terminals

@h.test("Ctrl-S: the target goes on; Ctrl-Q: so does the log", users=True)
def held_terminal(case):
    leader, terminal = pty.openpty()
    target = start(case, "1", "0")
    tracer = case.start(["sh", "-c", 'exec "$@" 2>&%d' % terminal, "sh",
                         h.CALLTRAP, "-L", "-x", "f1", "-p",
                         str(target.pid)], pass_fds=[terminal])
    seen = os.read(leader, 65536)
    h.check(seen, "nothing on the terminal")
    termios.tcflow(terminal, termios.TCOOFF)
    check_goes_on(target, 10000)
    termios.tcflow(terminal, termios.TCOON)
    text, end = "", time.monotonic() + h.PATIENCE
    while "were dropped" not in text and time.monotonic() < end:
        text += os.read(leader, 65536).decode()
    h.check("were dropped" in text, "no word of it")
    os.set_blocking(leader, False)
    tracer.popen.send_signal(signal.SIGINT)

    def ended():
        try:
            os.read(leader, 65536)
        except OSError:
            pass
        return tracer.popen.poll() is not None
    h.wait_until(ended, "calltrap's end")
    os.close(terminal)
    os.close(leader)
    h.check_equal(tracer.popen.returncode, 0, "status")
    finish(target)


def state(pid):
    return h.status_field(pid, "State", "gone")[:1]


# In a process group of its own, with a parent in its session: the kernel stops
# no others.
SHELL = 'set -m; "$@" & echo "$!"; set +m; wait "$!"'


class Job:
    """calltrap, as the job of a shell."""

    def __init__(self, case, target, *arguments):
        self.shell = case.start(["bash", "-c", SHELL, "bash", h.CALLTRAP,
                                 *arguments, "-p", str(target.pid)])
        h.wait_until(lambda: self.shell.out, "calltrap")
        self.pid = int(self.shell.out)

    @property
    def err(self):
        return self.shell.err

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self):
        return self.shell.wait()

    def stop(self):
        """All of it."""
        parts = [self.pid] + [int(pid) for pid in h.children_of(self.pid)]
        self.signal(signal.SIGTSTP)
        h.wait_until(lambda: {state(pid) for pid in parts} == {"T"},
                     "calltrap to stop")


def trace_as_job(case, target):
    return Job(case, target, "-L", "-x", "f1", "-F",
               case.write("t.conf", PROTOTYPES), "-o", "log")


@h.test("Ctrl-Z: the target goes on untraced; fg: it is traced again",
        users=True)
def stopped(case):
    target = start(case, "2", "100")
    tracer = trace_as_job(case, target)
    log = case.path("log")
    for times in (1, 2):
        size = len(h.read(log))
        h.wait_until(lambda: h.tracer_of(target.pid) and
                     len(h.read(log)) > size, "calls in the log")
        tracer.stop()
        h.wait_until(lambda: not h.tracer_of(target.pid), "the detach")
        h.check_untouched(target.pid)
        check_goes_on(target, 200)
        h.check_equal(tracer.err.count("runs on, unwatched"), times,
                      "messages: " + tracer.err)
        tracer.signal(signal.SIGCONT)
        h.wait_until(lambda: tracer.err.count("nothing was watched") == times,
                     "the attach")
    tracer.signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    finish(target)
    h.check_match(r"stopped 2 times: for \d+\.\d s in all nothing was "
                  "watched", tracer.err, "messages")


@h.test("Ctrl-Z, and the target ends, or calltrap is ended", users=True)
def stopped_and_ended(case):
    for how in ("target", "calltrap"):
        target = start(case, "2", "100")
        tracer = trace_as_job(case, target)
        h.wait_until(lambda: "f1" in h.read(case.path("log")), "calls")
        tracer.stop()
        if how == "target":
            finish(target)
        else:
            tracer.signal(signal.SIGTERM)
        tracer.signal(signal.SIGCONT)
        h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
        if how == "target":
            h.check("has ended meanwhile" in tracer.err, tracer.err)
        else:
            finish(target)
        os.unlink(case.path("log"))


@h.test("heap: Ctrl-Z doesn't make leaks of what is given back meanwhile")
def stopped_heap(case):
    churn = h.build("heap_churn", "heap_churn.c", "-g", "-O1", "-lpthread")
    target = case.start([churn, "2", "1000"])
    target.say("r")
    tracer = Job(case, target, "heap", "-o", "report", "--json", "json",
                 "--record", "recording")
    h.wait_until(lambda: h.tracer_of(target.pid), "the attach")
    time.sleep(1)
    tracer.stop()
    h.wait_until(lambda: not h.tracer_of(target.pid), "the detach")
    before = h.processor_time(target.pid)
    h.wait_until(lambda: h.processor_time(target.pid) > before + 20,
                 "the target to go on")
    time.sleep(0.5)
    tracer.signal(signal.SIGCONT)
    h.wait_until(lambda: "nothing was watched" in tracer.err, "the attach")
    time.sleep(1)
    tracer.signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    found = json.loads(h.read(case.path("json")))
    h.check(found["lost"]["blind"] >= 5e8, "blind: %r" % found["lost"])
    h.check_equal(found["incidents"] if "incidents" in found else [], [],
                  "incidents")
    h.check_untouched(target.pid)
    again = case.calltrap("heap", "--from", case.path("recording"), log=False)
    for report in h.read(case.path("report")), again.err:
        h.check_match(r"(?m)^not seen: .*; calls of up to \d", report,
                      "in short")
        h.check_match(r"(?m)^calls went by unseen for up to \d", report,
                      "the foot of the report")


if __name__ == "__main__":
    sys.exit(h.main())
