# SPDX-License-Identifier: GPL-2.0-or-later
"""A module of its own, under several names."""
import os


def work(times):
    for _ in range(times):
        here(), os.getppid()
