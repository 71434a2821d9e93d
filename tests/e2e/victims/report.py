# SPDX-License-Identifier: GPL-2.0-or-later
"""Asks the server at a socket; told "late", it loads its client library
only when a line comes in."""
import sys


def connect(path):
    import MySQLdb
    return MySQLdb.connect(unix_socket=path, user="root")


def sales(db):
    cursor = db.cursor()
    cursor.execute("SELECT sleep(1)")
    return cursor.fetchall()


if sys.argv[2:] == ["late"]:
    print("waiting", flush=True)
    sys.stdin.readline()
database = connect(sys.argv[1])
while True:
    sales(database)
    print("round", flush=True)
