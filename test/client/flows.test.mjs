// Shared flows over HTTP, as a client with nothing but the server's URL uses them: described, run by polling, and run with progress on a
// stream. Played by two generations of the TypeScript SDK.
import assert from 'node:assert/strict';
import test from 'node:test';
import { sharedFlow } from './shared-flow.mjs';
import { program } from './suite.mjs';

const node20 = Number(process.versions.node.split('.')[0]) >= 20;

test('shared flows by @modelcontextprotocol/sdk, protocol 2025-11-25', async (t) => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  await flows(t, new Client({ name: 'end-to-end', version: '1' }), StreamableHTTPClientTransport,
    (client, call, onprogress) => client.callTool(call, undefined, { onprogress }));
});

test('shared flows by @modelcontextprotocol/client, protocol 2026-07-28', { skip: !node20 && 'needs Node 20' }, async (t) => {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  await flows(t, new Client({ name: 'end-to-end', version: '1' }, { versionNegotiation: { mode: 'auto' } }), StreamableHTTPClientTransport,
    (client, call, onprogress) => client.callTool(call, { onprogress }));
});

async function flows(t, client, StreamableHTTPClientTransport, withProgress) {
  const { token, url } = await sharedFlow(t, program('pflow-serve'));
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  t.after(() => client.close());

  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(), ['get_flow_info', 'get_run_status', 'run_flow']);
  const info = (await client.callTool({ name: 'get_flow_info', arguments: { token } })).structuredContent;
  assert.deepEqual(info.inputs, [{ id: 'who', label: 'who', type: 'text-input' }]);

  // Without progress the answer comes at once, and the client polls.
  const started = (await client.callTool({ name: 'run_flow', arguments: { token, inputs: { who: 'Ada' } } })).structuredContent;
  assert.equal(started.status, 'started');
  let job;
  do {
    job = (await client.callTool({ name: 'get_run_status', arguments: { job_id: started.job_id } })).structuredContent;
  } while (job.status === 'pending' || job.status === 'running');
  assert.equal(job.status, 'completed');
  assert.equal(job.outputs.greeting.value, 'Hello, Ada');

  // With progress it comes on a stream, at the end.
  const messages = [];
  const call = { name: 'run_flow', arguments: { token, inputs: { who: 'Grace' } } };
  const ended = (await withProgress(client, call, (progress) => messages.push(progress.message))).structuredContent;
  assert.equal(ended.status, 'completed');
  assert.equal(ended.outputs.greeting.value, 'Hello, Grace');
  assert.deepEqual(messages, ['Flow: running', 'say: running', 'say: success', 'write: running', 'write: success']);
}
