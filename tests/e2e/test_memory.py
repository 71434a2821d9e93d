#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""`calltrap memory': where the memory of a process is. The kernel's smaps and
malloc's own mallinfo2() say the same, to the byte."""

import json
import os
import re
import shutil
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h


def start(case, *flags, name="memory_heap", cc="gcc"):
    target = case.start([h.build(name, "memory_heap.c", "-O1", *flags,
                                 "-lpthread", cc=cc)])
    h.wait_until(lambda: " " in target.out and target.out.endswith("\n"),
                 "what malloc says")
    # Its way from there to where it waits may map a page.
    h.rest(target.pid)
    words = target.out.splitlines()[-1].split()
    return target, dict(zip(words[::2], map(int, words[1::2])))


def say(target, letter):
    before = target.out.count("done")
    target.say(letter)
    h.wait_until(lambda: target.out.count("done") > before, "an answer")


def look(case, target, *options):
    """(JSON, report) of what it is just now."""
    path = case.path("memory.json")
    result = case.calltrap("memory", "-p", str(target.pid), "--json", path,
                           *options, log=False)
    result.check_status(0)
    return json.loads(h.read(path)), result.out


def smaps(pid, *names):
    """The sums of some lines of smaps, in bytes."""
    sums = dict.fromkeys(names, 0)
    with open("/proc/%d/smaps" % pid, encoding="utf-8",
              errors="replace") as file:
        for line in file:
            name, _, rest = line.partition(":")
            if name in sums and rest.endswith("kB\n"):
                sums[name] += int(rest.split()[0]) * 1024
    return sums


def of_arenas(heap, state, what):
    return sum(arena[state][what] for arena in heap["arenas"])


def check_heap(heap, said):
    """Against mallinfo2(), which counts caches of threads as in use."""
    free = sum(of_arenas(heap, state, "bytes")
               for state in ("fast", "free", "top"))
    system = sum(arena["system"] for arena in heap["arenas"])
    h.check(heap["understood"], "heap is understood: %r" % heap["arenas"])
    h.check_equal({
        "arena": system, "fordblks": free, "uordblks": system - free,
        "ordblks": (of_arenas(heap, "free", "blocks") +
                    len(heap["arenas"])),
        "smblks": of_arenas(heap, "fast", "blocks"),
        "fsmblks": of_arenas(heap, "fast", "bytes"),
        "hblks": heap["found_map_blocks"],
        "hblkhd": heap["found_map_bytes"],
        "keepcost": heap["arenas"][0]["top"]["bytes"],
    }, said, "what mallinfo2() says")


def check_mappings(found, pid):
    names = ("Rss", "Swap", "Pss")
    sums = smaps(pid, *names)
    h.check_equal([found["all"][key] for key in ("resident", "swapped")],
                  [sums[name] for name in names[:2]], "sums of smaps")
    # That changes with every process that maps the same libraries.
    h.check(abs(found["all"]["proportional"] - sums["Pss"]) < 500000,
            "PSS %d, smaps %d" % (found["all"]["proportional"], sums["Pss"]))
    h.check_equal(found["process"]["virtual"], found["all"]["virtual"],
                  "VmSize")


@h.test("the same as malloc and the kernel say, to the byte", users=True)
def _(case):
    target, said = start(case)
    for options in ([], ["--freeze", "stop"]):
        found, report = look(case, target, *options)
        check_heap(found["heap"], said)
        check_mappings(found, target.pid)
        h.check_equal(found["frozen"], bool(options), "frozen")
        h.check("in use: " in report and "malloc_trim(0)" in report,
                "report: " + report)
    h.check(found["heap"]["thread_caches"] >= 4, "caches of threads")
    h.check(of_arenas(found["heap"], "tcache", "blocks") > 100, "in caches")
    h.check(found["kinds"]["other anonymous"]["virtual"] >= 100 << 30,
            "the sparse mapping")


@h.test("the same of a static program")
def _(case):
    target, said = start(case, "-static", name="memory_heap.static")
    found, _ = look(case, target)
    check_heap(found["heap"], said)


@h.test("the same where mappings have been divided by madvise and mprotect",
        users=True)
def _(case):
    target, said = start(case, "-DDIVIDED", name="memory_heap.divided")
    found, _ = look(case, target)
    check_heap(found["heap"], said)
    check_mappings(found, target.pid)
    heaps = [one for one in found["mappings"] if one["kind"] == "heap (brk)"]
    h.check_equal(len(heaps), 3, "mappings of brk's heap")
    whole, _ = look(case, start(case)[0])
    h.check(all(found["kinds"]["heap (mapped)"][what] ==
                whole["kinds"]["heap (mapped)"][what]
                for what in ("virtual", "resident")),
            "threads' arenas: %r" % found["kinds"]["heap (mapped)"])


MOVING = """
    #include <stdio.h>
    #include <sys/mman.h>
    int main(void)
    {
            size_t pages = 1;
            puts("ready");
            fflush(stdout);
            for (;; pages = 1 + (pages + 7) % 97) {
                    char *memory = mmap(0, pages * 4096, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
                    *memory = 1;
                    munmap(memory, pages * 4096);
            }
    }
"""


@h.test("a process that maps while it is read: that is told, or it stands still")
def _(case):
    target = case.start([h.build("moving", case.write("moving.c", MOVING))])
    h.wait_until(lambda: "ready" in target.out, "the target")
    # On a busy machine it may have had no processor meanwhile.
    for _ in range(200):
        found, report = look(case, target)
        h.check_equal("not all of one instant" in report, found["moved"],
                      "what the report says")
        if found["moved"]:
            break
    h.check(found["moved"], "it has never been seen to map")
    for _ in range(5):
        found, report = look(case, target, "--freeze", "stop")
        h.check_equal(found["moved"], False, "moved while it stood still")
        h.check_equal(found["process"]["virtual"], found["all"]["virtual"],
                      "VmSize")
    path = case.path("kept")
    found, _ = look(case, target, "--save", path)
    h.check_equal(ask(case, path)[0]["moved"], found["moved"], "of the file")


PIECES = """
    #include <fcntl.h>
    #include <stdio.h>
    #include <sys/mman.h>
    #include <unistd.h>
    int main(int argc, char **argv)
    {
            const int fd = open(argv[argc - 1], O_RDONLY);
            char *file = mmap(0, 4096 * 30000, PROT_READ, MAP_PRIVATE, fd, 0);
            for (int i = 0; i < 30000; i += 2)
                    if (mprotect(file + 4096 * i, 4096, PROT_NONE))
                            return 1;
            puts("ready");
            fflush(stdout);
            pause();
    }
"""


@h.test("a file that is mapped in very many pieces")
def _(case):
    target = case.start([h.build("pieces", case.write("pieces.c", PIECES)),
                         case.write("data", "x" * 4096)])
    h.wait_until(lambda: "ready" in target.out, "the mappings")
    found, _ = look(case, target, "--freeze", "stop")
    h.check_equal([found["kinds"]["files"][what]
                   for what in ("mappings", "virtual")],
                  [30000, 4096 * 30000], "files")
    h.check("program code" in found["kinds"] and
            "library data" in found["kinds"], "kinds: %r" % found["kinds"])


def check_trim(case, *before):
    target, _ = start(case)
    path = case.path("memory.json")

    def foretold():
        case.run([*before, h.CALLTRAP, "memory", "-p", str(target.pid),
                  "--json", path]).check_status(0)
        return json.loads(h.read(path))["heap"]["trim_resident"]

    expected = foretold()
    anonymous = smaps(target.pid, "Anonymous")["Anonymous"]
    say(target, "t")
    back = anonymous - smaps(target.pid, "Anonymous")["Anonymous"]
    h.check(back > 100000, "nothing to give back: %d" % back)
    # Its own way there may touch a page.
    h.check(abs(back - expected) <= 4096,
            "foretold %d, given back %d" % (expected, back))
    left = foretold()
    h.check(left < 8192, "then nothing is left: %d" % left)


def older_than(*version):
    return tuple(map(int, re.findall(r"\d+", os.uname().release)[:2])) < version


