#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Minutes of the torture, its calls; `make torture' runs it for longer."""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("PART", "calls")
os.environ.setdefault("SECONDS", "50")
os.environ.setdefault("ROUNDS", "50")
script = os.path.join(here, "..", "torture", "run")
os.execv(sys.executable, [sys.executable, script] + sys.argv[1:])
