"""The main job by the Python client, with the toolset drafts: browse, write, describe, run what fails, mend, resume, save, run.

Usage: main_job.py MODE LOG PROGRAM. MODE is auto or legacy, LOG a file that the workflow writes to. Prints the revision and
the bytes of each answer as one JSON document. A path and a duration count as much as short ones do, wherever the home is and however
busy the machine.
"""

import asyncio
import json
import os
import re
import sys

from mcp import Client, StdioServerParameters


def report(log, second):
    return json.dumps({
        "description": "A report in three steps",
        "inputs": {"title": {"type": "string", "description": "what stands before the lines"}},
        "nodes": [
            {"id": "first", "type": "shell", "params": {"command": f"echo one line >> '{log}'"}},
            {"id": "second", "type": "shell", "params": {"command": second}},
            {"id": "third", "type": "shell", "params": {"command": 'printf "%s: %s" "${title}" "${second.stdout}"'}},
        ],
        "edges": [{"from": "first", "to": "second"}, {"from": "second", "to": "third"}],
        "outputs": {"report": {"description": "the title and the lines", "source": "${third.stdout}"}},
    })


async def main(mode, log, program):
    server = StdioServerParameters(command=program, args=["--toolsets", "core,drafts"], env=dict(os.environ))
    answers = []
    async with Client(server, mode=mode) as client:

        async def call(tool, fails=False, **arguments):
            result = await client.call_tool(tool, arguments)
            answer = result.model_dump_json(by_alias=True, exclude_none=True).replace(os.path.dirname(log), "/home/ada")
            answers.append({"tool": tool, "bytes": len(re.sub(r'(duration_ms\\*": ?)[0-9.]+', r"\g<1>1.25", answer))})
            assert bool(result.is_error) == fails, result
            return result.structured_content

        found = await call("browse_components", query="shell", limit=1)
        assert found["nodes"][0]["type"] == "shell", found
        written = await call("write_draft", name="report", content=report(log, f"cat '{log}.missing'"))
        assert written["valid"], written
        described = await call("describe_workflow", name="report")
        assert described["inputs"]["title"]["required"], described
        failed = await call("execute", fails=True, name="report", inputs={"title": "Said"})
        assert failed["error"]["node"] == "second", failed
        assert failed["checkpoint"]["completed_nodes"] == ["first"], failed
        await call("write_draft", name="report", content=report(log, f"cat '{log}'"))
        resumed = await call("execute", name="report", resume=failed["checkpoint"]["run_id"])
        assert resumed["outputs"]["report"] == "Said: one line", resumed
        await call("save_to_library", draft_name="report", final_name="line-report", description="Reports the lines of a file")
        again = await call("execute", name="line-report", inputs={"title": "Said"})
        assert again["outputs"]["report"] == "Said: one line\none line", again

        prompts = {p.name for p in (await client.list_prompts()).prompts}
        assert prompts == {"write-workflow", "mend-run"}, prompts
        quiet = await client.read_resource("pflow://runs/last/logs/first")
        assert quiet.contents[0].text == "", quiet
        guide = await client.read_resource("pflow://guide")
        assert "nodes" in guide.contents[0].text
        print(json.dumps({"revision": client.protocol_version, "answers": answers}))


asyncio.run(main(*sys.argv[1:]))
