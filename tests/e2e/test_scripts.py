#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Which line of a script makes a call? The scripts say before each getppid()
where they stand, as their own interpreter has it."""

import glob
import json
import os
import re
import signal
import sys

sys.dont_write_bytecode = True
import harness as h
import heap_reports as hr

# Debian's, of a release that there is a file for; or another one.
PYTHON = os.environ.get("SCRIPTS_PYTHON") or next(
    filter(os.path.exists, ("/usr/bin/python3.13", "/usr/bin/python3.12",
                            "/usr/bin/python3.11")), "/usr/bin/python3.11")


def trace(case, argv, *options, wanted="getppid", **how):
    """calltrap's result, and the calls that its JSON file has."""
    path = case.path("calls.json")
    done = case.calltrap("-F", os.path.join(h.HERE, "..", "..", "etc"),
                         "--json", path, "--script", "-L", "-x", wanted,
                         *options, *argv,
                         **how)
    done.check_status(0)
    done.check_quiet()
    events = [json.loads(line) for line in h.read(path).splitlines()]
    return done, [e for e in events if e["event"] == "call"]


def stands(text):
    """[(who, [place outwards...])] of what a script has said."""
    lines = [line.split("\t") for line in text.splitlines() if "\t" in line]
    return [(line[0], line[1:]) for line in lines]


def places(frames):
    return ["%s:%d" % (f["file"], f.get("line", 0)) for f in frames]


def own(frames):
    """The first frame that is in a file."""
    return [f for f in frames if f[0] not in "<("][:1] or frames[:1]


def check_stands(found, wanted, what):
    for i, (a, b) in enumerate(zip(found, wanted)):
        h.check_equal(a, b, "%s: call %d" % (what, i + 1))
    h.check_equal(len(found), len(wanted), what + ": calls")


def check_calls(done, calls):
    """Every call with the frames that the script has told."""
    wanted = [frames for who, frames in stands(done.out)]
    h.check(wanted, "the script has said nothing:\n" + done.err)
    for call in calls:
        h.check("script" in call, "a call without a place: %r" % call)
    check_stands([places(c["script_stack"]) for c in calls], wanted,
                 "script frames")
    check_stands([places([c["script"]]) for c in calls],
                 [own(frames) for frames in wanted], "the script's place")
    # The log shows the file without its directory.
    check_stands([line.script for line in done.log.named("getppid")],
                 [os.path.basename(own(frames)[0]) for frames in wanted],
                 "the log")


def long_script(case, name, before, line, after):
    """Lines enough for every part of a line table."""
    return case.write(name, before + (line + "\n\n" + line + "\n") * 400 +
                      after)


@h.test("Ruby")
def ruby(case):
    h.need_ruby_with_places()
    other = long_script(case, "long.rb", "def long\n",
                        "  here; Process.ppid", "end\nlong\nwork(3)\n")
    done, calls = trace(case, ["ruby", h.victim("scripts.rb"), other],
                        "-w", "60")
    h.check(len(calls) > 800, "too few calls: %d" % len(calls))
    check_calls(done, calls)


@h.test("PHP")
def php(case):
    h.need("php")
    other = long_script(case, "long.php", "<?php\n",
                        "here(); posix_getppid();", "")
    done, calls = trace(case, ["php", h.victim("scripts.php"), other],
                        "-w", "60")
    h.check(len(calls) > 800, "too few calls: %d" % len(calls))
    check_calls(done, calls)


@h.test("Perl")
def perl(case):
    h.need("perl")
    other = long_script(case, "long.pl", "", "here(); getppid();", "1;\n")
    done, calls = trace(case, ["perl", h.victim("scripts.pl"), other],
                        "-w", "60")
    h.check(len(calls) > 800, "too few calls: %d" % len(calls))
    check_calls(done, calls)


@h.test("Perl as a library")
def libperl(case):
    found = glob.glob("/usr/bin/perl5.*-%s-linux-gnu" % h.MACHINE)
    if not found:
        raise h.Skip("there is no perl with a library")
    done, calls = trace(case, [found[0], h.victim("scripts.pl")], "-w", "60")
    check_calls(done, calls)


def by_thread(pairs):
    found = {}
    for who, frames in pairs:
        found.setdefault(who, []).append(frames)
    return found


