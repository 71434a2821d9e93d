#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Compares every line of the prototype files with the system's headers."""

import itertools
import os
import re
import shutil
import subprocess
import sys
import tempfile

ETC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "etc")

# Per prototype file: the headers that should declare its functions.
HEADERS = {"libc.so.conf": """
    assert ctype dirent dlfcn err errno error fcntl fnmatch fts ftw getopt glob grp
    iconv ifaddrs inttypes langinfo libgen libintl link locale malloc mntent netdb poll
    pthread pty pwd regex sched search semaphore setjmp signal spawn stdio stdio_ext
    stdlib string strings syslog termios time unistd utime wchar wctype arpa/inet net/if
    netinet/in sys/auxv sys/epoll sys/eventfd sys/file sys/inotify sys/ioctl sys/mman
    sys/mount sys/msg sys/prctl sys/ptrace sys/random sys/resource sys/select sys/sem
    sys/sendfile sys/shm sys/signalfd sys/socket sys/stat sys/statfs sys/statvfs
    sys/sysinfo sys/time sys/timerfd sys/times sys/types sys/uio sys/utsname sys/wait
    sys/xattr"""}

FLAGS = ["-std=gnu11", "-O2", "-D_FORTIFY_SOURCE=2", "-D_GNU_SOURCE"]

LENSES = ("hex", "oct", "octal", "bool", "hide", "bitvec", "guess", "char")
INTEGERS = {  # name: (size, signed); 0 is the size of a pointer
    "char": (1, True), "uchar": (1, False), "short": (2, True), "ushort": (2, False),
    "int": (4, True), "uint": (4, False), "long": (0, True), "ulong": (0, False),
    "llong": (8, True), "ullong": (8, False), "bool": (1, False),
    "hex": (4, False), "oct": (4, False), "octal": (4, False), "guess": (0, True),
}


def split(text):
    """The parts between the commas that stand outside brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return parts if parts != [""] else []


def enum_names(lens):
    """(name, value) pairs of enum(...)."""
    pairs, value = [], -1
    for item in split(re.search(r"\((.*)\)", lens)[1]):
        name, _, given = item.partition("=")
        value = int(given, 0) if given else value + 1
        pairs.append((name.strip(), value))
    return tuple(pairs)


def kind(lens, typedefs):
    """("void",), ("integer", size, signed) or ("pointer", kind behind it)."""
    lens = lens.lstrip("+ ").strip()
    if lens.endswith("*"):
        return ("pointer", kind(lens[:-1], typedefs))
    call = re.fullmatch(r"(\w+)\s*\((.*)\)", lens)
    if call and call[1] in LENSES:
        return kind(call[2], typedefs)
    if call and call[1] == "array":
        return ("array", kind(split(call[2])[0], typedefs))
    if lens in typedefs:
        return kind(typedefs[lens], typedefs)
    if lens in INTEGERS:
        return ("integer",) + INTEGERS[lens]
    if re.match(r"enum\b", lens):
        base = re.match(r"enum\s*\[(.*?)\]", lens)
        return kind(base[1] if base else "int", typedefs) + (enum_names(lens),)
    if re.match(r"(string|bytes|format)\b|string\d", lens):
        return ("pointer", ("text",))
    return {"void": ("void",), "addr": ("pointer", ("void",)),
            "file": ("pointer", ("file",))}[lens]


def read_prototypes(path):
    """(line number, name, result, parameters, variadic) of each function."""
    typedefs, functions = {}, []
    for number, line in enumerate(open(path), 1):
        line = line.split("#")[0].strip()
        item = re.fullmatch(r"typedef\s+(\w+)\s*=\s*(.*);", line)
        if item:
            typedefs[item[1]] = item[2]
        elif line and not line.startswith((";", "import")):
            result, name, rest = re.fullmatch(
                r"(.*?[\s*])(\w+)\s*\((.*)\);", line).groups()
            lenses = [p for p in split(rest) if p != "void"]
            functions.append((number, name, kind(result, typedefs),
                              tuple(kind(p, typedefs) for p in lenses),
                              lenses[-1:] in (["format"], ["+format"])))
    return functions


def includes(headers):
    return "#include <stddef.h>\n" + "".join(
        f"#if __has_include(<{h}.h>)\n#include <{h}.h>\n#endif\n" for h in headers)


def declared(compiler, flags, headers, directory):
    """The parameters' types, as text, of each function of the headers; or None."""
    source = os.path.join(directory, "headers.c")
    listing = os.path.join(directory, "headers.aux")
    open(source, "w").write(includes(headers))
    if subprocess.run([compiler, *flags, "-aux-info", listing, "-c", source, "-o",
                       os.devnull], capture_output=True).returncode:
        return None
    found = {}
    for line in open(listing):
        text = re.sub(r"/\*.*?\*/", "", line)
        match = re.search(r"\b(\w+) \((?!\*)", text)
        if not match or match[1] in found:
            continue
        depth, end = 1, match.end()
        while end < len(text) and depth:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        inner = text[match.end():end - 1].strip()
        found[match[1]] = [] if inner == "void" else split(inner)
    return found


