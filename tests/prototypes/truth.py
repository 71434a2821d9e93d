# SPDX-License-Identifier: GPL-2.0-or-later
"""What a compiler and the headers of the system say: about functions, and
about constants."""

import os
import re
import subprocess

COMPILER = os.environ.get("PROTOTYPES_CC", "gcc")


class Unavailable(Exception):
    """The text says which header isn't there."""


class Headers:
    """A text of #include lines and declarations, and what it is for."""

    def __init__(self, path, flags, directory):
        self.path = path
        self.flags = flags
        self.directory = directory
        self.text = f'#include "{os.path.abspath(path)}"\n'
        self.number = 0

    def compile(self, body, *options):
        """(whether it could be compiled, messages, path of the result)"""
        self.number += 1
        stem = os.path.basename(self.path).replace(".", "-")
        source = os.path.join(self.directory,
                              f"{stem}{self.flags[0]}-{self.number}.c")
        with open(source, "w", encoding="ascii") as file:
            file.write(self.text + "#line 1\n" + body)
        done = subprocess.run(
            [COMPILER, *self.flags, *options, "-w", "-fmax-errors=0",
             "-o", source + ".out", source],
            capture_output=True, text=True, check=False)
        return done.returncode == 0, done.stderr, source + ".out"

    def known(self, names, line):
        """Those of the names for which a line with it can be compiled."""
        names = sorted(names)
        body = "\n".join(line(name) for name in names) + "\n"
        good, messages, _ = self.compile(body, "-fsyntax-only")
        if good:
            return names
        wrong = {int(n) for n in re.findall(
            r"-\d+\.c:(\d+):\d+: error", messages)}
        missing = re.search(r"error: (.*: No such file or directory)",
                            messages)
        if missing:
            raise Unavailable(missing[1])
        if not wrong:
            raise SystemExit(f"{self.path} can't be compiled:\n{messages}")
        return [n for i, n in enumerate(names, 1) if i not in wrong]

    def functions(self, names, undefine=True):
        """Those that are declared, and an object file that describes them as
        what the variables proto_NAME point to."""
        def one(name):
            return f"__typeof__({name}) *proto_{name};"
        base = self.text
        if undefine:
            self.text += "".join(f"#undef {n}\n" for n in sorted(names))
        found = self.known(names, one)
        good, messages, path = self.compile(
            "\n".join(map(one, found)) + "\n", "-g", "-c")
        self.text = base
        if not good:
            raise SystemExit(messages)
        return set(found), path

    def constants(self, names):
        """{name: value} of those that are macros or constants of enums."""
        def one(name):
            return f"long long value_{name}(void) {{ return (long long) {name}; }}"
        found = self.known(names, one)
        body = "int printf(const char *, ...);\nint main(void) {\n" + "".join(
            f'printf("{n} %lld\\n", (long long) ({n}));\n' for n in found
        ) + "}\n"
        good, messages, path = self.compile(body)
        if not good:
            raise SystemExit(messages)
        text = subprocess.run([path], capture_output=True, text=True,
                              check=True).stdout
        return {name: int(value) for name, value in
                (line.split() for line in text.splitlines())}