@h.test("Python, with threads in modules of their own")
def python(case):
    h.need(PYTHON)
    body = h.read(h.victim("scripts_other.py"))
    others = [case.write(name + ".py", body) for name in ("first", "second")]
    others.append(long_script(case, "long.py", body + "def long():\n",
                              "    here(), os.getppid()", "\nlong()\n"))
    done, calls = trace(case, [PYTHON, h.victim("scripts.py"), *others],
                        "-w", "60")
    wanted = by_thread(stands(done.out))
    found = by_thread((str(c["tid"]), places(c["script_stack"]))
                      for c in calls)
    h.check_equal(len(wanted), 4, "threads")
    h.check_equal(sorted(found), sorted(wanted), "threads")
    for thread in wanted:
        check_stands(found[thread], wanted[thread], "script frames")
    files = {frames[0].split(":")[0] for thread in wanted.values()
             for frames in thread[-100:]}
    h.check(set(others) <= files, "each thread is in its own file: %r" %
            files)


@h.test("Python as a library")
def libpython(case):
    h.need("gdb")
    status, libraries = h.command_output(["ldd", "/usr/bin/gdb"])
    if not re.search(r"libpython3\.1[13]\.so\.1\.0", libraries):
        raise h.Skip("gdb has another Python")
    done, calls = trace(case, ["gdb", "-batch", "-nx", "-x",
                               h.victim("scripts.py")], "-w", "60")
    wanted = [frames for who, frames in stands(done.out)]
    h.check(len(wanted) > 10, "gdb says: " + done.err)
    # gdb itself calls getppid() nowhere.
    check_stands([places(c["script_stack"]) for c in calls], wanted,
                 "script frames")


@h.test("the program's own line, not that of a library")
def libraries(case):
    h.need(PYTHON)
    os.mkdir(case.path("site-packages"), 0o755)
    case.write("site-packages/inner.py", "def call(f): f()\n")
    case.write("site-packages/outer.py", """
import inner, os
def work(): inner.call(lambda: os.getppid())
""")
    main = case.write("main.py", """
import sys
sys.path.append(sys.path[0] + "/site-packages")
import outer
exec("outer.work()")
""")
    alone = case.write("site-packages/alone.py", "import outer\n"
                       "\nouter.work()\n")
    done, calls = trace(case, [PYTHON, main])
    h.check_equal([(c["script"], "script_stack" in c) for c in calls],
                  [({"file": main, "line": 5}, False)], "the place")
    h.check_equal([c.script for c in done.log.named("getppid")],
                  ["main.py:5"], "the log")
    done, calls = trace(case, [PYTHON, main], "-w", "2")
    h.check_equal(places(calls[0]["script_stack"]),
                  [case.path("site-packages/outer.py:3"),
                   case.path("site-packages/inner.py:1")], "frames")
    h.check_equal(calls[0]["script"]["file"], main, "behind the frames")
    done, calls = trace(case, [PYTHON, alone])
    h.check_equal([c.script for c in done.log.named("getppid")],
                  ["outer.py:3"], "only libraries: the innermost")


def need(kind):
    if kind == "rb":
        h.need_ruby_with_places()
    h.need({"py": PYTHON, "pl": "perl", "rb": "ruby", "php": "php"}[kind])


def names(kind, command, line):
    @h.test("names of files that aren't ASCII, " + kind)
    def run(case):
        need(kind)
        for stem in ("plain", "gr\u00f6\u00dfe", "\u4e16\u754c",
                     "\U0001f642"):
            path = case.write("%s.%s" % (stem, kind), line)
            done, calls = trace(case, [command, path],
                                env={"LC_ALL": "C.UTF-8"})
            h.check_equal([c.get("script") for c in calls],
                          [{"file": path, "line": 1}], "the call's place")
            h.check_equal([c.script for c in done.log.named("getppid")],
                          [os.path.basename(path) + ":1"], "the log")


