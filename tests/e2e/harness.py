# SPDX-License-Identifier: GPL-2.0-or-later
"""Helpers of the end-to-end tests: building victims, running calltrap, reading
its log, printing TAP. Python's standard library only."""

import contextlib
import ctypes
import mmap
import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

_workspace = []


def workspace():
    if not _workspace:
        holder = tempfile.TemporaryDirectory(prefix="calltrap-e2e.")
        _workspace.append(holder)
        os.chmod(holder.name, 0o755)
    return _workspace[0].name


def is_for_all(path):
    """Every user can reach and read it."""
    while os.stat(path).st_mode & 0o5 >= (0o5 if os.path.isdir(path) else 0o4):
        if path == "/":
            return True
        path = os.path.dirname(path)
    return False


def where_all_can_read(top, calltrap):
    """
    The folder of the tests and the program, or copies of both when root's
    tests lie where an ordinary user can't go (a clone in /root).
    """
    here = os.path.join("tests", "e2e")
    if os.geteuid() != 0 or (is_for_all(os.path.join(top, here)) and
                             is_for_all(os.path.realpath(calltrap))):
        return os.path.join(top, here), calltrap
    copy = os.path.join(workspace(), "reachable")
    for folder in (here, "etc", "examples", "man",
                   os.path.join("src", "report", "flame")):
        shutil.copytree(os.path.join(top, folder), os.path.join(copy, folder),
                        ignore=shutil.ignore_patterns("*.o", "*.log", "*.trs"))
    # mkdtemp()'s folders are for their owner alone; so may the clone's be.
    subprocess.run(["chmod", "-R", "u+w,go+rX", copy], check=True)
    return os.path.join(copy, here), shutil.copy(calltrap, copy)


HERE, CALLTRAP = where_all_can_read(
    os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")),
    os.path.abspath(os.environ.get("CALLTRAP") or os.path.join(
        os.path.dirname(__file__), "..", "..", "calltrap")))
VICTIMS = os.path.join(HERE, "victims")
MACHINE = os.uname().machine
X86 = MACHINE == "x86_64"
LIBRARIES = "/usr/lib/%s-linux-gnu" % MACHINE
# int3, or brk #0.
TRAP = b"\xcc" if X86 else b"\0\0\x20\xd4"
# The compiler's flags for programs of each size of words that are traced here.
WIDTHS = ([], ["-m32"]) if X86 else ([],)
PATIENCE = float(os.environ.get("E2E_PATIENCE", "120"))
# Where one test may keep all others waiting, an emulated machine: skipped then.
POINT_SECONDS = float(os.environ.get("E2E_POINT_SECONDS", "0"))


class Failure(Exception):
    """The test has failed; the text says how."""


class Skip(Exception):
    """The test can't be run here; the text says why."""


# ---------------------------------------------------------------- checking

def check(condition, text):
    if not condition:
        raise Failure(text)


def check_equal(found, wanted, what):
    if found != wanted:
        raise Failure("%s: found %r, wanted %r" % (what, found, wanted))


def check_match(regex, text, what):
    found = re.search(regex, text, re.M)
    if not found:
        raise Failure("%s: nothing matches %r in:\n%s" %
                      (what, regex, shorten(text)))
    return found


def shorten(text, lines=30):
    found = text.splitlines()
    if len(found) <= lines:
        return text
    half = lines // 2
    cut = ["... (%d lines left out)" % (len(found) - 2 * half)]
    return "\n".join(found[:half] + cut + found[-half:])


# ---------------------------------------------------------------- the log

CALL = re.compile(
    r"^(?:\[pid (?P<pid>\d+)\] |(?P<pid_file>\d+) )?"
    r"(?P<time>(?:\d\d:\d\d:\d\d(?:\.\d{6})?|\d+\.\d{6}| *\d+\.\d{6}) )?"
    r"(?:\[(?P<ip>0x[0-9a-f]+)\] )?"
    r"(?P<rest>.*)$")
BEGIN = re.compile(r"^(?P<indent> *)(?:\[(?P<script>[^]]+)\] )?"
                   r"(?:(?P<caller>[^ (<>]+)->)?"
                   r"(?P<name>[A-Za-z_.$][^ (]*?)(?:@(?P<library>[^ (]+))?"
                   r"\((?P<arguments>.*)$")
