#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The torture's calls while functions of the C library are caught in the process,
too; `make torture' with ENGINE=auto, or agent, runs it for longer."""

import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
os.environ.setdefault("PART", "calls")
os.environ.setdefault("ENGINE", "auto")
# As with the fuzzers: .ci/run takes its time.
often = "15" if os.environ.get("CI") else "5"
os.environ.setdefault("SECONDS", often)
os.environ.setdefault("ROUNDS", often)
script = os.path.join(here, "..", "torture", "run")
os.execv(sys.executable, [sys.executable, script] + sys.argv[1:])
