// What the Node tests share: where the binary is, a folder to run it in, a connected client.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { Client } from '@modelcontextprotocol/client';
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
