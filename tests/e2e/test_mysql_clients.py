#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which queries make the application slow? Clients of a database server, in
four languages, are attached to; what they ask, and how long the answer takes,
is in the log."""

import atexit
import os
import pwd
import re
import sys

sys.dont_write_bytecode = True
import harness as h
import servers

ETC = os.path.join(h.HERE, "..", "..", "etc")
ONE_LINE = "int mysql_real_query(addr,string,ulong);\n"
MISSING = re.compile("ModuleNotFoundError|Can't locate|cannot load such file|"
                     "Class .mysqli. not found")
CLOCK = r"^\d\d:\d\d:\d\d\.\d{6}$"


class Database:
    """The one server of all tests, started by the first."""

    def __init__(self):
        self.case = None

    def path(self):
        if not self.case:
            case = h.Case()
            atexit.register(case.finish)
            user = pwd.getpwuid(os.geteuid()).pw_name
            os.chmod(case.dir, 0o755) # for other users' clients
            self.server = servers.start_mariadb(case, case.path("s"), user)
            self.case = case
        return self.case.path("s")


database = Database()


def start_client(case, script, *words):
    """Working, and attached to by nobody."""
    language = {".py": "/usr/bin/python3", ".pl": "perl", ".rb": "ruby",
                ".php": "php"}[os.path.splitext(script)[1]]
    h.need(language)
    client = case.start([language, h.victim(script), database.path(), *words])
    h.wait_until(lambda: client.out or client.popen.poll() is not None,
                 "the client's first round")
    if not client.out and MISSING.search(client.err):
        raise h.Skip("%s: %s" % (language, client.err.splitlines()[-1]))
    h.check(client.out, "the client's end: " + client.err)
    return client


def trace(case, client, prototypes, *options, seconds="3.5s"):
    done = case.calltrap("-F", case.write("custom.conf", prototypes), *options,
                         "--for", seconds, "-p", str(client.pid))
    done.check_status(0)
    done.check_quiet()
    h.check_equal(client.popen.poll(), None, "the client's end: " + client.err)
    h.check_equal(client.err, "", "what the client complained of")
    return done.log


def check_queries(calls, name):
    """Each with its text, its result, and a second that it took."""
    whole = [call for call in calls if call.result is not None and
             "autocommit" not in call.arguments]
    h.check(len(whole) >= 2, "too few calls of %s" % name)
    for call in whole:
        h.check_match(CLOCK, call.time, "the clock")
        h.check_match(r'^0x[0-9a-f]+, "SELECT sleep\(1\)", 15$',
                      call.arguments, "the arguments")
        h.check_equal(call.result, "0", "the result")
        h.check(1.0 <= float(call.duration) < 30,
                "the time of a query: " + call.text)


def line_of(script, statement):
    """Where it stands in the script, as the log has it."""
    lines = h.read(h.victim(script)).splitlines()
    found = [i for i, line in enumerate(lines, 1) if statement in line]
    h.check_equal(len(found), 1, "lines with " + statement)
    return "%s:%d" % (script, found[0])


def check_places(case, script, function, statement, *words):
    """Each query is shown with the line of the statement that asks."""
    client = start_client(case, script, *words)
    log = trace(case, client, "", "-F", ETC, "--script", "-gx", function)
    calls = [call for call in log.named(function)
             if "autocommit" not in call.arguments]
    h.check(len(calls) >= 2, "too few calls of " + function)
    h.check_equal({call.script for call in calls},
                  {line_of(script, statement)}, "the places of " + function)


# DBI sends what was prepared when it is executed.
@h.test("the line of the script that asks", users=True)
def places(case):
    check_places(case, "report.py", "mysql_real_query", "SELECT sleep(1)")


@h.test("the line of the Perl script that asks")
def perl_places(case):
    check_places(case, "report.pl", "mysql_real_query", "->execute()")


@h.test("the line of the Ruby script that asks")
def ruby_places(case):
    h.need_ruby_with_places()
    check_places(case, "report.rb", "mysql_send_query", "SELECT sleep(1)")


@h.test("the line of the PHP script that asks")
def php_places(case):
    check_places(case, "report.php", "_php_stream_write",
                 "SELECT sleep(1)", "second quarter")


@h.test("mysql_real_query of a Python program", users=True)
def python(case):
    client = start_client(case, "report.py")
    log = trace(case, client, ONE_LINE, "-ttTgx", "mysql_real_query")
    check_queries(log.named("mysql_real_query"), "mysql_real_query")
    log = trace(case, client, ONE_LINE, "-ttTgx", "PyEval_SaveThread",
                seconds="2.5s")
    h.check(log.count("PyEval_SaveThread") >= 2, "PyEval_SaveThread")


BUSY = """
import sys, MySQLdb
database = MySQLdb.connect(unix_socket=sys.argv[1], user="root")
print("ready", flush=True)
while True:
    database.query("DO 1")
