// What the tests of the page share: a browser, and an eye on what a page does besides showing itself.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

const CHROMIUM = process.env.RUTTER_CHROMIUM ?? '/usr/bin/chromium';
const SCREENSHOTS = join(dirname(fileURLToPath(import.meta.url)), '..', '.screenshots');

export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 375, height: 667 };

let browser;
before(async () => {
  mkdirSync(SCREENSHOTS, { recursive: true });
  browser = await chromium.launch({ executablePath: CHROMIUM });
});
after(() => browser?.close());

/**
 * A tab of its own. Whatever a page of this product must never do is noted, and fails the test at
 * its end: ask another server, run into an error, or open a dialog.
 */
export async function openTab(t, server, options = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const noted = [];
  context.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (origin !== server.origin && protocol !== 'data:') noted.push(`asked ${request.url()}`);
  });
  // How long a test waits before it calls something missing. Never a measure of speed.
  context.setDefaultTimeout(10_000);
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) noted.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => noted.push(`error: ${error.message}`));
  page.on('dialog', (dialog) => {
    noted.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(noted, []);
  });
  return page;
}

/** Goes to a page of the server, which must be there. */
export async function visit(page, server, path) {
  const response = await page.goto(new URL(path, server.origin).href);
  assert.equal(response.status(), 200, `${path}: ${response.status()}`);
  return response;
}

/** Keeps a picture for people to look at. */
export async function screenshot(page, name) {
  await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
}

/** Presses Tab until what has the focus matches, as somebody without a mouse does. */
export async function tabTo(page, selector) {
  for (let pressed = 0; pressed < 40; pressed += 1) {
    await page.keyboard.press('Tab');
    const focused = await page.evaluate((wanted) => document.activeElement?.matches(wanted), selector);
    if (focused) {
      assert.ok(await showsFocus(page), `one sees that ${selector} has the focus`);
      return;
    }
  }
  assert.fail(`no ${selector} within 40 presses of Tab`);
}

function showsFocus(page) {
  return page.evaluate(() => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(document.activeElement);
    return (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0) || boxShadow !== 'none';
  });
}

/** How far the page can be scrolled sideways. */
export function sidewaysScroll(page) {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

/**
 * Text that is hard to read: every visible piece whose contrast is below what WCAG 2 AA asks for
 * (4.5, and 3 for large text). The browser itself blends the colours, on a canvas.
 */
export function faintText(page) {
  return page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    canvas.canvas.width = canvas.canvas.height = 1;

    function paint(color, alpha = 1) {
      canvas.globalAlpha = alpha;
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
      return canvas.getImageData(0, 0, 1, 1).data;
    }
    function luminance([r, g, b]) {
      const [x, y, z] = [r, g, b].map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * x + 0.7152 * y + 0.0722 * z;
    }
    function systemBackground() {
      const probe = document.body.appendChild(document.createElement('div'));
      probe.style.background = 'Canvas';
      const color = getComputedStyle(probe).backgroundColor;
      probe.remove();
      return color;
    }

    const bottom = systemBackground();
    const faint = [];
    const seen = new Set();
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const element = texts.currentNode.parentElement;
      if (!texts.currentNode.data.trim() || seen.has(element) || !element.checkVisibility()) continue;
      seen.add(element);
      const line = [];
      for (let at = element; at; at = at.parentElement) line.unshift(getComputedStyle(at));
      let background = paint(bottom);
      for (const style of line) background = paint(style.backgroundColor);
      const style = line.at(-1);
      const opacity = line.reduce((product, { opacity }) => product * Number(opacity), 1);
      const text = paint(style.color, opacity);
      const [dark, light] = [luminance(background), luminance(text)].sort((a, b) => a - b);
      const ratio = (light + 0.05) / (dark + 0.05);
      const size = parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratio < (large ? 3 : 4.5)) {
        faint.push(`${ratio.toFixed(2)}: <${element.localName}> ${texts.currentNode.data.trim().slice(0, 40)}`);
      }
    }
    return { faint, pieces: seen.size };
  });
}

/** How bright the page is behind everything: 0 is black, 1 is white. */
export function brightness(page) {
  return page.evaluate(() => {
    const canvas = document.createElement('canvas').getContext('2d');
    for (const element of [document.documentElement, document.body]) {
      canvas.fillStyle = getComputedStyle(element).backgroundColor;
      canvas.fillRect(0, 0, 1, 1);
    }
    const [r, g, b, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return alpha === 0 ? null : (r + g + b) / 765;
  });
}

/** Another server, which nothing may ever ask for anything; returns its address and who did. */
export async function bystander(t) {
  const asked = [];
  const server = http.createServer((request, response) => {
    asked.push(request.url);
    response.end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { origin: `http://127.0.0.1:${server.address().port}`, asked };
}
