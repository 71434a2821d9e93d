#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Calls are logged once each, however the program was compiled and linked."""

import os
import struct
import sys

sys.dont_write_bytecode = True
import harness as h

COMPILERS = ("gcc", "clang")
LINKERS = ("bfd", "gold", "lld", "mold")

# name: (compiler flags, linker flags, what readelf must show of the program)
VARIANTS = {
    "lazy": ([], ["-Wl,-z,lazy"], None),
    "now": ([], ["-Wl,-z,now", "-Wl,-z,relro"], r"BIND_NOW|NOW"),
    "IBT, lazy": (["-fcf-protection"], ["-Wl,-z,lazy", "IBT"], r"\.plt"),
    "IBT, now": (["-fcf-protection"], ["-Wl,-z,now", "IBT"], r"\.plt"),
    "RELR": ([], ["RELR"], r"\(RELR\)"),
    "sysv hash": ([], ["-Wl,--hash-style=sysv"], r"\(HASH\)"),
    "separate code": ([], ["-Wl,-z,separate-code"], None),
    "no separate code": ([], ["-Wl,-z,noseparate-code"], None),
    "no PIE": (["-fno-pie"], ["-no-pie"], r"EXEC"),
    "no PIE, now": (["-fno-pie"], ["-no-pie", "-Wl,-z,now"], r"EXEC"),
    "stripped": ([], ["-s"], None),
    "no section headers": ([], ["HEADERLESS"], None),
    "no-plt, lazy": (["-fno-plt"], ["-Wl,-z,lazy"], None),
    "no-plt, now": (["-fno-plt"], ["-Wl,-z,now"], None),
    "no-plt, no PIE": (["-fno-plt", "-fno-pie"], ["-no-pie"], r"EXEC"),
    "no-plt, no section headers": (["-fno-plt"], ["HEADERLESS"], None),
}

# The same thing is spelt differently; the first that a linker takes is used.
SPELLINGS = {
    "IBT": ["-Wl,-z,ibtplt", "-Wl,-z,force-ibt", "-Wl,-z,ibt"],
    "RELR": ["-Wl,-z,pack-relative-relocs", "-Wl,--pack-dyn-relocs=relr"],
    "HEADERLESS": ["-Wl,-z,lazy"],
}


def libraries():
    directory = h.build_directory("linkage")
    h.build_library("libt.so", "libt.c", directory=directory)
    h.build_library("libu.so", "libu.c", *h.near(directory), "-lt",
                    directory=directory)
    return directory


def accepted(linker, flag):
    """Whether the linker knows the flag (some only warn of unknown ones)."""
    program = os.path.join(h.build_directory("try"), "empty.c")
    with open(program, "w") as file:
        file.write("int main(void) { return 0; }\n")
    try:
        h.build("empty." + linker, program, "-fuse-ld=" + linker, flag,
                *([] if "force-ibt" in flag else ["-Wl,--fatal-warnings"]),
                directory=h.build_directory("try"), optional=True)
        return True
    except h.Skip:
        return False


def spell(linker, flags):
    found = []
    for flag in flags:
        choices = SPELLINGS.get(flag, [flag])
        known = [choice for choice in choices if accepted(linker, choice)]
        if not known:
            raise h.Skip("ld.%s doesn't know %s" % (linker,
                                                   " or ".join(choices)))
        found.append(known[0])
    return found


def remove_section_headers(path):
    with open(path, "r+b") as file:
        header = bytearray(file.read(64))
        where, = struct.unpack_from("<Q", header, 40)
        size, count = struct.unpack_from("<HH", header, 58)
        struct.pack_into("<Q", header, 40, 0)
        struct.pack_into("<HHH", header, 58, 0, 0, 0)
        file.seek(0)
        file.write(header)
        file.seek(where)
        file.write(bytes(size * count))


def program(cc, linker, variant, *more, name=""):
    h.need(cc, "ld." + linker if linker != "mold" else "mold")
    cflags, ldflags, shown = VARIANTS[variant]
    if "IBT" in ldflags:
        h.need_x86("IBT")
    directory = libraries()
    output = "-".join(filter(None, [cc, linker, name,
                                    variant.replace(" ", "_")]))
    path = h.build(output, "linkage.c", "-O2", *more, *cflags,
                   "-fuse-ld=" + linker, *spell(linker, ldflags),
                   *h.near(directory), "-lt", "-lu", cc=cc,
                   directory=directory)
    if shown:
        text = h.command_output(["readelf", "-hdSW", path])[1]
        if not h.re.search(shown, text):
            raise h.Skip("%s with ld.%s made no such program (no %s)" %
                         (cc, linker, shown))
    if "HEADERLESS" in ldflags:
        remove_section_headers(path)
    return path


def check_results(log, names):
    """Each call shows its argument and has its own result."""
    for name in names:
        for call in log.named(name):
            values = call.values()
            h.check(values and call.result == str(values[0] + 1),
                    "wrong result: " + call.text)