"""


@h.test("mysql_real_query of a busy program, by the default engine: few stop")
def busy(case):
    client = case.start(["/usr/bin/python3", case.write("busy.py", BUSY),
                         database.path()])
    h.wait_until(lambda: client.out or client.popen.poll() is not None,
                 "the client")
    if MISSING.search(client.err):
        raise h.Skip(client.err.splitlines()[-1])
    done = case.calltrap("-D", "stop", "-L", "-x", "mysql_real_query", "--for",
                         "2s", "-p", str(client.pid))
    done.check_status(0)
    h.check_equal(client.popen.poll(), None, "the client's end: " + client.err)
    calls = done.log.named("mysql_real_query")
    whole = [call for call in calls if call.result is not None]
    h.check(len(whole) > 300, "%d calls" % len(whole))
    wrong = [call.text for call in whole if call.result != "0" or
             not call.arguments.endswith(', "DO 1", 4')]
    h.check_equal(wrong[:3], [], "calls")
    # By traps it was two for each call.
    stops = len(re.findall(r": trap \d+$", done.err, re.M))
    h.check(stops < len(calls) / 2, "%d stops for %d calls" % (stops, len(calls)))


@h.test("mysql_real_query of a Perl program")
def perl(case):
    client = start_client(case, "report.pl")
    log = trace(case, client, ONE_LINE, "-ttTgx", "mysql_real_query")
    check_queries(log.named("mysql_real_query"), "mysql_real_query")
    log = trace(case, client, ONE_LINE, "-ttTgx", "Perl_push_scope",
                seconds="2.5s")
    h.check(log.count("Perl_push_scope") >= 2, "Perl_push_scope")


@h.test("the client library is loaded after the attach")
def late(case):
    client = start_client(case, "report.py", "late")
    h.check_equal(client.out, "waiting\n", "what the client says")
    tracer = case.start_calltrap(
        "-F", case.write("custom.conf", ONE_LINE), "-ttTgx",
        "mysql_real_query", "-p", str(client.pid))
    h.settle(client, tracer)
    h.check_equal(h.tracer_of(client.pid), tracer.pid, "who has attached")
    h.check_equal(h.read(tracer.log_path), "", "calls before the library")
    client.say("go\n")
    h.wait_until(lambda: client.out.count("round") >= 3, "three rounds")
    tracer.popen.terminate()
    h.check_equal(tracer.wait(), 0, "calltrap's status")
    log = h.Log(h.read(tracer.log_path))
    check_queries(log.named("mysql_real_query"), "mysql_real_query")


@h.test("mysql_send_query and the wait of a Ruby program")
def ruby(case):
    client = start_client(case, "report.rb")
    log = trace(case, client, """
int mysql_send_query(addr, string, ulong);
int mysql_read_query_result(addr);
""", "-tttTgx", "mysql_send_query+mysql_read_query_result")
    sent = [call for call in log.named("mysql_send_query") if call.result]
    h.check(len(sent) >= 2, "too few calls of mysql_send_query")
    for call in sent:
        h.check_match(r'^0x[0-9a-f]+, "SELECT sleep\(1\)", 15$',
                      call.arguments, "the arguments")
        answers = [float(other.time) for other in
                   log.named("mysql_read_query_result")
                   if float(other.time) > float(call.time)]
        if answers:
            h.check(1.0 <= answers[0] - float(call.time) < 30,
                    "the time between a query and its result")


@h.test("packets and keys of a PHP program")
def php(case):
    client = start_client(case, "report.php", "second quarter")
    log = trace(case, client, """
typedef zend_string = struct(uint refs, hex(uint) info, hex(ulong) hash, ulong length, string(array(char, elt4)) text);
addr zend_hash_find(addr, zend_string*);
long _php_stream_write(addr, bytes[arg3], ulong);
""", "-ttTgx", "zend_hash_find+_php_stream_write", "-A", "8")
    packets = log.named("_php_stream_write")
    h.check(len(packets) >= 2, "too few calls of _php_stream_write")
    for packet in packets:
        # 16 bytes follow, the first of a conversation, and 3 is a query.
        h.check_match(r'^0x[0-9a-f]+, "\\020\\0\\0\\0\\003SELECT sleep\(1\)", '
                      "20$", packet.arguments, "the packet")
    keys = [call.arguments for call in log.named("zend_hash_find")]
    h.check(any('text="second quarter"' in key for key in keys),
            "the key that the script looks up; those seen: %s" % keys[:5])


if __name__ == "__main__":
    sys.exit(h.main())
