# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether a process's code is that of its files, but for what may stay there."""

import contextlib
import functools
import re

import harness as h

# Their jumps stay for as long as a call is under way that returns to the agent.
WALKERS = re.compile(r"(\w+) T (?:_Unwind_(?:RaiseException|Resume|ForcedUnwind|"
                     r"Resume_or_Rethrow|Backtrace)|__cxa_(?:re)?throw)(?:@.*)?$",
                     re.M)
UNWINDERS = re.compile(r"(\S+/lib(?:gcc_s|stdc\+\+)\.so\S*)\+0x(\w+): (\w+), ")
JUMP, JUMP_SIZE = "e9", 5


def same_code(pid, files={}):
    """harness.code_differences, quick when there are none. Who has ended has none."""
    with contextlib.suppress(ProcessLookupError, FileNotFoundError), \
            open("/proc/%d/mem" % pid, "rb", buffering=0) as mem:
        for line in h.read("/proc/%d/maps" % pid).splitlines():
            words = line.split(None, 5)
            if "x" not in words[1] or len(words) < 6 or words[5][0] != "/":
                continue
            start, end = (int(word, 16) for word in words[0].split("-"))
            if words[5] not in files:
                with open(words[5], "rb") as file:
                    files[words[5]] = file.read()
            offset = int(words[2], 16)
            data = files[words[5]][offset:offset + end - start]
            try:
                mem.seek(start)
                if mem.read(end - start) != data.ljust(end - start, b"\0"):
                    return False
            except OSError:
                pass  # unmapped meanwhile: it was one of the plugins
    return True


@functools.lru_cache(maxsize=None)
def walkers_of(path):
    """Where in that file functions begin that walk over stacks."""
    return [int(word, 16) for word in WALKERS.findall(
        h.command_output(["nm", "-D", "--defined-only", path])[1])]


def stays(difference):
    """Whether that byte is one of a jump that may be left."""
    found = UNWINDERS.match(difference)
    if not found:
        return False
    place = int(found[2], 16)
    return any(at <= place < at + JUMP_SIZE and
               (place > at or found[3] == JUMP) for at in walkers_of(found[1]))


def check(pid, may_stay=stays):
    """Retried: a plugin may be gone between the look at maps and at mem."""
    h.check_equal(h.tracer_of(pid), 0, "tracer of the target")
    if same_code(pid):
        return
    differences = [line for line in h.code_differences(pid)
                   if not may_stay(line)]
    h.check(not differences, "bytes left behind:\n" + "\n".join(differences))
