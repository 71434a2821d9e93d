#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""load_client.py redis|sql SOCKET NAME: works with a server until standard
input ends, checks each answer, and prints what it saw as one JSON object:
operations, wrong answers and errors, and per slot of time (of the monotonic
clock) how many operations ended in it and how long the slowest took."""

import ctypes
import ctypes.util
import json
import select
import socket
import sys
import time

SLOT = 0.005


class Redis:
    """Its protocol by hand, so that a wrong byte can't go unseen."""

    def __init__(self, path, name):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")
        self.name = name.encode()
        self.ask(b"DEL", self.name + b":list", self.name + b":count")

    def ask(self, *words):
        data = b"*%d\r\n" % len(words)
        data += b"".join(b"$%d\r\n%s\r\n" % (len(word), word)
                         for word in words)
        self.socket.sendall(data)
        return self.answer()

    def answer(self):
        line = self.file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("the server hung up after %r" % line)
        kind, text = line[:1], line[1:-2]
        if kind == b"-":
            raise ValueError("error of the server: %r" % text)
        if kind == b":":
            return int(text)
        if kind == b"$":
            return self.file.read(int(text) + 2)[:-2]
        return text

    def operation(self, i):
        key = b"%s:%d" % (self.name, i % 50)
        value = b"%d " % i * (3000 if i % 97 == 0 else 1 + i % 7)
        return [(self.ask(b"SET", key, value), b"OK"),
                (self.ask(b"GET", key), value),
                (self.ask(b"INCR", self.name + b":count"), i + 1),
                (self.ask(b"LPUSH", self.name + b":list", value), 1),
                (self.ask(b"RPOP", self.name + b":list"), value)]


class Sql:
    """Through the client library that the server's own programs use."""

    def __init__(self, path, name):
        self.library = ctypes.CDLL("libmariadb.so.3")
        for function, result in (("mysql_init", ctypes.c_void_p),
                                 ("mysql_real_connect", ctypes.c_void_p),
                                 ("mysql_store_result", ctypes.c_void_p),
                                 ("mysql_fetch_row",
                                  ctypes.POINTER(ctypes.c_char_p)),
                                 ("mysql_error", ctypes.c_char_p)):
            getattr(self.library, function).restype = result
        self.table = name
        self.handle = ctypes.c_void_p(self.library.mysql_init(None))
        if not self.library.mysql_real_connect(
                self.handle, None, b"root", None, None, 0, path.encode(),
                ctypes.c_ulong(0)):
            raise ConnectionError(self.error())
        self.run("CREATE DATABASE IF NOT EXISTS load_test")
        self.run("CREATE OR REPLACE TABLE load_test.%s (id INT PRIMARY KEY, "
                 "n BIGINT, t TEXT) ENGINE=InnoDB" % name)

    def error(self):
        return self.library.mysql_error(self.handle).decode()

    def run(self, query):
        data = query.encode()
        if self.library.mysql_real_query(self.handle, data,
                                         ctypes.c_ulong(len(data))):
            raise ValueError("error of the server: %s" % self.error())
        return self.rows()

    def rows(self):
        result = self.library.mysql_store_result(self.handle)
        if not result:
            return []
        result = ctypes.c_void_p(result)
        width = self.library.mysql_num_fields(result)
        rows = []
        row = self.library.mysql_fetch_row(result)
        while row:
            rows.append(tuple(row[i].decode() for i in range(width)))
            row = self.library.mysql_fetch_row(result)
        self.library.mysql_free_result(result)
        return rows

    def operation(self, i):
        table = "load_test." + self.table
        text = "text %d of %s " % (i, self.table) * (200 if i % 97 == 0
                                                     else 1 + i % 7)
        at = i % 20
        low = max(0, i - 19)
        return [(self.run("REPLACE INTO %s VALUES (%d, %d, '%s')" %
                          (table, at, i, text)), []),
                (self.run("SELECT n, t FROM %s WHERE id = %d" % (table, at)),
                 [(str(i), text)]),
                (self.run("SELECT COUNT(*), SUM(n) FROM %s" % table),
                 [(str(i - low + 1), str(sum(range(low, i + 1))))]),
                (self.run("SELECT REVERSE('%s'), SHA1('%d')" % (text, i)),
                 None)]


def work(client, report):
    slots, i = report["slots"], 0
    while not select.select([0], [], [], 0)[0]:
        before = time.monotonic()
        answers = client.operation(i)
        now = time.monotonic()
        wrong = [repr(pair)[:300] for pair in answers
                 if pair[1] is not None and pair[0] != pair[1]]
        report["wrong"] += wrong[:10 - len(report["wrong"])]
        slot = slots.setdefault(int(now / SLOT), [0, 0.0])
        slot[0] += len(answers)
        slot[1] = max(slot[1], now - before)
        i += 1


def main():
    kind, path, name = sys.argv[1:]
    report = {"wrong": [], "error": None, "slots": {}}
    try:
        client = {"redis": Redis, "sql": Sql}[kind](path, name)
        print("ready", flush=True)
        work(client, report)
    except (OSError, ValueError) as error:
        report["error"] = str(error)
    print(json.dumps(report))


main()
