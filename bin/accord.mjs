#!/usr/bin/env node
// The `accord` command: runs cli/main.ts with Node 24 in this process's place.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { findNode, heapFlags, root } from './node24.mjs';

// What V8 compiled is kept between runs: warm starts take a third less (bench/start.ts).
const env = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'accord-compiled'), ...process.env };
const child = spawn(
  findNode(),
  ['--disable-warning=ExperimentalWarning', ...heapFlags, join(root, 'cli/main.ts'), ...process.argv.slice(2)],
  { stdio: 'inherit', env },
);
// A terminal sends Ctrl-C to both of us; the child decides when it is done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => signal !== 'SIGINT' && child.kill(signal));
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)));
