/** The generated CustomResourceDefinitions: fresh, small, and complete in descriptions and bounds. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { objectSchema } from '../../crds/definition.ts';
import { definitionFile, staleFiles } from '../../crds/generate.ts';
import { kinds } from '../../crds/index.ts';

interface Node {
  type?: string;
  description?: string;
  enum?: unknown[];
  pattern?: string;
  maxLength?: number;
  maxItems?: number;
  maxProperties?: number;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Node>;
  additionalProperties?: Node;
  items?: Node;
}

/** Every schema below a node with its place, the node itself included. */
function all(node: Node, at: string): [string, Node][] {
  const children = [
    ...Object.entries(node.properties ?? {}),
    ...(node.items ? [['*', node.items] as const] : []),
    ...(node.additionalProperties ? [['*', node.additionalProperties] as const] : []),
  ];
  return [[at, node], ...children.flatMap(([name, child]) => all(child, `${at}/${name}`))];
}

function bounded({ type, properties, ...node }: Node): boolean {
  if (type === 'string') return node.enum !== undefined || node.maxLength !== undefined;
  if (type === 'array') return node.maxItems !== undefined;
  if (type === 'object') return properties !== undefined || node.maxProperties !== undefined;
  if (type === 'integer' || type === 'number') return node.minimum !== undefined && node.maximum !== undefined;
  return true; // a boolean, or any value where the field is free
}

const columnsOfAll = 'Accepted Ready Reason (wide) Message (wide) Revision (wide) Age';
const design = {
  Tenant: ['tenants', 'tenant', 'aten', 'Cluster', `Display Name ${columnsOfAll}`],
  Policy: ['policies', 'policy', 'apol', 'Namespaced', `Tenant Policy ${columnsOfAll}`],
  ActorType: ['actortypes', 'actortype', 'aat', 'Namespaced', `Tenant Type ${columnsOfAll}`],
  ResourceType: ['resourcetypes', 'resourcetype', 'art', 'Namespaced', `Tenant Type ${columnsOfAll}`],
  RelationshipType: [
    'relationshiptypes',
    'relationshiptype',
    'arel',
    'Namespaced',
    `Tenant From Relationship To ${columnsOfAll}`,
  ],
  ConsentDefinition: [
    'consentdefinitions',
    'consentdefinition',
    'acdef',
    'Namespaced',
    `Tenant Definition ${columnsOfAll}`,
  ],
  PolicyData: ['policydata', 'policydata', 'apd', 'Namespaced', `Tenant Path ${columnsOfAll}`],
  PolicyLibrary: ['policylibraries', 'policylibrary', 'apl', 'Namespaced', `Tenant Package ${columnsOfAll}`],
  TrustedIssuer: ['trustedissuers', 'trustedissuer', 'aiss', 'Namespaced', `Tenant Issuer ${columnsOfAll}`],
};

test('the committed files are what the schemas make', () => {
  expect(staleFiles()).toEqual([]);
});

describe.each(kinds.map((kind) => [kind.kind, kind] as const))('%s', (_, kind) => {
  const schema = objectSchema(kind) as Node;
  const fields = ['spec', 'status'].flatMap((part) => all(schema.properties?.[part] ?? {}, `/${part}`));

  test('its file is under 100 KiB', () => {
    const file = new URL(`../../crds/${definitionFile(kind).name}`, import.meta.url);
    expect(readFileSync(file).byteLength).toBeLessThan(100 * 1024);
  });

  test('its file means the same in YAML 1.1, which kubectl reads, as in YAML 1.2', () => {
    const { text } = definitionFile(kind);
    expect(parse(text, { version: '1.1' })).toEqual(parse(text, { version: '1.2' }));
  });

  test('every field has a description', () => {
    expect(fields.filter(([at, { description }]) => !at.endsWith('/*') && !description).map(([at]) => at)).toEqual([]);
  });

  test('every string, list, map and number has a bound', () => {
    expect(fields.filter(([, node]) => !bounded(node)).map(([at]) => at)).toEqual([]);
  });

  test('names, scope and columns are those of the design', () => {
    const { plural, singular, shortNames, scope, printerColumns } = kind;
    const columns = printerColumns.map(({ name, priority }) => (priority === 0 ? name : `${name} (wide)`));
    expect([plural, singular, ...shortNames, scope, columns.join(' ')]).toEqual(design[kind.kind]);
  });
});
