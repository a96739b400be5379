// Workflows of sources with schemas of every dialect, odd ones and broken ones: no client refuses the list of tools. CASE_SCHEMAS is how
// many are tried, in lists of at most 900.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFile, mkdir } from 'node:fs/promises';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { inspector, skip as noInspector } from './inspector.mjs';
import { newHome, program } from './suite.mjs';

const wanted = Number(process.env.CASE_SCHEMAS ?? 120);
const most = 900; // a page of the list has 1,000 tools
const own = 7; // the tools of the server itself
const args = ['--toolsets', 'workflows', '--workflows', '*', '--log-level', 'error'];
const node20 = Number(process.versions.node.split('.')[0]) >= 20;

/** lists is a home for each list, with its number of workflows. */
async function* lists(t) {
  for (let seed = 0; seed * most < wanted; seed++) {
    const n = Math.min(most, wanted - seed * most);
    const home = await newHome(t);
    await mkdir(home.path(), { recursive: true });
    const list = [fileURLToPath(new URL('../../bin/tools/sourcelist', import.meta.url)), String(seed), String(n)];
    await writeFile(home.path('serve.json'), JSON.stringify({ sources: [{ name: 'made', list, run: ['cat'], refresh: '24h' }] }));
    yield { home, n };
  }
}

/** checked checks that a client has seen every tool, each with a schema of an object. */
function checked(tools, n) {
  assert.equal(tools.length, n + own);
  assert.equal(new Set(tools.map((tool) => tool.name)).size, n + own);
  for (const tool of tools) {
    assert.match(tool.name, /^[a-z0-9_-]{1,40}$/);
    assert.equal(tool.inputSchema.type, 'object');
  }
}

test('schemas of sources for @modelcontextprotocol/sdk', async (t) => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  for await (const { home, n } of lists(t)) await listed(t, home, n, new Client({ name: 'schemas', version: '1' }), StdioClientTransport);
});

test('schemas of sources for @modelcontextprotocol/client', { skip: !node20 && 'needs Node 20' }, async (t) => {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  for await (const { home, n } of lists(t)) await listed(t, home, n, new Client({ name: 'schemas', version: '1' }, { versionNegotiation: { mode: 'auto' } }), StdioClientTransport);
});

async function listed(t, home, n, client, StdioClientTransport) {
  await client.connect(new StdioClientTransport({ command: program('pflow-serve'), args, env: home.env, cwd: home.dir }));
  try {
    const { tools, nextCursor } = await client.listTools();
    assert.equal(nextCursor, undefined);
    checked(tools, n);
    // What is generic or folded is still called as any other tool.
    const answer = await client.callTool({ name: 'run_status', arguments: { run_id: 'r0none' } });
    assert.equal(answer.isError, true);
  } finally {
    await client.close();
  }
}

test('schemas of sources for the Python client', { skip: !process.env.CASE_PYTHON && 'CASE_PYTHON is not set: use scripts/test --all' }, async (t) => {
  const script = fileURLToPath(new URL('list_tools.py', import.meta.url));
  for await (const { home, n } of lists(t)) {
    for (const mode of ['legacy', 'auto']) {
      const { stdout } = await promisify(execFile)(process.env.CASE_PYTHON, [script, mode, program('pflow-serve'), ...args], { env: home.env, cwd: home.dir, maxBuffer: 256 << 20 });
      checked(JSON.parse(stdout), n);
    }
  }
});

test('schemas of sources for @modelcontextprotocol/inspector', { skip: noInspector }, async (t) => {
  for await (const { home, n } of lists(t)) {
    const server = ['env', `PFLOW_HOME=${home.path()}`, program('pflow-serve'), ...args]; // the inspector passes few variables on
    const said = await inspector(home.env, server)('tools/list', '--strict');
    assert.equal(said.code, 0, said.stderr.slice(0, 5000));
    checked(JSON.parse(said.stdout).result.tools, n);
  }
});
