// A host of MCP Apps: the official bridge of the extension in this process, and in the browser a page that holds the App in a sandboxed
// iframe of another origin, under the policy that the specification makes of the App's _meta.
import { AppBridge, RESOURCE_MIME_TYPE, getToolUiResourceUri } from '@modelcontextprotocol/ext-apps/app-bridge';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import assert from 'node:assert/strict';
import { newPage } from './browser.mjs';
import { program } from './suite.mjs';

/** Pipe is the transport between the bridge and the App: postMessage in the page. */
class Pipe {
  constructor(page) {
    this.page = page;
  }

  async start() {
    await this.page.exposeBinding('fromApp', (_, message) => this.onmessage?.(message));
  }

  async send(message) {
    await this.page.evaluate((m) => document.querySelector('iframe').contentWindow.postMessage(m, '*'), message);
  }

  async close() {
    this.onclose?.();
  }
}

const hostPage = (width) => `<!doctype html><title>host</title><style>body{margin:0}iframe{border:0;width:${width}px;height:800px}</style>
<script>addEventListener('message', (e) => { if (e.source === document.querySelector('iframe').contentWindow) fromApp(e.data) })</script>
<body></body>`;

/** policy is the policy for the document of an App, from the domains that it declares. */
function policy({ connectDomains = [], resourceDomains = [], frameDomains = [], baseUriDomains = [] } = {}) {
  const own = (directive, first, domains) => `${directive} ${[...first, ...domains].join(' ') || "'none'"}`;
  return ["default-src 'none'", own('script-src', ["'self'", "'unsafe-inline'"], resourceDomains), own('style-src', ["'self'", "'unsafe-inline'"], resourceDomains),
    own('connect-src', [], connectDomains), own('img-src', ["'self'", 'data:'], resourceDomains), own('frame-src', [], frameDomains), "object-src 'none'",
    own('base-uri', [], baseUriDomains)].join('; ');
}

/** serve connects a client that supports Apps to pflow-serve. */
export async function serve(t, home, ...args) {
  const client = new Client({ name: 'host', version: '1' }, { capabilities: { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: [RESOURCE_MIME_TYPE] } } } });
  await client.connect(new StdioClientTransport({ command: program('pflow-serve'), args, env: home.env, cwd: home.dir }));
  t.after(() => client.close());
  return client;
}

/** open shows the App of a tool in a page of its own, and calls the tool. Handlers answer the App in place of the server. */
export async function open(t, browser, client, name, args, { width = 800, theme = 'light', colorScheme = 'light', handlers = {} } = {}) {
  const { tools } = await client.listTools();
  const tool = tools.find((tool) => tool.name === name);
  const { contents: [app] } = await client.readResource({ uri: getToolUiResourceUri(tool) });
  assert.equal(app.mimeType, RESOURCE_MIME_TYPE);

  const page = await newPage(t, browser, { viewport: { width, height: 1000 }, colorScheme });
  const wrong = [], requested = [];
  page.on('pageerror', (error) => wrong.push(error.message));
  page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) wrong.push(message.text()); });
  page.on('request', (request) => requested.push(request.url()));
  await page.context().route('**/*', (route) => {
    const url = route.request().url();
    if (url === 'http://host.test/') return route.fulfill({ contentType: 'text/html', body: hostPage(width) });
    if (url === 'http://sandbox.test/') {
      return route.fulfill({ contentType: 'text/html; charset=utf-8', body: app.text, headers: { 'Content-Security-Policy': policy(app._meta.ui.csp) } });
    }
    return route.abort();
  });

  const bridge = new AppBridge(client, { name: 'host', version: '1' }, { serverTools: {}, serverResources: {}, updateModelContext: { text: {} } },
    { hostContext: { theme, toolInfo: { tool }, displayMode: 'inline', containerDimensions: { width, maxHeight: 5000 } } });
  const host = { page, bridge, app, wrong, requested, told: [], sizes: [] };
  bridge.onupdatemodelcontext = async ({ content }) => {
    host.told.push(...content.map((part) => part.text));
    return {};
  };
  bridge.onsizechange = async (size) => {
    host.sizes.push(size);
    await page.evaluate(({ height }) => { document.querySelector('iframe').style.height = `${height}px`; }, size);
  };
  const ready = new Promise((resolve) => { bridge.oninitialized = resolve; });
  await page.goto('http://host.test/');
  await bridge.connect(new Pipe(page));
  Object.assign(bridge, handlers);
  await page.evaluate(() => {
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts');
    frame.title = 'App';
    frame.src = 'http://sandbox.test/';
    document.body.append(frame);
  });
  await ready;
  host.frame = page.frames().find((frame) => frame.url() === 'http://sandbox.test/');
  host.run = host.frame.locator('article.run');
  await bridge.sendToolInput({ arguments: args });
  host.result = client.callTool({ name, arguments: args }).then((result) => bridge.sendToolResult(result).then(() => result));
  /** is waits until the App shows a run with a status. */
  host.is = (status) => host.frame.locator(`article.run[data-status="${status}"]`).waitFor();
  /** clean asserts that the App has loaded nothing and broken no rule. */
  host.clean = () => {
    assert.deepEqual(host.wrong, []);
    assert.deepEqual(host.requested.filter((url) => !['http://host.test/', 'http://sandbox.test/'].includes(url)), []);
  };
  return host;
}
