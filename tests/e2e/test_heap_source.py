#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""calltrap heap --source: the numbers beside the source text are those of
callgrind_annotate, and no file does harm."""

import os
import re
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h  # noqa: E402
import heap_reports as hr  # noqa: E402

NUMBERS = r"^((?: +(?:[\d,]+|\.)){6})"
LINE = re.compile(NUMBERS + r" +(\d+)(?:  (.*))?$")
TOTAL = re.compile(NUMBERS + r"  in all$")

# What holds nothing, what is too far away, and two that share their context.
PROGRAM = """\
#include <stdlib.h>
static void *volatile kept[1000];
static int count;

static void near(void)
{
\tkept[count++] = malloc(100);
\tkept[count++] = calloc(4, 25); free(malloc(7));
\t/* in between */
\tkept[count++] = realloc(malloc(10), 1000);
}
%s
static void nothing(void)
{
\tfree(malloc(12345));
}

static void far(void)
{
\tkept[count++] = malloc(3);
}

int main(void)
{
\tfor (int i = 0; i < 20; i++) {
\t\tnear();
\t\tnothing();
\t}
\tfar();
\treturn 0;
}
""" % (20 * "\n")


def make(case, text=PROGRAM, name="program"):
    """A program of its own: its source may be changed."""
    return h.build(name, case.write(name + ".c", text), "-g", "-O1",
                   "-fno-builtin", "-fno-inline", directory=case.dir)


class Source:
    """The section of that name: lines by file."""

    def __init__(self, report):
        self.files, self.notes, self.total = {}, {}, None
        path = None
        self.text = "\n".join(report.sections["SOURCE"])
        for line in report.sections["SOURCE"][1:]:
            found, total = LINE.match(line), TOTAL.match(line)
            if total:
                self.total = self.numbers(total[1])
            elif found:
                self.files[path][int(found[2])] = (self.numbers(found[1]),
                                                   found[3] or "")
            elif line.strip() != "...":
                path, _, note = line.partition(": ")
                self.files[path], self.notes[path] = {}, note

    @staticmethod
    def numbers(text):
        words = text.split()
        return None if words == ["."] * 6 else tuple(map(hr.number, words))


def annotated(case, path):
    """(totals, {text: numbers}) of callgrind_annotate."""
    h.need("callgrind_annotate")
    done = case.run(["callgrind_annotate", "--show-percs=no", "--auto=yes",
                     "--show=curB,curBk,totB,totBk,totFdB,totFdBk",
                     "--threshold=100", path])
    done.check_status(0)
    found, total = {}, None
    number = r"([\d,]+|\.)"
    for line in done.out.splitlines():
        row = re.match(r"^ *" + r" +".join([number] * 6) + r"  (.*)$", line)
        if not row:
            continue
        numbers = tuple(0 if word == "." else hr.number(word)
                        for word in row.groups()[:6])
        if row[7] == "PROGRAM TOTALS":
            total = numbers
        elif not row[7].startswith("=>") and set(row.groups()[:6]) != {"."}:
            found[row[7]] = numbers
    return total, found


@h.test("the numbers of callgrind_annotate, line by line")
def _(case):
    program = make(case)
    result = hr.heap(case, "--source", "--callgrind", case.path("out.kcg"),
                     program)
    result.check_status(0)
    total, lines = annotated(case, case.path("out.kcg"))
    source = Source(result.report)
    h.check_equal(source.total, total, "in all")
    shown = {text.strip(): numbers
             for numbers, text in source.files[program + ".c"].values()
             if numbers}
    wanted = {text.strip(): numbers for text, numbers in lines.items()
              if text.strip().startswith("kept")}
    h.check_equal(shown, wanted, "lines that hold something")
    h.check_equal(shown["kept[count++] = malloc(100);"],
                  (2000, 20, 2000, 20, 0, 0), "a line")
    h.check_equal(shown["kept[count++] = realloc(malloc(10), 1000);"],
                  (20000, 20, 20200, 40, 200, 20), "a line with a realloc")


@h.test("each line's text and context, and no more")
def _(case):
    program = make(case)
    report = hr.heap(case, "--source", "--by", "line", program).report
    found = Source(report).files[program + ".c"]
    lines = PROGRAM.splitlines()
    for number, (_, text) in found.items():
        h.check_equal(text, lines[number - 1].expandtabs(8), "line %d" % number)
    first = lines.index("\tkept[count++] = malloc(100);") + 1
    last = lines.index("\tkept[count++] = malloc(3);") + 1
    h.check_equal(sorted(found), list(range(first - 3, first + 7)) +
                  list(range(last - 3, last + 4)), "lines")
    top = hr.heap(case, "--source", "--top", "1", program).report
    h.check_equal(sorted(Source(top).files[program + ".c"]),
                  list(range(first, first + 7)), "lines of the first row")


@h.test("what strdup acquires belongs to the line that called it")
def _(case):
    program = make(case, """
