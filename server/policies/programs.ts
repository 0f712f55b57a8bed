/**
 * Which programs are in memory: as many as there is room for, and when there is no more, the tenant that holds
 * most gives up the one it has not used for longest. So a tenant with many programs does not evict those of others.
 */

export class Programs<Loaded> {
  readonly #max: number;
  readonly #ofTenant = new Map<string, Map<string, { loaded: Loaded; usedAt: number }>>();
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

  set(tenant: string, artifact: string, loaded: Loaded): void {
    const own = this.#ofTenant.get(tenant) ?? new Map<string, { loaded: Loaded; usedAt: number }>();
    if (!own.has(artifact)) this.#size++;
    own.set(artifact, { loaded, usedAt: ++this.#uses });
    this.#ofTenant.set(tenant, own);
    if (this.#size > this.#max) this.#evict();
  }

  #evict(): void {
    let [tenant, most] = this.#ofTenant.entries().next().value as [string, Map<string, { usedAt: number }>];
    for (const [other, own] of this.#ofTenant) if (own.size > most.size) [tenant, most] = [other, own];
    let oldest: string | undefined;
    let usedAt = Number.POSITIVE_INFINITY;
    for (const [artifact, program] of most) {
      if (program.usedAt < usedAt) [oldest, usedAt] = [artifact, program.usedAt];
    }
    most.delete(oldest as string);
    if (most.size === 0) this.#ofTenant.delete(tenant);
    this.#size--;
  }
}
