/**
 * Importing: lines of JSON as they come, in batches, each of them one transaction that also records how far the
 * import has come, and with the events of its relationships. Whoever sends the same lines again under the same id goes on after the last batch that is in; a digest over
 * the lines that are in tells whether they are the same.
 */
import { hash } from 'node:crypto';
import type { Static } from 'typebox';
import type { AuditedAuthor } from '../core/author.ts';
import type { Transaction } from '../core/db/database.ts';
import { limits } from '../core/limits.ts';
import type { Observe } from '../core/observe.ts';
import { counted } from '../core/text.ts';
import { hasErased } from '../pseudonyms/index.ts';
import { lockRelationshipTypes, typeKeyOf } from '../types/index.ts';
import { type RecordWritten, write } from '../writes/index.ts';
import { type RelationshipServices, typeKeyText } from './actions.ts';
import { relationshipsImported } from './events.ts';
import { type NumberedLine, readLines } from './lines.ts';
import { relationshipProblem } from './problems.ts';
import { linesWithoutRoom } from './quota.ts';
import { readLine } from './rules.ts';
import type { ImportRow, LineError } from './schema.ts';
import {
  advanceImport,
  analyzeRelationships,
  beginImport,
  finishImport,
  insertLines,
  type Line,
  linesPastLimit,
  readImport,
} from './store.ts';

const NO_ROOM = 'The tenant has reached limits.maxRelationships of its Tenant.';

export type ImportServices = RelationshipServices & { observe: Observe };
type RelationshipsImported = Static<typeof relationshipsImported.data>;
type ImportOptions = { id: string; firstLine: number };

/**
 * Imports what is sent; lines that are in already are passed over.
 * @param body bytes of NDJSON; when it fails (the caller is gone), what is in stays, and nothing is finished
 * @throws Problem import_gap, import_lines_differ, import_conflict
 */
export async function importRelationships(
  services: ImportServices,
  { tenant, by }: AuditedAuthor,
  { id, firstLine }: ImportOptions,
  body: AsyncIterable<Buffer>,
): Promise<RecordWritten<ImportRow>> {
  const { result: begun } = await write(services, { tenant, by }, { locks: 'records' }, async (unit) => {
    const isNew = await beginImport(unit.tx, tenant, id);
    if (isNew) unit.audit({ action: 'import', kind: 'relationships', name: id });
    return readImport(unit.tx, tenant, id);
  });
  const { lines: done, digest } = begun ?? { lines: 0, digest: '' };
  if (firstLine !== 1 && firstLine !== done + 1) {
    throw relationshipProblem('import_gap', {
      detail: `The import continues with line ${done + 1}: send all lines, or those from line ${done + 1} on.`,
    });
  }
  await writeBatches(services, { tenant, by }, id, { done, digest, firstLine, lines: readLines(body, firstLine) });
  const finished = await write(services, { tenant }, { locks: 'records' }, async ({ tx }) => {
    await finishImport(tx, tenant, id);
    return (await readImport(tx, tenant, id)) as ImportRow;
  });
  await analyze(services, tenant, finished.result.created - (begun?.created ?? 0));
  return finished;
}

/** What was imported is in, whatever becomes of this. */
async function analyze(services: ImportServices, tenant: string, created: number): Promise<void> {
  if (created < limits.importAnalyzeRowsMin) return;
  try {
    await write(services, { tenant }, { locks: 'records' }, ({ tx }) =>
      analyzeRelationships(tx, created, limits.importAnalyzePercentMin),
    );
  } catch (error) {
    services.observe({ kind: 'background_failed', task: 'analyzing relationships', error });
  }
}

type Sent = { done: number; digest: string; firstLine: number; lines: AsyncIterable<NumberedLine[]> };

/** While a batch is being written, the lines of the next one are read. @param sent `digest` is that of the lines that are done */
async function writeBatches(
  services: RelationshipServices,
  author: AuditedAuthor,
  id: string,
  sent: Sent,
): Promise<void> {
  const { done, digest } = sent;
  let after = done;
  let chain = sent.firstLine === 1 ? '' : digest;
  let numbered: NumberedLine[] = [];
  let writing = Promise.resolve();
  const flush = async () => {
    const last = numbered.at(-1);
    if (last === undefined) return;
    const batch = { ...readBatch(numbered, services.clock.now()), after, lines: last.number, digest: chain };
    after = last.number;
    numbered = [];
    await writing;
    writing = writeBatch(services, author, id, batch);
    writing.catch(() => {}); // told where it is waited for
  };
  let isSame = chain === digest;
  try {
    for await (const some of sent.lines) {
      for (const line of some) {
        if (line.number > done && !isSame) throw relationshipProblem('import_lines_differ');
        chain = linked(chain, line);
        if (line.number > done) numbered.push(line);
        else isSame = chain === digest;
        if (numbered.length === limits.importBatchLinesMax) await flush();
      }
    }
    if (!isSame) throw relationshipProblem('import_lines_differ');
    await flush();
  } finally {
    await writing;
  }
}

/** The digest of the lines up to one. Of a line that is too long or no text only that it was one is known. */
function linked(before: string, { number, text }: NumberedLine): string {
  return hash('sha256', `${before} ${number} ${text}`, 'base64url');
}

type Read = { read: Line[]; errors: LineError[]; count: number; now: string };
/** `after`: the line that the batch before ended with; `lines`: the one that this ends with. */
type Batch = Read & { after: number; lines: number; digest: string };

