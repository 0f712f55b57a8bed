/**
 * The CustomResourceDefinitions on a real API server: they cost a quarter of what their rules may, and accept and refuse what
 * checkManifest does, for every manifest of the corpus. That they install is held where a cluster has none of them yet
 * (installing.ts).
 */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Case, corpus, verdict } from '../crds/cases.ts';
import { ours, type Reply, useCluster } from '../helpers/cluster.ts';
import { files, folder } from './installing.ts';

const text = (file: string) => readFileSync(join(folder, file), 'utf8');
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

test.each(files)('%s is below 100 KiB', (file) => {
  expect(statSync(join(folder, file)).size).toBeLessThan(100 * 1024);
});

const cluster = await useCluster();

describe('rules', () => {
  type Schema = { [field: string]: unknown; 'x-kubernetes-validations'?: { rule: string }[] };

  /** The definition with every rule standing `times` times, joined by &&: as many times as costly, and the same in meaning. */
  function costlier(file: string, times: number): object {
    const repeated = (schema: unknown): unknown => {
      if (Array.isArray(schema)) return schema.map(repeated);
      if (typeof schema !== 'object' || schema === null) return schema;
      const entries = Object.entries(schema as Schema).map(([field, value]) =>
        field === 'x-kubernetes-validations'
          ? [
              field,
              (value as { rule: string }[]).map((one) => ({
                ...one,
                rule: Array(times).fill(`(${one.rule})`).join(' && '),
              })),
            ]
          : [field, repeated(value)],
      );
      return Object.fromEntries(entries);
    };
    const made = repeated(parse(text(file))) as { metadata: { name: string }; spec: { group: string } };
    // Another group: the definition itself is installed.
    made.spec.group = 'costlier.example';
    made.metadata.name = made.metadata.name.replace('accord.dev', made.spec.group);
    return made;
  }

  const install = (definition: object) => cluster.request('POST', `${definitions}?dryRun=All`, definition);

  test.each(files)('%s: the rules cost at most a quarter of what each and all may', async (file) => {
    expect(await install(costlier(file, 4))).toMatchObject({ status: 201 });
  });

  test('the API server counts a rule as often as it stands', async () => {
    const replies = await Promise.all(files.map((file) => install(costlier(file, 32))));
    expect(replies.map(({ body }) => String(body.message)).join()).toMatch(
      /estimated rule cost exceeds budget by factor/,
    );
  });
});

describe('the corpus', () => {
  const impossible = new Set<unknown>();
  let paths: Map<string, { plural: string; namespaced: boolean }>;
  beforeAll(async () => {
    const listed = await cluster.call('GET', '/apis/accord.dev/v1alpha1');
    const served = listed.resources as { kind: string; name: string; namespaced: boolean }[];
    const objects = served.filter(({ name }) => !name.includes('/'));
    paths = new Map(objects.map(({ kind, name, namespaced }) => [kind, { plural: name, namespaced }]));
    const namespaces = corpus.flatMap(({ documents }) => documents.map((one) => (one as Manifest).metadata?.namespace));
    for (const name of new Set(namespaces)) {
      if (typeof name !== 'string') continue;
      const { status } = await cluster.request('POST', '/api/v1/namespaces', { metadata: { name, labels: ours } });
      if (status === 422) impossible.add(name);
    }
  });

  type Manifest = { apiVersion?: unknown; kind?: string; metadata?: { name?: unknown; namespace?: unknown } };

  /** Where kubectl would send it; undefined for a kind that the API server does not have, which kubectl refuses. */
  function collection(manifest: Manifest): string | undefined {
    const found = paths.get(manifest.kind ?? '');
    if (found === undefined || manifest.apiVersion !== 'accord.dev/v1alpha1') return undefined;
    const namespace = found.namespaced ? `/namespaces/${manifest.metadata?.namespace ?? 'default'}` : '';
    return `/apis/accord.dev/v1alpha1${namespace}/${found.plural}`;
  }

  /** Where they differ on purpose: the API server has the namespace from the request, checkManifest only from the file. */
  const different = ['bad/metadata-namespace-missing.yaml', 'bad/metadata-namespace-on-tenant.yaml'];

  const how = 'dryRun=All&fieldValidation=Strict';

  async function judged({ name, documents, texts }: Case): Promise<{ accepted: boolean; message: string }> {
    const [path, created, changed] = [collection(documents[0] as Manifest), texts[0] as string, documents[1]];
    if (path === undefined) return { accepted: false, message: 'no such kind' };
    if (impossible.has((documents[0] as Manifest).metadata?.namespace)) {
      return { accepted: false, message: 'no namespace can have that name' };
    }
    const verdictOf = ({ status, body }: Reply) => {
      // Refused for what it is, not because a namespace is absent or the name taken.
      if (![200, 201, 400, 422].includes(status)) throw new Error(`${name} was answered ${status}: ${body.message}`);
      return { accepted: status < 300, message: String(body.message ?? '') };
    };
    if (changed === undefined)
      return verdictOf(await cluster.request('POST', `${path}?${how}`, created, 'application/yaml'));
    const stored = await cluster.call('POST', path, created, 'application/yaml');
    const { name: made, resourceVersion } = stored.metadata as { name: string; resourceVersion: string };
    const update = { ...changed, metadata: { ...(changed as Manifest).metadata, resourceVersion } };
    const reply = await cluster.request('PUT', `${path}/${made}?${how}`, update);
    await cluster.call('DELETE', `${path}/${made}`);
    return verdictOf(reply);
  }

  test('the API server and checkManifest agree on every manifest, but for the namespace', async () => {
    expect(corpus.length).toBeGreaterThanOrEqual(205);
    const differences: string[] = [];
    for (const one of corpus) {
      const ours = verdict(one);
      const theirs = await judged(one);
      if ((theirs.accepted === ours.ok) !== different.includes(one.name)) continue;
      const said = ours.ok ? 'accepted' : `refused: ${JSON.stringify(ours.errors)}`;
      differences.push(
        `${one.name}: checkManifest ${said}; the API server ${theirs.accepted ? 'accepted' : `refused: ${theirs.message}`}`,
      );
    }
    expect(differences).toEqual([]);
  });
});
