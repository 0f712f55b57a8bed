/**
 * Owns what the steps of reconciling share: the source, the rooms, the records, and the small notes in memory about keys
 * that wait for something. Everything here can be lost: records and manifests bring it back.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../server/core/clock.ts';
import type { Observe } from '../server/core/observe.ts';
import type { Owner, Writer } from '../server/core/ownership.ts';
import { readTenant } from '../server/tenants/index.ts';
import type { Accepted } from './accept.ts';
import { Breaker, type Held } from './breaker.ts';
import { Claims } from './claims.ts';
import { conditionOf, isReady } from './conditions.ts';
import type { IssuerKeys } from './issuer-keys.ts';
import { kindNames } from './kinds/index.ts';
import type { Programmed } from './programmed.ts';
import type { Queue } from './queue.ts';
import type { Records, ResourceRecord } from './records.ts';
import type { FoundTenant, OperatorServices } from './services.ts';
import { type Key, keyOf, type ResourceStatus, type Source, type SourceObject, type StatusTarget } from './source.ts';
import type { InvitationFiles } from './welcome.ts';

/** A status that changed; undefined: the manifest and its rows are gone. */
export type StatusChange = { target: StatusTarget; tenant: string; status: ResourceStatus | undefined };

export type DeskOptions = {
  source: Source;
  services: OperatorServices;
  records: Records;
  clock: Clock;
  observe: Observe;
  onStatus?: (change: StatusChange) => void;
  /** Absent: in a source without Secrets nobody is invited. */
  invitations?: InvitationFiles;
};

export class Desk {
  readonly source: Source;
  readonly services: OperatorServices;
  readonly records: Records;
  readonly clock: Clock;
  readonly observe: Observe;
  readonly breaker = new Breaker();
  readonly claims = new Claims();
  // They call back into the steps, which need the desk: index.ts sets them.
  queue!: Queue;
  programmed!: Programmed;
  issuerKeys!: IssuerKeys;
  /** Accepted, and waiting for servers: the object as it was accepted and where it is held. */
  readonly accepted = new Map<Key, { object: SourceObject; accepted: Extract<Accepted, { ok: true }> }>();
  /** Rows deleted, waiting for servers: the revision without them. */
  readonly removed = new Map<Key, number>();
  /** What was last said of a tenant's sweep. */
  readonly held = new Map<string, Held>();
  /** Which version of each Tenant was accepted or refused last (versionOf). */
  readonly judged = new Map<string, string>();
  /** What each tenant's allowedNamespaces, configAuthority and audiences were when its children were last looked at for them. */
  readonly allowances = new Map<string, string>();
  /** Whom each Tenant names was invited, in which version of it (versionOf), and what could not be handed over. */
  readonly welcomed = new Map<string, { version: string; trouble: string | undefined; tries: number }>();
  readonly invitations: InvitationFiles | undefined;
  /** Keys that are looked at again because something that they waited for changed. */
  onUnblocked: (keys: Iterable<Key>) => void = () => {};
  readonly #changes = new Map<string, number>();
  readonly #blocked = new Map<string, Set<Key>>();
  readonly #published = new Map<Key, ResourceStatus>();
  readonly #tenants = new Map<string, Promise<FoundTenant | undefined>>();
  readonly #onStatus: DeskOptions['onStatus'];

  constructor(options: DeskOptions) {
    this.source = options.source;
    this.services = options.services;
    this.records = options.records;
    this.clock = options.clock;
    this.observe = options.observe;
    this.invitations = options.invitations;
    this.#onStatus = options.onStatus;
  }

  /** The tenant as it was read since its Tenant was last looked at: children ask for it all the time, and only that changes it. */
  findTenant(tenant: string): Promise<FoundTenant | undefined> {
    const known = this.#tenants.get(tenant);
    if (known !== undefined) return known;
    const { database } = this.services.tenants;
    const asked = database.read(tenant, (tx) => readTenant(tx, tenant));
    this.#tenants.set(tenant, asked);
    const forget = () => {
      if (this.#tenants.get(tenant) === asked) this.#tenants.delete(tenant);
    };
    // One that is missing, in the making or disabled may come at any time.
    asked.then((found) => (found?.state !== 'active' || found.revision === 0) && forget(), forget);
    return asked;
  }

  forgetTenant(tenant: string): void {
    this.#tenants.delete(tenant);
  }

  nowText(): string {
    return new Date(this.clock.now()).toISOString();
  }

  /** As whom a manifest owns rows. */
  ownerOf({ namespace, name, uid }: { namespace: string; name: string; uid: string }): Owner {
    return { source: this.source.name, ...(namespace === '' ? {} : { namespace }), name, uid };
  }

  /** As whom the rows of a manifest are written after it said what they are to be. */
  writerOf(record: ResourceRecord): Writer {
    const namespace = record.namespace === '' ? '' : `/${record.namespace}`;
    return { owner: this.ownerOf(record), actor: `operator:${this.source.name}${namespace}/${record.name}` };
  }

  tenantKey(tenant: string): Key {
    return keyOf({ kind: 'Tenant', namespace: '', name: tenant });
  }

  /** How often something of the tenant changed; for `block`. */
  changesOf(tenant: string): number {
    return this.#changes.get(tenant) ?? 0;
  }

  /**
   * The key waits for something else of its tenant to change.
   * @param seen changesOf before it was tried: what changed meanwhile may be what it waits for
   */
  block(tenant: string, key: Key, seen: number): void {
    if (this.changesOf(tenant) !== seen) this.queue.add(key);
    else this.#blocked.set(tenant, (this.#blocked.get(tenant) ?? new Set()).add(key));
  }

  /** Something of the tenant changed: what waited for that looks again. */
  unblock(tenant: string): void {
    this.#changes.set(tenant, this.changesOf(tenant) + 1);
    const keys = this.#blocked.get(tenant);
    this.#blocked.delete(tenant);
    if (keys === undefined) return;
    this.onUnblocked(keys);
    for (const key of keys) this.queue.add(key);
  }

  /**
   * Notes in memory whether a manifest is gone and what it claims; called for each hint, so it does not wait for anything.
   * @returns whom it may have been in the way of: they may have looked again when its record went, and have seen it still
   */
  note(key: Key): Key[] {
    const object = this.source.get(key);
    const freed = this.claims.note(key, object);
    if (object !== undefined && !object.deleting) this.breaker.there(key);
    else this.#noteGone(key);
    // Who has what it claims gains nothing: who makes and deletes manifests must not keep it busy.
    return freed.filter((one) => conditionOf(this.records.get(one)?.status ?? {}, 'Accepted')?.reason !== 'Valid');
  }

  #noteGone(key: Key): void {
    const record = this.records.get(key);
    // A row that is gone already was counted when it went.
    if (record === undefined || record.object === '' || this.removed.has(key)) return;
    this.breaker.gone(key, record.tenant);
    // Whoever deletes a Tenant means all of it, also what was held before.
    if (!this.source.get(this.tenantKey(record.tenant))?.deleting) return;
    const released = record.kind === 'Tenant' ? this.breaker.goneKeys(record.tenant) : [key];
    this.breaker.release(released);
    for (const one of released) if (one !== key) this.queue.add(one);
  }

