#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Every line of the prototype files, compared with what the system's headers
and debug information say about the same functions, types and constants."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.dont_write_bytecode = True

import conf  # noqa: E402
import kernel  # noqa: E402
import truth  # noqa: E402

ETC = os.path.join(HERE, "..", "..", "etc")
WORDS = {"-m64": 8, "-m32": 4}
MULTIARCH = "/usr/include/x86_64-linux-gnu"

# Which headers declare the functions of a file, and its library.
FILES = {
    "libc.so.conf": (["libc.h", "undeclared.h"], "libc.so.6"),
    "libpthread.so.conf": (["libc.h", "undeclared.h"], "libc.so.6"),
    "libdl.so.conf": (["libc.h", "undeclared.h"], "libc.so.6"),
    "libm.so.conf": (["libc.h", "undeclared.h"], "libm.so.6"),
    "ld-linux.so.conf": (["libc.h", "undeclared.h"], "ld-linux-x86-64.so.2"),
    "libstdc++.so.conf": (["libc.h", "libstdc++.h"], "debug/libstdc++.so.6"),
    "libz.so.conf": (["libz.h"], "libz.so.1"),
    "libcrypto.so.conf": (["libcrypto.h"], "libcrypto.so.3"),
    "libssl.so.conf": (["libssl.h"], "libssl.so.3"),
    "libsqlite3.so.conf": (["libsqlite3.h"], "libsqlite3.so.0"),
    "libmariadb.so.conf": (["libmariadb.h"], "libmariadb.so.3"),
    "libcurl.so.conf": (["libcurl.h"], "libcurl.so.4"),
    "libjemalloc.so.conf": (["libjemalloc.h"], "libjemalloc.so.2"),
    "libmimalloc.so.conf": (["libmimalloc.h"], "libmimalloc.so.2"),
    "libtcmalloc_minimal.so.conf": (["libtcmalloc.h"],
                                    "libtcmalloc_minimal.so.4"),
    "php8.2.conf": (["php8.2.h"], None),
    "libacl.so.conf": (["libacl.h"], "libacl.so.1"),
    "libbfd-2.40-system.so.conf": (["libbfd.h"], "libbfd-2.40-system.so"),
    "libncurses.so.conf": (["libncurses.h"], "libncurses.so.6"),
    "libncursesw.so.conf": (["libncurses.h"], "libncursesw.so.6"),
    "libpcap.so.conf": (["libpcap.h"], "libpcap.so.0.8"),
    "libreadline.so.conf": (["libreadline.h"], "libreadline.so.8"),
    "libtinfo.so.conf": (["libncurses.h"], "libtinfo.so.6"),
    "libX11.so.conf": (["libX11.h"], "libX11.so.6"),
}
# Where some of those headers are. They are for 64 bits alone.
PHP = "/usr/include/php/20220829"
FOLDERS = {"php8.2.h": [f"{PHP}/{d}" for d in (".", "main", "Zend", "TSRM")]}
# What glibc 2.36 exports, and 2.41 doesn't any more.
GONE = {"_dl_catch_error", "__nptl_change_stack_perm"}
# Those with the constants of all others, and of whatever calls the kernel.
CONSTANTS = ["libc.h", "linux.h"]

results = []


def result(name, wrong, skip=None):
    results.append(bool(wrong))
    line = f"{'not ok' if wrong else 'ok'} {len(results)} - {name}"
    print(line + (f" # SKIP {skip}" if skip else ""))
    for each in wrong:
        print("# " + each)
    sys.stdout.flush()


def run_gdb(program, path, functions, word, directory, is_kernel=False):
    """What inside_gdb.py answers."""
    job = os.path.join(directory, "job.json")
    answer = os.path.join(directory, "answer.json")
    if os.path.exists(answer):
        os.unlink(answer)
    with open(job, "w", encoding="ascii") as file:
        json.dump({"file": path, "word": word, "functions": functions,
                   "answer": answer, "kernel": is_kernel}, file)
    done = subprocess.run(
        ["gdb", "-batch", "-nx", "-x", os.path.join(HERE, "inside_gdb.py"),
         program], capture_output=True, text=True, check=False,
        env={**os.environ, "PROTOTYPES_JOB": job, "PROTOTYPES_FOLDER": HERE,
             "DEBUGINFOD_URLS": ""})
    if not os.path.exists(answer):
        raise SystemExit(f"Bail out! gdb: {done.stderr}")
    with open(answer, encoding="ascii") as file:
        return json.load(file)