RESUMED = re.compile(r"^ *<\.\.\. (?P<name>.+?) resumed>(?P<arguments>.*)$")
SIGNAL = re.compile(r"^ *--- (?P<text>.*) ---$")
EXIT = re.compile(r"^ *\+\+\+ (?P<text>.*) \+\+\+$")
RESULT = re.compile(r" = (?P<result>.*?)(?: <(?P<duration>\d+\.\d{6})>)?$")
# … and a time in a table of -c, which the machine may blur: see calltrap(1).
MICROS = r"<?[\d.]+(?:±\d+%)?"
UNFINISHED = re.compile(r"<unfinished: (?P<why>[a-z ]+)>|<(?P<no>no return)>|"
                        r"(?P<cut><unfinished \.\.\.>)")


class Line:
    """One line of the log: kind is call, resumed, signal, exit or other."""

    def __init__(self, text):
        self.text = text
        found = CALL.match(text)
        pid = found["pid"] or found["pid_file"]
        self.pid = int(pid) if pid else None
        self.time = found["time"].strip() if found["time"] else None
        self.ip = int(found["ip"], 16) if found["ip"] else None
        self.rest = found["rest"]
        self.name = self.caller = self.library = self.result = None
        self.script = None
        self.duration = self.end = None
        self.arguments = ""
        self.indent = 0
        self.kind = self._classify()

    def _classify(self):
        for kind, regex in (("signal", SIGNAL), ("exit", EXIT)):
            found = regex.match(self.rest)
            if found:
                self.name = found["text"]
                return kind
        found = RESUMED.match(self.rest)
        kind = "resumed"
        if not found:
            found = BEGIN.match(self.rest)
            kind = "call"
        if not found:
            return "other"
        self.name = found["name"]
        if kind == "call":
            self.caller, self.library = found["caller"], found["library"]
            self.script = found["script"]
            self.indent = len(found["indent"])
        self._read_end(found["arguments"])
        return kind

    def _read_end(self, text):
        result = RESULT.search(text)
        end = UNFINISHED.search(text)
        if result:
            self.result, self.duration = result["result"], result["duration"]
            text = text[:result.start()].rstrip()
        elif end:
            self.end = end["why"] or end["no"] or "unfinished"
            text = text[:end.start()].rstrip()
        self.arguments = text[:-1] if text.endswith(")") else text

    def values(self):
        """The arguments as integers, those that are some."""
        found = re.findall(r"(?<![\w\"'.])-?(?:0x[0-9a-f]+|\d+)(?![\w\"'.])",
                           self.arguments)
        return [int(text, 0) for text in found]


class Log:
    def __init__(self, text):
        self.text = text
        self.lines = [Line(line) for line in text.splitlines()]
        self.calls = [line for line in self.lines if line.kind == "call"]

    def count(self, name, caller=None, library=None):
        return sum(1 for call in self.calls if call.name == name and
                   (caller is None or call.caller == caller) and
                   (library is None or call.library == library))

    def returns(self, name):
        """How many calls of that name have a line with their result."""
        return sum(1 for line in self.lines
                   if line.kind in ("call", "resumed") and line.name == name
                   and line.result is not None)

    def named(self, name):
        return [call for call in self.calls if call.name == name]

    def ends(self, name, why):
        return sum(1 for line in self.lines
                   if line.kind in ("call", "resumed") and line.name == name
                   and line.end == why)

    def of_kind(self, kind):
        return [line.name for line in self.lines if line.kind == kind]

    def check_counts(self, wanted, **where):
        found = {name: self.count(name, **where) for name in wanted}
        if found != wanted:
            raise Failure("calls logged: %r, wanted: %r\nthe log:\n%s" %
                          (found, wanted, shorten(self.text)))


# ---------------------------------------------------------------- processes

def but_cost(lines):
    """Without what watching has cost, which depends on the machine."""
    return [line for line in lines if not re.match(
        r"calltrap: (cost: |the target stands still )", line)]


