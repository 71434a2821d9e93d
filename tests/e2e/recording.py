# SPDX-License-Identifier: GPL-2.0-or-later
"""Reads recordings. Written from calltrap.recording(5) alone."""

import ctypes
import ctypes.util
import struct
import zlib


class Bad(Exception):
    pass


def zstandard():
    name = ctypes.util.find_library("zstd")
    if not name:
        return None
    library = ctypes.CDLL(name)
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t,
                                        ctypes.c_char_p, ctypes.c_size_t]
    return library


ZSTD = zstandard()


def expand(stored, size):
    room = ctypes.create_string_buffer(size)
    if ZSTD.ZSTD_decompress(room, size, stored, len(stored)) != size:
        raise Bad("a frame can't be expanded")
    return room.raw


class Numbers:
    """A row of numbers and texts."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self):
        value = shift = 0
        while True:
            if self.at >= len(self.data):
                raise Bad("a number ends early")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def difference(self):
        number = self.number()
        return -(number + 1 >> 1) if number & 1 else number >> 1

    def text(self):
        size = self.number()
        if size > len(self.data) - self.at:
            raise Bad("a text ends early")
        self.at += size
        return self.data[self.at - size:self.at]


def checked(data, size):
    if len(data) < size:
        raise EOFError
    (crc,) = struct.unpack("<I", data[size - 4:size])
    if crc != zlib.crc32(data[:size - 4]):
        raise Bad("a CRC is wrong")


class Block:
    def __init__(self, data, at):
        head = data[at:at + 52]
        if len(head) < 52:
            raise EOFError
        checked(head, 52)
        (magic, kind, flags, _, self.sequence, stored, size, self.count,
         self.first, self.last, crc, _, _) = struct.unpack("<4sBBHIIIIQQIII",
                                                           head)
        self.kind = chr(kind)
        self.end = at + 52 + stored
        bytes_ = data[at + 52:self.end]
        if magic != b"CBLK" or size > 16 << 20:
            raise Bad("no block")
        if len(bytes_) < stored:
            raise EOFError
        if crc != zlib.crc32(bytes_):
            raise Bad("a block's CRC is wrong")
        self.data = expand(bytes_, size) if flags & 1 else bytes_
        if len(self.data) != size:
            raise Bad("a block's size is wrong")


def blocks(data):
    """All up to the index, or up to where the file was cut."""
    checked(data, 40)
    if data[:8] != b"CTRECORD" or struct.unpack_from("<IH", data, 8) != (
            0x01020304, 1):
        raise Bad("no recording of version 1")
    at, sequence = 40, 0
    while True:
        try:
            block = Block(data, at)
        except EOFError:
            return
        if block.sequence != sequence:
            raise Bad("a block is missing")
        block.at = at
        yield block
        if block.kind == "I":
            return
        at, sequence = block.end, sequence + 1


PROCESS, THREAD, FAMILY, FUNCTION, CODE, FRAME, STACK, SITE, NAMES = range(1,
                                                                          10)


class Dictionary:
    def __init__(self):
        self.entries = {kind: {} for kind in range(1, 10)}

    def add(self, block):
        row = Numbers(block.data)
        for _ in range(block.count):
            kind, rest = row.number(), Numbers(row.text())
            number = rest.number()
            if kind in self.entries:
                self.entries[kind][number] = getattr(self, f"read{kind}")(rest)

    @staticmethod
    def read1(row):
        return {"pid": row.number(), "start": row.number(),
                "flags": row.number(), "program": row.text(),
                "name": row.text()}

    @staticmethod
    def read2(row):
        return {"process": row.number(), "tid": row.number(),
                "name": row.text()}

    @staticmethod
    def read3(row):
        return {"name": row.text(), "unit": row.text(),
                "flags": row.number(), "granularity": row.number()}

    @staticmethod
    def read4(row):
        return {"family": row.number(), "act": row.number(),
                "flags": row.number(), "name": row.text(),
                "form": row.text()}

    @staticmethod
    def read5(row):
        return {"path": row.text(), "flags": row.number(),
                "build_id": row.text()}

    @staticmethod
    def read6(row):
        return {"code": row.number(), "address": row.number(),
                "method": row.number()}

    @staticmethod
    def read7(row):
        return {"outer": row.number(), "frame": row.number()}

    @staticmethod
    def read8(row):
        return {"function": row.number(), "stack": row.number()}

    @staticmethod
    def read9(row):
        return [{"function": row.text(), "linkage": row.text(),
                 "offset": row.number(), "file": row.text(),
                 "line": row.number(), "start_line": row.number(),
                 "inlined": row.number() & 1}
                for _ in range(row.number())]

    def function(self, event):
        site = self.entries[SITE][event["site"]]
        return self.entries[FUNCTION][site["function"]]

    def tid(self, event):
        return self.entries[THREAD][event["thread"]]["tid"]

    def names(self, event):
        """Functions, the innermost first; inlined ones, too."""
        found = []
        stack = self.entries[SITE][event["site"]]["stack"]
        while stack:
            entry = self.entries[STACK][stack]
            found += [name["function"]
                      for name in self.entries[NAMES][entry["frame"]]]
            stack = entry["outer"] - 3 if entry["outer"] > 3 else 0
        return found


ENTRY, RETURN, CALL, BEGIN, END, ABANDON, NOTE = range(7)
MASK = (1 << 64) - 1


class Events:
    def __init__(self, block):
        row = Numbers(block.data)
        self.columns = [Numbers(row.text()) for _ in range(row.number())]
        self.count = block.count
        self.last = {1: 0, 4: 0, 7: 0, 9: 0}
        self.named = []

    def take(self, column):
        return self.columns[column].number()

    def add(self, column):
        self.last[column] = (self.last[column] +
                             self.columns[column].difference()) & MASK
        return self.last[column]

    def handle(self):
        ago = self.take(8)
        if ago > len(self.named):
            raise Bad("no such handle")
        self.named.append(self.named[-ago] if ago else self.add(9))
        return self.named[-1]

    def __iter__(self):
        for _ in range(self.count):
            yield self.event()

    def event(self):
        head = self.take(0)
        kind = head & 7
        event = {"kind": kind, "failed": bool(head & 8),
                 "unkept": bool(head & 16), "further": bool(head & 32),
                 "time": self.add(1)}
        if kind == CALL:
            event["wait"] = self.take(2)
        if kind in (RETURN, CALL, END):
            event["duration"] = self.take(3)
            event["correction"] = self.add(4)
        if kind == NOTE:
            event["note"], event["body"] = (self.take(14),
                                            self.columns[14].text())
            return event
        event["thread"], event["site"] = self.take(5), self.take(6)
        event["call"] = self.add(7) if head & 2048 else 0
        event["old"] = self.handle() if head & 128 else 0
        event["handle"] = self.handle() if head & 64 else 0
        event["count"] = self.take(12) if head & 1024 else 0
        event["item"] = self.take(13) if head & 1024 else 0
        event["size"] = self.take(10) if head & 256 else 0
        event["old_size"] = self.take(11) if head & 512 else 0
        return event


def read(path):
    """The dictionary of a whole file, and its events."""
    with open(path, "rb") as file:
        data = file.read()
    dictionary, events, index, seen = Dictionary(), [], None, []
    for block in blocks(data):
        if block.kind == "D":
            dictionary.add(block)
        elif block.kind == "E":
            events += Events(block)
        else:
            index = block
            break
        seen.append((block.at, block.kind, block.count, block.first,
                     block.last))
    return dictionary, events, read_index(index), seen


def read_index(block):
    if not block:
        return None
    row, at, first, found = Numbers(block.data), 0, 0, []
    for _ in range(block.count):
        at += row.number()
        kind, count = chr(row.number()), row.number()
        first = first + row.difference() & MASK
        found.append((at, kind, count, first, first + row.number()))
    return found
