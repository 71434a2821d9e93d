#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What takes longer than a second on a terminal says what it does and how far
it is. It is kept waiting by files that nobody reads (FIFOs), so that it takes
as long on any machine."""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402

GONE = "\r\x1b[K"


def log_of(case, calls=40000):
    """A log of malloc and free that convert reads."""
    path = case.path("log")
    with open(path, "w") as file:
        for i in range(calls):
            file.write("malloc(%d) = %#x\n" % (i % 900 + 1, 0x1000 + 16 * i))
    return path


def recording_of(case):
    path = case.path("file.rec")
    done = subprocess.run([h.CALLTRAP, "convert", log_of(case), "--to",
                           "recording", "-o", path],
                          capture_output=True, text=True, timeout=300)
    h.check_equal(done.returncode, 0, "status: " + done.stderr)
    return path


def fifo_of(case, name):
    path = case.path(name)
    os.mkfifo(path)
    return path


def read_to_end(path):
    """In the background; it is open when this returns, or waits for whoever
    writes to it."""
    file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(file, True)

    def read():
        # Until somebody has written to it, there is nothing to read.
        end = time.monotonic() + h.PATIENCE
        got = False
        while time.monotonic() < end:
            data = os.read(file, 65536)
            if not data and got:
                break
            got = got or bool(data)
            if not data:
                time.sleep(0.01)
        os.close(file)
    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return thread


class OnTerminal:
    """calltrap with standard error on a terminal, and where asked for, the
    standard output too."""

    def __init__(self, *arguments, output=False, columns=100):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ,
                    struct.pack("HHHH", 24, columns, 0, 0))
        self.text = ""
        self.process = subprocess.Popen(
            [h.CALLTRAP, *arguments], stdin=slave, stderr=slave,
            stdout=slave if output else subprocess.DEVNULL)
        os.close(slave)

    def read(self):
        ready, _, _ = select.select([self.master], [], [], 0.1)
        if not ready:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.text += data.decode(errors="replace")
        return bool(data)

    def wait_for(self, pattern):
        end = time.monotonic() + h.PATIENCE
        while not re.search(pattern, self.text):
            if not self.read() or time.monotonic() > end:
                self.process.kill()
                raise h.Failure("never seen: %r in %r" % (pattern, self.text))

    def end(self, status=0):
        while self.read():
            pass
        os.close(self.master)
        h.check_equal(self.process.wait(h.PATIENCE), status,
                      "status; " + self.text)
        # What is left of the screen's line, when each was taken away.
        lines = [part for part in re.split(r"\r\x1b\[K", self.text)]
        h.check("\r" not in lines[-1].replace("\r\n", ""),
                "it is gone at the end: %r" % self.text)
        return lines[-1].replace("\r\n", "\n")


@h.test("convert: how much has been read, and the line goes")
def _(case):
    path, fifo = recording_of(case), fifo_of(case, "csv")
    terminal = OnTerminal("convert", path, "--to", "csv", "-o", fifo)
    # It waits for a reader; then for one that goes on.
    with open(fifo, "rb") as file:
        terminal.wait_for(r"\r\d+ s, \d+ % of \d+\.\d KiB, converting to "
                          + re.escape(fifo) + r"\x1b\[K")
        first = int(re.search(r"\r(\d+) s,", terminal.text)[1])
        h.check(first >= 1, "nothing is said in the first second")
        while file.read(65536):
            pass
    h.check_equal(terminal.end(), "", "what is left on the screen")


@h.test("none where standard error is no terminal, nor in the first second")
def _(case):
    path, fifo = recording_of(case), fifo_of(case, "csv")
    process = subprocess.Popen([h.CALLTRAP, "convert", path, "--to", "csv",
                                "-o", fifo], stderr=subprocess.PIPE)
    with open(fifo, "rb") as file:
        time.sleep(3)
        while file.read(65536):
            pass
    h.check_equal(process.communicate(timeout=h.PATIENCE)[1], b"", "messages")
    h.check_equal(process.returncode, 0, "status")


@h.test("heap --from: what is read, what is made, then the report alone")
def _(case):
    path = recording_of(case)
    calls, json = fifo_of(case, "calls"), fifo_of(case, "json")
    terminal = OnTerminal("heap", "--from", path, "--calls", calls, "--json",
                          json)
    with open(calls, "rb") as file:
        terminal.wait_for(r"\r\d+ s, \d+ %% of [^,]*, reading %s\x1b\[K" %
                          re.escape(path))
        # It is closed after the report only.
        readers = [read_to_end(calls)]
    terminal.wait_for(r"\r\d+ s, making %s\x1b\[K" % re.escape(json))
    readers.append(read_to_end(json))
    text = terminal.end()
    for reader in readers:
        reader.join(h.PATIENCE)
    h.check_match(r"^==== heap of process", text, "the report")
    h.check("---- STACKS" in text, "all of it: %r" % text)


@h.test("heap diff: which file is written")
def _(case):
    path = recording_of(case)
    profile = case.path("pb.gz")
    subprocess.run([h.CALLTRAP, "heap", "--from", path, "-o", "/dev/null",
                    "--pprof", profile], check=True, timeout=300)
    fifo = fifo_of(case, "folded")
    terminal = OnTerminal("heap", "diff", profile, profile, "--folded", fifo,
                          output=True)
    terminal.wait_for(r"\r\d+ s, writing %s\x1b\[K" % re.escape(fifo))
    reader = read_to_end(fifo)
    h.check_match(r"^before: ", terminal.end(), "the table")
    reader.join(h.PATIENCE)


@h.test("memory of a saved picture, and a message: the line makes room")
def _(case):
    saved, fifo = case.path("m.ctm"), fifo_of(case, "json")
    target = subprocess.Popen(["sleep", "1000"])
    try:
        subprocess.run([h.CALLTRAP, "memory", "-p", str(target.pid), "--save",
                        saved], check=True, timeout=300,
                       stdout=subprocess.DEVNULL)
    finally:
        target.kill()
        target.wait()
    terminal = OnTerminal("memory", saved, "--json", fifo, output=True)
    terminal.wait_for(r"\r\d+ s, [^\r]*writing %s\x1b\[K" % re.escape(fifo))
    reader = read_to_end(fifo)
    text = terminal.end()
    reader.join(h.PATIENCE)
    h.check("%d" % target.pid in text, "the report: %r" % text)


@h.test("replay: which round of how many, with which allocator")
def _(case):
    path = case.path("slow.rec")
    program = h.build("progress_pause", "progress_pause.c")
    subprocess.run([h.CALLTRAP, "record", "-o", path, "--", program],
                   check=True, timeout=300, stderr=subprocess.DEVNULL)
    terminal = OnTerminal("replay", path, "--pace", "--runs", "1")
    terminal.wait_for(r"\r\d+ s, round 1 of 1, with libc\x1b\[K")
    terminal.end()


@h.test("no line and no process is left when it is ended")
def _(case):
    path, fifo = recording_of(case), fifo_of(case, "csv")
    terminal = OnTerminal("convert", path, "--to", "csv", "-o", fifo)
    with open(fifo, "rb"):
        terminal.wait_for(r"\r\d+ s, ")
        shower = h.children_of(terminal.process.pid)
        h.check_equal(len(shower), 1, "processes that show it")
        terminal.process.kill()
        terminal.process.wait(h.PATIENCE)
        h.wait_until(lambda: not os.path.exists("/proc/%d" % shower[0])
                     or h.read("/proc/%d/stat" % shower[0]).split()[2:3]
                     == ["Z"], "its end")
    os.close(terminal.master)


if __name__ == "__main__":
    sys.exit(h.main())