def checks(value, wanted):
    """C expressions that hold when an expression is of the kind wanted."""
    shape = f"__builtin_classify_type({value})"
    if wanted[0] == "void":
        return [f"__builtin_types_compatible_p(__typeof__({value}), void)"]
    if wanted[0] == "integer":
        return [f"{shape} == 1",
                f"sizeof({value}) == {wanted[1] or 'sizeof(void *)'}",
                f"(((__typeof__({value}))-1) < 1) == {int(wanted[2])}"] + [
                    f"{n} == {v}" for names in wanted[3:] for n, v in names]
    behind = f"*({value})"
    # 13: glibc declares a few pointers as transparent unions of pointers.
    result = [f"({shape} == 5 || {shape} == 13)"]
    if wanted[1] == ("text",):
        result.append(f"sizeof({behind}) == 1")
    elif wanted[1] == ("file",):
        result.append(f"__builtin_types_compatible_p(__typeof__({behind}), FILE)")
    elif wanted[1][0] == "array":
        result += checks(behind, wanted[1][1])
    elif wanted[1] != ("void",) and wanted[1][0] != "void":
        result += checks(behind, wanted[1])
    return result


def check_function(function, types):
    """(number of the parameter, C expression) pairs, or what is wrong."""
    _, name, result, parameters, variadic = function
    fixed = [t.replace("__va_list_tag *", "__builtin_va_list")
             for t in types if t != "..."]
    if variadic and "..." not in types:
        return [], "has a format but no variable arguments"
    if len(parameters) < len(fixed) or (
            "..." not in types and len(parameters) > len(fixed)):
        return [], f"has {len(fixed)} parameters, not {len(parameters)}"
    values = [f"(*(__typeof__({t}) *)0)" for t in fixed]
    call = f"((__typeof__(&{name}))0)({', '.join(values)})"
    pairs = [(0, c) for c in checks(call, result)]
    for i, (value, wanted) in enumerate(zip(values, parameters), 1):
        pairs += [(i, c) for c in checks(value, wanted)]
    return pairs, None


def compare(compiler, flags, headers, known, functions, directory):
    """(line, name, what is wrong) of functions, and names that aren't declared."""
    source, conditions, wrong = os.path.join(directory, "check.c"), [], {}
    names = [function[1] for function in functions]
    for function in functions:
        if names.count(function[1]) > 1:
            wrong[function] = "is there twice"
        if function[1] in known:
            pairs, problem = check_function(function, known[function[1]])
            if problem:
                wrong[function] = problem
            conditions += [(function, p, c) for p, c in pairs]
    with open(source, "w") as out:
        out.write(includes(headers) + "#line 1\n")
        for _, _, condition in conditions:
            out.write(f'_Static_assert({condition}, "");\n')
    messages = subprocess.run(
        [compiler, *flags, "-w", "-fsyntax-only", "-fmax-errors=0", source],
        capture_output=True, text=True).stderr
    for number in re.findall(r"check\.c:(\d+):\d+: (?:fatal )?error", messages):
        function, parameter, condition = conditions[int(number) - 1]
        where = f"parameter {parameter}" if parameter else "the result"
        wrong.setdefault(function, f"{where} isn't so: {condition}")
    return ([(f[0], f[1], wrong[f]) for f in functions if f in wrong],
            [name for name in names if name not in known])


def main():
    compiler = shutil.which("gcc")
    if not compiler:
        print("1..0 # SKIP gcc is not installed (its -aux-info is needed)")
        return 0
    failed, results = 0, []
    with tempfile.TemporaryDirectory() as directory:
        for flag, (name, headers) in itertools.product(("-m64", "-m32"),
                                                       HEADERS.items()):
            title = f"{name} {flag}"
            flags, headers = [flag, *FLAGS], headers.split()
            known = declared(compiler, flags, headers, directory)
            if known is None:
                results.append(f"ok - {title} # SKIP gcc has no headers for that")
                continue
            functions = read_prototypes(os.path.join(ETC, name))
            wrong, missing = compare(compiler, flags, headers, known, functions,
                                     directory)
            failed += bool(wrong)
            results += [f"# {name}:{line} {function}: {problem}"
                        for line, function, problem in wrong]
            results.append(f"{'not ok' if wrong else 'ok'} - {title}: "
                           f"{len(functions) - len(missing)} functions")
            if missing:
                results.append(f"ok - {title}, others # SKIP not in this system's "
                               f"headers: {' '.join(missing)}")
    print("\n".join(results))
    print(f"1..{len([r for r in results if not r.startswith('#')])}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
