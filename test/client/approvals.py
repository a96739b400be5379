"""Executes the workflow release by the Python client, and replies to what its run asks.

Usage: approvals.py MODE REPLIES PROGRAM. MODE is auto or legacy, REPLIES a JSON list with the reply to each question. Prints the
revision, the messages of the questions and the answer of execute as one JSON document.
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp_types import ElicitResult


async def main(mode, replies, program):
    replies, messages = json.loads(replies), []

    async def ask(context, params):
        messages.append(params.message)
        await asyncio.sleep(0.4)  # a person reads: a client that declines at once has shown the question to nobody
        return ElicitResult(**replies[len(messages) - 1])

    server = StdioServerParameters(command=program, env=dict(os.environ))
    async with Client(server, mode=mode, elicitation_callback=ask) as client:
        result = await client.call_tool("execute", {"name": "release"})
        print(json.dumps({"negotiated": client.protocol_version, "messages": messages, "answer": result.structured_content}))


asyncio.run(main(*sys.argv[1:]))
