// Approvals by clients of others: each asks a person (here the test) what the run asks, by elicitation/create in the revisions before
// 2026-07-28 and by input_required results in that one, and gets the end of the run for an answer.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { newHome, program } from './suite.mjs';

const node20 = Number(process.versions.node.split('.')[0]) >= 20 ? false : 'needs Node 20';
const python = process.env.CASE_PYTHON;
const script = fileURLToPath(new URL('approvals.py', import.meta.url));

const clients = [
  { name: '@modelcontextprotocol/sdk', revision: '2025-11-25', skip: false, ask: bySDK },
  { name: '@modelcontextprotocol/client', revision: '2025-11-25', skip: node20, ask: (...args) => byClient({}, ...args) },
  { name: '@modelcontextprotocol/client', revision: '2026-07-28', skip: node20, ask: (...args) => byClient({ versionNegotiation: { mode: 'auto' } }, ...args) },
  { name: 'the Python client', revision: '2025-11-25', skip: !python && 'CASE_PYTHON is not set: use scripts/test --all', ask: (...args) => byPython('legacy', ...args) },
  { name: 'the Python client', revision: '2026-07-28', skip: !python && 'CASE_PYTHON is not set: use scripts/test --all', ask: (...args) => byPython('auto', ...args) },
];

for (const { name, revision, skip, ask } of clients) {
  test(`a person approves, denies and dismisses, by ${name}, protocol ${revision}`, { skip }, async (t) => {
    const home = await newHome(t);
    await home.draft('release', {
      nodes: [
        { id: 'count', type: 'shell', params: { command: 'echo counted >> counted; printf 2' } },
        { id: 'colour', type: 'shell', approval: { question: 'Which colour?', choices: ['red', 'blue'] }, params: { command: 'printf "%s" "${__answer__}"' } },
        { id: 'ship', type: 'shell', approval: { question: 'Ship ${count.stdout} files?' }, params: { command: 'echo shipped ${count.stdout} in ${colour.stdout}' } },
      ],
      edges: [{ from: 'count', to: 'colour' }, { from: 'colour', to: 'ship' }],
      outputs: { said: { source: '${ship.stdout}' } },
    });
    const accept = (answer) => ({ action: 'accept', content: { answer } });
    for (const [replies, status, asked, runs] of [
      [[accept('blue'), accept('yes')], 'completed', 2, 3],
      [[accept('red'), { action: 'decline' }], 'denied', 2, 6],
      [[{ action: 'cancel' }], 'paused', 1, 7],
    ]) {
      const { negotiated, messages, answer } = await ask(home, replies);
      assert.equal(negotiated, revision);
      assert.equal(answer.status, status, JSON.stringify(answer));
      assert.equal(messages.length, asked, messages.join('\n'));
      assert.match(messages[0], /^Which colour\?/);
      if (asked > 1) assert.match(messages[1], /^Ship 2 files\?[^]*echo shipped 2 in/);
      if (status === 'completed') assert.equal(answer.outputs.said, 'shipped 2 in blue');
      assert.equal((await home.run('pflow-exec', 'list', '--format', 'json')).length, runs, 'each answer continues the run before');
    }
  });
}

/** read takes the time of a person who reads a question: a client that declines at once has shown it to nobody. */
const read = (reply) => pause(400, reply);

/** bySDK calls execute by the first generation of the TypeScript SDK, and replies to each question with the next of the replies. */
async function bySDK(home, replies) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js');
  const client = new Client({ name: 'end-to-end', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  const messages = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => read(replies[messages.push(params.message) - 1]));
  await client.connect(new StdioClientTransport({ command: program('pflow-serve'), env: home.env, cwd: home.dir }));
  try {
    const { structuredContent } = await client.callTool({ name: 'execute', arguments: { name: 'release' } });
    return { negotiated: '2025-11-25', messages, answer: structuredContent };
  } finally {
    await client.close();
  }
}

/** byClient does the same by the second generation. */
async function byClient(options, home, replies) {
  const { Client } = await import('@modelcontextprotocol/client');
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio');
  const client = new Client({ name: 'end-to-end', version: '1' }, { capabilities: { elicitation: { form: {} } }, ...options });
  const messages = [];
  client.setRequestHandler('elicitation/create', ({ params }) => read(replies[messages.push(params.message) - 1]));
  await client.connect(new StdioClientTransport({ command: program('pflow-serve'), env: home.env, cwd: home.dir }));
  try {
    const { structuredContent } = await client.callTool({ name: 'execute', arguments: { name: 'release' } });
    return { negotiated: client.getNegotiatedProtocolVersion(), messages, answer: structuredContent };
  } finally {
    await client.close();
  }
}

/** byPython does the same by the Python client. */
async function byPython(mode, home, replies) {
  const { stdout } = await promisify(execFile)(python, [script, mode, JSON.stringify(replies), program('pflow-serve')], { env: home.env, cwd: home.dir });
  return JSON.parse(stdout);
}
