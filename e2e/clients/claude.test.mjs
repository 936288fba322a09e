// Claude Code adds the server and finds it healthy; neither step needs an account.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  CLAUDE,
  KEY,
  RUTTER,
  WAYS,
  WRONG_KEY,
  claudeEnvironment,
  emptyFolder,
  runClient,
  serveWithKeys,
} from './support.mjs';

/** Claude Code's command line, with a home of its own. */
function claudeCode(t) {
  const home = emptyFolder(t);
  const cwd = emptyFolder(t);
  const env = claudeEnvironment(home);
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
