// Runs as MCP tasks, by the client library of the extension: @modelcontextprotocol/ext-tasks.
import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { describe } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newHome } from './suite.mjs';

const skip = Number(process.versions.node.split('.')[0]) < 20 && 'needs Node 20';
const { resultFromTaskOutcome } = skip ? {} : await import('@modelcontextprotocol/ext-tasks/client');
const { taskSession } = skip ? {} : await import('./tasks.mjs');

describe('@modelcontextprotocol/ext-tasks', { concurrency: true, skip }, () => {
  test('a run is a task that is polled to its result', async (t) => {
    const { home, log, open } = await gatedWorkflow(t);
    const { session, log: sent } = await taskSession(t, home);
    const execution = await session.callTool('execute', { name: 'gated', inputs: { log } });
    assert.equal(execution.kind, 'task');
    const polls = () => sent.filter((s) => s.request.method === 'tasks/get').map((s) => s.answer.result);
    const settled = execution.settle();
    while (!polls().some((poll) => poll.statusMessage === '1 of 2 done; wait')) await pause(20);
    assert.ok(polls().every((poll) => poll.status === 'working'), JSON.stringify(polls()));
    await open();
    const { outcome } = await settled;
    const result = resultFromTaskOutcome(outcome);
    assert.equal(result.structuredContent.run_id, execution.handle.taskId);
    assert.deepEqual(result.structuredContent.outputs, { last: 'went on' });
    assert.equal(polls().at(-1).status, 'completed');
    assert.equal(await readFile(log, 'utf8'), 'began\n');
  });

  test('a run that ends at once is a result, and a failure after that is the result of a completed task', async (t) => {
    const { home, open, log } = await gatedWorkflow(t);
    await home.draft('quick', { nodes: [{ id: 'a', type: 'echo', params: { message: 'x' } }] });
    await home.draft('late', { nodes: [{ id: 'a', type: 'shell', params: { command: `until [ -e ${log}.gate ]; do sleep 0.05; done; exit 3` } }] });
    const { session } = await taskSession(t, home);
    let quick;
    do quick = await session.callTool('execute', { name: 'quick' });
    while (quick.kind !== 'immediate'); // on a busy machine a run may become a task before it ends
    assert.equal(resultFromTaskOutcome(await quick.result()).structuredContent.status, 'completed');
    const late = await session.callTool('execute', { name: 'late', wait_seconds: 0 });
    assert.equal(late.kind, 'task');
    await open();
    const { outcome } = await late.settle();
    assert.equal(outcome.status, 'completed');
    assert.equal(outcome.result.isError, true);
    assert.equal(outcome.result.structuredContent.error.node, 'a');
  });

  test('a task is cancelled', async (t) => {
    const { home, log } = await gatedWorkflow(t);
    const { session } = await taskSession(t, home);
    const execution = await session.callTool('execute', { name: 'gated', inputs: { log } });
    await execution.cancel();
    const { outcome } = await execution.settle();
    assert.equal(outcome.status, 'cancelled');
    const [run] = await home.run('pflow-exec', 'list', '--format', 'json');
    assert.equal(run.status, 'cancelled');
    await session.cancelTask(execution.handle.taskId); // does nothing to a task that has ended
  });

  test('a task asks, is answered, asks again and goes on', async (t) => {
    const { home, log } = await gatedWorkflow(t);
    await home.draft('asking', {
      nodes: [
        { id: 'drop', type: 'shell', approval: { question: 'Drop the table?' }, params: { command: `echo dropped >> ${log}` } },
        { id: 'tell', type: 'shell', approval: { question: 'Tell them?' }, params: { command: 'echo told' } },
      ],
      edges: [{ from: 'drop', to: 'tell' }],
      outputs: { last: { source: '${tell.stdout}' } },
    });
    const asked = [];
    const { session } = await taskSession(t, home, {
      onInputRequest: async ({ kind, params }) => {
        asked.push(`${kind}: ${params.message.split('\n')[0]}`);
        return { action: 'accept', content: { answer: 'yes' } };
      },
    });
    const execution = await session.callTool('execute', { name: 'asking' });
    assert.equal(execution.kind, 'task');
    const { outcome } = await execution.settle();
    assert.deepEqual(resultFromTaskOutcome(outcome).structuredContent.outputs, { last: 'told' });
    assert.deepEqual(asked, ['elicitation: Drop the table?', 'elicitation: Tell them?']);
    assert.equal(await readFile(log, 'utf8'), 'dropped\n');
  });

  test('a server is killed and started again between polls', async (t) => {
    const { home, log, open } = await gatedWorkflow(t);
    const first = await taskSession(t, home);
    const execution = await first.session.callTool('execute', { name: 'gated', inputs: { log } });
    let reference;
    await execution.handoff((r) => { reference = structuredClone(r); });
    first.kill();

    const second = await taskSession(t, home, { args: ['--toolsets', 'runs'] });
    const seen = await second.session.task(reference.taskId).snapshot();
    assert.equal(seen.taskId, execution.handle.taskId);
    assert.equal(seen.status, 'working');
    second.kill();
    await open();

    const third = await taskSession(t, home);
    const resumed = await third.session.resumeTask(reference);
    const { outcome } = await resumed.settle();
    assert.deepEqual(resultFromTaskOutcome(outcome).structuredContent.outputs, { last: 'went on' });
    assert.equal(await readFile(log, 'utf8'), 'began\n');
    assert.equal((await home.run('pflow-exec', 'list', '--format', 'json')).length, 1, 'there is one run');
    await assert.rejects(third.session.task(`${reference.taskId}0`).snapshot(), (e) => e.code === -32602);
  });
});

/** gatedWorkflow makes a home with a workflow whose second node waits until open is called. */
async function gatedWorkflow(t) {
  const home = await newHome(t);
  const log = join(home.dir, 'log');
  await home.draft('gated', {
    inputs: { log: { type: 'string' } },
    nodes: [
      { id: 'begin', type: 'shell', params: { command: 'echo began >> "${log}"' } },
      { id: 'wait', type: 'shell', params: { command: 'until [ -e "${log}.gate" ]; do sleep 0.05; done; echo went on' } },
    ],
    edges: [{ from: 'begin', to: 'wait' }],
    outputs: { last: { source: '${wait.stdout}' } },
  });
  return { home, log, open: () => writeFile(`${log}.gate`, '') };
}
