# SPDX-License-Identifier: GPL-2.0-or-later
#
# Uses an extension, py_extension_module.c, one of whose functions forgets a
# reference.
import importlib.machinery
import importlib.util
import os
import sys
import time

path = os.path.join(os.environ['UNSEEN_BUILD'], 'py_extension_module.so')
loader = importlib.machinery.ExtensionFileLoader('py_extension', path)
spec = importlib.util.spec_from_loader('py_extension', loader)
extension = importlib.util.module_from_spec(spec)
loader.exec_module(extension)

ends = time.monotonic() + float(sys.argv[1])
while time.monotonic() < ends:
    extension.describe()
    extension.tally()
    time.sleep(0.1)
