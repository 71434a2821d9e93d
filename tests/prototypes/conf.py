# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads prototype files, as calltrap.conf(5) describes them. It shares nothing
with calltrap: a file that both understand in the same way is right."""

import dataclasses
import os
import re

WORD = 0  # the size of what is as large as a pointer

INTEGERS = {  # name: (size, signed)
    "char": (1, None), "schar": (1, True), "uchar": (1, False),
    "short": (2, True), "ushort": (2, False), "int": (4, True),
    "uint": (4, False), "long": (WORD, True), "ulong": (WORD, False),
    "llong": (8, True), "ullong": (8, False), "bool": (1, None),
    "hex": (4, None), "oct": (4, None), "octal": (4, None),
    "bin": (4, None), "bitvec": (4, None), "hide": (4, None),
    "guess": (WORD, None), "guess_string": (WORD, None),
    "errname": (4, True), "int8": (1, True), "uint8": (1, False),
    "int16": (2, True), "uint16": (2, False), "int32": (4, True),
    "uint32": (4, False), "int64": (8, True), "uint64": (8, False),
    "int128": (16, True), "uint128": (16, False),
}
FLOATS = {"float": ("float", 4), "double": ("float", 8),
          "ldouble": ("float", "long double"), "cfloat": ("complex", 8),
          "cdouble": ("complex", 16), "cldouble": ("complex", "long double")}
LENSES = {"hex", "oct", "octal", "bool", "bin", "guess", "hide", "char",
          "bitvec", "errname"}
RESULTS = {"errno", "errnum", "fails_zero", "fails_nonzero",
           "fails_negative"}

TOKEN = re.compile(r'\s*(?:(#.*)|(0[xX][0-9a-fA-F]+|\d+)|([A-Za-z_]\w*)|'
                   r'("[^"\n]*")|(\.\.\.|==|.))')


class Wrong(Exception):
    """Something in a file that can't be understood."""


@dataclasses.dataclass(frozen=True)
class Type:
    kind: str               # void integer float complex pointer array struct
                            # union any
    size: object = None     # bytes, WORD, or the name of a C type
    signed: object = None   # None: is shown in a way that doesn't depend on it
    names: tuple = ()       # (name, value, mask) of enum() and flags()
    target: object = None   # of pointers and arrays; None: anything
    length: object = None   # of arrays and texts: (word, argument)
    members: tuple = ()     # (Type, name or None)
    text: str = ""          # "string" or "bytes"; "bits" of arrays
    format: bool = False
    condition: object = None  # of when(): (argument, test, numbers)
    failure: object = None    # of results
    typedef: object = None    # its name


@dataclasses.dataclass(frozen=True)
class Function:
    file: str
    line: int
    name: str
    result: Type
    parameters: tuple
    later: int              # the first parameter with a +, or their number
    open: bool              # ends in ...
    end: int                # its last line