  /** A hint of the source. All of it is noted before anything is begun: the breaker counts. */
  changed(keys: readonly Key[]): void {
    const freed = keys.flatMap((key) => this.note(key));
    for (const key of keys) {
      // A Secret that it refers to may be what changed.
      if (this.source.get(key)?.kind === 'Tenant') this.accepted.delete(key);
      this.queue.add(key);
      const tenant = this.records.get(key)?.tenant;
      if (tenant !== undefined && this.held.has(tenant)) this.queue.add(this.tenantKey(tenant));
    }
    for (const key of freed) this.queue.add(key);
  }

  /** Reads the records again and looks at everything: at the start, and after another operator may have been at work. */
  async begin(): Promise<Key[]> {
    await this.records.load();
    this.accepted.clear();
    this.removed.clear();
    this.#tenants.clear();
    this.judged.clear();
    this.welcomed.clear();
    const keys = this.keys();
    for (const key of keys) this.note(key);
    for (const key of keys) this.queue.add(key);
    return keys;
  }

  /** A list became complete: what is gone may be looked at now. */
  lookForGone(): void {
    for (const record of this.records.all()) if (!this.source.get(record.key)) this.queue.add(record.key);
  }

  /** Compares everything with the database again, after what somebody just changed. */
  resync(): void {
    this.accepted.clear();
    this.#tenants.clear();
    for (const key of this.keys()) this.queue.add(key, 'low');
  }

  /** Every key that there is a manifest or a record of, tenants first. */
  keys(): Key[] {
    const known = [...this.records.all()].map((record) => record.key);
    return [...new Set([...kindNames.flatMap((kind) => [...this.source.keys(kind)]), ...known])];
  }

  /** Stores a status and shows it, where it differs from the one before. */
  async settle(record: ResourceRecord, status: ResourceStatus, startedAt: number): Promise<void> {
    const before = this.records.get(record.key)?.status ?? {};
    await this.records.put({ ...record, status });
    await this.publish(record, record.tenant, status);
    if (isDeepStrictEqual(before, status)) return;
    const ready = conditionOf(status, 'Ready');
    const { reason = '', message = '' } = ready ?? {};
    const ms = this.clock.monotonic() - startedAt;
    this.observe({ kind: 'reconciled', resource: record.key, ready: isReady(status), reason, message, ms });
    if (conditionOf(before, 'Ready')?.reason !== reason) {
      this.source.event(record, ready?.status === 'True' ? 'Normal' : 'Warning', reason, message);
    }
  }

  /** Shows a status beside the manifest and to whoever watches. */
  async publish(target: StatusTarget, tenant: string, status: ResourceStatus): Promise<void> {
    // The source compares with what is there: an object made again under its name has no status, and others may overwrite it.
    await this.source.writeStatus(target, status);
    if (isDeepStrictEqual(this.#published.get(target.key), status)) return;
    this.#published.set(target.key, status);
    this.#onStatus?.({ target, tenant, status });
  }

  /** Nothing is left of the manifest. */
  async forget(record: ResourceRecord, reason: string, startedAt: number): Promise<void> {
    await this.source.release(record);
    await this.records.remove(record.key);
    this.breaker.deleted(record.key, this.clock.monotonic());
    this.#published.delete(record.key);
    if (record.kind === 'Tenant') {
      this.judged.delete(record.name);
      this.welcomed.delete(record.name);
      this.allowances.delete(record.name);
    }
    this.removed.delete(record.key);
    const ms = this.clock.monotonic() - startedAt;
    this.observe({
      kind: 'reconciled',
      resource: record.key,
      ready: true,
      reason,
      message: 'The manifest is gone.',
      ms,
    });
    this.#onStatus?.({ target: record, tenant: record.tenant, status: undefined });
    // What was never let in freed nothing: who makes and deletes such manifests must not keep the tenant's own busy.
    if (conditionOf(record.status, 'Accepted')?.reason !== 'NamespaceNotAllowed') this.unblock(record.tenant);
    const tenantKey = this.tenantKey(record.tenant);
    const object = this.source.get(tenantKey);
    const isLeaving = object === undefined || object.deleting;
    if (this.records.get(tenantKey) && (this.held.has(record.tenant) || isLeaving)) this.queue.add(tenantKey);
  }
}