def need_frames():
    """What else tells a page of zeros, which we may have read, from others."""
    with open("/proc/self/pagemap", "rb") as file:
        file.seek(id(file) // 4096 * 8)
        entry = int.from_bytes(file.read(8), "little")
    if not entry & ((1 << 55) - 1):
        raise h.Skip("root alone is told where pages of zeros are")


@h.test("malloc_trim(0) gives back what was foretold")
def _(case):
    if older_than(6, 7):
        need_frames()
    check_trim(case)


@h.test("... where the kernel doesn't tell which pages are zeros")
def _(case):
    need_frames()
    check_trim(case, h.build("no_scan", "no_scan.c"))


@h.test("an overwritten chunk is said, and where it is")
def _(case):
    target, said = start(case)
    say(target, "c")
    for options in ([], ["--freeze", "stop"]):
        found, report = look(case, target, *options)
        h.check(not found["heap"]["understood"], "understood")
        h.check("not understood from 0x" in report, "report: " + report)
        wrong = [a for a in found["heap"]["arenas"] if "not_understood" in a]
        h.check_equal([a["main"] for a in wrong], [True], "which arena")
        h.check(wrong[0]["used"]["blocks"] > 10, "what is before it counts")
        check_mappings(found, target.pid)


@h.test("tasks that are stopped go on as they were, and stay stopped if so")
def _(case):
    target, _ = start(case)
    os.kill(target.pid, signal.SIGSTOP)
    h.wait_until(lambda: state(target.pid) == "T", "the stop")
    look(case, target, "--freeze", "stop")
    # It has to run once more to stop again.
    h.wait_until(lambda: state(target.pid) == "T", "the stop afterwards")
    os.kill(target.pid, signal.SIGCONT)
    say(target, "n")
    look(case, target, "--freeze", "stop")
    h.check_equal(tracer(target.pid), 0, "tracer afterwards")
    say(target, "n")


def status(pid, name):
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        return next(line.split()[1] for line in file
                    if line.startswith(name + ":"))


def state(pid):
    return status(pid, "State")


def tracer(pid):
    return int(status(pid, "TracerPid"))


@h.test("an allocator that isn't read is named")
def _(case):
    library = h.build_library("libmimalloc.so.2", "libt.c")
    target, _ = start(case, "-Wl,--no-as-needed", library,
                      "-Wl,-rpath," + os.path.dirname(library),
                      name="memory_heap.mimalloc")
    found, report = look(case, target)
    h.check_equal(found.get("other_allocator"), "mimalloc", "its name")
    h.check("HEAP OF mimalloc" in report, "report: " + report)
    h.check("at the most" in report, "report: " + report)
    h.check("other_allocator_taken" not in found, "what it has got")
    check_mappings(found, target.pid)


def check_taken(case, library, check):
    path = case.path("a file")
    target, _ = start(case, "-Wl,--no-as-needed", library,
                      "-Wl,-rpath," + os.path.dirname(library),
                      name="memory_heap." + os.path.basename(library))
    found, report = look(case, target, "--save", path)
    h.check_equal(found.get("other_allocator"), "tcmalloc", "its name")
    check(found.get("other_allocator_taken"), found)
    h.check("{:,}".format(found["other_allocator_taken"]) in report,
            "report: " + report)
    kept, _ = ask(case, path)
    h.check_equal(kept["other_allocator_taken"],
                  found["other_allocator_taken"], "in the file")


@h.test("what tcmalloc says that it has got from the system")
def _(case):
    check_taken(case, h.build_library("libtcmalloc.so.4", "libtaken.c"),
                lambda taken, found: h.check_equal(taken, 12345678, "taken"))


@h.test("what a real tcmalloc has got from the system")
def _(case):
    real = "/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4"
    if not os.path.exists(real):
        raise h.Skip("there is no tcmalloc")

    def check(taken, found):
        """It asks brk() first, for more than it counts: for alignment."""
        kinds = found["kinds"]
        brk = kinds["heap (brk)"]["virtual"]
        most = brk + kinds["other anonymous"]["virtual"]
        h.check(brk // 2 < taken <= most, f"{brk} / 2 < {taken} <= {most}")

    check_taken(case, real, check)


@h.test("what was read or written meanwhile, of what is resident", users=True)
def _(case):
    target = case.start([h.build("memory_touched", "memory_touched.c", "-O1")])
    h.wait_until(lambda: "ready" in target.out, "its pages")
    seen = []

    def has_read_all():
        """It may not have had a processor at all meanwhile."""
        found, report = look(case, target, "--touched", "300ms")
        h.check("---- TOUCHED in 300 ms" in report, "report: " + report)
        h.check_equal(found["touched"]["resident"], found["all"]["resident"],
                      "resident")
        seen.append(found["touched"]["kinds"]["other anonymous"])
        return seen[-1]["touched"] >= 4 << 20

    h.wait_until(has_read_all, "what it reads")
    for kind in seen:
        h.check(kind["resident"] >= 20 << 20, "resident: %r" % kind)
        h.check(kind["touched"] < 8 << 20, "of what it left alone: %r" % kind)
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


PYTHON = """
import gc, sys
class Session:
    def __init__(self, i):
        self.name, self.numbers = "user %d" % i, [i] * 5
class Slim:
    __slots__ = ("one", "two")
class Meta(type):
    pass
early = [Meta("Early", (), {}) for i in range(200)]
class Wide(tuple, metaclass=Meta):
    pass
sessions = {i: Session(i) for i in range(2000)}
slim = [Slim() for i in range(777)]
wide = [Wide(range(1000)) for i in range(33)]
holes = [Slim() for i in range(5000)]
holes = holes[::2]
gc.collect()
gc.disable()
print("ready", sum(type(o) is list for o in gc.get_objects()), flush=True)
sys.stdin.read()
"""


def need_python(case):
    version = case.run(["python3", "-c", "import sys, sysconfig; print("
                        "(3, 7) <= sys.version_info < (3, 14) and "
                        "not sysconfig.get_config_var('Py_GIL_DISABLED'))"])
    if version.out.strip() != "True":
        raise h.Skip("no Python whose objects are known")


@h.test("objects of Python by type, as many as it has itself", users=True)
def _(case):
    need_python(case)
    target = case.start(["python3", "-c", PYTHON])
    h.wait_until(lambda: target.out.endswith("\n"), "its objects")
    lists = int(target.out.split()[1])
    for options in ([], ["--freeze", "stop"]):
        found, report = look(case, target, "--top", "0", *options)
        python = found["python"]
        types = {row["name"]: row for row in python["types"]}
        h.check_equal({name: types[name]["objects"]
                       for name in ("Session", "Slim", "Wide", "Meta")},
                      {"Session": 2000, "Slim": 3277, "Wide": 33,
                       "Meta": 201}, "objects")
        # Each is a block of malloc's: too large for Python's own pools.
        h.check(33 * 8000 <= types["Wide"]["bytes"] < 33 * 8300,
                "large ones: %r" % types["Wide"])
        # Where it has gone on to read, it may have made some.
        h.check(abs(types["list"]["objects"] - lists) <= 5,
                "lists: %d, it said %d" % (types["list"]["objects"], lists))
        h.check_equal(sum(row["objects"] for row in python["types"]),
                      python["objects"]["count"], "all objects")
        h.check_equal(python["broken"]["count"], 0, "pools not understood")
        h.check(python["free"]["bytes"] > 60000,
                "what was given back: %r" % python)
        h.check_match(r"(?m)^ +[0-9,]+ +2,000  Session$", report, "report")
    target.say("q")


RUBY = """
class Session
  def initialize(i)
    @name, @numbers = "user #{i}", [i] * 5
  end
end
module Shop
  Order = Struct.new(:number)
  class Empty; end
end
$sessions = Array.new(2000) { |i| Session.new(i) }
$orders = Array.new(777) { |i| Shop::Order.new(i) }
$empty = Array.new(333) { Shop::Empty.new }
$empty.each { |one| def one.own; end }
Shop.freeze
GC.start
GC.disable
counts = ObjectSpace.count_objects
puts counts.to_a.flatten.join(" ") + " ready"
$stdout.flush
$stdin.read
"""


@h.test("objects of Ruby by type, as many as it has itself", users=True)
def _(case):
    need_ruby(case)
    target = case.start(["ruby", "--disable-gems", "-e", RUBY])
    h.wait_until(lambda: target.out.endswith("ready\n"), "its objects")
    words = target.out.split()[:-1]
    said = dict(zip(words[::2], map(int, words[1::2])))
    for options in ([], ["--freeze", "stop"]):
        found, report = look(case, target, "--top", "0", *options)
        ruby, kinds = found["ruby"], {}
        for row in ruby["types"]:
            kind = row["name"].split()[0]
            kinds[kind] = kinds.get(kind, 0) + row["objects"]
        types = {row["name"]: row["objects"] for row in ruby["types"]}
        # The last ones have classes of their own, each.
        h.check_equal({name: types[name] for name in
                       ("T_OBJECT Session", "T_STRUCT Shop::Order",
                        "T_OBJECT Shop::Empty")},
                      {"T_OBJECT Session": 2000, "T_STRUCT Shop::Order": 777,
                       "T_OBJECT Shop::Empty": 333}, "objects")
        # What it has needed to say so are texts, lists, and the like.
        for kind in ("T_OBJECT", "T_CLASS", "T_MODULE", "T_STRUCT",
                     "T_ICLASS"):
            h.check_equal(kinds[kind], said[kind], kind)
        h.check(said["T_STRING"] <= kinds["T_STRING"] <= said["T_STRING"] + 200,
                "T_STRING: %d, it said %d" % (kinds["T_STRING"],
                                              said["T_STRING"]))
        h.check_equal(ruby["objects"]["count"], sum(kinds.values()), "sum")
        slots = ruby["objects"]["count"] + ruby["free"]["count"]
        h.check(said["TOTAL"] <= slots <= said["TOTAL"] + 1000,
                "slots: %d, it said %d" % (slots, said["TOTAL"]))
        h.check_equal(ruby["broken"]["count"], 0, "pages not understood")
        h.check_match(r"(?m)^ +[0-9,]+ +2,000  T_OBJECT Session$", report,
                      "report")
    target.say("q")


PHP = """
class Session {
    public $name, $numbers;
    function __construct($i) {
        $this->name = "user $i";
        $this->numbers = [$i, $i + 1, $i + 2];
    }
}
function fill() {
    global $sessions, $wrapped, $large, $huge;
    for ($i = 0; $i < 2000; $i++)
        $sessions[] = new Session($i);
    for ($i = 0; $i < 777; $i++)
        $wrapped[] = new ArrayObject([$i]);
    for ($i = 0; $i < 500; $i++)
        unset($sessions[$i * 2]);
    $large = str_repeat("x", 100000);
    $huge = str_repeat("y", 5000000);
}
fill();
$used = 0;
$used = memory_get_usage();
echo $used, " ", spl_object_id(new ArrayObject()), " ready\n";
while (true)
    sleep(1000);
"""


@h.test("objects of PHP by class, and what it has in use", users=True)
def _(case):
    if not shutil.which("php") or not case.run(
            ["php", "-n", "-r", "print PHP_VERSION;"]).out.startswith("8.2."):
        raise h.Skip("no PHP whose objects are known")
    target = case.start(["php", "-n", "-r", PHP])
    h.wait_until(lambda: target.out.endswith("ready\n"), "its objects")
    used = int(target.out.split()[0])
    for options in ([], ["--freeze", "stop"]):
        found, report = look(case, target, "--top", "0", *options)
        php = found["php"]
        types = {row["name"]: row for row in php["types"]}
        h.check_equal({name: types[name]["objects"] for name in
                       ("Session", "ArrayObject")},
                      {"Session": 1500, "ArrayObject": 777}, "objects")
        # One in each of them; those that are constant lie elsewhere.
        h.check(types["array"]["objects"] >= 1500 + 777,
                "arrays: %r" % types["array"])
        h.check(1500 <= types["string"]["objects"] < 3000 and
                5100000 <= types["string"]["bytes"] < 5400000,
                "strings: %r" % types["string"])
        # As it counts itself, but for what it has needed to say that.
        bytes_in_use = php["objects"]["bytes"] + php["others"]["bytes"]
        h.check(abs(bytes_in_use - used) < 8192,
                "in use: %d, it said %d" % (bytes_in_use, used))
        h.check_equal(php["broken"]["count"], 0, "pages not understood")
        h.check_match(r"(?m)^ +[0-9,]+ +1,500  Session$", report, "report")


def check_limits(case, pid):
    """Calltrap's own: of the size of its files, and of its memory."""
    path = case.path("limited.ctm")
    large = case.start(["/usr/bin/python3", "-c", "import time; large = b'1' * (100 << 20); "
                        "print('ready', flush=True); time.sleep(1000)"])
    h.wait_until(lambda: "ready" in large.out, "its memory")
    for whose, limit, text in (
            (pid, "-f 8",
             "limited.ctm can't be written: File too large"),
            (large.pid, "-v 60000",
             "calltrap may not have so much (ulimit -v)")):
        if limit.startswith("-v") and h.has_sanitizer():
            continue  # it needs more
        result = case.run(["sh", "-c", 'ulimit %s; exec "$@"' % limit, "sh",
                           h.CALLTRAP, "memory", "-p", str(whose),
                           "--save", path])
        h.check_equal(result.status, 1, "status with ulimit " + limit)
        h.check(text in result.err, result.err)
    h.check_equal([name for name in os.listdir(os.path.dirname(path))
                   if name.startswith("limited.ctm")], [], "what it left")


@h.test("what isn't there, or is in the way, is told")
def _(case):
    target, _ = start(case)
    pid = target.pid
    result = case.calltrap("memory", "-p", str(pid), "-o", "/dev/full", log=False)
    h.check_equal(result.status, 1, "status with a full disk")
    h.check("/dev/full can't be written" in result.err, result.err)
    check_limits(case, pid)
    target.say("q")
    h.wait_until(lambda: not os.path.exists("/proc/%d/exe" % pid) or
                 state(pid) == "Z", "its end")
    for options in ([], ["--freeze", "stop"]):
        result = case.calltrap("memory", "-p", str(pid), *options, log=False)
        h.check_equal(result.status, 1, "status without a process")
        h.check("process %d" % pid in result.err, result.err)


# ---------------------------------------------------------------- what is lost

VERDICTS = ("definitely", "indirectly", "possibly", "reached")


def start_leaky(case):
    program = h.build("memory_leaks", "memory_leaks.cc", "-g", "-O1",
                      "-lpthread", cc="g++")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "its blocks")
    said = {}
    for line in target.out.splitlines():
        if line.split()[0] in VERDICTS:
            verdict, address = line.split()
            said[int(address, 16)] = verdict
    return program, target, said


def verdicts_of(found):
    return {int(block["address"], 16): block["verdict"].split()[0]
            for block in found["blocks"]}


def counts_of(found):
    return {verdict: (found["leaks"][verdict]["blocks"],
                      found["leaks"][verdict]["bytes"])
            for verdict in ("definitely lost", "indirectly lost",
                            "possibly lost")}


@h.test("what is lost, block for block", users=True)
def _(case):
    _, target, said = start_leaky(case)
    found, report = look(case, target, "--leaks")
    verdicts = verdicts_of(found)
    h.check_equal({address: verdicts.get(address, "reached")
                   for address in said}, said, "verdicts")
    h.check_equal({address for address in verdicts} - set(said), set(),
                  "lost, and the program's")
    h.check_equal([ring["blocks"] for ring in found["rings"]], [12, 2],
                  "rings")
    h.check("12 blocks in a ring" in report, "report: " + report)
    classes = {group.get("class"): group for group in found["groups"]}
    h.check_equal(classes["Shop"]["blocks"], 5, "objects of Shop")
    texts = [group.get("text") for group in found["groups"]]
    h.check("a text that is lost" in texts, "texts: %r" % texts)
    h.check_equal(found["unread"], 0, "unread")
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


def memcheck(case, program):
    """What memcheck says of it. Any word of its memory that happens to lie
    between the ends of the one block of a mebibyte makes memcheck call that
    "possibly lost" (seen once in some 300 runs): it is asked again then."""
    for _ in range(3):
        result = case.run(["valgrind", "--leak-check=full", program],
                          input_text="q")
        if not re.search(r"1,048,576 bytes in 1 blocks are possibly",
                         result.err):
            break
    return result


@h.test("the same as memcheck says, class by class")
def _(case):
    h.need("valgrind")
    program, target, _ = start_leaky(case)
    found, _ = look(case, target, "--leaks")
    result = memcheck(case, program)
    said = {}
    for line in result.err.splitlines():
        words = line.replace(",", "").split()
        if len(words) > 6 and words[2] == "lost:":
            said[" ".join(words[1:3]).rstrip(":")] = (int(words[6]), int(words[3]))
    # A mapping of its own has whole pages here.
    pages = found_size(found, 1 << 20) - (1 << 20)
    wanted = counts_of(found)
    blocks, size = wanted["definitely lost"]
    wanted["definitely lost"] = blocks, size - pages
    # Of a thread that runs, memcheck thinks so; we know its vector.
    vector = [block for block in result.err.splitlines()
              if "_dl_allocate_tls" in block or "allocate_dtv" in block]
    if vector:
        blocks, size = said["possibly lost"]
        said["possibly lost"] = blocks - 1, wanted["possibly lost"][1]
    h.check_equal(said, wanted, "what memcheck says")


def found_size(found, least):
    return next(group["size"] for group in found["groups"]
                if group["size"] >= least)


# Of leak_shapes; PROGRAMS=all takes each of them.
SHAPES = (3, 8, 11, 12, 15, 21, 35, 44)


READ = "0 " if h.X86 else "63 "


def is_reading(pid):
    with open("/proc/%d/syscall" % pid, encoding="utf-8") as file:
        return file.read().startswith(READ)


def usable(size):
    """What glibc's malloc makes of a size that was asked for."""
    if size >= 128 << 10:
        return (size + 16 + 4095) // 4096 * 4096 - 16
    return max(24, (size + 8 + 15) // 16 * 16 - 8)


def memcheck_blocks(case, prefix, pid):
    """Each block that memcheck calls lost now, by verdict and size."""
    # Asked so, it knows no heuristics by itself, as it does at its end.
    said = case.run(["vgdb", prefix, "--wait=60", "--pid=%d" % pid,
                     "-c", "leak_check", "full", "reachable", "heuristics",
                     "all", "any", "unlimited", "-c", "block_list",
                     "1..100000", "unlimited"]).out
    found = []
    # Of a thread that runs memcheck doesn't know the vector; we do. Each record
    # is told twice, with its blocks the second time.
    for record in re.split(r"(?m)^(?=.* bytes in [\d,]+ blocks are )", said):
        verdict = re.search(r" (\w+) lost in loss record", record)
        if verdict and not re.search("_dl_allocate_tls|allocate_dtv", record):
            found += [(verdict.group(1), usable(int(size))) for size in
                      re.findall(r"(?m)^==\d+== 0x\w+\[(\d+)\]", record)]
    return sorted(found)


def memcheck_verdicts(case, argv):
    """While the program waits, when stacks of threads that have ended still hold
    what they held; and at its end."""
    prefix = "--vgdb-prefix=" + case.path("vgdb")
    target = case.start(["valgrind", "--vgdb=yes", "--vgdb-stop-at=exit",
                         prefix] + argv)
    h.wait_until(lambda: "ready" in target.out, "its blocks in valgrind")
    waiting = memcheck_blocks(case, prefix, target.pid)
    target.say("q")
    h.wait_until(lambda: "(action at exit)" in target.err,
                 "memcheck at the end")
    ending = memcheck_blocks(case, prefix, target.pid)
    target.wait()
    return waiting, ending


def look_at_shape(case, argv):
    target = case.start(argv)
    h.wait_until(lambda: "ready" in target.out and is_reading(target.pid),
                 "its blocks")
    found, _ = look(case, target, "--leaks")
    target.say("q")
    target.wait()
    return found


def check_shape(case, argv):
    """Addresses aren't the same under valgrind; sizes are all different, but of
    what libraries' containers acquire."""
    found = look_at_shape(case, argv)
    ours = sorted((block["verdict"].split()[0], block["size"])
                  for block in found["blocks"])
    each = memcheck_verdicts(case, argv)
    h.check(ours in each, "lost blocks of shape %s: %r, memcheck %r" %
            (argv[1], ours, each))


def shapes(case):
    """The command line of each that is asked for."""
    program = h.build("leak_shapes", "leak_shapes.cc", "-O1", "-w",
                      "-lpthread", "-ldl", cc="g++")
    library = h.build_library("libkeeper.so", "leak_keeper.c")
    chosen = SHAPES
    if os.environ.get("PROGRAMS") == "all":
        chosen = range(int(case.run([program]).out))
    return [[program, str(shape), library] for shape in chosen]


@h.test("many ways to lose and to hold blocks: memcheck says so of each block")
def _(case):
    h.need("valgrind")
    h.need("vgdb")
    for argv in shapes(case):
        check_shape(case, argv)


def lsan_blocks(case, argv):
    """Of each block that LeakSanitizer calls leaked, verdict and size."""
    result = case.run(argv, input_text="q", env={
        "LSAN_OPTIONS": "report_objects=1:exitcode=0"})
    if "LeakSanitizer has encountered a fatal error" in result.err:
        raise h.Skip("LeakSanitizer can't be used here")
    found, verdict = [], None
    for line in result.err.splitlines():
        leak = re.match(r"(Direct|Indirect) leak of ", line)
        if leak:
            verdict = {"Direct": "definitely",
                       "Indirect": "indirectly"}[leak.group(1)]
        size = re.match(r"0x\w+ \((\d+) bytes\)", line)
        if size:
            found.append((verdict, usable(int(size.group(1)))))
    return sorted(found)


# What is held by a mapping of the program's own is leaked for LeakSanitizer; and the
# upper half of a pointer is one, as its heap begins at such an address.
LSAN_BLIND = (17, 19, 47)


def check_shape_lsan(case, argv, lsan):
    """A pointer into a block holds it, for LeakSanitizer; and in a ring each is
    indirectly leaked, where the lowest is definitely lost for us."""
    found = look_at_shape(case, argv)
    theirs = lsan_blocks(case, [lsan] + argv[1:])
    ours = sorted((block["verdict"].split()[0], block["size"])
                  for block in found["blocks"]
                  if block["verdict"] != "possibly lost")
    if found["rings"]:
        h.check_equal(sorted(size for _, size in ours),
                      sorted(size for _, size in theirs),
                      "lost blocks of shape %s" % argv[1])
        theirs = [block for block in theirs if block[0] == "definitely"]
        h.check(set(theirs) <= set(ours), "direct leaks of shape %s: %r, %r" %
                (argv[1], theirs, ours))
    else:
        h.check_equal(ours, theirs, "lost blocks of shape %s" % argv[1])


@h.test("many ways to lose and to hold blocks: LeakSanitizer says so of each")
def _(case):
    lsan = h.build("leak_shapes.lsan", "leak_shapes.cc", "-O1", "-w",
                   "-fsanitize=leak", "-lpthread", "-ldl", cc="g++",
                   optional=True)
    for argv in shapes(case):
        if int(argv[1]) not in LSAN_BLIND:
            check_shape_lsan(case, argv, lsan)


@h.test("the same as LeakSanitizer says")
def _(case):
    program = h.build("memory_leaks.lsan", "memory_leaks.cc", "-g", "-O1",
                      "-fsanitize=leak", "-lpthread", cc="g++")
    result = case.run([program], input_text="q")
    if "LeakSanitizer has encountered a fatal error" in result.err:
        raise h.Skip("LeakSanitizer can't be used here")
    words = result.err[result.err.index("SUMMARY: "):].split()
    _, target, _ = start_leaky(case)
    found, _ = look(case, target, "--leaks")
    counts = counts_of(found)
    lost = [counts["definitely lost"], counts["indirectly lost"]]
    h.check_equal(sum(blocks for blocks, _ in lost), int(words[6]),
                  "blocks that are lost")
    h.check_equal(sum(size for _, size in lost) - found_size(found, 1 << 20) +
                  (1 << 20), int(words[2]), "bytes that are lost")


@h.test("what a wrapper of malloc() hands out is reached behind its head")
def _(case):
    program = h.build("memory_wrapped", "memory_wrapped.c", "-O1")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out and is_reading(target.pid),
                 "its blocks")
    found, _ = look(case, target, "--leaks")
    blocks = {verdict: total["blocks"]
              for verdict, total in found["leaks"].items()}
    h.check_equal(blocks["definitely lost"], 60, "lost: %r" % found["groups"])
    h.check_equal(blocks["possibly lost"], 20, "of the one without sizes")
    h.check_equal(blocks["still reachable"], 40, "reached")
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


@h.test("nothing is called lost behind an overwritten chunk")
def _(case):
    target, _ = start(case)
    before, _ = look(case, target, "--leaks")
    say(target, "c")
    found, report = look(case, target, "--leaks")
    h.check("isn't understood from 0x" in report, "report: " + report)
    h.check(sum(total["blocks"] for total in found["leaks"].values()) <
            sum(total["blocks"] for total in before["leaks"].values()),
            "blocks behind it aren't counted")


@h.test("of a static program, whose threads' variables lie in its heap")
def _(case):
    target, _ = start(case, "-static", name="memory_heap.static")
    found, _ = look(case, target, "--leaks")
    h.check(found["leaks"]["still reachable"]["blocks"] > 2000,
            "reached: %r" % found["leaks"])
    # Those that it has overwritten the pointers to.
    h.check_equal(found["leaks"]["definitely lost"]["blocks"], 6,
                  "definitely lost: %r" % found["groups"])


# ------------------------------------------------------- of a copy, meanwhile

def look_at_copy(case, target, *options):
    found, report = look(case, target, "--leaks", "--freeze", "clone",
                         *options)
    if not found["copied"]:
        raise h.Skip("no copy is made here: " + report.splitlines()[0])
    return found, report


def children(pid):
    """Of all its threads."""
    found = []
    for tid in os.listdir("/proc/%d/task" % pid):
        found += h.read("/proc/%d/task/%s/children" % (pid, tid)).split()
    return found


@h.test("a copy says the same of each block, and is gone afterwards",
        users=True)
def _(case):
    _, target, said = start_leaky(case)
    found, report = look_at_copy(case, target)
    h.check("and a copy was read" in report, "report: " + report)
    verdicts = verdicts_of(found)
    h.check_equal({address: verdicts.get(address, "reached")
                   for address in said}, said, "verdicts")
    h.check_equal(found["unread"], 0, "unread")
    h.check_equal(children(target.pid), [], "children")
    h.check_equal(tracer(target.pid), 0, "tracer afterwards")
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


@h.test("nothing of a copy is noticed: children, signals, memory",
        users=True)
def _(case):
    program = h.build("memory_copy", "memory_copy.c", "-O1", "-lpthread")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "its threads")
    for _ in range(int(os.environ.get("ROUNDS", "3"))):
        found, _ = look_at_copy(case, target)
        h.check_equal(found["leaks"]["definitely lost"]["blocks"], 1,
                      "lost: %r" % found["groups"])
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")
    h.check_equal(target.out.splitlines()[-1],
                  "strange 0 wrong 0 unheard 0 unwaited 0", "what there was")


