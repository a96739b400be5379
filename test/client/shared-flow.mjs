// A flow that is shared, and the server that serves it, for clients with nothing but its URL.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { newHome } from './suite.mjs';

/** sharedFlow shares the workflow greet, which says hello and returns a long text too, and starts a server on a port of its own. */
export async function sharedFlow(t, serve) {
  const home = await newHome(t);
  await home.draft('greet', {
    inputs: { who: { type: 'string' } },
    nodes: [
      { id: 'say', type: 'shell', params: { command: 'echo "Hello, ${who}"' } },
      { id: 'write', type: 'shell', params: { command: "printf '%03000d' 7" } },
    ],
    edges: [{ from: 'say', to: 'write' }],
    outputs: { greeting: { source: '${say.stdout}' }, letter: { source: '${write.stdout}' } },
  });
  await home.run('pflow-lib', 'save', 'greet', 'greet', '--description', 'Say hello');
  const { token } = await home.run('pflow-share', 'add', 'greet', '--owner-funded');
  const server = spawn(serve, ['http', '--listen', '127.0.0.1:0'], { env: home.env, cwd: home.dir, stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(async () => { server.kill(); await once(server, 'exit'); });
  const [line] = await once(server.stdout, 'data');
  return { home, token, url: JSON.parse(line).url };
}
