#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Debug information from a server, of a program that has none: from Debian's
debuginfod, and from servers of the test's own, which say what they were asked
and behave as badly as they are told. Their word is the truth about what was
asked.
"""

import contextlib
import ctypes
import os
import re
import signal
import socket
import threading
import time

from harness import (Skip, build, check, check_equal, children_of,
                     command_output, has_ended, main, need, read, test,
                     wait_until)

SOURCE = """
    #include <stdio.h>
    #include <stdlib.h>
    #include <time.h>
    struct point { int x, y; };
    __attribute__((noipa)) int where(struct point p, const char *label)
    {
        return p.x + p.y + (label[0] == '?');
    }
    int main(int argc, char **argv)
    {
        struct timespec pause = { 0, 10000000 }, begin, end;
        int count = atoi(argv[1]), i, sum = 0;
        char *volatile kept = malloc(1234);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (i = 0; i < count; i++) {
            sum += where((struct point){ i, 2 }, "here");
            nanosleep(&pause, NULL);
        }
        clock_gettime(CLOCK_MONOTONIC, &end);
        printf("ms %ld\\n", (end.tv_sec - begin.tv_sec) * 1000 +
               (end.tv_nsec - begin.tv_nsec) / 1000000);
        return kept ? sum & 0 : 1;
    }
"""
CALL_LINE = 1 + SOURCE[:SOURCE.index("sum += where")].count("\n")
DESCRIBED = re.compile(r'^p=\{x=\d+, y=2\}, label="here"$')
SHOWN = ["-L", "-x", "where", "-w", "3"]

# How much longer the loop may take, where a server that is waited for would
# take ten seconds and more.
DELAY_MS = 4000


def run(*argv):
    status, text = command_output(list(argv))
    check(not status, text)
    return text


class Stripped:
    """A program, and its debug information in a folder of its own."""

    def __init__(self, case):
        need("objcopy", "readelf")
        try:
            ctypes.CDLL("libdebuginfod.so.1")
        except OSError:
            raise Skip("libdebuginfod1 isn't installed")
        source = case.write("stripped.c", SOURCE)
        self.path = build("stripped", source, "-g", "-O1", "-rdynamic",
                          "-Wl,--build-id", directory=case.dir)
        self.folder = case.path("served")
        os.mkdir(self.folder)
        self.debug = os.path.join(self.folder, "stripped.debug")
        run("objcopy", "--only-keep-debug", self.path, self.debug)
        run("strip", "-g", self.path)
        self.id = re.search(r"Build ID: (\w+)",
                            run("readelf", "-n", self.path))[1]


class Server(threading.Thread):
    """Answers each request with what reply(path) returns, or hangs."""

    def __init__(self, reply):
        super().__init__(daemon=True)
        self.reply = reply
        self.asked = []
        self.held = []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = "http://127.0.0.1:%d" % self.socket.getsockname()[1]
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                self.serve(self.socket.accept()[0])

    def serve(self, connection):
        self.held.append(connection)
        with contextlib.suppress(OSError):
            request = b""
            while b"\r\n\r\n" not in request:
                some = connection.recv(4096)
                if not some:
                    return
                request += some
            self.asked.append(request.split()[1].decode())
            reply = self.reply(self.asked[-1])
            if reply is not None:
                connection.sendall(reply)
                connection.shutdown(socket.SHUT_RDWR)

    def end(self):
        # Alone, close() would not wake who waits in accept().
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        for connection in [self.socket] + self.held:
            connection.close()


def answer(status, body=b""):
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" \
        % (status, len(body)) + body


@contextlib.contextmanager
def serving(reply):
    server = Server(reply)
    try:
        yield server
    finally:
        server.end()


def serving_debug(program):
    with open(program.debug, "rb") as file:
        content = file.read()
    wanted = "/buildid/%s/debuginfo" % program.id

    def reply(path):
        return answer(b"200 OK", content) if path == wanted else \
            answer(b"404 Not Found")
    return serving(reply)


def environment(case, url):
    return {"DEBUGINFOD_URLS": url, "DEBUGINFOD_CACHE_PATH":
            case.path("cache%d" % case.number())}


def asked_for(server, program):
    return [path for path in server.asked if program.id in path]


def check_described(result, from_the_first=False):
    """From some call on, with the line below it."""
    lines = result.log.named("where")
    known = [bool(DESCRIBED.match(line.arguments)) for line in lines]
    check(known[-1] and known == sorted(known), result.log_text)
    check(known[0] or not from_the_first, result.log_text)
    stacks = result.log_text.split("where(")
    place = "stripped.c:%d" % CALL_LINE
    check(place in stacks[-1], "no %s in\n%s" % (place, stacks[-1]))
    if from_the_first:
        check(place in stacks[1], "no %s in\n%s" % (place, stacks[1]))


def check_undescribed(result):
    result.check_status(0)
    lines = result.log.named("where")
    check(lines, "no calls")
    for line in lines:
        check(not DESCRIBED.match(line.arguments), line.text)
    check("stripped.c" not in result.log_text, result.log_text)


def fetchers():
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and \
           read("/proc/%s/comm" % name).strip() == "calltrap-fetch" and \
           not has_ended(int(name)):
            found.append(int(name))
    return found


@contextlib.contextmanager
def debuginfod(case, folder):
    """Debian's own server, when it has looked through the folder."""
    need("debuginfod")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = case.start(["debuginfod", "-v", "-d", case.path("index.sqlite"),
                         "-F", "-p", str(port), folder])
    wait_until(lambda: "groomed database" in server.out + server.err or
               server.popen.poll() is not None, "debuginfod to be ready")
    if server.popen.poll() is not None:
        raise Skip("debuginfod doesn't run: " + server.err[-200:])
    yield "http://127.0.0.1:%d" % port, server
    server.end()


