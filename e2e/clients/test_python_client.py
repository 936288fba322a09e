"""The official Python client against the binary, in both eras of the protocol."""

import json
import tempfile
import unittest
from contextlib import asynccontextmanager
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import INVALID_PARAMS, PromptReference, ResourceTemplateReference

from refusals import Refusals
from rutter_process import binary

GUIDE = "acdc://rutter/guides/getting-started"
PROMPTS = {"rutter:create-adr", "rutter:review-code-against-patterns", "rutter:suggest-patterns"}
ERAS = {"legacy": ("2025-11-25", -32002), "auto": ("2026-07-28", INVALID_PARAMS)}


@asynccontextmanager
async def connect(mode, traces):
    """Starts the binary in an empty folder and connects the client to it.

    The client keeps the process to itself, so the server's log and, by way of a shell
    in between, its exit code are left in the folder `traces`.
    """
    with tempfile.TemporaryDirectory(prefix="rutter-e2e-") as empty, open(traces / "log", "w") as log:
        server = StdioServerParameters(
            command="sh",
            args=["-c", '"$0" serve; echo $? >"$1"', binary(), str(traces / "exit-code")],
            cwd=empty,
        )
        async with Client(stdio_client(server, errlog=log), mode=mode) as client:
            yield client


async def every_page(list_page, key):
    items, cursor = [], None
    while True:
        page = await list_page(cursor=cursor)
        items += getattr(page, key)
        cursor = page.next_cursor
        if cursor is None:
            return items


class PythonClient(Refusals, unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        self.traces = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="rutter-e2e-")))

    async def each_era(self, story):
        """Tells the story in both eras; each time the server must end well by itself."""
        for mode, (version, resource_not_found) in ERAS.items():
            with self.subTest(version):
                async with connect(mode, self.traces) as client:
                    self.assertEqual(client.protocol_version, version)
                    await story(client, resource_not_found)
                self.assert_ended_well()

    def assert_ended_well(self):
        # A leaving client closes the server's input, and kills only what stays.
        self.assertEqual((self.traces / "exit-code").read_text().strip(), "0")
        (self.traces / "exit-code").unlink()
        last_line = (self.traces / "log").read_text().splitlines()[-1]
        self.assertEqual(json.loads(last_line)["event"], "server_stop")

    async def test_lists_the_embedded_pack(self):
        async def story(client, _):
            self.assertEqual(client.server_info.name, "rutter")
            tools = await every_page(client.list_tools, "tools")
            resources = await every_page(client.list_resources, "resources")
            templates = await every_page(client.list_resource_templates, "resource_templates")
            prompts = await every_page(client.list_prompts, "prompts")
            self.assertIn("read", {tool.name for tool in tools})
            self.assertIn(GUIDE, {str(resource.uri) for resource in resources})
            self.assertNotEqual(templates, [])
            self.assertLessEqual(PROMPTS, {prompt.name for prompt in prompts})

        await self.each_era(story)

    async def test_reads_a_document(self):
        async def story(client, _):
            called = await client.call_tool("read", {"uri": GUIDE})
            self.assertFalse(called.is_error, called)
            self.assertNotEqual(called.content[0].text, "")
            self.assertIsNotNone(called.structured_content)
            read = await client.read_resource(GUIDE)
            self.assertNotEqual(read.contents[0].text, "")

        await self.each_era(story)

    async def test_gets_a_prompt(self):
        async def story(client, _):
            topic = "where sessions are kept"
            prompt = await client.get_prompt("rutter:create-adr", {"topic": topic})
            self.assertTrue(any(topic in message.content.text for message in prompt.messages), prompt)

        await self.each_era(story)

    async def test_completes(self):
        async def story(client, _):
            template = (await client.list_resource_templates()).resource_templates[0].uri_template
            variable = template.partition("{")[2].partition("}")[0].lstrip("+")
            for_template = ResourceTemplateReference(uri=template)
            for_prompt = PromptReference(name="rutter:create-adr")
            offered = [
                await client.complete(for_template, {"name": variable, "value": ""}),
                await client.complete(for_prompt, {"name": "topic", "value": ""}),
            ]
            self.assertTrue(any(answer.completion.values for answer in offered), offered)

        await self.each_era(story)

    async def test_is_refused_what_does_not_exist(self):
        async def story(client, resource_not_found):
            await self.assert_refused(client.call_tool("no_such_tool", {}), INVALID_PARAMS, "no_such_tool")
            await self.assert_refused(client.call_tool("read", {"uri": 42}), INVALID_PARAMS, "/uri: ", "string")
            await self.assert_refused(client.get_prompt("rutter:no-such-prompt"), INVALID_PARAMS)
            missing = client.read_resource("acdc://rutter/no/such/document")
            await self.assert_refused(missing, resource_not_found)

        await self.each_era(story)


if __name__ == "__main__":
    unittest.main()
