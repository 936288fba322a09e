// The page for people, in a real browser.
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, test } from 'node:test';

import { CLAUDE, KEY, claudeEnvironment, emptyFolder, runClient, serve, serveWithKeys } from '../clients/support.mjs';
import {
  DESKTOP,
  PHONE,
  brightness,
  bystander,
  faintText,
  openTab,
  screenshot,
  sidewaysScroll,
  tabTo,
  visit,
} from './support.mjs';

const FILES = {
  'docs/harbour.md': `# Entering the harbour

Keep the lighthouse to starboard. See [the tides](tides.md).

| buoy | colour | light | what it says to those who come from the sea and have never been here before |
|---|---|---|---|
| one | green | flashing | keep it on your right |

\`\`\`sh
a-command --with-a-very-long-option=that-does-not-fit-on-a-phone --and-another-one=that-does-not-fit-either
\`\`\`

Averyveryverylongwordthatnobodycanbreak_averyveryverylongwordthatnobodycanbreak_averyveryverylongword.
`,
  'docs/tides.md': '# Tides\n\nHigh water is at noon.\n',
};
const CLIENTS = ['Claude Code', 'Codex', 'Gemini', 'Cursor', 'VS Code'];

describe('the page', () => {
  test('says what it is and what it serves', async (t) => {
    const server = await serve(t, { files: FILES });
    const page = await openTab(t, server);

    const response = await visit(page, server, '/');

    assert.match(response.headers()['content-type'], /^text\/html; *charset=utf-8/i);
    assert.match(await page.title(), /rutter/i);
    assert.equal(await page.locator('html').getAttribute('lang'), 'en');
    assert.equal(await page.getByRole('heading', { level: 1 }).count(), 1);
    assert.ok(await page.getByRole('searchbox', { name: /\w/ }).isVisible(), 'the search box has a label');
    const tools = page.locator('section#tools');
    assert.match(await tools.innerText(), /\bsearch\b[\s\S]*\b\d[\d,.]*\b/, 'each tool with its cost');
  });

  test('lets no script in but its own', async (t) => {
    const server = await serve(t, { files: FILES });
    const page = await openTab(t, server);

    const policy = (await visit(page, server, '/')).headers()['content-security-policy'];

    assert.ok(policy, 'there is a Content-Security-Policy');
    const directives = new Map(policy.split(';').map((part) => part.trim().split(/ +(.*)/).slice(0, 2)));
    const scripts = directives.get('script-src') ?? directives.get('default-src');
    assert.doesNotMatch(scripts, /unsafe-inline|unsafe-eval|\*|https?:|data:/);
  });

  test('shows how to connect each client, with this server’s address', async (t) => {
    const server = await serve(t, { files: FILES });
    const page = await openTab(t, server, { javaScriptEnabled: false });
    await visit(page, server, '/');

    for (const client of CLIENTS) {
      assert.ok((await connectText(page, client)).includes(`${server.origin}/mcp`), client);
    }
  });

  test('gives Claude Code a command that works as it stands', async (t) => {
    const server = await serve(t, { files: FILES });
    const page = await openTab(t, server);
    await visit(page, server, '/');
    const command = /^claude mcp add .*$/m.exec(await connectText(page, 'Claude Code'))[0];

    const bin = emptyFolder(t);
    const home = emptyFolder(t);
    writeFileSync(join(bin, 'claude'), `#!/bin/sh\nexec '${process.execPath}' '${CLAUDE}' "$@"\n`);
    chmodSync(join(bin, 'claude'), 0o755);
    const env = { ...claudeEnvironment(home), PATH: `${bin}${delimiter}${process.env.PATH}` };
    await runClient(t, 'sh', ['-c', command], { home, env });
    const { stdout } = await runClient(t, 'sh', ['-c', 'claude mcp list'], { home, env });

    assert.match(stdout, /^rutter: .*connected/im);
  });
});

