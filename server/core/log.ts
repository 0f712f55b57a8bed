/** Owns the log: one switch from an observation to a line of JSON (pino), each with its level. Nothing else logs. */
import { type DestinationStream, type Logger, pino } from 'pino';
import type { GroundKind, Observation } from './observe.ts';

type Level = 'debug' | 'info' | 'warn' | 'error';

const levels: Record<GroundKind, Level> = {
  snapshot_swapped: 'debug',
  snapshot_failed: 'error',
  snapshot_stale: 'error',
  database_lost: 'warn',
  database_back: 'info',
  listen_reconnected: 'info',
  migrated: 'info',
  policy_compiled: 'debug',
  compiler_replaced: 'warn',
  compiler_ended: 'debug',
  decided: 'debug',
  decision_failed: 'warn',
  searched: 'debug',
  policy_suspended: 'warn',
  decision_log_dropped: 'warn',
  token_refused: 'debug',
  jwks_fetched: 'debug',
  jwks_failed: 'warn',
  request_failed: 'error',
  reconciled: 'info',
  reconcile_failed: 'warn',
  source_failed: 'warn',
  watch_resumed: 'debug',
  relisted: 'info',
  status_failed: 'warn',
  kubernetes_throttled: 'warn',
  kubernetes_events_dropped: 'warn',
  ledger_sealed: 'info',
  mass_deletion_held: 'error',
  wakeup_missed: 'error',
  background_failed: 'error',
};

/** What an error may say in the log. Libraries hang connections, statements and their parameters on theirs. */
const errorFieldsTold = [
  'code',
  'status',
  'severity',
  'schema',
  'table',
  'constraint',
  'routine',
  'syscall',
  'hostname',
  'address',
  'port',
];
const CAUSES_MAX = 5;

function errorFields(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return typeof error === 'object' ? undefined : error;
  const rest = error as unknown as Record<string, unknown>;
  const { cause, errors } = rest as { cause?: unknown; errors?: unknown };
  const isNested = depth < CAUSES_MAX;
  return {
    type: error.constructor.name,
    message: withoutCredentials(error.message),
    stack: withoutCredentials(error.stack ?? ''),
    ...Object.fromEntries(errorFieldsTold.filter((name) => isPlain(rest[name])).map((name) => [name, rest[name]])),
    ...(cause !== undefined && isNested ? { cause: errorFields(cause, depth + 1) } : {}),
    ...(Array.isArray(errors) && isNested ? { errors: errors.map((one) => errorFields(one, depth + 1)) } : {}),
  };
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

/** user:password@ of a URL. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^\s/@]*@/g, '//***@');
}

export function createLogger(level: Level | 'silent', destination?: DestinationStream): Logger {
  const options = { level, base: null, serializers: { error: (error: unknown) => errorFields(error) } };
  return destination ? pino(options, destination) : pino(options, pino.destination(2));
}

/** Decisions are in the metrics and, where a tenant wants it, in the decision log; a line each would drown the rest. */
export function logObservation(logger: Logger, observation: Observation): void {
  if (observation.kind === 'decided') return;
  const { kind, ...fields } = observation;
  const told = Object.entries(fields).map(([name, value]) => [
    name,
    typeof value === 'string' ? withoutCredentials(value) : value,
  ]);
  const level = (levels as Partial<Record<string, Level>>)[kind] ?? 'info';
  logger[level](Object.fromEntries(told), kind);
}
