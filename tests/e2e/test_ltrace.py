#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""calltrap --ltrace beside Debian's ltrace, on programs that it can trace."""

import os
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
import harness as h

CONF = """typedef part = struct(short, string(array(char, 4)));
typedef whole = struct;
typedef whole = struct(int, long, char, float, double, string, part,
array(int, 6), whole*);
typedef color = enum(RED=0, GREEN, BLUE=7);
void take_ints(int,uint,long,ulong,short,ushort);
void take_chars(char,char,char,char);
void take_reals(float,double);
void take_strings(string,string,string);
void take_counted(int,string[arg1],string(array(char, 5)*));
void take_addresses(addr,addr);
void take_based(octal,oct(int),hex(int),hex(double));
void take_bools(bool(int),bool(int));
void take_bits(bitvec(uint),bitvec(ulong));
void take_colors(color,color,color);
void take_whole(whole*);
void take_part(part);
void take_arrays(array(int,6)*,array(int,2)*,array(double,2)*);
void take_zeros(array(int,zero)*);
void take_names(array(string,3)*);
void take_hidden(int,hide(int),int);
void take_pointers(int*,char*);
void take_format(int,format);
void take_nothing();
void give_out(int,+int*,string);
part give_part(int);
string give_string();
double give_double();
float give_float();
char give_char();
hex(int) give_minus_one();
int* give_pointer();
color give_color();
uint give_unsigned();
int nest(int);
int inner(int);
int own_function(int);
int call_back(addr,int);
addr malloc(ulong);
addr calloc(ulong,ulong);
addr realloc(addr,ulong);
void free(addr);
addr strcpy(addr,string);
int printf(format);
int sprintf(+string,format);
int snprintf(+string2,ulong,format);
int puts(string);
int fflush(addr);
int open(string,int);
long write(int,string3,ulong);
long read(int,+string0,ulong);
int close(int);
int raise(int);
int signal(int,addr);
int fork();
int vfork();
int wait(addr);
void exit(int);
void _exit(int);
int _setjmp(addr);
void longjmp(addr,int);
int execl(string,string);
int pthread_create(addr,addr,addr,addr);
int pthread_join(ulong,addr);
int usleep(uint);
int loaded(int);
addr dlopen(string,int);
addr dlsym(addr,string);
int dlclose(addr);
uint getuid();
uint geteuid();
uint getgid();
uint getegid();
long SYS_write(int,string3,ulong);
int SYS_close(int);
""".replace(",\narray", ", array")

LAZY = ("-no-pie", "-fcf-protection=none", "-Wl,-z,lazy", "-Wl,--no-as-needed")
FLAGS = ("-O0", "-fno-builtin", "-w")
# Numbers of processes, too; but none that a program passes.
ADDRESS = re.compile(r"0x[0-9a-f]{5,}|\b[1-9][0-9]{5,}\b")


def program(kind="lazy"):
    directory = h.build_directory("ltrace")
    h.build_library("libltrace.so", "libltrace.c", *FLAGS,
                    directory=directory)
    h.build_library("libltrace-loaded.so", "ltrace-loaded.c", *FLAGS,
                    directory=directory)
    how = LAZY if kind == "lazy" else ("-fpie", "-pie")
    return h.build("ltrace-" + kind, "ltrace.c", *FLAGS, *how,
                   *h.near(directory), "-lltrace", "-lpthread", "-ldl",
                   directory=directory)


def need_ltrace():
    h.need("ltrace")
    version = h.command_output(["ltrace", "-V"])[1]
    if "version 0.7.3" not in version:
        raise h.Skip("ltrace is another one: " + version.split("\n")[0])


