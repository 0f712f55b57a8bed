/**
 * A page of docs/ as a reader follows it: bash runs its blocks of `sh` one after another, and what the page shows of their output
 * is compared with what they print. The page is the only copy of the commands.
 *
 *   ```sh          a command in the reader's terminal; `sh server`: one that goes on, in a second terminal
 *   ```json        what the command before it printed, as JSON; `text`: as text; `text server`: what the second terminal shows
 *                  now; `^C` in it is Ctrl-C there
 *
 * `…` stands for any text, `"…"` for any value, and at the end of an object or array for members or items that are not shown.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { expect } from 'vitest';
import { isObject } from '../../crds/values.ts';
import { freePort } from '../helpers/free-port.ts';
import { untilPasses } from '../helpers/wait.ts';
import { environment, hasEnded, root } from './accord.ts';
import { copyPrepared, type Prepared } from './prepared.ts';

export type Step =
  | { does: 'run'; line: number; command: string; shown?: { as: 'json' | 'text'; text: string } }
  | { does: 'start'; line: number; command: string }
  | { does: 'await'; line: number; text: string };

/** @throws Error when a page shows output of no command */
export function stepsOf(page: string): Step[] {
  const steps: Step[] = [];
  for (const { index, 1: info = '', 2: text = '' } of page.matchAll(/^```([^\n`]*)\n([\s\S]*?)^```$/gm)) {
    const line = page.slice(0, index).split('\n').length;
    const last = steps.at(-1);
    if (info === 'sh') steps.push({ does: 'run', line, command: text });
    else if (info === 'sh server') steps.push({ does: 'start', line, command: text });
    else if (info === 'text server') steps.push({ does: 'await', line, text });
    else if (info === 'json' || info === 'text') {
      if (last?.does !== 'run' || last.shown) throw new Error(`line ${line} shows the output of no command`);
      last.shown = { as: info, text };
    }
  }
  return steps;
}

/** Where what was printed is not what the page shows; undefined when it is. */
export function difference(shown: unknown, printed: unknown, at = ''): string | undefined {
  if (shown === '…') return printed === undefined ? `${at} is not there` : undefined;
  if (typeof shown === 'string' && typeof printed === 'string' && pattern(shown).test(printed)) return undefined;
  if (Array.isArray(shown) && Array.isArray(printed)) {
    const isCut = shown.at(-1) === '…';
    const items = isCut ? shown.slice(0, -1) : shown;
    if (printed.length < items.length || (!isCut && printed.length > items.length))
      return `${at} has ${printed.length} items: ${JSON.stringify(printed)}`;
    return items.map((item, i) => difference(item, printed[i], `${at}/${i}`)).find((one) => one !== undefined);
  }
  if (isObject(shown) && isObject(printed)) {
    const { '…': cut, ...members } = shown as Record<string, unknown>;
    const more = Object.keys(printed).find((name) => !Object.hasOwn(members, name));
    if (more !== undefined && cut === undefined) return `${at}/${more} is not shown: ${JSON.stringify(printed[more])}`;
    return Object.entries(members)
      .map(([name, value]) => difference(value, printed[name], `${at}/${name}`))
      .find((one) => one !== undefined);
  }
  return shown === printed ? undefined : `${at} is ${JSON.stringify(printed)}, not ${JSON.stringify(shown)}`;
}

const literal = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
const pattern = (text: string) => new RegExp(`^${text.trim().split('…').map(literal).join('[^]*?')}$`, 'u');

/** A reader: a home of its own, free ports in place of the default ones, two terminals. */
export class Reader {
  readonly #home: string;
  readonly #place: string;
  readonly #places: (text: string) => string;
  readonly #typed: (text: string) => string;
  readonly #terminal: ChildProcess;
  readonly #lines: Interface;
  readonly #variables: Record<string, string>;
  #server: ChildProcess | undefined;
  #seen = '';
  #count = 0;

  private constructor(home: string, place: string, [listen, admin]: readonly [string, string], program: string) {
    this.#home = home;
    this.#place = place;
    this.#places = (text) => text.replaceAll('127.0.0.1:8080', listen).replaceAll('127.0.0.1:8081', admin);
    this.#typed = (text) => this.#places(text).replaceAll('npx accord', program);
    this.#variables = {
      ...environment(),
      ...{ HOME: home, ACCORD_LISTEN: listen, ACCORD_ADMIN_LISTEN: admin, PATH: `${home}/.bin:${process.env.PATH}` },
      npm_config_cache: join(home, '.npm'), // not that of whoever runs the tests, whose home may be read-only
    };
    this.#terminal = spawn('bash', ['--noprofile', '--norc'], { cwd: place, env: this.#variables, detached: true });
    this.#lines = createInterface({ input: this.#terminal.stdout as NodeJS.ReadableStream });
    this.#terminal.stdin?.write('set -euo pipefail\n');
  }

  /**
   * @param furnish makes a folder of the reader's own to sit in. Absent: in the clone
   * @param npx absent: `accord` is run without npx, which takes half a second of each command
   * @param prepared data directories, as paths from the reader's home, that are there before (prepared.ts)
   */
  static async sitDown({
    furnish,
    npx,
    prepared = {},
  }: {
    furnish?: (place: string) => void;
    npx?: boolean;
    prepared?: Record<string, Prepared>;
  } = {}): Promise<Reader> {
    const home = await mkdtemp(join(tmpdir(), 'accord-guide-'));
    await mkdir(join(home, '.bin'));
    await symlink(join(root, 'bin/accord.mjs'), join(home, '.bin/accord'));
    furnish?.(home);
    for (const [folder, kind] of Object.entries(prepared)) await copyPrepared(kind, join(home, folder));
    const listeners = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`] as const;
    return new Reader(home, furnish ? home : root, listeners, npx ? 'npx accord' : 'accord');
  }

  async follow(step: Step): Promise<void> {
    if (step.does === 'start') return this.#start(step.command);
    if (step.does === 'await') return this.#await(step.text);
    const { code, out, error } = await this.run(step.command);
    const said = `line ${step.line} printed\n${out}\n${error}`;
    expect(code, said).toBe('0');
    const { shown } = step;
    if (shown?.as === 'json') {
      const [page, printed] = [this.#places(shown.text), out].map(parsed) as [unknown, unknown];
      expect(difference(page, printed), said).toBeUndefined();
    }
    if (shown?.as === 'text') expect(out.trim(), said).toMatch(pattern(this.#places(shown.text)));
  }

  async run(command: string) {
    const file = join(this.#home, `.step-${this.#count++}`);
    await writeFile(file, this.#typed(command));
    const ended = Promise.withResolvers<string>();
    const gone = () => ended.resolve('not 0: a command failed');
    if (hasEnded(this.#terminal)) gone();
    this.#lines.once('line', ended.resolve);
    this.#terminal.once('exit', gone);
    this.#terminal.stdin?.write(`source '${file}' </dev/null >'${file}.out' 2>'${file}.err'; echo $?\n`);
    const code = await ended.promise;
    this.#lines.off('line', ended.resolve);
    this.#terminal.off('exit', gone);
    return { code, out: await readFile(`${file}.out`, 'utf8'), error: await readFile(`${file}.err`, 'utf8') };
  }

  /** In a group of its own, as a terminal makes one: Ctrl-C goes to all of it. */
  #start(command: string): void {
    const server = spawn('bash', ['-c', this.#typed(command)], {
      ...{ cwd: this.#place, env: this.#variables, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    });
    for (const stream of [server.stdout, server.stderr])
      stream?.on('data', (chunk) => {
        this.#seen += chunk;
      });
    this.#server = server;
  }

  async #await(text: string): Promise<void> {
    if (text.trim() === '^C') return this.#stop();
    for (const line of this.#places(text).trim().split('\n')) {
      const wanted = new RegExp(`^${line.trim().split('…').map(literal).join('.*')}$`, 'mu');
      await untilPasses(`the server to say ${line}`, () => expect(this.#seen).toMatch(wanted));
    }
  }

  async #stop(): Promise<void> {
    const server = this.#server;
    this.#seen = '';
    if (server !== undefined && !hasEnded(server)) {
      const gone = new Promise((resolve) => server.once('exit', resolve));
      process.kill(-(server.pid as number), 'SIGINT');
      await gone;
    }
  }

  async leave(): Promise<void> {
    this.#terminal.kill();
    try {
      await this.#stop();
    } finally {
      await rm(this.#home, { recursive: true, force: true, maxRetries: 10 });
    }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`not JSON: ${text}`);
  }
}
