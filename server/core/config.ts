/**
 * Configuration: environment variables with the prefix ACCORD_, read once, checked, frozen. docs/configuration.md
 * is generated from this schema. An unknown ACCORD_ variable or a bad value stops the start with all that is wrong.
 */
import { type Static, type TProperties, Type } from 'typebox';
import { Check } from 'typebox/value';
import { bounds, patterns } from '../../crds/index.ts';
import { urlsOf } from './db/urls.ts';
import { parseCidrs } from './outbound/addresses.ts';
import { withSecretFiles } from './secret-files.ts';

export const ConfigSchema = Type.Object({
  ACCORD_DATABASE_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      description:
        'Postgres as the servers use it: a login role that is only a member of accord_app and accord_system. It may name several hosts, separated by commas; the primary is used.',
    }),
  ),
  ACCORD_DATABASE_SESSION_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      description:
        'The same database and role past a pooler in transaction mode, for connections that keep a session: of notifications, and of the lock of an operator on files. Default: ACCORD_DATABASE_URL.',
    }),
  ),
  ACCORD_MIGRATION_URL: Type.Optional(
    Type.String({
      pattern: '^postgres(ql)?://',
      description: 'Postgres as `accord migrate` uses it: the owner of the schema, with CREATEROLE the first time.',
    }),
  ),
  ACCORD_MASTER_KEY: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z0-9_-]{43}=?$',
      description:
        '32 random bytes, base64url. Private keys and secrets in Postgres are encrypted with it; `accord start` creates its own.',
    }),
  ),
  ACCORD_LISTEN: Type.String({
    default: '127.0.0.1:8080',
    pattern: '^.+:\\d{1,5}$',
    description: 'HOST:PORT of the APIs.',
  }),
  ACCORD_ADMIN_LISTEN: Type.String({
    default: '127.0.0.1:8081',
    pattern: '^.+:\\d{1,5}$',
    description:
      'HOST:PORT of /live, /ready, /metrics, /snapshot and /waiting. For `accord operate` the default is 127.0.0.1:8082, and there is no /snapshot.',
  }),
  ACCORD_BASE_URL: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#]+(/[^?#]*[^/?#])?$',
      description:
        'The address under which callers reach the APIs; issuer identifiers begin with it. Default: http:// and ACCORD_LISTEN.',
    }),
  ),
  ACCORD_DATABASE_POOL: Type.Integer({
    default: 8,
    minimum: 2,
    maximum: 100,
    description: 'Connections of one server to Postgres, without the one that listens for notifications.',
  }),
  ACCORD_COMPILERS: Type.Integer({
    default: 1,
    minimum: 1,
    maximum: 16,
    description: 'Worker threads that compile policies.',
  }),
  ACCORD_MAX_STALENESS: Type.Integer({
    default: 15,
    minimum: 2,
    maximum: 300,
    description: 'Seconds a server may answer without having confirmed its state with Postgres.',
  }),
  ACCORD_DRAIN: Type.Integer({
    default: 0,
    minimum: 0,
    maximum: 300,
    description:
      'Seconds for which a server that was told to stop still answers, closing each connection with its answer. Set it to the time that load balancers need to stop sending requests.',
  }),
  ACCORD_LEASE_NAMESPACE: Type.Optional(
    Type.String({
      pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$',
      description:
        "The Kubernetes namespace of the Lease accord-operator, which decides which of several operators leads. Default: the pod's own, or that of the kubeconfig's context.",
    }),
  ),
  ACCORD_OUTBOUND_ALLOW: Type.String({
    default: '',
    maxLength: 4096,
    description:
      'Addresses outside of the public internet that issuers and endpoints may have: CIDR ranges, separated by commas.',
  }),
  ACCORD_CA_BUNDLE: Type.Optional(
    Type.String({
      maxLength: 4096,
      description:
        'File with certificates (PEM) of authorities that are trusted for issuers in addition to those of Node; read at the start.',
    }),
  ),
  ACCORD_HTTPS_PROXY: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#]+/?$',
      description:
        'Proxy (CONNECT) for requests to issuers and endpoints; it may contain user and password. The proxy then resolves names.',
    }),
  ),
  ACCORD_NO_PROXY: Type.String({
    default: '',
    maxLength: 4096,
    description:
      'Destinations that are reached without ACCORD_HTTPS_PROXY: names with their subdomains, addresses, CIDR ranges, separated by commas; * means all.',
  }),
  ACCORD_SMTP_URL: Type.Optional(
    Type.String({
      pattern: '^smtps?://([^:/?#@]+(:[^/?#@]*)?@)?(\\[[0-9a-fA-F:]+\\]|[^:/?#@\\[\\]]+)(:\\d{1,5})?/?$',
      description:
        'The mail server of tenants that have none of their own: smtp://USER:PASSWORD@HOST:587 (STARTTLS, required) or smtps:// (TLS from the start, port 465). User and password are URL-encoded. If it is not set, their mail is kept until it expires.',
    }),
  ),
  ACCORD_MAIL_FROM: Type.Optional(
    Type.String({
      pattern: patterns.mailFrom.source,
      maxLength: bounds.mailFromCharsMax,
      description:
        'Sender of what ACCORD_SMTP_URL sends: an e-mail address, or NAME <ADDRESS>. Tenants may choose the name, and not the address. Required by ACCORD_SMTP_URL.',
    }),
  ),
  ACCORD_TRUST_PROXY: Type.String({
    default: '',
    maxLength: 1024,
    description: 'CIDR ranges of proxies whose X-Forwarded-* headers are trusted, separated by commas.',
  }),
  ACCORD_MAX_CONNECTIONS: Type.Integer({
    default: 10_000,
    minimum: 10,
    maximum: 1_000_000,
    description:
      'Connections that a server has open at once; further ones are closed. One address has at most a quarter of them, unless it is a proxy of ACCORD_TRUST_PROXY or of this machine.',
  }),
  ACCORD_RATE_LIMIT: Type.Integer({
    default: 5000,
    minimum: 0,
    maximum: 1_000_000,
    description:
      'Requests a second of one caller (a client, user or member, and an address before its token is verified) to one server, 0 for no limit; a second of it may be used at once, and a batch counts as its requests. Lists of what a user shares count as the shares that policies may be asked about.',
  }),
  ACCORD_ENVIRONMENT: Type.Optional(
    Type.String({
      pattern: '^[^\\p{C}]{1,40}$',
      description:
        'What the portal calls this installation, such as production or staging, so that nobody takes one for another.',
    }),
  ),
  ACCORD_ACCESS_LOG: Type.Union([Type.Literal('true'), Type.Literal('false')], {
    default: 'false',
    description:
      'true: each request to the APIs is a line of the log, with its route, status and duration (docs/metrics.md). It does not depend on ACCORD_LOG_LEVEL.',
  }),
  ACCORD_METRICS_POLICIES: Type.Integer({
    default: 200,
    minimum: 0,
    maximum: 10_000,
    description:
      'Policies, of all tenants together, whose decisions have series of their own in accord_policy_decisions_total; 0: the metric does not exist.',
  }),
  ACCORD_LOG_LEVEL: Type.Union(
    [Type.Literal('debug'), Type.Literal('info'), Type.Literal('warn'), Type.Literal('error'), Type.Literal('silent')],
    {
      default: 'info',
      description: 'The least severe level that is logged. `accord start` logs errors only unless this is set.',
    },
  ),
});
export type Config = Readonly<Static<typeof ConfigSchema>>;

