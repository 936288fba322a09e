"""What a client is told when it is refused."""

from mcp import MCPError


class Refusals:
    """For tests of the Python client."""

    async def assert_refused(self, call, code, *words):
        with self.assertRaises(MCPError) as refusal:
            await call
        error = refusal.exception.error
        self.assertEqual(error.code, code, error)
        for word in words:
            self.assertIn(word, error.message)
