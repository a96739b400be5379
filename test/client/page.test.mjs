// The web pages of runs in headless Chromium: a run from a form to its end by the keyboard alone, a list that is live, a token, and what axe
// finds on each page in light, dark and at 390 pixels.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { accessible, launch, missing, narrow, newPage, patience, shot } from './browser.mjs';
import { newHome, program } from './suite.mjs';

const skip = missing;
const browser = skip ? undefined : await launch();
test.after(() => browser?.close());

const hostile = '</title><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">';

/** deploy waits for a file, fails without another one, and asks a person before its last node. */
const deploy = (dir) => ({
  description: hostile,
  inputs: {
    who: { type: 'string', required: true, description: hostile }, count: { type: 'integer', default: 3 }, key: { type: 'string', secret: true, required: false }, dry: { type: 'boolean', default: false },
    tags: { type: 'array', required: false },
  },
  nodes: [
    { id: 'hold', type: 'shell', purpose: hostile, params: { command: `until [ -e '${join(dir, 'go')}' ]; do sleep .05; done; echo "\${who}"` } },
    { id: 'check', type: 'shell', params: { command: `[ -e '${join(dir, 'mended')}' ] || { echo "not ready: \${hold.stdout}" >&2; exit 4; }; echo \${count}` } },
    { id: 'deploy', type: 'shell', approval: { question: 'Deploy ${check.stdout} for ${hold.stdout}?', choices: ['all', 'one', 'no'] }, params: { command: "echo deployed '${__answer__}' ${tags} ${key}" } },
  ],
  outputs: { done: { source: '${deploy.stdout}' } },
});

/** serve starts a server and returns its URL without a path. */
async function serve(t, home, ...args) {
  const server = spawn(program('pflow-serve'), ['http', '--listen', '127.0.0.1:0', '--toolsets', 'core,runs', ...args], { env: home.env, cwd: home.dir, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(async () => {
    server.kill('SIGKILL');
    await once(server, 'exit');
  });
  const [line] = await once(server.stdout, 'data');
  return JSON.parse(line).url.replace('/api/mcp', '');
}

/** open opens a page, whose faults are collected in page.wrong. */
async function open(t, url, { width = 1100, colorScheme = 'light', ...options } = {}) {
  const page = await newPage(t, browser, { viewport: { width, height: 900 }, colorScheme, ...options });
  page.wrong = [];
  page.on('pageerror', (error) => page.wrong.push(error.message));
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) page.wrong.push(message.text()); });
  await page.goto(url);
  return page;
}

/** clean asserts that nothing went wrong on a page, and that no text of a run became code. */
async function clean(page) {
  assert.deepEqual(page.wrong, []);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
}

/** tabTo moves the focus with the tabulator key to the first element that a selector finds, where it must be seen. */
async function tabTo(page, selector) {
  for (let i = 0; i < 100; i++) {
    await page.keyboard.press('Tab');
    const [there, seen] = await page.evaluate((wanted) => {
      const { activeElement: e } = document;
      return [e === document.querySelector(wanted), getComputedStyle(e).outlineStyle !== 'none' && getComputedStyle(e).outlineWidth !== '0px'];
    }, selector);
    if (there) {
      assert.ok(seen, `the focus on ${selector} is visible`);
      return;
    }
  }
  assert.fail(`no tabulator leads to ${selector}`);
}

const is = (page, status) => page.locator(`article.run[data-status="${status}"]`).waitFor();

