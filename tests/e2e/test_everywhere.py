#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""calltrap-static (`make static') where there is nothing but it and what it
traces: no library, no shell, no folder that could be written to."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

STATIC = os.path.join(os.environ.get("builddir") or os.path.join(
    h.HERE, "..", ".."), "calltrap-static")

# It has to come to machines through whatever there is: `kubectl cp', a copy
# and paste as base64. What it can't do without takes 4.7 MiB (our own code 1.5,
# libc 1.0, libzstd 0.6, libdwarf 0.4, libZydis and ncurses 0.3 each, the
# prototype files 0.1): a whole new library in it shows here.
SIZE_MAX = 5 << 20

# Everything before the last line is done with the host's programs. Who has no
# rights gets those that the kernel gives to each user for such a purpose.
NAMESPACE = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
if os.geteuid() != 0:
    NAMESPACE[1:1] = ["--user", "--map-root-user"]
MOUNT = """
root=$1 user=$2; shift 2
mount --bind "$root" "$root" && mount -t proc proc "$root/proc" &&
mount -o remount,bind,ro "$root" || exit 99
inside() { exec chroot $user "$root" "$@"; }
"""
RUN = MOUNT + 'inside "$@"\n'
ATTACH = MOUNT + """
target=$1; shift
inside "$target" >/dev/null & pid=$!
until case $(readlink "$root/proc/$pid/exe") in
	*"$target"|*/ld-*) ;; *) false ;; esac
do sleep 0.02; done
(inside /calltrap-static "$@" -p $pid)
status=$?
kill -0 $pid || echo "the target has died" >&2
kill -9 $pid
exit $status
"""


def program():
    if not os.path.exists(STATIC):
        raise h.Skip("there is no calltrap-static; `make static' makes it")
    return STATIC


class Root:
    """A folder to be the whole file system, with one program in it."""

    def __init__(self, case, target, files=(), name="target"):
        self.case = case
        self.path = case.path("root.%d" % case.number())
        os.makedirs(os.path.join(self.path, "proc"))
        shutil.copy(program(), self.path)
        shutil.copy(target, os.path.join(self.path, name))
        for file in files:
            place = self.path + file
            os.makedirs(os.path.dirname(place), exist_ok=True)
            shutil.copy(file, place)
        subprocess.run(["chmod", "-R", "a+rX", case.dir], check=True)

    def _run(self, script, user, arguments):
        result = self.case.run(
            NAMESPACE + ["sh", "-c", script, "sh", self.path,
                         "--userspec=65534:65534" if user else ""] +
            list(arguments), env={"HOME": "/", "TMPDIR": "/tmp"})
        if result.status == 99 or "unshare:" in result.err:
            raise h.Skip("no namespaces here: " + result.err)
        return result

    def run(self, *arguments, user=False):
        return self._run(RUN, user, ("/calltrap-static",) + arguments)

    def shell(self, *command):
        return self._run(RUN, False, command)

    def attach(self, *arguments, user=False, target="/target"):
        result = self._run(ATTACH, user, (target,) + arguments)
        h.check("died" not in result.err, result.err)
        result.check_status(0)
        return result


def libraries(path):
    """The files that a program of the host needs, its dynamic linker too."""
    _, text = h.command_output(["ldd", path])
    return re.findall(r"(/\S+) \(0x", text)


def glibc(case):
    target = h.build("loses", "loses.c", "-g")
    return Root(case, target, libraries(target))


def alone(case):
    target = h.build("loses_static", "loses.c", "-g", "-static")
    return Root(case, target)


MUSL = "/lib/ld-musl-%s.so.1" % h.MACHINE


def musl(case):
    if not os.path.exists(MUSL):
        raise h.Skip("musl isn't installed")
    return Root(case, h.build("loses_musl", "loses.c", "-g", cc="musl-gcc"),
                [os.path.realpath(MUSL)] if os.path.realpath(MUSL) == MUSL
                else [MUSL])


@h.test("one file that needs no other, and isn't larger than it has to be")
def one_file(_):
    h.need("readelf")
    _, text = h.command_output(["readelf", "-hldW", program()])
    h.check_match(r"Type: +DYN \(Position-Independent Executable", text,
                  "the type")
    h.check("NEEDED" not in text and "INTERP" not in text,
            "it needs a library:\n" + h.shorten(text))
    size = os.path.getsize(STATIC)
    print("# %d bytes" % size)
    h.check(size <= SIZE_MAX, "%d bytes, more than %d" % (size, SIZE_MAX))


# An asserted pattern: the access() of that libc with the prototype that lies in
# the program itself. In a static program no library is named.
SHOWN = r'^access(@\S+)?\("/nowhere", F_OK\) += -1 ENOENT'