@test("lines and prototypes from Debian's debuginfod", users=True)
def from_debuginfod(case):
    program = Stripped(case)
    with debuginfod(case, program.folder) as (url, server):
        env = environment(case, url)
        result = case.calltrap(*SHOWN, program.path, "150", env=env)
        result.check_status(0)
        result.check_quiet()
        check_described(result)
        asked = re.findall(r"GET /buildid/%s/debuginfo 200" % program.id,
                           server.out + server.err)
        check_equal(len(asked), 1, "requests")
        kept = os.path.join(env["DEBUGINFOD_CACHE_PATH"], program.id,
                            "debuginfo")
        check(read(kept) == read(program.debug), "not kept as " + kept)


@test("what was fetched once is there from the first call on", users=True)
def kept_files(case):
    program = Stripped(case)
    with serving_debug(program) as server:
        env = environment(case, server.url)
        check_described(case.calltrap(*SHOWN, program.path, "150", env=env))
        check_equal(len(asked_for(server, program)), 1, "requests")
        check_described(case.calltrap(*SHOWN, program.path, "2", env=env),
                        from_the_first=True)
        check_equal(len(asked_for(server, program)), 1,
                    "requests of the second run")
    # The default place.
    os.makedirs(case.path(".cache"), exist_ok=True)
    os.rename(env["DEBUGINFOD_CACHE_PATH"],
              case.path(".cache/debuginfod_client"))
    check_described(case.calltrap(*SHOWN, program.path, "2",
                                  env={"DEBUGINFOD_URLS": server.url}),
                    from_the_first=True)


@test("nothing is asked when DEBUGINFOD_URLS isn't set, or empty")
def not_set(case):
    program = Stripped(case)
    with serving_debug(program) as server:
        env = environment(case, server.url)
        for urls in (None, "", " "):
            env.pop("DEBUGINFOD_URLS", None)
            if urls is not None:
                env["DEBUGINFOD_URLS"] = urls
            result = case.calltrap("-D", "module", *SHOWN, program.path,
                                   "20", env=env)
            check_undescribed(result)
            check("debuginfod" not in result.err, result.err)
            case.calltrap("heap", program.path, "5", env=env, log=False)
        check_equal(server.asked, [], "what the server was asked")


