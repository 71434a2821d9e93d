#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
bcc's memleak on a process, for heap_tools.py: memleak.py MEMLEAK PID OBJECT
DIRECTORY. In DIRECTORY "attached" appears when all is attached, and when it has been
interrupted "stacks", with how many stacks have acquired something. What an object
doesn't have of mmap and munmap is passed over, as later versions do (jemalloc has
neither).
"""

import os
import runpy
import signal
import sys

from bcc import BPF


def attach(function, last):
    def call(self, *args, **named):
        try:
            function(self, *args, **named)
        except Exception:
            if named.get("sym") not in ("mmap", "munmap"):
                raise
        if named.get("sym") == last:
            write("attached", "")
            BPFS.append(self)
    return call


def write(name, text):
    path = os.path.join(DIRECTORY, name)
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


BPFS = []
PROGRAM, PID, OBJECT, DIRECTORY = sys.argv[1:]
BPF.attach_uprobe = attach(BPF.attach_uprobe, "munmap")
BPF.attach_uretprobe = attach(BPF.attach_uretprobe, None)
# A shell's background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv = [PROGRAM, "-p", PID, "-O", OBJECT]
try:
    runpy.run_path(PROGRAM, run_name="__main__")
finally:
    for bpf in BPFS:
        write("stacks", str(len(bpf["combined_allocs"])))
    os._exit(0)  # it would look for probes where only tracefs has them