@h.test("a process runs other programs while a copy of it is made and ended",
        users=True)
def _(case):
    script = case.write("again", '#!/bin/sh\n[ -e "$1" ] && exit 7\n'
                        'exec "$0" "$1"\n')
    os.chmod(script, 0o755)
    target = case.start([script, case.path("stop")])
    for _ in range(15):
        case.run([h.CALLTRAP, "memory", "--leaks", "--freeze", "clone", "-p",
                  str(target.pid)])
        h.check_equal(target.popen.poll(), None, "end of the target")
    case.write("stop", "")
    h.check_equal(target.wait(), 7, "exit status of the target")


@h.test("a copy leaves the handler of SIGTRAP, which a thread blocks, as it is",
        users=True)
def _(case):
    target = case.start([h.build("memory_own_traps", "memory_own_traps.c", "-O1",
                                 "-lpthread")])
    h.wait_until(lambda: "ready" in target.out, "its threads")
    for number in range(1, 4):
        look_at_copy(case, target)
        target.say("x\n")
        h.wait_until(lambda: "handled %d\n" % number in target.out or
                     target.popen.poll() is not None, "the trap's handler")
        h.check("handled %d\n" % number in target.out, "it has ended: %r" %
                target.popen.poll())


@h.test("a copy of a program all of whose threads block all signals", users=True)
def _(case):
    _, able, _ = start_leaky(case)
    look_at_copy(case, able)
    target = case.start([h.build("memory_own_traps", "memory_own_traps.c", "-O1",
                                 "-lpthread"), "deaf"])
    h.wait_until(lambda: "ready" in target.out, "its threads")
    found, report = look(case, target, "--leaks", "--freeze", "clone")
    h.check_equal(found["copied"], True, "copied; " + report)
    # Its first thread has a SIGTRAP then that it hasn't fetched, and keeps it.
    target.say("x\n")
    h.wait_until(lambda: "handled 0\n" in target.out or
                 target.popen.poll() is not None, "what it says")
    h.check("handled 0\n" in target.out, "it has ended: %r" %
            target.popen.poll())
    look(case, target, "--leaks", "--freeze", "clone")
    h.check_equal(h.status_field(target.pid, "SigPnd"), "%016x" % 0x10,
                  "pending signals")


