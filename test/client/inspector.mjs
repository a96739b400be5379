// The command line of the MCP inspector, whose packages are in the folder CASE_INSPECTOR: scripts/test --all installs
// them.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';

const modules = process.env.CASE_INSPECTOR;
const launcher = `${modules}/@modelcontextprotocol/inspector/clients/launcher/build/index.js`;
const besideIt = `${modules}/node-${process.platform}-${process.arch}/bin/node`;
const [major, minor] = process.versions.node.split('.').map(Number);
const node = existsSync(besideIt) ? besideIt : process.execPath;
const able = node === besideIt || major > 22 || (major === 22 && minor >= 19);

/** skip is why the inspector cannot run here, or false. */
export const skip = !modules ? 'CASE_INSPECTOR is not set: use scripts/test --all' : !able && 'needs Node 22.19';

/** inspector returns a function that sends one request to a server and returns what the inspector printed. */
export function inspector(env, command) {
  return (method, ...args) => new Promise((resolve) => {
    const all = [launcher, '--cli', ...command, '--format', 'json', '--method', method, ...args];
    execFile(node, all, { env, maxBuffer: 256 << 20 }, (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }));
  });
}
