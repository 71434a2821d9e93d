# SPDX-License-Identifier: GPL-2.0-or-later
#
# Rows are collected for seven seconds, then joined and dropped.
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
rows = []
due = time.monotonic() + 7
number = 0
while time.monotonic() < ends:
    rows.append('row %d ' % number + 'x' * 800)
    number += 1
    if time.monotonic() > due:
        size = len(''.join(rows))
        rows = []
        due += 7
    time.sleep(0.03)
