/**
 * `accord start`: everything in one process on an embedded Postgres. It starts, reconciles the manifests, serves, says
 * where, and stops all of it in order on Ctrl-C. Here is what comes before the program itself (local-program.ts), which is
 * loaded while Postgres starts.
 */
import { type Config, readConfig } from '../server/core/config.ts';
import type { Parsed } from './arguments.ts';
import { choiceOf, requireManifests } from './choice.ts';
import { onLoopback, withListeners } from './listeners.ts';
import { openLocal } from './local.ts';
import { lockDirectory } from './lock.ts';
import { createProgress } from './output.ts';
import { buildPortal } from './portal-build.ts';
import { untilStopped } from './stop.ts';

const LOOPBACK_RANGES = '127.0.0.0/8,::1/128';

const loadProgram = () => import('./local-program.ts');

export async function run(parsed: Parsed): Promise<number> {
  const { values } = parsed;
  const choice = choiceOf(parsed, { source: 'files', manifests: 'examples' });
  await requireManifests(parsed.command, choice);
  const base = withDefaults(withListeners(readConfig(), values));
  const stopped = untilStopped();
  const failed = Promise.withResolvers<string>();
  const progress = createProgress();
  const directory = values.data as string;
  const undo: (() => Promise<unknown>)[] = [];
  try {
    undo.push(await lockDirectory(directory));
    const portal = buildPortal();
    undo.push(() => portal.stop());
    const local = await openLocal(directory, {
      progress: (step) => progress.step(`Starting ${step}`),
      // What fails to load fails again below.
      whileStarting: () => void loadProgram().catch(() => {}),
      watcher: {
        again: (why) => console.error(`accord: ${why}\naccord: Postgres is started again with its data`),
        lost: (why) => failed.resolve(`Postgres ended again and again: ${why}`),
      },
    });
    undo.push(() => local.postgres.stop());
    const { runProgram } = await loadProgram();
    const config: Config = { ...base, ...local.environment };
    const { directory: at, migrated } = local;
    const isNew = migrated.length > 0;
    return await runProgram({ choice, config, directory, local: at, isNew, progress, stopped, failed, undo, portal });
  } finally {
    progress.done();
    for (const step of undo.reverse()) await step();
  }
}

/** What a local installation takes for granted where its environment says nothing. */
function withDefaults(config: Config): Config {
  const quiet = process.env.ACCORD_LOG_LEVEL ? {} : { ACCORD_LOG_LEVEL: 'error' as const };
  // Issuers on this machine are for trying out; nobody outside it can ask us to call them.
  const outbound =
    config.ACCORD_OUTBOUND_ALLOW === '' && onLoopback(config) ? { ACCORD_OUTBOUND_ALLOW: LOOPBACK_RANGES } : {};
  return { ...config, ...quiet, ...outbound };
}
