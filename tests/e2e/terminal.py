# SPDX-License-Identifier: GPL-2.0-or-later
"""A terminal that a test looks at and types into: tmux."""

import os
import re
import shlex
import signal
import subprocess

import harness as h


class Terminal:
    """A command, below a shell that notes how the terminal was before it and
    after it, and its status."""

    def __init__(self, case, *argv, columns=80, rows=24, env=None):
        h.need("tmux")
        self.case = case
        self.socket = case.path("tmux.%d" % case.number())
        self.argv = argv
        assign = " ".join("%s=%s" % (k, shlex.quote(v))
                          for k, v in (env or {}).items())
        script = ("trap : INT; stty -g >before; env %s %s; echo $? >status; "
                  "stty -g >after; exec sleep 1000" %
                  (assign, " ".join(map(shlex.quote, argv))))
        self.tmux("-u", "-f", "/dev/null", "new-session", "-d", "-s", "t",
                  "-x", str(columns), "-y", str(rows), "sh", "-c", script)
        self.server = int(self.tmux("display", "-p", "#{pid}"))
        case.processes.append(self)

    def tmux(self, *arguments):
        # A relative path: those of sockets are short.
        done = subprocess.run(
            ["tmux", "-S", os.path.relpath(self.socket, self.case.dir),
             *arguments], cwd=self.case.dir, capture_output=True, text=True,
            env=self.case.environment({"TERM": "screen",
                                       "LC_ALL": "C.UTF-8"}),
            **self.case.identity())
        h.check_equal(done.returncode, 0, "tmux %s: %s" %
                      (" ".join(arguments), done.stderr))
        return done.stdout

    def press(self, *keys):
        self.tmux("send-keys", "-t", "t", *keys)

    def resize(self, columns, rows):
        self.tmux("resize-window", "-t", "t", "-x", str(columns), "-y",
                  str(rows))

    def text(self, *how):
        return self.tmux("capture-pane", "-p", *how, "-t", "t")

    def wait_for(self, *words, matches=(), without=()):
        """
        Until all of these are to be seen; returns the screen. It may be drawn
        in part only, so all that is looked for has to be named here.
        """
        last = []

        def seen():
            last[:] = [self.text()]
            return (all(word in last[0] for word in words) and
                    all(re.search(match, last[0], re.M) for match in matches)
                    and not any(word in last[0] for word in without))
        try:
            h.wait_until(seen, "%r" % ((words, matches, without),))
        except h.Failure as failure:
            raise h.Failure("%s; the screen:\n%s" % (failure, last[0])) \
                from None
        return last[0]

    def status(self):
        """When the command has ended, with the terminal as it was before."""
        h.wait_until(lambda: h.read(self.case.path("after")).strip(),
                     "the end of " + " ".join(self.argv))
        h.check_equal(h.read(self.case.path("after")),
                      h.read(self.case.path("before")), "modes")
        # tmux may have yet to read what the command has written.
        h.wait_until(lambda: self.tmux("display", "-p", "-t", "t",
                                       "#{alternate_on}#{cursor_flag}").strip()
                     == "01", "the first screen, with a cursor")
        return int(h.read(self.case.path("status")))

    def command(self):
        """The process of the command, below the shell."""
        shell = int(self.tmux("display", "-p", "-t", "t", "#{pane_pid}"))

        def found():
            return [pid for pid in h.children_of(shell)
                    if h.read("/proc/%d/comm" % pid).strip() != "stty"]
        h.wait_until(found, "the command")
        return found()[0]

    def end(self):
        try:
            os.kill(self.server, signal.SIGKILL)
        except ProcessLookupError:
            pass