for each_root in (glibc, musl):
    def register(root):
        name = root.__name__

        @h.test("the log of a command, in a root with %s only" % name)
        def run_command(case):
            result = root(case).run("--for", "1s", "-L", "-x", "access",
                                    "/target")
            h.check_match(SHOWN, result.err, "the log")
            h.check_match(r"^calltrap: process \d+ was let go, and goes on$",
                          result.err, "messages")

        @h.test("attaching and the log, in a root with %s only" % name)
        def attach(case):
            result = root(case).attach("--for", "1s", "-e", "access")
            h.check_match(r'access\("/nowhere", F_OK\) += -1', result.err,
                          "the log")

        @h.test("heap, with lines, in a root with %s only" % name)
        def heap(case):
            result = root(case).attach("heap", "--for", "1500ms",
                                       target="/target")
            h.check_match(r"malloc by lose$", result.err, "the report")
            h.check_match(r"lose \S*loses\.c:8 ", result.err, "the report")

        @h.test("growth, in a root with %s only" % name)
        def growth(case):
            result = root(case).attach("heap", "--growth", "heap,mmap",
                                       "--for", "1500ms")
            h.check_match(r"^==== growth of process \d+, /target", result.err,
                          "the report")
            h.check_match(r"HOW IT ADDS UP", result.err, "the report")
    register(each_root)


@h.test("a static program in a root with nothing else")
def nothing_else(case):
    result = alone(case).attach("--for", "1s", "-L", "-x", "lose")
    h.check_match(r"^lose\(", result.err, "the log")


@h.test("attaching as an ordinary user, to a process of the same one")
def ordinary(case):
    if os.geteuid() != 0:
        raise h.Skip("it takes root to become another user")
    result = glibc(case).attach("heap", "--for", "1500ms", user=True)
    h.check_match(r"malloc by lose$", result.err, "the report")


@h.test("families that come with calltrap are in it, and no other is")
def families(case):
    root = glibc(case)
    result = root.run("heap", "--pool", "descriptors", "--for", "100ms",
                      "/target")
    h.check_equal([line for line in result.messages()
                   if "families" in line], [], "messages")
    h.check_match("^==== heap of", result.err, "the report")
    result = root.run("heap", "--pool", "no-such", "/target")
    h.check_match("no-such: there is no such file of families, here or among "
                  "those of calltrap", result.err, "messages")
    result = root.run("heap", "--pool", "(built in)/families/no.families",
                      "/target")
    h.check_match("can't be read: No such file", result.err, "messages")


@h.test("from a shell of busybox")
def busybox(case):
    found = shutil.which("busybox")
    if not found or libraries(found):
        raise h.Skip("busybox-static isn't installed")
    root = Root(case, found, name="busybox")
    result = root.shell("/busybox", "sh", "-c",
                        "/calltrap-static -L -S --for 500ms /busybox sleep 9")
    h.check_match(r"^(SYS_)?(clock_)?nanosleep(@SYS)?\(.*<unfinished", result.err,
                  "the log")


@h.test("doctor, of a process and of itself, where nothing can be written")
def doctor(case):
    result = glibc(case).attach("doctor")
    h.check_match(r"^ok +ptrace", result.out, "the answer")
    result = alone(case).run("doctor")
    result.check_status(0)
    h.check_match(r"^ok +ptrace", result.out, "the answer")


@h.test("--footprint, which is kept until the end, with no room for files")
def footprint(case):
    result = glibc(case).attach("heap", "--footprint", "/proc/self/fd/1",
                                "--for", "1s")
    # (Nor can some blocks be reached, which the report says.)
    h.check_equal(re.findall("^calltrap: .*can't be.*$", result.err, re.M), [],
                  "what can't be")
    h.check(result.out.count("\n") > 10, "calls:\n" + result.out)


# Of system calls. 4.18 ends with 334, rseq().
PIDFD_SEND_SIGNAL = FIRST_NEW = 424
LAST = 9999
MEMFD_CREATE, STATX = 319, 332


def without(*ranges, error="ENOSYS"):
    return [h.build("old_kernel", "old_kernel.c"), error,
            ",".join("%d-%d" % each for each in ranges)]


def check_works(case, old, programs):
    target = case.start([h.build("loses", "loses.c", "-g")])
    for program_ in programs:
        result = case.run([*old, program_, "-p", str(target.pid), "--for",
                           "1s", "-e", "access"])
        result.check_status(0)
        h.check_match(r'access\("/nowhere", F_OK\) += -1', result.err,
                      "the log")
        result = case.run([*old, program_, "heap", "-p", str(target.pid),
                           "--for", "1s"])
        result.check_status(0)
        h.check_match(r"lose \S*loses\.c:8 ", result.err, "the report")
    h.check_untouched(target.pid)
    result = case.run([*old, h.CALLTRAP, "doctor", "-p", str(target.pid)])
    result.check_status(0)
    h.check_match(r"^ok +threads", result.out, "the answer")


