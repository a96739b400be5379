// Headless Chromium, as Debian has it, for the tests of pages. The browser is not downloaded: one that is not installed skips them.
import assert from 'node:assert/strict';
import { accessSync, constants, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { delimiter, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** path is the path of the browser, or undefined. */
export const path = process.env.PATH.split(delimiter).flatMap((dir) => names.map((name) => join(dir, name))).find((file) => {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
});

/** missing says why there is no browser, or is false. */
export const missing = Number(process.versions.node.split('.')[0]) < 20 ? 'needs Node 20' : !path && 'needs chromium';

/** patience is how many milliseconds a test waits for the browser, or for what a page shall show. It bounds what hangs, not what is slow. */
export const patience = 300_000;

/** launch starts the browser for one test file. */
export async function launch() {
  const { chromium } = await import('playwright-core');
  return chromium.launch({ executablePath: path, timeout: patience, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'] });
}

/** newPage opens a page in a context of its own, which ends with the test. */
export async function newPage(t, browser, options) {
  const context = await browser.newContext(options);
  t.after(() => context.close());
  context.setDefaultTimeout(patience);
  return context.newPage();
}

/** shot keeps a picture of the page in the folder SHOTS, if the variable is set. */
export async function shot(page, name) {
  if (!process.env.SHOTS) return;
  const { width, height } = page.viewportSize();
  await page.setViewportSize({ width, height: await page.evaluate(() => document.documentElement.scrollHeight) });
  await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) });
  await page.setViewportSize({ width, height });
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** accessible asserts that axe finds nothing wrong in a frame. A policy that forbids scripts does not stop it. */
export async function accessible(frame, what) {
  const { violations } = await frame.evaluate(`(async () => {
    if (!window.axe) { ${axe} }
    return await window.axe.run({ resultTypes: ['violations'] });
  })()`);
  assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).slice(0, 3).join(' ')}`), [], what);
}

/** narrow asserts that nothing makes a frame scroll sideways. */
export async function narrow(frame, width) {
  const widest = await frame.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(widest <= width, `the page is ${widest} pixels wide, not ${width}`);
}
