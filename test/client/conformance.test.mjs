// The conformance suite of the protocol, against the server of internal/conformance, which is made of what pflow-serve is made of, and
// against pflow-serve itself. docs/conformance.md says what each scenario comes to, and why. CASE_CONFORMANCE is the folder of the
// suite's packages: scripts/test --clients installs them.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
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
const skip = !modules ? 'CASE_CONFORMANCE is not set: use scripts/test --clients' : !able && 'needs Node 22';
const page = fileURLToPath(new URL('../../docs/conformance.md', import.meta.url));
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
        assert.equal(results.get(name) ?? '', says[column], `${name}: ${why}`);
        assert.ok(says.every((s) => s === 'yes' || s === '') && says.includes('yes') || why, `${name} needs a reason`);
      }
    });

    test(`pflow-serve itself, by ${revision}`, async (t) => {
      const { env } = await newHome(t);
      const url = JSON.parse(await begin(t, program('pflow-serve'), ['http', '--listen', '127.0.0.1:0', '--format', 'json'], env)).url;
      const results = await check(t, url, revision);
      const own = (await readFile(page, 'utf8')).match(new RegExp(`^\\* ${revision}: (.*)$`, 'm'))[1].match(/[a-z0-9-]+/g);
      for (const name of own) assert.equal(results.get(name), 'yes', name);
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

/** check runs the scenarios of a revision, and returns what each came to: yes, no, or – if the suite has checked nothing. */
async function check(t, url, revision) {
  const { dir } = await newHome(t);
  const { stdout, stderr } = await run(['server', '--url', url, '--requirements', revision, '-o', dir]);
  const results = new Map();
  for (const folder of await readdir(dir)) {
    const name = folder.match(/^server-(.*)-\d{4}-\d\d-\d\dT/)?.[1];
    if (!name) continue;
    const found = JSON.parse(await readFile(join(dir, folder, 'checks.json'), 'utf8')).map((c) => c.status);
    results.set(name, found.includes('FAILURE') ? 'no' : found.includes('SUCCESS') ? 'yes' : '–');
  }
  assert.ok(results.size > 20, stdout + stderr);
  return results;
}

/** scenarios returns the rows of the page. */
async function scenarios() {
  const rows = (await readFile(page, 'utf8')).match(/^\| `.*$/gm);
  return rows.map((row) => {
    const [, name, ...rest] = row.split('|').map((cell) => cell.trim());
    return { name: name.slice(1, -1), says: rest.slice(0, 2), why: rest[2] };
  });
}
