# SPDX-License-Identifier: GPL-2.0-or-later
"""What was said of which function of the key, and how much of it is right."""

import re

# From the weakest to the strongest. Other tools say LEAK, or nothing.
ORDER = ["-", "NOT", "POSSIBLE", "LIKELY", "LEAK"]


def plain(name):
    """A function's name without arguments, templates, types and the suffixes
    of compilers: `cache::put' of `void cache::put(unsigned int) [clone]'."""
    name = name.replace("(anonymous namespace)::", "")
    name = re.sub(r"operator(<<|>>|->|<=|>=|<|>|\(\))", "operator", name)
    before = None
    while before != name:
        before, name = name, re.sub(r"<[^<>]*>", "", name)
    name = re.split(r"[(\[]", name)[0].strip()
    name = re.sub(r"(\.(isra|constprop|part|cold|lto_priv)(\.\d+)?)+$", "",
                  name)
    name = re.sub(r"::h[0-9a-f]{16}$", "", name)
    return name.split(" ")[-1]


def function_of(stack, key):
    """The innermost function of a stack that the key has, else `*'."""
    for frame in stack:
        name = plain(frame)
        for function in key:
            if name == function or name.endswith("::" + function):
                return function
    return "*"


def say(sites, key):
    """The strongest that was said of each function; sites are pairs of a stack
    (names, innermost first) and a word of ORDER."""
    said = {function: "-" for function in key}
    for stack, word in sites:
        function = function_of(stack, key)
        said[function] = max(said.get(function, "-"), word, key=ORDER.index)
    return said


class Score:
    """How many leaks were found, and how many that are none."""

    def __init__(self, words):
        self.words = words
        self.found = self.leaks = self.false = 0

    def add(self, said, key):
        for function in set(said) | set(key):
            is_leak = key.get(function) == "leak"
            is_said = said.get(function, "-") in self.words
            self.leaks += is_leak
            self.found += is_leak and is_said
            self.false += is_said and not is_leak

    def __str__(self):
        said = self.found + self.false
        return "precision %s (%d of %d), recall %s (%d of %d)" % (
            percent(self.found, said), self.found, said,
            percent(self.found, self.leaks), self.found, self.leaks)


def percent(part, whole):
    return "%5.1f %%" % (100 * part / whole) if whole else "none   "
