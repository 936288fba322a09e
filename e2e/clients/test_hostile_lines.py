"""Lines that no client should send: each gets its error or is ignored, and the server goes on."""

import json
import unittest

from rutter_process import RutterProcess

PARSE_ERROR = -32700
INVALID_REQUEST = -32600


def ping(**changes):
    """A ping with id 7, changed; a value of None leaves the key out."""
    message = {"jsonrpc": "2.0", "id": 7, "method": "ping"} | changes
    return json.dumps({key: value for key, value in message.items() if value is not None}).encode()


def ping_with(value):
    """A ping whose parameters carry these bytes as a JSON value."""
    return b'{"jsonrpc":"2.0","id":7,"method":"ping","params":{"_meta":{"x":' + value + b"}}}"


# What is sent, the error's code, and the id that the answer bears: the request's
# own where it can be told, null where it cannot.
ANSWERED = {
    "malformed JSON": (b'{"jsonrpc":"2.0","id":7,', PARSE_ERROR, None),
    "no JSON at all": (b"hello", PARSE_ERROR, None),
    "two values on a line": (ping() + b" " + ping(), PARSE_ERROR, None),
    "bad UTF-8": (ping_with(b'"\xff\xfe"'), PARSE_ERROR, None),
    "overlong UTF-8": (ping_with(b'"\xc0\xaf"'), PARSE_ERROR, None),
    "NUL in a string": (ping_with(b'"\x00"'), PARSE_ERROR, None),
    "lone high surrogate": (ping_with(rb'"\ud800"'), PARSE_ERROR, None),
    "lone low surrogate": (ping_with(rb'"\udc00"'), PARSE_ERROR, None),
    "nested 10,000 deep": (ping_with(b"[" * 10_000 + b"]" * 10_000), PARSE_ERROR, None),
    "nested and never closed": (b"[" * 1_000_000, PARSE_ERROR, None),
    "20 MB": (ping_with(b'"' + b"a" * 20_000_000 + b'"'), PARSE_ERROR, None),
    "a batch": (b"[" + ping() + b"]", INVALID_REQUEST, None),
    "an empty batch": (b"[]", INVALID_REQUEST, None),
    "a string": (b'"ping"', INVALID_REQUEST, None),
    "a number": (b"7", INVALID_REQUEST, None),
    "null": (b"null", INVALID_REQUEST, None),
    "an empty object": (b"{}", INVALID_REQUEST, None),
    "no jsonrpc": (ping(jsonrpc=None), INVALID_REQUEST, 7),
    "jsonrpc 1.0": (ping(jsonrpc="1.0"), INVALID_REQUEST, 7),
    "no method": (ping(method=None), INVALID_REQUEST, 7),
    "method not a string": (ping(method=42), INVALID_REQUEST, 7),
    "id an object": (ping(id={"a": 1}), INVALID_REQUEST, None),
    "id an array": (ping(id=[7]), INVALID_REQUEST, None),
    "id a boolean": (ping(id=True), INVALID_REQUEST, None),
    "id null": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', INVALID_REQUEST, None),
}

IGNORED = {
    "an empty line": b"",
    "blanks": b" \t ",
    "an empty line, CRLF": b"\r",
    "an unknown notification": b'{"jsonrpc":"2.0","method":"notifications/no_such_thing"}',
    "a known notification about nothing": (
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never-asked"}}'
    ),
    "a result nobody asked for": b'{"jsonrpc":"2.0","id":7,"result":{}}',
    "an error nobody asked for": b'{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"x"}}',
}


class HostileLines(unittest.TestCase):
    """Every line is tried on a server of its own, before and after the handshake, and all on one."""

    def replies_before_handshake(self, server, line):
        server.send_line(line)
        answer, before = server.initialize()
        self.assertIn("result", answer)
        return before

    def replies_after_handshake(self, server, line):
        server.initialize()
        return self.replies_in_session(server, line)

    def replies_in_session(self, server, line):
        """What the server says to the line; that it still answers a ping is part of the check."""
        server.send_line(line)
        answer, before = server.call("ping")
        self.assertEqual(answer.get("result"), {})
        return before

    def assert_ends_well(self, server):
        server.close_stdin()
        self.assertEqual(server.receive_rest(), [])
        self.assertEqual(server.wait(), 0)

    def assert_error(self, replies, code, request_id):
        self.assertEqual(len(replies), 1, f"exactly one reply, got {replies}")
        reply = replies[0]
        self.assertEqual(reply.get("error", {}).get("code"), code, reply)
        self.assertIn("id", reply)
        self.assertEqual(reply["id"], request_id, reply)
        self.assertNotEqual(reply["error"]["message"], "")

    def check(self, line, expect):
        for replies_to in (self.replies_before_handshake, self.replies_after_handshake):
            with self.subTest(when=replies_to.__name__), RutterProcess() as server:
                expect(replies_to(server, line))
                self.assert_ends_well(server)

    def test_each_bad_line_gets_its_error(self):
        for name, (line, code, request_id) in ANSWERED.items():
            with self.subTest(line=name):
                self.check(line, lambda replies: self.assert_error(replies, code, request_id))

    def test_what_needs_no_answer_gets_none(self):
        for name, line in IGNORED.items():
            with self.subTest(line=name):
                self.check(line, lambda replies: self.assertEqual(replies, []))

    def test_one_server_survives_them_all(self):
        with RutterProcess() as server:
            server.initialize()
            for name, (line, code, request_id) in ANSWERED.items():
                with self.subTest(line=name):
                    self.assert_error(self.replies_in_session(server, line), code, request_id)
            for name, line in IGNORED.items():
                with self.subTest(line=name):
                    self.assertEqual(self.replies_in_session(server, line), [])
            self.assert_ends_well(server)


class UnusualLines(unittest.TestCase):
    """Lines that are odd but say what they mean."""

    def test_carriage_return_before_the_newline(self):
        with RutterProcess() as server:
            server.initialize()
            server.send_line(ping() + b"\r")
            answer, before = server.receive_answer(7)
            self.assertEqual(answer.get("result"), {})
            self.assertEqual(before, [])

    def test_byte_order_mark_is_answered_one_way_or_the_other(self):
        # RFC 8259 lets a reader skip the mark or refuse the text; silence is neither.
        with RutterProcess() as server:
            server.initialize()
            server.send_line(b"\xef\xbb\xbf" + ping())
            reply = server.receive()
            if "error" in reply:
                self.assertEqual((reply["error"]["code"], reply["id"]), (PARSE_ERROR, None))
            else:
                self.assertEqual((reply["result"], reply["id"]), ({}, 7))
            self.assertEqual(server.call("ping")[0].get("result"), {})

    def test_last_line_without_its_newline(self):
        with RutterProcess() as server:
            server.initialize()
            server.send_bytes(b'{"jsonrpc":"2.0","id":7,')
            server.close_stdin()
            for reply in server.receive_rest():
                self.assertEqual((reply["error"]["code"], reply["id"]), (PARSE_ERROR, None))
            self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    unittest.main()
