/**
 * Token enrichment: what a token of the tenant's own issuer says of its user besides the standard claims. It is bounded in
 * time, number and size. A claim that cannot be had within its bounds is left out whole, and the token is issued without it.
 */

import { standingsOf } from '../consents/index.ts';
import type { Clock } from '../core/clock.ts';
import type { Database } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Meters, Recorders } from '../core/metrics.ts';
import type { Observe } from '../core/observe.ts';
import type { Entity } from '../relationships/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { type Answer, ClaimReader } from './enrich-reader.ts';
import { type ClaimScope, fittingClaims, type LeftOut, wantedClaims } from './enrich-rules.ts';

export { type ClaimScope, claimScopes } from './enrich-rules.ts';

declare module '../core/observe.ts' {
  interface RoomObservations {
    /** A token was issued without a claim that it would have had. `error`: with `failed`. */
    claim_left_out: { tenant: string; claim: ClaimScope; reason: LeftOut; error?: unknown };
  }
}

type EnrichmentServices = {
  database: Database;
  clock: Clock;
  observe: Observe;
  /** @default limits.claimsMsMax. No configuration states it: a program that does is a test. */
  msMax?: number;
};

export type EnrichmentRequest = {
  tenant: string;
  snapshot: Pick<TenantSnapshot, 'spec' | 'definitions'>;
  /** Whom the token is about. A client by itself is no actor, and its tokens are not enriched. */
  actor: Entity;
  /** Granted to the token. */
  scopes: ReadonlySet<string>;
  /** Of the request for the token; when it ends, nothing is read or observed any more. */
  signal?: AbortSignal | undefined;
};

export type Enrichment = {
  /** The claims to add, each whole; empty where none is wanted or none can be had in time. Never rejects. */
  claimsFor(request: EnrichmentRequest): Promise<Record<string, unknown>>;
  close(): Promise<void>;
};

type Outcome = Answer | { leftOut: LeftOut; error?: unknown } | undefined;

export function createEnrichment({
  database,
  clock,
  observe,
  msMax = limits.claimsMsMax,
}: EnrichmentServices): Enrichment {
  const own = database.separate('claims', {
    // One tenant may have half of them at once, and has one: here nobody waits for a connection.
    poolMax: 2 * limits.claimReadsMax,
    statementTimeoutMs: msMax,
  });
  const reader = new ClaimReader(own, clock);

  async function claimsFor(request: EnrichmentRequest): Promise<Record<string, unknown>> {
    const { tenant, snapshot, actor, scopes } = request;
    const wanted = wantedClaims({ spec: snapshot.spec, actor, scopes });
    if (wanted.size === 0) return {};
    const leaveOut = (claim: ClaimScope, reason: LeftOut, error?: unknown) =>
      observe({ kind: 'claim_left_out', tenant, claim, reason, ...(error === undefined ? {} : { error }) });
    const outcome = await read(reader, request, wanted, msMax);
    if (outcome === undefined) return {};
    if ('leftOut' in outcome) {
      for (const claim of wanted.keys()) leaveOut(claim, outcome.leftOut, outcome.error);
      return {};
    }
    const { relationships, given } = outcome;
    const now = clock.now();
    const { claims, leftOut } = fittingClaims(wanted, (scope) =>
      scope === 'relationships' ? relationships : given && standingsOf(given, snapshot.definitions, now),
    );
    for (const [claim, reason] of leftOut) leaveOut(claim, reason);
    return claims;
  }

  return {
    async claimsFor(request) {
      try {
        return await claimsFor(request);
      } catch (error) {
        // Whatever it is, the token is issued.
        for (const claim of wantedClaims({ ...request, spec: request.snapshot.spec }).keys())
          observe({ kind: 'claim_left_out', tenant: request.tenant, claim, reason: 'failed', error });
        return {};
      }
    },
    close: () => own.close(),
  };
}

/** What is read in time; undefined when the request has ended. */
function read(
  reader: ClaimReader,
  { tenant, actor, signal }: EnrichmentRequest,
  wanted: ReadonlyMap<ClaimScope, string>,
  msMax: number,
): Promise<Outcome> {
  if (signal?.aborted) return Promise.resolve(undefined);
  return new Promise((resolve) => {
    let isOver = false;
    const end = (outcome: Outcome) => {
      isOver = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      resolve(outcome);
    };
    const onAbort = () => end(undefined);
    signal?.addEventListener('abort', onAbort);
    const timer = setTimeout(() => end({ leftOut: 'late' }), msMax);
    reader.ask(tenant, {
      question: {
        relationshipsOf: wanted.has('relationships') ? actor : undefined,
        givenBy: wanted.has('consents') ? actor.id : undefined,
      },
      isOver: () => isOver,
      answer: end,
      refuse: () => end({ leftOut: 'busy' }),
      fail: (error) => end({ leftOut: 'failed', error }),
    });
  });
}

export function meterEnrichment(meters: Meters): Recorders {
  const help = 'Claims that tokens were issued without, by why.';
  const leftOut = meters.counter('token_claims_left_out_total', help, ['claim', 'reason']);
  return { claim_left_out: ({ claim, reason }) => leftOut.inc({ claim, reason }) };
}
