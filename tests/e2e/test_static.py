#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Symbols: of static programs, debug files, other languages, IFUNCs."""

import os
import shutil
import sys

sys.dont_write_bytecode = True
import harness as h

OWN = {"own_global": 300, "own_static": 200}


def own(name, *flags, cc="gcc", optional=True):
    directory = h.build_directory("own")
    return h.build(name, "own.c", "-O2", *flags, cc=cc, directory=directory,
                   optional=optional)


def check_own(case, path, wanted=OWN):
    plain = case.run([path])
    h.check_equal(plain.status, 7, "status of the untraced program")
    result = case.calltrap("-L", "-x", "own_*", path)
    result.check_status(7)
    h.check_equal(result.out, plain.out, "the program's output")
    result.log.check_counts(wanted)
    for name, add in (("own_global", 1), ("own_static", 2)):
        for call in result.log.named(name):
            h.check_equal(call.result, str(call.values()[0] + add),
                          "result of " + call.text)
            h.check(call.library is None, "@LIBRARY behind a name of the "
                    "program: " + call.text)


for each_name, each_flags, each_cc in (
        ("static", ["-static"], "gcc"),
        ("static-pie", ["-static-pie", "-fPIE"], "gcc"),
        ("static, clang and lld", ["-static", "-fuse-ld=lld"], "clang"),
        ("static, musl", ["-static"], "musl-gcc"),
        ("static-pie, musl", ["-static-pie", "-fPIE"], "musl-gcc"),
        ("dynamic, musl", [], "musl-gcc"),
        ("PIE", ["-pie", "-fPIE"], "gcc"),
        ("no PIE", ["-no-pie", "-fno-pie"], "gcc")):
    def register(name, flags, cc):
        @h.test("own functions: " + name, users=name == "static")
        def run(case):
            path = own(name.replace(", ", "-").replace(" ", "_"), *flags,
                       cc=cc)
            if case.run([path]).status != 7:
                raise h.Skip("programs of %s don't run here" % cc)
            check_own(case, path)
    register(each_name, each_flags, each_cc)


@h.test("a static program has no calls of libraries, and that is told")
def no_calls(case):
    path = h.build("nothing", "static_nothing.c", "-static", "-nostdlib")
    result = case.calltrap(path)
    result.check_status(7)
    h.check_match("no calls of libraries .* linked statically",
                  "\n".join(result.messages()), "messages")
    case.calltrap("-S", path).check_quiet()


@h.test("exec of a static program")
def static_exec(case):
    path = own("static", "-static")
    step = h.build("exec", "exec.c")
    for argv in ([step, path], [step, step, path]):
        result = case.calltrap("-L", "-x", "own_*", *argv)
        result.check_status(7)
        result.log.check_counts(OWN)


@h.test("static: calls of libc inside the program")
def static_libc(case):
    result = case.calltrap("-L", "-x", "puts", own("static-puts", "-static"))
    result.check_status(7)
    names = [call.name for call in result.log.calls]
    h.check(len(names) == 1 and "puts" in names[0],
            "one puts was to be logged:\n" + result.log.text)


LIKE_LIBC = """
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* The C library has functions of these names; they take something else. */
__attribute__((noinline)) int error(const char *what)
{ return strlen(what); }
static __attribute__((noinline)) int warn(double x) { return x * 2; }
volatile double x = 6.25;
int main(int argc, char **argv)
{
	char *text = strdup("hello");
	int missing = access("/no/such/file", R_OK) && errno == ENOENT;
	printf("%d %d %g %s\\n", error("four"), warn(x), fmod(x, 1.5), text);
	return argc == 1 && missing ? 7 : 1;
}
"""


