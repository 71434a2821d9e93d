#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The prototype files of etc/: calltrap reads all of them without a word, and
what it then shows of real programs reads as their documentation does. Whether
each line is right is checked by tests/prototypes."""

import os
import shutil
import sys

sys.dont_write_bytecode = True
import harness as h

ETC = os.path.abspath(os.path.join(h.HERE, "..", "..", "etc"))


def files():
    return sorted(n for n in os.listdir(ETC) if n.endswith(".conf"))


def log_of(case, *arguments, status=0, **how):
    """What calltrap logs; it must say nothing else."""
    log = case.path("log.%d" % case.number())
    result = case.run([h.CALLTRAP, "-F", ETC, "-o", log, *arguments], **how)
    result.check_quiet()
    result.check_status(status)
    return h.read(log)


def check_lines(log, patterns):
    for pattern in patterns:
        h.check_match(pattern, log, "the log")


@h.test("each file is read without a message")
def loaded(case):
    h.check(files(), "there are no files in " + ETC)
    for name in files():
        result = case.run([h.CALLTRAP, "-F", os.path.join(ETC, name), "-F",
                           ETC, "-o", os.devnull, "/bin/true"])
        h.check_equal(result.messages(), [], "messages about " + name)


@h.test("a mistake in one of them would be told")
def broken(case):
    text = h.read(os.path.join(ETC, "libm.so.conf"))
    path = case.path("libm.so.conf")
    case.write("libm.so.conf", text.replace("double sin(double);",
                                            "double sin(doubel);"))
    result = case.run([h.CALLTRAP, "-F", path, "-o", os.devnull, "/bin/true"])
    h.check(any("doubel" in message for message in result.messages()),
            "nobody has noticed: %r" % result.err)


@h.test("allocators' own functions")
def allocators(case):
    """Linked, not preloaded: what such a program calls is the library's."""
    for library, lines, patterns in (
            ("jemalloc", "dallocx(mallocx(36, 0), 0); sdallocx(mallocx(7, 0), "
             "7, 0); mallctl(\"epoch\", 0, 0, 0, 0);",
             [r"mallocx\(36, 0\) += 0x[0-9a-f]+$",
              r"dallocx\(0x[0-9a-f]+, 0\) += <void>$",
              r"sdallocx\(0x[0-9a-f]+, 7, 0\) += <void>$",
              r'mallctl\("epoch", nil, .*, nil, 0\) += 0$']),
            ("mimalloc", "mi_free(mi_zalloc_aligned(36, 64));",
             [r"mi_zalloc_aligned\(36, 64\) += 0x[0-9a-f]+$",
              r"mi_free\(0x[0-9a-f]+\) += <void>$"]),
            ("tcmalloc_minimal", "tc_free(tc_calloc(3, 12));",
             [r"tc_calloc\(3, 12\) += 0x[0-9a-f]+$",
              r"tc_free\(0x[0-9a-f]+\) += <void>$"])):
        header = {"jemalloc": "jemalloc/jemalloc.h",
                  "mimalloc": "mimalloc.h"}.get(library,
                                                "gperftools/tcmalloc.h")
        source = case.write(library + ".c", "#include <stddef.h>\n#include "
                            "<%s>\nint main(void)\n{\n\t%s\n\treturn 0;\n"
                            "}\n" % (header, lines))
        path = case.path(library)
        built = case.run(["gcc", "-w", "-o", path, source, "-l" + library])
        if built.status:
            raise h.Skip("no %s to link with" % library)
        functions = {"jemalloc": "mallocx+dallocx+sdallocx+mallctl",
                     "mimalloc": "mi_zalloc_aligned+mi_free",
                     "tcmalloc_minimal": "tc_calloc+tc_free"}[library]
        check_lines(log_of(case, "-e", functions, path), patterns)


@h.test("system calls of cat")
def system_calls(case):
    case.write("greeting", "hello\n")
    log = log_of(case, "-S", "-L", "cat", case.path("greeting"))
    check_lines(log, [
        r'openat@SYS\(AT_FDCWD, "[^"]*", O_RDONLY[|A-Z_]*\) += \d+$',
        r"mmap@SYS\(nil, \d+, PROT_READ\|PROT_WRITE, "
        r"MAP_PRIVATE\|MAP_ANONYMOUS, -1, 0\) += 0x",
        # glibc's fstat() before and since 2.39.
        r"(newfstatat@SYS\(\d+, \"\", {.*st_mode=0100\d\d\d,.*}, "
        r"AT_EMPTY_PATH|fstat@SYS\(\d+, {.*st_mode=0100\d\d\d,.*})\) += 0$",
        r'access(?:@SYS\(|at@SYS\(AT_FDCWD, )"/etc/ld.so.preload", R_OK\) += '
        r"-1 ENOENT$",
    ])


