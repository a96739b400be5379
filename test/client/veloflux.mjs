// What the tests of veloflux-mcp share: a veloFlux Manager, and the job that each client does.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { program } from './suite.mjs';

export const catalog = {
  functions: 'veloFlux://catalog/functions_digest',
  syntax: 'veloFlux://catalog/syntax_digest',
  snapshot: 'veloFlux://streams/snapshot',
  schema: (stream) => `veloFlux://streams/schema?name=${encodeURIComponent(stream)}`,
};

/** sql is one mistake, and its two corrections: the first holds what the Manager silently drops. */
export const sql = { wrong: 'SELECT a FORM user', limited: 'SELECT a FROM user LIMIT 3', right: 'SELECT a FROM user' };

/** newManager runs a Manager that ends with the test. */
export async function newManager(t) {
  const child = spawn(program('tools/velofluxserver'), { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  t.after(async () => {
    child.stdin.end();
    await exit;
  });
  const [url] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    exit.then(() => assert.fail('the Manager does not start; scripts/test builds bin/tools/velofluxserver')),
  ]);
  const get = async (path) => (await fetch(url + path)).json();
  return {
    url,
    /** args are those of a veloflux-mcp that serves this Manager. */
    args: (...more) => ['--stdio', '--manager-url', url, ...more],
    start: (pipeline) => fetch(`${url}/pipelines/${pipeline}/start`, { method: 'POST' }),
    pipelines: () => get('/pipelines'),
    /** requests are those that came so far, as "METHOD path". */
    requests: async () => (await get('/__requests')).map(({ method, path }) => `${method} ${path}`),
  };
}

/**
 * askVerifyLoop does what an agent does: it looks for what there is, verifies wrong SQL, and corrects it until nothing is
 * wrong with it. The client has the methods of the SDKs' clients. named returns a tool's name as the server writes it.
 */
export async function askVerifyLoop(client, manager, named = (tool) => tool) {
  const { tools } = await client.listTools();
  const names = tools.map((tool) => tool.name);
  for (const tool of ['streams.list', 'streams.describe', 'catalog.functions', 'catalog.syntax_capabilities',
    'pipelines.create', 'pipelines.explain', 'pipelines.delete', 'pipelines.verify']) {
    assert.ok(names.includes(named(tool)), `${named(tool)} is not among ${names}`);
  }
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map(({ uri }) => uri).sort(), [catalog.functions, catalog.syntax, catalog.snapshot]);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate), ['veloFlux://streams/schema{?name}']);

  // Ask.
  const { streams } = succeeded(await client.callTool({ name: named('streams.list'), arguments: {} }));
  assert.ok(streams.some(({ name }) => name === 'user'), 'there is a stream user');

  const read = async (uri) => document(await client.readResource({ uri }), uri);
  const { functions } = await read(catalog.functions);
  assert.ok(functions.some(({ name }) => name === 'sum'), 'there is a function sum');
  assert.ok(JSON.stringify(await read(catalog.syntax)).includes('SELECT'), 'the syntax has SELECT');
  const snapshot = await read(catalog.snapshot);
  assert.ok(Date.parse(snapshot.fetched_at), `${snapshot.fetched_at} is a time`);
  assert.deepEqual(snapshot.streams.find(({ name }) => name === 'user'), { name: 'user', cols: 4, sample_cols: ['a', 'b', 'c', 'ts'] });
  const { schema } = await read(catalog.schema('user'));
  assert.deepEqual(schema.columns[0], { name: 'a', data_type: 'int64' });

  // Verify, and loop.
  const verify = (statement) => client.callTool({ name: named('pipelines.verify'), arguments: { sql: statement } });
  const error = failed(await verify(sql.wrong));
  assert.equal(error.error_code, 'planner_error');
  assert.match(error.error_message, /Expected end of statement/);
  assert.deepEqual([error.details.line, error.details.column], [1, 15]);

  const limited = succeeded(await verify(sql.limited));
  assert.equal(limited.valid, true);
  assert.deepEqual(limited.warnings.map(({ construct, line, column }) => [construct, line, column]), [['LIMIT', 1, 20]]);

  const right = succeeded(await verify(sql.right));
  assert.match(right.pretty, /Logical Plan/);
  assert.deepEqual(right.warnings, []);

  await assertNothingLeft(manager, 3);
}

/** assertNothingLeft asserts that as many pipelines were asked for, and none is left. */
export async function assertNothingLeft(manager, verified) {
  const created = (await manager.requests()).filter((request) => request === 'POST /pipelines');
  assert.equal(created.length, verified, 'each verification has the Manager plan');
  assert.deepEqual(await manager.pipelines(), []);
}

/** succeeded is the structured answer of a tool that did not fail. */
export function succeeded(result) {
  assert.ok(!result.isError, result.content[0].text);
  assert.equal(result.content[0].type, 'text');
  assert.ok(result.structuredContent, `there is structured content beside ${result.content[0].text}`);
  return result.structuredContent;
}

/** failed is the error of a tool that failed, as its text and its structured content have it. */
export function failed(result) {
  assert.equal(result.isError, true, JSON.stringify(result));
  const error = JSON.parse(result.content[0].text);
  assert.deepEqual(result.structuredContent, error);
  return error;
}

/** document is what was read, one JSON document. */
export function document({ contents }, uri) {
  assert.equal(contents.length, 1);
  assert.equal(contents[0].uri, uri);
  assert.equal(contents[0].mimeType, 'application/json');
  return JSON.parse(contents[0].text);
}
