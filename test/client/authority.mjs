// A protected MCP server and its authorization server on loopback, both of another make, and a person with a browser.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js';
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js';
import { getOAuthProtectedResourceMetadataUrl, mcpAuthMetadataRouter } from '@modelcontextprotocol/sdk/server/auth/router.js';
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { Provider } from 'oidc-provider';
import { z } from 'zod';

// The authorization server prints what matters only outside of tests.
for (const method of ['info', 'warn']) {
  const print = console[method];
  console[method] = (text, ...rest) => { if (!`${text}`.startsWith('oidc-provider ')) print(text, ...rest); };
}

async function listening(t, server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => { server.closeAllConnections(); server.close(); });
  return `http://127.0.0.1:${server.address().port}`;
}

/** protectedServer serves one tool, whoami, to those whose token is for it and has the scope tools. */
export async function protectedServer(t) {
  const seen = { grants: [], resources: [], tokens: [], unauthorized: 0 };
  const authorization = createServer((req, res) => provider.callback()(req, res));
  const issuer = await listening(t, authorization);
  const resource = createServer((req, res) => app(req, res));
  const url = new URL('/mcp', await listening(t, resource));

  const provider = new Provider(issuer, {
    clients: [{
      client_id: 'given', client_secret: 'given-secret-of-a-client', application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback'], grant_types: ['authorization_code', 'refresh_token'],
    }],
    features: {
      registration: { enabled: true }, revocation: { enabled: true }, devInteractions: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: 'tools', audience: url.href, accessTokenTTL: 3600, accessTokenFormat: 'opaque' }),
        useGrantedResource: () => false,
      },
    },
    pkce: { required: () => true },
    rotateRefreshToken: true,
  });
  for (const event of ['grant.success', 'grant.error']) {
    provider.on(event, (ctx) => {
      seen.grants.push(`${ctx.oidc.params?.grant_type} ${event.slice('grant.'.length)}`);
      seen.resources.push(ctx.oidc.params?.resource);
    });
  }

  const verifier = {
    async verifyAccessToken(token) {
      const found = await provider.AccessToken.find(token);
      if (!found || found.aud !== url.href) throw new InvalidTokenError('this token is not for this server');
      seen.tokens.push(token);
      return { token, clientId: found.clientId, scopes: [...found.scopes], expiresAt: found.exp };
    },
  };
  const app = createMcpExpressApp();
  app.use((req, res, next) => { res.on('finish', () => { if (res.statusCode === 401) seen.unauthorized++; }); next(); });
  app.use(mcpAuthMetadataRouter({
    oauthMetadata: await (await fetch(`${issuer}/.well-known/openid-configuration`)).json(), resourceServerUrl: url, scopesSupported: ['tools'],
  }));
  const bearer = requireBearerAuth({ verifier, requiredScopes: ['tools'], resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(url) });
  app.all('/mcp', bearer, async (req, res) => {
    const server = new McpServer({ name: 'guarded', version: '1' });
    server.registerTool('whoami', { inputSchema: { greeting: z.string() } }, ({ greeting }, { authInfo }) => (
      { content: [{ type: 'text', text: `${greeting} ${authInfo.clientId}` }] }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    res.on('close', () => { transport.close(); server.close(); });
    await server.connect(transport);
    await transport.handleRequest(req, res, req.body);
  });

  return {
    url: url.href,
    issuer,
    seen,
    /** endAccess makes the authorization server forget an access token. */
    endAccess: async (token) => (await provider.AccessToken.find(token)).destroy(),
    /** endGrant makes it forget everything that a person has granted with a token. */
    async endGrant(token) {
      const { grantId } = await provider.AccessToken.find(token);
      await Promise.all([provider.AccessToken.revokeByGrantId(grantId), provider.RefreshToken.revokeByGrantId(grantId)]);
    },
    refreshTokenLives: async (token) => Boolean((await provider.RefreshToken.find(token))?.isValid),
  };
}

/** consent opens a URL as a person does who logs in and agrees, and returns the URL at which the browser is sent back. */
export async function consent(url) {
  const cookies = new Map();
  let next = { url };
  for (let step = 0; step < 20; step++) {
    const res = await fetch(next.url, {
      method: next.body ? 'POST' : 'GET', body: next.body, redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const line of res.headers.getSetCookie()) {
      const [pair] = line.split(';');
      const at = pair.indexOf('=');
      if (pair.slice(at + 1)) cookies.set(pair.slice(0, at), pair.slice(at + 1));
      else cookies.delete(pair.slice(0, at));
    }
    const to = res.headers.get('location');
    if (to) {
      next = { url: new URL(to, next.url).href };
      if (new URL(next.url).pathname === '/callback') return next.url;
      continue;
    }
    const page = await res.text();
    const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1];
    if (!action) throw new Error(`HTTP ${res.status} from ${next.url}: ${page.replace(/<style[^]*<\/style>/, '')}`);
    const prompt = /name="prompt" value="(\w+)"/.exec(page)[1];
    next = { url: new URL(action, next.url).href, body: new URLSearchParams({ prompt, login: 'ada', password: 'any' }) };
  }
  throw new Error('the authorization server never ends');
}
