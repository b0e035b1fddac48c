#!/usr/bin/env python3
"""Connections that only stand there, and clients that are slow: held until standard input ends.

    idle.py ADDRESS PORT IDLE SLOW

IDLE connections have asked once and then keep silent; SLOW ones send the head of a request a byte a
second. Prints a line when all of them stand.
"""

import asyncio
import resource
import sys


async def idle(address, port):
    reader, writer = await asyncio.open_connection(address, port)
    writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    await reader.readuntil(b"\r\n\r\n")
    return writer


async def slow(address, port):
    while True:
        try:
            _, writer = await asyncio.open_connection(address, port)
            for byte in b"GET /v1/search?q=ferry HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"y" * 1000:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(1)
        except OSError:
            # The service has had enough of it; the next one comes.
            pass


async def main():
    address, port, idles, slows = sys.argv[1], *map(int, sys.argv[2:5])
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    held = []
    for start in range(0, idles, 200):
        count = min(200, idles - start)
        held += await asyncio.gather(*(idle(address, port) for _ in range(count)))
    tasks = [asyncio.create_task(slow(address, port)) for _ in range(slows)]
    print(len(held) + len(tasks), "connections stand", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    # Ended without saying goodbye to each of them.
    sys.stdout.flush()
    import os

    os._exit(0)


asyncio.run(main())
