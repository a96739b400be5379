// Logging in to a protected MCP server: the server is that of the TypeScript SDK, the authorization server is oidc-provider.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'node:test';
import { consent, protectedServer } from './authority.mjs';
import { newHome, program } from './suite.mjs';

/** begin starts a login, and returns it when it shows the URL for the browser. */
async function begin(home, args, stdin = '') {
  const child = spawn(program('pflow-sync'), ['login', 'guarded', '--no-browser', ...args], { env: home.env, cwd: home.dir });
  child.stdin.end(stdin);
  const login = { stdout: '', stderr: '' };
  child.stdout.on('data', (data) => { login.stdout += data; });
  child.stderr.on('data', (data) => { login.stderr += data; });
  login.ended = once(child, 'close').then(([status]) => status);
  await new Promise((resolve) => {
    child.stderr.on('data', () => { if (/^http.*\n/m.test(login.stderr)) resolve(); });
    child.on('close', resolve);
  });
  login.url = /^http.*$/m.exec(login.stderr)?.[0];
  return login;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

/** logIn logs in as a person does. */
async function logIn(home, args = [], stdin = '') {
  const login = await begin(home, args, stdin);
  assert.ok(login.url, login.stderr);
  assert.equal((await fetch(await consent(login.url))).status, 200);
  assert.equal(await login.ended, 0, login.stderr);
  return JSON.parse(login.stdout);
}

async function guarded(t) {
  const [home, server] = [await newHome(t), await protectedServer(t)];
  await home.run('pflow-sync', 'add', 'guarded', server.url);
  const file = home.path('logins', 'guarded.json');
  const stored = async () => JSON.parse(await readFile(file, 'utf8'));
  return {
    home, server, file, stored,
    change: async (change) => writeFile(file, JSON.stringify({ ...await stored(), ...change })),
    call: () => home.run('pflow-sync', 'call', 'guarded', 'whoami', 'greeting=hello'),
  };
}

/** failure returns the fault of a call that must fail. */
async function failure(promise) {
  const { stdout } = await promise.then(() => assert.fail('it succeeded'), (err) => err);
  return JSON.parse(stdout).error;
}

test('a login lets workflows call a protected server, and survives expiry', async (t) => {
  const { home, server, file, stored, change, call } = await guarded(t);
  const refused = await failure(call());
  assert.equal(refused.details.http_status, 401);
  assert.match(refused.suggestions.join("\n"), /pflow-sync login guarded/);

  const answer = await logIn(home);
  assert.equal(answer.issuer, server.issuer);
  assert.ok(answer.scopes.includes('tools') && answer.renewable, JSON.stringify(answer));
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  await home.run('pflow-sync', 'sync', 'guarded');
  const [listed] = [await home.run('pflow-sync', 'list')].flat();
  assert.equal(listed.login, 'active');

  const workflow = join(home.dir, 'w.json');
  await writeFile(workflow, JSON.stringify({ nodes: [
    { id: 'first', type: 'mcp-guarded-whoami', params: { greeting: 'hello' } },
    { id: 'peek', type: 'shell', params: { command: `cat '${file}'` } },
  ] }));
  const before = await stored();
  const run = await home.run('pflow-exec', 'run', workflow, '--format', 'json');
  assert.equal(run.success, true);
  const journal = await readFile(home.path('runs', run.run_id, 'journal.ndjson'), 'utf8');
  assert.match(journal, new RegExp(`hello ${before.client.id}`));
  assert.match(journal, /access_token/);
  for (const secret of [before.access_token, before.refresh_token]) assert.ok(!journal.includes(secret));

  await change({ expires_at: new Date(0).toISOString() }); // it is renewed before it is used
  const refusals = server.seen.unauthorized;
  await call();
  const renewed = await stored();
  assert.notEqual(renewed.access_token, before.access_token);
  assert.notEqual(renewed.refresh_token, before.refresh_token);
  assert.equal(server.seen.unauthorized, refusals);
  assert.ok(server.seen.resources.every((resource) => resource === server.url), JSON.stringify(server.seen));

  await server.endAccess(renewed.access_token); // it is renewed when the server refuses it
  await call();
  assert.equal(server.seen.unauthorized, refusals + 1);
  assert.deepEqual(server.seen.grants, ['authorization_code success', 'refresh_token success', 'refresh_token success']);
});

test('programs that renew at the same time use each refresh token once', async (t) => {
  const { server, change, call, home } = await guarded(t);
  await logIn(home);
  for (let round = 0; round < 3; round++) {
    await change({ expires_at: new Date(0).toISOString() });
    await Promise.all(Array.from({ length: 6 }, call));
  }
  assert.deepEqual(server.seen.grants, ['authorization_code success', ...Array(3).fill('refresh_token success')]);
});

test('a login that was revoked says how to log in again', async (t) => {
  const { home, server, stored, call } = await guarded(t);
  await logIn(home);
  await server.endGrant((await stored()).access_token);
  for (const wanted of [/has expired or was revoked/, /Authentication failed/]) {
    const fault = await failure(call());
    assert.match(fault.message, wanted);
    assert.match(fault.suggestions.join("\n"), /pflow-sync login guarded/);
  }
  assert.equal([await home.run('pflow-sync', 'list')].flat()[0].login, 'expired');
  await logIn(home);
  await call();
});

test('logout revokes, and remove forgets', async (t) => {
  const { home, server, stored, call, file } = await guarded(t);
  await logIn(home);
  const { refresh_token: token } = await stored();
  assert.ok(await server.refreshTokenLives(token));
  assert.deepEqual(await home.run('pflow-sync', 'logout', 'guarded'), { server: 'guarded', logged_out: true, revoked: true });
  assert.ok(!await server.refreshTokenLives(token));
  assert.equal((await failure(call())).details.http_status, 401);
  assert.deepEqual(await home.run('pflow-sync', 'logout', 'guarded'), { server: 'guarded', logged_out: false, revoked: false });

  await logIn(home);
  await home.run('pflow-sync', 'remove', 'guarded');
  await assert.rejects(stat(file));
});

test('a client that was registered by hand stays the client of the next login', async (t) => {
  const { home, stored, call } = await guarded(t);
  await logIn(home, ['--client-id', 'given', '--client-secret', '-'], 'given-secret-of-a-client\n');
  await call();
  const port = await freePort();
  await logIn(home, ['--client-id', 'given', '--client-secret', '-', '--port', `${port}`], 'given-secret-of-a-client\n');
  const again = await begin(home, []);
  assert.equal(new URL(new URL(again.url).searchParams.get('redirect_uri')).port, `${port}`);
  await fetch(await consent(again.url));
  assert.equal(await again.ended, 0, again.stderr);
  assert.equal((await stored()).client.id, 'given');
  await call();
});

test('an answer that is not to this login is ignored, and one that refuses it ends it', async (t) => {
  const { home, file } = await guarded(t);
  const login = await begin(home, []);
  const redirect = new URL(new URL(login.url).searchParams.get('redirect_uri'));
  for (const query of ['code=x&state=other', 'code=x', 'error=access_denied&state=']) {
    assert.equal((await fetch(`${redirect}?${query}`)).status, 400);
  }
  const state = new URL(login.url).searchParams.get('state');
  await fetch(`${redirect}?error=access_denied&error_description=no&state=${state}&iss=${encodeURIComponent('http://127.0.0.1:1')}`);
  assert.equal(await login.ended, 2);
  assert.equal(JSON.parse(login.stdout).error.type, 'security_error');
  assert.ok(!login.stdout.includes('access_denied')); // of an answer from elsewhere nothing is shown
  await assert.rejects(stat(file));
});
