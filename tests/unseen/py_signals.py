# SPDX-License-Identifier: GPL-2.0-or-later
#
# Each request connects a function to a signal, to hear whether settings change.
# It is never disconnected.
import random
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
random.seed(1)
changed = []


def handle(number):
    settings = {'number': number, 'text': 'x' * random.randrange(100)}

    def on_change(key, value):
        settings[key] = value

    changed.append(on_change)
    return len(settings)


number = 0
while time.monotonic() < ends:
    handle(number)
    number += 1
    time.sleep(0.03)