def check_like_libc(case, debug, *flags, cc="gcc"):
    source = case.write("like.c", LIKE_LIBC)
    path = case.path("like")
    status, text = h.command_output([cc, "-O1", "-w", "-fno-builtin", *debug,
                                     *flags, source, "-o", path, "-lm"])
    if status:
        raise h.Skip("%s can't build it: %s" % (cc, text))
    names = "strdup+access+printf+error+warn+fmod"
    result = case.calltrap("-L", "-x", names, path)
    result.check_status(7)
    h.check_equal(result.out, "4 12 0.25 hello\n", "the program's output")
    found = {line.name: (line.arguments, line.result)
             for line in result.log.calls}
    h.check_equal((found["strdup"][0], found["fmod"], found["access"]),
                  ('"hello"', ("6.25, 1.5", "0.25"),
                   ('"/no/such/file", R_OK', "-1 ENOENT")),
                  "functions of the library")
    h.check_match(r'^"%d %d %g %s\\n", 4, 12, 0.25, "hello"$',
                  found["printf"][0], "printf")
    return found


@h.test("static: the C library's functions have its prototypes")
def static_prototypes(case):
    for flags in (["-static"], ["-static-pie", "-fPIE"]):
        found = check_like_libc(case, [], *flags)
        # A symbol that isn't global is none of the C library's.
        h.check_equal(len(found["warn"][0].split(",")), 4, "numbers of warn")
        check_like_libc(case, [], *flags, cc="musl-gcc")


@h.test("static: debug information knows better")
def static_described(case):
    found = check_like_libc(case, ["-g"], "-static")
    h.check_equal((found["error"], found["warn"]),
                  (('what="four"', "4"), ("x=6.25", "12")), "own functions")


@h.test("static: the default filter runs the program all the same")
def static_default(case):
    result = case.calltrap(own("static", "-static"))
    result.check_status(7)
    h.check_equal(len(result.counts()), 2, "lines printed by the program")


def split(case, directory_of):
    """A stripped copy of the program and its debug file."""
    h.need("objcopy", "strip")
    full = own("full", "-Wl,--build-id")
    path = case.path("prog")
    debug = directory_of(full)
    os.makedirs(os.path.dirname(debug), exist_ok=True)
    for argv in (["objcopy", "--only-keep-debug", full, debug],
                 ["strip", "-o", path, full]):
        status, text = h.command_output(argv)
        h.check_equal(status, 0, text)
    return path, debug


@h.test("stripped: local names are gone, the program isn't harmed")
def stripped(case):
    path, debug = split(case, lambda full: case.path("lost.debug"))
    os.unlink(debug)
    result = case.calltrap("-L", "-x", "own_static", path)
    result.check_status(7)
    h.check_equal(result.log.calls, [], "calls")
    h.check(any("own_static" in line for line in result.messages()),
            "calltrap doesn't say that own_static wasn't found: " + result.err)


def link(case, path, debug):
    status, text = h.command_output(
        ["objcopy", "--add-gnu-debuglink=" + os.path.basename(debug), path],
        os.path.dirname(debug))
    h.check_equal(status, 0, text)


@h.test(".gnu_debuglink: in .debug/", users=True)
def debuglink(case):
    path, debug = split(case, lambda full: case.path(".debug/prog.debug"))
    link(case, path, debug)
    check_own(case, path)


@h.test(".gnu_debuglink: next to the program")
def debuglink_near(case):
    path, debug = split(case, lambda full: case.path("prog.debug"))
    link(case, path, debug)
    check_own(case, path)


@h.test(".gnu_debuglink: a debug file with another CRC isn't believed")
def debuglink_wrong(case):
    path, debug = split(case, lambda full: case.path("prog.debug"))
    link(case, path, debug)
    other = h.build("other", "linkage.c", "-O2", "-DTAILS", "-Wl,--unresolved-"
                    "symbols=ignore-all", directory=h.build_directory("own"))
    shutil.copy(other, debug)
    result = case.calltrap("-L", "-x", "own_*", path)
    result.check_status(7)
    h.check(all(call.name == "own_global" for call in result.log.calls),
            "names of another program:\n" + h.shorten(result.log.text))