class Both:
    """What ltrace and calltrap wrote, and how they ended."""

    def __init__(self, case, arguments, victim):
        conf = case.write("ltrace.conf", CONF)
        self.status, self.text = {}, {}
        for name, command in (("ltrace", ["ltrace"]),
                              ("calltrap", [h.CALLTRAP, "--ltrace=0.7.3"])):
            path = case.path("log." + name)
            done = case.run([*command, "-F", conf, "-o", path, *arguments,
                             *victim])
            self.status[name] = done.status
            self.text[name] = h.read(path)
            if name == "calltrap":
                h.check_equal(done.err, "", "standard error")

    def check_status(self):
        h.check_equal(self.status["calltrap"], self.status["ltrace"],
                      "exit status")

    def lines(self, name):
        return [clean(line) for line in self.text[name].splitlines()]

    def check_lines(self, change=lambda lines: lines):
        wanted, found = (change(self.lines(name))
                         for name in ("ltrace", "calltrap"))
        if wanted != found:
            raise h.Failure("ltrace:\n%s\ncalltrap:\n%s" %
                            ("\n".join(wanted), "\n".join(found)))


def clean(line):
    """Without what differs from run to run."""
    line = re.sub(r"^\d+ ", "PID ", line)
    line = re.sub(r"= \d{3,}$", "= PID", line)
    return re.sub(r" +=", " =", ADDRESS.sub("ADDRESS", line))


def compare(case, name, *arguments, change=lambda lines: lines):
    need_ltrace()
    both = Both(case, arguments, [program(), name])
    both.check_status()
    both.check_lines(change)
    return both


def compare_each(case, names, *arguments, change=lambda lines: lines):
    wrong = []
    for name in names.split():
        try:
            both = compare(case, name, *arguments, change=change)
            check_columns(both)
        except h.Failure as failure:
            wrong.append("%s: %s" % (name, failure))
    h.check(not wrong, "\n".join(wrong))


def check_columns(both):
    """Results stand in one column, of both."""
    for name, text in both.text.items():
        for line in text.splitlines():
            found = re.match(r"(.*\)) +(= .*)$", line)
            if found and len(found[1]) < 49:
                h.check_equal(found.start(2), 49, "column of %r (%s)" %
                              (line, name))


@h.test("values of all kinds are written as ltrace writes them")
def values(case):
    compare_each(case, "ints chars reals strings counted addresses based "
                       "bools bits colors structs lists arrays hidden "
                       "pointers formats results out")


@h.test("so are calls of the C library, their failures, and ends")
def calls(case):
    compare_each(case, "heap print files leaves leaves_at_once nested own "
                       "naps nothing killed crash signals executes")


@h.test("calls that are interrupted or never return")
def unfinished(case):
    compare_each(case, "signals leaves", "-b")


def without_order(lines):
    """Each process's own; waits and what interrupts them come as they like."""
    whole = (re.sub(r"<\.\.\. (\w+) resumed> \)", r"\1()", line)
             for line in lines if "SIGCHLD" not in line and
             "wait" not in line and "<unfinished" not in line and
             "fork( <no return" not in line)
    return sorted(whole)


@h.test("children with -f, in their own columns")
def children(case):
    compare_each(case, "forks", "-f", change=without_order)


@h.test("only the first thread is shown without -f, and no child")
def first_thread(case):
    compare_each(case, "threads forks vforks", change=without_order)


@h.test("options: filters, columns, indents, limits")
def options(case):
    for arguments in (["-e", "take_*"], ["-e", "take_*-take_ints"],
                      ["-l", "libltrace.so"],
                      ["-x", "inner"], ["-L", "-x", "inner+nest"],
                      ["-n", "2", "-x", "nest+inner"], ["-a", "20"],
                      ["-e", "@libltrace.so"], ["-x", "own_function"],
                      ["-s", "4"], ["-A", "2"], ["-L"], ["-i"], ["-b"]):
        for name in ("nested", "ints", "strings", "arrays", "own", "signals"):
            compare(case, name, *arguments)


@h.test("a program that runs as somebody else")
def as_user(case):
    if os.geteuid() != 0:
        raise h.Skip("ltrace's -u needs root")
    user = h.ordinary_user("nobody")
    both = compare(case, "who", "-u", user.pw_name)
    h.check("take_ints(%d, %d, %d, %d," %
            (user.pw_uid, user.pw_uid, user.pw_gid, user.pw_gid) in
            both.text["calltrap"], both.text["calltrap"])


