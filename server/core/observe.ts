/**
 * Owns the closed list of entities that can be observed. Code emits; an observation becomes a log line (log.ts) and metrics
 * (metrics.ts, and each room's), so that no log string is scattered about.
 */

type GroundObservation =
  | { kind: 'snapshot_swapped'; tenant: string; revision: number; ms: number; full: boolean }
  | { kind: 'snapshot_failed'; tenant?: string; error: unknown }
  | { kind: 'snapshot_stale'; sinceMs: number }
  | { kind: 'database_lost'; error: unknown }
  | { kind: 'database_back'; afterMs: number }
  | { kind: 'listen_reconnected'; afterMs: number }
  | { kind: 'migrated'; name: string; ms: number }
  | { kind: 'policy_compiled'; tenant: string; ok: boolean; ms: number; cached: boolean }
  | { kind: 'compiler_replaced'; reason: string }
  | { kind: 'compiler_ended'; idleMs: number }
  | { kind: 'decided'; tenant: string; outcome: 'allow' | 'deny' | 'object'; ms: number }
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
export type GroundKind = GroundObservation['kind'];

export type Observe = (observation: Observation) => void;
