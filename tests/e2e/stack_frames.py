# SPDX-License-Identifier: GPL-2.0-or-later
"""The stacks in a log that was written with -w."""

import re

FRAME = re.compile(r"^ > (?P<library>[^(]*)\((?P<what>.*)\) "
                   r"\[0x(?P<address>[0-9a-f]+)\](?: (?P<place>.*))?$")
CUT = " > ? (what called this is not known)"


class Frame:
    def __init__(self, found):
        self.library = found["library"]
        self.address = int(found["address"], 16)
        self.place = found["place"]
        self.inlined = found["what"].endswith(", inlined")
        self.tail_call = found["what"].endswith(", tail call")
        what = re.sub(r", tail call$", "", found["what"])
        self.function = re.sub(r", inlined$|\+0x[0-9a-f]+$|\+0$", "", what)
        offset = re.search(r"\+(?:0x)?([0-9a-f]+)$", what)
        self.offset = int(offset[1], 16) if offset else None

    def __repr__(self):
        return "%s(%s)" % (self.library, self.function)


class Stack(list):
    """Frames from the caller on; broken: it says that it ends too early."""

    def __init__(self, line):
        super().__init__()
        self.line = line
        self.broken = False

    def functions(self):
        return [frame.function for frame in self]


def stacks_of(text, name=None):
    """The stacks of the calls of that name, or of all."""
    found = []
    for line in text.splitlines():
        frame = FRAME.match(line)
        if frame and found:
            found[-1].append(Frame(frame))
        elif line == CUT and found:
            found[-1].broken = True
        else:
            found.append(Stack(line))
    return [stack for stack in found if (stack or stack.broken) and
            (name is None or re.search(r"(^|[ .>])%s[@( ]" % re.escape(name),
                                       stack.line))]
