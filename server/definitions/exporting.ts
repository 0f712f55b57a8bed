/** Consent definitions as manifests say them. */
import type { Transaction } from '../core/db/database.ts';
import type { ExportContext, ExportedObject } from '../room/exporting.ts';
import { definitionNames, loadBodies, loadDefinitions } from './store.ts';

type Definition = Awaited<ReturnType<typeof loadDefinitions>>[number];
type Document = Definition['versions'][number]['documents'][number];
type Body = Awaited<ReturnType<typeof loadBodies>>[number];

export async function exportedDefinitions(tx: Transaction, context: ExportContext): Promise<ExportedObject[]> {
  const { tenant, only } = context;
  const names = only && (await definitionNames(tx, tenant, only)).map(({ name }) => name);
  const rows = await loadDefinitions(tx, tenant, names);
  const bodies = await loadBodies(tx, tenant, names);
  const bodyOf = new Map(bodies.map((body) => [keyOf(body), body]));
  return rows.map((row) => exportedDefinition(row, bodyOf, context));
}

const keyOf = ({ definition, version, language, document }: Omit<Body, 'body'>) =>
  JSON.stringify([definition, version, language, document]);

function exportedDefinition(
  row: Definition,
  bodyOf: ReadonlyMap<string, Body>,
  context: ExportContext,
): ExportedObject {
  const { tenant, name, attributes, archived, languageFallback, owner, versions } = row;
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
        ...contentOf(
          document,
          bodyOf.get(keyOf({ definition: name, version, language: document.language, document: document.version })),
        ),
      })),
    })),
    ...(languageFallback && { languageFallback }),
  };
  const comments = hasRefusedDates(row, context)
    ? [
        'It has dates in the past. A tenant that does not have it yet accepts it only with',
        'spec.restore.allowPastDates: true (accord export --allow-past-dates).',
      ]
    : [];
  const skipped = archived ? { skipped: `the consent definition ${name} is archived and left out` } : {};
  return { name, owner, spec, comments, ...skipped };
}

function hasRefusedDates({ versions }: Definition, { tenantSpec, allowPastDates, now }: ExportContext): boolean {
  if (allowPastDates || tenantSpec.restore?.allowPastDates === true) return false;
  const dates = versions.flatMap((one) => [
    ...(one.endOfLife === undefined ? [] : [one.endOfLife.startDate]),
    ...one.documents.map((document) => document.effectiveDate),
  ]);
  return dates.some((ms) => ms < now);
}

function some(values: object) {
  return Object.keys(values).length > 0 ? { attributes: values } : {};
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** HTML as it is served: sanitized. The digest of a body is not stated: it is made from the body again. */
function contentOf({ content }: Document, row: Body | undefined) {
  if (content === undefined) return {};
  const { title, mediaType, url, digest } = content;
  const text = row === undefined ? { url, ...(digest && { digest }) } : { body: row.body };
  return { content: { title, mediaType, ...text } };
}
