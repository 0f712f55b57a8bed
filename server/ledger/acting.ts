/** What an entry says of a request's caller, pure. */
import type { Caller } from '../core/auth/schema.ts';
import type { RegisterEntry } from './schema.ts';

type About = Partial<Pick<RegisterEntry, 'userId' | 'name' | 'version' | 'document' | 'contentDigest' | 'reason'>>;

/** A back end is an actor of the type `client`; a user's client is the one that its token names (RFC 9068 section 2.2). */
export function actedBy(caller: Caller): Pick<RegisterEntry, 'actor' | 'clientId'> {
  if (caller.kind === 'backend') {
    return { actor: { type: 'client', id: caller.clientId }, clientId: caller.clientId };
  }
  if (caller.kind === 'member') return { actor: { type: 'member', id: caller.id } };
  const { client_id: clientId } = caller.claims;
  return { actor: caller.actor, ...(typeof clientId === 'string' ? { clientId } : {}) };
}

/** One entry of the ledger on what a caller asked or did. */
export function entryOf(
  { caller, requestId, reason }: { caller: Caller; requestId: string; reason?: string | undefined },
  entry: Pick<RegisterEntry, 'type' | 'time' | 'outcome'> & About,
): RegisterEntry {
  return { ...actedBy(caller), requestId, ...(reason === undefined ? {} : { reason }), ...entry };
}