function readBatch(numbered: readonly NumberedLine[], nowMs: number): Read {
  const errors: LineError[] = [];
  const read: Line[] = [];
  for (const { number, text, fault } of numbered) {
    const found = fault === undefined ? readLine(text, nowMs) : { ok: false as const, detail: fault };
    if (found.ok) read.push({ ...found.relationship, line: number });
    else errors.push({ line: number, ...(found.pointer ? { pointer: found.pointer } : {}), detail: found.detail });
  }
  return { read, errors, count: numbered.length, now: new Date(nowMs).toISOString() };
}

async function writeBatch(
  services: RelationshipServices,
  { tenant, by }: AuditedAuthor,
  id: string,
  { after, lines, digest, read, errors: unread, count, now }: Batch,
): Promise<void> {
  await write(services, { tenant }, { locks: 'records' }, async (unit) => {
    const { tx } = unit;
    const errors = [...unread];
    const row = await readImport(tx, tenant, id, true);
    if (row?.lines !== after) throw relationshipProblem('import_conflict');
    const typed = await withTypes(tx, tenant, read, errors);
    const each = merged(typed);
    const refuse = (past: ReadonlySet<number>, why: (line: Line) => string) => {
      if (past.size === 0) return;
      for (const line of typed) {
        if (past.has(each.get(identityOf(line))?.line ?? 0)) errors.push({ line: line.line, detail: why(line) });
      }
      for (const [identity, line] of each) if (past.has(line.line)) each.delete(identity);
    };
    refuse(await pastLimit(tx, tenant, [...each.values()], now), (line) => {
      return `Each ${line.to.type} may have at most ${counted(line.maxPerTarget ?? 0, `${typeKeyText(line)} relationship`)}.`;
    });
    refuse(await linesWithoutRoom(tx, tenant, [...each.values()]), () => NO_ROOM);
    const writing = [...each.values()];
    // Digests of all ids would cost more than the import, and few tenants have erased anybody.
    if (await hasErased(tx, tenant)) await unit.unmarkErased(writing.flatMap(({ from, to }) => [from, to]));
    const inserting = insertLines(tx, tenant, writing);
    const events = eventsOf(by.actor, id, writing); // while Postgres inserts
    const { created, updated } = await inserting;
    if (created + updated > 0) for (const event of events) unit.emit(relationshipsImported, event);
    const unchanged = count - errors.length - created - updated;
    const kept = errors.sort((a, b) => a.line - b.line).slice(0, limits.importErrorsMax - row.errors.length);
    await advanceImport(tx, tenant, id, {
      lines,
      digest,
      created,
      updated,
      unchanged,
      refused: errors.length,
      errors: kept,
    });
  });
}

/** Some relationships an event: one with all of them would be a long body. */
function eventsOf(requestor: string, importId: string, lines: readonly Line[]): RelationshipsImported[] {
  const each = lines.map(({ from, relationshipType, to, expiresAt }) => {
    return { from, relationshipType, to, ...(expiresAt === undefined ? {} : { expiresAt }) };
  });
  return Array.from({ length: Math.ceil(each.length / limits.importEventItemsMax) }, (_, n) => {
    const at = n * limits.importEventItemsMax;
    return { requestor, importId, relationships: each.slice(at, at + limits.importEventItemsMax) };
  });
}

/** Lines of types that may have new relationships; the others go to `errors`. The types are locked meanwhile. */
async function withTypes(
  tx: Transaction,
  tenant: string,
  lines: readonly Line[],
  errors: LineError[],
): Promise<Line[]> {
  const keys = new Map(
    lines.map((line) => [typeKeyText(line), { from: line.from.type, name: line.relationshipType, to: line.to.type }]),
  );
  // Types with a limit are taken alone: thousands of targets would not fit into the table of locks.
  await lockRelationshipTypes(tx, tenant, [...keys.values()], 'limited, alone');
  const types = new Map(
    (await lockRelationshipTypes(tx, tenant, [...keys.values()], 'all')).map((row) => [
      typeKeyOf({ from: row.from_type, name: row.name, to: row.to_type }),
      row,
    ]),
  );
  return lines.flatMap((line) => {
    const key = typeKeyText(line);
    const type = types.get(key);
    if (type === undefined || type.retired) {
      const detail = type
        ? `The relationship type ${key} is retired; no new relationships can be created.`
        : `There is no relationship type ${key}.`;
      errors.push({ line: line.line, pointer: '/relationshipType', detail });
      return [];
    }
    const { maxPerTarget } = type.spec;
    return [maxPerTarget === undefined ? line : { ...line, maxPerTarget }];
  });
}

async function pastLimit(tx: Transaction, tenant: string, lines: readonly Line[], now: string): Promise<Set<number>> {
  const limited = lines.filter((line) => line.maxPerTarget !== undefined);
  return limited.length > 0 ? linesPastLimit(tx, tenant, limited, now) : new Set();
}

/** Each relationship once, because one statement writes each once: in the place of its first line, as its last says. */
function merged(lines: readonly Line[]): Map<string, Line> {
  const each = new Map<string, Line>();
  for (const line of lines) {
    const identity = identityOf(line);
    each.set(identity, { ...line, line: each.get(identity)?.line ?? line.line });
  }
  return each;
}

function identityOf({ from, relationshipType, to }: Line): string {
  return [from.type, from.id, relationshipType, to.type, to.id].join('\0'); // no id has a control character
}
