// Answers and failures of every tool against the output schemas, judged by the TypeScript SDK: it refuses an answer whose
// structured content does not match the schema that tools/list has shown.
import assert from 'node:assert/strict';
import test from 'node:test';
import { newHome, program } from './suite.mjs';

const node20 = Number(process.versions.node.split('.')[0]) >= 20;

test('answers match the output schemas for @modelcontextprotocol/sdk, protocol 2025-11-25', async (t) => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  await answers(t, new Client({ name: 'schemas', version: '1' }), StdioClientTransport);
});

test('answers match the output schemas for @modelcontextprotocol/client, protocol 2026-07-28', { skip: !node20 && 'needs Node 20' }, async (t) => {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  await answers(t, new Client({ name: 'schemas', version: '1' }, { versionNegotiation: { mode: 'auto' } }), StdioClientTransport);
});

async function answers(t, client, StdioClientTransport) {
  const home = await newHome(t);
  await client.connect(new StdioClientTransport({ command: program('pflow-serve'), args: ['--toolsets', 'core,drafts,servers,veloflux'], env: { ...home.env, VELOFLUX_MANAGER_URL: 'http://127.0.0.1:1' }, cwd: home.dir }));
  t.after(() => client.close());
  await home.draft('greet', { nodes: [{ id: 'a', type: 'shell', params: { command: 'echo hello' } }] });
  await home.draft('fail', { nodes: [{ id: 'a', type: 'shell', params: { command: 'exit 3' } }] });

  const { tools } = await client.listTools();
  const played = new Set();
  for (const [name, args, failed] of [
    ['browse_components', { query: 'shell', include_workflows: null }, false],
    ['browse_components', { query: 7 }, true],
    ['list_library', { pattern: null }, false],
    ['list_library', { pattern: [] }, true],
    ['describe_workflow', { name: 'greet' }, false],
    ['describe_workflow', { name: 'shell' }, false],
    ['describe_workflow', { name: '../greet' }, true],
    ['execute', { name: 'greet', inputs: null }, false],
    ['execute', { name: 'fail' }, true],
    ['execute', { name: 'nothing' }, true],
    ['save_to_library', { draft_name: 'greet', final_name: 'kept', description: 'Greets' }, false],
    ['save_to_library', { draft_name: 'fail', final_name: 'kept', description: 'Fails' }, true],
    ['save_to_library', {}, true],
    ['write_draft', { name: 'new', content: '{}' }, null],
    ['read_draft', { name: 'new', cursor: null }, null],
    ['check_draft', { name: 'new' }, null],
    ['delete_draft', { name: 'nothing' }, true],
    ['list_servers', {}, false],
    ['list_server_tools', { limit: 0 }, false],
    ['sync_server', { server: 'nothing' }, true],
    ['call_server_tool', { server: 'nothing', tool: 'x' }, true],
    ['veloflux_call', { tool: 'streams.list' }, true],
    ['veloflux_read', { uri: 'veloFlux://streams/snapshot' }, true],
  ]) {
    played.add(name);
    const { isError = false, structuredContent } = await client.callTool({ name, arguments: args }); // throws at a misfit
    if (failed !== null) assert.equal(isError, failed, `${name} ${JSON.stringify(args)}: ${JSON.stringify(structuredContent)}`);
    assert.ok(structuredContent, `${name} ${JSON.stringify(args)} has structured content`);
    if (failed) assert.ok(structuredContent.error.message ?? structuredContent.error.error_message);
  }
  assert.deepEqual([...played].sort(), tools.map((tool) => tool.name).sort(), 'every tool is called');
  await assert.rejects(client.callTool({ name: 'describe_workflw', arguments: {} }),
    (error) => error.code === -32602 && error.message.includes('"describe_workflow"'));
}
