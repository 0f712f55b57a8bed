/** Builds the CustomResourceDefinition of a kind: its structural schema with the CEL rules at their places. */
import type { TSchema } from 'typebox';
import { bounds } from './bounds.ts';
import { apiVersion, category, group, type Kind, version } from './kind.ts';
import type { Rule } from './rule.ts';
import { type SchemaNode, type Structural, structural } from './structural.ts';

/** The whole definition as plain data, ready for YAML. */
export function customResourceDefinition(kind: Kind): Structural {
  const { plural, singular, shortNames } = kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: kind.scope,
      names: { kind: kind.kind, listKind: `${kind.kind}List`, plural, singular, shortNames, categories: [category] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          // `kubectl get policies --field-selector spec.tenantRef.name=CODE`; Kubernetes 1.30 leaves it out.
          ...(kind.scope === 'Namespaced' && { selectableFields: [{ jsonPath: '.spec.tenantRef.name' }] }),
          additionalPrinterColumns: kind.printerColumns.map(printerColumn),
          schema: { openAPIV3Schema: objectSchema(kind) },
        },
      ],
    },
  };
}

function printerColumn({ priority, ...column }: Kind['printerColumns'][number]): Structural {
  return priority === 0 ? column : { ...column, priority };
}

/** The structural schema of the whole object. */
export function objectSchema(kind: Kind): Structural {
  const string = (description: string) => ({ type: 'string', description });
  const root: Structural = {
    type: 'object',
    description: kind.description,
    required: ['spec'],
    properties: {
      apiVersion: string(`Always ${apiVersion}.`),
      kind: string(`Always ${kind.kind}.`),
      // Named so that a rule may blame it.
      metadata: { type: 'object', properties: { name: { type: 'string', maxLength: bounds.objectNameCharsMax } } },
      spec: structural(plain(kind.specSchema), '/spec'),
      status: structural(plain(kind.statusSchema), '/status'),
    },
  };
  for (const { at, fields } of [...kind.listKeys, { at: '/status/conditions', fields: ['type'] }]) {
    Object.assign(place(root, at), { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': fields });
  }
  for (const rule of kind.rules) {
    const node = place(root, rule.at);
    node['x-kubernetes-validations'] = [
      ...((node['x-kubernetes-validations'] as Structural[]) ?? []),
      validation(rule),
    ];
  }
  return root;
}

function validation({ cel, message, field }: Rule): Structural {
  return { rule: cel, message, ...(field === undefined ? {} : { fieldPath: field.replaceAll('/', '.') }) };
}

/** The schema without TypeBox's own marks, which are not enumerable. */
function plain(schema: TSchema): SchemaNode {
  return JSON.parse(JSON.stringify(schema)) as SchemaNode;
}

/** @throws Error when the pointer leads nowhere */
function place(root: Structural, pointer: string): Structural {
  return pointer
    .split('/')
    .slice(1)
    .reduce<Structural>((node, step) => {
      const next = step === '*' ? node.items : (node.properties as Structural | undefined)?.[step];
      if (typeof next !== 'object' || next === null) throw new Error(`no schema at ${pointer} (step ${step})`);
      return next as Structural;
    }, root);
}
