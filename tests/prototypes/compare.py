# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares prototypes with what compilers have written about the same
functions. Runs inside gdb, which reads debug information for us."""

import dataclasses

import gdb

import conf

POINTERS = (gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_REF,
            gdb.TYPE_CODE_RVALUE_REF)
INTEGERS = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR, gdb.TYPE_CODE_BOOL,
            gdb.TYPE_CODE_ENUM)
UNIONS = (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION)


class Mismatch(Exception):
    """The text says what isn't so."""


def plain(ctype):
    return ctype.strip_typedefs().unqualified()


def pointed(ctype):
    """What a pointer points to. glibc declares some as unions of pointers."""
    ctype = plain(ctype)
    if ctype.code == gdb.TYPE_CODE_UNION and all(
            plain(f.type).code in POINTERS for f in ctype.fields()):
        # gcc leaves the members of transparent unions out.
        return pointed(ctype.fields()[0].type) if ctype.fields() \
            else gdb.lookup_type("void")
    if ctype.code == gdb.TYPE_CODE_ARRAY or ctype.code in POINTERS:
        return ctype.target()
    return None


def parameters(ctype):
    return [field.type for field in ctype.fields()]


def is_variadic(ctype):
    return str(ctype).rstrip().endswith("...)")


def is_flexible(kind):
    return kind.kind == "array" and kind.length and kind.length[0] != "number"


