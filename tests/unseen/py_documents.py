# SPDX-License-Identifier: GPL-2.0-or-later
#
# Documents become trees whose nodes know their parents. When one has been
# answered for it is dropped, and the collector of cycles finds it.
import random
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
random.seed(1)


class Node:
    def __init__(self, parent, text):
        self.parent = parent
        self.children = []
        self.text = text
        if parent:
            parent.children.append(self)


def read(number):
    root = Node(None, 'document %d' % number)
    for i in range(6):
        part = Node(root, 'part %d' % i)
        for k in range(random.randrange(4)):
            Node(part, 'line %d of part %d' % (k, i))
    return root


def count(node):
    return 1 + sum(map(count, node.children))


number = 0
while time.monotonic() < ends:
    count(read(number))
    number += 1
    time.sleep(0.1)
