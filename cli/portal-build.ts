/** `accord start` builds the portal in a child process when its sources changed. Nothing waits for it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import type { PortalOptions } from '../server/room/room.ts';
import { builtDigest, portalDigest, portalDirectory } from './portal-digest.ts';

const OUTPUT_CHARS_MAX = 2000;
/** A build that is told to stop and does not is killed after that. */
const STOP_MS = 5000;

export type PortalBuild = {
  building: NonNullable<PortalOptions['building']>;
  /** When nothing is built any more. */
  readonly ended: Promise<void>;
  /** Ends what is under way, and waits until its program is gone. */
  stop(): Promise<void>;
};

/** @param dist for tests */
export function buildPortal(dist = join(portalDirectory, 'dist')): PortalBuild {
  let state: ReturnType<PortalBuild['building']> = 'building';
  const stopping = new AbortController();
  const ended = build(dist, stopping.signal).then(
    () => {
      state = undefined;
    },
    (error: Error) => {
      state = { failed: error.message };
    },
  );
  return {
    building: () => state,
    ended,
    async stop() {
      stopping.abort();
      await ended;
    },
  };
}

/** @throws why there is no build, unless somebody stopped it */
async function build(dist: string, stopping: AbortSignal): Promise<void> {
  const program = join(portalDirectory, 'build.ts');
  const hasSources = await access(program).then(
    () => true,
    () => false,
  );
  if (!hasSources || (await portalDigest()) === (await builtDigest(dist)) || stopping.aborted) return;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, '--to', dist], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production', NO_COLOR: '1' },
  });
  let killing: NodeJS.Timeout | undefined;
  const stop = () => {
    child.kill('SIGTERM');
    killing = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  };
  stopping.addEventListener('abort', stop, { once: true });
  // Decisions are served meanwhile.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-OUTPUT_CHARS_MAX);
  });
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  clearTimeout(killing);
  // On a terminal, Ctrl-C ends the child before anybody here stops it.
  if (code === 0 || stopping.aborted || signal === 'SIGINT' || signal === 'SIGTERM') return;
  throw new Error(stripVTControlCharacters(output).trim() || 'The program that builds it was ended.');
}
