#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that run another program just when calltrap comes or goes: no trap
gets into a program that nobody has looked at. ROUNDS says how often."""

import os
import random
import re
import signal
import sys
import time

sys.dont_write_bytecode = True
import harness as h

ROUNDS = int(os.environ.get("ROUNDS") or (12 if os.environ.get("CI") else 4))
SEED = int(os.environ.get("SEED") or 1)


def program():
    return h.build_with_libt("execer", h.build_directory("execs"))


def come_and_go(case, argv, *options, longest=0.06, stay=0.15):
    """Attaches to targets at random moments of their life, and leaves."""
    rng = random.Random(SEED)
    traced = 0
    ends = []
    for _ in range(ROUNDS):
        target = case.start(argv)
        time.sleep(rng.random() * longest)
        tracer = case.start_calltrap(*options, "-x", "f1", "-p",
                                     str(target.pid))
        time.sleep(rng.random() * stay)
        tracer.popen.send_signal(signal.SIGINT)
        status = target.wait()
        tracer.wait()
        traced += "f1@" in h.read(tracer.log_path)
        if status != 7 or target.err:
            ends.append((status, target.err))
    print("# %d rounds, calls seen in %d, deaths: %d" %
          (ROUNDS, traced, len(ends)))
    h.check_equal(ends, [], "targets that came to harm (status, words)")


@h.test("a program that is run by others, attached to at its start",
        users=True)
def at_the_start(case):
    come_and_go(case, ["sh", "-c", "exec " + 60 * "env " + program() +
                       " chain 0"])


@h.test("a program that runs itself again and again")
def chain(case):
    come_and_go(case, [program(), "chain", "200"])


@h.test("threads that are not the first run the program again", users=True)
def threads(case):
    come_and_go(case, [program(), "thread", "80"])


@h.test("children by vfork that run programs", users=True)
def vforks(case):
    come_and_go(case, [program(), "vfork", "60"])


@h.test("children by vfork that run programs, followed")
def vforks_followed(case):
    come_and_go(case, [program(), "vfork", "60"], "-f")


BROOD = """\
while :; do
    for child in 1 2 3 4; do
        sh -c 'sleep 0.002; true' &
    done
    wait
    echo round
done
"""


@h.test("heap: children that come and end while it attaches need no word")
def brood(case):
    target = case.start(["sh", "-c", BROOD])
    words = []
    for _ in range(ROUNDS):
        h.wait_until(lambda: "round" in target.out, "the target's children")
        found = case.calltrap("heap", "-f", "--for", "300ms", "-p",
                              str(target.pid), log=False)
        found.check_status(0)
        # A report may say of one that it ended as it was to be read.
        words += [line for line in found.err.splitlines()
                  if re.search("^calltrap: .*(already being traced|has ended|"
                               "could not be trapped|runs in its memory)",
                               line)]
    h.check_equal(words, [], "what was said of children")
    before = target.out.count("round")
    h.wait_until(lambda: target.out.count("round") > before + 3,
                 "the target going on")


if __name__ == "__main__":
    sys.exit(h.main())