/** All that is wrong with the environment, a line each. */
export class ConfigError extends Error {}

/**
 * Reads and checks the environment.
 * @throws ConfigError listing every unknown variable and bad value
 */
export function readConfig(given: Record<string, string | undefined> = process.env): Config {
  const properties = ConfigSchema.properties as TProperties;
  const config: Record<string, unknown> = {};
  const { environment, wrong } = withSecretFiles(given);
  for (const [name, value] of Object.entries(environment)) {
    if (name.startsWith('ACCORD_') && value !== undefined && !(name in properties)) {
      wrong.push(`${name}: unknown variable`);
    }
  }
  for (const [name, schema] of Object.entries(properties) as [string, { type: string; default?: unknown }][]) {
    const text = environment[name];
    if (text === undefined || text === '') {
      if (schema.default !== undefined) config[name] = schema.default;
      continue;
    }
    const value = schema.type === 'integer' && /^-?\d+$/.test(text) ? Number(text) : text;
    const fault = Check(schema as never, value) ? faultOf(name, text) : expectation(schema);
    if (fault === undefined) config[name] = value;
    else wrong.push(`${name}: ${fault}`);
  }
  const traces = tracesFault(environment);
  if (traces !== undefined) wrong.push(traces);
  if (config.ACCORD_SMTP_URL !== undefined && config.ACCORD_MAIL_FROM === undefined)
    wrong.push('ACCORD_MAIL_FROM: required by ACCORD_SMTP_URL');
  if (wrong.length > 0) throw new ConfigError(wrong.join('\n'));
  return Object.freeze(config) as Config;
}

