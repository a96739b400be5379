// Runs the code of a node. It takes {"name","code","inputs","requires"} and writes to descriptor 3: a report of how the code
// ended as one line of JSON and, after a success, the result as JSON.
'use strict';
(job) => {
  const fs = require('node:fs');
  const path = require('node:path');
  const util = require('node:util');
  const vm = require('node:vm');
  const RESULTS = 3;
  const exit = process.exit;
  const names = Object.keys(job.inputs);
  const begin = `(async function (${['require', '$left', ...names].join(', ')}) { let result, next; $left(() => [result, next]); {`;

  const send = (report, result = '') => {
    const data = Buffer.from(JSON.stringify(report) + '\n' + result);
    for (let at = 0; at < data.length;) {
      try {
        at += fs.writeSync(RESULTS, data, at);
      } catch (e) {
        if (e.code !== 'EAGAIN') throw e;
      }
    }
  };

  // The first failure is the outcome. It is written when the process ends, because code may still run until then.
  let outcome = null;
  const fail = (report) => {
    if (outcome === null || outcome.done) outcome = report;
  };

  const placeIn = (stack) => {
    for (const text of String(stack).split('\n')) {
      const at = text.lastIndexOf(job.name + ':');
      const found = at < 0 ? null : /^(\d+)(?::(\d+))?/.exec(text.slice(at + job.name.length + 1));
      if (found) return {line: +found[1], column: found[2] ? found[2] - 1 : -1};
    }
    return {line: 0, column: -1};
  };

  const failure = (error, kind = 'exception') => {
    if (!util.types.isNativeError(error) && !(error instanceof Error)) {
      return {message: 'Uncaught ' + util.inspect(error), kind, line: 0, column: -1};
    }
    const stack = String(error.stack || '');
    const report = {message: error.message ? error.name + ': ' + error.message : String(error.name), kind, ...placeIn(stack)};
    const mark = stack.startsWith(job.name + ':') && /^( *)\^+$/m.exec(stack); // marks the place of a syntax error below its line
    if (mark) report.column = mark[1].length - (report.line === 1 ? begin.length : 0);
    report.message = report.message.split('\nRequire stack:')[0];
    report.traceback = stack.split('\n').filter((l) => !/^\s+at /.test(l) || l.includes(job.name)).join('\n');
    const module = /^Cannot find (?:module|package) '([^']+)'/.exec(error.message || '');
    if (module && /MODULE_NOT_FOUND/.test(error.code)) report.modules = [module[1]];
    return report;
  };

  // notJSON finds what JSON cannot represent in a value: [path, what], or null.
  const notJSON = (value, at, around) => {
    if (value !== null && typeof value === 'object' && typeof value.toJSON === 'function') value = value.toJSON();
    switch (typeof value) {
      case 'number': return Number.isFinite(value) ? null : [at, String(value)];
      case 'bigint': return [at, 'a BigInt'];
      case 'function': return [at, 'a function'];
      case 'symbol': return [at, 'a symbol'];
      case 'string': return value.isWellFormed && !value.isWellFormed() ? [at, 'text with a lone surrogate'] : null;
      case 'object': break;
      default: return null;
    }
    if (value === null) return null;
    if (around.has(value)) return [at, ''];
    for (const kind of ['Map', 'Set', 'WeakMap', 'WeakSet', 'Promise', 'RegExp']) {
      if (util.types['is' + kind](value)) return [at, 'a ' + kind];
    }
    if (util.types.isNativeError(value)) return [at, 'an Error'];
    around.add(value);
    for (const key of Object.keys(value)) {
      const inside = Array.isArray(value) ? `[${key}]` : /^[A-Za-z_$][\w$]*$/.test(key) ? '.' + key : `[${JSON.stringify(key)}]`;
      const found = notJSON(value[key], at + inside, around);
      if (found) return found;
    }
    around.delete(value);
    return null;
  };

  const finish = ([result, next]) => {
    const refuse = (message) => fail({message, kind: 'result', line: 0, column: -1});
    if (result === undefined) return refuse('The code ended, and nothing was assigned to result');
    if (next !== undefined && next !== null && typeof next !== 'string') {
      return refuse(`next must be the name of an action, not ${typeof next}`);
    }
    try {
      const found = notJSON(result, 'result', new Set());
      if (found) return refuse('The result cannot be written as JSON: ' + found[0] + (found[1] ? ' is ' + found[1] : ' contains itself'));
      if (outcome === null) outcome = {done: true, next: next ?? '', result: JSON.stringify(result)};
    } catch (e) {
      refuse('The result cannot be written as JSON: ' + (e instanceof RangeError ? 'result is nested too deeply' : e.message));
    }
  };

  let left = () => [undefined, undefined]; // returns the current result and next
  let exited = null;
  process.exit = (code) => {
    exited ??= {message: '', kind: 'exit', ...placeIn(new Error('').stack)};
    exit.call(process, code);
  };
  process.on('exit', (status) => {
    if (outcome === null && status === 0 && exited) finish(left());
    if (outcome === null && exited) outcome = {...exited, message: `The code ended itself with exit status ${status}`};
    if (outcome === null) outcome = {message: 'The code waits for a promise that is never settled', kind: 'exit', line: 0, column: -1};
    const {result, ...report} = outcome;
    if (report.done && status !== 0) {
      Object.assign(report, {done: false, message: `The code ended with exit status ${status}`, kind: 'exit', line: 0, column: -1});
    }
    send(report, report.done ? result : '');
    if (!report.done && status === 0) process.exitCode = 1;
  });
  const uncaught = (error) => {
    fail(failure(error));
    exit.call(process, 1);
  };
  process.on('uncaughtException', uncaught);
  process.on('unhandledRejection', uncaught);

  const here = require('node:module').createRequire(path.join(process.cwd(), 'code.js'));
  const missing = job.requires.filter((name) => {
    try {
      here.resolve(name);
    } catch (e) {
      return e.code === 'MODULE_NOT_FOUND';
    }
    return false;
  });
  if (missing.length > 0) {
    return fail({message: 'Module(s) that the code requires are not installed: ' + missing.join(', '), kind: 'requires', modules: missing});
  }
  const warn = process.emitWarning;
  process.emitWarning = (warning, ...rest) => { // hides the warning about importing modules
    if (!String(warning).startsWith('vm.USE_MAIN_CONTEXT_DEFAULT_LOADER')) warn.call(process, warning, ...rest);
  };
  Error.stackTraceLimit = 100;
  process.argv.splice(1, process.argv.length, job.name);

  let run;
  try {
    run = new vm.Script(begin + job.code + '\n;$left(() => [result, next]); } })', {
      filename: job.name, columnOffset: -begin.length,
      importModuleDynamically: vm.constants?.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    }).runInThisContext();
  } catch (e) {
    return fail(failure(e, 'syntax'));
  }
  run(here, (now) => { left = now; }, ...names.map((name) => job.inputs[name])).then((returned) => {
    const [result, next] = left();
    finish([result === undefined ? returned : result, next]);
  }, (error) => {
    fail(failure(error));
    exit.call(process, 1);
  });
}
