// The tools of an MCP server of another make as node types: configured, discovered, and called by a workflow.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
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

test('a workflow reads its resources, and those that a tool links to', async (t) => {
  const home = await newHome(t);
  await home.run('pflow-sync', 'add', 'everything', '--', process.execPath, server, 'stdio');
  await home.run('pflow-sync', 'sync', 'everything');
  const file = join(home.dir, 'read.json');
  await writeFile(file, JSON.stringify({
    nodes: [
      { id: 'text', type: 'mcp-everything-read-resource', params: { uri: 'demo://resource/dynamic/text/1' } },
      { id: 'zip', type: 'mcp-everything-gzip-file-as-resource', params: { name: 'a.gz', data: 'data:text/plain,hello', outputType: 'resourceLink' } },
      { id: 'zipped', type: 'mcp-everything-read-resource', params: { uri: '${zip.resource_links[0].uri}' } }, // only this process of the server has it
    ],
    outputs: { text: { source: '${text.result}' }, type: { source: '${zipped.mimeType}' }, zipped: { source: '${zipped.blob}' } },
  }));
  const { outputs } = await home.run('pflow-exec', 'run', file, '--format', 'json');
  assert.match(outputs.text, /^Resource 1/);
  assert.equal(outputs.type, 'application/gzip');
  assert.equal(gunzipSync(Buffer.from(outputs.zipped, 'base64')).toString(), 'hello');
});