class Check:
    def __init__(self, etc, directory):
        self.etc = etc
        self.directory = directory
        self.met = {}       # file: typedefs that were compared
        self.checked = {}   # file: functions that were compared
        self.skipped = set()  # files whose truth isn't installed

    def path(self, name):
        return os.path.join(self.etc, name)

    def read(self, name):
        return conf.Reader(self.path(name)).read()

    def headers(self, name, flag):
        flags = [flag] + (["-idirafter", MULTIARCH] if flag == "-m32" else [])
        flags += ["-I" + folder for folder in FOLDERS.get(name, [])]
        return truth.Headers(os.path.join(HERE, "headers", name), flags,
                             self.directory)

    def report(self, name, functions, answer):
        self.met.setdefault(name, set()).update(answer["met"])
        self.checked.setdefault(name, set()).update(
            set(functions) - set(answer["unknown"]))
        lines = self.read(name).functions
        return [f"{name}:{lines[n].line}: {n}: {problem}"
                for n, problem in answer["wrong"].items()]

    def declared(self, name, units, flag):
        """Functions of a file against headers. (wrong, number compared)"""
        left = set(self.read(name).functions)
        wrong, count = [], 0
        for unit in units:
            known, program = self.headers(unit, flag).functions(left)
            left -= known
            count += len(known)
            answer = run_gdb(program, self.path(name),
                             {n: "proto_" + n for n in sorted(known)},
                             WORDS[flag], self.directory)
            wrong += self.report(name, known, answer)
        return wrong, count

    def exported(self, name, library):
        """Functions against debug information of the library."""
        path = library_path(library)
        wanted = self.read(name).functions
        symbols = {n: a for n, a in dynamic_symbols(path).items()
                   if n in wanted}
        answer = run_gdb(path, self.path(name), symbols, 8, self.directory)
        wrong = self.report(name, symbols, answer)
        self.checked[name] |= GONE.difference(symbols)
        return wrong, len(symbols) - len(answer["unknown"])

    def system_calls(self, name, arch, flag):
        """Those of an architecture; all must be there."""
        declared = kernel.declarations()
        names = kernel.names(arch)
        functions = self.all_functions(name)
        wrong = [f"{name}: no {n}" for n in names if n not in functions]
        if name == "syscalls.conf":
            wrong += [f"{name}: {n} is no system call of {arch}"
                      for n in functions
                      if n not in names and n not in kernel.NEWER]
        headers = self.headers("syscalls.h", flag)
        specific = os.path.join(HERE, "headers", f"syscalls-{arch}.h")
        headers.text += "\n".join(declared.values()) + (
            f'\n#include "{specific}"\n')
        wanted = [n for n in names if n in functions]
        own = headers.known([f"{arch}_{n}" for n in wanted],
                            lambda n: f"__typeof__({n}) *proto_{n};")
        aliases = {n: f"{arch}_{n}" if f"{arch}_{n}" in own else f"sys_{n}"
                   for n in wanted}
        known, program = headers.functions(set(aliases.values()), False)
        wrong += [f"{name}: nothing declares {n}" for n in wanted
                  if aliases[n] not in known]
        compared = {n: "proto_" + aliases[n] for n in wanted
                    if aliases[n] in known}
        flat = self.flattened(name, functions)
        answer = run_gdb(program, flat, compared, WORDS[flag], self.directory,
                         True)
        for file in ("syscalls.conf", "syscalls-i386.conf"):
            self.met.setdefault(file, set()).update(answer["met"])
            self.checked.setdefault(file, set()).update(
                compared, kernel.NEWER.difference(names))
        return wrong + [f"{functions[n].file}:{functions[n].line}: {n}: {p}"
                        for n, p in answer["wrong"].items()], len(compared)

    def all_functions(self, name):
        """Those of the file and, where it has none, of what it imports."""
        reader = self.read(name)
        found = {}
        for other in reader.imports:
            found.update(self.all_functions(other + ".conf"))
        found.update(reader.functions)
        return found

    def flattened(self, name, functions):
        """A file without imports that has all lines."""
        texts, seen = [], set()

        def add(each):
            if each in seen:
                return
            seen.add(each)
            reader = self.read(each)
            for other in reader.imports:
                add(other + ".conf")
            lines = list(reader.lines)
            for function in reader.functions.values():
                if functions.get(function.name) is None or \
                        functions[function.name].file != each:
                    for i in range(function.line - 1, function.end):
                        lines[i] = ""
            texts.append("\n".join(
                line for line in lines if not line.startswith("import")))
        add(name)
        path = os.path.join(self.directory, "flat.conf")
        with open(path, "w", encoding="ascii") as file:
            file.write("\n".join(texts))
        return path


