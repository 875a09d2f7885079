# SPDX-License-Identifier: MIT
"""Coroutines that fetch 40 objects from a server that answers after 50 ms: each is awaited before the next one begins; or twenty at once."""
import asyncio
import os

import planted

PORT = int(os.environ.get("PLANTED_PORT", "0"))


async def fetch(number):
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)  # planted here
    writer.write(b"GET %d\n" % number)  # planted here
    answer = await reader.read(65536)  # planted here
    writer.close()
    return answer


async def in_turn():
    for number in range(40):
        await fetch(number)


async def at_once():
    for first in (0, 20):
        await asyncio.gather(*(fetch(number) for number in range(first, first + 20)))


def bad():
    asyncio.run(in_turn())  # planted here, as far as anybody sees it from the loop that waits


def fixed():
    asyncio.run(at_once())


planted.main(bad, fixed)
