#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""i386 programs under an x86_64 calltrap."""

import sys

sys.dont_write_bytecode = True
import harness as h

PROTOTYPES = """int add4(int, int, int, int);
string name_of(string, int);
long f1(long);
"""

VARIANTS = {
    "PIE": ["-fPIE", "-pie"],
    "PIE, now": ["-fPIE", "-pie", "-Wl,-z,now"],
    "IBT": ["-fPIE", "-pie", "-fcf-protection", "-Wl,-z,ibtplt"],
    "no PIE": ["-fno-pie", "-no-pie"],
    "no PIE, now": ["-fno-pie", "-no-pie", "-Wl,-z,now"],
    "no-plt": ["-fPIE", "-pie", "-fno-plt"],
    "no-plt, no PIE": ["-fno-pie", "-no-pie", "-fno-plt"],
    "stripped": ["-fPIE", "-pie", "-s"],
    "lld": ["-fPIE", "-pie", "-fuse-ld=lld"],
    "gold": ["-fPIE", "-pie", "-fuse-ld=gold"],
    "mold": ["-fPIE", "-pie", "-fuse-ld=mold"],
}


def program(variant, cc="gcc"):
    directory = h.build_directory("i386")
    h.build_library("libi386.so", "libi386.c", "-m32", directory=directory,
                    optional=True)
    name = "-".join([cc, variant.replace(", ", "-").replace(" ", "_")])
    path = h.build(name, "i386.c", "-m32", "-O1", *VARIANTS[variant],
                   *h.near(directory), "-li386", cc=cc, directory=directory,
                   optional=True)
    try:
        status, _ = h.command_output([path])
    except OSError as problem:
        raise h.Skip("i386 programs don't run here: %s" % problem)
    h.check_equal(status, 7, "status of the untraced program")
    return path


def check_arguments(log):
    for i, call in enumerate(log.named("add4")):
        h.check_equal(call.arguments,
                      "%d, %d, %d, %d" % (i, 2 * i, 3 * i, -i), call.text)
        h.check_equal(call.result, str(5 * i), call.text)
    for i, call in enumerate(log.named("name_of")):
        h.check_equal(call.arguments, '"some text", %d' % i, call.text)
        h.check_equal(call.result, '"some text"', call.text)
    for i, call in enumerate(log.named("f1")):
        h.check_equal((call.arguments, call.result), (str(i), str(i + 1)),
                      call.text)


def register(variant, cc):
    @h.test("-m32, %s, %s" % (cc, variant),
            users=variant == "PIE" and cc == "gcc")
    def run(case):
        path = program(variant, cc)
        prototypes = case.write("i386.conf", PROTOTYPES)
        plain = case.run([path])
        for how in ([], ["-L", "-x", "add4+name_of+f1@libi386.so"]):
            result = case.calltrap("-F", prototypes, *how, path)
            result.check_status(7)
            h.check_equal(result.out, plain.out, "the program's output")
            result.log.check_counts(plain.counts())
            check_arguments(result.log)


for each_variant in VARIANTS:
    for each_cc in ("gcc", "clang"):
        register(each_variant, each_cc)


@h.test("-m32, arguments without a prototype")
def guessed(case):
    result = case.calltrap("-e", "add4@MAIN", program("PIE"))
    result.check_status(7)
    h.check_equal(result.log.count("add4"), 100, "calls")
    for i, call in enumerate(result.log.named("add4")):
        h.check_equal([value & 0xffffffff for value in call.values()],
                      [i, 2 * i, 3 * i, -i & 0xffffffff], call.text)


@h.test("-m32, static")
def static(case):
    path = h.build("static32", "own.c", "-m32", "-O2", "-static",
                   optional=True)
    result = case.calltrap("-L", "-x", "own_*", path)
    result.check_status(7)
    result.log.check_counts({"own_global": 300, "own_static": 200})


@h.test("-m32: the end of a program, a signal")
def killed(case):
    path = h.build("killed32", "end.c", "-m32", optional=True)
    result = case.calltrap(path, "segv")
    result.check_status(128 + 11)
    h.check_equal(result.log.of_kind("exit"), ["killed by SIGSEGV"], "exit")


@h.test("a 64-bit program that execs an i386 one, and back")
def mixed(case):
    wide = h.build("exec64", "exec.c", optional=True)
    narrow = program("PIE")
    result = case.calltrap("-e", "f1@MAIN", wide, narrow)
    result.check_status(7)
    result.log.check_counts({"f1": 1000})
    directory = h.build_directory("linkage")
    h.build_library("libt.so", "libt.c", directory=directory)
    h.build_library("libu.so", "libu.c", *h.near(directory), "-lt",
                    directory=directory)
    last = h.build("last", "linkage.c", *h.near(directory), "-lt", "-lu",
                   directory=directory)
    wanted = case.run([last]).counts()
    between = h.build("exec32", "exec.c", "-m32", optional=True)
    result = case.calltrap("-e", "f1@MAIN", wide, between, last)
    result.check_status(7)
    result.log.check_counts({"f1": wanted["f1"]})


if __name__ == "__main__":
    sys.exit(h.main(of_x86="i386 programs"))
