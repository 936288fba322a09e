"""A built binary, serving over HTTP for as long as a suite needs it."""

import os
import secrets
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import contextmanager
from pathlib import Path

STARTS_WITHIN = 30
STOPS_WITHIN = 10


class NotServing(Exception):
    """The binary ended or never opened its port; the message carries its log."""


@contextmanager
def serving(binary, log_file):
    """Serves the embedded pack from an empty folder on a free port; yields the endpoint."""
    with started(binary, log_file) as url:
        yield url


@contextmanager
def serving_with_key(node, binary, log_file):
    """The same for callers who show a key, and a proxy that shows it; yields the proxy's endpoint."""
    key = secrets.token_urlsafe(24)
    proxy_log = log_file.with_name("proxy.log")
    with started(binary, log_file, ["--auth-type", "apikey"], {"RUTTER_AUTH_API_KEYS": key}) as url:
        refuses_without_key(url)
        command = [node, Path(__file__).with_name("key-proxy.mjs"), url]
        environment = os.environ | {"RUTTER_KEY": key}
        with open(proxy_log, "wb") as log:
            proxy = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            endpoint = proxy.stdout.readline().strip()
            if not endpoint:
                raise NotServing(f"the proxy did not start:\n{proxy_log.read_text()}")
            yield endpoint
        finally:
            stop(proxy)
            proxy.stdout.close()


def refuses_without_key(url):
    """A suite that passes because nobody asked for the key would prove nothing."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, data=b"{}", headers=headers, method="POST")
    try:
        urllib.request.urlopen(request, timeout=STARTS_WITHIN)
    except urllib.error.HTTPError as answer:
        answer.close()
        if answer.code == 401:
            return
    raise NotServing("the server let a request pass that showed no key")


@contextmanager
def started(binary, log_file, arguments=(), environment=None):
    port = free_port()
    command = [binary, "serve", "--transport", "http", "--host", "127.0.0.1", "--port", str(port), *arguments]
    environment = os.environ | (environment or {})
    with tempfile.TemporaryDirectory(prefix="rutter-conformance-") as folder, open(log_file, "wb") as log:
        server = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
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
