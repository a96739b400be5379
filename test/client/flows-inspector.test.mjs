// Shared flows by the command line of the MCP inspector, with the configuration of the server that clients have, which has no headers. Each
// call is a session of its own.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { inspector, skip } from './inspector.mjs';
import { sharedFlow } from './shared-flow.mjs';
import { program } from './suite.mjs';

test('shared flows by @modelcontextprotocol/inspector', { skip }, async (t) => {
  const { home, token, url } = await sharedFlow(t, program('pflow-serve'));
  const config = join(home.dir, '.mcp.json');
  await writeFile(config, JSON.stringify({ mcpServers: { 'composer-local': { type: 'http', url } } }, null, 2));
  const inspect = inspector(home.env, ['--config', config, '--server', 'composer-local']);
  const call = async (tool, args) => {
    const said = await inspect('tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args));
    assert.equal(said.code, 0, `${tool}: ${said.stdout}${said.stderr}`);
    return JSON.parse(said.stdout).result.structuredContent;
  };

  const info = await call('get_flow_info', { token });
  assert.deepEqual([info.name, info.ownerFunded, info.inputs, info.outputs.map((o) => o.label)], ['greet', true, [{ id: 'who', label: 'who', type: 'text-input' }], ['greeting', 'letter']]);
  let job = await call('run_flow', { token, inputs: { who: 'Ada' } });
  assert.match(job.job_id, /^job_[A-Za-z0-9]{16}$/);
  while (job.status !== 'completed') {
    assert.ok(['started', 'pending', 'running'].includes(job.status), JSON.stringify(job));
    job = await call('get_run_status', { job_id: job.job_id, token });
  }
  assert.equal(job.outputs.greeting.value, 'Hello, Ada');
  assert.equal(job.outputs.letter.type, 'resource_link');
  const letter = await inspect('resources/read', '--uri', job.outputs.letter.uri);
  assert.equal(JSON.parse(letter.stdout).result.contents[0].text.length, 3000, letter.stderr);
});
