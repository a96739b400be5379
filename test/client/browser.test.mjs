// The pages that people see, in a browser: the MCP App, in a host of another make, and the report.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';
import { accessible, launch, missing, narrow, newPage, shot } from './browser.mjs';
import { newHome } from './suite.mjs';

const skip = missing;
const { open, serve } = skip ? {} : await import('./host.mjs');
const browser = skip ? undefined : await launch();
test.after(() => browser?.close());

/** gate is a workflow whose node hold waits for a file; its texts would be code on a page that does not escape them. */
const gate = (dir) => ({
  description: '</title><script>window.hacked = 1</script>',
  nodes: [
    { id: 'first', type: 'shell', purpose: '<img src=x onerror="window.hacked = 1">', params: { command: 'echo "<script>window.hacked = 1</script>"' } },
    { id: 'hold', type: 'shell', params: { command: `until [ -e '${join(dir, 'go')}' ]; do sleep .05; done; echo "\${first.stdout} through"` } },
  ],
  outputs: { said: { source: '${hold.stdout}' } },
});

/** ask is a workflow that asks a person before its last node. */
const ask = {
  description: 'Deploys after a question',
  nodes: [
    { id: 'plan', type: 'shell', params: { command: 'echo 3 machines' } },
    { id: 'deploy', type: 'shell', approval: { question: 'Deploy to ${plan.stdout}?', choices: ['all', 'one', 'no'] }, params: { command: "echo deployed '${__answer__}'" } },
  ],
  outputs: { done: { source: '${deploy.stdout}' } },
};

test('the App shows a run while its call waits, and to its end', { skip }, async (t) => {
  const home = await newHome(t);
  await home.draft('gate', gate(home.dir));
  const client = await serve(t, home);
  const host = await open(t, browser, client, 'execute', { name: 'gate' });
  await host.is('running');
  const hold = host.frame.locator('details[data-name^="hold"]');
  await hold.locator('.state', { hasText: 'Running' }).waitFor();
  assert.equal(await host.frame.locator('[data-action="cancel"]').isVisible(), false, 'there is no button without a tool');
  await hold.locator('summary').focus();
  await hold.evaluate((node) => { node.mark = 'the same element'; });
  await accessible(host.frame, 'live');
  await shot(host.page, 'app-live');

  await writeFile(join(home.dir, 'go'), '');
  await host.is('completed');
  await host.run.locator('section[aria-labelledby="values"]', { hasText: 'through' }).waitFor();
  assert.equal(await hold.evaluate((node) => node.mark), 'the same element', 'a fragment is merged into the one before');
  assert.equal(await host.frame.evaluate(() => document.activeElement.closest('details')?.dataset.name), 'hold shell', 'the focus stays');
  assert.equal((await host.result).structuredContent.status, 'completed');
  await accessible(host.frame, 'completed');
  await shot(host.page, 'app-completed');
  assert.equal(await host.frame.evaluate(() => window.hacked), undefined, 'texts of the run are no code');
  assert.ok(host.sizes.length > 0 && host.sizes.every(({ height }) => height > 0 && height <= 5000), 'it reports its size');
  assert.ok(Buffer.byteLength(host.app.text) <= 40_000, 'it is small');
  await host.bridge.teardownResource({});
  host.clean();
});

test('the App cancels a run, and resumes one that failed', { skip }, async (t) => {
  const home = await newHome(t);
  await home.draft('gate', gate(home.dir));
  const client = await serve(t, home, '--toolsets', 'core,runs');
  const started = await client.callTool({ name: 'execute', arguments: { name: 'gate', wait_seconds: 0 } });
  const host = await open(t, browser, client, 'run_status', { run_id: started.structuredContent.run_id }, { theme: 'dark', width: 390 });
  await host.is('running');
  await narrow(host.frame, 390);
  const [dark] = await host.frame.evaluate(() => [getComputedStyle(document.body).backgroundColor]);
  assert.equal(dark, 'rgb(13, 17, 23)', 'the theme is the host\'s');
  await accessible(host.frame, 'live, dark, 390 px');
  await shot(host.page, 'app-live-dark-390');
  await host.frame.locator('[data-action="cancel"]').click();
  await host.is('cancelled');
  await host.frame.locator('[data-action="resume"]').waitFor();
  await shot(host.page, 'app-cancelled-dark-390');
  await accessible(host.frame, 'cancelled, dark, 390 px');

  await writeFile(join(home.dir, 'go'), '');
  await host.frame.locator('[data-action="resume"]').click();
  await host.is('completed');
  assert.notEqual(await host.run.getAttribute('data-run'), started.structuredContent.run_id, 'it shows the run that goes on');
  await host.bridge.setHostContext({ theme: 'light' });
  await host.frame.waitForFunction(() => getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)');
  await host.bridge.setHostContext({ theme: 'light', styles: { variables: { '--color-background-primary': 'light-dark(#fffff0, #000011)' } } });
  await host.frame.waitForFunction(() => getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 240)');
  host.clean();
});