@h.test("no copy is made where SIGTRAP is ignored", users=True)
def _(case):
    target = case.start([h.build("memory_own_traps", "memory_own_traps.c", "-O1",
                                 "-lpthread"), "ignores"])
    h.wait_until(lambda: "ready" in target.out, "its threads")
    found, report = look(case, target, "--leaks", "--freeze", "clone")
    h.check_equal(found["copied"], False, "copied")
    h.check("no copy was made: it ignores SIGTRAP" in report,
            "report: " + report)
    target.say("x\n")
    h.wait_until(lambda: "handled 0\n" in target.out or
                 target.popen.poll() is not None, "what it says")
    h.check("handled 0\n" in target.out, "it has ended: %r" %
            target.popen.poll())


@h.test("who looks at a process meanwhile is waited for", users=True)
def _(case):
    _, target, _ = start_leaky(case)
    for freeze in "stop", "clone":
        looks = [case.start_calltrap("memory", "--leaks", "--freeze", freeze,
                                     "-p", str(target.pid), log=False)
                 for _ in range(4)]
        for one in looks:
            h.check_equal(one.wait(), 0, f"exit status: {one.err}")
            h.check("definitely lost: " in one.out, "report: " + one.out)
    h.check_equal(tracer(target.pid), 0, "tracer afterwards")
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


