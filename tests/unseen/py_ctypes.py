# SPDX-License-Identifier: GPL-2.0-or-later
#
# Calls a C function that returns a string of its own, by ctypes, and never gives
# it back.
import ctypes
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
libc = ctypes.CDLL(None)
libc.strdup.restype = ctypes.c_void_p
libc.strdup.argtypes = [ctypes.c_char_p]
number = 0
while time.monotonic() < ends:
    number += 1
    text = libc.strdup(b'what is the state of things, number %d' % number)
    assert ctypes.string_at(text)
    time.sleep(0.05)