@h.test("sqlite3: statements and results")
def sqlite(case):
    h.need("sqlite3")
    log = log_of(case, "sqlite3", ":memory:", status=1,
                 input_text="select 6*7;\nselect nothing;\n")
    check_lines(log, [
        r'sqlite3_prepare_v2\(0x[0-9a-f]+, "select 6\*7;[^"]*", -1, '
        r"0x[0-9a-f]+, .*\) += SQLITE_OK$",
        r'sqlite3_prepare_v2\(.*"select nothing;.*\) += SQLITE_ERROR',
        r"sqlite3_step\(0x[0-9a-f]+\) += SQLITE_ROW$",
        r'sqlite3_column_text\(0x[0-9a-f]+, 0\) += "42"$',
    ])


@h.test("openssl: a digest")
def openssl(case):
    h.need("openssl")
    case.write("greeting", "hello\n")
    log = log_of(case, "openssl", "dgst", "-sha256", case.path("greeting"))
    check_lines(log, [
        r'BIO_read\(0x[0-9a-f]+, "hello\\n", \d+\) += 6$',
        r'EVP_MD_fetch\(.*"sha256", nil\) += 0x',
    ])


@h.test("curl: options and results")
def curl(case):
    h.need("curl")
    case.write("greeting", "hello\n")
    log = log_of(case, "curl", "-s", "file://" + case.path("greeting"))
    check_lines(log, [
        r'curl_easy_setopt\(0x[0-9a-f]+, CURLOPT_URL, "file://[^"]*"(\.\.\.)?\) += CURLE_OK$',
        r"curl_easy_perform.* = CURLE_OK$",
    ])


@h.test("gzip: what is read, written, and how signals are handled")
def gzip(case):
    h.need("gzip")
    case.write("greeting", "hello\n")
    log = log_of(case, "gzip", "-k", case.path("greeting"))
    check_lines(log, [
        r'read\(\d+, "hello\\n", \d+\) += 6$',
        r"sigaction\(SIG[A-Z]+, {sa_handler=0x[0-9a-f]+, .*}, nil\) += 0$",
        r'openat\(AT_FDCWD, "[^"]*"\.*, O_WRONLY\|O_CREAT\|O_EXCL, 0600\) ',
        r'openat\(AT_FDCWD, "[^"]*"\.*, O_RDONLY[A-Z_|]*\) += \d+$',
        r"futimens\(\d+, \[{tv_sec=\d+, tv_nsec=\d+}, {tv_sec=",
        r"fchown\(\d+, -1, \d+\) += 0$",
    ])


@h.test("fcntl and setsockopt: what is set, by its name")
def options(case):
    script = case.write("options.py", """
import fcntl, os, socket
end = os.pipe()[0]
fcntl.fcntl(end, fcntl.F_SETFL, os.O_NONBLOCK)
fcntl.fcntl(end, fcntl.F_SETFD, fcntl.FD_CLOEXEC)
fcntl.fcntl(end, fcntl.F_DUPFD, 20)
fcntl.fcntl(end, fcntl.F_GETFL)
socket = socket.socket()
socket.setsockopt(1, 2, 1)
socket.setsockopt(6, 1, 1)
socket.getsockopt(0, 1)
""")
    names = ["fcntl", "setsockopt", "getsockopt"]
    for at, where in (("", "(@[^(]+)?"), ("@SYS", "@SYS")):
        log = log_of(case, "-L", "-x", "+".join(n + at for n in names),
                     "/usr/bin/python3", "-S", "-I", script)
        check_lines(log, ["^" + line.replace("@", where) for line in (
            r"fcntl@\(\d+, F_SETFL, O_RDONLY\|O_NONBLOCK\) += 0$",
            r"fcntl@\(\d+, F_SETFD, FD_CLOEXEC\) += 0$",
            r"fcntl@\(\d+, F_DUPFD, 20\) += 20$",
            r"fcntl@\(\d+, F_GETFL\) += 2048$",
            r'setsockopt@\(\d+, SOL_SOCKET, SO_REUSEADDR, "\\001\\0\\0\\0", 4\) '
            "+= 0$",
            r"setsockopt@\(\d+, SOL_TCP, TCP_NODELAY, ",
            r"getsockopt@\(\d+, SOL_IP, IP_TOS, ")])


@h.test("functions of PHP itself")
def php(case):
    php = next(filter(shutil.which, ("php8.2", "php8.4")), "php8.2")
    h.need(php)
    script = case.write("shop.php", """<?php
file_put_contents("sold", "three pens");
$key = implode(" ", ["first", "key"]);
echo ["first key" => "found"][$key], "\\n";
class_exists("NoSuch");
""")
    log = log_of(case, "-L", "-x", "zend_hash_find+zend_lookup_class_ex+"
                 "php_output_write+_php_stream_write+"
                 "_php_stream_open_wrapper_ex", php, "-n", script)
    check_lines(log, [
        r'^_php_stream_open_wrapper_ex\("[^"]*sold", "wb", 0x8, nil, ',
        r'^_php_stream_write\(0x[0-9a-f]+, "three pens", 10\) += 10$',
        r'^zend_hash_find\(0x[0-9a-f]+, \{val="first key"\}\) += 0x',
        r'^php_output_write\("found", 5\) += 5$',
        r'^zend_lookup_class_ex\(\{val="NoSuch"\}, nil, 0'])


sys.exit(h.main())