describe('searching', () => {
  test('with the keyboard alone, from the box to the document', async (t) => {
    const server = await serve(t, { files: FILES });
    const page = await openTab(t, server);
    await visit(page, server, '/');

    await tabTo(page, 'form[role="search"] input[type="search"][name="q"]');
    await page.keyboard.type('lighthouse');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === '/search' && url.searchParams.get('q') === 'lighthouse');
    await tabTo(page, 'ol.results > li:first-child h3 > a[href^="/documents/"]');
    await page.keyboard.press('Enter');
    await page.waitForURL((url) => url.pathname === '/documents/docs/harbour');

    const document = page.locator('article.document');
    assert.equal(await document.getByRole('heading', { level: 1 }).innerText(), 'Entering the harbour');
    assert.equal(await document.locator('table').count(), 1, 'Markdown is rendered');
  });

  test('without JavaScript', async (t) => {
    const server = await serve(t, { files: FILES });
    const page = await openTab(t, server, { javaScriptEnabled: false });
    await visit(page, server, '/');

    await page.getByRole('searchbox').fill('lighthouse');
    await page.getByRole('searchbox').press('Enter');
    await page.locator('ol.results a').first().click();

    assert.equal(await page.locator('article.document h1').innerText(), 'Entering the harbour');
  });

  test('keeps the query in the box, and says so when nothing is found', async (t) => {
    const server = await serve(t, { files: FILES });
    const page = await openTab(t, server);

    await visit(page, server, '/search?q=zeppelin');

    assert.equal(await page.getByRole('searchbox').inputValue(), 'zeppelin');
    assert.equal(await page.locator('ol.results > li').count(), 0);
    assert.match(await page.locator('main').innerText(), /zeppelin/);
    await visit(page, server, '/search?q=');
  });

  test('follows a link from one document to another', async (t) => {
    const server = await serve(t, { files: FILES });
    const page = await openTab(t, server);
    await visit(page, server, '/documents/docs/harbour');

    await page.getByRole('link', { name: 'the tides' }).click();

    assert.equal(await page.locator('article.document h1').innerText(), 'Tides');
  });

  test('shows the file as it is now', async (t) => {
    const server = await serve(t, { files: FILES });
    const page = await openTab(t, server);
    await visit(page, server, '/documents/docs/tides');

    writeFileSync(join(server.folder, 'docs/tides.md'), '# Tides\n\nLow water is at noon.\n');
    await page.reload();

    assert.match(await page.locator('article.document').innerText(), /Low water/);
  });
});

describe('what others wrote', () => {
  test('a hostile document is text and nothing else', async (t) => {
    const other = await bystander(t);
    const server = await serve(t, { files: { 'docs/hostile.md': hostileDocument(other.origin) } });
    // The browser asks nobody even where a policy or an error of its own would stop it.
    const page = await openTab(t, server);

    await visit(page, server, '/documents/docs/hostile');
    await page.waitForLoadState('networkidle');

    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.equal(page.url(), `${server.origin}/documents/docs/hostile`);
    assert.ok(await page.locator('article.document').getByText('harmless end').isVisible(), 'nothing covers or hides it');
    assert.deepEqual(await activeContent(page, 'article.document'), []);
    assert.deepEqual(other.asked, []);
    await screenshot(page, 'hostile-light-desktop');
  });

  test('nor is it anything else among the results, whatever was asked', async (t) => {
    const other = await bystander(t);
    const server = await serve(t, { files: { 'docs/hostile.md': hostileDocument(other.origin) } });
    const page = await openTab(t, server);
    const queries = ['harmless end', 'onerror', `"><img src=x onerror=hacked=1><script>hacked=1</script>`, "'><svg/onload=hacked=1>"];

    for (const query of queries) {
      await visit(page, server, `/search?${new URLSearchParams({ q: query })}`);
      await page.waitForLoadState('networkidle');

      assert.equal(await page.evaluate(() => window.hacked), undefined);
      assert.equal(await page.getByRole('searchbox').inputValue(), query);
      assert.deepEqual(await activeContent(page, 'main'), []);
    }
    assert.deepEqual(other.asked, []);
  });

  test('a document that is not there is a page that says so', async (t) => {
    const server = await serve(t, { files: FILES });

    for (const path of ['/documents/docs/no-such', '/documents/docs/..%2f..%2fetc%2fpasswd', '/documents/none/a']) {
      const response = await fetch(server.origin + path);
      const text = await response.text();
      assert.equal(response.status, 404, path);
      assert.ok(!text.includes(server.folder), 'no path of the server');
    }
  });
});

