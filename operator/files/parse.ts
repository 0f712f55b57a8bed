/**
 * Reads the text of one file of manifests: several YAML or JSON documents, each identified, checked against crds/, and
 * every refusal with its line and column. Runs in a thread too, so it imports nothing of the rooms.
 */
import { createHash } from 'node:crypto';
import { type Document, isScalar, LineCounter, parseAllDocuments, visit } from 'yaml';
import { apiVersion, checkManifest, definitionOf, group, kinds, wordsReadDifferently } from '../../crds/index.ts';
import { limits } from '../../server/core/limits.ts';
import type { LooseManifest } from '../../server/room/resource-kind.ts';
import { annotationsOf, digestOf, isLegible, isObject, type Loose } from '../manifest.ts';
import { type KindName, keyOf, type SourceObject, type SourceProblem } from '../source.ts';
import { locator, place, type Spots } from './places.ts';

export type FileObject = SourceObject & { readonly path: string; readonly line: number };
/** An object as it goes from one thread to another, and what its claim is read from where it is not valid. */
export type TextObject = Omit<FileObject, 'locate' | 'claims'> & { spots: Spots; loose?: LooseManifest };

export type ParsedFile = Parsed<FileObject>;
export type ParsedText = Parsed<TextObject>;
type Parsed<Of> = {
  objects: Of[];
  problems: SourceProblem[];
  /** False when something in the file could not be identified: then what is missing from it may be that. */
  whole: boolean;
};

type Identity = { kind: KindName; namespace: string; name: string };

const kindNames = kinds.map(({ kind }) => kind as KindName);

export function parseText(path: string, text: string): ParsedText {
  const lines = new LineCounter();
  // The parser compares each key of a map with all before it: 20,000 keys (188 kB) took 3.8 s. repeatedKeys takes a set.
  const options = { lineCounter: lines, prettyErrors: false, logLevel: 'silent', uniqueKeys: false } as const;
  const documents = parseAllDocuments(text, options);
  const parsed: ParsedText = { objects: [], problems: [], whole: true };
  if (!Array.isArray(documents)) return parsed; // nothing but comments
  if (documents.length > limits.manifestDocumentsPerFileMax) {
    const message = `The file has ${documents.length} documents; ${limits.manifestDocumentsPerFileMax} are allowed.`;
    return { objects: [], problems: [{ place: path, message }], whole: false };
  }
  for (const document of documents as Document.Parsed[]) {
    for (const error of document.errors) {
      parsed.problems.push({ place: place(path, lines, error.pos[0]), message: firstLine(error.message) });
    }
    for (const offset of repeatedKeys(document)) {
      parsed.problems.push({ place: place(path, lines, offset), message: 'Map keys must be unique' });
    }
  }
  // After a syntax error nobody knows where the next document begins.
  if (parsed.problems.length > 0) return { ...parsed, whole: false };
  for (const document of documents as Document.Parsed[]) readDocument(path, lines, document, parsed);
  return parsed;
}

/** Where a key stands that its map has already. Keys that are no scalars are refused by every schema. */
function repeatedKeys(document: Document.Parsed): number[] {
  const offsets: number[] = [];
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        if (!isScalar(key)) continue;
        if (seen.has(key.value)) offsets.push(key.range?.[0] ?? 0);
        seen.add(key.value);
      }
    },
  });
  return offsets;
}

/** A file of which nothing can be read. */
export function broken(path: string, message: string): ParsedFile {
  return { objects: [], problems: [{ place: path, message }], whole: false };
}

function readDocument(path: string, lines: LineCounter, document: Document.Parsed, parsed: ParsedText): void {
  const at = place(path, lines, document.contents?.range[0] ?? 0);
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: limits.yamlAliasesMax });
  } catch (error) {
    parsed.problems.push({ place: at, message: firstLine((error as Error).message) });
    parsed.whole = false;
    return;
  }
  if (value === null || value === undefined) return;
  const identity = identify(value);
  const named = identity && withNamespace(value as Loose, identity);
  const checked = checkManifest(named ?? value);
  const refusals = checked.ok ? [] : checked.errors;
  const messages = refusals.map(({ pointer, detail }) => {
    const where = place(path, lines, locator.offsetOf(document, pointer));
    return { place: where, message: `${pointer === '' ? 'The document' : pointer} ${detail}` };
  });
  for (const { offset, detail } of wordsReadDifferently(document).slice(0, limits.manifestRefusalsMax)) {
    messages.push({ place: place(path, lines, offset), message: detail });
  }
  if (identity === undefined) {
    if (isForeign(value)) {
      const message = `${describeForeign(value)} is not a kind of Accord; it is ignored.`;
      parsed.problems.push({ place: at, message, severity: 'note' });
    } else {
      parsed.problems.push(...messages);
      parsed.whole = false;
    }
    return;
  }
  const text = messages.map((one) => `${one.place}: ${one.message}`).join('\n');
  parsed.objects.push({
    ...identity,
    key: keyOf(identity),
    uid: uidOf(identity),
    deleting: false,
    annotations: annotationsOf(value as Loose),
    digest: digestOf((value as Loose).spec),
    ...(checked.ok && messages.length === 0
      ? { checked }
      : { checked: { ok: false, message: text }, loose: looseOf(value as Loose) }),
    spots: locator.spotsOf(lines, document),
    path,
    line: lines.linePos(document.contents?.range[0] ?? 0).line,
  });
}

/** Undefined fields are left out: there may be no spec at all. */
function looseOf({ metadata, spec }: Loose): LooseManifest {
  return { metadata: { name: (metadata as { name: string }).name }, spec: spec as Record<string, unknown> };
}

function identify(value: unknown): Identity | undefined {
  if (!isObject(value) || value.apiVersion !== apiVersion || !isObject(value.metadata)) return undefined;
  const kind = kindNames.find((name) => name === value.kind);
  const { name } = value.metadata;
  if (kind === undefined || typeof name !== 'string' || !isLegible(name)) return undefined;
  if (isClusterWide(kind)) return { kind, namespace: '', name };
  const namespace = value.metadata.namespace ?? 'default';
  if (typeof namespace !== 'string' || !isLegible(namespace)) return undefined;
  return { kind, namespace, name };
}

function isClusterWide(kind: KindName): boolean {
  return definitionOf(kind).scope === 'Cluster';
}

/** Another program's manifest, which may lie beside ours; one that is ours by its kind or its group is a mistake. */
function isForeign(value: unknown): boolean {
  if (!isObject(value) || typeof value.apiVersion !== 'string' || typeof value.kind !== 'string') return false;
  return !value.apiVersion.startsWith(`${group}/`) && !kindNames.some((name) => name === value.kind);
}

function describeForeign(value: unknown): string {
  const { apiVersion: version, kind } = value as { apiVersion: string; kind: string };
  return `${kind} of ${version}`.slice(0, 200);
}

/** The namespace is `default` where a file does not say one. */
function withNamespace(value: Loose, identity: Identity): Loose {
  if (isClusterWide(identity.kind)) return value;
  return { ...value, metadata: { ...(value.metadata as Loose), namespace: identity.namespace } };
}

function uidOf({ kind, namespace, name }: Identity): string {
  const hex = createHash('sha256')
    .update(JSON.stringify(['files', kind, namespace, name]))
    .digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? '';
}
