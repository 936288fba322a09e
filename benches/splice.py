"""Puts the figures on standard input into a page: splice.py PAGE NAME, between its markers."""

import pathlib
import sys

path, name = sys.argv[1:]
page = pathlib.Path(path).read_text()
begin, end = f"<!-- figures of {name}: begin (written by scripts/bench {name} --write) -->", f"<!-- figures of {name}: end -->"
before, rest = page.split(begin)
_, after = rest.split(end)
pathlib.Path(path).write_text(f"{before}{begin}\n\n{sys.stdin.read().strip()}\n\n{end}{after}")