describe('on every screen', () => {
  const PAGES = { home: '/', search: '/search?q=lighthouse', document: '/documents/docs/harbour' };

  test('a phone never scrolls sideways', async (t) => {
    const server = await serve(t, { files: FILES });
    const page = await openTab(t, server, { viewport: PHONE, hasTouch: true, isMobile: true });

    for (const [name, path] of Object.entries(PAGES)) {
      await visit(page, server, path);
      await screenshot(page, `${name}-light-phone`);
      await openEverything(page);
      assert.equal(await sidewaysScroll(page), 0, name);
    }
  });

  for (const colorScheme of ['light', 'dark']) {
    test(`all text can be read in ${colorScheme}`, async (t) => {
      const server = await serve(t, { files: FILES });
      const page = await openTab(t, server, { viewport: DESKTOP, colorScheme });

      for (const [name, path] of Object.entries(PAGES)) {
        await visit(page, server, path);
        await screenshot(page, `${name}-${colorScheme}-desktop`);
        await openEverything(page);
        const bright = await brightness(page);
        assert.ok(colorScheme === 'light' ? bright > 0.8 : bright < 0.3, `${name} is ${bright} bright`);
        const { faint, pieces } = await faintText(page);
        assert.ok(pieces > 2, `${pieces} pieces of text on ${name}`);
        assert.deepEqual(faint, [], name);
      }
    });
  }
});

describe('who may see it', () => {
  test('a browser logs in with a name and a password', async (t) => {
    const env = { RUTTER_AUTH_BASIC_USERNAME: 'ada', RUTTER_AUTH_BASIC_PASSWORD: KEY };
    const server = await serve(t, { args: ['--auth-type', 'basic'], env, files: FILES });
    const page = await openTab(t, server, { httpCredentials: { username: 'ada', password: KEY } });

    await visit(page, server, '/');
    await visit(page, server, '/documents/docs/tides');

    assert.equal(await page.locator('article.document h1').innerText(), 'Tides');
  });

  test('nobody sees it without, and everybody sees that the server is well', async (t) => {
    const basic = { RUTTER_AUTH_BASIC_USERNAME: 'ada', RUTTER_AUTH_BASIC_PASSWORD: KEY };
    const servers = {
      basic: await serve(t, { args: ['--auth-type', 'basic'], env: basic, files: FILES }),
      apikey: await serveWithKeys(t, { files: FILES }),
    };

    for (const [kind, { origin }] of Object.entries(servers)) {
      for (const path of ['/', '/search?q=tides', '/documents/docs/tides', '/metrics', '/no-such-page']) {
        const response = await fetch(origin + path);
        assert.equal(response.status, 401, `${kind} ${path}`);
        assert.doesNotMatch(await response.text(), /tides|harbour/i);
      }
      const health = await fetch(`${origin}/health`);
      assert.equal(health.status, 200);
      const said = await health.json();
      assert.equal(said.status, 'ok');
      assert.match(said.version, /^\d+\.\d+\.\d+/);
      assert.equal(said.modules.knowledge.status, 'ok');
    }
  });
});

/** What a person sees below a client's name, once it is opened. */
async function connectText(page, client) {
  const section = page.locator('section#connect');
  const folded = section.locator('details', { has: page.locator('summary', { hasText: client }) });
  if ((await folded.count()) === 0) return section.innerText();
  const details = folded.first();
  if ((await details.getAttribute('open')) === null) await details.locator('summary').click();
  return details.innerText();
}

