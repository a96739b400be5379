// The main job by the Python client, in both eras of the protocol. The interpreter with its packages is CASE_PYTHON:
// scripts/test --all installs them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { newHome, program } from './suite.mjs';

const python = process.env.CASE_PYTHON;
const skip = !python && 'CASE_PYTHON is not set: use scripts/test --all';
const script = fileURLToPath(new URL('main_job.py', import.meta.url));

for (const [mode, revision] of [['legacy', '2025-11-25'], ['auto', '2026-07-28']]) {
  test(`the main job by the Python client, protocol ${revision}`, { skip }, async (t) => {
    const home = await newHome(t);
    const log = join(home.dir, 'log');
    const { stdout } = await promisify(execFile)(python, [script, mode, log, program('pflow-serve')], { env: home.env, cwd: home.dir });
    const job = JSON.parse(stdout);
    assert.equal(job.revision, revision);
    assert.equal(job.answers.length, 8);
    const bytes = job.answers.reduce((sum, answer) => sum + answer.bytes, 0);
    assert.ok(bytes <= 8192, `the answers have ${bytes} bytes: ${JSON.stringify(job.answers)}`);
    assert.equal(await readFile(log, 'utf8'), 'one line\none line\n');
  });
}
