# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs: how they are built and run, and what the key says of them."""

import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
C_FLAGS = ["-O2", "-g", "-fno-inline", "-fno-optimize-sibling-calls",
           "-pthread"]
SUFFIXES = {".c": "cc", ".cc": "c++", ".rs": "rustc", ".go": "go",
            ".py": "python3", ".pl": "perl", ".js": "node"}


class Missing(Exception):
    """Something that a program needs isn't installed."""


class Broken(Exception):
    """A program can't be built, though all is there that it needs."""


class Program:
    """One server: its source, its key, and (once it is built) its command."""

    def __init__(self, name, source, key):
        self.name = name
        self.source = source
        self.key = key
        self.command = None
        self.is_script = source.endswith((".py", ".pl", ".js"))
        self.is_ours = source.endswith((".c", ".cc"))

    def build(self, folder, *flags):
        """Builds into a folder; returns the command, without the seconds."""
        return build(self.source, self.name, folder, flags)


def read_key(path):
    """The key as a dict of dicts: program, function: leak or healthy."""
    key = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 3 or words[2] not in ("leak", "healthy"):
                sys.exit("%s: %r is no program, function and verdict" %
                         (path, line))
            key.setdefault(words[0], {})[words[1]] = words[2]
    return key


def all_programs(folder=HERE):
    """Those that a folder has, which are those of its key."""
    found = []
    for name, key in read_key(os.path.join(folder, "key")).items():
        sources = [os.path.join(folder, name + suffix) for suffix in SUFFIXES
                   if os.path.exists(os.path.join(folder, name + suffix))]
        if len(sources) != 1:
            sys.exit("%s: one source was expected, found %r" % (name, sources))
        found.append(Program(name, sources[0], key))
    return found


def modules():
    """The libraries that programs load."""
    return sorted(os.path.join(HERE, name) for name in os.listdir(HERE)
                  if name.endswith("_module.c"))


def needs(source):
    """Further flags, as the head of the source says."""
    with open(source, encoding="utf-8") as file:
        found = re.search(r"^ \* needs: (.*)$", file.read(2000), re.M)
    words = found[1].split() if found else []
    if "python" not in words:
        return words
    return run_tool(["python3", "-c", "import sysconfig as s;"
                     "print('-I' + s.get_paths()['include'])"]).split()


def run_tool(command):
    if not shutil.which(command[0]):
        raise Missing(command[0] + " isn't installed")
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        absent = re.search(r"fatal error: .*(No such file|not found)|"
                           r"cannot find -l|unable to find library",
                           done.stdout)
        raise (Missing if absent else Broken)(
            "%s: %s" % (" ".join(command), done.stdout.strip()))
    return done.stdout


def compiler(source):
    variable = {".c": "CC", ".cc": "CXX"}[os.path.splitext(source)[1]]
    return (os.environ.get(variable) or
            {"CC": "cc", "CXX": "c++"}[variable]).split()


def build_c(source, to, flags):
    run_tool(compiler(source) + C_FLAGS + list(flags) + ["-I", HERE, "-o", to,
             source] + needs(source))


def build_modules(folder):
    """What programs load; those that can't be built are left out."""
    for source in modules():
        name = os.path.splitext(os.path.basename(source))[0] + ".so"
        try:
            build_c(source, os.path.join(folder, name),
                    ["-shared", "-fPIC"])
        except Missing as missing:
            print("# %s" % missing, file=sys.stderr)


def build(source, name, folder, flags):
    suffix = os.path.splitext(source)[1]
    to = os.path.join(folder, name)
    if suffix in (".py", ".pl", ".js"):
        tool = shutil.which(SUFFIXES[suffix])
        if not tool:
            raise Missing(SUFFIXES[suffix] + " isn't installed")
        return [tool, source]
    if suffix == ".rs":
        run_tool(["rustc", "-g", "-O", "-o", to, source])
    elif suffix == ".go":
        run_tool(["go", "build", "-o", to, source])
    else:
        build_c(source, to, flags)
    return [to]


def environment(folder, **more):
    """For a program: no allocator of Python's own between it and malloc."""
    return dict(os.environ, UNSEEN_BUILD=folder, PYTHONMALLOC="malloc",
                PYTHONDONTWRITEBYTECODE="1", **more)