def check_program(case, path, indirect_ok):
    plain = case.run([path])
    if plain.status == 127 and "DT_RELR" in plain.err:
        raise h.Skip("glibc doesn't run what this linker makes: " +
                     plain.err.strip())
    h.check_equal(plain.status, 7, "status of the untraced program")
    wanted = plain.counts()

    result = case.calltrap(path)
    result.check_status(7)
    result.check_quiet()
    h.check_equal(result.out, plain.out, "the program's output")
    result.log.check_counts(wanted)
    check_results(result.log, wanted)
    h.check(all(call.caller is None for call in result.log.calls),
            "CALLER-> without -e")
    h.check_equal(result.log.of_kind("exit"), ["exited (status 7)"],
                  "exit line")

    result = case.calltrap("-e", "f1@libu.so", path)
    result.check_status(7)
    h.check_equal(len(result.log.calls), 200, "calls logged by -e f1@libu.so")
    result.log.check_counts({"f1": 200}, caller="libu.so")

    result = case.calltrap("-L", "-x", "f?", path)
    result.check_status(7)
    result.log.check_counts(
        {"f1": wanted["f1"] + 200, "f2": wanted["f2"],
         "f3": wanted["f3"] + 5}, library="libt.so")


def register(cc, linker, variant):
    users = (cc, linker) == ("gcc", "bfd") and variant in ("lazy",
                                                           "no-plt, now")

    @h.test("%s, ld.%s, %s" % (cc, linker, variant), users=users)
    def run(case):
        check_program(case, program(cc, linker, variant), False)


for each_variant in VARIANTS:
    for each_linker in LINKERS:
        for each_cc in COMPILERS:
            register(each_cc, each_linker, each_variant)


def check_tails(case, variant):
    """
    A call belongs to the module whose code makes it, wherever it returns to:
    30 calls of libu return to the program, 40 of the program return to libu.
    """
    path = program("gcc", "bfd", variant, "-DTAILS", name="tails")
    plain = case.run([path])
    result = case.calltrap(path)
    result.check_status(7)
    result.log.check_counts(plain.counts())


@h.test("tail calls belong to their caller, lazy")
def tails_lazy(case):
    check_tails(case, "lazy")


@h.test("tail calls belong to their caller, IBT now")
def tails_now(case):
    check_tails(case, "IBT, now")


@h.test("tail calls belong to their caller, no-plt")
def tails_no_plt(case):
    check_tails(case, "no-plt, now")


@h.test("-l: calls into a library, by all callers")
def into_library(case):
    path = program("gcc", "bfd", "lazy")
    plain = case.run([path])
    result = case.calltrap("-l", "libt.so", path)
    result.check_status(7)
    result.log.check_counts({"f1": 200}, caller="libu.so")
    counts = dict(plain.counts())
    counts["f1"] += 200
    result.log.check_counts(counts)
    h.check_equal({call.name for call in result.log.calls},
                  {"f1", "f2", "f3"}, "functions logged")


def filter_case(text, wanted):
    @h.test("-e " + text)
    def run(case):
        path = program("gcc", "bfd", "lazy")
        result = case.calltrap("-e", text, path)
        result.check_status(7)
        names = {}
        for call in result.log.calls:
            names[call.name] = names.get(call.name, 0) + 1
        h.check_equal({name: names.get(name, 0) for name in ("f1", "f2", "f3")},
                      wanted, "calls")
        h.check_equal("printf" in names or "u_work" in names,
                      text.startswith("-") or text == "@MAIN", "other calls")


for each_text, each_wanted in (
        ("f[12]@MAIN", {"f1": 1000, "f2": 1020, "f3": 0}),
        ("/f[12]/@MAIN", {"f1": 1000, "f2": 1020, "f3": 0}),
        ("/f[12]@MAIN/", {"f1": 1000, "f2": 1020, "f3": 0}),
        ("f1+f2-f1", {"f1": 0, "f2": 1020, "f3": 0}),
        ("f?@MAIN-f3", {"f1": 1000, "f2": 1020, "f3": 0}),
        ("f1", {"f1": 1200, "f2": 0, "f3": 0}),
        ("-f1", {"f1": 0, "f2": 1020, "f3": 10}),
        ("@MAIN", {"f1": 1000, "f2": 1020, "f3": 10}),
        ("f1@libu*", {"f1": 200, "f2": 0, "f3": 0})):
    filter_case(each_text, each_wanted)


@h.test("-e by the caller's path")
def by_path(case):
    path = program("gcc", "bfd", "lazy")
    library = os.path.join(os.path.dirname(path), "libu.so")
    result = case.calltrap("-e", "f1@" + library, path)
    result.log.check_counts({"f1": 200})


def rust_program():
    h.need("rustc")
    directory = libraries()
    path = os.path.join(directory, "rust")
    status, text = h.command_output(
        ["rustc", "-O", "-o", path, "-L", directory, "-C",
         "link-arg=-Wl,-rpath,$ORIGIN", h.victim("linkage.rs")], directory)
    if status:
        raise h.Skip("rustc can't build here: " + text.splitlines()[0])
    return path


@h.test("rustc: calls through the GOT")
def rust(case):
    path = rust_program()
    plain = case.run([path])
    h.check_equal(plain.status, 7, "status of the untraced program")
    result = case.calltrap("-e", "f1@MAIN", path)
    result.check_status(7)
    result.log.check_counts({"f1": plain.counts()["f1"]})
    result = case.calltrap(path)
    result.check_status(7)
    result.log.check_counts({"f1": plain.counts()["f1"]})
    h.check(result.log.count("malloc") >= plain.counts()["boxes"],
            "malloc logged %d times, at least %d boxes were made" %
            (result.log.count("malloc"), plain.counts()["boxes"]))
    h.check(result.log.count("free") >= plain.counts()["boxes"],
            "free logged %d times" % result.log.count("free"))
    result = case.calltrap("-L", "-x", "f1", path)
    result.log.check_counts({"f1": plain.counts()["f1"]}, library="libt.so")


if __name__ == "__main__":
    sys.exit(h.main())
