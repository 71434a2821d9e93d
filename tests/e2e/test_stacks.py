#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""-w: stacks of every kind, and the same stacks as gdb sees them."""

import contextlib
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
import harness as h
from stack_frames import stacks_of

MACHINE = h.MACHINE
WORDS = {MACHINE: [], "i386": ["-m32"]} if h.X86 else {MACHINE: []}
PLAIN = ["-O2", "-fomit-frame-pointer", "-lpthread"]
TO_MAIN = ["main", "__libc_start_call_main", "__libc_start_main", "_start"]


def program(arch=MACHINE, *flags):
    name = "-".join(["stacks", arch] + [re.sub(r"\W+", "_", flag)
                                        for flag in flags])
    path = h.build(name, "stacks.c", *WORDS[arch], *PLAIN, *flags,
                   directory=h.build_directory("stacks"), optional=True)
    return path


def run(case, kind, path=None, depth=300, options=(), signals=False):
    """The stacks of probe_here's calls, and calltrap's messages."""
    result = case.calltrap("-w", str(depth), "-L", "-x", "probe_here",
                           *([] if signals else ["-b"]), *options,
                           path or program(), kind)
    result.check_status(0)
    return stacks_of(result.log_text, "probe_here"), result


def one(case, kind, path=None, **how):
    stacks, result = run(case, kind, path, **how)
    h.check_equal(len(stacks), 1, "stacks")
    return stacks[0], result


def remove_perf_maps(*pids):
    for pid in pids:
        with contextlib.suppress(FileNotFoundError):
            os.unlink("/tmp/perf-%s.map" % pid)


def check_begins(stack, functions):
    h.check_equal(stack.functions()[:len(functions)], functions,
                  "the stack of " + stack.line)


def check_whole(stack, functions, result):
    """64 bits: the frames that we know, and those of the C library's start."""
    names = [re.sub(r"_impl$", "", name) for name in stack.functions()]
    h.check_equal(stack.broken, False, "broken")
    check_begins(stack, functions)
    h.check("main" in names and names[-1] == "_start",
            "it doesn't end in _start: %r" % names)
    result.check_quiet()


# ---------------------------------------------------------------- kinds

KINDS = {
    "plain": ["third", "second", "first"],
    "tail": ["tail_target", "before_tail"],
    "handler": ["on_signal", "<signal handler called>", "faults",
                "before_fault"],
    "first": ["on_signal", "<signal handler called>", "faults_at_once",
              "before_fault_at_once"],
    "altstack": ["on_signal", "<signal handler called>", "faults",
                 "before_fault", "other_stack"],
}


def register(kind, arch):
    @h.test("%s, %s" % (kind, arch), users=kind == "plain")
    def kind_test(case):
        stacks, result = run(case, kind, program(arch))
        h.check_equal(len(stacks), 2 if kind == "plain" else 1, "stacks")
        for stack in stacks:
            check_whole(stack, KINDS[kind], result)
        if kind == "first":
            h.check_equal(stacks[0][2].offset, 0, "offset of the fault")


for each_arch in WORDS:
    for each_kind in KINDS:
        register(each_kind, each_arch)


@h.test("compiled with frame pointers, and without optimisation")
def frame_pointers(case):
    for flags in (["-fno-omit-frame-pointer"], ["-O0"]):
        stacks, result = run(case, "plain", program(MACHINE, *flags))
        for stack in stacks:
            check_whole(stack, KINDS["plain"],
                        result)