@test("the environment of the target is not used")
def environment_of_target(case):
    program = Stripped(case)
    with serving_debug(program) as server:
        target = case.start([program.path, "100000"],
                            env=environment(case, server.url))
        tracer = case.start_calltrap(*SHOWN, "-p", str(target.pid))
        wait_until(lambda: read(tracer.log_path).count("where(") > 20,
                   "calls to be logged")
        tracer.popen.send_signal(signal.SIGINT)
        tracer.wait()
        check("stripped.c" not in read(tracer.log_path), "it was used")
        check_equal(server.asked, [], "what the server was asked")


@test("what has debug information, here or in a local file, is not asked for")
def not_needed(case):
    program = Stripped(case)
    run("objcopy", "--add-gnu-debuglink=" + program.debug, program.path)
    os.rename(program.debug, case.path("stripped.debug"))
    with serving(lambda path: answer(b"404 Not Found")) as server:
        result = case.calltrap(*SHOWN, program.path, "3",
                               env=environment(case, server.url))
        check_described(result, from_the_first=True)
        check_equal(asked_for(server, program), [], "requests")


@test("calltrap heap waits for what it needs at the end", users=True)
def heap(case):
    program = Stripped(case)
    with serving_debug(program) as server:
        result = case.calltrap("heap", program.path, "5", log=False,
                               env=environment(case, server.url))
        check(re.search(r"main .*stripped\.c:\d+ \(stripped\)",
                        result.out + result.err), result.out + result.err)
        check_equal(len(asked_for(server, program)), 1, "requests")


def loop_ms(result):
    return int(re.search(r"^ms (\d+)$", result.out, re.M)[1])


def check_no_delay(case, program, url, message):
    """Told only with -D; the program doesn't wait."""
    for debug in (False, True):
        begin = time.monotonic()
        result = case.calltrap(*(["-D", "module"] if debug else []), *SHOWN,
                               program.path, "50",
                               env=environment(case, url))
        seconds = time.monotonic() - begin
        check_undescribed(result)
        check(loop_ms(result) < 500 + DELAY_MS,
              "the program took %d ms" % loop_ms(result))
        check(seconds < (500 + 2 * DELAY_MS) / 1000,
              "it took %.1f s" % seconds)
        if debug:
            check(re.search(message, result.err), result.err)
        else:
            result.check_quiet()


@test("a server that hangs, hasn't the file, sends anything, or is down")
def bad_servers(case):
    program = Stripped(case)
    other = answer(b"200 OK", open("/bin/true", "rb").read())
    for reply, message in (
            (lambda path: None, "1 files wanted, 0 found"),
            (lambda path: answer(b"404 Not Found"), "No such file"),
            (lambda path: answer(b"500 Error"), r"debuginfod: \w+: "),
            (lambda path: answer(b"200 OK", b"garbage" * 1000),
             "isn't its debug information"),
            (lambda path: other, "isn't its debug information"),
            (lambda path: answer(b"200 OK"), "debuginfod")):
        with serving(reply) as server:
            check_no_delay(case, program, server.url, message)
            check(asked_for(server, program), "nobody asked: " + message)
    check_no_delay(case, program, server.url, "Connection refused")
    check_no_delay(case, program, "nonsense://", "debuginfod: ")


@test("a server that hangs is waited for at the end, for a while; with Ctrl-C "
      "no longer")
def hanging(case):
    program = Stripped(case)
    seconds = {}
    with serving(lambda path: None) as server:
        for impatient in (False, True):
            tracer = case.start_calltrap(
                "heap", "-D", "module", program.path, "2", log=False,
                env=environment(case, server.url))
            wait_until(lambda: "ms " in tracer.out, "the program to end")
            wait_until(lambda: "debuginfod is asked" in tracer.err,
                       "debuginfod to be asked")
            begin = time.monotonic()
            if impatient:
                time.sleep(0.5)
                tracer.popen.send_signal(signal.SIGINT)
            check_equal(tracer.wait(), 0, "calltrap's exit status")
            seconds[impatient] = time.monotonic() - begin
            check("main" in tracer.out + tracer.err, tracer.out + tracer.err)
            if not impatient:
                check("no server answers" in tracer.err, tracer.err)
    check(seconds[True] < seconds[False] - 2, "it took %r s" % seconds)