@h.test("separate debug file by build-id")
def build_id(case):
    check_libc_debug(case)


def check_libc_debug(case):
    """libc6-dbg: a function that only the debug file of libc names."""
    status, text = h.command_output([
        "readelf", "-n",
        h.LIBRARIES + "/libc.so.6"])
    found = h.re.search(r"Build ID: ([0-9a-f]+)", text)
    if status or not found:
        raise h.Skip("libc has no build-id")
    debug = "/usr/lib/debug/.build-id/%s/%s.debug" % (found[1][:2],
                                                      found[1][2:])
    if not os.path.exists(debug):
        raise h.Skip("libc6-dbg isn't installed")
    result = case.calltrap("-L", "-x", "_IO_file_doallocate+"
                           "_IO_default_doallocate+__run_exit_handlers@libc*",
                           own("full", "-Wl,--build-id"))
    result.check_status(7)
    h.check_equal(result.log.count("__run_exit_handlers"), 1,
                  "calls of __run_exit_handlers")


def calls_by_name(text, names):
    """How many lines begin (less what stands in front) with each name."""
    return {name: sum(1 for line in text.splitlines()
                      if line.startswith(name + "(")) for name in names}


CXX = {"space::over(int)": 10, "space::over(long)": 20,
       "space::Thing::method(int)": 30, "space::Thing::operator+(int)": 40,
       "int space::twice<int>(int)": 50}
MANGLED = {"_ZN5space4overEi": 10, "_ZN5space4overEl": 20,
           "_ZN5space5Thing6methodEi": 30, "_ZN5space5ThingplEi": 40,
           "_ZN5space5twiceIiEET_S1_": 50}


@h.test("C++ names without -C")
def cxx_mangled(case):
    path = h.build("names-cc", "names.cc", "-O1", cc="g++", optional=True)
    result = case.calltrap("-L", "-x", "_ZN5space*", path)
    result.check_status(7)
    h.check_equal(calls_by_name(result.log.text, MANGLED), MANGLED, "calls")


@h.test("C++ names with -C")
def cxx(case):
    path = h.build("names-cc", "names.cc", "-O1", cc="g++", optional=True)
    result = case.calltrap("-L", "-C", "-x", "_ZN5space*", path)
    result.check_status(7)
    found = calls_by_name(result.log.text, CXX)
    short = {h.re.sub(r"\(.*", "", name.replace("int space", "space")):
             number for name, number in CXX.items()}
    if sum(found.values()) == 0:
        # Names without their parameter types serve as well.
        found = calls_by_name(result.log.text, short)
        short["space::over"] = 30
        h.check_equal(found, short, "calls\n" + h.shorten(result.log.text))
    else:
        h.check_equal(found, CXX, "calls\n" + h.shorten(result.log.text))


def rust_names(*flags):
    h.need("rustc")
    directory = h.build_directory("rust")
    path = os.path.join(directory, "names" + "".join(flags).replace("=", "_"))
    status, text = h.command_output(["rustc", "-O", "-o", path, *flags,
                                     h.victim("names.rs")], directory)
    if status:
        raise h.Skip("rustc can't build here: " + text.splitlines()[0])
    return path


for each_title, each_flags in (
        ("v0", ["-Csymbol-mangling-version=v0"]),
        ("as rustc likes", [])):
    def register_rust(title, flags):
        @h.test("Rust names with -C: " + title)
        def run(case):
            path = rust_names(*flags)
            result = case.calltrap("-L", "-C", "-x", "*5space*", path)
            result.check_status(7)
            lines = result.log.text.splitlines()
            for regex, number in ((r"^names\w*(\[\w+\])?::space::plain\b", 30),
                                  (r"^<?names\w*(\[\w+\])?::space::Thing>?"
                                   r"::method\b", 40)):
                found = sum(1 for line in lines if h.re.match(regex, line))
                h.check_equal(found, number, "lines that match %s in\n%s" %
                              (regex, h.shorten(result.log.text)))
    register_rust(each_title, each_flags)


