// The main job by the command line of the MCP inspector: each call is a session of its own.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { inspector, skip } from './inspector.mjs';
import { report } from './report.mjs';
import { newHome, program } from './suite.mjs';

test('the main job by @modelcontextprotocol/inspector', { skip }, async (t) => {
  const home = await newHome(t);
  const inspect = inspector(home.env, [program('pflow-serve'), '--toolsets', 'core,drafts']);
  const call = async (tool, args, code = 0) => {
    const said = await inspect('tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args));
    assert.equal(said.code, code, `${tool}: ${said.stdout}${said.stderr}`);
    return JSON.parse(said.stdout).result.structuredContent;
  };
  const log = join(home.dir, 'log');
  const inputs = { title: 'What was said', log };
  const draft = (second) => ({ name: 'report', content: JSON.stringify(report(second)) });

  const { tools } = JSON.parse((await inspect('tools/list', '--strict')).stdout).result;
  assert.equal(tools.length, 9);
  const { nodes } = await call('browse_components', { query: 'shell', limit: 1 });
  assert.equal(nodes[0].type, 'shell');
  await call('write_draft', draft('cat "${log}.missing"'));
  assert.deepEqual(Object.keys((await call('describe_workflow', { name: 'report' })).inputs).sort(), ['log', 'title']);
  const failure = await call('execute', { name: 'report', inputs }, 5);
  assert.equal(failure.checkpoint.failed_node, 'second');
  await call('write_draft', draft('cat "${log}"'));
  const resumed = await call('execute', { name: 'report', resume: failure.checkpoint.run_id });
  assert.equal(resumed.outputs.report, 'What was said: one line');
  await call('save_to_library', { draft_name: 'report', final_name: 'line-report', description: 'Reports the lines of a file' });
  assert.equal((await call('execute', { name: 'line-report', inputs })).outputs.report, 'What was said: one line\none line');
});