@h.test("libraries that are opened while the program runs")
def opened(case):
    need_ltrace()
    both = Both(case, ["-x", "loaded"], [program(), "loads"])
    both.check_status()
    # ltrace doesn't see what is opened a second time.
    both.check_lines(lambda lines: [line for line in lines if
                                    "loaded@libltrace-loaded.so(1)" not in
                                    line])
    h.check_equal(len(re.findall(r"^loaded@libltrace-loaded\.so\(\d\) += 1$",
                                 both.text["calltrap"], re.M)), 2, "calls")


def naps_of(pid):
    return int(h.status_field(pid, "voluntary_ctxt_switches", "0"))


def attach(case, command, arguments):
    """The log of some ticks of a running program, and the tracer's status."""
    log = case.path("log")
    if os.path.exists(log):
        os.remove(log)
    target = case.start([program(), "ticks"])
    h.wait_until(lambda: naps_of(target.pid) > 5, "the program's naps")
    tracer = case.start([*command, *arguments, "-o", log, "-p",
                         str(target.pid)])
    h.wait_until(lambda: os.path.exists(log) and
                 (h.read(log).count("\n") > 20 or "-c" in arguments and
                  h.tracer_of(target.pid)), "the log")
    time.sleep("-c" in arguments and .3)
    os.kill(tracer.pid, signal.SIGINT)
    status = tracer.wait()
    before = naps_of(target.pid)
    h.check_equal(h.tracer_of(target.pid), 0, "who traces it afterwards")
    h.wait_until(lambda: naps_of(target.pid) > before + 5,
                 "naps after that")
    target.end()
    return status, h.read(log)


@h.test("-p, until SIGINT: log, table and status")
def attached(case):
    need_ltrace()
    conf = case.write("ltrace.conf", CONF)
    for options in (["-f"], ["-c"], ["-T"], ["-r", "-T"], ["-i"], ["-b"], []):
        told = []
        for command in (["ltrace"], [h.CALLTRAP, "--ltrace=0.7.3"]):
            status, text = attach(case, command, ["-F", conf, *options])
            if options == ["-c"]:
                heads, rows = read_table(text)
                told.append((status, heads, set(rows)))
            else:
                told.append((status, shapes(text)))
        h.check_equal(told[1], told[0], " ".join(options))


def shapes(text):
    """Kinds of lines; not the first, nor the last, as it leaves amid a call."""
    lines = [re.sub(r"(?<=\s)[ \d]+\.\d{6}|(?<=<)\d\.\d{6}", "TIME", clean(line))
             for line in text.splitlines()[2:-1]]
    return sorted(set(lines))


@h.test("SIGINT of a terminal ends the program, that to the tracer nothing")
def interrupted(case):
    need_ltrace()
    for kill, name in ((os.killpg, "ticks"), (os.kill, "rests")):
        told = []
        for command in (["ltrace"], [h.CALLTRAP, "--ltrace=0.7.3"]):
            log = case.path("log")
            if os.path.exists(log):
                os.remove(log)
            tracer = case.start([*command, "-o", log, program(), name])
            h.wait_until(lambda: os.path.exists(log) and
                         "take_" in h.read(log), "the log")
            kill(tracer.pid, signal.SIGINT)
            told.append((tracer.wait(), clean_end(h.read(log))))
        h.check_equal(told[1], told[0], name)


def clean_end(text):
    return [re.sub(r"<(unfinished|no return) \.\.\.>", "...", line)
            for line in text.splitlines() if "+++" in line or "---" in line]


@h.test("times have as many digits")
def times(case):
    need_ltrace()
    for option in ("-t", "-tt", "-ttt", "-r", "-T", "-r -T", "-tt -T"):
        both = Both(case, option.split(), [program(), "naps"])
        shapes = [[re.sub(r"\d", "9", line) for line in text.splitlines()]
                  for text in both.text.values()]
        h.check_equal(shapes[1], shapes[0], option)