test('the App shows why a run failed', { skip }, async (t) => {
  const home = await newHome(t);
  await home.draft('broken', { nodes: [{ id: 'fetch', type: 'shell', params: { command: 'echo "<b>no</b> network" >&2; exit 7' } }, { id: 'use', type: 'shell', params: { command: "echo '${fetch.stdout}'" } }] });
  const host = await open(t, browser, await serve(t, home), 'execute', { name: 'broken' });
  await host.is('failed');
  await host.run.locator('.root', { hasText: '<b>no</b> network' }).waitFor();
  await host.run.locator('details[data-name="fetch shell"][open]').waitFor();
  await host.run.locator('.root a', { hasText: 'fetch' }).click(); // a link within the App
  await accessible(host.frame, 'failed');
  await shot(host.page, 'app-failed');
  host.clean();

  const refused = await open(t, browser, await serve(t, home), 'execute', { name: 'brokn' });
  await refused.frame.locator('.notice', { hasText: 'brokn' }).waitFor();
  await accessible(refused.frame, 'refused');
  await shot(refused.page, 'app-refused');
});

test('without resources the App shows what the call has answered', { skip }, async (t) => {
  const home = await newHome(t);
  await home.draft('broken', { nodes: [{ id: 'fetch', type: 'shell', params: { command: 'echo no network >&2; exit 7' } }] });
  const host = await open(t, browser, await serve(t, home), 'execute', { name: 'broken' }, { handlers: { onreadresource: async () => { throw new Error('no resources here'); } } });
  await host.frame.locator('.wait', { hasText: /Run r.*: failed\n.*no network/s }).waitFor();
  await host.frame.locator('.notice', { hasText: 'no resources here' }).waitFor();
  await accessible(host.frame, 'without resources');
});

for (const [toolsets, tool, called] of [['core', 'execute', 'execute'], ['core,runs', 'run_resume', 'execute'], ['workflows', 'run_resume', 'ask']]) {
  test(`a click in the App of ${called} answers a question by ${tool}`, { skip }, async (t) => {
    const home = await newHome(t);
    await home.draft('ask', ask);
    if (called === 'ask') await home.exec('pflow-lib', 'save', 'ask', 'ask', '--description', 'Deploys after a question');
    const client = await serve(t, home, '--toolsets', toolsets);
    const host = await open(t, browser, client, called, called === 'ask' ? {} : { name: 'ask' }, { theme: toolsets === 'core' ? 'light' : 'dark', width: toolsets === 'core' ? 800 : 390 });
    await host.is('paused');
    const first = await host.run.getAttribute('data-run');
    await host.run.locator('.ask', { hasText: 'Deploy to 3 machines?' }).waitFor();
    await accessible(host.frame, 'paused');
    await narrow(host.frame, toolsets === 'core' ? 800 : 390);
    await shot(host.page, `app-paused-${toolsets === 'core' ? 'light' : 'dark-390'}`);
    await host.run.locator('.ask button', { hasText: 'one' }).click();
    await host.is('completed');
    const now = await host.run.getAttribute('data-run');
    assert.notEqual(now, first);
    const { contents: [output] } = await client.readResource({ uri: `pflow://runs/${now}/outputs/done` });
    assert.equal(output.text, 'deployed one');
    assert.equal(host.told.length, 1);
    assert.match(host.told[0], new RegExp(`${first}.*deploy.*${now}`), 'the model learns of it');
    await accessible(host.frame, 'answered');
    host.clean();
  });
}

test('the App sends the fields of a form, and an answer in own words', { skip }, async (t) => {
  const home = await newHome(t);
  await home.draft('ask', ask);
  const fields = {
    type: 'object', required: ['who', 'size'], properties: {
      who: { type: 'string', title: 'Your name' }, size: { type: 'integer', minimum: 1 }, sure: { type: 'boolean', default: true }, note: { type: 'string' },
      pick: { type: 'string', enum: ['x', 'y'], default: 'y' }, many: { type: 'array', items: { enum: ['p', 'q', 'r'] }, default: ['q'] },
    },
  };
  const asked = [{ node: 'form', question: 'Who?', choices: ['no', 'cancel'], fields }, { node: 'free', question: 'Why?', choices: ['yes'], any_answer: true }];
  const events = [{ event: 'run_started', workflow: { name: 'w', digest: 'd' }, nodes: ['form', 'free'] }, ...asked.map((q) => ({ event: 'approval_requested', ...q })), { event: 'run_finished', status: 'paused' }]
    .map((e, i) => `${JSON.stringify({ v: 1, seq: i + 1, run: 'r1', time: '2026-01-01T00:00:00Z', ...e })}\n`).join('');
  const text = await home.feed(events, 'pflow-exec', 'report', '-', '--fragment');
  const calls = [];
  const host = await open(t, browser, await serve(t, home), 'execute', { name: 'ask' }, {
    width: 390, handlers: {
      onreadresource: async ({ uri }) => ({ contents: [{ uri, mimeType: 'text/html', text }] }),
      oncalltool: async ({ name, arguments: args }) => {
        calls.push({ tool: name, ...args });
        return { isError: true, content: [], structuredContent: { success: false, error: { type: 'unavailable', message: 'not now' } } };
      },
    },
  });
  await host.is('paused');
  const form = host.run.locator('.ask[data-node="form"]');
  await accessible(host.frame, 'form');
  await shot(host.page, 'app-form-390');
  await form.locator('button', { hasText: 'Send' }).click(); // what is required is missing
  await form.locator('[name="who"]').fill('<me>');
  await form.locator('[name="size"]').fill('3');
  await form.locator('[name="many"]').selectOption(['p', 'r']);
  await form.locator('button', { hasText: 'Send' }).click();
  await host.frame.locator('.notice', { hasText: 'not now' }).waitFor();
  const free = host.run.locator('.ask[data-node="free"]');
  await free.locator('input').fill('because');
  await free.locator('button', { hasText: 'Send' }).click();
  await host.frame.waitForFunction(() => document.querySelector('.notice').textContent === 'not now');
  assert.deepEqual(calls, [
    { tool: 'execute', name: 'w', resume: 'r1', wait_seconds: 0, answers: { form: { who: '<me>', size: 3, sure: true, pick: 'y', many: ['p', 'r'] } } },
    { tool: 'execute', name: 'w', resume: 'r1', wait_seconds: 0, answers: { free: 'because' } },
  ]);
});

