/**
 * Which tests a change can reach, for `npm run test:changed`, also where they do not import what changed. A module reaches
 * what it imports, and each file or folder of this clone that a text in it names: `new URL('./x-worker.ts', import.meta.url)`,
 * `join(root, 'docs/audit.md')`, 'bin/accord.mjs', a pattern. Nobody lists them. A folder, or what `git ls-files` lists, is all
 * that is in it.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { testFiles } from './units.ts';

const root = join(import.meta.dirname.replaceAll('\\', '/'), '..');

/** A change of them can reach every test. Vitest itself knows of its configuration and of package.json. */
export const ofEveryTest: Readonly<Record<string, string>> = {
  'package-lock.json': 'Any test may load any package.',
  'tsconfig.json': 'What loads TypeScript reads it.',
};

/** What a module, or a file that is built, reaches and has no text that names it. */
export const alsoReached: Readonly<Record<string, { names: readonly string[]; why: string }>> = {
  'server/rego/compiler.wasm.br': { names: ['server/rego/compiler'], why: 'It is built of it.' },
  'test/docs-site/serving.test.ts': { names: ['docs'], why: 'It asks for pages of server/http/guide-pages.ts.' },
  'test/e2e/example-app.browser.test.ts': {
    names: ['examples/app/run.ts', 'packages/client'],
    why: '`npm run example` builds one and runs the other.',
  },
};

/** Modules whose texts name more than whoever loads them reaches. */
export const notFollowed: Readonly<Record<string, string>> = {
  'bin/run.mjs': 'It has every script, and runs one.',
  'packages/client/generate.ts': 'What it generates is in the clone; `npm run check` compares it.',
  'server/http/guide-pages.ts': 'Each server shows docs/, and few tests look at it.',
};

const code = /\.[cm]?[jt]sx?$/;
/** Their words are looked at: scripts, and files that have no ending. */
const words = /\.sh$|(^|\/)[\w-]+$|^compose\.yaml$/;
const comment = /\/\*[\s\S]*?\*\/|\/\/.*|('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`)/g;
const typesOnly = /^(?:im|ex)port type\b[^;]*?from '[^']*'/gm;
const literal = /'((?:\\.|[^'\\\n])*)'|"((?:\\.|[^"\\\n])*)"|`((?:\\[\s\S]|[^`\\])*)`/g;
/** A word is a folder only where a path is made. */
const path = /\b(?:join|resolve|URL|readdirSync|readdir)\(([^()]*)/g;
const listing = /'ls-files'([^\]]*)\]/g;
/** What the command is told to read. */
const manifests = /'(?:validate|--manifests)',([^\]]*)/g;
const setups = /\bsetupFiles\W+\[([^\]]*)\]/g;
const provided = /\bprovide\('(\w+)'/g;
const injected = /(?<![.#])\binject\('(\w+)'/g;

/** Where a text stands: by itself, in a path, or in a path from the module's own folder. */
type Place = 'text' | 'path' | 'path from here';

const literals = (text: string) => [...text.matchAll(literal)].map(([, one, two, three]) => one ?? two ?? three ?? '');
const groups = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, group = '']) => group);
const escaped = (text: string) => text.replace(/[.*+?^$()|[\]{}\\]/g, '\\$&');
const textOf = (file: string) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');

/** The files of this clone, and what each reaches at once. */
export class Clone {
  readonly files: readonly string[];
  readonly #known: ReadonlySet<string>;
  readonly #folders = new Map<string, string[]>();
  readonly #reached = new Map<string, Set<string>>();
  /** By the name of a package of this clone: where it is. */
  readonly #packages = new Map<string, string>();
  /** By the key of what a setup of the run provides: the setup. */
  readonly #providers = new Map<string, string>();
  readonly #setups = groups(textOf('vitest.config.ts'), setups).flatMap(literals);

