# SPDX-License-Identifier: GPL-2.0-or-later
"""What `calltrap heap' prints, read back: one Report a process."""

import re
import signal

import harness as h

TOGETHER = re.compile(r"^==== heap of \d+ processes together$", re.M)
HEAD = re.compile(r"^==== heap of process (\d+)(?: \(to itself \d+\))?(?:, (.*))?$", re.M)
BYTES = r"([\d,]+) bytes?(?: \([\d.]+ [KMGT]iB\))?"
HELD = BYTES + r" in ([\d,]+) blocks?"
SIZED = re.compile(r"^(.+): in use: " + HELD + r"; total: ([\d,]+) allocs?, "
                   r"([\d,]+) frees?, " + BYTES + r" allocated; peak: " +
                   BYTES)
COUNTED = re.compile(r"^(.+): in use: ([\d,]+); total: ([\d,]+) allocs?, "
                     r"([\d,]+) frees?; peak: ([\d,]+)")
ODDITY = re.compile(r"^([^:]+): (.+): ([\d,]+)$")
LEVEL = re.compile(r"^(likely|possible|no leak|suppressed): " + HELD +
                   r" at ([\d,]+) sites?(?:; ([\d,]+) others? at "
                   r"([\d,]+) sites?)?(?:, of which about " + HELD +
                   r" leaked)?$")
SUPPRESSION = re.compile(r"^    (.+:\d+: .+): " + HELD + r" at ([\d,]+) sites?"
                         r"(?:; .*)?$")
IDLE = re.compile(r"^    ([\d,]+) suppressions? for which nothing is held$")
# From two minutes on it has two units.
TIME = r"[\d.]+ (?:min \d+ s|h \d+ min|d \d+ h|\S+)"
ROW = re.compile(r"^ *([\d,]+) +([\d,]+) +([\d,]+|-) +([\d,]+|-) +(\S+) +"
                 r"(-|" + TIME + r") +(-|" + TIME +
                 r") +(LIKELY|POSSIBLE|NOT|-) +(\S.*)$")
REST = re.compile(r"^ *([\d,]+) +([\d,]+)  in ([\d,]+) more rows? ")
PARTS = re.compile(r"^ *([\d,]+) +([\d,]+)  in ([\d,]+) more stacks? of the "
                   r"same leak ")
EMPTY = re.compile(r"^([\d,]+) more rows? of which nothing is held$")
CALL = re.compile(r"^ *([\d,]+) +([\d,]+) +([\d,]+) +(-|<?" + TIME +
                  r")  (\S.*) by (\S+)$")
FRAME = re.compile(r"^ {8}(?!\.\.\.|\?)(\S.*?)(?: (\S+?)(?::(\d+))?)? \(([^()]*)\)$")


def number(text):
    return 0 if text == "-" else int(text.replace(",", ""))


class Total:
    """One family. Missing oddities are zero."""

    def __init__(self, blocks, byte_count, allocs, frees, alloc_bytes, peak):
        self.blocks, self.bytes = number(blocks), number(byte_count)
        self.allocs, self.frees = number(allocs), number(frees)
        self.alloc_bytes, self.peak = number(alloc_bytes), number(peak)
        self.oddities = {}

    def odd(self, what):
        return self.oddities.get(what, 0)

    def held(self):
        return self.blocks, self.bytes


class Row:
    def __init__(self, found):
        self.bytes, self.blocks = number(found[1]), number(found[2])
        self.acquired, self.given_back = number(found[3]), number(found[4])
        self.rate, self.median, self.oldest = found[5], found[6], found[7]
        self.verdict, self.what = found[8], found[9]
        self.lines = []
        self.parts = 0

    def frames(self):
        """(function, file, line, library), the innermost first."""
        found = [FRAME.match(line) for line in self.lines]
        return [each.groups() for each in found if each]

    def functions(self):
        return [frame[0] for frame in self.frames()]


