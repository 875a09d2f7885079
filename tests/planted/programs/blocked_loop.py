# SPDX-License-Identifier: MIT
"""A client that sleeps, called by a coroutine: nobody else in the event loop goes on meanwhile; the fixed one awaits."""
import asyncio
import time

import planted


class Client:
    """Keeps to a rate, as clients of others' services do."""

    def ask(self, number):
        time.sleep(0.02)
        return number

    async def ask_and_wait(self, number):
        await asyncio.sleep(0.02)
        return number


async def handle(client, number, waits):
    return await client.ask_and_wait(number) if waits else client.ask(number)


async def all_of_them(waits):
    client = Client()
    return sum(await asyncio.gather(*[handle(client, number, waits) for number in range(100)]))


planted.main(lambda: asyncio.run(all_of_them(False)), lambda: asyncio.run(all_of_them(True)))
