# SPDX-License-Identifier: GPL-2.0-or-later
"""System calls: their names from the exported headers, their arguments from
the kernel's own declarations (Debian's linux-headers-*-common)."""

import glob
import os
import re

NUMBERS = {
    "x86_64": ("asm/unistd_64.h", "x86_64"),
    "i386": ("asm/unistd_32.h", "i386"),
}
FOLDERS = ["/usr/include/x86_64-linux-gnu", "/usr/include/i386-linux-gnu",
           "/usr/include"]

# What headers of Linux 6.1 don't have yet; those of 6.12 do.
NEWER = {
    "cachestat", "fchmodat2", "futex_requeue", "futex_wait", "futex_wake",
    "listmount", "lsm_get_self_attr", "lsm_list_modules", "lsm_set_self_attr",
    "map_shadow_stack", "mseal", "statmount", "uretprobe",
}
# What they don't declare any more, as 6.1 did.
GONE = {
    "sys_lookup_dcookie":
        "long sys_lookup_dcookie(u64 cookie64, char *buf, size_t len);",
}


def names(arch):
    """All system calls of an architecture."""
    for folder in FOLDERS:
        path = os.path.join(folder, NUMBERS[arch][0])
        if os.path.exists(path):
            with open(path, encoding="ascii") as file:
                return re.findall(r"^#define __NR_(\w+)", file.read(), re.M)
    return None


def exported_version():
    """Of the headers that names() reads: [6, 1]."""
    with open("/usr/include/linux/version.h", encoding="ascii") as file:
        text = file.read()
    return [int(re.search(r"LINUX_VERSION_%s (\d+)" % part, text)[1])
            for part in ("MAJOR", "PATCHLEVEL")]


def folder():
    """The package's; None without it. Other kernels have other system calls:
    best is that of the same version."""
    found = {}
    for path in glob.glob("/usr/src/linux-headers-*-common"):
        version = [int(n) for n in re.findall(r"\d+", path)]
        found[version[:2] == exported_version(), tuple(version)] = path
    return found[max(found)] if found else None


def declarations():
    """{name: C declaration} of sys_...; None without the package."""
    if not folder():
        return None
    path = os.path.join(folder(), "include", "linux", "syscalls.h")
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    result = {}
    for name, arguments in re.findall(
            r"asmlinkage\s+long\s+(sys_\w+)\s*\(([^;]*?)\)\s*;", text):
        arguments = " ".join(arguments.split())
        result.setdefault(name, f"long {name}({arguments});")
    return {**GONE, **result}