@test("the child that fetches ends with calltrap, however that ends")
def child_ends(case):
    program = Stripped(case)
    for kill in (False, True):
        with serving(lambda path: None) as server:
            env = environment(case, server.url)
            tracer = case.start_calltrap(*SHOWN, program.path, "100000",
                                         env=env)
            wait_until(lambda: server.asked, "a request")
            mine = [pid for pid in children_of(tracer.pid)
                    if pid in fetchers()]
            check_equal(len(mine), 1, "children that fetch")
            tracer.popen.send_signal(signal.SIGKILL if kill else
                                     signal.SIGTERM)
            tracer.wait()
            wait_until(lambda: mine[0] not in fetchers(), "it to end", 20)
            left = [name for _, _, names in
                    os.walk(env["DEBUGINFOD_CACHE_PATH"]) for name in names
                    if name.startswith("debuginfo")]
            check_equal(left, [], "half files left")


@test("killed in its work, it takes nothing with it")
def child_killed(case):
    program = Stripped(case)
    with serving(lambda path: None) as server:
        tracer = case.start_calltrap("-D", "module", *SHOWN, program.path,
                                     "200", env=environment(case, server.url))
        wait_until(lambda: server.asked, "a request")
        for pid in children_of(tracer.pid):
            if pid in fetchers():
                os.kill(pid, signal.SIGKILL)
        check_equal(tracer.wait(), 0, "calltrap's exit status")
        check_equal(read(tracer.log_path).count("where("), 200, "calls")
        check("its process has died" in tracer.err, tracer.err)


@test("without libdebuginfod that is said once, with -D only")
def no_library(case):
    program = Stripped(case)
    case.write("libdebuginfod.so.1", "no library")
    with serving_debug(program) as server:
        env = environment(case, server.url)
        env["LD_LIBRARY_PATH"] = case.dir
        result = case.calltrap(*SHOWN, program.path, "20", env=env)
        check_undescribed(result)
        check("libdebuginfod" not in result.err, result.err)
        # However long its process takes to look for it.
        target = case.start([program.path, "100000"])
        tracer = case.start_calltrap("-D", "module", *SHOWN, "-p",
                                     str(target.pid),
                                     env=env)
        said = "there is no libdebuginfod.so.1"
        wait_until(lambda: said in tracer.err, "the message")
        before = read(tracer.log_path).count("where(")
        wait_until(lambda: read(tracer.log_path).count("where(") > before + 20,
                   "more calls")
        tracer.popen.send_signal(signal.SIGINT)
        check_equal(tracer.wait(), 0, "calltrap's exit status")
        check_equal(tracer.err.count(said), 1, "messages")
        check("stripped.c" not in read(tracer.log_path), "it was found")
        check_equal(server.asked, [], "what the server was asked")


@test("debug information of which dwz has moved parts to a common file")
def common_file(case):
    need("dwz")
    program = Stripped(case)
    other = os.path.join(program.folder, "other.debug")
    run("cp", program.debug, other)
    common = os.path.join(program.folder, "common")
    status, text = command_output(["dwz", "-m", common, "-M", "/nowhere/c",
                                   program.debug, other])
    if status or not os.path.exists(common):
        raise Skip("dwz made no common file: " + text)
    number = re.search(r"Build ID: (\w+)", run("readelf", "-n", common))[1]
    files = {"/buildid/%s/debuginfo" % name: open(path, "rb").read()
             for name, path in ((program.id, program.debug),
                                (number, common))}
    with serving(lambda path: answer(b"200 OK", files[path])
                 if path in files else answer(b"404 Not Found")) as server:
        result = case.calltrap(*SHOWN, program.path, "150",
                               env=environment(case, server.url))
        check_described(result)
        check_equal(sorted(path for path in server.asked if path in files),
                    sorted(files), "requests")


if __name__ == "__main__":
    raise SystemExit(main())
