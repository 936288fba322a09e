"""The official Python client over HTTP: streamable HTTP in both eras, and `sse_client`."""

import asyncio
import unittest
from contextlib import asynccontextmanager

import httpx2
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp_types import INVALID_PARAMS, ToolListChangedNotification

from refusals import Refusals
from rutter_http import KEY, OTHER_KEY, WRONG_KEY, HttpServer
from rutter_process import HUNG

GUIDE = "acdc://rutter/guides/getting-started"

# Transport, the client's mode, the protocol version that it leads to, the code for a missing resource.
WAYS = {
    "http, older era": ("http", "legacy", "2025-11-25", -32002),
    "http, newer era": ("http", "auto", "2026-07-28", INVALID_PARAMS),
    "sse": ("sse", "legacy", "2025-11-25", -32002),
}


@asynccontextmanager
async def connect(way, server, headers=None, **options):
    """Connects the client to a server, in one of the WAYS."""
    transport, mode, _, _ = WAYS[way]
    headers = {"X-API-Key": KEY} if headers is None else headers
    if transport == "sse":
        async with Client(sse_client(f"{server.origin}/sse", headers=headers), mode=mode, **options) as client:
            yield client
        return
    async with create_mcp_http_client(headers=headers) as http:
        streams = streamable_http_client(f"{server.origin}/mcp", http_client=http)
        async with Client(streams, mode=mode, **options) as client:
            yield client


def workflow(*ids):
    """The files of a workflow whose prompts have these ids: each is a tool."""
    prompts = "".join(f"  - {{id: {id}, title: {id}, phase: 1, description: A step.}}\n" for id in ids)
    texts = {f"resources/prompts/{id}.md": f"Do {id}.\n" for id in ids}
    return texts | {"resources/prompts.meta.yaml": f"prompts:\n{prompts}"}


async def tool_names(client):
    return {tool.name for tool in (await client.list_tools()).tools}


def reasons(error):
    """The exceptions inside a group: the client's task groups wrap whatever went wrong."""
    if isinstance(error, BaseExceptionGroup):
        return [reason for inner in error.exceptions for reason in reasons(inner)]
    return [error]


class PythonClientOverHttp(Refusals, unittest.IsolatedAsyncioTestCase):
    async def each_way(self, story, **server_options):
        for way in WAYS:
            with self.subTest(way), HttpServer(**server_options) as server:
                async with asyncio.timeout(HUNG):
                    await story(way, server)

    async def test_finds_the_embedded_pack_and_uses_it(self):
        async def story(way, server):
            _, _, version, resource_not_found = WAYS[way]
            async with connect(way, server) as client:
                self.assertEqual(client.protocol_version, version)
                self.assertEqual(client.server_info.name, "rutter")
                self.assertIn("read", await tool_names(client))
                called = await client.call_tool("read", {"uri": GUIDE})
                read = await client.read_resource(GUIDE)
                self.assertEqual(called.content[0].text, read.contents[0].text)
                self.assertIsNotNone(called.structured_content)
                topic = "where sessions are kept"
                prompt = await client.get_prompt("rutter:create-adr", {"topic": topic})
                self.assertTrue(any(topic in message.content.text for message in prompt.messages), prompt)
                await self.assert_refused(client.call_tool("no_such_tool", {}), INVALID_PARAMS, "no_such_tool")
                missing = client.read_resource("acdc://rutter/no/such/document")
                await self.assert_refused(missing, resource_not_found)

        await self.each_way(story)

    async def test_is_refused_without_the_right_key(self):
        async def story(way, server):
            for headers in ({}, {"X-API-Key": WRONG_KEY}):
                with self.assertRaises(Exception) as refusal:
                    async with connect(way, server, headers):
                        pass
                for reason in reasons(refusal.exception):
                    # Streamable HTTP tells of an error response, and not of which.
                    self.assertIsInstance(reason, (MCPError, httpx2.HTTPStatusError))
                    if isinstance(reason, httpx2.HTTPStatusError):
                        self.assertEqual(reason.response.status_code, 401)
                server.logged("denied")

        await self.each_way(story)

    async def test_ends_its_session_without_a_complaint(self):
        # The client takes 200 and 204 for an answer to its DELETE, and warns of anything else.
        with HttpServer() as server, self.assertNoLogs("mcp", "WARNING"):
            async with connect("http, older era", server) as client:
                await client.list_tools()

    async def test_several_at_once_get_their_own_answers(self):
        # The client numbers its requests from one, so all of them use the same ids.
        names = [f"client-{n}" for n in range(3 * len(WAYS))]
        files = {f"docs/{name}.md": f"# {name}\n\nOnly for {name}.\n" for name in names}

        async def work(way, server, name, key):
            async with connect(way, server, {"X-API-Key": key}) as client:
                calls = [client.call_tool("read", {"uri": f"acdc://docs/{name}"}) for _ in range(20)]
                for answer in await asyncio.gather(*calls):
                    self.assertIn(f"Only for {name}.", answer.content[0].text)

        with HttpServer(files) as server:
            async with asyncio.timeout(HUNG), asyncio.TaskGroup() as group:
                for n, name in enumerate(names):
                    way = list(WAYS)[n % len(WAYS)]
                    group.create_task(work(way, server, name, (KEY, OTHER_KEY)[n % 2]))

    async def test_learns_that_a_tool_was_added(self):
        async def story(way, server):
            heard = asyncio.Event()

            async def listen(message):
                if isinstance(message, ToolListChangedNotification):
                    heard.set()

            async with connect(way, server, message_handler=listen) as client:
                self.assertNotIn("write_up", await tool_names(client))
                if client.protocol_version >= "2026-07-28":
                    async with client.listen(tools_list_changed=True) as changes:
                        server.write(workflow("gather", "write_up"))
                        await anext(aiter(changes))
                else:
                    server.write(workflow("gather", "write_up"))
                    await heard.wait()
                self.assertIn("write_up", await tool_names(client))

        await self.each_way(story, files=workflow("gather"))


if __name__ == "__main__":
    unittest.main()
