# SPDX-License-Identifier: GPL-2.0-or-later
#
# Errors are collected to be shown in a page some day; each keeps the frames that
# it went through, with all that was in them.
import random
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
random.seed(1)
errors = []


def parse(text):
    words = [text + str(i) for i in range(12)]
    if random.randrange(15) == 0:
        raise ValueError(text)
    return len(words)


while time.monotonic() < ends:
    try:
        parse('a line of text ')
    except ValueError as error:
        errors.append(error)
    time.sleep(0.02)