test('a run from the form to the comparison, without a mouse', { skip, timeout: 3 * patience }, async (t) => {
  const home = await newHome(t);
  await home.draft('deploy', deploy(home.dir));
  const page = await open(t, await serve(t, home));
  await tabTo(page, 'nav a[href="/workflows"]');
  await page.keyboard.press('Enter');
  await page.locator('h1', { hasText: 'Workflows' }).waitFor();
  await tabTo(page, 'a[href="/workflows/deploy"]');
  await page.keyboard.press('Enter');
  await page.locator('#start').waitFor();
  await page.waitForFunction(() => document.querySelector('img').naturalWidth > 0); // the graph

  // Start from the form. What is missing or has another type is not sent.
  await tabTo(page, '#start button');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.name), 'who');
  await page.keyboard.type(hostile);
  await tabTo(page, '[name="count"]');
  await page.keyboard.type('many');
  await page.keyboard.press('Enter');
  assert.notEqual(await page.evaluate(() => document.querySelector('[name="count"]').validationMessage), '');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('5');
  assert.equal(await page.locator('[name="key"]').getAttribute('type'), 'password');
  await tabTo(page, '[name="tags"]');
  await page.keyboard.type('["x"]');
  await tabTo(page, '#start button');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/runs/r*');

  // Watch it fail.
  const first = await page.locator('article').getAttribute('data-run');
  await is(page, 'running');
  const hold = page.locator('details[data-name^="hold"]');
  await hold.locator('.state', { hasText: 'Running' }).first().waitFor();
  await hold.evaluate((node) => { node.mark = 'the same element'; });
  await shot(page, 'page-live');
  await writeFile(join(home.dir, 'go'), '');
  await is(page, 'failed');
  await page.locator('.root', { hasText: 'not ready' }).waitFor();
  assert.equal(await hold.evaluate((node) => node.mark), 'the same element', 'the page is changed in place');
  assert.match(await page.locator('#said').textContent(), /Failed/, 'a reader of the screen hears of it');
  await shot(page, 'page-failed');

  // Mend it, resume it, and answer its question.
  await writeFile(join(home.dir, 'mended'), '');
  await tabTo(page, '[data-action="resume"]');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => /\/runs\/r/.test(url) && !url.pathname.endsWith(first));
  await is(page, 'paused');
  await page.locator('.ask', { hasText: 'Deploy 5 for' }).waitFor();
  assert.equal(await page.locator('[data-action="answer"]').count(), 3, 'all choices are there');
  await shot(page, 'page-paused');
  const paused = page.url();
  await tabTo(page, '[data-action="answer"][value="one"]');
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => /\/runs\/r/.test(url) && String(url) !== paused);
  await is(page, 'completed');
  await page.locator('section[aria-labelledby="values"]', { hasText: 'deployed one' }).waitFor();
  const last = await page.locator('article').getAttribute('data-run');
  await clean(page);

  // Compare the first with the last.
  await tabTo(page, '.bar a.brand');
  await page.keyboard.press('Enter');
  await page.locator(`tr[data-name="${first}"]`).waitFor();
  for (const run of [last, first]) {
    await tabTo(page, `input[value="${run}"]`);
    await page.keyboard.press('Space');
  }
  await tabTo(page, '#compare');
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/compare?a=${first}&b=${last}`);
  for (const run of [first, last]) await page.locator(`section[data-run="${run}"] article[data-run="${run}"]`).waitFor(); // in its shadow root
  await page.locator('.differ', { hasText: 'deployed one' }).waitFor();
  await clean(page);
});

test('the list is live, can be filtered, and a run can be cancelled', { skip, timeout: 3 * patience }, async (t) => {
  const home = await newHome(t);
  await home.draft('deploy', deploy(home.dir));
  await home.draft('quick', { nodes: [{ id: 'a', type: 'shell', params: { command: 'echo quick' } }] });
  const url = await serve(t, home);
  const page = await open(t, url);
  await page.locator('.empty').waitFor();
  const { run_id: quick } = await home.run('pflow-exec', 'start', '--name', 'quick');
  await page.locator(`tr[data-name="${quick}"] .is-completed`).waitFor();
  const { run_id: held } = await home.run('pflow-exec', 'start', '--name', 'deploy', 'who=me');
  await page.locator(`tr[data-name="${held}"] .is-running`).waitFor();
  await page.locator('#workflow').fill('quick');
  await page.locator(`tr[data-name="${held}"]`).waitFor({ state: 'detached' });
  assert.equal(await page.locator('tbody tr').count(), 1);
  assert.match(page.url(), /\?workflow=quick$/);
  await page.locator('#workflow').fill('');
  await page.locator('#status').selectOption('running');
  await page.locator(`tr[data-name="${quick}"]`).waitFor({ state: 'detached' });
  await page.locator(`tr[data-name="${held}"] a`).click();
  await page.locator('[data-action="cancel"]').click();
  await is(page, 'cancelled');
  await clean(page);
});

/** counted passes requests on to a server. It counts the streams that are open, and those that there were at the same time. */
async function counted(t, url) {
  const streams = { open: 0, most: 0 };
  const proxy = createServer((from, to) => {
    const stream = from.url.includes('/events');
    if (stream) streams.most = Math.max(streams.most, streams.open += 1);
    const onward = request(url + from.url, { method: from.method, headers: from.headers }, (answer) => {
      to.writeHead(answer.statusCode, answer.headers);
      answer.pipe(to);
    });
    onward.on('error', () => to.destroy());
    to.on('close', () => {
      if (stream) streams.open -= 1;
      onward.destroy();
    });
    from.pipe(onward);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return { streams, url: `http://127.0.0.1:${proxy.address().port}` };
}

