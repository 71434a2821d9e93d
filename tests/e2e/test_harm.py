#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Nothing comes to harm: targets that die at any moment, logs that can't be
written any more, code that is made at run time, relatives that calltrap has
inherited, programs that lose privileges."""

import os
import random
import signal
import stat
import sys
import time

sys.dont_write_bytecode = True
import harness as h

SEED = 5


def program(name, *flags):
    return h.build_with_libt(name, h.build_directory("harm"), *flags)


def start(case, *arguments, name="target"):
    target = case.start([program(name), *arguments])
    h.wait_until(lambda: "ready" in target.out or
                 target.popen.poll() is not None, "the target")
    return target


def finish(target):
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")


def attached(target, tracer):
    h.wait_until(lambda: h.tracer_of(target.pid) or
                 tracer.popen.poll() is not None, "the attach")


# ---------------------------------------------------------------- deaths

@h.test("targets with 8 busy threads are killed at any moment", users=True)
def killed_anytime(case):
    rng = random.Random(SEED)
    for number in range(20):
        how = rng.choice((signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM))
        target = start(case, "8", "0")
        tracer = case.start_calltrap("-L", "-x", "f1", "-p", str(target.pid))
        if number % 4:
            attached(target, tracer)
        time.sleep(rng.random() * 0.05)
        target.popen.send_signal(how)
        h.check_equal(target.wait(), -how, "status of the target")
        status = tracer.wait()
        # 1: it was dead before anything was traced.
        h.check(status in (0, 1), "status of calltrap: %d; %s" %
                (status, tracer.err))
        if status == 0:
            h.check_match(r"\+\+\+ killed by %s" % how.name,
                          h.read(tracer.log_path), "log")


@h.test("threads are made as fast as can be, while it comes and goes",
        users=True)
def brood(case):
    target = start(case, name="brood")
    numbers = []
    for _ in range(10):
        tracer = case.start_calltrap("-L", "-x", "f1", "-F", case.write(
            "t.conf", "long f1(long);\n"), "-p", str(target.pid))
        h.wait_until(lambda: h.read(tracer.log_path).count("f1") > 100 or
                     tracer.popen.poll() is not None, "calls in the log")
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
        numbers.append(sorted(call.values()[0] for call in
                              h.Log(h.read(tracer.log_path)).named("f1")))
        h.check_untouched(target.pid)
    finish(target)
    for found in numbers:
        h.check_equal(len(set(found)), len(found), "calls that were doubled")
        missing = set(range(found[0], found[-1])) - set(found)
        # Of those at work when it came or went, some were too early or late.
        early = {n for n in missing if n < found[0] + 4 or n > found[-1] - 4}
        h.check_equal(missing - early, set(), "calls that were lost")


@h.test("children are made as fast as can be, while it comes and goes")
def fertile(case):
    target = start(case, "6", name="fertile")
    for _ in range(25):
        result = case.calltrap("-L", "-x", "f1", "--for", "20ms", "-p",
                               str(target.pid), log=False)
        result.check_status(0)
        h.check_equal(target.popen.poll(), None, "the target's end")
        h.check_untouched(target.pid)
    target.say("q")
    status = target.wait()
    h.check_equal(target.out, "ready\n", "children that ended otherwise")
    h.check_equal(status, 7, "status of the target")


@h.test("children that calltrap has inherited are none of its business",
        users=True)
def inherited_children(case):
    log = case.path("log")
    path = program("brood")
    result = case.run(["sh", "-c", 'sleep 0.3 & sleep 1000 & echo "$!" >pid; '
                       'exec "$@"', "sh", h.CALLTRAP, "-L", "-x", "f1", "-o",
                       log, path], input_text="q")
    sleeper = int(h.read(case.path("pid")))
    try:
        result.check_status(7)
        h.check_equal(h.status_field(sleeper, "State", "gone")[:1], "S",
                      "state of the child that lives on")
        h.check_equal(h.tracer_of(sleeper), 0, "its tracer")
    finally:
        os.kill(sleeper, signal.SIGKILL)


# ---------------------------------------------------------------- the log

def loses_log(case, argv, words, status=1):
    """The log of an attached calltrap can't be written at some time."""
    target = start(case, "8", "0")
    tracer = case.start([part.replace("PID", str(target.pid))
                         for part in argv])
    tracer.wait()
    h.check(words in tracer.err + tracer.out, "calltrap said: " + tracer.err)
    h.check_equal(tracer.popen.returncode, status, "the exit status")
    h.wait_until(lambda: not h.tracer_of(target.pid), "the end of the tracing")
    h.check_equal(target.popen.poll(), None, "end of the target")
    h.check_untouched(target.pid)
    finish(target)


@h.test("the disk is full: a busy target is let go of", users=True)
def disk_full(case):
    loses_log(case, [h.CALLTRAP, "-o", "/dev/full", "-L", "-x", "f1", "-p",
                     "PID"], "can't be written any more: No space left")


