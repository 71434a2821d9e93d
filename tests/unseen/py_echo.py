# SPDX-License-Identifier: GPL-2.0-or-later
#
# A server of asyncio and its clients: each says a few lines in a second or two,
# and goes.
import asyncio
import random
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
random.seed(1)


async def echo(reader, writer):
    while line := await reader.readline():
        writer.write(line)
        await writer.drain()
    writer.close()


async def client(port):
    reader, writer = await asyncio.open_connection('127.0.0.1', port)
    for number in range(random.randrange(1, 6)):
        writer.write(b'line %d\n' % number)
        await reader.readline()
        await asyncio.sleep(random.random() / 2)
    writer.close()
    await writer.wait_closed()


async def main():
    server = await asyncio.start_server(echo, '127.0.0.1', 0)
    port = server.sockets[0].getsockname()[1]
    clients = set()
    while time.monotonic() < ends:
        if len(clients) < 8:
            task = asyncio.create_task(client(port))
            clients.add(task)
            task.add_done_callback(clients.discard)
        await asyncio.sleep(0.1)
    await asyncio.gather(*clients)
    server.close()


asyncio.run(main())
