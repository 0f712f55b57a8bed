/**
 * What the status of a TrustedIssuer says of its keys. Servers read them, and may reach what the operator does not; they
 * write down what they found (key-findings.ts), where the operator looks now and then. It is no part of Ready: an issuer
 * that is away for a while is not a manifest that is wrong.
 */
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import { counted } from '../core/text.ts';
import type { ConditionOptions, KindCondition, ResourceClaim } from '../room/resource-kind.ts';
import { type Findings, readChangedFindings, readFindings } from './store.ts';

const MINUTES_KEPT = limits.jwksStaleMaxMs / 60_000;

export async function keysCondition(
  { database }: { database: Database },
  { tenant, name }: ResourceClaim,
  { maxStalenessMs }: ConditionOptions,
): Promise<KindCondition> {
  return conditionOf(await database.systemPipelined((tx) => readFindings(tx, tenant, name, maxStalenessMs)));
}

/** The issuers of whose keys a server has found something else than before, within this time. */
export function keysReadWithin({ database }: { database: Database }, ms: number): Promise<ResourceClaim[]> {
  return database.systemPipelined((tx) => readChangedFindings(tx, ms));
}

function conditionOf({ servers, failed, errors }: Findings): KindCondition {
  const type = 'KeysAvailable';
  if (servers === 0) {
    const message = 'No server has fetched the keys of this issuer yet.';
    return { type, status: 'Unknown', reason: 'NotRead', message };
  }
  if (failed === 0)
    return { type, status: 'True', reason: 'KeysRead', message: 'Servers have the keys of this issuer.' };
  const message =
    `${failed} of ${counted(servers, 'server')} failed to fetch the keys of this issuer:\n${errors.join('\n')}\n` +
    `They answer its tokens with 503, unless they fetched keys within the last ${MINUTES_KEPT} minutes.`;
  return { type, status: 'False', reason: 'FetchFailed', message };
}
