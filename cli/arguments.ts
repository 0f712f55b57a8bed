/** Owns the command line's grammar: which command takes what. An unknown option or command is refused with the usage. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
export type Command = { summary: string; usage: string; options: Options; positionals: boolean };

const data = { data: { type: 'string', default: '.accord' } } as const satisfies Options;
const wait = { wait: { type: 'string' } } as const satisfies Options;
const listeners = { listen: { type: 'string' }, 'admin-listen': { type: 'string' } } as const satisfies Options;
const source = {
  source: { type: 'string' },
  manifests: { type: 'string' },
  kubeconfig: { type: 'string' },
  'adopt-cluster': { type: 'boolean' },
} as const satisfies Options;

export const commands = {
  start: {
    summary: 'everything in one process on an embedded Postgres',
    usage:
      'accord start [--manifests DIR | --source kubernetes [--kubeconfig FILE] [--adopt-cluster]] [--data DIR] [--listen HOST:PORT] [--admin-listen HOST:PORT]',
    options: { ...source, ...data, ...listeners },
    positionals: false,
  },
  serve: {
    summary: 'the APIs, on the Postgres of ACCORD_DATABASE_URL',
    usage: 'accord serve [--listen HOST:PORT] [--admin-listen HOST:PORT] [--wait SECONDS]',
    options: { ...listeners, ...wait },
    positionals: false,
  },
  operate: {
    summary: 'the operator: manifests into Postgres',
    usage:
      'accord operate (--source files --manifests DIR | --source kubernetes [--kubeconfig FILE] [--adopt-cluster]) [--data DIR] [--admin-listen HOST:PORT]',
    options: { ...source, ...data, 'admin-listen': { type: 'string' } },
    positionals: false,
  },
  release: {
    summary: 'before the operator is uninstalled: take its finalizer off all manifests of a cluster',
    usage: 'accord release --source kubernetes [--kubeconfig FILE]',
    options: { source: { type: 'string' }, kubeconfig: { type: 'string' } },
    positionals: false,
  },
  migrate: {
    summary: 'bring the schema of ACCORD_MIGRATION_URL up to this version',
    usage: 'accord migrate [--wait SECONDS]',
    options: { ...wait },
    positionals: false,
  },
  validate: {
    summary: 'check manifests offline; policies are compiled and their tests run',
    usage: 'accord validate FILE|DIR…',
    options: {},
    positionals: true,
  },
  token: {
    summary: 'mint a token on a local installation; prints only the token',
    usage: 'accord token --tenant T (--role R | --client ID --scope S… | --user ID) [--data DIR]',
    options: {
      tenant: { type: 'string' },
      role: { type: 'string' },
      client: { type: 'string' },
      scope: { type: 'string', multiple: true },
      user: { type: 'string' },
      ...data,
    },
    positionals: false,
  },
  audit: {
    summary: "verify a tenant's ledger of consents; ends with 1 when it is not as it was sealed",
    usage: 'accord audit verify --tenant T [--checkpoint FILE] [--data DIR]',
    options: { tenant: { type: 'string' }, checkpoint: { type: 'string' }, ...data },
    positionals: true,
  },
} as const satisfies Record<string, Command>;
export type CommandName = keyof typeof commands;

/** What the user typed wrong; the message is all that is printed. */
export class UsageError extends Error {}

export type Parsed = {
  command: CommandName;
  values: Record<string, string | undefined>;
  /** Options without a value that were given. */
  flags: ReadonlySet<string>;
  positionals: string[];
};

/** @throws UsageError */
export function parseCommandLine(args: readonly string[]): Parsed | 'help' | 'version' {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') return 'help';
  if (name === '--version' || name === 'version') return 'version';
  if (!(name in commands)) throw new UsageError(`accord: there is no command ${name}\n\n${help()}`);
  const command: Command = commands[name as CommandName];
  if (rest.includes('--help') || rest.includes('-h')) return 'help';
  try {
    const { values, positionals, tokens } = parseArgs({
      args: rest,
      options: command.options,
      allowPositionals: command.positionals,
      tokens: true,
    });
    const named = tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : []));
    // Node would take the last one and forget the others.
    const twice = named.find((one, i) => named.indexOf(one) < i && !command.options[one]?.multiple);
    if (twice !== undefined) throw new Error(`Option '--${twice}' is given twice`);
    const given = Object.entries(values);
    const flags = new Set(given.flatMap(([option, value]) => (value === true ? [option] : [])));
    const texts = Object.fromEntries(
      given.filter(([, value]) => value !== true).map(([option, value]) => [option, `${value}`]),
    );
    return { command: name as CommandName, values: texts, flags, positionals };
  } catch (error) {
    throw new UsageError(`accord ${name}: ${(error as Error).message}\nusage: ${command.usage}`);
  }
}

export function help(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).flatMap(([name, command]) => [
    `  ${name.padEnd(width)}  ${command.summary}`,
    `  ${' '.repeat(width)}  ${command.usage}`,
  ]);
  return [
    'accord: authorization, sharing by invitation, and consent',
    '',
    ...lines,
    '',
    'Configuration: docs/configuration.md',
  ].join('\n');
}
