"""SQLite FTS5 on the same corpus and queries: fts5.py CORPUS QUERIES -> one line of JSON."""

import json
import pathlib
import re
import sqlite3
import sys
import tempfile
import time

corpus, queries = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    database = sqlite3.connect(pathlib.Path(folder) / "fts5.db")
    database.execute(
        "create virtual table pages using fts5(path unindexed, title, body, tokenize='porter unicode61')"
    )
    pages = [(str(page), page.read_text()) for page in pathlib.Path(corpus).rglob("*.md")]
    started = time.perf_counter()
    with database:
        database.executemany(
            "insert into pages values (?, ?, ?)",
            ((path, re.search(r'title: "(.*)"', text).group(1), text) for path, text in pages),
        )
    indexing = time.perf_counter() - started
    times = []
    for query in pathlib.Path(queries).read_text().splitlines():
        words = re.findall(r"\w+", query)
        started = time.perf_counter()
        database.execute(
            "select path, snippet(pages, 2, '**', '**', '…', 20) from pages where pages match ?"
            " order by bm25(pages, 0, 2, 1) limit 10",
            (" OR ".join(f'"{word}"' for word in words),),
        ).fetchall()
        times.append((time.perf_counter() - started) * 1000)
times.sort()
print(json.dumps({
    "version": sqlite3.sqlite_version,
    "indexing": indexing * 1000,
    "p50": times[len(times) // 2],
    "p99": times[len(times) * 99 // 100],
}))
