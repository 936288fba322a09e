// The official TypeScript client against the binary, in both eras of the protocol.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { GUIDE, PROMPTS, assertRefused, connect, everyPage } from './support.mjs';

const INVALID_PARAMS = -32602;
const ERAS = [
  { version: '2025-11-25', options: {}, resourceNotFound: -32002 },
  {
    version: '2026-07-28',
    options: { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    resourceNotFound: INVALID_PARAMS,
  },
];
const LISTS = [
  { method: 'tools/list', key: 'tools', id: 'name', walk: 'listTools' },
  { method: 'resources/list', key: 'resources', id: 'uri', walk: 'listResources' },
  { method: 'resources/templates/list', key: 'resourceTemplates', id: 'uriTemplate', walk: 'listResourceTemplates' },
  { method: 'prompts/list', key: 'prompts', id: 'name', walk: 'listPrompts' },
];

for (const era of ERAS) {
  describe(`TypeScript client, ${era.version}`, () => {
    test('learns who it talks to and what there is', async (t) => {
      const client = await connect(t, era.options);

      assert.equal(client.getNegotiatedProtocolVersion(), era.version);
      assert.equal(client.getServerVersion().name, 'rutter');
      assert.match(client.getServerVersion().version, /^\d+\.\d+\.\d+/);
      const capabilities = client.getServerCapabilities();
      for (const name of ['tools', 'resources', 'prompts', 'completions']) {
        assert.ok(capabilities[name], `capability ${name} in ${JSON.stringify(capabilities)}`);
      }
    });

    for (const { method, key, id, walk } of LISTS) {
      test(`walks ${method} to its end`, async (t) => {
        const client = await connect(t, era.options);

        const paged = await everyPage(client, method, key);
        const walked = (await client[walk]())[key];

        const ids = paged.map((item) => item[id]);
        assert.ok(ids.length > 0, 'the list is not empty');
        assert.equal(new Set(ids).size, ids.length, `no duplicates in ${ids}`);
        assert.deepEqual(walked.map((item) => item[id]), ids);
      });

      test(`refuses a cursor it never gave to ${method}`, async (t) => {
        const client = await connect(t, era.options);

        await assertRefused(client[walk]({ cursor: 'no such cursor' }), INVALID_PARAMS);
      });
    }

    test('finds the embedded pack in the lists', async (t) => {
      const client = await connect(t, era.options);

      const { tools } = await client.listTools();
      const { resources } = await client.listResources();
      const { prompts } = await client.listPrompts();

      assert.ok(tools.some((tool) => tool.name === 'read'));
      assert.ok(resources.some((resource) => resource.uri === GUIDE));
      const names = prompts.map((prompt) => prompt.name);
      for (const name of PROMPTS) assert.ok(names.includes(name), `${name} in ${names}`);
    });

    test('reads every listed resource, and every document by tool as well', async (t) => {
      const client = await connect(t, era.options);
      // With the tools listed, the client checks structuredContent against outputSchema itself.
      await client.listTools();

      const { resources } = await client.listResources();
      assert.ok(resources.some(({ uri }) => uri.startsWith('rutter://pack/')), 'prompts of the workflow');
      for (const { uri } of resources) {
        const { contents } = await client.readResource({ uri });
        assert.equal(contents[0].uri, uri);
        assert.notEqual(contents[0].text, '');
        if (!uri.startsWith('acdc://')) continue;

        const called = await client.callTool({ name: 'read', arguments: { uri } });
        assert.ok(!called.isError, `${uri}: ${JSON.stringify(called.content)}`);
        assert.equal(called.content[0].type, 'text');
        assert.notEqual(called.content[0].text, '');
        assert.ok(called.structuredContent, `${uri} comes with structuredContent`);
      }
    });

    test('gets a prompt with its argument filled in', async (t) => {
      const client = await connect(t, era.options);

      const topic = 'where sessions are kept';
      const { messages } = await client.getPrompt({ name: 'rutter:create-adr', arguments: { topic } });

      assert.ok(messages.length > 0);
      assert.ok(messages.some((message) => message.content.text.includes(topic)), JSON.stringify(messages));
    });

    test('completes what a template or a prompt leaves open', async (t) => {
      const client = await connect(t, era.options);

      const completed = await completionsOffered(client);

      assert.ok(completed.some(({ values }) => values.length > 0), JSON.stringify(completed));
    });

    test('refuses an unknown tool', async (t) => {
      const client = await connect(t, era.options);

      await assertRefused(client.callTool({ name: 'no_such_tool', arguments: {} }), INVALID_PARAMS, /no_such_tool/);
    });

    test('refuses an unknown prompt and a missing argument', async (t) => {
      const client = await connect(t, era.options);

      await assertRefused(client.getPrompt({ name: 'rutter:no-such-prompt' }), INVALID_PARAMS, /no-such-prompt/);
      await assertRefused(client.getPrompt({ name: 'rutter:create-adr' }), INVALID_PARAMS, /topic/);
    });

    test('answers a missing document and an escape with the same words', async (t) => {
      const client = await connect(t, era.options);

      const messages = [];
      for (const uri of ['acdc://rutter/no/such/document', 'acdc://rutter/../../etc/passwd', 'nonsense://x']) {
        await assert.rejects(client.readResource({ uri }), (error) => {
          assert.equal(error.code, era.resourceNotFound, `${uri}: ${error.message}`);
          messages.push(error.message);
          return true;
        });
      }
      assert.equal(new Set(messages).size, 1, messages.join('\n'));
    });

    test('names the path and the reason of a bad argument', async (t) => {
      const client = await connect(t, era.options);

      await assertRefused(client.callTool({ name: 'read', arguments: { uri: 42 } }), INVALID_PARAMS, /\/uri: /, /string/);
      await assertRefused(client.callTool({ name: 'read', arguments: {} }), INVALID_PARAMS, /uri/);
    });
  });
}

describe('TypeScript client, choosing a version', () => {
  test('settles on the newest when left to probe', async (t) => {
    const client = await connect(t, { versionNegotiation: { mode: 'auto' } });

    assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
    assert.equal(client.getProtocolEra(), 'modern');
  });

  for (const version of ['2024-11-05', '2025-03-26', '2025-06-18']) {
    test(`is given ${version} when it asks for it`, async (t) => {
      const client = await connect(t, { supportedProtocolVersions: [version] });

      assert.equal(client.getNegotiatedProtocolVersion(), version);
      assert.ok((await client.listTools()).tools.length > 0);
    });
  }
});

/** Asks for completions of every variable and argument there is; which have any is the server's business. */
async function completionsOffered(client) {
  const { resourceTemplates } = await client.listResourceTemplates();
  const { prompts } = await client.listPrompts();
  const open = [
    ...resourceTemplates.flatMap(({ uriTemplate }) =>
      [...uriTemplate.matchAll(/\{[+#./;?&]?([^}*:]+)/g)].map(([, name]) => [{ type: 'ref/resource', uri: uriTemplate }, name])
    ),
    ...prompts.flatMap((prompt) =>
      (prompt.arguments ?? []).map(({ name }) => [{ type: 'ref/prompt', name: prompt.name }, name])
    ),
  ];
  const completed = [];
  for (const [ref, name] of open) {
    const { completion } = await client.complete({ ref, argument: { name, value: '' } });
    completed.push({ ref, name, values: completion.values });
  }
  return completed;
}