#include <string.h>
char *volatile kept[20];
static void remember(int i)
{
	kept[i] = strdup("nineteen characters");
}
int main(void)
{
	for (int i = 0; i < 20; i++)
		remember(i);
	return 0;
}
""")
    for by, where in (("line", r"program\.c:6$"),
                      ("function", r"^remember in program$"),
                      ("stack", r"^malloc by remember$")):
        row = hr.heap(case, "--by", by, program).report.row(where)
        h.check_equal((row.blocks, row.bytes), (20, 400), by)
    report = hr.heap(case, "--source", program).report
    h.check_match(r'^ +400 +20 +400 +20 +0 +0 +6  +kept\[i\] = strdup',
                  Source(report).text, "the line")


@h.test("LoopLeak: the line that leaks", users=True)
def _(case):
    program = h.build("heap_leak", "heap_leak.c", "-g", "-O1", "-fno-builtin")
    with open(h.victim("heap_leak.c")) as file:
        lines = file.read().splitlines()
    here = [number for number, line in enumerate(lines, 1)
            if "/* here */" in line][0]
    target = case.start([program, "10"])
    h.wait_until(lambda: "ready" in target.out, "the victim")
    tracer = hr.attach(case, target, options=["--source"])
    h.wait_until(lambda: hr.planted(target.pid), "the traps")
    # Each time round it stops twice, and sleeps.
    before = h.naps(target.pid)
    h.wait_until(lambda: h.naps(target.pid) > before + 100, "leaks")
    report = hr.leave(tracer)
    held, blocks = report.malloc.bytes, report.malloc.blocks
    h.check(blocks >= 10, "blocks: %d" % blocks)
    found = Source(report).files[h.victim("heap_leak.c")]
    h.check_equal(found[here], ((held, blocks, held, blocks, 0, 0),
                                lines[here - 1].expandtabs(8)), "the line")
    h.check_equal(held, 4 * blocks, "four bytes each")
    h.check_equal([number for number, (numbers, _) in found.items() if numbers],
                  [here], "lines with numbers")


@h.test("a source that isn't there, or has changed")
def _(case):
    program = make(case)
    path = program + ".c"
    line = PROGRAM.splitlines().index("\tkept[count++] = malloc(3);") + 1
    os.unlink(path)
    source = Source(hr.heap(case, "--source", program).report)
    h.check_equal(source.notes[path],
                  "can't be shown: No such file or directory", "what is said")
    h.check_equal(source.files[path][line], ((3, 1, 3, 1, 0, 0), ""),
                  "numbers alone")
    h.check_equal(len(source.files[path]), 4, "lines")
    case.write("program.c", "/* all is different */\n")
    os.utime(program, (1, 1))
    source = Source(hr.heap(case, "--source", program).report)
    h.check_equal(source.notes[path], "newer than %s, so lines may have moved" %
                  program, "what is said")
    h.check_equal(source.files[path][line], ((3, 1, 3, 1, 0, 0), ""),
                  "numbers behind the end of the file")


@h.test("a program without debug information: said")
def _(case):
    program = h.build("plain", case.write("plain.c", PROGRAM), "-O1",
                      "-fno-builtin", directory=case.dir)
    report = hr.heap(case, "--source", program).report
    h.check_equal(report.sections["SOURCE"][2:],
                  ["no line is known of the rows above: was it built with -g?"],
                  "what is said")


HOSTILE = """\
#include <stdlib.h>
void *volatile kept;
int main(void)
{
#line %d "%s"
\tkept = malloc(11);
\treturn 0;
}
"""


def hostile(case, path, line=3):
    """The section of a program that names this as its source."""
    program = make(case, HOSTILE % (line, path), "hostile%d" % case.number())
    result = hr.heap(case, "--source", program)
    result.check_status(0)
    h.check(not re.search(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f]", result.text),
            "control characters")
    h.check(len(result.text) < 1 << 17, "a report of %d bytes" %
            len(result.text))
    return Source(result.report)


@h.test("sources that are no text, or no files")
def _(case):
    pipe, big = case.path("pipe"), case.path("big")
    os.mkfifo(pipe)
    with open(big, "wb") as file:
        file.truncate(1 << 40)
    for path, why in ((pipe, "no regular file"), ("/dev/zero", "no regular file"),
                      (case.dir, "no regular file"), (big, "larger than 16 MiB")):
        source = hostile(case, path)
        h.check_equal(source.notes[path], "can't be shown: " + why, "why")
        h.check_equal(source.files[path], {3: ((11, 1, 11, 1, 0, 0), "")},
                      "its numbers")
    source = hostile(case, "/bin/true", 2)
    h.check(2 in source.files["/bin/true"], "a binary's second line")
    path = case.path("odd")
    with open(path, "wb") as file:
        file.write(b"one\n" + (1 << 20) * b"x" + b"\n\x1b[2J\0\xff\n")
    found = hostile(case, path).files[path]
    h.check_equal(found[1], (None, "one"), "the first line")
    h.check_match(r"^x{100,200}\.\.\.$", found[2][1], "the long line")
    h.check_equal(found[3], ((11, 1, 11, 1, 0, 0), r"\033[2J\000\377"),
                  "the line of the call")
    source = hostile(case, path, 2000000000)
    h.check_equal(list(source.files[path]), [2000000000], "far behind the end")


@h.test("an unreadable source: nobody's but its owner's", users=True)
def _(case):
    path = case.write("secret", "one\ntwo\nthree\n", 0o600)
    if not case.user:
        h.check_equal(hostile(case, path).files[path][3][1], "three", "the line")
        return
    os.chown(path, 0, 0)
    h.check_equal(hostile(case, path).notes[path],
                  "can't be shown: Permission denied", "why")


@h.test("--source with other rows: said, and nothing is done")
def _(case):
    result = case.calltrap("heap", "--source", "--by", "stack", "true",
                           log=False)
    result.check_status(2)
    h.check_equal(result.err, "calltrap: --source: is for rows by line; leave "
                  "--by out, or say --by line\n", "the message")


if __name__ == "__main__":
    sys.exit(h.main())
