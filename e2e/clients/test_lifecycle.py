"""How the process starts and stops, and what it logs on the way."""

import datetime
import json
import signal
import unittest

from rutter_process import RutterProcess

STOPS = {
    "end of input": RutterProcess.close_stdin,
    "SIGINT": lambda server: server.send_signal(signal.SIGINT),
    "SIGTERM": lambda server: server.send_signal(signal.SIGTERM),
}


class Lifecycle(unittest.TestCase):
    def assert_log(self, lines):
        """Every line is a JSON object with the agreed keys; start is first and stop is last."""
        entries = [json.loads(line) for line in lines]
        for entry in entries:
            self.assertLessEqual({"ts", "level", "event", "msg"}, entry.keys(), entry)
            moment = datetime.datetime.fromisoformat(entry["ts"])
            self.assertEqual(moment.utcoffset(), datetime.timedelta(0), entry)
        events = [entry["event"] for entry in entries]
        self.assertEqual(events[0], "server_start", events)
        self.assertEqual(events[-1], "server_stop", events)

    def test_each_way_to_stop_ends_cleanly(self):
        for name, stop in STOPS.items():
            with self.subTest(name), RutterProcess() as server:
                server.initialize()
                # An answer after the handshake: the server is in its loop, not still starting.
                server.call("ping")
                stop(server)
                self.assertEqual(server.wait(), 0)
                self.assertEqual(server.receive_rest(), [])
                self.assert_log(server.log)

    def test_end_of_input_before_any_message(self):
        with RutterProcess() as server:
            server.close_stdin()
            self.assertEqual(server.wait(), 0)
            self.assertEqual(server.receive_rest(), [])
            self.assert_log(server.log)

    def test_what_was_asked_before_the_end_is_answered(self):
        # `printf … | rutter serve`: the input ends long before the answers are out.
        with RutterProcess() as server:
            server.initialize()
            asked = [server.request("tools/list"), server.request("resources/list"), server.request("ping")]
            server.close_stdin()
            answered = [reply["id"] for reply in server.receive_rest() if "result" in reply]
            self.assertCountEqual(answered, asked)
            self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    unittest.main()
