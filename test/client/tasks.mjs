// A session of @modelcontextprotocol/ext-tasks with pflow-serve, over the transport of @modelcontextprotocol/client. The client accepts
// no results that are tasks, so the requests about tasks pass it by: they go over the same transport under ids of their own.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client';
import { program } from './suite.mjs';

const clientInfo = { name: 'end-to-end', version: '1' };

/**
 * taskSession connects to a new server of a home. kill ends the server as a crash would. log has every request about tasks with its
 * answer. onInputRequest answers what a task asks.
 */
export async function taskSession(t, home, { onInputRequest, args = [] } = {}) {
  const transport = new StdioClientTransport({ command: program('pflow-serve'), args, env: home.env, cwd: home.dir });
  const rawDispatch = intercept(transport);
  const client = new Client(clientInfo, { versionNegotiation: { mode: 'auto' }, capabilities: onInputRequest ? { elicitation: {} } : {} });
  await client.connect(transport);
  const log = [];
  const session = createTaskSessionFromClient(client, {
    endpointId: home.dir,
    onInputRequest,
    rawDispatch: async (request) => {
      const answer = await rawDispatch(request);
      log.push({ request, answer });
      return answer;
    },
    v2RequestFraming: { protocolVersion: '2026-07-28', clientInfo, clientCapabilities: onInputRequest ? { elicitation: {} } : {} },
  });
  t.after(() => client.close());
  return { session, log, kill: () => process.kill(transport.pid, 'SIGKILL') };
}

/** intercept returns a function that sends a request over a transport, whose answer the client of the transport does not see. */
function intercept(transport) {
  const waiting = new Map();
  let next = 0, deliver;
  Object.defineProperty(transport, 'onmessage', {
    get: () => deliver && ((message, extra) => {
      const answered = waiting.get(message.id);
      waiting.delete(message.id);
      if (!answered) deliver(message, extra);
      else if (message.error) answered({ kind: 'error', error: message.error });
      else answered({ kind: 'result', result: message.result });
    }),
    set: (handler) => { deliver = handler; },
  });
  return (request) => new Promise((resolve, reject) => {
    const id = `task-${next++}`;
    waiting.set(id, resolve);
    transport.send({ jsonrpc: '2.0', id, ...request }).catch(reject);
  });
}
