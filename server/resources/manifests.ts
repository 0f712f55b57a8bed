/** A tenant's objects as manifests: what each kind's room gives, in a stable order, and their YAML. */
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import { apiVersion, type Kind } from '../../crds/index.ts';
import type { Transaction } from '../core/db/database.ts';
import { describeOwner } from '../core/ownership.ts';
import type { ExportContext, ExportedName, ExportedObject, Only } from '../room/exporting.ts';
import { kindsOf, type ResourceKind } from '../room/resource-kind.ts';
import type { Room } from '../room/room.ts';
import { readTenant } from '../tenants/index.ts';

type ExportedManifest = {
  manifest: {
    apiVersion: typeof apiVersion;
    kind: string;
    metadata: { name: string; namespace?: string };
    spec: Record<string, unknown>;
  };
  plural: string;
  /** Lines that a reader has to know. */
  comments: readonly string[];
};
type ExportOptions = Pick<ExportContext, 'allowPastDates' | 'now'> & {
  /** Those that manifests own, too. */
  all: boolean;
};

/**
 * All configuration of a tenant.
 * @returns in the order in which it is applied, by name within a kind; and what is left out, in words; undefined when there is no
 *   such tenant
 */
export async function exportTenant(
  tx: Transaction,
  rooms: readonly Room[],
  tenant: string,
  { all, allowPastDates, now }: ExportOptions,
): Promise<{ manifests: ExportedManifest[]; notes: string[] } | undefined> {
  const row = await readTenant(tx, tenant);
  if (row === undefined) return undefined;
  const manifests: ExportedManifest[] = [];
  const notes: string[] = [];
  for (const { kind } of kindsOf(rooms)) {
    const objects = await kind.exported(tx, { tenant, tenantSpec: row.spec, allowPastDates, now });
    const wanted = objects.filter(({ owner }) => all || owner.source === 'api');
    notes.push(...wanted.flatMap(({ skipped }) => skipped ?? []));
    const kept = wanted.filter(({ skipped }) => skipped === undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
    manifests.push(...kept.map((object) => manifestOf(kind.definition, object, kept, tenant)));
  }
  return { manifests, notes };
}

/** One object of a tenant as a manifest; undefined when there is none, or it is archived or retired. */
export async function manifestOfObject(
  tx: Transaction,
  kind: ResourceKind<unknown>,
  tenant: string,
  { only, now }: { only: Only; now: number },
): Promise<(ExportedManifest & { managedBy: string }) | undefined> {
  const row = await readTenant(tx, tenant);
  if (row === undefined) return undefined;
  const found = await kind.exported(tx, { tenant, tenantSpec: row.spec, allowPastDates: false, now, only });
  const object = found.find((one) => one.skipped === undefined && isOnly(only, one));
  if (object === undefined) return undefined;
  const names = (await kind.exportedNames?.(tx, tenant)) ?? found;
  return { ...manifestOf(kind.definition, object, names, tenant), managedBy: describeOwner(object.owner) };
}

function isOnly(only: Only, { name, owner }: ExportedObject): boolean {
  if ('name' in only) return name === only.name;
  return owner.source !== 'api' && describeOwner(owner) === `${owner.source} ${only.manifest}`;
}

function manifestOf(
  { kind, plural, scope }: Kind,
  object: ExportedObject,
  all: readonly ExportedName[],
  tenant: string,
): ExportedManifest {
  const metadata = scope === 'Cluster' ? { name: object.name } : metadataOf(object, all, tenant);
  return { manifest: { apiVersion, kind, metadata, spec: object.spec }, plural, comments: object.comments ?? [] };
}

/** What a manifest owns keeps that manifest's name. A name of the API becomes one that Kubernetes takes. */
function metadataOf(
  { name: called, isObjectName, owner }: ExportedObject,
  all: readonly ExportedName[],
  tenant: string,
) {
  const theirs = owner.source === 'api' ? undefined : owner;
  const namespace = theirs?.namespace || tenant;
  if (theirs?.name !== undefined) return { name: theirs.name, namespace };
  if (isObjectName) return { name: called, namespace };
  const name = objectName(called);
  const others = all.filter((one) => one.name !== called);
  const taken = others.some((one) => name === (one.owner.source === 'api' ? objectName(one.name) : one.owner.name));
  if (!taken) return { name, namespace };
  return { name: `${name}-${createHash('sha256').update(called).digest('hex').slice(0, 8)}`, namespace };
}

/** At most 200 characters of what a DNS subdomain has, which leaves room for a digest. */
function objectName(called: string): string {
  const name = called
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 200)
    .replace(/^-+|-+$/g, '');
  return name === '' ? 'x' : name;
}

/** Words that YAML 1.1, which kubectl reads, takes for something else are quoted. */
export function exportedText({ manifest, comments }: ExportedManifest): string {
  const lines = comments.map((comment) => `# ${comment}\n`).join('');
  return lines + stringify(manifest, { version: '1.1', lineWidth: 0 });
}
