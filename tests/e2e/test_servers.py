#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Real servers under load: redis-server and mariadbd are attached to and left
again and again, and neither they nor their clients notice. SERVER_ROUNDS says
how often (10); every figure is printed as a comment."""

import os
import pwd
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h
import servers

ROUNDS = int(os.environ.get("SERVER_ROUNDS", "10"))
SLOT = servers.SLOT
MAPPING = re.compile(r"([0-9a-f]+)-([0-9a-f]+) ..x. ([0-9a-f]+) \S+ \S+ *(.*)")


# ---------------------------------------------------------------- the code

def executable_mappings(pid):
    """(start, size, offset, path) of each that /proc/PID/mem can read."""
    for line in h.read("/proc/%d/maps" % pid).splitlines():
        found = MAPPING.match(line)
        if found and found[4] != "[vsyscall]":
            start, end = int(found[1], 16), int(found[2], 16)
            yield start, end - start, int(found[3], 16), found[4]


def file_part(path, offset, size):
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(size).ljust(size, b"\0")


def differences(found, wanted):
    return [i for i in range(len(found)) if found[i] != wanted[i]]


class Code:
    """A process's code before it was touched, to compare with later."""

    def __init__(self, pid):
        self.pid = pid
        self.before = {}
        self.own = 0 # bytes that the process itself has changed
        for mapping, memory in self.read():
            start, size, offset, path = mapping
            # Not by the path: an upgrade would change that to "(deleted)".
            self.before[start, size, offset] = memory
            if path.startswith("/"):
                wanted = file_part(path, offset, size)
                if memory != wanted:
                    self.own += len(differences(memory, wanted))

    def read(self):
        with open("/proc/%d/mem" % self.pid, "rb", buffering=0) as mem:
            for mapping in executable_mappings(self.pid):
                yield mapping, os.pread(mem.fileno(), mapping[1], mapping[0])

    def check(self):
        for mapping, memory in self.read():
            start, size, offset, path = mapping
            wanted = self.before.get((start, size, offset))
            if wanted is None and os.path.exists(path):
                wanted = file_part(path, offset, size)
            if wanted is None or memory == wanted:
                continue
            places = differences(memory, wanted)
            raise h.Failure("%d bytes left behind in %s, at %s" %
                            (len(places), path, " ".join(
                                "%#x:%02x(%02x)" % (offset + i, memory[i],
                                                    wanted[i])
                                for i in places[:20])))


# ---------------------------------------------------------------- the log

def check_line(line, open_calls):
    mine = open_calls.setdefault(line.pid, [])
    # Not by line.end: there may be a " = " in the text of an argument.
    if line.kind == "call" and line.text.endswith(" <unfinished ...>"):
        mine.append(line.name)
    elif line.kind == "call":
        h.check(line.result is not None or line.end,
                "a call without an end: " + line.text)
    elif line.kind == "resumed":
        h.check(line.name in mine, "resumed, but never begun: " + line.text)
        while mine.pop() != line.name:
            pass
        h.check(line.result is not None or line.end,
                "a call without an end: " + line.text)
    else:
        h.check(line.kind == "exit", "a line that is no call: " + line.text)


def before(log, line):
    place = log.lines.index(line)
    return "\n".join([other.text for other in log.lines[:place]
                      if other.pid == line.pid][-12:])


def check_log(text):
    """Each call complete; returns how many there were."""
    h.check(not text or text.endswith("\n"), "the log's last line is cut: %r" % text[-300:])
    log = h.Log(text)
    open_calls = {}
    for line in log.lines:
        try:
            check_line(line, open_calls)
        except h.Failure as failure:
            raise h.Failure("%s\nof the same thread before:\n%s" %
                            (failure, before(log, line)))
    rest = {pid: names for pid, names in open_calls.items() if names}
    h.check(not rest, "calls begun and never ended: %r; the log ends in\n%s" %
            (rest, "\n".join(text.splitlines()[-10:])))
    return len(log.calls)


class Spans:
    """Spans of time, and what the clients saw within them."""

    def __init__(self):
        self.spans = {"attach": [], "traced": [], "detach": []}

    def add(self, name, begin, end):
        self.spans[name].append((begin, end))

    def pairs(self, name, slots, slack):
        for begin, end in self.spans[name]:
            for at, pair in slots.items():
                if begin - SLOT <= at <= end + slack:
                    yield pair

    def operations(self, name, slots):
        return sum(pair[0] for pair in self.pairs(name, slots, 0))

    def worst(self, name, slots):
        """An operation that was held up ends a little later."""
        return max([pair[1] for pair in self.pairs(name, slots, 0.1)] or [0])

    def worst_outside(self, slots):
        busy = [(begin - 0.1, end + 0.2) for spans in self.spans.values()
                for begin, end in spans]
        return max([pair[1] for at, pair in slots.items()
                    if not any(begin <= at <= end for begin, end in busy)] or
                   [0])


