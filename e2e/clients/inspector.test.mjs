// The official Inspector in its command line mode: what a server's author checks with first.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { GUIDE, NODE_MODULES, PROMPTS, RUTTER, emptyFolder, runClient } from './support.mjs';

const INSPECTOR = join(NODE_MODULES, '@modelcontextprotocol/inspector/clients/launcher/build/index.js');

/** Runs one method and returns what the Inspector printed. */
async function inspect(t, era, ...args) {
  const folder = emptyFolder(t);
  const options = ['--cwd', folder, '--protocol-era', era, '--format', 'json', ...args];
  const { stdout } = await runClient(t, process.execPath, [INSPECTOR, '--cli', RUTTER, 'serve', ...options]);
  return JSON.parse(stdout);
}

for (const era of ['legacy', 'modern']) {
  describe(`Inspector, ${era} era`, () => {
    // --strict ends with an error where a schema is wrong; a finding short of that still means
    // a client in the field that rejects the tool or misreads it.
    test('has nothing to say against the tool schemas', async (t) => {
      const { result, schemaFindings } = await inspect(t, era, '--method', 'tools/list', '--strict');

      assert.ok(result.tools.some((tool) => tool.name === 'read'));
      assert.deepEqual(schemaFindings ?? [], []);
    });

    test('lists resources', async (t) => {
      const { result } = await inspect(t, era, '--method', 'resources/list');

      assert.ok(result.resources.some((resource) => resource.uri === GUIDE));
    });

    test('lists prompts', async (t) => {
      const { result } = await inspect(t, era, '--method', 'prompts/list');

      const names = result.prompts.map((prompt) => prompt.name);
      for (const name of PROMPTS) assert.ok(names.includes(name), `${name} in ${names}`);
    });

    test('calls a tool', async (t) => {
      const call = ['--method', 'tools/call', '--tool-name', 'read', '--tool-arg', `uri=${GUIDE}`];
      const { result } = await inspect(t, era, ...call);

      assert.notEqual(result.content[0].text, '');
      assert.ok(result.structuredContent);
    });
  });
}
