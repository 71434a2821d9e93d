#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Functions of libraries that come and go."""

import os
import re
import shutil
import signal
import sys
import types

sys.dont_write_bytecode = True
import harness as h


def check_run(case, orders, *arguments, wanted=None):
    loader, plugin = h.build_loader()
    result = case.calltrap(*arguments, loader, plugin, input_text=orders + "q")
    result.check_status(7)
    result.log.check_counts(wanted or result.counts())
    for call in result.log.named("g1"):
        h.check_equal(call.result, str(call.values()[0] + 1), call.text)
    return result


@h.test("loaded after the start", users=True)
def later(case):
    result = check_run(case, "lc", "-L", "-x", "g1", wanted={"g1": 3})
    h.check_equal(result.log.count("g1", library="plug.so"), 3,
                  "calls with @plug.so")


@h.test("loaded, unloaded, loaded again 10 times")
def again(case):
    check_run(case, "lcu" * 10, "-L", "-x", "g1", wanted={"g1": 30})


@h.test("loaded again at other addresses")
def elsewhere(case):
    result = check_run(case, "lcum" * 10, "-L", "-x", "g1", wanted={"g1": 30})
    places = {line.split()[2] for line in result.out.splitlines()
              if line.startswith("done l")}
    h.check(len(places) > 1, "the plugin never moved: the test is void")


@h.test("loaded twice")
def counted(case):
    check_run(case, "llcc", "-L", "-x", "g1",
              wanted={"g1": 6})


@h.test("loaded with dlmopen into a namespace of its own")
def namespace(case):
    check_run(case, "nc", "-L", "-x", "g1", wanted={"g1": 3})


@h.test("in several namespaces and the main one")
def namespaces(case):
    check_run(case, "ncncnclc", "-L", "-x", "g1", wanted={"g1": 12})


@h.test("a namespace that goes and comes")
def namespace_again(case):
    check_run(case, "ncu" * 5, "-L", "-x", "g1", wanted={"g1": 15})


@h.test("loaded by a thread, called there and in main")
def thread(case):
    check_run(case, "tc", "-L", "-x", "g1", wanted={"g1": 6})


@h.test("loaded by threads again and again")
def threads(case):
    check_run(case, "tcu" * 10, "-L", "-x", "g1", wanted={"g1": 60})


@h.test("the plugin's own calls: -e f1@plug.so")
def own_calls(case):
    result = check_run(case, "lp", "-e", "f1@plug.so", wanted={"f1": 100})
    h.check_equal(result.log.count("f1", caller="plug.so"), 100,
                  "calls with plug.so->")


@h.test("the plugin's own calls, after it came back")
def own_calls_again(case):
    check_run(case, "lpulpu", "-e", "f1@plug.so",
              wanted={"f1": 200})


@h.test("the plugin's own calls in a namespace")
def own_calls_namespace(case):
    check_run(case, "np", "-e", "f1@plug.so", wanted={"f1": 100})


@h.test("both -e and -x")
def both(case):
    check_run(case, "lpc", "-e", "f1@plug.so", "-x", "g1",
              wanted={"f1": 100, "g1": 3})


def answered(process, text):
    h.wait_until(lambda: text in process.out or
                 process.popen.poll() is not None, "the loader to say " + text)


def attached(case, before, after, *arguments):
    """Orders before the attach, then orders after; what was logged."""
    loader, plugin = h.build_loader()
    target = case.start([loader, plugin])
    answered(target, "ready")
    for i, letter in enumerate(before):
        target.say(letter)
        h.wait_until(lambda: target.out.count("done") > i, "the loader")
    tracer = case.start_calltrap("-L", *arguments, "-p", str(target.pid))
    h.wait_until(lambda: h.tracer_of(target.pid) or
                 tracer.popen.poll() is not None, "the attach")
    return target, tracer


def attach_and_obey(case, before, after, *arguments):
    target, tracer = attached(case, before, after, *arguments)
    # The attach is complete when the loader, told nothing, sleeps again.
    h.settle(target, tracer)
    count = target.out.count("done")
    for i, letter in enumerate(after):
        target.say(letter)
        h.wait_until(lambda: target.out.count("done") > count + i,
                     "the loader to do " + letter)
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap after a detach; " +
                  tracer.err)
    h.check_untouched(target.pid)
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")
    return h.Log(h.read(tracer.log_path)), tracer


@h.test("loaded before the attach", users=True)
def before_attach(case):
    log, _ = attach_and_obey(case, "lc", "ccc", "-x", "g1")
    log.check_counts({"g1": 9}, library="plug.so")


@h.test("loaded after the attach")
def after_attach(case):
    log, _ = attach_and_obey(case, "", "lcc", "-x", "g1")
    log.check_counts({"g1": 6}, library="plug.so")


@h.test("loaded when the first thread has ended", users=True)
def leaderless(case):
    path, plugin = h.build_loader(name="leaderless", source="leaderless.c")
    result = case.calltrap("-L", "-x", "g1", path, plugin, input_text="ll")
    result.check_status(7)
    result.log.check_counts({"g1": 6}, library="plug.so")