# ---------------------------------------------------------------- rounds

class Rounds:
    def __init__(self, case, server, functions, prototypes, clients, others):
        self.case, self.server = case, server
        self.functions, self.prototypes = functions, prototypes
        self.clients, self.others = clients, others
        self.code = Code(server.pid)
        self.spans = Spans()
        self.calls = self.quiet = 0
        self.seen = set()

    def start(self, number):
        pattern = self.functions[number % len(self.functions)]
        ways = [["--for", "300ms"], [], []][number % 3]
        return self.case.start_calltrap(
            "-F", self.prototypes, "-L", "-x", pattern, "-s", "200", *ways,
            "-p", str(self.server.pid))

    def leave(self, number, tracer):
        if number % 3:
            time.sleep(0.1 + 0.03 * (number % 5))
            tracer.popen.send_signal((signal.SIGINT,
                                      signal.SIGTERM)[number % 2])
        begin = time.monotonic()
        status = tracer.wait()
        # --for: it begins to leave at a time that only calltrap knows.
        end = time.monotonic()
        self.spans.add("detach", begin if number % 3 else end - 0.03, end)
        h.check_equal(status, 0, "calltrap's status in round %d; it said: %s" %
                      (number, tracer.err))

    def round(self, number):
        begin = time.monotonic()
        tracer = self.start(number)
        h.wait_until(lambda: os.path.exists(tracer.log_path) and
                     os.path.getsize(tracer.log_path) > 200 or
                     tracer.popen.poll() is not None, "calls in the log")
        attached = time.monotonic()
        self.spans.add("attach", begin, attached)
        self.leave(number, tracer)
        self.spans.add("traced", attached, time.monotonic())
        self.check(number, tracer)

    def check(self, number, tracer):
        self.check_alive("round %d" % number)
        h.check_equal(h.tracer_of(self.server.pid), 0, "tracer of the server")
        self.code.check()
        messages = [line for line in tracer.err.splitlines()
                    if line.startswith("calltrap: ")]
        h.check_equal(h.but_cost(messages), [], "calltrap's messages")
        text = h.read(tracer.log_path)
        # The server, or calltrap, may have had no processor for all of its 300 ms.
        h.check(text or number % 3 == 0, "nothing was logged in round %d" % number)
        self.quiet += not text
        self.calls += check_log(text)
        self.seen.update(word for word in self.case.strings if word in text)
        os.unlink(tracer.log_path)

    def check_alive(self, when):
        h.check_equal(self.server.popen.poll(), None, "the server's end, " +
                      when + "; it said:\n" + h.shorten(self.server.out +
                                                        self.server.err))
        h.check(all(client.is_working() for client in self.clients),
                "a client gave up, " + when)
        for other in self.others:
            h.check_equal(other.popen.poll(), None, "the end of %s, %s: %s" %
                          (other.argv[0], when, h.shorten(other.err)))

    def run(self):
        begin = time.monotonic()
        for number in range(ROUNDS):
            self.round(number)
        time.sleep(0.3)
        self.check_alive("after all rounds")
        seconds = time.monotonic() - begin
        slots = {}
        for client in self.clients:
            for at, (count, worst) in client.finish().items():
                old = slots.get(at, (0, 0))
                slots[at] = old[0] + count, max(old[1], worst)
        self.report(slots, seconds)
        h.check_equal(sorted(self.seen), sorted(self.case.strings),
                      "strings of the clients in the log")

    def report(self, slots, seconds):
        spans = self.spans
        print("# %s: %d rounds in %.0f s, %d calls logged, %d operations of "
              "clients that check (%d while traced)" %
              (os.path.basename(self.server.argv[0]), ROUNDS, seconds,
               self.calls, sum(pair[0] for pair in slots.values()),
               spans.operations("traced", slots)))
        print("# longest operation of theirs in ms: %s" % ", ".join(
            "%s %.1f" % (name, 1000 * worst) for name, worst in
            [(name, spans.worst(name, slots)) for name in spans.spans] +
            [("not traced", spans.worst_outside(slots))]))
        if self.code.own:
            print("# %d bytes of code differed from the files before" %
                  self.code.own)
        if self.quiet:
            print("# rounds of 300 ms without a call: %d" % self.quiet)
        h.check(self.quiet <= 1, "too many rounds without a call: %d" % self.quiet)
        h.check(spans.operations("traced", slots) > 0, "no operation of a "
                "client while traced")


# ---------------------------------------------------------------- redis

