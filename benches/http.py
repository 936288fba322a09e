"""Measures a server over HTTP: http.py --rutter BINARY --bare BINARY [--node NODE --typescript DIR]

Requests a second by wrk on loopback, in turns with a bare rmcp server and one on the official
TypeScript SDK, each at the same answer; then idle event streams beside active clients. Prints a
table in Markdown.
"""

import argparse
import asyncio
import json
import os
import pathlib
import re
import statistics
import subprocess
import tempfile
import time

KEY = "bench-key-0123456789abcdef"
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
CONNECTIONS, THREADS, SECONDS, ROUNDS = 8, 1, 4, 3
STREAMS, CLIENTS, CALLS = 1_000, 50, 100


def call(name, arguments):
    """A call of the newer era: headers and body."""
    params = {"name": name, "arguments": arguments, "_meta": META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/call",
        "Mcp-Name": name,
    }
    return headers, body


def older_call(server):
    """The same call in a session of the older era: headers and body."""
    headers, body = server.request
    headers = {name: value for name, value in headers.items() if not name.startswith(("Mcp-", "MCP-"))}
    client = {"name": "bench", "version": "1"}
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": opening}
    said = curl(server, headers, json.dumps(opening), "--include")
    headers["Mcp-Session-Id"] = re.search(r"(?im)^mcp-session-id: (\S+)", said).group(1)
    curl(server, headers, json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
    message = json.loads(body)
    del message["params"]["_meta"]
    return headers, json.dumps(message)


def curl(server, headers, body, *flags):
    fields = [part for name, value in headers.items() for part in ("-H", f"{name}: {value}")]
    command = ["curl", "--silent", *flags, *fields, "--data", body, server.base + "/mcp"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


class Server:
    """A server that runs until it is left."""

    def __init__(self, name, command, request, log=False, folder=None, environment=None):
        self.name, self.request = name, request
        # What it says of its address, and its log, go to a file, as they would in service.
        said = tempfile.NamedTemporaryFile("w+")
        streams = {"stderr": said, "stdout": subprocess.DEVNULL} if log else {"stdout": said, "stderr": subprocess.DEVNULL}
        environment = {**os.environ, **(environment or {})}
        self.process = subprocess.Popen(command, cwd=folder, env=environment, **streams)
        self.said = said
        while not (found := re.search(r'(http://[^/"]+)/mcp', pathlib.Path(said.name).read_text())):
            if self.process.poll() is not None:
                raise SystemExit(f"{name} did not start")
            time.sleep(0.01)
        self.base = found.group(1)

    def memory(self):
        """The resident memory, in MB."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024

    def rate(self, folder):
        """Requests a second, by wrk; an answer that is not 200 ends the bench."""
        headers, body = self.request
        lines = [f'wrk.headers["{name}"] = "{value}"' for name, value in headers.items()]
        # Ids are for one session to tell its requests apart.
        before, after = body.split('"id": 1', 1)
        count = f'n = 0\nfunction request()\nn = n + 1\nreturn wrk.format(nil, nil, nil, [==[{before}"id": ]==] .. n .. [==[{after}]==])\nend\n'
        script = pathlib.Path(folder, "request.lua")
        script.write_text('wrk.method = "POST"\n' + "\n".join(lines) + "\n" + count)
        command = ["wrk", f"-t{THREADS}", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-s", script, self.base + "/mcp"]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        if "Non-2xx" in said or "Socket errors" in said:
            raise SystemExit(f"{self.name}: {said}")
        return float(re.search(r"Requests/sec:\s+([\d.]+)", said).group(1))

    def stop(self):
        self.process.kill()
        self.process.wait()


async def exchange(reader, writer, head, body):
    """One request on an open connection; returns the answer's body."""
    writer.write(head + body)
    await writer.drain()
    length = None
    while (line := (await reader.readline()).strip()):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return await reader.readexactly(length)


def head_of(method, path, host, headers, length=0):
    fields = {"Host": host, **headers, **({"Content-Length": str(length)} if length else {})}
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/1.1\r\n{lines}\r\n".encode()


async def idle_and_active(server):
    """Opens idle streams, then calls from active clients; the time of each call, in ms."""
    host = server.base.removeprefix("http://")
    address, port = host.split(":")
    idle = []
    for _ in range(STREAMS):
        reader, writer = await asyncio.open_connection(address, port)
        writer.write(head_of("GET", "/sse", host, {"X-API-Key": KEY}))
        while b"sessionId" not in await reader.readline():
            pass
        idle.append((reader, writer))
    headers, body = server.request
    body = body.encode()
    head = head_of("POST", "/mcp", host, headers, len(body))
    times = []

    async def client():
        reader, writer = await asyncio.open_connection(address, port)
        for _ in range(CALLS):
            began = time.perf_counter()
            answer = await exchange(reader, writer, head, body)
            times.append((time.perf_counter() - began) * 1_000)
            assert b'"result"' in answer, answer
        writer.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    memory = server.memory()
    for _, writer in idle:
        writer.close()
    return sorted(times), memory


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rutter", required=True)
    parser.add_argument("--bare", required=True)
    parser.add_argument("--node")
    parser.add_argument("--typescript")
    arguments = parser.parse_args()
    arguments.rutter, arguments.bare = (str(pathlib.Path(path).resolve()) for path in (arguments.rutter, arguments.bare))
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "rutter.yaml").write_text("http: {limits: {sessions: 2000}}\n")
        secret = {"RUTTER_AUTH_API_KEYS": KEY}
        headers, body = call("get_rules_spec", {})
        headers["X-API-Key"] = KEY
        command = [arguments.rutter, "serve", "--transport", "http", "--port", "0", "--host", "127.0.0.1"]
        command += ["--auth-type", "apikey"]
        rutter = Server("rutter", command, (headers, body), log=True, folder=folder, environment=secret)
        servers = [rutter]
        try:
            size = answer_size(rutter)
            echo = call("echo", {"text": "x", "times": size})
            servers.append(Server("bare rmcp", [arguments.bare], echo))
            if arguments.typescript:
                script = pathlib.Path(arguments.typescript, "http.mjs")
                servers.append(Server("TypeScript SDK", [arguments.node, script], echo))
            report(servers, size, folder)
            times, memory = asyncio.run(idle_and_active(rutter))
            p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
            print(f"\n{STREAMS:,} idle event streams and {CLIENTS} active clients with {CALLS} calls each: "
                  f"median {p50:.1f} ms, p99 {p99:.1f} ms (bar 100), {memory:.0f} MB resident (bar 200).")
        finally:
            for server in servers:
                server.stop()


def answer_size(server):
    """How long the text of the answer is: the others answer with as much."""
    result = json.loads(curl(server, *server.request))["result"]
    assert not result.get("isError"), result
    return len(result["content"][0]["text"])


def measured(servers, folder):
    """The median rate of each."""
    rates = {server.name: [] for server in servers}
    # In turns, so that what the machine does meanwhile hits all of them.
    for _ in range(ROUNDS):
        for server in servers:
            rates[server.name].append(server.rate(folder))
    return {name: statistics.median(rate) for name, rate in rates.items()}


def report(servers, size, folder):
    rates = measured(servers, folder)
    ours = rates["rutter"]
    print(f"`tools/call` over streamable HTTP, wrk with {CONNECTIONS} connections, answers of {size:,} characters:\n")
    print("| server | requests a second | Rutter's rate is |\n|---|---:|---:|")
    for server in servers:
        rate = rates[server.name]
        ratio = "" if server.name == "rutter" else f"{ours / rate:.2f} times that"
        shown = "rutter, with a key" if server.name == "rutter" else server.name
        print(f"| {shown} | {rate:,.0f} | {ratio} |")
    newer = [server.request for server in servers]
    pair = servers[:2]
    for server in pair:
        server.request = older_call(server)
    older = measured(pair, folder)
    for server, request in zip(servers, newer):
        server.request = request
    ours, bare = older["rutter"], older["bare rmcp"]
    print(f"\nThe same in one session of the older era: {ours:,.0f} requests a second, "
          f"{ours / bare:.2f} times those of bare rmcp.")


if __name__ == "__main__":
    main()
