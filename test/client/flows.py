"""Runs a shared flow by the Python client over HTTP: polled, then with progress, and reads the output that is a link.

Usage: flows.py MODE URL TOKEN. MODE is auto or legacy. Prints what the client has seen as one JSON document.
"""

import asyncio
import json
import sys

from mcp import Client


async def main(mode, url, token):
    progress = []

    async def note(amount, total, message):
        progress.append([amount, total, message])

    async with Client(url, mode=mode) as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        info = (await client.call_tool("get_flow_info", {"token": token})).structured_content
        started = (await client.call_tool("run_flow", {"token": token, "inputs": {"who": "Ada"}})).structured_content
        while True:
            polled = (await client.call_tool("get_run_status", {"job_id": started["job_id"], "token": token})).structured_content
            if polled["status"] not in ("pending", "running"):
                break
        result = await client.call_tool("run_flow", {"token": token, "inputs": {"who": "Grace"}}, progress_callback=note)
        links = [block for block in result.content if block.type == "resource_link"]
        letter = (await client.read_resource(links[0].uri)).contents[0].text
        refused = await client.call_tool("get_run_status", {"job_id": started["job_id"], "token": "AAAAAAAAAAAA"})
        assert refused.is_error, refused
        print(json.dumps({
            "revision": client.protocol_version, "tools": tools, "info": info, "started": started, "polled": polled, "progress": progress,
            "ended": result.structured_content, "letter": letter, "refused": refused.structured_content["error"]["message"],
            "links": [{"uri": str(link.uri), "name": link.name, "mimeType": link.mime_type, "size": link.size} for link in links],
        }))


asyncio.run(main(*sys.argv[1:]))
