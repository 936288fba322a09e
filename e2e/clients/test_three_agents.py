"""Three clients with three recipes on one project, and a person who watches the board."""

import asyncio
import json
import subprocess
import tempfile
import unittest
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from rutter_process import HUNG, binary, clean_environment

TASKS = 25


class ThreeAgents(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.project = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="rutter-e2e-")))
        self.rutter("init", "--with", "board", "--title", "Three", "--no-content")

    def rutter(self, *arguments):
        command = [binary(), *arguments]
        done = subprocess.run(command, cwd=self.project, env=clean_environment(), capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    @asynccontextmanager
    async def session(self, *arguments):
        """Prepares a session and starts its server as a client's configuration says."""
        prepared = json.loads(self.rutter("session", "prepare", "--json", *arguments))
        config = json.loads((self.project / prepared["mcp_config"]).read_text())
        (server,) = config["mcpServers"].values()
        parameters = StdioServerParameters(command=server["command"], args=server["args"], cwd=str(self.project))
        with open(self.project / "log", "a") as log:
            async with Client(stdio_client(parameters, errlog=log), mode="auto") as client:
                yield client

    async def call(self, client, tool, **arguments):
        result = await client.call_tool(tool, arguments)
        self.assertFalse(result.is_error, result.content)
        return result.structured_content

    async def test_lose_nothing_and_see_only_their_tools(self):
        async def plan():
            async with self.session("--recipe", "braindump") as client:
                await self.call(client, "create_feature", name="search", display_name="Search")
                await self.call(
                    client, "create_discipline", name="engine", display_name="Engine", icon="E", color="#123456"
                )
                for number in range(TASKS):
                    await self.call(
                        client, "create_task", feature="search", discipline="engine", title=f"Task {number}"
                    )

        async def each_task(client, work):
            """Works on every task as soon as it is there."""
            for task in range(1, TASKS + 1):
                while True:
                    found = await client.call_tool("get_task", {"id": task})
                    if not found.is_error:
                        break
                    await asyncio.sleep(0.02)
                await work(task)

        async def execute():
            async with self.session("--recipe", "task_execution") as client:
                with self.assertRaises(MCPError):
                    await client.call_tool("delete_task", {"id": 1})

                async def work(task):
                    await self.call(client, "set_task_status", id=task, status="in_progress")
                    await self.call(client, "add_task_comment", task_id=task, body="done well", author="worker")
                    await self.call(client, "set_task_status", id=task, status="done")
                    await self.call(client, "append_progress", text=f"did {task}")

                await each_task(client, work)

        async def review():
            async with self.session("--recipe", "opus_review") as client:
                with self.assertRaises(MCPError):
                    await client.call_tool("delete_feature", {"name": "search"})

                async def work(task):
                    await self.call(client, "update_task", id=task, priority="high")
                    await self.call(client, "add_task_comment", task_id=task, body="looked at it", author="reviewer")

                await each_task(client, work)

        async def watch():
            while True:
                self.rutter("board", "stats")
                await asyncio.sleep(0.1)

        watching = asyncio.create_task(watch())
        await asyncio.wait_for(asyncio.gather(plan(), execute(), review()), HUNG)
        watching.cancel()

        board = [json.loads(self.rutter("board", "show", str(task), "--json")) for task in range(1, TASKS + 1)]
        self.assertEqual({task["status"] for task in board}, {"done"})
        self.assertEqual({task["priority"] for task in board}, {"high"})
        self.assertEqual([len(task["comments"]) for task in board], [2] * TASKS)
        progress = (self.project / ".ralph/progress.txt").read_text()
        for task in range(1, TASKS + 1):
            self.assertIn(f"did {task}", progress)
        self.rutter("board", "integrity")
        log = self.rutter("board", "log", "--limit", "1000")
        for session in ("braindump", "task_execution", "opus_review"):
            self.assertIn(session, log)


if __name__ == "__main__":
    unittest.main()
