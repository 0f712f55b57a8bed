/** Which command takes which options. An unknown option or command is refused with the usage. */
import { type ParseArgsConfig, parseArgs } from 'node:util';

type Options = NonNullable<ParseArgsConfig['options']>;
type Command = {
  summary: string;
  usage: string;
  options: Options;
  positionals: boolean;
  /** What --help says besides, a line each. */
  notes?: readonly string[];
};

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
    summary: 'run server, operator and an embedded Postgres in one process',
    notes: ['SIGINT, SIGTERM and SIGHUP stop it in order with exit status 0; a second signal stops it at once.'],
    usage:
      'accord start [--manifests DIR | --source kubernetes [--kubeconfig FILE] [--adopt-cluster]] [--data DIR] [--listen HOST:PORT] [--admin-listen HOST:PORT]',
    options: { ...source, ...data, ...listeners },
    positionals: false,
  },
  serve: {
    summary: 'serve the APIs, with the Postgres of ACCORD_DATABASE_URL',
    usage: 'accord serve [--listen HOST:PORT] [--admin-listen HOST:PORT] [--wait SECONDS]',
    options: { ...listeners, ...wait },
    positionals: false,
  },
  operate: {
    summary: 'run the operator, which reconciles manifests into Postgres',
    usage:
      'accord operate (--source files --manifests DIR | --source kubernetes [--kubeconfig FILE] [--adopt-cluster]) [--data DIR] [--admin-listen HOST:PORT]',
    options: { ...source, ...data, 'admin-listen': { type: 'string' } },
    positionals: false,
  },
  finalizers: {
    summary: "remove the operator's finalizer from all manifests of a cluster, before the operator is uninstalled",
    usage: 'accord finalizers remove --source kubernetes [--kubeconfig FILE]',
    options: { source: { type: 'string' }, kubeconfig: { type: 'string' } },
    positionals: true,
  },
  migrate: {
    summary: 'update the schema of ACCORD_MIGRATION_URL to this version',
    usage: 'accord migrate [--wait SECONDS]',
    options: { ...wait },
    positionals: false,
  },
  validate: {
    summary: 'check manifests offline, compile policies and run their tests',
    usage: 'accord validate [--partial] [--format text|json|sarif|junit] FILE|DIR|-…',
    options: { partial: { type: 'boolean' }, format: { type: 'string' } },
    positionals: true,
    notes: [
      '--partial  other manifests exist: tenants, types, consent definitions and libraries may be defined there',
      '--format   text (default), json, sarif (2.1.0) or junit',
      '-          read standard input',
      'Exit status: 0 without errors, 1 with errors, 2 when the command line is wrong.',
    ],
  },
  token: {
    summary: 'mint a token on a local installation and print only the token',
    usage: 'accord token --tenant T (--role R | --client ID --scope S… | --user ID [--email ADDRESS]) [--data DIR]',
    options: {
      tenant: { type: 'string' },
      role: { type: 'string' },
      client: { type: 'string' },
      scope: { type: 'string', multiple: true },
      user: { type: 'string' },
      email: { type: 'string' },
      ...data,
    },
    positionals: false,
    notes: ['--email  a mail address of the user that counts as verified: it accepts invitations that are bound to it'],
  },
  'log-in': {
    summary: 'print a link that logs the first security admin in at the portal of a running accord start',
    usage: 'accord log-in [--tenant T] [--data DIR]',
    options: { tenant: { type: 'string' }, ...data },
    positionals: false,
    notes: [
      'The link works once, for 15 minutes. A newer one replaces it. accord start prints one, too, on a terminal.',
      'Only for an accord start that listens on loopback. --tenant  default: the first that has a security admin',
    ],
  },
  keys: {
    summary: "make new keys for the tokens of a tenant's own issuer; no token and no session ends",
    usage: 'accord keys rotate --tenant T [--data DIR]',
    options: { tenant: { type: 'string' }, ...data },
    positionals: true,
    notes: ['A new key is published at once and signs 15 minutes later, when those who verify have read it.'],
  },
  audit: {
    summary: "verify a tenant's ledger of consents; the exit status is 1 when it was changed after it was sealed",
    usage: 'accord audit verify --tenant T [--checkpoint FILE] [--data DIR]',
    options: { tenant: { type: 'string' }, checkpoint: { type: 'string' }, ...data },
    positionals: true,
  },
  erase: {
    summary: 'erase all that a tenant holds of a person, and print as JSON what was removed and what stays',
    usage: 'accord erase --tenant T --actor TYPE:ID [--contact ADDRESS…] [--data DIR]',
    options: {
      tenant: { type: 'string' },
      actor: { type: 'string' },
      contact: { type: 'string', multiple: true },
      ...data,
    },
    positionals: false,
  },
  events: {
    summary: "print a tenant's events as they come, or send them to an address, for developing a receiver",
    usage:
      'accord events (follow | forward URL [--secret whsec_…]) --tenant T [--after NUMBER] [--types TYPE,…] [--data DIR]',
    options: {
      tenant: { type: 'string' },
      after: { type: 'string' },
      types: { type: 'string' },
      secret: { type: 'string' },
      ...data,
    },
    positionals: true,
    notes: [
      'follow     print each event as a line of JSON (a CloudEvent)',
      'forward    POST each event to URL, one after the other; one that is not taken is sent again',
      '--after    begin behind the event of this number; 0 is the beginning. Default: what comes from now on',
      '--types    only these types, such as POLICY_UPDATED,INVITATION_*',
      '--secret   sign requests with this secret, as Standard Webhooks says',
    ],
  },
  export: {
    summary: "write a tenant's objects as manifests: those that the API owns, or all",
    usage: 'accord export --tenant T [--all] [--allow-past-dates] [--output DIR] [--data DIR]',
    options: {
      tenant: { type: 'string' },
      all: { type: 'boolean' },
      'allow-past-dates': { type: 'boolean' },
      output: { type: 'string' },
      ...data,
    },
    positionals: false,
  },
  doctor: {
    summary: 'look at an installation and say what is wrong with it and what to do',
    usage: 'accord doctor [--json] [--data DIR]',
    options: { json: { type: 'boolean' }, ...data },
    positionals: false,
    notes: [
      'It looks at the database of ACCORD_DATABASE_URL, or at that of a running accord start, and changes nothing.',
      '--json  print an object: ok, and findings, each with check, status (ok, warning, error), found, remedy and tenant',
      'Exit status: 0 without errors, 1 with errors, 2 when the command line is wrong.',
    ],
  },
} as const satisfies Record<string, Command>;
type CommandName = keyof typeof commands;

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
export function parseCommandLine(args: readonly string[]): Parsed | { help: CommandName | undefined } | 'version' {
  const [name, ...rest] = args;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    return { help: rest.find((one): one is CommandName => Object.hasOwn(commands, one)) };
  }
  if (name === '--version' || name === 'version') return 'version';
  if (!Object.hasOwn(commands, name)) throw new UsageError(`accord: unknown command ${name}\n\n${help()}`);
  const command: Command = commands[name as CommandName];
  if (rest.includes('--help') || rest.includes('-h')) return { help: name as CommandName };
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

/** @param name of one command; without it all are listed */
export function help(name?: CommandName): string {
  if (name !== undefined) {
    const { summary, usage, notes = [] }: Command = commands[name];
    const configuration = 'Configuration: docs/configuration.md';
    return [
      `accord ${name}: ${summary}`,
      '',
      `usage: ${usage}`,
      ...(notes.length > 0 ? ['', ...notes] : []),
      '',
      configuration,
    ].join('\n');
  }
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
    'accord COMMAND --help shows one command. Configuration: docs/configuration.md',
  ].join('\n');
}
