// The official TypeScript client over HTTP: streamable HTTP in both eras, and the older pair of
// `GET /sse` and `POST /messages`. Every server asks for a key.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  GUIDE,
  KEY,
  OTHER_KEY,
  PROMPTS,
  WRONG_KEY,
  assertRefused,
  connectOver,
  everyPage,
  serveWithKeys,
  writeFiles,
} from './support.mjs';

const INVALID_PARAMS = -32602;
const MODERN = { versionNegotiation: { mode: { pin: '2026-07-28' } } };
const WAYS_AND_ERAS = [
  { way: 'http', version: '2025-11-25', options: {}, resourceNotFound: -32002 },
  { way: 'http', version: '2026-07-28', options: MODERN, resourceNotFound: INVALID_PARAMS },
  { way: 'sse', version: '2025-11-25', options: {}, resourceNotFound: -32002 },
];

for (const { way, version, options, resourceNotFound } of WAYS_AND_ERAS) {
  describe(`TypeScript client over ${way}, ${version}`, () => {
    test('finds the embedded pack and uses it', async (t) => {
      const server = await serveWithKeys(t);
      const client = await connectOver(way, server, { options });

      assert.equal(client.getNegotiatedProtocolVersion(), version);
      assert.equal(client.getServerVersion().name, 'rutter');
      const tools = await everyPage(client, 'tools/list', 'tools');
      const resources = await everyPage(client, 'resources/list', 'resources');
      const prompts = await everyPage(client, 'prompts/list', 'prompts');
      assert.ok(tools.some((tool) => tool.name === 'read'));
      assert.ok(resources.some((resource) => resource.uri === GUIDE));
      const names = prompts.map((prompt) => prompt.name);
      for (const name of PROMPTS) assert.ok(names.includes(name), `${name} in ${names}`);

      const called = await client.callTool({ name: 'read', arguments: { uri: GUIDE } });
      const read = await client.readResource({ uri: GUIDE });
      assert.ok(called.structuredContent);
      assert.equal(called.content[0].text, read.contents[0].text);
      const topic = 'where sessions are kept';
      const { messages } = await client.getPrompt({ name: 'rutter:create-adr', arguments: { topic } });
      assert.ok(messages.some((message) => message.content.text.includes(topic)), JSON.stringify(messages));
    });

    test('is told what went wrong as over stdio', async (t) => {
      const server = await serveWithKeys(t);
      const client = await connectOver(way, server, { options });

      await assertRefused(client.callTool({ name: 'no_such_tool', arguments: {} }), INVALID_PARAMS, /no_such_tool/);
      await assertRefused(client.callTool({ name: 'read', arguments: { uri: 42 } }), INVALID_PARAMS, /\/uri: /, /string/);
      await assertRefused(client.readResource({ uri: 'acdc://rutter/no/such/document' }), resourceNotFound);
    });

    test('may show its key as a bearer token', async (t) => {
      const server = await serveWithKeys(t);
      const client = await connectOver(way, server, { options, headers: { Authorization: `Bearer ${KEY}` } });

      assert.ok((await client.listTools()).tools.length > 0);
    });

    for (const [what, headers] of [['no key', {}], ['a wrong key', { 'X-API-Key': WRONG_KEY }]]) {
      test(`is refused with ${what}, and the log says so`, async (t) => {
        const server = await serveWithKeys(t);

        await assert.rejects(connectOver(way, server, { options, headers }), (error) => {
          assert.equal(error.status ?? error.code, 401, `${error.name}: ${error.message}`);
          return true;
        });
        await server.logged('denied');
      });
    }

    test('learns that a tool was added', async (t) => {
      const server = await serveWithKeys(t, { files: workflow('gather') });
      const { client, changed } = await connectWatching(way, server, options);
      const before = await toolNames(client);

      writeFiles(server.folder, workflow('gather', 'write_up'));
      await changed();

      assert.ok(before.includes('gather') && !before.includes('write_up'), `${before}`);
      assert.deepEqual((await toolNames(client)).toSorted(), [...before, 'write_up'].toSorted());
    });
  });
}