def library_path(name):
    for folder in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu"):
        path = os.path.realpath(os.path.join(folder, name))
        if os.path.exists(path):
            return path
    return None


def dynamic_symbols(path):
    """{name: address} of functions, but not of those that choose one."""
    text = subprocess.run(["readelf", "-W", "--dyn-syms", path],
                          capture_output=True, text=True, check=True).stdout
    found = {}
    for match in re.finditer(r"^ *\d+: (\w+) +\d+ FUNC +\w+ +DEFAULT +\d+ "
                             r"([\w.]+)(@@?)?", text, re.M):
        # Those with one @ are of older versions.
        if match[3] != "@" or match[2] not in found:
            found[match[2]] = int(match[1], 16)
    return found


# ---------------------------------------------------------------- constants

def named_types(kind):
    """All enum()s and flags() in a type."""
    if kind.names:
        yield kind
    if kind.target:
        yield from named_types(kind.target)
    for member, _ in kind.members:
        if member.kind != "struct" or member.members:
            yield from named_types(member)


def constants(check, name):
    """(where, name, value, mask, size in bytes, typedef)"""
    reader = check.read(name)
    own = {line.split()[1] for line in reader.lines
           if line.startswith("typedef")}
    places = [(f"{name}: {n}", t) for n, t in reader.types.items()
              if n in own]
    places += [(f"{name}:{f.line}: {f.name}", t)
               for f in reader.functions.values()
               for t in (f.result, *f.parameters)]
    for where, kind in places:
        for each in named_types(kind):
            for constant, value, mask in each.names:
                yield where, constant, value, mask, each


def check_constants(check, file):
    found = list(constants(check, file))
    wanted = {c[1] for c in found}
    values = {}
    units = FILES[file][0] if file in FILES else CONSTANTS
    for unit in CONSTANTS if "libc.h" in units else units:
        for flag in words_of(units):
            for name, value in check.headers(unit, flag).constants(
                    wanted).items():
                values.setdefault(name, set()).add(value)
    wrong = []
    for where, name, value, mask, kind in found:
        problem = wrong_constant(name, value, mask, kind, values.get(name))
        if problem:
            wrong.append(f"{where}: {problem}")
    return sorted(set(wrong)), len(wanted)


def wrong_constant(name, value, mask, kind, known):
    size = 1 << (8 * (kind.size or 8))
    if mask is not None and value & ~mask:
        return f"{name}={value:#x} isn't within its mask"
    if kind.typedef == "sigbits":
        return wrong_signal(name, value, known)
    if not known:
        return f"no header has {name}"
    if value % size not in {k % size for k in known}:
        return f"{name} is {' or '.join(map(hex, known))}, not {value:#x}"
    return None


def wrong_signal(name, value, known):
    """In sets, signal N is bit N-1; "all" leaves out two of the C library."""
    if name == "all":
        good = value | 3 << 31 == (1 << 64) - 1
    else:
        good = known and value in {1 << (k - 1) for k in known}
    return None if good else f"{name} isn't {value:#x} in a set of signals"


# ---------------------------------------------------------------- arm64