def makers_of(case):
    """Of copies, of this case: they have its directory from calltrap."""
    found, directory = [], os.path.realpath(case.dir)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        if h.read("/proc/%s/comm" % pid).strip() not in ("calltrap",
                                                         "memory-copy"):
            continue
        try:
            if os.readlink("/proc/%s/cwd" % pid) == directory:
                found.append(pid)
        except OSError:  # it has ended, or is another user's
            pass
    return found


@h.test("calltrap is killed while it makes, reads or ends a copy", users=True)
def _(case):
    _, target, _ = start_leaky(case)
    look_at_copy(case, target)
    # Who makes the copy stands apart, outlives calltrap, and may come to the
    # process only then.
    for delay in range(int(os.environ.get("ROUNDS", "6"))):
        tracer_process = case.start([h.CALLTRAP, "memory", "--leaks",
                                     "--freeze", "clone", "-p",
                                     str(target.pid)])
        time.sleep(0.005 + delay * 0.007)
        tracer_process.popen.kill()
        tracer_process.wait()
        h.wait_until(lambda: not makers_of(case), "the end of who makes it")
        h.wait_until(lambda: tracer(target.pid) == 0 and
                     not children(target.pid), "the end of the copy")
    look_at_copy(case, target)
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


@h.test("no copy is made where system calls are filtered")
def _(case):
    program = h.build("memory_copy", "memory_copy.c", "-O1", "-lpthread")
    target = case.start([program, "filter"])
    h.wait_until(lambda: "ready" in target.out, "its threads")
    found, report = look(case, target, "--leaks", "--freeze", "clone")
    h.check_equal(found["copied"], False, "copied")
    h.check("no copy was made: seccomp" in report, "report: " + report)
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


@h.test("blocks that only memory holds which children don't get aren't lost",
        users=True)
def _(case):
    program = h.build("memory_apart", "memory_apart.c", "-O1")
    for how in ("mark", "dontfork", "wipeonfork"):
        target = case.start([program, how])
        h.wait_until(lambda: "ready" in target.out, "its blocks")
        if how == "mark":
            found, _ = look_at_copy(case, target)
        else:
            found, report = look(case, target, "--leaks", "--freeze", "clone")
            h.check("no copy was made: some of its memory is not for children"
                    in report, "report: " + report)
        h.check_equal(found["copied"], how == "mark", "copied")
        h.check_equal([group for group in found["groups"]
                       if group["size"] == 712], [], "lost")
        target.say("q")
        h.check_equal(target.wait(), 0, "exit status of the target")


# ---------------------------------------------------------------- who holds it

def chain_of(case, target, whose):
    """The names of the links of the chain that holds most, and the report."""
    found, report = look(case, target, "--holders", whose)
    return [link["name"] for link in found["chains"][0]["links"]], report


@h.test("who holds a block: variables, blocks, classes, stacks",
        users=True)
def _(case):
    _, target, said = start_leaky(case)
    reached = [address for address, verdict in said.items()
               if verdict == "reached"]
    on_stack, of_thread, table, below, items = reached
    names, report = chain_of(case, target, hex(table))
    h.check(names[0].startswith("table (memory_leaks .bss+0x"),
            "root: %r" % names)
    h.check_equal(names[1:], ["72 bytes"], "links")
    h.check("100.0% of the bytes are reached only through table (memory_leaks "
            ".bss+0x" in report, "report: " + report)
    h.check("> 72 bytes " + hex(table) in report, "report: " + report)
    # An address in its middle is as good.
    names, _ = chain_of(case, target, hex(below + 8))
    h.check_equal(names[1:], ["72 bytes", "88 bytes"], "links")
    names, _ = chain_of(case, target, hex(items))
    h.check(names[0].startswith("items (memory_leaks .bss+0x"),
            "root: %r" % names)
    for address in (on_stack, of_thread):
        names, _ = chain_of(case, target, hex(address))
        h.check("stack or variables of thread" in names[0] or
                names[0] == "a register", "root: %r" % names)
    names, report = chain_of(case, target, "Both")
    h.check(names[0].startswith("base (memory_leaks .bss+0x") and
            names[1:] == ["Both"], "links: %r" % names)
    found, report = look(case, target, "--holders", "Shop")
    h.check_equal([(chain["blocks"], chain["verdict"], chain["links"])
                   for chain in found["chains"]],
                  [(5, "definitely lost", [])], "nobody holds them")
    result = case.calltrap("memory", "--holders", "Nobody", "-p",
                           str(target.pid), log=False)
    h.check_equal(result.status, 1, "status")
    h.check("has no such block" in result.err, result.err)
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


HELD_PYTHON = """
import sys
class User:
    def __init__(self, n):
        self.name = "user number %d" % n
class Session:
    def __init__(self, n):
        self.number, self.user = n, User(n)
class Small:
    __slots__ = ("number",)
class Large:
    __slots__ = ["a%d" % i for i in range(100)]
CACHE = {}
for n in range(1500):
    CACHE["user %d" % n] = Session(n)
WAITING = [Small() for n in range(400)]
LARGE = {"first": Large()}
class Slots:
    __slots__ = ("one", "two")
class Derived(Slots):
    __slots__ = ("three",)
class Inner:
    pass
DERIVED = [Derived() for n in range(200)]
for derived in DERIVED:
    derived.one, derived.two, derived.three = None, Inner(), None
ASKED = [Session(n) for n in range(300)]
for session in ASKED:
    session.__dict__
def work():
    local = (Large(), Small())
    print("ready", flush=True)
    sys.stdin.readline()
    return local
work()
"""


def ways_of(found):
    """What each chain leads through, with the number of its blocks."""
    return {tuple(link["name"] + link.get("members", "")
                  for link in chain["links"][1:]): chain["blocks"]
            for chain in found["chains"]}


# Since 3.11 these are apart from an object, in the order of its class.
NAMED_VALUES = (3, 11) <= sys.version_info < (3, 13)


def check_python_members(ask_for):
    found, _ = ask_for("Inner")
    check_ways(found, 200, 195, ["items of list", "Derived.two", "Inner"])
    if not NAMED_VALUES:
        return
    found, _ = ask_for("User")
    check_ways(found, 1800, 1450, ["keys of dict['user']", "Session",
                                   "attributes.user", "User"])
    # Those whose attributes somebody has asked for as a dictionary.
    check_ways(found, 1800, 290, ["items of list", "Session", "dict",
                                  "attributes.user", "User"])


def check_python_ways(ask_for):
    check_python_members(ask_for)
    found, report = ask_for("Session")
    h.check_equal(found["blocks"], 1800, "sessions")
    way, count = max(ways_of(found).items(), key=lambda item: item[1])
    # Those that a register or a frame has are held by that as well.
    h.check(count >= 1490, "in the cache: %r" % ways_of(found))
    h.check_equal([re.sub(r"'user \d+'", "'user'", link) for link in way],
                  ["dict", "keys of dict['CACHE']", "dict",
                   "keys of dict['user']", "Session"], "the way")
    h.check("> keys of dict['CACHE'] 0x" in report, "report: " + report)
    found, _ = ask_for("Small")
    h.check_equal(found["blocks"], 401, "small ones")
    ways = ways_of(found)
    # The frame that has made the list may have left it where it was.
    h.check(any(way[-3:] == ("list", "items of list", "Small") and
                blocks >= 380 for way, blocks in ways.items()),
            "in the list: %r" % ways)
    h.check(any(way[-2:] == ("tuple", "Small") for way in ways),
            "in the local variable: %r" % ways)
    found, _ = ask_for("Large")
    h.check_equal(found["blocks"], 2, "large ones, which are malloc's")
    h.check(any(way[-2:] == ("keys of dict['first']", "Large")
                for way in ways_of(found)),
            "in a dictionary: %r" % ways_of(found))


def owned(found, name):
    return sum(row["blocks"] for row in found["held"] if row["name"] == name)


def check_objects(case, target, check, counts, check_tree=None):
    """Of the process, of a copy, and of a file when the process is gone."""
    h.wait_until(lambda: "ready" in target.out, "the objects")
    h.rest(target.pid)
    for options in ([], ["--freeze", "clone"]):
        check(lambda whose: look(case, target, "--holders", whose, *options))
    path = case.path("kept")
    look(case, target, "--save", path)
    target.say("\n")
    h.check_equal(target.wait(), 0, "status of the target")
    check(lambda whose: ask(case, path, "--holders", whose))
    found, _ = ask(case, path, "--owners")
    h.check_equal({name: owned(found, name) for name in counts}, counts,
                  "objects in the tree")
    if check_tree:
        check_tree(found)
    found, _ = ask(case, path, "--leaks")
    h.check_equal([group for group in found["groups"] if group.get("class") in
                   (*counts, "dict", "str", "Hash", "String", "array")],
                  [], "objects that are lost")


@h.test("who holds objects of Python: by types and keys, and of a file",
        users=True)
def _(case):
    need_python(case)
    for env in ({}, {"PYTHONMALLOC": "malloc"}):
        target = case.start(["python3", "-c", HELD_PYTHON], env=env)
        check_objects(case, target, check_python_ways,
                      {"Session": 1800, "Small": 401})


