#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Counts calls of a function in a process by the kernel's uprobes, for call_tools.py:
uprobes.py PID LIBRARY FUNCTION uprobe|uretprobe LOG. With uretprobe their time is taken as
well. LOG appears when all is attached, and has the number when it has been
interrupted. (bpftrace 0.17 would set them in every process that maps the library.)
"""

import os
import signal
import sys

from bcc import BPF

TEXT = """
BPF_HASH(begun, u64);
BPF_ARRAY(sums, u64, 2);

int entered(void *context)
{
        u64 thread = bpf_get_current_pid_tgid(), now = bpf_ktime_get_ns();
        if (TIMED)
                begun.update(&thread, &now);
        else
                sums.increment(0);
        return 0;
}

int returned(void *context)
{
        u64 thread = bpf_get_current_pid_tgid();
        u64 *since = begun.lookup(&thread);
        if (!since)
                return 0;
        sums.increment(0);
        sums.increment(1, bpf_ktime_get_ns() - *since);
        begun.delete(&thread);
        return 0;
}
"""


def write(path, text):
    with open(path + ".new", "w") as file:
        file.write(text)
    os.rename(path + ".new", path)


def main():
    pid, library, function, kind, log = sys.argv[1:]
    timed = kind == "uretprobe"
    # A shell's background has it ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    bpf = BPF(text=TEXT.replace("TIMED", str(int(timed))))
    bpf.attach_uprobe(name=library, sym=function, fn_name="entered",
                      pid=int(pid))
    if timed:
        bpf.attach_uretprobe(name=library, sym=function, fn_name="returned",
                             pid=int(pid))
    try:
        write(log, "")
        signal.pause()
    except KeyboardInterrupt:
        write(log, "calls: %d, ns: %d\n" % (bpf["sums"][0].value,
                                            bpf["sums"][1].value))
    os._exit(0)  # it would look for probes where only tracefs has them


if __name__ == "__main__":
    main()