@h.test("attached to when the first thread has ended", users=True)
def leaderless_attach(case):
    path, plugin = h.build_loader(name="leaderless", source="leaderless.c")
    target = case.start([path, plugin])
    answered(target, "ready")
    h.wait_until(lambda: h.status_field(target.pid, "State")[:1] == "Z",
                 "the end of the first thread")
    for calls in (6, 12):
        tracer = case.start_calltrap("-L", "-x", "g1", "-p", str(target.pid))
        tids = [int(tid) for tid in os.listdir("/proc/%d/task" % target.pid)]
        h.wait_until(lambda: any(h.tracer_of(tid) for tid in tids) or
                     tracer.popen.poll() is not None, "the attach")
        h.settle(types.SimpleNamespace(pid=max(tids)), tracer)
        target.say("ll")
        h.wait_until(lambda: target.out.count("count") == calls // 3 or
                     tracer.popen.poll() is not None, "the calls")
        tracer.popen.send_signal(signal.SIGINT)
        h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
        h.Log(h.read(tracer.log_path)).check_counts({"g1": 6},
                                                    library="plug.so")
        h.check_equal([h.tracer_of(tid) for tid in tids], [0] * len(tids),
                      "tracers that are left")
    target.say("q")
    h.check_equal(target.wait(), 7, "status of the target")


@h.test("hundreds of different libraries come and go")
def many_libraries(case):
    """What calltrap keeps of them doesn't grow with their number."""
    loader, plugin = h.build_loader()
    target = case.start([loader, case.path("plug.so")])
    answered(target, "ready")
    tracer = case.start_calltrap("-L", "-x", "g1", "-p", str(target.pid),
                                 env=h.keeping_nothing())
    h.wait_until(lambda: h.tracer_of(target.pid) or
                 tracer.popen.poll() is not None, "the attach")
    h.settle(target, tracer)
    shutil.copy(os.path.join(os.path.dirname(plugin), "libt.so"), case.dir)
    peaks = []
    for i in range(300):
        case.copy(plugin, "new.so")
        os.rename(case.path("new.so"), case.path("plug.so"))
        target.say("lcu")
        h.wait_until(lambda: target.out.count("done u") > i or
                     target.popen.poll() is not None, "the loader")
        peaks.append(int(h.status_field(tracer.pid, "VmHWM").split()[0]))
    tracer.popen.send_signal(signal.SIGINT)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    h.Log(h.read(tracer.log_path)).check_counts({"g1": 900})
    h.check(peaks[299] - peaks[99] < 1000, "kB of memory after 100, 200 and "
            "300: %r" % peaks[99::100])


@h.test("loaded before the attach and again after it")
def before_and_after(case):
    log, _ = attach_and_obey(case, "lc", "cu" + "lcum" * 5 + "lc", "-x", "g1")
    log.check_counts({"g1": 3 + 15 + 3}, library="plug.so")


@h.test("in a namespace before the attach")
def namespace_before(case):
    log, _ = attach_and_obey(case, "nc", "ccnc", "-x", "g1")
    log.check_counts({"g1": 9}, library="plug.so")


@h.test("a symbol that comes later is said to be awaited")
def pending(case):
    loader, plugin = h.build_loader()
    result = case.calltrap("-L", "-x", "g1", loader, plugin, log=False,
                           input_text="lcq")
    h.check_equal(len(re.findall(r"^g1@plug\.so\(", result.err, re.M)), 3,
                  "calls of g1")
    said = [line for line in result.messages() if "g1" in line]
    h.check_equal(len(said), 1, "messages about g1:\n" + result.err)


@h.test("a symbol that never comes is said to be missing")
def never(case):
    loader, plugin = h.build_loader()
    result = case.calltrap("-L", "-x", "plugin_call", loader, plugin,
                           log=False, input_text="lcq")
    result.check_status(7)
    said = [line for line in result.messages() if "plugin_call" in line]
    h.check_equal(len(said), 2, "messages about plugin_call, one when it is "
                  "awaited, one at the end:\n" + result.err)


@h.test("attached, and the symbol never came: status 1")
def never_attached(case):
    loader, plugin = h.build_loader()
    target = case.start([loader, plugin])
    answered(target, "ready")
    result = case.calltrap("-L", "-x", "no_such_function", "--for", "300ms",
                           "-p", str(target.pid))
    result.check_status(1)
    h.check(any("no_such_function" in line for line in result.messages()),
            "calltrap said: " + result.err)
    h.check_untouched(target.pid)
    target.say("lcq")
    h.check_equal(target.wait(), 7, "status of the target")


@h.test("a library loaded by its constructor's time is caught")
def constructor(case):
    """Calls made by a constructor during dlopen itself."""
    directory = os.path.dirname(h.build_loader()[0])
    plugin = h.build_library("ctor.so", "plugin_ctor.c", directory=directory)
    loader = h.build_loader()[0]
    result = case.calltrap("-L", "-x", "in_constructor", loader, plugin,
                           input_text="lulq")
    result.check_status(7)
    result.log.check_counts({"in_constructor": 10})


if __name__ == "__main__":
    sys.exit(h.main())
