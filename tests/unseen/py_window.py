# SPDX-License-Identifier: GPL-2.0-or-later
#
# The median of what came in the last fourteen seconds, from a list that is kept
# sorted.
import bisect
import collections
import random
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
random.seed(1)
window = collections.deque()
ordered = []
while (now := time.monotonic()) < ends:
    value = random.random()
    window.append((now, value))
    bisect.insort(ordered, value)
    while window[0][0] < now - 14:
        del ordered[bisect.bisect_left(ordered, window.popleft()[1])]
    assert ordered[len(ordered) // 2] >= 0
    time.sleep(0.02)
