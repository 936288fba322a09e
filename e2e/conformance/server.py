"""A built binary, serving over HTTP for as long as a suite needs it."""

import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager

STARTS_WITHIN = 30
STOPS_WITHIN = 10


class NotServing(Exception):
    """The binary ended or never opened its port; the message carries its log."""


@contextmanager
def serving(binary, log_file):
    """Serves the embedded pack from an empty folder on a free port; yields the endpoint."""
    port = free_port()
    command = [binary, "serve", "--transport", "http", "--host", "127.0.0.1", "--port", str(port)]
    with tempfile.TemporaryDirectory(prefix="rutter-conformance-") as folder, open(log_file, "wb") as log:
        server = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            wait_for_port(server, port, log_file)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            stop(server)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for_port(server, port, log_file):
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise NotServing(f"the server ended with {server.returncode}:\n{log_file.read_text()}")
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise NotServing(f"the server did not open its port in {STARTS_WITHIN} s:\n{log_file.read_text()}")


def stop(server):
    server.terminate()
    try:
        server.wait(timeout=STOPS_WITHIN)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