@h.test("the table of -c has the same columns and counts")
def table(case):
    need_ltrace()
    for arguments, name in ((["-c"], "heap"), (["-c", "-S"], "heap"),
                            (["-c"], "leaves"), (["-c"], "killed")):
        both = Both(case, arguments, [program(), name])
        both.check_status()
        heads, rows = zip(*(read_table(text) for text in both.text.values()))
        h.check_equal(heads[1], heads[0], "head")
        kept = [{name: count for name, count in found.items()
                 if not name.startswith("SYS_") or name == "SYS_close"}
                for found in rows]
        h.check_equal(kept[1].pop("total") > 0, kept[0].pop("total") > 0,
                      "total")
        h.check_equal(kept[1], kept[0], "calls")


def read_table(text):
    """Its first two lines and, by name, the counts; all in their columns."""
    lines = text.splitlines()
    rows = {}
    for line in lines[2:]:
        if line.startswith("---"):
            h.check_equal(line, lines[1], "second rule")
            continue
        h.check_match(r"^[ \d]{3}\.\d\d [ \d]{4}\.\d{6} [ \d]{11} [ \d]{9} "
                      r"\S+$", line, "row")
        rows[line[41:]] = int(line[31:40])
    return lines[:2], rows


@h.test("system calls are SYS_NAME, with raw results")
def system_calls(case):
    compare(case, "files", "-S", change=lambda lines: [
        line for line in lines
        if re.match(r"SYS_(write|close)\(", line) or "write(" in line])


@h.test("invoked as ltrace it is one: no verbs, status 0")
def by_name(case):
    link = case.path("ltrace")
    os.symlink(h.CALLTRAP, link)
    os.symlink(program(), case.path("heap"))
    log = case.path("log")
    done = case.run([link, "-o", log, "./heap", "leaves"])
    h.check_equal(done.status, 0, "status")
    lines = h.read(log).splitlines()
    h.check_equal([re.sub(r" +=", " =", line) for line in lines],
                  ["exit(42 <no return ...>",
                   "+++ exited (status 42) +++"], "log")
    done = case.run([link, "./missing"])
    h.check_equal(done.status, 1, "status of a missing program")


@h.test("0.7.91: NAME@SYS, resolvers of IFUNCs, nil")
def newer(case):
    conf = case.write("ltrace.conf", CONF)
    log = case.path("log")
    for kind in ("lazy", "pie"):
        case.run([h.CALLTRAP, "--ltrace=0.7.91", "-F", conf, "-o", log, "-S",
                  program(kind), "addresses"])
        first = h.read(log)
        case.run([h.CALLTRAP, "--ltrace=0.7.91", "-o", log, "-L", "-x",
                  "strlen@libc.so*", program(kind), "lengths"])
        h.check_match(r"^take_addresses\(0x1234, nil\) +=", first, kind)
        h.check_match(r"^mmap@SYS\(", first, kind)
        text = h.read(log)
        h.check_equal(len(re.findall(r"^strlen\.IFUNC@libc\.so\.6\(\) += 0x",
                                     text, re.M)), 1, "resolvers")
        h.check("__libc_start_main" not in first + text, "start files are shown")
    done = case.run([h.CALLTRAP, "--ltrace=0.7.91", "-c", "-S", program(), "heap"])
    h.check_match(r" mmap$", done.err, "table")


@h.test("a version that isn't known is a mistake")
def unknown_version(case):
    done = case.run([h.CALLTRAP, "--ltrace=9", "true"])
    h.check_equal(done.status, 2, "status")
    h.check_match(r"--ltrace '9': one of 0\.7\.3, 0\.7\.91 is expected",
                  done.err, "message")


@h.test("a log that goes to a pipe shows a call that lasts")
def lasting(case):
    victim = case.start([h.CALLTRAP, "sleep", "1000"])

    def shows_it():
        return re.search(r"^(clock_)?nanosleep\([^\n]*\Z", victim.err, re.M)

    h.wait_until(shows_it, "the call in the log")
    os.killpg(victim.pid, signal.SIGTERM)
    victim.wait()


@h.test("SIGINT is heard by a job that began with it ignored")
def background(case):
    script = ("trap '' INT; %s -o %s sleep 1000 & job=$!; echo $job; "
              "wait $job" % (h.CALLTRAP, case.path("log")))
    shell = case.start(["sh", "-c", script])
    h.wait_until(lambda: "sleep(" in h.read(case.path("log")) if
                 os.path.exists(case.path("log")) else False, "the log")
    os.kill(int(shell.out), signal.SIGINT)
    h.check_equal(shell.wait(), 0, "status")


