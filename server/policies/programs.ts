/**
 * Which programs are in memory: as many as there is room for, and when there is no more, the tenant that holds
 * most gives up the one it has not used for longest. So a tenant with many programs does not evict those of others. The
 * data documents of a tenant's programs count too, each once.
 */
import type { Decoded } from './documents.ts';

/** The documents of a program by digest. */
type HeldDocuments = ReadonlyMap<string, Decoded>;
type Held<Loaded> = { loaded: Loaded; documents: HeldDocuments; usedAt: number };

const none: HeldDocuments = new Map();

export class Programs<Loaded> {
  readonly #max: number;
  readonly #ofTenant = new Map<string, Map<string, Held<Loaded>>>();
  /** What each tenant's programs count for. */
  readonly #weights = new Map<string, number>();
  #weight = 0;
  #size = 0;
  #uses = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  get(tenant: string, artifact: string): Loaded | undefined {
    const program = this.#ofTenant.get(tenant)?.get(artifact);
    if (program === undefined) return undefined;
    program.usedAt = ++this.#uses;
    return program.loaded;
  }

  /** As get, but it does not count as a use. */
  peek(tenant: string, artifact: string): Loaded | undefined {
    return this.#ofTenant.get(tenant)?.get(artifact)?.loaded;
  }

  /** A document that some program of the tenant holds. */
  document(tenant: string, digest: string): Decoded | undefined {
    for (const { documents } of this.#ofTenant.get(tenant)?.values() ?? []) {
      const found = documents.get(digest);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  set(tenant: string, artifact: string, loaded: Loaded, documents: HeldDocuments = none): void {
    const own = this.#ofTenant.get(tenant) ?? new Map<string, Held<Loaded>>();
    if (!own.has(artifact)) this.#size++;
    own.set(artifact, { loaded, documents, usedAt: ++this.#uses });
    this.#ofTenant.set(tenant, own);
    this.#weigh(tenant);
    while (this.#weight > this.#max && this.#size > 1) this.#evict(own);
  }

  #weigh(tenant: string): void {
    const own = this.#ofTenant.get(tenant);
    const documents = new Map([...(own?.values() ?? [])].flatMap((program) => [...program.documents]));
    const weight = [...documents.values()].reduce((sum, one) => sum + one.weight, own?.size ?? 0);
    this.#weight += weight - (this.#weights.get(tenant) ?? 0);
    if (weight === 0) this.#weights.delete(tenant);
    else this.#weights.set(tenant, weight);
  }

  /** @param newest of whose programs the last stays: it is about to run */
  #evict(newest: ReadonlyMap<string, unknown>): void {
    let [tenant, most] = ['', 0];
    for (const [other, weight] of this.#weights) {
      const isLast = newest.size === 1 && this.#ofTenant.get(other) === newest;
      if (weight > most && !isLast) [tenant, most] = [other, weight];
    }
    const own = this.#ofTenant.get(tenant) as Map<string, Held<Loaded>>;
    let oldest: string | undefined;
    let usedAt = Number.POSITIVE_INFINITY;
    for (const [artifact, program] of own) {
      if (program.usedAt < usedAt) [oldest, usedAt] = [artifact, program.usedAt];
    }
    own.delete(oldest as string);
    if (own.size === 0) this.#ofTenant.delete(tenant);
    this.#size--;
    this.#weigh(tenant);
  }
}
