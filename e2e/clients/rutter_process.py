"""The binary as a process: bytes in, JSON-RPC lines out, log lines beside them."""

import json
import os
import queue
import subprocess
import tempfile
import threading

# How long a test waits before it calls the server hung. Never a measure of speed.
HUNG = 60
# The promise is two seconds; the tests allow for a busy machine.
STOPS_WITHIN = 5

END = object()


def binary():
    """The path of the built binary; scripts/e2e sets it."""
    return os.environ["RUTTER_BIN"]


def clean_environment():
    """What the server inherits: nothing that could configure it."""
    return {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}


class RutterProcess:
    """`rutter serve` in an empty folder. Use it as a context manager."""

    def __init__(self):
        self.log = []
        self._next_id = 0
        self._messages = queue.Queue()

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="rutter-e2e-")
        self._process = subprocess.Popen(
            [binary(), "serve"],
            cwd=self._folder.name,
            env=clean_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._readers = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        return self

    def __exit__(self, *_):
        self._process.kill()
        self._process.wait()
        for reader in self._readers:
            reader.join()
        if not self._process.stdin.closed:
            try:
                self._process.stdin.close()
            except BrokenPipeError:
                pass  # what was still buffered has no reader any more
        self._process.stdout.close()
        self._process.stderr.close()
        self._folder.cleanup()

    def _read_stdout(self):
        for line in self._process.stdout:
            self._messages.put(line)
        self._messages.put(END)

    def _read_stderr(self):
        for line in self._process.stderr:
            self.log.append(line)

    def send_bytes(self, data):
        self._process.stdin.write(data)
        self._process.stdin.flush()

    def send_line(self, line):
        self.send_bytes(line + b"\n")

    def send(self, message):
        self.send_line(json.dumps(message).encode())

    def request(self, method, params=None):
        """Sends a request and returns its id, without waiting."""
        self._next_id += 1
        request_id = f"test-{self._next_id}"
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if params is not None:
            message["params"] = params
        self.send(message)
        return request_id

    def receive(self):
        """The next message, or END. Whatever is on stdout must be JSON-RPC."""
        line = self._messages.get(timeout=HUNG)
        if line is END:
            return END
        message = json.loads(line)
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            raise AssertionError(f"not a JSON-RPC message on stdout: {line[:200]!r}")
        return message

    def receive_answer(self, request_id):
        """Waits for the answer to a request; returns it and the messages that came before it."""
        before = []
        while True:
            message = self.receive()
            if message is END:
                raise AssertionError(f"the server ended instead of answering; log: {self.log}")
            if message.get("id") == request_id:
                return message, before
            before.append(message)

    def call(self, method, params=None):
        return self.receive_answer(self.request(method, params))

    def initialize(self):
        """The older era's handshake; returns the answer and what came before it."""
        answer = self.call(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "rutter-e2e", "version": "1.0.0"},
            },
        )
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def close_stdin(self):
        self._process.stdin.close()

    def send_signal(self, signal_number):
        self._process.send_signal(signal_number)

    def receive_rest(self):
        """Every message until the server closes its stdout."""
        return list(iter(self.receive, END))

    def wait(self):
        """The exit code of a server that was told to stop."""
        code = self._process.wait(timeout=STOPS_WITHIN)
        for reader in self._readers:
            reader.join()
        return code
