// A reporter for node's test runner: a line for each test, a failure in full, and "passed failed skipped" in the file
// that TALLY names, which scripts/test adds to its counts.
import { writeFile } from 'node:fs/promises';
import { inspect } from 'node:util';

export default async function* tally(events) {
  let passed = 0, failed = 0, skipped = 0;
  let failedInFile = 0;
  for await (const { type, data } of events) {
    if (type === 'test:stderr') yield data.message; // what the programs said
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const file = data.name.endsWith('.test.mjs'); // some versions report each file as a test of its own
    if (type === 'test:fail') {
      if (!file || failedInFile === 0) {
        failed++;
        failedInFile++;
        yield `--- FAIL: ${data.name}\n${inspect(data.details.error.cause ?? data.details.error)}\n`;
      }
    } else if (data.skip !== undefined) {
      skipped++;
      yield `--- SKIP: ${data.name}: ${data.skip}\n`;
    } else if (!file) {
      passed++;
      yield `ok    ${data.name}  ${(data.details.duration_ms / 1000).toFixed(1)}s\n`;
    }
    if (file) failedInFile = 0;
  }
  if (process.env.TALLY) await writeFile(process.env.TALLY, `${passed} ${failed} ${skipped}\n`);
}
