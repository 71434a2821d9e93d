# SPDX-License-Identifier: GPL-2.0-or-later
"""The lines of calltrap heap --calls."""

import re

import harness as h

LINE = re.compile(
    r"^(?P<time>\d+\.\d{9}) \[MEM_TRACE\] (?P<tid>\d+):(?P<component>\w+)\."
    r"(?P<library>\S+) - (?P<function>\S.*?) (?:(?P<old>0x[0-9a-f]+|-?\d+|\?)-)?"
    r"(?P<block>0x[0-9a-f]+|-?\d+|\?)(?: (?:(?P<old_size>\d+|\?)-)?"
    r"(?P<size>-?\d+|\?) bytes)? (?P<took>\d+|\?) ns from(?P<frames>( .*)?)$")
FRAME = re.compile(r" 0x([0-9a-f]+)@([^\s(]+)(?:\(([^+\s]+)\+(inlined|0x[0-9a-f]+)"
                   r"(?:,([^\s)]+?)(?::(\d+))?)?\))?")


class Call:
    """One line of the file of --calls."""

    def __init__(self, line):
        found = LINE.match(line)
        h.check(found, "a line of no known form: " + line)
        self.text = line
        self.time = found["time"]
        self.tid = int(found["tid"])
        self.component, self.library = found["component"], found["library"]
        self.function = found["function"]
        self.old, self.block = found["old"], found["block"]
        self.old_size, self.size = found["old_size"], found["size"]
        self.took = found["took"]
        self.frames = [each.groups() for each in FRAME.finditer(found["frames"])]


def calls_of(path):
    text = h.read(path)
    h.check(text.endswith("\n") or not text, "the last line isn't whole")
    return [Call(line) for line in text.splitlines()]
