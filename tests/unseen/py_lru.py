# SPDX-License-Identifier: GPL-2.0-or-later
#
# functools.lru_cache() with room for 150 pages, which is full from the
# beginning; some pages are asked for all the time.
import functools
import random
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
random.seed(1)


@functools.lru_cache(maxsize=150)
def page(number):
    return bytes(900) + b'page %d' % number


for number in range(400):
    page(number)
while time.monotonic() < ends:
    page(random.randrange(20) if random.random() < 0.5 else
         random.randrange(9000))
    time.sleep(0.02)
