#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Where arguments and results lie, against what compilers do: functions of
random signatures write down what they were given. SIGNATURES_SEED makes
others."""

import os
import random
import re
import sys

sys.dont_write_bytecode = True
import harness as h
import signatures as s

SEED = int(os.environ.get("SIGNATURES_SEED", "1"))
FUNCTIONS = 64


TOKEN = re.compile(r"[][{}]|'(?:\\[0-7]+|\\.|[^\\])'|[-+]?(?:nan|inf)|[-+]?0x[0-9a-f]+|"
                   r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?|true|false|nil|EOF|\?")
WORDS = {"true": 1, "false": 0, "nil": 0, "(nil)": 0, "EOF": -1}


def character(text):
    if text[0] != "\\":
        return ord(text)
    if text[1] in "01234567":
        value = int(text[1:], 8)
        return value - 256 if value > 127 else value
    return {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11,
            "e": 27}.get(text[1], ord(text[1]))


def tokens(text):
    """Numbers and brackets; whoever writes them, in the same order."""
    text = re.sub(r"\b\w+=", "", text)
    # Of debug information, members that hold nothing aren't shown.
    while re.search(r"\{[\s,]*\}", text):
        text = re.sub(r"\{[\s,]*\}", "", text)
    found = []
    for word in TOKEN.findall(re.sub(r'"(?:[^"\\]|\\.)*"(?:\.\.\.)?', "0",
                                     text)):
        if word[0] == "'":
            found.append(character(word[1:-1]))
        elif word in WORDS:
            found.append(WORDS[word])
        elif re.fullmatch(r"[-+]?\d+|[-+]?0x[0-9a-f]+", word):
            found.append(int(word, 0))
        elif re.match(r"[-+]?[\dni]", word):
            found.append(float(word))
        else:
            found.append(word)
    return found


def is_same(a, b):
    if isinstance(a, float) or isinstance(b, float):
        if isinstance(a, str) or isinstance(b, str):
            return False
        # A float is written with as many digits as tell it from others.
        return a == b or a != a and b != b or \
            abs(a - b) <= 1e-5 * max(abs(a), abs(b))
    return a == b


def same_tokens(a, b):
    return len(a) == len(b) and all(map(is_same, a, b))


def is_right(call, line, function, program):
    name, _, rest = line.partition("(")
    arguments, _, result = rest.rpartition(") = ")
    found = tokens(call.arguments)
    if function.has_place and not program.kind.rich:
        found = found[1:]
    return (call.name == name == function.name and
            same_tokens(found, tokens(arguments)) and
            same_tokens(tokens(call.result or "?"), tokens(result)))


def check_calls(out, log, program):
    """The calls that are wrong, with what they should be."""
    wanted = out.splitlines()
    h.check_equal(len(wanted), len(program.functions), "functions called")
    h.check_equal(len(log.calls), len(wanted), "calls logged")
    return [(call, "%s\nwanted: %s\nfound:  %s" %
             (function.prototype(), line, call.text))
            for call, line, function in zip(log.calls, wanted,
                                            program.functions)
            if not is_right(call, line, function, program)]


def came_too_early(wrong, calls):
    """
    A program doesn't wait for more than a second until its debug information
    has been opened: on a busy machine the first calls have no types.
    """
    return [call for call, _ in wrong] == calls[:len(wrong)] and not any(
        "{" in call.text for call, _ in wrong)


def trace(case, kind, level, debug):
    generator = random.Random("%d %r %s" % (SEED, vars(kind), level))
    program = s.Program(generator, kind, FUNCTIONS)
    path = program.build(case, level, *["-g"] * debug)
    prototypes = case.write("signatures.conf", program.prototypes())
    for _ in range(5):
        result = case.calltrap(*([] if debug else ["-F", prototypes]), "-A",
                               "100", "-s", "1000", "-l", "libsignatures.so",
                               path)
        result.check_status(0)
        result.check_quiet()
        wrong = check_calls(result.out, result.log, program)
        if not (debug and wrong and came_too_early(wrong, result.log.calls)):
            break
    h.check(not wrong, "%d of %d calls are wrong (seed %d):\n%s" % (
        len(wrong), len(result.log.calls), SEED,
        "\n".join(text for _, text in wrong[:4])))


def register(cc, bits, level, debug=False, **how):
    @h.test("%s %s, %d bits%s" % (cc, level, bits,
                                  ", debug information" * debug))
    def signatures(case):
        h.need(cc)
        trace(case, s.Kind(cc, bits, rich=debug, **how), level, debug)


for bits in (64, 32) if h.X86 else (64,):
    for level in ("-O0", "-O2"):
        register("gcc", bits, level)
        register("clang", bits, level)
    register("g++", bits, "-O2", classes=True)
    register("clang++", bits, "-O2", classes=True)
    for cc in ("gcc", "clang"):
        register(cc, bits, "-O2", debug=True)
    for cc in ("g++", "clang++"):
        register(cc, bits, "-O2", debug=True, classes=True)

if __name__ == "__main__":
    sys.exit(h.main())
