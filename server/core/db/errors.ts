/** What an error of the database says of trying again: the one place that knows its codes. */

/**
 * Why the database did not do what it was asked, where nothing is wrong with what was asked. `lost`: the connection was lost or could
 * not be opened, so that other statements fail too; `timeout`: it took too long; `conflict`: with another transaction; `read-only`: a
 * failover has made the server a standby, or its provider protects a full disk. But for `lost`, nothing of it was written.
 */
export type DatabaseTrouble = 'lost' | 'timeout' | 'conflict' | 'read-only';

const connectionLost = /^(08|57P|53)/; // SQLSTATE classes: connection, operator intervention, insufficient resources
const socketErrors = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOTFOUND']);
/** SQLSTATE: query canceled (a statement took too long), lock not available, a transaction of one round trip took too long. */
const timeouts: ReadonlySet<unknown> = new Set(['57014', '55P03', '25P04']);
/** SQLSTATE: serialization_failure, deadlock_detected. */
const conflicts: ReadonlySet<unknown> = new Set(['40001', '40P01']);
/** SQLSTATE: read_only_sql_transaction. */
const readOnly: ReadonlySet<unknown> = new Set(['25006']);

/** Undefined: it is none of these, and would happen again. */
export function troubleOf(error: unknown): DatabaseTrouble | undefined {
  if (isDatabaseLost(error)) return 'lost';
  if (isTimeout(error)) return 'timeout';
  if (isConflict(error)) return 'conflict';
  return hasCode(error, readOnly) ? 'read-only' : undefined;
}

/** The connection was lost or could not be opened, so that other statements fail too. */
export function isDatabaseLost(error: unknown): boolean {
  const { code, message, syscall } = (error ?? {}) as { code?: unknown; message?: unknown; syscall?: unknown };
  // Not of its cause: requests to other servers meet the same errors of sockets.
  if (typeof code === 'string' && (connectionLost.test(code) || socketErrors.has(code))) return true;
  // A Unix socket that is not there; of other calls it is a missing file.
  if (code === 'ENOENT') return syscall === 'connect';
  return /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error/.test(
    String(message),
  );
}

/** Whatever is written, it would fail: the connection was lost or could not be opened, or the database is read-only. */
export function takesNoWrites(error: unknown): boolean {
  const trouble = troubleOf(error);
  return trouble === 'lost' || trouble === 'read-only';
}

/** The database ended it because it took too long; nothing of it was written. */
export function isTimeout(error: unknown): boolean {
  return hasCode(error, timeouts);
}

/** Nothing was written, and the same may succeed when it is done again. */
export function isConflict(error: unknown): boolean {
  return hasCode(error, conflicts);
}

/** Whether the error or its cause has one of the codes. */
function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } | null };
  return codes.has(code) || codes.has(cause?.code);
}
