// Claude Code adds the server and finds it healthy; neither step needs an account.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { KEY, NODE_MODULES, RUTTER, WAYS, WRONG_KEY, emptyFolder, runClient, serveWithKeys } from './support.mjs';

// The launcher that works without the package's install script having run.
const CLAUDE = join(NODE_MODULES, '@anthropic-ai/claude-code/cli-wrapper.cjs');

/** Claude Code's command line, with settings of its own. */
function claudeCode(t) {
  const home = emptyFolder(t);
  const cwd = emptyFolder(t);
  const env = {
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
  };
  return (...args) => runClient(t, process.execPath, [CLAUDE, ...args], { home, cwd, env });
}

test('Claude Code adds the server and connects to it', async (t) => {
  const claude = claudeCode(t);

  await claude('mcp', 'add', 'rutter', '--', RUTTER, 'serve');
  const { stdout } = await claude('mcp', 'list');

  assert.match(stdout, /^rutter: .*connected/im);
  assert.doesNotMatch(stdout, /failed/i);
});

for (const [way, { path }] of Object.entries(WAYS)) {
  test(`Claude Code adds the server over ${way} and connects to it with its key`, async (t) => {
    const server = await serveWithKeys(t);
    const url = new URL(path, server.origin).href;
    const claude = claudeCode(t);

    await claude('mcp', 'add', '--transport', way, 'rutter', url, '--header', `X-API-Key: ${KEY}`);
    const { stdout } = await claude('mcp', 'list');

    assert.match(stdout, /^rutter: .*connected/im);
    assert.doesNotMatch(stdout, /failed/i);
  });

  test(`Claude Code does not connect over ${way} with a wrong key`, async (t) => {
    const server = await serveWithKeys(t);
    const url = new URL(path, server.origin).href;
    const claude = claudeCode(t);

    await claude('mcp', 'add', '--transport', way, 'rutter', url, '--header', `X-API-Key: ${WRONG_KEY}`);
    const { stdout } = await claude('mcp', 'list');

    assert.doesNotMatch(stdout, /^rutter: .*connected/im);
    await server.logged('denied');
  });
}
