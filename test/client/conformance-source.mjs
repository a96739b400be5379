// Sources of workflows for pflow-serve with tools that the conformance suite calls, as far as a workflow can be such a tool: `quick` answers
// at once, `slow` takes its time and reports progress. An execution is known by when it ends, so the commands share nothing.
import { text } from 'node:stream/consumers';

const address = { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } };
const byPhone = { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] };
const schemas = {
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', $defs: { address },
    properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' }, contactMethod: { type: 'string', enum: ['phone', 'email'] }, phone: { type: 'string' }, email: { type: 'string' } },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }], if: byPhone, then: { required: ['phone'] }, else: { required: ['email'] }, additionalProperties: false,
  },
  test_x_mcp_header: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, level: { type: 'integer' } } },
};
const tools = {
  quick: ['test_simple_text', 'test_error_handling', 'json_schema_2020_12_tool', 'test_x_mcp_header', 'test_streaming_elicitation', 'test_logging_tool', 'greet'],
  slow: ['test_tool_with_progress', 'slow_compute', 'failing_job'],
};

const commands = {
  list: (source) => tools[source].map((name) => ({ id: name, name, description: `The tool ${name} of the conformance suite`, inputSchema: schemas[name] })),
  run(source, { id, arguments: given }) {
    if (id === 'test_error_handling') throw new Error('This tool intentionally returns an error for testing');
    if (source === 'quick') return `This is a simple text response for testing: ${given.name ?? id}`;
    const time = 1000 * (given.seconds ?? 3);
    return { execution_id: JSON.stringify({ until: Date.now() + time, time, label: given.label ?? id }) };
  },
  status(_, { id, execution_id: execution }) {
    const { until, time, label } = JSON.parse(execution), left = until - Date.now();
    if (left > 0) return { status: 'running', progress: { done: Math.round(100 * (1 - left / time)), total: 100, message: 'computing' } };
    return id === 'failing_job' ? { status: 'failed', error: 'It failed' } : { status: 'completed', result: `computed ${label}` };
  },
  cancel: () => ({}),
};

const [source, command] = process.argv.slice(2);
console.log(JSON.stringify(commands[command](source, command === 'list' ? undefined : JSON.parse(await text(process.stdin)))));