DROPPED_PYTHON = """
import sys
class Large:
    __slots__ = ["a%d" % i for i in range(100)]
def leave():
    for dropped in [{"large": Large(), "n": n} for n in range(40)]:
        pass
leave()
KEPT = [Large() for n in range(40)]
print("ready", flush=True)
sys.stdin.readline()
"""


@h.test("what Python keeps of dictionaries that were dropped holds nothing",
        users=True)
def _(case):
    need_python(case)
    for env in ({}, {"PYTHONMALLOC": "malloc"}):
        target = case.start(["python3", "-c", DROPPED_PYTHON], env=env)
        h.wait_until(lambda: "ready" in target.out, "the objects")
        h.rest(target.pid)
        found, _ = look(case, target, "--holders", "Large")
        check_ways(found, 40, 35, ["items of list", "Large"])
        target.say("\n")
        h.check_equal(target.wait(), 0, "status of the target")


HELD_RUBY = """
class User
  def initialize(i)
    @name = "a name that isn't short at all #{i}"
  end
end
class Session
  def initialize(i)
    @user, @data, @a, @b, @c = User.new(i), { "n" => i }, 1, 2, 3
  end
end
module Shop
  WAITING = []
end
$cache = {}
1500.times { |i| $cache["user #{i}"] = Session.new(i) }
400.times { |i| Shop::WAITING << User.new(i) }
3.times { GC.start }
puts "ready"
$stdout.flush
$stdin.gets
"""

RUBY_STACKS = """
class InThread
  def initialize(i) = @number = i
end
class InFiber < InThread
end
def in_thread(queue)
  local = (1..300).map { |i| InThread.new(i) }
  queue.pop
  local.size
end
def in_fiber
  local = (1..300).map { |i| InFiber.new(i) }
  Fiber.yield
  local.size
end
queue = Queue.new
thread = Thread.new { in_thread(queue) }
fiber = Fiber.new { in_fiber }
fiber.resume
Thread.pass until thread.stop?
3.times { GC.start }
puts "ready"
$stdout.flush
$stdin.gets
queue << 1
exit(thread.value + fiber.resume == 600)
"""


def check_ways(found, blocks, least, last):
    """Nearly all are held in one way, which ends like that."""
    h.check_equal(found["blocks"], blocks, "blocks")
    held = sum(count for way, count in ways_of(found).items()
               if [re.sub(r"'(user|wide) \d+'", r"'\1'", link)
                   for link in way][-len(last):] == last)
    h.check(held >= least, "held by %r: %d in %r" % (last, held,
                                                     ways_of(found)))


def need_ruby(case):
    if not shutil.which("ruby") or not case.run(
            ["ruby", "-e", "print RUBY_VERSION"]).out.startswith("3.1."):
        raise h.Skip("no Ruby whose objects are known")


def check_small_hashes(found):
    """Those of up to 8 entries have room for 8, however many are in use."""
    one = 8 + 8 * 16
    rows = [(row["blocks"], row["bytes"]) for row in found["held"]
            if row["name"] == "entries of Hash" and row["blocks"] >= 1000]
    h.check(rows, "rows of small tables")
    # A few others may be among them.
    for blocks, size in rows:
        h.check(one * blocks <= size < (one + 4) * blocks, "%r" % rows)


def check_ruby_ways(ask_for):
    cache = ["Hash", "table of Hash", "entries of Hash['user']", "Session"]
    check_ways(ask_for("Session")[0], 1500, 1450, cache)
    found, report = ask_for("User")
    check_ways(found, 1900, 1450, cache + ["variables.@user", "User"])
    check_ways(found, 1900, 390, ["Array", "items of Array", "User"])
    h.check("bytes['$cache'] 0x" in report, "the variable: " + report)
    h.check("> entries of Hash['user " in report, "report: " + report)


@h.test("who holds objects of Ruby: by classes and keys, and of a file",
        users=True)
def _(case):
    need_ruby(case)
    target = case.start(["ruby", "--disable-gems", "-e", HELD_RUBY])
    check_objects(case, target, check_ruby_ways, {"Session": 1500},
                  check_small_hashes)


@h.test("what Ruby's threads and fibers have in variables", users=True)
def _(case):
    need_ruby(case)
    target = case.start(["ruby", "--disable-gems", "-e", RUBY_STACKS])
    h.wait_until(lambda: "ready" in target.out, "the objects")
    h.rest(target.pid)
    for whose in ("InThread", "InFiber"):
        found, _ = look(case, target, "--holders", whose)
        check_ways(found, 300, 295, ["Array", "items of Array", whose])
    target.say("\n")
    h.check_equal(target.wait(), 0, "status of the target")


HELD_PHP = """
class User {
    public $name;
    function __construct($i) { $this->name = "a name of user $i"; }
}
class Session {
    public $user;
    private $data;
    function __construct($i) {
        $this->user = new User($i);
        $this->data = ["n" => [$i]];
    }
}
class Wide extends ArrayObject {}
class Shop { static $cache = [], $text; }
function fill() {
    global $waiting, $wide;
    for ($i = 0; $i < 1500; $i++)
        Shop::$cache["user $i"] = new Session($i);
    for ($i = 0; $i < 400; $i++)
        $waiting[] = new User($i);
    for ($i = 0; $i < 50; $i++)
        $wide["wide $i"] = new Wide([new User($i)]);
    Shop::$text = str_repeat("x", 5000000);
}
fill();
echo "ready\\n";
fgets(STDIN);
"""


def check_php_ways(ask_for):
    cache = ["array", "elements of array['user']"]
    check_ways(ask_for("Session")[0], 1500, 1490, cache + ["Session"])
    found, report = ask_for("User")
    check_ways(found, 1950, 1490, cache + ["Session.user", "User"])
    check_ways(found, 1950, 390, ["array", "elements of array", "User"])
    # Objects of a class that has something in front of them.
    check_ways(found, 1950, 40, ["elements of array['wide']", "Wide", "array",
                                 "elements of array", "User"])
    h.check("> Session.user 0x" in report, "report: " + report)
    # A list of PHP's own has what is as large, and holds it not.
    texts = ask_for("string")[0]["chains"]
    huge = max(texts, key=lambda chain: chain["bytes"])
    names = [link["name"] for link in huge["links"]]
    h.check(huge["bytes"] >= 5000000 and names[-1] == "string" and
            "24 bytes" not in names, "the large text: %r" % huge)


@h.test("who holds objects of PHP: by classes, keys and properties, of a file",
        users=True)
def _(case):
    if not shutil.which("php") or not case.run(
            ["php", "-n", "-r", "print PHP_VERSION;"]).out.startswith("8.2."):
        raise h.Skip("no PHP whose objects are known")
    target = case.start(["php", "-n", "-r", HELD_PHP])
    check_objects(case, target, check_php_ways, {"Session": 1500})


@h.test("of a list, blocks that are alike are one line; variables unnamed, too")
def _(case):
    program = h.build("memory_chain", "memory_chain.c", "-O1", "-s")
    target = case.start([program])
    h.wait_until(lambda: "\n" in target.out, "its blocks")
    found, report = look(case, target, "--holders", target.out.split()[0])
    names = [link["name"] for link in found["chains"][0]["links"]]
    h.check_match(r"memory_chain \.(bss|data)\+0x", names[0], "root")
    h.check_equal(names[1:], ["40 bytes"] * 30, "links")
    h.check("and 28 more blocks like it" in report, "report: " + report)
    h.check_match(r"memory_chain \.(bss|data)\+0x", found["owner"], "owner")
    h.check_equal(found["own_bytes"], found["bytes"], "its bytes")
    h.check("100.0% of the bytes are reached only through memory_chain ." in
            report, "report: " + report)


@h.test("who holds them, as a flame graph, of a process and of a file")
def _(case):
    program = h.build("memory_chain", "memory_chain.c", "-O1")
    target = case.start([program])
    h.wait_until(lambda: "\n" in target.out, "its blocks")
    address = target.out.split()[0]
    kept = keep(case, target, "kept")
    seen = []
    for whose in (["-p", str(target.pid)], [kept]):
        folded, picture = case.path("folded"), case.path("holders.svg")
        case.calltrap("memory", "--holders", address, "--folded", folded,
                      "--svg", picture, *whose, log=False).check_status(0)
        text = h.read(folded)
        h.check_match(r"\w+ \(memory_chain \.(bss|data)\+0x[0-9a-f]+\);"
                      r"40 bytes 40\n$", text, "one chain")
        svg = h.read(picture)
        h.check(text.split(" ")[0] in svg and "Memory Holders" in svg,
                "picture")
        seen.append(text)
    h.check_equal(seen[0], seen[1], "of a file")


@h.test("variables behind data that can't be written have their names")
def _(case):
    program = h.build("memory_bss", "memory_bss.c", "-O1")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "its block")
    found, _ = look(case, target, "--owners")
    names = [row["name"] for row in found["held"] if row["all_bytes"] == 5000]
    h.check(any(name.startswith("kept (memory_bss .bss+0x")
                for name in names), "names: %r" % names)
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


def branches(found):
    """{names from a variable down, without places: the row}"""
    rows, names = {}, []
    for row in found["held"]:
        name = row["name"].split(" (")[0].split("+0x")[0]
        above = names[row["above"]] if names else ()
        names.append(above + (name,) if names else ())
        rows[names[-1]] = row
    return rows


@h.test("who alone holds what: a cache, members, both; and a leak beside them",
        users=True)
