/**
 * What is known of each tenant for its children: its row, which version of its Tenant was accepted or refused last, and
 * what that allows. A row that is kept here is active, and is read again after each look at its Tenant, which alone
 * changes it.
 */
import type { TenantSpec } from '../crds/index.ts';
import { readTenant } from '../server/tenants/index.ts';
import type { FoundTenant, StepServices } from './services.ts';
import { type Key, keyOf, type Source, type SourceObject } from './source.ts';

/** What a Tenant allows its children: namespaces, the writer of its configuration, audiences. As text, to be compared. */
export type Allowance = string;

/** In the place of a version. */
const LEAVING = 'leaving';

export class TenantTracker {
  readonly #source: Source;
  readonly #services: StepServices;
  readonly #found = new Map<string, Promise<FoundTenant | undefined>>();
  /** Which version of each Tenant was accepted or refused last (versionOf), or that it is gone or being deleted. */
  readonly #reconciled = new Map<string, string>();
  readonly #allowances = new Map<string, Allowance>();

  constructor(source: Source, services: StepServices) {
    this.#source = source;
    this.#services = services;
  }

  /** The tenant's row. */
  find(tenant: string): Promise<FoundTenant | undefined> {
    const known = this.#found.get(tenant);
    if (known !== undefined) return known;
    return this.#ask(tenant, this.#read(tenant));
  }

  /** Changes the row. Whoever asks for it from now on gets the row as it is after the change. */
  async changeRow<T>(tenant: string, change: () => Promise<T>): Promise<T> {
    const changed = change();
    const read = () => this.#read(tenant);
    this.#ask(tenant, changed.then(read, read));
    return changed;
  }

  /** Its row may be another one now. */
  rowChanged(tenant: string): void {
    this.#found.delete(tenant);
  }

  manifestOf(tenant: string): SourceObject | undefined {
    return this.#source.get(tenantKey(tenant));
  }

  /** This version of a Tenant was accepted or refused. */
  reconciled(object: SourceObject): void {
    this.rowChanged(object.name);
    this.#reconciled.set(object.name, versionOf(object));
  }

  /** Whether the Tenant's manifest is there and was not reconciled yet as it is now. */
  awaitsReconcile(tenant: string): boolean {
    const manifest = this.manifestOf(tenant);
    if (!manifest?.checked.ok || manifest.deleting) return false;
    return this.#reconciled.get(tenant) !== versionOf(manifest);
  }

  /** The Tenant's manifest is gone or being deleted. @returns whether that is news since it was reconciled last */
  leaves(tenant: string): boolean {
    if (this.#reconciled.get(tenant) === LEAVING) return false;
    this.#reconciled.set(tenant, LEAVING);
    return true;
  }

  /** Whether the Tenant's manifest is gone or being deleted. */
  isLeaving(tenant: string): boolean {
    const manifest = this.manifestOf(tenant);
    return manifest === undefined ? this.#source.complete('Tenant') : manifest.deleting;
  }

  /** As it was accepted last; undefined: it was not, since the start. */
  allowanceOf(tenant: string): Allowance | undefined {
    return this.#allowances.get(tenant);
  }

  /** A Tenant was accepted. @returns what it allowed before, where that is something else */
  allows(tenant: string, spec: TenantSpec): { isFirst: boolean } | undefined {
    const { allowedNamespaces, configAuthority, audiences } = spec;
    const allowance = JSON.stringify([allowedNamespaces ?? null, configAuthority, audiences]);
    const before = this.#allowances.get(tenant);
    if (before === allowance) return undefined;
    this.#allowances.set(tenant, allowance);
    return { isFirst: before === undefined };
  }

  /** Nothing is left of the Tenant. */
  forget(tenant: string): void {
    this.#found.delete(tenant);
    this.#reconciled.delete(tenant);
    this.#allowances.delete(tenant);
  }

  /** Everything is compared with the database again. */
  forgetRows(): void {
    this.#found.clear();
  }

  /** Another operator may have been at work. */
  clear(): void {
    this.#found.clear();
    this.#reconciled.clear();
  }

  #read(tenant: string): Promise<FoundTenant | undefined> {
    return this.#services.tenants.database.read(tenant, (tx) => readTenant(tx, tenant));
  }

  #ask(tenant: string, asked: Promise<FoundTenant | undefined>): Promise<FoundTenant | undefined> {
    this.#found.set(tenant, asked);
    const forget = () => {
      if (this.#found.get(tenant) === asked) this.#found.delete(tenant);
    };
    // One that is missing, is being created or is disabled may come at any time.
    asked.then((found) => !isActive(found) && forget(), forget);
    return asked;
  }
}

/** Whether children can be stored in the tenant: its row is there and not disabled. At revision 0 it is being created. */
export function isActive(found: FoundTenant | undefined): boolean {
  return found !== undefined && found.revision > 0 && found.state === 'active';
}

export function tenantKey(tenant: string): Key {
  return keyOf({ kind: 'Tenant', namespace: '', name: tenant });
}

/** Tells one version of a manifest from another, and from one that was made again; a status makes no other. */
export function versionOf({ uid, digest }: SourceObject): string {
  return `${uid} ${digest}`;
}
