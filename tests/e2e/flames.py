# SPDX-License-Identifier: GPL-2.0-or-later
"""Flame graphs, read as files and as a browser shows them."""

import os
import re
import xml.etree.ElementTree as ET

import harness as h

SVG = "{http://www.w3.org/2000/svg}"
SOURCES = os.path.join(h.HERE, "..", "..", "src", "report", "flame")
FLAMEGRAPH = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl"
TITLE = r"(?s)(.*) \(([\d,]+) (\w+), ([\d.]+)%\)"
CHANGED = (r"(?s)(.*) \(before ([\d,]+) (\w+), now ([\d,]+): (as before|"
           r"([-+]?[\d,]+), (new|gone|[-+][\d.]+%)(?:; parts grew by ([\d,]+), "
           r"others shrank by ([\d,]+))?)\)")


def number(text):
    return int(text.replace(",", "")) if text else 0


class Box:
    def __init__(self, element):
        title, *self.more = element.find(SVG + "title").text.split("\n")
        self.id = element.get("id")
        self.differs = element.get("data-now") is not None
        found = re.fullmatch(CHANGED if self.differs else TITLE, title)
        h.check(found, "title %r" % title)
        self.name, self.unit = found[1], found[3]
        if self.differs:
            self._read_change(element, found)
        else:
            self.said, self.percent = number(found[2]), float(found[4])
        self.likely = "likely" in element.get("class").split()
        self.depth = int(element.get("data-depth"))
        self.weight = int(element.get("data-weight"))
        self.x, self.y, self.width = (float(element.get(key))
                                      for key in ("x", "y", "width"))
        self.text = element.find(SVG + "text").text or ""
        self.children = []
        self.path = None

    def _read_change(self, element, found):
        self.before, self.now = (int(element.get("data-" + key))
                                 for key in ("before", "now"))
        self.said = number(found[2]), number(found[4])
        self.change, self.percent = number(found[6]), found[7]
        self.grown, self.shrunk = number(found[8]), number(found[9])
        self.bars = {bar.get("class"): (bar.get("x"), bar.get("width"))
                     for bar in element.findall(SVG + "rect")}


class Graph:
    def __init__(self, path):
        self.path = path
        self.address = "file://" + os.path.abspath(path)
        self.tree = ET.parse(path)
        root = self.tree.getroot()
        self.title = root.find(SVG + "title").text
        self.height = float(root.get("height"))
        self.boxes = [Box(element) for element in root.iter(SVG + "svg")
                      if "frame" in element.get("class", "").split()]
        self.root = self.boxes[0]
        stack = []
        for box in self.boxes:
            del stack[box.depth:]
            box.path = [other.name for other in stack[1:]] + [box.name]
            if stack:
                stack[-1].children.append(box)
            stack.append(box)

    def named(self, name):
        found = [box for box in self.boxes if box.name == name]
        h.check(found, "no box %r" % name)
        return found[0]


def read_folded(path):
    stacks = {}
    with open(path, "rb") as file:
        for line in file:
            stack, weight = line.decode().rstrip("\n").rsplit(" ", 1)
            stacks[stack] = stacks.get(stack, 0) + int(weight)
    return stacks


def written_script():
    text = ""
    for name in ("flamegraph.js", "flamegraph_tools.js"):
        with open(os.path.join(SOURCES, name), encoding="utf-8") as file:
            text += file.read()
    return '"use strict";\n(() => {\n' + text + "})();\n"


def below(box):
    return [box] + [more for child in box.children for more in below(child)]


def draw(path, *options):
    """What flamegraph.pl makes of folded stacks."""
    h.need("perl")
    if not os.path.exists(FLAMEGRAPH):
        raise h.Skip("no " + FLAMEGRAPH)
    done = h.subprocess.run(["perl", FLAMEGRAPH, *options, path],
                            stdout=h.subprocess.PIPE,
                            stderr=h.subprocess.PIPE, timeout=h.PATIENCE)
    h.check_equal((done.returncode, done.stderr), (0, b""),
                  "flamegraph.pl's status and complaints")
    return done.stdout.decode()


# ---------------------------------------------------------------- a browser

SHOWN = ("[...document.querySelectorAll('.frame')].filter(e => "
         "e.style.display != 'none').map(e => e.id)")
MATCHED = "document.querySelector('output').textContent"
DETAIL = "document.querySelector('.detail').textContent"


def element(box):
    return "document.getElementById('%s')" % box.id


def width_of(box):
    return "Math.round(%s.getBoundingClientRect().width)" % element(box)


def button(name):
    return ("[...document.querySelectorAll('button')].find(b => "
            "b.textContent == '%s')" % name)
