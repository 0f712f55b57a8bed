/**
 * The closed list of what can be observed. Code emits; an observation becomes a log line (log.ts) and metrics
 * (metrics.ts, and each room's), so that no log string is scattered about.
 */

type GroundObservation =
  | { kind: 'snapshot_swapped'; tenant: string; revision: number; ms: number; full: boolean }
  | { kind: 'snapshot_failed'; tenant?: string; error: unknown }
  | { kind: 'snapshot_stale'; sinceMs: number }
  | { kind: 'database_lost'; error: unknown }
  /** `afterMs`: since the connection was lost, or could not be opened for the first time. */
  | { kind: 'listen_reconnected'; afterMs: number }
  /** Notifications do not arrive on the connection that listens for them. */
  | { kind: 'listen_deaf' }
  | { kind: 'migrated'; name: string; ms: number }
  | { kind: 'policy_compiled'; tenant: string; ok: boolean; ms: number; cached: boolean }
  | { kind: 'compiler_replaced'; reason: string }
  | { kind: 'compiler_ended'; idleMs: number }
  /** `policy`: its name; absent where no policy was evaluated because there is none of that name. */
  | { kind: 'decided'; tenant: string; policy: string | undefined; outcome: 'allow' | 'deny' | 'object'; ms: number }
  | { kind: 'decision_failed'; tenant: string; policy: string; reason: string; detail: string }
  | { kind: 'searched'; tenant: string; candidates: number; found: number; ms: number }
  | { kind: 'policy_suspended'; tenant: string; policy: string }
  | { kind: 'decision_log_dropped'; tenant: string; count: number }
  | { kind: 'token_refused'; tenant?: string; reason: string }
  | { kind: 'jwks_fetched'; tenant: string; issuer: string; keys: number; ms: number }
  | { kind: 'jwks_failed'; tenant: string; issuer: string; url: string; error: unknown }
  | { kind: 'request_failed'; requestId: string; route: string; error: unknown }
  | { kind: 'reconciled'; resource: string; ready: boolean; reason: string; message: string; ms: number }
  | { kind: 'reconcile_failed'; resource: string; error: unknown; retryInMs: number }
  | { kind: 'source_failed'; source: string; error: unknown }
  | { kind: 'watch_resumed'; resource: string; reason: string; pauseMs: number }
  | { kind: 'relisted'; resource: string; reason: string; objects: number; changed: number; ms: number }
  | { kind: 'status_failed'; resource: string; error: unknown }
  | { kind: 'kubernetes_throttled'; request: string; waitMs: number }
  | { kind: 'kubernetes_events_dropped'; count: number }
  | { kind: 'ledger_sealed'; tenant: string; entries: number; checkpoint: string }
  | { kind: 'mass_deletion_held'; tenant: string; rows: number; total: number }
  | { kind: 'wakeup_missed'; resource: string; waitedFor: string; waitedMs?: number }
  | { kind: 'background_failed'; task: string; error: unknown };

/** What rooms observe besides, by kind: a room declares its own here by declaration merging. They are logged at the level `info`. */
// biome-ignore lint/suspicious/noEmptyInterface: rooms merge their kinds into it
export interface RoomObservations {}

export type Observation =
  | GroundObservation
  | { [Kind in keyof RoomObservations]: { kind: Kind } & RoomObservations[Kind] }[keyof RoomObservations];
export type Level = 'debug' | 'info' | 'warn' | 'error';

/** `isFailure`: counted by accord_failures_total. What has a metric of its own is not. */
const kinds: Record<GroundObservation['kind'], { level: Level; isFailure?: true }> = {
  snapshot_swapped: { level: 'debug' },
  snapshot_failed: { level: 'error', isFailure: true },
  snapshot_stale: { level: 'error', isFailure: true },
  database_lost: { level: 'warn', isFailure: true },
  listen_reconnected: { level: 'info' },
  listen_deaf: { level: 'error', isFailure: true },
  migrated: { level: 'info' },
  policy_compiled: { level: 'debug' },
  compiler_replaced: { level: 'warn', isFailure: true },
  compiler_ended: { level: 'debug' },
  decided: { level: 'debug' },
  decision_failed: { level: 'warn' },
  searched: { level: 'debug' },
  policy_suspended: { level: 'warn' },
  decision_log_dropped: { level: 'warn' },
  token_refused: { level: 'debug' },
  jwks_fetched: { level: 'debug' },
  jwks_failed: { level: 'warn', isFailure: true },
  request_failed: { level: 'error', isFailure: true },
  reconciled: { level: 'info' },
  reconcile_failed: { level: 'warn', isFailure: true },
  source_failed: { level: 'warn', isFailure: true },
  watch_resumed: { level: 'debug' },
  relisted: { level: 'info' },
  status_failed: { level: 'warn', isFailure: true },
  kubernetes_throttled: { level: 'warn' },
  kubernetes_events_dropped: { level: 'warn', isFailure: true },
  ledger_sealed: { level: 'info' },
  mass_deletion_held: { level: 'error' },
  wakeup_missed: { level: 'error' },
  background_failed: { level: 'error', isFailure: true },
};
const kindOf = (kind: string) => (kinds as Partial<Record<string, { level: Level; isFailure?: true }>>)[kind];

export function levelOf(kind: string): Level {
  return kindOf(kind)?.level ?? 'info';
}

export function isFailure(kind: string): boolean {
  return kindOf(kind)?.isFailure === true;
}

export type Observe = (observation: Observation) => void;
