/**
 * The tenant of a request: looked up once, by access control, and at the newest snapshot whenever it is
 * asked, however long the request's body took.
 */
import { problem } from '../core/problems.ts';
import type { TenantSnapshot } from './schema.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of the path; set by access.ts before anything else looks at a request. Null where the path names no tenant. */
    tenant: ServedTenant | null;
  }
}

export class ServedTenant {
  readonly code: string;
  /** The newest snapshot, however old; undefined once there is no such tenant any more. For what decides nothing. */
  newest: TenantSnapshot | undefined;
  readonly #isFresh: (tenant: string) => boolean;

  constructor(snapshot: TenantSnapshot, isFresh: (tenant: string) => boolean) {
    this.code = snapshot.tenant;
    this.newest = snapshot;
    this.#isFresh = isFresh;
  }

  /** The newest snapshot, which may be answered from. @throws Problem stale; tenant_not_found once it was erased */
  get snapshot(): TenantSnapshot {
    if (!this.#isFresh(this.code)) throw problem('stale');
    if (this.newest === undefined) throw problem('tenant_not_found');
    return this.newest;
  }
}
