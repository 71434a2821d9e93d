# SPDX-License-Identifier: GPL-2.0-or-later
"""Each tool runs a program its own way, and returns the sites that it reports:
pairs of a stack (names, innermost first) and a word."""

import glob
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree

from programs import HERE, Missing, build_modules, environment

CALLTRAP = os.path.abspath(os.environ.get("CALLTRAP") or
                           os.path.join(HERE, "..", "..", "calltrap"))
BEFORE = 3          # seconds that a program runs before it is looked at
PATIENCE = 120      # seconds that a tool may take longer


class Failed(Exception):
    """The tool, or the program under it, has failed; the text says how."""


def end(child):
    """Ends a program with the tool that it runs under."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.poll() is None:
            os.killpg(child.pid, number)
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                pass


def start(command, folder, log, **more):
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log,
                            stderr=log, start_new_session=True,
                            env=environment(folder, **more))


def finish(command, seconds, folder, log_path, **more):
    """Runs to the end, and returns the status."""
    with open(log_path, "w", encoding="utf-8") as log:
        child = start(command, folder, log, **more)
        try:
            return child.wait(3 * seconds + PATIENCE)
        except subprocess.TimeoutExpired as late:
            raise Failed("did not end in time") from late
        finally:
            end(child)


class Tool:
    words = ("LEAK",)
    flags = ()

    def __init__(self):
        """Raises Missing where the tool isn't installed."""
        self.folder = None

    def prepare(self, folder):
        """Makes the folder that programs are built in for this tool."""
        self.folder = os.path.join(folder, self.name.replace(" ", ""))
        os.mkdir(self.folder)
        build_modules(self.folder)

    def sites(self, program, seconds):
        command = program.build(self.folder, *self.flags)
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            return self.run(program, command, seconds, scratch)


class Calltrap(Tool):
    words = ("LIKELY", "POSSIBLE")

    def __init__(self, options=""):
        super().__init__()
        self.options = options.split()
        self.name = " ".join(["calltrap"] + self.options)

    def run(self, program, command, seconds, scratch):
        with open(os.path.join(scratch, "out"), "w", encoding="utf-8") as log:
            child = start(command + [str(BEFORE + seconds + PATIENCE)],
                          self.folder, log)
            try:
                time.sleep(BEFORE)
                return self.look(child, seconds, scratch)
            finally:
                end(child)

    def look(self, child, seconds, scratch):
        path = os.path.join(scratch, "json")
        log_path = os.path.join(scratch, "log")
        status = finish([CALLTRAP, "heap", "-p", str(child.pid), "--for",
                         "%gs" % seconds, "--json", path, "-o", "/dev/null"]
                        + self.options, seconds, self.folder, log_path)
        if child.poll() is not None:
            raise Failed("the program has ended: %d" % child.returncode)
        if status or not os.path.exists(path):
            with open(log_path, encoding="utf-8") as log:
                raise Failed("status %d: %s" % (status, log.read().strip()))
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
        return [([frame.get("function", "?") for frame in site["stack"]],
                 site["verdict"]) for site in report["sites"]]


class Valgrind(Tool):
    """What memcheck says is definitely or possibly lost at the exit."""
    name = "valgrind"

    def __init__(self):
        super().__init__()
        if not shutil.which("valgrind"):
            raise Missing("valgrind isn't installed")

    def run(self, program, command, seconds, scratch):
        path = os.path.join(scratch, "xml")
        kinds = "definite,possible"
        status = finish(["valgrind", "-q", "--leak-check=full",
                         "--show-leak-kinds=" + kinds, "--keep-debuginfo=yes",
                         "--num-callers=60", "--xml=yes", "--xml-file=" + path]
                        + command + [str(BEFORE + seconds)], seconds,
                        self.folder, os.path.join(scratch, "log"))
        if status < 0 or status > 125:
            raise Failed("status %d" % status)
        try:
            tree = xml.etree.ElementTree.parse(path)
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            raise Failed("no report: %s" % error) from error
        return [([frame.findtext("fn", "?") for frame in
                  record.find("stack").iter("frame")], "LEAK")
                for record in tree.iter("error")
                if record.findtext("kind") in ("Leak_DefinitelyLost",
                                               "Leak_PossiblyLost")]


class LeakSanitizer(Tool):
    """Programs in C and C++ are built with it. Others have AddressSanitizer
    preloaded, which has it within: by itself it crashes there."""
    name = "lsan"
    flags = ("-fsanitize=leak",)

    def __init__(self):
        super().__init__()
        path = shutil.which("gcc") and subprocess.run(
            ["gcc", "-print-file-name=libasan.so"], stdout=subprocess.PIPE,
            text=True, check=True).stdout.strip()
        if not path or not os.path.isabs(path):
            raise Missing("LeakSanitizer isn't installed")
        self.library = path

    def run(self, program, command, seconds, scratch):
        path = os.path.join(scratch, "leaks")
        more = {} if program.is_ours else {"LD_PRELOAD": self.library}
        for name in ("LSAN_OPTIONS", "ASAN_OPTIONS"):
            more[name] = ("detect_leaks=1:malloc_context_size=60:"
                          "fast_unwind_on_malloc=0:log_path=" + path)
        status = finish(command + [str(BEFORE + seconds)], seconds,
                        self.folder, os.path.join(scratch, "log"), **more)
        text = ""
        for name in glob.glob(path + ".*"):
            with open(name, encoding="utf-8", errors="replace") as file:
                text += file.read()
        if "fatal error" in text or status < 0 or (status and not text):
            raise Failed("status %d: %s" % (status, text.strip()[-200:]))
        return [(lsan_frames(record), "LEAK") for record in
                re.split(r"^(?=\w+ leak of )", text, flags=re.M)[1:]]


def lsan_frames(record):
    """The functions of `#1 0x55e9e805f156 in leak(int) /tmp/c.c:4'."""
    return re.findall(r"^ +#\d+ 0x[0-9a-f]+ in (.*?)"
                      r"(?: \S+:\d+| [(<].*)?$", record, re.M)


class Heaptrack(Tool):
    """What is still there at the exit."""
    name = "heaptrack"

    def __init__(self):
        super().__init__()
        if not shutil.which("heaptrack_print"):
            raise Missing("heaptrack isn't installed")

    def run(self, program, command, seconds, scratch):
        path, stacks = (os.path.join(scratch, name)
                        for name in ("track", "stacks"))
        finish(["heaptrack", "-o", path] + command + [str(BEFORE + seconds)],
               seconds, self.folder, os.path.join(scratch, "log"))
        tracks = glob.glob(path + ".*")
        if not tracks:
            raise Failed("no report")
        finish(["heaptrack_print", "-f", tracks[0], "-F", stacks,
                "--flamegraph-cost-type", "leaked"], seconds, self.folder,
               os.path.join(scratch, "log"))
        with open(stacks, encoding="utf-8", errors="replace") as file:
            lines = [line.rsplit(" ", 1) for line in file if " " in line]
        return [(stack.split(";")[::-1], "LEAK")
                for stack, bytes_left in lines if int(bytes_left) > 0]


PEERS = [Valgrind, LeakSanitizer, Heaptrack]
