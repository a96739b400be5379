"""Lists the tools of a server by the Python client, and prints them as a JSON list with their names and input schemas.

Usage: list_tools.py MODE PROGRAM ARGUMENT…. MODE is auto or legacy.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def main(mode, program, *args):
    server = StdioServerParameters(command=program, args=list(args), env=dict(os.environ))
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
    print(json.dumps([{"name": t.name, "inputSchema": t.input_schema} for t in tools]))


asyncio.run(main(*sys.argv[1:]))