  /** @param gone files that are not there any more */
  constructor(gone: readonly string[] = []) {
    const given = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const known = execFileSync('git', given, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 });
    this.#known = new Set([...known.split('\0'), ...gone].filter((file) => file !== ''));
    this.files = [...this.#known];
    for (const file of this.files) {
      for (let folder = dirname(file); folder !== '.'; folder = dirname(folder))
        this.#folders
          .set(folder, this.#folders.get(folder) ?? [])
          .get(folder)
          ?.push(file);
      if (/^packages\/[^/]+\/package\.json$/.test(file))
        this.#packages.set(JSON.parse(textOf(file) || '{}').name, dirname(file));
      if (/^test\/.*-global\.ts$/.test(file))
        for (const key of groups(textOf(file), provided)) this.#providers.set(key, file);
    }
    for (const file of this.files) this.#reached.set(file, new Set(this.#reachedAtOnce(file)));
  }

  *#reachedAtOnce(file: string): Generator<string> {
    for (const name of alsoReached[file]?.names ?? []) yield* this.#named(file, name, 'path');
    if (file in notFollowed) return;
    if (words.test(file)) {
      const text = textOf(file).replace(/^\s*#.*/gm, '');
      const found = text.replace(/\$\{?\w+\}?\//g, './').match(/[\w.-]*\/[\w./-]*\w|\w[\w-]*\.\w+/g) ?? [];
      for (const word of found) yield* this.#named(file, word, 'text');
    }
    if (!code.test(file)) return;
    const text = textOf(file)
      .replace(comment, (_, string?: string) => string ?? ' ')
      .replace(typesOnly, '');
    for (const one of literals(text)) yield* this.#named(file, one, 'text');
    for (const given of groups(text, path)) yield* this.#inPath(file, given);
    for (const given of groups(text, listing)) yield* this.#listed(file, given);
    for (const given of groups(text, manifests))
      for (const one of literals(given)) yield* this.#named(file, one, 'path');
    for (const key of groups(text, injected)) yield* [this.#providers.get(key) ?? []].flat();
    if (file.endsWith('.test.ts')) yield* [...this.#setups, ...Object.keys(ofEveryTest)];
  }

  /** @param given the arguments of what makes a path */
  *#inPath(file: string, given: string): Generator<string> {
    const isFromHere = given.includes('import.meta');
    const place = isFromHere ? 'path from here' : 'path';
    const parts = literals(given);
    if (isFromHere && parts.length === 0) yield* this.#folders.get(dirname(file)) ?? [];
    yield* this.#named(file, parts.join('/'), place);
    // The others may be somewhere below it.
    if (parts.length > 1) yield* this.#named(file, parts[0] as string, place);
  }

  /** @param given the arguments of `git ls-files` */
  *#listed(file: string, given: string): Generator<string> {
    const specs = literals(given).filter((spec) => !spec.startsWith('-'));
    if (specs.length === 0) yield* this.files;
    for (const spec of specs)
      if (spec.startsWith('*')) yield* this.files.filter((one) => one.endsWith(spec.slice(1)));
      else yield* this.#named(file, spec, 'path');
  }

  /** What a text of a module names, if it names something of this clone: from its folder, or from the root. */
  #named(file: string, text: string, place: Place): readonly string[] {
    const own = [...this.#packages].find(([name]) => text === name || text.startsWith(`${name}/`));
    if (own !== undefined) return this.#folders.get(own[1]) ?? [];
    const fromHere = text.replace(/^\$\{import\.meta\.dirname\}\//, './');
    const name = fromHere.replace(/^\$\{[^{}]*\}\//, '');
    // The rest is only known at run time.
    const [start = ''] = name.split(/\$\{|[*?{]/, 1);
    const isWhole = start === name;
    if (start === '' || start.startsWith('/') || /[\s\\:<>]/.test(start)) return [];
    if (!/\w/.test(start) && !(place === 'path from here' && isWhole)) return [];
    // Any text may be a word that is also a folder; few are a file without an ending.
    if (place === 'text' && !/[./]/.test(start)) return this.#known.has(text) ? [text] : [];
    if (!isWhole && (name !== fromHere || !start.includes('/'))) return [];
    for (const base of start.startsWith('..') ? [dirname(file)] : [dirname(file), '.']) {
      const at = normalize(`${base}/${start}`);
      const found = isWhole ? this.#at(at.replace(/\/$/, '')) : this.#like(at, name.slice(start.length));
      if (found.length > 0) return found;
    }
    return [];
  }

  #at(place: string): readonly string[] {
    return this.#known.has(place) ? [place] : (this.#folders.get(place) ?? []);
  }

  #like(start: string, rest: string): readonly string[] {
    const parts = rest.replace(/\$\{[^{}]*\}/g, '\0').split('\0');
    const end = /[*?{]/.test(rest) ? '' : `${parts.map(escaped).join('.*')}$`;
    const pattern = new RegExp(`^${escaped(start)}${end}`);
    return this.files.filter((file) => pattern.test(file));
  }

  /** Everything that the files reach, by any number of steps. */
  reachedBy(files: readonly string[]): Set<string> {
    return closure(files, this.#reached);
  }

  #reaching: Map<string, Set<string>> | undefined;
  /** Everything that reaches one of the files, by any number of steps. */
  reaching(files: readonly string[]): Set<string> {
    if (this.#reaching === undefined) {
      this.#reaching = new Map();
      for (const [file, reached] of this.#reached)
        for (const one of reached) this.#reaching.set(one, (this.#reaching.get(one) ?? new Set()).add(file));
    }
    return closure(files, this.#reaching);
  }
}

function closure(files: readonly string[], next: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const all = new Set(files);
  for (const file of all) {
    // A test is an end, whoever has its name in a list.
    if (file.endsWith('.test.ts') && !files.includes(file)) continue;
    for (const one of next.get(file) ?? []) all.add(one);
  }
  return all;
}

/** @param changed paths from the root, with slashes */
export function readersOf(changed: readonly string[], clone = new Clone(changed)): string[] {
  const reaching = clone.reaching(changed);
  return testFiles().filter((test) => reaching.has(test));
}