class Report:
    def __init__(self, text):
        self.text = text
        found = HEAD.match(text)
        self.pid, self.program = int(found[1]), found[2]
        self.totals, self.levels, self.calls = {}, {}, {}
        self.others = 0
        self.suppressions, self.idle_suppressions = {}, 0
        self.rows, self.rest, self.empty = [], (0, 0, 0), 0
        self.sections = {}
        title = "HEAD"
        for line in text.splitlines()[1:]:
            if line.startswith("---- "):
                title = line[5:].split(", by ")[0]
                self.sections[title] = []
                continue
            self.sections.setdefault(title, []).append(line)
            self._read(title, line)

    def _read(self, title, line):
        if title == "HEAP SUMMARY":
            self._read_total(line)
        elif title == "LEAK SUMMARY":
            self._read_level(line)
        elif title in ("STACKS", "FUNCTIONS", "LINES", "LIBRARIES", "THREADS",
                       "SIZES", "COMPONENTS"):
            self._read_row(line)
        elif title == "CALLS":
            found = CALL.match(line)
            if found:
                self.calls[found[5], found[6]] = tuple(
                    map(number, found.groups()[:3]))

    def _read_level(self, line):
        found, used = LEVEL.match(line), SUPPRESSION.match(line)
        if line.startswith("note: "):
            return
        if used:
            self.suppressions[used[1]] = tuple(map(number, used.groups()[1:]))
        elif found:
            self.levels[found[1]] = tuple(number(text or "0")
                                          for text in found.groups()[1:4])
            self.others += number(found[5] or "0")
        elif line.startswith("elsewhere: "):
            self.elsewhere = line
        else:
            self.idle_suppressions = number(IDLE.match(line)[1])

    def _read_total(self, line):
        sized, counted = SIZED.match(line), COUNTED.match(line)
        odd = ODDITY.match(line)
        if sized:
            held, blocks, allocs, frees, alloc_bytes, peak = \
                sized.groups()[1:]
            self.totals[sized[1]] = Total(blocks, held, allocs, frees,
                                          alloc_bytes, peak)
        elif counted:
            blocks, allocs, frees, peak = counted.groups()[1:]
            self.totals[counted[1]] = Total(blocks, "0", allocs, frees, "0",
                                            peak)
        else:
            h.check(odd and odd[1] in self.totals, "no total: " + line)
            self.totals[odd[1]].oddities[odd[2]] = number(odd[3])

    def _read_row(self, line):
        row, rest, empty = ROW.match(line), REST.match(line), EMPTY.match(line)
        parts = PARTS.match(line)
        if parts:
            self.rest = tuple(map(sum, zip(self.rest, map(number,
                                                          parts.groups()))))
            self.rows[-1].parts = number(parts[3])
        elif row:
            self.rows.append(Row(row))
        elif rest:
            self.rest = tuple(map(sum, zip(self.rest, map(number,
                                                          rest.groups()))))
        elif empty:
            self.empty = number(empty[1])
        elif self.rows:
            self.rows[-1].lines.append(line)

    @property
    def malloc(self):
        return self.totals["malloc"]

    def row(self, what):
        """The only row that has this word or regular expression."""
        found = [row for row in self.rows if re.search(what, row.what)]
        h.check(len(found) == 1, "%d rows match %r in:\n%s" %
                (len(found), what, self.text))
        return found[0]

    def row_of(self, function):
        """The first row whose stack has that function."""
        for row in self.rows:
            if function in row.functions():
                return row
        raise h.Failure("no stack has %s in:\n%s" % (function, self.text))

    def call(self, function, library):
        return self.calls.get((function, library), (0, 0, 0))

    def lost(self):
        return number(self.sections["HOW IT WAS SEEN"][0].split(": ")[1])


def reports(text):
    text = TOGETHER.split(text)[0]
    starts = [found.start() for found in HEAD.finditer(text)]
    return [Report(text[start:end])
            for start, end in zip(starts, starts[1:] + [len(text)])]


def only_report(text):
    found = reports(text)
    h.check_equal(len(found), 1, "reports; what was written:\n" +
                  h.shorten(text))
    return found[0]


def heap(case, *arguments, **how):
    """Runs calltrap heap on a command; the result has .report too."""
    path = case.path("report.%d" % case.number())
    result = case.calltrap("heap", "-o", path, *arguments, log=False, **how)
    result.text = h.read(path)
    h.check(result.text, "no report; calltrap said: " + result.err)
    result.reports = reports(result.text)
    result.report = result.reports[-1]
    return result


def attach(case, *targets, options=(), **how):
    """Attaches to processes, and waits until the traps are planted."""
    path = case.path("report.%d" % case.number())
    pids = [word for target in targets for word in ("-p", str(target.pid))]
    tracer = case.start_calltrap("heap", "-o", path, *options, *pids,
                                 log=False, **how)
    tracer.report_path = path
    return tracer


def leave(tracer, number=signal.SIGINT):
    tracer.popen.send_signal(number)
    h.check_equal(tracer.wait(), 0, "status of calltrap; " + tracer.err)
    return only_report(h.read(tracer.report_path))


def planted(pid, function="malloc", library="libc.so.6"):
    """Whether the code of that library differs from its file's by now."""
    return any(library in line for line in h.code_differences(pid))


def settle(target, tracer):
    """Waits until there are traps in the C library, and calltrap waits."""
    h.wait_until(lambda: planted(target.pid) or
                 tracer.popen.poll() is not None, "the traps")
    h.settle(target, tracer)
