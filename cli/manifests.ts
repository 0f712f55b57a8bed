/** The manifests that `accord export` writes: the rows of a tenant's configuration, in a stable order, and their YAML. */
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import { apiVersion, kinds, type Manifest } from '../crds/index.ts';
import type { Transaction } from '../server/core/db/database.ts';
import type { Owner } from '../server/core/ownership.ts';
import { loadBodies, loadDefinitions } from '../server/definitions/index.ts';
import { loadIssuers } from '../server/issuers/index.ts';
import { loadPartSources, loadPolicySources, type PartSourceRow, statedBody } from '../server/policies/index.ts';
import { readTenant } from '../server/tenants/index.ts';
import { loadEntityTypes, loadRelationshipTypes } from '../server/types/index.ts';

type Exported = NonNullable<Awaited<ReturnType<typeof readExported>>>;
type Spec = Record<string, unknown>;
type ExportedManifest = {
  manifest: {
    apiVersion: typeof apiVersion;
    kind: Manifest['kind'];
    metadata: { name: string; namespace?: string };
    spec: Spec;
  };
  /** Lines that a reader has to know. */
  comments: string[];
};
type ExportOptions = {
  /** Those that manifests own, too. */
  all: boolean;
  /** The Tenant is to take dates of the past. */
  allowPastDates: boolean;
  /** ms */
  now: number;
};

/** All configuration of a tenant; undefined when there is no such tenant. */
export async function readExported(tx: Transaction, tenant: string) {
  const row = await readTenant(tx, tenant);
  if (row === undefined) return undefined;
  return {
    tenant: row,
    issuers: await loadIssuers(tx, tenant),
    entities: await loadEntityTypes(tx, tenant),
    relationships: await loadRelationshipTypes(tx, tenant),
    definitions: await loadDefinitions(tx, tenant),
    bodies: await loadBodies(tx, tenant),
    policies: await loadPolicySources(tx, tenant),
    parts: await loadPartSources(tx, tenant),
  };
}

type Item = { kind: Manifest['kind']; called: string; owner: Owner; spec: Spec; comments?: string[]; skipped?: string };

/** @returns in the order in which they are applied, by name within a kind; and what is left out, in words */
export function manifestsOf(
  rows: Exported,
  options: ExportOptions,
): { manifests: ExportedManifest[]; notes: string[] } {
  const items = itemsOf(rows, options).filter(({ owner }) => options.all || owner.source === 'api');
  const notes = items.flatMap(({ skipped }) => (skipped === undefined ? [] : [skipped]));
  const kept = items.filter(({ skipped }) => skipped === undefined);
  const order = kinds.map(({ kind }) => kind as string);
  const rank = (item: Item) => order.indexOf(item.kind);
  const sorted = kept.sort((a, b) => rank(a) - rank(b) || (a.called < b.called ? -1 : 1));
  const manifests = sorted.map((item): ExportedManifest => {
    const { kind, spec, comments = [] } = item;
    const metadata = metadataOf(item, sorted, rows.tenant.tenant);
    return { manifest: { apiVersion, kind, metadata, spec }, comments };
  });
  return { manifests, notes };
}

function itemsOf(rows: Exported, options: ExportOptions): Item[] {
  const tenantRef = { name: rows.tenant.tenant };
  const entities = rows.entities.map((row): Item => {
    const attributes = Object.entries(row.spec.attributes ?? {}).map(([name, rest]) => ({ name, ...rest }));
    const spec = { tenantRef, name: row.name, ...(attributes.length > 0 ? { attributes } : {}) };
    return { kind: row.kind === 'actor' ? 'ActorType' : 'ResourceType', called: row.name, owner: row.owner, spec };
  });
  const relationships = rows.relationships.map((row): Item => {
    const { from_type: from, name, to_type: to, owner } = row;
    const called = `${from}:${name}:${to}`;
    const skipped = row.retired ? { skipped: `the relationship type ${called} is retired and left out` } : {};
    return { kind: 'RelationshipType', called, owner, spec: { tenantRef, from, name, to, ...row.spec }, ...skipped };
  });
  const policies = rows.policies.map(({ name, rego, graph, data_subjects, tests, owner }): Item => {
    const source = statedBody({ rego, graph, dataSubjects: data_subjects });
    const spec = { tenantRef, name, ...source, ...(tests === null ? {} : { tests }) };
    return { kind: 'Policy', called: name, owner, spec };
  });
  const issuers = rows.issuers.map(
    ({ name, spec, owner }): Item => ({ kind: 'TrustedIssuer', called: name, owner, spec: { tenantRef, ...spec } }),
  );
  const definitions = rows.definitions.map((row) => definitionItem(row, rows, options));
  const parts = rows.parts.map((row) => partItem(row, tenantRef));
  return [
    ...[tenantItem(rows.tenant, options), ...issuers, ...entities, ...relationships],
    ...[...definitions, ...parts, ...policies],
  ];
}

