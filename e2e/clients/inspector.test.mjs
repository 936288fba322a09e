// The official Inspector in its command line mode: what a server's author checks with first.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import {
  GUIDE,
  KEY,
  NODE_MODULES,
  PROMPTS,
  RUTTER,
  WAYS,
  WRONG_KEY,
  emptyFolder,
  runClient,
  serveWithKeys,
} from './support.mjs';

const INSPECTOR = join(NODE_MODULES, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');

/** Runs one method and returns what the Inspector printed. */
async function inspect(t, { way, era }, ...args) {
  const target = way === 'stdio' ? [RUTTER, 'serve', '--cwd', emptyFolder(t)] : overHttp(way, await serveWithKeys(t), KEY);
  return JSON.parse(await inspectTarget(t, era, target, args));
}

async function inspectTarget(t, era, target, args) {
  const options = ['--protocol-era', era, '--format', 'json', ...args];
  const { stdout } = await runClient(t, process.execPath, [INSPECTOR, '--cli', ...target, ...options]);
  return stdout;
}

/** How to name a server over HTTP. Without a login in a browser: who is refused, is refused. */
function overHttp(way, server, key) {
  const url = new URL(WAYS[way].path, server.origin).href;
  return [url, '--transport', way, '--header', `X-API-Key: ${key}`, '--stored-auth-only'];
}

// The older pair knows the older era alone.
const TARGETS = [
  { way: 'stdio', era: 'legacy' },
  { way: 'stdio', era: 'modern' },
  { way: 'http', era: 'legacy' },
  { way: 'http', era: 'modern' },
  { way: 'sse', era: 'legacy' },
];

for (const target of TARGETS) {
  describe(`Inspector over ${target.way}, ${target.era} era`, () => {
    // --strict ends with an error where a schema is wrong; a finding short of that still means
    // a client in the field that rejects the tool or misreads it.
    test('has nothing to say against the tool schemas', async (t) => {
      const { result, schemaFindings } = await inspect(t, target, '--method', 'tools/list', '--strict');

      assert.ok(result.tools.some((tool) => tool.name === 'read'));
      assert.deepEqual(schemaFindings ?? [], []);
    });

    test('lists resources', async (t) => {
      const { result } = await inspect(t, target, '--method', 'resources/list');

      assert.ok(result.resources.some((resource) => resource.uri === GUIDE));
    });

    test('lists prompts', async (t) => {
      const { result } = await inspect(t, target, '--method', 'prompts/list');

      const names = result.prompts.map((prompt) => prompt.name);
      for (const name of PROMPTS) assert.ok(names.includes(name), `${name} in ${names}`);
    });

    test('calls a tool', async (t) => {
      const call = ['--method', 'tools/call', '--tool-name', 'read', '--tool-arg', `uri=${GUIDE}`];
      const { result } = await inspect(t, target, ...call);

      assert.notEqual(result.content[0].text, '');
      assert.ok(result.structuredContent);
    });

    if (target.way === 'stdio') return;
    test('is refused with a wrong key', async (t) => {
      const server = await serveWithKeys(t);
      const refused = inspectTarget(t, target.era, overHttp(target.way, server, WRONG_KEY), ['--method', 'tools/list']);

      await assert.rejects(refused, /401|auth_required/);
      await server.logged('denied');
    });
  });
}