def _(case):
    program = h.build("memory_owners", "memory_owners.cc", "-g", "-O1",
                      cc="g++")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "its blocks")
    folded, picture = case.path("folded"), case.path("owners.svg")
    found, report = look(case, target, "--owners", "--folded", folded, "--svg",
                         picture)
    rows = branches(found)
    cache = rows[("cache",)]
    h.check_equal(cache["all_blocks"], 1501, "blocks of the cache")
    sessions = [row for names, row in rows.items()
                if names[:1] == ("cache",) and names[-1] == "session"]
    h.check_equal([(row["blocks"], row["all_blocks"]) for row in sessions],
                  [(500, 1000)], "its sessions, and with their names")
    h.check_equal(rows[("server",)]["all_blocks"], 301, "of the server")
    members = {row["all_blocks"]: row["name"] for row in found["held"]
               if row["name"].startswith("server.")}
    h.check_match(r"server\.log \(memory_owners \.bss\+0x", members[1], "log")
    h.check_match(r"server\.queue \(memory_owners \.bss\+0x", members[300],
                  "queue")
    both = [row for names, row in rows.items()
            if names[:1] == ("several of them",) and len(names) == 2 and
            30000 <= row["bytes"] < 30100]
    h.check_equal([row["blocks"] for row in both], [1], "held by two")
    # Of much that was asked for, little was ever used: pages have no more than
    # one end each that something else has made be there.
    sparse = rows[("sparse",)]
    if "resident" in sparse:
        h.check(1 << 20 <= sparse["all_resident"] < 12 << 20,
                "resident: %r" % sparse)
        h.check(rows[()]["all_resident"] < rows[()]["all_bytes"] - (50 << 20),
                "resident, of all: %r" % rows[()])
    h.check("nobody: definitely lost (--leaks)" in report, "report: " + report)
    leaks, _ = look(case, target, "--leaks")
    h.check_equal(leaks["leaks"]["definitely lost"]["blocks"], 500, "lost")
    h.check_equal(sum(row["bytes"] for row in found["held"]) +
                  sum(leaks["leaks"][verdict]["bytes"] for verdict in
                      ("definitely lost", "indirectly lost",
                       "possibly lost")), found["bytes"], "all of them")
    text = h.read(folded)
    h.check_match(r"(?m)^cache [^;]*;.*;session \d+$", text, "folded")
    h.check_equal(sum(int(line.rpartition(" ")[2])
                      for line in text.splitlines()),
                  sum(row["bytes"] for row in found["held"]), "its sum")
    h.check("Memory Held by One Alone" in h.read(picture), "picture")
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


def smaps_of(pid, start, size):
    """(resident, in huge pages of these, swapped) of what is mapped there."""
    sums, inside = {"Rss:": 0, "AnonHugePages:": 0, "Swap:": 0}, False
    with open("/proc/%d/smaps" % pid, encoding="utf-8",
              errors="replace") as file:
        for line in file:
            span = re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line)
            if span:
                low, high = (int(part, 16) for part in span.groups())
                inside = low < start + size and start < high
            elif inside and line.endswith("kB\n"):
                name, amount = line.split()[:2]
                if name in sums:
                    sums[name] += int(amount) * 1024
    return tuple(sums.values())


def start_sparse(case):
    """A process with a block of which a little is used, and its address."""
    target = case.start([h.build("memory_pages", "memory_pages.c", "-O1")])
    h.wait_until(lambda: "ready" in target.out, "its block")
    return target, int(target.out.split()[0], 16)


def sparse_row(held):
    return [row for row in held["held"]
            if row["name"].startswith("sparse (")][0]


@h.test("of a block, what is resident and what is in huge pages", users=True)
def _(case):
    if older_than(6, 7):
        raise h.Skip("the kernel doesn't tell which pages are huge")
    if not os.path.exists("/sys/kernel/mm/transparent_hugepage"):
        raise h.Skip("the kernel makes no huge pages by itself")
    target, address = start_sparse(case)
    seen = {}

    def look_while_it_stays():
        """The kernel may make huge pages of others at any time, or swap."""
        seen["pages"] = smaps_of(target.pid, address, 64 << 20)
        seen["held"], seen["report"] = look(case, target, "--owners")
        seen["asked"], seen["lines"] = look(case, target, "--holders",
                                            hex(address))
        seen["kept"] = keep(case, target, "kept")
        return seen["pages"] == smaps_of(target.pid, address, 64 << 20)

    h.wait_until(look_while_it_stays, "pages that stay as they are")
    resident, huge, swapped = seen["pages"]
    h.check(7 << 20 <= resident + swapped <= 16 << 20,
            "resident and swapped: %r" % (seen["pages"],))

    def check_pages(*told):
        """malloc has its own 16 bytes in the first page, wherever that is."""
        less = [one - other for one, other in zip(seen["pages"], told)]
        h.check(sorted(less[::2]) == [0, 16] and less[1] in (0, 16),
                "told: %r, pages: %r" % (told, seen["pages"]))

    for held, asked in ((seen["held"], seen["asked"]),
                        (ask(case, seen["kept"], "--owners")[0],
                         ask(case, seen["kept"], "--holders",
                             hex(address))[0])):
        row = sparse_row(held)
        check_pages(row["all_resident"], row["all_huge"], row["all_swapped"])
        check_pages(asked["resident"], asked["huge"], asked["swapped"])
        h.check(asked["bytes"] >= 64 << 20, "bytes: %r" % asked["bytes"])
    h.check(("in huge pages" in seen["report"]) == bool(huge), seen["report"])
    asked = seen["asked"]
    h.check("of these are resident: {:,} (in huge pages {:,}); swapped out: "
            "{:,} bytes\n".format(asked["resident"], asked["huge"],
                                  asked["swapped"]) in seen["lines"],
            seen["lines"])
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


@h.test("nothing is said of huge pages where the kernel doesn't tell",
        users=True)
def _(case):
    target, address = start_sparse(case)
    path, kept = case.path("memory.json"), case.path("kept")

    def without_scan(*options):
        result = case.run([h.build("no_scan", "no_scan.c"), h.CALLTRAP,
                           "memory", "-p", str(target.pid), *options])
        result.check_status(0)
        return result.out

    asked_for = ["--holders", hex(address)]
    lines = without_scan(*asked_for, "--json", path)
    asked = json.loads(h.read(path))
    report = without_scan("--owners", "--json", path)
    held = json.loads(h.read(path))
    without_scan("--save", kept)
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")
    for held, report, (asked, lines) in (
            (held, report, (asked, lines)),
            (*ask(case, kept, "--owners"), ask(case, kept, *asked_for))):
        row = sparse_row(held)
        for sums, before in ((row, "all_"), (asked, "")):
            h.check(sums[before + "resident"] + sums[before + "swapped"] >=
                    7 << 20, "resident: %r" % sums)
            h.check(before + "huge" not in sums, "huge: %r" % sums)
        h.check("in huge pages" not in report, report)
        h.check_match(r"of these are resident: [0-9,]+; swapped out: ", lines,
                      "what is asked for")


def chains_of(case, target):
    """Who holds what a program has told the addresses of, by its words; a file
    has to say the same when the program has ended."""
    h.wait_until(lambda: "ready" in target.out, "its blocks")
    path = keep(case, target, "chains")
    chains, answers = {}, {}
    for line in target.out.splitlines()[:-1]:
        what, address = line.split()
        found, _ = look(case, target, "--holders", address)
        answers[address] = without_times(found)
        chains[what] = [re.sub(r" \(.*", "", link["name"]) +
                        link.get("members", "")
                        for link in found["chains"][0]["links"]]
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")
    for address, answer in answers.items():
        h.check_equal(without_times(ask(case, path, "--holders", address)[0]),
                      answer, "what the file says of " + address)
    return chains


def built_by_all(source):
    """A program by each compiler that there is, with debug information."""
    for compiler, *flags in (("g++", "-g"), ("g++", "-gdwarf-4"),
                             ("clang++", "-g", "-fstandalone-debug")):
        if shutil.which(compiler):
            name = os.path.splitext(source)[0]
            yield h.build(name + "-".join([compiler, *flags]), source, *flags,
                          "-O0", "-std=c++17", cc=compiler)


@h.test("members have their names, in variables and in blocks", users=True)
def _(case):
    for program in built_by_all("memory_members.cc"):
        chains = chains_of(case, case.start([program]))
        h.check_equal(chains, {
            "name": ["shop::cache.first", "shop::session.next",
                     "shop::session.name", chains["name"][-1]],
            "bucket": ["shop::cache.buckets", "shop::session *[3]",
                       "shop::session"],
            "inner": ["shop::cache.extra.inner", chains["inner"][-1]],
            "cell": ["table[2].cells[1]", chains["cell"][-1]],
            "derived": ["base.here", "derived", chains["derived"][-1]],
            "node": ["shop::all", "std::map node"],
        }, "chains, by " + program)


@h.test("objects of a structure, by its name, of a process and of a file",
        users=True)
def _(case):
    program = h.build("memory_members", "memory_members.cc", "-g", "-O0",
                      "-std=c++17", cc="g++")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "its blocks")
    whose = "--holders", "shop::session"
    path = keep(case, target, "kept", *whose)
    live, report = look(case, target, *whose)
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")
    h.check_equal(live["blocks"], 3, "sessions")
    h.check("shop::cache.first" in report and
            "shop::session *[3]" in report, "report: " + report)
    h.check_equal(without_times(ask(case, path, *whose)[0]),
                  without_times(live), "what the file says")
    result = case.calltrap("memory", path, "--holders", "shop", log=False)
    h.check_equal(result.status, 1, "status")
    h.check("has no such block" in result.err, result.err)


@h.test("types of very many blocks, and of a list to its end", users=True)
def _(case):
    program = h.build("memory_many", "memory_many.c", "-g", "-O0")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "its blocks")
    path = keep(case, target, "many")
    for whose, count in ("session", 20000), ("user", 20000), ("node", 200):
        live, _ = look(case, target, "--holders", whose)
        h.check_equal(live["blocks"], count, "blocks of type " + whose)
        kept, _ = ask(case, path, "--holders", whose)
        h.check_equal(without_times(kept), without_times(live),
                      "what the file says of " + whose)
    h.check_equal(chains_of(case, target), {
        "name": ["buckets", "session *[19999]", "session.name", "104 bytes"],
        "user": ["table.slots[12345].user", "user"],
    }, "chains")