class Result:
    """What a finished command has left."""

    def __init__(self, status, out, err, log):
        self.status, self.out, self.err = status, out, err
        self.log_text = log
        self._log = None

    @property
    def log(self):
        if self._log is None:
            check(self.log_text is not None,
                  "calltrap wrote no log; it said:\n" + shorten(self.err))
            self._log = Log(self.log_text)
        return self._log

    def counts(self, who="MAIN"):
        """Lines `count WHO NAME N` that the victim has printed."""
        return counts_in(self.out, who)

    def messages(self):
        return but_cost(line for line in self.err.splitlines()
                        if line.startswith("calltrap: "))

    def check_status(self, wanted):
        if self.status != wanted:
            raise Failure("exit status %d, wanted %d; standard error:\n%s" %
                          (self.status, wanted, shorten(self.err)))

    def check_quiet(self):
        """calltrap itself said nothing, but what it has cost."""
        check_equal(self.messages(), [], "calltrap's messages")


def counts_in(text, who="MAIN"):
    found = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[:2] == ["count", who]:
            found[words[2]] = found.get(words[2], 0) + int(words[3])
    return found


class Process:
    """A command that runs; it is ended when the test is over."""

    def __init__(self, case, argv, stdin=subprocess.PIPE, env=None,
                 session=True, pass_fds=()):
        self.argv = argv
        number = case.number()
        self.paths = [os.path.join(case.dir, "%s.%d" % (name, number))
                      for name in ("out", "err")]
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(open(path, "wb"))
                     for path in self.paths]
            self.popen = subprocess.Popen(
                argv, cwd=case.dir, stdin=stdin, stdout=files[0],
                stderr=files[1], env=case.environment(env),
                start_new_session=session, pass_fds=pass_fds,
                **case.identity())
        self.session = session
        self.pid = self.popen.pid

    @property
    def out(self):
        return read(self.paths[0])

    @property
    def err(self):
        return read(self.paths[1])

    def say(self, text):
        self.popen.stdin.write(text.encode())
        self.popen.stdin.flush()

    def wait(self, patience=None):
        try:
            return self.popen.wait(patience or PATIENCE)
        except subprocess.TimeoutExpired:
            state = family_states(self.pid)
            self.end()
            raise Failure("%s hung; its processes:\n%s\nstandard error:\n%s" %
                          (" ".join(self.argv), state, shorten(self.err)))

    def end(self):
        if self.popen.stdin:
            with contextlib.suppress(OSError):
                self.popen.stdin.close()
        if self.popen.poll() is None:
            with contextlib.suppress(OSError):
                if self.session:
                    os.killpg(self.popen.pid, signal.SIGKILL)
                else:
                    self.popen.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.popen.wait(10)


