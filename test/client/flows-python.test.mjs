// A shared flow by the Python client over HTTP, in both eras of the protocol. The interpreter with its packages is CASE_PYTHON:
// scripts/test --all installs them.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sharedFlow } from './shared-flow.mjs';
import { program } from './suite.mjs';

const python = process.env.CASE_PYTHON;
const skip = !python && 'CASE_PYTHON is not set: use scripts/test --all';
const script = fileURLToPath(new URL('flows.py', import.meta.url));

for (const [mode, revision] of [['legacy', '2025-11-25'], ['auto', '2026-07-28']]) {
  test(`a shared flow by the Python client, protocol ${revision}`, { skip }, async (t) => {
    const { home, token, url } = await sharedFlow(t, program('pflow-serve'));
    const { stdout } = await promisify(execFile)(python, [script, mode, url, token], { env: home.env, cwd: home.dir });
    const seen = JSON.parse(stdout);
    assert.equal(seen.revision, revision);
    assert.deepEqual(seen.tools.sort(), ['get_flow_info', 'get_run_status', 'run_flow']);
    assert.deepEqual(seen.info.inputs, [{ id: 'who', label: 'who', type: 'text-input' }]);
    assert.equal(seen.started.status, 'started');
    assert.equal(seen.polled.outputs.greeting.value, 'Hello, Ada');
    assert.deepEqual(seen.progress.map(([, , message]) => message), ['Flow: running', 'say: running', 'say: success', 'write: running', 'write: success']);
    const amounts = seen.progress.map(([amount]) => amount);
    assert.deepEqual(amounts, [...new Set(amounts)].sort((a, b) => a - b), 'progress grows');
    assert.equal(seen.ended.outputs.greeting.value, 'Hello, Grace');
    assert.deepEqual(seen.links, [{ uri: seen.ended.outputs.letter.uri, name: 'letter.txt', mimeType: 'text/plain', size: 3000 }]);
    assert.equal(seen.ended.outputs.letter.size_bytes, 3000);
    assert.equal(seen.letter, `${'0'.repeat(2999)}7`);
    assert.match(seen.refused, /^Job not found: /);
  });
}
