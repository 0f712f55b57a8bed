#!/usr/bin/env node
// The `accord` command: runs cli/main.ts with Node 24 in this process's place.
import { join } from 'node:path';
import { runChild } from './child.mjs';
import { findNode, heapFlags, root } from './node24.mjs';

// What V8 compiled is kept between runs: warm starts take a third less (bench/start.ts).
const env = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'accord-compiled'), ...process.env };
const main = join(root, 'cli/main.ts');
const args = ['--disable-warning=ExperimentalWarning', ...heapFlags, main, ...process.argv.slice(2)];
process.exit(await runChild(findNode(), args, { env }));