function partItem({ kind, name, content, owner }: PartSourceRow, tenantRef: { name: string }): Item {
  const stored: unknown = JSON.parse(content);
  return kind === 'library'
    ? { kind: 'PolicyLibrary', called: name, owner, spec: { tenantRef, package: name, modules: stored } }
    : { kind: 'PolicyData', called: name, owner, spec: { tenantRef, path: name, value: stored } };
}

function tenantItem({ tenant, spec, owner }: Exported['tenant'], { allowPastDates }: ExportOptions): Item {
  const restored = allowPastDates ? { ...spec, restore: { ...spec.restore, allowPastDates } } : spec;
  return { kind: 'Tenant', called: tenant, owner, spec: restored };
}

function definitionItem(
  { tenant, name, attributes, archived, languageFallback, owner, versions }: Exported['definitions'][number],
  { tenant: { spec: tenantSpec }, bodies }: Exported,
  { allowPastDates, now }: ExportOptions,
): Item {
  const some = (values: object) => (Object.keys(values).length > 0 ? { attributes: values } : {});
  const instant = (ms: number) => new Date(ms).toISOString();
  const spec = {
    tenantRef: { name: tenant },
    name,
    ...some(attributes),
    versions: versions.map(({ version, attributes: own, endOfLife, documents }) => ({
      version,
      ...some(own),
      optInConfig: { type: 'direct' },
      ...(endOfLife === undefined
        ? {}
        : {
            endOfLife: {
              startDate: instant(endOfLife.startDate),
              endDate: instant(endOfLife.endDate),
              gracePeriod: endOfLife.gracePeriod,
            },
          }),
      documents: documents.map((document) => ({
        version: document.version,
        language: document.language,
        effectiveDate: instant(document.effectiveDate),
        ...some(document.attributes),
        ...contentOf(document, bodies.find(isOf({ name, version, document }))),
      })),
    })),
    ...(languageFallback && { languageFallback }),
  };
  const dates = versions.flatMap((one) => [
    ...(one.endOfLife === undefined ? [] : [one.endOfLife.startDate]),
    ...one.documents.map((document) => document.effectiveDate),
  ]);
  const isPast = dates.some((ms) => ms < now) && !allowPastDates && tenantSpec.restore?.allowPastDates !== true;
  const comments = isPast
    ? [
        'It has dates in the past. A tenant that does not have it yet accepts it only with',
        'spec.restore.allowPastDates: true (accord export --allow-past-dates).',
      ]
    : [];
  const kept = { kind: 'ConsentDefinition', called: name, owner, spec, comments } as const;
  return archived ? { ...kept, skipped: `the consent definition ${name} is archived and left out` } : kept;
}

type Document = Exported['definitions'][number]['versions'][number]['documents'][number];
type Body = Exported['bodies'][number];

function isOf({ name, version, document }: { name: string; version: string; document: Document }) {
  return (row: Body) =>
    row.definition === name &&
    row.version === version &&
    row.language === document.language &&
    row.document === document.version;
}

/** HTML as it is served: sanitized. The digest of a body is not stated: it is made from the body again. */
function contentOf({ content }: Document, row: Body | undefined) {
  if (content === undefined) return {};
  const { title, mediaType, url, digest } = content;
  const text = row === undefined ? { url, ...(digest && { digest }) } : { body: row.body };
  return { content: { title, mediaType, ...text } };
}

/** What a manifest owns keeps that manifest's name. A name of the API becomes one that Kubernetes takes. */
function metadataOf({ kind, called, owner }: Item, all: readonly Item[], tenant: string) {
  if (kind === 'Tenant') return { name: called };
  const theirs = owner.source === 'api' ? undefined : owner;
  const namespace = theirs?.namespace || tenant;
  if (theirs?.name !== undefined) return { name: theirs.name, namespace };
  if (kind === 'TrustedIssuer') return { name: called, namespace }; // its name in the API is an object's
  const name = objectName(called);
  const others = all.filter((one) => one.kind === kind && one.called !== called);
  const taken = others.some((one) => name === (one.owner.source === 'api' ? objectName(one.called) : one.owner.name));
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