/** Opens whatever is folded away, so that it is looked at as well. */
async function openEverything(page) {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) {
      // Of those that share a name only one can be open.
      details.removeAttribute('name');
      details.open = true;
    }
  });
}

/** Whatever could act by itself or when clicked: elements, handlers, styles and addresses. */
function activeContent(page, root) {
  return page.evaluate((selector) => {
    const harmless = ['http:', 'https:', 'mailto:'];
    const found = [];
    for (const element of document.querySelector(selector).querySelectorAll('*')) {
      if (/^(script|style|iframe|frame|object|embed|link|meta|base|svg|math|form|template)$/.test(element.localName)) {
        if (!element.matches('form[role="search"]')) found.push(`<${element.localName}>`);
      }
      for (const { name, value } of element.attributes) {
        if (name.startsWith('on') || name === 'srcdoc' || name === 'formaction') found.push(`${name}="${value}"`);
        // Alignment of a table's cells is the one style that Markdown makes.
        if (name === 'style' && !/^text-align: ?(left|right|center);?$/.test(value)) found.push(`style="${value}"`);
      }
      if (element.localName === 'a' && element.href && !harmless.includes(element.protocol)) found.push(element.href);
      if (element.src && new URL(element.src).origin !== location.origin) found.push(element.src);
    }
    return found;
  }, root);
}

function hostileDocument(origin) {
  return `# Hostile <img src=x onerror="window.hacked=1"> heading

<script>window.hacked = 1; alert('script')</script>
<script src="${origin}/script.js"></script>
<img src="x" onerror="window.hacked = 1"><img src="${origin}/image.png">
<svg onload="window.hacked=1"><script>window.hacked=1</script></svg>
<math><mi xlink:href="javascript:window.hacked=1">x</mi></math>

Inline <b onmouseover="window.hacked=1" onfocus="window.hacked=1" autofocus tabindex=0>bold</b>.
<a href="javascript:window.hacked=1" id=location>raw link</a> <details open ontoggle="window.hacked=1">x</details>

[a](javascript:window.hacked=1) [b](JaVaScRiPt:window.hacked=1) [c](java&#x0A;script:window.hacked=1)
[d](data:text/html,<script>opener.hacked=1</script>) [e](vbscript:x) [f](<javascript:window.hacked=1>)
[g][ref] <javascript:window.hacked=1> [h](file:///etc/passwd) [i](//${origin.slice('http://'.length)}/protocol-relative)

[ref]: javascript:window.hacked=1 "title"

![pixel](${origin}/pixel.png) ![x](data:image/svg+xml,<svg/onload=window.hacked=1>) ![y](javascript:window.hacked=1)
![z](x" onerror="window.hacked=1)

<style>body { display: none } @import url("${origin}/style.css");</style>
<link rel="stylesheet" href="${origin}/style.css"><link rel="prefetch" href="${origin}/prefetch">
<div style="position: fixed; inset: 0; background: red url(${origin}/background.png); z-index: 9999">cover</div>
<iframe src="${origin}/frame"></iframe><iframe srcdoc="<script>parent.hacked=1</script>"></iframe>
<object data="${origin}/object"></object><embed src="${origin}/embed">
<form action="${origin}/form"><input autofocus name=q><button formaction="javascript:window.hacked=1">go</button></form>
<meta http-equiv="refresh" content="0; url=${origin}/refresh"><base href="${origin}/">
</article></main><script>window.hacked=1</script><!-- --><script>window.hacked=1</script -->
<noscript><p title="</noscript><img src=x onerror=window.hacked=1>">

\`\`\`html"><script>window.hacked=1</script>
<script>window.hacked = 1</script>
\`\`\`

| a <img src=x onerror=window.hacked=1> | b |
|:--|--:|
| [j](javascript:window.hacked=1) | <script>window.hacked=1</script> |

harmless end
`;
}
