/** What an error of the database says of trying again. */

const connectionLost = /^(08|57P|53)/; // SQLSTATE classes: connection, operator intervention, insufficient resources
const socketErrors = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOTFOUND']);
/** SQLSTATE: query canceled (a statement took too long), lock not available, a transaction of one round trip took too long. */
const timeouts: ReadonlySet<unknown> = new Set(['57014', '55P03', '25P04']);
/** SQLSTATE: serialization_failure, deadlock_detected. */
const conflicts: ReadonlySet<unknown> = new Set(['40001', '40P01']);
/** SQLSTATE: read_only_sql_transaction, of a server that a failover has made a standby. */
const readOnly: ReadonlySet<unknown> = new Set(['25006']);

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

/** The database ended it because it took too long; nothing of it was written. */
export function isTimeout(error: unknown): boolean {
  return hasCode(error, timeouts);
}

/** Nothing was written, and the same may succeed when it is done again. */
export function isConflict(error: unknown): boolean {
  return hasCode(error, conflicts);
}

/** The same may succeed later: nothing is wrong with what was asked. */
export function isTransient(error: unknown): boolean {
  return isDatabaseLost(error) || isTimeout(error) || isConflict(error) || hasCode(error, readOnly);
}

/** Whether the error or its cause has one of the codes. */
function hasCode(error: unknown, codes: ReadonlySet<unknown>): boolean {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: { code?: unknown } | null };
  return codes.has(code) || codes.has(cause?.code);
}
