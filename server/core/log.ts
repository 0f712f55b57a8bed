/** The log: one switch from an observation to a line of JSON (pino), each with its level. Nothing else logs. */
import { type DestinationStream, type Logger, pino } from 'pino';
import { type Level, levelOf, type Observation } from './observe.ts';

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
  logger[levelOf(kind)](Object.fromEntries(told), kind);
}
