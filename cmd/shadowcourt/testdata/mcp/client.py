"""Asks the tool alibi of a server, with the official Python SDK: client.py SHADOWCOURT PROJECT."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    told = []

    async def progress(done, total, message):
        told.append(message)

    server = StdioServerParameters(
        command=sys.argv[1], args=["mcp", "--source", sys.argv[2], "--experiments", "all"], env=dict(os.environ)
    )
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        arguments = {"report": os.path.join(sys.argv[2], "report.json"), "culprit": True, "budget_seconds": 300}
        result = await session.call_tool("alibi", arguments, progress_callback=progress)
        text = result.content[0].text
        if result.is_error:
            sys.exit(text)
        json.dump({"told": len(told), "text": text, "answers": result.structured_content}, sys.stdout)


asyncio.run(main())