class Case:
    """What one test has to work with: a directory, a user, helpers."""

    def __init__(self, user=None):
        self.user = user
        self.dir = tempfile.mkdtemp(dir=workspace())
        self.processes = []
        self.numbers = 0
        if user:
            os.chown(self.dir, user.pw_uid, user.pw_gid)

    def number(self):
        self.numbers += 1
        return self.numbers

    def identity(self):
        if not self.user:
            return {}
        return {"user": self.user.pw_uid, "group": self.user.pw_gid,
                "extra_groups": []}

    def environment(self, more=None):
        env = {key: value for key, value in os.environ.items()
               if key in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TERM")}
        env.update(LC_ALL="C", HOME=self.dir, TMPDIR=self.dir)
        env.update(more or {})
        return env

    def path(self, name):
        return os.path.join(self.dir, name)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
        if self.user:
            os.chown(path, self.user.pw_uid, self.user.pw_gid)
        return path

    def copy(self, source, name=None):
        path = self.path(name or os.path.basename(source))
        shutil.copy(source, path)
        if self.user:
            os.chown(path, self.user.pw_uid, self.user.pw_gid)
        return path

    def start(self, argv, **how):
        process = Process(self, argv, **how)
        self.processes.append(process)
        return process

    def run(self, argv, patience=None, input_text=None, env=None):
        process = self.start(argv, env=env, stdin=subprocess.PIPE
                             if input_text else subprocess.DEVNULL)
        if input_text:
            process.say(input_text)
            process.popen.stdin.close()
        status = process.wait(patience)
        return Result(status, process.out, process.err, None)

    def calltrap(self, *arguments, log=True, **how):
        """Runs calltrap to its end; log=True adds -o and reads the file."""
        path = self.path("log.%d" % self.number())
        argv = [CALLTRAP] + (["-o", path] if log else []) + list(arguments)
        result = self.run(argv, **how)
        if log and os.path.exists(path):
            result.log_text = read(path)
        return result

    def start_calltrap(self, *arguments, log=True, before=(), **how):
        """before: a command that runs it."""
        path = self.path("log.%d" % self.number())
        argv = [*before, CALLTRAP] + (["-o", path] if log else []) + list(arguments)
        process = self.start(argv, **how)
        process.log_path = path
        process.pid = worker_of(process.popen)
        return process

    def finish(self):
        for process in reversed(self.processes):
            process.end()
        shutil.rmtree(self.dir, ignore_errors=True)


def read(path):
    """Files of /proc end when their process does, between open and read too."""
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def wait_until(condition, what, patience=None):
    """Waits for something that has to happen, however slow the machine. It isn't
    to be the looking that keeps it from happening."""
    begin = asked = time.monotonic()
    while not condition():
        now = time.monotonic()
        if now > begin + (patience or PATIENCE):
            raise Failure("waited in vain for " + what)
        time.sleep(max(0.01, now - asked))
        asked = time.monotonic()


def status_field(pid, field, default=None):
    for line in read("/proc/%d/status" % pid).splitlines():
        if line.startswith(field + ":"):
            return line.split(":", 1)[1].strip()
    return default


def processor_time(pid):
    """In clock ticks; it grows while a process works."""
    words = read("/proc/%d/stat" % pid).rpartition(")")[2].split()
    return int(words[11]) + int(words[12]) if len(words) > 12 else None


def naps(pid):
    """How often its first thread has waited for something, or was stopped."""
    return int(status_field(pid, "voluntary_ctxt_switches", "0"))


def task_states(pid):
    with contextlib.suppress(OSError):
        return ", ".join("%s %s" % (tid, (status_field(int(tid), "State") or
                                          "gone"))
                         for tid in os.listdir("/proc/%d/task" % pid))
    return "gone"


def task_line(pid, tid):
    """What a thread does, waits for and has used, as far as the kernel tells."""
    task = "/proc/%d/task/%s/" % (pid, tid)
    words = read(task + "stat").rpartition(")")[2].split()
    waits = ""
    with contextlib.suppress(OSError):
        waits = read(task + "wchan") + " in " + read(task + "syscall").strip()
    return "  %s %s, %s+%s ticks, %s" % (tid, read(task + "comm").strip(),
                                        *(words[11:13] or "??"),
                                        words[0] + " " + waits if words else
                                        "gone")


def family_states(pid):
    """Of a process and all that descend from it: who waits for whom."""
    children = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        parent = int(status_field(int(name), "PPid", "0"))
        children.setdefault(parent, []).append(int(name))
    lines, left = [], [pid]
    while left:
        each = left.pop(0)
        left += children.get(each, [])
        lines.append("%d, child of %s, traced by %s" %
                     (each, status_field(each, "PPid"),
                      status_field(each, "TracerPid")))
        with contextlib.suppress(OSError):
            lines += [task_line(each, tid)
                      for tid in os.listdir("/proc/%d/task" % each)]
    return "\n".join(lines)


def tracer_of(pid):
    """The process; the kernel names the thread of it that traces."""
    thread = int(status_field(pid, "TracerPid", "0"))
    return int(status_field(thread, "Tgid", "0")) if thread else 0


def has_ended(pid):
    """Whoever inherits its status may never ask for it: pid namespaces often
    have a first process that doesn't."""
    return (status_field(pid, "State") or "Z")[0] in "ZX"


def has_sanitizer():
    """Its own malloc comes before a preloaded one."""
    with open(CALLTRAP, "rb") as file:
        return b"__asan_init" in file.read()


def keeping_nothing():
    """AddressSanitizer keeps what was freed for a while."""
    return {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") +
            ":quarantine_size_mb=0:thread_local_quarantine_size_kb=0"}


def states(pid):
    """Of all its threads: on a busy machine one may want to run, and can't."""
    found = set()
    with contextlib.suppress(OSError):
        for tid in os.listdir("/proc/%d/task" % pid):
            # It has none if the thread has ended since.
            found.update(read("/proc/%d/task/%s/stat" % (pid, tid))
                         .rpartition(")")[2].split()[:1])
    return found


def settle(target, tracer, state_of_rest="S"):
    """
    Waits until calltrap itself waits: its traps are planted. On a busy machine
    it may seem to rest before it has begun. Of a target that was stopped by a
    signal, the state of rest is "t" when it is traced.
    """
    state = {}
    wait_until(lambda: tracer_of(target.pid) or
               tracer.popen.poll() is not None, "the attach")

    def asleep():
        found = (states(tracer.pid), processor_time(tracer.pid),
                 status_field(target.pid, "State", "")[:1])
        same = state.get("last") == found and found[0] == {"S"} and \
            found[2] == state_of_rest
        state["times"] = state.get("times", 0) + 1 if same else 0
        state["last"] = found
        return state["times"] > 20 or tracer.popen.poll() is not None
    wait_until(asleep, "calltrap to settle")


STARVED = 5


def unless_starved(attempt, was_starved):
    """
    What an attempt comes to in which calltrap had processors. Without any for a
    second it lets calls go by, and says so: there is nothing to compare then, and
    it is tried again.
    """
    for _ in range(STARVED):
        found = attempt()
        if not was_starved(found):
            return found
    if os.getloadavg()[0] > (os.cpu_count() or 1):
        raise Skip("calltrap had no processor for a second, %d times" % STARVED)
    raise Failure("calls went by unseen, %d times" % STARVED)


def rest(pid):
    """Waits until a process has nothing to do: for a while all its threads
    sleep, and none has had a processor or wants one."""
    state = {}

    def rests():
        found = (states(pid), processor_time(pid))
        same = state.get("last") == found and not found[0] & set("RD")
        state["times"] = state.get("times", 0) + 1 if same else 0
        state["last"] = found
        return state["times"] > 20
    wait_until(rests, "process %d to rest" % pid)


def children_of(pid):
    """The kernel lists them by the thread that made them."""
    found = []
    with contextlib.suppress(OSError):
        for tid in os.listdir("/proc/%d/task" % pid):
            found += read("/proc/%d/task/%s/children" % (pid, tid)).split()
    return [int(word) for word in found]


def worker_of(popen):
    """The process of calltrap that traces: a child of the one that was started,
    which passes signals on to it."""
    found = []

    def is_there():
        found[:] = children_of(popen.pid)
        return found or popen.poll() is not None
    wait_until(is_there, "calltrap's second process")
    return found[0] if found else popen.pid


def code_mappings(pid):
    """Lines of /proc/PID/maps with code that comes from a file."""
    lines = [line.split(None, 5) for line in
             read("/proc/%d/maps" % pid).splitlines()]
    return [(words[0], words[2], words[5]) for words in lines
            if "x" in words[1] and len(words) == 6 and words[5][0] == "/"]


def differences_of(mem, mapping):
    addresses, offset, path = mapping
    start, end = (int(word, 16) for word in addresses.split("-"))
    try:
        memory = os.pread(mem, end - start, start)
    except OSError:
        return []  # unmapped meanwhile: a plugin that has gone
    with open(path, "rb") as file:
        file.seek(int(offset, 16))
        data = file.read(end - start).ljust(end - start, b"\0")
    return ["%s+0x%x: %02x, in the file %02x" %
            (path, int(offset, 16) + i, memory[i], data[i])
            for i in unequal(memory, data)]


def unequal(first, second, most=20):
    """Where they differ; page by page, as most don't, and Python is slow."""
    found = []
    for page in range(0, len(first), mmap.PAGESIZE):
        rest = slice(page, page + mmap.PAGESIZE)
        if first[rest] != second[rest]:
            found += [page + i for i, (a, b) in
                      enumerate(zip(first[rest], second[rest])) if a != b]
        if len(found) >= most:
            break
    return found[:most]


def code_differences(pid):
    """Where the code in a process's memory isn't that of its files.

    A plugin may go, and something else come where it was, between the look at
    the mappings and the one at the memory: what counts is what stays."""
    mem = os.open("/proc/%d/mem" % pid, os.O_RDONLY)
    try:
        suspects = [mapping for mapping in code_mappings(pid)
                    if differences_of(mem, mapping)]
        return [text for mapping in suspects for text in
                lasting_differences(pid, mem, mapping)]
    finally:
        os.close(mem)


def lasting_differences(pid, mem, mapping):
    found = differences_of(mem, mapping)
    for _ in range(3):
        time.sleep(0.01)
        if not found or mapping not in code_mappings(pid):
            return []
        now = differences_of(mem, mapping)
        found = [text for text in found if text in now]
    return found


def traps_in(pid):
    """Their last bytes. Besides them there may be copies of instructions, where
    the file has zeros; any byte may be one of the addresses in them."""
    return [text for text in code_differences(pid)
            if ": %02x," % TRAP[-1] in text and not text.endswith(" 00")]


def are_planted(pid):
    """The dynamic linker's trap stands while others wait, for the agent to get in."""
    return any(not re.match(r".*/ld[-.][^/]*\+0x", text) for text in traps_in(pid))


def check_untouched(pid):
    """A process that nobody traces, with the code of its files."""
    check_equal(tracer_of(pid), 0, "tracer of the target")
    differences = code_differences(pid)
    check(not differences, "bytes left behind:\n" + "\n".join(differences))


def check_seen(tracer):
    """On a machine that is far too busy calltrap may get no processor for a
    second: then hooks stop to record, and it says so."""
    if "went by unseen" in tracer.err and \
            os.getloadavg()[0] > 3 * (os.cpu_count() or 1):
        raise Skip("calltrap had no processor for a second")
    check("unseen" not in tracer.err, tracer.err)


@contextlib.contextmanager
def same_addresses():
    """What is started lies where it has lain before, if that can be had: how
    often the dynamic linker of arm64 unmaps depends on where 64 KiB begin."""
    no_random, ask = 0x40000, 0xffffffff
    personality = ctypes.CDLL(None).personality
    personality.argtypes = [ctypes.c_ulong]
    before = personality(ask)
    personality(before | no_random)
    try:
        yield
    finally:
        personality(before)


# ---------------------------------------------------------------- cgroups

class Cgroup:
    """One of its own, in the first of some hierarchies that has such files."""

    def __init__(self, places, file, name=""):
        for place in places:
            self.path = "%s/calltrap-test-%d%s" % (place, os.getpid(), name)
            with contextlib.suppress(OSError):
                os.mkdir(self.path)
                if os.path.exists(os.path.join(self.path, file)):
                    return
                os.rmdir(self.path)
        raise Skip("no cgroup with a %s can be had" % file)

    def put(self, file, text):
        with open(os.path.join(self.path, file), "w") as out:
            out.write(text)

    def take(self, pid):
        self.put("cgroup.procs", str(pid))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                os.rmdir(self.path)
                return
            except OSError:
                for pid in read(self.path + "/cgroup.procs").split():
                    with contextlib.suppress(OSError):
                        os.kill(int(pid), signal.SIGKILL)
                time.sleep(0.02)


class Freezer(Cgroup):
    """One of v1 or v2 that can be frozen."""

    PLACES = {1: ("/sys/fs/cgroup/freezer",),
              2: ("/sys/fs/cgroup/unified", "/sys/fs/cgroup")}

    def __init__(self, version):
        self.version = version
        self.file, self.words = {
            1: ("freezer.state", ("THAWED", "FROZEN")),
            2: ("cgroup.freeze", ("0", "1"))}[version]
        super().__init__(self.PLACES[version], self.file)

    def freeze(self, frozen=True):
        self.put(self.file, self.words[frozen])

    def __exit__(self, *_):
        """Processes in it end before: who is frozen can't."""
        with contextlib.suppress(OSError):
            self.freeze(False)
        super().__exit__()


class MemoryLimit(Cgroup):
    """One of v1 with so much memory, and no swap."""

    PLACE = "/sys/fs/cgroup/memory"

    def __init__(self, limit, name=""):
        super().__init__((self.PLACE,), "memory.limit_in_bytes", name)
        self.limit = limit
        self.usage = os.path.join(self.path, "memory.usage_in_bytes")
        self.put("memory.limit_in_bytes", str(limit))
        with contextlib.suppress(OSError):
            self.put("memory.swappiness", "0")


# ---------------------------------------------------------------- building

_built = {}


def need(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(tool + " isn't installed")


def need_another(uid=65534):
    """Root that traces another user's process. (A user namespace may have no such
    user, and containers' root lacks capabilities.)"""
    if os.geteuid():
        raise Skip("root alone traces what others have started")
    needed = 1 << 19 | 1 << 1
    if int(status_field(os.getpid(), "CapPrm"), 16) & needed != needed:
        raise Skip("there are no CAP_SYS_PTRACE and CAP_DAC_OVERRIDE")
    become = "import os; os.setresgid(*[%d] * 3); os.setresuid(*[%d] * 3)"
    if subprocess.run([sys.executable, "-c", become % (uid, uid)],
                      stderr=subprocess.DEVNULL, check=False).returncode:
        raise Skip("nobody can become user %d here" % uid)


def need_jumps():
    """Of the agent's; where processors can't be waited for, traps stay."""
    membarrier, query, is_global = 324, 0, 1
    if not X86:
        raise Skip("no agent is written for this machine")
    known = ctypes.CDLL(None).syscall(membarrier, query, 0)
    if known < 0 or not known & is_global:
        raise Skip("this kernel can't be asked to wait for all processors")


def need_x86(what):
    if not X86:
        raise Skip("x86's alone: " + what)


def need_ruby_with_places():
    """From 3.3 on, libruby doesn't export what leads to its frames."""
    need("ruby")
    names = command_output(["ruby", "-e", "print RbConfig::CONFIG"
                            "['LIBRUBY_ALIASES']"])[1].split()
    files = [os.path.join(HERE, "..", "..", "etc", name + ".conf")
             for name in names]
    if not any(os.path.exists(file) for file in files):
        raise Skip("no file says where this Ruby has its places: " +
                   " ".join(names))


def victim(name):
    return os.path.join(VICTIMS, name)


def command_output(argv, cwd=None):
    done = subprocess.run(argv, stdout=subprocess.PIPE, cwd=cwd,
                          stderr=subprocess.STDOUT, timeout=max(300, PATIENCE))
    return done.returncode, done.stdout.decode(errors="replace")


def _execute(argv, optional, directory):
    status, text = command_output(argv, directory)
    if status:
        kind = Skip if optional else Failure
        first = text.strip().splitlines()[:1] if optional else [text]
        raise kind("%s: %s" % (" ".join(argv), "\n".join(first)))


@contextlib.contextmanager
def not_counted():
    """What many tests need takes nobody's time (in_time)."""
    left, _ = signal.setitimer(signal.ITIMER_REAL, 0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, left)


def build(output, sources, *flags, cc="gcc", directory=None, optional=False):
    """
    Compiles sources (names in victims/) into directory/output, once. When the
    tools can't do that: a Skip if optional, else a Failure.
    """
    need(cc.split()[0])
    if isinstance(sources, str):
        sources = [sources]
    directory = directory or build_directory("common")
    path = os.path.join(directory, output)
    argv = cc.split() + ["-g0", "-D_GNU_SOURCE", "-o", path] + [
        source if "/" in source else victim(source) for source in sources
    ] + list(flags)
    key = tuple(argv)
    if key not in _built:
        try:
            with not_counted():
                _execute(argv, optional, directory)
            _built[key] = path
        except (Failure, Skip) as problem:
            _built[key] = problem
        except subprocess.TimeoutExpired as late:
            if not POINT_SECONDS:
                raise
            _built[key] = Skip("not built within %g s" % late.timeout)
    if isinstance(_built[key], Exception):
        raise _built[key]
    return path


def build_directory(name):
    path = os.path.join(workspace(), "build", name)
    os.makedirs(path, exist_ok=True)
    return path


def build_library(output, source, *flags, **how):
    return build(output, source, "-shared", "-fPIC", "-O1",
                 "-Wl,-soname," + output, *flags, **how)


def build_plugin(directory):
    """plug.so, with the library that it needs beside it."""
    build_library("libt.so", "libt.c", directory=directory)
    return build_library("plug.so", "plugin.c", *near(directory), "-lt",
                         directory=directory)


def build_loader(*flags, name="loader", source="loader.c"):
    """A program that loads a plugin when it is told to; and that."""
    directory = build_directory("dlopen")
    plugin = build_plugin(directory)
    loader = build(name, source, "-O1", *flags, "-ldl", "-lpthread",
                   directory=directory)
    return loader, plugin


def build_go(source, *flags):
    """A program of Go's; the test is skipped where that can't be built."""
    need("go")
    directory = build_directory("-".join([source, *flags]))
    path = os.path.join(directory, source[:-len(".go")])
    environment = dict(os.environ, GOCACHE=os.path.join(directory, "cache"),
                       GO111MODULE="off", GOFLAGS="", CGO_ENABLED="1")
    done = subprocess.run(["go", "build", *flags, "-o", path, victim(source)],
                          env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600)
    if done.returncode:
        raise Skip("go can't build here: %s" % done.stdout.decode())
    return path


def build_with_libt(name, directory, *flags):
    """NAME.c with libt.so, the library whose functions tests trace."""
    build_library("libt.so", "libt.c", directory=directory)
    return build(name, name + ".c", "-O1", *flags, *near(directory), "-lt",
                 "-lpthread", directory=directory)


def near(directory):
    """Linker flags: use the libraries of that directory."""
    return ["-L" + directory, "-Wl,-rpath,$ORIGIN"]


# ---------------------------------------------------------------- TAP

_tests = []


def test(name, users=False):
    """
    Registers a function of one Case as a test. With users it is run a second
    time as an ordinary user when the tests are run by root.
    """
    def register(function):
        _tests.append((name, function, None))
        if users and os.geteuid() == 0:
            _tests.append((name + ", as an ordinary user", function, "nobody"))
        return function
    return register


def ordinary_user(name):
    try:
        user = pwd.getpwnam(name)
    except KeyError:
        raise Skip("there is no user " + name)
    probe = subprocess.run([CALLTRAP, "--version"], stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, user=user.pw_uid,
                           group=user.pw_gid, extra_groups=[], cwd="/",
                           timeout=PATIENCE)
    if probe.returncode:
        raise Skip("%s can't run %s" % (name, CALLTRAP))
    return user


def give_up(*_):
    raise Skip("not within %g s" % POINT_SECONDS)


@contextlib.contextmanager
def in_time():
    """What takes longer than a test may is skipped."""
    if not POINT_SECONDS:
        yield
        return
    signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, POINT_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def run_one(function, user):
    """(passed, reason to skip or None, details)"""
    case = None
    try:
        try:
            person = ordinary_user(user) if user else None
        except PermissionError:
            raise Skip("%s can't reach %s" % (user, CALLTRAP))
        case = Case(person)
        with in_time():
            function(case)
        return True, None, ""
    except Skip as reason:
        return True, str(reason), ""
    except Failure as failure:
        return False, None, str(failure)
    except Exception:
        return False, None, traceback.format_exc()
    finally:
        if case:
            case.finish()


def report(number, name, passed, skipped, details):
    line = "%s %d - %s" % ("ok" if passed else "not ok", number, name)
    if skipped is not None:
        line += " # SKIP " + " ".join(skipped.split())
    print(line)
    for text in details.splitlines():
        print("# " + text)
    sys.stdout.flush()


def select(condition):
    """Keeps those of the tests registered whose names meet it."""
    _tests[:] = [test for test in _tests if condition(test[0])]


def main(of_x86=None):
    """
    Runs the tests registered, or those whose name holds an argument; where no
    x86 is, none of those that are all about something of_x86.
    """
    if of_x86 and not X86:
        print("1..0 # SKIP x86's alone: " + of_x86)
        return 0
    wanted = [test for test in _tests
              if all(word in test[0] for word in sys.argv[1:])]
    print("1..%d" % len(wanted))
    sys.stdout.flush()
    if not os.access(CALLTRAP, os.X_OK):
        print("Bail out! no program %s; set CALLTRAP" % CALLTRAP)
        return 99
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(99))
    # Shells ignore these for what runs in their background; what is started
    # here would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    failed = 0
    for number, (name, function, user) in enumerate(wanted, 1):
        passed, skipped, details = run_one(function, user)
        failed += not passed
        report(number, name, passed, skipped, details)
    return 1 if failed else 0
