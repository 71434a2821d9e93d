# SPDX-License-Identifier: GPL-2.0-or-later
#
# Keeps the body of every request in a dictionary under its number.
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
bodies = {}


def handle(number):
    bodies[number] = bytes(700 + number % 50)


number = 0
while time.monotonic() < ends:
    handle(number)
    number += 1
    time.sleep(0.05)
