# SPDX-License-Identifier: GPL-2.0-or-later
#
# A reference too many, taken through ctypes, on one answer in ten.
import ctypes
import random
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
incref = ctypes.pythonapi.Py_IncRef
incref.argtypes = [ctypes.py_object]
random.seed(2)
while time.monotonic() < ends:
    answer = bytearray(2000)
    if random.randrange(10) == 0:
        incref(answer)
    del answer
    time.sleep(0.04)
