/** Runs one command of the command line, and turns what goes wrong into a message and an exit code. */
import { createRequire } from 'node:module';
import { ConfigError } from '../server/core/config.ts';
import { SchemaMismatch } from '../server/core/db/migrate.ts';
import { Problem } from '../server/core/problems.ts';
import { help, type Parsed, parseCommandLine, UsageError } from './arguments.ts';

type Run = (parsed: Parsed) => Promise<number>;

// Loaded when asked for: `accord token` does not wait for what only `accord start` needs.
const commands: Record<Parsed['command'], () => Promise<{ run: Run }>> = {
  start: () => import('./start.ts'),
  serve: () => import('./serve.ts'),
  operate: () => import('./operate.ts'),
  finalizers: () => import('./finalizers.ts'),
  migrate: () => import('./migrate.ts'),
  validate: () => import('./validate.ts'),
  token: () => import('./token.ts'),
  'log-in': () => import('./log-in.ts'),
  keys: () => import('./keys.ts'),
  audit: () => import('./audit.ts'),
  erase: () => import('./erase.ts'),
  events: () => import('./events.ts'),
  export: () => import('./export.ts'),
  doctor: () => import('./doctor.ts'),
};

/** @returns the exit code; what was wrong has been printed */
export async function execute(argv: readonly string[]): Promise<number> {
  try {
    return await executeOrThrow(argv);
  } catch (error) {
    console.error(describe(error));
    return error instanceof UsageError ? 2 : 1;
  }
}

async function executeOrThrow(argv: readonly string[]): Promise<number> {
  const parsed = parseCommandLine(argv);
  if (parsed === 'version') {
    console.log((createRequire(import.meta.url)('../package.json') as { version: string }).version);
    return 0;
  }
  if ('help' in parsed) {
    console.log(help(parsed.help));
    return 0;
  }
  const { run } = await commands[parsed.command]();
  return run(parsed);
}

/** What a person can act on is said in a line; anything else is a bug and keeps its stack. */
function describe(error: unknown): string {
  if (error instanceof UsageError) return error.message;
  if (error instanceof ConfigError)
    return `accord: the configuration is invalid:\n  ${error.message.replaceAll('\n', '\n  ')}`;
  if (error instanceof Problem || error instanceof SchemaMismatch) return `accord: ${error.message}`;
  const { code, message, name } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE')
    return `accord: ${message.replace('listen EADDRINUSE: ', '')}: choose another with --listen and --admin-listen`;
  if (['ECONNREFUSED', 'ENOENT', 'EACCES', '28P01', '3D000', '28000'].includes(code ?? '')) return `accord: ${message}`;
  if (
    ['InUse', 'MasterKeyError'].includes(name) ||
    ['InUse', 'MasterKeyError'].includes((error as object).constructor.name)
  )
    return `accord: ${message}`;
  return `accord: ${(error as Error).stack ?? String(error)}`;
}
