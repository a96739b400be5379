// What the end-to-end tests share: the suite's programs, each test with a home of its own.
import { execFile } from 'node:child_process';
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const bin = fileURLToPath(new URL('../../bin/', import.meta.url));

/** program is the path of one of the suite's programs, as scripts/test built it. */
export const program = (name) => join(bin, name);

/** newHome makes an empty home for one test. */
export async function newHome(t) {
  const dir = await mkdtemp(join(tmpdir(), 'pflow-'));
  t.after(() => rm(dir, { recursive: true, force: true, maxRetries: 10 })); // a run may still be writing its last file
  const env = { PATH: process.env.PATH, HOME: dir, PFLOW_HOME: join(dir, 'home') };
  return {
    dir,
    env,
    path: (...elements) => join(env.PFLOW_HOME, ...elements),

    /** draft writes a draft as an agent does, with its own file tools. */
    async draft(name, workflow) {
      await mkdir(join(env.PFLOW_HOME, 'workflows'), { recursive: true });
      await writeFile(join(env.PFLOW_HOME, 'workflows', `${name}.json`), JSON.stringify(workflow, null, 2));
    },

    /** exec runs a program and returns what it prints. */
    async exec(name, ...args) {
      return (await promisify(execFile)(program(name), args, { env, cwd: dir, maxBuffer: 64 << 20 })).stdout;
    },

    /** feed runs a program with a text as its input and returns what it prints. */
    async feed(text, name, ...args) {
      const running = promisify(execFile)(program(name), args, { env, cwd: dir });
      running.child.stdin.end(text);
      return (await running).stdout;
    },

    /** run runs a program that answers one JSON document; a failure throws with all that it said. */
    async run(name, ...args) {
      return JSON.parse(await this.exec(name, ...args));
    },
  };
}