@h.test("where the calls that are newer than Linux 4.18 aren't there")
def old_kernel(case):
    check_works(case, without((FIRST_NEW, LAST)), (h.CALLTRAP, program()))


@h.test("where a filter refuses them with EPERM, as it does what it forbids")
def old_filter(case):
    """The C library makes no thread there: it takes only ENOSYS of clone3()
    for an order to call clone()."""
    old = without((MEMFD_CREATE, MEMFD_CREATE), (STATX, STATX),
                  (FIRST_NEW, LAST), error="EPERM")
    check_works(case, old, [h.CALLTRAP])
    result = case.run([*old, h.CALLTRAP, "-L", "-x", "inner",
                       h.build("nest", "nest.c", "-g", "-O1"), "3"])
    result.check_status(0)
    h.check_equal(len(re.findall(r"^inner\(\)", result.err, re.M)), 3,
                  result.err)


@h.test("where a filter lets one of the new calls through, and not the next")
def half_a_filter(case):
    """A process can be named by a descriptor there, and not be ended by it:
    that which reads debug information has to end all the same."""
    target = case.start([h.build("loses", "loses.c", "-g")])
    tracer = case.start([*without((PIDFD_SEND_SIGNAL, PIDFD_SEND_SIGNAL)),
                         h.CALLTRAP, "heap", "-p", str(target.pid)])
    h.wait_until(lambda: hr.planted(target.pid), "the traps")
    before = h.naps(target.pid)
    h.wait_until(lambda: h.naps(target.pid) > before + 100, "leaks")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    h.check_match(r"lose \S*loses\.c:8 ", tracer.err, "the report")
    h.check_untouched(target.pid)


# A container beside which calltrap is: processes, mounts and the host's name of
# its own, another root. The first line of output is the number of its process
# as the host sees it: that of unshare's child.
CONTAINER = MOUNT + 'inside "$@" >/dev/null\n'


class Container:
    """One that runs /target of a root, and its number outside."""

    def __init__(self, root, *more):
        if os.geteuid() != 0:
            raise h.Skip("another user's namespaces take root")
        self.process = root.case.start(
            NAMESPACE + ["--uts", "--ipc", "--net", *more, "sh", "-c", CONTAINER,
                         "sh", root.path, "", "/target"])
        self.pid = None
        h.wait_until(self._find, "the container")

    def _find(self):
        if self.process.popen.poll() is not None:
            raise h.Skip("no namespaces here: " + self.process.err)
        for pid in h.children_of(self.process.pid):
            with contextlib.suppress(OSError):
                if os.readlink("/proc/%d/exe" % pid).endswith("/target"):
                    self.pid = pid
        return self.pid


def check_from_host(case, *more):
    pid = Container(glibc(case), *more).pid
    result = case.run([h.CALLTRAP, "heap", "-p", str(pid), "--for", "1500ms"])
    result.check_status(0)
    h.check_match(r"^==== heap of process %d \(to itself \d+\), \S*/target$" %
                  pid, result.err, "the report, with both numbers")
    h.check_match(r"lose \S*loses\.c:8 ", result.err, "the report")
    h.check_equal(h.tracer_of(pid), 0, "tracer of the target")


@h.test("from the host into a container: files of its root, the host's number")
def into_container(case):
    check_from_host(case)


@h.test("from the host into a container with users of its own")
def into_users(case):
    check_from_host(case, "--user", "--map-root-user")


@h.test("from a debugging container into its neighbour")
def into_neighbour(case):
    """As `kubectl debug --target' has it: one set of processes, two roots."""
    root = glibc(case)
    pid = Container(root).pid
    tools = case.path("tools")
    os.makedirs(os.path.join(tools, "proc"))
    shutil.copy(program(), tools)
    result = case.run(["nsenter", "--pid", "--target", str(pid), "unshare",
                       "--mount", "sh", "-c", MOUNT + 'inside "$@"', "sh",
                       tools, "", "/calltrap-static", "heap", "-p", "1",
                       "--for", "1500ms"], env={"HOME": "/"})
    result.check_status(0)
    h.check_match(r"^==== heap of process 1, \S*/target$", result.err,
                  "the report")
    h.check_match(r"lose \S*loses\.c:8 ", result.err, "the report")
    h.check_equal(h.tracer_of(pid), 0, "tracer of the target")


if __name__ == "__main__":
    raise SystemExit(h.main())