@h.test("what is in containers has its names; and static variables", users=True)
def _(case):
    block = "104 bytes"
    user = "shop::user.name"
    of_store = {
        "map": ["by_number", "std::map node.second", user, block],
        "wide": ["by_width", "std::map node.second.name", block],
        "unordered_map": ["by_name", "std::unordered_map node.second.name",
                          block],
        "exact": ["by_amount", "std::unordered_map node.second.name", block],
        "set": ["names", "std::set node", block],
        "list": ["in_order", "std::list node.name", block],
        "forward_list": ["back", "std::forward_list node.name", block],
        "vector": ["row", "shop::user[2].name", block],
        "inner": ["row", "shop::user[1].words", "std::vector[2]", block],
        "deque": ["both", "shop::user[1].name", block],
        "unique_ptr": ["one", user, block],
        "shared_ptr": ["shared", user, block],
        "numbers": ["numbers", "std::vector"],
        "text": ["text", "std::string"],
    }
    expected = {what: ["shop::all", "shop::store." + path[0], *path[1:]]
                for what, path in of_store.items()}
    expected["static"] = ["fill()::inside", "std::map node.second", block]
    expected["last"] = ["fill()::last", user, block]
    for program in built_by_all("memory_containers.cc"):
        h.check_equal(chains_of(case, case.start([program])), expected,
                      "chains, by " + program)


@h.test("waits of stopped tasks go on, and no signal is lost", users=True)
def _(case):
    program = h.build("memory_waits", "memory_waits.c", "-O1", "-lpthread")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "its threads")
    for _ in range(int(os.environ.get("ROUNDS", "5"))):
        look(case, target, "--freeze", "stop")
        look(case, target, "--leaks")
        look(case, target, "--leaks", "--freeze", "clone")
    target.say("x")
    h.wait_until(lambda: "interrupted" in target.out, "what there was")
    h.check_equal(target.out.splitlines()[-1],
                  "interrupted 0 lost 0 worked 1", "what there was")


# ------------------------------------------------------- kept, and compared


def keep(case, target, name, *options):
    path = case.path(name)
    case.calltrap("memory", "--save", path, "-p", str(target.pid), *options,
                  log=False).check_status(0)
    return path


def ask(case, path, *options):
    """(JSON, report) of what a file has."""
    answer = case.path("answer.json")
    result = case.calltrap("memory", path, "--json", answer, *options,
                           log=False)
    result.check_status(0)
    return json.loads(h.read(answer)), result.out


def without_times(found):
    return {key: value for key, value in found.items()
            if key not in ("pause_ns", "scan_ns", "copied", "curtailed")}


@h.test("a file answers as the process did, when that is gone", users=True)
def _(case):
    _, target, said = start_leaky(case)
    path = keep(case, target, "kept")
    leaks, _ = look(case, target, "--leaks")
    both, _ = look(case, target, "--holders", "Both")
    shop, _ = look(case, target, "--holders", "Shop")
    table = [address for address, verdict in said.items()
             if verdict == "reached"][2]
    chain, _ = look(case, target, "--holders", hex(table))
    view, _ = look(case, target)
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")
    found, report = ask(case, path, "--leaks")
    h.check_equal(without_times(found), without_times(leaks), "leaks")
    h.check("12 blocks in a ring" in report, "report: " + report)
    for before, whose in ((both, "Both"), (shop, "Shop"), (chain, hex(table))):
        found, report = ask(case, path, "--holders", whose)
        h.check_equal(without_times(found), without_times(before), whose)
    h.check("only through table (memory_leaks .bss+0x" in report, report)
    found, _ = ask(case, path)
    h.check_equal(found["heap"]["arenas"], view["heap"]["arenas"], "arenas")
    h.check_equal([(m["start"], m["end"], m["kind"], m["path"])
                   for m in found["mappings"]],
                  [(m["start"], m["end"], m["kind"], m["path"])
                   for m in view["mappings"]], "mappings")
    result = case.calltrap("memory", path, "--holders", "Nobody", log=False)
    h.check_equal(result.status, 1, "status")
    h.check("has no such block" in result.err, result.err)


@h.test("a file tells who alone holds what, and what was touched", users=True)
def _(case):
    program = h.build("memory_owners", "memory_owners.cc", "-g", "-O1",
                      cc="g++")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "its blocks")
    answer = case.path("then.json")
    path = keep(case, target, "kept", "--owners", "--json", answer)
    then = json.loads(h.read(answer))
    mapped = keep(case, target, "mapped", "--touched", "10ms", "--json",
                  answer)
    touched = json.loads(h.read(answer))["touched"]
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")
    folded = case.path("folded")
    found, report = ask(case, path, "--owners", "--folded", folded)
    h.check_equal(found, then, "who alone holds what")
    rows = branches(found)
    h.check_equal(rows[("cache",)]["all_blocks"], 1501, "of the cache")
    h.check("nobody: definitely lost (--leaks)" in report, "report: " + report)
    h.check_match(r"(?m)^cache [^;]*;.*;session \d+$", h.read(folded), "folded")
    found, report = ask(case, mapped)
    h.check("---- TOUCHED in 10 ms" in report, "report: " + report)
    h.check_equal(found["touched"], touched, "touched")


def of_version(number):
    """A file that a calltrap of then has written, of a C++ program."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..",
                        "fuzz", "snapshot",
                        "file-%d" % number if number > 1 else "file")
    with open(path, "rb") as file:
        head = file.read(14)
    h.check_equal(head[8 + 4], number, "its version")
    return path


@h.test("files of the second, third and fourth version can be read")
def _(case):
    found, report = ask(case, of_version(4), "--owners")
    h.check("who alone holds its blocks" in report, "report: " + report)
    h.check(any("huge" in row for row in found["held"]), "huge pages")
    found, report = ask(case, of_version(3), "--owners")
    h.check("who alone holds its blocks" in report, "report: " + report)
    h.check(not any("huge" in row for row in found["held"]), "huge pages")
    path = of_version(2)
    report = ask(case, path, "--owners")[1]
    h.check("who alone holds its blocks" in report, "report: " + report)
    table = re.search(r"0x[0-9a-f]+", report).group()
    report = ask(case, path, "--holders", table)[1]
    h.check("who holds" in report, "report: " + report)


@h.test("a file of the first version can be read")
def _(case):
    path = of_version(1)
    found, report = ask(case, path, "--leaks")
    h.check("definitely lost" in report, "report: " + report)
    result = case.calltrap("memory", path, "--owners", log=False)
    h.check_equal(result.status, 1, "status")
    h.check("was written by an older calltrap" in result.err, result.err)


@h.test("two files compared: new, gone, survivors, and what became lost")
def _(case):
    program = h.build("memory_kept", "memory_kept.cc", "-O1", cc="g++")
    target = case.start([program])
    h.wait_until(lambda: "ready" in target.out, "its blocks")
    old = keep(case, target, "old")
    say(target, "x")
    new = keep(case, target, "new")
    answer = case.path("difference.json")
    result = case.calltrap("memory", old, new, "--json", answer, log=False)
    result.check_status(0)
    found = json.loads(h.read(answer))
    rows = {(row["fate"], row["size"]): row for row in found["rows"]
            if row["size"] in (1000, 2008, 3000, 4008) or
            row.get("class") == "Session"}
    h.check_equal({key: (row["blocks"], row["lost"])
                   for key, row in rows.items() if "class" not in row},
                  {("new", 1000): (30, 0), ("gone", 2008): (20, 0),
                   ("survived", 3000): (40, 40), ("survived", 4008): (50, 0)},
                  "blocks by size")
    sessions = [row for row in rows.values() if row.get("class") == "Session"]
    h.check_equal([(row["fate"], row["blocks"]) for row in sessions],
                  [("new", 7), ("survived", 5)], "objects")
    h.check_match(r"kept \(memory_kept \.bss\+0x",
                  rows["survived", 4008]["owner"], "owner")
    h.check_equal(found["lost_since"], {"blocks": 40, "bytes": 40 * 3000},
                  "lost since")
    h.check("are lost now: 120,000 bytes in 40 blocks" in result.out,
            result.out)
    h.check(found["same_process"], "one process")
    found, _ = ask(case, new, "--leaks")
    h.check_equal(found["leaks"]["definitely lost"]["blocks"], 40, "lost")
    target.say("q")
    h.check_equal(target.wait(), 0, "exit status of the target")


@h.test("files that are cut, changed or none are refused in words")
def _(case):
    _, target, _ = start_leaky(case)
    path = keep(case, target, "kept", "--freeze", "clone")
    with open(path, "rb") as file:
        whole = file.read()
    bad = case.path("bad")

    def refused(content):
        with open(bad, "wb") as file:
            file.write(content)
        result = case.calltrap("memory", bad, "--leaks", log=False)
        h.check_equal(result.status, 1, "status")
        h.check("can't be read: " in result.err, result.err)
        h.check_equal(result.out, "", "report")

    steps = int(os.environ.get("ROUNDS", "12"))
    for i in range(steps):
        at = len(whole) * i // steps
        refused(whole[:at])
        refused(whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:])
    refused(whole + b"more")
    refused(b"CTRECORD" + whole[8:])
    result = case.calltrap("memory", case.path("none"), log=False)
    h.check_equal(result.status, 1, "status")
    h.check("No such file" in result.err, result.err)


h.main()