@h.test("the pipe is closed: a busy target is let go of", users=True)
def pipe_closed(case):
    loses_log(case, ["bash", "-o", "pipefail", "-c",
                     '"$0" -L -x f1 -p PID 2>&1 | head -n 3', h.CALLTRAP],
              "f1@libt.so")


@h.test("the file may not grow any more: a busy target is let go of",
        users=True)
def file_too_large(case):
    loses_log(case, ["sh", "-c", 'ulimit -f 100; exec "$0" -o log -L -x f1 '
                     '-p PID', h.CALLTRAP], "can't be written any more")


def memory_of(process):
    return int((h.status_field(process.pid, "VmRSS") or "0").split()[0])


def take(reader, least):
    """So many bytes or some more, however long a slow machine takes for them."""
    size = 0
    while size < least:
        data = reader.read(1 << 16)
        if not data:
            break
        size += len(data)
    return size


@h.test("a log that is read slowly, or not at all, takes no memory")
def slow_reader(case):
    pipe = case.path("pipe")
    os.mkfifo(pipe)
    target = start(case, "8", "0")
    tracer = case.start([h.CALLTRAP, "-o", pipe, "-L", "-x", "f1", "-p",
                         str(target.pid)], env=h.keeping_nothing())
    sizes, size = [], 0
    with open(pipe, "rb", buffering=0) as reader:
        for pause in (0.1, 0.3, 1, 0.1, 0.1, 0.1):
            size += take(reader, (1 << 14) + 1)
            time.sleep(pause)
            sizes.append(memory_of(tracer))
        tracer.popen.send_signal(signal.SIGINT)
        while True:
            data = reader.read(1 << 16)
            size += len(data)
            if not data:
                break
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    h.check(size > 6 << 14, "only %d bytes were written" % size)
    h.check(max(sizes) - sizes[0] < 2000, "kB of memory: %r" % sizes)
    h.check_untouched(target.pid)
    finish(target)


# ---------------------------------------------------------------- code

@h.test("code made at run time, shared with a child; a system call at once",
        users=True)
def made_code(case):
    result = case.calltrap("-L", "-x", "f1+own_getpid", program("jit"))
    result.check_status(7)
    result.log.check_counts({"f1": 200, "own_getpid": 0})
    # From shared memory each is seen without its return.
    h.check_equal(result.log.returns("f1"), 100, "results")
    said = "\n".join(result.messages())
    h.check("100 calls were seen without return: it could not be "
            "trapped" in said and
            "1 function could not be trapped (-D" in said and
            "; own_getpid: its first instruction can't be run elsewhere"
            in said, "said: " + said)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


@h.test("code made at run time: by the agent, which doesn't go there")
def made_code_by_agent(case):
    h.need_x86("the agent")
    result = case.calltrap("--engine=agent", "-L", "-x", "f1+own_getpid",
                           program("jit"))
    result.check_status(7)
    result.log.check_counts({"f1": 200, "own_getpid": 0})


@h.test("code that is mapped shared with its file, which is never written to")
def shared_with_its_file(case):
    path = case.copy(program("shared_text"))
    library = case.copy(os.path.join(h.build_directory("harm"), "libt.so"))
    before = contents(library)
    target = case.start([path])
    h.wait_until(lambda: "ready" in target.out or
                 target.popen.poll() is not None, "the target")
    for where in ["-L"], []:
        result = case.calltrap(*where, "-x", "f1", "--for", "200ms", "-p",
                               str(target.pid))
        result.check_status(0)
        h.check_match("1 function could not be trapped", result.err,
                      "the messages")
        h.check(contents(library) == before, "the file was written to")
    finish(target)


def set_user_id(case):
    """A copy of a program that belongs to root and is set-user-ID."""
    if os.geteuid() != 0:
        raise h.Skip("only root can make such a program")
    path = case.copy(h.build("end", "end.c", "-lpthread"))
    os.chown(path, 0, 0)
    os.chmod(path, 0o4755)
    if os.statvfs(path).f_flag & os.ST_NOSUID:
        raise h.Skip("%s is mounted nosuid" % case.dir)
    h.check(os.stat(path).st_mode & stat.S_ISUID, "not set-user-ID")
    return path


@h.test("a set-user-ID program: what it loses is said to an ordinary user")
def lost_privileges(case):
    path = set_user_id(case)
    case.user = h.ordinary_user("nobody")
    os.chown(case.dir, case.user.pw_uid, case.user.pw_gid)
    for argv in ([path, "exit"], ["sh", "-c", "exec %s exit" % path]):
        result = case.calltrap(*argv)
        result.check_status(7)
        h.check_equal(["set-user-ID" in line and "as root, with -u" in line
                       for line in result.messages()], [True],
                      "messages: " + result.err)


@h.test("a set-user-ID program: root has nothing to lose")
def kept_privileges(case):
    path = set_user_id(case)
    os.chmod(case.dir, 0o755)
    result = case.calltrap("-u", h.ordinary_user("nobody").pw_name, path,
                           "exit")
    result.check_status(7)
    result.check_quiet()


if __name__ == "__main__":
    sys.exit(h.main())
