// The tools of an MCP server of another make as node types: configured, discovered, and called by a workflow.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { newHome } from './suite.mjs';

const server = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));

test('a workflow calls a tool of @modelcontextprotocol/server-everything', async (t) => {
  const home = await newHome(t);
  await home.run('pflow-sync', 'add', 'everything', '--', process.execPath, server, 'stdio');
  const synced = await home.run('pflow-sync', 'sync', 'everything');
  assert.ok(synced.tools_discovered > 10, JSON.stringify(synced));
  assert.equal(synced.tools_registered, synced.tools_discovered);

  const file = join(home.dir, 'greet.json');
  await writeFile(file, JSON.stringify({
    inputs: { name: { type: 'string' } },
    nodes: [{ id: 'say', type: 'mcp-everything-echo', params: { message: 'Hello ${name}, Grüße' } }],
    outputs: { said: { source: '${say.result}' } },
  }));
  const { success, outputs } = await home.run('pflow-exec', 'run', file, 'name=Ada', '--format', 'json');
  assert.equal(success, true);
  assert.match(JSON.stringify(outputs.said), /Echo: Hello Ada, Grüße/);
});