class Reader:
    def __init__(self, path, text=None):
        self.path = path
        self.file = os.path.basename(path)
        if text is None:
            with open(path, encoding="ascii") as file:
                text = file.read()
        self.lines = text.split("\n")
        self.types = {}
        self.functions = {}
        self.imports = []
        self.tokens = []
        self.at = self.line = self.first = 0

    # ------------------------------------------------------------ words

    def read(self):
        while self.line < len(self.lines):
            self.first = self.line + 1
            self.tokens, self.at, depth = [], 0, 0
            while True:
                words = self.words(self.lines[self.line])
                self.line += 1
                self.tokens += words
                depth += sum((w in "([") - (w in ")]") for w in words)
                if depth <= 0 or self.line == len(self.lines):
                    break
            if self.tokens and self.tokens[0] != ";":
                try:
                    self.item()
                except Wrong as wrong:
                    raise Wrong(f"{self.file}:{self.first}: {wrong}") from None
        return self

    @staticmethod
    def words(line):
        found, at = [], 0
        line = line.rstrip()
        while at < len(line):
            match = TOKEN.match(line, at)
            at = match.end()
            if not match[1]:
                found.append(match[0].strip())
        return found

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, wanted=None):
        word = self.peek()
        if wanted is not None and word != wanted:
            raise Wrong(f"expected {wanted!r}, not {word!r}")
        self.at += 1
        return word

    def maybe(self, word):
        if self.peek() != word:
            return False
        self.at += 1
        return True

    def name(self):
        if not re.match(r"[A-Za-z_]", self.peek()):
            raise Wrong(f"expected a name, not {self.peek()!r}")
        return self.take()

    def number(self):
        negative = self.maybe("-")
        word = self.take()
        if not word[:1].isdigit():
            raise Wrong(f"expected a number, not {word!r}")
        octal = len(word) > 1 and word[0] == "0" and word.isdigit()
        value = int(word, 8) if octal else int(word, 0)
        return -value if negative else value

    # ------------------------------------------------------------ items

    def item(self):
        if self.maybe("script"):
            return  # test_scripts.py has the truth
        if self.maybe("import"):
            name = self.take().strip('"')
            self.imports.append(name)
            other = Reader(os.path.join(os.path.dirname(self.path),
                                        name + ".conf")).read()
            self.types = {**other.types, **self.types}
        elif self.maybe("typedef"):
            name = self.name()
            self.take("=")
            kind = self.type()
            self.types[name] = dataclasses.replace(kind, typedef=name)
        else:
            self.function()
        self.take(";")
        if self.peek() not in ("", ";"):
            raise Wrong(f"{self.peek()!r} behind the end")

    def function(self):
        result = self.type()
        name = self.name()
        if name in self.functions:
            raise Wrong(f"{name} is there twice")
        self.take("(")
        parameters, later, open_end = [], None, False
        names = set()
        while not self.maybe(")"):
            if self.maybe("..."):
                open_end = True
                self.take(")")
                break
            if self.maybe("+"):
                self.maybe("+")
                later = len(parameters) if later is None else later
            parameters.append(self.alternatives())
            if self.maybe("."):
                argument = self.name()
                if argument in names:
                    raise Wrong(f"two arguments named {argument}")
                names.add(argument)
            if self.peek() != ")":
                self.take(",")
        if [p.kind for p in parameters] == ["void"]:
            parameters = []
        self.functions[name] = Function(
            self.file, self.first, name, result, tuple(parameters),
            len(parameters) if later is None else later, open_end, self.line)

    # ------------------------------------------------------------ types

    def alternatives(self):
        """Of a parameter: when(...) | when(...) | TYPE"""
        found = [self.type()]
        while found[-1].condition and self.maybe("|"):
            found.append(self.type())
        if len(found) == 1:
            return found[0]
        return Type("either", members=tuple((f, None) for f in found),
                    condition=found[-1].condition)

    def type(self):
        found = self.plain_type()
        while self.maybe("*"):
            found = Type("pointer", target=found)
        return found

    def plain_type(self):
        name = self.name()
        following = self.peek()
        composed = getattr(self, "type_" + name, None)
        if composed and following in ("(", "["):
            return composed()
        if following == "(" and name in LENSES:
            return self.inside(lambda: self.shown(self.type(), name))
        if following == "(" and name in RESULTS:
            return self.inside(lambda: dataclasses.replace(
                self.type(), failure=name))
        return self.named(name)

    def named(self, name):
        if name in self.types:
            return self.types[name]
        if name in INTEGERS:
            return Type("integer", *INTEGERS[name])
        if name in FLOATS:
            return Type(*FLOATS[name])
        numbered = re.fullmatch(r"(string|wstring)(\d+)", name)
        if name in ("string", "format") or numbered:
            length = ("argument", int(numbered[2])) if numbered else None
            return Type("pointer", text="string", format=name == "format",
                        target=Type("integer", 1), length=length)
        if name in ("addr", "file"):
            return Type("pointer", size=name)
        if name == "void":
            return Type("void")
        if name == "struct":
            return Type("struct")
        raise Wrong(f"no type {name}")

    def inside(self, read):
        self.take("(")
        found = read()
        self.take(")")
        return found

    def shown(self, inner, lens):
        """Integers that a lens shows without regard to their sign."""
        if inner.kind == "integer":
            names = inner.names if lens == "hide" else ()
            return dataclasses.replace(inner, signed=None, names=names)
        if inner.kind == "array" and lens == "bitvec":
            return dataclasses.replace(inner, text="bits")
        if inner.kind in ("pointer", "array") and inner.target:
            return dataclasses.replace(inner,
                                       target=self.shown(inner.target, lens))
        return inner

    def length(self):
        word = self.peek()
        numbered = re.fullmatch(r"(arg|elt)(\d+)", word)
        if numbered:
            self.take()
            kind = "argument" if numbered[1] == "arg" else "member"
            found = (kind, int(numbered[2]))
        elif word == "retval":
            self.take()
            found = ("result", None)
        elif word == "zero":
            self.take()
            found = ("zero", self.inside(self.length)
                     if self.peek() == "(" else None)
        else:
            found = ("number", self.number())
        if self.maybe("*"):
            return ("product", (found, self.length()))
        return found

    def type_string(self, text="string"):
        if self.maybe("["):
            length = self.length()
            self.take("]")
            return Type("pointer", text=text, target=Type("integer", 1),
                        length=length)
        inner = self.inside(self.type)
        if inner.kind == "pointer" and inner.target.kind == "array":
            inner = dataclasses.replace(inner, target=inner.target.target,
                                        length=inner.target.length)
        return dataclasses.replace(inner, text=text)

    def type_at(self):
        return self.inside(self.type)

    def type_bytes(self):
        return self.type_string("bytes")

    def type_sockaddr(self):
        return self.type_string("bytes")

    def type_array(self):
        self.take("(")
        element = self.type()
        self.take(",")
        length = self.length()
        if length[0] == "zero" and length[1] and length[1][0] == "number":
            length = length[1]
        self.take(")")
        return Type("array", target=element, length=length)

    def member_list(self):
        self.take("(")
        found = []
        while not self.maybe(")"):
            kind = self.type()
            name = self.name() if self.peek() not in (",", ")") else None
            found.append((kind, name))
            if self.peek() != ")":
                self.take(",")
        return tuple(found)

    def type_struct(self):
        return Type("struct", members=self.member_list())

    def type_union(self):
        return Type("union", members=self.member_list())

    def name_list(self, masks):
        base = Type("integer", 4)
        if self.maybe("["):
            base = self.type()
            self.take("]")
        self.take("(")
        found, value = [], -1
        while True:
            name = self.name()
            value, mask = value + 1, None
            if self.maybe("="):
                value = self.number()
            if masks and self.maybe("/"):
                mask = self.number()
            found.append((name, value, mask))
            if self.maybe(")"):
                break
            self.take(",")
        return dataclasses.replace(base, signed=None, names=tuple(found))

    def type_enum(self):
        return self.name_list(masks=False)

    def type_flags(self):
        return self.name_list(masks=True)

    def type_when(self):
        self.take("(")
        argument = self.length()
        test = self.take()
        numbers = [self.number()]
        while test == "==" and self.maybe("|"):
            numbers.append(self.number())
        self.take(",")
        inner = self.type()
        self.take(")")
        return dataclasses.replace(inner, condition=(argument, test, numbers))