class Comparison:
    def __init__(self, word, types, kernel=False):
        self.word = word
        self.kernel = kernel  # system calls: all return long, and take
                              # addresses as unsigned long, too
        self.types = types  # by name
        self.met = set()    # typedefs that were compared with something

    # ------------------------------------------------------------ layout

    def size_of(self, kind):
        if kind.kind == "pointer":
            return self.word
        if kind.kind == "void":
            return 0
        if kind.kind in ("integer", "float", "complex"):
            size = kind.size
            if size == conf.WORD:
                return self.word
            if size == "long double":
                return (16 if self.word == 8 else 12) * (
                    2 if kind.kind == "complex" else 1)
            return size
        if kind.kind == "array":
            if not kind.length or kind.length[0] != "number":
                raise Mismatch("an array inside a struct needs a fixed size")
            return self.size_of(kind.target) * kind.length[1]
        if kind.kind == "union":
            size = max(self.size_of(m) for m, _ in kind.members)
        else:
            size = max((at + self.size_of(m)
                        for at, m, _ in self.layout(kind)), default=0)
        align = self.align_of(kind)
        return (size + align - 1) // align * align

    def align_of(self, kind):
        if kind.kind in ("struct", "union"):
            return max((self.align_of(m) for m, _ in kind.members), default=1)
        if kind.kind == "array":
            return self.align_of(kind.target)
        if kind.kind == "complex":
            return self.size_of(kind) // 2
        size = self.size_of(kind)
        return size if self.word == 8 else min(size, 4)

    def layout(self, kind):
        at = 0
        for i, (member, name) in enumerate(kind.members):
            if is_flexible(member) and kind.kind == "struct" and \
                    i == len(kind.members) - 1:
                member = dataclasses.replace(member,
                                             length=("number", 0))
            align = self.align_of(member)
            if kind.kind == "struct":
                at = (at + align - 1) // align * align
            yield at, member, name
            if kind.kind == "struct":
                at += self.size_of(member)

    # ------------------------------------------------------------ values

    def value(self, kind, ctype, whole=False):
        """whole: whether the sizes of structs must be the same, too."""
        ctype = plain(ctype)
        if kind.typedef:
            self.met.add(kind.typedef)
        getattr(self, "value_" + kind.kind)(kind, ctype, whole)

    def value_void(self, kind, ctype, whole):
        if ctype.code != gdb.TYPE_CODE_VOID:
            raise Mismatch(f"is {ctype}, not void")

    def value_integer(self, kind, ctype, whole):
        size = self.size_of(kind)
        if kind.typedef == "sigbits" and ctype.code in UNIONS:
            # What is used of sigset_t; the rest is for future signals.
            ctype = plain(ctype.fields()[0].type)
            if ctype.sizeof < size:
                raise Mismatch("is smaller than a set of signals")
            return
        address = size == self.word and kind.size == conf.WORD and (
            kind.names or kind.signed is None)
        if address and pointed(ctype) is not None:
            return
        if ctype.code not in INTEGERS:
            raise Mismatch(f"is {ctype}, not an integer")
        # The kernel takes some descriptors so, and cuts them down itself.
        if self.kernel and kind == conf.Type("integer", 4, True) and \
                str(ctype) == "unsigned long":
            return
        if ctype.sizeof != size:
            raise Mismatch(f"is {ctype}, {ctype.sizeof} bytes, not {size}")
        if kind.typedef == "owner":  # -1 has a meaning of its own there
            return
        if kind.signed is not None and ctype.code == gdb.TYPE_CODE_INT and \
                ctype.is_signed != kind.signed:
            raise Mismatch(f"is {ctype}, whose sign is another")

    def value_either(self, kind, ctype, whole):
        for each, _ in kind.members:
            if self.kernel and str(ctype) == "unsigned long":
                self.met.add(each.typedef or "")
            else:
                self.value(each, ctype, whole)

    def value_float(self, kind, ctype, whole):
        if ctype.code != gdb.TYPE_CODE_FLT or \
                ctype.sizeof != self.size_of(kind):
            raise Mismatch(f"is {ctype}, not {kind.size}")

    def value_complex(self, kind, ctype, whole):
        if ctype.code != gdb.TYPE_CODE_COMPLEX or \
                ctype.sizeof != self.size_of(kind):
            raise Mismatch(f"is {ctype}, not complex {kind.size}")

    def value_pointer(self, kind, ctype, whole):
        target = pointed(ctype)
        if self.kernel and not kind.target and str(ctype) == "unsigned long":
            return
        if target is None or ctype.code == gdb.TYPE_CODE_ARRAY:
            raise Mismatch(f"is {ctype}, not a pointer")
        if kind.size == "file" and plain(target).code != \
                gdb.TYPE_CODE_VOID and "_IO_FILE" not in str(plain(target)):
            raise Mismatch(f"is {ctype}, not a FILE *")
        if kind.text:
            self.text(kind, target)
        elif kind.target:
            self.behind(kind.target, target)

    def text(self, kind, target):
        target = plain(target)
        if target.code == gdb.TYPE_CODE_VOID or kind.text == "bytes":
            return
        if target.code not in INTEGERS or \
                target.sizeof != self.size_of(kind.target):
            raise Mismatch(f"points to {target}, which are no characters")

    def behind(self, kind, target):
        if kind.kind == "array":
            if pointed(target) is not None and \
                    plain(target).code == gdb.TYPE_CODE_ARRAY:
                target = plain(target).target()
            if kind.typedef:
                self.met.add(kind.typedef)
            if kind.text == "bits":
                return
            kind = kind.target
            whole = True
        else:
            whole = False
        if plain(target).code == gdb.TYPE_CODE_VOID and \
                kind.kind not in ("struct", "union", "void"):
            return
        self.value(kind, target, whole)

    def value_array(self, kind, ctype, whole):
        if ctype.code == gdb.TYPE_CODE_ARRAY:
            if ctype.sizeof != self.size_of(kind):
                raise Mismatch(f"is {ctype}, of another size")
            self.value(kind.target, ctype.target(), True)
        elif pointed(ctype) is not None:
            self.behind(kind, pointed(ctype))
        elif ctype.code not in UNIONS + INTEGERS or kind.target.kind != "integer" or \
                ctype.sizeof != self.size_of(kind):
            raise Mismatch(f"is {ctype}, not an array")

    def value_struct(self, kind, ctype, whole):
        if ctype.code not in UNIONS:
            raise Mismatch(f"is {ctype}, not a struct")
        if not kind.members:  # announced in a typedef
            kind = self.types.get(kind.typedef, kind)
        if not kind.members:
            raise Mismatch("a struct without members")
        if (kind, str(ctype)) in self.open:
            return
        if whole and self.size_of(kind) != ctype.sizeof:
            raise Mismatch(f"{ctype} has {ctype.sizeof} bytes, "
                           f"not {self.size_of(kind)}")
        self.open.append((kind, str(ctype)))
        for at, member, name in self.layout(kind):
            if name is None:
                continue
            found = self.member(ctype, name)
            if found is None:
                raise Mismatch(f"{ctype} has no member {name}")
            offset, member_type = found
            if offset != at:
                raise Mismatch(f"{name} of {ctype} is at {offset}, not {at}")
            if member.length == ("number", 0):
                self.flexible(member, member_type, name)
                continue
            if self.size_of(member) != plain(member_type).sizeof and \
                    member.typedef != "sigbits":
                raise Mismatch(f"{name} of {ctype} has another size")
            try:
                self.value(member, member_type, True)
            except Mismatch as mismatch:
                raise Mismatch(f"{name} of {ctype} {mismatch}") from None
        self.open.pop()

    def flexible(self, kind, ctype, name):
        """Elements behind a struct, which has room for one at most."""
        ctype = plain(ctype)
        if ctype.code != gdb.TYPE_CODE_ARRAY or \
                ctype.sizeof > plain(ctype.target()).sizeof:
            raise Mismatch(f"{name} has a size of its own")
        self.value(kind.target, ctype.target(), True)

    value_union = value_struct
    open = []

    def member(self, ctype, name, base=0):
        """(offset, type) of a member, also of unions inside; or None."""
        inner = []
        for field in ctype.fields():
            if not hasattr(field, "bitpos") or field.bitsize:
                continue
            if field.name == name:
                return base + field.bitpos // 8, field.type
            if plain(field.type).code in UNIONS:
                inner.append(field)
        for field in inner:
            found = self.member(plain(field.type), name,
                                base + field.bitpos // 8)
            if found:
                return found
        return None

    # ------------------------------------------------------------ functions

    def function(self, function, ctype):
        """What is wrong with a prototype, or None."""
        ctype = ctype.strip_typedefs()
        types = parameters(ctype)
        self.open = []
        try:
            self.count(function, types, is_variadic(ctype))
            self.result(function.result, ctype.target())
            for i, (kind, each) in enumerate(zip(function.parameters, types)):
                self.place(f"parameter {i + 1}", kind, each, True)
            for i, kind in enumerate(function.parameters):
                self.references(kind, types, i)
            self.out_argument(function, types)
        except Mismatch as mismatch:
            return str(mismatch)
        return None

    def result(self, kind, ctype):
        if not self.kernel:
            self.place("the result", kind, ctype, True)
        elif kind.kind not in ("void", "integer", "pointer") or \
                self.size_of(kind) > self.word:
            raise Mismatch("the result doesn't fit into a register")

    def place(self, where, kind, ctype, whole):
        try:
            self.value(kind, ctype, whole)
        except Mismatch as mismatch:
            raise Mismatch(f"{where} {mismatch}") from None

    @staticmethod
    def count(function, types, variadic):
        given, wanted = len(function.parameters), len(types)
        last = function.parameters[-1] if given else None
        more = function.open or given > wanted or (last and last.format)
        if given < wanted or (given > wanted and not variadic):
            raise Mismatch(f"has {wanted} parameters, not {given}")
        if variadic and not more:
            raise Mismatch("takes more arguments: ... is missing")
        if not variadic and more:
            raise Mismatch("takes no variable arguments")
        if last and last.format and given != wanted:
            raise Mismatch(f"has its format in place {wanted}, not {given}")

    def references(self, kind, types, index):
        """argN must be a number, or point to one."""
        if kind.kind == "either":
            for each, _ in kind.members:
                self.references(each, types, index)
            return
        numbers = [kind.condition[0]] if kind.condition else []
        numbers += self.lengths(kind)
        for number in numbers:
            if not 1 <= number[1] <= len(types):
                raise Mismatch(f"arg{number[1]} isn't there")
            target = plain(types[number[1] - 1])
            if target.code in POINTERS:
                target = plain(target.target())
            if target.code not in INTEGERS or target.sizeof == 1:
                raise Mismatch(f"parameter {index + 1} depends on "
                               f"arg{number[1]}, which is no number")

    def lengths(self, kind):
        pending, found = [kind.length], []
        while pending:
            each = pending.pop()
            if not each:
                continue
            if each[0] == "argument":
                found.append(each)
            elif each[0] == "zero":
                pending.append(each[1])
            elif each[0] == "product":
                pending += each[1]
        if kind.target:
            found += self.lengths(kind.target)
        return found

    @staticmethod
    def out_argument(function, types):
        if function.later >= len(types):
            return
        kind = function.parameters[function.later]
        ctype = types[function.later]
        target = pointed(ctype)
        if kind.format:
            return
        if target is None:
            raise Mismatch(f"parameter {function.later + 1} has a + "
                           "but is no pointer")
        if str(target) == str(target.const()) and \
                plain(target).code not in UNIONS:
            raise Mismatch(f"parameter {function.later + 1} has a + "
                           f"but is {ctype}")