REDIS_PROTOTYPES = """
int processCommand(addr);
addr lookupKeyRead(addr, addr);
addr lookupKeyWrite(addr, addr);
long read(int, +string[retval], ulong);
long write(int, string[arg3], ulong);
addr memcpy(addr, addr, ulong);
addr malloc(ulong);
void free(addr);
int epoll_wait(int, addr, int, int);
"""
REDIS_FUNCTIONS = (
    "processCommand+lookupKeyRead+lookupKeyWrite+read@libc.so.6",
    "read@libc.so.6+write@libc.so.6+epoll_wait@libc.so.6",
    "malloc@libjemalloc.so*+free@libjemalloc.so*+memcpy@libc.so.6",
    "processCommand+call+addReply*+write@libc.so.6",
)


@h.test("redis-server under load", users=True)
def redis(case):
    h.need("redis-server", "redis-benchmark", "redis-cli")
    # The name of a socket has room for 107 bytes.
    path = case.path("s")
    server = servers.start_redis(case, path)
    clients = [servers.Client(case, "redis", path, "client%d" % i) for i in range(2)]
    load = case.start(["redis-benchmark", "-s", path, "-l", "-q", "-c", "10",
                       "-r", "1000", "-t",
                       "set,get,incr,lpush,lpop,sadd,hset,zadd,mset"])
    h.wait_until(lambda: all(client.is_ready() for client in clients),
                 "the clients")
    case.strings = ["client1:list", "RPOP", "+OK"]
    rounds = Rounds(case, server, REDIS_FUNCTIONS,
                    case.write("redis.conf", REDIS_PROTOTYPES), clients,
                    [load])
    rounds.run()
    h.check("Error" not in load.out + load.err, "redis-benchmark said: " +
            h.shorten(load.err))
    load.end()
    done = case.run(["redis-cli", "-s", path, "INFO", "stats"])
    done.check_status(0)
    h.check_match(r"^total_error_replies:0\r?$", done.out, "INFO stats")
    case.run(["redis-cli", "-s", path, "SHUTDOWN", "NOSAVE"])
    h.check_equal(server.wait(), 0, "redis-server's status")
    h.check("crash" not in server.out.lower(), "redis-server said: " +
            h.shorten(server.out))


# ---------------------------------------------------------------- mariadb

DISPATCH = "_Z16dispatch_command19enum_server_commandP3THDPcjb"
MARIADB_PROTOTYPES = """
bool(int) %s(int, addr, string[arg4], uint, bool(int));
addr my_malloc(uint, ulong, ulong);
addr memcpy(addr, addr, ulong);
int poll(addr, ulong, int);
long recv(int, +bytes[retval], ulong, int);
int pthread_mutex_lock(addr);
""" % DISPATCH
MARIADB_FUNCTIONS = (
    DISPATCH + "+my_malloc",
    "my_malloc+my_free+malloc@libc.so.6",
    "poll@libc.so.6+recv@libc.so.6+send*@libc.so.6+" + DISPATCH,
    "memcpy@libc.so.6+pthread_mutex_lock@libc.so.6+" + DISPATCH,
    "_ZN3THD*+_Z11mysql_parse*+" + DISPATCH,
)


def start_slap(case, path):
    """Connects and disconnects all the time: threads come and go."""
    return case.start(["mariadb-slap", "--no-defaults", "--socket=" + path,
                       "--user=root", "--auto-generate-sql",
                       "--concurrency=4", "--number-of-queries=200",
                       "--iterations=1000000", "--detach=20", "--silent"])


@h.test("mariadbd under load")
def mariadb(case):
    h.need("mariadb-slap", "mariadb-admin")
    path = case.path("s")
    user = (case.user or pwd.getpwuid(os.geteuid())).pw_name
    server = servers.start_mariadb(case, path, user)
    clients = [servers.Client(case, "sql", path, "client%d" % i) for i in range(3)]
    h.wait_until(lambda: all(client.is_ready() for client in clients),
                 "the clients")
    load = start_slap(case, path)
    case.strings = ["SELECT n, t FROM load_test.client2", "text "]
    rounds = Rounds(case, server, MARIADB_FUNCTIONS,
                    case.write("mariadb.conf", MARIADB_PROTOTYPES), clients,
                    [load])
    rounds.run()
    h.check_equal(load.err, "", "what mariadb-slap said")
    load.end()
    done = case.run(["mariadb-admin", "--no-defaults", "--user=root",
                     "--socket=" + path, "shutdown"])
    done.check_status(0)
    h.check_equal(server.wait(), 0, "mariadbd's status")
    said = re.findall(r".*(?:\[ERROR\]|got signal|crash|corrupt|Assertion).*",
                      server.err)
    h.check_equal(said, [], "mariadbd's complaints")


if __name__ == "__main__":
    # A shell's background jobs ignore it, and so would what they start.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(h.main())