def outside(kind, command):
    @h.test("an interpreter that is in no script yet, and one that is done, " +
            kind)
    def run(case):
        need(kind)
        done, calls = trace(case, command, wanted="setlocale+getppid+"
                            "__libc_start_main+exit")
        first = calls[0]
        h.check(first["function"] != "getppid", "calls before the script")
        h.check("script" not in first, "a place before there is any: %r" %
                first)
        inner = [c for c in calls if c["function"] == "getppid"]
        h.check_equal([c["script"]["line"] for c in inner], [1], "the line")


names("py", PYTHON, "import os; os.getppid()\n")
names("pl", "perl", "getppid();\n")
names("rb", "ruby", "Process.ppid\n")
names("php", "php", "<?php posix_getppid();\n")
outside("py", [PYTHON, "-c", "import os; os.getppid()"])
outside("pl", ["perl", "-e", "getppid();"])
outside("rb", ["ruby", "-e", "Process.ppid"])
outside("php", ["php", "-r", "posix_getppid();"])


@h.test("a thread that is none of the interpreter's")
def foreign(case):
    h.need(PYTHON)
    path = case.write("foreign.py", """
import ctypes, os
libc = ctypes.CDLL(None)
thread = ctypes.c_void_p()
libc.pthread_create(ctypes.byref(thread), None, libc.getppid, None)
libc.pthread_join(thread, None)
os.getppid()
""")
    done, calls = trace(case, [PYTHON, path])
    h.check_equal([c.get("script", {}).get("line") for c in calls], [None, 7],
                  "the lines of a foreign thread and of the script")


# Each thread says where it is, and keeps its variables until all have.
OWN_PLACES = ["script valid = u8[tls(room)] == 7;",
              "script line = u32[tls(line)];", "script file = text(&name);"]


def own_places(way, room, *flags):
    @h.test("a place that each thread has of its own, " + way)
    def run(case):
        directory = h.build_directory("places " + way)
        sources = ["own_place.c", "own_places.c"]
        flags_of_both = ["-DROOM=%d" % room, "-O1"]
        alone = way == "the program's"
        library = alone or h.build_library(
            "libplace.so", sources[0], *flags_of_both, *flags,
            directory=directory)
        options = ["-rdynamic", "-pthread", "-ldl"]
        if not alone and "later" not in way:
            options += ["-Wl,--no-as-needed", *h.near(directory), "-lplace"]
        path = h.build("places", sources if alone else sources[1:],
                       *flags_of_both, *options, directory=directory)
        os.mkdir(case.path("etc"), 0o755)
        case.write("etc/%s.conf" % ("places" if alone else "libplace.so"),
                   "\n".join(OWN_PLACES) + "\n")
        argv = [path] + ([library] if "later" in way else [])
        done, calls = trace(case, argv, "-F", case.path("etc"))
        h.check_equal(sorted((c["script"]["file"], c["script"]["line"])
                             for c in calls),
                      [("made.up", line) for line in range(1, 5)],
                      "the places")


own_places("the program's", 1)
own_places("a library's", 1)
own_places("a library's, counted from the thread", 1,
           "-ftls-model=initial-exec")
own_places("a library's that is loaded later", 1)
own_places("a library's that is loaded later, with much", 100000)


@h.test("without effect it says so: an interpreter that is not known, or none")
def unknown(case):
    # Of a version that there will never be: no file has its name.
    source = case.write("made.c", "#include <unistd.h>\n"
                        "int main(void) { getppid(); return 0; }\n")
    for name, said in (("python3.0", "no prototype file knows where python3.0"),
                       ("made", "no interpreter that is known was there")):
        path = h.build(case.path(name), source)
        for options, wanted in (([], 0), (["--script"], 1)):
            done = case.calltrap("-L", "-x", "getppid", *options, path,
                                 log=False)
            h.check_equal(done.err.count(said), wanted, done.err)


@h.test("nothing of it without --script")
def unasked(case):
    h.need("perl")
    path = case.write("a.pl", "getppid();\n")
    json_path = case.path("calls.json")
    done = case.calltrap("--json", json_path, "-L", "-x", "getppid", "-w",
                         "5", "perl", path)
    h.check_equal([c.script for c in done.log.named("getppid")], [None],
                  "the log")
    h.check("script" not in h.read(json_path), "JSON without being asked")
    h.check("a.pl" not in done.log.text, "the log:\n" + done.log.text)


