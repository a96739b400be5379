// One trace: from an MCP call through a workflow to a program that uses OpenTelemetry itself.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { newHome, program } from './suite.mjs';

const trace = '0af7651916cd43dd8448eb211c80319c';
const caller = 'b7ad6b7169203331';

for (const protocol of ['http/json', 'http/protobuf']) {
  test(`one trace from an MCP call to a program with @opentelemetry/sdk-trace-base, ${protocol}`, (t) => oneTrace(t, protocol));
}

async function oneTrace(t, protocol) {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
  const spans = [];
  const collector = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const type = request.headers['content-type'];
    if (request.url === '/v1/traces') spans.push(...(type === 'application/json' ? fromJSON(body) : fromProtobuf(body)));
    response.setHeader('content-type', type).end(type === 'application/json' ? '{}' : '');
  });
  await new Promise((resolve) => collector.listen(0, '127.0.0.1', resolve));
  t.after(() => collector.close());
  const home = await newHome(t);
  home.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${collector.address().port}`;
  home.env.OTEL_EXPORTER_OTLP_PROTOCOL = protocol; // the program itself always sends JSON
  await home.draft('traced', { nodes: [{ id: 'child', type: 'shell', params: { command: `"${process.execPath}" "${fileURLToPath(new URL('traced-child.mjs', import.meta.url))}"` } }] });

  const client = new Client({ name: 'end-to-end', version: '1' });
  await client.connect(new StdioClientTransport({ command: program('pflow-serve'), env: home.env, cwd: home.dir }));
  t.after(() => client.close());
  const { structuredContent: run } = await client.callTool({
    name: 'execute', arguments: { name: 'traced' }, _meta: { traceparent: `00-${trace}-${caller}-01`, baggage: 'user=ada' },
  });
  assert.equal(run.status, 'completed', JSON.stringify(run));
  await promisify(execFile)('sh', ['-c', `"${program('pflow-exec')}" events last | "${program('pflow-otel')}"`], { env: home.env });

  const byName = Object.fromEntries(spans.map((span) => [span.name, span]));
  assert.deepEqual(Object.keys(byName).sort(), ['RUN traced', 'child', 'work of the child']);
  assert.ok(spans.every((span) => span.traceId === trace), 'all spans are of the trace of the call');
  assert.equal(byName['RUN traced'].parentSpanId, caller);
  assert.equal(byName.child.parentSpanId, byName['RUN traced'].spanId);
  assert.equal(byName['work of the child'].parentSpanId, byName.child.spanId);
  const { stdout } = await promisify(execFile)(program('pflow-exec'), ['logs', 'last', '--format', 'text'], { env: home.env });
  assert.equal(stdout.trim(), `child | user=ada ${byName.child.spanId}`);
}

const fromJSON = (body) => (JSON.parse(body).resourceSpans ?? []).flatMap((r) => r.scopeSpans.flatMap((s) => s.spans));

/** fromProtobuf returns the spans of a TracesData: its fields are numbered as in opentelemetry/proto/trace/v1/trace.proto. */
function fromProtobuf(body) {
  return fields(body, 1).flatMap((resource) => fields(resource, 2)).flatMap((scope) => fields(scope, 2)).map((span) => ({
    traceId: fields(span, 1)[0].toString('hex'), spanId: fields(span, 2)[0].toString('hex'),
    parentSpanId: fields(span, 4)[0]?.toString('hex'), name: fields(span, 5)[0].toString(),
  }));
}

/** fields returns the values of a field of a message that have a length. */
function fields(message, number) {
  const values = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = message[at++];
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    switch (tag & 7) {
      case 0: varint(); break;
      case 1: at += 8; break;
      case 5: at += 4; break;
      default: {
        const length = varint();
        if (tag >> 3 === number) values.push(message.subarray(at, at + length));
        at += length;
      }
    }
  }
  return values;
}
