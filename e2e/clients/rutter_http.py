"""The binary as a server over HTTP that asks for a key."""

import json
import queue
import subprocess
import tempfile
import threading
from pathlib import Path

from rutter_process import HUNG, STOPS_WITHIN, binary, clean_environment

KEY = "e2e-first-key-6b1f0c52"
OTHER_KEY = "e2e-second-key-c08d9e17"
WRONG_KEY = "e2e-wrong-key-54a3f7d0"

COMMAND = ["serve", "--transport", "http", "--host", "127.0.0.1", "--port", "0", "--auth-type", "apikey"]


class HttpServer:
    """`rutter serve --transport http` on a free port. Use it as a context manager."""

    def __init__(self, files=None):
        self._files = files or {}
        self.log = []
        self._events = queue.Queue()

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="rutter-e2e-")
        self.write(self._files)
        self._process = subprocess.Popen(
            [binary(), *COMMAND],
            cwd=self._folder.name,
            env=clean_environment() | {"HOME": self._folder.name, "RUTTER_AUTH_API_KEYS": f"{KEY},{OTHER_KEY}"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self._reader = threading.Thread(target=self._read_log, daemon=True)
        self._reader.start()
        self.origin = self.logged("listening")["url"].removesuffix("/mcp")
        return self

    def __exit__(self, kind, *_):
        self._process.terminate()
        try:
            code = self._process.wait(timeout=STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._reader.join()
        self._process.stderr.close()
        self._folder.cleanup()
        # What went wrong first is what counts.
        if kind is None:
            log = b"".join(self.log).decode()
            assert code == 0, f"the server ended with {code}:\n{log}"
            for secret in (KEY, OTHER_KEY, WRONG_KEY):
                assert secret not in log, f"a secret is in the log:\n{log}"

    def _read_log(self):
        for line in self._process.stderr:
            self.log.append(line)
            self._events.put(json.loads(line))
        self._events.put(None)

    def logged(self, event):
        """Waits for the next line of the log that tells of an event."""
        while entry := self._events.get(timeout=HUNG):
            if entry["event"] == event:
                return entry
        raise AssertionError(f"the server ended without {event}; log: {self.log}")

    def write(self, files):
        """Writes files below the folder that is served."""
        for path, text in files.items():
            file = Path(self._folder.name, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
