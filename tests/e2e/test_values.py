#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Values of every type, as the program that passes them prints them itself."""

import difflib
import glob
import os
import re
import sys

from harness import (HERE, WIDTHS, Failure, Skip, build, build_directory,
                     build_library, check, check_equal, main, near, need_x86, read,
                     test)

CONF = """\
typedef small = struct(char c, short s);
typedef mixed = struct(int x, double y);
typedef large = struct(array(long, 5) numbers, string(array(char, zero(6))) text);
typedef either = union(double d, long l);
typedef list = struct;
typedef list = struct(int, list*, list*);

long v_ints(schar, uchar, short, ushort, int, uint, long, ulong, llong,
	ullong, bool);
double v_reals(float, double, ldouble, int, float, double, double, double,
	double, double, double, double);
float v_float(int, float);
ldouble v_extended(char, ldouble, int);
cfloat v_cfloat(cfloat, cdouble, cldouble, cfloat);
cdouble v_cdouble(cdouble);
cldouble v_cldouble(cldouble);
small v_small(small, int);
mixed v_mixed(mixed, int, mixed*, mixed);
struct(float, float, float) v_floats(struct(float, float, float), float);
large v_large(large, char);
typedef nested = struct(char, mixed inner, array(small, 2) array,
	ldouble extended);
nested v_nested(nested);
either v_union(either, int);
string v_texts(string, string(int*), string[arg4], ulong, array(string, zero)*);
int v_list(list*);
int v_counted(struct(uint, array(short, elt1))*);
hex(uint) v_names(enum(RED, GREEN=5), flags[ulong](NONE=0, READ=1, WRITE=2,
	EXEC=4), bin(uchar), bitvec(uint));
int v_when(int, when(arg1 & 4, oct(int)), when(arg1 == 2|6, char(int)));
errnum(int) v_out(int in, ++int*, mixed*);
ulong v_read(+bytes[arg2*retval], ulong, ulong);
int v_print(int, format);
int v_scan(string, +format);
int v_more(string, ...);
errno(int) v_number(hex(int));
int128 v_wide(int, int128, uint128);
"""


def build_values(name, cc, *flags):
    directory = build_directory("values-" + name)
    build_library("libvalues.so", "libvalues.c", *flags, cc=cc,
                  directory=directory, optional=True)
    return build("values", "values.c", *flags, *near(directory), "-lvalues",
                 cc=cc, directory=directory, optional=True)


def logged(log):
    """The calls of libvalues, without the blanks before their results."""
    return [re.sub(r"\)\s+= ", ") = ", call.rest) for call in log.calls
            if call.name.startswith("v_")]


def same_lines(found, wanted):
    difference = list(difflib.unified_diff(wanted, found, "printed", "logged",
                                           lineterm="", n=0))
    if difference:
        raise Failure("\n".join(difference))


def compare(case, victim, *options):
    conf = case.write("values.conf", CONF)
    result = case.calltrap("-F", conf, "-s", "200", *options, victim)
    result.check_status(0)
    if not options:
        result.check_quiet()
    wanted = result.out.splitlines()
    check(len(wanted) > 25, "the program printed too little: %r" % wanted)
    same_lines(logged(result.log), wanted)


def register(name, cc, *flags):
    @test("every type: " + name, users=name == "gcc")
    def run(case):
        compare(case, build_values(name.replace(" ", ""), cc, *flags))


register("gcc", "gcc", "-O0")
register("gcc -O2", "gcc", "-O2")
register("gcc -m32", "gcc", "-O1", "-m32", "-msse2", "-mfpmath=sse")
register("clang", "clang", "-O1")
register("clang -m32", "clang", "-O1", "-m32", "-msse2")


@test("every type: in the process, as far as that can be")
def by_agent(case):
    need_x86("the agent")
    compare(case, build_values("gcc", "gcc", "-O0"), "--engine=agent",
            "--when-full=wait")


@test("the example of the manual loads without an error")
def manual(case):
    page = read(os.path.join(HERE, "..", "..", "man", "calltrap.conf.5"))
    examples = [part.split(".Ed")[0] for part in
                page.split(".Bd -literal -offset indent\n")[1:]]
    example = next((text for text in examples if "shop_price" in text), None)
    check(example, "the example isn't there")
    conf = case.write("shop.conf", example.replace("\\en", "\\n"))
    result = case.calltrap("-F", conf, "/bin/true")
    result.check_status(0)
    result.check_quiet()


@test("what ltrace installs loads without an error")
def of_ltrace(case):
    found = glob.glob("/etc/ltrace.conf") + glob.glob("/usr/share/ltrace/*.conf")
    if not found:
        raise Skip("ltrace isn't installed")
    for path in found:
        result = case.calltrap("-F", path, "/bin/true")
        result.check_status(0)
        result.check_quiet()


@test("a broken item is told by file, line and column; the others count")
def broken(case):
    conf = case.write("broken.conf", "int v_number(hex(int));\n"
                      "int v_out(flags(A=1,\n"
                      "\tB=oops,\n"
                      "\tC=4));\n"
                      "int v_list(addr, strin);\n"
                      "typedef t = struct(int, array(int, 1000000000));\n"
                      "int v_counted(hex(long));\n")
    victim = build_values("gcc", "gcc", "-O0")
    result = case.calltrap("-F", conf, victim)
    result.check_status(0)
    check_equal(result.messages(), [
        "calltrap: %s:3:4: expected a number, not 'oops'" % conf,
        "calltrap: %s:5:18: expected a type, not 'strin'" % conf,
        "calltrap: %s:6:47: expected a smaller type, not ')'" % conf,
    ], "messages")
    call = result.log.named("v_number")[0]
    check_equal((call.arguments, call.result), ("0xffffffff", "-1"), "v_number")
    check(result.log.named("v_counted")[0].arguments.startswith("0x"),
          "v_counted's prototype is lost")


STACKED = """\
array(int, arg2)* k_last(addr, int);
array(int, arg7)* k_seventh(addr, hide(long), hide(long), hide(long),
	hide(long), hide(long), int);
void k_out(addr, hide(long), hide(long), hide(long), hide(long), hide(long),
	+int*);
"""


@test("arguments on the stack that the function has used up")
def used_up(case):
    conf = case.write("stacked.conf", STACKED)
    for flags in WIDTHS:
        directory = build_directory("stacked" + "".join(flags))
        build_library("libstacked.so", "libstacked.c", *flags, "-O0",
                      directory=directory)
        victim = build("stacked", "stacked.c", *flags, *near(directory),
                       "-lstacked", directory=directory)
        result = case.calltrap("-F", conf, "-e", "k_*", victim)
        result.check_status(0)
        check_equal([result.log.named(name)[0].result
                     for name in ("k_last", "k_seventh")],
                    ["[3, 2, 1]", "[5, 4, 3, 2]"], "results %s" % flags)
        check("5" == result.log.named("k_out")[0].arguments.split(", ")[-1],
              "%s: %s" % (flags, result.log.named("k_out")[0].text))


if __name__ == "__main__":
    sys.exit(main())
