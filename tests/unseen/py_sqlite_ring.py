# SPDX-License-Identifier: GPL-2.0-or-later
#
# A table in memory that keeps the last four hundred events; elder ones are
# deleted as new ones come.
import sqlite3
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
base = sqlite3.connect(':memory:')
base.execute('create table events (number integer primary key, what text)')
number = 0
while time.monotonic() < ends:
    number += 1
    base.execute('insert into events values (?, ?)',
                 (number, 'what has happened %d' % number * 5))
    base.execute('delete from events where number <= ?', (number - 400,))
    if number % 10 == 0:
        base.commit()
        base.execute('select count(*) from events').fetchone()
    time.sleep(0.015)