test('the report shows a batch of 500 with 2 failures', { skip }, async (t) => {
  const home = await newHome(t);
  await writeFile(join(home.dir, 'b.json'), JSON.stringify({
    description: 'Checks many pages',
    nodes: [
      { id: 'list', type: 'shell', params: { command: `i=0; while [ $i -lt 500 ]; do echo "https://example.org/page-$i"; i=$((i+1)); done | sed 's/.*/"&"/' | paste -sd, | sed 's/.*/[&]/'` } },
      { id: 'check', type: 'shell', purpose: 'Checks one page', batch: { items: '${list.stdout}', error_handling: 'continue', parallel: true, max_concurrent: 4 },
        params: { command: 'case ${item} in *-77|*-402) echo HTTP 500 >&2; exit 4;; *-250) sleep .3;; esac; echo ok ${item}' } },
      { id: 'sum', type: 'workflow', params: { workflow: { inputs: { n: { type: 'number' } }, nodes: [{ id: 'count', type: 'shell', params: { command: 'echo ${n}' } }, { id: 'half', type: 'shell', params: { command: 'expr ${count.stdout} / 2' } }], outputs: { half: { source: '${half.stdout}' } } }, inputs: { n: '${check.count}' } } },
    ],
    outputs: { half: { source: '${sum.half}' } },
  }));
  await home.exec('pflow-exec', 'run', 'b.json');
  await home.exec('pflow-exec', 'report', 'last', '-o', 'run.html');
  const page = await readFile(join(home.dir, 'run.html'), 'utf8');
  assert.ok(Buffer.byteLength(page) < 250_000, 'it is bounded');
  for (const [name, width, colorScheme] of [['light', 1100, 'light'], ['dark', 1100, 'dark'], ['390', 390, 'light']]) {
    const page = await newPage(t, browser, { viewport: { width, height: 900 }, colorScheme });
    const wrong = [];
    page.on('pageerror', (error) => wrong.push(error.message));
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(message.text()); });
    await page.goto(pathToFileURL(join(home.dir, 'run.html')).href);
    await accessible(page, name);
    await narrow(page, width);
    await shot(page, `report-${name}`);
    const check = page.locator('details[data-name="check shell"]');
    assert.equal(await check.getAttribute('data-state'), 'degraded');
    await check.locator('.fold > summary').click();
    const rows = check.locator('.fold tbody tr:visible');
    assert.equal(await rows.count(), 500);
    await check.locator('[data-only="failed"]').click();
    assert.equal(await rows.count(), 2);
    await shot(page, `report-${name}-failed`);
    await check.locator('[data-only="failed"]').click();
    await check.locator('[data-only="slow"]').click();
    assert.ok((await rows.allTextContents()).some((text) => text.includes('page-250')), 'the slow one is among the slow');
    assert.ok(await rows.count() <= 50, 'few are slow');
    await check.locator('[data-only="slow"]').click();
    await check.locator('.items input[type=search], .tools input[type=search]').first().fill('page-40');
    assert.equal(await rows.count(), 11, 'page-40 and page-400 to page-409');
    await page.locator('details[data-name="sum workflow"] > summary').click();
    await page.locator('details[data-name="sum/half shell"] > summary').click();
    await page.locator('details[data-name="sum/half shell"]', { hasText: 'expr 500 / 2' }).waitFor();
    await page.locator('body').press('/');
    await page.keyboard.type('half');
    assert.equal(await page.locator('details.node:visible').count(), 2);
    await accessible(page, `${name}, filtered`);
    assert.deepEqual(wrong, []);
  }
});
