// veloflux-mcp served to the command line of the MCP inspector.
import assert from 'node:assert/strict';
import test from 'node:test';
import { inspector, skip } from './inspector.mjs';
import { newHome, program } from './suite.mjs';
import { assertNothingLeft, catalog, document, failed, newManager, sql, succeeded } from './veloflux.mjs';

test('ask, verify, loop by @modelcontextprotocol/inspector', { skip }, async (t) => {
  const manager = await newManager(t);
  const home = await newHome(t);
  const inspect = inspector(home.env, [program('veloflux-mcp'), ...manager.args()]);
  const result = async (method, ...args) => {
    const { code, stdout, stderr } = await inspect(method, ...args);
    assert.equal(code, 0, `${method} ${args}: ${stdout}${stderr}`);
    return JSON.parse(stdout).result;
  };
  const call = (tool, args) => ['tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args)];

  const { tools } = await result('tools/list', '--strict');
  assert.ok(tools.some(({ name }) => name === 'pipelines.verify'));
  const { resources } = await result('resources/list');
  assert.deepEqual(resources.map(({ uri }) => uri).sort(), [catalog.functions, catalog.syntax, catalog.snapshot]);
  for (const uri of [catalog.functions, catalog.schema('user')]) {
    assert.ok(document(await result('resources/read', '--uri', uri), uri));
  }
  const { streams } = succeeded(await result(...call('streams.list', {})));
  assert.ok(streams.some(({ name }) => name === 'user'));

  const { code, stdout, stderr } = await inspect(...call('pipelines.verify', { sql: sql.wrong }));
  assert.equal(code, 5, stderr);
  assert.equal(JSON.parse(stderr).error.code, 'tool_is_error');
  const { error_code, details } = failed(JSON.parse(stdout).result);
  assert.deepEqual([error_code, details.line, details.column], ['planner_error', 1, 15]);

  const limited = succeeded(await result(...call('pipelines.verify', { sql: sql.limited })));
  assert.deepEqual(limited.warnings.map(({ construct }) => construct), ['LIMIT']);
  assert.deepEqual(succeeded(await result(...call('pipelines.verify', { sql: sql.right }))).warnings, []);
  await assertNothingLeft(manager, 3);
});
