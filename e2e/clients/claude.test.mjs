// Claude Code adds the server and finds it healthy; neither step needs an account.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';

import { NODE_MODULES, RUTTER, emptyFolder, runClient } from './support.mjs';

// The launcher that works without the package's install script having run.
const CLAUDE = join(NODE_MODULES, '@anthropic-ai/claude-code/cli-wrapper.cjs');

test('Claude Code adds the server and connects to it', async (t) => {
  const home = emptyFolder(t);
  const cwd = emptyFolder(t);
  const env = {
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    DISABLE_ERROR_REPORTING: '1',
    DISABLE_TELEMETRY: '1',
  };
  const claude = (...args) => runClient(t, process.execPath, [CLAUDE, ...args], { home, cwd, env });

  await claude('mcp', 'add', 'rutter', '--', RUTTER, 'serve');
  const { stdout } = await claude('mcp', 'list');

  assert.match(stdout, /^rutter: .*connected/im);
  assert.doesNotMatch(stdout, /failed/i);
});
