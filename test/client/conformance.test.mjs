// The conformance suite of the protocol, against the server of internal/conformance, which is made of what pflow-serve is made of,
// against pflow-serve itself, and against the server of the Go SDK. docs/conformance.md says what each scenario comes to, and why. CASE_CONFORMANCE is the folder of the
// suite's packages: scripts/test --all installs them.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { describe } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newHome, program } from './suite.mjs';

const modules = process.env.CASE_CONFORMANCE;
const suite = `${modules}/@modelcontextprotocol/conformance/dist/index.js`;
const besideIt = `${modules}/node-${process.platform}-${process.arch}/bin/node`;
const node = existsSync(besideIt) ? besideIt : process.execPath;
const able = node === besideIt || Number(process.versions.node.split('.')[0]) >= 22;
const skip = !modules ? 'CASE_CONFORMANCE is not set: use scripts/test --all' : !able && 'needs Node 22';
const page = fileURLToPath(new URL('../../docs/conformance.md', import.meta.url));
const fixture = fileURLToPath(new URL('conformance-source.mjs', import.meta.url));
const everything = program('tools/everything-server');
const revisions = ['2026-07-28', '2025-11-25'];

describe('the conformance suite', { skip }, () => {
  test('the page has all scenarios for servers', async () => {
    const { stdout } = await run(['list']);
    const listed = stdout.split('Client scenarios')[0].match(/^ {2}- \S+/gm).map((line) => line.slice(4));
    assert.ok(listed.length > 60, stdout);
    assert.deepEqual((await scenarios()).map((s) => s.name), listed);
  });

  for (const [column, revision] of revisions.entries()) {
    test(`the server of the fixture, by ${revision}`, async (t) => {
      const url = await begin(t, program('tools/conformance'), []);
      const results = await check(t, url, revision);
      for (const { name, says, why } of await scenarios()) {
        assert.equal(results.get(name) ?? '', says[column], `${name}: ${why} ${results.wrong.get(name)}`);
        assert.ok(says.every((s) => s === 'yes' || s === '') && says.includes('yes') || why, `${name} needs a reason`);
      }
    });

    test(`pflow-serve itself, with tools of sources, by ${revision}`, async (t) => {
      const { env, path } = await newHome(t);
      await mkdir(path(), { recursive: true });
      await writeFile(path('serve.json'), JSON.stringify({ sources: ['quick', 'slow'].map(source) }));
      const line = await begin(t, program('pflow-serve'), ['http', '--listen', '127.0.0.1:0', '--toolsets', 'core,runs,workflows', '--format', 'json'], env);
      const results = await check(t, JSON.parse(line).url, revision), fixtures = await scenarios(), own = await failures();
      const failing = [...results.keys()].filter((name) => results.get(name) === 'no' && !own.has(name));
      const explained = new Set(fixtures.filter(({ says }) => says[column] === 'no').map(({ name }) => name));
      assert.deepEqual(failing.filter((name) => !explained.has(name)).map((name) => `${name}: ${results.wrong.get(name)}`), []);
    });

    test(`the server of the Go SDK, by ${revision}`, { skip: !existsSync(everything) && 'needs bin/tools/everything-server: use scripts/test' }, async (t) => {
      const address = await freeAddress();
      const server = spawn(everything, ['-http', address], { stdio: 'ignore' });
      t.after(() => server.kill());
      while (!await fetch(`http://${address}`).catch(() => false)) assert.equal(server.exitCode, null);
      const theirs = await check(t, `http://${address}`, revision), reasons = await failures();
      for (const { name, says, why } of await scenarios()) {
        if (theirs.get(name) === 'yes' && says[column] !== 'yes') assert.ok(why || reasons.has(name), `${name} passes there`);
      }
    });
  }
});

/** run runs a command of the suite. Its exit status says that scenarios failed, as some must. */
function run(args) {
  return new Promise((resolve) => {
    execFile(node, [suite, ...args], { maxBuffer: 1 << 26 }, (error, stdout, stderr) => resolve({ stdout, stderr }));
  });
}

/** begin starts a server and returns the line that it prints. The server ends with the test. */
async function begin(t, command, args, env = process.env) {
  const server = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => server.kill());
  const [line] = await once(createInterface({ input: server.stdout }), 'line');
  return line;
}

/** check runs the scenarios of a revision, and returns what each came to: yes, no, or – if the suite has checked nothing; wrong has why. */
async function check(t, url, revision) {
  const { dir } = await newHome(t);
  const { stdout, stderr } = await run(['server', '--url', url, '--requirements', revision, '-o', dir]);
  const results = new Map();
  results.wrong = new Map();
  for (const folder of await readdir(dir)) {
    const name = folder.match(/^server-(.*)-\d{4}-\d\d-\d\dT/)?.[1];
    if (!name) continue;
    const checks = JSON.parse(await readFile(join(dir, folder, 'checks.json'), 'utf8')), found = checks.map((c) => c.status);
    results.set(name, found.includes('FAILURE') ? 'no' : found.includes('SUCCESS') ? 'yes' : '–');
    results.wrong.set(name, checks.filter((c) => c.status === 'FAILURE').map((c) => c.errorMessage).join('; '));
  }
  assert.ok(results.size > 20, stdout + stderr);
  t.diagnostic(`${t.name}: ${stdout.match(/^Total: (.*)/m)?.[1]}`);
  return results;
}

/** source returns an entry of serve.json. */
function source(name) {
  const commands = ['list', 'run', ...name === 'slow' ? ['status', 'cancel'] : []].map((command) => [command, [process.execPath, fixture, name, command]]);
  return { name, ...Object.fromEntries(commands) };
}

/** freeAddress returns an address on which nothing listens. */
async function freeAddress() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return `127.0.0.1:${port}`;
}

/** failures returns the scenarios that fail with pflow-serve, by the page. */
async function failures() {
  const listed = (await readFile(page, 'utf8')).split('## pflow-serve itself')[1].match(/^\* .*?:/gm);
  return new Set(listed.flatMap((names) => names.match(/[a-z0-9]+(-[a-z0-9]+)+/g)));
}

/** scenarios returns the rows of the page. */
async function scenarios() {
  const rows = (await readFile(page, 'utf8')).match(/^\| `.*$/gm);
  return rows.map((row) => {
    const [, name, ...rest] = row.split('|').map((cell) => cell.trim());
    return { name: name.slice(1, -1), says: rest.slice(0, 2), why: rest[2] };
  });
}