@h.test("no unwind tables, but frame pointers")
def no_tables(case):
    path = program(MACHINE, "-fno-omit-frame-pointer",
                   "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
    stacks, result = run(case, "plain", path)
    for stack in stacks:
        check_whole(stack, KINDS["plain"],
                    result)


@h.test("tables without an index; in .debug_frame only")
def odd_tables(case):
    odd = {
        "no index": ["-Wl,--no-eh-frame-hdr"],
        ".debug_frame": ["-g", "-fno-asynchronous-unwind-tables",
                         "-fno-unwind-tables"],
        ".debug_frame 3": ["-gdwarf-3", "-fno-asynchronous-unwind-tables",
                           "-fno-unwind-tables"],
    }
    for flags in odd.values():
        stacks, result = run(case, "plain", program(MACHINE, *flags))
        for stack in stacks:
            check_begins(stack, KINDS["plain"] + ["main"])


@h.test("stripped: module and offset, which addr2line takes")
def stripped(case):
    h.need("addr2line")
    whole = program(MACHINE, "-g")
    bare = case.path("bare")
    subprocess.run(["strip", "-o", bare, whole], check=True)
    result = case.calltrap("-w", "9", "-e", "getpid", bare, "jit")
    remove_perf_maps(result.log.named("getpid")[0].result)
    stack = stacks_of(result.log_text, "getpid")[0]
    h.check_equal(stack[0].function, "", "name")
    names = []
    for frame in stack:
        if frame.library == "bare":
            h.check_equal(frame.offset, frame.address, "offset")
            status, text = h.command_output(
                ["addr2line", "-f", "-e", whole, hex(frame.address - 1)])
            names.append(text.splitlines()[0])
    h.check("write_perf_map" in names[0] and "main" in names,
            "addr2line says %r" % names)


@h.test("names from a separate file of debug information")
def separate(case):
    whole = program(MACHINE, "-g")
    bare = case.copy(whole, "separate")
    subprocess.run("objcopy --only-keep-debug separate separate.debug && "
                   "strip separate && objcopy --add-gnu-debuglink="
                   "separate.debug separate", shell=True, cwd=case.dir,
                   check=True)
    stacks, result = run(case, "plain", bare)
    for stack in stacks:
        check_whole(stack, KINDS["plain"], result)
        h.check_match(r"stacks\.c:\d+$", stack[0].place, "place")


def line_of(text):
    with open(h.victim("stacks.c")) as file:
        for number, line in enumerate(file, 1):
            if text in line:
                return number
    raise h.Failure("no such line: " + text)


@h.test("inlined functions, and lines")
def inlined(case):
    stack, result = one(case, "inlined", program(MACHINE, "-g"))
    check_whole(stack, ["inner_inlined", "outer_inlined", "not_inlined"],
                result)
    h.check_equal([frame.inlined for frame in stack[:3]],
                  [True, True, False], "inlined")
    for frame in stack[:3]:
        wanted = "stacks.c:%d" % line_of("line of " + frame.function)
        h.check(frame.place.endswith(wanted), "%r is at %s, not at %s" %
                (frame, frame.place, wanted))


@h.test("200 frames of recursion; the depth that was asked for")
def deep(case):
    stack, result = one(case, "deep")
    check_whole(stack, ["recurse"] * 200, result)
    for depth in (1, 7, 199):
        stack, result = one(case, "deep", depth=depth)
        h.check_equal(stack.functions(), ["recurse"] * depth, "the stack")
        h.check_equal(stack.broken, False, "broken")
        result.check_quiet()


@h.test("interrupted in the kernel's code")
def vdso(case):
    stacks, result = run(case, "vdso")
    alarms = int(result.out.split("alarms ")[1])
    h.check(alarms >= 300, "%d alarms" % alarms)
    h.check_equal(len(stacks), alarms, "stacks")
    found = [stack for stack in stacks if stack[2].library == "[vdso]"]
    h.check(len(found) > 10, "only %d stacks in the vdso" % len(found))
    for stack in found:
        h.check(re.search("clock_gettime", stack[2].function),
                "in the vdso: %r" % stack)
        h.check("asks_the_time" in stack.functions() or
                "vdso" in stack.functions(), "%r" % stack)
        h.check_equal(stack.functions()[-1], "_start", "%r" % stack)


@h.test("a coroutine's stack ends where it was made")
def coroutine(case):
    stack, result = one(case, "coroutine")
    check_begins(stack, ["in_coroutine", "coroutine",
                         "__start_context" if h.X86 else "__startcontext"])
    h.check_equal((len(stack), stack.broken), (3, False), "end")
    result.check_quiet()


@h.test("a thread's start")
def thread(case):
    for arch in WORDS:
        stack, result = one(case, "thread", program(arch))
        check_begins(stack, ["thread_start"])
        h.check_equal((len(stack), stack.broken), (3, False), "end")
        result.check_quiet()


@h.test("a smashed stack, and one that leads in circles")
def smashed(case):
    for arch in WORDS:
        path = program(arch, "-fno-omit-frame-pointer",
                       "-fno-stack-protector")
        stack, result = one(case, "smashed", path)
        h.check_equal((stack.functions(), stack.broken),
                      (["smashes"], True), "the stack")
        h.check_match("1 of 1 stack could not be followed to its end", result.err,
                      "messages")
    path = program(MACHINE, "-fno-omit-frame-pointer",
                   "-fno-stack-protector", "-fno-asynchronous-unwind-tables",
                   "-fno-unwind-tables")
    stack, result = one(case, "circled", path, depth=1000)
    h.check(len(stack) < 10, "it has %d frames" % len(stack))


# On arm64 the dynamic linker has room for it between its own segments, too.
BETWEEN = ["-DBETWEEN", "-Wl,-z,max-page-size=0x200000"]


@h.test("code made at run time, with a perf map")
def jit(case):
    for arch, flags in [(arch, []) for arch in WORDS] + [(MACHINE, BETWEEN)]:
        path = program(arch, *flags)
        process = case.start_calltrap("-w", "9", "-L", "-x", "probe_here",
                                      "-f", path, "jit")
        h.check_equal(process.wait(), 0, "status")
        text = h.read(process.log_path)
        pid = re.search(r"^(\d+) probe_here", text, re.M)[1]
        remove_perf_maps(pid)
        stack = stacks_of(text, "probe_here")[0]
        check_begins(stack, ["made_at_run_time"])
        h.check_equal((stack[0].library, stack[0].offset), ("[jit]", 6 if h.X86 else 12),
                      "the frame")
        h.check("main" in stack.functions(), "%r" % stack)


@h.test("code made at run time, in a container with a /tmp of its own")
def jit_in_container(case):
    h.need("unshare")
    case.copy(program(), "prog")
    enter = ["unshare", "-r", "-m", "-p", "-f", "sh", "-c",
             "mount --bind %s /tmp && exec /tmp/prog jit" % case.dir]
    if case.run(enter).status:
        raise h.Skip("no namespaces here")
    result = case.calltrap("-f", "-w", "9", "-L", "-x", "probe_here", *enter)
    h.check(any(name.startswith("perf-") for name in os.listdir(case.dir)),
            "the map isn't in the container")
    stack = stacks_of(result.log_text, "probe_here")[0]
    check_begins(stack, ["made_at_run_time"])


@h.test("the program's file is deleted")
def deleted(case):
    path = case.copy(program(), "doomed")
    target = case.start([path, "deleted"])
    h.wait_until(lambda: "ready" in target.out, "the target")
    h.check(not os.path.exists(path), "it is still there")
    process = case.start_calltrap("-w", "9", "-L", "-x", "probe_here", "-p",
                                  str(target.pid))

    def is_logged():
        target.say("\n")
        return stacks_of(h.read(process.log_path), "probe_here")

    h.wait_until(is_logged, "the first call")
    target.popen.stdin.close()
    h.check_equal(target.wait(), 0, "status")
    process.wait()
    stack = stacks_of(h.read(process.log_path), "probe_here")[0]
    check_whole(stack, KINDS["plain"], h.Result(0, "", process.err, ""))


@h.test("calls through the PLT, lazily bound, and without")
def plt(case):
    for flags in (["-Wl,-z,lazy"], ["-Wl,-z,now"], ["-fno-plt"]):
        path = program(MACHINE, *flags)
        result = case.calltrap("-w", "3", "-e", "fopen", path, "jit")
        stacks = stacks_of(result.log_text, "fopen")
        h.check_equal(len(stacks), 1, "stacks with %s" % flags)
        h.check("jit" in stacks[0].functions() or
                "main" in stacks[0].functions(), "%r" % stacks[0])
        remove_perf_maps(*re.findall(r"perf-(\d+)\.map", result.log_text))


@h.test("C++: templates, an operator, qsort in between", users=True)
def cplusplus(case):
    path = h.build("stacks-cc", "stacks.cc", "-O2", cc="g++", optional=True)
    result = case.calltrap("-C", "-w", "30", "-L", "-x", "probe_here", path)
    stack = stacks_of(result.log_text, "probe_here")[0]
    names = stack.functions()
    table = r"space::Table<std::string, long>::%s"
    h.check_match(table % r"look_up\(std::string const&, "
                  r"std::vector<long> const&\)", names[0], "first frame")
    h.check_match(table % r"operator\(\)\(int\)", names[1], "second frame")
    h.check_match(r"^space::compare\(void const\*, void const\*\)$",
                  names[2], "third frame")
    h.check("main" in names and not stack.broken, "%r" % names)
    result = case.calltrap("-w", "30", "-L", "-x", "probe_here", path)
    stack = stacks_of(result.log_text, "probe_here")[0]
    h.check_match("^_ZN5space5TableI", stack[0].function, "without -C")
    for string in ("std::string",
                   "std::__cxx11::basic_string<char, std::char_traits<char>, "
                   "std::allocator<char> >"):
        ways = ("-L", "-x", "/space::Table<%s, long>::look_up/" % string)
        log = case.calltrap("-C", *ways, path).log_text
        h.check_match(r"^space::Table<std::string, long>::look_up\(std::string "
                      r"const&, std::vector<long> const&\)\(", log,
                      "caught by " + string)


@h.test("Rust: a trait's method, a generic function, a closure")
def rust(case):
    h.need("rustc")
    path = case.path("stacks-rs")
    status, text = h.command_output(["rustc", "-O", "-g", "-o", path,
                                     h.victim("stacks.rs")])
    if status:
        raise h.Skip("rustc can't build here: " + text.splitlines()[0])
    result = case.calltrap("-C", "-w", "30", "-L", "-x", "probe_here", path)
    stack = stacks_of(result.log_text, "probe_here")[0]
    names = " ".join(stack.functions())
    h.check_match(r"space::Walk>::walk.*space::generic.*main.*closure.*"
                  r"lang_start.* main ", names, "names")
    h.check_match(r"stacks\.rs:20$", stack[0].place, "place")
    h.check_equal(stack.broken, False, "broken")


@h.test("Go: a goroutine, from its start")
def goroutine(case):
    result = case.calltrap("-b", "-w", "99", "-L", "-x", "main.probeHere",
                           h.build_go("stacks.go"))
    stack = stacks_of(result.log_text, "main.probeHere")[0]
    names = stack.functions()
    h.check_equal(names[:52], ["main.recurse"] * 51 + ["main.worker"],
                  "the stack")
    h.check_match(r"^runtime\.goexit", names[-1], "its start")
    h.check_match(r"stacks\.go:\d+$", stack[0].place, "place")
    h.check_equal(stack.broken, False, "broken")


@h.test("Go: C's functions on another stack, and callbacks, from the start")
def cgo(case):
    result = case.calltrap("-b", "-w", "99", "-L", "-x", "malloc",
                           h.build_go("cgo.go"), "1")
    stacks = [stack for stack in stacks_of(result.log_text, "malloc")
              if "main.work" in stack.functions()]
    late = [stack for stack in stacks_of(result.log_text, "malloc")
            if "take_late" in stack.functions()]
    h.check_equal(len(late), 4 * 2, "calls around a stack that has grown")
    stacks = [stack for stack in stacks if stack not in late]
    h.check_equal(len(stacks), 4 * 11, "calls of the program's own")
    for stack in late:
        names = [name for name in stack.functions()
                 if name.startswith("main.")]
        h.check(not {"main.tall", "main.deep", "main.stranger"} & set(names),
                "who hasn't called: %s" % names)
        h.check(stack.broken or "main.late" in names, "whole: %s" % names)
    for stack in stacks:
        names = stack.functions()
        h.check_equal(stack.broken, False, "broken: %s" % names)
        h.check("runtime.asmcgocall.abi0" in names or
                "runtime.asmcgocall" in names, str(names))
        h.check_match(r"^runtime\.goexit", names[-1], "its start")
    h.check_equal(sum("goBack" in stack.functions() for stack in stacks),
                  4 * 5, "calls within callbacks")


@h.test("node: JavaScript functions")
def node(case):
    h.need("node")
    script = case.write("w.js", """
const fs = require('fs');
function writes_it(text) { fs.writeSync(1, text); }
function calls_it(i) { writes_it('marked ' + i + '\\n'); }
for (let i = 0; i < 3000; i++) calls_it(i);
""")
    process = case.start_calltrap("-f", "-w", "40", "-L", "-x",
                                  "write@libc.so*", "node",
                                  "--perf-basic-prof",
                                  "--interpreted-frames-native-stack", script)
    status = process.wait(300)
    remove_perf_maps(*set(re.findall(r"^(\d+) ", h.read(process.log_path),
                                     re.M)))
    h.check_equal(status, 0, "status")
    stacks = [stack for stack in
              stacks_of(h.read(process.log_path), "write")
              if '(1, "marked ' in stack.line]
    h.check_equal(len(stacks), 3000, "stacks")
    named = [stack for stack in stacks
             if re.search(r"writes_it .*calls_it ",
                          " ".join(stack.functions()))]
    # Functions that become hot are compiled anew, inlined by V8 or not.
    h.check(len(named) > 100, "only %d with both functions; the last:\n%s" %
            (len(named), stacks[-1]))
    broken = sum(stack.broken for stack in stacks)
    h.check(broken <= 3, "%d are broken" % broken)


@h.test("several threads, and children: stacks stay below their calls")
def together(case):
    directory = h.build_directory("linkage")
    h.build_library("libt.so", "libt.c", directory=directory)
    path = h.build("threads", "threads.c", "-O1", *h.near(directory), "-lt",
                   "-lpthread", directory=directory)
    result = case.calltrap("-f", "-w", "4", path)
    stacks = stacks_of(result.log_text)
    h.check(len(stacks) > 100, "only %d stacks" % len(stacks))
    for stack in stacks:
        h.check(re.search(r" = |unfinished|no return", stack.line),
                "a stack below: " + stack.line)
        h.check(len(stack) <= 4, "%r" % stack)


# ---------------------------------------------------------------- gdb

def gdb_stacks(case, function, limit, command):
    h.need("gdb")
    output = case.path("gdb.stacks")
    script = os.path.join(h.HERE, "gdb_stacks.py")
    case.run(["gdb", "-q", "-nx", "-batch", "-x", script, "--args"] + command,
             patience=300, env={"STACKS_FUNCTION": function,
                                "STACKS_LIMIT": str(limit),
                                "STACKS_OUTPUT": output})
    stacks = []
    for line in h.read(output).splitlines():
        if line == "STACK":
            stacks.append([])
        else:
            library, address, name = line.split(" ", 2)
            stacks[-1].append((library, int(address, 16)))
    if not stacks:
        raise h.Skip("gdb can't run it here")
    return stacks


def our_stacks(case, function, command):
    """Those of calls since the program's start, as gdb begins there."""
    path = case.path("ours")
    case.run(["setarch", "-R", h.CALLTRAP, "-o", path, "-w", "300", "-L",
              "-x", function + "+__libc_start_main"] + command, patience=300)
    stacks = stacks_of(h.read(path))
    start = next(i for i, stack in enumerate(stacks)
                 if "__libc_start_main" in stack.line)
    return stacks[start + 1:]


def same_as_gdb(case, function, limit, *command):
    h.need("setarch", command[0])
    theirs = gdb_stacks(case, function, limit, list(command))
    ours = our_stacks(case, function, list(command))
    h.check(len(ours) >= len(theirs) > 0, "%d stacks, gdb has %d" %
            (len(ours), len(theirs)))
    deepest = 0
    for i, (our, their) in enumerate(zip(ours, theirs)):
        frames = [(frame.library, frame.address) for frame in our
                  if not frame.inlined and not frame.tail_call]
        h.check_equal(frames, their, "stack %d, of %s" % (i, our.line))
        h.check_equal(our.broken, False, "broken")
        deepest = max(deepest, len(frames))
    h.check(deepest > 10, "the deepest has %d frames" % deepest)


MAKERS = (("clone3", "makes_thread"), ("clone", "makes_clone"),
          ("vfork", "makes_vfork"), ("rt_sigreturn", "makes_signal"))


@h.test("system calls that assembler makes, with tables or without")
def system_calls_by_assembler(case):
    directory = h.build_directory("stacks")
    target = h.build("makers", "makers.c", "-O1", "-g", "-pthread",
                     directory=directory)
    result = case.calltrap("-L", "-S", "-w", "20", target)
    result.check_status(0)
    h.check("what called this is not known" not in result.log_text,
            "a stack that breaks off:\n" + h.shorten(result.log_text))
    h.check("could not be followed" not in result.err, result.err)
    for call, maker in MAKERS:
        h.check_match(r"%s@SYS\(.*\n|%s@SYS resumed>.*\n" % (call, call),
                      result.log_text, "system calls")
        stacks = re.findall(r"(?:%s@SYS\(|<\.\.\. %s@SYS resumed).* = .*\n"
                            r"((?:.* > .*\n)+)" % (call, call),
                            result.log_text)
        h.check(any(maker + "+" in stack for stack in stacks),
                "%s: not called by %s, but by %r" % (call, maker, stacks))


@h.test("sqlite3: as in gdb")
def sqlite(case):
    same_as_gdb(case, "malloc", 200, "/usr/bin/sqlite3", ":memory:",
                "create table t(a); insert into t values (1), (2);"
                "select sum(a) from t;")


@h.test("python3: as in gdb")
def python(case):
    same_as_gdb(case, "read", 100, "/usr/bin/python3", "-I", "-c",
                "import json; print(json.dumps([1, 2]))")


@h.test("i386: as in gdb")
def narrow(case):
    if "i386" not in WORDS:
        raise h.Skip("x86's alone")
    path = program("i386")
    h.check_equal(case.run([path, "plain"]).status, 0, "status, untraced")
    same_as_gdb(case, "probe_here", 10, path, "deep")


@h.test("git: as in gdb")
def git(case):
    top = case.path("repository")
    os.makedirs(top)
    for i in range(5):
        case.write("repository/file", "text %d\n" % i)
        subprocess.run("git init -q . && git add . && git -c user.name=x "
                       "-c user.email=x commit -qm %d" % i, shell=True,
                       cwd=top, check=True, env=case.environment())
    same_as_gdb(case, "inflate", 100, "/usr/bin/git", "-C", top,
                "--no-pager", "log", "-p")


if __name__ == "__main__":
    sys.exit(h.main())
