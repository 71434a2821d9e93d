#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A minute of the torture, its calls; `make torture' runs it for longer."""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("PART", "calls")
# As with the fuzzers: .ci/run takes its time.
often = "50" if os.environ.get("CI") else "15"
os.environ.setdefault("SECONDS", often)
os.environ.setdefault("ROUNDS", often)
script = os.path.join(here, "..", "torture", "run")
os.execv(sys.executable, [sys.executable, script] + sys.argv[1:])