@h.test("a child's return from fork and vfork is shown")
def returns_twice(case):
    for name in ("fork", "vfork"):
        log = case.path("log")
        case.run([h.CALLTRAP, "-f", "-o", log, program(), name + "s"])
        found = re.findall(r"^(\d+) (?:<\.\.\. )?%s[^=\n]*= (\d+)$" % name,
                           h.read(log), re.M)
        h.check_equal(len(found), 2, "returns of " + name)
        child = [pid for pid, result in found if result == "0"]
        h.check_equal([result for _, result in found if result != "0"],
                      child, "who returned what")


@h.test("standard error is the program's where -o names a file")
def quiet(case):
    done = case.run([h.CALLTRAP, "-o", case.path("log"), "-c", "-t",
                     program(), "ints"])
    h.check_equal(done.err, "", "standard error")


@h.test("-L alone shows signals and exits; -F of a missing file goes on")
def alone(case):
    done = case.run([h.CALLTRAP, "-L", program(), "signals"])
    h.check_equal(done.err.splitlines(),
                  ["--- SIGUSR1 (User defined signal 1) ---",
                   "--- SIGUSR2 (User defined signal 2) ---",
                   "+++ exited (status 7) +++"], "log")
    done = case.run([h.CALLTRAP, "-F", "nowhere", "-L", program(), "ints"])
    h.check_equal(done.err.splitlines(),
                  ["calltrap: -F nowhere: No such file or directory; going "
                   "on without it", "+++ exited (status 7) +++"], "log")


@h.test("text is shown as the locale has it")
def locale(case):
    conf = case.write("x.conf", "int puts(string);\n")
    source = case.write("x.c", '#include <stdio.h>\nint main(void) '
                        '{ puts("na\\303\\257ve \\377"); return 0; }\n')
    victim = h.build(case.path("x"), source, "-fno-builtin")
    for name, text in (("C", "na\\303\\257ve \\377"),
                       ("C.UTF-8", "naïve \\377")):
        done = case.run([h.CALLTRAP, "-F", conf, "-e", "puts", victim],
                        env={"LC_ALL": name})
        h.check('puts("%s")' % text in done.err, done.err)


@h.test("ltrace's own file is read for what ours lack, and that is said")
def own_file(case):
    case.write(".ltrace.conf", "void take_bools(bool(int), bool(int));\n"
                               "int take_ints(int);\n")
    done = case.run([h.CALLTRAP, "-e", "take_*", program(), "bools"])
    h.check_match(r"->take_bools\(false, true\)", done.err, "the call")
    h.check_equal(len(re.findall("has prototypes that calltrap's own files "
                                 "lack", done.err)), 1, "notes")
    os.makedirs(case.path(".config/calltrap"))
    done = case.run([h.CALLTRAP, "-e", "take_*", program(), "bools"])
    h.check("false" not in done.err and "lack" not in done.err, done.err)


@h.test("'operator new*' is C++'s, without '::' in front")
def operators(case):
    source = case.write("new.cc", "int main() { delete new int; "
                        "delete[] new int[3]; return 0; }")
    victim = h.build(case.path("new"), source, "-O0", cc="g++")
    done = case.run([h.CALLTRAP, "-e", "operator new*@MAIN", victim])
    h.check_equal(len(re.findall(r"^new->_Zn[wa]m\(", done.err, re.M)), 2,
                  "calls")


@h.test("strdup and its kin show where their text lies")
def addressed(case):
    done = case.run([h.CALLTRAP, "-e", "strcpy+malloc+free@MAIN", program(),
                     "heap"])
    found = h.check_match(r'strcpy\((0x\w+), "copied"\) += (0x\w+) "copied"',
                          done.err, "strcpy")
    h.check_equal(found[1], found[2], "addresses")
    h.check("free(%s)" % found[1] in done.err, done.err)


if __name__ == "__main__":
    h.main()
