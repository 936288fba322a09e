"""The server as a service: readiness, a port that was opened for it, health, signals."""

import json
import signal
import socket
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from rutter_http import HttpServer
from rutter_process import HUNG, binary, clean_environment


def serving(folder, *arguments, environment=None, **options):
    """Starts a server over HTTP whose log is a pipe."""
    return subprocess.Popen(
        [binary(), "serve", "--transport", "http", "--host", "127.0.0.1", *arguments],
        cwd=folder,
        env=clean_environment() | {"HOME": str(folder)} | (environment or {}),
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        **options,
    )


def logged(server, event):
    for line in server.stderr:
        entry = json.loads(line)
        if entry["event"] == event:
            return entry
    raise AssertionError(f"the server ended without {event}")


class Service(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="rutter-e2e-")))

    def start(self, *arguments, **options):
        server = self.enterContext(serving(self.folder, *arguments, **options))
        self.addCleanup(server.kill)
        return server

    def stop(self, server):
        server.terminate()
        self.assertEqual(server.wait(HUNG), 0)

    def test_tells_the_service_manager_when_it_is_ready_and_when_it_stops(self):
        manager = self.enterContext(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM))
        manager.bind(str(self.folder / "notify"))
        manager.settimeout(HUNG)

        server = self.start("--port", "0", environment={"NOTIFY_SOCKET": str(self.folder / "notify")})
        self.assertIn(b"READY=1", manager.recv(4096).split(b"\n"))
        url = logged(server, "listening")["url"].replace("/mcp", "/health")
        with urllib.request.urlopen(url, timeout=HUNG) as answer:
            self.assertEqual(answer.status, 200)

        self.stop(server)
        # What was said before the end is still there to be read.
        manager.setblocking(False)
        self.assertIn(b"STOPPING=1", self.everything(manager))

    def everything(self, manager):
        lines = []
        try:
            while True:
                lines += manager.recv(4096).split(b"\n")
        except BlockingIOError:
            return lines

    def test_takes_the_port_that_was_opened_for_it(self):
        port = self.enterContext(socket.create_server(("127.0.0.1", 0)))
        address = port.getsockname()
        # Somebody is there before the server is, and waits.
        early = self.enterContext(socket.create_connection(address, timeout=HUNG))
        early.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

        # As a service manager does it: the port is descriptor 3, and the variables say whose it is.
        script = f'exec 3<&{port.fileno()}; export LISTEN_PID=$$; exec "$0" "$@"'
        command = [binary(), "serve", "--transport", "http", "--host", "127.0.0.1", "--port", "1"]
        server = self.enterContext(
            subprocess.Popen(
                ["bash", "-c", script, *command],
                cwd=self.folder,
                env=clean_environment() | {"HOME": str(self.folder), "LISTEN_FDS": "1"},
                pass_fds=(port.fileno(),),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
            )
        )
        self.addCleanup(server.kill)
        self.assertIn(f":{address[1]}/", logged(server, "listening")["url"])
        self.assertIn(b" 200 ", early.makefile("rb").readline())
        self.stop(server)

    def test_is_asked_for_its_health(self):
        def health(url):
            return subprocess.run([binary(), "health", url], env=clean_environment(), capture_output=True, text=True)

        with HttpServer() as server:
            # Nobody has to show a key for it.
            well = health(f"{server.origin}/health")
            self.assertEqual((well.returncode, well.stderr), (0, ""))
        gone = health(f"{server.origin}/health")
        self.assertNotEqual(gone.returncode, 0)
        self.assertNotEqual(gone.stderr, "")
        self.assertNotIn("panicked", gone.stderr)

    def test_only_get_is_public(self):
        with HttpServer() as server:
            request = urllib.request.Request(f"{server.origin}/health", method="HEAD")
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=HUNG)
            self.assertEqual(refused.exception.code, 401)

    def test_goes_on_after_sighup(self):
        server = self.start("--port", "0")
        url = logged(server, "listening")["url"].replace("/mcp", "/health")
        server.send_signal(signal.SIGHUP)
        with urllib.request.urlopen(url, timeout=HUNG) as answer:
            self.assertEqual(json.load(answer)["status"], "ok")
        self.stop(server)

    def test_stops_well_while_clients_are_connected(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number.name):
                server = self.start("--port", "0")
                origin = logged(server, "listening")["url"].removesuffix("/mcp")
                host, _, port = origin.removeprefix("http://").partition(":")
                # One has an event stream, one has said nothing yet, one is in the middle of a word.
                for sent in (b"GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n", b"", b"POST /mcp HT"):
                    client = self.enterContext(socket.create_connection((host, int(port)), timeout=HUNG))
                    client.sendall(sent)
                    if sent.startswith(b"GET"):
                        self.assertIn(b" 200 ", client.makefile("rb").readline())
                server.send_signal(number)
                self.assertEqual(server.wait(HUNG), 0)


if __name__ == "__main__":
    unittest.main()
