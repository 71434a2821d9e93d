# SPDX-License-Identifier: GPL-2.0-or-later
#
# Tasks of asyncio that wait for an answer. One answer in eight never comes, and
# nobody has thought of a time limit.
import asyncio
import random
import sys
import time

ends = time.monotonic() + float(sys.argv[1])
random.seed(1)
waiting = set()


async def ask(answer):
    request = bytearray(300)
    await answer
    return len(request)


async def main():
    loop = asyncio.get_running_loop()
    while time.monotonic() < ends:
        answer = loop.create_future()
        task = asyncio.create_task(ask(answer))
        waiting.add(task)
        task.add_done_callback(waiting.discard)
        if random.randrange(8):
            loop.call_later(0.2, answer.set_result, None)
        await asyncio.sleep(0.02)


asyncio.run(main())
