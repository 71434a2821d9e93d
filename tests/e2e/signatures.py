# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of random signatures: a library whose functions write down what
they were given and what they return, a program that calls them, and their
prototypes."""

import harness as h

# C's name, the prototype language's, how it is written, where it exists.
INTEGERS = [
    ("_Bool", "bool", "%d"), ("signed char", "schar", "%d"),
    ("unsigned char", "uchar", "%d"), ("short", "short", "%d"),
    ("unsigned short", "ushort", "%d"), ("int", "int", "%d"),
    ("unsigned int", "uint", "%u"), ("long", "long", "%ld"),
    ("unsigned long", "ulong", "%lu"), ("long long", "llong", "%lld"),
    ("unsigned long long", "ullong", "%llu"), ("void *", "addr", "%p"),
]
FLOATS = [
    ("float", "float", "%.9g"), ("double", "double", "%.17g"),
    ("long double", "ldouble", "%.21Lg"),
]
WIDE = [("__int128", "int128", None), ("unsigned __int128", "uint128", None)]
COMPLEX = [
    ("float _Complex", "cfloat", "%.9g%+.9gi"),
    ("double _Complex", "cdouble", "%.17g%+.17gi"),
    ("long double _Complex", "cldouble", "%.21Lg%+.21Lgi"),
]

SUPPORT = r"""
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static uint64_t counter;

static inline uint64_t next_word(void)
{
	counter += UINT64_C(0x9e3779b97f4a7c15);
	return counter ^ counter >> 31;
}

static inline double next_real(void)
{
	return (int)(next_word() % 1000000) - 500000 + 0.25;
}