/**
 * Whether requests are traced: by OpenTelemetry's environment variables, most of which its SDK reads by itself
 * (docs/tracing.md).
 */
export function wantsTraces(environment: Record<string, string | undefined> = process.env): boolean {
  const { OTEL_SDK_DISABLED: disabled = '', OTEL_TRACES_EXPORTER: exporter } = environment;
  if (disabled.toLowerCase() === 'true' || exporter === 'none') return false;
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces, OTEL_EXPORTER_OTLP_ENDPOINT: ofAll } = environment;
  return Boolean(exporter || ofTraces || ofAll);
}

/** What nobody would see of traces that were wanted: the SDK takes no notice of it. */
function tracesFault(environment: Record<string, string | undefined>): string | undefined {
  if (!wantsTraces(environment)) return undefined;
  const { OTEL_TRACES_EXPORTER: exporter } = environment;
  if (exporter && exporter !== 'otlp') return 'OTEL_TRACES_EXPORTER: must be otlp or none';
  const names = ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'];
  const name = names.find((one) => environment[one]);
  if (name === undefined || environment[name] === 'http/json') return undefined;
  return `${name}: must be http/json`;
}

/** What a schema cannot say. */
function faultOf(name: string, text: string): string | undefined {
  try {
    if (name === 'ACCORD_OUTBOUND_ALLOW' || name === 'ACCORD_TRUST_PROXY') parseCidrs(text);
    if (/^ACCORD_(DATABASE|DATABASE_SESSION|MIGRATION)_URL$/.test(name)) urlsOf(text);
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
}

/** HOST:PORT taken apart; an IPv6 host stands in brackets. */
export function parseListen(listen: string): { host: string; port: number } {
  const at = listen.lastIndexOf(':');
  return { host: listen.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(listen.slice(at + 1)) };
}

/** A required variable. @throws ConfigError naming it and what wants it */
export function requireVariable(config: Config, name: keyof Config, forWhat: string): string {
  const value = config[name];
  if (typeof value !== 'string') throw new ConfigError(`${name}: required by ${forWhat}`);
  return value;
}

function expectation(schema: {
  type?: string;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  anyOf?: { const: string }[];
}): string {
  if (schema.anyOf) return `must be one of ${schema.anyOf.map((one) => one.const).join(', ')}`;
  if (schema.type === 'integer') return `must be a whole number from ${schema.minimum} to ${schema.maximum}`;
  return `must be text${schema.pattern ? ` that matches ${schema.pattern}` : ''}`;
}
