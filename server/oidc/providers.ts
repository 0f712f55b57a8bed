/** The authorization servers that this server holds: each is built when it is first asked for, and the one that was idle longest goes. */
import { createPublicKey, type JsonWebKey } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { JWKS, Provider } from 'oidc-provider';
import { limits } from '../core/limits.ts';
import { accessKeys, identityKeys, type TokenKey } from '../keys/index.ts';
import type { TenantSnapshot } from '../snapshot/index.ts';
import { library } from './library.ts';
import { createProvider, type ProviderServices } from './provider.ts';

export type Mounted = {
  provider: Provider;
  callback: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
};

/** `createdAt`: of the tenant. `untilMs`: then other keys sign. */
type Held = { createdAt: string; untilMs: number; made: Promise<Mounted> };

type Library = Awaited<ReturnType<typeof library>>;

export class Providers {
  readonly #services: ProviderServices;
  readonly #tenantOf: (tenant: string) => TenantSnapshot | undefined;
  readonly #held = new LRUCache<string, Held>({ max: limits.oidcProvidersMax });

  /** @param tenantOf the newest snapshot */
  constructor(services: ProviderServices, tenantOf: (tenant: string) => TenantSnapshot | undefined) {
    this.#services = services;
    this.#tenantOf = tenantOf;
  }

  /** That of a tenant as it is now. */
  of({ tenant, tenantCreatedAt }: TenantSnapshot): Promise<Mounted> {
    const held = this.#held.get(tenant);
    if (held?.createdAt === tenantCreatedAt && held.untilMs > this.#services.clock.now()) return held.made;
    const lasts = (untilMs: number) => {
      next.untilMs = untilMs;
    };
    const next: Held = {
      createdAt: tenantCreatedAt,
      untilMs: Number.POSITIVE_INFINITY,
      made: this.#make(tenant, lasts),
    };
    this.#held.set(tenant, next);
    next.made.catch(() => this.#forget(tenant, next));
    return next.made;
  }

  /** The tenant's keys have changed; without a tenant, anybody's may have. What it is besides is looked up at each request. */
  forget(tenant?: string): void {
    if (tenant === undefined) this.#held.clear();
    else this.#held.delete(tenant);
  }

  get size(): number {
    return this.#held.size;
  }

  #forget(tenant: string, held: Held): void {
    if (this.#held.peek(tenant) === held) this.#held.delete(tenant);
  }

  async #make(tenant: string, lasts: (untilMs: number) => void): Promise<Mounted> {
    const services = this.#services;
    const [lib, accessing, identity] = await Promise.all([
      library(),
      accessKeys(services.keys, tenant),
      identityKeys(services.keys, tenant),
    ]);
    const [signing] = accessing.keys;
    if (signing === undefined) throw new Error(`the tenant ${tenant} has no signing key`);
    // Of equal algorithms the first signs: ID tokens are signed with an identity key, access tokens with the one that is named.
    const jwks = { keys: [...identity.keys, ...accessing.keys].map((key) => jwkOf(lib, key)) } as JWKS;
    const access = { kid: signing.kid, alg: signing.algorithm };
    const current = () => {
      const snapshot = this.#tenantOf(tenant);
      if (snapshot === undefined) throw new Error(`the tenant ${tenant} is gone`);
      return snapshot;
    };
    const provider = createProvider({ services, current, keys: { jwks, access }, lib });
    lasts(Math.min(accessing.changesAtMs, identity.changesAtMs));
    return { provider, callback: provider.callback() };
  }
}

/** Of a retired key only the public half is there, which still verifies what it signed. */
function jwkOf(lib: Library, { kid, algorithm, publicJwk, privateJwk }: TokenKey): object {
  if (privateJwk !== undefined) return { ...privateJwk, kid, alg: algorithm, use: 'sig' };
  const key = createPublicKey({ key: publicJwk as JsonWebKey, format: 'jwk' });
  class Retired extends lib.ExternalSigningKey {
    override keyObject() {
      return key;
    }
    override sign(): never {
      throw new Error('a retired key signs nothing');
    }
  }
  return Object.assign(new Retired(), { kid, alg: algorithm });
}