#ifdef __SIZEOF_INT128__
static inline void show_wide(unsigned __int128 value, int is_signed)
{
	char text[64], *at = text + sizeof(text);
	int negative = is_signed && (__int128)value < 0;

	*--at = 0;
	if (negative)
		value = -value;
	do
		*--at = '0' + (int)(value % 10);
	while (value /= 10);
	printf("%s%s", negative ? "-" : "", at);
}
#endif
"""


class Number:
    """A type that is one number, or a complex one."""

    def __init__(self, c, language, text):
        self.c, self.language, self.text = c, language, text
        self.weight = 1
        self.is_bool = c == "_Bool"
        self.is_wide = c in ("long double", "long double _Complex")
        self.is_int128 = text is None
        self.is_copied = False

    def show(self, place):
        if self.is_int128:
            return 'show_wide(%s, %d);' % (place, self.language == "int128")
        if "_Complex" in self.c:
            return 'printf("%s", __real__ %s, __imag__ %s);' % (
                self.text, place, place)
        return 'printf("%s", %s);' % (self.text, place)

    def set(self, place):
        if "_Complex" in self.c:
            return "__real__ %s = next_real(); __imag__ %s = next_real();" % (
                place, place)
        if "." in (self.text or ""):
            return "%s = next_real();" % place
        if self.is_int128:
            return "%s = (%s)next_word() << 64 | next_word();" % (place,
                                                                 self.c)
        if self.is_bool:
            return "%s = next_word() & 1;" % place
        cast = "(void *)(uintptr_t)" if self.c == "void *" else ""
        return "%s = %snext_word();" % (place, cast)


class Array:
    """Within a struct."""

    def __init__(self, element, count):
        self.element, self.count = element, count
        self.weight = element.weight * count
        self.is_wide, self.is_bool = element.is_wide, element.is_bool
        self.is_copied = element.is_copied

    def show(self, place):
        return 'printf("[ "); ' + ' printf(", "); '.join(
            self.element.show("%s[%d]" % (place, i))
            for i in range(self.count)) + ' printf(" ]");'

    def set(self, place):
        return " ".join(self.element.set("%s[%d]" % (place, i))
                        for i in range(self.count))


class Bits:
    """A bit-field; only debug information can tell of one."""

    weight = 1
    is_wide = is_bool = is_int128 = is_copied = False

    def __init__(self, c, width):
        self.c, self.width = c, width

    def show(self, place):
        return 'printf("%%lld", (long long)%s);' % place

    def set(self, place):
        return "%s = next_word();" % place


class Group:
    """A struct or union; its name is the same in both languages."""

    is_int128 = False

    def __init__(self, name, kind, members, packed=False, copied=False):
        self.c, self.language = kind + " " + name, name
        self.name, self.kind, self.members = name, kind, members
        self.packed = packed
        self.weight = sum(member.weight for member in members)
        self.is_wide = any(member.is_wide for member in members)
        self.is_bool = any(member.is_bool for member in members)
        self.has_code = copied
        self.is_copied = copied or any(member.is_copied for member in members)

    def declare(self):
        """C's members, and the prototype language's."""
        ours, theirs = [], []
        for i, member in enumerate(self.members):
            if isinstance(member, Array):
                ours.append("%s m%d[%d];" % (member.element.c, i,
                                             member.count))
                theirs.append("array(%s, %d)" % (member.element.language,
                                                 member.count))
            elif isinstance(member, Bits):
                ours.append("%s m%d : %d;" % (member.c, i, member.width))
            else:
                ours.append("%s m%d;" % (member.c, i))
                theirs.append(member.language)
        if self.has_code:
            ours.append("{0}() {{}} {0}(const {0} &other) "
                        "{{ memcpy((void *)this, (const void *)&other, "
                        "sizeof(other)); }}".format(self.name))
        attribute = " __attribute__((packed))" * self.packed
        return ("%s { %s }%s;" % (self.c, " ".join(ours), attribute),
                "typedef %s = %s(%s);" % (self.name, self.kind,
                                          ", ".join(theirs)))

    def show(self, place):
        return 'printf("{ "); ' + ' printf(", "); '.join(
            member.show("%s.m%d" % (place, i))
            for i, member in enumerate(self.members)) + ' printf(" }");'

    def set(self, place):
        clear = "memset((void *)&%s, 0, sizeof(%s)); " % (place, place)
        if self.kind == "struct":
            return clear + " ".join(member.set("%s.m%d" % (place, i))
                                    for i, member in enumerate(self.members))
        # Other bytes need not make a valid long double.
        active = max(range(len(self.members)),
                     key=lambda i: (self.members[i].is_wide, i))
        return clear + self.members[active].set("%s.m%d" % (place, active))


class Kind:
    """What a program is to be like. rich: with what only debug information
    can tell of; classes: it is C++."""

    def __init__(self, cc, bits, rich=False, classes=False):
        self.cc, self.bits, self.rich, self.classes = cc, bits, rich, classes
        # Clang 14 does for x86, against the ABI.
        self.splits_int128 = h.X86 and "clang" in cc
        # One of C++ has a size, and see sysdeps/i386/convention.c.
        self.has_empty = not classes


class Generator:
    def __init__(self, random, kind):
        self.random, self.kind = random, kind
        wide = WIDE if kind.bits == 64 else []
        self.numbers = [Number(*what) for what in
                        INTEGERS * 2 + FLOATS * 5 + wide * 2 + COMPLEX * 2]
        self.small = [n for n in self.numbers if n.c in
                      ("float", "double", "int", "short", "signed char",
                       "long", "float _Complex")]
        self.groups = []

    def number(self):
        return self.random.choice(self.numbers)

    def member(self, in_union):
        roll = self.random.random()
        member = self.number()
        if self.groups and roll < 0.2:
            member = self.random.choice(self.groups)
        elif roll < 0.35 and not (self.kind.rich and "char" in member.c):
            member = Array(member, self.random.randint(1, 4))
        elif self.kind.rich and not in_union and roll < 0.5:
            c, most = self.random.choice([("int", 32), ("unsigned", 32),
                                          ("short", 16), ("long long", 64)])
            member = Bits(c, self.random.randint(1, most))
        if in_union and (member.is_bool or member.is_copied) or \
                member.weight > 6:
            return self.member(in_union)
        return member

    def group(self):
        kind = "union" if self.random.random() < 0.2 else "struct"
        count = self.random.choice([1, 1, 2, 2, 2, 3, 3, 4, 5])
        # Small ones are what registers are for.
        if self.random.random() < 0.5:
            members = [self.random.choice(self.small) for _ in range(count)]
        else:
            members = [self.member(kind == "union") for _ in range(count)]
        is_struct = kind == "struct"
        if is_struct and self.kind.has_empty and self.random.random() < 0.1:
            members = []
        packed = self.kind.rich and is_struct and self.random.random() < 0.2 \
            and not any(member.is_copied for member in members)
        # Debug information doesn't say so: it has to show.
        if packed:
            members.insert(0, Number("signed char", "schar", "%d"))
        self.groups.append(Group(
            "g%d" % len(self.groups), kind, members, packed=packed,
            copied=self.kind.classes and is_struct and
            len(self.groups) % 3 == 1))

    def parameter(self, index):
        while True:
            kind = (self.random.choice(self.groups)
                    if self.random.random() < 0.45 else self.number())
            if not (kind.is_int128 and self.kind.splits_int128 and index > 1):
                return kind

    def result(self):
        """arm64 has no argument that says where an object goes, and so no
        prototype does; debug information does."""
        while True:
            kind = self.parameter(0)
            if h.X86 or self.kind.rich or not kind.is_copied:
                return kind

    def signature(self, name):
        count = self.random.choice([0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 20])
        is_method = self.kind.classes and self.random.random() < 0.3
        return Signature(name, self.result(),
                         [self.parameter(i + is_method)
                          for i in range(count)], is_method)


class Signature:
    def __init__(self, name, result, parameters, is_method=False):
        self.name, self.result, self.parameters = name, result, parameters
        self.is_method = is_method
        self.has_place = result.is_copied

    def _head(self, name):
        return "%s %s(%s)" % (self.result.c, name, ", ".join(
            "%s p%d" % (kind.c, i)
            for i, kind in enumerate(self.parameters)))

    def declaration(self):
        head = self._head(self.name) + ' __asm__("%s");' % self.name
        return "struct object_%s { %s };" % (
            self.name, head) if self.is_method else head

    def prototype(self):
        """Objects with a copy constructor are passed and returned by address;
        the place of such a result comes even before `this'."""
        return "%s %s(%s);" % (
            self.result.language + "*" * self.result.is_copied, self.name,
            ", ".join(["addr"] * (self.has_place + self.is_method) +
                      [kind.language + "*" * kind.is_copied
                       for kind in self.parameters]))

    def body(self):
        owner = "object_%s::" % self.name if self.is_method else ""
        shown = [kind.show("p%d" % i)
                 for i, kind in enumerate(self.parameters)]
        if self.is_method:
            shown.insert(0, 'printf("%p", (void *)this);')
        return """%s
{
	static %s result;

	%s
	printf("%s("); %s printf(") = "); %s puts("");
	return result;
}
""" % (self._head(owner + self.name), self.result.c, self.result.set("result"),
       self.name, ' printf(", "); '.join(shown), self.result.show("result"))

    def call(self):
        values = ["%s_%d" % (self.name, i)
                  for i in range(len(self.parameters))]
        lines = ["static void call_%s(void)" % self.name, "{"]
        for name, kind in zip(values, self.parameters):
            lines.append("\tstatic %s %s;" % (kind.c, name))
        if self.is_method:
            lines.append("\tstatic struct object_%s object;" % self.name)
        for name, kind in zip(values, self.parameters):
            lines.append("\t" + kind.set(name))
        lines.append("\t%s%s(%s);" % ("object." * self.is_method, self.name,
                                      ", ".join(values)))
        return "\n".join(lines + ["}", ""])


class Further:
    """A function like printf: what its arguments are, its text says."""

    has_place = False

    KINDS = [("int", "%d", 0), ("long", "%ld", 0), ("unsigned", "%u", 0),
             ("long long", "%lld", 0), ("double", "%f", 3),
             ("long double", "%Lf", 2)]

    def __init__(self, name, random):
        self.name = name
        weights = [1 + kind[2] for kind in self.KINDS]
        self.kinds = random.choices(self.KINDS, weights,
                                    k=random.randint(1, 16))
        self.text = " ".join(kind[1] for kind in self.kinds)

    def declaration(self):
        return 'int %s(const char *text, ...) __asm__("%s");' % (self.name,
                                                               self.name)

    def prototype(self):
        return "int %s(format);" % self.name

    def body(self):
        lines = ["int %s(const char *text, ...)" % self.name, "{",
                 "\tva_list list;", "",
                 "\tva_start(list, text);", '\tprintf("%s(0");' % self.name]
        for kind, text, _ in self.kinds:
            lines.append('\tprintf(", %s", va_arg(list, %s));' % (text, kind))
        return "\n".join(lines + ['\tputs(") = 7");', "\treturn 7;", "}", ""])

    def call(self):
        values = [("(%s)next_real()" if "f" in text else "(%s)next_word()") %
                  kind for kind, text, _ in self.kinds]
        return 'static void call_%s(void)\n{\n\t%s("%s", %s);\n}\n' % (
            self.name, self.name, self.text, ", ".join(values))


class Program:
    """Some types, and functions of them."""

    def __init__(self, random, kind, functions):
        generator = Generator(random, kind)
        for _ in range(12):
            generator.group()
        self.kind = kind
        self.groups = generator.groups
        self.functions = [generator.signature("f%d" % i)
                          for i in range(functions)]
        if not kind.rich:
            self.functions += [Further("v%d" % i, random)
                               for i in range(functions // 8)]

    def header(self):
        return "\n".join([SUPPORT] +
                         [group.declare()[0] for group in self.groups] +
                         [f.declaration() for f in self.functions]) + "\n"

    def library(self):
        return self.header() + "\n".join(f.body() for f in self.functions)

    def main(self):
        calls = "\n".join("\tcall_%s();" % f.name for f in self.functions)
        return "%s\n%s\nint main(void)\n{\n%s\n\treturn 0;\n}\n" % (
            self.header(), "\n".join(f.call() for f in self.functions), calls)

    def prototypes(self):
        return "\n".join([group.declare()[1] for group in self.groups] +
                         [f.prototype() for f in self.functions]) + "\n"

    def build(self, case, *flags):
        suffix = ".cc" if self.kind.classes else ".c"
        flags = ["-w", *flags]
        # Loads of the x87 change signalling NaNs: some unions would be others.
        if self.kind.bits == 32:
            flags += ["-m32", "-msse2", "-mfpmath=sse"]
        # Clang only declares a class whose constructor is elsewhere.
        if "clang" in self.kind.cc:
            flags.append("-fstandalone-debug")
        how = {"cc": self.kind.cc, "directory": case.dir}
        h.build_library("libsignatures.so",
                        case.write("signatures" + suffix, self.library()),
                        *flags, **how)
        return h.build("main", case.write("main" + suffix, self.main()),
                       *flags, *h.near(case.dir), "-lsignatures", **how)
