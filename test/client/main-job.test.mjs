// The main job, as an agent does it: look for building blocks, run a draft, see it fail, fix it, resume, save it and run
// the saved one. Played by two generations of the TypeScript SDK, which speak different revisions of MCP.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { report } from './report.mjs';
import { newHome, program } from './suite.mjs';

const node20 = Number(process.versions.node.split('.')[0]) >= 20;

test('the main job by @modelcontextprotocol/sdk, protocol 2025-11-25', async (t) => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  await mainJob(t, new Client({ name: 'end-to-end', version: '1' }), overStdio(StdioClientTransport));
});

test('the main job by @modelcontextprotocol/client, protocol 2026-07-28', { skip: !node20 && 'needs Node 20' }, async (t) => {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  await mainJob(t, new Client({ name: 'end-to-end', version: '1' }, { versionNegotiation: { mode: 'auto' } }), overStdio(StdioClientTransport));
});

test('the main job over HTTP by @modelcontextprotocol/sdk, protocol 2025-11-25', async (t) => {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
  await mainJob(t, new Client({ name: 'end-to-end', version: '1' }), overHTTP(t, StreamableHTTPClientTransport));
});

test('the main job over HTTP by @modelcontextprotocol/client, protocol 2026-07-28', { skip: !node20 && 'needs Node 20' }, async (t) => {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
  await mainJob(t, new Client({ name: 'end-to-end', version: '1' }, { versionNegotiation: { mode: 'auto' } }), overHTTP(t, StreamableHTTPClientTransport));
});

/** overHTTP returns a function that starts pflow-serve http and returns a transport to it. */
function overHTTP(t, StreamableHTTPClientTransport) {
  return async (home) => {
    const server = spawn(program('pflow-serve'), ['http', '--toolsets', 'core', '--listen', '127.0.0.1:0'], { env: home.env, cwd: home.dir, stdio: ['ignore', 'pipe', 'inherit'] });
    t.after(async () => { server.kill(); await once(server, 'exit'); });
    const [line] = await once(server.stdout, 'data');
    return new StreamableHTTPClientTransport(new URL(JSON.parse(line).url));
  };
}

/** overStdio returns a function that returns a transport which starts pflow-serve. */
function overStdio(StdioClientTransport) {
  return (home) => new StdioClientTransport({ command: program('pflow-serve'), env: home.env, cwd: home.dir });
}

async function mainJob(t, client, transport) {
  const home = await newHome(t);
  const log = join(home.dir, 'log');
  const inputs = { title: 'What was said', log };

  await client.connect(await transport(home));
  t.after(() => client.close());

  const { tools } = await client.listTools();
  assert.deepEqual(tools.map((tool) => tool.name).sort(),
    ['browse_components', 'describe_workflow', 'execute', 'list_library', 'save_to_library']);
  assert.ok(tools.every((tool) => tool.outputSchema?.type === 'object'), 'every tool has an output schema');

  const { nodes } = await succeed(client, 'browse_components', { query: 'shell' });
  assert.ok(nodes.some((node) => node.type === 'shell'), 'browse_components finds shell');

  // A draft whose second node fails.
  await home.draft('report', report('cat "${log}.missing"'));
  const failure = await call(client, 'execute', { name: 'report', inputs });
  assert.equal(failure.success, false);
  assert.equal(failure.error.node, 'second');
  assert.ok(failure.error.message, 'the error says what was wrong');
  assert.deepEqual(failure.checkpoint.completed_nodes, ['first']);
  assert.equal(failure.checkpoint.failed_node, 'second');
  assert.ok(failure.checkpoint.run_id, 'the checkpoint names the run to resume');

  // The same draft, fixed: it goes on where it failed, and the first node does not run again.
  await home.draft('report', report('cat "${log}"'));
  const resumed = await succeed(client, 'execute', { name: 'report', resume: failure.checkpoint.run_id });
  assert.equal(resumed.success, true);
  assert.equal(resumed.outputs.report, 'What was said: one line');
  assert.equal(await readFile(log, 'utf8'), 'one line\n');

  const saved = await succeed(client, 'save_to_library',
    { draft_name: 'report', final_name: 'line-report', description: 'Reports the lines of a file' });
  assert.equal(saved.success, true);
  assert.match(saved.path, /line-report/);
  assert.equal(existsSync(home.path('workflows', 'report.json')), false, 'the draft is gone');

  const { workflows } = await succeed(client, 'list_library', {});
  assert.deepEqual(workflows.map(({ name, description }) => ({ name, description })),
    [{ name: 'line-report', description: 'Reports the lines of a file' }]);

  const described = await succeed(client, 'describe_workflow', { name: 'line-report' });
  assert.deepEqual(Object.keys(described.inputs).sort(), ['log', 'title']);
  assert.deepEqual(Object.keys(described.outputs), ['report']);

  const again = await succeed(client, 'execute', { name: 'line-report', inputs });
  assert.equal(again.success, true);
  assert.equal(again.outputs.report, 'What was said: one line\none line');
}

/**
 * call calls a tool and returns its structured answer. A failure has the same JSON as text, and list_library its array. The
 * client refuses an answer that does not match the tool's output schema.
 */
async function call(client, name, args) {
  const { structuredContent, content, isError } = await client.callTool({ name, arguments: args });
  assert.ok(structuredContent, `${name} answers structured content: ${content?.[0]?.text}`);
  assert.ok(content[0].text, `${name} answers a text`);
  if (isError) assert.deepEqual(JSON.parse(content[0].text), structuredContent);
  if (name === 'list_library') assert.deepEqual(JSON.parse(content[0].text), structuredContent.workflows);
  return structuredContent;
}

/** succeed is call for a tool that must not fail. */
async function succeed(client, name, args) {
  const answer = await call(client, name, args);
  assert.equal(answer.error ?? null, null, `${name}: ${JSON.stringify(answer.error)}`);
  return answer;
}
