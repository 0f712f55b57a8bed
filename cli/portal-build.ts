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

export type PortalBuild = {
  building: NonNullable<PortalOptions['building']>;
  /** When nothing is built any more. */
  readonly ended: Promise<void>;
  /** Ends what is under way. */
  stop(): Promise<void>;
};

export function buildPortal(): PortalBuild {
  let state: ReturnType<PortalBuild['building']> = 'building';
  const stopping = new AbortController();
  const ended = build(stopping.signal).then(
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

async function build(signal: AbortSignal): Promise<void> {
  const program = join(portalDirectory, 'build.ts');
  const hasSources = await access(program).then(
    () => true,
    () => false,
  );
  if (!hasSources || (await portalDigest()) === (await builtDigest()) || signal.aborted) return;
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, NODE_ENV: 'production', NO_COLOR: '1' },
    signal,
  });
  // Decisions are served meanwhile.
  if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-OUTPUT_CHARS_MAX);
  });
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(stripVTControlCharacters(output).trim() || 'The program that builds it was ended.');
}