describe('TypeScript clients over HTTP, several at once', () => {
  // The client numbers its requests from zero, so all of them use the same ids.
  test('each gets its own answers', async (t) => {
    const each = 25;
    const documents = WAYS_AND_ERAS.flatMap((_, way) => [0, 1, 2].map((n) => `client-${way}-${n}`));
    const files = Object.fromEntries(documents.map((name) => [`docs/${name}.md`, `# ${name}\n\nOnly for ${name}.\n`]));
    const server = await serveWithKeys(t, { files });
    const clients = await Promise.all(
      documents.map((_, n) => {
        const { way, options } = WAYS_AND_ERAS[Math.floor(n / 3)];
        return connectOver(way, server, { options, headers: { 'X-API-Key': n % 2 === 0 ? KEY : OTHER_KEY } });
      })
    );

    const wrong = [];
    await Promise.all(
      clients.map(async (client, n) => {
        const uri = `acdc://docs/${documents[n]}`;
        const calls = Array.from({ length: each }, () => client.callTool({ name: 'read', arguments: { uri } }));
        for (const { content } of await Promise.all(calls)) {
          if (!content[0].text.includes(`Only for ${documents[n]}.`)) wrong.push([documents[n], content[0].text]);
        }
      })
    );

    assert.deepEqual(wrong, []);
  });

  test('a change reaches every one of them', async (t) => {
    const server = await serveWithKeys(t, { files: workflow('gather') });
    const watching = await Promise.all(
      [...WAYS_AND_ERAS, ...WAYS_AND_ERAS].map(({ way, options }) => connectWatching(way, server, options))
    );

    writeFiles(server.folder, workflow('gather', 'write_up'));
    await Promise.all(watching.map(({ changed }) => changed()));

    for (const { client } of watching) assert.ok((await toolNames(client)).includes('write_up'));
  });
});

describe('TypeScript client, a session over streamable HTTP', () => {
  test('takes up its stream where it was cut, and has missed nothing', async (t) => {
    const server = await serveWithKeys(t, { files: workflow('gather') });
    const line = cuttableLine();
    const { changed } = await connectWatching('http', server, {}, line.transport);
    const witness = await connectWatching('http', server, {});
    await line.open();

    line.cut();
    await line.cutNoticed();
    writeFiles(server.folder, workflow('gather', 'write_up'));
    // That the witness knows says that the server has sent it, to nobody in our case.
    await witness.changed();
    line.mend();
    await changed();

    assert.equal(line.resumedFrom.length, 1);
    assert.notEqual(line.resumedFrom[0], null, 'the client named the last event that it saw');
  });

  test('ends it, and the id is worth nothing any more', async (t) => {
    const server = await serveWithKeys(t);
    const client = await connectOver('http', server);
    const { sessionId } = client.transport;
    assert.ok(sessionId);
    assert.equal((await ping(server, sessionId)).status, 200);

    await client.transport.terminateSession();

    assert.equal((await ping(server, sessionId)).status, 404);
  });

  test('is nobody else’s: another key cannot use it', async (t) => {
    const server = await serveWithKeys(t);
    const client = await connectOver('http', server);

    assert.equal((await ping(server, client.transport.sessionId, OTHER_KEY)).status, 404);
    assert.equal((await ping(server, client.transport.sessionId)).status, 200);
  });
});

/** The files of a workflow whose prompts have these ids: each is a tool. */
function workflow(...ids) {
  const prompts = ids.map((id) => `  - {id: ${id}, title: ${id}, phase: 1, description: A step.}\n`);
  return {
    ...Object.fromEntries(ids.map((id) => [`resources/prompts/${id}.md`, `Do ${id}.\n`])),
    'resources/prompts.meta.yaml': `prompts:\n${prompts.join('')}`,
  };
}

async function toolNames(client) {
  return (await client.listTools()).tools.map((tool) => tool.name);
}

/** Connects a client that waits for the tools to change, in the way of its era. */
async function connectWatching(way, server, options, transport) {
  const heard = Promise.withResolvers();
  const onChanged = (error, tools) => (error ? heard.reject(error) : heard.resolve(tools));
  const listChanged = { tools: { onChanged, autoRefresh: false, debounceMs: 0 } };
  const client = await connectOver(way, server, { options: { ...options, listChanged }, transport });
  return { client, changed: () => heard.promise };
}

/** A `fetch` whose event stream can be cut like a bad line, and a client that comes back when told to. */
function cuttableLine() {
  const opened = Promise.withResolvers();
  const noticed = Promise.withResolvers();
  const resumedFrom = [];
  let line;
  return {
    resumedFrom,
    open: () => opened.promise,
    cut: () => line.abort(),
    cutNoticed: async () => void (await noticed.promise),
    mend: async () => (await noticed.promise)(),
    transport: {
      async fetch(url, init) {
        if (init.method !== 'GET') return fetch(url, init);
        if (line) resumedFrom.push(new Headers(init.headers).get('last-event-id'));
        line = new AbortController();
        const response = await fetch(url, { ...init, signal: AbortSignal.any([init.signal, line.signal]) });
        // The first event says where to go on from; cut before it, there is nothing to resume.
        const [body, seen] = response.body.tee();
        seen.getReader().read().then(opened.resolve, opened.reject);
        return new Response(body, response);
      },
      reconnectionScheduler: (reconnect) => noticed.resolve(reconnect),
    },
  };
}

/** A request in a session of the older era, with no client in between. */
function ping(server, sessionId, key = KEY) {
  return fetch(`${server.origin}/mcp`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      'Mcp-Session-Id': sessionId,
      'MCP-Protocol-Version': '2025-11-25',
      'X-API-Key': key,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  });
}