@h.test("system calls have places, too")
def system_calls(case):
    h.need("perl")
    path = case.write("a.pl", "\n\ngetppid();\n")
    done, calls = trace(case, ["perl", path], "-S")
    found = [(c.get("syscall", False), c["script"]["line"]) for c in calls
             if c["function"] == "getppid"]
    h.check_equal(sorted(found), [(False, 3), (True, 3)], "both calls")


# What each keeps until it is killed, how often it acquires that, and where.
KEEPERS = {
    "py": ("""import os
class Kept:
    list = []
    def put(self, size):
        self.list.append(bytearray(size))
def fill(kept, times):
    for i in range(times):
        kept.put(5000)
fill(Kept(), 60)
os.kill(os.getpid(), 9)
""", 60, 5000, [("Kept.put", 5), ("fill", 8), ("<module>", 9)]),
    "rb": ("""class Kept
  def initialize; @list = []; end
  def put(size)
    @list << ("x" * size)
  end
end
def fill(kept, times)
  times.times { kept.put(5000) }
end
fill(Kept.new, 60)
Process.kill(9, $$)
""", 60, 5000, [("put", 4), ("block in fill", 8), ("fill", 8),
                ("<main>", 10)]),
    "php": ("""<?php
class Kept {
    public $list = [];
    function put($size) {
        $this->list[] = str_repeat("x", $size);
    }
}
function fill($kept, $times) {
    for ($i = 0; $i < $times; $i++)
        $kept->put(3 << 20);
}
fill(new Kept, 10);
posix_kill(posix_getpid(), 9);
""", 10, 3 << 20, [("put", 5), ("fill", 10), ("kept.php:12", 12)]),
    "pl": ("""my @list;
sub put {
    push @list, "x" x $_[0];
}
sub fill {
    put(5000) for 1 .. $_[0];
}
fill(60);
kill 9, $$;
""", 60, 5000, [("kept.pl:3", 3), ("kept.pl:6", 6), ("kept.pl:8", 8)]),
}


def script_sites(path):
    """{(function, line) of the script's frames: bytes, blocks acquired}"""
    found = {}
    for site in json.loads(h.read(path))["sites"]:
        key = tuple((f["function"], f.get("line", 0)) for f in site["stack"]
                    if f.get("found_by") == "interpreter")
        bytes_, blocks = found.get(key, (0, 0))
        found[key] = (bytes_ + site["alloc_bytes"],
                      blocks + site["alloc_blocks"])
    return found


def heap_by_script(kind, command, engine):
    @h.test("whose lines acquire memory, %s, %s" % (kind, engine))
    def run(case):
        need(kind)
        text, times, size, wanted = KEEPERS[kind]
        path = case.write("kept." + kind, text)
        files = [case.path(name) for name in ("live.json", "recording",
                                              "later.json")]
        done = case.calltrap("heap", "--script", "--engine", engine,
                             "--json", files[0], "--record", files[1],
                             "--top", "0", "--", command, path, log=False)
        done.check_status(137)
        h.check_seen(done)
        sites = script_sites(files[0])
        bytes_, blocks = sites.get(tuple(wanted), (0, 0))
        h.check(blocks >= times and bytes_ >= times * size,
                "%d blocks, %d bytes at %r of %r" % (blocks, bytes_, wanted,
                                                     sites))
        h.check("by " + wanted[0][0] in done.out + done.err,
                "the row's name:\n" + done.out + done.err)
        later = case.calltrap("heap", "--from", files[1], "--json", files[2],
                              log=False)
        later.check_status(0)
        h.check_equal(script_sites(files[2]), sites, "of the recording")


for engine in ("trap", "agent"):
    heap_by_script("py", PYTHON, engine)
    heap_by_script("pl", "perl", engine)
    heap_by_script("rb", "ruby", engine)
    heap_by_script("php", "php", engine)


