// veloflux-mcp served with Content-Length headers to vscode-jsonrpc, the client that editors use for their language servers.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'node:test';
import { createMessageConnection, StreamMessageReader, StreamMessageWriter } from 'vscode-jsonrpc/node';
import { newHome, program } from './suite.mjs';
import { askVerifyLoop, newManager } from './veloflux.mjs';

test('ask, verify, loop behind Content-Length headers, --framing auto', (t) => throughBadFrames(t, 'auto'));

test('ask, verify, loop behind Content-Length headers, --framing lsp', (t) => throughBadFrames(t, 'lsp'));

/** throughBadFrames does the job after frames that hold no message; the end of its input ends the server. */
async function throughBadFrames(t, framing) {
  const manager = await newManager(t);
  const client = await connect(t, manager.args('--framing', framing));
  const { protocolVersion, serverInfo } = await client.request('initialize', {
    protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'end-to-end', version: '1' },
  });
  assert.equal(protocolVersion, '2025-11-25');
  assert.equal(serverInfo.name, 'veloflux-mcp');
  await client.notify('notifications/initialized');

  for (const body of ['{"jsonrpc": "2.0", "id": 7, "method": ', 'no JSON at all', '"Grüße"']) {
    const refusal = client.withoutID();
    client.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const { code } = await refusal;
    assert.ok([-32700, -32600].includes(code), `${body}: ${code}`);
  }
  await askVerifyLoop(client, manager);

  client.end();
  assert.deepEqual(await client.exit, [0, null]);
}

/** connect starts a server and returns a client with the methods of the SDKs' clients. */
async function connect(t, args) {
  const home = await newHome(t);
  const child = spawn(program('veloflux-mcp'), args, { env: home.env, stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  let refused = () => {};
  const error = (message) => refused(message); // how the connection reports an answer without an id
  const connection = createMessageConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin),
    { error, warn: error, info() {}, log() {} });
  connection.listen();
  t.after(async () => {
    connection.dispose();
    child.stdin.end();
    await exit;
  });
  const request = (method, params = {}) => connection.sendRequest(method, params);
  return {
    exit,
    request,
    notify: (method) => connection.sendNotification(method, {}),
    listTools: () => request('tools/list'),
    listResources: () => request('resources/list'),
    listResourceTemplates: () => request('resources/templates/list'),
    readResource: (params) => request('resources/read', params),
    callTool: (params) => request('tools/call', params),

    write: (text) => child.stdin.write(text),
    end: () => child.stdin.end(),

    /** withoutID is the error of the next answer that has no id. */
    withoutID: () => new Promise((resolve) => {
      refused = (message) => resolve(JSON.parse(message.slice(message.indexOf('{'))));
    }),
  };
}
