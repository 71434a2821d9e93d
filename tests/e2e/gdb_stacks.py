# SPDX-License-Identifier: GPL-2.0-or-later
"""
Run by gdb, in it: writes the stack of each call of a function, as gdb sees
it, less inlined functions, and tail calls (which have no frames) unless
STACKS_TAILS is set. Environment: STACKS_FUNCTION, STACKS_LIMIT (of calls),
STACKS_OUTPUT. One line a frame: library, address in the file, name; a line
STACK before each stack.
"""

import os
import struct

import gdb


def mappings():
    found = []
    with open("/proc/%d/maps" % gdb.selected_inferior().pid) as file:
        for line in file:
            words = line.split(None, 5)
            start, end = (int(word, 16) for word in words[0].split("-"))
            found.append((start, end, int(words[2], 16),
                          words[5].strip() if len(words) > 5 else ""))
    return found


_kinds = {}


def is_position_independent(path):
    """e_type 3; the vdso is, too."""
    if path not in _kinds:
        _kinds[path] = True
        if path.startswith("/"):
            with open(path, "rb") as file:
                _kinds[path] = struct.unpack("<16xH", file.read(18))[0] == 3
    return _kinds[path]


def place(maps, address):
    path = next((path for start, end, _, path in maps
                 if start <= address < end), "")
    if is_position_independent(path):
        address -= min((start for start, _, offset, other in maps
                        if other == path and not offset), default=0)
    return path.rsplit("/", 1)[-1], address


def write_stack(out):
    maps = mappings()
    frame = gdb.newest_frame().older()
    left_out = [gdb.INLINE_FRAME]
    if not os.environ.get("STACKS_TAILS"):
        left_out.append(gdb.TAILCALL_FRAME)
    out.write("STACK\n")
    while frame is not None:
        if frame.type() not in left_out:
            library, address = place(maps, frame.pc())
            out.write("%s %x %s\n" % (library or "?", address,
                                      frame.name() or "?"))
        frame = frame.older()


def run():
    for setting in ("pagination off", "confirm off", "debuginfod enabled off",
                    "breakpoint pending on", "backtrace past-main on",
                    "backtrace past-entry on", "disable-randomization on"):
        gdb.execute("set " + setting)
    gdb.execute("tbreak __libc_start_main")
    gdb.execute("run", to_string=True)
    # At its first instruction: a plain name would pass over the prologue.
    gdb.Breakpoint("*&" + os.environ["STACKS_FUNCTION"])
    with open(os.environ["STACKS_OUTPUT"], "w") as out:
        for _ in range(int(os.environ["STACKS_LIMIT"])):
            gdb.execute("continue", to_string=True)
            if not gdb.selected_inferior().pid:
                break
            write_stack(out)
    if gdb.selected_inferior().pid:
        gdb.execute("kill")


run()