# Which objects are kept: each is 500 sessions in one line, and then 50 of them.
OBJECTS = {
    "py": ("""import sys
class Session:
    def __init__(self, n):
        self.name = "x%d" % n * 30
        self.data = bytearray(5000)
kept = []
print("ready", flush=True); sys.stdin.readline()
for i in range(500):
    kept.append(Session(i))
print("done", flush=True); sys.stdin.readline()
del kept[50:]
print("dropped", flush=True); sys.stdin.readline()
""", 9, [(4, "str", "type", 1), (5, "bytearray", "type", 1),
         (5, "bytearray", "part_of", 1)]),
    "rb": ("""$stdout.sync = true
class Session
  def initialize(n)
    @name = "x" * 100
    @n = n
  end
end
$kept = []
puts "ready"; gets
500.times do |i|
  $kept << Session.new(i)
end
puts "done"; gets
$kept = (0...50).map { |i| $kept[i] }
GC.start
puts "dropped"; gets
""", 11, [(4, "String", "part_of", 1)]),
    "php": ("""<?php
class Session {
    public $name; public $n;
    function __construct($n) {
        $this->name = str_repeat("x", 100 + $n);
        $this->n = [$n];
    }
}
$kept = [];
echo "ready\\n"; fgets(STDIN);
for ($i = 0; $i < 500; $i++)
    $kept[] = new Session($i);
echo "done\\n"; fgets(STDIN);
array_splice($kept, 50);
echo "dropped\\n"; fgets(STDIN);
""", 12, [(5, "string", "type", 1), (6, "array", "type", 1),
          (6, "array", "part_of", 1)]),
}


def objects_by_line(path):
    """{(line, type, whether it is that or a part of it): how many}"""
    found = {}
    for line in h.read(path).splitlines():
        block = json.loads(line)
        h.check(block["size"] > 0 and block["age"] >= 0 and
                int(block["address"], 16) and block["site"], line)
        for how in "type", "part_of":
            key = block.get("line"), block.get(how), how
            if how in block:
                found[key] = found.get(key, 0) + 1
    return found


def is_known(kind):
    """Whether the memory of this release's objects is understood."""
    if kind == "php":
        version = h.command_output(["php", "-r", "echo PHP_VERSION;"])[1]
    elif kind == "rb":
        version = h.command_output(["ruby", "-e", "print RUBY_VERSION"])[1]
    return kind == "py" or version.startswith({"php": "8.2.",
                                               "rb": "3.1."}[kind])


def check_objects(found, count, exact, kind):
    line, others = OBJECTS[kind][1:]
    for place in [(line, "Session", "type", 1)] + others:
        blocks = found.get(place[:3], 0)
        wanted = count * place[3]
        h.check(blocks == wanted if exact else wanted <= blocks < 250,
                "%r: %d, wanted: %d; all: %r" % (place, blocks, wanted, found))


def objects(kind, command, library, *pools):
    @h.test("which objects a line has made, and which of them are left, " +
            kind)
    def run(case):
        need(kind)
        if not is_known(kind):
            raise h.Skip("the memory of another release is known")
        path = case.write("kept." + kind, OBJECTS[kind][0])
        file = case.path("objects.json")
        target = case.start([command, path],
                            env={"PYTHONMALLOC": "malloc"})
        h.wait_until(lambda: "ready" in target.out, "the script")
        tracer = hr.attach(case, target, options=[
            "--script", "--by", "script", "--top", "0", "--objects", file,
            *pools])
        h.wait_until(lambda: hr.planted(target.pid, library=library) or
                     tracer.popen.poll() is not None, "the traps")
        h.settle(target, tracer)
        target.say("\n")
        h.wait_until(lambda: "done" in target.out, "the objects")
        tracer.popen.send_signal(signal.SIGQUIT)
        h.wait_until(lambda: "cost: " in h.read(tracer.report_path),
                     "a report")
        check_objects(objects_by_line(file), 500, True, kind)
        h.check_match(r" 500 .*kept\.%s:%d:Session$" %
                      (kind, OBJECTS[kind][1]), h.read(tracer.report_path),
                      "the row")
        target.say("\n")
        h.wait_until(lambda: "dropped" in target.out, "what is left")
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
        # Ruby's collector takes what looks like an address for one.
        check_objects(objects_by_line(file), 50, kind != "rb", kind)


objects("py", PYTHON, "libc.so.6")
objects("rb", "ruby", "libruby", "--pool", "ruby")
objects("php", "php", "/php", "--pool", "php")


