// What the Node tests share: where the binary is, a folder to run it in, a connected client.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

assert.ok(process.env.RUTTER_BIN, 'RUTTER_BIN must name the built binary; scripts/e2e sets it');
export const RUTTER = process.env.RUTTER_BIN;
export const NODE_MODULES = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules');

/** A document and a prompt of the embedded pack, which an empty folder is served. */
export const GUIDE = 'acdc://rutter/guides/getting-started';
export const PROMPTS = ['rutter:create-adr', 'rutter:review-code-against-patterns', 'rutter:suggest-patterns'];

/** Makes an empty folder that goes away with the test. */
export function emptyFolder(t) {
  const folder = mkdtempSync(join(tmpdir(), 'rutter-e2e-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts the binary in an empty folder and connects the official client to it. */
export async function connect(t, options = {}) {
  const transport = new StdioClientTransport({ command: RUTTER, args: ['serve'], cwd: emptyFolder(t), stderr: 'pipe' });
  const log = [];
  transport.stderr.on('data', (chunk) => log.push(chunk));
  const client = new Client({ name: 'rutter-e2e', version: '1.0.0' }, options);
  t.after(async () => {
    await client.close();
    if (!t.passed) t.diagnostic(`the server's log:\n${Buffer.concat(log)}`);
  });
  await client.connect(transport);
  return client;
}

/** The keys of the servers below, and one that none of them knows. */
export const KEY = 'e2e-first-key-6b1f0c52';
export const OTHER_KEY = 'e2e-second-key-c08d9e17';
export const WRONG_KEY = 'e2e-wrong-key-54a3f7d0';

const SECRETS = [KEY, OTHER_KEY, WRONG_KEY];

/** How a client reaches a server over HTTP: where, and with which of the official transports. */
export const WAYS = {
  http: { path: '/mcp', Transport: StreamableHTTPClientTransport },
  sse: { path: '/sse', Transport: SSEClientTransport },
};

/** Writes files below a folder: `{ 'docs/a.md': 'text' }`. */
export function writeFiles(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/**
 * Serves a folder over HTTP on a free port until the test ends, and checks that it then stops as
 * it should. Nothing but what is given here configures the server.
 */
export async function serve(t, { args = [], env = {}, files = {} } = {}) {
  const folder = emptyFolder(t);
  writeFiles(folder, files);
  const child = spawn(RUTTER, ['serve', '--transport', 'http', '--host', '127.0.0.1', '--port', '0', ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: emptyFolder(t), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log = [];
  const clients = [];
  const ended = once(child, 'exit');
  const lines = createInterface({ input: child.stderr });
  lines.on('line', (line) => log.push(line));
  const logEnded = once(lines, 'close');
  t.after(async () => {
    await Promise.allSettled(clients.map((client) => client.close()));
    child.kill('SIGTERM');
    const [code, signal] = await ended;
    await logEnded;
    const everything = log.join('\n');
    if (!t.passed) t.diagnostic(`the server's log:\n${everything}`);
    assert.equal(code, 0, `the server ended with ${code ?? signal}`);
    for (const secret of SECRETS) assert.ok(!everything.includes(secret), `a secret is in the log:\n${everything}`);
  });

  /** Waits for the first line of the log that tells of an event. */
  async function logged(event) {
    const tells = (line) => line.includes(`"event":"${event}"`);
    while (!log.some(tells)) {
      const more = await Promise.race([once(lines, 'line'), logEnded.then(() => null)]);
      assert.ok(more || log.some(tells), `the server ended without ${event}:\n${log.join('\n')}`);
    }
    return JSON.parse(log.find(tells));
  }
  const { url } = await logged('listening');
  return { folder, clients, logged, process: child, origin: new URL(url).origin };
}

/** The same for callers who show a key. */
export function serveWithKeys(t, { args = [], env = {}, ...options } = {}) {
  const keys = { RUTTER_AUTH_API_KEYS: `${KEY},${OTHER_KEY}`, ...env };
  return serve(t, { args: ['--auth-type', 'apikey', ...args], env: keys, ...options });
}

/** Connects the official client to a server over HTTP. */
export async function connectOver(way, server, { headers = { 'X-API-Key': KEY }, options = {}, transport = {} } = {}) {
  const { path, Transport } = WAYS[way];
  const connection = new Transport(new URL(path, server.origin), { requestInit: { headers }, ...transport });
  const client = new Client({ name: 'rutter-e2e', version: '1.0.0' }, options);
  server.clients.push(client);
  await client.connect(connection);
  return client;
}

/** Walks one list page by page, as a client without the SDK's own walk would. */
export async function everyPage(client, method, key) {
  const items = [];
  let cursor;
  do {
    const page = await client.request({ method, params: cursor === undefined ? {} : { cursor } });
    items.push(...page[key]);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return items;
}

/** Asserts that a call is refused with a JSON-RPC error of this code, and with these words. */
export async function assertRefused(call, code, ...words) {
  await assert.rejects(call, (error) => {
    assert.equal(error.code, code, `${error.name}: ${error.message}`);
    for (const word of words) assert.match(error.message, word);
    return true;
  });
}

/** Claude Code's launcher that works without the package's install script having run. */
export const CLAUDE = join(NODE_MODULES, '@anthropic-ai/claude-code/cli-wrapper.cjs');

/** What keeps Claude Code to itself: settings of its own, and no word to anybody else. */
export function claudeEnvironment(home) {
  return {
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
  };
}

/**
 * Runs a command line client with a home of its own, so that it neither reads nor writes the
 * developer's settings; the environment is built from nothing for the same reason.
 */
export async function runClient(t, command, args, extra = {}) {
  const home = extra.home ?? emptyFolder(t);
  const env = { PATH: process.env.PATH, HOME: home, NO_COLOR: '1', ...extra.env };
  try {
    return await promisify(execFile)(command, args, { cwd: extra.cwd ?? home, env, encoding: 'utf8' });
  } catch (error) {
    error.message = `${error.message}\nstdout:\n${error.stdout}\nstderr:\n${error.stderr}`;
    throw error;
  }
}