test('eight tabs are live by one stream, and none is open for tabs that are hidden', { skip, timeout: 3 * patience }, async (t) => {
  const home = await newHome(t);
  await home.draft('deploy', deploy(home.dir));
  const starts = ['one', 'two', 'three', 'four'].map((who) => home.run('pflow-exec', 'start', '--name', 'deploy', `who=${who}`));
  const runs = (await Promise.all(starts)).map((run) => run.run_id);
  const { streams, url } = await counted(t, await serve(t, home));
  const first = await open(t, url);
  const tabs = [first];
  for (const path of [...runs.map((run) => `/runs/${run}`), '/', `/runs/${runs[0]}`, '/']) {
    const tab = await first.context().newPage();
    await tab.goto(url + path, { timeout: patience });
    tabs.push(tab);
  }
  for (const tab of tabs.slice(1, 5)) await is(tab, 'running');
  const hide = (tab, state) => tab.evaluate((value) => {
    Object.defineProperty(document, 'visibilityState', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
  }, state);
  const [hidden] = tabs.splice(2, 1); // of the run that no other tab shows
  await hide(hidden, 'hidden');
  await writeFile(join(home.dir, 'go'), '');
  for (const tab of [tabs[1], tabs[2], tabs[3], tabs[5]]) await is(tab, 'failed');
  for (const list of [tabs[0], tabs[4], tabs[6]]) for (const run of runs) await list.locator(`tr[data-name="${run}"] .is-failed`).waitFor();
  assert.equal(await hidden.locator('article').getAttribute('data-status'), 'running', 'a hidden tab does not ask');
  await hide(hidden, 'visible');
  await is(hidden, 'failed');
  assert.equal(streams.open, 1);
  assert.ok(streams.most <= 2, `${streams.most} streams at the same time`); // one of them about to end

  // The tabs of lists are still live. Once nobody sees them, nothing is open.
  for (const tab of tabs) await hide(tab, 'hidden');
  while (streams.open > 0) await new Promise((resolve) => { setTimeout(resolve, 20); });
  await hide(first, 'visible');
  const { run_id: late } = await home.run('pflow-exec', 'start', '--name', 'deploy', 'who=late');
  await first.locator(`tr[data-name="${late}"]`).waitFor();
  assert.equal(streams.open, 1);
});

test('a browser whose tabs cannot share has a stream for each that is seen', { skip, timeout: 3 * patience }, async (t) => {
  const home = await newHome(t);
  await home.draft('deploy', deploy(home.dir));
  const { streams, url } = await counted(t, await serve(t, home));
  const page = await open(t, `${url}/workflows`);
  await page.addInitScript(() => delete window.SharedWorker);
  await page.goto(url);
  const { run_id: run } = await home.run('pflow-exec', 'start', '--name', 'deploy', 'who=me');
  await page.locator(`tr[data-name="${run}"] a`).click();
  await is(page, 'running');
  await writeFile(join(home.dir, 'go'), '');
  await is(page, 'failed');
  while (streams.open > 0) await new Promise((resolve) => { setTimeout(resolve, 20); }); // a run that has ended is not followed
  await clean(page);
});

test('a browser gives its token once', { skip, timeout: 3 * patience }, async (t) => {
  const home = await newHome(t);
  await home.draft('deploy', deploy(home.dir));
  const { token } = await home.run('pflow-serve', 'token', 'add', 'browser');
  const url = await serve(t, home);
  const page = await open(t, `${url}/workflows/deploy`, { extraHTTPHeaders: { 'X-Forwarded-For': '192.0.2.1' } }); // as through a proxy
  page.wrong.length = 0; // the status 401
  await accessible(page, 'sign-in');
  await shot(page, 'page-sign-in');
  await page.locator('#token').fill(token);
  await page.keyboard.press('Enter');
  await page.locator('#start').waitFor();
  assert.equal(new URL(page.url()).pathname, '/workflows/deploy', 'it leads on');
  assert.equal(await page.evaluate(() => document.cookie), '', 'no script reads it');
  await page.locator('[name="who"]').fill('me');
  await page.locator('#start button').click();
  await page.waitForURL('**/runs/r*');
  await writeFile(join(home.dir, 'go'), '');
  await is(page, 'failed'); // the stream and the calls have the cookie too
  assert.ok(!(await page.content()).includes(token));
  await clean(page);
  await page.locator('.who button').click();
  await page.locator('#token').waitFor();
});

test('sign-in, pages and sign-out work without a script', { skip, timeout: 3 * patience }, async (t) => {
  const home = await newHome(t);
  await home.draft('deploy', deploy(home.dir));
  const { token } = await home.run('pflow-serve', 'token', 'add', 'browser');
  const url = await serve(t, home);
  const page = await open(t, url, { javaScriptEnabled: false, extraHTTPHeaders: { 'X-Forwarded-For': '192.0.2.1' } });
  await page.locator('#token').fill('wrong');
  await page.keyboard.press('Enter');
  await page.locator('#problem').waitFor();
  await page.locator('#token').fill(token);
  await page.keyboard.press('Enter');
  await page.locator('.empty').waitFor();
  await page.locator('nav a', { hasText: 'Workflows' }).click();
  await page.locator('a[href="/workflows/deploy"]').waitFor();
  await page.locator('.who button').click();
  await page.locator('#token').waitFor();
});

test('axe finds nothing on any page, light, dark and at 390 pixels', { skip, timeout: 3 * patience }, async (t) => {
  const home = await newHome(t);
  await home.draft('deploy', deploy(home.dir));
  await writeFile(join(home.dir, 'go'), '');
  const failed = await home.run('pflow-exec', 'start', '--name', 'deploy', `who=${hostile}`);
  await home.run('pflow-exec', 'wait', failed.run_id).catch(() => {});
  await writeFile(join(home.dir, 'mended'), '');
  const paused = await home.run('pflow-exec', 'start', '--name', 'deploy', 'who=me');
  await home.run('pflow-exec', 'wait', paused.run_id).catch(() => {});
  const url = await serve(t, home);
  const pages = { list: '/', run: `/runs/${failed.run_id}`, paused: `/runs/${paused.run_id}`, compare: `/compare?a=${failed.run_id}&b=${paused.run_id}`, workflows: '/workflows', workflow: '/workflows/deploy', nothing: '/?text=nothing' };
  for (const [look, options] of Object.entries({ light: {}, dark: { colorScheme: 'dark' }, 390: { width: 390, colorScheme: 'dark' } })) {
    const page = await open(t, url, options);
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(url + path);
      if (name === 'compare') await page.locator('article').nth(1).waitFor();
      await narrow(page, options.width ?? 1100);
      await shot(page, `page-${name}-${look}`);
      await clean(page);
      await accessible(page, `${name}, ${look}`);
      page.wrong.length = 0; // the policy stops a style sheet of axe's own
    }
  }
});
