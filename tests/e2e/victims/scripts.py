# SPDX-License-Identifier: GPL-2.0-or-later
"""Says before each getppid() where it stands, as Python has it: outwards."""
import importlib.util
import os
import sys
import threading
import traceback


def here():
    frames = traceback.extract_stack()[:-1]
    print(threading.get_native_id(),
          *("%s:%d" % (f.filename, f.lineno) for f in reversed(frames)),
          sep="\t", flush=True)


def load(path):
    spec = importlib.util.spec_from_file_location("other", path)
    module = importlib.util.module_from_spec(spec)
    module.here = here
    spec.loader.exec_module(module)
    return module


def deep(n):
    return deep(n - 1) if n else (here(), os.getppid())


def generate():
    here(), os.getppid()
    yield (
        here(), os.getppid())


class Thing:
    def __len__(self):
        here(), os.getppid()
        return 3

    value = property(lambda self:
                     (here(), os.getppid()))


def everything(others):
    here(), os.getppid()
    deep(3)
    sorted([2, 1],
           key=lambda n:
           (here(), os.getppid(), n)[2])
    list(
        generate()
    )
    len(Thing())
    Thing().value
    [(here(), os.getppid()) for _ in
     range(1)]
    exec("\n\nhere(), os.getppid()")
    for other in others:
        other.work(5)
        list(map(other.work,
                 [1]))


def threads(others):
    all = [threading.Thread(target=other.work, args=[200])
           for other in others]
    for each in all:
        each.start()
    for each in all:
        each.join()


# Line numbers, and distances between lines, that take more than a byte.
exec("\n" * 30000 + "def far():\n" + "\n" * 5000 + "  here(), os.getppid()\n"
     "far()")
others = [load(path) for path in sys.argv[1:]]
everything(others)
threads(others)
