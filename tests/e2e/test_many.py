#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Very many functions of a process that runs: it goes on while they are
trapped, and what that costs is said."""

import os
import re
import signal
import sys

sys.dont_write_bytecode = True
import harness as h

FUNCTIONS = 20000


FUNCTION = """\
	.globl {0}
	.type {0}, @function
	.p2align 6
{0}:
	{1}
	ret
	.size {0}, . - {0}
"""
PLUS_ONE = "lea 1(%rdi), %rax" if h.X86 else "add x0, x0, 1"


def library(directory):
    """Functions of 64 bytes each; f1 is among them. (A compiler would take
    long.)"""
    source = os.path.join(directory, "many.s")
    names = ["f1", "f2"] + ["many_%d" % i for i in range(FUNCTIONS)]
    with open(source, "w") as file:
        file.write("\t.text\n")
        file.writelines(FUNCTION.format(name, PLUS_ONE) for name in names)
        file.write('\t.section .note.GNU-stack, "", @progbits\n')
    h.build("libt.so", source, "-shared", "-Wl,-soname,libt.so",
            directory=directory)


def program():
    directory = h.build_directory("many")
    library(directory)
    return h.build("target", "target.c", "-O1", *h.near(directory), "-lt",
                   "-lpthread", directory=directory)


def calls(target):
    before = target.out.count("at ")
    target.say("a")
    h.wait_until(lambda: target.out.count("at ") > before,
                 "the target's answer")
    return int(re.findall(r"at (\d+)\n", target.out)[-1])


def trapped_pages(pid):
    """Of the library's code, those that aren't as in its file."""
    words, offset, path = next(mapping for mapping in h.code_mappings(pid)
                               if mapping[2].endswith("/libt.so"))
    start, end = (int(word, 16) for word in words.split("-"))
    with open("/proc/%d/mem" % pid, "rb", buffering=0) as file:
        file.seek(start)
        memory = file.read(end - start)
    with open(path, "rb") as file:
        file.seek(int(offset, 16))
        code = file.read(end - start)
    return sum(memory[i:i + 4096] != code[i:i + 4096]
               for i in range(0, len(code), 4096))


@h.test("very many functions: the target goes on, and is told what it costs",
        users=True)
def many(case):
    target = case.start([program(), "2", "1000"])
    h.wait_until(lambda: "ready" in target.out, "the target")
    tracer = case.start_calltrap("-L", "-x", "*@libt.so", "-p",
                                 str(target.pid))
    found = []
    h.wait_until(lambda: "functions are caught" in tracer.err, "a warning")
    for _ in range(20):
        found.append(calls(target))
    h.wait_until(lambda: h.read(tracer.log_path).count("f1@") > 100,
                 "calls in the log")
    h.check_match(r"process %d: 20\d{3} functions are caught.* 1\.3 MB" %
                  target.pid, tracer.err, "calltrap's messages")
    h.check(found[-1] > found[0], "calls: %r" % found)
    # They are trapped in the order of their addresses.
    h.wait_until(lambda: trapped_pages(target.pid) >= FUNCTIONS // 64 - 1,
                 "traps in all pages")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
    h.check_match(r"31\d pages of code \(1\.3 MB\) stay private",
                  tracer.err, "calltrap's messages")
    h.check_untouched(target.pid)
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")


@h.test("very many functions: it is left while they are being trapped",
        users=True)
def left(case):
    target = case.start([program(), "2", "1000"])
    h.wait_until(lambda: "ready" in target.out, "the target")
    for _ in range(5):
        tracer = case.start_calltrap("-L", "-x", "*@libt.so", "-p",
                                     str(target.pid))
        h.wait_until(lambda: "functions are caught" in tracer.err,
                     "a warning")
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status; " + tracer.err)
        h.check_untouched(target.pid)
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")


if __name__ == "__main__":
    sys.exit(h.main())
