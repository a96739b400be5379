// veloflux-mcp served to two generations of the TypeScript SDK, which speak different revisions of MCP.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { newHome, program } from './suite.mjs';
import { askVerifyLoop, catalog, newManager, sql, succeeded } from './veloflux.mjs';

const node20 = Number(process.versions.node.split('.')[0]) >= 20;
const skip = !node20 && 'needs Node 20';

test('ask, verify, loop by @modelcontextprotocol/sdk, protocol 2025-11-25', async (t) => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const manager = await newManager(t);
  const home = await newHome(t);
  const client = new Client({ name: 'end-to-end', version: '1' });
  await client.connect(new StdioClientTransport({ command: program('veloflux-mcp'), args: manager.args(), env: home.env }));
  t.after(() => client.close());
  await askVerifyLoop(client, manager);

  // Each call and each read leaves its line.
  const lines = (await readFile(home.path('traces', 'veloflux.ndjson'), 'utf8')).trimEnd().split('\n').map(JSON.parse);
  assert.deepEqual(lines.map(({ kind, name, ok, args }) => [kind, args.uri ?? name, ok]), [
    ['tool_call', 'streams.list', true],
    ...[catalog.functions, catalog.syntax, catalog.snapshot, catalog.schema('user')].map((uri) => ['resource_read', uri, true]),
    ['tool_call', 'pipelines.verify', false], ['tool_call', 'pipelines.verify', true], ['tool_call', 'pipelines.verify', true],
  ]);
  assert.deepEqual(lines[5].args, { sql: sql.wrong });
});

test('ask, verify, loop by @modelcontextprotocol/client, protocol 2026-07-28', { skip }, async (t) => {
  const { client, manager } = await connect(t);
  assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');
  await askVerifyLoop(client, manager);
});

test('ask, verify, loop with --tool-names underscore', { skip }, async (t) => {
  const { client, manager } = await connect(t, '--tool-names', 'underscore');
  await askVerifyLoop(client, manager, (tool) => tool.replaceAll('.', '_'));
  for (const { name } of (await client.listTools()).tools) assert.match(name, /^[a-z_]+$/);
});

test('how long lists and reads may be kept, protocol 2026-07-28', { skip }, async (t) => {
  const { client, manager } = await connect(t, '--cache-ttl', '30s');
  for (const list of ['listTools', 'listResources', 'listResourceTemplates']) {
    const { ttlMs, cacheScope } = await client[list]();
    assert.ok(ttlMs >= 60_000, `${list}: the lists do not change: ttlMs ${ttlMs}`);
    assert.equal(cacheScope, 'public', list);
  }
  for (const uri of [catalog.functions, catalog.syntax, catalog.snapshot, catalog.schema('user')]) {
    const { ttlMs, cacheScope } = await client.readResource({ uri });
    assert.ok(ttlMs > 0 && ttlMs <= 30_000, `${uri}: ttlMs ${ttlMs} is what is left of 30 s`);
    assert.equal(cacheScope, 'public', uri);
    const asked = (await manager.requests()).length;
    await client.readResource({ uri }, { cacheMode: 'bypass' });
    assert.equal((await manager.requests()).length, asked, `${uri} is asked for once`);
  }
});

test('what is read with credentials is for this client alone, protocol 2026-07-28', { skip }, async (t) => {
  const { client } = await connect(t, '--header', 'Authorization: Bearer 12345678');
  for (const uri of [catalog.functions, catalog.syntax, catalog.snapshot, catalog.schema('user')]) {
    assert.equal((await client.readResource({ uri })).cacheScope, 'private', uri);
  }
});

test('what each tool answers fits its schema, as @modelcontextprotocol/client sees it', { skip }, async (t) => {
  const { client, manager } = await connect(t);
  const { tools } = await client.listTools(); // the client holds the answers to the schemas that it has seen
  const unseen = new Set(tools.map(({ name }) => name));
  const call = async (name, args = {}) => {
    unseen.delete(name);
    return succeeded(await client.callTool({ name, arguments: args }));
  };
  const pipeline = { pipeline_id: 'p/1' };
  await call('streams.list');
  await call('streams.describe', { name: 'veh data/中文?#%' });
  await call('catalog.functions');
  await call('catalog.syntax_capabilities');
  await call('functions.describe', { name: 'sum' });
  await call('pipelines.create', { id: pipeline.pipeline_id, sql: sql.right, sinks: [{ type: 'nop' }] });
  await manager.start(encodeURIComponent(pipeline.pipeline_id));
  await call('pipelines.list');
  await call('pipelines.get', pipeline);
  await call('pipelines.explain', pipeline);
  await call('pipelines.stats', pipeline);
  await call('pipelines.verify', { sql: sql.limited });
  await call('pipelines.delete', pipeline);
  assert.deepEqual([...unseen], [], 'each tool is called');
  assert.deepEqual(await manager.pipelines(), []);
});

async function connect(t, ...flags) {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const manager = await newManager(t);
  const home = await newHome(t);
  const client = new Client({ name: 'end-to-end', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  await client.connect(new StdioClientTransport({ command: program('veloflux-mcp'), args: manager.args(...flags), env: home.env }));
  t.after(() => client.close());
  return { client, manager };
}
