// Clients that give up, and clients that are killed: the run goes on, once, and a later call gets its result. Played by two
// generations of the TypeScript SDK, which cancel a request whose time is over.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newHome, program } from './suite.mjs';

const node20 = Number(process.versions.node.split('.')[0]) >= 20;

const generations = [
  { name: '@modelcontextprotocol/sdk', client: '@modelcontextprotocol/sdk/client/index.js', stdio: '@modelcontextprotocol/sdk/client/stdio.js', options: {}, skip: false },
  { name: '@modelcontextprotocol/client', client: '@modelcontextprotocol/client', stdio: '@modelcontextprotocol/client/stdio',
    options: { versionNegotiation: { mode: 'auto' } }, skip: !node20 && 'needs Node 20' },
];

describe('runs that take longer than their clients', { concurrency: true }, () => {
  for (const g of generations) {
    test(`a timeout of 2 s and a longer run, by ${g.name}`, { skip: g.skip }, async (t) => {
      const { home, log, open, call } = await slowWorkflow(t, g);
      await assert.rejects(call({ name: 'slow', idempotency_key: 'once' }, { timeout: 2000 }), /timed out/i);
      const { run_id: run } = await call({ name: 'slow', idempotency_key: 'once', wait_seconds: 0 });
      await open();
      const { outputs, status } = await call({ name: 'slow', resume: run });
      assert.equal(status, 'completed');
      assert.equal(outputs.last, 'done');
      assert.equal(await readFile(log, 'utf8'), 'began\nended\n');
      assert.equal((await home.run('pflow-exec', 'list', '--format', 'json')).length, 1, 'there is one run');
    });

    test(`calls that each wait for a second, by ${g.name}`, { skip: g.skip }, async (t) => {
      const { log, open, call } = await slowWorkflow(t, g);
      let answer = await call({ name: 'slow', wait_seconds: 1 });
      const run = answer.run_id;
      for (let calls = 1; calls <= 3 || answer.status === 'running'; calls++) {
        assert.equal(answer.status, 'running');
        assert.equal(answer.success, true);
        assert.deepEqual(answer.outputs, {});
        assert.ok(answer.next.includes(run), answer.next);
        if (calls === 3) await open();
        answer = await call({ name: 'slow', resume: run, wait_seconds: 1 });
        assert.equal(answer.run_id, run);
      }
      assert.equal(answer.status, 'completed');
      assert.equal(await readFile(log, 'utf8'), 'began\nended\n');
    });

    test(`progress of a run, by ${g.name}`, { skip: g.skip }, async (t) => {
      const { open, call } = await slowWorkflow(t, g);
      const reports = [];
      await call({ name: 'slow' }, { onprogress: (p) => open(reports.push(p)) }); // each report lets the next item end
      // The SDK drops reports that it reads together with the result, as those of the last moment may be.
      assert.ok(reports.length >= 3, JSON.stringify(reports));
      assert.ok(reports.every((p, i) => i === 0 || p.progress > reports[i - 1].progress), JSON.stringify(reports));
      assert.ok(reports.every((p) => p.total === undefined || p.progress <= p.total), JSON.stringify(reports));
      assert.ok(reports.some((p) => p.message.includes('each[1]')), 'an item is named');
    });

    test(`a client that is killed in the middle of a run, by ${g.name}`, { skip: g.skip }, async (t) => {
      const { home, log, open, call } = await slowWorkflow(t, g);
      const other = spawn(process.execPath, ['--input-type=module', '-e', `
        import { Client } from '${g.client}';
        import { StdioClientTransport } from '${g.stdio}';
        const client = new Client({ name: 'killed', version: '1' }, ${JSON.stringify(g.options)});
        await client.connect(new StdioClientTransport({ command: ${JSON.stringify(program('pflow-serve'))}, env: ${JSON.stringify(home.env)} }));
        await client.callTool({ name: 'execute', arguments: { name: 'slow', inputs: { log: ${JSON.stringify(log)} } } });
      `], { cwd: import.meta.dirname ?? new URL('.', import.meta.url).pathname, stdio: 'ignore' });
      while (!existsSync(log)) await pause(20);
      other.kill('SIGKILL');
      await once(other, 'exit');
      await open();
      const answer = await call({ name: 'slow', resume: 'last' });
      assert.equal(answer.status, 'completed');
      assert.equal(await readFile(log, 'utf8'), 'began\nended\n');
    });
  }
});

/** slowWorkflow makes a home with a workflow whose items wait until open is called, and a client that executes it. */
async function slowWorkflow(t, generation) {
  const home = await newHome(t);
  const log = join(home.dir, 'log');
  await home.draft('slow', {
    inputs: { log: { type: 'string' } },
    nodes: [
      { id: 'begin', type: 'shell', params: { command: 'echo began >> "${log}"' } },
      { id: 'each', type: 'shell', batch: { items: [1, 2, 3] }, params: { command: 'until [ -e "${log}.${item}" ]; do sleep 0.05; done' } },
      { id: 'last', type: 'shell', params: { command: 'echo ended >> "${log}"; echo done' } },
    ],
    edges: [{ from: 'begin', to: 'each' }, { from: 'each', to: 'last' }],
    outputs: { last: { source: '${last.stdout}' } },
  });
  const { Client } = await import(generation.client);
  const { StdioClientTransport } = await import(generation.stdio);
  const client = new Client({ name: 'end-to-end', version: '1' }, generation.options);
  await client.connect(new StdioClientTransport({ command: program('pflow-serve'), env: home.env, cwd: home.dir }));
  t.after(() => client.close());

  /** call executes the workflow and returns the structured answer. */
  async function call(args, options = {}) {
    const given = args.resume ? args : { ...args, inputs: { log } };
    const params = { name: 'execute', arguments: given };
    const { structuredContent } = generation.client.endsWith('index.js') ? await client.callTool(params, undefined, options) : await client.callTool(params, options);
    return structuredContent;
  }
  const open = (...items) => Promise.all((items.length ? items : [1, 2, 3]).map((item) => writeFile(`${log}.${item}`, '')));
  return { home, log, open, call };
}