def versions():
    directory = h.build_directory("versions")
    h.build_library("libv.so", "libv.c", "-Wl,--version-script=" +
                    h.victim("libv.map"), directory=directory)
    return h.build("versions", "versions.c", "-O1", "-fno-builtin",
                   *h.near(directory), "-lv", directory=directory)


@h.test("versions, aliases, IFUNCs at the call site")
def by_call_site(case):
    path = versions()
    plain = case.run([path])
    result = case.calltrap(path)
    result.check_status(7)
    result.log.check_counts(plain.counts())


@h.test("versions at the entry")
def versions_entry(case):
    result = case.calltrap("-L", "-x", "foo", versions())
    result.check_status(7)
    result.log.check_counts({"foo": 30}, library="libv.so")
    for call in result.log.named("foo")[:10]:
        h.check_equal(call.result, str(call.values()[0] + 1), call.text)
    for call in result.log.named("foo")[10:]:
        h.check_equal(call.result, str(call.values()[0] + 2), call.text)


@h.test("aliases at the entry: one address, one line a call")
def aliases_entry(case):
    for filter_text in ("twin", "*twin*"):
        result = case.calltrap("-L", "-x", filter_text, versions())
        result.check_status(7)
        result.log.check_counts({"twin": 70}, library="libv.so")
        h.check_equal(len(result.log.calls), 70, "calls logged")


@h.test("an own IFUNC at the entry", users=True)
def ifunc_entry(case):
    result = case.calltrap("-L", "-x", "chosen", versions())
    result.check_status(7)
    result.log.check_counts({"chosen": 50}, library="libv.so")
    h.check(all(call.result == str(call.values()[0] + 4)
                for call in result.log.named("chosen")), "wrong results")


@h.test("an IFUNC that its own library calls by a lazy PLT, from the first call")
def own_lazy_ifunc(case):
    for flags in h.WIDTHS:
        for binding in ("lazy", "now"):
            directory = h.build_directory("own-ifunc" + "".join(flags) +
                                          binding)
            h.build_library("libown.so", "libown_ifunc.c", "-Wl,-z," + binding,
                            *flags, directory=directory, optional=bool(flags))
            path = h.build("own", "own_ifunc.c", "-O1", *h.near(directory),
                           "-lown", *flags, directory=directory,
                           optional=bool(flags))
            result = case.calltrap("-L", "-x", "picked", path)
            result.log.check_counts({"picked": 3}, library="libown.so")
            h.check_equal([call.result for call in result.log.calls],
                          ["1", "2", "3"], "results in " + result.log_text)


@h.test("libc's IFUNCs at the entry")
def libc_ifuncs(case):
    path = versions()
    wanted = case.run([path]).counts()
    result = case.calltrap("-L", "-x", "strlen+memcpy@libc.so.6", path)
    result.check_status(7)
    result.log.check_counts({}, library="libc.so.6")
    for name in ("strlen", "memcpy"):
        # Of the program's own calls, none may be missing; ld.so's and
        # libc's are there too, but not many.
        found = result.log.count(name)
        h.check(wanted[name] <= found < wanted[name] + 200,
                "%s logged %d times, the program made %d" %
                (name, found, wanted[name]))
        h.check(result.log.count(name + ".IFUNC") <= 1, "resolver's lines")


@h.test("an IFUNC of a static program")
def static_ifunc(case):
    path = h.build("static-ifunc", "static_ifunc.c", "-O1", "-static",
                   optional=True)
    result = case.calltrap("-L", "-x", "chosen", path)
    result.check_status(7)
    result.log.check_counts({"chosen": 50})


if __name__ == "__main__":
    sys.exit(h.main())