def check_arm64(check, name):
    """Its constants, as its kernel's headers for programs have them."""
    path = os.path.join("aarch64", name)
    with open(check.path(path), encoding="ascii") as file:
        text = file.read()
    reader = conf.Reader(check.path(path), re.sub("^import.*", "", text,
                                                  flags=re.M))
    reader.types.update(check.read(name).types)
    shared = dict(reader.types)
    reader.read()
    wanted = {constant: value for typedef, kind in reader.types.items()
              if kind is not shared.get(typedef)
              for each in named_types(kind)
              for constant, value, _ in each.names}
    own = os.path.join(kernel.folder() or "", "arch", "arm64", "include", "uapi")
    if not os.path.exists(os.path.join(own, "asm", "fcntl.h")):
        result(path, [], "no linux-headers-*-common for arm64")
        return
    known = truth.Headers(os.path.join(HERE, "headers", "aarch64.h"),
                          ["-m64", "-I" + own],
                          check.directory).constants(wanted)
    wrong = [f"{path}: {n} is {known.get(n)}, not {value}"
             for n, value in wanted.items() if known.get(n) != value]
    result(f"{path}: {len(wanted)} constants", wrong)


# ---------------------------------------------------------------- main

def files_of(etc):
    return sorted(n for n in os.listdir(etc) if n.endswith(".conf"))


def check_unchecked(check, files):
    """Lines that nothing was compared with."""
    met = set().union(*check.met.values())
    wrong = []
    for name in set(files) - check.skipped:
        reader = check.read(name)
        wrong += [f"{name}:{f.line}: nothing is known of {f.name}"
                  for f in reader.functions.values()
                  if f.name not in check.checked.get(name, ())]
        wrong += [f"{name}: no function uses the type {line.split()[1]}"
                  for line in reader.lines if line.startswith("typedef")
                  and line.split()[1] not in met]
    return wrong


def words_of(units):
    return [flag for flag in WORDS
            if flag == "-m64" or not any(u in FOLDERS for u in units)]


def check_library(check, name):
    units, library = FILES[name]
    for flag in words_of(units):
        try:
            wrong, count = check.declared(name, units, flag)
        except truth.Unavailable as missing:
            check.skipped.add(name)
            result(f"{name} {flag}", [], str(missing))
            continue
        result(f"{name} {flag}: {count} functions as in the headers", wrong)
    if not library:
        return
    if not library_path(library):
        check.skipped.add(name)
        result(f"{name} and {library}", [], "it isn't installed")
        return
    wrong, count = check.exported(name, library)
    result(f"{name}: {count} functions as in the debug information of "
           f"{library}", wrong)


def check_mistakes(directory):
    """Whether every mistake of a file that has nothing else is found."""
    check = Check(HERE, directory)
    name = "mistakes.conf"
    wrong, _ = check.declared(name, ["libc.h"], "-m64")
    wrong += check_constants(check, name)[0] + check_unchecked(check, [name])
    functions = check.read(name).functions.values()
    found = {w.split(":")[1] for w in wrong}
    missed = [f"{name}:{f.line}: {f.name}: the mistake isn't noticed"
              for f in functions if str(f.line) not in found]
    if not any("never_used" in w for w in wrong):
        missed.append("a type that isn't used is not noticed")
    result(f"{len(functions) + 1} mistakes are noticed", missed)


def main():
    if not shutil.which("gdb") or not shutil.which(truth.COMPILER):
        print("1..0 # SKIP gdb and gcc are needed")
        return 0
    with tempfile.TemporaryDirectory() as directory:
        check_mistakes(directory)
        check = Check(ETC, directory)
        files = files_of(ETC)
        for name in files:
            if name in FILES:
                check_library(check, name)
        for name, arch, flag in (("syscalls.conf", "x86_64", "-m64"),
                                 ("syscalls-i386.conf", "i386", "-m32")):
            if kernel.declarations() is None:
                result(f"{name}", [], "no linux-headers-*-common")
                check.skipped |= {name, "linux-types.conf"}
                continue
            wrong, count = check.system_calls(name, arch, flag)
            result(f"{name}: {count} system calls of {arch}", wrong)
        for name in ("linux-types.conf", "syscalls.conf"):
            check_arm64(check, name)
        for name in files:
            if name in check.skipped:
                continue
            wrong, count = check_constants(check, name)
            result(f"{name}: {count} constants", wrong)
        result("no line that was not checked", check_unchecked(check, files))
    print(f"1..{len(results)}")
    return 1 if any(results) else 0


if __name__ == "__main__":
    sys.exit(main())