# What leaves the address of memory that is given back: a tree that was compiled, of
# its root; what a write has had of a text, and an array that has got short.
LEFT_RB = {
    "a script that was compiled": 'eval("[" + "i," * (i % 50) + "]")',
    "a text that was written": """text = "y" * 100
  $null.write(text)
  text.clear""",
    "an array that has got short": """$kept << (short = Array.new(5000).push(1))
  short.compact!""",
}

OTHERS_RB = """$stdout.sync = true
GC.disable
$kept = []
$null = File.open("/dev/null", "w")
puts "ready"; gets
100.times do |i|
  %s
  20.times { $kept << "x" * 100 }
end
puts "done"; gets
"""


def left(what):
    @h.test("what was given back is no part of %s, rb" % what)
    def run(case):
        need("rb")
        if not is_known("rb"):
            raise h.Skip("the memory of another release is known")
        path = case.write("left.rb", OTHERS_RB % LEFT_RB[what])
        file = case.path("objects.json")
        target = case.start(["ruby", path])
        h.wait_until(lambda: "ready" in target.out, "the script")
        tracer = hr.attach(case, target, options=[
            "--script", "--objects", file, "--pool", "ruby"])
        hr.settle(target, tracer)
        target.say("\n")
        h.wait_until(lambda: "done" in target.out, "the texts")
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
        found = {}
        for line in h.read(file).splitlines():
            block = json.loads(line)
            if block["size"] == 101:
                type_ = block.get("part_of")
                found[type_] = found.get(type_, 0) + 1
        h.check(list(found) == ["String"] and found["String"] >= 2000,
                "whose texts they are: %r" % found)


for kind in LEFT_RB:
    left(kind)


@h.test("a process that runs isn't kept waiting for much memory")
def much(case):
    h.need(PYTHON)
    path = case.write("much.py", """import sys
kept = [b"x" * (300 << 20)]
print("ready", flush=True); sys.stdin.readline()
kept.append("x" * 5000)
print("done", flush=True); sys.stdin.readline()
""")
    target = case.start([PYTHON, path])
    h.wait_until(lambda: "ready" in target.out, "the script")
    file = case.path("heap.json")
    tracer = hr.attach(case, target, options=["--script", "--json", file])
    hr.settle(target, tracer)
    target.say("\n")
    h.wait_until(lambda: "done" in target.out, "a string")
    tracer.popen.send_signal(signal.SIGQUIT)
    h.wait_until(lambda: "cost: " in h.read(tracer.report_path), "a report")
    h.check_match(r"^note: objects' types aren't told: 3\d\d,\d{3},\d{3} bytes "
                  "would be read for that while the process runs, and "
                  "268,435,456 are the most$", h.read(tracer.report_path),
                  "the note")
    found = json.loads(h.read(file))
    h.check("while the process runs" in found["types_unknown"],
            "of JSON: " + found["types_unknown"])
    h.check(not any("types" in site for site in found["sites"]), "types")
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    found = json.loads(h.read(file))
    h.check("types_unknown" not in found, "at the end: %r" % found)
    h.check("str" in [one["type"] for site in found["sites"]
                      for one in site.get("types", [])], "the string's type")


GROWS = """import os, time
kept = []
for i in range(100):
    kept.append(bytearray(5000))
    time.sleep(0.01)
os._exit(0)
"""


@h.test("heap leads from what an interpreter has called for to the script's lines")
def leads(case):
    need("py")
    path = case.write("grows.py", GROWS)
    for options, wanted in (
            ([], "the same with --script shows the lines of the script"),
            (["--script"],
             "the same with --script --source shows the lines of code")):
        done = case.calltrap("heap", *options, PYTHON, path,
                             log=False)
        done.check_status(0)
        h.check("\nnext: " + wanted + "\n" in done.err,
                "no %r in %s" % (wanted, done.err))


@h.test("heap without --script has no lines of scripts")
def heap_unasked(case):
    h.need("perl")
    path = case.write("kept.pl", KEEPERS["pl"][0])
    done = case.calltrap("heap", "--json", case.path("heap.json"), "perl",
                         path, log=False)
    done.check_status(137)
    h.check_equal(list(script_sites(case.path("heap.json"))), [()],
                  "frames of scripts")


if __name__ == "__main__":
    sys.exit(h.main())
